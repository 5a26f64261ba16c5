"""Is a block written while the next one is computed, and is none lost when that one fails?"""

from itertools import pairwise

import numpy as np
import pytest

import societies
from societies.economy.results import Layout
from societies.errors import DeviceError, DeviceFailed
from societies.workload.engines import DeviceEngine

DAYS = 60
CONFIG = {"workload": "economy", "agents": 6, "resources": 5, "days": DAYS, "seed": 3}


@pytest.fixture
def calls(monkeypatch):
    """What is computed and what is written, in turn: ("computed" or "written", first, last)."""
    found = []
    run_ticks, write = DeviceEngine.run_ticks, Layout.write

    def computed(self, first, last):
        found.append(("computed", first, last))
        run_ticks(self, first, last)

    def written(self, file, block):
        found.append(("written", block.first, block.last))
        write(self, file, block)

    monkeypatch.setattr(DeviceEngine, "run_ticks", computed)
    monkeypatch.setattr(Layout, "write", written)
    return found


def blocks(calls, what):
    return [(first, last) for name, first, last in calls if name == what]


def test_every_block_is_written_once_and_behind_the_next(calls, tmp_path):
    societies.run(societies.config_from_dict(CONFIG), out=tmp_path / "run.h5")
    computed = blocks(calls, "computed")
    assert len(computed) > 2
    assert computed == blocks(calls, "written")
    assert [day for first, last in computed for day in range(first, last + 1)] == [
        *range(1, DAYS + 1)
    ]
    for before, block in pairwise(computed):
        assert calls.index(("written", *before)) == calls.index(("computed", *block)) + 1
    assert calls[-1] == ("written", *computed[-1])


def test_where_the_state_is_recorded_the_engine_waits(calls, tmp_path):
    config = {**CONFIG, "record": {"agent": 20, "checkpoint": 30, "keep": [45]}}
    societies.run(societies.config_from_dict(config), out=tmp_path / "run.h5")
    computed = blocks(calls, "computed")
    assert {20, 30, 40, 45, DAYS} <= {last for _, last in computed}
    for block, after in pairwise(computed):
        if block[1] in (20, 40, 45):
            assert calls.index(("written", *block)) < calls.index(("computed", *after))
    plain = societies.run(societies.config_from_dict(CONFIG), out=tmp_path / "plain.h5")
    with (
        societies.open_results(tmp_path / "run.h5") as one,
        societies.open_results(plain.path) as other,
    ):
        for name in other.data_vars:
            np.testing.assert_array_equal(one[name].values, other[name].values)


def test_a_block_is_written_though_the_next_one_fails(calls, monkeypatch, tmp_path):
    run_ticks = DeviceEngine.run_ticks

    def failing(self, first, last):
        if first > 2:
            raise DeviceError("the device is gone")
        run_ticks(self, first, last)

    monkeypatch.setattr(DeviceEngine, "run_ticks", failing)
    with pytest.raises(DeviceFailed, match="the device is gone"):
        societies.run(societies.config_from_dict(CONFIG), out=tmp_path / "run.h5")
    computed = blocks(calls, "computed")
    assert computed == blocks(calls, "written")
    monkeypatch.undo()
    again = societies.run(societies.config_from_dict(CONFIG), out=tmp_path / "run.h5", resume=True)
    assert again.first_tick == computed[-1][1] + 1 or again.first_tick == 1
    straight = societies.run(societies.config_from_dict(CONFIG), out=tmp_path / "straight.h5")
    assert again.state_sha256 == straight.state_sha256
