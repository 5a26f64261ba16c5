"""Are the parts of Theil's index those of its definition, with agents that have nothing?"""

import math

import numpy as np
import pytest
import xarray as xr

from societies.analysis.inequality import lorenz, mobility, within_and_between
from societies.errors import ConfigError


def theil(values):
    mean = sum(values) / len(values)
    return sum(x / mean * math.log(x / mean) if x else 0.0 for x in values) / len(values)


def of(values, numbers=None, **attrs):
    coords = {} if numbers is None else {"agent": [*numbers]}
    return xr.DataArray(values, coords, ("agent",), attrs=attrs)


def test_parts_are_those_of_the_definition_and_add_up():
    """The last group has nothing: no logarithm of it counts, and no part of the total."""
    groups = {0: [1.0, 3.0], 1: [4.0, 4.0, 10.0], 2: [0.0, 0.0]}
    values = [x for own in groups.values() for x in own]
    numbers = [g for g, own in groups.items() for _ in own]
    found = within_and_between(of(values), of(numbers))
    whole, mean = sum(values), sum(values) / len(values)
    share = {g: sum(own) / whole for g, own in groups.items()}
    within = sum(share[g] * theil(groups[g]) for g in (0, 1))
    between = sum(share[g] * math.log(sum(groups[g]) / len(groups[g]) / mean) for g in (0, 1))
    assert float(found.within) == pytest.approx(within)
    assert float(found.between) == pytest.approx(between)
    assert float(found.total) == pytest.approx(theil(values)) == pytest.approx(within + between)
    assert found["mean"].values.tolist() == [2.0, 6.0, 0.0]
    np.testing.assert_allclose(found["share"], [4 / 22, 18 / 22, 0.0])


def test_agents_without_a_value_have_no_part():
    nan = math.nan
    found = within_and_between(of([1.0, nan, 3.0, nan, 5.0]), of([0, 0, 1, 2, 1]))
    other = within_and_between(of([1.0, 3.0, 5.0]), of([0, 1, 1]))
    for name in ("within", "between", "total"):
        assert float(found[name]) == pytest.approx(float(other[name]))
    one = within_and_between(of([nan, 4.0]), of([0, 1]))
    assert (float(one.within), float(one.between), float(one.total)) == (0.0, 0.0, 0.0)
    assert one["share"].values.tolist() == [0.0, 1.0]
    none = within_and_between(of([nan, nan]), of([0, 1]))
    assert all(math.isnan(float(none[name])) for name in ("within", "between", "total"))
    assert none["share"].isnull().all()


def test_groups_are_found_by_the_number_if_both_have_it():
    values = of([1.0, 2.0, 9.0], [4, 6, 5])
    said = within_and_between(values, of([1, 0, 0, 1], [6, 5, 4, 3]))
    placed = within_and_between(of([1.0, 2.0, 9.0]), of([0, 1, 0]))
    assert said["mean"].values.tolist() == placed["mean"].values.tolist() == [5.0, 2.0]
    with pytest.raises(ConfigError, match="agent 6 has no group"):
        within_and_between(values, of([0, 0, 1], [4, 5, 7]))
    for data, group in ((values, of([0, 1, 0])), (of([1.0, 2.0, 9.0]), of([0, 1, 0], [4, 6, 5]))):
        assert within_and_between(data, group)["mean"].values.tolist() == [5.0, 2.0]
        with pytest.raises(ConfigError, match="2 values along agent have 3 groups"):
            within_and_between(data[:2], group)


def test_there_must_be_agents_and_their_dimension():
    with pytest.raises(ConfigError, match="'x' has no agent, so there are no groups"):
        within_and_between(of([]).rename("x"), of([]))
    for data, group in ((of([1.0]).rename(agent="day"), of([0])), (of([1.0]), xr.DataArray(0))):
        with pytest.raises(ConfigError, match="agent"):
            within_and_between(data, group)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (of([1.0, 2.0], long_name="coins"), "coins"),
        (of([1.0, 2.0]).rename("money"), "money"),
        (of([1.0, 2.0]), "values"),
    ],
)
def test_parts_say_what_they_are_of(data, said):
    found = within_and_between(data.assign_attrs(units="util"), of([0, 1]))
    for name in ("within", "between", "total"):
        expected = {"units": "1", "long_name": f"Theil's index T of {said}, {name}"}
        assert found[name].attrs == expected
    assert (found["mean"].attrs["units"], found["share"].attrs["units"]) == ("util", "1")


def test_lorenz_curves_are_of_each_row():
    data = xr.DataArray([[3.0, 1.0], [1.0, 1.0]], dims=("day", "agent"))
    found = lorenz(data)
    last = next(dim for dim in found.dims if dim != "day")
    np.testing.assert_allclose(found.transpose("day", last).values[:, [0, -1]], [[0, 1], [0, 1]])
    assert 0.25 in found.isel(day=0).values and 0.5 in found.isel(day=1).values


def test_mobility_does_not_remember_its_first_tick():
    data = xr.DataArray(
        [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]],
        {"day": [5, 6]},
        ("day", "agent"),
        attrs={"clock": "day"},
        name="x",
    )
    found = mobility(data, clock="day")
    assert found.dims == ("day",) and found.day.values.tolist() == [5, 6]
