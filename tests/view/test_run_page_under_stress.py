"""What does the page of a run do when events, viewers and files are not as they should be?"""

import json
import urllib.request
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

import societies
from societies.errors import OutputError
from societies.view import run_view
from societies.view.file_view import FileView
from societies.view.shots import MOST_VALUES, evenly, message
from tests.view.browser import until
from tests.view.serving import Viewer, served
from tests.view.test_run_page import last, made

pytestmark = pytest.mark.ci

FILES = Path(__file__).resolve().parents[1] / "data" / "files"


@pytest.fixture
def page():
    """A page of a small economy."""
    with served(made(days=30)[0]) as opened:
        yield opened


def tick(viewer):
    """Return the tick of the newest scene of a viewer, -1 before the first."""
    return viewer.frames[-1][0]["tick"] if viewer.frames else -1


def shows(viewer, day):
    until(lambda: tick(viewer) == day, f"day {day}")


def rows(viewer):
    """Return the first row and the number of rows that the newest scene brings, for each pane."""
    panes = viewer.frames[-1][0]["panes"]
    return [(pane["from"], pane["parts"][0][1][0]) for pane in panes]


def test_the_saved_yaml_begins_with_the_hash_of_the_state(page, shell, tmp_path):
    def saved():
        with urllib.request.urlopen(f"{page.address}configuration.yaml") as answer:
            return answer.read().decode()

    with Viewer(page) as viewer:
        shows(viewer, 0)
        assert saved().startswith("workload: economy")
        viewer.send(change="tick", value=3)
        shows(viewer, 3)
        viewer.send(change="value", value=450)
        viewer.send(change="tick", value=6)
        shows(viewer, 6)
        text = saved()
    digest = viewer.frames[-1][0]["panes"][0]["sha256"]
    assert text.startswith(
        f"# state sha256 after day 6: {digest}\n# (a run of this file with 6 days"
    )
    (tmp_path / "policy.yaml").write_text(text)
    options = ("--ticks", "6", "--device", "reference", "--out", str(tmp_path / "policy.h5"))
    code, out, _ = shell("run", str(tmp_path / "policy.yaml"), *options)
    assert code == 0 and digest in out


def test_two_sliders_at_once_are_two_changes_and_a_burst_is_one(page):
    with Viewer(page) as viewer:
        shows(viewer, 0)
        viewer.send(change="tick", value=3)
        shows(viewer, 3)
        for number in range(100):  # 200 events, by two hands
            viewer.send(change="value", value=300 + 10 * number)
            viewer.send(change="number", value=number % 5)
        viewer.send(change="key", value="trading.min_surplus")
        viewer.send(change="value", value=0.5)
        wanted = [[3, "day_length = 1290", True], [3, "trading.min_surplus = 0.5", True]]
        until(lambda: viewer.frames[-1][0]["panes"][0]["happenings"] == wanted, "both changes")
        assert len(viewer.frames) < 100 and not page.errors
        until(lambda: viewer.news[-1]["seq"] == viewer.seq, "the last event")


def test_a_slider_outside_its_range_is_at_its_end(page):
    with Viewer(page) as viewer:
        shows(viewer, 0)
        limits = {one["name"]: one for one in viewer.news[-1]["controls"]}
        for value in (1e9, -1e9):
            viewer.send(change="tick", value=value)
            shows(viewer, limits["tick"]["most" if value > 0 else "least"])
        assert not viewer.news[-1]["error"]


def test_one_browser_steers_while_others_watch_the_same(page):
    with Viewer(page) as first:
        shows(first, 0)
        with Viewer(page) as second:
            shows(second, 0)
            second.send(press="ten")
            first.send(press="one")
            shows(first, 1)
            shows(second, 1)
            assert not second.news[-1]["controlling"]
            assert first.frames[-1][1] == second.frames[-1][1]
        with Viewer(page) as third:
            shows(third, 1)
            assert rows(third) == [(0, 1)]


def test_a_browser_that_is_closed_in_mid_branch_is_followed_by_one_that_has_all_of_it(page):
    with Viewer(page) as viewer:
        shows(viewer, 0)
        viewer.send(change="tick", value=4)
        shows(viewer, 4)
        viewer.send(press="branch")
        until(lambda: len(viewer.frames[-1][0]["panes"]) == 2, "the branch")
        viewer.send(press="policy-ban")
        viewer.send(press="ten")
    with Viewer(page) as viewer:
        shows(viewer, 14)
        assert all(pane["from"] == 0 for pane in viewer.frames[0][0]["panes"])
        assert [sum(one) for one in rows(viewer)] == [14, 14]
        assert [len(one["happenings"]) for one in viewer.frames[-1][0]["panes"]] == [0, 1]
        viewer.send(press="one")
        shows(viewer, 15)
    assert not page.errors


def test_a_slow_client_misses_frames_and_no_row(page):
    with Viewer(page, acknowledge=False) as slow:
        until(lambda: slow.frames, "the first scene")
        with Viewer(page) as quick:
            shows(quick, 0)
            slow.send(press="ten")
            shows(quick, 10)
            assert len(slow.frames) == 1
            slow.socket.send(json.dumps({"shown": slow.frames[-1][0]["number"]}))
            shows(slow, 10)
            assert rows(slow) == [(0, 10)] and len(slow.frames) == 2


def length_of(shot, known):
    return len(message(shot, number=1, state=1, known=known))


LARGE = {"agents": 48, "resources": 48}
GROUPS = [{"name": "a", "share": 0.4}, {"name": "b", "share": 0.6}]


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(LARGE, id="48 agents", marks=pytest.mark.thorough),
        pytest.param({**LARGE, "devices": "all"}, id="devices"),
        pytest.param({"agents": 300}, id="300 agents", marks=pytest.mark.thorough),
        pytest.param({"agents": 2000, "groups": GROUPS}, id="2000 agents"),
    ],
)
def test_a_message_of_a_day_is_below_50_kilobytes_also_with_a_branch(keys):
    view, state = made("cpu", days=30, **keys)
    state, known = replace(state, colour="its group" if "groups" in keys else state.colour), {}
    for branched, day in ((False, 8), (False, 9), (True, 10), (True, 11)):
        state = replace(state, branched=branched, asked=day)
        length, known_before = length_of(shot := last(view, state), known), day in (9, 11)
        if known_before:
            assert length < 50_000
    assert len(shot.panes) == 2 and shot.panes[0].numbers["nodes"].size


@pytest.mark.parametrize("replicates", [1, pytest.param(200, marks=pytest.mark.thorough)])
def test_messages_at_full_speed_are_below_50_kilobytes(replicates, monkeypatch):
    """A message of several days had 54 kB: days in a message are limited, and none is left out."""
    monkeypatch.setattr(run_view, "SELDOM", 60.0)  # a device that computes many days in that time
    view, state = made("cpu", days=90, replicates=replicates, **LARGE)
    known = {}
    length_of(last(view, state), known)
    fast = replace(state, playing=True, pace="as fast as possible")
    shots = [one for one in view.frames(fast) if one is not None]
    lengths = [length_of(shot, known) for shot in shots]
    assert max(lengths) < 50_000
    assert shots[-1].tick == 90 == known[0][2] and len(shots) < 30


def test_files_of_other_programs_and_versions_are_one_line(shell, tmp_path):
    path = tmp_path / "other.h5"
    with h5py.File(path, "w") as file:
        file["x"] = [1, 2, 3]
    code, out, err = shell("view", str(path), "--no-browser")
    assert (code, out) == (4, "") and err.count("\n") <= 2 and str(path) in err
    with pytest.raises(OutputError):
        FileView(tmp_path / "missing.h5")


@pytest.mark.filterwarnings("ignore::societies.errors.OriginWarning")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_file_of_an_earlier_layout_has_a_page(number):
    path = FILES / f"layout-{number}.h5"
    view = FileView(path)
    shot = last(view, view.initial)
    names = [line.name for line in shot.panes[0].history.lines]
    own = shot.panes[0].history.part(0, 12, 0)[:, 3, names.index("units_extracted")]
    with societies.open_results(path) as data:
        assert own.tolist() == data.units_extracted[0].values.astype("float32").tolist()


def test_a_spread_of_many_agents_is_sent_as_values_that_are_evenly_spaced():
    values = np.random.default_rng(0).lognormal(size=10_000)
    sent = evenly(np.append(values, np.nan))
    assert len(sent) == MOST_VALUES and sent.tolist() == sorted(sent)
    ends = [values.min(), np.median(values), values.max()]
    assert np.allclose(sent[[0, MOST_VALUES // 2, -1]], ends, rtol=1e-3)
    assert evenly(np.array([2.0, np.inf, 1.0])).tolist() == [1, 2]
