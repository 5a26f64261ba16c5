"""How does one tell an agent's day in words: lines of text from the events of `trace`.

Resources are r0, r1, ..., agents a0, a1, ...; all values are in util. Long lists are summarised
unless everything is asked for. Lines end at 100 characters.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from societies.economy.replay import Bargain, DeviceTry
from societies.economy.state import DEVICE_TYPES
from societies.economy.trace import (
    Attempt,
    Invented,
    Made,
    Meeting,
    OwnUse,
    Pairing,
    Section,
    Snapshot,
    Trace,
    Unit,
)

WIDTH = 100
A_FEW = 8
"""Entries of a list that are written out where not everything is asked for."""


def told(trace: Trace, *, full: bool) -> Iterator[str]:
    """Yield the lines of the whole day."""
    p = trace.parameters
    yield f"Agent {trace.agent} of society {trace.society} on day {trace.day}"
    yield from wrapped(
        f"{p.agents} agents, {p.resources} resources; r4 is resource 4, a4 agent 4; "
        "values and gains are in util, a price is units got for a unit given"
    )
    yield from _part("Morning", _holdings(trace, trace.morning, full))
    markets = max((section.market for section in trace.sections), default=0)
    for section in trace.sections:
        lines = list(TELL[section.phase](trace, section, full))
        change = section.after.utility - section.before.utility
        if change:
            lines.append(f"utility of what it holds: {_change(section.before, section.after)}")
        if lines or full or len(trace.sections) == 1:
            yield from _part(_title(section, markets), lines or ["nothing"])
    if trace.evening.alive:
        lines = list(_holdings(trace, trace.evening, full))
        lines.append(f"utility since the morning: {_change(trace.morning, trace.evening)}")
        yield from _part("After the day", lines)
    yield ""
    yield from wrapped(f"Reached {trace.reached}; {trace.checked} (sha256 {_short(trace)}).")


def _change(before: Snapshot, after: Snapshot) -> str:
    change = after.utility - before.utility
    sign = "+" if change > 0.0 else ""
    return f"{number(before.utility)} -> {number(after.utility)} ({sign}{number(change)})"


def _short(trace: Trace) -> str:
    return trace.state_sha256[:16]


def _part(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield ""
    yield title
    for line in lines:
        yield from wrapped(line, "  ")


def wrapped(line: str, indent: str = "") -> list[str]:
    """Return the line in pieces that fit the width."""
    inner = line.lstrip(" ")
    indent += " " * (len(line) - len(inner))
    return textwrap.wrap(
        inner,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def number(x: float) -> str:
    """Write a number as people read it: four digits, or all before the point."""
    return f"{x:,.0f}" if abs(x) >= 10000 else f"{x:.4g}"


def short(x: float) -> str:
    """Write a number in a table: three digits, or all before the point."""
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def _title(section: Section, markets: int) -> str:
    if section.phase == "trading":
        which = f" {section.market} of {markets}" if markets > 1 else ""
        return f"Resource market{which}"
    titles = {
        "device_trading": "Device trade",
        "own_use": "Own use",
        "production": "Making devices",
        "extraction": "Extraction",
        "invention": "Invention",
        "end_day": "Evening: what it remembers",
        "consumption": "Night: consumption",
        "shocks": "Shocks",
    }
    title = titles[section.phase]
    return title if section.device < 0 else f"{title}: {name_of(section.device)}"


def name_of(device: int) -> str:
    """Return the type's name in words."""
    return DEVICE_TYPES[device].replace("_", " ")


def listed(parts: list[str], full: bool, most: int = A_FEW) -> str:
    """Join the parts, leaving out most of a long list unless everything is asked for."""
    if full or len(parts) <= most:
        return ", ".join(parts) or "nothing"
    return f"{', '.join(parts[:most])} and {len(parts) - most} more"


def resources(numbers: Iterable[int]) -> str:
    """Name resources."""
    return " ".join(f"r{r}" for r in numbers) or "nothing"


def counted(count: int, what: str) -> str:
    """Say how many."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def rounds(numbers: Iterable[int]) -> str:
    """Write the numbers of rounds, runs of them together."""
    runs: list[list[int]] = []
    for n in sorted(set(numbers)):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    words = [f"{a}" if a == b else f"{a}-{b}" for a, b in runs]
    single = len(runs) == 1 and runs[0][0] == runs[0][1]
    return f"{'round' if single else 'rounds'} {', '.join(words)}"


def _holdings(trace: Trace, now: Snapshot, full: bool) -> Iterator[str]:
    held = sorted(((units, r) for r, units in enumerate(now.held) if units), key=_largest)
    parts = [f"{units} r{r}" for units, r in held]
    total = counted(sum(now.held), "unit")
    kinds = counted(len(held), "resource")
    yield f"holds {total} of {kinds}, worth {number(now.utility)}: {listed(parts, full)}"
    dear = sorted(((v, r) for r, v in enumerate(now.value)), key=lambda pair: (-pair[0], pair[1]))
    values = [f"r{r} {number(v)}" for v, r in dear]
    yield f"remembers what one more unit is worth: {listed(values, full)}"
    skilled = sorted(((e, r) for r, e in enumerate(now.experience) if e), key=_largest)
    yield "experience in extracting: " + listed([f"r{r} {number(e)}" for e, r in skilled], full)
    if trace.parameters.device is None:
        return
    for device in range(len(DEVICE_TYPES)):
        owned = [
            f"r{r} {number(minutes)}"
            for r, minutes in enumerate(now.device_minutes[device])
            if minutes
        ]
        if owned:
            yield f"minutes of use left, {name_of(device)}: {listed(owned, full)}"
        knows = [f"r{r} {number(e)}" for r, e in enumerate(now.device_experience[device]) if e]
        if knows:
            yield f"knows how to make (experience), {name_of(device)}: {listed(knows, full)}"
    if now.overtime:
        yield f"begins the working day with {number(now.overtime)} min of making done before"


def _largest(pair: tuple[float, int]) -> tuple[float, int]:
    return -pair[0], pair[1]


def _trading(trace: Trace, section: Section, full: bool) -> Iterator[str]:
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
            idle.setdefault("met nobody", []).append(round_)
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
    mine, theirs = (met.menu_a, met.menu_b) if met.a == me else (met.menu_b, met.menu_a)
    if not mine:
        return "held nothing to offer"
    if not theirs:
        return "the other held nothing to offer"
    return "the offers left nothing to swap"


SWAP_HEAD = [
    *("round", "with", "gives for gets", "price", "at the margin", "one more given, got"),
    *("gains", "other", "proposal"),
]
"""Columns of the swaps of a market.

The price and its limits by marginal utilities are units got for a unit given. What one more unit
is worth to the agent is told before and after the swap.
"""


class _View(NamedTuple):
    """A swap as one of the two sees it.

    Attributes
    ----------
    give, gets : (units, resource)
    worth_given, worth_got : (before, after), util of one more unit
    price, low, high : units got for a unit given, and the limits by marginal utilities
    gains : util of the agent and of the other
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


def aligned(rows: list[list[str]]) -> Iterator[str]:
    """Yield the rows with their columns under each other; wider ones than a page are wrapped."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()


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
        return f"no r{give} for r{get}: {bargain.refused}"
    offers = []
    for one in bargain.proposals:
        gives, gets = (one.given, one.taken) if mine else (one.taken, one.given)
        gains = (one.surplus_a, one.surplus_b) if mine else (one.surplus_b, one.surplus_a)
        by = "it" if one.by == me else f"a{other}"
        offers.append(
            f"{by} proposes {gives} r{give} for {gets} r{get} (it would gain {number(gains[0])}, "
            f"a{other} {number(gains[1])}): {_of_me(one.refused, me)}"
        )
    rate = bargain.rate if mine else 1.0 / bargain.rate
    return f"no r{give} for r{get} at {number(rate)}: {'; '.join(offers)}"


def _of_me(reason: str, me: int) -> str:
    words = ["it" if word == f"a{me}" else word for word in reason.split()]
    return " ".join(words)


def _reason(bargain: Bargain, me: int) -> str:
    """Return why the last proposal was refused, without the number of the other."""
    reason = bargain.refused
    other = bargain.b if bargain.a == me else bargain.a
    words = {f"a{me}": "it", f"a{other}": "the other"}
    return " ".join(words.get(word, word) for word in reason.split())


def _device_trading(trace: Trace, section: Section, full: bool) -> Iterator[str]:
    if not any(isinstance(event, Pairing) for _, event in section.events):
        if full:
            yield "no meetings: nobody knows any, or no partner was left"
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
        sold = [one for one in tries if not one.refused]
        for one in tries:
            if one.refused:
                failures[_failure(one, me)] += 1
        if full or sold:
            met = "no partner" if not pairs else _pairing(pairs[0], me)
            yield f"round {round_}: {met}"
            for one in tries:
                if not one.refused:
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
        why = "drawn at random, as everybody left had been met"
    elif pair.gained > 0.0:
        who = "it" if pair.a == me else f"a{pair.a}"
        why = f"by whose deals {who} gained {number(pair.gained)} of late, the most of those left"
    else:
        why = "not met yet today"
    chosen = "took" if pair.a == me else "was taken by"
    return f"{chosen} a{other}, {why}" if pair.a == me or pair.met else f"{chosen} a{other} ({why})"


def _failure(one: DeviceTry, me: int) -> str:
    role = "buying" if one.buyer == me else "selling"
    return f"{role}, {one.refused}"


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
    device = f"{name_of(one.device)} r{one.resource}"
    values = [
        f"r{r} {number(b)} -> {number(a)}"
        for r, n, b, a in zip(one.offered, one.units, before, after, strict=True)
        if n
    ]
    how = "from stock" if one.from_stock else "to be made today"
    if buys:
        gain = one.worth - one.paid
        deal = f"buys {device} ({how}) from a{one.seller} for {_bundle(one)}"
        terms = (
            f"worth {number(one.worth)} to it, it pays {number(one.paid)} and gains "
            f"{number(gain)}; a{one.seller} gains {number(one.received - one.cost)}"
        )
    else:
        gain = one.received - one.cost
        deal = f"sells {device} ({how}) to a{one.buyer} for {_bundle(one)}"
        terms = (
            f"costs it {number(one.cost)}, it receives {number(one.received)} and gains "
            f"{number(gain)}; a{one.buyer} gains {number(one.worth - one.paid)}"
        )
    more = f"; worth of one more: {', '.join(values)}" if values else ""
    return f"{deal}: {terms}{more}"


def _no_sale(one: DeviceTry, me: int) -> str:
    verb = f"buys none from a{one.seller}" if one.buyer == me else f"sells none to a{one.buyer}"
    facts = f"for sale {resources(one.goods)}, paid with {resources(one.offered)}"
    if one.resource is not None:
        facts += (
            f", {name_of(one.device)} r{one.resource} worth {number(one.worth)} to the buyer, cost "
            f"{number(one.cost)}, for {_bundle(one)}: gives up {number(one.paid)}, brings "
            f"{number(one.received)}"
        )
    return f"{verb}: {one.refused} ({facts})"


def _own_use(trace: Trace, section: Section, full: bool) -> Iterator[str]:
    for _, event in section.events:
        if not isinstance(event, OwnUse):
            continue
        if event.resource is not None:
            yield (
                f"will make {name_of(event.device)} r{event.resource} for itself: brings "
                f"{number(event.benefit)}, costs {number(event.cost)}"
            )
            continue
        if not event.considered:
            if full:
                yield "knows how to make none"
            continue
        if full:
            for one in event.considered:
                yield (
                    f"not (another) r{one.resource}: {one.refused} (brings {number(one.benefit)}, "
                    f"costs {number(one.cost)})"
                )
        else:
            reasons: dict[str, list[int]] = {}
            for one in event.considered:
                why = "lacks resources" if one.refused.startswith("lacks") else one.refused
                reasons.setdefault(why, []).append(one.resource)
            for why, which in reasons.items():
                yield f"not (another) {listed([f'r{r}' for r in which], full)}: {why}"


def _production(trace: Trace, section: Section, full: bool) -> Iterator[str]:
    from reference_py.economy.devices import COMPONENT

    groups: dict[tuple[int, int, int | None], list[Made]] = {}
    for _, event in section.events:
        if isinstance(event, Made):
            groups.setdefault((event.device, event.resource, event.by), []).append(event)
    for (device, resource, by), made in groups.items():
        minutes = sum(one.minutes for one in made)
        with_ = "by hand" if by is None else f"with {name_of(by)}"
        parts = resources(made[0].parts)
        if device in COMPONENT:
            parts = f"a {name_of(COMPONENT[device])} for each of {parts}"
        yield (
            f"made {len(made)} x {name_of(device)} r{resource} {with_}, made of {parts}: "
            f"{number(minutes)} min, experience {number(made[0].experience)}"
        )
    before, after = section.before.overtime, section.after.overtime
    if after > before:
        yield f"{number(after)} min of the working day are spent"


def _extraction(trace: Trace, section: Section, full: bool) -> Iterator[str]:
    units = [event for _, event in section.events if isinstance(event, Unit)]
    if section.before.overtime:
        yield f"{number(section.before.overtime)} min of the day were spent on making devices"
    if not units:
        yield "extracted nothing: making devices filled the day"
    if full:
        for one in units:
            with_ = "by hand" if one.source == 0 else f"with {name_of(one.source - 1)}"
            yield (
                f"minute {one.start:.1f}: a unit of r{one.resource} {with_}, "
                f"{number(one.minutes)} min, worth {number(one.value)}, "
                f"{number(one.gain)} a minute"
            )
    sources: dict[int, dict[int, list[Unit]]] = {}
    for one in units:
        sources.setdefault(one.source, {}).setdefault(one.resource, []).append(one)
    for source, kinds in sorted(sources.items()):
        with_ = "by hand" if source == 0 else f"with {name_of(source - 1)}"
        all_of = [one for those in kinds.values() for one in those]
        most = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
        parts = [
            f"{len(those)} r{r} ({number(those[0].minutes)} min, gain a minute "
            f"{number(those[0].gain)} -> {number(those[-1].gain)})"
            for r, those in most
        ]
        yield (
            f"extracted {counted(len(all_of), 'unit')} {with_} in "
            f"{number(sum(one.minutes for one in all_of))} min: {listed(parts, full, 6)}"
        )
    if units:
        yield (
            f"always the unit that pays most a minute: the first {number(units[0].gain)}, "
            f"the last {number(units[-1].gain)}"
        )


def _invention(trace: Trace, section: Section, full: bool) -> Iterator[str]:
    me = trace.agent
    attempts = [event for _, event in section.events if isinstance(event, Attempt)]
    inventions = [event for _, event in section.events if isinstance(event, Invented)]
    found_one = any(one.agent == me for one in inventions)
    for one in attempts:
        kind = name_of(one.device)
        if not one.considered:
            yield f"{kind}: too few ingredients to try"
            continue
        tried = f"tinkers with {resources(one.considered)} to find a device: {kind}"
        if not one.open:
            yield f"{tried}: all are known already"
            continue
        outcome = "found one" if found_one else "found nothing"
        yield (
            f"{tried}, unknown for {resources(one.open)}: probability {number(one.probability)} "
            f"by experience {number(one.experience)}; {outcome}"
        )
    for found in inventions:
        who = "invents" if found.agent == me else f"a{found.agent} invents"
        yield f"{who} {name_of(found.device)} r{found.resource} of {resources(found.parts)}"


def _end_day(trace: Trace, section: Section, full: bool) -> Iterator[str]:
    before, after = section.before, section.after
    changed = [
        (abs(b - a), f"r{r} {number(a)} -> {number(b)}")
        for r, (a, b) in enumerate(zip(before.value, after.value, strict=True))
        if a != b
    ]
    if changed:
        changed.sort(key=lambda pair: -pair[0])
        yield f"what one more unit is worth: {listed([words for _, words in changed], full)}"
    for device, (old, new) in enumerate(
        zip(before.device_experience, after.device_experience, strict=True)
    ):
        gone = [f"r{r}" for r, (a, b) in enumerate(zip(old, new, strict=True)) if a > 0.0 and not b]
        if gone:
            yield f"forgot how to make {name_of(device)}: {listed(gone, full)}"
        less = [
            f"r{r} {number(a)} -> {number(b)}"
            for r, (a, b) in enumerate(zip(old, new, strict=True))
            if a > b > 0.0
        ]
        if less:
            yield f"experience in making fades, {name_of(device)}: {listed(less, full)}"


def _consumption(trace: Trace, section: Section, full: bool) -> Iterator[str]:
    before, after = section.before, section.after
    used = [
        (a - b, r) for r, (a, b) in enumerate(zip(before.held, after.held, strict=True)) if a > b
    ]
    used.sort(key=_largest)
    total = counted(sum(n for n, _ in used), "unit")
    parts = [f"{n} r{r}" for n, r in used]
    yield f"used up {total}: {listed(parts, full)}"
    for device, (old, new) in enumerate(
        zip(before.device_minutes, after.device_minutes, strict=True)
    ):
        lost = [
            f"r{r} {number(a)} -> {number(b)}"
            for r, (a, b) in enumerate(zip(old, new, strict=True))
            if a > b
        ]
        if lost:
            yield f"minutes of use left, {name_of(device)}: {listed(lost, full)}"


def _shocks(trace: Trace, section: Section, full: bool) -> Iterator[str]:
    if not section.after.alive:
        yield "is removed from the society"
        return
    for _, event in section.events:
        yield f"{event.what} {event.index} is removed from the society"


TELL: dict[str, Callable[[Trace, Section, bool], Iterator[str]]] = {
    "trading": _trading,
    "device_trading": _device_trading,
    "own_use": _own_use,
    "production": _production,
    "extraction": _extraction,
    "invention": _invention,
    "end_day": _end_day,
    "consumption": _consumption,
    "shocks": _shocks,
}
"""Who tells which part of the day."""
