"""Which steps of a day does the core run, in the order that the reference defines?

The order is `reference_py.economy.schedule`.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from reference_py.economy.devices import DEVICE_TYPES
from reference_py.economy.parameters import Parameters
from reference_py.economy.schedule import schedule
from societies.workload.declare import phases


class DayStep(phases.Step):
    """One phase of a day.

    Rounds of a market count from 0; ``device_type`` is the one that a phase of the device market is
    about.
    """

    def __init__(
        self, phase: str, round: int | None = None, device_type: int | None = None
    ) -> None:
        details = [] if device_type is None else [DEVICE_TYPES[device_type]]
        arguments = {} if device_type is None else {"device_type": device_type}
        if round is not None:
            details.append(f"round {round}")
            arguments["market_round"] = round
        super().__init__(phase, ", ".join(details), arguments)

    @property
    def round(self) -> int:
        """Round of the market, 0 in phases without rounds."""
        return self.arguments.get("market_round", 0)

    @property
    def device_type(self) -> int:
        """Type that the phase is about, -1 if none."""
        return self.arguments.get("device_type", -1)


def day_schedule(p: Parameters, day: int) -> list[DayStep]:
    """Return the steps of a day, counted from 1; day 0 has the steps before the first day."""
    return [
        DayStep(
            one.function.__name__,
            one.arguments.get("market_round"),
            one.arguments.get("device_type"),
        )
        for one in schedule(p, day)
    ]


QUIET = -1
"""Cache key of all days from the first on without a shock."""

_CACHED: WeakKeyDictionary[Parameters, dict[int, tuple[DayStep, ...]]] = WeakKeyDictionary()
"""Cached steps by day for parameters in use. Weak: else an ensemble's tables stayed in memory."""


def cached_schedule(p: Parameters, day: int) -> tuple[DayStep, ...]:
    """Return `day_schedule` from a cache: days with the same steps share one tuple.

    Days from the first on differ only in their shocks, and in the new streams of a fan.
    """
    cached = _CACHED.setdefault(p, {})
    begins = p.futures and day == p.fan_day + 1
    own = not day or begins or any(one.day == day for one in p.shocks)
    which = day if own else QUIET
    if which not in cached:
        cached[which] = tuple(day_schedule(p, day))
    return cached[which]
