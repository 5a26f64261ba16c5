"""Which events does the reference report during a day? One class for each kind.

All values come from the reference, which reports them where it decides. ``refused`` is the reason
why an action was not carried out, None if it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

Reason = tuple[str, Sequence[int]]
"""A text, and the agents or resources that it is about."""

NAN = float("nan")


def reason_text(reason: Reason | None, names: Mapping[int, str] | None = None) -> str:
    """Return the reason why agents refused as a text, or "".

    ``names`` has names for some agents, such as "it"; others are named by number.
    """
    words, about = reason or ("", ())
    who = [(names or {}).get(agent, f"a{agent}") for agent in about]
    return f"{'both' if len(who) > 1 else who[0]} {words}" if who else words


def worded_of_resources(reason: Reason | None) -> str:
    """Return the reason why an agent makes no device as a text, or ""; it names resources."""
    words, about = reason or ("", ())
    return f"{words} {', '.join(f'r{r}' for r in about)}" if about else words


@dataclass
class Meeting:
    """Two agents meet in the resource market and see each other's offers.

    ``refused`` says why they have nothing to swap.
    """

    a: int
    b: int
    menu_a: list[int]
    menu_b: list[int]
    refused: Reason | None


@dataclass
class Proposal:
    """One offer in a bargain: A gives ``given`` units and takes ``taken`` units.

    Attributes
    ----------
    by : agent that makes the offer
    given, taken : units, from A's side
    surplus_a, surplus_b : util that A and B would gain
    """

    by: int
    given: int
    taken: int
    surplus_a: float
    surplus_b: float
    refused: Reason | None


@dataclass(slots=True)
class Bargain:
    """Two agents look for quantities of two resources to swap.

    Attributes
    ----------
    a, b : agents
    give, take : resources; A gives ``give`` and takes ``take``
    most_a, least_b : the most that A would pay and the least that B would accept, by their marginal
        utilities before the swap
    rate : units of ``take`` for a unit of ``give``
    value_a, value_b : [give, take], marginal utility of one more unit before the swap, util
    value_a_after, value_b_after : the same after the swap; empty without a swap
    """

    a: int
    b: int
    give: int
    take: int
    most_a: float = NAN
    least_b: float = NAN
    rate: float = NAN
    value_a: list[float] = field(default_factory=list)
    value_b: list[float] = field(default_factory=list)
    value_a_after: list[float] = field(default_factory=list)
    value_b_after: list[float] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    refused: Reason | None = None

    @property
    def swap(self) -> Proposal | None:
        """The proposal that was carried out, if any."""
        return self.proposals[-1] if self.value_a_after else None


@dataclass(slots=True)
class DeviceTry:
    """One agent tries to buy one device from another.

    Attributes
    ----------
    device_type, resource : the device; resource is None if the buyer wanted none
    goods : resources for which the seller can make the device
    offered : resources with which the buyer would pay
    worth, cost : util, worth to the buyer and cost to the seller
    units : units of each offered resource to be paid
    paid, received : utility of the payment to the buyer and to the seller, util
    surplus_buyer, surplus_seller : util that each gained; NaN without a deal
    value_buyer, value_seller : marginal utility of each offered resource before the deal, util
    value_buyer_after, value_seller_after : the same after the deal; empty without a deal
    from_stock : True if the seller had a whole device; else it promises to make one
    """

    buyer: int
    seller: int
    device_type: int
    goods: list[int]
    offered: list[int]
    resource: int | None = None
    worth: float = NAN
    cost: float = NAN
    units: list[int] = field(default_factory=list)
    paid: float = NAN
    received: float = NAN
    surplus_buyer: float = NAN
    surplus_seller: float = NAN
    value_buyer: list[float] = field(default_factory=list)
    value_seller: list[float] = field(default_factory=list)
    value_buyer_after: list[float] = field(default_factory=list)
    value_seller_after: list[float] = field(default_factory=list)
    from_stock: bool = False
    refused: Reason | None = None

    @property
    def sold(self) -> bool:
        """True if the device was sold."""
        return bool(self.value_buyer_after)


@dataclass
class Pairing:
    """Two agents are paired for a round of device trade.

    Attributes
    ----------
    a, b : agents; A was drawn and chose B
    gained : util that A gained in the deals with B that it remembers, for this type
    met : True if A had already met all remaining agents today for this type; then B was drawn
    """

    a: int
    b: int
    gained: float
    met: bool


@dataclass
class Unit:
    """A unit is extracted.

    Attributes
    ----------
    source : 0 by hand, else 1 + the type of the device
    start, minutes : begin in the working day, and duration, min
    value : marginal utility of the unit, util; ``gain`` is per minute
    """

    resource: int
    source: int
    start: float
    minutes: float
    value: float
    gain: float


@dataclass
class Considered:
    """A device that an agent can make and considers for its own use; see ``refused``."""

    resource: int
    benefit: float
    cost: float
    refused: Reason | None


@dataclass
class OwnUse:
    """An agent decides to make a device for itself, or to stop making them.

    Attributes
    ----------
    resource : resource of the device, None if no device would gain
    considered : all devices of the type that the agent knows
    """

    device_type: int
    resource: int | None
    benefit: float
    cost: float
    considered: list[Considered]


@dataclass
class Made:
    """A promised device is made.

    Attributes
    ----------
    by : type of the device that sped up the work, None without a device
    experience : experience in making it, before
    parts : resources that are the parts, or whose devices of the type ``component`` are
    component : type of the parts; None for a tool, which is made of resources
    """

    device_type: int
    resource: int
    by: int | None
    minutes: float
    experience: float
    parts: list[int]
    component: int | None


@dataclass
class Attempt:
    """An agent tries to invent.

    Attributes
    ----------
    considered : resources, or components, that the agent tries; empty if it has too few
    open : resources whose device no agent knows
    experience : experience with everything that is considered
    probability : probability of inventing one of the open devices
    """

    device_type: int
    considered: list[int]
    open: list[int]
    experience: float
    probability: float


@dataclass
class Invented:
    """An agent invents a device."""

    agent: int
    device_type: int
    resource: int
    parts: list[int]


@dataclass
class Removed:
    """A shock takes a resource, or an agent, from the society.

    Attributes
    ----------
    what : resource or agent
    index : its index; the one that was drawn if the configuration says random
    """

    what: str
    index: int


@dataclass
class Taxed:
    """The agent pays taxes.

    Attributes
    ----------
    base : units that the taxes on holdings, income and sales are about
    rates : the share of them that is due
    paid : units paid of each resource
    owed : part of a unit of each resource that is carried to the next evening
    """

    base: list[int]
    rates: list[float]
    paid: list[int]
    owed: list[float]


@dataclass
class Received:
    """The agent receives transfers.

    Attributes
    ----------
    received : units of each resource
    poorest, least_extracting : whether the agent is one of these
    making : minutes of making devices that are subsidised
    """

    received: list[int]
    poorest: bool
    least_extracting: bool
    making: float


def complete(event: Any, facts: Mapping[str, Any]) -> None:
    """Add facts of an event that the reference reports later."""
    for name, value in facts.items():
        setattr(event, name, value)


def facts_of(event: Any) -> dict[str, Any]:
    """Return the facts of an event by name, with reasons as texts."""
    facts = {one.name: getattr(event, one.name) for one in fields(event)}
    if "refused" in facts:
        words = worded_of_resources if isinstance(event, Considered) else reason_text
        facts["refused"] = words(event.refused)
    return {
        name: [facts_of(one) if is_dataclass(one) else one for one in value]
        if isinstance(value, list)
        else value
        for name, value in facts.items()
    }
