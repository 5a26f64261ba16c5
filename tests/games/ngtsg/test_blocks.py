"""Does a search on the device need the host for nothing between supersteps, and change nothing?"""

import numpy as np
import pytest

from societies import config_from_dict, open_results, run
from societies.games.ngtsg.search import SUPERSTEP, at_once
from societies.games.tictactoe import WORKLOAD
from societies.opencl import choose_device, recorded
from societies.workload.running.engines import LOG_TICKS, DeviceEngine, ReferenceEngine

SETTINGS = {
    "plain": {},
    "depth after depth": {"deepening": 1, "aspiration": 1, "rounds": [1, 3]},
    "small batches on the CPU": {"batch": {"leaves": 9, "branches": 4, "min_leaves": 5}},
    "host": {"form": "host", "deepening": 2, "aspiration": 1},
}
LENGTHS = (1, 3, LOG_TICKS, 2, 40, LOG_TICKS)
"""Supersteps of the blocks, several times as many as any of the searches takes."""


def parameters(**settings):
    """Return the parameters of a search from an early position."""
    usual = {"position": "X.. .O. ...", "depth": 3, "batch": {"leaves": 9, "branches": 4}}
    return WORKLOAD.parameters(config_from_dict({"workload": "tictactoe", **usual, **settings}))


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_every_superstep_has_its_row_whatever_the_blocks(device, settings):
    p = parameters(**settings)
    engines = DeviceEngine(WORKLOAD, p, device, copies=2), ReferenceEngine(WORKLOAD, p, copies=2)
    found = []
    for engine in engines:
        engine.start()
        done, logs = 0, []
        for many in LENGTHS:
            engine.run_ticks(done + 1, done + many)
            logs.append(engine.logs())
            done += many
        ended = engine.ended()
        assert ended is not None and 3 < ended < done
        rows = {name: np.concatenate([one[name] for one in logs], axis=1) for name in logs[0]}
        found.append({name: log[:, :ended].tolist() for name, log in rows.items()})
        assert len(found[-1]) == (4 if p.deepening else 3)
    assert found[0] == found[1]
    assert engines[0].hash() == engines[1].hash()


@pytest.mark.parametrize("keys", ["plain", "depth after depth"])
def test_nothing_is_read_between_supersteps(device, keys):
    engine = DeviceEngine(WORKLOAD, parameters(**SETTINGS[keys]), device)
    engine.start()
    engine.run_ticks(1, 1)
    counters = engine.device.counters
    before = counters.launches, counters.downloads, counters.uploads
    engine.run_ticks(2, 41)
    assert counters.launches - before[0] == 40 * len(SUPERSTEP)
    assert (counters.downloads, counters.uploads) == before[1:]


@pytest.mark.parametrize("keys", ["plain", "depth after depth"])
def test_supersteps_after_the_end_change_nothing(device, keys):
    engine = DeviceEngine(WORKLOAD, parameters(**SETTINGS[keys]), device)
    engine.start()
    superstep = 0
    while engine.ended() is None:
        many = at_once(superstep)
        engine.run_ticks(superstep + 1, superstep + many)
        superstep += many
    before = engine.state()
    engine.run_ticks(superstep + 1, superstep + LOG_TICKS)
    after = engine.state()
    for name, field in engine.fields.items():
        if field.checkpointed:
            assert after[name].tobytes() == before[name].tobytes(), name


def test_one_after_the_other_or_listed_the_state_is_the_same():
    """A profile takes the phases one by one, and so does a recording of launches."""
    p, hashes = parameters(), set()
    for way in ("listed", "profiled", "recorded"):
        device = choose_device("auto")
        engine = DeviceEngine(WORKLOAD, p, device)
        engine.start()
        profile = engine.profiled() if way == "profiled" else None
        if way == "recorded":
            with recorded(device) as recording:
                engine.run_ticks(1, 12)
            assert len(recording.launches) == 12 * len(SUPERSTEP)
        else:
            engine.run_ticks(1, 12)
        if profile is not None:
            assert [one.phase for one in profile.phases] == [step.phase for step in SUPERSTEP]
            assert {one.launches for one in profile.phases} == {12}
        hashes.add(engine.hash())
    assert len(hashes) == 1


@pytest.mark.parametrize("settings", [SETTINGS["plain"], SETTINGS["host"]], ids=["device", "host"])
def test_the_file_has_a_time_and_launches_of_every_superstep(settings, tmp_path):
    usual = {"position": "X.. .O. ...", "depth": 3, "batch": {"leaves": 9, "branches": 4}}
    config = config_from_dict({"workload": "tictactoe", **usual, **settings})
    report = run(config, out=tmp_path / "search.h5")
    with open_results(report.path, events="measured") as measured:
        supersteps = measured.superstep.values
        seconds, launches = measured.seconds.values, measured.launches.values
    assert supersteps.tolist() == list(range(1, report.last_tick + 1))
    assert (seconds > 0).all() and seconds.sum() < report.wall_seconds
    if "form" not in settings:
        assert set(launches.tolist()) == {len(SUPERSTEP)}


def test_looks_become_rare_and_waste_little():
    superstep, looks = 0, 0
    while superstep < 1000:
        many = at_once(superstep)
        assert 4 <= many <= max(4, 0.15 * superstep + 4)
        superstep, looks = superstep + many, looks + 1
    assert looks < 60
