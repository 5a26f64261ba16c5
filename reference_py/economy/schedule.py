"""In which order do the phases of a day run? It is the same on every device.

Source: docs/model.md, "The day". With trade, the resource market opens before and after work.
"""

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from reference_py.economy.consumption import consumption
from reference_py.economy.device_matching import device_matching
from reference_py.economy.device_trading import device_trading
from reference_py.economy.devices import (
    DEVICE_FACTORY,
    DEVICE_MACHINE,
    FACTORY,
    INDUSTRY,
    MACHINE,
    TOOL,
)
from reference_py.economy.end_day import end_day, refresh_values
from reference_py.economy.endowment import endow
from reference_py.economy.extraction import extraction
from reference_py.economy.invention import invention
from reference_py.economy.matching import matching
from reference_py.economy.measures import (
    agent_measures,
    begin_measures,
    measure_extraction,
    society_measures,
)
from reference_py.economy.network import begin_network
from reference_py.economy.open_device_market import open_device_market
from reference_py.economy.own_use import own_use
from reference_py.economy.policies import collect_taxes, pay_transfers
from reference_py.economy.production import production
from reference_py.economy.shocks import draw_shocks, shocks
from reference_py.economy.start_day import start_day
from reference_py.economy.statistics import agent_statistics, society_statistics
from reference_py.economy.streams import seed_futures, seed_streams, synchronize_draws
from reference_py.economy.trading import trading

DEVICE_TRADE_ORDER = (INDUSTRY, FACTORY, DEVICE_FACTORY, MACHINE, DEVICE_MACHINE, TOOL)
"""Types from the most complex to the simplest: who buys a device may make its components less."""


class DayStep(NamedTuple):
    """One phase of a day.

    Attributes
    ----------
    function : what carries it out
    arguments : int by name
        ``market_round``, counted from 0, and the ``device_type`` that the phase is about, if any.
    due : whether it happens on this day
    """

    function: Callable[..., None]
    arguments: Mapping[str, int] = MappingProxyType({})
    due: bool = True

    def run(self, p, s, day):
        """Carry the phase out on a society; its function is handed what it has parameters for."""
        self.function(p, s, **wanted(self.function, {"day": day, **self.arguments}))


def wanted(function: Callable[..., None], numbers: dict[str, int]) -> dict[str, Any]:
    """Return the numbers that the function of a phase has parameters for after (p, s)."""
    return {name: numbers[name] for name in list(inspect.signature(function).parameters)[2:]}


def live(p, s, first, last):
    """Let a society live from day ``first`` to day ``last``; day 0 is what precedes the first."""
    for day in range(first, last + 1):
        for step in schedule(p, day):
            step.run(p, s, day)


def schedule(p, day: int) -> list[DayStep]:
    """Return the steps of a day, counted from 1; of day 0, what happens before the first."""
    return [step for step in order(p, day) if step.due]


def phases(p) -> dict[str, Callable[..., None]]:
    """Return what carries out each phase that some day has, by name."""
    return {one.function.__name__: one.function for day in (0, 1) for one in order(p, day)}


def order(p, day: int) -> list[DayStep]:
    """Return all phases in order, those that only happen on some days among them (`DayStep.due`).

    From day 1 on they are the same for every day.
    """
    shock = [DayStep(shocks, due=any(one.day == day for one in p.shocks))] if p.shocks else []
    if day == 0:
        begin = [DayStep(seed_streams), *([DayStep(endow)] if p.endowed else [])]
        return [*begin, *([DayStep(draw_shocks)] if p.shocks else []), *shock]
    market = resource_market(p)
    measures = [DayStep(agent_measures), DayStep(society_measures)]
    return [
        *([DayStep(seed_futures, due=day == p.fan_day + 1)] if p.futures else []),
        *([DayStep(synchronize_draws)] if p.synchronizes else []),
        *([DayStep(begin_measures)] if p.measures else []),
        *([DayStep(begin_network)] if p.network else []),
        *(device_market(p) if p.devices is not None else []),
        *market,
        DayStep(extraction),
        *([DayStep(measure_extraction)] if p.measures else []),
        *market,
        *([DayStep(invention)] if p.devices is not None else []),
        *([DayStep(collect_taxes), DayStep(pay_transfers)] if p.policies else []),
        DayStep(end_day),
        DayStep(agent_statistics),
        DayStep(society_statistics),
        DayStep(consumption),
        *(measures if p.measures else []),
        *shock,
    ]


def device_market(p):
    """Return how devices change hands and are made, the most complex type first.

    The resource market opens once before and after every type, also after those that no agent may
    invent: their absence changes what is traded, not how often.
    """
    market = resource_market(p)
    steps = [DayStep(start_day), *market]
    for device_type in DEVICE_TRADE_ORDER:
        of_type = {"device_type": device_type}
        if device_type == TOOL or not p.devices.tools_only:
            if p.trade:
                steps.append(DayStep(open_device_market, of_type))
                for round_ in range(p.device_rounds):
                    steps.append(DayStep(device_matching, {"market_round": round_, **of_type}))
                    steps.append(DayStep(device_trading, {"market_round": round_, **of_type}))
            steps.append(DayStep(own_use, of_type))
        steps += market
    return [*steps, DayStep(production)]


def resource_market(p):
    """Return the steps of one call of the resource market; none without trade."""
    if not p.trade:
        return []
    rounds = [DayStep(trading, {"market_round": round_}) for round_ in range(p.rounds)]
    return [*([DayStep(refresh_values)] if p.fresh_values else []), DayStep(matching), *rounds]
