"""What do loops over ranges, lists, slices, ``zip``, ``enumerate`` and ``reversed`` become?"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from societies.translate import lists, storing
from societies.translate.function import Function, handles
from societies.translate.membership import all_entries
from societies.translate.messages import FROM_CONFIG, LOOP_ELSE, NO_WAITING, WALKS
from societies.translate.source import nodes_of
from societies.translate.statements import assign
from societies.translate.values import (
    CTYPES,
    FIXED,
    INT,
    READ,
    List,
    Number,
    Value,
    bare,
    parts_of,
    wide,
)
from societies.translate.walks import Span, called, collected, span_of, walk, walked

# -------------------------------------------------------------------- loops


@handles(ast.For)
def _for(f: Function, node: ast.For) -> None:
    if node.orelse:
        f.error(node, *LOOP_ELSE)
    before = f.frame.assigned
    assert before is not None
    counted = called(f, node.iter) is range and isinstance(node.target, ast.Name)
    span = span_of(f, node.iter) if counted and _only_here(f, node) else None
    if span is not None and isinstance(node.target, ast.Name):
        _counted(f, node, node.target.id, span)
    else:
        _walked(f, node)
    f.frame.assigned = before


def _counted(f: Function, node: ast.For, name: str, span: Span) -> None:
    """Translate a loop over a range whose variable is used only inside, as a loop of C."""
    start, stop = (
        f.constant(span.start) if span.start.life == READ else span.start,
        f.constant(span.stop),
    )
    c = f.cname(name)
    first, last = span.start.limits, span.stop.limits
    low, high = first[0], last[1]
    inside = (low, None if high is None else high - 1)
    if span.step < 0:
        low, high = last[0], first[1]
        inside = (None if low is None else low + 1, high)
    hidden = f.frame.scope.get(name)
    f.frame.scope[name] = Number(c, INT, FIXED, *inside, line=node.lineno)
    compare = "<" if span.step > 0 else ">"
    move = {1: f"++{c}", -1: f"--{c}"}.get(span.step, f"{c} += {span.step}")
    head = f"for (long {c} = {bare(wide(start)).removesuffix('L')}; {c} {compare} {bare(wide(stop))}; {move})"  # noqa: E501
    _body(f, node, name, head, None)
    if hidden is None:
        del f.frame.scope[name]
    else:
        f.frame.scope[name] = hidden


def _require_same(f: Function, fields: Sequence[str], mark: int) -> None:
    """Raise an error if a field got a new list while a loop went through the old one."""
    for one in f.instance.accesses[mark:]:
        if one.what == "replace" and one.field in fields:
            f.error(None, f"'{one.field}' gets a new list in line {one.line}, in a loop over it",
                    f"Go through list(...{one.field}).")  # fmt: skip


def _walked(f: Function, node: ast.For) -> None:
    steps = walk(f, node.iter, node.body)
    mark = len(f.instance.accesses)
    k = f.cname("k")
    head = f"for (long {k} = 0; {steps.more(k)}; ++{k})"
    _body(f, node, "", head, lambda: assign(f, node.target, steps.item(k), node))
    _require_same(f, steps.fields, mark)


def _body(
    f: Function, node: ast.For, name: str, head: str, begin: Callable[[], None] | None
) -> None:
    assert f.frame.assigned is not None
    f.frame.assigned = {*f.frame.assigned, *([name] if name else [])}
    with f.block(head), f.body():
        f.round()
        if begin is not None:
            begin()
        f.statements(node.body)


def _only_here(f: Function, node: ast.For) -> bool:
    """Return whether the variable of a loop is assigned and read nowhere else in the function."""
    assert isinstance(node.target, ast.Name)
    name = node.target.id
    inner = nodes_of(ast.Name, *node.body)
    if any(one.id == name and isinstance(one.ctx, ast.Store) for one in inner):
        return False
    inside = {id(one) for statement in node.body for one in ast.walk(statement)}
    own = {id(one) for one in _loops_of(f.frame.node, name, node)}
    return all(
        id(one) in inside or id(one) in own
        for one in nodes_of(ast.Name, f.frame.node)
        if one.id == name
    )


def _loops_of(node: ast.AST, name: str, loop: ast.For) -> list[ast.AST]:
    """Return what stands in other loops of this variable: they do not see each other's values.

    A loop around ``loop`` does.
    """
    found: list[ast.AST] = [loop.target]
    for one in ast.walk(node):
        parts: list[ast.AST]
        if isinstance(one, ast.For):
            parts = [one.target, *one.body]
            named = isinstance(one.target, ast.Name) and one.target.id == name
        elif isinstance(one, ast.ListComp | ast.GeneratorExp):
            parts = [one]
            targets = [part.target for part in one.generators]
            named = any(sub.id == name for sub in nodes_of(ast.Name, *targets))
        else:
            continue
        if named and (one is loop or all(sub is not loop for sub in ast.walk(one))):
            found += [sub for part in parts for sub in ast.walk(part)]
    return found


# -------------------------------------------------------------------- comprehensions


Generators = ast.ListComp | ast.GeneratorExp


def each(
    f: Function, node: Generators, inside: Callable[[Value], None], at_most: Callable[[int], None]
) -> None:
    """Emit the loops of a comprehension around what happens with each value.

    Parameters
    ----------
    inside : called once, with the value; emits what happens with it
    at_most : called before with the largest number of values, if that is known
    """
    frame = f.frame
    before = dict(frame.scope), frame.assigned, frame.hidden
    most: int | None = 1
    opened, mark = 0, len(f.instance.accesses)
    fields: tuple[str, ...] = ()
    for one in node.generators:
        if one.is_async:
            f.error(node, NO_WAITING)
        steps = walk(f, one.iter, [node.elt, *one.ifs])
        most = None if most is None or steps.most is None else most * steps.most
        fields = (*fields, *steps.fields)
        k = f.cname("k")
        f.emit(f"for (long {k} = 0; {steps.more(k)}; ++{k}) {{")
        f.indent += 1
        opened += 1
        f.round()
        _local(f, one.target, steps.item(k), node)
        for test in one.ifs:
            found = f.truth(test)
            if found is True:
                continue
            f.emit(f"if ({'0' if found is False else bare(found.text)}) {{")
            f.indent += 1
            opened += 1
    if most is not None:
        at_most(most)
    inside(f.expression(node.elt))
    for _ in range(opened):
        f.indent -= 1
        f.emit("}")
    frame.scope, frame.assigned, frame.hidden = before
    _require_same(f, fields, mark)


def _local(f: Function, target: ast.expr, item: Value, node: ast.AST) -> None:
    """Let a name of a comprehension stand for what is met."""
    if isinstance(target, ast.Tuple):
        if not isinstance(item, tuple) or len(item) != len(target.elts):
            f.error(target, "not as many values as names", WALKS)
        for one, value in zip(target.elts, item, strict=True):
            _local(f, one, value, node)
        return
    if not isinstance(target, ast.Name):
        f.error(node, "a comprehension has names as variables")
    if isinstance(item, Number):
        c = f.cname(target.id)
        f.emit(f"const {CTYPES[item.kind]} {c} = {bare(item.text)};")
        line = getattr(node, "lineno", 0)
        item = Number(c, item.kind, FIXED, item.low, item.high, line=line)
    elif isinstance(item, tuple):
        item = tuple(f.constant(one) if isinstance(one, Number) else one for one in item)
    f.frame.hide(target.id, node, item)


@handles(ast.ListComp)
def list_of(f: Function, node: Generators, name: str) -> List:
    """Return the list that a comprehension makes."""
    made: list[List] = []
    bound = [0]
    with f.aside() as lines:

        def inside(value: Value) -> None:
            made.append(_first(f, value, name, bound[0], node))
            storing.add(f, made[0], value, node, sure=True)

        bound[0] = -1
        each(f, node, inside, lambda most: bound.__setitem__(0, most))
    f.emit(f"{made[0].counter} = 0;")
    f.splice(lines)
    return made[0]


def _first(f: Function, value: Value, name: str, most: int, node: ast.AST) -> List:
    """Make room for a list whose entries are like a value."""
    if most < 0:
        f.error(node, *FROM_CONFIG)
    if isinstance(value, List):
        if value.rows or value.pairs:
            f.error(node, "a list of lists of lists", "Use a field, or one long list.")
        return lists.new(f, name, value.kinds, most, inner=max(value.most, 1))
    kinds = tuple(f.number(one, node).kind for one in parts_of(value))
    return lists.new(f, name, f.fact("kinds", name) or kinds, most)


def list_from(f: Function, node: ast.Call, name: str, keywords: tuple[str, ...] = ()) -> List:
    """Return a new list of the values of a list, a range or a generator."""
    more = f", {' and '.join(f'{one}=' for one in keywords)}" if keywords else ""
    f.arguments(node, 1, 1, f"{ast.unparse(node.func)} takes one list here{more}", keywords)
    argument = node.args[0]
    if isinstance(argument, Generators):
        made: List = list_of(f, argument, name)
        return made
    if isinstance(argument, ast.List | ast.Tuple):
        return storing.display(f, argument, name)
    if not (isinstance(argument, ast.Call | ast.Subscript)):
        value = f.expression(argument)
        if isinstance(value, List):
            all_entries(f, value, node)
            return lists.copied(f, value, name)
    elif isinstance(argument, ast.Call) and walked(f, argument) is None:
        value = f.expression(argument, name)
        if isinstance(value, List):
            all_entries(f, value, node)
            return value if value.fresh else lists.copied(f, value, name)
        f.error(node, "this is no list")
    return collected(f, walk(f, argument, [ast.Pass()]), name, node)
