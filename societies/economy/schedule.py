"""What does the core see of a day: its steps with labels, in the order that the reference defines.

The order is `reference_py.economy.schedule`.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from reference_py.economy.devices import DEVICE_TYPES
from reference_py.economy.parameters import Parameters
from reference_py.economy.schedule import schedule
from societies.workload.declare import phases


class Step(phases.Step):
    """One phase of a day.

    Parameters
    ----------
    phase : str
    round : int, optional
        Of a market call, counted from 0.
    device_type : int, optional
        The type that a phase of the device market is about.
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


def day_schedule(p: Parameters, day: int) -> list[Step]:
    """Return the steps of a day, counted from 1; of day 0, what happens before the first."""
    return [
        Step(
            one.function.__name__,
            one.arguments.get("market_round"),
            one.arguments.get("device_type"),
        )
        for one in schedule(p, day)
    ]


QUIET = -1
"""Stands for every day after the first on which no shock is due."""

_KEPT: WeakKeyDictionary[Parameters, dict[int, tuple[Step, ...]]] = WeakKeyDictionary()
"""Steps by day, of parameters that are in use: with those of an ensemble its tables would stay."""


def kept_schedule(p: Parameters, day: int) -> tuple[Step, ...]:
    """Return the same as `day_schedule`, and the same tuple for days with the same steps.

    Only shocks differ between the days after the first.
    """
    kept = _KEPT.setdefault(p, {})
    which = day if not day or any(one.day == day for one in p.shocks) else QUIET
    if which not in kept:
        kept[which] = tuple(day_schedule(p, day))
    return kept[which]
