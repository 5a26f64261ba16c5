"""What does the page of a run show, and are its ticks those of a run from the shell?"""

import base64
import json
import struct
import threading
from dataclasses import replace

import numpy as np
import pytest

import societies
from societies import config_from_dict
from societies.errors import ConfigError, Interrupted
from societies.scaffold import write_workload
from societies.view import course, file_view, run_view
from societies.view.file_view import FileView
from societies.view.run_view import RunView
from societies.view.session import Session
from societies.view.shots import message
from societies.workload import Setup
from societies.workload.declare.view import Change, Press, Slider
from societies.workload.running import registry
from societies.workload.running.engines import Engine
from societies.workload.running.registry import workload
from societies.workload.running.varying import value_at
from tests.small import small
from tests.view.serving import served

pytestmark = pytest.mark.ci


def made(device="reference", **keys):
    """Return the page of a small economy with trade, and its first state."""
    plain = {"devices": "none", "shocks": [], "interventions": [], "groups": []}
    config = small("economy").model_dump(mode="json") | plain | keys
    view = RunView(Setup(workload("economy"), config_from_dict(config)), device)
    return view, view.initial


def last(view, state):
    """Return the last scene of a state that does not play."""
    return [one for one in view.frames(state) if one is not None][-1]


def at(state, tick):
    return replace(state, asked=tick)


def names_of(shot):
    return [line.name for line in shot.panes[-1].history.lines]


def hashes(shot):
    return [pane.facts["sha256"] for pane in shot.panes]


def run_of(view, state, tick, tmp_path):
    """Return the hash of a run from the shell with the configuration of the page."""
    data = view.configuration(state).model_dump(mode="json") | {"days": tick}
    given = {"device": "reference", "out": tmp_path / "run.h5", "overwrite": True}
    return societies.run(config_from_dict(data), **given).state_sha256


def test_days_back_and_forward_have_the_bits_of_a_run(tmp_path):
    view, state = made()
    first = last(view, state)
    assert first.tick == 0 and first.panes[0].rows == 0
    found = {day: last(view, state := at(state, day)) for day in (12, 5, 11, 12)}
    for day in (5, 11, 12):
        assert hashes(found[day]) == [run_of(view, state, day, tmp_path)]
    assert found[12].panes[0].rows == 12 and "links" in found[12].panes[0].numbers


def test_play_after_the_last_day_begins_again_also_with_a_branch():
    view, state = made(days=6)
    ended = last(view, state := view.take(at(state, 6), Press("branch")))
    state = view.take(replace(state, pace="as fast as possible"), Press("play"))
    days = [(shot.tick, len(shot.panes)) for shot in view.frames(state) if shot]
    assert days[0] == (0, 2) and days[-1] == (6, 2)
    assert hashes(last(view, state)) == hashes(ended)
    back = view.take(view.take(state, Change("tick", 3)), Press("play"))
    assert back.replays == state.replays and back.asked == 3


def test_a_network_of_a_day_is_the_same_whether_reached_forward_or_back():
    view, state = made()
    links = {}
    for day in (4, 9, 4, 12, 9):
        now = last(view, state := at(state, day)).panes[0].numbers["links"]
        assert np.array_equal(links.setdefault(day, now), now)
    assert len(links[9]) and not np.array_equal(links[4], links[9])


def test_a_slider_is_an_intervention_after_the_day_that_is_shown(tmp_path):
    view, state = made()
    before = hashes(last(view, state := at(state, 12)))
    last(view, state := at(state, 6))
    state = view.take(replace(state, key="day_length"), Change("value", 450.0))
    state = view.take(state, Change("value", 420.0))  # replaces the one of the same day
    assert state.changes == ((6, "day_length", 420.0),)
    shot = last(view, state)
    assert shot.tick == 6 and shot.panes[0].rows == 6
    after = hashes(last(view, state := at(state, 12)))
    assert after == [run_of(view, state, 12, tmp_path)] != before
    config = view.configuration(state).model_dump(mode="json", exclude_none=True)
    assert config["interventions"][0]["day"] == 6
    state = view.take(state, Press("undo"))
    assert hashes(last(view, at(state, 12))) == before


def test_measures_are_among_the_series_with_the_numbers_of_a_file(tmp_path):
    """The docs said so of prices, and the page had none of the series of another array."""
    groups = [{"name": "a", "share": 0.4}, {"name": "b", "share": 0.6}]
    view, state = made(record={"measures": True}, groups=groups, days=8)
    history = last(view, at(state, 8)).panes[0].history
    societies.run(view.configuration(state), device="reference", out=tmp_path / "run.h5")
    with societies.open_results(tmp_path / "run.h5") as data:
        names = {line.series for line in history.lines}
        assert {"units_extracted", "price_mean", "top_share_income", "group_wealth"} < names
        shown = history.part(0, 8, 0)[:, 3]
        for name in names:
            columns = [i for i, line in enumerate(history.lines) if line.series == name]
            wanted = data[name].values[0].reshape(8, -1).astype(np.float32)
            assert np.array_equal(shown[:, columns], wanted, equal_nan=True), name


def test_a_change_before_the_first_day_is_a_key(tmp_path):
    view, state = made()
    last(view, state)
    state = view.take(replace(state, key="trading.min_surplus"), Change("value", 0.5))
    config = view.configuration(state).model_dump(mode="json")
    assert value_at(config, "trading.min_surplus") == 0.5 and config["interventions"] == []
    assert hashes(last(view, at(state, 7))) == [run_of(view, state, 7, tmp_path)]


def test_two_courses_have_one_past_and_part_where_it_is_said(tmp_path):
    view, state = made()
    last(view, state := at(state, 5))
    alone = hashes(last(view, state := at(state, 10)))
    last(view, state := at(state, 5))
    state = view.take(state, Press("branch"))
    shot = last(view, state)
    assert hashes(shot)[0] == hashes(shot)[1] and shot.facts["parted"] is None
    state = view.take(replace(state, key="day_length"), Change("value", 300.0))
    shot = last(view, state := at(state, 10))
    assert shot.facts["parted"] == 6
    assert hashes(shot) == [*alone, run_of(view, state, 10, tmp_path)]
    state = view.take(state, Press("undo"))
    assert last(view, at(state, 10)).facts["parted"] is None
    state = view.take(state, Press("branch"))
    assert len(last(view, state).panes) == 1


def test_playing_ends_with_the_last_day_and_changes_after_it_are_refused():
    view, state = made()
    state = replace(view.take(state, Press("play")), pace="as fast as possible")
    shots = [one for one in view.frames(state) if one is not None]
    assert shots[-1].tick == view.ticks and shots[-1].panes[0].facts["ended"]
    with pytest.raises(ConfigError, match="the run has ended: go back to day 13 or earlier"):
        view.take(state, Change("value", 1.0))


def test_quick_clicks_are_counted_before_any_day_is_computed():
    view, state = made()
    for name in ("one", "ten", "one"):
        state = view.take(state, Press(name))
    assert state.asked == 12 and last(view, state).tick == 12


@pytest.mark.parametrize("replicates", [3, 1])
def test_a_page_is_sent_the_rows_that_it_lacks(replicates):
    view, state = made(replicates=replicates)
    known, rows = {}, []
    for number, day in enumerate((4, 9, 2, 12)):
        shot = last(view, state := at(state, day))
        data = message(shot, number=number, state=1, known=known)
        length = struct.unpack("<I", data[:4])[0]
        header = json.loads(data[4 : 4 + length])
        (name, shape), *_ = header["panes"][0]["parts"]
        lines = header["panes"][0].get("lines")
        assert (lines is None) == bool(number)
        kinds = 4 if replicates > 1 else 1  # mean and band are those of the only society
        assert name == "series" and shape[1:] == [kinds, len(shot.panes[0].history.lines)]
        rows.append((header["panes"][0]["from"], shape[0]))
        assert len(data) == 4 + length + 4 * sum(np.prod(s) for _, s in header["panes"][0]["parts"])
    assert rows == [(0, 4), (3, 6), (8, 1), (8, 4)]
    if replicates == 1:
        return
    last(view, state := at(state, 12))
    series = shot.panes[0].history.part(0, 12, 2)
    column = names_of(shot).index("units_extracted")
    mean, low, high, own = series[:, :, column].T
    assert (low <= mean).all() and (mean <= high).all() and not np.array_equal(own, mean)


@pytest.mark.parametrize("name", ["boltzmann", "schelling"])
def test_every_model_has_a_page_without_saying_anything(name):
    view = RunView(Setup(workload(name), small(name)), "reference")
    state = view.initial
    shot = last(view, at(state, 3))
    assert shot.tick == 3 and shot.panes[0].rows == 3
    for control in view.controls(state):
        if isinstance(control, Slider):
            assert control.least <= control.value <= control.most
    assert ("grid" in shot.panes[0].numbers) == (name == "schelling")


@pytest.mark.parametrize("template", ["exchange", "market", "network", "minimal"])
def test_the_page_of_a_new_model_can_change_and_branch_it(template, tmp_path, monkeypatch):
    """None of its keys could change on the way, so that the page had no slider and no branch."""
    monkeypatch.setattr(registry, "_GIVEN", {})
    write_workload("begun", tmp_path, template)
    file = next(tmp_path.rglob("begun.py"))
    config = config_from_dict({"workload": "begun", "model": str(file), "days": 4})
    view = RunView(Setup(workload("begun"), config), "reference")
    assert {"value", "branch"} <= {one.name for one in view.controls(view.initial)}
    changed = view.take(at(view.initial, 1), Change("value", 3))
    assert last(view, at(changed, 2)).tick == 2


def test_what_has_neither_view_nor_series_is_refused():
    with pytest.raises(ConfigError, match="matmul cannot be viewed: it defines neither"):
        RunView(Setup(workload("matmul"), small("matmul")))


def test_a_branch_that_is_opened_again_is_sent_from_its_first_day():
    """Its series had the number of those of the branch that was closed: the page retained zeros."""
    view, state = made()
    known, starts = {}, []
    last(view, state := at(state, 5))
    for number in range(4):
        shot = last(view, state := view.take(state, Press("branch")))
        data = message(shot, number=number, state=1, known=known)
        header = json.loads(data[4 : 4 + struct.unpack("<I", data[:4])[0]])
        starts.append([pane["from"] for pane in header["panes"]])
    assert starts[0][1] == starts[2][1] == 0


def test_a_day_is_reached_though_something_else_was_chosen_on_the_way():
    view, state = made()
    frames = view.frames(at(state, 12))
    assert next(frames) is None  # a day is computed; then another spread is chosen
    frames.close()
    state = view.take(at(state, 12), Change("spread", "utility"))
    assert last(view, state).tick == 12


POLICIES = {
    "tax": {"key": "policies.holdings_tax.rate"},
    "transfer": {"key": "policies.transfer.equal"},
    "ban": {"key": "policies.quota_of"},
    "shock": {},
}


def test_buttons_of_policies_give_the_bits_of_a_run(tmp_path):
    view, state = made()
    plain = hashes(last(view, at(state, 9)))
    last(view, state := at(state, 4))
    for number, (name, expected) in enumerate(POLICIES.items()):
        labels = {one.name: one.label for one in view.controls(state) if hasattr(one, "label")}
        assert f"policy-{name}" in labels
        state = view.take(replace(state, number=2), Press(f"policy-{name}"))
        assert len(state.changes) == number + 1
        assert state.key == expected.get("key", state.key)
    shot = last(view, state := at(state, 9))
    assert hashes(shot) == [run_of(view, state, 9, tmp_path)] != plain
    config = view.configuration(state).model_dump(mode="json", exclude_none=True)
    assert [one.get("remove") for one in config["interventions"]].count("resource") == 1
    column = names_of(shot).index("units_taxed")  # a series that the policies bring
    taxed = shot.panes[0].history.part(0, 9, 0)[:, 3, column]
    assert np.isnan(taxed[:4]).all() and (taxed[4:] > 0).all()


def test_series_that_only_one_course_has_do_not_part_them():
    view, state = made()
    last(view, state := at(state, 4))
    state = view.take(view.take(state, Press("branch")), Press("policy-transfer"))
    shot = last(view, at(state, 7))  # nothing is in the fund, so nothing is paid out
    assert shot.facts["parted"] is None
    assert len(names_of(shot)) > len(shot.panes[0].history.lines)


def test_a_policy_that_is_not_possible_is_refused_at_once():
    view, state = made()
    last(view, state := at(state, 3))
    state = view.take(state, Press("policy-shock"))
    with pytest.raises(ConfigError, match="removed"):
        view.take(replace(state, asked=5), Press("policy-shock"))


def test_a_value_that_is_not_possible_is_refused_at_once():
    """The page computed for good what could not be, and saved no YAML."""
    view, state = made()
    last(view, state := replace(at(state, 3), key="utility.exponent"))
    with pytest.raises(ConfigError, match=r"utility\.exponent"):
        view.take(state, Change("value", -2.0))


def test_sliders_of_keys_that_may_be_lists_stay_within_the_limits_of_a_number():
    view, _ = made(devices="tools")
    least = {key: scale.least for key, scale in view._keys.items()}
    assert 1 < least["utility.exponent"] < 1.1
    assert least["consumption.resource_lifetime"] == 1
    for key in ("utility.scale", "extraction.max_effort", "extraction.min_effort"):
        assert least[key] > 0
    assert least["device.max_effort"] > 0


def test_a_network_is_of_a_day_or_a_week_and_coloured_by_what_is_chosen():
    groups = [{"name": "a", "share": 0.4}, {"name": "b", "share": 0.6}]
    view, state = made(groups=groups)
    choices = {one.name: one.options for one in view.controls(state) if hasattr(one, "options")}
    assert choices["window"] == ("this day", "the last 7 days")
    colours = ("what it extracts most", "what it knows best", "its group")
    assert choices["colour"] == colours
    sums = {}
    for window in choices["window"]:
        numbers = last(view, state := replace(at(state, 9), window=window)).panes[0].numbers
        sums[window] = numbers["links"][:, 2].sum()
    with_day = view._course.arrays(["link_taker", "link_units", "extracted"], 0)
    given = with_day["link_units"][0][with_day["link_taker"][0] >= 0].sum()
    assert sums["this day"] == given < sums["the last 7 days"]
    assert np.array_equal(numbers["nodes"][:, 1], with_day["extracted"][0].argmax(1))
    numbers = last(view, replace(state, colour="its group")).panes[0].numbers
    assert numbers["nodes"][:, 1].tolist() == [0, 0, 1, 1, 1]


def test_a_click_shows_the_life_of_an_agent_as_trace_does():
    view, state = made()
    state = view.take(at(state, 5), Change("agent", 3))
    shot = last(view, state)
    traced = workload("economy").trace(view.configuration(state), agent=3, days="1:5",
                                     device="reference")  # fmt: skip
    assert shot.panes[0].facts["life"] == traced
    assert "Agent 3 of society 0, days 1 to 5" in traced
    playing = replace(state, playing=True)
    assert (
        "shown when the run is paused"
        in next(one for one in view.frames(playing) if one is not None and one.tick > 5)
        .panes[0]
        .facts["life"]
    )
    computed = next(one for one in view.frames(at(state, 6)) if one is not None)
    assert "is being computed" in computed.panes[0].facts["life"]


def test_a_life_is_abandoned_when_something_else_is_asked_for():
    view, state = made()
    last(view, at(state, 12))
    frames = view.frames(replace(at(state, 12), agent=1))
    while next(frames) is not None:
        pass
    next(frames)  # the life is being computed
    frames.close()
    assert not [one for one in threading.enumerate() if one.name == "life"]


def test_snapshots_have_limited_memory_and_days_back_have_the_same_bits(monkeypatch):
    view, state = made(days=40)
    found = {day: hashes(last(view, at(state, day))) for day in (13, 27, 40)}
    monkeypatch.setattr(Engine, "room", 1)
    other, state = made(days=40)
    last(other, at(state, 40))
    assert len(other._course._snapshots) == 1
    for day in (27, 13, 40):
        assert hashes(last(other, at(state, day))) == found[day]


def test_while_it_plays_only_what_is_drawn_is_read(monkeypatch):
    view, state = made()
    read = []
    monkeypatch.setattr(view._course, "sha256", lambda: read.append(1) or "")
    fast = replace(state, playing=True, pace="as fast as possible")
    shots = list(filter(None, view.frames(fast)))
    assert [bool(one.panes[0].facts["ended"]) for one in shots].count(True) == len(read) == 1


@pytest.fixture
def slowly(monkeypatch):
    """Return a function that makes each day of a page take 45 ms of a clock that it returns."""
    now = [0.0]

    def pass_time(seconds):
        now[0] += seconds

    def slow(view, meanwhile=lambda first, last: None):
        engine = view._course._engine
        run_ticks = engine.run_ticks

        def run_slowly(first, last):
            pass_time(0.045 * (last - first + 1))
            run_ticks(first, last)
            meanwhile(first, last)

        monkeypatch.setattr(engine, "run_ticks", run_slowly)

    monkeypatch.setattr(run_view.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(run_view.time, "sleep", pass_time)
    return slow


def test_as_fast_as_possible_every_day_is_computed_and_few_are_drawn(slowly):
    view, state = made(days=30)
    slowly(view)
    fast = replace(state, playing=True, pace="as fast as possible")
    assert [one.tick for one in view.frames(fast) if one is not None] == [0, 12, 30]
    list(view._course.steps_to(0))
    assert view._course.tick == 0
    one_by_one = view.frames(replace(fast, pace="20 a second"))
    assert [one.tick for one in one_by_one if one is not None] == list(range(31))


def test_the_next_days_are_computed_while_a_picture_is_drawn(slowly):
    view, state = made(days=30)
    computed = []
    slowly(view, lambda first, last: computed.append(last))
    frames = view.frames(replace(state, playing=True, pace="as fast as possible"))
    first, second = (next(one for one in frames if one is not None) for _ in range(2))
    assert first.tick == 0 < second.tick < computed[-1] == view._course.heading
    assert second.panes[0].rows == second.tick
    frames.close()
    assert view._course.tick == view._course.history.rows == computed[-1]


def test_days_that_a_long_one_has_delayed_are_not_rushed_through(slowly):
    """The first day builds kernels, and a computer may be put to sleep."""
    view, state = made(days=12)
    slowly(view, lambda first, last: run_view.time.sleep(30.0 if first == 2 else 0.0))
    now = run_view.time.perf_counter
    paced = view.frames(replace(state, playing=True, pace="5 a second"))
    seen = {one.tick: now() for one in paced if one is not None}
    assert list(seen) == list(range(13))
    assert seen[12] - seen[2] >= 10 / 5 - 0.6


def test_a_pause_shows_the_day_at_which_the_computed_block_ends(slowly):
    """Going back to a day in the middle of the block would compute days a second time."""
    view, state = made(days=30)
    computed, paused = [], []
    fast = replace(state, playing=True, pace="as fast as possible")

    def meanwhile(first, last):
        computed.extend(range(first, last + 1))
        if last > first > 5 and not paused:
            paused.append(view.take(fast, Press("play")))

    slowly(view, meanwhile)
    frames = view.frames(fast)
    while not paused:
        next(frames)
    frames.close()
    shot = last(view, paused[0])
    assert shot.tick == paused[0].asked == computed[-1]
    assert computed == list(range(1, shot.tick + 1))


def test_snapshots_that_take_long_are_made_less_often(slowly, monkeypatch):
    monkeypatch.setattr(course, "PAUSE", 10.0)
    view, _ = made(days=80)
    slowly(view)
    snapshot = view._course._engine.snapshot

    def slowly_made():
        run_view.time.sleep(0.2)
        return snapshot()

    monkeypatch.setattr(view._course._engine, "snapshot", slowly_made)
    list(view._course.steps_to(80))
    assert sorted(view._course._snapshots) == [12, 57]


@pytest.mark.parametrize("device", ["reference", pytest.param("cpu", marks=pytest.mark.ci)])
def test_days_in_blocks_have_the_bits_and_the_networks_of_single_days(device, monkeypatch):
    monkeypatch.setattr(course, "BLOCK", 1e9)

    def shown(day, *, single):
        view, state = made(device, days=24)
        if single:
            for one in range(day):
                last(view, at(state, one))
        return last(view, at(state, day)), view

    one, other = (shown(23, single=single) for single in (True, False))
    (first, _), (second, view) = one, other
    assert view._course._chunk > 1
    assert hashes(first) == hashes(second)
    assert np.array_equal(*(shot.panes[0].numbers["links"] for shot in (first, second)))
    series = [shot.panes[0].history.part(0, 23, 0) for shot in (first, second)]
    assert np.array_equal(*series, equal_nan=True)


def test_a_branch_has_the_network_of_the_week_before_it():
    view, state = made()
    shot = last(view, state := at(state, 9))
    week = shot.panes[0].numbers["links"]
    shot = last(view, state := view.take(state, Press("branch")))
    assert all(np.array_equal(pane.numbers["links"], week) for pane in shot.panes)
    state = view.take(replace(state, key="day_length"), Change("value", 450.0))
    assert np.array_equal(last(view, state).panes[1].numbers["links"], week)
    later = last(view, at(state, 11)).panes
    assert len(later[1].numbers["links"]) and later[0].facts["sha256"] != later[1].facts["sha256"]


# -------------------------------------------------------------------------------- of a result


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """A result with three societies, with agents every third day and trades on four days."""
    path = tmp_path_factory.mktemp("result") / "run.h5"
    record = {"agent": 3, "agent_resource": 3, "network": [2, 3, 8, 9]}
    changed = [{"day": 8, "set": {"day_length": 590.0}}]
    view, _ = made(replicates=3, days=9, record=record, interventions=changed)
    societies.run(view.configuration(view.initial), device="reference", out=path)
    return path


def test_the_page_of_a_result_has_its_numbers(result):
    view = FileView(result)
    state = view.initial
    shot = last(view, state)
    assert shot.tick == 9 and shot.facts["copies"] == 3
    assert shot.panes[0].facts["happenings"] == [(8, "day_length = 590", False)]
    with societies.open_results(result) as data:
        names = names_of(shot)
        for name in ("units_extracted", "gini"):
            own = shot.panes[0].history.part(0, 9, 1)[:, 3, names.index(name)]
            assert np.array_equal(own, data[name].sel(society=1).astype(np.float32), equal_nan=True)
        state = view.take(replace(state, copy=2, spread="agent_utility"), Change("tick", 7))
        shot = last(view, state)
        recorded = data.agent_utility.isel(society=2).sel(agent_day=6).values
    assert shot.tick == 7 and shot.panes[0].rows == 7
    assert np.array_equal(shot.panes[0].numbers["spread"], np.sort(recorded).astype(np.float32))
    assert not any(one.variable._in_memory for one in view._recorded.values())  # they may be large
    assert "\ndays: 9\n" in view.configuration(state)
    names = [one.name for one in view.controls(state)]
    assert names[-4:] == ["copy", "spread", "window", "colour"]


def test_the_page_of_a_result_has_its_series_by_entry_and_its_network(result):
    view = FileView(result)
    assert view.title == f"{result.name}: economy: agents extract, barter, invent and consume"
    state = replace(view.initial, copy=1)
    shot = last(view, state)
    assert shot.facts["living"] == "agents_alive"
    lines = shot.panes[0].history.lines
    assert [one.name for one in lines if one.series == "minutes"] == ["minutes_hand"]
    pane = shot.panes[0]
    with societies.open_results(result, events="trade_network") as table:
        mine = (table.society == 1) & (table.day >= 3)
        units = float(table.units.where(mine, 0).sum())
    assert pane.numbers["links"][:, 2].sum() == units > 0
    assert pane.facts["network"]["title"].endswith("recorded days of these: 3, 8, 9")
    with societies.open_results(result) as data:
        last_day = data.isel(society=1, agent_day=-1, resource_day=-1)
        assert pane.numbers["nodes"][:, 0].tolist() == last_day.agent_units_held.values.tolist()
        assert np.array_equal(pane.numbers["nodes"][:, 1], last_day.extracted.values.argmax(1))
    early = last(view, replace(state, asked=1)).panes[0].facts
    assert "recorded days of these: none" in early["network"]["title"]
    assert "what it gave; colour: not recorded" in early["network"]["title"]
    assert early["spread"]["meaning"].endswith("not recorded up to day 1")


def test_an_agent_that_was_removed_is_faint_in_the_network_of_a_result(tmp_path):
    """What a removed agent holds is recorded as NaN, which hid all circles of the page."""
    view, state = made(
        days=6, record={"agent": 3, "network": [5]},
        interventions=[{"day": 2, "remove": "agent", "index": 1}],
    )  # fmt: skip
    societies.run(view.configuration(state), device="reference", out=tmp_path / "run.h5")
    page = FileView(tmp_path / "run.h5")
    sizes, _, living = last(page, page.initial).panes[0].numbers["nodes"][:, :3].T
    assert np.isfinite(sizes).all() and living.tolist() == [1, 0, 1, 1, 1]


def test_a_result_is_played_from_its_beginning_and_stops_at_its_end(result):
    view = FileView(result)
    state = replace(view.take(view.initial, Press("play")), pace="as fast as possible")
    ticks = [one.tick for one in view.frames(state) if one is not None]
    assert ticks[0] == 0 and ticks[-1] == 9 and ticks == sorted(ticks)
    assert view.take(view.take(view.initial, Press("ten")), Press("one")).asked == 9
    again = view.take(state, Press("play"))
    assert again != state and next(one.tick for one in view.frames(again) if one) == 0


def test_a_result_that_grows_is_read_again(tmp_path):
    path = tmp_path / "run.h5"
    view, state = made(days=12, record={"checkpoint": 3})
    config = view.configuration(state)
    societies.run(config_from_dict(config.model_dump(mode="json") | {"days": 6}),
                  device="reference", out=path)  # fmt: skip
    page = FileView(path)
    assert last(page, page.initial).tick == 6
    societies.run(config, device="reference", out=path, overwrite=True)
    assert last(page, replace(page.initial, asked=12)).tick == 12


def test_a_file_that_is_being_written_is_followed_and_only_new_rows_are_sent(tmp_path, monkeypatch):
    """It stood still until Play was pressed, and then all its rows were sent again and again."""
    path = tmp_path / "run.h5"
    view, state = made(days=12, record={"checkpoint": 3})
    config = view.configuration(state)

    def stop(done, days):
        if done >= 6:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        societies.run(config, device="reference", out=path, progress=stop)
    page = FileView(path)
    state, rows = page.initial, page.initial.asked
    assert not state.playing and 6 <= rows < 12
    said = f"day {rows} of 12 (recorded up to day {rows}; resume the run to continue it)"
    assert next(page.frames(state)).caption == said
    for beyond in (page.take(state, Change("tick", 12)), page.take(state, Press("ten"))):
        assert next(page.frames(beyond)).tick == rows
    played = page.take(page.take(state, Press("ten")), Press("play"))  # it played for ever
    frames = (one for one in page.frames(replace(played, pace="as fast as possible")) if one)
    assert next(frames).tick == 0
    assert next(one for one in frames if not one.facts["playing"]).tick == rows
    assert next(one for one in page.controls(state) if one.name == "tick").most == rows
    monkeypatch.setattr(file_view, "being_written", lambda path: True)
    page = FileView(path)
    frames = page.frames(page.initial)
    assert next(frames).caption.endswith("; the run continues)")
    monkeypatch.setattr(file_view, "being_written", lambda path: False)  # it was killed
    shot = next(one for one in frames if one and not one.facts["playing"])
    assert shot.caption == said
    monkeypatch.setattr(file_view, "being_written", lambda path: True)  # and is continued
    assert next(one for one in frames if one).facts["playing"]
    monkeypatch.setattr(file_view, "being_written", lambda path: True)
    page, known = FileView(path), {}
    assert page.initial.playing and (begun := page.initial.asked) < 12
    frames = page.frames(page.initial)
    message(next(frames), number=1, state=1, known=known)
    serial, _, rows = known[0]
    assert rows == begun
    societies.run(config, device="reference", out=path, resume=True)
    shot = [one for one in frames if one is not None][-1]
    message(shot, number=2, state=1, known=known)
    assert shot.tick == 12 and known[0] == (serial, 0, 12)
    assert not FileView(path).initial.playing


def test_a_file_that_another_workload_replaces_has_another_title_and_other_controls(
    result, tmp_path
):
    path = tmp_path / "run.h5"
    path.write_bytes(result.read_bytes())
    page = FileView(path)
    session = Session(page, print)
    viewer = session.join(lambda: None)
    session.state = replace(page.initial, copy=2, spread="agent_utility", colour="group")
    assert "economy" in session.news(viewer)["title"]
    assert session.news(viewer) is None
    other = small("boltzmann").model_copy(update={"days": 4, "replicates": 2})
    societies.run(other, device="reference", out=path, overwrite=True)
    shot = last(page, session.state)
    assert (shot.tick, shot.facts["copies"], shot.facts["copy"]) == (4, 2, 1)
    news = session.news(viewer)
    assert "boltzmann" in news["title"]
    controls = {one["name"]: one for one in news["controls"]}
    assert controls["tick"]["most"] == 4 and controls["copy"]["most"] == 1
    assert "colour" not in controls


def test_a_study_has_no_page_and_one_line_names_the_command_that_draws_it(shell, tmp_path):
    data = made()[0].configuration(made()[1]).model_dump(mode="json") | {"days": 2}
    (tmp_path / "base.yaml").write_text(json.dumps(data))
    sweep = {"base": "base.yaml", "vary": {"grid": {"day_length": [500, 600]}}}
    (tmp_path / "sweep.yaml").write_text(json.dumps(sweep))
    study = str(tmp_path / "study.h5")
    options = ("--device", "reference", "--out", study, "--yes", "--quiet")
    assert shell("sweep", str(tmp_path / "sweep.yaml"), *options)[0] == 0
    code, out, err = shell("view", study, "--no-browser")
    expected = f"{study}: is a study, which has no page: `societies plot` draws it\n"
    assert (code, out, err) == (2, "", expected)


def test_the_page_of_a_result_takes_nothing_that_needs_a_run(shell, result):
    code, _, err = shell("view", str(result), "--no-browser", "--set", "days=3")
    assert code == 2 and "is a result, whose page computes nothing: leave out --set" in err


# ------------------------------------------------------------------------------- in the browser


def click(window, name):
    window.js(f"document.getElementById('c-{name}').click()")


def shows_day(window, day):
    window.until(f"document.body.dataset.tick === '{day}'", 60)


@pytest.mark.chromium
@pytest.mark.xdist_group("chromium")
def test_watch_steer_and_branch_in_the_browser(chromium, tmp_path):
    view, _ = made(device="cpu", days=40)
    with served(view) as page:
        window = chromium.open(page.address)
        shows_day(window, 0)
        click(window, "ten")
        shows_day(window, 10)
        assert window.js("document.querySelectorAll('.chart canvas').length") == 6
        click(window, "one")
        shows_day(window, 11)
        whole = window.js("document.body.dataset.hash")
        window.js(
            "(() => { const box = document.getElementById('n-tick'); box.value = 6; "
            "box.onchange(); })()"
        )
        shows_day(window, 6)
        click(window, "branch")
        window.until("document.querySelectorAll('.pane').length === 2")
        window.js(
            "(() => { const box = document.getElementById('n-value'); box.value = 300; "
            "box.onchange(); })()"
        )
        window.until("document.getElementById('changes').children.length === 1")
        for _ in range(5):
            click(window, "one")
        shows_day(window, 11)
        window.until("document.getElementById('parted').textContent.includes('part on day 7')")
        steered = window.js("document.body.dataset.hash")
        assert steered != whole
        text = window.js("fetch('configuration.yaml' + location.search).then(one => one.text())")
        (tmp_path / "policy.yaml").write_text(text.replace("days: 40", "days: 11"))
        done = societies.run(tmp_path / "policy.yaml", device="cpu", out=tmp_path / "policy.h5")
        assert done.state_sha256 == steered
        window.js("document.querySelector('canvas.network').dispatchEvent(new MouseEvent('click', "
                  "{clientX: 0, clientY: 0}))")  # fmt: skip
        click(window, "play")
        window.until("Number(document.body.dataset.tick) > 14", 60)
        click(window, "play")
        assert not page.errors and not window.js("document.getElementById('error').textContent")
        picture = base64.b64decode(window.call("Page.captureScreenshot")["data"])
        assert picture.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("keys", "without", "among"),
    [
        ({"devices": "none"}, ("device.", "devices_market.", "invention."), "trading.min_surplus"),
        ({"devices": "tools"}, ("device.factor.m", "device.lifetime.i"), "device.factor.tool"),
        ({"devices": "all"}, (), "device.factor.industry"),
        ({"trade": False}, ("trading.", "policies.quota", "policies.sales_tax"), "day_length"),
        ({"devices": "tools", "trade": False}, ("devices_market.",), "device.max_effort"),
    ],
)
def test_a_key_without_effect_has_no_slider(keys, without, among):
    view, _ = made(**keys)
    assert among in view._keys
    assert not [key for key in view._keys for one in without if key.startswith(one)]
    assert ("policies.transfer.making" in view._keys) == (keys.get("devices", "none") != "none")
