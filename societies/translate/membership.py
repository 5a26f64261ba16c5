"""What do methods of lists become, and the question whether a list contains a value?"""

from __future__ import annotations

import ast
from collections.abc import Callable

from societies.translate import lists, storing
from societies.translate.function import Function
from societies.translate.messages import APPEND_EACH, BOUNDED, STATE, UNKNOWN_MOST
from societies.translate.tables import as_list
from societies.translate.values import (
    BOOL,
    FIXED,
    INT,
    READ,
    REAL,
    WORD,
    Known,
    List,
    Number,
    Value,
    bare,
    parts_of,
    wide,
)

Made = Callable[[Function, List, ast.Call, str], Value]
"""What translates a method of a list, for a call of it and the name that its result gets."""

_IDENTITY = (
    "whether a list contains a real number: Python's `in` takes NaN for equal to itself",
    "Write a loop, or any(x == y for x in values).",
)


def contains(f: Function, node: ast.Compare) -> Number | bool:
    """Return whether ``a in b`` or ``a not in b`` holds."""
    among_node, negate = node.comparators[0], isinstance(node.ops[0], ast.NotIn)
    if isinstance(among_node, ast.Tuple | ast.List | ast.Set):
        values = f.ordered([node.left, *among_node.elts])
        if all(isinstance(value, Known) for value in values):
            words = [value.value for value in values if isinstance(value, Known)]
            return (words[0] in words[1:]) != negate
        wanted, *others = [f.number(value, node) for value in values]
        if any(one.kind == WORD for one in (wanted, *others)):
            f.error(node, *STATE)
        if any(one.kind == REAL for one in (wanted, *others)):
            f.error(node, *_IDENTITY)
        wanted = f.constant(wanted) if wanted.life == 0 else wanted
        text = " || ".join(f"{wide(wanted)} == {wide(one)}" for one in others)
        return Number(f"(!({text}))" if negate else f"({text})", BOOL, wanted.life, 0, 1)
    span = _range(f, node, among_node)
    if span is not None:
        wanted, low, high = span
        if REAL in (wanted.kind, low.kind, high.kind):
            f.error(node, "whether a range contains a real number", "Write low <= x < high.")
        wanted = f.constant(wanted) if wanted.life == 0 else wanted
        text = f"({wide(low)} <= {wide(wanted)} && {wide(wanted)} < {wide(high)})"
        return Number(f"(!{text})" if negate else text, BOOL, wanted.life, 0, 1)
    left, among = f.ordered([node.left, among_node])
    if isinstance(among, Known) and isinstance(left, Known):
        return (left.value in among.value) != negate
    among = as_list(
        f, among, node, "'in' asks lists and ranges alone", "Use a list or a field of 0 and 1."
    )
    place = _place(f, among, left, node)
    return Number(f"({place} {'>=' if negate else '<'} {among.length})", BOOL, READ, 0, 1)


def _range(f: Function, node: ast.Compare, among: ast.expr) -> tuple[Number, Number, Number] | None:
    """Return a number, and the bounds of the range that it is looked for in."""
    if not (isinstance(among, ast.Call) and isinstance(among.func, ast.Name)):
        return None
    function = f.lookup(among.func.id, among)
    if not (isinstance(function, Known) and function.value is range) or among.keywords:
        return None
    wanted, *ends = f.numbers([node.left, *among.args], node)
    if len(ends) > 2:
        f.error(
            node, "'in' a range with a step", "Write low <= x < high and (x - low) % step == 0."
        )
    low = ends[0] if len(ends) == 2 else Number("0", INT, FIXED, 0, 0, 0, True)
    return wanted, low, ends[-1]


def _same(f: Function, where: List, value: Value, k: str, node: ast.AST) -> str:
    """Return a condition: entry k of a list is a value."""
    parts = parts_of(value)
    if len(parts) != len(where.columns) or where.rows:
        f.error(node, "the value is of another kind than the entries of the list")
    tests = []
    for i, part in enumerate(parts):
        number = f.number(part, node)
        if WORD in (number.kind, where.columns[i].kind):
            f.error(node, *STATE)
        if REAL in (number.kind, where.columns[i].kind):
            f.error(node, *_IDENTITY)
        number = f.constant(number) if number.life == 0 else number
        tests.append(f"{lists.at(where, k, i)} == {wide(number)}")
    return " && ".join(tests)


def all_entries(f: Function, where: List, node: ast.AST, what: str = "read") -> None:
    """Note that all entries of a list are read or written."""
    if where.field:
        entries = len(where.dims) < len(f.unit.declared.fields[where.field].dims)
        f.access(where.field, what, where.own if entries else None, node)


INSTEAD = {
    **{name: f"Write {name}(values)." for name in ("sum", "min", "max", "any", "all", "sorted")},
    **dict.fromkeys(("add", "push", "put"), "Write .append(x) to a list Bounded(most)."),
    "shuffle": "Write order = random_permutation(rng, n), and go through it.",
    "mean": "Write reduce_sum(values) / float(len(values)); of whole numbers, sum(values).",
    "size": "Write len(values).",
    "argmax": "Write values.index(max(values)).",
    "argmin": "Write values.index(min(values)).",
}
"""What to write instead of methods that arrays of NumPy have."""


def method(f: Function, where: List, name: str, node: ast.Call, target: str) -> Value:
    """Translate the call of a method of a list."""
    if name not in METHODS:
        hint = INSTEAD.get(name, f"It has {', '.join(METHODS)}.")
        f.error(node, f"a list has no .{name} here", hint)
    if node.keywords and name != "sort":
        f.error(node, f".{name} takes no keywords")
    changes = name in ("append", "extend", "pop", "insert", "remove", "clear")
    if changes and not where.counter:
        hint = "Fields keep their length; copy it: x = list(...)."
        f.error(node, f".{name} of a list of fixed length", hint)
    if name in ("append", "extend", "insert") and not where.bounded:
        named = (n for n, v in f.frame.scope.items() if v == where)
        f.error(node, UNKNOWN_MOST, BOUNDED.format(name=next(named, "values")))
    return METHODS[name](f, where, node, target)


def _taking(least: int, most: int, made: Callable[..., Value]) -> Made:
    """Return the translation of a method whose arguments, checked in number, ``made`` gets."""

    def method(f: Function, where: List, node: ast.Call, target: str) -> Value:
        if not least <= len(node.args) <= most:
            f.error(node, f"takes {least if least == most else f'{least} to {most}'} arguments")
        return made(f, where, node, *f.ordered(node.args))

    return method


def _learned(f: Function, where: List, value: Value, node: ast.AST) -> None:
    """Find out what the entries of a list without entries are, from the first that it gets."""
    if isinstance(value, List):
        return
    kinds = tuple(f.number(one, node).kind for one in parts_of(value))
    if kinds != where.kinds and where.local:
        name = next((n for n, v in f.frame.scope.items() if v == where), "")
        before = f.fact("entries", name)
        if name and before is None:
            f.learn(("entries", name), kinds)
        if name and before is not None and len(before) == len(kinds):
            made = storing.joined(f, name, before, kinds, node)
            if made != before:
                f.learn(("entries", name), made)


def _append(f: Function, where: List, node: ast.Call, value: Value) -> Value:
    if isinstance(value, List) and not where.rows:
        name = next((n for n, v in f.frame.scope.items() if v == where), "")
        if name and where.local and f.fact("inner", name) is None:
            f.learn(("inner", name), value.most)
        f.error(node, "a list is appended to a list of numbers", "Append its entries in a loop.")
    _learned(f, where, value, node)
    storing.add(f, where, value, node)
    return Known(None)


def _extend(f: Function, where: List, node: ast.Call, value: Value) -> Value:
    added = as_list(f, value, node, ".extend takes a list", APPEND_EACH)
    k = f.cname("k")
    with f.loop(f.constant(Number(added.length, INT)).text, to=k):
        storing.add(f, where, lists.get(f, added, k), node)
    return Known(None)


def _moved(f: Function, where: List, start: str, end: str) -> None:
    """Close the gap at an index: all later entries move one down."""
    k = f.cname("k")
    with f.block(f"for (long {k} = {start}; {k} < {end}; ++{k})"):
        lists.move(f, where, f"{k} + 1", where, k)


def _pop(f: Function, where: List, node: ast.Call, *values: Value) -> Value:
    if where.rows:
        f.error(node, ".pop of a list of lists", "Keep in a variable how many rows count.")
    n = where.counter
    f.require(f"{n} > 0", node, "the list is empty")
    last = Number("-1", INT, FIXED, -1, -1, -1, True)
    index = f.number(values[0], node) if values else last
    place = f.constant(Number(lists.index(f, where, index, node), INT)).text
    taken = f.steady(lists.get(f, where, place))
    f.emit(f"if ({n} > 0) --{n};")
    if values:
        _moved(f, where, place, n)
    return taken


def _insert(f: Function, where: List, node: ast.Call, at: Value, value: Value) -> Value:
    _learned(f, where, value, node)
    n, index = where.counter, f.present(f.number(at, node), node)
    place = f.constant(Number(f"slice_bound({bare(wide(index))}, {n})", INT)).text
    f.require(f"{n} < {where.most}", node, f"the list has more than {where.most} entries")
    parts = [f.constant(f.number(one, node)) for one in parts_of(value)]
    k = f.cname("k")
    with f.block(f"if ({n} < {where.most})"):
        with f.block(f"for (long {k} = {n}; {k} > {place}; --{k})"):
            lists.move(f, where, f"{k} - 1", where, k)
        for i, part in enumerate(parts):
            f.emit(f"{lists.at(where, place, i)} = {lists.stored(f, where, i, part, node)};")
        f.emit(f"++{n};")
    return Known(None)


def _place(f: Function, where: List, value: Value, node: ast.AST) -> str:
    """Return the index of the first entry that is a value, or the length of the list."""
    all_entries(f, where, node)
    place = f.fresh()
    f.emit(f"long {place} = 0;")
    same = _same(f, where, value, place, node)
    f.emit(f"while ({place} < {where.length} && !({same})) ++{place};")
    return place


def _position(f: Function, where: List, value: Value, node: ast.AST) -> str:
    """Return the index of the first entry that is a value."""
    place = _place(f, where, value, node)
    f.require(f"{place} < {where.length}", node, "the value is not in the list")
    return place


def _remove(f: Function, where: List, node: ast.Call, value: Value) -> Value:
    place, n = _position(f, where, value, node), where.counter
    f.emit(f"if ({place} < {n}) --{n};")
    _moved(f, where, place, n)
    return Known(None)


def _clear(f: Function, where: List, node: ast.Call) -> Value:
    f.emit(f"{where.counter} = 0;")
    return Known(None)


def _index(f: Function, where: List, node: ast.Call, value: Value) -> Value:
    return Number(_position(f, where, value, node), INT, FIXED, 0, where.most)


def _count(f: Function, where: List, node: ast.Call, value: Value) -> Value:
    all_entries(f, where, node)
    total, k = f.fresh(), f.cname("k")
    f.emit(f"long {total} = 0;")
    same = _same(f, where, value, k, node)
    f.emit(f"for (long {k} = 0; {k} < {where.length}; ++{k}) {total} += {same};")
    return Number(total, INT, FIXED, 0, where.most)


def _copy(f: Function, where: List, node: ast.Call, target: str) -> Value:
    if node.args:
        f.error(node, "takes 0 arguments")
    all_entries(f, where, node)
    return lists.copied(f, where, target)


def _reverse(f: Function, where: List, node: ast.Call) -> Value:
    all_entries(f, where, node, "write")
    if where.rows:
        f.error(node, ".reverse of a list of lists", "Go through it with reversed(...).")
    k, other = f.cname("k"), f.cname("other")
    with f.loop(f"{where.length} / 2", to=k):
        f.emit(f"const long {other} = {where.length} - 1 - {k};")
        for i, column in enumerate(where.columns):
            moved = f.cname("moved")
            f.emit(f"const {column.ctype} {moved} = {lists.at(where, k, i)};")
            f.emit(f"{lists.at(where, k, i)} = {lists.at(where, other, i)};")
            f.emit(f"{lists.at(where, other, i)} = {moved};")
    return Known(None)


METHODS: dict[str, Made] = {
    "append": _taking(1, 1, _append),
    "extend": _taking(1, 1, _extend),
    "pop": _taking(0, 1, _pop),
    "insert": _taking(2, 2, _insert),
    "remove": _taking(1, 1, _remove),
    "clear": _taking(0, 0, _clear),
    "index": _taking(1, 1, _index),
    "count": _taking(1, 1, _count),
    "copy": _copy,
    "reverse": _taking(0, 0, _reverse),
}
