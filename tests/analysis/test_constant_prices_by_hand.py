"""Are wealth, production and incomes at the prices of one day those that are worked out by hand?

One society of two agents and two resources, on days 1 and 2.
"""

import sys

import numpy as np
import pytest
import xarray as xr

from societies.analysis import constant_prices
from societies.errors import ConfigError

DIMS = ("society", "day", "agent", "resource")
CONFIGURATION = "workload: economy\nresources: 2\ndevice:\n  lifetime: {tool: 10, machine: 20}\n"


def result(**more):
    """Return a result in which a unit is worth 1 and 3 util on day 1, 2 and 5 on day 2 (means)."""
    own = {
        "held": [[[1, 2], [3, 0]], [[0, 4], [2, 2]]],
        "extracted": [[[1, 0], [1, 2]], [[3, 1], [0, 0]]],
        "value": [[[0.5, 2], [1.5, 4]], [[1, 5], [3, 5]]],
    }
    data = {name: (DIMS, np.array([one], float)) for name, one in own.items()}
    attrs = {"configuration": CONFIGURATION, "clock": "day", "copies": "society"}
    return xr.Dataset({**data, **more}, {"day": [1, 2], "resource": [0, 1]}, attrs)


def test_what_agents_own_and_extract_is_valued_at_the_prices_of_the_day():
    first = constant_prices(result(), day=1)
    assert first.price.values.tolist() == [[1, 3]]
    assert first.wealth.values.tolist() == [[[7, 3], [12, 8]]]
    assert first.production.values.tolist() == [[[1, 7], [6, 0]]]
    assert "device_price" not in first and "income" not in first
    # 2 units of each on day 1, 3 and 1 on day 2: 8 at the prices of day 1 and 11 at its own.
    assert first.deflator.values.tolist() == [[1, 11 / 6]]
    assert (first.wealth.attrs["units"], first.deflator.attrs["units"]) == ("util", "1")
    assert first.deflator.attrs["long_name"].endswith("1: at the prices of day 1")
    second = constant_prices(result(), day=2)
    assert second.price.values.tolist() == [[2, 5]]
    assert second.wealth.values.tolist() == [[[12, 6], [20, 14]]]
    assert second.deflator.values.tolist() == [[8 / 14, 1]]


def test_prices_may_be_those_of_a_twin():
    twin = result()
    twin["value"] = twin["value"] * 2
    found = constant_prices(result(), day=1, prices_of=twin)
    assert found.price.values.tolist() == [[2, 6]]
    assert found.wealth.values.tolist() == [[[14, 6], [24, 16]]]
    same = result()
    backwards = same.isel(day=[1, 0], resource=[1, 0])
    assert constant_prices(same, day=1, prices_of=backwards).wealth.equals(
        constant_prices(same, day=1).wealth
    )


def test_without_a_number_for_any_resource_there_is_none_and_with_one_there_is():
    data = result()
    data["held"][0, 0, 0] = np.nan  # an agent that is removed
    data["held"][0, 1, 0, 0] = np.nan
    data["extracted"][0, 0] = data["extracted"][0, 1, 0, 0] = np.nan
    found = constant_prices(data, day=2)
    np.testing.assert_array_equal(found.wealth.values, [[[np.nan, 6], [20, 14]]])
    np.testing.assert_array_equal(found.production.values, [[[np.nan, np.nan], [5, 0]]])
    np.testing.assert_array_equal(found.deflator.values, [[np.nan, 1]])


def test_incomes_are_divided_by_the_price_index_of_their_day():
    about = {"long_name": "mean income"}
    income = ("society", "day"), np.array([[6.0, 22.0]]), about
    by_agent = ("society", "agent_day", "agent"), np.array([[[11.0, 22.0]]]), about
    data = result(income=income, agent_income=by_agent).assign_coords(agent_day=[2])
    found = constant_prices(data, day=1)
    assert found.income.values.tolist() == [[6, 12]]
    assert found.agent_income.sel(day=2).values.tolist() == [[6, 12]]
    assert "group_income" not in found
    assert found.income.attrs == {
        "units": "util",
        "long_name": "mean income, at the prices of day 1",
    }


def test_devices_are_worth_what_is_left_of_their_lifetime(monkeypatch):
    dims = ("society", "day", "agent", "device_type", "resource")
    owned = np.zeros((1, 2, 2, 2, 2))
    owned[0, 0, 0] = [[5, 0], [0, 10]]  # half a tool, half a machine
    made = np.zeros((1, 2, 2, 2, 2))
    made[0, 1, 1] = [[1, 0], [0, 2]]
    data = result(device_minutes=(dims, owned), made=(dims, made))
    data = data.assign_coords(device_type=["tool", "machine"])
    price = xr.DataArray([[[4.0, 6], [10, 20]]], dims=("society", "device_type", "resource"))
    module = sys.modules[constant_prices.__module__]
    monkeypatch.setattr(module, "_device_prices", lambda source, units, day: price)
    found = constant_prices(data, day=1)
    assert found.wealth.values.tolist() == [[[7 + 2 + 10, 3], [12, 8]]]
    assert found.production.values.tolist() == [[[1, 7], [6, 4 + 40]]]
    assert found.device_price.values.tolist() == price.values.tolist()


def test_a_device_costs_what_is_in_it_and_the_minutes_of_making_it(monkeypatch):
    """A tool is made of resources, a machine of tools; a minute of work is worth 2 util here."""
    module = sys.modules[constant_prices.__module__]
    monkeypatch.setattr(module, "_minutes", lambda config, resource, skill: 10 * resource + skill)
    kinds = ["tool", "machine", "factory", "industry", "device_machine", "device_factory"]
    of = ("society", "device_type", "resource")
    recipe = np.full((1, 6, 2, 2), -1.0)  # not invented
    recipe[0, 0] = [[0, 1], [1, 1]]  # tools for resource 0 of both, for resource 1 of two of it
    recipe[0, 1, 1] = [0, np.nan]  # machines for resource 1 of a tool for resource 0
    of_agents = np.array([[1.0, 3.0], [2.0, 4.0]])  # (agent, resource)
    skill = np.broadcast_to(of_agents[None, :, None, None], (1, 2, 2, 6, 2))
    data = result(
        recipe=((*of, "component"), recipe),
        device_experience=(("society", "agent", "day", *of[1:]), skill),
    )
    data = data.assign_coords(device_type=kinds, society=[4])
    data.attrs["configuration"] += "day_length: 2\n"
    # On day 1 agents extract 1 + 0 and 1 + 3 * 2 util in 2 minutes, so a minute is worth 4 / 2.
    found = module._device_prices(data, module._prices(data, 1), 1)
    assert found.dims == of and found.society.values.tolist() == [4]
    assert found.device_type.values.tolist() == kinds
    expected = np.full((6, 2), np.nan)
    expected[0] = 2 * 1.5 + 1 + 3, 2 * (10 + 3.5) + 3 + 3
    expected[1, 1] = 2 * (10 + 3.5) + expected[0, 0]
    np.testing.assert_array_equal(found.values, [expected])


def test_a_day_that_is_not_recorded_is_refused():
    with pytest.raises(ConfigError, match="not recorded; the days are 1 to 2, 2 of them"):
        constant_prices(result(), day=3)
    with pytest.raises(ConfigError, match="1 of 2 resources are in the data"):
        constant_prices(result().isel(resource=[0]), day=1)
    unsaid = result()
    unsaid.attrs["configuration"] = CONFIGURATION.replace("resources: 2\n", "")
    assert constant_prices(unsaid, day=1).wealth.equals(constant_prices(result(), day=1).wealth)
