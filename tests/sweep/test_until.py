"""Are replicates added until intervals are narrow, and is a stopped study an even sample?"""

import numpy as np
import pytest
import scipy.stats
import xarray as xr

from societies import sweep
from societies.errors import ConfigError, Interrupted
from societies.sweep import batch_sizes, conduct
from societies.sweep.until import UntilConfig, Widths, next_count, widths

BASE = {"workload": "economy", "agents": 3, "resources": 3, "days": 2, "trade": False}
SWEEP = {
    "base": BASE,
    "vary": {"grid": {"day_length": [300, 400]}},
    "record": {"variables": ["units_held"], "ticks": [2]},
}


def until(width, **more):
    return {**SWEEP, "replicates": {"until": {"units_held": width}, **more}}


def width_of(values):
    low, high = scipy.stats.t.interval(
        0.95, len(values) - 1, values.mean(), scipy.stats.sem(values)
    )
    return high - low


def test_a_study_grows_until_the_widest_interval_is_narrow_enough(tmp_path):
    few = sweep.run(until(1e9), out=tmp_path / "few.h5", device="reference")
    assert few.runs == 40 and "with 20 replicates" in few.notes[-1]
    with xr.open_dataset(few.path) as study:
        each = [study.units_held.values[study.point.values == k, 0] for k in (0, 1)]
    asked = UntilConfig(until={"units_held": 1.0})
    found = widths(few.path, asked)
    assert found.of["units_held"] == pytest.approx(max(map(width_of, each)))
    assert found.point["units_held"] == int(np.argmax([width_of(one) for one in each]))
    target = 0.8 * found.of["units_held"]
    more = sweep.run(until(target), out=tmp_path / "more.h5", device="reference")
    count = more.runs // 2
    assert count >= 25 and widths(more.path, asked).of["units_held"] <= target
    assert more.computed == more.runs and not more.pending
    with xr.open_dataset(more.path) as study:  # those of the first round are not drawn again
        for k in (0, 1):
            own = study.units_held.values[study.point.values == k, 0]
            np.testing.assert_array_equal(np.sort(own[:20]), np.sort(each[k]))
    least = sweep.run(until(1e-9, at_most=24), out=tmp_path / "most.h5", device="reference")
    assert least.runs == 48 and "1e-09 were asked for" in least.notes[-1]
    again = sweep.run(until(1e-9, at_most=24), out=least.path, device="reference", resume=True)
    assert again.computed == 0 and again.runs == 48


def test_intervals_of_effects_are_those_of_paired_differences(tmp_path):
    report = sweep.run(until(1e9, base=0), out=tmp_path / "s.h5", device="reference")
    with xr.open_dataset(report.path) as study:
        a, b = (study.units_held.values[study.point.values == k, 0] for k in (0, 1))
    found = widths(report.path, UntilConfig(until={"units_held": 1.0}, base=0))
    assert found.of["units_held"] == pytest.approx(width_of(b - a))
    assert found.point["units_held"] == 1


def test_a_base_may_be_named_by_its_label():
    points = [{"label": "short", "day_length": 300}, {"label": "long", "day_length": 400}]
    source = {**until(1.0, base="long"), "vary": {"points": points}}
    assert sweep.load_sweep(source).until.base == 1
    policies = [[], [{"day": 1, "label": "longer", "set": {"day_length": 400}}]]
    source["vary"] = {"grid": {"interventions": policies}}
    for label, number in (("none", 0), ("longer", 1)):
        source["replicates"]["base"] = label
        assert sweep.load_sweep(source).until.base == number
    source["vary"] = {"grid": {"day_length": [300, 400]}}
    source["replicates"]["base"] = "day_length 400"
    assert sweep.load_sweep(source).until.base == 1


def test_values_that_are_missing_have_no_interval(tmp_path):
    source = until(1.0, at_most=20)
    source["base"] = {**BASE, "trade": True, "record": {"measures": True}}
    source["record"] = {"variables": ["price_mean"], "ticks": [2]}
    source["replicates"]["until"] = {"price_mean": 0.1}
    report = sweep.run(source, out=tmp_path / "s.h5", device="reference")
    said = "price_mean: no interval at point 0 (day_length 300), of whose 20 replicates fewer than "
    said += "two have a number"
    assert report.notes[-1] == said


def test_the_next_number_follows_from_the_width():
    asked = UntilConfig(until={"x": 1.0, "y": 2.0}, at_most=100)
    assert next_count(20, Widths({"x": 1.0, "y": 2.0}, {}), asked) == 20
    assert next_count(20, Widths({"x": 1.5, "y": 1.0}, {}), asked) == 48  # 20 x 1.05 x 2.25
    assert next_count(20, Widths({"x": 0.1, "y": 9.0}, {}), asked) == 80  # at most four times
    assert next_count(60, Widths({"x": 9.0, "y": 9.0}, {}), asked) == 100
    assert next_count(100, Widths({"x": 9.0, "y": 9.0}, {}), asked) == 100


def test_what_replicates_cannot_be_is_named(tmp_path):
    out = tmp_path / "no.h5"
    for replicates, said in (
        ({"until": {"units_held": 0}}, "must be more than 0"),
        ({"until": {"units_held": 1}, "at_most": 1}, "at_most"),
        ({"at_most": 50}, "until"),
        ({"until": {}}, "at least 1"),
        (
            {"until": {"units_held": 1}, "base": "missing"},
            r"label 'missing'; there are 'day_length 30",
        ),
        ({"until": {"units_held": 1}, "base": "day_length 30"}, "did you mean 'day_length 300'"),
        ({"until": {"units_held": 1}, "base": -1}, "numbers 0 to 1"),
        (0, "replicates"),
    ):
        with pytest.raises(ConfigError, match=said):
            sweep.run({**SWEEP, "replicates": replicates}, out=out, device="reference")
    with pytest.raises(ConfigError, match=r"records no variable 'units_hold'.*units_held"):
        found = {**SWEEP, "replicates": {"until": {"units_hold": 1}}}
        sweep.run(found, out=out, device="reference")
    with pytest.raises(ConfigError, match="base: the study has 2 points, numbers 0 to 1"):
        sweep.run(until(1, base=7), out=out, device="reference")
    with pytest.raises(ConfigError, match="an effect needs another point"):
        one = {**until(1, base=0), "vary": {"grid": {"day_length": [300]}}}
        sweep.run(one, out=out, device="reference")
    assert not out.exists()


def test_a_stopped_study_has_as_many_replicates_of_every_point(tmp_path, monkeypatch):
    for module in (conduct, batch_sizes):
        monkeypatch.setattr(module, "FIRST_BATCH", 4)
    points = {"day_length": [300, 400], "days": [1, 2]}  # two programs
    source = {**SWEEP, "vary": {"grid": points}, "replicates": 8}
    source["record"] = {"variables": ["units_held"]}
    orders = []

    def stop(progress):
        if progress.done >= 16:
            raise KeyboardInterrupt

    out = tmp_path / "s.h5"
    with pytest.raises(Interrupted):
        sweep.run(source, out=out, device="reference", batch=4, progress=stop)
    with sweep.open_study(out) as study:
        done = study.status.values == "done"
        orders = [
            sorted(study.replicate.values[done & (study.point.values == k)]) for k in range(4)
        ]
    assert orders == [[0, 1, 2, 3]] * 4
