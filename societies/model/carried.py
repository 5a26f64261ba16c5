"""How does plain Python run rules that were not translated?"""

from __future__ import annotations

import ast
import inspect
import math
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, wraps
from itertools import chain
from types import FunctionType
from typing import Any

import numpy as np

from reference_py.copies import Copy
from societies.config.problems import suggestion
from societies.translate import Declared, RuleError, TranslationError
from societies.translate.messages import marked
from societies.translate.source import definition, reached
from societies.workload import Events, Field
from societies.workload.declare.fields import SERIES
from societies.workload.running.appended import EventRows
from societies.workload.running.state import fitted
from societies.workload.values.copies import parameters_of_copy

NUMBER = "python_number"
"""Field with the number of a society, for phases that plain Python carries out."""

PLACE = "python_place"
"""Field with the index of a society in the ensemble, which says what its parameters are."""


def note_number(config: Any, society: Any) -> None:
    """Store the number of a society, for phases that plain Python runs."""
    society.python_number = society.index


def phase_in_python(
    function: FunctionType,
    name: str,
    parameters: Sequence[str],
    entry: str,
    declared: Declared,
    *,
    settles: bool,
) -> Callable[..., None]:
    """Return a phase in plain Python as engines call it: for all entries, errors with their line.

    After the call the society's fields are as on a device: numbers of their types, in lists of
    their own. The phase raises `RuleError` if the rule raises an error or leaves values that a
    field cannot hold.

    ``settles`` is True for a phase that is not translated: all fields are checked, and it cannot
    read the series, which no checkpoint holds. A translated phase changes only fields that it
    names.
    """
    names = [one for one in parameters[2:] if one != entry]
    rule = _Rule(function, name, declared)
    changed = {*declared.fields} if settles else _changed_by(function, declared.fields)
    changed -= {*declared.hidden}

    @wraps(function)
    def carried_out(config: Any, society: Any, day: int, **arguments: int) -> None:
        given = {declared.clock: day, "tick": day, **arguments}
        values = [given[one] for one in names]
        state = vars(society)
        before = dict(state)
        if settles:
            state.pop(SERIES, None)
        try:
            if not entry:
                function(config, society, *values)
            for i in range(declared.lengths[entry] if entry else 0):
                function(config, society, *values, i)
        except Exception as error:
            raise rule.explained(error, society, before["index"], day) from error
        made = state.get(SERIES)
        if isinstance(made, dict) and list(made) != list(declared.series):
            rule.require_series(made)
            state[SERIES] = {one: made[one] for one in declared.series}
        for field, said in _unsettled(state, before, declared, changed, settles):
            raise rule.error(rule.part_of(field), said, before["index"], day)

    return carried_out


_READING = {"all", "any", "enumerate", "len", "max", "min", "range", "sorted", "sum", "zip"}
"""Functions that do not change the lists that they are given."""

_Place = tuple[int, int, int]
"""A line, and the bytes of it that are meant: the first, and the one after the last."""


@dataclass(frozen=True)
class _Rule:
    """A phase, for messages."""

    function: Any
    name: str
    declared: Declared

    def error(self, place: _Place, said: str, index: int, day: int) -> RuleError:
        """Return an error in a line of the phase's file, in which a part is marked."""
        line, *span = place
        module = inspect.getsource(sys.modules[self.function.__module__]).split("\n")
        source = (module[line - 1] if 0 < line <= len(module) else "").encode()
        first, last = (len(source[:one].decode()) for one in span)
        shown = "\n".join(marked(source.decode(), (first, last)))
        where = f"{self.declared.clock} {day}, {self.declared.copies} {index}, phase {self.name}"
        return RuleError(f"{self._file}:{line}: {said}\n{shown}\n  in {where}")

    @property
    def _file(self) -> str:
        return inspect.getsourcefile(self.function) or ""

    def explained(self, error: Exception, society: Any, index: int, day: int) -> RuleError:
        """Return an error that says where in the rules another one was raised."""
        said = f"{type(error).__name__}: {error}"
        if isinstance(error, AttributeError) and error.obj is society:
            said = _no_field(str(error.name), self.declared)
        return self.error(place_in(self._file, error), said, index, day)

    def require_series(self, made: Mapping[str, Any]) -> None:
        """Raise RuleError unless the phase has set every series, and no other."""
        series = self.declared.series
        said = [f"there is no series '{one}'{suggestion(one, series)}"
                for one in made if one not in series]  # fmt: skip
        said += [f"the series '{one}' is missing" for one in series if one not in made]
        if said:
            where = f"{self._file}:{self.function.__code__.co_firstlineno}"
            listed = f"Series that the model declares: {', '.join(series)}."
            raise RuleError(f"{where}: {self.name}: {said[0]}\n  {listed}")

    def part_of(self, field: str) -> _Place:
        """Return where the phase first assigns a field, or names it, or where it begins."""

        def named(node: ast.AST | None) -> Iterator[_Place]:
            for one in ast.walk(node) if node is not None else ():
                if isinstance(one, ast.Attribute) and one.attr == field:
                    last = one.end_col_offset if one.end_lineno == one.lineno else None
                    yield one.lineno, one.col_offset, last or 0

        with suppress(TranslationError):
            tree = definition(self.function)[0]
            stored = [
                place
                for one in ast.walk(tree)
                if isinstance(one, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete)
                for target in getattr(one, "targets", [getattr(one, "target", None)])
                for place in named(target)
            ]
            if found := stored or list(named(tree)):
                return min(found)
        return int(self.function.__code__.co_firstlineno), 0, 0


def place_in(file: str, error: Exception | None) -> _Place:
    """Return the last place in a file through which an error passed; (0, 0, 0): none."""
    steps = traceback.extract_tb(error.__traceback__ if error is not None else None)
    for one in reversed(steps):
        if one.filename == file and one.lineno is not None:
            within = one.colno is not None and one.end_lineno == one.lineno
            first, last = (one.colno or 0, one.end_colno or 0) if within else (0, 0)
            return one.lineno, first, last
    return 0, 0, 0


def _no_field(name: str, declared: Declared) -> str:
    """Return what is wrong with a name of a society that it does not have."""
    if name == SERIES:
        return "the series of a phase are written, not read: what is needed later is a field"
    known = [one for one in declared.fields if one not in declared.hidden]
    return (
        f"the {declared.copies} has no field '{name}'{suggestion(name, [*known, *declared.events])}"
    )


def _changed_by(function: FunctionType, fields: Mapping[str, Any]) -> set[str]:
    """Return the fields that a function, or one that it calls, may change: not read alone."""
    found = set()
    for one in reached([function]):
        tree, read = definition(one)[0], set[ast.AST]()
        for node in ast.walk(tree):
            parts = [node.iter] if isinstance(node, ast.For | ast.comprehension) else []
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in _READING:
                parts = node.args
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                parts = [node.value]
            read.update(part for part in parts if _dims(part, fields) == 1)
        named = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
        found |= {
            node.attr
            for node in named
            if node not in read
            and (isinstance(node.ctx, ast.Store) or _dims(node, fields) not in (None, 0))
        }
    return found & {*fields}


def _dims(node: ast.AST, fields: Mapping[str, Any]) -> int | None:
    """Return the number of dimensions of a field, or of a row of it; None: it is no field."""
    if isinstance(node, ast.Subscript):
        whole = _dims(node.value, fields)
        return None if whole is None else whole - 1
    field = fields.get(node.attr) if isinstance(node, ast.Attribute) else None
    return None if field is None else len(field.dims)


def _unsettled(
    state: dict[str, Any],
    before: Mapping[str, Any],
    declared: Declared,
    changed: Collection[str],
    settles: bool,
) -> Iterator[tuple[str, str]]:
    """Make a society's fields what they are on devices; yield fields that no device can hold.

    Parameters
    ----------
    state, before : names and values of the society after and before a phase
    changed : the fields that the phase can have changed
    settles : as for `whole`: a list may then have two names
    """
    for name in state.keys() - before.keys() - {SERIES}:
        yield name, _no_field(name, declared)
    if state["index"] != before["index"]:
        yield "index", f"the number of a {declared.copies} cannot be assigned"
    for name in declared.events:
        if state.get(name) is not before[name]:
            yield name, f"'{name}' is a list of events: rows are appended to it"
    made = state.pop(SERIES, before.get(SERIES))
    if SERIES in before or (declared.series and made is not None):
        if not isinstance(made, dict) and made is not before.get(SERIES):
            yield SERIES, "series are set by their names: society.series = {...}"
        state[SERIES] = made
    new = isinstance(made, dict) and made is not before.get(SERIES)
    for name, value in made.items() if new else ():
        try:
            made[name] = fitted(value, "float64").item()
        except ValueError as error:
            yield SERIES, f"the series '{name}' cannot hold what was written: {error}"
    for name, field in ((one, declared.fields[one]) for one in changed):
        if name not in state:
            yield name, f"the field '{name}' is deleted"
        shape = tuple([declared.lengths[dim] for dim in field.dims])
        if _is_settled(state[name], field.dtype, shape):
            state[name] = _copied(state[name]) if settles else state[name]
            continue
        try:
            found = fitted(state[name], field.dtype)
            if found.shape != shape and (found.size or math.prod(shape)):
                raise ValueError(f"{in_words(found.shape)} instead of {in_words(shape)}")
        except ValueError as error:
            said = f"the field '{name}' ({field.dtype}) cannot hold what was written: {error}"
            yield name, said
        state[name] = found.tolist()


def _copied(values: Any) -> Any:
    """Return a list of its own, or a number as it is."""
    if type(values) is not list:
        return values
    return [_copied(one) for one in values] if type(values[0]) is list else values[:]


def _is_settled(made: Any, dtype: str, shape: tuple[int, ...]) -> bool:
    """Return True if numbers, or lists of them, are surely what a device holds, which is fast."""
    made = [made]
    for length in shape:
        if {*map(type, made)} != {list} or {*map(len, made)} != {length}:
            return False
        made = [*chain.from_iterable(made)]
    if dtype == "float64":
        return {*map(type, made)} <= {float}
    least, most = _limits(dtype)
    return {*map(type, made)} == {int} and least <= min(made) and max(made) <= most


@lru_cache
def _limits(dtype: str) -> tuple[int, int]:
    found = np.iinfo(dtype)
    return int(found.min), int(found.max)


def in_words(shape: Sequence[int]) -> str:
    """Return the shape of a field in words."""
    return f"a list of {' x '.join(map(str, shape))}" if shape else "one number"


def on_host(
    function: Callable[..., None],
    p: Any,
    fields: Mapping[str, Field],
    events: Mapping[str, Events],
    clock: str,
    arrays: Mapping[str, Any],
    tick: int,
    **arguments: int,
) -> None:
    """Run a phase in plain Python for the societies on a device."""
    numbers = arrays[NUMBER].get().tolist()
    places = arrays[PLACE].get().tolist() if PLACE in arrays else [0] * len(numbers)
    names = [name for name in (*fields, SERIES) if name in arrays]
    state = {name: arrays[name].get() for name in names}
    for row, (number, place) in enumerate(zip(numbers, places, strict=True)):
        lists = {name: EventRows(name, kind, clock, tick) for name, kind in events.items()}
        own = {name: values[row].tolist() for name, values in state.items()}
        copy = Copy(number, {**own, **lists})
        if "ended" in state and 0 <= state["ended"][row] != tick:
            continue
        function(parameters_of_copy(p, place, tick), copy, tick, **arguments)
        for name, values in state.items():
            made = getattr(copy, name)
            values[row] = list(made.values()) if isinstance(made, dict) else made
        for name, added in lists.items():
            _append(arrays, name, row, added.rows)
    for name, values in state.items():
        arrays[name].set(values)


def _append(
    arrays: Mapping[str, Any], name: str, place: int, rows: Sequence[tuple[int, ...]]
) -> None:
    """Append rows to a list of events on a device, as its kernels do."""
    if not rows:
        return
    log, count = arrays[f"{name}_log"], arrays[f"{name}_count"]
    written, (room, copies, columns) = int(count.get_part(place, 1)[0]), log.shape
    for row in rows[: room - written]:
        log.set_part((written * copies + place) * columns, np.array(row, np.int32))
        written += 1
    count.set_part(place, np.array([written], np.uint32))
