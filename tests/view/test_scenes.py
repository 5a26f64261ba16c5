"""A scene of the ray tracer in a browser, with a real mouse, pixel by pixel."""

import base64
import io
import time
import urllib.request

import numpy as np
import pytest
from PIL import Image

import societies
from societies import config_from_dict
from societies.config import to_yaml
from societies.workload.running.registry import load_config, workload
from tests.view.browser import until
from tests.view.serving import served

pytestmark = [pytest.mark.chromium, pytest.mark.xdist_group("chromium")]

WIDTH, HEIGHT = 150, 120
SCENE = {"grid": 2, "lights": [{"position": [-1, 0, 0]}]}


def view():
    keys = {"workload": "raytracer", "width": WIDTH, "height": HEIGHT, "camera": [-3, 0.5, 0.5]}
    return workload("raytracer").view(config_from_dict({**keys, "scene": SCENE}))


class Slow:
    """A scene whose launches take so long that it is previewed."""

    def __init__(self):
        self._view, self.previews = view(), []

    def __getattr__(self, name):
        return getattr(self._view, name)

    def frames(self, state):
        for frame in self._view.frames(state):
            time.sleep(0.08)
            yield frame

    def preview(self, state, share):
        self.previews.append(share)
        yield from self._view.preview(state, share)


def pixels(window):
    """Return the picture that a window shows; (row, column, 4) uint8."""
    read = (
        f"document.getElementById('picture').getContext('2d').getImageData(0, 0, {WIDTH}, {HEIGHT})"
    )
    data = window.js(f"btoa(Array.from({read}.data, x => String.fromCharCode(x)).join(''))")
    return np.frombuffer(base64.b64decode(data), np.uint8).reshape(HEIGHT, WIDTH, 4)


def shows(window, page):
    """Wait until a window shows the last picture of the newest state, bit by bit."""
    *_, last = (one for one in view().frames(page.session.state) if one is not None)
    window.reads("caption", last.caption)
    window.until("document.body.dataset.current === 'true'")
    assert (pixels(window) == last.pixels).all()


@pytest.mark.ci
def test_the_mouse_moves_camera_and_light(chromium):
    with served(view()) as page:
        window = chromium.open(page.address)
        shows(window, page)
        x, y, width, _ = window.box("picture")
        scale = width / WIDTH
        window.drag((x + 9, y + 9), (50 * scale, 90), (-20 * scale, 30 * scale))
        until(lambda: page.session.state.camera == (-3.0, 0.3, 0.8), "the end of the drag")
        shows(window, page)
        window.mouse("mouseWheel", x + 9, y + 9, deltaX=0, deltaY=-120)
        until(lambda: page.session.state.camera == (-2.7, 0.3, 0.8), "a notch")
        shows(window, page)
        left, top, length, thick = window.box("c-x")
        at = left + length * (30 - 1) / 60, top + thick / 2
        window.drag(at, (length / 20, 0), (length / 10, 0))
        until(lambda: page.session.state.lights[0][0] > 3, "the slider of the light")
        # In one go: a frame of the slider that comes in between shows the choice as it was.
        choice = "document.getElementById('c-shading')"
        window.js(f"{choice}.value = 'whitted'; {choice}.onchange()")
        until(lambda: page.session.state.shading == "whitted", "the choice")
        shows(window, page)
        window.click("copy")
        window.until("document.getElementById('yaml').open")
        text = window.js("document.getElementById('text').value")
        assert text == to_yaml(page.session.view.configuration(page.session.state))
        window.close()


@pytest.mark.ci
def test_samples_are_added_until_the_picture_is_that_of_a_run(chromium, tmp_path):
    with served(view()) as page:
        window = chromium.open(page.address)
        shows(window, page)
        window.js("(n => { n.value = '3'; n.onchange(); })(document.getElementById('n-samples'))")
        window.until("document.getElementById('caption').textContent.endsWith('sample 9 of 9')")
        (tmp_path / "copied.yaml").write_text(
            to_yaml(page.session.view.configuration(page.session.state))
        )
        config = load_config(tmp_path / "copied.yaml")
        assert config.samples == 3
        societies.run(config, out=tmp_path / "copied.h5")
        with societies.open_results(tmp_path / "copied.h5") as results:
            picture = results.picture[0].values
        assert np.array_equal(pixels(window)[:, :, :3], picture)
        with urllib.request.urlopen(page.path("picture.png"), timeout=20) as answer:
            assert np.array_equal(np.array(Image.open(io.BytesIO(answer.read()))), picture)
        window.close()


@pytest.mark.thorough
def test_after_previews_the_picture_has_the_bits_of_a_run(chromium, tmp_path):
    slow = Slow()
    with served(slow) as page:
        window = chromium.open(page.address)
        shows(window, page)
        x, y, _, _ = window.box("picture")
        ways = [(k % 60, k % 40) for k in range(40)]
        window.drag((x + 9, y + 9), *ways)
        until(lambda: page.session.newest.state == page.session.state, "the newest state")
        shows(window, page)
        for name in ("x", "y"):
            left, top, length, thick = window.box(f"c-{name}")
            at = (
                left + length * (page.session.state.lights[0]["xyz".index(name)] + 30) / 60,
                top + thick / 2,
            )
            window.drag(at, *((k, 0) for k in range(1, 40)))
            shows(window, page)
        assert slow.previews and set(slow.previews) <= {2.0**-k for k in range(1, 7)}
        config = page.session.view.configuration(page.session.state)
        societies.run(config, out=tmp_path / "same.h5")
        with societies.open_results(tmp_path / "same.h5") as results:
            assert np.array_equal(pixels(window)[:, :, :3], results.picture[0].values)
        window.close()
