"""Is a branch of a run, with or without other values, the file of a straight run?"""

import h5py
import pytest
import xarray as xr
from datasets import datasets
from small import GROUPS, small

import societies
from societies import SocietiesError, load_config
from societies.output.inspection import inspect
from societies.workload.running import run as core

VALUES = {"trading.min_surplus": 2.0, "device.factor.tool": 4.0}
RECORD = {"agent": 2, "checkpoint": 6, "trade_log": {"days": [5, 11]}, "input_output": True}


def ensemble(days=14, interventions=(), record=None, **more):
    """An ensemble of which everything is recorded, whose kernels tests of tables have, too."""
    record = RECORD | (record or {})
    return small(
        "economy",
        groups=GROUPS,
        replicates=2,
        days=days,
        interventions=list(interventions),
        record=record,
        **more,
    )


def policy(day):
    return [{"day": day, "set": VALUES}]


def run(config, path, **more):
    return societies.run(config, out=path, **more)


def same(one, other):
    """Whether two files have the same variables, the same events and the same checkpoints."""
    with h5py.File(one) as file:
        groups = ["/", *(f"events/{name}" for name in file["events"])]
    for group in groups:
        found = [xr.open_dataset(path, group=group, engine="h5netcdf") for path in (one, other)]
        xr.testing.assert_identical(*(dataset.drop_attrs(deep=False) for dataset in found))
        for dataset in found:
            dataset.close()
    mine, theirs = datasets(one), datasets(other)
    assert [name for name in mine | theirs if mine.get(name) != theirs.get(name)] == []


@pytest.fixture(scope="module")
def parent(tmp_path_factory):
    """A run whose newest checkpoints are of days 12 and 14, and that keeps day 7.

    In plain Python: branches of it are computed by devices, and what is refused builds no kernels.
    """
    path = tmp_path_factory.mktemp("parent") / "parent.h5"
    run(ensemble(record={"keep": [7]}), path, device="reference")
    return path


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """The same run with other values from day 8 on, as its configuration says."""
    path = tmp_path_factory.mktemp("straight") / "straight.h5"
    report = run(ensemble(interventions=policy(7)), path)
    return path, report.state_sha256


@pytest.mark.ci
def test_a_retained_state_begins_a_branch(tmp_path, parent, straight):
    out = tmp_path / "branch.h5"
    report = run(ensemble(), out, start=parent, day=7, values=VALUES)
    assert report.first_day == 8
    assert report.state_sha256 == straight[1]
    same(out, straight[0])
    with xr.open_dataset(out) as found:
        assert found.attrs["parent"].startswith("parent.h5, created 20")
        assert found.attrs["parent_tick"] == "7"
    assert ("parent tick", "7") in inspect(out, check=True).rows
    assert not inspect(out, check=True).damages


@pytest.mark.thorough
def test_the_days_since_an_earlier_checkpoint_are_computed_again(tmp_path, parent):
    out, other = tmp_path / "branch.h5", tmp_path / "straight.h5"
    report = run(ensemble(), out, start=parent, day=9, values=VALUES)
    assert report.first_day == 8  # the state of day 7 was retained
    run(ensemble(interventions=policy(9)), other)
    same(out, other)


@pytest.mark.ci
def test_without_a_checkpoint_all_days_are(tmp_path, parent, straight):
    out = tmp_path / "branch.h5"
    config = ensemble(interventions=policy(7))
    assert run(config, out, start=parent, day=3).first_day == 1
    same(out, straight[0])


@pytest.mark.ci
def test_so_they_are_for_what_the_parent_did_not_record(tmp_path, parent):
    config, out = ensemble(record={"agent": 1}), tmp_path / "branch.h5"
    assert run(config, out, start=parent, day=9, values=VALUES).first_day == 1
    with xr.open_dataset(out) as found:
        assert found.sizes["agent_day" if "agent_day" in found.sizes else "day"] == 14


@pytest.mark.ci
@pytest.mark.parametrize("days", [16, pytest.param(19, marks=pytest.mark.thorough)])
def test_a_finished_run_is_extended(tmp_path, parent, days):
    """By less than what lies between two checkpoints, and by more."""
    out, other = tmp_path / "longer.h5", tmp_path / "straight.h5"
    longer = ensemble(days=days, record={"keep": [7]})
    assert run(longer, out, start=parent).first_day == 15
    run(longer, other)
    same(out, other)


@pytest.mark.thorough
def test_a_state_that_the_parent_did_not_retain_is_retained(tmp_path, parent):
    out, other = tmp_path / "branch.h5", tmp_path / "straight.h5"
    config = ensemble(days=16, record={"keep": [3, 7, 11]})
    assert run(config, out, start=parent).first_day == 1
    run(config, other)
    same(out, other)


@pytest.mark.thorough
def test_a_run_whose_interventions_remove_and_set_is_extended(tmp_path):
    """Its checkpoint names what is removed, which points of values know nothing of."""
    removals = [
        {"day": 9, "remove": "agent", "index": "random"},
        {"day": 11, "remove": "resource", "index": 5, "holdings": "lose"},
    ]
    changes = [*policy(7), *removals]
    run(ensemble(interventions=changes), tmp_path / "parent.h5")
    longer, whole = ensemble(days=16, interventions=changes), tmp_path / "straight.h5"
    out = tmp_path / "longer.h5"
    assert run(longer, out, start=tmp_path / "parent.h5").first_day == 15
    run(longer, whole)
    same(out, whole)


@pytest.mark.thorough
def test_a_device_continues_where_the_reference_was(tmp_path, parent):
    config = ensemble(days=15)
    hashes = {
        run(config, tmp_path / f"{device}.h5", start=parent, device=device).state_sha256
        for device in ("reference", "auto")
    }
    assert len(hashes) == 1


@pytest.mark.ci
def test_a_branch_is_interrupted_resumed_and_branched_off(tmp_path, parent, straight):
    out, config = tmp_path / "branch.h5", ensemble()

    def stop(day, days):
        if day >= 10:
            raise KeyboardInterrupt

    asked = {"start": parent, "day": 7, "values": VALUES}
    with pytest.raises(SocietiesError):
        run(config, out, **asked, progress=stop)
    assert run(config, out, **asked, resume=True).state_sha256 == straight[1]
    same(out, straight[0])
    again = ensemble(interventions=policy(7))
    last = run(again, tmp_path / "twice.h5", start=out, day=12, values={"day_length": 500.0})
    both = [*policy(7), {"day": 12, "set": {"day_length": 500.0}}]
    assert last.state_sha256 == run(ensemble(interventions=both), tmp_path / "both.h5").state_sha256


@pytest.mark.thorough
def test_societies_of_a_table_branch_off_together(tmp_path):
    table = {"trading.min_surplus": [0.1, 0.6], "device.daily_decay": [2.0, 4.0]}
    run(ensemble(), tmp_path / "parent.h5", table=table)
    asked = {"start": tmp_path / "parent.h5", "day": 12, "values": {"day_length": 500.0}}
    branch = run(ensemble(), tmp_path / "branch.h5", table=table, **asked)
    changes = [{"day": 12, "set": {"day_length": 500.0}}]
    whole = run(ensemble(interventions=changes), tmp_path / "straight.h5", table=table)
    assert branch.state_sha256 == whole.state_sha256
    same(tmp_path / "branch.h5", tmp_path / "straight.h5")
    with pytest.raises(SocietiesError, match="with a table of parameters, this is without one"):
        run(ensemble(), tmp_path / "other.h5", **asked)


@pytest.mark.ci
def test_a_parent_that_continues_meanwhile_changes_nothing(tmp_path, parent, monkeypatch):
    """Its slots take turns: what was read of one is not read again when kernels are built."""
    running, out, other = tmp_path / "running.h5", tmp_path / "branch.h5", tmp_path / "straight.h5"
    running.write_bytes(parent.read_bytes())
    create = core.create

    def late(*given, **named):
        with h5py.File(running, "r+") as file:
            for slot in file["checkpoint"].values():
                slot["tick"][()] += 6
                for array in slot["state"].values():
                    array[...] = array[()] + array.dtype.type(1)
        return create(*given, **named)

    config = ensemble(days=16, record={"keep": [7]})
    with monkeypatch.context() as patch:
        patch.setattr(core, "create", late)
        run(config, out, start=running)
    run(config, other)
    same(out, other)


def test_a_plan_says_what_is_computed_of_a_branch(parent):
    rows = dict(societies.plan(ensemble(), start=parent, day=9, values=VALUES).rows)
    assert rows["branches off"] == f"{parent} after day 9, computed from day 8"
    with pytest.raises(SocietiesError, match="ends with day 14, so nothing can branch off after"):
        societies.plan(ensemble(days=30), start=parent, day=20)


def test_retained_states_exist_at_the_end(parent):
    assert ("checkpoints", "of day 7 and 12 and 14") in inspect(parent).rows
    with h5py.File(parent) as file:
        assert sorted(int(file[f"checkpoint/{slot}/tick"][()]) for slot in range(3)) == [7, 12, 14]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"day": 15}, r"parent.h5: ends with day 14, so nothing can branch off after day 15"),
        (
            {"day": 14},
            r"day=14: the run has 14 days, none after that; raise it with override days=28",
        ),
        ({"day": 9, "values": {"trading.rounds": 1}}, "^'trading.rounds': is a shape"),
        (
            {"day": 9, "values": {"agents": 9}},
            "^agents: is a shape.* as in the parent; an inter",
        ),
        ({"day": 9, "values": {"trade": False}}, "the parent; trading.min_surplus=1e12 ends all"),
        ({"day": 9, "values": {"interventions": []}}, "^interventions: a branch has those of"),
        ({"day": 9, "values": {"trading.round": 1}}, "^'trading.round': unknown key; did you mean"),
        ({"day": 9, "values": {"replicates": 3}}, "^replicates: stays as in the parent; only para"),
        ({"day": 9, "values": {"day_length": -1}}, "^day_length: must be more than 0, got -1"),
        (
            {"day": 14, "values": VALUES},
            "^the argument day: must be before the last day, 14, got 14",
        ),
        ({"start": None, "day": 9}, "run: .*tick is of a run that branches off another"),
        ({"start": None, "values": VALUES}, "run: .*values is of a run that branches off another"),
        ({"start": "missing.h5"}, "missing.h5"),
    ],
)
def test_a_branch_that_cannot_be_is_refused(tmp_path, parent, asked, message):
    with pytest.raises(SocietiesError, match=message):
        run(ensemble(), tmp_path / "branch.h5", **{"start": parent, **asked})
    assert not (tmp_path / "branch.h5").exists()


def test_a_parent_of_another_kind_is_refused(tmp_path, parent):
    out = tmp_path / "branch.h5"
    other = "was made with another configuration: day_length is .*\nbranch off it with the"
    with pytest.raises(SocietiesError, match=other):
        run(ensemble(day_length=500.0), out, start=parent, day=9)
    past = ensemble(interventions=policy(5))
    with pytest.raises(SocietiesError, match="other interventions before day 9, such as that of"):
        run(past, out, start=parent, day=9)
    with pytest.raises(SocietiesError, match="is the file from which the run branches off"):
        run(ensemble(days=20), parent, start=parent, overwrite=True)
    assert not out.exists()


def test_a_parent_of_another_version_is_refused(tmp_path, parent, monkeypatch):
    monkeypatch.setattr(
        type(societies.workload.running.registry.workload("economy")), "version", "2"
    )
    with pytest.raises(SocietiesError, match="was made by model version 1, this is 2"):
        run(ensemble(), tmp_path / "branch.h5", start=parent, day=9)


def test_a_damaged_parent_is_refused(tmp_path, parent):
    content = bytearray(parent.read_bytes())
    with h5py.File(parent) as file:
        offset = file["gini"].id.get_offset()
    content[offset + 9] ^= 4
    broken = tmp_path / "broken.h5"
    broken.write_bytes(content)
    with pytest.raises(SocietiesError, match=r"broken.h5: damaged: 'gini'"):
        run(ensemble(), tmp_path / "branch.h5", start=broken, day=9)


def test_days_of_retained_states_need_checkpoints(tmp_path):
    (tmp_path / "my.yaml").write_text("workload: economy\nrecord: {keep: [3, 3], checkpoint: 0}\n")
    with pytest.raises(SocietiesError) as error:
        load_config(tmp_path / "my.yaml")
    assert "record.keep.1: day 3 is listed twice" in str(error.value)
    assert "record.keep: needs checkpoints, which record.checkpoint switches off" in str(
        error.value
    )
