"""What happens in a day, and why: one society's day again, in the reference, before an observer.

The reference gives the same bits as every device, so what it tells of a day is what happened on the
device. `Witness` keeps the trades; `societies.economy.trace` and `societies.economy.ledger` keep
more. Nobody's results depend on any of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from societies.economy import schedule
from societies.economy.parameters import Parameters
from societies.economy.plain import plain
from societies.economy.schedule import Step
from societies.economy.state import state_fields
from societies.errors import DeviceError
from societies.workload.engines import ReferenceEngine
from societies.workload.fields import State, kept
from societies.workload.protocol import Workload
from societies.workload.verify import first_difference


def parameters_of_one(p: Parameters, number: int) -> Parameters:
    """Return the parameters of society ``number`` alone, which lives as it does among others."""
    return dataclasses.replace(p, first_society=number, societies=1)


def state_of_one(state: Mapping[str, NDArray[Any]], place: int) -> State:
    """Return the state of the society at this place of an ensemble, as one of its own."""
    return {name: array[place : place + 1] for name, array in state.items()}


class Observer:
    """Hears what the reference tells of one society: a method ``on_EVENT`` for each event it wants.

    Attributes
    ----------
    p, s : SimpleNamespace and Society
        Parameters and state as the reference has them; the state is that of the moment.
    day : int
    step : Step, the one that runs
    market : int, how many resource markets were opened today
    """

    def __init__(self) -> None:
        self.p: Any = None
        self.s: Any = None
        self.day = 0
        self.step = Step("")
        self.market = 0

    def watch(self, p: Any, s: Any, day: int) -> None:
        """Begin to observe the society."""
        self.p, self.s, self.day, self.market = p, s, day, 0
        prefix = "on_"
        heard: dict[str, Callable[..., None]] = {
            name.removeprefix(prefix): getattr(self, name)
            for name in dir(self)
            if name.startswith(prefix)
        }

        def observer(event: str, facts: dict[str, Any]) -> None:
            if event in heard:
                heard[event](**facts)

        s.listener = observer

    def begin(self, step: Step) -> None:
        """Be told that a step begins."""
        self.step = step
        self.market += step.phase == "matching"

    def end(self) -> None:
        """Be told that the step is done."""


def replay(
    workload: Workload[Any, Parameters],
    p: Parameters,
    before: Mapping[str, NDArray[Any]],
    day: int,
    observer: Observer,
) -> State:
    """Run one day of one society in the reference and return the state after it.

    Parameters
    ----------
    workload : the economy
    p : Parameters, of one society
    before : mapping, the state in the morning (its kept arrays), of one society
    day : int
    observer : Observer
    """
    engine = ReferenceEngine(workload, p, first=p.first_society)
    engine.load(before)
    observer.watch(plain(p), engine.copies_now[0], day)
    for step in schedule.day_schedule(p, day):
        observer.begin(step)
        engine.step(step, day)
        observer.end()
    return engine.state()


def require_same(
    p: Parameters, day: int, device: Mapping[str, NDArray[Any]], reference: Mapping[str, Any]
) -> None:
    """Raise DeviceError unless the device's day ended as it does in the reference, bit for bit."""
    fields = state_fields(p)
    difference = first_difference(
        "day", day, "end of the day", kept(fields, device), kept(fields, reference)
    )
    if difference is not None:
        raise DeviceError(
            f"society {p.first_society}: the device's day is not that of the reference: "
            f"{difference}\nplease report it; societies verify finds the phase"
        )


@dataclass
class Proposal:
    """One offer in a bargain: A gives so many units and takes so many.

    Attributes
    ----------
    by : agent
    given, taken : units, from A's side
    surplus_a, surplus_b : util that each would gain
    refused : str, why; empty if it was carried out
    """

    by: int
    given: int
    taken: int
    surplus_a: float
    surplus_b: float
    refused: str


@dataclass
class Bargain:
    """Two agents look for quantities of two resources to swap.

    Attributes
    ----------
    a, b : agents
    give, take : resources; A gives ``give`` and takes ``take``
    most_a, least_b : units of ``give`` for a unit of ``take``
        What A would pay at most and B accept at least, by their marginal utilities before.
    rate : units of ``take`` for a unit of ``give``
    value_a, value_b : each [give, take], util that one unit more is worth, before the swap
    value_a_after, value_b_after : the same afterwards; empty without a swap
    """

    a: int
    b: int
    give: int
    take: int
    most_a: float = float("nan")
    least_b: float = float("nan")
    rate: float = float("nan")
    value_a: list[float] = field(default_factory=list)
    value_b: list[float] = field(default_factory=list)
    value_a_after: list[float] = field(default_factory=list)
    value_b_after: list[float] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    refused: str = ""

    @property
    def swap(self) -> Proposal | None:
        """The proposal that was carried out, if any."""
        return self.proposals[-1] if self.proposals and not self.proposals[-1].refused else None


@dataclass
class DeviceTry:
    """One agent tries to buy one device from another.

    Attributes
    ----------
    device, resource : type and resource of the device; resource None if none was wanted
    goods : resources for which the seller can make the device
    offered : resources with which the buyer would pay
    worth, cost : util, to the buyer and to the seller
    units : units of each offered resource to be paid
    paid, received : util that these are worth to the buyer and to the seller
    value_buyer, value_seller : util that one unit more of each offered resource is worth, before
    value_buyer_after, value_seller_after : the same after the deal; empty without one
    refused : str, why; empty if it was sold
    from_stock : whether the seller had a whole device; else it promises to make one
    """

    buyer: int
    seller: int
    device: int
    goods: list[int]
    offered: list[int]
    resource: int | None = None
    worth: float = float("nan")
    cost: float = float("nan")
    units: list[int] = field(default_factory=list)
    paid: float = float("nan")
    received: float = float("nan")
    value_buyer: list[float] = field(default_factory=list)
    value_seller: list[float] = field(default_factory=list)
    value_buyer_after: list[float] = field(default_factory=list)
    value_seller_after: list[float] = field(default_factory=list)
    from_stock: bool = False
    refused: str = ""


@dataclass(frozen=True)
class Place:
    """When in the day something happens.

    Attributes
    ----------
    step : Step
    market : int, the resource market that was opened last, from 1; 0: none yet
    """

    step: Step
    market: int


NOTHING_HELD = "one of the two no longer holds the resource"
NOTHING_FOR_SALE = "the seller can make none"
NOTHING_OFFERED = "the buyer holds nothing to pay with"
NOTHING_WANTED = "none is worth anything to the buyer"
TOO_DEAR = "the price is not below its worth to the buyer"
TOO_CHEAP = "the price does not exceed the seller's cost"


class Witness(Observer):
    """Keeps every bargain and every try to buy a device, with marginal utilities and surpluses.

    Parameters
    ----------
    agent : int, optional
        Only those in which this agent takes part.

    Attributes
    ----------
    events : list of (Place, event), in the order of the reference
    """

    def __init__(self, agent: int | None = None) -> None:
        super().__init__()
        self.agent = agent
        self.events: list[tuple[Place, Any]] = []
        self._bargain: Bargain | None = None
        self._try: DeviceTry | None = None

    def keep(self, event: Any) -> None:
        """Add an event that happens now."""
        self.events.append((Place(self.step, self.market), event))

    def concerns(self, *agents: int) -> bool:
        """Whether what these agents do is kept."""
        return self.agent is None or self.agent in agents

    def value(self, agent: int, resource: int, more: int = 0) -> float:
        """Return the marginal utility to the agent of a unit beyond ``more`` further ones."""
        from reference_py.economy.curves import marginal_utility, utility_curve

        curve = utility_curve(self.p, agent, resource)
        return float(marginal_utility(curve, self.s.held[agent][resource] + more))

    def on_bargain(self, a: int, b: int, give: int, take: int) -> None:
        """Two agents begin to talk about two resources."""
        self._bargain = None
        if not self.concerns(a, b):
            return
        self._bargain = bargain = Bargain(a, b, give, take)
        self.keep(bargain)
        if self.s.held[a][give] == 0 or self.s.held[b][take] == 0:
            bargain.refused = NOTHING_HELD
            return
        bargain.most_a = self.value(a, take) / self.value(a, give, -1)
        bargain.least_b = self.value(b, take, -1) / self.value(b, give)
        bargain.value_a = [self.value(a, give), self.value(a, take)]
        bargain.value_b = [self.value(b, give), self.value(b, take)]

    def on_proposal(self, by_a: bool, rate: float, given: int, taken: int) -> None:
        """One of them proposes quantities."""
        bargain = self._bargain
        if bargain is None:
            return
        a, b, give, take = bargain.a, bargain.b, bargain.give, bargain.take
        bargain.rate = rate
        surplus_a = self._surplus(a, take, taken, give, given)
        surplus_b = self._surplus(b, give, given, take, taken)
        short = [
            f"a{agent}"
            for agent, surplus in ((a, surplus_a), (b, surplus_b))
            if not surplus > self.p.min_surplus
        ]
        too_little = "both" if len(short) == 2 else "".join(short)
        if taken > self.s.held[b][take]:
            refused = f"a{b} has not so many"
        elif given > self.s.held[a][give]:
            refused = f"a{a} has not so many"
        else:
            refused = f"{too_little} would gain too little" if too_little else ""
        by = a if by_a else b
        bargain.proposals.append(Proposal(by, given, taken, surplus_a, surplus_b, refused))
        bargain.refused = refused

    def _surplus(self, agent: int, gets: int, got: int, gives: int, given: int) -> float:
        from reference_py.economy.curves import gain, loss, utility_curve

        held = self.s.held[agent]
        won = gain(utility_curve(self.p, agent, gets), held[gets], got)
        return float(won - loss(utility_curve(self.p, agent, gives), held[gives], given))

    def on_swap(self, a: int, b: int) -> None:
        """The last proposal was carried out."""
        bargain = self._bargain
        if bargain is not None:
            resources = (bargain.give, bargain.take)
            bargain.value_a_after = [self.value(a, r) for r in resources]
            bargain.value_b_after = [self.value(b, r) for r in resources]

    def on_device_offer(
        self, buyer: int, seller: int, goods: list[int], offered: list[int]
    ) -> None:
        """A seller says what it can make, a buyer with what it would pay."""
        self._try = None
        if self.concerns(buyer, seller):
            self._try = DeviceTry(buyer, seller, self.step.device, goods, offered)
            self.keep(self._try)
            if not offered:
                self._try.refused = NOTHING_OFFERED
            if not goods:
                self._try.refused = NOTHING_FOR_SALE

    def on_device_choice(self, pick: int | None, worth: float) -> None:
        """The buyer says which device it wants most."""
        if self._try is not None:
            self._try.resource, self._try.worth = pick, worth
            if pick is None:
                self._try.refused = NOTHING_WANTED

    def on_device_price(self, units: list[int], cost: float, paid: float, received: float) -> None:
        """A bundle is proposed."""
        one = self._try
        if one is None or one.resource is None:
            return
        one.units = [units[r] for r in one.offered]
        one.cost, one.paid, one.received = cost, paid, received
        one.value_buyer = [self.value(one.buyer, r) for r in one.offered]
        one.value_seller = [self.value(one.seller, r) for r in one.offered]
        owned = self.s.device_minutes[one.seller][one.device][one.resource]
        one.from_stock = not owned < self.p.device.lifetime[one.device]
        if not paid < one.worth:
            one.refused = TOO_DEAR
        elif not cost < received:
            one.refused = TOO_CHEAP

    def on_sale(self, buyer: int, seller: int, resource: int) -> None:
        """The device changes hands."""
        if self._try is not None:
            self._try.value_buyer_after = [self.value(buyer, r) for r in self._try.offered]
            self._try.value_seller_after = [self.value(seller, r) for r in self._try.offered]


def swaps(events: list[tuple[Place, Any]]) -> list[tuple[Place, Bargain]]:
    """Return the bargains that ended in a swap."""
    return [(place, e) for place, e in events if isinstance(e, Bargain) and e.swap is not None]


def sales(events: list[tuple[Place, Any]]) -> list[tuple[Place, DeviceTry]]:
    """Return the devices that were sold."""
    return [(place, e) for place, e in events if isinstance(e, DeviceTry) and not e.refused]
