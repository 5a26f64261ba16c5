"""Are times of a timed workload in its file alone, and is work counted that is a result?"""

import numpy as np
import pytest

import societies
from societies.config.model import key
from societies.errors import ConfigError
from societies.workload import Field, Phase, Setup, Step, Workload
from societies.workload.checking.bench import bench
from societies.workload.checking.verify import verify
from societies.workload.declare.config import DailyConfig
from societies.workload.running.measured import MEASURED
from societies.workload.running.run import run, steps


class Config(DailyConfig):
    """Steps that are called otherwise than their clock."""

    workload: str = key("growth", "What the file configures")
    days: int = key(5, "Steps", ge=1)


def grow(p, copy, tick):
    copy.grown = 10 * tick + copy.index


def grow_on_the_host(arrays, tick):
    array = arrays["grown"]
    array.set(10 * tick + np.arange(len(array), dtype=np.int64))


class Growth(Workload):
    """What each tick does is a result: 10 a tick and the number of the copy."""

    name, summary, config = "growth", "grows", Config
    clock, copies, work = "turn", "garden", "leaf"
    counted_by, timed = "grown", True
    ticks_key = "days"

    def sizes(self, p):
        return {}

    def fields(self, p):
        return {"grown": Field((), "int64", "leaves", "what has grown", logged=True)}

    def phases(self, p, copies):
        return {"grow": Phase(host=grow_on_the_host)}

    def schedule(self, p, tick, seen):
        return [Step("grow")] if tick else []

    def source(self, p):
        return societies.workload.Source()

    def reference(self, p):
        return {"grow": grow}


CONFIG = Config(days=5, replicates=3)


@pytest.mark.parametrize("device", ["reference", "auto"])
def test_times_are_in_the_file(device, tmp_path):
    report = run(Setup(Growth(), CONFIG), device=device, out=tmp_path / "growth.h5")
    with societies.open_results(report.path) as results:
        assert set(MEASURED) <= set(results.data_vars)
        assert all(results[name].dims == ("turn",) for name in MEASURED)
        assert (results.seconds.values > 0).all() and len(results.seconds) == 5
        assert results.launches.values.tolist() == [0] * 5  # a function on the host
        seconds = float(results.seconds.sum())
    assert report.work_per_second == pytest.approx((3 * 150 + 5 * 3) / seconds)
    assert set(report.final) == {"grown"}  # what differs from run to run is no result


def test_a_bench_counts_what_was_done():
    timings = list(
        bench(Setup(Growth(), CONFIG), device="reference", copies=[1, 3], ticks=4, repeats=1)
    )
    done = [timing.work_per_second * timing.seconds for timing in timings]
    assert done == pytest.approx([100, 3 * 100 + 4 * 3])


def test_the_key_of_the_clock_is_named():
    with pytest.raises(ConfigError, match=r"has 5 turns; raise it with --set days=9|days=9"):
        verify(Setup(Growth(), CONFIG), device="reference", ticks=9)


def test_a_workload_that_is_not_timed_measures_nothing():
    config = societies.config_from_dict({"workload": "laplace", "side": 8, "steps": 2})
    for tick in steps(config, device="reference"):
        assert tick._engine.measured() == {}
