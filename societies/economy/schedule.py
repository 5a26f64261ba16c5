"""In which order does a day run: the list of phases, the same for every device and the reference.

Source: docs/model.md, "The day". With trade, the resource market opens before and after work.
"""

from __future__ import annotations

from societies.economy.parameters import Parameters
from societies.economy.state import DEVICE_TYPES
from societies.workload import phases

DEVICE_TRADE_ORDER = tuple(
    DEVICE_TYPES.index(name)
    for name in ("industry", "factory", "device_factory", "machine", "device_machine", "tool")
)
"""Types from the most complex to the simplest: who buys a device may make its components less."""


class Step(phases.Step):
    """One phase of a day.

    Parameters
    ----------
    phase : str
    round : int
        Of a market call, counted from 0.
    device : int
        The type that a phase of the device market is about; -1 elsewhere.
    """

    def __init__(self, phase: str, round: int = 0, device: int = -1) -> None:
        details = [DEVICE_TYPES[device]] if device >= 0 else []
        arguments = {"device_type": device} if device >= 0 else {}
        if phase in ("trading", "device_matching", "device_trading"):
            details.append(f"round {round}")
            arguments["market_round"] = round
        super().__init__(phase, ", ".join(details), arguments)

    @property
    def round(self) -> int:
        """Round of the market, 0 in phases without rounds."""
        return self.arguments.get("market_round", 0)

    @property
    def device(self) -> int:
        """Type that the phase is about, -1 if none."""
        return self.arguments.get("device_type", -1)


def start(parameters: Parameters) -> list[Step]:
    """Return what happens before the first day."""
    steps = [Step("seed_streams")]
    if parameters.shocks:
        steps.append(Step("draw_shocks"))
    return steps + _shocks(parameters, 0)


def day_schedule(parameters: Parameters, day: int) -> list[Step]:
    """Return the steps of a day, counted from 1."""
    market = _market(parameters)
    devices = parameters.device is not None
    return [
        *(_device_market(parameters) if devices else []),
        *market,
        Step("extraction"),
        *market,
        *([Step("invention")] if devices else []),
        Step("end_day"),
        Step("agent_statistics"),
        Step("society_statistics"),
        Step("consumption"),
        *_shocks(parameters, day),
    ]


def _device_market(parameters: Parameters) -> list[Step]:
    """Return how devices change hands and are made, the most complex type first.

    The resource market opens once before and after every type, also after those that nobody may
    invent: their absence changes what is traded, not how often.
    """
    assert parameters.device is not None
    market = _market(parameters)
    steps = [Step("start_day"), *market]
    for device in DEVICE_TRADE_ORDER:
        if DEVICE_TYPES[device] == "tool" or not parameters.device.tools_only:
            if parameters.trade:
                steps.append(Step("open_device_market", device=device))
                for round_ in range(parameters.device.rounds):
                    steps.append(Step("device_matching", round_, device))
                    steps.append(Step("device_trading", round_, device))
            steps.append(Step("own_use", device=device))
        steps += market
    return [*steps, Step("production")]


def _market(parameters: Parameters) -> list[Step]:
    if not parameters.trade:
        return []
    refresh = [Step("refresh_values")] if parameters.fresh_values else []
    rounds = [Step("trading", round_) for round_ in range(parameters.rounds)]
    return [*refresh, Step("matching"), *rounds]


def _shocks(parameters: Parameters, day: int) -> list[Step]:
    return [Step("shocks")] if any(shock.day == day for shock in parameters.shocks) else []
