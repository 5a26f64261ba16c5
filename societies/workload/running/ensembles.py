"""What are the parameters of each copy of an ensemble? A table's row sets them, or interventions.

A table has a column for every key that varies and a row for every copy. Each row gives a
configuration, which is checked like any other. Copies with the same parameters share one
configuration, so a hundred replicates of a parameter point are checked once.
"""

from __future__ import annotations

import math
import weakref
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from societies.config.columns import key_shown
from societies.config.problems import Path, dotted, quoted, suggestion
from societies.errors import ConfigError
from societies.lazily import np
from societies.words import plural
from societies.workload.running.series_files import series_of
from societies.workload.running.tables import ValueTable
from societies.workload.running.varying import NotVarying, changed, copied, varying

if TYPE_CHECKING:
    from numpy.typing import NDArray

Made = TypeVar("Made")
_MADE: dict[int, dict[str, Any]] = {}
"""Cache of `once`, by the identity of a configuration that is in use."""

MOST_REPORTED = 8
"""Largest number of problems of a table that are reported, because every row may have one."""


@dataclass(frozen=True, eq=False)
class Points:
    """The configurations of an ensemble: which one applies to which copy, and when.

    Attributes
    ----------
    configs : different configurations, each without a table
    of : (stretch, copy) int, index into ``configs``
    after : ticks after which parameters change, ascending: stretch i + 1 follows tick ``after[i]``
    """

    configs: tuple[Any, ...]
    of: NDArray[np.intp]
    after: tuple[int, ...] = ()

    def stretch(self, tick: int) -> int:
        """Return the index of the stretch of time that contains a tick."""
        return bisect_left(self.after, tick)


def points_of(chosen: Any, config: Any) -> Points | None:
    """Return the parameters of the copies; None if all have those of the configuration.

    Raises ConfigError if a key of the table cannot vary, or a value is not allowed.
    """
    alike = getattr(config, "table", None) is None and getattr(config, "applies", None) is None
    if alike and not interventions(config):
        return None
    return once(config, "points", lambda one: _points(chosen, one))


def once(config: Any, name: str, make: Callable[[Any], Made]) -> Made:
    """Return ``make(config)``, cached by ``name`` as long as the configuration exists.

    The cache is not an attribute of the configuration, because copies and pickles would include it.
    """
    made = _MADE.get(id(config))
    if made is None:
        made = _MADE[id(config)] = {}
        weakref.finalize(config, _MADE.pop, id(config), None)
    if name not in made:
        made[name] = make(config)
    found: Made = made[name]
    return found


def interventions(config: Any) -> Sequence[Any]:
    """Return the interventions of a configuration that set values; () if it cannot have any."""
    return [one for one in getattr(config, "interventions", ()) if one.set]


def _points(chosen: Any, config: Any) -> Points:
    table, base = config.table, plain_data(config)
    paths: dict[str, Path] = {}
    for key in table.columns if table else ():
        try:
            paths[key] = varying(type(config), base, key)
        except NotVarying as why:
            raise ConfigError(f"{table.name}: {key_shown(key)}: {why}") from None
    rows, row_of = _different_rows(table, config.replicates)
    problems: list[str] = []
    columns = table.columns.items() if table else ()
    settings = [{paths[key]: plain_number(column[row]) for key, column in columns} for row in rows]
    made: dict[str, Any] = {}
    alone = bare(config)
    for row, setting in zip(rows, settings, strict=True) if table else ():
        try:
            one = copied(alone, setting) if table.checked else changed(type(config), base, setting)
            made[_name(setting)] = one
        except ValueError as error:
            number = chosen.first(config) + row
            copy = "" if number == row else f" ({chosen.copies} {number})"
            problems += [f"{table.place(row)}{copy}: {line}" for line in str(error).split("\n")]
    if problems:
        more = len(problems) - MOST_REPORTED
        rest = [f"and {more} more problems of this table"] if more > 0 else []
        raise ConfigError("\n".join([*problems[:MOST_REPORTED], *rest]))
    try:
        points = in_time(chosen, config, base, settings, row_of, made)
    except ValueError as error:
        where = f"{table.name}, with interventions" if table else "interventions"
        raise ConfigError(
            "\n".join(f"{where}: {line}" for line in str(error).split("\n"))
        ) from None
    return points


def _different_rows(table: ValueTable | None, copies: int) -> tuple[list[int], NDArray[np.intp]]:
    """Return the index of each distinct row's first occurrence, and for each copy its position.

    The positions are indices into the first result, whose indices are ascending.
    """
    if table is None:
        return [0], np.zeros(copies, np.intp)
    parts = [column.reshape(table.rows, -1) for column in table.columns.values()]
    _, firsts, of = np.unique(
        np.concatenate(parts, axis=1), axis=0, return_index=True, return_inverse=True
    )
    appearance = np.argsort(firsts)
    return firsts[appearance].tolist(), np.argsort(appearance)[of.reshape(-1)]


def in_time(
    chosen: Any,
    config: Any,
    base: Mapping[str, Any],
    settings: Sequence[Mapping[Path, Any]],
    row_of: NDArray[np.intp],
    made: Mapping[str, Any],
) -> Points:
    """Return the points of copies that begin with their settings and are changed by interventions.

    Copy i begins with ``settings[row_of[i]]``. ``made`` has configurations that were checked
    before, by the name of their settings.

    Raises ValueError if values are not allowed; one line per problem.
    """
    tick, first, last = attrgetter(chosen.clock), chosen.first(config), chosen.ticks(config)
    numbers = np.arange(first, first + len(row_of)) if config.numbers is None else config.numbers
    changes, concerned = _concerned(chosen, config, numbers)
    sets = [_sets(config, base, one) for one in changes]
    after = tuple(
        sorted(
            {
                at
                for one, values in zip(changes, sets, strict=True)
                for at in _changing(tick(one), until_of(one), values, last)
            }
        )
    )
    known: dict[Any, int] = {}
    configs: list[Any] = []
    of = np.zeros((len(after) + 1, len(row_of)), np.intp)
    for stretch, at in enumerate((-1, *after)):
        holds = np.array([tick(one) <= at < until_of(one) for one in changes], bool)
        kinds = np.concatenate([row_of[None], concerned & holds[:, None]]).T
        different, which = np.unique(kinds, axis=0, return_inverse=True)
        places = []
        for kind in different.tolist():
            setting, newest = dict(settings[kind[0]]), None
            for one, values, applies in zip(changes, sets, kind[1:], strict=True):
                if applies:
                    newest = one
                    setting |= {path: _at(value, at - tick(one)) for path, value in values.items()}
            name = _name(setting)
            if name not in known:
                known[name] = len(configs)
                try:
                    found = made.get(name) or changed(type(config), base, setting)
                    _require_ticks(chosen, config, found)
                    configs.append(found)
                except ValueError as error:
                    raise (NotThen if setting else NotAtFirst)(str(error), newest) from None
            places.append(known[name])
        of[stretch] = np.array(places)[which.reshape(-1)]
    # Some conflicts arise only from the sequence of a copy's configurations.
    for sequence in np.unique(of, axis=1).T.tolist() if changes else ():
        lines = [
            f"{dotted(one.path)}: {one.message}"
            for one in config.conflicts_in_turn([configs[i] for i in sequence])
        ]
        if lines:
            raise NotThen("\n".join(f"taken together, {line}" for line in lines), None)
    return Points(tuple(configs), of, after)


def _concerned(
    chosen: Any, config: Any, numbers: NDArray[Any]
) -> tuple[list[Any], NDArray[np.bool_]]:
    """Return the interventions that set values, by tick, and which copies each concerns."""
    tick, some = attrgetter(chosen.clock), attrgetter(plural(chosen.copies))
    found = []
    for place, one in enumerate(getattr(config, "interventions", ())):
        copies = np.isin(numbers, some(one)) if some(one) else numbers >= 0
        if config.applies is not None:
            copies = copies & config.applies[place]
        if one.set and copies.any():
            found.append((one, copies))
    found.sort(key=lambda pair: tick(pair[0]))  # stable: those of a tick stay in order
    masks = np.array([copies for _, copies in found], bool).reshape(len(found), len(numbers))
    return [one for one, _ in found], masks


class _Series(tuple[Any, ...]):
    """Values of a key on successive ticks."""


def until_of(one: Any) -> float:
    """Return the tick at whose end an intervention ends; infinity if it does not."""
    until = getattr(one, "until", None)
    return math.inf if until is None else until


def removing(config: Any) -> list[tuple[Any, NDArray[np.bool_] | None]]:
    """Return the interventions that remove something, and from which copies; None: from all."""
    applies = config.applies
    return [
        (one, None if applies is None else applies[place])
        for place, one in enumerate(getattr(config, "interventions", ()))
        if getattr(one, "remove", None) is not None
    ]


def keys_changed(config: Any, one: Any, key: str) -> list[str]:
    """Return the keys that an intervention changes: in groups, those of the groups.

    Raises NotVarying if there is no such group.
    """
    group = getattr(one, "group", None)
    groups = [] if group is None else [group]
    if agents := getattr(one, "agents", ()):
        groups = config.groups_with(agents)
    if not groups:
        return [key]
    named = [own.name for own in config.groups]
    if groups[0] not in named:
        known = f"; there are {', '.join(named)}" if named else "; the configuration has no groups"
        raise NotVarying(
            f"there is no group {quoted(groups[0])}{suggestion(groups[0], named) or known}"
        )
    return [f"groups.{named.index(one)}.{key}" for one in groups]


def _sets(config: Any, base: Mapping[str, Any], one: Any) -> dict[Path, Any]:
    """Return what an intervention sets: values, or series of them, by the path of the key."""
    found: dict[Path, Any] = {}
    for name, value in one.set.items():
        for key in keys_changed(config, one, name):
            series = series_of(type(config), key, value)
            found[varying(type(config), base, key)] = value if series is None else _Series(series)
    return found


def _changing(start: int, until: float, values: Mapping[Path, Any], last: int | None) -> set[int]:
    """Return the ticks after which the values of an intervention change."""
    longest = max((len(one) for one in values.values() if isinstance(one, _Series)), default=1)
    found = {start, *range(start, start + longest), until}
    end = math.inf if last is None else last
    return {int(at) for at in found if at <= until and (at < end or at == start)}


def _at(value: Any, place: int) -> Any:
    """Return the value of a series at a position, the last one beyond its end."""
    return value[min(place, len(value) - 1)] if isinstance(value, _Series) else value


def _require_ticks(chosen: Any, config: Any, one: Any) -> None:
    """Raise ValueError if a configuration has another number of ticks than the run."""
    ticks, wanted = chosen.ticks(one), chosen.ticks(config)
    if ticks != wanted:
        raise ValueError(
            f"{chosen.ticks_key}: would be {ticks:,} with these values and is {wanted:,}; all "
            f"copies of a launch have the same number: set {chosen.ticks_key}"
        )


def _name(setting: Mapping[Path, Any]) -> str:
    """Return a text that identifies the keys and values of a setting."""
    return repr(sorted(setting.items(), key=str))


class NotThen(ValueError):
    """Raised if values are not allowed after an intervention, ``newest``."""

    def __init__(self, lines: str, newest: Any) -> None:
        super().__init__(lines)
        self.newest = newest


class NotAtFirst(NotThen):
    """Raised if the values before all interventions are not allowed."""


def plain_data(config: Any) -> dict[str, Any]:
    """Return the configuration as plain data, without interventions."""
    data: dict[str, Any] = config.model_dump()
    data.pop("interventions", None)
    return data


def bare(config: Any) -> Any:
    """Return the configuration without a table, numbers of copies and interventions."""
    without = {"interventions": ()} if "interventions" in type(config).model_fields else {}
    found = config.model_copy(update=without)
    found._table = found._numbers = None
    return found


def plain_number(value: Any) -> Any:
    """Return values of a table as YAML has them; whole numbers are valid for int and float."""
    if value.ndim:
        return [plain_number(one) for one in value]
    if value.dtype == bool:
        return bool(value)
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)
