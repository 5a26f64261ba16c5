"""A scene on the page, in a browser with a real mouse: it is the picture that a run writes."""

import io
import urllib.request

import numpy as np
import pytest
from PIL import Image

import societies
from societies.workload.registry import load_config, workload
from tests.view.browser import until
from tests.view.serving import served

pytestmark = [pytest.mark.chromium, pytest.mark.xdist_group("chromium")]

WIDTH, HEIGHT = 96, 64
KEYS = [f"width={WIDTH}", f"height={HEIGHT}", "shading=whitted"]


@pytest.fixture(scope="module")
def page():
    config = load_config("physics/raytracer/spheres", KEYS)
    with served(workload("raytracer").view(config)) as page:
        yield page


@pytest.fixture
def window(chromium, page):
    window = chromium.open(page.address)
    window.until("document.body.dataset.current === 'true'")
    window.until("!document.getElementById('controls').disabled")
    window.click("c-reset")
    yield window
    window.close()


def read(address):
    with urllib.request.urlopen(address, timeout=20) as answer:
        return answer.read()


def copied(page, window, tmp_path, caption):
    """Wait for a caption; assert that the picture is that of a run; return its configuration."""
    window.until(f"document.getElementById('caption').textContent.includes('{caption}')")
    window.until("document.body.dataset.current === 'true'")
    file = tmp_path / "copied.yaml"
    file.write_bytes(read(page.path("configuration.yaml")))
    config = load_config(file)
    societies.run(config, out=tmp_path / "copied.h5", overwrite=True)
    with societies.open_results(tmp_path / "copied.h5") as results:
        picture = results.picture[0].values
    with Image.open(io.BytesIO(read(page.path("picture.png")))) as saved:
        assert np.array_equal(np.array(saved), picture)
    x, y = WIDTH // 2, HEIGHT // 3
    assert window.pixel(x, y) == picture[y, x].tolist()
    return config


def test_the_mouse_moves_the_camera_and_a_slider_the_light(page, window, tmp_path):
    x, y, width, height = window.box("picture")
    scale, middle = width / WIDTH, (x + width / 2, y + height / 2)
    before = np.array(page.session.view.initial.camera)
    window.drag(middle, (200, 100), (-7, 3), (20 * scale, -10 * scale))
    until(lambda: page.session.state.camera != tuple(before), "the drag")
    moved = before + np.array([0, 0.2, -0.1])
    assert np.abs(np.array(page.session.state.camera) - moved).max() < 1e-6
    window.mouse("mouseWheel", *middle, deltaX=0, deltaY=-120)
    until(lambda: page.session.state.camera[0] != before[0], "the wheel")
    bar = window.box("c-y")
    window.drag((bar[0] + bar[2] / 2, bar[1] + bar[3] / 2), (bar[2] / 4, 0))
    until(lambda: page.session.state.lights != page.session.view.initial.lights, "the light")
    config = copied(page, window, tmp_path, "sample 1 of 1")
    assert np.abs(np.array(config.camera) - (moved + np.array([0.3, 0, 0]))).max() < 1e-6


def test_samples_are_added_until_the_picture_is_that_of_a_run(page, window, tmp_path):
    window.js("(n => { n.value = '3'; n.onchange(); })(document.getElementById('n-samples'))")
    config = copied(page, window, tmp_path, "sample 9 of 9")
    assert config.samples == 3
