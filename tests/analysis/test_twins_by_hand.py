"""Are twins compared from the tick after their shock on, and divided by their state? By hand."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from societies import analysis
from societies.analysis.pairs import NEVER, PAIR
from societies.analysis.responses import _require, _ticks_of
from societies.analysis.twins import (
    _divided,
    _of_entries,
    _positions,
    _require_past,
    _rows,
    _values_at,
    twins,
)
from societies.errors import ConfigError, EffectWarning


def series(**dims):
    """Return a dataset of two pairs with a variable of each name along these further dimensions."""
    size = {PAIR: 2, "day": 3, "agent": 4, "source": 2, "agent_day": 1}
    data = {
        name: ((PAIR, *rest), np.ones([size[one] for one in (PAIR, *rest)]))
        for name, rest in dims.items()
    }
    return xr.Dataset(data, {"source": ["hand", "tool"]}, {"clock": "day"})


def test_a_state_is_one_of_societies_or_of_their_numbered_parts():
    data = series(
        gini=("day",),
        owns=("day", "agent"),
        share=("day", "source"),
        both=("day", "agent", "source"),
        detail=("agent_day", "agent"),
    )
    assert _divided(data, "gini") is None
    assert _divided(data, "owns") == "agent"
    assert _divided(data.assign_coords(agent=[1, 2, 3, 4]), "owns") == "agent"
    for name in ("share", "both"):
        with pytest.raises(ConfigError, match="has no single number for each society or agent"):
            _divided(data, name)
    with pytest.raises(ConfigError, match="is not recorded every day, as other series are"):
        _divided(data, "detail")
    with pytest.raises(ConfigError, match=r"no such variable; did you mean 'gini'\?"):
        _divided(data, "gin")


def test_horizons_are_those_recorded_after_the_shock_of_every_society():
    found = SimpleNamespace(ticks=np.array([1, 2, 4, 5, 6, 9]), clock="day")
    at, horizons = _positions(found, np.array([2, 4, 2]), None)
    # After day 2 there are 2, 3, 4 and 7 days later; after day 4 there are 1, 2 and 5.
    assert horizons.tolist() == [2] and at.tolist() == [[2], [4], [2]]
    at, horizons = _positions(found, np.array([4, 4]), 2)
    assert horizons.tolist() == [1, 2] and at.tolist() == [[3, 4]] * 2
    with pytest.raises(ConfigError, match="no day after 9, that of the shock"):
        _positions(found, np.array([9, 9]), None)
    with pytest.raises(ConfigError, match="as long after each shock, from day 2 to 9"):
        _positions(found, np.array([2, 9]), None)


def compared(first=NEVER, **differing):
    """Return two series of two pairs on days 1 to 9 that differ at (series, pair, day)."""
    base = np.zeros((2, 2, 9))
    base[0, 0, 0] = np.nan
    other = base.copy()
    for where in differing.get("at", ()):
        other[where[0], where[1], where[2] - 1] += 1
    return SimpleNamespace(base=base, other=other, ticks=np.arange(1, 10), first=first, clock="day")


@pytest.mark.parametrize(
    ("found", "day", "least"),
    [
        (compared(4, at=[(1, 0, 4)]), 4, 4),  # on the day of the shock itself
        (compared(3, at=[(0, 0, 3), (1, 0, 3)]), 3, 4),
        (compared(8, at=[(0, 1, 8)]), 8, 8),  # later than the shock of the other pair
        (compared(3, at=[(0, 0, 3), (0, 1, 7)]), 3, 4),  # of several the first pair
        (compared(4), 4, 4),  # what is not compared differs
        (compared(2), 2, 4),
    ],
)
def test_twins_that_differ_before_their_shock_are_none(found, day, least):
    said = f"differ from day {day} on, before the shock at the end of day {least};"
    with pytest.raises(ConfigError, match=said):
        _require_past(found, np.array([4, 8]))


def test_twins_may_differ_from_the_day_after_their_shock_on():
    for found in (compared(), compared(5, at=[(0, 0, 5), (1, 1, 9)]), compared(5)):
        _require_past(found, np.array([4, 8]))


def test_the_state_of_a_society_is_that_on_the_day_of_its_shock():
    values = np.array([[1.0, 2, 3], [4, np.inf, 6]])
    data = xr.Dataset({"x": ((PAIR, "day"), values)}, {"day": [5, 6, 8]}, {"clock": "day"})
    assert _values_at(data, "x", np.array([8, 5])).tolist() == [3, 4]
    assert np.isnan(_values_at(data, "x", np.array([5, 6]))[1])
    with pytest.raises(ConfigError, match="day 7, that of the shock, is not recorded"):
        _values_at(data, "x", np.array([8, 7]))


def test_societies_are_divided_at_the_quantiles_of_their_states():
    values = np.array([1.0, 4, 2, 3, np.nan])
    found = _rows("x", values, 2, np.full(5, 3), "day")
    named = {name: rows.tolist() for name, rows in found.items()}
    assert named == {"all": [0, 1, 2, 3, 4], "x up to 2.5": [0, 2], "x above 2.5": [1, 3]}
    nothing = np.full(2, np.nan)
    with pytest.raises(ConfigError, match=r"has no number in day 3$"):
        _rows("x", nothing, 2, np.array([3, 3]), "day")
    with pytest.raises(ConfigError, match=r"has no number in day of the shock$"):
        _rows("x", nothing, 2, np.array([3, 4]), "day")


def test_agents_are_divided_at_the_quantiles_of_their_own_society():
    values = np.array([[1.0, 2, 3, 4], [30, 10, 20, np.nan]])  # (pair, agent)
    base = np.arange(8.0).reshape(1, 2, 4, 1).transpose(0, 2, 1, 3)  # (series, agent, pair, 1)
    found = _of_entries("x", values, 2, base, base + 10)
    means = {name: first[0, :, 0].tolist() for name, (first, _) in found.items()}
    # The median of the second society, 20, is the state of one agent, which is not above it.
    assert means == {
        "all": [1.5, 5.5],
        "x 1/2, least": [0.5, 5.5],
        "x 2/2, most": [2.5, 4.0],
    }
    assert all((second == first + 10).all() for first, second in found.values())
    assert [*_of_entries("x", values, 1, base, base)] == ["all", "x 1/1"]
    three = _of_entries("x", values, 3, base, base)
    assert [*three] == ["all", "x 1/3, least", "x 2/3", "x 3/3, most"]
    with pytest.raises(ConfigError, match="has no number on the tick of the shock"):
        _of_entries("x", values * np.nan, 2, base, base)


def two_results(agents=3, fan=""):
    """Return two results of four societies whose ``x``, ``owns`` and ``far`` differ from day 3 on.

    What an agent owns is 10 times the number of its society and its own number, plus the day; twins
    own 100 more. The Gini coefficient of a society is its number, which its twin does not record.
    """
    days, societies = np.arange(1, 5), np.arange(4)
    owns = 10.0 * societies[:, None, None] + days[:, None] + np.arange(agents)
    base = {
        "x": (("society", "day"), owns[..., 0], {"units": "util", "long_name": "of x"}),
        "owns": (("society", "day", "agent"), owns, {"units": "units", "long_name": "of owns"}),
        "cost": (("society", "day", "agent"), -owns, {"units": "min", "long_name": "of cost"}),
        "far": (("society", "day"), owns[..., 0]),
    }
    attrs = {"clock": "day", "copies": "society", "seed": 1}
    a = xr.Dataset(base, {"society": societies, "day": days}, attrs)
    b = a + xr.where(a.day > 2, 100.0, 0.0)
    b.attrs = attrs
    gini = xr.DataArray(np.repeat(societies[:, None], 4, 1).astype(float), dims=("society", "day"))
    return a.assign(gini=gini).assign_attrs(configuration=fan), b


def found(*results, variables=None, by=None, states=2, **more):
    return twins(*results, variables, 2, None, by, states, **more)


def test_twins_have_the_series_of_both_after_the_shock():
    one = found(*two_results(), variables=["x", "owns"])
    assert (one.clock, one.horizon.tolist(), one.pasts) == ("day", [1, 2], {"all": None})
    assert one.labels == ["x", "owns[0]", "owns[1]", "owns[2]"]
    assert one.base["all"][:, 1].tolist() == [[13, 14], [13, 14], [14, 15], [15, 16]]
    assert (one.shocked["all"] == one.base["all"] + 100).all()
    some = found(*two_results(), variables="x", among=np.array([1, 3]))
    assert some.base["all"][0, :, 0].tolist() == [13, 33]
    same = two_results()[0]
    with pytest.warns(EffectWarning, match="nothing differs"):
        found(same, same, variables="x")
    early, other = two_results()
    other.far[0, 0] += 1  # which is not asked for
    with pytest.raises(ConfigError, match="the results differ from day 1 on"):
        found(early, other, variables="x")


def test_societies_are_divided_by_what_the_base_records():
    one = found(*two_results(), by="gini")
    assert one.labels == ["x", "far"]
    assert {name: own[0, :, 0].tolist() for name, own in one.base.items()} == {
        "all": [3, 13, 23, 33],
        "gini up to 1.5": [3, 13],
        "gini above 1.5": [23, 33],
    }


def test_agents_are_divided_and_each_series_has_its_unit():
    one = found(*two_results(), variables=["owns", "cost"], by="owns", states=3)
    assert (one.labels, one.units) == (["owns", "cost"], ["units", "min"])
    assert one.meanings == ["of owns", "of cost"]
    first, second = one.base["owns 1/3, least"], one.shocked["owns 3/3, most"]
    assert first[:, 1].tolist() == [[13, 14], [-13, -14]]
    assert second[:, 1].tolist() == [[115, 116], [85, 84]]
    assert found(*two_results(), by="owns").labels == ["owns"]


def test_the_futures_of_a_past_have_its_number_in_each_state():
    a, b = two_results(fan="fan: {futures: 2}\n")
    of_all = [0, 0, 1, 1]
    for by, expected in (
        (None, {"all": of_all}),
        ("gini", {"all": of_all, "gini up to 1.5": [0, 0], "gini above 1.5": [1, 1]}),
        ("owns", {"all": of_all, "owns 1/2, least": of_all, "owns 2/2, most": of_all}),
    ):
        pasts = found(a, b, by=by).pasts
        assert {name: own.tolist() for name, own in pasts.items()} == expected


def test_each_society_has_the_first_of_its_shocks():
    data = xr.Dataset(coords={"society": [4, 5, 6]}, attrs={"clock": "day", "copies": "society"})
    all_of_them = [{"day": 7}, {"day": 3, "societies": []}]
    assert _ticks_of(data, all_of_them) == 3
    some = [{"day": 7, "societies": [4, 6]}, {"day": 5, "societies": [6]}]
    assert _ticks_of(data, some) == {4: 7, 6: 5}
    assert _ticks_of(data, [*some, {"day": 6}]) == {4: 6, 5: 6, 6: 5}


def test_an_asymmetry_is_a_difference_of_size_1():
    """One shock of size 2 adds 2 to what is 4, another of size 5 adds 10: 1 and 2 per unit."""
    attrs = {"clock": "day", "copies": "society", "seed": 1}
    dims = "society", "day"
    cases = []
    for change in (0.0, 2.0, 10.0):
        values = np.full((3, 4), 4.0)
        values[:, 2:] += change
        data = xr.Dataset({"x": (dims, values)}, {"society": [0, 1, 2], "day": [1, 2, 3, 4]}, attrs)
        cases.append(data)
    found = analysis.asymmetry(*cases, "x", after=2, sizes=(2.0, 5.0), resamples=9)
    assert found.attrs["size"] == 1.0 and found.pairs.values.tolist() == [3]
    for name, expected in (("level", [1, 1]), ("relative", [0.25, 0.25]), ("cumulative", [1, 2])):
        assert found[name].values.tolist() == [[expected]]
    cases[1]["x"][0, 2] = np.inf
    found = analysis.asymmetry(*cases, "x", after=2, sizes=(2.0, 5.0), resamples=9)
    np.testing.assert_array_equal(found.level.values, [[[np.nan, 1]]])
    with pytest.raises(ConfigError, match="expected a finite number that is not 0"):
        analysis.asymmetry(*cases, "x", after=2, sizes=(1.0, 0.0))


def test_there_is_at_least_one_state():
    _require(1, 0.95)
    with pytest.raises(ConfigError, match="at least 1 is needed"):
        _require(0, 0.95)
