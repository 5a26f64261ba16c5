"""Do measures find entries by their names and not by their places, and refuse what is twice?"""

import warnings

import numpy as np
import pytest
import xarray as xr
from test_pairs_by_hand import ATTRS, NEVER, changed, first, result

from societies import analysis
from societies.analysis.pairs import aligned
from societies.errors import ConfigError


def turned(data, dim):
    return data.isel({dim: slice(None, None, -1)})


def twice(data, dim):
    return data.isel({dim: [0, *range(data.sizes[dim])]})


def wealth():
    values = np.random.default_rng(1).random((3, 4))
    coords = {"agent_day": [10, 20, 30], "agent": [0, 1, 2, 3]}
    return xr.DataArray(values, coords, ("agent_day", "agent"), "wealth")


def test_the_first_difference_is_that_of_entries_with_the_same_names():
    a = result().assign(kinds=lambda data: data.kinds + np.array([1.0, 2.0]))
    assert first(a, turned(a, "kind")) == (NEVER, NEVER)
    other = turned(changed("kinds", 6, value=5.0, of=a), "kind")
    assert first(a, other) == (6, 6)
    other = turned(turned(changed("x", 4, of=a), "day"), "society")
    assert first(a, turned(other, "kind")) == (4, 4)


@pytest.mark.parametrize("dim", ["day", "society"])
def test_two_results_that_were_joined_are_refused(dim):
    word = "pair" if dim == "society" else dim
    with pytest.raises(ConfigError, match=f"{word} . is in the data twice"):
        aligned(result(), twice(result(), dim))
    with pytest.raises(ConfigError, match="twice"):
        analysis.mobility(twice(wealth(), "agent_day"))
    with pytest.raises(ConfigError, match="twice"):
        analysis.recovery_time(twice(result().x, "day"), 4, before=3, hold=2, clock="day")


def test_ranks_are_compared_with_the_first_tick_wherever_it_is():
    found = analysis.mobility(wealth())
    assert float(found.sel(agent_day=10)) == 1
    xr.testing.assert_allclose(analysis.mobility(turned(wealth(), "agent_day")), found)
    with pytest.raises(ConfigError, match="has no agent_day"):
        analysis.mobility(wealth().isel(agent_day=[]))


def test_groups_are_those_of_the_agents_with_the_same_numbers():
    group = xr.DataArray([0, 0, 0, 1], {"agent": [0, 1, 2, 3]}, "agent")
    found = analysis.within_and_between(wealth(), group)
    xr.testing.assert_allclose(analysis.within_and_between(wealth(), turned(group, "agent")), found)
    some = analysis.within_and_between(wealth().isel(agent=[0, 3]), group)
    assert float(some["within"].max()) == 0  # two groups of one
    for match, data, own in (
        ("agent 3 has no group", wealth(), group.isel(agent=slice(3))),
        ("4 values along agent have 3 groups", wealth().drop_vars("agent"), group[:3]),
        ("has no agent", wealth().isel(agent=[]), group),
    ):
        with pytest.raises(ConfigError, match=match):
            analysis.within_and_between(data, own.drop_vars("agent") if "along" in match else own)


def test_sources_are_found_by_their_names():
    names = ["hand", "tool", "machine", "factory", "industry"]
    units = xr.DataArray([20.0, 10, 5, 4, 1], {"source": names}, "source")
    contained = [0, 3, 6, 12, 24]
    found = analysis.interdependence(units, contained)
    assert float(found) == pytest.approx(132 / 40)
    assert float(analysis.interdependence(turned(units, "source"), contained)) == float(found)


def test_what_never_varies_has_no_share_and_no_warning():
    data = xr.Dataset(
        {"x": (("society", "day"), np.zeros((4, 3)))},
        {"society": range(4), "day": [1, 2, 3]},
        {**ATTRS, "configuration": "workload: kalah\nfan: {day: 1, futures: 2}\n"},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = analysis.fan(data, "x")
        infinite = analysis.fan(data.where(data.society > 0, np.inf), "x")
    for one in (found, infinite):
        assert np.isnan(one["share_low"].values).all()
    with pytest.raises(ConfigError, match="the result has no day after 1, that of the fan"):
        analysis.fan(data.isel(day=[0]), "x")


def test_a_share_of_nothing_is_missing():
    found = analysis.effect(result(), changed("x", 4), "x", window="2:8")
    assert float(found["base"][0]) == 0 < float(found["effect"][0])
    assert np.isnan(found["relative"].values).all()


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_quantiles_of_what_is_no_number_warn_of_nothing(bad):
    data = xr.DataArray(np.full((3, 2), bad), dims=("society", "day"), name="x")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = analysis.quantile_interval(data)
        assert analysis.quantile_interval(data.isel(day=[])).sizes == {"day": 0}
        if bad == np.inf:
            assert np.isnan(analysis.mean_interval(data)["low"].values).all()
    assert not np.isfinite(found["median"].values).any()
