"""The page in a browser, with a real mouse: what a hand does is what the server gets."""

import time

import numpy as np
import pytest
from PIL import Image

from societies.config import to_yaml
from societies.workload.running.registry import load_config
from tests.view.browser import until
from tests.view.serving import Served, Viewer, served
from tests.view.slow import PreviewingView

pytestmark = [pytest.mark.chromium, pytest.mark.xdist_group("chromium")]

ROWS, COLUMNS = 200, 160
SCALE = 3  # of the screen's pixels to the picture's


class Shown(PreviewingView):
    """A view that is as large as a picture, and whose configuration is one.

    Its frames take 4 ms unless it is said otherwise, so that there are no previews.
    """

    def __init__(self, **options):
        super().__init__(shape=(ROWS, COLUMNS), **options)
        self.config = load_config("physics/laplace/quickstart")

    def configuration(self, state):
        return self.config.model_copy(update={"steps": state + 1})


@pytest.fixture
def page():
    with served(Shown()) as page:
        yield page


@pytest.fixture
def window(chromium, page):
    window = chromium.open(page.address)
    window.reads("caption", "3 of 3")
    yield window
    window.close()


def shows(window, state, caption="3 of 3"):
    """Wait until a window shows the last sample of a state."""
    window.reads("caption", caption)
    until(lambda: window.pixel(5, 5) == [state % 256] * 3, f"state {state}")
    window.until("document.body.dataset.current === 'true'")


def middle(window):
    """Return the middle of the picture on the screen."""
    x, y, width, height = window.box("picture")
    assert (round(width), round(height)) == (SCALE * COLUMNS, SCALE * ROWS)
    return x + width / 2, y + height / 2


def test_a_drag_counts_from_where_it_began(page, window):
    shows(window, 0)
    x, y = middle(window)
    # Right by 40 and down by 1 pixels of the picture, with detours that leave no trace.
    ways = [(5, 0), (300, -90), (-200, 10), (40 * SCALE, SCALE)]
    window.drag((x, y), *ways)
    shows(window, 140)
    window.drag((x, y), (2 * SCALE, 0))
    shows(window, 142)
    # Beyond the edge of the picture, and without the button.
    window.drag((x, y), (800, 0), (8 * SCALE, 0))
    shows(window, 150)
    window.mouse("mouseMoved", x + 50, y + 50)
    time.sleep(0.1)
    assert page.session.state == 150


def test_the_wheel_turns_by_notches(page, window):
    x, y = middle(window)
    window.mouse("mouseWheel", x, y, deltaX=0, deltaY=-120)
    until(lambda: page.session.state == 1000, "a notch")
    for _ in range(3):
        window.mouse("mouseWheel", x, y, deltaX=0, deltaY=-120)
    window.mouse("mouseWheel", x, y, deltaX=0, deltaY=120)
    until(lambda: page.session.state == 3000, "three notches and one back")
    shows(window, 3000)
    assert window.js("scrollY") == 0


def test_sliders_choices_and_buttons(page, window):
    x, y, width, height = window.box("c-state")
    window.drag((x + 3, y + height / 2), (width / 4, 0), (width / 2, 0))
    until(lambda: page.session.state > 400_000, "the slider")
    time.sleep(0.1)
    state = page.session.state
    assert 400_000 < state < 600_000
    shows(window, state)
    assert window.js("document.getElementById('c-state').value") == str(state)
    word = "odd" if state % 2 == 0 else "even"
    choice = "document.getElementById('c-parity')"
    window.js(f"{choice}.value = '{word}'; {choice}.onchange()")
    until(lambda: page.session.state == state // 2 * 2 + (word == "odd"), "the choice")
    box = "document.querySelector('input[type=number]')"
    window.js(f"{box}.focus(); {box}.select()")
    window.call("Input.insertText", text="77")
    window.call(
        "Input.dispatchKeyEvent", type="keyDown", key="Enter", windowsVirtualKeyCode=13, text="\r"
    )
    until(lambda: page.session.state == 77, "the number")
    shows(window, 77)
    window.until(f"{choice}.value === 'odd'")  # what the server says of the other controls
    window.click("c-zero")
    shows(window, 0)
    window.until(f"{box}.value === '0'")


def test_the_picture_is_saved(page, window, tmp_path):
    x, y = middle(window)
    window.drag((x, y), (99 * SCALE, 0))
    shows(window, 99)
    window.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    window.click("save")
    until(lambda: (tmp_path / "slow.png").exists(), "the file")
    with Image.open(tmp_path / "slow.png") as picture:
        assert np.array(picture).tolist() == np.full((ROWS, COLUMNS, 3), 99).tolist()


def test_the_state_is_copied_as_yaml_and_saved(page, window, tmp_path):
    x, y = middle(window)
    window.drag((x, y), (5 * SCALE, 0))
    shows(window, 5)
    window.click("copy")
    window.until("document.getElementById('yaml').open")
    text = window.js("document.getElementById('text').value")
    assert text == to_yaml(page.session.view.configuration(5))
    window.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    window.click("keep")
    until(lambda: (tmp_path / "configuration.yaml").exists(), "the file")
    assert (tmp_path / "configuration.yaml").read_text() == text
    assert "steps: 6\n" in text


def test_a_second_window_watches_until_the_first_is_closed(chromium, page, window):
    second = chromium.open(page.address)
    second.reads("caption", "3 of 3")
    assert second.text("status") == "watching: another window controls"
    window.reads("status", "controlling; 1 watching")
    assert second.js("document.getElementById('controls').disabled")
    second.drag(middle(second), (50 * SCALE, 0))
    window.front()
    window.drag(middle(window), (30 * SCALE, 0))
    shows(window, 30)
    second.front()
    shows(second, 30)
    window.call("Page.navigate", url="about:blank")
    second.reads("status", "connected")
    second.drag(middle(second), (SCALE, 0))
    shows(second, 31)
    second.close()


def test_a_lost_connection_is_shown_and_comes_back_with_the_state(chromium):
    view = Shown()
    first = Served(view)
    window = chromium.open(first.address)
    shows(window, 0)
    window.mouse("mouseMoved", *middle(window))
    window.mouse("mousePressed", *middle(window), button="left", buttons=1, clickCount=1)
    first.end()
    window.reads("status", "connection lost...")
    assert window.js("document.getElementById('controls').disabled")
    again = Shown()
    again.initial = 43
    with served(again, port=first.port) as second:
        shows(window, 43)
        assert window.text("status") == "connected"
        window.until("document.getElementById('c-state').value === '43'")
        x, y = middle(window)
        window.mouse("mouseMoved", x + 90, y, button="left", buttons=1)  # the drag is over
        window.mouse("mouseReleased", x + 90, y, button="left", clickCount=1)
        window.drag((x, y), (SCALE, 0))
        shows(window, 44)
        assert second.session.state == 44
    window.close()


def test_a_wrong_token_is_explained(chromium):
    with served(Shown(), host="0.0.0.0") as page:
        window = chromium.open(page.address[:-1])
        window.until("document.body.textContent.startsWith('wrong token: open the address')")
        window.call("Page.navigate", url=page.address)
        shows(window, 0)
        page.listening.__dict__["token"] = "another"  # as if the server had been started again
        window.js("socket.close()")
        window.reads("status", "wrong token...")
        window.close()


def test_webp_shows_the_same(chromium):
    with served(Shown(), raw=False) as page:
        window = chromium.open(page.address)
        window.reads("caption", "3 of 3")
        window.drag(middle(window), (120 * SCALE, 0))
        until(lambda: abs(window.pixel(7, 7)[0] - 120) <= 3, "state 120")
        window.close()


def test_errors_are_shown(page, window):
    page.session._failed(RuntimeError("the device\nis gone"))
    window.reads("error", "the device is gone")
    window.js("by('panel').style.height = '2000px'; window.scrollTo(0, 900)")
    window.until("window.scrollY > 100 && Math.abs(by('error').getBoundingClientRect().y) < 1")
    window.js("window.scrollTo(0, 0)")
    window.drag(middle(window), (SCALE, 0))
    window.reads("error", "")


def test_a_still_page_asks_for_nothing(page, window):
    view = page.session.view
    launched, shown = len(view.launched), window.js("document.body.dataset.shown")
    time.sleep(0.5)
    assert len(view.launched) == launched
    assert window.js("document.body.dataset.shown") == shown


def test_the_last_of_many_moves_is_shown(page, window):
    x, y = middle(window)
    window.drag((x, y), *((k % 80, 0) for k in range(150)), (61 * SCALE, 0))
    shows(window, 61)
    assert page.session.newest.state == page.session.state == 61


WATCH = """
window.shownOf = [];
new MutationObserver(() => {
  const { whole, current } = document.body.dataset;
  shownOf.push([whole, current, canvas.width, canvas.height]);
}).observe(document.body, {attributes: true, attributeFilter: ['data-shown']});
"""


@pytest.mark.parametrize("raw", [True, False])
def test_previews_fill_the_picture_while_the_mouse_moves(chromium, raw):
    with served(Shown(launch=0.04, launches=(4,)), raw=raw) as page:
        window = chromium.open(page.address)
        window.reads("caption", "1 of 1")
        window.js(WATCH)
        x, y = middle(window)
        window.mouse("mouseMoved", x, y)
        window.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        end = time.monotonic() + 20
        number = 0
        while window.js("shownOf.filter((one) => one[0] === 'false').length") < 5:
            number += 1
            window.mouse("mouseMoved", x + number % 90, y, button="left", buttons=1)
            assert time.monotonic() < end, "no previews"
        # One preview is painted over the whole of the picture, from its first to its last pixel.
        colours = [window.pixel(*place) for place in ((0, 0), (COLUMNS - 1, ROWS - 1))]
        assert max(abs(a - b) for a, b in zip(*colours, strict=True)) <= 3
        window.mouse("mouseMoved", x + 61 * SCALE, y, button="left", buttons=1)
        window.mouse("mouseReleased", x + 61 * SCALE, y, button="left", clickCount=1)
        window.until("document.body.dataset.current === 'true'")
        assert window.js("document.body.dataset.whole") == "true"
        assert all(abs(one - 61) <= (0 if raw else 3) for one in window.pixel(5, 5))
        seen = window.js("shownOf")
        assert all(size == [COLUMNS, ROWS] for _, _, *size in seen)
        assert all(current == "false" for whole, current, *_ in seen if whole == "false")
        window.close()


def test_a_picture_that_cannot_be_shown_is_said_so(page, window):
    window.js("context.putImageData = () => { throw new Error('too large'); }")
    window.drag(middle(window), (SCALE, 0))
    window.reads("error", "this browser cannot show the picture: too large")
    until(lambda: page.session._viewers[0].shown >= 4, "the acknowledgement")


def test_a_long_caption_moves_nothing(page, window):
    left = window.box("panel")[0]
    x, _, width, _ = window.box("picture")
    window.js("document.getElementById('caption').textContent = 'word '.repeat(60)")
    assert window.box("panel")[0] == left == pytest.approx(x + width + 16, abs=2)


def test_a_narrow_window_shows_all_of_it(chromium, page):
    window = chromium.open(page.address)
    size = {"width": 400, "height": 700, "deviceScaleFactor": 1, "mobile": False}
    window.call("Emulation.setDeviceMetricsOverride", **size)
    shows(window, 0)
    assert window.js("document.documentElement.scrollWidth") <= 400
    x, y, width, _ = window.box("picture")
    window.drag((x + 20, y + 20), (10 * width / COLUMNS, 0))  # the picture is shown smaller
    until(lambda: page.session.state in (9, 10), "the drag")
    window.close()


def test_a_viewer_without_a_browser_sees_the_same(page, window):
    with Viewer(page) as viewer:
        viewer.until_state(0)
        assert not viewer.news[-1]["controlling"]
        window.drag(middle(window), (9 * SCALE, 0))
        viewer.until_state(9)
