"""Are bands, distances, verdicts and scores what docs/validate.md defines, at the ends too?"""

import numpy as np
import pytest
import scipy.stats
import xarray as xr

from societies.errors import ConfigError
from societies.study import load_targets
from societies.study.bands import ends_of, residuals, scale_of
from societies.study.target_file import Target
from societies.study.validation import (
    FAIL,
    PASS,
    WARN,
    Validation,
    judged,
    score,
    validate,
    verdict_on,
)

INF = np.inf


def target(**said):
    return Target(of="x", **said)


@pytest.mark.parametrize(
    "said, ends, scale, of_3",
    [
        ({"band": [1, 5]}, (1, 5), 2, 0),
        ({"band": [4, 8]}, (4, 8), 2, -0.5),
        ({"band": [1, 2]}, (1, 2), 0.5, 2),
        ({"band": [1, 5], "scale": 4, "target": 2}, (1, 5), 4, 0.25),
        ({"band": [2, None]}, (2, INF), 2, 0),
        ({"band": [-4, None]}, (-4, INF), 4, 0),
        ({"band": [None, 2]}, (-INF, 2), 2, 0.5),
        ({"band": [None, 0]}, (-INF, 0), 1, 3),
        ({"band": [None, 1], "target": -6}, (-INF, 1), 6, 1.5),
        ({"band": [-8, None], "target": 2}, (-8, INF), 8, 0.125),
        ({"band": [2, 2]}, (2, 2), 2, 0.5),
        ({"band": [None, None]}, (-INF, INF), 1, 0),
        ({"target": 4}, (4, 4), 4, -0.25),
        ({"target": 0}, (0, 0), 1, 3),
        ({"target": 4, "scale": 0.5}, (3.5, 4.5), 0.5, -2),
        ({}, (-INF, INF), 1, 0),
    ],
)
def test_ends_scale_and_residual_of_a_target(said, ends, scale, of_3):
    one = target(**said)
    assert (ends_of(one), scale_of(one)) == (ends, scale)
    assert residuals({"x": one}, np.array([3.0])) == pytest.approx([of_3])


@pytest.mark.parametrize(
    "values, band, needed, expected",
    [
        ([3.0], [1, 5], 1, PASS),
        ([3.0], [3, 5], 1, PASS),  # a single seed has no interval; ends are inside
        ([3.0], [1, 3], 1, PASS),
        ([3.0], [3.1, 5], 0, FAIL),
        ([3.0], [1, 2.9], 0, FAIL),
        ([3.0, 3.0, 3.0], [3, 3], 1, PASS),
        ([1.0, 2.0, 3.0, 6.0], [3, 6], 0.5, PASS),
        ([1.0, 2.0, 3.0, 6.0], [3, 6], 0.51, WARN),
        ([1.0, 2.0, 3.0, 6.0], [3.01, 6], 0, WARN),
        ([1.0, 2.0, 3.0, 6.0], [0, 2.99], 0, WARN),
        ([1.0, 2.0, 3.0, np.nan], [0, 9], 0.75, PASS),
        ([1.0, 2.0, 3.0, np.nan], [0, 9], 0.76, WARN),
        ([1.0, 2.0, 3.0, np.inf], [0, 9], 0.76, WARN),
        ([np.nan, np.nan], [None, None], 0, FAIL),
    ],
)
def test_a_verdict_from_its_definition(values, band, needed, expected):
    values = np.array(values)
    found = verdict_on("case", "x", "1", target(band=band), values, needed, 0.9)
    good = values[np.isfinite(values)]
    assert (found.verdict, found.failed) == (expected, len(values) - len(good))
    numbers = [found.mean, found.sd, found.low, found.high, found.distance]
    if not len(good):
        assert np.isnan(numbers).all() and found.share == 0
        return
    low, high = (-INF if band[0] is None else band[0]), (INF if band[1] is None else band[1])
    assert found.share == sum(low <= one <= high for one in good) / len(values)
    assert found.mean == pytest.approx(good.mean())
    if len(good) == 1:
        assert np.isnan(found.sd) and found.low == found.high == found.mean
    elif np.ptp(good):
        exact = scipy.stats.t(len(good) - 1, good.mean(), scipy.stats.sem(good)).interval(0.9)
        assert (found.low, found.high) == pytest.approx(exact, rel=1e-6)
        assert found.sd == pytest.approx(good.std(ddof=1))
    beyond = max(low - good.mean(), good.mean() - high, 0)
    assert found.distance == pytest.approx(beyond / scale_of(found.target))


def test_the_ends_of_the_interval_belong_to_it():
    """An interval that only touches the band warns; one that misses it fails."""
    values = np.array([1.0, 2.0, 3.0, 6.0])
    found = verdict_on("", "x", "1", target(band=[0, 1]), values, 0, 0.9)
    for ends, expected in (
        ([found.high, 99], WARN),
        ([np.nextafter(found.high, 99), 99], FAIL),
        ([-99, found.low], WARN),
        ([-99, np.nextafter(found.low, -99)], FAIL),
    ):
        assert verdict_on("", "x", "1", target(band=ends), values, 0, 0.9).verdict == expected


def of(verdict, weight=1.0, case="", **more):
    """Return a verdict as wanted: of a value inside, at the edge of or beyond a band."""
    values = {PASS: [1.0], WARN: [1.0, np.nan], FAIL: [9.0]}[verdict]
    one = target(band=[0, 2], weight=weight, **more)
    return verdict_on(case, "x", "1", one, np.array(values), 1.0)


def test_the_score_is_the_weighted_mean_of_1_a_half_and_0():
    assert score([of(PASS)]) == 1 and score([of(WARN)]) == 0.5 and score([of(FAIL)]) == 0
    assert score([of(PASS, 1), of(WARN, 2), of(FAIL, 5)]) == pytest.approx(2 / 8)
    assert score([of(FAIL, 0), of(WARN, 0)]) == score([]) == 1  # nothing counts


def test_a_validation_as_plain_data():
    one, other = of(PASS, case="a", source="a book"), of(FAIL, case="b")
    both = Validation([one, of(WARN, case="b"), other], 0.9, {"why": 2})
    assert both.cases == ["a", "b"] and both.passed is False
    found = both.as_dict()
    assert found["score"] == 0.5 and found["scores"] == {"a": 1.0, "b": 0.25}
    assert found["counts"] == {PASS: 1, WARN: 1, FAIL: 1}
    assert (found["level"], found["failures"]) == (0.9, {"why": 2})
    first, last = found["statistics"][0], found["statistics"][-1]
    assert (first["case"], first["source"], first["band"]) == ("a", "a book", [0, 2])
    assert not {"source", "tests", "forecasts"} & set(last)
    assert (last["mean"], last["distance"], last["seeds"]) == (9, 7, 1)
    alone = Validation([of(WARN)], 0.95)
    assert alone.passed is True and "scores" not in alone.as_dict()
    assert "case" not in alone.as_dict()["statistics"][0]


DAYS = np.arange(1, 131)
DATA = xr.Dataset(
    {
        "x": (("society", "day"), np.random.default_rng(1).normal(size=(6, 130)).cumsum(1)),
        "wealth": (("society", "agent"), np.random.default_rng(2).random((6, 200))),
    },
    {"day": DAYS},
    {"clock": "day", "copies": "society"},
)


def judgement(tests=False, **said):
    targets = load_targets({"statistics": {"x": {"of": "x", **said}}})[0]
    return judged(targets, DATA, "", 0.95, tests)[0]


def test_tests_and_forecasts_belong_to_the_verdicts_that_have_them():
    plain = judgement(band=[0, 1])
    assert plain.tests is None and plain.errors == []
    tested = judgement(True, band=[0, 1])
    found = tested.as_dict()["tests"]
    assert found["problems"] == tested.tests.problems and found["unit_root"] > 0.5
    assert judgement(True, of="wealth", band=[0, 1]).tests is None
    observed = {"data": {"values": [0.0] * 130}, "band": [0, 99]}
    series = judgement(statistic="rmse", **observed)
    assert len(series.as_dict()["forecasts"]) == len(series.errors) == 5
    own = DATA.x.values.mean(0)[65:]
    assert series.errors[0].model == pytest.approx(np.sqrt(np.mean(own**2)))
    assert judgement(statistic="wasserstein", **observed).errors == []


@pytest.mark.parametrize("share, expected", [(None, PASS), (0.9, WARN)])
def test_a_target_has_its_own_share_or_that_of_its_case(share, expected):
    said = {"of": "x", "statistic": {"first": {"above": -INF}}, "band": [0, 1], "share": share}
    data = DATA.isel(society=[0, 0, 0, 0]).copy(deep=True)
    data.x[0, 5] = np.nan
    targets = load_targets({"share": 0.75, "statistics": {"x": said}})[0]
    assert judged(targets, data, "", 0.95)[0].verdict == expected


@pytest.mark.parametrize("level", [0, 1, -0.5, 1.5, np.nan])
def test_a_level_lies_between_0_and_1(level):
    with pytest.raises(ConfigError, match="level"):
        validate({"statistics": {"x": {"of": "x", "band": [0, 1]}}}, DATA, level=level)


def test_one_case_is_judged_on_a_result_and_a_target_needs_an_end():
    said = {name: {"statistics": {"x": {"of": "x", "band": [0, 1]}}} for name in ("a", "b")}
    with pytest.raises(ConfigError, match="the targets have the cases a, b; choose one"):
        validate({"cases": said}, DATA)
    found = validate(load_targets({"cases": said}, "b"), DATA)
    assert len(found.verdicts) == 1
    for ends in ({}, {"band": [None, None]}):
        with pytest.raises(ConfigError, match="needs a band or a target"):
            validate({"statistics": {"x": {"of": "x", **ends}}}, DATA)
    for ends in ({"target": 1}, {"band": [None, 1]}, {"band": [0, None]}):
        assert validate({"statistics": {"x": {"of": "x", **ends}}}, DATA).verdicts


def test_a_study_of_one_point_has_no_name_and_its_runs_are_seeds():
    study = DATA.rename(society="run").assign_coords(point=("run", [0] * 6))
    found = validate({"statistics": {"x": {"of": "x", "band": [0, 1]}}}, study)
    assert found.cases == [""] and len(found.verdicts[0].values) == 6
    two = study.assign_coords(point=("run", [0] * 4 + [1] * 2), tax=("run", [1] * 4 + [2] * 2))
    found = validate({"statistics": {"x": {"of": "x", "band": [0, 1]}}}, two)
    assert [(one.case, len(one.values)) for one in found.verdicts] == [("tax 1", 4), ("tax 2", 2)]
