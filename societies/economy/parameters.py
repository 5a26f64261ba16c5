"""How does a configuration become the parameters of its societies: curves, group values, shocks?

Keys that are declared as values or shapes are handed on by name (`societies.workload.keys`). What
differs by group and resource is made into tables here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reference_py.economy.parameters import (
    KEEP,
    LOSE,
    RANDOM_INDEX,
    REMOVE_AGENT,
    REMOVE_RESOURCE,
    DeviceParameters,
    Parameters,
    Shock,
)
from reference_py.economy.tables import EffortCurve, consumption_threshold
from societies.economy.config import EconomyConfig
from societies.economy.config.bounds import largest_holding
from societies.economy.config.conflicts import PER_RESOURCE
from societies.economy.curves import device_effort, resource_effort, utility_curve
from societies.workload.keys import shapes, values


def parameters(config: EconomyConfig) -> Parameters:
    """Resolve a configuration."""
    groups = _groups(config)
    largest = largest_holding(config)
    utility, utility_of = _share(
        [
            [
                (scale, exponent, config.utility.min_marginal, largest)
                for scale, exponent in zip(
                    g["utility", "scale"], g["utility", "exponent"], strict=True
                )
            ]
            for g in groups
        ]
    )
    effort, effort_of = _effort_curves(resource_effort, groups, "extraction")
    return Parameters(
        seed=config.seed,
        values=values(config),
        shapes=shapes(config),
        group_of_agent=tuple(g for g, size in enumerate(config.group_sizes()) for _ in range(size)),
        utility_curves=tuple(utility_curve(*key) for key in utility),
        utility_curve_of=utility_of,
        effort_curves=effort,
        effort_curve_of=effort_of,
        consumption_threshold=tuple(
            tuple(consumption_threshold(life) for life in g["consumption", "resource_lifetime"])
            for g in groups
        ),
        trade_power=_of_groups(config, "trade_power"),
        largest_holding=largest,
        shocks=tuple(
            Shock(
                day=shock.day,
                remove=REMOVE_RESOURCE if shock.remove == "resource" else REMOVE_AGENT,
                index=RANDOM_INDEX if shock.index == "random" else int(shock.index),
                holdings=LOSE if shock.holdings == "lose" else KEEP,
            )
            for shock in config.shocks
        ),
        devices=None if config.devices == "none" else _device_parameters(config, groups),
        first_society=config.first_society,
        societies=config.replicates,
    )


_Values = dict[tuple[str, str], list[float]]
"""Per-resource values of one group by section and key."""


def _device_parameters(config: EconomyConfig, groups: list[_Values]) -> DeviceParameters:
    effort, effort_of = _effort_curves(device_effort, groups, "device")
    return DeviceParameters(
        tools_only=config.devices == "tools",
        effort_curves=effort,
        effort_curve_of=effort_of,
        trade_power=_of_groups(config, "device_trade_power"),
        inventiveness=_of_groups(config, "inventiveness"),
    )


def _effort_curves(
    curve: Callable[[float, float, float], EffortCurve], groups: list[_Values], section: str
) -> tuple[tuple[EffortCurve, ...], tuple[tuple[int, ...], ...]]:
    """Return the different curves, and which of them holds for a group and resource."""
    names = ("max_effort", "min_effort", "max_experience")
    keys = [list(zip(*(g[section, name] for name in names), strict=True)) for g in groups]
    different, of = _share(keys)
    return tuple(curve(*key) for key in different), of


def _of_groups(config: EconomyConfig, name: str) -> tuple[float, ...]:
    """Return one number for each group, 1 if there are none."""
    return tuple(float(getattr(group, name, 1.0)) for group in config.groups or (None,))


def _groups(config: EconomyConfig) -> list[_Values]:
    """Return one dictionary of per-resource values for each group."""

    def per_resource(value: float | Sequence[float]) -> list[float]:
        if isinstance(value, int | float):
            return [float(value)] * config.resources
        return [float(v) for v in value]

    result = []
    for group in config.groups or (None,):
        values: _Values = {}
        for section, keys in PER_RESOURCE.items():
            overrides = getattr(group, section, None)
            for key in keys:
                own = getattr(overrides, key, None)
                base = getattr(getattr(config, section), key)
                values[section, key] = per_resource(base if own is None else own)
        result.append(values)
    return result


Key = tuple[float, ...]


def _share(keys: list[list[Key]]) -> tuple[list[Key], tuple[tuple[int, ...], ...]]:
    """Return the distinct keys in order of appearance and, for each place, which one it is."""
    distinct: dict[Key, int] = {}
    index = tuple(tuple(distinct.setdefault(key, len(distinct)) for key in row) for row in keys)
    return list(distinct), index
