"""How are the parameters of societies made from a configuration: curves, group values, shocks?

Keys that are declared as values or shapes are passed on by name
(`societies.workload.values.keys`). Values that differ by group and resource become tables here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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
from societies.economy.config.draws import synchronizes
from societies.economy.config.policies import changed_keys, in_use
from societies.economy.curves_of_rules import EFFORT, UTILITY, Curves, Key
from societies.economy.rules import RULES
from societies.opencl.debug import checked_mode
from societies.workload.running.plugged import Plugged, chosen_words, plugged
from societies.workload.values.keys import shapes, values

if TYPE_CHECKING:
    from societies.translate import Site


def parameters(config: EconomyConfig) -> Parameters:
    """Return the parameters of a configuration, without its table of points."""
    groups, curves = groups_of(config), Curves(replaced(config))
    largest = largest_holding(config)
    utility, utility_of = _share([utility_keys(config, curves, g) for g in groups])
    effort, effort_of = _effort_curves(curves, groups, "extraction")
    return Parameters(
        utility_curves=tuple(curves.utility_curve(key, largest) for key in utility),
        utility_curve_of=utility_of,
        effort_curves=effort,
        effort_curve_of=effort_of,
        largest_holding=largest,
        devices=None if config.devices == "none" else _device_parameters(config, curves, groups),
        **of_point(config, groups),
        **of_all_points(config),
    )


def of_all_points(config: EconomyConfig) -> dict[str, Any]:
    """Return the parameters that all points of a configuration have in common."""
    return {
        "seed": config.seed,
        "shapes": shapes(config),
        "group_of_agent": group_of_agent(config),
        "endowed": endowed(config),
        "shocks": shocks(config),
        "first_society": config.first_society,
        "societies": config.replicates,
        "numeraire": numeraire(config),
        "network": bool(config.record.network),
        "policies": in_use(config),
        "synchronizes": synchronizes(config),
        "rules": replaced(config).translated.reference,
        **rule_texts(config),
    }


def of_point(config: EconomyConfig, groups: list[GroupValues]) -> dict[str, Any]:
    """Return the parameters that may differ between points, without curves and devices."""
    return {
        "values": values(config),
        "consumption_threshold": thresholds(groups),
        "endowment": endowments(groups),
        "trade_power": of_groups(config, "trade_power"),
        "transfer_share": of_groups(config, "transfer_share", 0.0),
    }


def replaced(config: EconomyConfig) -> Plugged:
    """Return the rules that a user's functions replace."""
    return plugged(RULES, config)


def rule_texts(config: EconomyConfig) -> dict[str, Any]:
    """Return the text in OpenCL C of the rules that are replaced, and what it tests if checked."""
    found = replaced(config).translated.functions.values()
    sites: list[Site] = []
    noted = sites if checked_mode() else None
    texts = [one.translated(chosen_words(one.rule, config), noted) for one in found]
    return {"rule_text": "\n".join(texts), "rule_sites": sites}


GroupValues = dict[tuple[str, str], list[float]]
"""Per-resource values of one group by section and key."""


def group_of_agent(config: EconomyConfig) -> tuple[int, ...]:
    """Return the group of each agent."""
    return tuple(g for g, size in enumerate(config.group_sizes()) for _ in range(size))


def shocks(config: EconomyConfig) -> tuple[Shock, ...]:
    """Return the shocks: what is removed from the society on which day."""
    return tuple(
        Shock(
            day=shock.day,
            remove=REMOVE_RESOURCE if shock.remove == "resource" else REMOVE_AGENT,
            index=RANDOM_INDEX if shock.index == "random" else int(shock.index),
            holdings=LOSE if shock.holdings == "lose" else KEEP,
        )
        for _, shock in config.removals()
    )


def numeraire(config: EconomyConfig) -> int | None:
    """Return the resource in whose units prices are recorded, None for units of any resource."""
    return None if config.record.numeraire == "any" else int(config.record.numeraire)


def thresholds(groups: list[GroupValues]) -> tuple[tuple[int, ...], ...]:
    """Return the thresholds (group, resource): a unit disappears if its draw is below."""
    lives = (g["consumption", "resource_lifetime"] for g in groups)
    return tuple(tuple(map(consumption_threshold, life)) for life in lives)


def endowments(groups: list[GroupValues]) -> tuple[tuple[int, ...], ...]:
    """Return the units (group, resource) that agents hold before the first day."""
    return tuple(tuple(map(int, g["endowment", "units"])) for g in groups)


def endowed(config: EconomyConfig) -> bool:
    """Return whether agents begin with anything, or may do so by a table of points."""
    if any(any(row) for row in endowments(groups_of(config))):
        return True
    return any("endowment." in name for name in changed_keys(config))


def utility_keys(config: EconomyConfig, curves: Curves, group: GroupValues) -> list[Key]:
    """Return the numbers that determine the utility curve of each resource."""
    floor = config.utility.min_marginal
    both = zip(group["utility", "scale"], group["utility", "exponent"], strict=True)
    return curves.of_resources(UTILITY, [(scale, exponent, floor) for scale, exponent in both])


def effort_keys(curves: Curves, group: GroupValues, section: str) -> list[Key]:
    """Return the numbers that determine the effort curve of each resource."""
    names = ("max_effort", "min_effort", "max_experience")
    keys = list(zip(*(group[section, name] for name in names), strict=True))
    return curves.of_resources(EFFORT[section], keys)


def _device_parameters(
    config: EconomyConfig, curves: Curves, groups: list[GroupValues]
) -> DeviceParameters:
    effort, effort_of = _effort_curves(curves, groups, "device")
    return DeviceParameters(
        tools_only=config.devices == "tools",
        effort_curves=effort,
        effort_curve_of=effort_of,
        trade_power=of_groups(config, "device_trade_power"),
        inventiveness=of_groups(config, "inventiveness"),
    )


def _effort_curves(
    curves: Curves, groups: list[GroupValues], section: str
) -> tuple[tuple[EffortCurve, ...], tuple[tuple[int, ...], ...]]:
    """Return the distinct curves, and the index of the curve of each group and resource."""
    different, of = _share([effort_keys(curves, group, section) for group in groups])
    return tuple(curves.effort_curve(section, key) for key in different), of


def of_groups(config: EconomyConfig, name: str, without: float = 1.0) -> tuple[float, ...]:
    """Return one number for each group; ``(without,)`` if there are no groups."""
    return tuple(float(getattr(group, name, without)) for group in config.groups or (None,))


def groups_of(config: EconomyConfig) -> list[GroupValues]:
    """Return one dictionary of per-resource values for each group."""

    def per_resource(value: float | Sequence[float]) -> list[float]:
        if isinstance(value, int | float):
            return [float(value)] * config.resources
        return [float(v) for v in value]

    result = []
    for group in config.groups or (None,):
        values: GroupValues = {}
        for section, keys in PER_RESOURCE.items():
            overrides = getattr(group, section, None)
            for key in keys:
                own = getattr(overrides, key, None)
                base = getattr(getattr(config, section), key)
                values[section, key] = per_resource(base if own is None else own)
        result.append(values)
    return result


def _share(keys: list[list[Key]]) -> tuple[list[Key], tuple[tuple[int, ...], ...]]:
    """Return the distinct keys in order of appearance, and the index of the key of each entry."""
    distinct: dict[Key, int] = {}
    index = tuple(tuple(distinct.setdefault(key, len(distinct)) for key in row) for row in keys)
    return list(distinct), index
