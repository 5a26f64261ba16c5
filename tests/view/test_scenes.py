"""A scene of the ray tracer in a browser, with a real mouse, pixel by pixel."""

import base64

import numpy as np
import pytest

from societies import config_from_dict
from societies.config import to_yaml
from societies.workload.registry import workload
from tests.view.browser import until
from tests.view.serving import served

pytestmark = [pytest.mark.chromium, pytest.mark.xdist_group("chromium")]

WIDTH, HEIGHT = 150, 120
SCENE = {"grid": 2, "lights": [{"position": [-1, 0, 0]}]}


def view():
    keys = {"workload": "raytracer", "width": WIDTH, "height": HEIGHT, "camera": [-3, 0.5, 0.5]}
    return workload("raytracer").view(config_from_dict({**keys, "scene": SCENE}))


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
        window.js("document.getElementById('c-shading').value = 'whitted'")
        window.js("document.getElementById('c-shading').onchange()")
        until(lambda: page.session.state.shading == "whitted", "the choice")
        shows(window, page)
        window.click("copy")
        window.until("document.getElementById('yaml').open")
        text = window.js("document.getElementById('text').value")
        assert text == to_yaml(page.session.view.configuration(page.session.state))
        window.close()
