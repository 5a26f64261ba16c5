"""In which order does a day run: the list of phases, the same for every device and the reference.

Source: docs/model.md, "The day". With trade, the resource market opens before and after work.
"""

from __future__ import annotations

from dataclasses import dataclass

from societies.economy.parameters import Parameters


@dataclass(frozen=True)
class Step:
    """One phase of a day; ``round`` counts the rounds of a market call from 0."""

    phase: str
    round: int = 0

    def __str__(self) -> str:
        return f"{self.phase} (round {self.round})" if self.phase == "trading" else self.phase


def start(parameters: Parameters) -> list[Step]:
    """Return what happens before the first day."""
    steps = [Step("seed_streams")]
    if parameters.shocks:
        steps.append(Step("draw_shocks"))
    return steps + _shocks(parameters, 0)


def day_schedule(parameters: Parameters, day: int) -> list[Step]:
    """Return the steps of a day, counted from 1."""
    market = _market(parameters)
    return [
        *market,
        Step("extraction"),
        *market,
        Step("end_day"),
        Step("agent_statistics"),
        Step("society_statistics"),
        Step("consumption"),
        *_shocks(parameters, day),
    ]


def _market(parameters: Parameters) -> list[Step]:
    if not parameters.trade:
        return []
    refresh = [Step("refresh_values")] if parameters.fresh_values else []
    rounds = [Step("trading", round_) for round_ in range(parameters.rounds)]
    return [*refresh, Step("matching"), *rounds]


def _shocks(parameters: Parameters, day: int) -> list[Step]:
    return [Step("shocks")] if any(shock.day == day for shock in parameters.shocks) else []
