"""How does a configuration get a table of parameters, and are its interventions possible?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from math import inf
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from societies.config.model import Conflict, accepts
from societies.config.problems import Path, plain_words
from societies.errors import ConfigError, override
from societies.lazily import np
from societies.words import counted, plural
from societies.workload.running import ensembles as points
from societies.workload.running.ensembles import Points
from societies.workload.running.registry import workload
from societies.workload.running.series_files import problem_of, series_of
from societies.workload.running.tables import ValueTable, table_of
from societies.workload.running.varying import NotVarying, UnknownKey, varying

if TYPE_CHECKING:
    from numpy.typing import NDArray


def points_of(config: Any) -> Points | None:
    """Return the parameters of the copies; None if all have those of the configuration."""
    return points.points_of(workload(config.workload), config)


def with_table(config: Any, source: Any) -> Any:
    """Return the configuration of an ensemble whose copies have the parameters of a table.

    If the configuration does not set ``replicates``, there is one copy per row.

    Raises ConfigError if a key cannot vary, a value is not allowed, or there are not as many rows
    as copies.
    """
    chosen = workload(config.workload)
    table = table_of(source, chosen.copies, chosen.first(config))
    if "replicates" not in type(config).model_fields:
        raise ConfigError(f"{table.name}: {config.workload} has no replicates that could differ")
    if "replicates" not in config.model_fields_set:
        data = {**config.model_dump(), "replicates": table.rows}
        try:
            config = type(config).model_validate(data)
        except ValidationError as error:
            first, *_ = error.errors()
            raise ConfigError(f"{table.name}: {plain_words(first)}") from None
    if config.replicates != table.rows:
        copy = chosen.copies
        rows, asked = counted(table.rows, "row"), counted(config.replicates, copy)
        raise ConfigError(
            f"{table.name}: has {rows} for {asked} (replicates); each {copy} needs one\n"
            "give both the same number"
            + (
                f", such as {override(f'replicates={table.rows}')}"
                if accepts(type(config), "replicates", table.rows)
                else ""
            )
        )
    found = config.model_copy()
    found._table = table
    points_of(found)  # raises if a key or value is not allowed
    return found


def with_rows(config: Any, table: ValueTable | None, numbers: NDArray[np.int64] | None) -> Any:
    """Return the configuration whose copies have the rows of a table and the given numbers.

    Nothing is checked: the caller takes rows that were checked before.
    """
    count = table.rows if table else len(numbers) if numbers is not None else config.replicates
    found = config.model_copy(update={"replicates": count})
    found._table, found._numbers = table, numbers
    return found


def overlaps(config: Any) -> Iterator[Conflict]:
    """Yield a warning for each key that two interventions set at the same time.

    Not if both are for good or one is inside of the other, since it is clear which holds then.
    """
    entries = [(i, one) for i, one in enumerate(config.interventions) if one.set]
    if not entries:
        return
    chosen = workload(config.workload)
    clock, copies = chosen.clock, plural(chosen.copies)
    entries.sort(key=lambda entry: getattr(entry[1], clock))
    for (i, one), (j, other) in combinations(entries, 2):
        ends = [points.until_of(a) for a in (one, other)]
        begin, end = getattr(other, clock) + 1, min(ends)
        of = [set(getattr(a, copies)) for a in (one, other)]
        if min(ends) == inf or begin > end or (all(of) and not of[0] & of[1]):
            continue
        if getattr(one, clock) < getattr(other, clock) and ends[1] <= ends[0]:
            continue  # the later one is inside of the other
        keys = [
            {own for key in a.set for own in points.keys_changed(config, a, key)}
            for a in (one, other)
        ]
        for key in sorted(keys[0] & keys[1]):
            yield Conflict(
                ("interventions", j, "set"),
                f"{key} is also set by interventions.{i} from {clock} {begin} to {end}; this one "
                "holds then, since it begins later or comes later in the list",
            )


def unused_values(config: Any) -> Iterator[Conflict]:
    """Yield a warning for series with more values than their ticks, and for ends after the run."""
    if not config.interventions:
        return
    chosen = workload(config.workload)
    clock, ticks = chosen.clock, chosen.ticks(config)
    for i, one in enumerate(config.interventions):
        until = points.until_of(one)
        begin, end = getattr(one, clock) + 1, int(min(until, ticks))
        if ticks < until < inf:
            message = (
                f"{until:.0f} is after the last {clock}, {ticks}: it holds to the end of the run"
            )
            yield Conflict(("interventions", i, "until"), message)
        for key, value in one.set.items():
            values = series_of(type(config), points.keys_changed(config, one, key)[0], value)
            used = end - begin + 1
            if values is not None and len(values) > used:
                yield Conflict(
                    ("interventions", i, "set", key),
                    f"the series has {counted(len(values), 'value')}; the first {used} are used, "
                    f"until {clock} {end}",
                )


def without_effect(idle: Iterable[tuple[str, str]], keys: Iterable[str]) -> dict[str, str]:
    """Return which of some keys are, or are in, sections that are idle, each with the reason."""
    found = [*idle]
    return {key: why for key in keys for name, why in found if f"{key}.".startswith(f"{name}.")}


def idle_changes(config: Any) -> Iterator[Conflict]:
    """Yield a warning for each key that a table or an intervention changes without effect."""
    idle = list(config.idle())
    table = config.table.columns if config.table is not None else ()
    for key, why in without_effect(idle, table).items():
        yield Conflict(tuple(key.split(".")), f"differs between copies, but has no effect {why}")
    for i, one in enumerate(config.interventions):
        for name in one.set:
            for why in without_effect(idle, points.keys_changed(config, one, name)).values():
                yield Conflict(("interventions", i, "set", name), f"has no effect {why}")


def never_recorded(config: Any, clock: str) -> Iterator[Conflict]:
    """Yield ticks of the section ``record`` that come after the end of the run."""
    last, record = getattr(config, plural(clock)), getattr(config, "record", None)
    detail = getattr(record, "detail", 0)
    if detail > last:
        yield Conflict(
            ("record", "detail"),
            f"{detail} {plural(clock)} are more than the run has ({last}): "
            "none of this is recorded",
        )
    for i, tick in enumerate(getattr(record, "keep", ())):
        if tick > last:
            late = f"{clock} {tick} is after the last {clock}, {last}"
            yield Conflict(("record", "keep", i), f"{late}: its state is not stored")


def intervention_conflicts(config: Any) -> Iterator[Conflict]:
    """Yield the conflicts of interventions: wrong ticks, copies, keys or values.

    The keys of an intervention are named after the clock and the copies, as in day, societies.
    """
    if not config.interventions:
        return
    base, wrong, chosen = points.plain_data(config), False, workload(config.workload)
    clock, copy, copies = chosen.clock, chosen.copies, plural(chosen.copies)
    first, ticks = chosen.first(config), chosen.ticks(config)
    last = first + chosen.count(config) - 1
    for i, one in enumerate(config.interventions):
        path: Path = ("interventions", i)
        if (tick := getattr(one, clock)) >= ticks:
            message = f"must be before the last {clock}, {ticks}, got {tick}"
            yield Conflict((*path, clock), message, ((chosen.ticks_key,),))
        for place, number in enumerate(getattr(one, copies)):
            if not first <= number <= last:
                message = f"there is no {copy} {number}; they are numbered {first} to {last}"
                needs: tuple[Path, ...] = (("replicates",), (f"first_{copy}",))
                yield Conflict((*path, copies, place), message, needs)
        if not one.set and getattr(one, "remove", None) is None:
            yield Conflict((*path, "set"), "names no key that it changes")
        until = points.until_of(one)
        if until <= tick:
            message = f"must be after {clock} {tick}, on which it begins, got {until}"
            yield Conflict((*path, "until"), message, ((*path, clock),))
        for key, value in one.set.items():
            own = key
            try:
                for own in points.keys_changed(config, one, key):
                    varying(type(config), base, own, later=True)
            except NotVarying as why:
                wrong, said = True, str(why)
                if own != key and isinstance(why, UnknownKey):
                    group, *_ = config.groups
                    known = ", ".join(one for one in type(group).model_fields if one != "name")
                    said = f"is the same for all agents; a group has {known}"
                yield Conflict((*path, "set", key), said)
                continue
            values = series_of(type(config), own, value)
            end = int(min(until, ticks))
            if values is not None and (why_not := problem_of(values, clock, tick + 1, end)):
                wrong = True
                for line in why_not.split("\n"):
                    yield Conflict((*path, "set", key), line, ((chosen.ticks_key,),))
    if wrong or not points.interventions(config):
        return
    try:
        points.in_time(chosen, config, base, [{}], np.zeros(config.replicates, np.intp), {})
    except points.NotAtFirst:
        return  # a conflict of the configuration itself, which names its keys
    except points.NotThen as error:
        path = ("interventions",)
        for i, one in enumerate(config.interventions):
            path = ("interventions", i) if one is error.newest else path
        for line in str(error).split("\n"):
            series = (
                "; a series of it is written {values: [...]}" if " numbers for " in line else ""
            )
            yield Conflict(path, line + series)
