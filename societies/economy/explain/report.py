"""How is an agent's day written as a text, from its recorded events and holdings?

Long lists are shortened unless ``full`` is set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reference_py.economy.devices import DEVICE_TYPES
from societies.economy.explain.agent_day import DayPart, Snapshot, Trace
from societies.economy.explain.events import (
    Attempt,
    Invented,
    Made,
    OwnUse,
    Received,
    Taxed,
    Unit,
    worded_of_resources,
)
from societies.economy.explain.report_trades import device_trading, trading
from societies.economy.explain.words import listed, number, resources, type_name
from societies.words import counted, titled, wrapped_lines


def text(trace: Trace, *, full: bool = False) -> str:
    """Return the day as a text; with ``full`` nothing is left out."""
    return "\n".join(_lines(trace, full))


def _lines(trace: Trace, full: bool) -> Iterator[str]:
    p = trace.parameters
    yield f"Agent {trace.agent} of society {trace.society} on day {trace.day}"
    yield from wrapped_lines(
        f"{p.agents} agents, {p.resources} resources; r4 is resource 4, a4 agent 4; "
        "values and gains are in util, a price is units got for a unit given"
    )
    yield from titled("Morning", _holdings(trace, trace.morning, full))
    markets = max((section.market for section in trace.sections), default=0)
    for section in trace.sections:
        lines = list(REPORTS[section.phase](trace, section, full))
        change = section.after.utility - section.before.utility
        if change:
            lines.append(f"utility of what it holds: {_change(section.before, section.after)}")
        if lines or full or len(trace.sections) == 1:
            yield from titled(_title(section, markets), lines or ["nothing"])
    if trace.evening.alive:
        lines = list(_holdings(trace, trace.evening, full))
        lines.append(f"utility since the morning: {_change(trace.morning, trace.evening)}")
        yield from titled("After the day", lines)
    yield ""
    yield from wrapped_lines(f"Reached {trace.reached}; {trace.checked} (sha256 {_short(trace)}).")


def _change(before: Snapshot, after: Snapshot) -> str:
    change = after.utility - before.utility
    sign = "+" if change > 0.0 else ""
    return f"{number(before.utility)} -> {number(after.utility)} ({sign}{number(change)})"


def _short(trace: Trace) -> str:
    return trace.state_sha256[:16]


def _title(section: DayPart, markets: int) -> str:
    if section.phase == "trading":
        which = f" {section.market} of {markets}" if markets > 1 else ""
        return f"Resource market{which}"
    titles = {
        "device_trading": "Device trade",
        "own_use": "Own use",
        "production": "Making devices",
        "extraction": "Extraction",
        "invention": "Invention",
        "taxes": "Evening: taxes and transfers",
        "end_day": "Evening: what it remembers",
        "consumption": "Night: consumption",
        "shocks": "Shocks",
    }
    title = titles[section.phase]
    return title if section.device_type < 0 else f"{title}: {type_name(section.device_type)}"


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
    if trace.parameters.devices is None:
        return
    for device_type in range(len(DEVICE_TYPES)):
        owned = [
            f"r{r} {number(minutes)}"
            for r, minutes in enumerate(now.device_minutes[device_type])
            if minutes
        ]
        if owned:
            yield f"minutes of use left, {type_name(device_type)}: {listed(owned, full)}"
        knows = [f"r{r} {number(e)}" for r, e in enumerate(now.device_experience[device_type]) if e]
        if knows:
            yield f"knows how to make (experience), {type_name(device_type)}: {listed(knows, full)}"
    if now.overtime:
        yield f"begins the working day with {number(now.overtime)} min of making done before"


def _largest(pair: tuple[float, int]) -> tuple[float, int]:
    return -pair[0], pair[1]


def _own_use(trace: Trace, section: DayPart, full: bool) -> Iterator[str]:
    for _, event in section.events:
        if not isinstance(event, OwnUse):
            continue
        if event.resource is not None:
            yield (
                f"will make {type_name(event.device_type)} r{event.resource} for itself: brings "
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
                    f"not (another) r{one.resource}: {worded_of_resources(one.refused)} "
                    f"(brings {number(one.benefit)}, costs {number(one.cost)})"
                )
        else:
            reasons: dict[str, list[int]] = {}
            for one in event.considered:
                words, about = one.refused or ("", ())
                why = f"{words} resources" if about else words
                reasons.setdefault(why, []).append(one.resource)
            for why, which in reasons.items():
                yield f"not (another) {listed([f'r{r}' for r in which], full)}: {why}"


def _production(trace: Trace, section: DayPart, full: bool) -> Iterator[str]:
    groups: dict[tuple[int, int, int | None], list[Made]] = {}
    for _, event in section.events:
        if isinstance(event, Made):
            groups.setdefault((event.device_type, event.resource, event.by), []).append(event)
    for (device_type, resource, by), made in groups.items():
        minutes = sum(one.minutes for one in made)
        with_ = "by hand" if by is None else f"with {type_name(by)}"
        parts = resources(made[0].parts)
        component = made[0].component
        if component is not None:
            parts = f"a {type_name(component)} for each of {parts}"
        yield (
            f"made {len(made)} x {type_name(device_type)} r{resource} {with_}, made of {parts}: "
            f"{number(minutes)} min, experience {number(made[0].experience)}"
        )
    before, after = section.before.overtime, section.after.overtime
    if after > before:
        yield f"{number(after)} min of the working day are spent"


def _extraction(trace: Trace, section: DayPart, full: bool) -> Iterator[str]:
    units = [event for _, event in section.events if isinstance(event, Unit)]
    if section.before.overtime:
        yield f"{number(section.before.overtime)} min of the day were spent on making devices"
    if not units:
        yield "extracted nothing"
    if full:
        for one in units:
            with_ = "by hand" if one.source == 0 else f"with {type_name(one.source - 1)}"
            yield (
                f"minute {one.start:.1f}: a unit of r{one.resource} {with_}, "
                f"{number(one.minutes)} min, worth {number(one.value)}, "
                f"{number(one.gain)} a minute"
            )
    sources: dict[int, dict[int, list[Unit]]] = {}
    for one in units:
        sources.setdefault(one.source, {}).setdefault(one.resource, []).append(one)
    for source, kinds in sorted(sources.items()):
        with_ = "by hand" if source == 0 else f"with {type_name(source - 1)}"
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
            f"gain a minute: {number(units[0].gain)} with the first unit, "
            f"{number(units[-1].gain)} with the last"
        )


def _invention(trace: Trace, section: DayPart, full: bool) -> Iterator[str]:
    me = trace.agent
    attempts = [event for _, event in section.events if isinstance(event, Attempt)]
    inventions = [event for _, event in section.events if isinstance(event, Invented)]
    found_one = any(one.agent == me for one in inventions)
    for one in attempts:
        kind = type_name(one.device_type)
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
        yield f"{who} {type_name(found.device_type)} r{found.resource} of {resources(found.parts)}"


TAXES = ("holdings", "income", "sales")


def _taxes(trace: Trace, section: DayPart, full: bool) -> Iterator[str]:
    def units(row: list[int]) -> str:
        paid = sorted(((n, r) for r, n in enumerate(row) if n), key=_largest)
        parts = listed([f"{n} r{r}" for n, r in paid], full)
        return f"{counted(sum(row), 'unit')}{f': {parts}' if paid else ''}"

    for _, event in section.events:
        if isinstance(event, Taxed):
            for name, base, rate in zip(TAXES, event.base, event.rates, strict=True):
                if rate:
                    yield f"tax on {name}: {100 * rate:.4g} % of {counted(base, 'unit')}"
            yield f"pays {units(event.paid)}; owes {number(sum(event.owed))} in parts of a unit"
        if isinstance(event, Received):
            one_of = ["the poorest"] * event.poorest
            one_of += ["those that extracted the least"] * event.least_extracting
            reasons = [f"is one of {' and of '.join(one_of)}"] if one_of else []
            if event.making:
                reasons.append(f"made devices for {number(event.making)} min")
            why = f" ({'; '.join(reasons)})" if reasons else ""
            yield f"receives {units(event.received)} from the fund{why}"


def _end_day(trace: Trace, section: DayPart, full: bool) -> Iterator[str]:
    before, after = section.before, section.after
    changed = [
        (abs(b - a), f"r{r} {number(a)} -> {number(b)}")
        for r, (a, b) in enumerate(zip(before.value, after.value, strict=True))
        if a != b
    ]
    if changed:
        changed.sort(key=lambda pair: -pair[0])
        yield f"what one more unit is worth: {listed([words for _, words in changed], full)}"
    for device_type, (old, new) in enumerate(
        zip(before.device_experience, after.device_experience, strict=True)
    ):
        gone = [f"r{r}" for r, (a, b) in enumerate(zip(old, new, strict=True)) if a > 0.0 and not b]
        if gone:
            yield f"forgot how to make {type_name(device_type)}: {listed(gone, full)}"
        less = [
            f"r{r} {number(a)} -> {number(b)}"
            for r, (a, b) in enumerate(zip(old, new, strict=True))
            if a > b > 0.0
        ]
        if less:
            yield f"experience in making fades, {type_name(device_type)}: {listed(less, full)}"


def _consumption(trace: Trace, section: DayPart, full: bool) -> Iterator[str]:
    before, after = section.before, section.after
    used = [
        (a - b, r) for r, (a, b) in enumerate(zip(before.held, after.held, strict=True)) if a > b
    ]
    used.sort(key=_largest)
    total = counted(sum(n for n, _ in used), "unit")
    parts = [f"{n} r{r}" for n, r in used]
    yield f"used up {total}: {listed(parts, full)}"
    for device_type, (old, new) in enumerate(
        zip(before.device_minutes, after.device_minutes, strict=True)
    ):
        lost = [
            f"r{r} {number(a)} -> {number(b)}"
            for r, (a, b) in enumerate(zip(old, new, strict=True))
            if a > b
        ]
        if lost:
            yield f"minutes of use left, {type_name(device_type)}: {listed(lost, full)}"


def _shocks(trace: Trace, section: DayPart, full: bool) -> Iterator[str]:
    if not section.after.alive:
        yield "is removed from the society"
        return
    for _, event in section.events:
        yield f"{event.what} {event.index} is removed from the society"


REPORTS: dict[str, Callable[[Trace, DayPart, bool], Iterator[str]]] = {
    "trading": trading,
    "device_trading": device_trading,
    "own_use": _own_use,
    "production": _production,
    "extraction": _extraction,
    "invention": _invention,
    "taxes": _taxes,
    "end_day": _end_day,
    "consumption": _consumption,
    "shocks": _shocks,
}
"""Functions that write the text of each part of the day."""
