"""How is an agent's life written as a text: what made it rich or poor, and on which days?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from reference_py.economy.devices import DEVICE_TYPES
from societies.economy.explain.agent_life import PARTS, Day, Dealt, Life
from societies.economy.explain.words import listed, number, short, type_name
from societies.words import aligned, counted, titled, wrapped_lines

STRETCHES = 10
"""Rows of the table unless ``full``: the days are divided into this number of parts."""

PARTNERS = 5

NOTHING = 1e-6
"""Differences up to this, in util, are treated as rounding errors."""

WORDS = {
    "extraction": "extraction",
    "swaps": "gains of swaps",
    "sales": "sales of devices",
    "payments": "payments for devices",
    "redistribution": "taxes and transfers",
    "consumption": "consumption",
    "devices": "worth of its devices",
    "other": "units made into devices",
}
EARNED = ("extraction", "swaps", "sales")


def text(life: Life, *, full: bool = False) -> str:
    """Return the life as a text; with ``full`` every day has a row and nothing is left out."""
    return "\n".join(_lines(life, full))


def _lines(life: Life, full: bool) -> Iterator[str]:
    if life.days:
        yield from wrapped_lines(_cause(life))
        yield ""
    yield f"Agent {life.agent} of society {life.society}, days {life.first} to {life.last}"
    yield from wrapped_lines(
        f"{life.agents} agents, {life.resources} resources; r4 is resource 4, a4 agent 4; values "
        "are in util; wealth is the utility of its stocks and the worth of its devices after "
        "consumption, rank 1 the wealthiest of the living"
    )
    if life.removed_on is not None:
        yield f"It was removed at the end of day {life.removed_on}."
    if life.days:
        yield from titled("How it fared", _summary(life))
        yield from titled("Day by day" if full else "Over time", _table(life, full))
        yield from titled("What it extracted", _extraction(life, full))
        if life.devices:
            yield from titled("Its devices", _devices(life, full))
        yield from titled("What it bought and sold", _market(life, full))
        yield from titled("The days that changed its rank most", _turns(life))
        if life.without is not None and life.without.days:
            title = f"Without the inventions for r{life.without_of}"
            yield from titled(title, _without(life, life.without))
    yield ""
    yield from wrapped_lines(f"Reached {life.reached}.")


def _totals(days: list[Day], mean: bool = False) -> Counter[str]:
    total: Counter[str] = Counter()
    for day in days:
        for name, part in (day.mean if mean else day.change).items():
            total[name] += part  # type: ignore[assignment]
    return total


def _summary(life: Life) -> Iterator[str]:
    days, last = life.days, life.days[-1]
    ranks = [day.rank for day in days]
    best, worst = min(ranks), max(ranks)
    yield (
        f"rank {ranks[0]} on day {days[0].day}, {ranks[-1]} on day {last.day}; best {best} "
        f"(day {days[ranks.index(best)].day}), worst {worst} (day {days[ranks.index(worst)].day})"
    )
    ratio = last.wealth / life.mean_wealth[-1] if life.mean_wealth[-1] else 0.0
    devices = f", of it devices {number(last.wealth_devices)}" if life.devices else ""
    yield (
        f"wealth {number(last.wealth)} on day {last.day}{devices}; {number(ratio)} times the mean "
        "of all agents"
    )
    own, mean = _totals(days), _totals(days, mean=True)
    earned, usual = (sum(total[name] for name in EARNED) for total in (own, mean))
    if usual > 0.0:
        parts = [
            f"{WORDS[name]} {number(own[name])} ({_times(own[name], mean[name])})"
            for name in EARNED
            if own[name] or mean[name]
        ]
        yield (
            f"income of all these days {number(earned)}, {number(earned / usual)} times that of "
            f"the mean of the others: {', '.join(parts)}"
        )
    yield from _difference(own, mean)


def _cause(life: Life) -> str:
    """Return the sentence that says first why the agent became richer or poorer than the others."""
    own, mean = _totals(life.days), _totals(life.days, mean=True)
    parts = {name: own[name] - mean[name] for name in PARTS}
    total = sum(parts.values())
    who = f"Agent {life.agent}"
    if abs(total) <= NOTHING:
        return f"{who} grew neither richer nor poorer than the mean of the others."
    sign = 1 if total > 0 else -1
    largest = max(parts, key=lambda name: sign * parts[name])
    word = "more" if parts[largest] > 0 else "less"
    brought = {"payments": "it paid for devices", "consumption": "it consumed"}
    said = brought.get(largest, f"{WORDS[largest]} brought it")
    if largest in brought:
        word = "less" if parts[largest] > 0 else "more"
    cause = f"{said} {number(abs(parts[largest]))} util {word} than them"
    sold = _best_invention(life)
    if sign > 0 and largest in ("sales", "extraction", "devices") and sold is not None:
        (device_type, resource), day, count = sold
        invented = (
            f"it invented {type_name(device_type)} {resource} on day {day}, when no agent knew one"
        )
        also = f", and sold {count} of them" if count else ""
        return f"{who} grew richer than the others: {invented}{also}; {cause}."
    return f"{who} grew {'richer' if sign > 0 else 'poorer'} than the others: {cause}."


def _best_invention(life: Life) -> tuple[tuple[int, int], int, int] | None:
    """Return the invented device that the agent sold most often, its day, and the number sold."""
    deals = [one for day in life.days for one in day.deals if one.sold]
    found = []
    for day in life.days:
        for kind in day.invented:
            of_kind = [
                one for one in deals if one.device_type == kind[0] and kind[1] in one.resources
            ]
            sold = sum(one.count if len(one.resources) == 1 else 1 for one in of_kind)
            found.append((kind, day.day, sold))
    return max(found, key=lambda one: one[2], default=None)


def _without(life: Life, other: Life) -> Iterator[str]:
    """Yield how the agent fared in the twin without an invention, next to how it did fare."""
    last, twin_last = life.days[-1], other.days[-1]
    yield (
        f"on day {twin_last.day}: wealth {number(twin_last.wealth)} instead of "
        f"{number(last.wealth)}, rank {twin_last.rank} instead of {last.rank}"
    )
    own, twin = _totals(life.days), _totals(other.days)
    changed = sorted(EARNED, key=lambda name: -abs(own[name] - twin[name]))
    texts = [
        f"{WORDS[name]} {number(twin[name])} instead of {number(own[name])}"
        for name in changed
        if abs(own[name] - twin[name]) > NOTHING
    ]
    yield f"income of all these days: {', '.join(texts) or 'the same'}"
    sold, sold_in_twin = (
        sum(one.count for day in of.days for one in day.deals if one.sold) for of in (life, other)
    )
    yield f"devices sold: {sold_in_twin} instead of {sold}"
    mean = [of.mean_wealth[-1] for of in (other, life)]
    yield f"mean wealth of all agents: {number(mean[0])} instead of {number(mean[1])}"
    first = next((a.day for a, b in zip(life.days, other.days, strict=False) if a != b), None)
    yield "the two lives are the same" if first is None else f"the two lives part on day {first}"


def _times(own: float, mean: float) -> str:
    return f"{short(own / mean)} times" if mean else "the others had none"


def _difference(own: Counter[str], mean: Counter[str]) -> Iterator[str]:
    """Yield the parts that make up the difference from the others' change of wealth."""
    parts = {name: own[name] - mean[name] for name in PARTS}
    total = sum(parts.values())
    if not total:
        return
    order = sorted(parts, key=lambda name: -abs(parts[name]))
    named = [
        f"{WORDS[name]} {_signed(parts[name])}" for name in order if abs(parts[name]) > NOTHING
    ]
    more = "more" if total > 0 else "less"
    yield (
        f"its wealth grew by {number(abs(total))} {more} than that of the mean of the others: "
        f"{', '.join(named)}"
    )


def _signed(x: float) -> str:
    return f"{'+' if x > 0 else ''}{number(x)}"


def _table(life: Life, full: bool) -> Iterator[str]:
    count = len(life.days) if full else min(STRETCHES, len(life.days))
    edges = [len(life.days) * i // count for i in range(count + 1)]
    devices = life.devices
    head = ["days", "rank", "wealth", "others"]
    head += ["devices"] if devices else []
    head += ["extracted", "swaps"]
    head += ["sales", "payments"] if devices else []
    head += ["consumed", "gain/min"]
    rows = [head]
    for first, end in pairwise(edges):
        days = life.days[first:end]
        total, last = _totals(days), days[-1]
        span = f"{days[0].day}-{last.day}" if len(days) > 1 else f"{last.day}"
        row = [span, f"{last.rank}", short(last.wealth), short(life.mean_wealth[end - 1])]
        row += [short(last.wealth_devices)] if devices else []
        row += [short(total["extraction"]), short(total["swaps"])]
        row += [short(total["sales"]), short(0.0 - total["payments"])] if devices else []
        row += [short(0.0 - total["consumption"]), short(last.gain_per_minute)]
        rows.append(row)
    yield from aligned(rows)
    yield (
        "rank, wealth, the mean wealth of all agents (others), worth of its devices and the gain "
        "of its last minute are those of the last of the days, the others sums over them"
    )


def _extraction(life: Life, full: bool) -> Iterator[str]:
    units: Counter[int] = Counter()
    sources: Counter[str] = Counter()
    for day in life.days:
        units.update(day.extracted)
        sources.update(day.sources)
    yield f"{counted(sum(units.values()), 'unit')}: {_by_resource(units, full)}"
    if sources:
        parts = [f"{n} with {name.replace('_', ' ')}" for name, n in sources.most_common()]
        yield ", ".join(parts).replace("with hand", "by hand")


def _by_resource(units: Counter[int], full: bool) -> str:
    order = sorted(units.items(), key=lambda one: (-one[1], one[0]))
    return listed([f"r{r} {n:,}" for r, n in order], full)


def _devices(life: Life, full: bool) -> Iterator[str]:
    invented = [
        f"{type_name(t)} r{r} (day {one.day})" for one in life.days for t, r in one.invented
    ]
    yield f"invented: {listed(invented, full)}"
    made: Counter[tuple[int, int]] = Counter()
    for day in life.days:
        made.update(day.made)
    deals = [one for day in life.days for one in day.deals]
    for device_type in range(len(DEVICE_TYPES)):
        of_type = Counter({r: n for (t, r), n in made.items() if t == device_type})
        sold, bought = (
            [one for one in deals if one.device_type == device_type and one.sold is side]
            for side in (True, False)
        )
        if not of_type and not sold and not bought:
            continue
        parts = []
        if of_type:
            parts.append(f"made {sum(of_type.values()):,} ({_by_resource(of_type, full)})")
        for word, dealt in (("sold", sold), ("bought", bought)):
            if dealt:
                count, util = sum(one.count for one in dealt), sum(one.util for one in dealt)
                parts.append(
                    f"{word} {count:,} for {number(util)}, first on day "
                    f"{_first_day(life, dealt[0])} ({_kinds(dealt, full)})"
                )
        yield f"{type_name(device_type)}: {'; '.join(parts)}"


def _first_day(life: Life, deal: Dealt) -> int:
    return next(day.day for day in life.days if any(one is deal for one in day.deals))


def _kinds(deals: list[Dealt], full: bool) -> str:
    kinds: Counter[int] = Counter()
    for one in deals:
        kinds.update(one.resources)
    order = sorted(kinds.items(), key=lambda one: (-one[1], one[0]))
    return listed([f"r{r}" for r, _ in order], full)


def _market(life: Life, full: bool) -> Iterator[str]:
    given: Counter[int] = Counter()
    received: Counter[int] = Counter()
    gained: Counter[int] = Counter()
    meetings: Counter[int] = Counter()
    for day in life.days:
        for swap in day.swaps:
            given.update(swap.given)
            received.update(swap.received)
            gained[swap.partner] += swap.gained  # type: ignore[assignment]
            meetings[swap.partner] += 1
    if not meetings:
        yield "it swapped nothing"
    else:
        yield f"sold in swaps {counted(sum(given.values()), 'unit')}: {_by_resource(given, full)}"
        yield (
            f"bought in swaps {counted(sum(received.values()), 'unit')}: "
            f"{_by_resource(received, full)}"
        )
        best = sorted(gained, key=lambda a: (-gained[a], a))
        names = [
            f"a{a} (gained {number(gained[a])} in {counted(meetings[a], 'meeting')})" for a in best
        ]
        yield f"best partners in swaps: {listed(names, full, PARTNERS)}"
    for sold, words in ((True, "best buyers of its devices"), (False, "devices were bought of")):
        util: Counter[int] = Counter()
        count: Counter[int] = Counter()
        for day in life.days:
            for one in day.deals:
                if one.sold is sold:
                    util[one.partner] += one.util  # type: ignore[assignment]
                    count[one.partner] += one.count
        if util:
            order = sorted(util, key=lambda a: (-util[a], a))
            names = [f"a{a} ({count[a]} for {number(util[a])})" for a in order]
            yield f"{words}: {listed(names, full, PARTNERS)}"


def _turns(life: Life) -> Iterator[str]:
    turns = life.turns()
    if not turns:
        yield "its rank did not change"
        return
    for day in turns:
        was = life.rank_before(day)
        yield f"day {day.day}: rank {was} -> {day.rank}; {_why(day)}"
        happened = _happened(day)
        if happened:
            yield f"  that day it {happened}"
    yield (
        "each of these days in full: the same command, with one of them instead of --days: "
        f"--day {turns[0].day}"
    )


def _why(day: Day) -> str:
    """Return the part of the day's change that explains the change of rank best."""
    parts = {name: day.change[name] - day.mean[name] for name in day.change}
    total = sum(parts.values())
    rose = len(day.overtook) >= len(day.overtaken_by)
    order = sorted(parts, key=lambda name: -parts[name] if rose else parts[name])
    real = [name for name in order if abs(parts[name]) > NOTHING]  # others are rounding errors
    chosen = [name for name in real if (parts[name] > 0) == rose][:2]
    named = [
        f"{WORDS[name]} {_signed(day.change[name])} (others {_signed(day.mean[name])})"
        for name in chosen
    ]
    whom = [f"overtook {_agents(day.overtook)}"] if day.overtook else []
    whom += [f"was overtaken by {_agents(day.overtaken_by)}"] if day.overtaken_by else []
    moved = f"wealth {_signed(sum(day.change.values()))}, {_signed(total)} relative to the others"
    passed = " and ".join(whom) or "overtook no agent: others were removed, or equally wealthy"
    return f"{moved}{': ' if named else ''}{', '.join(named)}; {passed}"


def _agents(numbers: list[int]) -> str:
    return listed([f"a{a}" for a in numbers], False, 5)


def _happened(day: Day) -> str:
    """Return a text on what the agent invented, sold, bought and made that day."""
    parts = [f"invented {type_name(t)} r{r}" for t, r in day.invented]
    for sold, word in ((True, "sold"), (False, "bought")):
        deals = sorted((d for d in day.deals if d.sold is sold), key=lambda d: -d.util)
        parts += [
            f"{word} {one.count} {type_name(one.device_type)} "
            f"{' '.join(f'r{r}' for r in one.resources)} "
            f"{'to' if sold else 'of'} a{one.partner} for {number(one.util)}"
            for one in deals[:2]
        ]
    made = sorted(day.made.items(), key=lambda one: (-one[0][0], -one[1]))
    if made:
        names = [f"{n} {type_name(t)} r{r}" for (t, r), n in made]
        parts.append(f"made {listed(names, False, 4)}")
    return "; ".join(parts)
