"""What are the parts of a fan of two pasts with two futures each? Worked out by hand."""

import numpy as np
import pytest
import xarray as xr

from societies.analysis import fitting
from societies.analysis.drawing import MOST_CASES
from societies.analysis.fans import (
    MOST_PASTS,
    _parts,
    draw_fan,
    fan,
    fan_of_file,
    fan_table,
    records,
)
from societies.analysis.fitting import unfit
from societies.errors import ConfigError
from societies.workload.drawing.figure import thousands

CONFIGURATION = "workload: economy\nfan:\n  day: 1\n  futures: 2\n"


def result(**changes):
    """Day 2: means 2 and 6, variances of futures 2 and 2. Day 3: twice as much of everything.

    The variance of the means is 8, of which 2 / 2 is chance: 7 lies between the pasts. Day 1 is
    that of the fan, on which the futures are equal.
    """
    day_2 = np.array([1.0, 3, 5, 7])
    values = np.stack([[4.0, 4, 4, 4], day_2, 2 * day_2], axis=1)
    attributes = {"clock": "day", "copies": "society", "configuration": CONFIGURATION}
    return xr.Dataset(
        {
            "gini": (("society", "day"), values, {"units": "util"}),
            "x": (("society", "day"), values),
        },
        {"society": [4, 5, 6, 7], "day": [1, 2, 3]},
        {**attributes, **changes},
    )


def test_of_every_tick_after_the_fan_the_parts_are_given():
    found = fan(result(), "x,gini")
    assert (found.variable.values.tolist(), found.unit.values.tolist()) == (
        ["x", "gini"],
        ["1", "util"],
    )
    assert found.day.values.tolist() == [2, 3]
    for name in ("x", "gini"):
        one = found.sel(variable=name)
        np.testing.assert_allclose(one.future, [2, 8], rtol=1e-12)
        np.testing.assert_allclose(one.past, [7, 28], rtol=1e-12)
        np.testing.assert_allclose(one.share, [7 / 9] * 2, rtol=1e-12)
        # A sample has both pasts, or one of them twice, with means that do not differ.
        np.testing.assert_allclose(one.share_low, [0, 0], atol=1e-12)
        np.testing.assert_allclose(one.share_high, [7 / 9] * 2, rtol=1e-12)
    assert {k: found.attrs[k] for k in ("clock", "day", "pasts", "futures", "level")} == {
        **{"clock": "day", "day": 1, "pasts": 2, "futures": 2, "level": 0.95},
    }
    assert "window" not in found.attrs
    assert fan(result()).variable.values.tolist() == ["gini"]  # a headline of the economy


def test_of_a_window_the_mean_is_divided():
    """Means of days 2 and 3: 1.5, 4.5, 7.5, 10.5, one and a half times those of day 2."""
    found = fan(result(), "x", window="1:3")
    assert (float(found.future[0]), float(found.past[0])) == pytest.approx((4.5, 15.75))
    assert found.attrs["window"] == "2 to 3" and "day" not in found.dims
    assert records(found) == [
        {
            "variable": "x",
            "window": "2 to 3",
            **{name: float(one[0]) for name, one in found.data_vars.items()},
        }
    ]
    assert [one["day"] for one in records(fan(result(), "x"))] == [2, 3]
    assert records(fan(result(), "x"))[1]["past"] == pytest.approx(28)


def test_narrow_intervals_are_those_of_the_samples_in_the_middle():
    """Half of the samples have both pasts, so the middle of the interval jumps from 0 to 7/9."""
    found = fan(result(), "x", window="2", level=0.98, resamples=400, seed=1)
    assert (float(found.share_low[0]), float(found.share_high[0])) == pytest.approx((0, 7 / 9))
    for level in (0, 1, -0.5, 1.5):
        with pytest.raises(ConfigError, match=r"level=.*: must be between 0 and 1"):
            fan(result(), "x", level=level)


def test_intervals_are_the_quantiles_of_as_many_samples_of_pasts():
    """Six pasts with three futures each, far from 0; every sample is carried out in loops."""
    values = 1e6 + np.random.default_rng(3).normal(size=(6, 3)) + np.arange(6.0)[:, None]

    def parts(pasts):
        future = np.mean([one.var(ddof=1) for one in pasts])
        return max(0.0, np.var([one.mean() for one in pasts], ddof=1) - future / 3), future

    random, shares = np.random.default_rng(1), []
    for drawn in random.integers(0, 6, (41, 6)):
        past, future = parts(values[drawn])
        shares.append(past / (past + future))
    attributes = result().attrs | {"configuration": CONFIGURATION.replace("2", "3")}
    data = xr.Dataset(
        {"x": (("society", "day"), np.tile(values.reshape(18, 1), 2))},
        {"society": np.arange(18), "day": [1, 2]},
        attributes,
    )
    found = fan(data, "x", window="2", level=0.5, resamples=41, seed=1).isel(variable=0)
    ends = np.quantile(shares, [0.25, 0.75])
    np.testing.assert_allclose([found.share_low, found.share_high], ends, rtol=1e-9)
    past, future = parts(values)
    np.testing.assert_allclose([found.past, found.future], [past, future], rtol=1e-9)
    assert float(found.share) == pytest.approx(past / (past + future), rel=1e-9)


def test_what_is_far_from_0_varies_as_much():
    values = np.array([[0.0, 2], [1, 3], [5, 7]])
    near, far = (_parts(values + add, np.eye(3) + 1) for add in (0, 2**40))
    np.testing.assert_allclose(near, far, rtol=1e-12)


def test_a_variance_of_three_pasts_by_hand():
    """Means 1, 2 and 6: variance 7. Of one past twice and another once: of 1, 1, 6 it is 25 / 3."""
    values = np.array([[0.0, 2], [1, 3], [5, 7]])
    past, future = _parts(values, np.array([[1.0, 1, 1], [2, 0, 1], [0, 3, 0]]))
    np.testing.assert_allclose(future, [2, 2, 2], rtol=1e-12)
    np.testing.assert_allclose(past, [7 - 1, 25 / 3 - 1, 0], rtol=1e-12)


def test_without_a_headline_all_series_are_divided():
    assert fan(result()[["x"]]).variable.values.tolist() == ["x"]


def test_without_a_window_a_file_has_one_part_for_all_ticks_after_the_fan():
    assert fan_of_file(result(), "x", None, 0.95).attrs["window"] == "2 to 3"


def test_the_runs_of_a_study_and_no_societies_are_no_fan():
    with pytest.raises(ConfigError, match="the result is no fan"):
        fan(result().expand_dims(run=2), "x")
    with pytest.raises(ConfigError, match="has 0 pasts with 2 futures"):
        fan(result().isel(society=[]), "x")


def test_a_figure_shows_the_past_up_to_the_fan_and_then_the_futures():
    """Quantiles of two futures lie between them; of the second past these are 5 and 7 on day 2."""
    figure = draw_fan({"": result()}, variables=["x", "gini"])
    assert [axes.get_title() for axes in figure.axes] == ["X", "Gini"]
    assert [axes.get_ylabel() for axes in figure.axes] == ["", "util"]
    lines = figure.axes[0].lines
    assert [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in lines[:4]] == [
        *[([1], [4]), ([1, 2, 3], [4, 2, 4])],
        *[([1], [4]), ([1, 2, 3], [4, 6, 12])],
    ]
    assert lines[4].get_xdata() == [1, 1]
    said = " ".join(figure._supxlabel.get_text().split())
    assert "pasts" not in said and len(figure.legends) == 1
    assert [axes.get_title() for axes in draw_fan({"": result()}).axes] == ["Gini"]
    assert figure.legends[0].legend_handles[-1].get_alpha() == 0.2
    few = draw_fan({"": more_pasts(MOST_PASTS)}, variables=["x"])
    assert "pasts" not in few._supxlabel.get_text()


@pytest.mark.parametrize(("most", "large"), [(9_999.5, False), (-10_000.0, True)])
def test_digits_of_large_numbers_in_a_figure_are_in_groups(most, large):
    data = result()
    data.x[3, 2] = most
    (axes,) = draw_fan({"": data}, variables=["x"]).axes
    formatter = axes.yaxis.get_major_formatter()
    assert (getattr(formatter, "func", None) is thousands) == large


def more_pasts(count):
    data = xr.concat([result()] * (count // 2), "society")
    return data.assign_coords(society=np.arange(2 * count))


def test_futures_are_counted_from_a_whole_past():
    for numbers, whole in (([4, 5, 6, 7], True), ([5, 6, 7, 8], False), ([4, 5, 7, 8], False)):
        data = result().assign_coords(society=numbers)
        if whole:
            assert fan(data, "x").attrs["pasts"] == 2
            continue
        with pytest.raises(ConfigError, match="all 2 futures of each past, and each once"):
            fan(data, "x")
    for text in ("workload: economy\n", "workload: economy\nfan:\n  day: 1\n  futures: 0\n"):
        with pytest.raises(ConfigError, match="the result is no fan"):
            fan(result(configuration=text), "x")


def test_a_table_says_how_many_and_how_sure():
    rows = fan_table(fan(result(), "x"))
    assert rows.title == "2 pasts until day 1, 2 futures of each"
    heads = [str(one.header) for one in rows.columns]
    assert heads[:2] == ["variable", "day"] and heads[-2:] == ["share of the past", "95 %"]
    cells = [list(one.cells) for one in rows.columns]
    assert cells[1] == ["2", "3"] and cells[2][0].startswith("7") and cells[3][0].startswith("2")
    assert cells[4][0].startswith("0.77") and cells[5][0].startswith("0 to 0.77")
    windowed = fan_table(fan(result(), "x", window="2:3"))
    assert windowed.title == "2 pasts until day 1, 2 futures of each, mean of day 2 to 3"
    assert len(windowed.columns) == 5
    assert [(one.justify, one.no_wrap) for one in windowed.columns] == [
        ("right" if place else "left", True) for place in range(5)
    ]


def test_only_one_fan_is_drawn():
    assert unfit("fan", {"a": result(), "b": result()}) == "shows one result, not 2"


@pytest.mark.parametrize("figure", ["effect", "irf"])
def test_what_is_compared_is_looked_for_once(figure, monkeypatch):
    looked = []

    def look(cases, base=None):
        looked.append(base)
        return dict.fromkeys(map(str, range(MOST_CASES + 2)))

    monkeypatch.setattr(fitting, "cases_of_effects", look)
    monkeypatch.setattr(fitting, "shocks_of", lambda cases: (look(cases), {}))
    monkeypatch.setitem(fitting._PAIRS, "effect", look)
    said = f"compares at most {MOST_CASES} with a base, not {MOST_CASES + 1}"
    assert (unfit(figure, {"a": result()}), looked) == (said, [None])
