"""What numbers does a society of this configuration live by: tables, group values, shocks.

`Parameters` is what the kernels and the reference are handed: plain numbers and arrays, nothing
left to decide. Whoever differs only by name shares a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from societies.config.model import Section
from societies.economy.bounds import largest_holding
from societies.economy.config import EconomyConfig
from societies.economy.conflicts import PER_RESOURCE
from societies.economy.curves import (
    UtilityCurve,
    device_effort,
    prefix_sums,
    resource_effort,
    utility_curve,
)
from societies.economy.state import DEVICE_TYPES
from societies.streams import stream_base

KEEP, LOSE = 0, 1
REMOVE_RESOURCE, REMOVE_AGENT = 0, 1
RANDOM_INDEX = -1


@dataclass(frozen=True, eq=False)
class EffortCurve:
    """Minutes per unit by whole experience, and the experience an agent keeps overnight.

    Attributes
    ----------
    minutes : (length + 1,) float64, minutes per unit; the last entry holds ever after
    total : (length + 1,) float64, minutes
        ``total[e]`` is the exact sum of ``minutes[:e]``, rounded once: what it takes to gain e
        experience, one at a time, from none.
    max_experience : float, units extracted
    """

    minutes: NDArray[np.float64]
    total: NDArray[np.float64]
    max_experience: float


@dataclass(frozen=True, eq=False)
class DeviceParameters:
    """What holds for devices. Tables by type are in the order of `DEVICE_TYPES`.

    Attributes
    ----------
    factor, lifetime, experience_for_making : one float for each type
    effort_curves : tuple of EffortCurve, minutes per device
    effort_curve_of : (group, resource) int32, index into them
    trade_power, inventiveness : (group,) float64
    """

    tools_only: bool
    rounds: int
    attempts: int
    memory: int
    production_memory: int
    days_to_hold: float
    resources_in_tool: int
    components: int
    inventor_experience: float
    min_held_experience: float
    daily_decay: float
    factor: tuple[float, ...]
    lifetime: tuple[float, ...]
    experience_for_making: tuple[float, ...]
    tool_probability: float
    device_probability: float
    min_held: int
    min_made_for_device_maker: int
    effort_curves: tuple[EffortCurve, ...]
    effort_curve_of: NDArray[np.int32]
    trade_power: NDArray[np.float64]
    inventiveness: NDArray[np.float64]

    @property
    def component_slots(self) -> int:
        """Return the most components that any recipe has."""
        return max(self.resources_in_tool, self.components)


@dataclass(frozen=True)
class Shock:
    """Something removed at the end of a day (day 0: before the first)."""

    day: int
    remove: int
    index: int
    holdings: int


@dataclass(frozen=True, eq=False)
class Parameters:
    """Everything a day needs, resolved. Index order: (group, resource); see `docs/model.md`.

    Attributes
    ----------
    group_of_agent : (agent,) int32
    utility_curve_of, effort_curve_of : (group, resource) int32, index into the curves
    consumption_threshold : (group, resource) uint64
        A held unit disappears overnight if a 32-bit draw is below it; floor(2**32 / lifetime).
    trade_power : (group,) float64, bargaining weight
    largest_holding : int, units
        No agent is expected to pass it; utility tables end there at the latest.
    device : DeviceParameters, or None without devices
    """

    agents: int
    resources: int
    day_length: float
    seed: int
    first_society: int
    societies: int
    trade: bool
    rounds: int
    attempts: int
    menu_size: int
    min_surplus: float
    price: str
    fresh_values: bool
    daily_experience_penalty: float
    near_best_band: float
    group_of_agent: NDArray[np.int32]
    utility_curves: tuple[UtilityCurve, ...]
    utility_curve_of: NDArray[np.int32]
    effort_curves: tuple[EffortCurve, ...]
    effort_curve_of: NDArray[np.int32]
    consumption_threshold: NDArray[np.uint64]
    trade_power: NDArray[np.float64]
    largest_holding: int
    shocks: tuple[Shock, ...]

    device: DeviceParameters | None = None

    @property
    def table_lengths(self) -> list[int]:
        """Return the units that each utility table holds."""
        return [len(curve.marginal) for curve in self.utility_curves]

    @property
    def tables_cut_off(self) -> bool:
        """Whether a utility table ends before a unit is worth no more than the floor."""
        return max(self.table_lengths) > self.largest_holding

    @property
    def stream_base(self) -> int:
        """Return where on the generator's orbit this seed's streams begin."""
        return stream_base(self.seed)


def parameters(config: EconomyConfig) -> Parameters:
    """Resolve a configuration.

    Raises
    ------
    ConfigError
        If a utility curve needs a table that is too long.
    """
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
    effort, effort_of = _share([_effort_keys(g, "extraction") for g in groups])
    sizes = config.group_sizes()
    return Parameters(
        agents=config.agents,
        resources=config.resources,
        day_length=float(config.day_length),
        seed=config.seed,
        first_society=config.first_society,
        societies=config.replicates,
        trade=config.trade,
        rounds=config.trading.rounds,
        attempts=config.trading.attempts,
        menu_size=config.trading.menu_size,
        min_surplus=float(config.trading.min_surplus),
        price=config.trading.price,
        fresh_values=config.trading.fresh_values,
        daily_experience_penalty=float(config.extraction.daily_experience_penalty),
        near_best_band=float(config.extraction.near_best_band),
        group_of_agent=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        utility_curves=tuple(utility_curve(*key) for key in utility),
        utility_curve_of=utility_of,
        effort_curves=_effort_curves(resource_effort, effort),
        effort_curve_of=effort_of,
        consumption_threshold=np.array(
            [
                [math.floor(1.0 / life * 2.0**32) for life in g["consumption", "resource_lifetime"]]
                for g in groups
            ],
            dtype=np.uint64,
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
        device=None if config.devices == "none" else _device_parameters(config, groups),
    )


_Values = dict[tuple[str, str], list[float]]
"""Per-resource values of one group by section and key."""


def _device_parameters(config: EconomyConfig, groups: list[_Values]) -> DeviceParameters:
    market, device, invention = config.devices_market, config.device, config.invention
    effort, effort_of = _share([_effort_keys(g, "device") for g in groups])

    def by_type(section: Section) -> tuple[float, ...]:
        return tuple(float(getattr(section, name)) for name in DEVICE_TYPES)

    return DeviceParameters(
        tools_only=config.devices == "tools",
        rounds=market.rounds,
        attempts=market.attempts,
        memory=market.memory,
        production_memory=market.production_memory,
        days_to_hold=float(market.days_to_hold),
        resources_in_tool=device.resources_in_tool,
        components=device.components,
        inventor_experience=float(device.inventor_experience),
        min_held_experience=float(device.min_held_experience),
        daily_decay=float(device.daily_decay),
        factor=by_type(device.factor),
        lifetime=by_type(device.lifetime),
        experience_for_making=by_type(device.experience_for_making),
        tool_probability=float(invention.tool_probability),
        device_probability=float(invention.device_probability),
        min_held=invention.min_held,
        min_made_for_device_maker=invention.min_made_for_device_maker,
        effort_curves=_effort_curves(device_effort, effort),
        effort_curve_of=effort_of,
        trade_power=_of_groups(config, "device_trade_power"),
        inventiveness=_of_groups(config, "inventiveness"),
    )


def _effort_keys(group: _Values, section: str) -> list[tuple[float, ...]]:
    keys = ("max_effort", "min_effort", "max_experience")
    return list(zip(*(group[section, key] for key in keys), strict=True))


def _effort_curves(
    table: Callable[..., NDArray[np.float64]], keys: list[tuple[float, ...]]
) -> tuple[EffortCurve, ...]:
    curves = []
    for key in keys:
        minutes = table(*key)
        curves.append(EffortCurve(minutes, prefix_sums(minutes[:-1]), key[2]))
    return tuple(curves)


def _of_groups(config: EconomyConfig, name: str) -> NDArray[np.float64]:
    """Return one number for each group, 1 if there are none."""
    groups = config.groups or (None,)
    return np.array([getattr(group, name, 1.0) for group in groups], dtype=np.float64)


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


def _share(
    keys: list[list[tuple[float, ...]]],
) -> tuple[list[tuple[float, ...]], NDArray[np.int32]]:
    """Return the distinct keys in order of appearance and, for each place, which one it is."""
    distinct: dict[tuple[float, ...], int] = {}
    index = [[distinct.setdefault(key, len(distinct)) for key in row] for row in keys]
    return list(distinct), np.array(index, dtype=np.int32)
