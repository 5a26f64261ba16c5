"""How are the markets of an agent's day written as a text: partners, deals and refusals?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from societies.economy.explain.agent_day import DayPart, Trace
from societies.economy.explain.events import Bargain, DeviceTry, Meeting, Pairing, reason_text
from societies.economy.explain.words import number, resources, rounds, short, type_name
from societies.words import aligned


def trading(trace: Trace, section: DayPart, full: bool) -> Iterator[str]:
    """Yield what the agent did in a resource market."""
    me = trace.agent
    meetings: dict[int, list[Any]] = {}
    for place, event in section.events:
        meetings.setdefault(place.step.round, []).append(event)
    idle: dict[str, list[int]] = {}
    refusals: Counter[str] = Counter()
    table: list[list[str]] = []
    for round_ in section.rounds:
        events = meetings.get(round_, [])
        menus = [event for event in events if isinstance(event, Meeting)]
        bargains = [event for event in events if isinstance(event, Bargain)]
        if not menus:
            idle.setdefault("met no other agent", []).append(round_)
            continue
        met = menus[0]
        other = met.b if met.a == me else met.a
        swaps = [bargain for bargain in bargains if bargain.swap]
        if full:
            mine, theirs = (met.menu_a, met.menu_b) if met.a == me else (met.menu_b, met.menu_a)
            yield (
                f"round {round_}, met a{other}; least valued of what each holds: its own "
                f"{resources(mine)}, a{other}'s {resources(theirs)}"
            )
        for bargain in bargains:
            if bargain.swap and full:
                yield f"  {_swap(bargain, me)}"
            elif bargain.swap:
                table.append([str(round_), *_row(bargain, me)])
            elif full:
                yield f"  {_refused(bargain, me)}"
            else:
                refusals[_reason(bargain, me)] += 1
        if not swaps:
            why = "could not agree" if bargains else _nothing_to_swap(met, me)
            idle.setdefault(why, []).append(round_)
    if table:
        yield from aligned([SWAP_HEAD, *table])
    for why, numbers in idle.items():
        yield f"{rounds(numbers)}: {why}"
    if refusals:
        reasons = "; ".join(f"{count} x {why}" for why, count in refusals.most_common())
        yield f"bargains without a swap: {reasons}"


def _nothing_to_swap(met: Meeting, me: int) -> str:
    words, about = met.refused or ("did not bargain", ())
    return f"the other {words}" if about and me not in about else words


SWAP_HEAD = [
    *("round", "with", "gives for gets", "price", "at the margin", "one more given, got"),
    *("gains", "other", "proposal"),
]
"""Columns of the swaps of a market.

The price, and its limits by marginal utilities, are units received for a unit given. The marginal
utility of one more unit is given before and after the swap.
"""


class _View(NamedTuple):
    """A swap from the side of one of the two agents.

    Attributes
    ----------
    give, gets : (units, resource)
    worth_given, worth_got : (before, after), util of one more unit
    price, low, high : units received for a unit given, and the limits by marginal utilities
    gains : util gained by the agent and by the other
    """

    other: int
    gives: tuple[int, int]
    gets: tuple[int, int]
    worth_given: tuple[float, float]
    worth_got: tuple[float, float]
    price: float
    low: float
    high: float
    gains: tuple[float, float]
    own_proposal: bool


def _view(bargain: Bargain, me: int) -> _View:
    swap = bargain.swap
    assert swap is not None
    mine = bargain.a == me
    before, after = (
        (bargain.value_a, bargain.value_a_after)
        if mine
        else (bargain.value_b, bargain.value_b_after)
    )
    given, taken = (swap.given, bargain.give), (swap.taken, bargain.take)
    low, high = bargain.least_b, bargain.most_a
    worth = (before[0], after[0]), (before[1], after[1])
    own = swap.by == me
    if mine:
        limits = 1.0 / high, 1.0 / low
        gains = swap.surplus_a, swap.surplus_b
        return _View(bargain.b, given, taken, *worth, bargain.rate, *limits, gains, own)
    gains = swap.surplus_b, swap.surplus_a
    price = 1.0 / bargain.rate
    return _View(bargain.a, taken, given, *worth[::-1], price, low, high, gains, own)


def _row(bargain: Bargain, me: int) -> list[str]:
    one = _view(bargain, me)
    worth = (
        f"{short(before)}>{short(after)}" for before, after in (one.worth_given, one.worth_got)
    )
    return [
        f"a{one.other}",
        f"{one.gives[0]} r{one.gives[1]} for {one.gets[0]} r{one.gets[1]}",
        short(one.price),
        f"{short(one.low)}-{short(one.high)}",
        ", ".join(worth),
        *(short(gain) for gain in one.gains),
        "own" if one.own_proposal else "other's",
    ]


def _swap(bargain: Bargain, me: int) -> str:
    one = _view(bargain, me)
    (gives, give), (gets, get) = one.gives, one.gets
    by = "its own" if one.own_proposal else f"a{one.other}'s"
    given, got = (
        f"{number(before)}, now {number(after)}"
        for before, after in (one.worth_given, one.worth_got)
    )
    return (
        f"gives a{one.other} {gives} r{give} for {gets} r{get}, {by} proposal: one more r{give} "
        f"was worth {given}, one more r{get} {got}; price {number(one.price)} r{get} "
        f"for a r{give} (by marginal utility between {number(one.low)} and {number(one.high)}); "
        f"it gains {number(one.gains[0])}, a{one.other} {number(one.gains[1])}"
    )


def _refused(bargain: Bargain, me: int) -> str:
    mine = bargain.a == me
    other = bargain.b if mine else bargain.a
    give, get = (bargain.give, bargain.take) if mine else (bargain.take, bargain.give)
    if not bargain.proposals:
        return f"no r{give} for r{get}: {reason_text(bargain.refused)}"
    offers = []
    for one in bargain.proposals:
        gives, gets = (one.given, one.taken) if mine else (one.taken, one.given)
        gains = (one.surplus_a, one.surplus_b) if mine else (one.surplus_b, one.surplus_a)
        by = "it" if one.by == me else f"a{other}"
        offers.append(
            f"{by} proposes {gives} r{give} for {gets} r{get} (it would gain {number(gains[0])}, "
            f"a{other} {number(gains[1])}): {reason_text(one.refused, {me: 'it'})}"
        )
    rate = bargain.rate if mine else 1.0 / bargain.rate
    return f"no r{give} for r{get} at {number(rate)}: {'; '.join(offers)}"


def _reason(bargain: Bargain, me: int) -> str:
    """Return why the last proposal was refused, without the number of the other."""
    other = bargain.b if bargain.a == me else bargain.a
    return reason_text(bargain.refused, {me: "it", other: "the other"})


def device_trading(trace: Trace, section: DayPart, full: bool) -> Iterator[str]:
    """Yield what the agent did in the market for a type of device."""
    if not any(isinstance(event, Pairing) for _, event in section.events):
        if full:
            yield "no meetings: no agent knows any, or no partner was left"
        return
    me = trace.agent
    failures: Counter[str] = Counter()
    silent: list[int] = []
    by_round: dict[int, list[Any]] = {}
    for place, event in section.events:
        by_round.setdefault(place.step.round, []).append(event)
    for round_ in section.rounds:
        events = by_round.get(round_, [])
        pairs = [event for event in events if isinstance(event, Pairing)]
        tries = [event for event in events if isinstance(event, DeviceTry)]
        failures.update(_failure(one, me) for one in tries if not one.sold)
        if full or any(one.sold for one in tries):
            met = "no partner" if not pairs else _pairing(pairs[0], me)
            yield f"round {round_}: {met}"
            for one in tries:
                if one.sold:
                    yield f"  {_sale(one, me)}"
                elif full:
                    yield f"  {_no_sale(one, me)}"
        else:
            silent.append(round_)
    if silent:
        yield f"{rounds(silent)}: no deal"
    if failures and not full:
        yield "tries that failed: " + "; ".join(f"{n} x {why}" for why, n in failures.most_common())


def _pairing(pair: Pairing, me: int) -> str:
    other = pair.b if pair.a == me else pair.a
    if pair.met:
        why = "drawn at random, since it had met all that were left"
    elif pair.gained > 0.0:
        who = "it" if pair.a == me else f"a{pair.a}"
        why = f"not met yet today; {who} gained {number(pair.gained)} by their deals of late"
    else:
        why = "not met yet today"
    chosen = "took" if pair.a == me else "was taken by"
    return f"{chosen} a{other}, {why}" if pair.a == me or pair.met else f"{chosen} a{other} ({why})"


def _failure(one: DeviceTry, me: int) -> str:
    role = "buying" if one.buyer == me else "selling"
    return f"{role}, {reason_text(one.refused)}"


def _bundle(one: DeviceTry) -> str:
    parts = [f"{n} r{r}" for n, r in zip(one.units, one.offered, strict=True) if n]
    return " + ".join(parts) or "nothing"


def _sale(one: DeviceTry, me: int) -> str:
    buys = one.buyer == me
    before, after = (
        (one.value_buyer, one.value_buyer_after)
        if buys
        else (one.value_seller, one.value_seller_after)
    )
    device = f"{type_name(one.device_type)} r{one.resource}"
    values = [
        f"r{r} {number(b)} -> {number(a)}"
        for r, n, b, a in zip(one.offered, one.units, before, after, strict=True)
        if n
    ]
    how = "from stock" if one.from_stock else "to be made today"
    if buys:
        deal = f"buys {device} ({how}) from a{one.seller} for {_bundle(one)}"
        terms = (
            f"worth {number(one.worth)} to it, it pays {number(one.paid)} and gains "
            f"{number(one.surplus_buyer)}; a{one.seller} gains {number(one.surplus_seller)}"
        )
    else:
        deal = f"sells {device} ({how}) to a{one.buyer} for {_bundle(one)}"
        terms = (
            f"costs it {number(one.cost)}, it receives {number(one.received)} and gains "
            f"{number(one.surplus_seller)}; a{one.buyer} gains {number(one.surplus_buyer)}"
        )
    more = f"; worth of one more: {', '.join(values)}" if values else ""
    return f"{deal}: {terms}{more}"


def _no_sale(one: DeviceTry, me: int) -> str:
    verb = f"buys none from a{one.seller}" if one.buyer == me else f"sells none to a{one.buyer}"
    facts = f"for sale {resources(one.goods)}, paid with {resources(one.offered)}"
    if one.resource is not None:
        facts += (
            f", {type_name(one.device_type)} r{one.resource} worth {number(one.worth)} to the "
            f"buyer, cost {number(one.cost)}, for {_bundle(one)}: gives up {number(one.paid)}, "
            f"brings {number(one.received)}"
        )
    return f"{verb}: {reason_text(one.refused)} ({facts})"
