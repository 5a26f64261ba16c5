"""Is the variance of a fan divided between pasts and futures as an analysis of variance does?"""

import numpy as np
import pytest
import scipy.stats
import xarray as xr

from societies import analysis
from societies.analysis import effects, make_figure
from societies.errors import ConfigError

DAYS, DAY, PASTS, FUTURES = 12, 4, 40, 30
CONFIGURATION = "workload: economy\nfan:\n  day: {}\n  futures: {}\n"


def result(between=2.0, within=1.0, pasts=PASTS, futures=FUTURES):
    """Return a fan whose societies differ by a number of their past, and by noise after day 4."""
    random = np.random.default_rng(3)
    past = np.repeat(random.normal(10, between, pasts), futures)[:, None] * np.ones(DAYS)
    noise = random.normal(0, within, (pasts * futures, DAYS))
    noise[:, :DAY] = 0
    return xr.Dataset(
        {"x": (("society", "day"), past + noise, {"units": "units"})},
        {"society": np.arange(pasts * futures), "day": np.arange(1, DAYS + 1)},
        {
            "clock": "day",
            "copies": "society",
            "configuration": CONFIGURATION.format(DAY, futures),
        },
    )


def test_the_parts_are_those_of_a_one_way_analysis_of_variance():
    data = result()
    found = analysis.fan(data, "x", window="12").sel(variable="x")
    values = data.x.sel(day=12).values.reshape(PASTS, FUTURES)
    ratio = scipy.stats.f_oneway(*values).statistic
    within = values.var(1, ddof=1).mean()
    assert float(found.future) == pytest.approx(within)
    assert float(found.past) == pytest.approx((ratio - 1) * within / FUTURES)
    share = float(found.past / (found.past + found.future))
    assert float(found.share) == pytest.approx(share) and 0.65 < share < 0.9  # 0.8 is true
    assert float(found.share_low) < share < float(found.share_high)
    assert (found.attrs["day"], found.attrs["pasts"], found.attrs["futures"]) == (4, 40, 30)


def test_each_tick_after_the_fan_has_its_own_share():
    found = analysis.fan(result(between=0.0), "x")
    assert found.day.values.tolist() == [*range(5, 13)]
    assert (found.past.values >= 0).all() and (found.share.values < 0.05).all()
    fate = analysis.fan(result(within=0.0), "x")
    assert (fate.share.values > 0.999).all()


def test_what_has_no_parts_is_refused():
    with pytest.raises(ConfigError, match="is no fan"):
        analysis.fan(result().assign_attrs(configuration="workload: economy\n"), "x")
    with pytest.raises(ConfigError, match="1 past with 30 futures"):
        analysis.fan(result(pasts=1), "x")
    with pytest.raises(ConfigError, match="40 pasts with 1 future"):
        analysis.fan(result(futures=1), "x")
    with pytest.raises(ConfigError, match="no day of the window is after 4"):
        analysis.fan(result(), "x", window="1:3")
    with pytest.raises(ConfigError, match="no such variable"):
        analysis.fan(result(), "y")


def test_a_fan_chart_shows_quantiles_of_the_futures_of_each_past():
    data = result()
    figure = make_figure(data, "fan", variables="x")
    (axes,) = figure.axes
    assert len(axes.lines) == 2 * 4 + 1 and len(axes.collections) == 2 * 4
    median = data.x.values.reshape(PASTS, FUTURES, DAYS)[1, :, DAY - 1 :]
    np.testing.assert_allclose(axes.lines[3].get_ydata(), np.median(median, 0))
    low = axes.collections[2].get_paths()[0].vertices[:, 1].min()
    assert low == pytest.approx(np.quantile(median, 0.05, axis=0).min())
    text = " ".join(figure._supxlabel.get_text().split())
    assert "4 of 40 pasts" in text and "middle 90 % of 30 futures" in text
    legend = {text.get_text().strip() for text in figure.legends[0].get_texts()}
    assert legend - {""} == {"median of 30 futures of a past", "middle half", "middle 90 %"}
    assert "missing" not in text
    data.x[FUTURES, DAY] = np.nan
    data.x[FUTURES + 1, DAY] = np.inf
    figure = make_figure(data, "fan", variables="x")
    others = data.x.values[FUTURES + 2 : 2 * FUTURES, DAY]
    assert figure.axes[0].lines[3].get_ydata()[1] == pytest.approx(np.median(others))
    said = f"missing or infinite values left out: X 2 of {4 * FUTURES * DAYS:,}"
    assert said in " ".join(figure._supxlabel.get_text().split())


def test_futures_are_found_by_their_number_and_not_by_their_row():
    whole = analysis.fan(result(pasts=4, futures=3), "x", window="6:12")
    mixed = result(pasts=4, futures=3)
    mixed = mixed.isel(society=np.random.default_rng(1).permutation(12), day=slice(None, None, -1))
    xr.testing.assert_identical(analysis.fan(mixed, "x", window="6:12"), whole)
    for some in ([0, 1, 2, 4, 5, 6], [1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6], [0, 1, 1, 2, 3, 4]):
        with pytest.raises(ConfigError, match="all 3 futures of each past"):
            analysis.fan(result(pasts=4, futures=3).isel(society=some), "x")


def test_the_window_of_the_command_is_named_as_typed(shell, monkeypatch):
    monkeypatch.setattr(effects, "open_results", lambda path: result())
    code, out, err = shell("fan", "f.h5", "--window", "90:99", "--variables", "x")
    assert (code, out) == (2, "") and err.startswith("--window 90:99: none of the days"), err


def of_pasts(data):
    """Return a fan in which each society is the mean over the futures of one past."""
    found = data.groupby(data.society // FUTURES).mean(keep_attrs=True)
    found = found.rename(groupby="society") if "groupby" in found.dims else found
    return found.assign_attrs(configuration="workload: economy\n")


def test_the_interval_of_a_mean_takes_the_pasts_as_independent():
    data = result()
    few = of_pasts(data)
    for by_hand, drawn in zip(
        *(make_figure(one, "series", variables="x").axes for one in (few, data)), strict=True
    ):
        ends = [axes.collections[0].get_paths()[0].vertices for axes in (by_hand, drawn)]
        np.testing.assert_allclose(*ends)
    said = make_figure(data, "series", variables="x")._supxlabel.get_text()
    assert "the interval is that of 40 pasts" in said
    assert "pasts" not in make_figure(few, "series", variables="x")._supxlabel.get_text()
    spread = make_figure(data, "series", variables="x", bands="quantiles")
    assert "pasts" not in spread._supxlabel.get_text()


def test_effects_and_responses_of_fans_are_as_sure_as_their_pasts():
    base = result().assign_attrs(seed=1)
    other = base.copy(deep=True)
    own = np.repeat(np.random.default_rng(7).normal(1, 0.5, PASTS), FUTURES)[:, None]
    other["x"][:, DAY:] += own * np.ones(DAYS - DAY)
    few = [of_pasts(one) for one in (base, other)]
    found, by_hand = (analysis.effect(*two, "x", window="5:12") for two in ((base, other), few))
    for name in ("effect", "low", "high", "se", "se_unpaired", "t_low", "relative_high"):
        np.testing.assert_allclose(found[name], by_hand[name], err_msg=name)
    assert found.pairs.item() == PASTS
    bands = [analysis.irf(*two, "x", after=DAY) for two in ((base, other), few)]
    for name in ("level", "level_low", "level_high", "peak_low", "cumulative_high"):
        np.testing.assert_allclose(bands[0][name], bands[1][name], err_msg=name)
    other["x"][0, DAY:] = np.nan
    with_missing = analysis.effect(base, other, "x", window="5:12")
    assert np.isfinite(with_missing.se.item()) and with_missing.pairs.item() == PASTS
