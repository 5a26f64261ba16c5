"""What do ``sorted``, ``list.sort``, ``min`` and ``max`` become? Stable, the first of equals."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from societies.translate import lists
from societies.translate.calls import call_user, callable_of
from societies.translate.draws import alone
from societies.translate.function import Function
from societies.translate.loops import Generators, each, list_from
from societies.translate.membership import METHODS, all_entries
from societies.translate.values import (
    BOOL,
    CALLED,
    CTYPES,
    FIXED,
    INT,
    MAYBE,
    NONE,
    READ,
    REAL,
    Inner,
    Known,
    List,
    Number,
    Value,
    common_kind,
    parts_of,
    wide,
)
from societies.translate.walks import called, walk

RUN = 8
"""Whole numbers that are sorted by insertion before they are merged (lists.cl)."""

SHORT = 16
"""Largest bound of lists that are sorted by insertion; longer ones are merged."""


def in_order(f: Function, node: ast.Call, name: str) -> Value:
    """Translate ``sorted``."""
    made = list_from(f, node, name, ("key", "reverse"))
    return _sorted(f, made, node, name)


def _sort(f: Function, made: List, node: ast.Call, target: str) -> Value:
    if node.args:
        f.error(node, ".sort takes key= and reverse= alone")
    all_entries(f, made, node, "write")
    all_entries(f, made, node)
    if made.rows:
        f.error(node, ".sort of a list of lists", "Sort a list of their places by key=.")
    result = _sorted(f, lists.copied(f, made, "sorted"), node, "")
    fixed = replace(made, counter="")
    if made.columns[0].ctype == result.columns[0].ctype:
        lists.copy(f, result, fixed)
    else:
        with f.loop(result.length) as k:
            f.emit(f"{lists.at(made, k)} = ({made.columns[0].ctype}){lists.at(result, k)};")
    return Known(None)


METHODS["sort"] = _sort


def _sorted(f: Function, made: List, node: ast.Call, name: str) -> List:
    """Return a sorted list: a new one, or ``made`` itself, to which no name refers."""
    keywords = f.arguments(node, 0, 1, "only key= and reverse= are known here", ("key", "reverse"))
    reverse = False
    if "reverse" in keywords:
        found = f.truth(keywords["reverse"])
        if not isinstance(found, bool):
            f.error(node, "reverse must be known when the kernel is built", "Write if and else.")
        reverse = found
    key = keywords.get("key")
    if key is None and made.rows:
        f.error(node, "lists are not compared", "Sort a list of their places by key=.")
    if key is None and any(kind in (MAYBE, NONE) for kind in made.kinds):
        f.error(node, "None has no order", "Sort those that are not None.")
    if key is None and made.kinds == (INT,) and not reverse:
        other = lists.new(f, "other", (INT,), made.most) if made.most > RUN else made
        f.emit(f"{alone('sort_alone', made)[:-1]}, {other.columns[0].pointer});")
        return made
    return _merged(f, made, key, reverse, node, name)


def _merged(
    f: Function, made: List, key: ast.expr | None, reverse: bool, node: ast.AST, name: str
) -> List:
    """Return a list in order by a stable sort of its places."""
    order = lists.new(f, "order", (INT,), made.most)
    n, k = made.length, f.cname("k")
    keys: list[List] = []
    with f.loop(n, to=k):
        value = lists.get(f, made, k)
        for rank in ranks(f, key, value, node):
            one = lists.new(f, "key", (rank.kind,), made.most)
            keys.append(one)
            f.emit(f"{lists.at(one, k)} = {rank.text};")
            if rank.kind == REAL:
                text = lists.at(one, k)
                f.require(f"{text} == {text}", node, "NaN has no place in an order")
        f.emit(f"{lists.at(order, k)} = {k};")
    if made.most <= SHORT:
        _insert(f, order, n, keys, ">" if reverse else "<")
    else:
        _merge(f, order, n, keys, ">" if reverse else "<")
    inner = made.dims[1] if made.rows else 0
    result = lists.new(f, name or "sorted", made.kinds, made.most, inner=inner)
    with f.loop(n, to=k):
        if made.rows:
            row, target = lists.get(f, made, lists.at(order, k)), lists.get(f, result, k)
            assert isinstance(row, List) and isinstance(target, List)
            lists.copy(f, row, target)
        else:
            lists.move(f, made, lists.at(order, k), result, k)
    f.emit(f"{result.counter} = {n};")
    return result


def _insert(f: Function, order: List, n: str, keys: Sequence[List], sign: str) -> None:
    """Sort the places of a short list by insertion."""
    i, j, moved = f.cname("i"), f.cname("j"), f.cname("moved")
    before = lexical(
        [lists.at(one, moved) for one in keys],
        [lists.at(one, lists.at(order, f"{j} - 1")) for one in keys],
        sign,
    )
    with f.block(f"for (long {i} = 1; {i} < {n}; ++{i})"):
        f.emit(f"const long {moved} = {lists.at(order, i)};")
        f.emit(f"long {j} = {i};")
        with f.block(f"for (; {j} > 0 && {before}; --{j})"):
            f.emit(f"{lists.at(order, j)} = {lists.at(order, f'{j} - 1')};")
        f.emit(f"{lists.at(order, j)} = {moved};")


def _merge(f: Function, order: List, n: str, keys: Sequence[List], sign: str) -> None:
    """Sort the places of a list by merging."""
    other = lists.new(f, "other", (INT,), order.most)
    names = [f.cname(one) for one in ("width", "low", "mid", "high", "i", "j", "k", "first")]
    w, low, mid, high, i, j, place, first = names
    before = lexical(
        [lists.at(one, lists.at(order, j)) for one in keys],
        [lists.at(one, lists.at(order, i)) for one in keys],
        sign,
    )
    with f.block(f"for (long {w} = 1; {w} < {n}; {w} *= 2)"):
        with f.block(f"for (long {low} = 0; {low} < {n}; {low} += 2 * {w})"):
            f.emit(f"const long {mid} = least_long({low} + {w}, {n});")
            f.emit(f"const long {high} = least_long({low} + 2 * {w}, {n});")
            f.emit(f"long {i} = {low}, {j} = {mid};")
            with f.block(f"for (long {place} = {low}; {place} < {high}; ++{place})"):
                f.emit(f"const int {first} = {i} < {mid} && ({j} >= {high} || !{before});")
                f.emit(f"{lists.at(other, place)} = {lists.at(order, f'{first} ? {i} : {j}')};")
                f.emit(f"if ({first}) ++{i}; else ++{j};")
        with f.block(f"for (long {place} = 0; {place} < {n}; ++{place})"):
            f.emit(f"{lists.at(order, place)} = {lists.at(other, place)};")


def lexical(a: Sequence[str], b: Sequence[str], sign: str) -> str:
    """Return a condition: the numbers a come before the numbers b, the first ones deciding."""
    text = f"{a[-1]} {sign} {b[-1]}"
    for x, y in zip(reversed(a[:-1]), reversed(b[:-1]), strict=True):
        text = f"{x} {sign} {y} || ({x} == {y} && ({text}))"
    return f"({text})"


def ranks(f: Function, key: ast.expr | None, value: Value, node: ast.AST) -> list[Number]:
    """Return the numbers by which a value is ordered."""
    found = value
    if key is not None:
        function = callable_of(f.expression(key))
        if function is None:
            f.error(node, "key= takes a lambda or a function of this file")
        if isinstance(function, Inner) and isinstance(function.node, ast.Lambda):
            found = _lambda_of(f, function.node, value, node)
        else:
            found = _by_function(f, function, value, node)
    numbers = [f.number(one, node) for one in parts_of(found)]
    for number in numbers:
        if number.kind in (MAYBE, NONE):
            f.error(node, "None has no order", "Ask 'is None' first.")
    return [
        f.constant(replace(one, text=wide(one)) if one.kind == BOOL else one) for one in numbers
    ]


def _lambda_of(f: Function, node: ast.Lambda, value: Value, at: ast.AST) -> Value:
    """Return the value of a lambda that is written where it is used."""
    names = [one.arg for one in node.args.args]
    if len(names) != 1 or node.args.defaults:
        f.error(at, "a key takes one argument")
    frame = f.frame
    before = dict(frame.scope), frame.assigned, frame.hidden
    if isinstance(value, Number):
        value = f.constant(value)
        value = Number(value.text, value.kind, FIXED, value.low, value.high)
    frame.hide(names[0], node, f.steady(value))
    found = f.expression(node.body)
    frame.scope, frame.assigned, frame.hidden = before
    return found


def _by_function(f: Function, function: object, value: Value, node: ast.AST) -> Value:
    """Return the value of a function that is given by its name."""
    frame, name = f.frame, "value for key"
    assigned = frame.assigned
    frame.scope[name] = f.steady(value)
    frame.assigned = {*(assigned or ()), name}
    argument = ast.copy_location(ast.Name(name, ast.Load()), node)
    call = ast.copy_location(ast.Call(argument, [argument], []), node)
    found = call_user(f, function, call, "")  # type: ignore[arg-type]
    frame.assigned = assigned
    del frame.scope[name]
    return found


def extreme(word: str) -> Callable[[Function, ast.Call, str], Value]:
    """Return the translator of ``min`` or ``max``."""

    def made(f: Function, node: ast.Call, name: str) -> Value:
        if not node.args:
            f.error(node, f"{word} of nothing")
        return (_of_numbers if len(node.args) > 1 else _of_list)(f, node, word)

    return made


def _of_numbers(f: Function, node: ast.Call, word: str) -> Number:
    if node.keywords:
        f.error(node, f"{word} of several numbers, by a key", f"Write {word}([a, b], key=...).")
    values = [f.present(one, node) for one in f.numbers(node.args, node)]
    kinds = {value.kind for value in values}
    if REAL in kinds and len(kinds) > 1:
        reason = f"{word} of a whole and a real number: which one it is depends on their values"
        f.error(node, reason, "Write float(...) around the whole number, or 0.0 for 0.")
    kind, ctype = (REAL, "real") if REAL in kinds else (INT, "long")
    texts = [value.text if kind == REAL else wide(value) for value in values]
    text = texts[0]
    for one in texts[1:]:
        text = f"{'least' if word == 'min' else 'most'}_{ctype}({text}, {one})"
    low = _end([v.low for v in values], word, every=word == "min")
    high = _end([v.high for v in values], word, every=word == "max")
    known = None
    if kind == INT and all(v.known is not None for v in values):
        known = (min if word == "min" else max)(int(v.known or 0) for v in values)
    return Number(text, kind, min(v.life for v in values), low, high, known)


def _end(ends: Sequence[int | None], word: str, *, every: bool) -> int | None:
    """Return a bound of the least, or of the largest, of some numbers.

    It is the least or largest of the known bounds; with ``every`` it is None unless all bounds are
    known.
    """
    known = [x for x in ends if x is not None]
    if not known or (every and len(known) < len(ends)):
        return None
    return min(known) if word == "min" else max(known)


def _of_list(f: Function, node: ast.Call, word: str) -> Value:
    """Translate ``min`` or ``max`` of a list or a generator: the first of the best."""
    keywords = f.arguments(node, 1, 1, f"{word} takes key= and default=", ("key", "default"))
    default: Value | None = None
    if "default" in keywords:
        with f.aside() as lines:
            default = f.expression(keywords["default"])
        if lines or (isinstance(default, Number) and default.life == READ):
            f.error(node, "a default that reads or draws", "Give it a name in the line before.")
    some = f.fresh()
    f.declared[some] = "int"
    f.emit(f"{some} = 0;")
    best: list[Number] = []
    kinds: list[str] = []
    key = keywords.get("key")

    def inside(value: Value) -> None:
        parts = [f.constant(f.number(one, node)) for one in parts_of(value)]
        value = tuple(parts) if isinstance(value, tuple) else parts[0]
        own = ranks(f, key, value, node)
        for part in [*parts, *own]:
            variable = f.fresh()
            f.declared[variable] = CTYPES[part.kind]
            best.append(Number(variable, part.kind, FIXED))
        kinds.extend(part.kind for part in parts)
        standing = best[len(parts) :]
        sign = "<" if word == "min" else ">"
        better = lexical([one.text for one in own], [one.text for one in standing], sign)
        with f.block(f"if (!{some} || {better})"):
            for one, new in zip(best, [*parts, *own], strict=True):
                f.emit(f"{one.text} = {new.text};")
            f.emit(f"{some} = 1;")

    each_value(f, node.args[0], node, inside)
    numbers = best[: len(kinds)]
    if default is None:
        f.require(some, node, f"{word} of an empty list")
        return tuple(numbers) if len(numbers) > 1 else numbers[0]
    given = f.number(default, node)
    kind = kinds[0]
    if len(kinds) > 1:
        f.error(node, "a default of a list of tuples", "Ask whether the list is empty before.")
    both = common_kind(given.kind, kind)
    if both is None:
        what = f"the default is {CALLED[given.kind]}, the list has others"
        f.error(node, what, "Write 0.0 instead of 0.")
    f.declared[numbers[0].text] = CTYPES[both]
    f.emit(f"if (!{some}) {numbers[0].text} = {given.text};")
    return Number(numbers[0].text, both, FIXED)


def each_value(
    f: Function, argument: ast.expr, node: ast.AST, inside: Callable[[Value], None]
) -> None:
    """Call a function with every value of a list, a generator or a comprehension."""
    if isinstance(argument, Generators):
        each(f, argument, inside, lambda most: None)
        return
    steps = walk(f, argument, [])
    k = f.cname("k")
    with f.block(f"for (long {k} = 0; {steps.more(k)}; ++{k})"):
        if called(f, argument) is range:
            f.round()
        value = steps.item(k)
        if isinstance(value, List):
            f.error(node, "a list of lists, where numbers are needed", "Write a comprehension.")
        inside(value)
