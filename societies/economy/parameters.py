"""What numbers does a society of this configuration live by: tables, group values, shocks.

`Parameters` is what the kernels and the reference are handed: plain numbers and arrays, nothing
left to decide. Whoever differs only by name shares a table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from societies.economy.bounds import largest_holding
from societies.economy.config import EconomyConfig
from societies.economy.conflicts import PER_RESOURCE
from societies.economy.curves import UtilityCurve, resource_effort, utility_curve
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
    max_experience : float, units extracted
    """

    minutes: NDArray[np.float64]
    max_experience: float


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
                for scale, exponent in zip(g["scale"], g["exponent"], strict=True)
            ]
            for g in groups
        ]
    )
    effort, effort_of = _share(
        [
            list(zip(g["max_effort"], g["min_effort"], g["max_experience"], strict=True))
            for g in groups
        ]
    )
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
        effort_curves=tuple(EffortCurve(resource_effort(*key), key[2]) for key in effort),
        effort_curve_of=effort_of,
        consumption_threshold=np.array(
            [[math.floor(1.0 / life * 2.0**32) for life in g["resource_lifetime"]] for g in groups],
            dtype=np.uint64,
        ),
        trade_power=np.array([g["trade_power"][0] for g in groups], dtype=np.float64),
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
    )


def _groups(config: EconomyConfig) -> list[dict[str, list[float]]]:
    """Return one dictionary of per-resource values for each group."""

    def per_resource(value: float | Sequence[float]) -> list[float]:
        if isinstance(value, int | float):
            return [float(value)] * config.resources
        return [float(v) for v in value]

    result = []
    for group in config.groups or (None,):
        values: dict[str, list[float]] = {}
        for section, keys in PER_RESOURCE.items():
            overrides = getattr(group, section, None)
            for key in keys:
                own = getattr(overrides, key, None)
                base = getattr(getattr(config, section), key)
                values[key] = per_resource(base if own is None else own)
        values["trade_power"] = [float(getattr(group, "trade_power", 1.0))]
        result.append(values)
    return result


def _share(
    keys: list[list[tuple[float, ...]]],
) -> tuple[list[tuple[float, ...]], NDArray[np.int32]]:
    """Return the distinct keys in order of appearance and, for each place, which one it is."""
    distinct: dict[tuple[float, ...], int] = {}
    index = [[distinct.setdefault(key, len(distinct)) for key in row] for row in keys]
    return list(distinct), np.array(index, dtype=np.int32)
