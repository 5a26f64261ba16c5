"""What does a target select, and what is said of a verdict? By hand, at the ends."""

import dataclasses
import json
import types

import numpy as np
import pytest
import xarray as xr
from rich.console import Console
from test_validate import DATA, DAYS, of

from societies.errors import ConfigError, SocietiesError
from societies.study import load_targets, statistics, validation
from societies.study.assumptions import Assumptions
from societies.study.forecasts import Forecast
from societies.study.validation import FAIL, PASS, WARN, Validation, judged, validate, verdict_on

NOISE = DATA.noise.values
X = {"of": "level", "band": [0, 3]}


def given(**target):
    return load_targets({"statistics": {"x": {"of": "level", **target}}})[0]


# ----------------------------------------------------------------------------------------- targets


def test_variables_and_series_of_targets():
    found = given(of="line / level", against="noise", statistic="correlation", ticks="3:5")
    assert found.variables == ("line", "level", "noise")
    x, at, _, sample = found.series("x", DATA)
    np.testing.assert_allclose(x, np.tile(DAYS[2:5], (5, 1)))
    assert (at.tolist(), sample) == ([3, 4, 5], False)
    assert found.series("x", DATA, ticks=False)[1].tolist() == DAYS.tolist()
    nothing = load_targets({"cases": {"a": {"base": "economy/quickstart"}, "b": {}}})
    assert [one.name for one in nothing] == ["a", "b"]
    assert nothing[0].evaluate(DATA).shape == (5, 0)


@pytest.mark.parametrize(
    ("target", "unit"),
    [
        ({}, "units"),
        ({"filter": ["difference"]}, "units"),
        ({"filter": ["log"]}, "1"),
        ({"filter": ["log", "detrend"]}, "1"),
        ({"filter": ["relative_change"]}, "1"),
        ({"relative_to": "3:3"}, "1"),
        ({"statistic": "trend"}, "units/day"),
        ({"statistic": "peak_tick"}, "day"),
    ],
)
def test_units_of_targets(target, unit):
    found = given(**target)
    found.evaluate(DATA)
    assert found.units == {"x": unit}


def test_copies_may_come_last_and_must_exist():
    turned = DATA.transpose("day", ...)
    np.testing.assert_array_equal(given(of="noise").evaluate(turned)[:, 0], NOISE.mean(1))
    for name, dims in (("shared", "has the dimensions day; leave"), ("one", "dimensions no other")):
        own = DATA.level[0] if name == "shared" else DATA.level[:, 0]
        data = DATA.assign({name: own.drop_vars("day", errors="ignore")})
        with pytest.raises(ConfigError, match=dims):
            given(of=name).evaluate(data)


def test_entries_of_dimensions():
    shares, by_level = DATA.share.values, DATA.level_of.values
    np.testing.assert_allclose(
        of(of="share", at={"source": ["tool", "hand"]}, reduce={"source": "last"}),
        shares[:, :, 0].mean(1),
    )
    np.testing.assert_allclose(
        of(of="share", at={"source": ["tool"]}, reduce={"source": "sd"}), 0, atol=1e-12
    )
    np.testing.assert_allclose(
        of(of="level_of", at={"quantile": 0.5 + 1e-12}), by_level[:, :, 1].mean(1)
    )
    for target, match in (
        ({"of": "share", "at": {"source": 1}}, r"at\.source: there is no 1; there are hand, tool"),
        ({"of": "level_of", "at": {"quantile": "x"}}, r"at\.quantile: there is no 'x'; there are"),
        ({"of": "noise", "at": {"day": 500}}, r"there are 1, 2, .*, 11, 12$"),
    ):
        with pytest.raises(ConfigError, match=match):
            of(**target)


def test_agents_of_a_sample_keep_their_order_and_may_be_missing():
    wealth = DATA.wealth.values.copy()
    wealth[0, 1, :3] = np.nan
    names = [f"agent {i}" for i in range(30)][::-1]
    data = DATA.assign(wealth=(("society", "agent_day", "agent"), wealth))
    data = data.assign_coords(agent=names)
    day = {"of": "wealth", "at": {"agent_day": 120}}
    np.testing.assert_array_equal(given(**day, statistic="last").evaluate(data)[:, 0],
                                  wealth[:, 1, -1])  # fmt: skip
    np.testing.assert_allclose(given(**day).evaluate(data)[:, 0], np.nanmean(wealth[:, 1], 1))
    assert given(**day).series("x", data)[3] is True
    over = {"of": "wealth", "reduce": {"agent": "mean"}, "statistic": "maximum"}
    means = np.nanmean(wealth, 2)
    np.testing.assert_allclose(given(**over).evaluate(data)[:, 0], means.max(1))
    first = wealth[:, :1]
    one = data.isel(agent_day=[0])
    np.testing.assert_allclose(given(**over).evaluate(one)[:, 0], first.mean(2)[:, 0])


def test_filters_of_a_series_against_itself():
    lag = {"of": "noise", "against": "noise", "statistic": {"correlation": {"lag": 1}}}
    change = np.diff(NOISE)
    exact = [np.corrcoef(one[:-1], one[1:])[0, 1] for one in change]
    np.testing.assert_allclose(of(**lag, filter=["difference"]), exact)


def test_ticks_of_a_statistic_over_ticks():
    backwards = DATA.isel(day=slice(None, None, -1))
    last = given(of="share", reduce={"day": "last"}, statistic="maximum")
    np.testing.assert_array_equal(last.evaluate(backwards)[:, 0], DATA.share.values[:, -1].max(1))
    means = given(of="share", reduce={"day": "mean"}, ticks="3:5")
    shares = DATA.share.values
    np.testing.assert_allclose(means.series("x", DATA)[0], shares[:, 2:5].mean(1))
    np.testing.assert_allclose(means.series("x", DATA, ticks=False)[0], shares.mean(1))
    with pytest.raises(ConfigError, match="reduce: there is no dimension 'day'; there are"):
        of(of="share", at={"day": 5}, reduce={"day": "mean"})
    with pytest.raises(ConfigError, match="burn_in: needs a series of ticks"):
        of(of="wealth", at={"agent_day": 60}, burn_in=1, relative_to="1:2", ticks="1:2")
    with pytest.raises(ConfigError, match="has no case 'trad'; it has no_trade, trade, "):
        load_targets("economy", "trad")


def test_reductions_of_other_packages_get_as_many_ticks_as_entries(monkeypatch):
    def counted(x, ticks):
        assert x.shape == ticks.shape
        return len(x)

    entry = types.SimpleNamespace(name="counted", load=lambda: counted)
    monkeypatch.setattr(statistics, "entry_points", lambda group: [entry])
    statistics.statistic_named.cache_clear()
    assert of(of="share", reduce={"source": "counted"}).tolist() == [2] * 5
    statistics.statistic_named.cache_clear()


@pytest.mark.parametrize(
    ("target", "match"),
    [
        ({"filter": ["zzz"]}, r"unknown filter 'zzz'; there are log, difference, "),
        ({"filter": ["detrent"]}, r"unknown filter 'detrent'; did you mean 'detrend'\?"),
        ({"statistic": {}}, "expected NAME or"),
        ({"statistic": {"mean": 3}}, "expected NAME or"),
        ({"statistic": "rmse", "data": {}}, "needs a file and a column, or values"),
        ({"statistic": "rmse", "data": {"file": "s.csv", "column": "rat"}}, "did you mean 'rate'"),
    ],
)
def test_mistakes(target, match, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text("rate,wage\n1,3\n2,5\n")
    with pytest.raises(ConfigError, match=match):
        given(**target)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("date,rate\n2001-01-01,1\n2001-02-01,2\n2001-04-01,3\n",
         r"s.csv:4  date: 2001-04-01 does not follow 2001-02-01; the statistic needs a row"),
        ("date,rate\n2001-01-01,1\n2000-12-01,2\n", "2000-12-01 is not later than 2001-01-01"),
        ("observed,rate\n2001-01-31,1\n2001-01-31,2\n", "is not later than 2001-01-31"),
        ("rate,quarter\n1,2001Q4\n2,2002-Q1\n3,2002 q3\n", "s.csv:4  quarter: 2002 q3 does"),
        ("Year,rate\n2001,1\n2002,3\n2004,2\n", "Year: 2004 does not follow 2002"),
        ("rate,month,year\n1,11,2001\n2,12,2001\n3,1,2001\n", "year, month: 2001 1 is not later"),
        ("tick,rate\n1,1\n3,2\n2,3\n", "tick: 2 is not later than 3"),
        ("date,start,rate\n5,2001-02-01,1\n1,2001-01-01,2\n", "2001-01-01 1 is not later than"),
    ],
)  # fmt: skip
def test_observations_follow_their_dates(text, said, tmp_path, monkeypatch):
    """`rmse` compares tick by tick: a missing month moves all that follow."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(ConfigError, match=said):
        given(statistic="rmse", data={"file": "s.csv", "column": "rate"})
    given(statistic="wasserstein", data={"file": "s.csv", "column": "rate"})


@pytest.mark.parametrize(
    "text",
    [
        "date,rate\n2001-01-31,1\n2001-02-28,2\n2001-03-31,3\n",
        "date,rate\n2001-01-05,1\n2001-01-08,2\n2001-01-09,3\n",
        "date,rate\n2001-01-01,1\n2001-04-01,2\n2001-07-01,3\n",
        "date,rate\n2001-01-05,1\n2001-01-29,2\n2001-02-02,3\n",
        "year,month,rate\n2001,11,1\n2001,12,2\n2002,1,3\n",
        "year,rate\n2001,1\n2002,2\n2003,3\n",
        "date,rate,other\n2001-11-01,1,5\n2001-12-01,2,3\n2002-01-01,3,4\n",
        "date,rate\n2001-Q1,1\n2001-02,2\n2001-03,3\n",
        "date,start,rate\n5,2001-01-01,1\n1,2001-02-01,2\n3,2001-05-01,3\n",
        "who,rate\n2001-13,1\n2001-12,2\n2001-11,3\n",
    ],
)
def test_dates_in_order_are_accepted_and_are_not_the_observations(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text(text)
    own = given(statistic="rmse", data={"file": "s.csv", "column": "rate"})
    assert own.observed["x"].tolist() == [1, 2, 3]
    if text.startswith(("date", "year")):
        own = given(statistic="rmse", data={"file": "s.csv"})
        assert own.observed["x"].tolist() == [1, 2, 3]


def test_observations_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text("year,day\n1,5\n2,7\n")  # no other column
    assert given(statistic="rmse", data={"file": "s.csv"}).observed["x"].tolist() == [1, 2]
    (tmp_path / "s.csv").write_text("day,year\n1,7\n2,5\n")  # observed: no time of the rows
    own = given(statistic="rmse", data={"file": "s.csv", "column": "year"})
    assert own.observed["x"].tolist() == [7, 5]
    (tmp_path / "s.csv").write_text("year,rate\n2001,3\nthen,5\n")
    with pytest.raises(ConfigError, match=r"column 'year' of s.csv has entries that are no finite"):
        given(statistic="rmse", data={"file": "s.csv"})
    (tmp_path / "s.csv").write_text("rate,wage\n1,3\n2,5\n")
    for more, values in (({}, [1, 2]), ({"column": "wage"}, [3, 5])):
        own = given(statistic="rmse", data={"file": "s.csv", **more})
        assert own.observed["x"].tolist() == values
    assert of(of="level", statistic={"share": {"above": 1.1, "below": 1.1}}).tolist() == [
        *(0, 1, 0, 0, 0)
    ]
    assert len(load_targets("economy")) > 1
    (tmp_path / "economy").write_text("statistics: {a: {of: gini, band: [0, 1]}}\n")
    (only,) = load_targets("economy")  # the file of the user comes first
    assert list(only.statistics) == ["a"]
    with pytest.raises(ConfigError, match=r"^missing: no such file, nor"):
        load_targets("missing")


def test_targets_may_lie_at_the_ends_of_their_band_and_have_one_bound():
    for target in (1.0, 2.0, 1.5):
        given(band=[1, 2], target=target)
    for target in (0.5, 2.5):
        with pytest.raises(ConfigError, match=f"{target} lies outside of the band"):
            given(band=[1, 2], target=target)
    for options in ({"below": 1.0}, {"above": 1.0}, {"above": 1.0, "below": 1.0}):
        given(statistic={"share": options})
    with pytest.raises(ConfigError, match="share: above 2 is more than below"):
        given(statistic={"share": {"above": 2.0, "below": 1.0}})


def test_what_a_case_needs_is_said_where_a_variable_is_missing():
    data = xr.Dataset({"level": (("society", "day"), np.ones((1, 3)))}, {"day": [1, 2, 3]})
    data.attrs = {"clock": "day", "copies": "society"}
    for keys, said in (({}, False), ({"days": 3}, True)):
        own = load_targets({"set": keys, "statistics": {"x": {"of": "income"}}})[0]
        with pytest.raises(ConfigError) as error:
            own.evaluate(data)
        line = "this case is for results of a run with override days=3"
        assert (line in str(error.value)) == ("this case" in str(error.value)) == said
        assert own._needed(xr.Dataset({"income": data.level})) == ""
        assert own._needed(data.assign(income=data.level)) == ""
        assert own._needed(data.assign(income=data.level, more=data.level)) == ""


def test_keys_that_no_case_uses_are_listed_as_they_are_written():
    own = {"base": "economy/trade", "burn_in": 5, "set": {"days": 3}, "share": 1, "replicates": 2}
    with pytest.raises(ConfigError) as error:
        load_targets({"cases": {"a": {"statistics": {"x": X}}}, **own})
    named = [line.partition(":")[0] for line in str(error.value).splitlines()]
    assert named == [*own]  # as they are written


def test_a_key_that_no_case_uses_is_refused():
    own = {"cases": {"a": {"statistics": {"x": X}}}}
    load_targets(own)
    for key, value in (("base", "economy/trade"), ("burn_in", 5), ("set", {"days": 3})):
        with pytest.raises(ConfigError, match=f"{key}: has no use where there are cases"):
            load_targets({**own, key: value})


# ---------------------------------------------------------------------------------------- verdicts


def verdict(values, **target):
    own = given(**target).statistics["x"]
    return verdict_on("", "x", "1", own, np.array(values, float), 0.6)


def test_one_seed_has_no_interval():
    one, none = verdict([1.5], band=[1, 2]), verdict([np.nan], band=[1, 2])
    assert (one.verdict, one.mean, one.low, one.high, one.share) == (PASS, 1.5, 1.5, 1.5, 1)
    assert np.isnan(one.sd) and one.distance == 0 and one.failed == 0
    assert (none.verdict, none.failed, none.share) == (FAIL, 1, 0)
    two = verdict([1.0, 4.0], band=[1, 2])
    half = 12.706204736 * np.std([1, 4], ddof=1) / np.sqrt(2)
    assert (two.low, two.high) == pytest.approx((2.5 - half, 2.5 + half))
    assert (two.verdict, two.distance) == (WARN, 1)  # half a unit beyond a band of 1
    assert two.share == 0.5


def test_a_verdict_as_plain_data():
    plain = verdict([1.5, np.nan], band=[1, None]).as_dict()
    assert plain == {
        **{"name": "x", "verdict": WARN, "unit": "1", "mean": 1.5, "sd": None, "low": 1.5},
        **{"high": 1.5, "share": 0.5, "distance": 0.0, "seeds": 2, "failed": 1},
        **{"band": [1, None], "target": None, "weight": 1.0},
    }
    tests = Assumptions(0.5, 0, 0, 0, 12, np.nan)
    errors = [Forecast(1, 2.0, 3.0, 4.0, 0.5, 0.25)]
    own = verdict([1.5], band=[1, 2], target=1.5, source="a book")
    found = dataclasses.replace(own, case="c", tests=tests, errors=errors).as_dict()
    assert (found["case"], found["source"], found["target"]) == ("c", "a book", 1.5)
    assert found["tests"]["problems"] == ["not stationary", "warm-up 12"]
    assert (found["tests"]["runs_rejected"], found["tests"]["modes_p"]) == (0.5, None)
    assert found["forecasts"] == [dataclasses.asdict(errors[0])]


def some(case, word, weight=1.0):
    own = verdict([1.5], band=[1, 2], weight=weight)
    return dataclasses.replace(own, case=case, verdict=word)


def test_scores_of_cases():
    verdicts = [some("a", PASS), some("b", WARN), some("b", FAIL, 3)]
    found = Validation(verdicts, 0.9, {"why": 2})
    assert (found.score, found.passed, found.cases) == (0.3, False, ["a", "b"])
    said = found.as_dict()
    assert said["scores"] == {"a": 1, "b": 0.125} and said["failures"] == {"why": 2}
    assert said["counts"] == {PASS: 1, WARN: 1, FAIL: 1} and said["level"] == 0.9
    assert [one["name"] for one in said["statistics"]] == ["x"] * 3
    alone = Validation([some("a", WARN)], 0.9)
    assert alone.passed is True and "scores" not in alone.as_dict() and alone.score == 0.5
    assert Validation([some("a", FAIL, 0)], 0.9).score == 1


@pytest.mark.parametrize("level", [0, 1, -0.5, 1.5])
def test_a_level_is_between_0_and_1(level):
    with pytest.raises(ConfigError, match="level"):
        validate({"statistics": {"x": X}}, DATA, level=level)


def test_targets_and_results_in_other_forms(tmp_path):
    own = load_targets({"statistics": {"x": X}})
    assert [one.mean for one in validate(own, DATA).verdicts] == [pytest.approx(1.32)]
    assert [one.mean for one in validate(tuple(own), DATA).verdicts] == [pytest.approx(1.32)]
    two = load_targets({"cases": {"a": {"statistics": {"x": X}}, "b": {"statistics": {"x": X}}}})
    with pytest.raises(ConfigError, match="have the cases a, b; choose one"):
        validate(two, DATA)
    with pytest.raises(ConfigError, match=r"x\.band: is missing"):
        validate({"statistics": {"x": {"of": "level", "band": [None, None]}}}, DATA)
    assert validate({"statistics": {"x": {"of": "level", "target": 1.3}}}, DATA).verdicts
    free = {"of": "level", "target": 1.3, "band": [None, None]}
    assert validate({"statistics": {"x": free}}, DATA).verdicts
    wide = {"statistics": {"x": {**X, "band": [0, 1.25], "share": 0.5}}, "share": 0.9}
    assert validate(wide, DATA).verdicts[0].verdict == WARN  # of the mean; 3 of 5 are inside
    near = {"statistics": {"x": {**X, "band": [0, 1.5], "share": 0.8}}, "share": 0.9}
    assert validate(near, DATA).verdicts[0].verdict == PASS
    with pytest.raises(ConfigError, match="names no base; give a result to validate, or a base"):
        validate({"statistics": {"x": X}})


class Ran:
    """A simulator that returns made-up parts in any order."""

    def __init__(self, sweep, keys, targets, count, device):
        self.sweep, self.count, self.failures = sweep, count, {}
        Ran.made.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def require_statistics(self):
        pass

    def computed(self, points, numbers, progress):
        assert points == [[]] and numbers.tolist() == [[*range(self.count)]]
        self.failures = {"broken": 2}
        rows = np.random.default_rng(3).permutation(0 if Ran.fails else self.count).tolist()
        for row in rows:
            level = xr.DataArray([[float(row)]], dims=("run", "day"))
            yield row, xr.Dataset({"level": level}, {"day": [1]}, DATA.attrs | {"copies": "run"})


@pytest.fixture
def ran(monkeypatch):
    Ran.made, Ran.fails = [], False
    monkeypatch.setattr(validation, "Simulator", Ran)
    return Ran


def test_a_configuration_is_run_with_many_seeds(ran):
    own = {"base": "economy/quickstart", "set": {"days": 3}, "statistics": {"x": X}}
    found = validate(own)
    assert found.verdicts[0].values.tolist() == [*range(20)] and found.failures == {"broken": 2}
    for more, count in (({"replicates": 4}, 4), ({}, 7)):
        found = validate({**own, "replicates": 7}, **more, set={"agents": 5})
        assert len(found.verdicts[0].values) == count
        base = ran.made[-1].sweep.base
        assert (base.days, base.agents) == (3, 5)
    validate(own, base={"workload": "economy", "agents": 9})
    assert ran.made[-1].sweep.base.agents == 9
    two = {"cases": {"a": own, "b": own}}
    assert validate(two).failures == {"broken": 4}
    assert validate(two).cases == ["a", "b"] and validate(two, case="b").cases == ["b"]
    ran.fails = True
    with pytest.raises(SocietiesError, match="no seed could be run: broken"):
        validate(own)


def test_a_model_without_draws_has_one_seed(ran):
    own = {"base": {"workload": "matmul"}, "statistics": {"x": X}}
    assert len(validate(own, replicates=5).verdicts[0].values) == 1


def test_the_points_of_a_study_and_the_end_of_a_file(tmp_path, monkeypatch):
    closed = []
    study = DATA.rename(society="run").assign_coords(point=("run", [3, 3, 3, 8, 8]))
    study = study.assign_coords(tax=("run", [0.1, 0.1, 0.1, 0.2, 0.2]))
    monkeypatch.setattr("societies.analysis.effects.open_results", lambda _: study)
    monkeypatch.setattr(xr.Dataset, "close", lambda self: closed.append(self))
    found = validate({"statistics": {"x": X}}, "a.nc")
    assert [len(one.values) for one in found.verdicts] == [3, 2] and closed == [study]
    assert [one.mean for one in found.verdicts] == pytest.approx([1.1, 1.65])
    validate({"statistics": {"x": X}}, study)
    assert len(closed) == 1  # what the caller opened is the caller's


def test_what_is_tested_and_forecast(monkeypatch):
    zeros = {"statistic": "rmse", "data": {"values": [0.0] * 120}, "band": [0, 9]}
    agents = {**zeros, "data": {"values": [0.0] * 30}}
    targets = load_targets(
        {
            "statistics": {
                "a": {"of": "noise", **zeros},
                "b": {"of": "noise", "band": [0, 1]},
                "c": {"of": "wealth", "at": {"agent_day": 60}, "band": [0, 1]},
                "d": {
                    "of": "noise",
                    "statistic": "wasserstein",
                    "data": zeros["data"],
                    "target": 0,
                },
                "e": {"of": "wealth", "at": {"agent_day": 60}, **agents},
            }
        }
    )[0]
    found = judged(targets, DATA, "", 0.9)
    assert [one.tests for one in found] == [None] * 5
    assert [bool(one.errors) for one in found] == [True, False, False, False, False]
    found = judged(targets, DATA, "", 0.9, tests=True)
    assert [one.tests is not None for one in found] == [True, True, False, True, False]


def text(found):
    console = Console(width=200, no_color=True)
    with console.capture() as said:
        console.print(validation.validation_table(found))
    return [" ".join(line.split()) for line in said.get().splitlines() if line.strip(" ─╷╵│")]


def test_the_table_of_verdicts():
    tests = Assumptions(0.5, 0, 0, 0, 0, 1)
    first = dataclasses.replace(
        some("", PASS), unit="units", values=np.ones(4), failed=2, share=0.5
    )
    lines = text(Validation([first], 0.9))
    assert lines == [
        "score 1.00",
        "statistic mean 90 % interval band in band seeds failed",
        "PASS x [units] 1.5 1.5 to 1.5 1 to 2 50 % 4 2",
    ]
    errors = [Forecast(3, 1.0, 2.0, 4.0, 0.5, 0.25)]
    parts = [
        dataclasses.replace(some("a", WARN), tests=tests),
        some("a", FAIL),
        dataclasses.replace(some("[b]", PASS), errors=errors),
        dataclasses.replace(some("c", PASS), tests=dataclasses.replace(tests, runs_rejected=0)),
    ]
    lines = text(Validation(parts, 0.95))
    assert lines == [
        "a: score 0.25",
        "statistic mean 95 % interval band in band seeds failed tests",
        "WARN x 1.5 1.5 to 1.5 1 to 2 100 % 1 not stationary",
        "FAIL x 1.5 1.5 to 1.5 1 to 2 100 % 1",
        "[b]: score 1.00",
        "statistic mean 95 % interval band in band seeds failed",
        "PASS x 1.5 1.5 to 1.5 1 to 2 100 % 1",
        "errors of forecasts: x",
        "ahead model AR random walk p (AR) p (walk)",
        "3 1 2 4 0.5 0.25",
        "c: score 1.00",
        "statistic mean 95 % interval band in band seeds failed tests",
        "PASS x 1.5 1.5 to 1.5 1 to 2 100 % 1 none",
        "score of all: 0.62",
    ]


def test_columns_of_the_table():
    """Numbers end in the same place; only words of tests continue in the next line."""
    tested = dataclasses.replace(some("a", PASS), tests=Assumptions(0, 0, 0, 0, 0, 1))
    found = validation.validation_table(Validation([tested, some("b", PASS)], 0.9)).renderables
    first, second, score = found
    assert score == "score of all: 1.00"
    sides = ["left"] * 2 + ["right"] * 6
    assert [one.justify for one in first.columns] == [*sides, "left"]
    assert [one.justify for one in second.columns] == sides
    assert [one.no_wrap for one in first.columns] == [True] * 8 + [False]


def test_bands_in_words():
    for target, words in (
        ({"band": [0.04, 0.09]}, "0.04 to 0.09"),
        ({"band": [None, 0.2]}, "at most 0.2"),
        ({"band": [0.2, None]}, "at least 0.2"),
        ({"target": 0.34}, "0.34"),
        ({"target": 0.5, "scale": 0.25}, "0.25 to 0.75"),
        ({}, "any"),
    ):
        assert validation.band_text(given(**target).statistics["x"]) == words
    json.dumps(Validation([some("a", PASS)], 0.9).as_dict(), allow_nan=False)
