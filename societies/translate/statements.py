"""What do assignments, conditions and results become in C?"""

from __future__ import annotations

import ast
from dataclasses import replace

from societies.translate import lists, storing
from societies.translate.function import Function, handles
from societies.translate.messages import DICTIONARY, LOOP_ELSE, WALKS
from societies.translate.operators import binary
from societies.translate.source import nodes_of
from societies.translate.tables import as_list
from societies.translate.values import (
    BOOL,
    CALLED,
    CTYPES,
    FIXED,
    INT,
    MAYBE,
    NAME,
    NONE,
    REAL,
    WORD,
    EventList,
    Inner,
    Known,
    List,
    Method,
    Number,
    Settings,
    Society,
    Stream,
    Value,
    bare,
    common_kind,
)

ONLY_ENTRIES = "only entries of lists can be assigned", "Use a list or a field."
ANNOTATED = {"int": INT, "float": REAL, "bool": BOOL}


@handles(ast.Pass)
def _pass(f: Function, node: ast.Pass) -> None:
    pass


@handles(ast.Assert)
def _assert(f: Function, node: ast.Assert) -> None:
    test = f.truth(node.test)
    if isinstance(test, Number):
        f.require(test.text, node, "the assertion does not hold")
    elif not test:
        f.require("0", node, "the assertion does not hold")


@handles(ast.FunctionDef)
def _function(f: Function, node: ast.FunctionDef) -> None:
    if f.frame.bindings[node.name] > 1:
        f.error(node, f"'{node.name}' stands for several things", "Give each a name of its own.")
    if node.decorator_list:
        f.error(node, "a decorator of an inner function", "Write the function without it.")
    f.frame.scope[node.name] = Inner(node, f, f.frame)
    _assigned(f, node.name)


@handles(ast.Expr)
def _expression(f: Function, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):
        return
    value = f.expression(node.value) if isinstance(node.value, ast.Call) else None
    if isinstance(value, Number) and value.kind == WORD:
        f.error(node, "the state of the stream is not stored", "Write society.stream = rng.pack().")
    if value is None:
        if isinstance(node.value, ast.Yield | ast.YieldFrom):
            f.expression(node.value)
        f.error(node, "this line does nothing", "Assign its value, or leave it out.")


@handles(ast.Return)
def _return(f: Function, node: ast.Return) -> None:
    if f.shielded:
        f.error(
            node, "a return inside of with", "Assign the result, and return it after the block."
        )
    if f.returned is None:  # of a phase
        if node.value is not None:
            f.error(node, "a phase returns nothing", "Write to a field of the society.")
        f.emit("return;")
    else:
        f.returned(node.value, node)
    f.frame.assigned = None


# -------------------------------------------------------------------- assignments


@handles(ast.Assign)
def _assign(f: Function, node: ast.Assign) -> None:
    if len(node.targets) > 1:
        f.error(node, "several targets of one assignment", "Write one assignment for each.")
    _to(f, node.targets[0], node.value, node)


@handles(ast.AnnAssign)
def _annotated(f: Function, node: ast.AnnAssign) -> None:
    kind = node.annotation
    if node.value is None:
        return
    if isinstance(node.target, ast.Name) and isinstance(kind, ast.Subscript):
        inner = kind.slice
        if isinstance(inner, ast.Name) and inner.id in ANNOTATED:
            key = ("entries", node.target.id, f.frame.node)
            f.facts.setdefault(key, (ANNOTATED[inner.id],))
    _to(f, node.target, node.value, node)


def _to(f: Function, target: ast.expr, value_node: ast.expr, node: ast.stmt) -> None:
    if isinstance(target, ast.Attribute) and target.attr == "series":
        if isinstance(value_node, ast.Dict):
            storing.assign_series(f, value_node)
            return
    elif isinstance(value_node, ast.Dict):
        f.error(value_node, *DICTIONARY)
    if isinstance(target, ast.Tuple | ast.List):
        values = _several(f, target, value_node, node)
        for one, value in zip(target.elts, values, strict=True):
            assign(f, one, value, node)
        return
    name = target.id if isinstance(target, ast.Name) else ""
    assign(f, target, f.expression(value_node, name), node)


def _several(
    f: Function, target: ast.Tuple | ast.List, node: ast.expr, at: ast.stmt
) -> list[Value]:
    """Return the values that several targets get; nothing stored can change them."""
    if isinstance(node, ast.Tuple | ast.List):
        found = f.ordered(node.elts)
    else:
        made = f.expression(node)
        if not isinstance(made, tuple):
            f.error(at, "what is on the right is no tuple", "Write a, b = x[0], x[1].")
        found = list(made)
    if any(isinstance(one, ast.Starred) for one in target.elts):
        f.error(at, "* cannot be translated", "Write a slice: rest = values[1:].")
    if len(target.elts) != len(found):
        f.error(at, f"{len(found)} values for {len(target.elts)} names")
    return [_steadied(f, value) for value in found]


def _steadied(f: Function, value: Value) -> Value:
    """Return a value that the assignments to the other targets cannot change."""
    if isinstance(value, Number):
        return f.constant(value)
    if isinstance(value, List) and value.base:
        base = f.fresh()
        f.emit(f"const long {base} = {value.base};")
        return replace(value, base=base)
    if isinstance(value, Stream) and not value.address.startswith("&"):
        pointer = f.fresh()
        f.emit(f"rng_t *const {pointer} = {value.address};")
        return Stream(pointer)
    return value


def assign(f: Function, target: ast.expr, value: Value, node: ast.AST) -> None:
    """Assign a value to a name, an entry or a field."""
    if isinstance(target, ast.Name):
        store_name(f, target.id, value, node)
    elif isinstance(target, ast.Subscript):
        if isinstance(target.slice, ast.Slice):
            f.error(target, "a slice cannot be assigned", "Write a loop over the entries.")
        if isinstance(value, Known):
            value = f.number(value, node)
        with f.aside() as lines:
            where, place = f.ordered([target.value, target.slice])
        if lines:
            value = f.steady(value)
            f.splice(lines)
        where = as_list(f, where, target, *ONLY_ENTRIES)
        if isinstance(value, List):
            storing.store_row(f, where, lists.position(f, place, target), value, target)
        else:
            storing.put(f, where, lists.position(f, place, target), value, target)
    elif isinstance(target, ast.Attribute):
        _require_society(f, target)
        storing.store_field(f, target.attr, value, target)
    elif isinstance(target, ast.Tuple | ast.List):
        if not isinstance(value, tuple) or len(value) != len(target.elts):
            f.error(target, "not as many values as names", WALKS)
        for one, part in zip(target.elts, value, strict=True):
            assign(f, one, part, node)
    else:
        f.error(target, "* cannot be translated", "Write a slice: rest = values[1:].")


def _require_society(f: Function, target: ast.Attribute) -> None:
    """Raise an error unless an attribute that is assigned is one of the society."""
    owner = f.expression(target.value)
    if isinstance(owner, Settings):
        hint = f"What changes from {f.unit.declared.clock} to {f.unit.declared.clock} is a field."
        f.error(target, "the configuration cannot be changed", hint)
    if not isinstance(owner, Society):
        hint = f"Write society.{target.attr}[{ast.unparse(target.value)}]."
        known = isinstance(owner, Number) and target.attr in f.unit.declared.fields
        f.error(target, "only fields of the society can be assigned", hint if known else "")


def store_name(f: Function, name: str, value: Value, node: ast.AST) -> None:
    """Let a name stand for a value."""
    scope, several = f.frame.scope, f.frame.bindings[name] > 1
    if isinstance(value, List):
        storing.bind(f, name, value, node)
    elif isinstance(value, Known) and (value.value is None or isinstance(value.value, bool)):
        _store_number(f, name, f.number(value, node), node)
    elif isinstance(value, Stream):
        _store_stream(f, name, value, node)
    elif isinstance(value, Known | Settings | Society | Inner | EventList | Method):
        if several:
            f.error(node, f"'{name}' stands for several things", "Give each a name of its own.")
        scope[name] = value
    elif isinstance(value, tuple):
        if several:
            f.error(node, f"the tuple '{name}' is assigned again", "Write one name for each part.")
        scope[name] = tuple(f.constant(v) if isinstance(v, Number) else v for v in value)
    else:
        _store_number(f, name, f.number(value, node), node)
    _assigned(f, name)


def _store_stream(f: Function, name: str, value: Stream, node: ast.AST) -> None:
    """Let a name stand for a stream: by a pointer if it stands for several in turn."""
    others = [k for k, one in f.frame.scope.items() if one == value and k != name]
    if others and isinstance(getattr(node, "value", None), ast.Name):
        f.error(node, f"two names for one stream, '{others[0]}' and '{name}'", "Use one of them.")
    before = f.frame.scope.get(name)
    if before is not None and not isinstance(before, Stream):
        f.error(node, f"'{name}' stood for {f.called(before)} before", "Give the stream a name.")
    if f.frame.bindings[name] > 1:
        pointer = before.address if isinstance(before, Stream) else f.cname(f"{name}_at")
        if f"rng_t *{pointer}" not in f.instance.parameters:
            f.declared[f"*{pointer}"] = "rng_t"
        f.emit(f"{pointer} = {value.address};")
        value = Stream(pointer)
    f.frame.scope[name] = value


def _assigned(f: Function, name: str) -> None:
    if f.frame.assigned is not None:
        f.frame.assigned.add(name)


def _store_number(f: Function, name: str, value: Number, node: ast.AST) -> None:
    variable = f.frame.scope.get(name)
    if not isinstance(variable, Number):
        if variable is not None:
            was = f.called(variable)
            f.error(node, f"'{name}' stood for {was} before", "Give the number another name.")
        kind = f.fact("kind", name) or value.kind
        line = getattr(node, "lineno", 0)
        variable = Number(f.cname(name), kind, NAME, line=line)
        if f.frame.bindings[name] == 1:
            same = value.known if kind == value.kind else None
            variable = replace(variable, low=value.low, high=value.high, known=same)
        f.frame.scope[name] = variable
    if variable.kind != value.kind:
        wanted = common_kind(variable.kind, value.kind)
        if wanted is None:
            was = f"{CALLED[variable.kind]} in line {variable.line}"
            hint = f"Begin with {name} = 0.0, or write float(...) or int(...)."
            if {variable.kind, value.kind} & {NONE, MAYBE}:
                hint = "A real number cannot be None: keep in a truth value whether there is one."
            f.error(node, f"'{name}' is {was} and {CALLED[value.kind]} here", hint)
        if variable.kind != wanted:
            f.learn(("kind", name), wanted)
    f.declared[variable.text] = CTYPES[variable.kind]
    f.emit(f"{variable.text} = {bare(value.text)};")


@handles(ast.AugAssign)
def _augmented(f: Function, node: ast.AugAssign) -> None:
    target = node.target
    if isinstance(target, ast.Name):
        found = f.lookup(target.id, node)
        if isinstance(found, List):
            f.error(node, "a list is not added to", f"Write {target.id}.append(x).")
        old = f.number(found, node)
        value = f.number(f.expression(node.value), node)
        store_name(f, target.id, binary(f, node.op, old, value, node), node)
        return
    if isinstance(target, ast.Attribute):
        _require_society(f, target)
        where, place = lists.field_list(f, target.attr, target), None
        if where.dims:
            f.error(target, f"the field '{target.attr}' is a list", "Write a loop over it.")
        old = lists.scalar_of(f, where, target)
    else:
        found, at = f.ordered([target.value, target.slice])
        where = as_list(f, found, target, *ONLY_ENTRIES)
        place = lists.position(f, at, target)
        if place.life != FIXED and not place.text.isidentifier():
            place = f.constant(place)
        entry = lists.entry(f, where, place, target)
        if not isinstance(entry, Number):
            f.error(target, "a row is not added to", "Write a loop over its entries.")
        old = entry
    with f.aside() as lines:
        value = f.number(f.expression(node.value), node)
    if lines:
        old = f.constant(old)
        f.splice(lines)
    made = binary(f, node.op, old, value, node)
    if place is not None:
        storing.put(f, where, place, made, target)
    else:
        assert isinstance(target, ast.Attribute)
        storing.store_field(f, target.attr, made, target)


# -------------------------------------------------------------------- conditions


@handles(ast.If)
def _if(f: Function, node: ast.If) -> None:
    test = f.truth(node.test)
    if isinstance(test, bool):
        f.statements(node.body if test else node.orelse)
        return
    before = f.frame.assigned
    assert before is not None
    f.emit(f"if ({bare(test.text)}) {{")
    f.indent += 1
    f.frame.assigned = set(before)
    f.statements(node.body)
    then = f.frame.assigned
    f.frame.assigned = set(before)
    if node.orelse:
        f.indent -= 1
        f.emit("} else {")
        f.indent += 1
        f.statements(node.orelse)
    f.indent -= 1
    f.emit("}")
    other = f.frame.assigned
    f.frame.assigned = other if then is None else then if other is None else then & other


@handles(ast.While)
def _while(f: Function, node: ast.While) -> None:
    if node.orelse:
        f.error(node, *LOOP_ELSE)
    before = f.frame.assigned
    assert before is not None
    f.frame.assigned = set(before)
    with f.aside() as lines:
        test = f.truth(node.test)
    if test is False:
        f.frame.assigned = before
        return
    text = "1" if test is True else bare(test.text)
    with f.block(f"while ({'1' if lines else text})"), f.body() as found:
        if lines:
            f.splice(lines, 1)
            f.emit(f"if (!({text})) break;")
        f.round()
        f.statements(node.body)
    f.frame.assigned = before
    if test is True and not found and not any(nodes_of(ast.Return, node)):
        hint = "Write a break, or a condition after while."
        f.error(node, "this loop never ends", hint, wrong=True)
    if test is True:  # left only by break
        f.frame.assigned = set.intersection(*found) if found else None


@handles(ast.Break, ast.Continue)
def _jump(f: Function, node: ast.Break | ast.Continue) -> None:
    if f.shielded:
        f.error(node, "a jump out of with", "Let the block end, and ask after it.")
    if isinstance(node, ast.Break) and f.frame.assigned is not None:
        f.breaks.append(set(f.frame.assigned))
    f.emit("break;" if isinstance(node, ast.Break) else "continue;")
    f.frame.assigned = None
