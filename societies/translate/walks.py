"""How does a loop go through a range, a list, a slice, ``zip`` or ``enumerate``?"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from societies.translate import lists, storing
from societies.translate.function import Function
from societies.translate.membership import all_entries
from societies.translate.messages import FROM_CONFIG
from societies.translate.operators import binary
from societies.translate.source import nodes_of
from societies.translate.tables import as_list
from societies.translate.values import (
    CALLED,
    INT,
    NAME,
    Known,
    List,
    Number,
    Value,
    bare,
    literal,
    parts_of,
    wide,
)

_LOOPS = "Loops run over range(...), lists, zip, enumerate and reversed."


@dataclass(frozen=True)
class Span:
    """A range: start, stop, and a step that is known."""

    start: Number
    stop: Number
    step: int

    @property
    def most(self) -> int | None:
        """Largest number of its entries, if it follows from the configuration."""
        start = self.start.known if isinstance(self.start.known, int) else None
        if self.step > 0:
            low, high = start if start is not None else self.start.low, self.stop.most
        else:
            stop = self.stop.known if isinstance(self.stop.known, int) else self.stop.low
            low, high = stop, start if start is not None else self.start.high
        if low is None or high is None:
            return None
        return max(0, -((low - high) // abs(self.step)))


@dataclass(frozen=True)
class Walk:
    """How a loop goes through something.

    Attributes
    ----------
    item : what is met for a counter in C
    more : condition in C that there is more, for a counter
    most : largest number of entries; None: unknown
    fields : fields that the loop goes through
    """

    item: Callable[[str], Value]
    more: Callable[[str], str]
    most: int | None
    fields: tuple[str, ...] = ()


def span_of(f: Function, node: ast.expr) -> Span | None:
    """Return a range; None if the expression is none."""
    if called(f, node) is not range:
        return None
    assert isinstance(node, ast.Call)
    f.arguments(node, 1, 3, "range takes one to three numbers")
    values = [
        f.whole(one, node, "range of {}", "Write range(int(...)).") for one in f.ordered(node.args)
    ]
    start = values[0] if len(values) > 1 else literal(0)
    stop = values[1] if len(values) > 1 else values[0]
    step = 1
    if len(values) > 2:
        if not values[2].literal or not values[2].known:
            f.error(node, "the step of a range must be a number that is written out, and not 0")
        step = int(values[2].known)
    return Span(start, stop, step)


def called(f: Function, node: ast.expr) -> object:
    """Return the function of Python that an expression calls; None if it is none."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return None
    name = node.func.id
    if name in f.frame.scope or f.frame.bindings[name]:
        return None
    function = f.lookup(name, node)
    return function.value if isinstance(function, Known) else None


def walk(f: Function, node: ast.expr, body: Sequence[ast.AST]) -> Walk:
    """Return how a loop goes through an expression.

    ``body`` is what runs within the loop, and may change what is gone through.
    """
    if (made_by := walked(f, node)) is not None:
        return made_by(f, node, body)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return _slice(f, node, body)
    if isinstance(node, ast.Tuple | ast.List):
        made = storing.display(f, node, "among")
    else:
        value = f.expression(node)
        if isinstance(value, Number):
            reason = f"{CALLED[value.kind]} stands where a list is needed"
            f.error(node, reason, f"Write range({ast.unparse(node)}) for the numbers below it.")
        made = as_list(f, value, node, "this is no list", _LOOPS)
    all_entries(f, made, node)
    _unbound(f, made, node, body)
    return _through_list(f, made)


def _range(f: Function, node: ast.Call, body: Sequence[ast.AST]) -> Walk:
    span = span_of(f, node)
    assert span is not None
    return _through_range(f, span)


def _through_range(f: Function, span: Span) -> Walk:
    start, stop = f.constant(span.start), f.constant(span.stop)
    step, compare = span.step, "<" if span.step > 0 else ">"

    def place(k: str) -> str:
        moved = k if step == 1 else f"{k} * {step}"
        return moved if start.literal and start.known == 0 else f"{bare(wide(start))} + {moved}"

    low, high = (start.low, stop.high) if step > 0 else (stop.low, start.high)
    if step > 0:
        high = None if high is None else high - 1
    else:
        low = None if low is None else low + 1
    return Walk(
        lambda k: Number(f"({place(k)})" if place(k) != k else k, INT, NAME, low, high),
        lambda k: f"{place(k)} {compare} {bare(wide(stop))}",
        span.most,
    )


def _through_list(f: Function, made: List) -> Walk:
    fields = (made.field,) if made.field else ()
    return Walk(
        lambda k: lists.get(f, made, k), lambda k: f"{k} < {made.length}", made.most, fields
    )


def _enumerate(f: Function, node: ast.Call, body: Sequence[ast.AST]) -> Walk:
    keywords = f.arguments(node, 1, 2, "enumerate takes a list, and start", ("start",))
    inner = walk(f, node.args[0], body)
    start = literal(0)
    begin = node.args[1] if len(node.args) > 1 else keywords.get("start")
    if begin is not None:
        start = f.constant(f.present(f.number(f.expression(begin), node), node))
    plain = start.literal and start.known == 0
    return Walk(
        lambda k: (Number(k if plain else f"({wide(start)} + {k})", INT, NAME,
                          0 if plain else None, (inner.most or 1) - 1 if plain and inner.most
                          else None), inner.item(k)),
        inner.more,
        inner.most,
        inner.fields,
    )  # fmt: skip


def _zip(f: Function, node: ast.Call, body: Sequence[ast.AST]) -> Walk:
    named = f.arguments(node, 1, 99, "zip takes lists, and strict", ("strict",))
    strict = f.truth(named["strict"]) if "strict" in named else False
    if not isinstance(strict, bool):
        f.error(node, "strict must be known when the kernel is built", "Write True or False.")
    parts = [walk(f, one, body) for one in node.args]
    known = [one.most for one in parts if one.most is not None]

    def more(k: str) -> str:
        each = [one.more(k) for one in parts]
        if not (strict and f.unit.checked):
            return " && ".join(each)
        count, what = " + ".join(f"({one})" for one in each), "zip of lists of different lengths"
        return f"checked_strict({count}, {len(each)}, {f.site(node, what)})"

    return Walk(
        lambda k: tuple(one.item(k) for one in parts),
        more,
        min(known) if known else None,
        tuple(name for one in parts for name in one.fields),
    )


def _reversed(f: Function, node: ast.Call, body: Sequence[ast.AST]) -> Walk:
    f.arguments(node, 1, 1, "reversed takes one list")
    span = span_of(f, node.args[0])
    if span is not None:
        if abs(span.step) != 1:
            f.error(node, "a reversed range with a step", "Write the range with a negative step.")
        step = literal(span.step)
        first, end = (binary(f, ast.Sub(), one, step, node) for one in (span.stop, span.start))
        return _through_range(f, Span(first, end, -span.step))
    made = f.expression(node.args[0])
    made = as_list(f, made, node, "reversed takes a list", _LOOPS)
    all_entries(f, made, node)
    _unbound(f, made, node, body)
    last = f.constant(Number(f"{made.length} - 1", INT)).text
    return Walk(
        lambda k: lists.get(f, made, f"{last} - {k}"),
        lambda k: f"{last} >= {k} && {last} - {k} < {made.length}",
        made.most,
        (made.field,) if made.field else (),
    )


def walked(f: Function, node: ast.expr) -> Callable[..., Walk] | None:
    """Return what translates a call of range, enumerate, zip or reversed; None of others."""
    given: dict[object, Callable[..., Walk]]
    given = {range: _range, enumerate: _enumerate, zip: _zip, reversed: _reversed}
    function = called(f, node)
    return given.get(function) if isinstance(function, type) else None


def _slice(f: Function, node: ast.Subscript, body: Sequence[ast.AST]) -> Walk:
    """Return how a loop goes through a slice, which is a copy unless nothing can change it."""
    made = as_list(f, f.expression(node.value), node, "only lists have slices")
    all_entries(f, made, node)
    assert isinstance(node.slice, ast.Slice)
    if changes(body):
        return _through_list(f, slice_of(f, made, node, "part"))
    return _through_slice(f, made, node.slice)


def _through_slice(f: Function, made: List, node: ast.Slice) -> Walk:
    start, stop, step = slice_bounds(f, made, node)
    if step < 0:
        return Walk(
            lambda k: lists.get(f, made, f"{made.length} - 1 - {k}"),
            lambda k: f"{k} < {made.length}",
            made.most,
        )
    moved = "" if step == 1 else f" * {step}"
    lead = "" if start == "0" else f"{start} + "
    return Walk(
        lambda k: lists.get(f, made, f"{lead}{k}{moved}"),
        lambda k: f"{lead}{k}{moved} < {stop}",
        -(-made.most // step),
    )


def slice_bounds(f: Function, made: List, node: ast.Slice) -> tuple[str, str, int]:
    """Return start, stop and step of a slice."""
    step = 1
    if node.step is not None:
        found = f.number(f.expression(node.step), node)
        if not found.literal or not isinstance(found.known, int) or found.known == 0:
            f.error(node, "the step of a slice must be a number that is written out, and not 0")
        step = found.known
    ends = [one for one in (node.lower, node.upper) if one is not None]
    if step < 0 and (ends or step != -1):
        f.error(node, "a slice that goes backwards", "Write x[::-1], or a loop over a range.")
    hint = "Write int(...)."
    numbers = [f.whole(one, node, "a bound of a slice is {}", hint) for one in f.ordered(ends)]
    start, stop = "0", made.length
    if node.lower is not None:
        one = numbers.pop(0)
        if not (one.literal and one.known == 0):
            start = f.constant(Number(f"slice_bound({bare(wide(one))}, {made.length})", INT)).text
    if node.upper is not None:
        one = numbers.pop(0)
        stop = f.constant(Number(f"slice_bound({bare(wide(one))}, {made.length})", INT)).text
    elif made.counter:
        stop = f.constant(Number(made.length, INT)).text
    return start, stop, step


def slice_of(f: Function, made: List, node: ast.Subscript, name: str) -> List:
    """Return a slice as a list of its own."""
    assert isinstance(node.slice, ast.Slice)
    if made.rows:
        f.error(node, "a slice of rows", "Go through them in a loop over a range.")
    return collected(f, _through_slice(f, made, node.slice), name, node)


def collected(f: Function, steps: Walk, name: str, node: ast.AST) -> List:
    """Return a new list of all that a loop meets."""
    if steps.most is None:
        f.error(node, *FROM_CONFIG)
    k = f.cname("k")
    with f.aside() as lines, f.block(f"for (long {k} = 0; {steps.more(k)}; ++{k})"):
        value = steps.item(k)
        if isinstance(value, List):
            f.error(node, "a slice of rows", "Write a comprehension: [list(row) for row in x].")
        kinds = tuple(f.number(one, node).kind for one in parts_of(value))
        made = lists.new(f, name, kinds, steps.most)
        storing.add(f, made, value, node, sure=True)
    f.emit(f"{made.counter} = 0;")
    f.splice(lines)
    return made


def changes(body: Sequence[ast.AST]) -> bool:
    """Return whether statements may change any list: by a store, a method or another function."""
    places: Iterator[ast.Subscript | ast.Attribute]
    places = chain(nodes_of(ast.Subscript, *body), nodes_of(ast.Attribute, *body))
    if any(isinstance(one.ctx, ast.Store) for one in places):
        return True
    return any(
        call.func.attr not in _HARMLESS
        if isinstance(call.func, ast.Attribute)
        else not (isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id))
        for call in nodes_of(ast.Call, *body)
    )


_HARMLESS = {"below", "uniform", "bernoulli", "binomial", "next", "count", "index", "copy", "sqrt"}
_HARMLESS |= {"floor", "ceil"}


def _unbound(f: Function, made: List, node: ast.expr, body: Sequence[ast.AST]) -> None:
    """Raise an error if a loop over a list assigns its name."""
    if not isinstance(node, ast.Name) or made.field:
        return
    for one in nodes_of(ast.Name, *body):
        if one.id == node.id and isinstance(one.ctx, ast.Store):
            f.error(one, f"'{node.id}' is assigned while a loop goes through it",
                    "Give the new list another name.")  # fmt: skip
