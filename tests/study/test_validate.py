"""Is every target judged by its definition, and every mistake in a file of targets reported?"""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from societies.errors import ConfigError
from societies.paths import data_directory
from societies.study import load_targets
from societies.study.assumptions import assumptions
from societies.study.bands import distances, ends_of
from societies.study.filters import FILTERS
from societies.study.forecasts import forecasts
from societies.study.simulate import Simulator, sweep_of
from societies.study.statistics import STATISTICS, options_of
from societies.study.validation import FAIL, PASS, WARN, judged, validate
from societies.workload.running.registry import workload

DAYS = np.arange(1, 121)
RANDOM = np.random.default_rng(11)
LEVELS = np.array([1.0, 1.1, 1.2, 1.3, 2.0])
DATA = xr.Dataset(
    {
        "level": (("society", "day"), LEVELS[:, None] + 0.0 * DAYS, {"units": "units"}),
        "noise": (("society", "day"), RANDOM.normal(size=(5, 120))),
        "line": (("society", "day"), np.outer(LEVELS, DAYS), {"units": "units"}),
        "wealth": (("society", "agent_day", "agent"), RANDOM.random((5, 2, 30))),
        "share": (("society", "day", "source"), RANDOM.random((5, 120, 2))),
        "level_of": (("society", "day", "quantile"), RANDOM.random((5, 120, 3))),
    },
    {
        "day": DAYS,
        "agent_day": [60, 120],
        "source": ["hand", "tool"],
        "quantile": [0.25, 0.5, 1.0],
    },
    {"clock": "day", "copies": "society"},
)


def of(**target):
    """Return the statistic of a target over the data above."""
    return load_targets({"statistics": {"x": target}})[0].evaluate(DATA)[:, 0]


def verdict(share=0.6, **target):
    targets = load_targets({"share": share, "statistics": {"x": {"of": "level", **target}}})
    return judged(targets[0], DATA, "", 0.95)[0]


def refused(match, **target):
    with pytest.raises(ConfigError, match=match):
        load_targets({"statistics": {"x": {"of": "level", "band": [0, 1], **target}}})


def test_what_a_target_selects():
    lines = np.outer(LEVELS, DAYS)
    np.testing.assert_allclose(of(of="line", ticks="11:20"), lines[:, 10:20].mean(1))
    np.testing.assert_allclose(of(of="line", ticks=7, statistic="last"), lines[:, 6])
    np.testing.assert_allclose(of(of="line", burn_in=100), lines[:, 100:].mean(1))
    np.testing.assert_allclose(of(of="line", filter=["difference"], ticks=2), LEVELS)
    found = of(of="line", relative_to="50:50", ticks=100, burn_in=90)
    np.testing.assert_allclose(found, 2.0)
    shares = DATA.share.values[:, :, 1].mean(1)
    np.testing.assert_allclose(of(of="share", at={"source": "tool"}), shares)
    found = of(of="level_of", at={"quantile": 0.5})
    np.testing.assert_allclose(found, DATA.level_of.values[:, :, 1].mean(1))
    found = of(of="share", reduce={"source": "maximum"}, statistic="minimum")
    np.testing.assert_allclose(found, DATA.share.values.max(2).min(1))
    found = of(of="wealth", at={"agent_day": 120}, statistic={"quantile": {"q": 0.2}})
    np.testing.assert_allclose(found, np.quantile(DATA.wealth.values[:, 1], 0.2, axis=1))


def test_two_series_are_paired_by_tick():
    """The change of a day is paired with the level of this day, not of the day before."""
    found = of(of="noise", against="noise", statistic="correlation")
    np.testing.assert_allclose(found, 1.0)
    targets = {"of": "line", "against": "noise", "filter_against": ["difference"]}
    found = of(**targets, statistic="correlation", burn_in=20)
    noise, line = DATA.noise.values[:, 20:], DATA.line.values[:, 20:]
    exact = [np.corrcoef(a[1:], np.diff(b))[0, 1] for a, b in zip(line, noise, strict=True)]
    np.testing.assert_allclose(found, exact)


@pytest.mark.parametrize(
    "band, share, expected",
    [
        ([1.0, 2.0], 1.0, PASS),
        ([0.9, 1.5], 0.8, PASS),  # the mean is 1.32, four of five are inside
        ([0.9, 1.5], 0.9, WARN),
        ([1.35, 1.5], 0.0, WARN),  # the interval of the mean, 0.82 to 1.82, meets the band
        ([1.9, 3.0], 0.0, FAIL),
        ([None, 0.8], 0.0, FAIL),
        ([1.3, None], 0.4, PASS),
    ],
)
def test_a_verdict_is_from_the_share_of_seeds_and_the_interval_of_the_mean(band, share, expected):
    found = verdict(share, band=band)
    assert (found.verdict, found.mean) == (expected, pytest.approx(1.32))
    half = 2.7764451 * LEVELS.std(ddof=1) / np.sqrt(5)  # of Student's t with 4 degrees of freedom
    assert (found.low, found.high) == pytest.approx((1.32 - half, 1.32 + half))
    assert found.unit == "units"


def test_seeds_without_a_number_are_counted_and_are_not_in_the_band():
    found = verdict(statistic={"first": {"above": 1.15}}, band=[1, 1])
    assert (found.failed, found.share, found.verdict) == (2, pytest.approx(0.6), PASS)
    found = verdict(statistic={"first": {"above": 9}}, band=[1, 1])
    assert (found.failed, found.share, found.verdict) == (5, 0.0, FAIL)
    assert found.as_dict()["mean"] is None


def test_the_score_weighs_the_verdicts():
    given = {
        "good": {"of": "level", "band": [0, 3]},
        "bad": {"of": "level", "band": [5, 6], "weight": 3},
    }
    found = validate({"statistics": given}, DATA)
    assert found.score == pytest.approx(0.25) and not found.passed
    assert json.loads(json.dumps(found.as_dict()))["counts"] == {PASS: 1, WARN: 0, FAIL: 1}


def test_distances_are_in_units_of_the_scale():
    statistics = {
        "band": {"of": "level", "band": [1, 3]},
        "value": {"of": "level", "band": [1, 3], "target": 1.5},
        "scaled": {"of": "level", "target": 4, "scale": 0.5},
        "end": {"of": "level", "band": [None, 0.5]},
    }
    targets = load_targets({"statistics": statistics})[0].statistics
    found = distances(targets, np.array([[2.0] * 4, [4.0] * 4, [np.nan] * 4]))
    np.testing.assert_allclose(found[:2], [[0, 0.5, 4, 3], [1, 2.5, 0, 7]])
    assert np.isnan(found[2]).all() and ends_of(targets["scaled"]) == (3.5, 4.5)


def test_the_points_of_a_study_are_judged_one_by_one():
    study = DATA.rename(society="run").assign_coords(
        point=("run", [0, 0, 0, 1, 1]), tax=("run", [0.1, 0.1, 0.1, 0.2, 0.2])
    )
    found = validate({"statistics": {"x": {"of": "level", "band": [0.9, 1.25]}}}, study)
    assert found.cases == ["tax 0.1", "tax 0.2"]
    assert [one.verdict for one in found.verdicts] == [PASS, WARN]


def test_a_series_of_observations_is_forecast():
    target = {"of": "noise", "statistic": "rmse", "band": [0, 9], "data": {"values": [0.0] * 120}}
    found = validate({"statistics": {"x": target}}, DATA, tests=True).verdicts[0]
    assert [one.horizon for one in found.errors] == [1, 2, 4, 8, 12]
    assert found.tests is not None and found.tests.unit_root == 0


def test_mistakes_in_targets_are_reported_where_they_are(tmp_path):
    file = tmp_path / "t.yaml"
    file.write_text(
        "base: economy/quickstart\nstatistics:\n  a: {of: gini, band: [2, 1]}\n"
        "  b: {of: gini, statistic: meen, band: [0, 1]}\n  c: {of: 'gini(', band: [0, 1]}\n"
        "  d: {of: gini, filter: [hp], band: [0, 1]}\n  e: {of: gini, bandd: [0, 1]}\n"
    )
    with pytest.raises(ConfigError) as error:
        load_targets(file)
    lines = str(error.value).splitlines()
    assert [int(line.removeprefix(str(file)).split(":")[1]) for line in lines] == [3, 4, 5, 6, 7]
    for line, text in zip(lines, ("is upside down: 2 is more than 1", "did you mean 'mean'",
                                  "no expression", "unknown filter 'hp'", "unknown key"),
                          strict=True):  # fmt: skip
        assert text in line


def test_mistakes_of_one_target():
    refused("needs the option 'q'", statistic="quantile")
    refused("option 'q' expected a number", statistic={"quantile": {"q": "half"}})
    refused("unknown option 'p'", statistic={"quantile": {"p": 0.5}})
    refused("correlation needs a second series: against", statistic="correlation")
    refused("mean has no use for a second series", against="noise")
    refused("rmse needs observations: data", statistic="rmse")
    refused("expected NAME or", statistic={"mean": {}, "sd": {}})
    refused("must have at most 2 entries", band=[0, 1, 2])
    with pytest.raises(ConfigError, match="needs statistics, or cases"):
        load_targets({"base": "economy/quickstart"})
    for nothing in ({}, {"band": [None, None]}):
        with pytest.raises(ConfigError, match="a target needs a band or a target"):
            validate({"statistics": {"x": {"of": "level", **nothing}}}, DATA)
    with pytest.raises(ConfigError) as error:  # and nothing about statistics that are missing
        load_targets({"statistics": {"x": {"of": "level", "share": 2}}})
    assert str(error.value) == "statistics.x.share: must be at most 1, got 2"


@pytest.mark.parametrize(
    "match, target",
    [
        ("'q' must be at most 1", {"statistic": {"quantile": {"q": 2}}}),
        ("'lag' must be at least 0", {"statistic": {"autocorrelation": {"lag": -1}}}),
        ("'lag' expected a whole number", {"statistic": {"autocorrelation": {"lag": 1.5}}}),
        ("'outliers' must be more than 0", {"statistic": {"correlation": {"outliers": -1}}}),
        ("'top' must be more than 0", {"statistic": {"top_share": {"top": 0}}}),
        ("'top' must be at most 1", {"statistic": {"tail_exponent": {"top": 2}}}),
        ("above 1 is more than below", {"statistic": {"share": {"above": 1, "below": 0}}}),
        ("'window' must be more than 0", {"filter": [{"smooth": {"window": -3}}]}),
        ("'smoothing' must be at least 0", {"filter": [{"hp_cycle": {"smoothing": -1}}]}),
        ("'smoothing' must be at most", {"filter": [{"hp_trend": {"smoothing": 1e300}}]}),
        ("names no variable", {"of": "1 + 2"}),
    ],
)
def test_options_have_limits(match, target):
    refused(match, **target)


def test_what_too_few_ticks_cannot_say_has_failed():
    """A lag that is longer than the series, a window that is wider, growth from one tick."""
    for target in (
        {"statistic": {"autocorrelation": {"lag": 500}}},
        {"statistic": {"autocorrelation": {"lag": 120}}},
        {"statistic": {"correlation": {"lag": -121}}, "against": "noise"},
        {"statistic": "growth", "ticks": 5},
        {"filter": [{"smooth": {"window": 121}}]},
        {"filter": ["difference"] * 120},
    ):
        assert np.isnan(of(**{"of": "level", **target})).all(), target
    assert of(of="level", filter=["difference"] * 119).shape == of(of="level").shape


@pytest.mark.parametrize(
    "match, target",
    [
        ("there is no variable 'levl'; did you mean 'level'", {"of": "levl"}),
        ("has the dimensions day, source; leave one", {"of": "share"}),
        ("there is no 'toole'; there are hand, tool", {"of": "share", "at": {"source": "toole"}}),
        ("there is no dimension 'kind'", {"of": "share", "at": {"kind": "tool"}}),
        ("none of the days of the file, which are 1 to 120", {"of": "level", "ticks": "300:400"}),
    ],
)
def test_what_results_lack_is_reported(match, target):
    with pytest.raises(ConfigError, match=match):
        of(**target)


def test_the_keys_that_a_result_was_not_made_with_are_named():
    """`validate bam RESULT --case baseline` needs the firms' output, which few runs record."""
    case = {"set": {"record.detail": 8}, "statistics": {"x": {"of": "made"}}}
    targets = load_targets(case)[0]
    with pytest.raises(ConfigError, match=r"no variable 'made'.*\nthis.*record.detail.*8"):
        targets.evaluate(DATA)


def test_a_variable_that_is_not_recorded_names_the_key_that_records_it():
    sweep = sweep_of("economy/quickstart", {"agents": 6, "resources": 6})
    targets = load_targets({"statistics": {"x": {"of": "gini_wealth"}}})[0]
    with pytest.raises(ConfigError, match=r"does not record 'gini_wealth'; record.measures: true"):
        Simulator(sweep, (), targets)


def test_a_result_needs_one_case():
    with pytest.raises(ConfigError, match="choose one"):
        validate("economy", DATA)
    with pytest.raises(ConfigError, match="has no case 'trad'"):
        load_targets("economy", "trad")


SHIPPED = sorted(one.stem for one in (data_directory("configs") / "validation").glob("*.yaml"))


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_targets_fit_their_configurations(name):
    """Every variable is recorded, and every tick is one of the run."""
    for targets in load_targets(name):
        sweep = sweep_of(targets.case.base, targets.case.set)
        Simulator(sweep, (), targets)
        ticks = workload(sweep.base.workload).ticks(sweep.base)
        for one in targets.statistics.values():
            last = str(one.ticks or 1).rpartition(":")[2]
            assert int(last) <= ticks and (one.source or name == "bam")


def test_the_page_has_every_statistic_and_every_filter():
    page = (Path(__file__).parents[2] / "docs/validate.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    named = {word for row in rows for word in re.findall(r"`(\w+)", row)}
    assert {*STATISTICS, *FILTERS} <= named
    options = {n for one in STATISTICS.values() for n in options_of(one.given)}
    assert options <= {word for row in rows for word in re.findall(r"\w+", row)}


@pytest.mark.parametrize("entry", ["true", ".nan", ".inf", "x", "9" * 309])
def test_an_observation_is_a_number(tmp_path, entry):
    (tmp_path / "seen.csv").write_text(f"rate\n1\n{entry}\n")
    (tmp_path / "targets.yaml").write_text(
        "base: economy/quickstart\nstatistics:\n"
        "  d: {of: gini, statistic: rmse, data: {file: seen.csv}, band: [0, 1]}\n"
    )
    with pytest.raises(ConfigError, match=r"column 'rate' of .* has entries that are no finite"):
        load_targets(tmp_path / "targets.yaml")


def test_ticks_are_in_order_before_a_statistic_looks_at_them():
    last = {"of": "x", "statistic": "last"}
    given = load_targets({"statistics": {"a": last, "b": {"of": "x", "statistic": "trend"}}})[0]
    data = xr.Dataset(
        {"x": (("society", "day"), [[1.0, 2, 4, 8]])},
        {"society": [0], "day": [1, 2, 3, 4]},
        {"clock": "day", "copies": "society"},
    )
    backwards = data.isel(day=slice(None, None, -1))
    np.testing.assert_array_equal(given.evaluate(backwards), given.evaluate(data))


def test_lags_and_windows_count_ticks_and_not_entries():
    spaced = DATA.isel(day=slice(9, None, 10))  # days 10, 20, ...
    noise = DATA["noise"].values[:, 9::10]

    def found(data=spaced, **target):
        return load_targets({"statistics": {"x": {"of": "noise", **target}}})[0].evaluate(data)[
            :, 0
        ]

    far = noise - noise.mean(1, keepdims=True)
    by_hand = (far[:, 1:] * far[:, :-1]).sum(1) / (far**2).sum(1)
    same = found(statistic={"autocorrelation": {"lag": 10}})
    np.testing.assert_allclose(same, by_hand)
    np.testing.assert_allclose(
        found(DATA, ticks="10:120:10", statistic={"autocorrelation": {"lag": 10}}), by_hand
    )
    means = found(filter=[{"smooth": {"window": 30}}], statistic="last", ticks=60)
    np.testing.assert_allclose(means, noise[:, 4:7].mean(1))
    paired = {"against": "line", "statistic": {"correlation": {"lag": 10}}}
    expected = [np.corrcoef(row[:-1], DAYS[9::10][1:])[0, 1] for row in noise]
    np.testing.assert_allclose(found(**paired), expected)
    for match, target in (
        ("autocorrelation: lag: 1 ticks, but .* every 10th tick", {"statistic": "autocorrelation"}),
        ("multiple of 10", {**paired, "statistic": {"correlation": {"lag": -5}}}),
        ("smooth: window: 5 ticks, but", {"filter": ["smooth"]}),
        ("11 ticks, but .* multiple of 10", {"filter": [{"smooth": {"window": 11}}]}),
        ("take an odd multiple of 10", {"filter": [{"smooth": {"window": 20}}]}),
    ):
        with pytest.raises(ConfigError, match=match):
            found(**target)
    uneven = DATA.sel(day=[1, 2, 4, 8, 16])
    for target in (
        {"statistic": "autocorrelation"},
        {"filter": ["difference"]},
        {"filter": ["detrend"]},
        {"filter": ["hp_cycle"]},
    ):
        with pytest.raises(ConfigError, match="needs equally spaced ticks"):
            found(uneven, **target)
    assert np.isfinite(found(uneven, statistic="trend")).all()
    with pytest.raises(ConfigError, match="smooth: window: take an odd number, so that"):
        of(of="noise", filter=[{"smooth": {"window": 4}}])
    with pytest.raises(ConfigError, match="has a day twice"):
        found(DATA.isel(day=[0, 1, 1, 2]))


def test_tests_and_forecasts_count_ticks():
    x = np.concatenate([np.full((6, 20), 50.0), np.zeros((6, 180))], 1)
    x += np.random.default_rng(1).normal(size=x.shape)
    values = x.mean(1)
    daily, spaced = (assumptions(x, values, step * np.arange(200.0)) for step in (1, 10))
    assert spaced.warm_up == 10 * daily.warm_up > 0
    assert assumptions(x, values, np.arange(200.0) ** 2) is None
    ahead = [one.horizon for one in forecasts(x[0], x[1], 10 * np.arange(200.0))]
    assert ahead == [10, 20, 40, 80, 120]
    with pytest.raises(ConfigError, match="equally spaced"):
        forecasts(x[0], x[1], np.arange(200.0) ** 2)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 7.7])
def test_a_value_at_the_end_of_a_band_is_in_it(value):
    """The mean of equal seeds is their value: rounding does not push it out of the band."""
    for seeds in (1, 2, 3, 7, 20, 100):
        data = xr.Dataset(
            {"x": (("society", "day"), np.full((seeds, 30), value))},
            {"day": np.arange(30)},
            {"clock": "day", "copies": "society"},
        )
        for band in ([value, value], [value, None], [None, value]):
            for statistic in ("mean", "last"):
                target = {"of": "x", "statistic": statistic, "band": band}
                (found,) = validate({"statistics": {"x": target}}, data).verdicts
                assert (found.verdict, found.mean, found.low) == (PASS, value, value)
        target = {"of": "x", "statistic": "sd", "band": [0, 0]}
        assert validate({"statistics": {"x": target}}, data).passed


@pytest.mark.parametrize("statistic", ["rmse", {"rmse": {}}])
def test_forecasts_leave_out_seeds_that_have_no_number(statistic):
    target = {"of": "x", "statistic": statistic, "band": [0, 9], "data": {"values": [0.0] * 120}}

    def found(x):
        data = DATA.assign(x=(("society", "day"), x))
        return validate({"statistics": {"x": target}}, data)

    x = DATA.noise.values.copy()
    x[0, 100], x[1, 3] = np.inf, np.nan
    (one,) = found(x).verdicts
    assert one.failed == 2
    path = x[2:].mean(0)
    assert one.errors == forecasts(path, np.zeros(120), DAYS)
    assert one.errors[0].model == pytest.approx(np.sqrt((path[60:] ** 2).mean()))
    x[:, 100] = np.nan
    nothing = found(x)
    assert nothing.verdicts[0].errors == []
    json.dumps(nothing.as_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("match", "target"),
    [
        ("difference: needs a series of ticks; this is one of agent", {"filter": ["difference"]}),
        ("ticks: needs a series of ticks", {"ticks": "1:3"}),
        ("burn_in: needs a series of ticks", {"burn_in": 5}),
        ("relative_to: needs a series of ticks", {"relative_to": "1:3"}),
        ("trend: needs a series of ticks; this is a sample", {"statistic": "trend"}),
        ("first: needs a series of ticks", {"statistic": {"first": {"above": 1}}}),
        ("correlation: needs", {"statistic": {"correlation": {"lag": 1}}, "against": "wealth"}),
    ],
)  # fmt: skip
def test_a_sample_has_no_ticks(match, target):
    """Nothing that a target asks for is silently left out."""
    with pytest.raises(ConfigError, match=match):
        of(of="wealth", at={"agent_day": 120}, **target)


def test_what_a_sample_has():
    wealth = DATA.wealth.values[:, 1]
    day = {"of": "wealth", "at": {"agent_day": 120}}
    np.testing.assert_allclose(of(**day, filter=["log"]), np.log(wealth).mean(1))
    found = of(**day, against="wealth / 2 + 1", statistic="correlation")
    np.testing.assert_allclose(found, 1)


def test_a_statistic_over_ticks_leaves_out_the_burn_in():
    shares = DATA.share.values
    means = {"of": "share", "reduce": {"day": "mean"}, "statistic": "maximum"}
    np.testing.assert_allclose(of(**means, burn_in=100), shares[:, 100:].mean(1).max(1))
    np.testing.assert_allclose(of(**means, ticks="11:20"), shares[:, 10:20].mean(1).max(1))
    firsts = {"of": "share", "reduce": {"day": {"first": {"above": 0.9}}}, "statistic": "minimum"}
    np.testing.assert_allclose(of(**firsts), DAYS[(shares > 0.9).any(2).argmax(1)])
    with pytest.raises(ConfigError, match="trend: needs a series of ticks"):
        of(of="share", reduce={"source": "trend"})


@pytest.mark.parametrize(
    ("match", "target"),
    [
        ("target: 5 lies outside of the band", {"target": 5}),
        ("mean has no use for observations: data", {"data": {"values": [1.0]}}),
        ("filter_against: has no use without a second series", {"filter_against": ["log"]}),
        ("reduce.agent: correlation needs a second series", {"reduce": {"agent": "correlation"}}),
        ("reduce.agent: rmse needs observations", {"reduce": {"agent": "rmse"}}),
    ],
)
def test_what_contradicts_itself_or_has_no_use(match, target):
    refused(match, **target)


def test_a_study_of_one_point_is_judged_as_a_result():
    study = DATA.rename(society="run").assign_coords(point=("run", [0] * 5))
    found = validate({"statistics": {"x": {"of": "level", "band": [0, 3]}}}, study)
    assert found.cases == [""] and found.passed


def test_a_file_without_cases_has_none_with_a_name():
    with pytest.raises(ConfigError, match="has no case 'a'; it has one without a name"):
        load_targets({"statistics": {"x": {"of": "level"}}}, "a")


@pytest.mark.parametrize(
    ("match", "target"),
    [
        ("ticks 30:40: none of the days .*, which are 1 to 10", {"of": "gini", "ticks": "30:40"}),
        ("there is no dimension 'agent'", {"of": "gini", "reduce": {"agent": "mean"}}),
        ("has the dimensions day, quantile", {"of": "hhi"}),
        ("10 ticks, the data 2", {"of": "gini", "statistic": "rmse", "data": {"values": [1, 2]}}),
    ],
)
def test_what_no_run_can_have_is_reported_before_any_run(match, target, monkeypatch):
    monkeypatch.setattr(Simulator, "computed", lambda *_: pytest.fail("something ran"))
    small = {"agents": 4, "resources": 4, "days": 10}
    targets = {"base": "economy/quickstart", "set": small, "replicates": 2,
               "statistics": {"x": {**target, "band": [0, 1]}}}  # fmt: skip
    with pytest.raises(ConfigError, match=match):
        validate(targets)
