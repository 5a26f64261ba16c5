"""Are the measures what their definitions give for numbers that can be worked out by hand?

Edges too: sums of 0 or below 1, ties, one value, negative ones, and values that are missing.
"""

import math

import numpy as np
import pytest
import xarray as xr

from societies import analysis
from societies.errors import ConfigError

NAN = math.nan


def agents(*values, dim="agent", **attrs):
    return xr.DataArray(np.array(values, float), dims=dim, name="income", attrs=attrs)


def value(found):
    return float(found)


# ---------------------------------------------------------------- inequality


@pytest.mark.parametrize("scale", [1.0, 0.01, 1e6])
def test_measures_of_1_2_and_3(scale):
    """None depends on the unit of money, also where the sum is below 1."""
    data = agents(2 * scale, 3 * scale, NAN, scale)
    logs = [x / 2 * math.log(x / 2) for x in (1, 2, 3)]
    assert value(analysis.gini(data)) == pytest.approx(2 / 9)
    assert value(analysis.theil(data)) == pytest.approx(sum(logs) / 3)
    half = 1 - ((math.sqrt(0.5) + 1 + math.sqrt(1.5)) / 3) ** 2
    assert value(analysis.atkinson(data)) == pytest.approx(half)
    one = 1 - (6 ** (1 / 3)) / 2
    assert value(analysis.atkinson(data, epsilon=1)) == pytest.approx(one)
    assert value(analysis.atkinson(data, epsilon=2)) == pytest.approx(1 - 18 / 11 / 2)
    assert value(analysis.top_share(data, top=1 / 3)) == pytest.approx(1 / 2)
    assert value(analysis.top_share(data, top=0.5)) == pytest.approx((3 + 0.5 * 2) / 6)
    assert value(analysis.top_share(data)) == pytest.approx(0.3 * 3 / 6)
    assert value(analysis.hhi(data)) == pytest.approx((1 + 4 + 9) / 36)
    curve = analysis.lorenz(data, points=4)
    assert curve.values.tolist() == pytest.approx([0, 1 / 6, 1 / 2, 1])
    assert analysis.lorenz(data, points=2).values.tolist() == [0, 1]
    assert analysis.lorenz(data).sizes == {"poorest": 101}


def test_where_no_agent_has_anything():
    nothing = agents(0, 0, 0)
    assert value(analysis.gini(nothing)) == 0.0
    assert value(analysis.hhi(nothing)) == 0.0
    for measure in (analysis.theil, analysis.atkinson, analysis.top_share):
        assert math.isnan(measure(nothing)), measure
    assert analysis.lorenz(nothing).isnull().all()


@pytest.mark.parametrize("low", [-0.5, -4.0])
def test_below_zero_nothing_is_defined(low):
    data = agents(low, 3, 2)
    for measure in (analysis.theil, analysis.atkinson, analysis.hhi):
        assert math.isnan(measure(data)), measure
    assert analysis.lorenz(data).isnull().all()
    total = low + 5
    assert value(analysis.gini(data)) == pytest.approx(
        2 * (low + 2 * 2 + 3 * 3) / (3 * total) - 4 / 3
    )
    assert value(analysis.top_share(data, top=1 / 3)) == pytest.approx(3 / total)
    for measure in (analysis.gini, analysis.top_share):
        assert math.isnan(measure(agents(-3, 1, 1))), measure  # the sum is not positive
        assert math.isnan(measure(agents(-3, 1, 2))), measure


def test_some_have_nothing():
    """Zeros are values like others: a curve begins flat."""
    assert analysis.lorenz(agents(0, 0, 1, 1), points=5).values.tolist() == [0, 0, 0, 0.5, 1]
    assert value(analysis.theil(agents(0, 0, 1, 1))) == pytest.approx(math.log(2))
    assert value(analysis.atkinson(agents(0, 0, 1, 1), epsilon=1)) == 1.0
    assert value(analysis.gini(agents(0, 0, 1, 1))) == pytest.approx(0.5)


def test_of_a_single_one_or_none():
    assert value(analysis.gini(agents(7))) == 0.0
    assert value(analysis.hhi(agents(0.2))) == 1.0
    assert value(analysis.top_share(agents(7), top=1)) == 1.0
    gone = agents(NAN, NAN)
    assert math.isnan(analysis.gini(gone)) and math.isnan(analysis.theil(gone))
    assert analysis.lorenz(gone).isnull().all()


def test_names_say_of_what_a_measure_is():
    """The name of the data where it has no long one, or neither."""
    assert analysis.gini(agents(1, 2)).name == "gini"
    assert analysis.gini(agents(1, 2)).attrs["long_name"] == "Gini coefficient of income"
    assert analysis.hhi(agents(1, 2)).attrs["long_name"].endswith(" of income")
    long = agents(1, 2, long_name="wealth of all")
    assert analysis.hhi(long).attrs["long_name"] == "Herfindahl-Hirschman index of wealth of all"
    assert analysis.hhi(long).name == "hhi"
    assert analysis.theil(agents(1, 2).rename(None)).attrs["long_name"] == (
        "Theil's index T of values"
    )
    assert analysis.hhi(agents(1, 2).rename(None)).attrs["long_name"].endswith(" of values")


@pytest.mark.parametrize("top", [0, -0.1, 1.01, 2])
def test_parts_that_are_none(top):
    with pytest.raises(ConfigError, match="must be above 0 and at most 1"):
        analysis.top_share(agents(1, 2), top=top)


def of_days(*days, clock="day", numbers=(10, 20)):
    return xr.DataArray(
        np.array(days, float),
        dims=(clock, "agent"),
        name="wealth",
        coords={clock: list(numbers)},
    )


def test_mobility_with_ties_by_hand():
    """Ranks 1, 2.5, 2.5, 4 and 4, 1.5, 1.5, 3, correlated after Pearson."""
    found = analysis.mobility(of_days([1, 5, 5, 9], [8, 2, 2, 3]))
    assert found.name == "mobility"
    assert found.values.tolist() == pytest.approx([1.0, spearman()])
    assert analysis.mobility(of_days([1, 2, 3], [0.1, 0.2, 0.3])).values[1] == pytest.approx(1)
    assert analysis.mobility(of_days([1, 2, 3], [3, 2, 1])).values[1] == pytest.approx(-1)


def spearman():
    a, b = np.array([1, 2.5, 2.5, 4]), np.array([4, 1.5, 1.5, 3])
    a, b = a - 2.5, b - 2.5
    return float((a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum()))


def test_mobility_leaves_out_who_is_missing_on_either_day():
    found = analysis.mobility(of_days([1, 2, 3, NAN, 9], [3, 2, 1, 5, NAN]))
    assert found.values.tolist() == pytest.approx([1.0, -1.0])


@pytest.mark.parametrize("clock", ["day", "agent_day"])
def test_mobility_finds_the_clock_and_the_tick(clock):
    data = of_days([1, 2, 3], [3, 2, 1], clock=clock)
    assert analysis.mobility(data, since=20).values.tolist() == pytest.approx([-1.0, 1.0])
    assert analysis.mobility(data, clock=clock).values.tolist() == pytest.approx([1.0, -1.0])
    assert analysis.mobility(data).dims == (clock,)
    with pytest.raises(ConfigError, match="no dimension"):
        analysis.mobility(data.isel({clock: 0}))


# ---------------------------------------------------------------- structure


def test_interdependence_by_hand():
    """20 units by hand, 10 with a tool of 3 resources, 5 with a machine of 6, then 12 and 24."""
    contained = [0, 3, 6, 12, 24]
    units = agents(20, 10, 5, 4, 1, dim="source")
    found = analysis.interdependence(units, contained)
    assert value(found) == pytest.approx((30 + 30 + 48 + 24) / 40)
    assert found.name == "interdependence" and found.attrs["units"] == "1"
    assert value(analysis.interdependence(0.001 * units, contained)) == pytest.approx(3.3)
    assert value(analysis.interdependence(0 * units, contained)) == 0.0
    with pytest.raises(ConfigError, match="2 numbers for 5 sources"):
        analysis.interdependence(units, [0, 3])
    with pytest.raises(ConfigError, match="no dimension 'agent'"):
        analysis.interdependence(units, contained, dim="agent")


@pytest.mark.parametrize("devices", ["tools", "all"])
def test_what_devices_contain(devices):
    said = f"{{devices: {devices}, device: {{resources_in_tool: 3, components: 2}}}}"
    results = xr.Dataset(attrs={"configuration": said})
    assert analysis.resources_contained(results) == [0, 3, 6, 12, 24]


@pytest.mark.parametrize(
    "said", ["{devices: none, device: {resources_in_tool: 3, components: 2}}", "[1, 2]", "", "a: 1"]
)
def test_what_contains_no_devices(said):
    with pytest.raises(ConfigError, match="has no devices"):
        analysis.resources_contained(xr.Dataset(attrs={"configuration": said}))


def test_a_time_budget_by_hand():
    found = analysis.time_budget(agents(0.3, 0.1, 0.0, dim="activity"))
    assert found.values.tolist() == pytest.approx([0.75, 0.25, 0])
    assert found.name == "time_budget"
    assert analysis.time_budget(agents(0, 0, dim="activity")).isnull().all()
    with pytest.raises(ConfigError, match="no dimension 'activity'"):
        analysis.time_budget(agents(1, 2))


def test_a_kuznets_curve_of_a_parabola():
    """1 + 2 ln x - 0.5 (ln x)^2 turns at e^2; incomes that are 0 or missing do not count."""
    x = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 0.0, -1.0, NAN, 3.0])
    with np.errstate(invalid="ignore", divide="ignore"):
        y = 1 + 2 * np.log(x) - 0.5 * np.log(x) ** 2
    y[6], y[7], y[8], y[9] = 0.5, 0.5, 0.5, NAN
    income, inequality = agents(*x), agents(*y).rename("gini")
    found = analysis.kuznets(income, inequality, bins=3)
    numbers = [value(found[name]) for name in ("constant", "slope", "curvature", "turning_point")]
    assert numbers == pytest.approx([1.0, 2.0, -0.5, math.e**2])
    assert found.points.values.tolist() == [2, 2, 2]
    assert found.income.values.tolist() == pytest.approx([0.75, 3.0, 12.0])
    assert found.inequality.values.tolist() == pytest.approx(
        [np.mean(y[:2]), np.mean(y[2:4]), np.mean(y[4:6])]
    )
    assert analysis.kuznets(income[:6], inequality[:6], bins=6).sizes == {"bin": 6}
    with pytest.raises(ConfigError, match="too few"):
        analysis.kuznets(income[:6], inequality[:6], bins=7)
    with pytest.raises(ConfigError, match="too few"):
        analysis.kuznets(agents(1, 2, 1, 2), agents(1, 2, 1, 2), bins=2)
    three = analysis.kuznets(agents(1, 2, 4), agents(1, 2, 1), bins=3)
    assert value(three.turning_point) == pytest.approx(2.0)
    many = agents(*range(1, 40))
    assert analysis.kuznets(many, 0 * many).sizes == {"bin": 12}
    assert math.isnan(analysis.kuznets(many, 0 * many).turning_point)


# ---------------------------------------------------------------- intervals


def test_quantiles_by_hand():
    """Of 0 to 10 the middle 80 % lie between 1 and 9; by default the middle 90 %."""
    data = agents(*range(11), dim="society", units="util")
    found = analysis.quantile_interval(data, level=0.8)
    assert [value(found[name]) for name in ("low", "median", "high")] == pytest.approx([1, 5, 9])
    usual = analysis.quantile_interval(data)
    assert [value(usual[name]) for name in ("low", "median", "high")] == pytest.approx(
        [0.5, 5, 9.5]
    )
    assert "quantile" not in found.coords
    assert found.attrs["replicates"] == 11 and found.attrs["statistic"] == "median"
    assert found["median"].attrs == {"units": "util", "long_name": "median of income"}
    assert found.low.attrs["units"] == "util"
    plain = analysis.quantile_interval(data.rename(None))
    assert plain["median"].attrs["long_name"] == "median"


@pytest.mark.parametrize("level", [0, 1, -0.2, 1.5])
@pytest.mark.parametrize("interval", [analysis.quantile_interval, analysis.mean_interval])
def test_levels_that_are_none(interval, level):
    with pytest.raises(ConfigError, match="must be between 0 and 1"):
        interval(agents(1, 2, 3, dim="society"), level=level)
    with pytest.raises(ConfigError, match="no dimension 'society'"):
        interval(agents(1, 2, 3))


# ---------------------------------------------------------------- networks


def test_sales_of_a_log_are_links_both_ways():
    """A buyer gives units, a seller devices; two sales between the same two are one link each."""
    from societies.analysis.networks import _joined, _of_log, _of_sales

    unused = 0
    sales = {
        "society": [3, 3, 3, 4, 9],
        "day": [5, 5, 5, 6, unused],
        "buyer": [0, 0, 2, 1, 7],
        "seller": [1, 1, 0, 0, 7],
        "device_type": [2, 0, 2, 1, 0],
        "units_paid": [10, 4, 7, 1, 99],
    }
    sales = xr.Dataset({name: ("sale", np.array(column)) for name, column in sales.items()})
    found = _of_sales(sales, 3)
    links = {
        tuple(int(found[name][i]) for name in ("society", "day", "giver", "taker")): (
            int(found["units_paid"][i]),
            found["devices"][i].tolist(),
        )
        for i in range(len(found["giver"]))
    }
    expected = {
        (3, 5, 0, 1): (14, [0, 0, 0]),
        (3, 5, 1, 0): (0, [1, 0, 1]),
        (3, 5, 2, 0): (7, [0, 0, 0]),
        (3, 5, 0, 2): (0, [0, 0, 1]),
        (4, 6, 1, 0): (1, [0, 0, 0]),
        (4, 6, 0, 1): (0, [0, 1, 0]),
    }
    assert links == expected
    swaps = {
        "society": [3, 3, 9],
        "day": [5, 1, unused],
        "a": [0, 1, 7],
        "b": [1, 0, 7],
        "units_given": [2, 6, 1],
        "units_taken": [3, 8, 1],
    }
    swaps = xr.Dataset({name: ("swap", np.array(column)) for name, column in swaps.items()})
    joined = _joined(_of_log(swaps), found)
    assert len(joined["giver"]) == len(expected) + 2
    rows = zip(*(joined[name].tolist() for name in joined), strict=True)
    by_place = {row[:4]: dict(zip([*joined][4:], row[4:], strict=True)) for row in rows}
    first = {"units": 2, "swaps": 1, "units_paid": 14, "devices": [0, 0, 0]}
    assert by_place[3, 5, 0, 1] == first
    assert by_place[3, 1, 0, 1] == {"units": 8, "swaps": 1, "units_paid": 0, "devices": [0] * 3}
    assert by_place[4, 6, 0, 1] == {"units": 0, "swaps": 0, "units_paid": 0, "devices": [0, 1, 0]}


# ---------------------------------------------------------------- dimensions


@pytest.mark.parametrize("measure", [analysis.lorenz, analysis.hhi, analysis.gini])
def test_a_missing_dimension_is_named(measure):
    with pytest.raises(ConfigError, match="'income' has no dimension 'agents'"):
        measure(agents(1, 2), "agents")


def test_mobility_of_two_and_along_a_clock_of_any_name():
    """Two agents keep their order or exchange it; the clock may have a name of its own."""
    data = of_days([1, 2], [2, 1], [5, 9], clock="round", numbers=(1, 2, 3))
    found = analysis.mobility(data, clock="round")
    assert found.values.tolist() == pytest.approx([1.0, -1.0, 1.0])
    assert [*found.coords] == ["round"]
    with pytest.raises(ConfigError, match="no dimension 'agents'"):
        analysis.mobility(data, dim="agents", clock="round")
    two = xr.concat([of_days([1, 2], [2, 1])] * 2, "agent_day").transpose("day", ...)
    assert analysis.mobility(two.assign_coords(agent_day=[7, 8])).dims == ("day", "agent_day")


def test_a_lorenz_curve_says_what_it_is_along():
    curve = analysis.lorenz(agents(1, 2, dim="resource"), "resource")
    about = {"units": "1", "long_name": "share of resource, the poorest first"}
    assert curve.poorest.attrs == about
