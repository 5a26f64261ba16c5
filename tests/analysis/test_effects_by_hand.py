"""Are effects and impulse responses those of their definitions, and which results are compared?

The bootstrap is compared with the quantiles of all samples that can be drawn, which are few.
"""

from __future__ import annotations

import itertools
import json
import warnings

import numpy as np
import pytest
import scipy.stats
import xarray as xr

from societies import analysis
from societies.analysis import effect_table, effects, response_table
from societies.analysis.effects import bootstrap_weights, cases_of_effects, for_json
from societies.analysis.pairs import warn_of_changed_sources
from societies.analysis.responses import shocks_of
from societies.errors import ConfigError, EffectWarning
from societies.workload.running.sources import SOURCES, text_of
from tests.analysis.test_labels_and_cases_by_hand import study

RESAMPLES, LEVEL, DAYS = 20_000, 0.64, (2, 4, 6)
"""A level whose ends are far from a step of the distribution of 27 or 108 samples."""
NAN = np.nan


def result(seed=1, days=DAYS, label=None, units="util", configuration=None, **variables):
    """Return a result of societies 0, 1, ... from values (society, day)."""
    data = {
        name: (("society", "day"), np.array(values, float), {"units": units})
        for name, values in variables.items()
    }
    count = len(next(iter(variables.values())))
    attrs = {"clock": "day", "copies": "society", "seed": seed}
    attrs |= {"label": label} if label else {}
    attrs |= {"configuration": configuration} if configuration else {}
    return xr.Dataset(data, {"society": range(count), "day": list(days)}, attrs)


def quiet(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EffectWarning)
        return function(*args, **options)


def every_mean(values):
    """Return the means of all samples with replacement: (sample, tick); missing ones left out."""
    samples = itertools.product(range(len(values)), repeat=len(values))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.array([np.nanmean(values[list(own)], 0) for own in samples])


def ends(samples):
    """Return both ends of an interval; samples are (sample, tick)."""
    both = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    return np.array(
        [np.quantile(one[np.isfinite(one)], both, method="nearest") for one in samples.T]
    )


def twins(rows=3):
    random = np.random.default_rng(3)
    a, b = random.normal(10, 1, (2, rows, 3))
    return a, b + 1


@pytest.mark.parametrize("missing", [False, True])
def test_paired_effects_are_those_of_their_definition(missing):
    a, b = twins()
    if missing:
        a[0, 1] = b[2, 2] = NAN
    base, other = result(x=a, y=2 * a), result(x=b, y=2 * b)
    options = {"level": LEVEL, "resamples": RESAMPLES}
    found = analysis.effect(base, other, **options)
    assert found.day.values.tolist() == list(DAYS) and dict(found.sizes) == {
        "variable": 2,
        "day": 3,
    }
    finite = np.isfinite(a + b)
    a, b = np.where(finite, a, NAN), np.where(finite, b, NAN)
    for factor, name in ((1, "x"), (2, "y")):
        own = found.sel(variable=name)
        np.testing.assert_allclose(own.base, factor * np.nanmean(a, 0))
        np.testing.assert_allclose(own.other, factor * np.nanmean(b, 0))
        np.testing.assert_allclose(own.effect, factor * np.nanmean(b - a, 0))
        np.testing.assert_allclose(own.relative, np.nanmean(b - a, 0) / np.nanmean(a, 0))
        np.testing.assert_array_equal(own.pairs, finite.sum(0))
        error = scipy.stats.sem(b - a, nan_policy="omit")
        apart = [scipy.stats.sem(one, nan_policy="omit") for one in (a, b)]
        np.testing.assert_allclose(own.se, factor * error)
        np.testing.assert_allclose(own.se_unpaired, factor * np.hypot(*apart))
        np.testing.assert_allclose(own.precision, own.se_unpaired / own.se)
        half = scipy.stats.t.ppf((1 + LEVEL) / 2, finite.sum(0) - 1) * own.se
        np.testing.assert_allclose([own.t_low, own.t_high], [own.effect - half, own.effect + half])
        samples, of_base = every_mean(b - a), every_mean(a)
        expected = np.hstack([factor * ends(samples), ends(samples / of_base)])
        names = ("low", "high", "relative_low", "relative_high")
        np.testing.assert_allclose(np.transpose([own[one] for one in names]), expected)


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2)])
def test_effects_without_pairs_are_those_of_two_samples(sizes):
    a, b = twins(sizes[0])[0], twins(sizes[1])[1]
    base, other = result(seed=1, x=a), result(seed=2, x=b)
    with pytest.warns(EffectWarning, match="no pairs"):
        found = analysis.effect(base, other, level=LEVEL, resamples=RESAMPLES).sel(variable="x")
    np.testing.assert_allclose(found.effect, b.mean(0) - a.mean(0))
    assert found.pairs.values.tolist() == [2] * 3 and not found.attrs["paired"]
    welch = scipy.stats.ttest_ind(b, a, equal_var=False).confidence_interval(LEVEL)
    np.testing.assert_allclose([found.t_low, found.t_high], welch)
    means = itertools.product(every_mean(a), every_mean(b))
    samples = np.array([[two - one, (two - one) / one] for one, two in means])
    np.testing.assert_allclose(np.transpose([found.low, found.high]), ends(samples[:, 0]))
    own = np.transpose([found.relative_low, found.relative_high])
    np.testing.assert_allclose(own, ends(samples[:, 1]))


@pytest.mark.parametrize(("of_base", "of_other"), [(1, 1), (1, 3), (3, 1)])
def test_one_society_has_no_interval(of_base, of_other):
    a, b = twins(of_base)[0], twins(of_other)[1]
    seed = 1 if of_base == of_other else 2
    found = quiet(analysis.effect, result(x=a, y=a), result(seed=seed, x=b, y=b), window="2:4")
    np.testing.assert_allclose(found.effect, b[:, :2].mean() - a[:, :2].mean())
    for name in ("low", "high", "relative_low", "relative_high", "t_low", "t_high", "se"):
        assert found[name].isnull().all(), name


def test_an_effect_has_the_digits_of_the_differences():
    a = np.array([[1e15], [1e15 + 1], [1e15 + 2]])
    found = analysis.effect(
        result(days=[2], x=a), result(days=[2], x=np.add(a, [[0.125], [0.25], [1]]))
    )
    assert float(found.effect[0, 0]) == pytest.approx(1.375 / 3, rel=1e-12)


def test_a_bootstrap_sample_has_as_many_societies_as_there_are():
    weights = bootstrap_weights(np.random.default_rng(1), 3, 27_000)
    assert weights.shape == (27_000, 3) and (weights.sum(1) == 3).all() and weights.min() == 0
    np.testing.assert_allclose(weights.mean(0), 1, atol=0.02)


@pytest.mark.parametrize("level", [-0.5, 0, 1, 1.5, 95])
def test_a_level_is_between_0_and_1(level):
    a, b = twins()
    with pytest.raises(ConfigError, match="must be between 0 and 1"):
        analysis.effect(result(x=a), result(x=b), level=level)
    with pytest.raises(ConfigError, match="must be between 0 and 1"):
        analysis.irf(result(x=a), result(x=b), after=1, level=level)


# -- which results are compared


def policies():
    """Return files by path: a base, one that differs from day 4 on, and one from day 6 on."""
    a = twins()[0]
    late, later = np.add(a, [[0, 1, 1]]), np.add(a, [[0, 0, 2]])
    return {"a.h5": result(x=a), "b.h5": result(x=late, label="late"), "c.h5": result(x=later)}


def opened(monkeypatch, files):
    monkeypatch.setattr(effects, "open_results", files.get)
    return [*files]


def test_results_have_the_label_of_the_file_or_its_name(monkeypatch):
    files = opened(monkeypatch, {**policies(), "dir/c.h5": result(x=twins()[0])})
    assert [*effects.opened_by_label(files)] == ["a", "late", "c", "c (2)"]
    assert float(analysis.effect("a.h5", "c.h5", window="6").effect[0]) == pytest.approx(2)


def test_futures_without_a_number_are_left_out_of_the_mean_of_their_past():
    values = np.array([[[2.0, NAN], [4.0, NAN], [6.0, 8.0]]])  # (variable, pair, tick)
    found = effects._over_futures(values, np.array([3, 3, 5]))
    np.testing.assert_array_equal(found, [[[3, NAN], [6, 8]]])
    found = effects._over_futures(values[:, ::-1], np.array([3, 3, 5]))
    np.testing.assert_array_equal(found, [[[5, 8], [2, NAN]]])


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("which", [0, 1])
def test_one_infinite_value_of_either_is_enough_for_a_mean_to_be_missing(paired, which):
    both = np.array([[[1.0], [3.0]], [[2.0], [5.0]]])
    given = [both[:1], both[1:]]
    given[which][0, 1] = np.inf
    found = effects._differences(*given, paired, LEVEL, 9, 0)
    assert np.isnan(found["effect"]).all()


def test_an_effect_of_each_tick_is_selected_from_those_of_all(monkeypatch):
    files = opened(monkeypatch, policies())
    for ticks, days in (("2:4", [2, 4]), ("", [*DAYS]), (None, [*DAYS])):
        found = effect_table.effects_of(files, ticks=ticks, each=True)
        assert [one.day.values.tolist() for one in found.found.values()] == [days] * 2


def test_the_base_is_the_first_result_or_the_one_that_is_named():
    cases = dict.fromkeys("abc", result(x=twins()[0]))
    assert [*cases_of_effects(cases)] == ["a", "b", "c"]
    assert [*cases_of_effects(cases, "b")] == ["b", "a", "c"]
    with pytest.raises(ConfigError, match="needs a base and at least one other"):
        cases_of_effects({"a": cases["a"]})
    for count, listed in ((12, "'11'$"), (14, "'11', 'and 2 more'$")):
        many = {str(i): cases["a"] for i in range(count)}
        with pytest.raises(ConfigError, match=f"'0', .*{listed}"):
            cases_of_effects(many, "x")


def test_points_of_a_study_are_compared_in_the_order_of_their_numbers():
    data = study([3, 3, 1, 5], a=[1, 1, 7, 4])
    found = cases_of_effects({"name": data})
    assert {label: one.x.values.tolist() for label, one in found.items()} == {
        "a 7": [2.0],
        "a 1": [0.0, 1.0],
        "a 4": [3.0],
    }
    assert [*found] == ["a 7", "a 1", "a 4"]
    run = result(x=twins()[0])
    assert [*cases_of_effects({"s": data, "run": run})] == ["s: a 7", "s: a 1", "s: a 4", "run"]


def test_means_are_from_the_first_tick_on_which_any_policy_acts(monkeypatch):
    files = opened(monkeypatch, policies())
    found = effect_table.effects_of(files)
    assert (found.base, [*found.found], found.warnings) == ("a", ["late", "c"], [])
    assert {one.attrs["window"] for one in found.found.values()} == {"4 to 6"}
    assert [float(one.effect[0]) for one in found.found.values()] == pytest.approx([1, 1])
    said = found.as_dict()
    assert said["first"] == {"late": 4, "c": 6} and said["paired"] == {"late": True, "c": True}
    assert [one["case"] for one in said["effects"]] == ["late", "c"]
    json.dumps(said, allow_nan=False)
    each = effect_table.effects_of(files, ticks=None).as_dict()["effects"]
    assert [(one["case"], one["day"]) for one in each] == [
        *itertools.product(("late", "c"), DAYS),
    ]
    assert [one["effect"] for one in each] == pytest.approx([0, 1, 1, 0, 0, 2])
    (own, _) = effect_table.effects_of(files, ticks="2:4").as_dict()["effects"]
    assert (own["window"], own["effect"]) == ("2 to 4", pytest.approx(0.5))


def test_a_policy_that_changes_nothing_acts_on_no_tick():
    a = twins()[0]
    cases = {"a": result(x=a), "same": result(x=a), "late": result(x=np.add(a, [[0, 1, 1]]))}
    assert effects.since_first_difference(cases) == slice(4, 6)
    del cases["late"]
    assert effects.since_first_difference(cases) is None


@pytest.mark.parametrize("seed", [1, 2])
def test_without_a_difference_or_pairs_all_ticks_are_compared(monkeypatch, seed):
    a = twins()[0]
    late = np.add(a, [[0, seed - 1, 0]])  # without pairs no tick is the first
    files = opened(monkeypatch, {"a": result(x=a), "b": result(x=late, seed=seed)})
    found = effect_table.effects_of(files)
    assert found.found["b"].attrs["window"] == "2 to 6"
    (warning,) = found.warnings
    assert warning.startswith("b: nothing differs" if seed == 1 else "b: the results have other")
    assert found.as_dict()["paired"] == {"b": seed == 1}


def test_numbers_of_plain_data_are_finite_or_missing():
    values = (np.int64(3), 4, np.float32(0.5), 2.0, NAN, np.inf, -np.inf)
    assert [for_json(one) for one in values] == [3, 4, 0.5, 2.0, None, None, None]
    assert [type(for_json(one)) for one in values[:4]] == [int, int, float, float]


# -- tables


def columns_of(table):
    """Return the columns of a table: header and cells; all but the first are numbers."""
    for column in table.columns:
        assert column.no_wrap
    return {one.header: [*one.cells] for one in table.columns}


def test_a_table_of_effects_has_a_row_for_each_variable(monkeypatch):
    a = np.array([[1.0, 4, 4], [3.0, 8, 8]])
    base = result(a=a, share=a * 0)
    base.share.attrs["units"] = "1"
    other = result(a=np.add(a, [[0, 3, 3], [0, 1, 1]]), share=np.add(a * 0, [[0, 0, 1]]))
    files = opened(monkeypatch, {"a base with a long name.h5": base, "[red].h5": other})
    found = effect_table.effects_of(files, level=0.8)
    (table,) = effect_table.effects_table(found).renderables
    assert table.title == "\\[red]: differs from day 4 on, mean of day 4 to 6"
    assert [one.justify for one in table.columns] == ["left", *["right"] * 9]
    half = scipy.stats.t.ppf(0.9, 1)
    assert columns_of(table) == {
        "variable": ["a \\[util]", "share"],
        "a base with a...": ["6", "0"],
        "effect": ["2", "0.5"],
        "relative": ["+33.33 %", "-"],
        "80 % (bootstrap)": ["1 to 3", "0.5 to 0.5"],
        "80 % (t)": [f"{2 - half:.4g} to {2 + half:.4g}", "0.5 to 0.5"],
        "se": ["1", "0"],
        "se unpaired": [f"{np.hypot(2, 1):.4g}", "0"],
        "ratio": [f"{np.hypot(2, 1):.4g}", "-"],
        "pairs": ["2", "2"],
    }
    each = effect_table.effects_of(files, variables="a", ticks=None)
    (table,) = effect_table.effects_table(each).renderables
    assert table.title == "\\[red]: differs from day 4 on"
    own = columns_of(table)
    assert own["variable"] == ["a \\[util]"] * 3 and own["day"] == ["2", "4", "6"]
    assert own["effect"] == ["0", "2", "2"] and [*own][:2] == ["variable", "day"]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_title_of_a_table_says_if_nothing_can_be_compared(monkeypatch, seed):
    a = twins()[0]
    files = opened(monkeypatch, {"a": result(x=a), "b": result(x=a, seed=seed)})
    (table,) = effect_table.effects_table(effect_table.effects_of(files)).renderables
    said = {1: "nothing differs", 2: "no pairs"}[seed]
    assert table.title == f"b: {said}, mean of day 2 to 6"


# -- impulse responses


def answers(found, name="x", state="all"):
    return found.sel(variable=name, state=state)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("size", [1.0, -1.0, 4.0])
def test_responses_and_their_bands_are_those_of_their_definition(missing, size):
    days = (2, 4, 6, 8)
    base = np.random.default_rng(4).uniform(1, 2, (3, 4))
    change = np.array([[0, 0.5, 0.25, 0.125], [0, 0.125, 0.25, 0.5], [0, 0.0625, 0.5, 0.25]])
    if missing:
        change[0, 2] = change[1, 3] = NAN
    a, b = result(x=base, days=days), result(x=base + change, days=days)
    options = {"size": size, "level": LEVEL, "resamples": RESAMPLES}
    found = answers(analysis.irf(a, b, after=2, **options))
    assert found.horizon.values.tolist() == [2, 4, 6] and int(found.pairs) == 3
    of_base, change = np.where(np.isnan(change), NAN, base)[:, 1:], change[:, 1:]
    level, below = every_mean(change / size), every_mean(of_base)
    mean = np.nanmean(change, 0) / size
    expected = {
        "level": (mean, level),
        "relative": (size * mean / np.nanmean(of_base, 0), size * level / below),
        "cumulative": (mean.cumsum(), level.cumsum(1)),
    }
    for name, (middle, samples) in expected.items():
        np.testing.assert_allclose(found[name], middle)
        own = np.transpose([found[f"{name}_low"], found[f"{name}_high"]])
        np.testing.assert_allclose(own, ends(samples), err_msg=name)
    peak = np.nanmax(np.abs(mean))
    assert float(found.peak) == pytest.approx(np.sign(size) * peak)
    assert int(found.peak_at) == 2 * (1 + int(np.nanargmax(np.abs(mean))))
    signed = [one[np.nanargmax(np.abs(one))] for one in level if not np.isnan(one).all()]
    np.testing.assert_allclose([[found.peak_low, found.peak_high]], ends(np.array([signed]).T))


@pytest.mark.parametrize(
    ("response", "peak", "at", "life"),
    [
        ([1, 4, 2, 0], 4, 4, 2),  # half of the peak is enough
        ([1, 4, 2.25, 2], 4, 4, 4),
        ([-4, 3, 3, -1], -4, 2, 6),
        ([1, 2, 3, 4], 4, 8, NAN),
        ([4, 4, 1, 1], 4, 2, 4),  # of equal peaks the first
        ([0, 0, 0, 0], 0, 2, NAN),
        ([0.5, NAN, 0.25, 0.125], 0.5, 2, 4),  # a missing response is no half
        ([-0.5, NAN, -0.5, -0.5], -0.5, 2, NAN),
    ],
)
def test_peak_and_half_life_of_a_response(response, peak, at, life):
    days = (2, 4, 6, 8, 10)
    a, b = result(x=np.ones((2, 5)), days=days), result(x=np.ones((2, 5)), days=days)
    b.x[:, 1:] += np.array(response)
    found = answers(quiet(analysis.irf, a, b, "x", after=2))
    for end in ("", "_low", "_high"):  # societies are equal, and so are all samples
        numbers = [float(found[f"{name}{end}"]) for name in ("peak", "peak_at", "half_life")]
        np.testing.assert_equal(numbers, [peak, at, life])


def test_a_half_life_that_few_samples_reach_has_no_upper_end():
    a = result(x=np.zeros((2, 3)))
    b = result(x=[[0, 1, 0], [0, 1, 1]])
    found = answers(analysis.irf(a, b, after=2, level=0.9, resamples=4000))
    assert (float(found.half_life), float(found.half_life_low)) == (2, 2)
    assert np.isnan(float(found.half_life_high))


def test_states_are_quantiles_of_the_base_on_the_tick_of_the_shock():
    a = result(x=np.zeros((5, 3)), by=[[1, 0, 0], [2, 0, 0], [30, 0, 0], [40, 0, 0], [NAN, 0, 0]])
    b = result(x=[[0, 1, 1], [0, 3, 3], [0, 10, 10], [0, 20, 20], [0, 0, 0]], by=a.by.values)
    b.by[:, 0] += 1  # with a lag the other result may differ before the shock
    for one in (a, b):
        one.by.attrs["lag"] = 1
    found = analysis.irf(a, b, "x", after=2, by="by")
    assert found.state.values.tolist() == ["all", "by up to 16", "by above 16"]
    assert found.pairs.values.tolist() == [5, 2, 2]
    assert found.level.sel(horizon=2)[:, 0].values.tolist() == [6.8, 2, 15]
    one = analysis.irf(a, b, "x", after=2, by="by", states=1)
    assert one.state.values.tolist() == ["all", "by"] and one.pairs.values.tolist() == [5, 4]
    three = analysis.irf(
        *(
            data.sel(society=[0, 0, 0, 1, 1, 2, 2]).assign_coords(society=range(7))
            for data in (a, b)
        ),
        "x",
        after=2,
        by="by",
        states=3,
    )
    assert three.state.values[2] == "by above 1 up to 2"
    with pytest.raises(ConfigError, match=r"state 'by up to 20\.33' has 1 society; take more"):
        analysis.irf(
            a.isel(society=[0, 2, 3]), b.isel(society=[0, 2, 3]), "x", after=2, by="by", states=3
        )


def test_a_state_is_a_series_of_the_base_recorded_at_the_shock():
    a, b = twins()
    base, other = result(x=a), result(x=np.where(np.arange(3) > 0, b, a))
    base["still"] = other["still"] = "society", np.arange(3)
    with pytest.raises(ConfigError, match="day 3, that of the shock, is not recorded"):
        analysis.irf(base, other, "x", after=3, by="x")
    with pytest.raises(ConfigError, match="by='still': has no single number for each society"):
        analysis.irf(base, other, "x", after=2, by="still")
    for one in (base, other):
        one["never"] = one.x * np.inf
    with pytest.raises(ConfigError, match="has no number in day 2"):
        analysis.irf(base, other, "x", after=2, by="never")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"states": 0}, "states=0: at least 1 is needed"),
        ({"states": -1}, "states=-1: at least 1 is needed"),
        *(({"size": s}, f"size={s}: expected a finite number that is not 0") for s in (0, np.inf)),
        ({"size": np.nan}, "size=nan: expected a finite number that is not 0"),
        ({"level": np.nan}, "level=nan: must be between 0 and 1"),
    ],
)
def test_what_is_no_response_is_refused(options, message):
    a, b = twins()
    with pytest.raises(ConfigError, match=message):
        analysis.irf(result(x=a), result(x=b), after=1, **options)


def test_twins_do_not_differ_before_the_end_of_the_tick_of_the_shock():
    a = np.zeros((2, 3))
    base, other = result(x=a), result(x=np.add(a, [[0, 1, 1]]))
    assert analysis.irf(base, other, "x", after=2).sizes["horizon"] == 2
    assert analysis.irf(base, other, "x", after=3).horizon.values.tolist() == [1, 3]
    with pytest.raises(ConfigError, match="differ from day 4 on, before the shock at the end"):
        analysis.irf(base, other, "x", after=4)


INTERVENTIONS = """workload: economy
interventions: [{day: 9, label: common}, {day: 5, set: {a: 1}}, {day: 4, set: {a: 2}}]
"""
PLAIN = "workload: economy\ninterventions: [{day: 9, label: common}]\n"


def test_a_shock_is_the_first_intervention_that_the_base_lacks():
    a = twins()[0]
    base, other = result(x=a, configuration=PLAIN), result(x=a, configuration=INTERVENTIONS)
    cases, ticks = shocks_of({"a": base, "b": other})
    assert [*cases] == ["a", "b"] and ticks == {"b": 4}
    assert shocks_of({"a": base, "b": other}, after=7)[1] == {"b": 7}
    assert shocks_of({"a": base, "b": base}, after=7)[1] == {"b": 7}
    bare = result(x=a, configuration="workload: economy\n")
    assert shocks_of({"a": bare, "b": base})[1] == {"b": 9}
    for same in ({"a": base, "b": base}, {"a": base, "b": bare}):
        with pytest.raises(ConfigError, match="b: has no intervention that a does not have"):
            shocks_of(same)
    own = study(interventions=["[]", "[]", '[{"day": 6}, {"day": 3}]', "[{}]"])
    own.attrs |= {"clock": "day", "configuration": INTERVENTIONS}
    own = own.isel(run=[0, 1, 2]).expand_dims(day=[1])
    assert [*shocks_of({"s": own})[1].values()] == [3]


def shocks():
    """Return a base and two shocks on day 2 with responses of two societies."""
    a = np.array([[1.0, 4, 4, 4], [3.0, 8, 8, 8]])
    days = (2, 4, 6, 8)
    return {
        "base": result(x=a, y=a, days=days, configuration="workload: economy\n"),
        "low": result(x=np.add(a, [0, -1, -0.5, 0]), y=a, days=days, configuration=INTERVENTIONS),
        "a label of more than forty characters, [cut]": result(
            x=np.add(a, [0, 2, 4, 2]), y=a, days=days, configuration=INTERVENTIONS
        ),
    }


def test_responses_of_files_are_those_of_their_shocks(monkeypatch):
    files = opened(monkeypatch, shocks())
    found = response_table.responses_of(files, "x", after=2, level=0.5)
    assert [*found] == files[1:]
    low, cut = response_table.as_dict(found)
    assert (low["shock"], low["state"], low["variable"], low["pairs"]) == ("low", "all", "x", 2)
    assert low["horizon"] == [2, 4, 6] and low["level"] == low["level_low"] == [-1, -0.5, 0]
    assert low["cumulative"] == [-1, -1.5, -1.5] and low["relative"][0] == pytest.approx(-1 / 6)
    assert (cut["peak"], cut["peak_at"], cut["half_life"]) == (4, 4, 2)
    other = response_table.responses_of(files, "x", base="low", after=2)
    assert [*other] == ["base", files[2]]
    table = response_table.responses_table(found)
    assert [one.justify for one in table.columns] == ["left"] * 3 + ["right"] * 8
    assert all(one.no_wrap for one in table.columns)
    rows = [[*row] for row in zip(*(one.cells for one in table.columns), strict=True)]
    assert [one.header for one in table.columns] == [
        *("shock", "state", "variable", "peak", "50 %", "days after", "half-life", "50 %"),
        *("cumulative", "50 %", "twins"),
    ]
    assert rows == [
        ["low", "all", "x", "-1", "-1 to -1", "2", "2", "2 to 2", "-1.5", "-1.5 to -1.5", "2"],
        [f"{files[2][:37]}...", "all", "x", "4", "4 to 4", "4", "2", "2 to 2", "8", "8 to 8", "2"],
    ]


def test_responses_per_unit_of_shocks_on_other_days_are_not_compared(monkeypatch):
    of = {name: 2 + (name == "low") for name in shocks() if name != "base"}
    monkeypatch.setattr(response_table, "shocks_of", lambda opened, *_: (opened, of))
    monkeypatch.setattr(response_table, "irf", lambda *_, **options: options["size"])
    files = opened(monkeypatch, shocks())
    with pytest.raises(ConfigError, match="are compared if they happen at once; 'low' and 'a labe"):
        response_table.responses_of(files, "x", size=[1.0, 2.0])


class Seen(Exception):
    """Raised with what a function was called with."""


def seen(*given, **options):
    raise Seen(*given, options)


@pytest.mark.parametrize(
    ("options", "variables", "asked"),
    [
        (
            {},
            None,
            {"base": None, "horizon": None, "by": None, "states": 2, "size": 1.0, "after": None},
        ),
        (
            {"variables": ["x"], "base": "low", "horizon": 3, "by": "y", "states": 4, "after": 0},
            ["x"],
            {"base": "low", "horizon": 3, "by": "y", "states": 4, "size": 1.0, "after": 0},
        ),
        (
            {"size": [2.0, -2.0]},
            None,
            {"base": None, "horizon": None, "by": None, "states": 2, "after": None}
            | {"size": [2.0, -2.0]},
        ),
    ],
)
def test_a_figure_of_responses_is_of_what_is_asked_for(monkeypatch, options, variables, asked):
    monkeypatch.setattr(response_table, "responses", seen)
    with pytest.raises(Seen) as found:
        response_table.draw_irf({}, **options)
    assert found.value.args == ({}, variables, asked | {"level": 0.95})


@pytest.mark.parametrize(("by", "states"), [("", [""]), ("y", [", y up to 2", ", y above 2"])])
def test_a_figure_of_responses_has_a_line_for_each_state(monkeypatch, by, states):
    cases = {name: own.sel(society=[0, 0, 1, 1]) for name, own in shocks().items()}
    new = {"society": range(4), "day": [4, 6, 8, 10]}  # the shock is on day 4
    cases = {name: own.assign_coords(new) for name, own in cases.items()}
    monkeypatch.setattr(response_table, "coloured", seen)
    with pytest.raises(Seen) as found:
        response_table.draw_irf(cases, variables=["x"], by=by)
    (lines, _) = found.value.args
    assert [*lines] == [f"{label}{state}" for label in [*cases][1:] for state in states]


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"b.py": "2", "a.py": "1"}, "b.py changed between them"),
        ({"b.py": "2", "a.py": "2"}, "a.py, and 1 more changed between them"),
        ({"a.py": "2", "new.py": "3"}, "a.py changed between them"),
        ({"b.py": "2", "a.py": "2", "c.py": "2"}, "a.py, and 2 more changed between them"),
    ],
)
def test_the_first_by_name_of_the_rules_that_changed_is_named(others, said):
    mine = {"c.py": "1", "b.py": "1", "a.py": "1"}
    one, other = (xr.Dataset(attrs={SOURCES: text_of(text)}) for text in (mine, others))
    with pytest.warns(EffectWarning) as caught:
        warn_of_changed_sources(one, other)
    (found,) = caught
    assert str(found.message) == f"the results were made by different rules: {said}"
