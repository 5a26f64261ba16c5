"""Which tick does a branch begin at, what does it copy, and which parents are refused?

A branch is the file of a straight run, so every branch is compared with one. The workload is small
and has all that a file can have; the economy branches off on devices in test_branches.py.
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import h5py
import pytest
import tallies
from datasets import datasets

import societies
from societies import SocietiesError, config_from_dict
from societies.workload import Field, Setup
from societies.workload.running import branch
from societies.workload.running.branch import (
    _copy_checkpoints,
    _interventions_of,
    _raised,
    _require_same_past,
    last_tick,
    parent_of,
    require_other,
    with_values,
)
from societies.workload.running.request import request

VALUES = {"pace": 2.0, "goal.bonus": 3.0}
RECORD = {"detail": 2, "checkpoint": 4, "keep": [3]}
REMOVAL = {"day": 6, "remove": "cell"}


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    tallies.install(monkeypatch)


def society(days=8, record=(), interventions=(), **more):
    """Return societies with checkpoints of days 4 and 8, that keep day 3."""
    record = RECORD | dict(record)
    return tallies.config(days=days, record=record, interventions=list(interventions), **more)


def run(config, out, **more):
    return societies.run(config, out=out, device="reference", **more)


def same(one, other):
    """Whether two files have the same bytes in every variable, event and checkpoint."""
    mine, theirs = datasets(one), datasets(other)
    return [name for name in mine | theirs if mine.get(name) != theirs.get(name)] == []


def attributes(path):
    with h5py.File(path) as file:
        return dict(file.attrs)


@pytest.fixture(scope="module")
def parent(tmp_path_factory):
    path = tmp_path_factory.mktemp("parent") / "parent.h5"
    with tallies.installed():
        run(society(), path)
    return path


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run that was stopped after day 6 and whose newest checkpoint is of this day."""
    path = tmp_path_factory.mktemp("stopped") / "stopped.h5"

    def stop(day, days):
        if day >= 6:
            raise KeyboardInterrupt

    with tallies.installed(), pytest.raises(SocietiesError):
        run(society(days=20, record={"checkpoint": 2}), path, progress=stop)
    return path


@pytest.mark.parametrize(("day", "first"), [(0, 1), (2, 1), (3, 4), (7, 5)])
def test_a_branch_is_computed_from_the_newest_checkpoint_before_it(tmp_path, parent, day, first):
    """Those of the parent are of days 3 (permanent), 4 and 8."""
    out, other = tmp_path / "branch.h5", tmp_path / "straight.h5"
    record = {"keep": [3, 10]}  # day 10 is still to come
    report = run(society(12, record), out, start=parent, day=day, values=VALUES)
    assert report.first_day == first
    straight = run(society(12, record, [{"day": day, "set": VALUES}]), other)
    assert report.state_sha256 == straight.state_sha256
    assert same(out, other)
    found = attributes(out)
    created = attributes(parent)["created"]
    assert found["parent"] == f"parent.h5, created {created}"
    assert found["parent_tick"] == str(day)
    assert "parent" not in attributes(other)
    assert last_tick(out) == 12


@pytest.mark.sample
@pytest.mark.parametrize(
    ("record", "first", "checkpoints"),
    [
        ({}, 9, {3, 8, 12}),
        ({"keep": [3, 5]}, 5, {3, 5, 8, 12}),  # the parent does not have that of day 5
        ({"keep": [2, 3]}, 1, {2, 3, 8, 12}),
        ({"checkpoint": 3}, 9, {3, 9, 12}),
        ({"checkpoint": 0, "keep": []}, 9, set()),
        ({"detail": 1}, 1, {3, 8, 12}),  # what the parent did not record has to be computed
    ],
    ids=str,
)
def test_a_finished_run_is_extended_and_has_the_checkpoints_of_a_straight_run(
    tmp_path, parent, record, first, checkpoints
):
    config, out, other = society(12, record), tmp_path / "longer.h5", tmp_path / "straight.h5"
    report = run(config, out, start=parent)
    assert report.first_day == first
    assert report.state_sha256 == run(config, other).state_sha256
    assert same(out, other)
    with h5py.File(out) as file:
        ticks = [int(slot["tick"][()]) for slot in file.get("checkpoint", {}).values()]
    assert checkpoints <= {*ticks}
    assert attributes(out)["parent_tick"] == "8"


@pytest.mark.parametrize(
    ("record", "tick", "begin", "copied"),
    [
        ({}, 7, 4, [3, 4]),
        ({}, None, 8, [3, 8]),
        ({"keep": [3, 5]}, None, 4, [3]),
        ({"keep": [2]}, None, 0, []),
        ({"keep": [2, 5]}, None, 0, []),
        ({"keep": [], "checkpoint": 0}, 7, 4, []),
        ({"detail": 1}, 7, 0, []),
    ],
    ids=str,
)
def test_a_branch_takes_the_checkpoints_that_it_would_have_written(
    parent, record, tick, begin, copied
):
    config = society(12, record)
    with parent_of(Setup(tallies.WORKLOAD, config), parent, tick) as found:
        assert (found.begin, sorted(found.checkpoints)) == (begin, copied)
        assert found.tick == (8 if tick is None else tick)
        assert (found.state is None) == (begin == 0)
        if begin:
            cells = [tallies.tally(number, begin) for number in (0, 1)]
            assert found.state["tally"].tolist() == cells


def test_a_fan_has_the_futures_of_every_copy_of_its_parent(tmp_path):
    """As the straight run of the fan has them, whose copies have equal days up to its day."""
    said = {"workload": "economy", "agents": 3, "resources": 3, "days": 4}
    said |= {"record": {"checkpoint": 2}}
    past, out, other = (tmp_path / f"{name}.h5" for name in ("parent", "fan", "straight"))
    run(config_from_dict({**said, "replicates": 2, "first_society": 5}), past)
    more = {"days": 6, "replicates": 6, "first_society": 15, "fan": {"day": 4, "futures": 3}}
    fan = config_from_dict({**said, **more})
    assert run(fan, out, start=past).first_day == 5
    run(fan, other)
    assert same(out, other)


@pytest.mark.parametrize("lacks", ["an array of the state", "a variable"])
def test_a_branch_of_a_file_that_lacks_something_begins_with_the_first_tick(
    tmp_path, parent, monkeypatch, lacks
):
    """As one of an earlier version may, or one before an intervention that needs the array."""
    fields = tallies.Tallies.fields
    recorded = lacks == "a variable"
    more = {"more": Field((), "int32", "1", "", logged=recorded, checkpointed=not recorded)}
    monkeypatch.setattr(tallies.Tallies, "fields", lambda self, p: fields(self, p) | more)
    with parent_of(Setup(tallies.WORKLOAD, society(12)), parent, None) as found:
        assert (found.begin, found.state, found.checkpoints) == (0, None, {})
    out, other = tmp_path / "branch.h5", tmp_path / "straight.h5"
    assert run(society(12), out, start=parent).first_day == 1
    run(society(12), other)
    assert same(out, other)


def test_checkpoints_are_copied_to_where_a_straight_run_has_them():
    """Those of `record.keep` to a place of their own, others by their number."""
    calls = []

    def checkpoint(tick, state, number=None, keep=None):
        calls.append((tick, number, keep))

    file = SimpleNamespace(checkpoint_interval=lambda asked: 4, checkpoint=checkpoint)
    _copy_checkpoints(SimpleNamespace(checkpoints={3: {}, 4: {}}), file, society())
    assert calls == [(3, None, 0), (4, 1, None)]


def test_a_parent_without_the_removals_of_the_branch_has_nothing_for_it(parent):
    """Also before their day: who is removed is drawn before the first day."""
    removing = Setup(tallies.WORKLOAD, society(12, interventions=[REMOVAL]))
    with parent_of(removing, parent, 5) as found:
        assert (found.begin, found.state, found.checkpoints) == (0, None, {})


def test_a_state_is_looked_at_before_a_branch_continues_with_it(tmp_path, parent, monkeypatch):
    def refuse(setup, path, tick, state):
        raise SocietiesError(f"{path.name}: {tick}, {sorted(state)}")

    monkeypatch.setattr(branch, "require_checkpoint", refuse)
    with pytest.raises(SocietiesError, match=r"^parent.h5: 4, \['count', .*'tally'"):
        run(society(), tmp_path / "branch.h5", start=parent, day=7)


def test_what_is_asked_for_becomes_part_of_the_configuration(tmp_path, parent):
    def asked(config, start, **more):
        usual = dict.fromkeys(("out", "table", "batch", "tick", "values"))
        return request("run", config, {}, **usual | {"start": start} | more).setup.config

    config = society(12)
    assert asked(config, parent) is config
    assert [(one.day, one.set) for one in asked(config, parent, values=VALUES).interventions] == [
        (8, VALUES)  # after the last day, if none is named
    ]
    assert asked(config, parent, values=VALUES, tick=5).interventions[0].day == 5
    economy = config_from_dict({"workload": "economy", "agents": 2, "resources": 2, "days": 9})
    found = asked(economy, parent, fan=3)
    assert (found.fan.model_dump(), found.replicates) == ({"day": 8, "futures": 3}, 3)
    both = asked(economy, parent, fan=3, values={"day_length": 700.0}, tick=4)
    assert (both.fan.day, [one.set for one in both.interventions]) == (4, [{"day_length": 700.0}])


@pytest.mark.ci
def test_a_removal_is_part_of_the_state_wherever_it_stands_in_time(tmp_path):
    """It is drawn before the first day, so that only a parent with the same ones has the state."""
    removing, plain = society(interventions=[REMOVAL]), society()
    for name, config in (("removing", removing), ("plain", plain)):
        run(config, tmp_path / f"{name}.h5")
    later = [REMOVAL, {"day": 9, "set": VALUES}]
    for name, changes, day, first in (
        ("removing", later, 7, 5),
        ("removing", [{"day": 6, "set": VALUES}], 4, 1),
    ):
        config = society(10, interventions=changes)
        out, other = tmp_path / f"{name} {len(changes)}.h5", tmp_path / "straight.h5"
        report = run(config, out, start=tmp_path / f"{name}.h5", day=day, overwrite=True)
        assert report.first_day == first, name
        run(config, other, overwrite=True)
        assert same(out, other)


def test_a_run_that_was_stopped_has_a_past_up_to_its_last_day(tmp_path, stopped):
    out, other = tmp_path / "branch.h5", tmp_path / "straight.h5"
    config = society(8, {"checkpoint": 2})
    assert last_tick(stopped) == 6
    assert run(config, out, start=stopped, values=VALUES).first_day == 7
    assert attributes(out)["parent_tick"] == "6"
    run(society(8, {"checkpoint": 2}, [{"day": 6, "set": VALUES}]), other)
    assert same(out, other)
    said = (
        "stopped.h5: ends with day 6, so nothing can branch off after day 7\n"
        "choose a day up to 6, or let that run continue"
    )
    with pytest.raises(SocietiesError, match=said):
        run(society(20), out, start=stopped, day=7, overwrite=True)


PAST = [{"day": 4, "set": {"pace": 5.0}}, {"day": 9, "set": VALUES}]


@pytest.mark.ci
def test_only_what_is_past_has_to_be_the_same(tmp_path):
    """An intervention takes effect after its day, so that of the day of branching is still free."""
    made = tmp_path / "parent.h5"
    run(society(10, interventions=PAST), made)
    out, other = tmp_path / "branch.h5", tmp_path / "straight.h5"
    for changes, day in ((PAST[:1], 9), ([PAST[0], {**PAST[1], "societies": [1]}], 8)):
        config = society(12, interventions=changes)
        assert run(config, out, start=made, day=day, overwrite=True).first_day == 9
        run(config, other, overwrite=True)
        assert same(out, other)
    for changes, day, other in (
        ([], 10, 4),
        (PAST[::-1], 10, 4),
        (PAST[1:], 9, 4),
        (PAST[:1], 10, 9),
        ([{"day": 4, "set": {"pace": 5.5}}], 7, 4),
        ([PAST[0], {"day": 6, "set": VALUES}], 7, 6),
        ([PAST[0], {"day": 6, "set": VALUES}, PAST[1]], 10, 6),
    ):
        said = (
            f"has other interventions before day {day}, such as that of day {other}; what is past "
            f"cannot be changed\nbranch off earlier, with day={other}$"
        )
        with pytest.raises(SocietiesError, match=said):
            run(society(12, interventions=changes), tmp_path / "no.h5", start=made, day=day)


@pytest.mark.parametrize(
    ("config", "day", "message"),
    [
        ({}, 9, "parent.h5: ends with day 8, so nothing can branch off after day 9\n"),
        ({}, -1, "parent.h5: ends with day 8, so nothing can branch off after day -1\n"),
        ({}, 8, "^day=8: the run has 8 days, none after that; raise it with override days=16$"),
        ({}, None, "^day=8: the run has 8 days, none after that; raise it with override days=16$"),
        ({"days": 6}, 7, "^day=7: the run has 6 days, none after that; raise it with .*days=14$"),
        ({"days": 12, "pace": 5.0}, 4, "made with another configuration: pace is"),
        ({"days": 12, "seed": 12}, 4, "made with another configuration: seed is 1 in the file"),
        ({"days": 12, "replicates": 3}, 4, "made with another configuration: replicates is 2 in"),
    ],
    ids=str,
)
def test_a_missing_past_is_refused(tmp_path, parent, config, day, message):
    with pytest.raises(SocietiesError, match=message):
        run(society(**config), tmp_path / "branch.h5", start=parent, day=day)
    assert not (tmp_path / "branch.h5").exists()


def flipped(path, name, to, place=0.5):
    """Copy a file with one bit changed at a place between the ends of a dataset."""
    content = bytearray(path.read_bytes())
    with h5py.File(path) as file:
        one = file[name]
        content[one.id.get_offset() + int(place * (one.id.get_storage_size() - 1))] ^= 4
    to.write_bytes(content)
    return to


def test_damage_is_refused_where_it_is_copied_and_passed_by_where_it_is_not(tmp_path, parent):
    """A checkpoint that is damaged is left out: the branch begins with the one before it."""
    out, other = tmp_path / "branch.h5", tmp_path / "straight.h5"
    broken = flipped(parent, "total", tmp_path / "broken.h5")
    with pytest.raises(SocietiesError, match=r"broken.h5: damaged: 'total'"):
        run(society(), out, start=broken, day=4)
    with h5py.File(parent) as file:
        slots = {int(one["tick"][()]): name for name, one in file["checkpoint"].items()}
    broken = flipped(parent, f"checkpoint/{slots[4]}/state/tally", tmp_path / "broken.h5")
    assert run(society(), out, start=broken, day=7, values=VALUES).first_day == 4
    run(society(interventions=[{"day": 7, "set": VALUES}]), other)
    assert same(out, other)


def test_what_a_run_has_not_written_yet_is_no_damage(tmp_path, stopped):
    """A run that is killed leaves such rows behind."""
    out, config = tmp_path / "branch.h5", society(8, {"checkpoint": 2})
    half = flipped(stopped, "total", tmp_path / "half.h5", 1.0)
    assert run(config, out, start=half).first_day == 7
    broken = flipped(half, "carried", tmp_path / "broken.h5", 0.0)
    with pytest.raises(SocietiesError, match=r"broken.h5: damaged: 'carried'[^(]*\.\n"):
        run(config, out, start=broken, overwrite=True)


def test_a_branch_never_replaces_its_parent(tmp_path, parent):
    copy, link = tmp_path / "copy.h5", tmp_path / "link.h5"
    copy.write_bytes(parent.read_bytes())
    link.symlink_to(copy)
    for out in (copy, link):
        with pytest.raises(SocietiesError, match="is the file from which the run branches off\n"):
            run(society(12), out, start=copy, overwrite=True)
    assert copy.read_bytes() == parent.read_bytes()
    require_other(copy, tmp_path / "missing.h5")  # which is reported where it is read


def test_a_file_is_closed_again(tmp_path, parent):
    """Also where it is refused: otherwise many branches would run out of descriptors."""
    before = len([*Path("/proc/self/fd").iterdir()])
    for _ in range(3):
        last_tick(parent)
        with pytest.raises(SocietiesError):
            run(society(), tmp_path / "branch.h5", start=parent, day=9)
    assert len([*Path("/proc/self/fd").iterdir()]) == before


# -- values that change ----------------------------------------------------------------------------


def test_values_become_an_intervention_after_those_that_there_are():
    config = society(interventions=[REMOVAL, {"day": 2, "set": {"pace": 5.0}}])
    found = with_values(config, {5: VALUES})
    assert [(one.day, one.set) for one in found.interventions[1:]] == [
        (2, {"pace": 5.0}),
        (5, VALUES),
    ]
    assert found.interventions[0] == config.interventions[0]
    assert found.table is config.table is None
    assert len(config.interventions) == 2
    assert {**found.model_dump(), "interventions": 0} == {**config.model_dump(), "interventions": 0}
    from societies.workload.running.points import with_table

    table = with_table(society(), {"pace": [0.5, 1.5]})
    assert with_values(table, {5: VALUES}).table is table.table


@pytest.mark.parametrize(
    ("day", "values", "message"),
    [
        (4, {"cells": 1}, "^cells: is a shape, .* it stays as in the parent$"),
        (4, {"seed": 1}, "^seed: stays as in the parent; only parameters of the model change$"),
        (4, {"paces": 1}, "^paces: unknown key; did you mean 'pace'"),
        (4, {"pace": -1.0}, "^pace: must be more than 0, got -1"),
        (8, VALUES, "^the argument day: must be before the last day, 8, got 8"),
        (4, {"interventions": []}, "^interventions: a branch has those of CONFIG; write them"),
        (4, {"interventions.0.day": 3}, "^interventions: a branch has those of CONFIG; write"),
    ],
)
def test_values_that_cannot_change_are_named_without_the_intervention(day, values, message):
    with pytest.raises(SocietiesError, match=message):
        with_values(society(), {day: values})


def test_a_workload_whose_values_cannot_change_reports_it():
    config = config_from_dict({"workload": "matmul"})
    with pytest.raises(SocietiesError, match=r"^matmul has no key interventions: its values"):
        with_values(config, {4: {}})


def test_a_file_that_is_none_is_refused(tmp_path):
    (tmp_path / "none.h5").write_bytes(b"no file of ours" * 100)
    for name in ("none.h5", "missing.h5"):
        with pytest.raises(SocietiesError, match=name):
            last_tick(tmp_path / name)
        with pytest.raises(SocietiesError, match=name):
            run(society(), tmp_path / "branch.h5", start=tmp_path / name)


def test_keys_that_are_not_set_are_as_good_as_absent():
    """A file of an earlier version may lack them, and a workload may have no interventions."""
    unset = {"day": 4, "set": {}, "remove": None, "societies": []}
    found = _interventions_of({"interventions": [unset, {**unset, "set": VALUES}]})
    assert found == [{"day": 4}, {"day": 4, "set": VALUES}]
    assert _interventions_of({}) == _interventions_of({"interventions": None}) == []
    labelled = {**unset, "label": "drought", "set": VALUES}
    assert _interventions_of({"interventions": [labelled]}) == [{"day": 4, "set": VALUES}]


@pytest.mark.parametrize(
    ("until", "other", "same"), [(9, 10, True), (5, None, True), (5, 9, True), (4, 9, False)]
)
def test_the_end_of_an_intervention_is_past_if_it_is_before_the_branch(until, other, same):
    """The branch begins after day 5, so what ends on that day is free, as what begins then is."""

    def data(end):
        return {"interventions": [{"day": 2, "until": end, "set": VALUES}]}

    attributes = {"configuration": json.dumps(data(until))}
    config = SimpleNamespace(model_dump=lambda mode: data(other))
    with nullcontext() if same else pytest.raises(SocietiesError, match="that of day 2;"):
        _require_same_past(Path("parent.h5"), attributes, config, 5, "day")


def test_more_days_are_advised_only_where_there_may_be_more():
    assert _raised(tallies.WORKLOAD, 10**7) == "; raise it with override days=10000000"
    assert _raised(tallies.WORKLOAD, 10**7 + 1) == ""
