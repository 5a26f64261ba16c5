"""The page of a run in a browser: agents, policies, files to save, and who can read it."""

import base64
import json
import xml.etree.ElementTree as ElementTree
from importlib import resources

import pytest

from societies.view.file_view import FileView
from societies.view.run_view import RunView
from societies.workload import Setup
from societies.workload.running.registry import workload
from tests.small import small
from tests.view.browser import until
from tests.view.serving import Served, served
from tests.view.test_run_page import click, made, result, shows_day  # noqa: F401

pytestmark = [pytest.mark.ci, pytest.mark.chromium, pytest.mark.xdist_group("chromium")]

SERIOUS = ("serious", "critical")
"""Faults by which axe-core says that a page cannot be used by some people."""

AT_400_PERCENT = {"width": 320, "height": 256, "deviceScaleFactor": 4, "mobile": False}
"""A window of 1280 x 1024 pixels, enlarged four times."""


def axe():
    """Return the text of axe-core."""
    if not resources.files("axe_core_python").joinpath("axe.min.js").is_file():
        pytest.fail("axe-core-python, of the extra `test`, has no axe.min.js")
    return resources.files("axe_core_python").joinpath("axe.min.js").read_text()


def faults(window):
    """Return the serious faults of a page, each with the elements that have it."""
    window.js(axe() + "; undefined")
    found = json.loads(window.js("axe.run(document).then(one => JSON.stringify(one.violations))"))
    return [
        (one["id"], [node["html"] for node in one["nodes"]])
        for one in found
        if one["impact"] in SERIOUS
    ]


def listed(window, name):
    """Return the texts of a list."""
    return window.js(f"Array.from(by('{name}').children, one => one.textContent)")


@pytest.fixture
def page():
    """A page of a small economy, computed in Python."""
    with served(made(days=30)[0]) as opened:
        yield opened


@pytest.fixture
def window(chromium, page):
    """A window that shows day 8."""
    opened = chromium.open(page.address)
    shows_day(opened, 0)
    opened.js("[1, 2, 3, 4, 5, 6, 7, 8].forEach(() => document.getElementById('c-one').click())")
    shows_day(opened, 8)
    yield opened
    opened.close()


def pick(window, agent):
    """Click on the circle of an agent, with the mouse."""
    place = "document.querySelector('canvas.network')"
    window.js(f"{place}.scrollIntoView()")
    x, y, scale = window.js(
        f"(({{x, y, width}}) => [x, y, width / SIDE])({place}.getBoundingClientRect())"
    )
    at = window.js(f"[layouts[0][{agent}].x, layouts[0][{agent}].y]")
    window.drag((x + scale * at[0], y + scale * at[1]), (0, 0))


def test_a_click_on_an_agent_tells_its_life(page, window):
    pick(window, 2)
    life = "document.querySelector('.life').textContent"
    window.until(f"{life}.includes('Agent 2 of society 0, days 1 to 8')", 60)
    about = window.js("document.querySelector('.agent').textContent")
    assert about.startswith("Agent 2 of community")
    click(window, "one")
    window.until("document.querySelector('.life').textContent.includes('days 1 to 9')", 60)
    assert not page.errors


def test_policies_are_buttons_that_are_listed_and_undone(page, window):
    for name in ("tax", "transfer", "ban", "shock"):
        click(window, f"policy-{name}")
    window.until("document.getElementById('changes').children.length === 4", 60)
    assert listed(window, "changes") == [
        "after day 8: policies.holdings_tax.rate = 0.05",
        "after day 8: policies.transfer.equal = 1",
        "after day 8: policies.quota_of = 0",
        "after day 8: resource 0 removed",
    ]
    window.until("document.getElementById('c-key').value === 'policies.quota_of'")
    click(window, "undo")
    window.until("document.getElementById('changes').children.length === 3", 60)
    assert not page.errors


def test_the_slider_follows_the_configurations_interventions_in_every_window(chromium):
    """It showed the value before them, and they were not listed."""
    hot = {"day": 4, "until": 8, "label": "hot", "set": {"day_length": 500.0}}
    idle = {"day": 5, "set": {"device.max_effort": 20.0}}
    with served(made(days=30, interventions=[hot, idle])[0]) as page:
        windows = [chromium.open(page.address) for _ in range(2)]
        for one in windows:
            one.front()
            shows_day(one, 0)
            assert listed(one, "changes") == [
                "after day 4: day_length = 500, until day 8, “hot” (of the configuration)",
                "after day 5: device.max_effort = 20 (of the configuration)",
            ]
            (warning,) = listed(one, "warnings")
            assert warning.endswith("has no effect with devices: none")
        first = windows[0]
        first.front()
        shown = "Array.from([by('c-value'), by('n-value')], one => Number(one.value)).join()"
        first.js(f"seen = {{}}; setInterval(() => {{ seen[newest.tick] = {shown}; }}, 5); 0")
        first.js("by('c-pace').value = '5 a second'; by('c-pace').onchange()")
        click(first, "play")
        first.until("newest.tick >= 11", 60)
        click(first, "play")
        of = {day: one for day, one in first.js("seen").items() if int(day) in (2, 3, 5, 6, 9, 10)}
        assert len(of) >= 4
        assert all(
            one == ("500,500" if int(day) in (5, 6) else "600,600") for day, one in of.items()
        )
        first.js("by('n-tick').value = 6; by('n-tick').onchange()")
        for one in windows:
            one.front()
            shows_day(one, 6)
            one.until(f"{shown} === '500,500'", 60)
        first.front()
        first.js("by('n-value').focus(); by('n-value').value = '2e7'; by('n-value').onchange()")
        first.until("by('n-value').value === '1000000'", 60)  # its limit, though it has the focus
        assert first.js("by('c-value').ariaValueText") == "1000000"
        assert faults(first) == [] and not page.errors
        for one in windows:
            one.close()


def test_a_slider_that_is_dragged_stays_though_other_controls_change(chromium):
    """All controls were replaced when one changed, and the mouse lost it."""
    banned = {"day": 10, "until": 20, "set": {"policies.quota_of": 2}}
    with served(made(days=30, interventions=[banned])[0]) as page:
        window = chromium.open(page.address)
        shows_day(window, 0)
        window.js("by('c-key').value = 'policies.quota'; by('c-key').onchange()")
        label = "by('c-value').parentNode.textContent"
        window.until(f"{label}.includes('no effect while policies.quota_of is -1')")
        window.js("bar = by('c-tick'); bar.scrollIntoView({block: 'center'})")
        x, y, width, height = window.box("c-tick")
        places = [(x + 8 + (width - 16) * day / 30, y + height / 2) for day in (0, 12, 15)]
        window.mouse("mousePressed", *places[0], button="left", buttons=1, clickCount=1)
        for place, day in zip(places[1:], (12, 15), strict=True):
            window.mouse("mouseMoved", *place, button="left", buttons=1)
            shows_day(window, day)
        assert window.js("by('c-tick') === bar")
        window.mouse("mouseReleased", *places[2], button="left", clickCount=1)
        window.until(f"!{label}.includes('no effect')")
        assert not page.errors
        window.close()


def test_pictures_and_a_video_are_saved(window, tmp_path):
    window.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    window.js("document.getElementById('video').click()")
    pace = "document.getElementById('c-pace')"
    window.js(f"{pace}.value = '5 a second'; {pace}.onchange()")
    click(window, "play")
    window.until("film.parts.some(one => one.size > 100)", 60)
    click(window, "play")
    window.js("document.getElementById('video').click()")
    until(lambda: [one for one in tmp_path.glob("*.webm") if one.stat().st_size], "the video")
    assert next(tmp_path.glob("*.webm")).read_bytes().startswith(b"\x1aE\xdf\xa3")
    window.until("newest.panes[0].sha256")
    tick = window.js("newest.tick")
    for name in ("save", "svg"):
        window.js(f"document.getElementById('{name}').click()")
    until(lambda: (tmp_path / f"day-{tick}.png").exists(), "the picture")
    until(lambda: (tmp_path / f"day-{tick}.svg").exists(), "the drawing")
    assert (tmp_path / f"day-{tick}.png").read_bytes().startswith(b"\x89PNG")
    drawing = ElementTree.parse(tmp_path / f"day-{tick}.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    texts = [one.text for one in drawing.iter(f"{space}text")]
    assert {f"day {tick} of 30", ", 5 agents alive.", "utility (util)"} <= {*texts}
    texts = "lettering(by('scene').getBoundingClientRect())"  # in lines: titles lay over each other
    assert window.js(f"{texts}.every(one => one.x + one.width <= by('scene').clientWidth + 1)")
    assert window.js(f"new Set({texts}.map(one => one.size + one.weight + one.colour)).size") > 2
    circles = [one for one in drawing.iter(f"{space}path") if one.get("d").count("A") == 2]
    assert len(circles) == 5
    shown = window.js("newest.panes[0].numbers.links.length / 3")
    parts = [one.get("d").count("L") for one in drawing.iter(f"{space}path")]
    assert sum(parts) > shown > 0
    click(window, "branch")
    window.until("newest.panes.length === 2")
    window.until(f"{texts}.some(one => one.text.endsWith('from the next day on'))")  # once drawn
    assert window.js("[0.000002, 0.3, 0, null].map(label)") == ["2e-6", "0.3", "0", ""]


def test_a_video_waits_for_pictures_that_are_still_encoded(page, window, tmp_path):
    """On a slow machine the recorder is behind; what it has not written when it stops is lost."""
    window.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    window.js("""window.MediaRecorder = class {
        static isTypeSupported() { return true; }
        start() { this.late = ["a".repeat(200), "b".repeat(300)]; }
        requestData() { this.ondataavailable({ data: new Blob(this.late.splice(0, 1)) }); }
        stop() { this.onstop(); }
    }; undefined""")
    window.js("document.getElementById('video').click()")
    click(window, "one")
    shows_day(window, 9)
    window.js("document.getElementById('video').click()")
    until(lambda: list(tmp_path.glob("*.webm")), "the video", 60)
    video = next(tmp_path.glob("*.webm")).read_bytes()
    assert video == b"a" * 200 + b"b" * 300
    assert window.js("document.getElementById('video').textContent") == "Record video"
    assert not page.errors


def test_while_it_plays_only_what_is_on_the_screen_is_drawn(page, window):
    window.js("""window.laid = 0;
        drawNetwork = ((inner) => (...given) => { laid += 1; inner(...given); })(drawNetwork);
        for (const box of document.querySelectorAll("#names input")) box.click();""")
    top = "document.querySelector('.pane').getBoundingClientRect().top > innerHeight + 100"
    window.until(f"{top} && !onScreen.has(document.querySelector('.pane'))")
    click(window, "play")
    window.until("newest.playing && newest.tick > 9")
    now = "document.getElementById('now').textContent"
    window.until(f"/^, at [0-9.]+ a second, 5 agents alive[.]$/.test({now})")
    window.js("laid = 0")
    window.until("newest.tick > 12")
    assert window.js("laid") == 0
    waited = "latest -= 2 * SLOW, rate(), document.getElementById('busy').textContent"
    assert window.js(waited) == "computing ..."
    window.js("document.querySelector('.pane').scrollIntoView()")
    window.until("laid")
    window.js("scrollTo(0, 0)")
    window.until("!onScreen.has(document.querySelector('.pane'))")
    click(window, "play")
    window.until(
        "!newest.playing && document.querySelector('.hash').textContent.startsWith('State')", 60
    )
    window.js("laid = 0; document.getElementById('save').click()")
    assert window.js("laid") == 1
    assert not page.errors


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_keeps_people_out(window, two, scheme):
    media = [{"name": "prefers-color-scheme", "value": scheme}]
    window.call("Emulation.setEmulatedMedia", features=media)
    if two:
        click(window, "branch")
        window.until("document.querySelectorAll('.pane').length === 2")
        pick(window, 1)
        window.until("document.querySelector('.life').textContent.includes('Agent 1 of')", 60)
    assert faults(window) == []


def test_the_page_is_readable_and_works_enlarged_four_times(page, window):
    assert window.js("document.getElementById('skip').offsetParent") is None
    window.call("Emulation.setDeviceMetricsOverride", **AT_400_PERCENT)
    # The layout is known before the page hears of its new size and draws its charts again.
    window.until(
        "Array.from(document.querySelectorAll('body *')).every(one => "
        "one.getBoundingClientRect().right <= 321)"
    )
    assert window.js("document.documentElement.scrollWidth") <= 320
    top = "document.getElementById('panel').getBoundingClientRect().top"
    assert window.js(top) > 1000
    window.js("document.getElementById('skip').click()")  # to the controls, below all pictures
    window.until(f"Math.abs({top}) < 2")
    pick(window, 3)
    until(lambda: page.session.state.agent == 3, "the agent that was clicked")


def test_keys_play_and_compute_a_day(page, window):
    for key, code, day in (("ArrowLeft", 37, 7), ("ArrowRight", 39, 8), (" ", 32, 8)):
        about = {"key": key, "windowsVirtualKeyCode": code}
        window.js("document.activeElement.blur()")
        window.call("Input.dispatchKeyEvent", type="keyDown", **about)
        window.call("Input.dispatchKeyEvent", type="keyUp", **about)
        until(lambda day=day: page.session.state.asked == day, f"day {day}")
        shows_day(window, day)
    until(lambda: page.session.state.playing, "the space bar")


def test_after_the_last_day_the_button_plays_again_from_the_first(page, window):
    label = "document.getElementById('c-play').textContent"
    pace = "document.getElementById('c-pace')"
    window.js(f"{pace}.value = 'as fast as possible'; {pace}.onchange()")
    click(window, "play")
    shows_day(window, 30)
    window.until(f"{label} === 'Play' && newest.panes[0].sha256")
    known = window.js("newest.panes[0].sha256")
    window.js(f"{pace}.value = '20 a second'; {pace}.onchange()")
    click(window, "play")
    window.until(f"{label} === 'Pause' && newest.tick < 30")
    window.until(f"{label} === 'Play' && newest.panes[0].sha256 === '{known}'", 60)
    assert window.js("courses[0].rows") == 30 and not page.errors


def test_a_button_keeps_the_focus_when_other_controls_change(window):
    window.js("document.getElementById('c-branch').focus()")
    click(window, "branch")
    window.until("document.getElementById('c-branch').textContent === 'Close the branch'")
    assert window.js("document.activeElement.id") == "c-branch"


def test_a_server_that_is_started_again_is_shown_from_its_beginning(chromium):
    first = Served(made(days=30)[0])
    window = chromium.open(first.address)
    shows_day(window, 0)
    click(window, "ten")
    shows_day(window, 10)
    click(window, "branch")
    window.until("document.querySelectorAll('.pane').length === 2")
    first.end()
    window.reads("status", "connection lost...")
    with served(made(days=30)[0], port=first.port):
        shows_day(window, 0)
        window.until("document.querySelectorAll('.pane').length === 1")
        click(window, "one")
        shows_day(window, 1)
        assert window.js("courses[0].rows") == 1
    window.close()


def test_without_websockets_the_page_says_what_to_do(chromium, page):
    window = chromium.open("about:blank")
    none = "window.WebSocket = class { constructor() { setTimeout(() => this.onclose({}), 0); } }"
    window.call("Page.addScriptToEvaluateOnNewDocument", source=none)
    window.call("Page.navigate", url=page.address)
    window.reads("status", "the server answers, but no WebSocket reaches it...")
    window.close()


def test_a_result_has_its_network_and_many_societies_a_band(chromium, result):  # noqa: F811
    with served(FileView(result)) as page:
        window = chromium.open(page.address)
        shows_day(window, 9)
        assert window.js("newest.panes[0].numbers.nodes.length / NODE") == 5
        assert window.js("charts.get('units_extracted').bands.length") == 1
        window.js("document.querySelector('canvas.network').scrollIntoView()")
        pick(window, 4)
        window.until(
            "document.querySelector('.agent').textContent.includes('--agent 4 --days 1:9')"
        )
        assert faults(window) == []
        assert not page.errors
        window.close()


@pytest.mark.parametrize("name", ["bam", "boltzmann", "schelling", "sugarscape"])
def test_models_have_a_page_without_faults(chromium, name):
    view = RunView(Setup(workload(name), small(name)), "reference")
    with served(view) as page:
        window = chromium.open(page.address)
        shows_day(window, 0)
        click(window, "one")
        shows_day(window, 1)
        assert window.js("document.querySelectorAll('.chart').length") >= 1
        assert faults(window) == [] and not page.errors
        picture = base64.b64decode(window.call("Page.captureScreenshot")["data"])
        assert picture.startswith(b"\x89PNG")
        window.close()
