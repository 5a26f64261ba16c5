"""How often is the state checkpointed: never, as often as asked, or as suits its size?"""

import warnings

import h5py
import pytest
import xarray as xr

import societies
from societies import config_from_dict
from societies.errors import ConfigError, Interrupted, OutputError
from societies.output import inspect
from societies.output.checkpoints import interval

SMALL = {"workload": "economy", "agents": 6, "resources": 5, "days": 9, "devices": "tools"}
SMALL |= {"device": {"resources_in_tool": 3}}


def run(path, checkpoint, **options):
    config = config_from_dict({**SMALL, "record": {"checkpoint": checkpoint}})
    return societies.run(config, device="reference", out=path, **options)


@pytest.mark.sample
@pytest.mark.parametrize("never", [0, "never"])
def test_without_checkpoints_the_file_is_small_and_says_the_same(tmp_path, never):
    often, bare = run(tmp_path / "often.h5", 4), run(tmp_path / "bare.h5", never)
    assert often.state_sha256 == bare.state_sha256
    with h5py.File(often.path) as one, h5py.File(bare.path) as other:
        assert len(one["checkpoint"]) == 2 and len(other["checkpoint"]) == 0
    assert series(often.path) == series(bare.path)
    assert ("checkpoints", "switched off") in inspect(bare.path).rows
    assert inspect(bare.path, check=True).damages == []
    state = sum(array.nbytes for array in states(often.path))
    assert often.path.stat().st_size - bare.path.stat().st_size >= 2 * state


def series(path):
    with h5py.File(path) as file:
        found = {name: item[()] for name, item in file.items() if isinstance(item, h5py.Dataset)}
    return {
        name: str(a.tolist()) if a.dtype == object else a.tobytes() for name, a in found.items()
    }


def states(path):
    with h5py.File(path) as file:
        return [array[()] for array in file["checkpoint/0/state"].values()]


@pytest.mark.ci
def test_a_run_without_checkpoints_begins_again_when_resumed(tmp_path):
    def stop(day, days):
        if day >= 4:
            raise KeyboardInterrupt

    straight = run(tmp_path / "straight.h5", "never")
    with pytest.raises(Interrupted, match="resuming it begins with day 1 again"):
        run(tmp_path / "run.h5", "never", progress=stop)
    report = run(tmp_path / "run.h5", "never", resume=True)
    assert (report.first_day, report.state_sha256) == (1, straight.state_sha256)
    assert series(report.path) == series(straight.path)


def test_who_begins_with_a_checkpoint_learns_that_there_is_none(tmp_path):
    bare = run(tmp_path / "bare.h5", "never").path
    with pytest.raises(OutputError, match=r"no checkpoints, which record\.checkpoint switched off"):
        societies.verify(config_from_dict({**SMALL, "days": 12}), device="reference", start=bare)


def test_the_default_follows_from_the_size():
    assert interval("auto", 0) == interval("auto", 100 << 20) == 50
    assert interval("auto", 268_000_000) == 128  # 1000 agents with all devices
    assert (interval(7, 1 << 40), interval(0, 1), interval("never", 1)) == (7, 0, 0)
    days = config_from_dict(SMALL)
    assert days.record.checkpoint == "auto"
    reported = dict(societies.plan(days, device="reference").rows)
    assert "every 50 days" in reported["checkpoints in the file"]
    never = config_from_dict({**SMALL, "record": {"checkpoint": "never"}})
    reported = dict(societies.plan(never, device="reference").rows)
    assert reported["checkpoints in the file"] == "none"


@pytest.mark.parametrize("wrong", [-1, "sometimes", 2.5, True])
def test_other_intervals_are_refused(wrong):
    with pytest.raises(ConfigError, match=r"record\.checkpoint"):
        config_from_dict({**SMALL, "record": {"checkpoint": wrong}})


@pytest.mark.ci
@pytest.mark.parametrize("checkpoint", [4, "never"])
def test_xarray_opens_the_whole_file_as_a_tree(tmp_path, checkpoint):
    path = run(tmp_path / "run.h5", checkpoint).path
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*phony_dims")  # unnamed dimensions of states
        with xr.open_datatree(path) as tree:
            assert int(tree.ticks_committed) == 9
            assert tree["events/inventions"].sizes["component"] == 5
            if checkpoint != "never":
                assert int(tree["checkpoint/0/tick"]) == 8 and int(tree["checkpoint/1/tick"]) == 9
                assert tree["checkpoint/0/state/held"].shape == (1, 6, 5)
    with xr.open_datatree(path, phony_dims="sort") as tree:
        tree.load()
