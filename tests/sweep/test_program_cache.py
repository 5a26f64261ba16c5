"""Does a batch begin with what the one before has built, and with nothing else that it left?"""

import gc
import os
import weakref
from contextlib import contextmanager

import pytest
from studies import BASE, SWEEP, same

from societies import sweep
from societies.errors import DeviceError
from societies.opencl import Program
from societies.opencl.array import DeviceArray
from societies.sweep import batch, program_cache
from societies.workload.running import engines

pytestmark = pytest.mark.xdist_group("sweeps")

DEVICE = os.environ.get("SOCIETIES_DEVICE", "cpu")


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """Return the study by plain Python, which keeps nothing."""
    path = tmp_path_factory.mktemp("straight") / "study.h5"
    sweep.run(SWEEP, out=path, device="reference")
    return path


@contextmanager
def without_collector():
    """Drop only objects without references, at once: cycles stay."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.fixture
def built(monkeypatch):
    """Return the programs that are built for engines, and the arrays that are on devices."""
    programs, arrays = [], weakref.WeakSet()
    make = DeviceArray.__init__

    def program(*given, **named):
        programs.append(Program(*given, **named))
        return programs[-1]

    def array(self, *given, **named):
        make(self, *given, **named)
        arrays.add(self)

    monkeypatch.setattr(engines, "Program", program)
    monkeypatch.setattr(DeviceArray, "__init__", array)
    return programs, arrays


def test_buckets_that_take_turns_build_their_programs_once(monkeypatch):
    """Each got the program of the bucket before, and built its own again in every round."""
    cache, built = program_cache.ProgramCache(), []
    monkeypatch.setattr(program_cache, "MOST_PROGRAMS", 3)

    def compute(bucket, text):
        with cache.borrow("0:0", bucket) as loan:
            if loan.built is None or loan.built.text != text:
                loan.built = engines.Built(None, text, None)
                built.append(bucket)

    for _ in range(3):
        for bucket, text in (("a", 1), ("b", 2), ("c", 2)):
            compute(bucket, text)
    assert built == ["a", "b"]
    compute("d", 3)  # a fourth program takes the place of the one that was used first
    compute("c", 2)
    compute("a", 1)
    assert built == ["a", "b", "d", "a"]
    with pytest.raises(DeviceError), cache.borrow("0:0", "d"):
        raise DeviceError("lost")
    compute("c", 2)
    assert built[4:] == ["c"]
    cache.clear()
    compute("c", 2)
    assert built[5:] == ["c"]


@pytest.mark.ci
def test_a_bucket_builds_one_program_and_leaves_no_array(tmp_path, straight, built):
    programs, arrays = built
    alive = []

    def look(progress):
        alive.append(len(arrays))

    with without_collector():
        report = sweep.run(SWEEP, out=tmp_path / "s.h5", device=DEVICE, batch=7, progress=look)
    assert not report.failures
    assert len({one.source for one in programs}) == len(programs) <= 2
    assert alive == [0] * 5  # before the first batch and after each of four, of two sizes
    assert not program_cache.PROGRAMS._programs
    same(tmp_path / "s.h5", straight)


@pytest.mark.ci
def test_what_failed_leaves_nothing_and_the_rest_is_the_same(
    tmp_path, straight, built, monkeypatch
):
    """Parts of a batch are tried where its memory was, on a device that nothing has happened to."""
    programs, arrays = built
    alive, run_ticks = [], engines.DeviceEngine.run_ticks

    def sometimes(engine, first, last):
        if engine.copies > 3:
            raise DeviceError("out of memory")
        run_ticks(engine, first, last)

    monkeypatch.setattr(engines.DeviceEngine, "run_ticks", sometimes)
    original = batch.computed

    def computed(*given):
        alive.append((len(arrays), given[2].built))
        return original(*given)

    monkeypatch.setattr(batch, "computed", computed)
    with without_collector():
        report = sweep.run(SWEEP, out=tmp_path / "s.h5", device=DEVICE, batch=6)
    assert not report.failures and report.done == 24
    assert [count for count, _ in alive] == [0] * len(alive)
    failed = len(programs) - 1  # each begins again, and one that follows takes the existing one
    assert 0 < failed <= 4
    same(tmp_path / "s.h5", straight)


@pytest.mark.thorough
@pytest.mark.parametrize(("devices", "common"), [("none", True), ("all", False)])
def test_batches_of_any_size_find_the_same(tmp_path, devices, common):
    """With seeds, interventions, a shock and networks, here and in processes of Dask."""
    base = {
        **BASE,
        "devices": devices,
        "interventions": [
            {"day": 2, "set": {"utility.scale": 30.0}},
            {"day": 3, "remove": "agent", "index": "random"},
        ],
    }
    said = {
        "base": base,
        "vary": {
            "grid": {"seed": [1, 2], "days": [6, 7]},
            "latin_hypercube": {"points": 3, "keys": {"utility.exponent": {"low": 2, "high": 3}}},
        },
        "replicates": 2,
        "common_random_numbers": common,
        "record": {"final": ["held"]},
    }
    paths = []
    for name, more in (
        ("reference", {"device": "reference"}),
        ("1", {"batch": 1}),
        ("7", {"batch": 7}),
        ("64", {"batch": 64}),
        ("dask", {"batch": 5, "workers": 2}),
    ):
        paths.append(tmp_path / f"{name}.h5")
        report = sweep.run(said, out=paths[-1], **{"device": DEVICE, **more})
        assert report.done == 24 and not report.failures
        same(paths[-1], paths[0])
