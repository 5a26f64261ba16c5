"""What happens when a list, a row or a number is assigned, appended or returned?"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from societies.config.problems import suggestion
from societies.translate import lists
from societies.translate.function import Function
from societies.translate.messages import BOUNDED, FROM_CONFIG, UNKNOWN_MOST, WRITE_REAL
from societies.translate.values import (
    BOOL,
    CALLED,
    INT,
    MAYBE,
    NONE,
    REAL,
    EventList,
    List,
    Number,
    Value,
    bare,
    common_kind,
    parts_of,
    wide,
)
from societies.words import counted


def store_field(f: Function, name: str, value: Value, node: ast.AST) -> None:
    """Assign a field of the society."""
    if name == "index":
        f.error(node, f"the number of a {f.unit.declared.copies} cannot be assigned")
    where = lists.field_list(f, name, node)
    if isinstance(value, List):
        f.access(name, "replace", None, node)
        _fill(f, where, value, node)
        return
    if where.dims:
        f.error(node, f"the field '{name}' is a list", "Assign its entries, or a new list.")
    f.access(name, "write", None, node)
    f.emit(f"{lists.at(where, '0')} = {lists.stored(f, where, 0, f.number(value, node), node)};")


def store_row(f: Function, where: List, i: Number, value: List, node: ast.AST) -> None:
    """Assign a row of a field."""
    if not where.rows or not where.field:
        f.error(node, "a list is assigned to an entry", "Write rows[i].clear(), and append to it.")
    f.access(where.field, "replace", i.offset, node)
    row = lists.entry(f, where, i, node)
    assert isinstance(row, List)
    if row.rows:
        f.error(node, "a row of several dimensions is assigned", "Assign its entries in loops.")
    _fill(f, row, value, node)


def _fill(f: Function, where: List, value: List, node: ast.AST) -> None:
    """Copy a list into a field or a row of it, which has a fixed length."""
    if not value.fresh:
        hint = "Write list(...) around the name, so that there are two lists in Python as well."
        f.error(node, "a field and a name would stand for one list", hint)
    if len(where.dims) > 1:
        hint = f"Assign its rows in a loop: {f.unit.declared.copies}.{where.field}[i] = [...]."
        f.error(node, "a field of several dimensions is assigned as a whole", hint)
    if value.pairs or value.rows:
        f.error(node, "a list of another shape than the field", "Assign its entries in a loop.")
    f.require(f"{value.length} == {where.length}", node, "a list of another length than the field")
    k = f.cname("k")
    number = lists.loaded(value, k, 0)
    with f.block(f"for (long {k} = 0; {k} < {where.length} && {k} < {value.length}; ++{k})"):
        f.emit(f"{lists.at(where, k)} = {lists.stored(f, where, 0, number, node)};")


def assign_series(f: Function, node: ast.Dict) -> None:
    """Translate ``society.series = {...}``."""
    series = list(f.unit.declared.series)
    keys = [str(key.value) if isinstance(key, ast.Constant) else "" for key in node.keys]
    missing = [one for one in series if one not in keys]
    for key, at in zip(keys, node.keys, strict=True):
        if key not in series and (key or not missing):
            hint = f"Declared: {', '.join(series)}." if series else "The model declares no series."
            near = suggestion(key, series)
            f.error(at, f"there is no series '{key}'{near}", hint, wrong=True)
    if missing:
        hint = "A phase that assigns the series gives all of them."
        f.error(node, f"the series '{missing[0]}' is missing", hint, wrong=True)
    pointer = f.use("state_series", "__global real *state_series")
    for value, key, at in zip(f.ordered(node.values), keys, node.keys, strict=True):
        number = f.number(value, node)
        if number.kind != REAL:
            f.error(at, f"the series '{key}' gets {CALLED[number.kind]}", "Write float(...).")
        f.emit(f"{pointer}[{series.index(key)}] = {bare(number.text)};  // {key}")
    f.access("series", "write", None, node)


def put(f: Function, where: List, i: Number, value: Value, node: ast.AST) -> None:
    """Assign an entry of a list."""
    if where.rows:
        f.error(node, "a row gets a number", "Name an entry of the row: x[i][k].")
    if where.space == "table":
        f.error(node, "the configuration and constants cannot be changed", "Copy it: list(...).")
    if where.field:
        first = len(where.dims) == len(f.unit.declared.fields[where.field].dims)
        own = i.offset if first else where.own
        f.access(where.field, "write", own, node)
    place = lists.index(f, where, i, node)
    for k, text in enumerate(lists.texts(f, where, value, node)):
        f.emit(f"{lists.at(where, place, k)} = {text};")


def add(f: Function, where: List, value: Value, node: ast.AST, *, sure: bool = False) -> None:
    """Append an entry; ``sure``: the list has room, as the translator found its bound."""
    n = where.counter
    if where.rows:
        _add_row(f, where, value, node)
        return
    texts = lists.texts(f, where, value, node)
    stores = [f"{lists.at(where, n, k)} = {text};" for k, text in enumerate(texts)]
    f.require(f"{n} < {where.most}", node, f"the list has more than {where.most} entries")
    if sure and not f.unit.checked and len(stores) == 1:
        f.emit(
            stores[0].replace(f"[{lists.flat(where, n)}]", f"[{lists.flat(where, f'{n}++')}]", 1)
        )
        return
    with f.block("" if sure and not f.unit.checked else f"if ({n} < {where.most})"):
        for text in stores:
            f.emit(text)
        f.emit(f"++{n};")


def _add_row(f: Function, where: List, value: Value, node: ast.AST) -> None:
    """Append a row to a list of lists."""
    if not isinstance(value, List) or value.rows or value.pairs:
        f.error(node, "the list has lists as entries, and gets something else")
    if not value.fresh:
        f.error(node, "a name and an entry would stand for one list", "Write list(...) around it.")
    n = where.counter
    f.require(f"{n} < {where.most}", node, f"the list has more than {where.most} entries")
    f.require(
        f"{value.length} <= {where.dims[1]}", node, "a row is longer than the first one may be"
    )
    with f.block(f"if ({n} < {where.most})"):
        row = lists.get(f, where, n)
        assert isinstance(row, List)
        f.emit(f"{row.counter} = least_long({value.length}, {where.dims[1]});")
        lists.copy(f, value, replace(row, counter=""), row.counter)
        f.emit(f"++{n};")


def bind(f: Function, name: str, value: List, node: ast.AST) -> None:
    """Let a name stand for a list: for a field or a row as another name, for a new list itself."""
    scope, several = f.frame.scope, f.frame.bindings[name] > 1
    before = scope.get(name)
    if before is not None and not isinstance(before, List):
        f.error(
            node, f"'{name}' stood for {f.called(before)} before", "Give the list another name."
        )
    if isinstance(before, List) and not before.local and not before.field and not value.base:
        f.error(node, f"'{name}' is a list that was handed to the function",
                "Give the new list another name.")  # fmt: skip
    if not value.fresh:
        _bind_alias(f, name, value, before, several, node)
        return
    if not several and not f.fact("kinds", name):
        if value.bounded and (kinds := f.fact("entries", name)) and kinds != value.kinds:
            f.error(node, "the entries are of another kind than the list says")
        scope[name] = replace(value, fresh=False)
        return
    if before is None:
        most = max(value.most, f.fact("most", name) or 0)
        kinds = f.fact("kinds", name) or value.kinds
        inner = max(value.dims[1] if value.rows else 0, f.fact("inner", name) or 0)
        bounded = value.bounded and not f.fact("unbounded", name)
        made = lists.new(f, name, kinds, most, inner=inner, bounded=bounded)
        before = scope[name] = replace(made, fresh=False)
    assert isinstance(before, List)
    if value.field or before.field:
        f.error(node, f"'{name}' stood for a field before", "Give the list another name.")
    if before.bounded and not value.bounded:
        f.learn(("unbounded", name), True)
    if value.most > before.most:
        f.learn(("most", name), value.most)
    if value.rows and value.dims[1] > before.dims[1]:
        f.learn(("inner", name), value.dims[1])
    if value.kinds != before.kinds:
        f.learn(("kinds", name), joined(f, name, before.kinds, value.kinds, node))
    lists.copy(f, value, before)


def joined(
    f: Function, name: str, first: Sequence[str], second: Sequence[str], node: ast.AST
) -> tuple[str, ...]:
    """Return the kinds of entries of a list that gets entries of two kinds."""
    found = []
    for a, b in zip(first, second, strict=False):
        kind = common_kind(a, b)
        if kind is None:
            f.error(node, f"'{name}' has {CALLED[a]} as entries, and {CALLED[b]} here", WRITE_REAL)
        found.append(kind)
    if len(first) != len(second):
        f.error(node, f"'{name}' has entries of {len(first)} numbers, and of {len(second)} here")
    return tuple(found)


def _bind_alias(
    f: Function, name: str, value: List, before: Value | None, several: bool, node: ast.AST
) -> None:
    if not value.field and not value.base and value.space != "table":
        f.error(
            node, "two names for one list", f"Write {name} = list(...), which is a list of its own."
        )
    if isinstance(before, List):
        same = (before.field, before.dims, before.columns) == (
            value.field,
            value.dims,
            value.columns,
        )
        if not same:
            f.error(
                node, f"'{name}' stood for another list before", "Give the second another name."
            )
    if value.field:
        f.access(value.field, "alias", None if several else value.own, node)
    if value.base:
        old = before.base if isinstance(before, List) else ""
        place = old or f.cname(f"{name}_at")
        f.declared[place] = "long"
        f.emit(f"{place} = {value.base};")
        if value.counter:  # of a list of lists: the length of the row is at the row's place
            f.error(
                node, "a row of a list of lists gets a name", "Write rows[i][k] where it is used."
            )
        value = replace(value, base=place, own=None if several else value.own)
    f.frame.scope[name] = value


def returned(f: Function, value: List, node: ast.AST) -> None:
    """Translate the return of a list, which must be a new one."""
    if not (value.fresh or value.local):
        f.error(
            node, "a list that is not the function's own is returned", "Return list(...) of it."
        )
    if value.rows:
        f.error(node, "a list of lists is returned", "Hand it to the function, which fills it.")
    result = f.instance.result
    if result is None:
        most = max(value.most, f.fact("most", "return") or 0)
        columns = tuple(replace(c, pointer=f"result{i or ''}") for i, c in enumerate(value.columns))
        space = "private" if most <= f.unit.private else "scratch"
        if space == "scratch":
            f.use("stride", "const size_t stride")
        result = List(columns, space, "(*result_n)", most, "(*result_n)")
        f.instance.result = result
    if not isinstance(result, List) or result.kinds != value.kinds:
        f.error(node, "returns another kind of value than elsewhere", "Return one kind of value.")
    if value.most > result.most:
        f.learn(("most", "return"), value.most)
    lists.copy(f, value, result)
    f.emit("return;")


def events_append(f: Function, events: EventList, value: Value, node: ast.AST) -> None:
    """Append a row to a list of events, which has its tick first.

    The host finds in the row what was wrong (`require_events`); a checked build finds it here.
    """
    name, (columns, most) = events.name, f.unit.declared.events[events.name]
    parts, clock = value if isinstance(value, tuple) else (), f.unit.declared.clock
    if len(parts) != columns:
        hint = f"Write .append(({clock},{' ...' * (columns > 1)}))."
        f.error(node, f"a row of '{name}' has {counted(columns, 'number')}", hint, wrong=True)
    numbers = [f.constant(f.number(one, node)) for one in parts]
    for one in numbers:
        if one.kind not in (INT, BOOL):
            said = f"a row of '{name}' has whole numbers, and gets {CALLED[one.kind]}"
            f.error(node, said, "Write int(...).", wrong=one.kind != MAYBE)
    f.access(name, "write", None, node)
    if f.unit.entry:
        f.error(node, "a phase for each entry has no order, so it cannot append events",
                "Append in a phase of the whole society.")  # fmt: skip
    log = f.use(f"{name}_log", f"__global int *{name}_log")
    count = f"{f.use(f'{name}_count', f'__global uint *{name}_count')}[copy]"
    rows = f.use(f"{name}_rows", f"const uint {name}_rows")
    f.use("copy", "const size_t copy")
    copies, tick = f.use("copies", "const uint copies"), f.use("tick", "const int tick")
    first, *others = numbers
    f.require("tick > 0", node, f"rows are appended to '{name}' from {clock} 1 on")
    f.require(f"{first.text} == tick", node, f"a row of '{name}' does not begin with the {clock}")
    before = f"((size_t)({count} - {most}) * {copies} + copy) * {columns}"
    room = f"{count} < {most} || ({count} < {rows} && {log}[{before}] != tick)"
    f.require(room, node, f"more than {most} rows of '{name}' in a {clock}")
    texts = [f"{first.text} == {tick} ? {tick} : -1 - {tick}"]
    for one in others:
        inside = f"{one.text} >= -INT_MAX && {one.text} <= INT_MAX"
        low, high = one.limits
        if low is None or high is None or not -(2**31) < low <= high < 2**31:
            f.require(inside, node, f"the number does not fit a row of '{name}'")
            texts.append(f"{inside} ? (int){one.text} : INT_MIN")
        else:
            texts.append(f"(int){one.text}")
    with f.block(f"if ({count} < {rows})"):
        place = f"((size_t){count} * {copies} + copy) * {columns}"
        for k, text in enumerate(texts):
            f.emit(f"{log}[{place} + {k}] = {text};")
        f.emit(f"++{count};")


def display(f: Function, node: ast.List | ast.Tuple, name: str) -> List:
    """Return the list of values that are written out."""
    if not node.elts:
        f.error(node, UNKNOWN_MOST, BOUNDED.format(name=name or "x"))
    return filled(f, f.ordered(node.elts), node, name)


def filled(f: Function, values: Sequence[Value], node: ast.AST, name: str) -> List:
    """Return a new list of some values."""
    first = values[0]
    if isinstance(first, List):
        inner = max(one.most for one in values if isinstance(one, List))
        made = lists.new(f, name, first.kinds, len(values), inner=inner)
        f.emit(f"{made.counter} = 0;")
        for one in values:
            add(f, made, one, node)
        return made
    kinds = tuple(f.number(one, node).kind for one in parts_of(first))
    for value in values[1:]:
        more = [f.number(one, node).kind for one in parts_of(value)]
        kinds = joined(f, name or "list", kinds, more, node)
    made = lists.new(f, name, kinds, len(values))
    for i, value in enumerate(values):
        for k, text in enumerate(lists.texts(f, made, value, node)):
            f.emit(f"{lists.at(made, str(i), k)} = {text};")
    f.emit(f"{made.counter} = {len(values)};")
    return made


def repeated(f: Function, filled: ast.List, count: ast.expr, name: str) -> List:
    """Return the list ``[value] * count``."""
    if len(filled.elts) != 1:
        f.error(filled, "a list of several entries, repeated", "Write a comprehension.")
    value, times = f.ordered([filled.elts[0], count])
    if isinstance(value, List):
        hint = "In Python all entries are one list. Write [[0] * n for _ in range(m)]."
        f.error(filled, "a list of lists by *", hint)
    n = f.whole(times, count, "a list is repeated by {}", "Write int(...).")
    most = n.most
    if most is None:
        f.error(count, *FROM_CONFIG)
    kinds = tuple(f.number(one, filled).kind for one in parts_of(value))
    kinds = tuple(MAYBE if kind == NONE else kind for kind in kinds)
    made = lists.new(f, name, kinds, max(most, 0))
    f.require(f"{n.text} <= {made.most}", count, "the list is longer than was reckoned")
    f.emit(f"{made.counter} = {'' if n.positive else '0 > '}{bare(wide(n))}"
           f"{'' if n.positive else f' ? 0 : {bare(wide(n))}'};")  # fmt: skip
    entries = lists.texts(f, made, value, filled)
    with f.loop(made.length) as k:
        for i, text in enumerate(entries):
            f.emit(f"{lists.at(made, k, i)} = {text};")
    return made
