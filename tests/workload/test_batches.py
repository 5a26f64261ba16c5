"""Does a copy have the same bits however many of them the device holds at a time?"""

import functools
import re

import numpy as np
import pytest
import xarray as xr
from small import GROUPS, names, small

import societies
from societies import SocietiesError
from societies.errors import OutputError
from societies.opencl import choose_device
from societies.workload import Setup
from societies.workload.running import batches
from societies.workload.running.batches import Batches, Room, batch_size, engine_of
from societies.workload.running.engines import ReferenceEngine
from societies.workload.running.points import with_rows, with_table
from societies.workload.running.registry import workload
from societies.workload.running.tables import ValueTable

TABLE = {"trading.min_surplus": np.linspace(0, 3, 7), "utility.exponent": [2, 3, 2, 3, 2, 3, 2.5]}


def same_files(one, other):
    with xr.open_dataset(one) as a, xr.open_dataset(other) as b:
        xr.testing.assert_identical(a.drop_attrs(deep=False), b.drop_attrs(deep=False))
    for name in ("inventions",):
        inside = [xr.open_dataset(path, group=f"events/{name}") for path in (one, other)]
        xr.testing.assert_identical(*inside)
        for dataset in inside:
            dataset.close()


def ensemble(**more):
    """An ensemble whose kernels other tests of tables have, too."""
    return small("economy", groups=GROUPS, **more)


@pytest.fixture(scope="module")
def at_once(tmp_path_factory):
    """Return the report of seven societies at once."""
    out = tmp_path_factory.mktemp("at once") / "straight.h5"
    return societies.run(ensemble(replicates=7), table=TABLE, out=out)


@pytest.mark.parametrize("batch", [3, pytest.param(1, marks=pytest.mark.thorough)])
def test_batches_change_nothing(at_once, tmp_path, batch):
    """Seven societies at once, and three at a time, where the last batch is a single one."""
    out = tmp_path / "run.h5"
    report = societies.run(ensemble(replicates=7), table=TABLE, out=out, batch=batch)
    assert report.state_sha256 == at_once.state_sha256
    same_files(out, at_once.path)


@pytest.mark.ci
def test_batches_of_the_reference_change_nothing():
    table = {key: numbers[2:5] for key, numbers in TABLE.items()}
    config = with_table(ensemble(days=3), table)
    hashes = set()
    for device, batch in (("reference", 2), ("reference", None), ("auto", None)):
        engine, _, _ = engine_of(Setup(workload("economy"), config), device, batch=batch)
        engine.start()
        engine.run_ticks(1, 2)
        engine.run_ticks(3, 3)
        hashes.add((engine.hash(), engine.logs()["series"].tobytes()))
    assert len(hashes) == 1


NUMBERS = np.array([3, 4, 3, 5, 4, 3, 4])
"""Of seven copies; those of one number draw the same, as in a sweep with common numbers."""


@pytest.mark.sample
@pytest.mark.parametrize("device", ["reference", "auto"])
@pytest.mark.parametrize("batch", [None, 3])
def test_copies_of_one_number_draw_the_same_in_every_batch(device, batch):
    """Every copy is what it is alone, with its own number and its own row of the table."""
    table = ValueTable({"trading.min_surplus": np.array([0.5, 0.5, 0.5, 0.5, 2.5, 2.5, 0.5])})
    config = with_rows(ensemble(days=3), table, NUMBERS)
    engine, _, _ = engine_of(Setup(workload("economy"), config), device, batch=batch)
    assert isinstance(engine, Batches) == (batch is not None)
    engine.start()
    engine.run_ticks(1, 2)
    engine.run_ticks(3, 3)
    state, series = engine.state(), engine.logs()["series"]
    rows = list(zip(NUMBERS.tolist(), table.columns["trading.min_surplus"].tolist(), strict=True))
    for place, (number, surplus) in enumerate(rows):
        expected, last = alone(number, surplus)
        for name, array in expected.items():
            assert state[name][place].tobytes() == array[0].tobytes(), (place, name)
        assert series[place].tobytes() == last.tobytes()
    assert len({alone(*row)[0]["stream"].tobytes() for row in rows}) == 5


@functools.cache
def alone(number, surplus):
    """Return state and series of one society of the reference after three days."""
    config = ensemble(days=3, replicates=1, first_society=number)
    config = with_table(config, {"trading.min_surplus": [surplus]})
    engine, _, _ = engine_of(Setup(workload("economy"), config), "reference")
    engine.start()
    engine.run_ticks(1, 3)
    return engine.state(), engine.logs()["series"][0, 2:]


def test_numbers_of_a_batch_follow_from_its_place():
    """Beyond the last copy a batch repeats its parameters, and counts on or repeats its number."""
    chosen, p = workload("economy"), workload("economy").parameters(ensemble(replicates=7))
    listed = ReferenceEngine(chosen, p, first=3, copies=3, numbers=NUMBERS, ensemble=7)
    counted = ReferenceEngine(chosen, p, first=20, copies=3, ensemble=7)
    found = []
    for place in (0, 3, 6, 3, 0):
        listed.at(place)
        counted.at(place)
        found.append((listed.copy_numbers().tolist(), counted.copy_numbers().tolist()))
        assert [copy.index for copy in listed.copies_now] == found[-1][0]
        assert [copy.index for copy in counted.copies_now] == found[-1][1]
    first, second = ([3, 4, 3], [20, 21, 22]), ([5, 4, 3], [23, 24, 25])
    assert found == [first, second, ([4, 4, 4], [26, 27, 28]), second, first]


@pytest.mark.thorough
def test_sixty_four_societies_in_batches_of_seven():
    config = ensemble(replicates=64, days=4)
    engine, _, _ = engine_of(Setup(workload("economy"), config), "auto", batch=7)
    assert isinstance(engine, Batches)
    assert engine.count == 10
    whole, _, _ = engine_of(Setup(workload("economy"), config), "auto")
    for one in (engine, whole):
        one.start()
        one.run_ticks(1, 2)
        one.run_ticks(3, 4)
    assert engine.hash() == whole.hash()
    for name, log in whole.logs().items():
        assert engine.logs()[name].tobytes() == log.tobytes()
    for name, events in whole.events().items():
        assert np.array_equal(engine.events()[name], events)


@pytest.mark.ci
def test_a_run_in_batches_is_resumed_in_others(at_once, tmp_path):
    config, out = ensemble(replicates=7), tmp_path / "run.h5"

    def stop(day, days):
        if day >= 6:
            raise KeyboardInterrupt

    with pytest.raises(SocietiesError):
        societies.run(config, table=TABLE, out=out, batch=2, progress=stop)
    resumed = societies.run(config, table=TABLE, out=out, batch=4, resume=True)
    assert resumed.state_sha256 == at_once.state_sha256
    same_files(out, at_once.path)


@pytest.mark.ci
@pytest.mark.sample
@pytest.mark.parametrize("name", [name for name in names() if name != "economy"])
def test_every_workload_runs_in_batches(name):
    config = small(name)
    chosen = workload(name)
    if chosen.count(config) == 1 and "replicates" in type(config).model_fields:
        config = small(name, replicates=3)
    whole, _, _ = engine_of(Setup(chosen, config), "auto")
    # The kernels are those of the whole, unless they depend on the number of copies.
    if chosen.count(config) > 1:
        most = chosen.count(config) - 1
        engine, _, _ = engine_of(Setup(chosen, config), "auto", batch=most, like=whole.built)
        assert isinstance(engine, Batches)
    else:
        engine = Batches(engine_of(Setup(chosen, config), "auto", like=whole.built)[0], 1)
    for one in (engine, whole):
        one.start()
        one.run_ticks(1, 3)
        one.finish()
    assert engine.hash() == whole.hash()


def test_batches_are_of_nearly_one_size():
    assert batch_size(1000, 10**6, None) == 1000
    assert batch_size(1000, 400, None) == 334
    assert batch_size(1000, 999, None) == 500
    assert batch_size(7, 100, 3) == 3
    assert batch_size(7, 2, 3) == 2
    assert batch_size(1, 1, 64) == 1


@pytest.mark.ci
def test_more_than_fit_run_in_batches_by_themselves(tmp_path, monkeypatch):
    config = small("economy", replicates=7, days=6, shocks=[])
    room = Room(Setup(workload("economy"), config), choose_device("auto"))
    free = (room.fixed + 3.5 * room.bytes_per_copy) / batches.SHARE_OF_FREE
    monkeypatch.setattr(batches, "available_memory", lambda: int(free))
    rows = dict(societies.plan(config, device="cpu").rows)
    assert rows["societies at once"] == "3, in 3 batches; 3 fit"
    run = societies.run(config, device="cpu", out=tmp_path / "run.h5")
    monkeypatch.undo()
    assert dict(societies.plan(config, device="cpu").rows)["societies at once"].startswith("all; ")
    whole = societies.run(config, device="cpu", out=tmp_path / "whole.h5")
    assert run.state_sha256 == whole.state_sha256


def test_a_society_that_does_not_fit_is_refused_before_anything_is_built(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "available_memory", lambda: 4096)
    message = r"memory: one society needs \d+\.\d KiB, .* has 2\.0 KiB for it"
    plan = societies.plan(small("economy"), device="cpu")
    assert any(re.match(message, warning) for warning in plan.warnings)
    assert dict(plan.rows)["societies at once"] == "none fits"
    monkeypatch.setattr("societies.workload.running.batches.DeviceEngine", None)
    with pytest.raises(SocietiesError, match=message):
        societies.run(small("economy"), device="cpu", out=tmp_path / "run.h5")
    assert not (tmp_path / "run.h5").exists()

    def full(*_, **__):
        raise OutputError("run.h5: the disk is full")

    monkeypatch.setattr("societies.workload.running.run.require_room", full)
    with pytest.raises(SocietiesError, match=message):
        societies.run(small("economy"), device="cpu", out=tmp_path / "run.h5")
    monkeypatch.setattr(batches, "available_memory", lambda: 2**40)
    with pytest.raises(OutputError, match="the disk is full"):
        societies.run(small("economy"), device="cpu", out=tmp_path / "run.h5")


def test_no_more_copies_at_once_than_a_cpus_device_takes(monkeypatch):
    """Its memory may be less than the half of what is free."""
    monkeypatch.setattr(batches, "available_memory", lambda: 2**50)
    device, chosen = choose_device("cpu"), workload("economy")
    room = Room(Setup(chosen, small("economy")), device)
    assert room.has == device.global_memory
    plan = societies.plan(small("economy", replicates=10**6), device="cpu")
    assert not [one for one in plan.warnings if one.startswith("memory")]


@pytest.mark.parametrize("batch", [0, -3])
def test_a_batch_of_none_is_refused(batch):
    with pytest.raises(SocietiesError, match=f"batch={batch}: at least 1 is needed"):
        societies.plan(small("economy"), batch=batch)
