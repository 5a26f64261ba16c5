"""Are effects those of NumPy and SciPy, computed by hand from the same numbers?"""

import json
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.stats
import xarray as xr
from matplotlib.text import Text

from societies import analysis
from societies.analysis import effects, make_figure
from societies.errors import ConfigError, EffectWarning
from tests.analysis.test_figures import study

DAYS, SOCIETIES, LEVEL = 30, 12, 0.95


def result(seed=1, change=0.0, start=11, societies=range(SOCIETIES), days=DAYS, **attrs):
    """Return a run whose societies are noise; from day ``start`` on they are changed."""
    random = np.random.default_rng(5)
    noise = random.normal(10, 1, (SOCIETIES, DAYS))
    own = np.random.default_rng(9).normal(1, 0.1, (SOCIETIES, DAYS))
    values = noise + np.where(np.arange(1, DAYS + 1) >= start, change * own, 0)
    shares = np.stack([values / 20, 1 - values / 20], -1)
    data = xr.Dataset(
        {
            "x": (("society", "day"), values, {"units": "units"}),
            "share": (("society", "day", "kind"), shares),
            "same": (("society", "day"), noise),
            "smooth": (("society", "day"), values.copy(), {"lag": 1}),
        },
        {"society": np.arange(SOCIETIES), "day": np.arange(1, DAYS + 1), "kind": ["a", "b"]},
        {"clock": "day", "copies": "society", "seed": seed, **attrs},
    )
    data["smooth"][:, start - 2] += change
    return data.sel(society=list(societies), day=slice(1, days))


def test_effects_are_means_of_differences_of_the_same_society():
    base, other = result(), result(change=0.5)
    found = analysis.effect(base, other, window="11:30").sel(variable="x")
    before, after = (data.x.sel(day=slice(11, 30)).mean("day").values for data in (base, other))
    differences = after - before
    assert float(found.effect) == pytest.approx(differences.mean())
    assert float(found.base) == pytest.approx(before.mean())
    assert float(found.relative) == pytest.approx(differences.mean() / before.mean())
    error = scipy.stats.sem(differences)
    apart = np.sqrt(scipy.stats.sem(before) ** 2 + scipy.stats.sem(after) ** 2)
    assert float(found.se) == pytest.approx(error)
    assert float(found.se_unpaired) == pytest.approx(apart)
    assert float(found.precision) == pytest.approx(apart / error) and apart > 5 * error
    ends = scipy.stats.t.interval(LEVEL, SOCIETIES - 1, differences.mean(), error)
    assert [float(found.t_low), float(found.t_high)] == pytest.approx(ends)
    low, high = scipy.stats.bootstrap(
        (differences,), np.mean, method="percentile"
    ).confidence_interval
    assert [float(found.low), float(found.high)] == pytest.approx([low, high], abs=0.3 * error)
    assert float(found.relative_low) == pytest.approx(low / before.mean(), rel=0.05)
    assert (int(found.pairs), int(found["first"]), found.attrs["first"]) == (12, 11, 11)
    assert found.attrs["window"] == "11 to 30"


def test_every_tick_and_every_entry_has_an_effect():
    base, other = result(), result(change=0.5)
    found = analysis.effect(base, other, ["x", "share"])
    assert found["variable"].values.tolist() == ["x", "share[a]", "share[b]"]
    difference = (other - base).mean("society")
    np.testing.assert_allclose(found.effect.sel(variable="x"), difference.x)
    np.testing.assert_allclose(found.effect.sel(variable="share[b]"), difference.share[:, 1])
    assert not found.effect.sel(day=slice(1, 10)).any()
    assert not found.se.sel(day=slice(1, 10)).any()


def test_missing_values_are_left_out_of_both_societies_of_a_pair():
    base, other = result(), result(change=0.5)
    base["x"][0, :] = np.nan
    other["x"][1, :] = np.nan
    found = analysis.effect(base, other, "x", window="11:30")
    expected = (other.x - base.x)[2:].sel(day=slice(11, 30)).mean("day")
    assert float(found.effect[0]) == pytest.approx(float(expected.mean()))
    assert float(found.base[0]) == pytest.approx(float(base.x[2:].sel(day=slice(11, 30)).mean()))
    assert int(found.pairs[0]) == 10


def test_results_with_other_seeds_have_no_pairs():
    base, other = result(), result(seed=2, change=0.5)
    with pytest.warns(EffectWarning, match=r"other seeds \(1, 2\): they have no pairs"):
        found = analysis.effect(base, other, "x", window="11:30")
    before, after = (data.x.sel(day=slice(11, 30)).mean("day").values for data in (base, other))
    welch = scipy.stats.ttest_ind(after, before, equal_var=False).confidence_interval(LEVEL)
    assert [float(found.t_low[0]), float(found.t_high[0])] == pytest.approx([*welch])
    assert float(found.precision[0]) == 1 and found.attrs["paired"] == 0
    with pytest.warns(EffectWarning, match="no society with the same number"):
        analysis.effect(base.isel(society=[0, 1]), other.isel(society=[4, 5]).assign_attrs(seed=1))


def test_results_of_other_sources_are_named():
    """A difference of rules was called the effect of what was set."""
    made = [result(change=0.5 * n, sources=f"a.py 12\nb.py {n}\nc.py 4") for n in range(2)]
    for compare in (analysis.effect, partial(analysis.irf, after=9)):
        with pytest.warns(EffectWarning, match=r"different rules: b.py changed between them"):
            compare(*made)
    made[1].attrs["sources"] = "a.py 12\nd.py 9"
    analysis.effect(*made)


def test_a_policy_that_changes_nothing_is_named():
    with pytest.warns(EffectWarning, match="nothing differs: all recorded series are the same"):
        found = analysis.effect(result(), result())
    assert found.attrs["first"] == -1 and not found.effect.any()


def test_societies_and_ticks_that_only_one_has_are_left_out():
    with pytest.warns(EffectWarning, match="3 societies without a partner"):
        found = analysis.effect(result(societies=range(9)), result(change=1, days=20), "x")
    assert (found.sizes["day"], int(found.pairs.max())) == (20, 9)
    with pytest.raises(ConfigError, match="no day in common"):
        analysis.effect(result(days=5), result().sel(day=slice(6, 30)))
    with pytest.raises(ConfigError, match="did you mean 'same'"):
        analysis.effect(result(), result(change=1), "sam")
    with pytest.raises(ConfigError, match="level"):
        analysis.effect(result(), result(change=1), level=95)
    with pytest.raises(ConfigError, match="none of the days"):
        analysis.effect(result(), result(change=1), window="40:50")


POLICIES = {
    "interventions": ["[]", '[{"label": "tax", "day": 10}]', '[{"label": "ban", "day": 9}]']
}


def test_points_of_a_study_are_compared_with_the_base(tmp_path, shell, monkeypatch):
    data = study(POLICIES, [10.0, 30.0, 25.0], replicates=3)
    data = data.assign_coords(society=data.society.copy(data=[0, 1, 2] * 3)).assign_attrs(
        workload=""
    )
    data.gini.attrs["long_name"] = "Gini coefficient of money"
    (utility, gini) = make_figure(data, "effect", base="tax").axes
    drawn = {line.get_label(): line.get_ydata() for line in utility.lines[:2]}
    np.testing.assert_allclose(drawn["none"], [-20, -20])
    np.testing.assert_allclose(drawn["ban"], [-5, -5])
    assert gini.get_title("left") == "Gini of money"
    with pytest.raises(ConfigError, match=r"no such result or point; did you mean 'tax'"):
        make_figure(data, "effect", base="taxx")
    from societies.analysis import effects

    monkeypatch.setattr(effects, "open_results", lambda path: data)
    code, out, err = shell("effect", "s.h5", "--base", "none", "--json", "--variables", "utility")
    assert (code, err) == (0, "")
    said = json.loads(out)
    assert said["base"] == "none" and said["first"] == {"tax": 10, "ban": 10}
    assert [one["effect"] for one in said["effects"]] == pytest.approx([20, 15])
    assert [one["window"] for one in said["effects"]] == ["10 to 20"] * 2
    code, out, err = shell("effect", "s.h5", "--each-tick", "--variables", "utility")
    assert code == 0 and "tax: differs from day 10 on" in out
    assert shell("effect", "s.h5", "--base", "nine")[0] == 2


def test_a_figure_of_effects_is_a_line_of_differences_with_its_interval():
    base, other = result(), result(change=0.5)
    base.encoding["source"], other.encoding["source"] = "base.h5", "longer.h5"
    (axes,) = make_figure([base, other], "effect", variables="x").axes
    np.testing.assert_allclose(axes.lines[0].get_ydata(), (other.x - base.x).mean("society"))
    expected = analysis.mean_interval(other.x - base.x)

    def top(axes):
        return axes.collections[0].get_paths()[0].vertices[:, 1].max()

    assert top(axes) == pytest.approx(float(expected.high.max()))
    said = " ".join(axes.figure._supxlabel.get_text().split())
    assert "difference to base, society by society" in said
    (narrower,) = make_figure([base, other], "effect", variables="x", level=0.5).axes
    expected = analysis.mean_interval(other.x - base.x, level=0.5)
    assert top(narrower) == pytest.approx(float(expected.high.max())) and top(narrower) < top(axes)
    texts = [one.get_text() for one in narrower.figure.findobj(Text)]
    assert "50 % interval of the mean (bootstrap)" in texts
    assert "95 % interval of the mean (bootstrap)" not in texts
    with pytest.raises(ConfigError, match="level=2: must be between 0 and 1"):
        make_figure([base, other], "effect", variables="x", level=2)
    apart = make_figure([base, other.assign_attrs(seed=7)], "effect", variables="x")
    assert "have no pairs" in " ".join(apart._supxlabel.get_text().split())


def economy(**more):
    """Return two days of two societies of the economy, with further series."""
    names = ("units_extracted", "units_held", "units_traded", "utility", "gini", "income")
    data = {name: (("society", "day"), np.ones((2, 2))) for name in names}
    attrs = {"clock": "day", "copies": "society", "seed": 1}
    return xr.Dataset(
        data | {name: (("society", "day"), values) for name, values in more.items()},
        {"society": [0, 1], "day": [1, 2]},
        attrs,
    )


def test_what_a_base_without_policies_does_not_record_is_0_or_an_equal_series():
    taxed = economy(units_taxed=np.array([[0, 3.0], [0, 5.0]]), disposable_income=np.ones((2, 2)))
    for base in (economy(), economy(units_taxed=np.full((2, 2), np.nan))):
        found = analysis.effect(base, taxed, ["units_taxed", "disposable_income"], window="2")
        assert found.effect.values.tolist() == [4, 0] and found.base.values.tolist() == [0, 1]
        assert found.attrs["first"] == 2
    back = analysis.effect(taxed, economy(), "units_taxed", window="2")
    assert float(back.effect[0]) == -4


def test_a_variable_that_one_result_lacks_is_named_with_that_result():
    with pytest.raises(ConfigError, match="the base does not record it"):
        analysis.effect(economy(), economy(extra=np.ones((2, 2))), "extra")
    unrecorded = economy(extra=np.full((2, 2), np.nan))  # a point of a study that lacks it
    with pytest.warns(EffectWarning, match="nothing differs"):
        found = analysis.effect(unrecorded, economy(extra=np.ones((2, 2))), "income")
    assert found.attrs["first"] == -1


@pytest.mark.parametrize("seed", [1, 2])
def test_an_infinite_value_is_not_left_out_of_an_effect(seed):
    """Without it the mean looked like that of the other societies."""
    base, other = result(), result(seed=seed, change=0.5)
    other["x"][3, 20] = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EffectWarning)  # results with other seeds are no pairs
        found = analysis.effect(base, other, "x,smooth", window="11:30")
    for name in ("effect", "low", "high", "t_low", "relative", "se"):
        infinite, finite = found[name].values
        assert np.isnan(infinite) and np.isfinite(finite), name


def test_an_effect_for_each_of_some_ticks(shell, monkeypatch):
    files = {"a.h5": result(), "b.h5": result(change=0.5)}
    monkeypatch.setattr(effects, "open_results", lambda path: files[str(path)])
    asked = ("effect", "a.h5", "b.h5", "--variables", "x", "--json", "--each-tick", "--ticks")
    code, out, _ = shell(*asked, "20:22")
    assert code == 0 and [one["day"] for one in json.loads(out)["effects"]] == [20, 21, 22]
    code, _, err = shell(*asked, "40:50")
    assert code == 2 and "--ticks 40:50: none of the days of the file" in err
