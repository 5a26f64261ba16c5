"""What are wealth, production and income at constant prices, those of one day?

Wealth in the file is valued at today's costs: if tools become cheaper to make, wealth falls
although no agent owns less. Here quantities of all days are valued at the prices of one day of the
same result or of its twin (a Laspeyres quantity index; Laspeyres 1871). Income has no quantities of
its own. It is deflated by the price index of extracted units (Paasche 1874), as in national
accounts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_py.economy.tables import device_effort_at
from societies.analysis.effects import open_source
from societies.analysis.selecting import in_order, require_dims
from societies.errors import ConfigError, option
from societies.workload.drawing.figure import configuration_of

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.effects import Source

NEEDED = ("held", "extracted", "value")
"""Variables that ``record.agent_resource`` brings."""
PARTS = {"machine": "tool", "factory": "machine", "industry": "factory"} | {
    "device_machine": "tool",
    "device_factory": "device_machine",
}
"""The type of a device's components; those of a tool are resources."""
INCOMES = ("income", "group_income", "agent_income")
"""Incomes that ``record.measures`` brings."""


def constant_prices(results: Source, *, day: int, prices_of: Source | None = None) -> xr.Dataset:
    """Return wealth and production of every agent, and incomes, at the prices of one day.

    Parameters
    ----------
    results : path or xarray.Dataset
        A result of the economy with ``record.agent_resource`` and ``record.agent``; for incomes
        also with ``record.measures``
    day : a recorded day, whose prices are used
    prices_of : the result whose prices are used, such as a twin; default: ``results``

    Returns
    -------
    Dataset with ``wealth`` and ``production``, (society, day, agent) float64, util, and the prices:
    ``price`` (society, resource) util per unit, the mean over agents of the marginal value of one
    more unit; with devices ``device_price`` (society, device_type, resource) util, the cost of
    making one by hand with the mean experience, its minutes valued at the mean utility extracted in
    a minute of the chosen day. ``deflator`` (society, day) 1: the value of the units extracted on a
    day at its own prices, divided by their value at the prices of the chosen day. With
    ``record.measures`` ``income`` (society, day), ``group_income`` (society, day, group) and
    ``agent_income`` (society, day, agent), util: the income of the day divided by the deflator.

    Raises
    ------
    ConfigError
        If a variable or the day is not recorded, or the cost curve is a user's rule.
    """
    with open_source(results) as own, open_source(own if prices_of is None else prices_of) as other:
        when = _day_dim(own)
        found = _in_order(own)
        return _at_prices(found, _in_order(other) if other is not own else found, day, when).load()


def _at_prices(results: xr.Dataset, source: xr.Dataset, day: int, when: str) -> xr.Dataset:
    """Return what `constant_prices` does, of ordered results, at the prices of ``source``."""
    import xarray as xr

    price = _prices(source, day)
    held, extracted = (_of_days(results, name, when) for name in ("held", "extracted"))
    wealth = (held * price).sum("resource", min_count=1)
    production = (extracted * price).sum("resource", min_count=1)
    found = {"price": price}
    if "device_minutes" in results:
        device = _device_prices(source, price, day)
        config = configuration_of(results)
        types = [str(one) for one in results["device_type"].values]
        lives = xr.DataArray(
            [_number(config, "lifetime", one) for one in types], dims="device_type"
        )
        over = ("device_type", "resource")
        owned, made = (_of_days(results, name, when) for name in ("device_minutes", "made"))
        wealth = wealth + (owned / lives * device).sum(over)
        production = production + (made * device).sum(over)
        found["device_price"] = device
    what = f"at the prices of day {day}"
    about: dict[str, tuple[Any, str]] = {
        "wealth": (wealth, f"units and devices owned, {what}"),
        "production": (production, f"units extracted and devices made, {what}"),
    }
    deflator = _deflator(results, when, price)
    about["deflator"] = deflator, f"price index of the units extracted; 1: {what}"
    for name in INCOMES:
        if name in results:
            dim = next(str(one) for one in results[name].dims if str(one).endswith("day"))
            income = results[name].rename({dim: "day"})
            income, index = xr.align(income, deflator, join="inner")
            about[name] = income / index, f"{income.attrs['long_name']}, {what}"
    for name, (values, meaning) in about.items():
        unit = "1" if name == "deflator" else "util"
        found[name] = values.assign_attrs(units=unit, long_name=meaning)
    return xr.Dataset(found, attrs={"day": day, "clock": "day", "copies": "society"})


def _deflator(results: xr.Dataset, when: str, price: xr.DataArray) -> xr.DataArray:
    """Return the Paasche price index of the units extracted each day; missing without any."""
    units = _of_days(results, "extracted", when).sum("agent")
    own = _of_days(results, "value", when).mean("agent")
    now, then = ((units * prices).sum("resource", min_count=1) for prices in (own, price))
    return (now / then).where(then > 0)


def price_level(results: Source) -> xr.DataArray:
    """Return the geometric mean over resources of their prices; its fair value is 1.

    The arithmetic mean of the prices (``price_mean``) is above 1 by construction: a swap with the
    price x of one resource has the price 1/x of the other, and (x + 1/x) / 2 is at least 1.

    Parameters
    ----------
    results : path or xarray.Dataset
        A result with ``record.measures``: ``resource_price``

    Returns
    -------
    DataArray without ``resource``, float64; missing on days without swaps
    """
    with open_source(results) as own:
        if "resource_price" not in own:
            raise ConfigError("the result has no resource_price; record.measures: true records it")
        prices = own["resource_price"].load()
    require_dims(prices, "resource")
    with np.errstate(divide="ignore"):
        found = np.exp(np.log(prices).mean("resource"))
    meaning = "geometric mean over resources of their prices; 1 if none is dear"
    return found.rename("price_level").assign_attrs(units="units/unit", long_name=meaning)


def _day_dim(results: xr.Dataset) -> str:
    for name in NEEDED:
        if name not in results:
            raise ConfigError(f"the result has no '{name}'; record.agent_resource records it")
    return next(str(dim) for dim in results["held"].dims if str(dim).endswith("day"))


def _in_order(results: xr.Dataset) -> xr.Dataset:
    """Return a result in the order of its days and resources, which recipes refer to by number."""
    for dim in ("resource", *(str(one) for one in results.dims if str(one).endswith("day"))):
        results = in_order(results, dim)
    count = configuration_of(results).get("resources")
    if count is not None and results.sizes["resource"] != count:
        raise ConfigError(
            f"{results.sizes['resource']} of {count} resources are in the data; prices need all"
        )
    return results


def _of_days(results: xr.Dataset, name: str, when: str) -> xr.DataArray:
    return results[name].astype(float).rename({when: "day"})


def _at(results: xr.Dataset, name: str, day: int) -> xr.DataArray:
    when = _day_dim(results)
    if day not in results[when].values:
        days = results[when].values
        available = f"{days[0]} to {days[-1]}, {len(days)} of them" if len(days) else "none"
        raise ConfigError(f"{option('day', day)}: not recorded; the days are {available}")
    return results[name].sel({when: day}, drop=True).astype(float)


def _prices(source: xr.Dataset, day: int) -> xr.DataArray:
    """Return util per unit: the mean over agents of what one more unit is worth to them."""
    found = _at(source, "value", day).mean("agent")
    return found.assign_attrs(units="util/unit", long_name="mean marginal value of one more unit")


def _number(config: Mapping[str, Any], key: str, of: Any) -> Any:
    """Return a key of the section ``device``, of a type or of a resource if it differs by it."""
    value = config["device"][key]
    if isinstance(value, Mapping):
        return float(value[of])
    return float(value[of]) if isinstance(value, list | tuple) else float(value)


def _minutes(config: Mapping[str, Any], resource: int, experience: float) -> float:
    """Return the minutes of making a device by hand (docs/model.md, "Devices")."""
    high, low, cap = (
        _number(config, key, resource) for key in ("max_effort", "min_effort", "max_experience")
    )
    return float(device_effort_at(high, low, cap, experience)) if experience < cap else low


def _device_prices(source: xr.Dataset, price: xr.DataArray, day: int) -> xr.DataArray:
    """Return the cost of making each device, util; missing where it is not invented."""
    config = configuration_of(source)
    if (config.get("rules") or {}).get("device.effort"):
        raise ConfigError("the minutes of making follow a rule of yours, which is not known here")
    experience = _at(source, "device_experience", day).mean("agent")
    extracted = (_at(source, "extracted", day) * price).sum("resource").mean("agent")
    minute = (extracted / float(config["day_length"])).values
    recipe = source["recipe"].values
    types = [str(one) for one in source["device_type"].values]
    found = np.full(experience.transpose("society", "device_type", "resource").shape, np.nan)
    skill = experience.transpose("society", "device_type", "resource").values
    resources = price.transpose("society", "resource").values
    for kind in ("tool", "machine", "factory", "industry", "device_machine", "device_factory"):
        place = types.index(kind)
        parts = resources if kind == "tool" else found[:, types.index(PARTS[kind])]
        for resource in range(found.shape[2]):
            for society in range(len(found)):
                used = recipe[society, place, resource]
                used = used[np.isfinite(used) & (used >= 0)].astype(int)
                if len(used):
                    minutes = _minutes(config, resource, float(skill[society, place, resource]))
                    made = minutes * minute[society] + parts[society, used].sum()
                    found[society, place, resource] = made
    dims = ("society", "device_type", "resource")
    coordinates = {dim: source[dim] for dim in dims}
    about = {"units": "util", "long_name": "cost of making one by hand"}
    return type(price)(found, coordinates, dims, attrs=about)
