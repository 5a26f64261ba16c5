"""How is a day replayed: one society's day in the reference, which reports to a listener?

The reference gives the same bits as every OpenCL device, so the events that it reports are those
of the device's run. `TradeListener` records the trades; `trace` and `trade_log` record more.
Listeners do not change results.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.economy.parameters import Parameters
from societies.economy import schedule
from societies.economy.ensemble import Ensemble
from societies.economy.explain.events import Bargain, DeviceTry, Proposal, complete
from societies.economy.schedule import DayStep
from societies.economy.state import state_fields
from societies.errors import DeviceError
from societies.workload.checking.coverage import first_difference
from societies.workload.checking.verify import REPORT_IT
from societies.workload.declare.fields import State
from societies.workload.declare.protocol import Workload
from societies.workload.running.engines import ReferenceEngine
from societies.workload.running.state import checkpointed


def parameters_of_one(p: Parameters, number: int) -> Parameters:
    """Return the parameters of society ``number`` alone; its results are those in the ensemble."""
    if isinstance(p, Ensemble):
        return p.only(number)
    return dataclasses.replace(p, first_society=number, societies=1)


def state_of_one(state: Mapping[str, NDArray[Any]], place: int) -> State:
    """Return the state of the society at index ``place`` of an ensemble, as an ensemble of one."""
    return {name: array[place : place + 1] for name, array in state.items()}


@dataclass(frozen=True)
class EventTime:
    """Time of an event within a day.

    Attributes
    ----------
    step : DayStep
    market : int, number of the current resource market, from 1; 0 before the first
    """

    step: DayStep
    market: int


class Listener:
    """Receives the events of one society: a method ``on_EVENT`` for each kind that it records.

    With ``agent``, only events that concern this agent are recorded.

    Attributes
    ----------
    events : list of (EventTime, event), in the order of the reference
    step : DayStep, the current one
    market : int, number of resource markets opened so far today
    """

    def __init__(self, agent: int | None = None) -> None:
        self.agent = agent
        self.events: list[tuple[EventTime, Any]] = []
        self.step = DayStep("")
        self.market = 0

    def receive(self, event: str, facts: dict[str, Any]) -> None:
        """Record an event if this listener records its kind."""
        method = getattr(self, f"on_{event}", None)
        if method is not None:
            method(**facts)

    def begin(self, step: DayStep, society: Any) -> None:
        """Record that a step begins; ``society`` is in its state before the step."""
        self.step = step
        self.market += step.phase == "matching"

    def end(self, society: Any) -> None:
        """Record that the step ended; ``society`` is in its state after the step."""

    def keep(self, event: Any) -> None:
        """Append an event with the current step and market."""
        self.events.append((EventTime(self.step, self.market), event))

    def concerns(self, *agents: int) -> bool:
        """Return True if events of at least one of these agents are recorded."""
        return self.agent is None or self.agent in agents


def replay(
    workload: Workload[Any, Parameters],
    p: Parameters,
    before: Mapping[str, NDArray[Any]],
    day: int,
    listener: Listener,
) -> State:
    """Run one day of one society in the reference and return the state after it.

    ``before`` has the checkpointed arrays of the society in the morning. A listener for one agent
    also receives the utility of this agent's holdings between steps.
    """
    from reference_py.economy.statistics import report_utility

    engine = ReferenceEngine(workload, p, first=p.first_society)
    engine.load(before)
    society = engine.copies_now[0]
    society.listener = listener.receive
    of_the_day = workload.parameters_of_copy(p, 0, day)
    if listener.agent is not None:
        report_utility(of_the_day, society, listener.agent)
    for step in schedule.day_schedule(p, day):
        listener.begin(step, society)
        engine.step(step, day)
        if listener.agent is not None:
            report_utility(of_the_day, society, listener.agent)
        listener.end(society)
    return engine.state()


def require_same(
    p: Parameters, day: int, device: Mapping[str, NDArray[Any]], reference: Mapping[str, Any]
) -> None:
    """Raise DeviceError unless the device's day ended in the same state as the reference's."""
    fields = state_fields(p)
    difference = first_difference(
        "day", day, "end of the day", checkpointed(fields, device), checkpointed(fields, reference)
    )
    if difference is not None:
        raise DeviceError(
            f"society {p.first_society}: the device's day is not that of the reference: "
            f"{difference}\n{REPORT_IT}"
        )


class TradeListener(Listener):
    """Records every bargain and every try to buy a device."""

    def __init__(self, agent: int | None = None) -> None:
        super().__init__(agent)
        self._bargain: Bargain | None = None
        self._try: DeviceTry | None = None

    def on_bargain(self, a: int, b: int, **facts: Any) -> None:
        """Record that two agents begin to bargain over two resources, or cannot."""
        self._bargain = None
        if self.concerns(a, b):
            self._bargain = Bargain(a, b, **facts)
            self.keep(self._bargain)

    def on_proposal(self, **facts: Any) -> None:
        """Record the quantities that one of them proposes."""
        if self._bargain is not None:
            self._bargain.proposals.append(Proposal(**facts))
            self._bargain.refused = facts["refused"]

    def on_swap(self, **facts: Any) -> None:
        """Record that the last proposal was carried out."""
        if self._bargain is not None:
            complete(self._bargain, facts)

    def on_device_offer(self, buyer: int, seller: int, **facts: Any) -> None:
        """Record the devices that a seller offers and the resources that the buyer would pay."""
        self._try = None
        if self.concerns(buyer, seller):
            self._try = DeviceTry(buyer, seller, **facts)
            self.keep(self._try)

    def _add_to_try(self, **facts: Any) -> None:
        """Add facts that the reference reports later about the same try."""
        if self._try is not None:
            complete(self._try, facts)

    on_device_choice = on_device_price = on_sale = _add_to_try


class FlowListener(TradeListener):
    """Records all trades of a day, and adds up the inputs of each of ``count`` goods."""

    def __init__(self, p: Parameters, count: int) -> None:
        super().__init__()
        self._p = p
        self.matrix = np.zeros((count + 1, count))
        self.made = np.zeros(count)

    def on_unit(self, *, resource: int, source: int, minutes: float, **_: Any) -> None:
        """Add the labour of an extracted unit and the minutes of the device, if one was used."""
        self.made[resource] += 1.0
        self.matrix[-1, resource] += minutes
        if source > 0:
            self.matrix[self._device(source - 1, resource), resource] += minutes

    def on_made(
        self,
        *,
        device_type: int,
        resource: int,
        by: int | None,
        minutes: float,
        parts: list[int],
        component: int | None,
        **_: Any,
    ) -> None:
        """Add the labour of a device, the minutes of the device used to make it, and its parts."""
        output = self._device(device_type, resource)
        self.made[output] += 1.0
        self.matrix[-1, output] += minutes
        if by is not None:
            self.matrix[self._device(by, resource), output] += minutes
        for k in parts:
            if component is None:
                self.matrix[k, output] += 1.0
            else:
                lifetime = self._p.device_lifetime[component]
                self.matrix[self._device(component, k), output] += lifetime

    def _device(self, device_type: int, resource: int) -> int:
        row: int = (1 + device_type) * self._p.resources + resource
        return row


def swaps(events: list[tuple[EventTime, Any]]) -> list[tuple[EventTime, Bargain]]:
    """Return the bargains that ended in a swap."""
    return [(place, e) for place, e in events if isinstance(e, Bargain) and e.swap is not None]


def sales(events: list[tuple[EventTime, Any]]) -> list[tuple[EventTime, DeviceTry]]:
    """Return the devices that were sold."""
    return [(place, e) for place, e in events if isinstance(e, DeviceTry) and e.sold]
