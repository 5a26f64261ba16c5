"""What does a call of a model's function become? A function in C for each kind of arguments."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import Any

from societies.translate import lists
from societies.translate.frames import Again, Instance, Namespace, bindings_of
from societies.translate.function import Function, handles, known
from societies.translate.messages import (
    FROM_CONFIG,
    STATEMENTS,
    TranslationError,
)
from societies.translate.names import in_c
from societies.translate.results import end_of_function, returns_number, structure
from societies.translate.source import SourceFile, definition, without_docstring
from societies.translate.statements import assign, store_name
from societies.translate.values import (
    CTYPES,
    FIXED,
    READ,
    EventList,
    Inner,
    Known,
    List,
    Method,
    Number,
    Settings,
    Society,
    Value,
)

UNSEEN = Known | Settings | Society | Inner | EventList
"""Kinds of values that are known while translating and need no parameter in C."""

DEEPEST = 60
"""Largest number of functions that call each other."""


def callable_of(value: Value) -> FunctionType | Inner | None:
    """Return a value if it is a function of the model, else None."""
    if isinstance(value, Inner):
        return value
    if isinstance(value, Known) and isinstance(value.value, FunctionType):
        return value.value
    return None


def call_user(f: Function, function: FunctionType | Inner, node: ast.Call, name: str) -> Value:
    """Translate the call of a function of the model."""
    values = _arguments(f, function, _definition(f, function, node)[0], node)
    return _call_with(f, function, values, node, name)


def _call_with(
    f: Function, function: FunctionType | Inner, values: dict[str, Value], node: ast.AST, name: str
) -> Value:
    """Translate the call of a function of the model for some arguments, which have a value."""
    definition_, file, names = _definition(f, function, node)
    if isinstance(function, Inner):
        outer: tuple[Function, Namespace] | None = (function.owner, function.frame)
        identity: Any = (definition_, function.owner)
    else:
        outer, identity = None, function
    called = getattr(definition_, "name", "lambda")
    name_in_c = in_c(f"{called}__{file.path.stem}")
    exact = identity in f.unit.exact
    key = (identity, *(_key(f, one, exact) for one in values.values()))
    if key in f.unit.active or len(f.unit.active) > DEEPEST:
        f.error(node, f"{called} calls itself", "Write a loop; a kernel has no stack.")
    if key not in f.unit.instances:
        f.unit.active.append(key)
        try:
            made = translate_function(f, definition_, file, names, values, outer, name_in_c, exact)
        except TranslationError as error:
            if error.reason != FROM_CONFIG[0] or exact:
                raise
            f.unit.exact.add(identity)  # numbers that are written out may be what is missing
            f.unit.active.remove(key)
            return _call_with(f, function, values, node, name)
        f.unit.instances[key] = made
        f.unit.active.remove(key)
    return _called(f, f.unit.instances[key], values, node, name)


def _definition(
    f: Function, function: FunctionType | Inner, node: ast.AST
) -> tuple[ast.FunctionDef | ast.Lambda, SourceFile, Mapping[str, Any]]:
    if isinstance(function, Inner):
        return function.node, function.frame.file, function.frame.names
    if inspect.isgeneratorfunction(function):
        f.error(node, f"{function.__name__} is a generator", "Return a list.")
    made, file = definition(function)
    if made.decorator_list:
        f.error(node, f"{function.__name__} has a decorator", "Call a function without one.")
    return made, file, function.__globals__


def _arguments(
    f: Function, function: FunctionType | Inner, made: ast.FunctionDef | ast.Lambda, node: ast.Call
) -> dict[str, Value]:
    """Return the values of all parameters, worked out in the order in which they are written."""
    given = made.args
    if given.vararg or given.kwarg:
        f.error(node, "* among the parameters cannot be translated", "Name each parameter.")
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    takes = f"{getattr(made, 'name', 'the lambda')} takes ({', '.join(names)})"
    if len(node.args) > len(names):
        f.error(node, f"{takes}, and gets {len(node.args)} arguments", wrong=True)
    if any(one.arg is None for one in node.keywords):
        f.error(node, "** cannot be translated", "Name each argument.")
    order = [*names[: len(node.args)], *(str(one.arg) for one in node.keywords)]
    every = [*names, *(one.arg for one in given.kwonlyargs)]
    for name in order:
        if name not in every or order.count(name) > 1:
            said = "is given twice" if name in every else "is not one of them"
            f.error(node, f"{takes}, and '{name}' {said}", wrong=True)
    worked = f.ordered([*node.args, *(one.value for one in node.keywords)])
    values = dict(zip(order, worked, strict=True))
    for name, default in _defaults(function, made).items():
        values.setdefault(name, f.held(default, node) if isinstance(default, Number) else default)
    for name in every:
        if name not in values:
            f.error(node, f"{takes}, and the argument '{name}' is missing", wrong=True)
        if isinstance(values[name], Method):
            f.error(node, "a method as an argument", "Write a function that calls it.")
        if isinstance(values[name], tuple):
            f.error(node, "a tuple as an argument", "Hand on its parts one by one.")
    return {name: values[name] for name in every}


def _defaults(
    function: FunctionType | Inner, made: ast.FunctionDef | ast.Lambda
) -> dict[str, Value]:
    """Return the values of parameters that need not be given."""
    given = made.args
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    if isinstance(function, FunctionType):
        positional = function.__defaults__ or ()
        found = dict(zip(names[len(names) - len(positional) :], positional, strict=True))
        return {k: known(v) for k, v in {**found, **(function.__kwdefaults__ or {})}.items()}
    nodes = dict(zip(names[len(names) - len(given.defaults) :], given.defaults, strict=True))
    further = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    nodes |= {one.arg: default for one, default in further if default is not None}
    for node in nodes.values():
        _require_constant(function.owner, node)
    return {name: function.owner.expression(one) for name, one in nodes.items()}


def _require_constant(f: Function, default: ast.expr) -> None:
    """Raise an error if a default may change between the definition of a function and its calls."""
    for node in ast.walk(default):
        if isinstance(node, ast.Name):
            value = f.expression(node)
            if isinstance(value, Known | Settings) or (isinstance(value, Number) and value.literal):
                continue
        elif not isinstance(node, ast.Call):
            continue
        f.error(
            default,
            "a default that is not constant: Python computes it where the function is defined",
            "Hand it on as an argument, or read the name inside the function.",
        )


def _key(f: Function, value: Value, exact: bool) -> Any:
    """Return the part of an argument on which the text of a function depends."""
    if isinstance(value, Number):
        known = value.known if exact or not value.literal else None
        return value.kind, value.positive, known, value.offset
    if isinstance(value, List):
        return value.key
    if isinstance(value, Settings):
        return "settings", value.path
    if isinstance(value, Known):
        return (
            "known",
            type(value.value),
            value.value if _hashable(value.value) else id(value.value),
        )
    if isinstance(value, Inner):
        return "inner", value.node, value.owner
    return type(value).__name__


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def translate_function(
    f: Function,
    node: ast.FunctionDef | ast.Lambda,
    file: SourceFile,
    names: Mapping[str, Any],
    values: Mapping[str, Value],
    outer: tuple[Function, Namespace] | None,
    name: str,
    exact: bool,
) -> Instance:
    """Translate a function for some arguments, again whenever more is learnt of its names."""
    facts: dict[Any, Any] = {}
    active = list(f.unit.active)
    while True:
        made: Instance = f.unit.instance(name)
        frame = Namespace(node, file, dict(names), {}, bindings_of(node), outer)
        inside = Function(f.unit, frame, made, facts)
        inside.returned = partial(returns_number, inside)
        try:
            _body(inside, node, values, exact)
            break
        except Again as again:
            if again.facts is not facts:
                raise
            f.unit.names[name] -= 1
            f.unit.active[:] = active
    kind = "void"
    if isinstance(made.result, tuple):
        kind = structure(inside, made.result)
    elif isinstance(made.result, str):
        kind = CTYPES[made.result]
    f.unit.finish(inside, kind, file, node.lineno)
    return made


def _body(
    f: Function,
    node: ast.FunctionDef | ast.Lambda,
    values: Mapping[str, Value],
    exact: bool,
) -> None:
    """Translate the parameters and the statements of a function."""
    frame = f.frame
    frame.assigned = set(values)
    for name, value in values.items():
        rebound = frame.bindings[name] > 0
        frame.bindings[name] += rebound  # the argument is a value of its own
        if isinstance(value, UNSEEN):
            if rebound and isinstance(value, Known):
                store_name(f, name, value, node)
            elif rebound:
                f.error(node, f"the parameter '{name}' is assigned", "Use another name.")
            else:
                frame.scope[name] = value
            continue
        declarations, made = f.parameter(name, value)
        f.instance.parameters += declarations
        if isinstance(value, Number) and isinstance(made, Number):
            made = replace(made, known=value.known if exact or not value.literal else None)
            if rebound:
                store_name(f, name, made, node)
                continue
        frame.scope[name] = made
    if isinstance(node, ast.Lambda):
        f.emit(f"// {node.lineno}: {frame.file.line(node.lineno).strip()}")
        returns_number(f, node.body, node)
        return
    f.statements(without_docstring(node))
    end_of_function(f)


def _called(
    f: Function, made: Instance, values: Mapping[str, Value], node: ast.AST, name: str
) -> Value:
    """Emit the call of a function in C, and return its result."""
    f.instance.uses.update(made.uses)
    f.instance.accesses += made.accesses
    f.instance.calls.append(made)
    texts: list[str] = []
    parts = [*values.values()]
    parts += [f.captured(*captured, node) for captured in made.captures]
    for value in parts:
        if not isinstance(value, UNSEEN):
            texts += f.argument(value, lambda one: lists.flat(one))
    texts += list(made.uses)
    result: List | None = None
    if isinstance(made.result, List):
        spec = made.result
        result = lists.new(f, name, spec.kinds, spec.most)
        texts += [column.pointer for column in result.columns]
        texts.append(f"&{result.counter}")
    text = f"{made.name}({', '.join(texts)})"
    if result is not None:
        f.emit(f"{text};")
        return result
    if made.result is None:
        f.emit(f"{text};")
        return Known(None)
    if isinstance(made.result, tuple):
        t = f.fresh()
        f.emit(f"const {structure(f, made.result)} {t} = {text};")
        return tuple(Number(f"{t}._{i}", kind, FIXED) for i, kind in enumerate(made.result))
    assert isinstance(made.result, str)
    return f.constant(Number(text, made.result, READ))


def inlined(
    f: Function, function: FunctionType, call: ast.Call, node: ast.With, target: ast.expr | None
) -> None:
    """Translate ``with`` of a context manager that is a function with one ``yield``."""
    made, file = definition(function)
    body = without_docstring(made)
    plain = [isinstance(one, ast.Expr) and isinstance(one.value, ast.Yield) for one in body]
    yields = [
        one for one in ast.walk(made) if isinstance(one, ast.Yield | ast.YieldFrom | ast.Return)
    ]
    if plain.count(True) != 1 or len(yields) != 1:
        f.error(node, f"{function.__name__} has more than one plain yield, or a return",
                "Write the statements before and after the block.")  # fmt: skip
    place = plain.index(True)
    values = _arguments(f, function, made, call)
    inner = Namespace(made, file, function.__globals__, {}, bindings_of(made))
    inner.assigned = set(values)
    for name, value in values.items():
        number = f.constant(value) if isinstance(value, Number) else value
        if inner.bindings[name]:
            f.error(node, f"{function.__name__} assigns its parameter '{name}'")
        inner.scope[name] = number
    outer = f.frame
    f.frames.append(inner)
    f.frame = inner
    f.statements(body[:place])
    statement = body[place]
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield)
    given = statement.value.value
    value = Known(None) if given is None else f.expression(given)
    f.frame = outer
    if target is not None:
        assign(f, target, value, node)
    f.shielded += 1
    f.statements(node.body)
    f.shielded -= 1
    f.frame = inner
    f.statements(body[place + 1 :])
    f.frame = outer


@handles(ast.With)
def _with(f: Function, node: ast.With) -> None:
    for item in node.items:
        call = item.context_expr
        function = f.expression(call.func) if isinstance(call, ast.Call) else None
        inner = (
            getattr(function.value, "__wrapped__", None) if isinstance(function, Known) else None
        )
        if len(node.items) > 1 or not isinstance(inner, FunctionType):
            f.error(node, *STATEMENTS[ast.With])
        assert isinstance(call, ast.Call)
        inlined(f, inner, call, node, item.optional_vars)
