"""Which keys of an economy's configuration contradict each other?

The type of a key checks its value alone. A contradiction names the reported key and the keys that
it depends on. It is not reported if one of these already has an error of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from reference_py.economy.devices import DEVICE_TYPES, EXTRACTING
from reference_py.economy.streams import PURPOSE_COUNT
from reference_py.economy.tables import LONGEST_TABLE, table_is_too_long
from reference_py.primitives.rng import STREAM_GAP
from societies.config.model import LARGEST_INTEGER, Conflict, PerResource
from societies.config.problems import Path, quoted
from societies.economy.config.bounds import (
    envelope,
    largest_factor,
    largest_holding,
    random_words,
    units_a_day,
)
from societies.economy.config.fan import fan_conflicts
from societies.economy.config.groups import GroupConfig
from societies.economy.config.keys import EconomyKeys
from societies.economy.config.policies import policy_conflicts
from societies.words import counted
from societies.workload.declare.config import keep_conflicts, listed_twice, stream_conflicts
from societies.workload.running.points import intervention_conflicts

LARGEST_USE = 1_000_000_000  # units that one device yields in its life
LARGEST_DAILY_EXTRACTION = 1_000_000  # units; far beyond any use, and days still end

PER_RESOURCE = {
    "utility": ("scale", "exponent"),
    "extraction": ("max_effort", "min_effort", "max_experience"),
    "consumption": ("resource_lifetime",),
    "device": ("max_effort", "min_effort", "max_experience"),
    "endowment": ("units",),
}
"""Keys that may be a list with one number per resource, and that a group may override."""


def economy_conflicts(config: EconomyKeys) -> Iterator[Conflict]:
    """Yield every contradiction between keys that are each valid alone."""
    yield from _too_large(config)
    yield from _device_conflicts(config)
    yield from _curve_conflicts(config)
    yield from _group_conflicts(config)
    yield from _shock_conflicts(config)
    yield from _record_conflicts(config)
    yield from fan_conflicts(config)
    yield from policy_conflicts(config)
    yield from intervention_conflicts(config)


def too_large_in_turn(configs: Sequence[EconomyKeys]) -> Iterator[Conflict]:
    """Yield numbers that could get too large in a society with these successive parameters."""
    around = envelope(configs)
    yield from _too_large(around)
    yield from _device_conflicts(around)


def _numeraire_conflicts(config: EconomyKeys) -> Iterator[Conflict]:
    numeraire, place = config.record.numeraire, ("record", "numeraire")
    if numeraire == "any":
        return
    if numeraire >= config.resources:
        message = f"there is no resource {numeraire}: they are 0 to {config.resources - 1}"
        yield Conflict(place, message, (("resources",),))
    if not config.record.measures:
        message = "is used for prices, which are only recorded with measures: true"
        yield Conflict(place, message, (("record", "measures"),))


def _too_large(config: EconomyKeys) -> Iterator[Conflict]:
    if config.trading.menu_size > config.resources:
        message = f"{config.trading.menu_size} is more than the {config.resources} resources"
        yield Conflict(("trading", "menu_size"), message, (("resources",),))
    yield from _numeraire_conflicts(config)
    names = ("agents", "replicates", "first_society")
    streams = (config.first_society + config.replicates) * (config.agents + 1) * PURPOSE_COUNT
    reckoned = f"(first_society + replicates) x (agents + 1) x {PURPOSE_COUNT}"
    yield from stream_conflicts(config, streams, names, reckoned)
    lasting = ("consumption", "resource_lifetime")
    needs = (
        *(("day_length",), ("extraction", "min_effort"), ("days",), ("agents",), lasting),
        *(("devices",), ("device", "factor"), ("endowment", "units")),
    )
    held = largest_holding(config)
    if units_a_day(config) > LARGEST_DAILY_EXTRACTION + 2:
        return  # `_too_fast` reports it
    if held > LARGEST_INTEGER:
        message = (
            f"at {units_a_day(config)} units a day an agent could come to hold {held}, more than "
            f"the {LARGEST_INTEGER} that can be counted"
        )
        yield Conflict(lasting, message, needs)
    elif random_words(config) > STREAM_GAP:
        message = (
            f"{config.days} days of consumption could use more than the {STREAM_GAP} random "
            "words of an agent"
        )
        yield Conflict(("days",), message, needs)


def _device_conflicts(config: EconomyKeys) -> Iterator[Conflict]:
    """Yield contradictions between keys of devices; without devices these keys are not used."""
    if config.devices == "none":
        return
    needs: tuple[Path, ...] = (("resources",), ("devices",))
    device, resources = config.device, config.resources
    if device.resources_in_tool >= resources:
        message = f"must be less than the {resources} resources, got {device.resources_in_tool}"
        yield Conflict(("device", "resources_in_tool"), message, needs)
    if device.components > resources:
        message = f"{device.components} is more than the {resources} resources"
        yield Conflict(("device", "components"), message, needs)
    values = _per_resource_values(config)
    least = {
        section: min(
            number
            for path, value in values.items()
            if path[-2:] == (section, "min_effort")
            for _, number in _each((), value)
        )
        for section in ("extraction", "device")
    }
    for device_type, name in enumerate(DEVICE_TYPES):
        section = "extraction" if device_type < len(EXTRACTING) else "device"
        uses = getattr(device.lifetime, name) * getattr(device.factor, name) / least[section]
        if uses > LARGEST_USE:
            noun = "units" if device_type < len(EXTRACTING) else "devices"
            message = (
                f"one {name.replace('_', ' ')} would yield {uses:.3g} {noun}, more than the "
                f"{LARGEST_USE} that can be counted"
            )
            path = ("device", "lifetime", name)
            others: tuple[Path, ...] = (("devices",), ("device", "factor", name))
            yield Conflict(path, message, (*others, (section, "min_effort"), ("groups",)))


def _per_resource_values(config: EconomyKeys) -> dict[Path, PerResource[float]]:
    """Return every value that may be a list, first of the sections, then of the groups."""
    values: dict[Path, PerResource[float]] = {}
    holders: list[tuple[Path, Any]] = [((), config)]
    holders += [(("groups", g), group) for g, group in enumerate(config.groups)]
    for prefix, holder in holders:
        for section, keys in PER_RESOURCE.items():
            for name in keys:
                value = getattr(getattr(holder, section), name, None)
                if value is not None:
                    values[(*prefix, section, name)] = value
    return values


def _curve_conflicts(config: EconomyKeys) -> Iterator[Conflict]:
    values = _per_resource_values(config)
    floor = config.utility.min_marginal
    built_in = config.rules.utility.marginal is None  # else its table is checked as it is made
    for path, value in values.items():
        if isinstance(value, tuple) and len(value) != config.resources:
            message = f"has {counted(len(value), 'number')} for {config.resources} resources"
            yield Conflict(path, message, (("resources",),))
        for place, number in _each(path, value):
            if path[-1] == "scale" and number <= floor and built_in:
                message = f"must be more than utility.min_marginal ({floor:g}), got {number:g}"
                yield Conflict(place, message, (("utility", "min_marginal"),))
            curved = path[-1] == "exponent" and number > 1 and built_in
            if curved and _too_long(config, number, floor, values):
                message = (
                    f"{number:g} needs a table of more than {LONGEST_TABLE} units down to "
                    f"utility.min_marginal ({floor:g}); raise that"
                )
                yield Conflict(place, message, (("utility", "min_marginal"),))
            if path[-1] == "min_effort":
                yield from _too_fast(config, place, number)
    for section in ("extraction", "device"):
        yield from _effort_conflicts(config, (), section, values)
        for g, _ in enumerate(config.groups):
            yield from _effort_conflicts(config, ("groups", g), section, values)


def _too_fast(config: EconomyKeys, place: Path, effort: float) -> Iterator[Conflict]:
    """Yield a conflict if this effort makes days of work that would never end."""
    by_hand = place[-2 - isinstance(place[-1], int)] == "extraction"
    factor = largest_factor(config) if by_hand else 1.0
    if config.day_length * factor / effort <= LARGEST_DAILY_EXTRACTION:
        return
    noun = "units" if by_hand else "devices"
    with_device = f" {factor:g} times as fast" if factor > 1 else ""
    message = (
        f"{effort:g} min/{noun[:-1]}{with_device} make more than {LARGEST_DAILY_EXTRACTION} "
        f"{noun} in a day of {config.day_length:g} minutes"
    )
    yield Conflict(place, message, (("day_length",), ("devices",), ("device", "factor")))


def _too_long(
    config: EconomyKeys, exponent: float, floor: float, values: dict[Path, PerResource[float]]
) -> bool:
    """Return True if the table of this exponent is too long with the largest scale in use."""
    scales = [
        v for path, value in values.items() if path[-1] == "scale" for _, v in _each((), value)
    ]
    # An empty list is reported elsewhere.
    return table_is_too_long(max(scales, default=0.0), exponent, floor, largest_holding(config))


def _effort_conflicts(
    config: EconomyKeys, prefix: Path, section: str, values: dict[Path, PerResource[float]]
) -> Iterator[Conflict]:
    """Compare the least and largest effort of one group; report the key that the user wrote."""
    low_path, high_path = (
        own if (own := (*prefix, section, name)) in values else (section, name)
        for name in ("min_effort", "max_effort")
    )
    if prefix and len(low_path) == len(high_path) == 2:
        return  # the group overrides neither; the section is compared separately
    low, high = values[low_path], values[high_path]
    low_written = len(low_path) > 2 or "min_effort" in getattr(config, section).model_fields_set
    at_low = low_written and len(low_path) >= len(high_path)
    path = low_path if at_low else high_path
    # zip stops at the end of a list of the wrong length, which is reported elsewhere
    pairs = zip(_spread(config, low), _spread(config, high), strict=False)
    for r, (least, most) in enumerate(pairs):
        some_list = isinstance(low, tuple) or isinstance(high, tuple)
        if least > most:
            message = (
                f"{least:g} is more than max_effort ({most:g})"
                if at_low
                else f"{most:g} is less than min_effort ({least:g})"
            ) + (f" of resource {r}" if some_list else "")
            place = (*path, r) if isinstance(values[path], tuple) else path
            yield Conflict(place, message, (low_path, high_path))
        if not some_list:
            return


def _spread(config: EconomyKeys, value: PerResource[float]) -> tuple[float, ...]:
    return value if isinstance(value, tuple) else (value,) * config.resources


def _group_conflicts(config: EconomyKeys) -> Iterator[Conflict]:
    names: dict[str, Path] = {}
    sizes: list[Path] = []
    kinds = [_size_kind(group) for group in config.groups]
    for g, group in enumerate(config.groups):
        path: Path = ("groups", g)
        own = ((*path, "count"), (*path, "share"))
        sizes += own
        if group.name in names:
            first = names[group.name]
            message = f"{quoted(group.name)} is the name of groups.{first[1]} already"
            yield Conflict((*path, "name"), message, (first,))
        names.setdefault(group.name, (*path, "name"))
        if kinds[g] == "neither":
            yield Conflict(path, "needs count or share", own)
        elif kinds[g] == "both":
            yield Conflict(path, "has both count and share; give one", own)
        elif {kinds[0], kinds[g]} == {"count", "share"}:
            message = f"groups.0 has a {kinds[0]}; give all groups the same kind of size"
            yield Conflict((*path, kinds[g]), message, (*own, *sizes[:2]))
    shares = [group.share for group in config.groups if group.share is not None]
    if shares and len(shares) == len(config.groups):
        total = math.fsum(shares)
        if not math.isclose(total, 1, abs_tol=1e-9):
            yield Conflict(("groups",), f"the shares add up to {total:g}, not to 1", tuple(sizes))
            return
    for kind in ("count", "share"):
        if {*kinds} == {kind}:
            yield from _size_conflicts(config, kind, tuple(sizes))


def _size_kind(group: GroupConfig) -> str:
    if group.count is not None:
        return "count" if group.share is None else "both"
    return "neither" if group.share is None else "share"


def _size_conflicts(config: EconomyKeys, kind: str, sizes: tuple[Path, ...]) -> Iterator[Conflict]:
    """Compare the groups' sizes (all counts or all shares) with the number of agents."""
    needs = (("agents",), *sizes)
    if kind == "count":
        total = sum(config.group_sizes())
        if total != config.agents:
            message = f"the counts add up to {total}, not to the {counted(config.agents, 'agent')}"
            yield Conflict(("groups",), message, needs)
        return
    for g, size in enumerate(config.group_sizes()):
        if size == 0:
            message = f"{config.groups[g].share:g} of {counted(config.agents, 'agent')} is no agent"
            yield Conflict(("groups", g, "share"), message, needs)


def _intervention_conflicts(config: EconomyKeys) -> Iterator[Conflict]:
    """Yield missing or superfluous keys of interventions that remove something."""
    for i, one in enumerate(config.interventions):
        path: Path = ("interventions", i)
        if one.group is not None and one.agents:
            message = "names agents as well as a group; give one of them"
            yield Conflict((*path, "agents"), message, ((*path, "group"),))
        if one.remove is None:
            for name in ("index", "holdings"):
                if getattr(one, name) is not None:
                    message = "has no effect without remove: resource or agent"
                    yield Conflict((*path, name), message, ((*path, "remove"),))
            continue
        if one.index is None:
            message = f"does not say which {one.remove}; add an index: a number, or random"
            yield Conflict((*path, "remove"), message, ((*path, "index"),))
        if one.set:
            message = "an intervention sets values or removes something; write two interventions"
            yield Conflict((*path, "set"), message, ((*path, "remove"),))
        for name in ("until", "group", "agents"):
            if getattr(one, name):
                message = "only interventions that set values have this key; a removal is permanent"
                yield Conflict((*path, name), message, ((*path, "remove"),))
        if one.societies:
            message = "only values can change in some societies; a removal is in all"
            yield Conflict((*path, "societies"), message, ((*path, "remove"),))


def _shock_conflicts(config: EconomyKeys) -> Iterator[Conflict]:
    removed: dict[str, dict[int | str, Path]] = {"agent": {}, "resource": {}}
    said: tuple[Path, ...] = ()  # keys on which the number of remaining agents or resources depends
    yield from _intervention_conflicts(config)
    for s, (path, shock) in enumerate(config.removals()):
        what = shock.remove
        size, gone = (config.agents if what == "agent" else config.resources), removed[what]
        said = (*said, (*path, "remove"), (*path, "index"))
        needs: tuple[Path, ...] = (*said, (f"{what}s",))
        if what == "agent" and shock.holdings is not None:
            message = "only a resource has this key; a removed agent always loses everything"
            yield Conflict((*path, "holdings"), message, ((*path, "remove"),))
        if isinstance(shock.index, int) and shock.index >= size:
            message = f"there is no {what} {shock.index}; they are numbered 0 to {size - 1}"
            yield Conflict((*path, "index"), message, needs[-3:])
            continue
        if shock.index in gone:
            before = gone[shock.index]
            message = f"{what} {shock.index} is removed by {before[0]}.{before[1]} already"
            yield Conflict((*path, "index"), message, needs)
            continue
        gone[shock.index if shock.index != "random" else f"random {s}"] = path
        if len(gone) == size:
            yield Conflict(path, f"removes the last {what}; at least one must be left", needs)


def _record_conflicts(config: EconomyKeys) -> Iterator[Conflict]:
    """Yield conflicts of `record`: series of no day, a trade log of societies that are not run."""
    every = config.record.society
    if every > config.days:
        message = (
            f"{every} days are more than the run has ({config.days}); nothing would be recorded"
        )
        yield Conflict(("record", "society"), message, (("days",),))
    yield from keep_conflicts(config)
    log = config.record.trade_log
    yield from listed_twice(("record", "network"), config.record.network)
    yield from listed_twice(("record", "trade_log", "days"), log.days)
    if log.societies > config.replicates:
        message = f"{log.societies} are more than the {config.replicates} that are run"
        yield Conflict(("record", "trade_log", "societies"), message, (("replicates",),))


def economy_warnings(config: EconomyKeys) -> Iterator[Conflict]:
    """Yield days after the run's last day: a mistake, unless `days` was reduced for a trial."""
    days = config.days
    for s, shock in enumerate(config.shocks):
        if shock.day > days:
            message = f"{shock.day} is after the last day, {days}: this shock is not reached"
            yield Conflict(("shocks", s, "day"), message)
    for name in ("agent", "agent_resource", *(("device",) if config.devices != "none" else ())):
        every = getattr(config.record, name)
        if every > days:
            message = f"{every} days are more than the run has ({days}): none of this is recorded"
            yield Conflict(("record", name), message)
    record = config.record
    for key, listed, lost in (
        (("keep",), record.keep, "its state is not stored"),
        (("network",), record.network, "its network is not recorded"),
        (("trade_log", "days"), record.trade_log.days, "its trades are not recorded"),
    ):
        for i, day in enumerate(listed):
            if day > days:
                message = f"day {day} is after the last day, {days}: {lost}"
                yield Conflict(("record", *key, i), message)


def _each(path: Path, value: PerResource[float]) -> Iterator[tuple[Path, float]]:
    """Yield a value, or every number of a list, with its path."""
    if isinstance(value, tuple):
        yield from (((*path, r), number) for r, number in enumerate(value))
    else:
        yield path, value
