"""Are wealth and production at constant prices, and the parts of inequality, those by hand?"""

import math
from importlib import import_module

import numpy as np
import pytest
import xarray as xr

import societies
from societies import analysis
from societies.analysis.constant_prices import (
    _deflator,
    _device_prices,
    _minutes,
    _number,
)
from societies.economy.parameters import parameters
from societies.errors import ConfigError

CONFIG = {
    "workload": "economy",
    "agents": 3,
    "resources": 5,
    "days": 12,
    "devices": "tools",
    "invention": {"tool_probability": 0.5},
    "groups": [{"name": "one", "count": 1}, {"name": "two", "count": 2, "trade_power": 2.0}],
    "record": {"agent": 4, "agent_resource": 4, "measures": True},
}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.h5"
    societies.run(societies.config_from_dict(CONFIG), out=path, device="reference")
    with societies.open_results(path) as opened:
        yield opened.load()


def test_incomes_are_divided_by_the_price_index_of_what_is_extracted(result):
    found = analysis.constant_prices(result, day=8)
    assert found.day.values.tolist() == [4, 8, 12]
    units = result.extracted.values[0].sum(1)  # (day, resource)
    prices = result.value.values[0].mean(1)
    for place, day in enumerate((4, 8, 12)):
        now = sum(units[place][r] * prices[place][r] for r in range(5))
        then = sum(units[place][r] * prices[1][r] for r in range(5))
        assert float(found.deflator[0, place]) == pytest.approx(now / then)
        for name in ("income", "group_income"):
            said = result[name].sel(day=day).values * then / now
            np.testing.assert_allclose(found[name].sel(day=day).values, said)
        own = result.agent_income.sel(agent_day=day).values[0] * then / now
        np.testing.assert_allclose(found.agent_income.sel(day=day).values[0], own)
        groups = found.group_income.sel(day=day).values[0]
        np.testing.assert_allclose(groups, [own[0], own[1:].mean()])
        assert float(found.income.sel(day=day)[0]) == pytest.approx(own.mean())
    assert found.deflator[0, 1] == 1 and abs(found.deflator[0, 2] - 1) > 1e-3
    assert found.income.attrs["long_name"].endswith("at the prices of day 8")
    without = analysis.constant_prices(
        result.drop_vars(["income", "group_income", "agent_income"]), day=8
    )
    assert "income" not in without and "deflator" in without


def test_quantities_are_valued_at_the_prices_of_the_day(result):
    found = analysis.constant_prices(result, day=8)
    price = result.value.sel(resource_day=8).mean("agent").values[0]
    np.testing.assert_allclose(found.price.values[0], price)
    place, agent = result.resource_day.values.tolist().index(12), 1
    owned = result.device_minutes.values[0, place, agent, 0]
    recipe, costs = result.recipe.values[0, 0], np.full(5, np.nan)
    extracted = result.extracted.sel(resource_day=8).values[0] @ price
    minute = extracted.mean() / 600.0
    skill = result.device_experience.sel(resource_day=8).values[0, :, 0].mean(0)
    for r in range(5):
        parts = [int(k) for k in recipe[r] if k >= 0]
        if parts:
            inner = math.exp(-9.0 * min(skill[r], 40.0) / 40.0)
            minutes = 27.0 - 18.0 * math.exp(-2 * 27.0 * inner)
            costs[r] = minutes * minute + sum(price[k] for k in parts)
    assert np.isfinite(costs).any() and (owned > 0).any()
    np.testing.assert_allclose(found.device_price.values[0, 0], costs)
    wealth = result.held.values[0, place, agent] @ price + np.nansum(owned / 150.0 * costs)
    assert float(found.wealth.sel(day=12, agent=agent)[0]) == pytest.approx(wealth)
    made = result.made.values[0, place, agent, 0] @ costs
    production = result.extracted.values[0, place, agent] @ price + made
    assert float(found.production.sel(day=12, agent=agent)[0]) == pytest.approx(production)


def test_the_minutes_of_making_are_those_of_the_model():
    curve = parameters(societies.config_from_dict(CONFIG)).devices.effort_curves[0]
    config = societies.config_from_dict(CONFIG).model_dump(mode="json")
    for experience in (0, 3, 17, 40):
        mine = _minutes(config, 2, float(experience))
        assert mine == pytest.approx(curve.minutes[min(experience, len(curve.minutes) - 1)])


def test_prices_may_be_those_of_a_twin(result):
    twin = result.copy(deep=True)
    twin["value"] = twin.value * 2
    one = analysis.constant_prices(result, day=8, prices_of=twin)
    np.testing.assert_allclose(one.price, 2 * analysis.constant_prices(result, day=8).price)
    with pytest.raises(ConfigError, match="not recorded; the days are 4 to 12, 3 of them"):
        analysis.constant_prices(result, day=7)
    with pytest.raises(ConfigError, match=r"record\.agent_resource records it"):
        analysis.constant_prices(result.drop_vars("held"), day=8)


def test_the_fair_price_level_is_1():
    prices = np.array([[[2.0, 0.5, np.nan], [4.0, 1.0, 2.0], [np.nan] * 3]])
    data = xr.Dataset({"resource_price": (("society", "day", "resource"), prices)})
    found = analysis.price_level(data)
    np.testing.assert_allclose(found, [[1.0, 2.0, np.nan]])
    with pytest.raises(ConfigError, match=r"record\.measures: true"):
        analysis.price_level(data.drop_vars("resource_price"))


def test_inequality_is_that_within_groups_and_that_between_them():
    data = xr.DataArray([[1.0, 3.0, 2.0, 2.0], [5.0, 5.0, 1.0, 1.0]], dims=("day", "agent"))
    group = xr.DataArray([0, 0, 1, 1], dims="agent")
    found = analysis.within_and_between(data, group)
    np.testing.assert_allclose(found.within + found.between, analysis.theil(data))
    inside = (0.5 * math.log(0.5) + 1.5 * math.log(1.5)) / 2
    np.testing.assert_allclose(found.within, [0.5 * inside, 0.0], atol=1e-15)
    outside = 5 / 6 * math.log(5 / 3) + 1 / 6 * math.log(1 / 3)
    np.testing.assert_allclose(found.between, [0.0, outside], atol=1e-15)
    np.testing.assert_allclose(found["mean"], [[2, 5], [2, 1]])
    np.testing.assert_allclose(found.share, [[0.5, 5 / 6], [0.5, 1 / 6]])


def test_groups_have_their_own_income_consumption_and_wealth(tmp_path):
    groups = [{"name": "a", "count": 1, "extraction": {"max_effort": 5}}, {"name": "b", "count": 2}]
    shocks = [{"day": 2, "remove": "agent", "index": 0}]
    record = {"measures": True, "agent": 1}
    config = {**CONFIG, "days": 3, "groups": groups, "shocks": shocks, "record": record}
    path = tmp_path / "groups.h5"
    societies.run(societies.config_from_dict(config), out=path, device="reference")
    with societies.open_results(path) as run:
        for name in ("income", "consumption", "wealth"):
            own, found = run[f"agent_{name}"].values[0], run[f"group_{name}"].values[0]
            np.testing.assert_allclose(found[:, 1], own[:, 1:].mean(1))
            assert found[0, 0] == pytest.approx(own[0, 0]) and np.isfinite(found[1, 0])
            assert np.isnan(found[2, 0])


def test_recipes_name_resources_by_number_whatever_their_order(result):
    found = analysis.constant_prices(result, day=8)
    turned = result.isel(resource=slice(None, None, -1), resource_day=[2, 0, 1])
    xr.testing.assert_allclose(analysis.constant_prices(turned, day=8), found)
    with pytest.raises(ConfigError, match="3 of 5 resources are in the data; prices need all"):
        analysis.constant_prices(result.isel(resource=[0, 1, 2]), day=8)
    with pytest.raises(ConfigError, match="resource_day 4 is in the data twice"):
        analysis.constant_prices(result.isel(resource_day=[0, 0, 1]), day=8)
    with pytest.raises(ConfigError, match="the days are none"):
        analysis.constant_prices(result.isel(resource_day=[]), day=8)


@pytest.mark.sample
@pytest.mark.parametrize(("agent", "resource"), [(1, 4), (4, 1), (2, 4), (1, 1)])
def test_agents_may_be_recorded_every_day_and_a_file_named(agent, resource, result, tmp_path):
    path = tmp_path / "run.h5"
    record = {"agent": agent, "agent_resource": resource, "measures": True}
    config = societies.config_from_dict({**CONFIG, "record": record})
    societies.run(config, out=path, device="reference")
    found = analysis.constant_prices(path, day=8, prices_of=str(path))
    expected = analysis.constant_prices(result, day=8)
    for name in ("wealth", "income", "agent_income", "deflator"):
        np.testing.assert_array_equal(found[name].sel(day=8), expected[name].sel(day=8))
    assert analysis.price_level(path).sizes == {"society": 1, "day": 12}


def test_the_deflator_is_of_what_has_a_price_and_missing_without_anything_of_worth():
    """Day 1: one of two resources has no price. 2: no price at all. 3: no worth then. 4: cheap."""
    nan = math.nan
    units = xr.DataArray([[[2.0, 4.0]]] * 4, dims=("day", "agent", "resource"))
    own = [[[3.0, nan]], [[nan, nan]], [[3.0, 1.0]], [[0.25, 0.25]]]
    then = xr.DataArray(
        [[1.5, nan], [nan, nan], [0.0, 0.0], [0.125, 0.0]], dims=("day", "resource")
    )
    data = xr.Dataset({"extracted": units, "value": (("day", "agent", "resource"), own)})
    found = _deflator(data, "day", then).values
    np.testing.assert_array_equal(found, [2.0, nan, nan, 6.0])


def test_a_device_costs_its_minutes_and_parts(monkeypatch):
    """Two resources at 2 and 4; a minute is worth 0.5: 600 units of the first by 600 minutes and 4.

    A tool for 0 contains resource 1; a machine for 0 contains tools for 0; nothing else is known.
    Efforts by experience 0 are the largest, 10 and 20 minutes. What was never invented has no
    price, where it had the price 0.
    """
    types = ["tool", "machine", "factory", "industry", "device_machine", "device_factory"]
    config = {
        "day_length": 600,
        "device": {"max_effort": [10.0, 20.0], "min_effort": 1.0, "max_experience": 30.0},
    }
    monkeypatch.setattr(
        import_module(_device_prices.__module__), "configuration_of", lambda _: config
    )
    recipe = np.full((1, 6, 2, 2), -1.0)
    recipe[0, 0, 0, 0], recipe[0, 1, 0] = 1, [0, 0]
    recipe[0, 2, 0] = np.nan
    along = "society", "day", "agent"
    data = xr.Dataset(
        {
            "held": ((*along, "resource"), np.zeros((1, 1, 2, 2))),
            "value": ((*along, "resource"), np.ones((1, 1, 2, 2))),
            "extracted": ((*along, "resource"), [[[[150.0, 0], [150, 0]]]]),
            "device_experience": ((*along, "device_type", "resource"), np.zeros((1, 1, 2, 6, 2))),
            "recipe": (("society", "device_type", "resource", "part"), recipe),
        },
        {"society": [0], "day": [1], "device_type": types},
    )
    price = xr.DataArray([[2.0, 4.0]], dims=("society", "resource"))
    found = _device_prices(data, price, 1)
    expected = np.full((6, 2), math.nan)
    expected[:2, 0] = 10 * 0.5 + 4, 10 * 0.5 + 2 * (10 * 0.5 + 4)
    np.testing.assert_allclose(found.values[0], expected)
    assert found.device_type.values.tolist() == types
    assert [_number(config, "max_effort", one) for one in (0, 1)] == [10, 20]
    assert _number(config, "min_effort", 1) == 1


def test_costs_by_a_rule_of_a_user_are_refused(monkeypatch):
    rules = {"rules": {"device.effort": "mine.py:effort"}}
    monkeypatch.setattr(
        import_module(_device_prices.__module__), "configuration_of", lambda _: rules
    )
    with pytest.raises(ConfigError, match="the minutes of making follow a rule of yours"):
        _device_prices(None, None, 1)


def test_prices_need_all_resources_and_the_dimension(result):
    with pytest.raises(ConfigError, match="4 of 5 resources are in the data"):
        analysis.constant_prices(result.isel(resource=slice(4)), day=8)
    with pytest.raises(ConfigError, match="resource"):
        analysis.price_level(result[["resource_price"]].isel(resource=0))
    found = analysis.constant_prices(result, day=8)
    assert {"day", "resource_day"}.isdisjoint(found.price.coords)
    assert found.device_price.device_type.equals(result.device_type)
    unknown = result.assign_attrs(configuration=result.configuration.replace("resources:", "x:"))
    assert analysis.constant_prices(unknown, day=8).wealth.equals(found.wealth)
    other = analysis.constant_prices(result.isel(resource=slice(None, None, -1)), day=8)
    np.testing.assert_allclose(other.wealth, found.wealth)
