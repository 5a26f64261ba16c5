"""What do the functions of Python and of the library of primitives become in C?"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from types import ModuleType
from typing import Any

from reference_py.primitives import bounded as bounded_module
from reference_py.primitives import reduce, softmath
from reference_py.primitives.permute import random_matching, random_permutation
from reference_py.primitives.rng import Rng
from societies.translate import draws, lists, storing
from societies.translate.draws import alone, draw
from societies.translate.function import Function, handles
from societies.translate.loops import Generators, list_from
from societies.translate.membership import method as list_method
from societies.translate.messages import ATTRIBUTES, UNKNOWN_MOST, no_such_function
from societies.translate.operators import binary
from societies.translate.ordering import each_value, extreme, in_order
from societies.translate.source import nodes_of
from societies.translate.tables import as_list
from societies.translate.values import (
    BOOL,
    FIXED,
    INT,
    REAL,
    EventList,
    Known,
    List,
    Method,
    Number,
    Stream,
    Value,
    as_real,
    bare,
    literal,
    wide,
)

Made = Callable[[Function, ast.Call, str], Value]


def _one(f: Function, node: ast.Call) -> Value:
    f.arguments(node, 1, 1, f"{ast.unparse(node.func)} takes one argument here")
    return f.expression(node.args[0])


def _one_number(f: Function, node: ast.Call) -> Number:
    return f.present(f.number(_one(f, node), node), node)


def _float(f: Function, node: ast.Call, name: str) -> Value:
    argument = node.args[0] if len(node.args) == 1 else None
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        with suppress(ValueError):
            return literal(float(argument.value))
    value = _one_number(f, node)
    if value.kind == REAL:
        return value
    if value.literal:
        return literal(float(value.known or 0))
    return Number(f"((real){wide(value)})", REAL, value.life)


def _int(f: Function, node: ast.Call, name: str) -> Value:
    value = _one_number(f, node)
    if value.kind != REAL:
        return replace(value, kind=INT, text=wide(value), literal=False)
    return _whole(f, value.text, value, node)


def _whole(f: Function, text: str, value: Number, node: ast.AST) -> Number:
    """Convert a real number whose fraction is 0 to a whole number."""
    if f.unit.checked:
        what = "the real number does not fit 64 bits"
        return Number(f"checked_whole({bare(text)}, {f.site(node, what)})", INT, value.life)
    return Number(f"((long){text})", INT, value.life)


def _bool(f: Function, node: ast.Call, name: str) -> Value:
    f.arguments(node, 1, 1, "bool takes one argument")
    found = f.truth(node.args[0])
    return Known(found) if isinstance(found, bool) else found


def _abs(f: Function, node: ast.Call, name: str) -> Value:
    value = _one_number(f, node)
    if value.kind == REAL:
        return Number(f"fabs({bare(value.text)})", REAL, value.life)
    ends = [abs(x) for x in (value.low, value.high) if x is not None]
    both = len(ends) == 2
    low = 0 if not both or (value.low or 0) <= 0 <= (value.high or 0) else min(ends)
    return Number(f"distance_from_0({bare(wide(value))})", INT, value.life, low,
                  max(ends) if both else None)  # fmt: skip


def _len(f: Function, node: ast.Call, name: str) -> Value:
    value = _one(f, node)
    if isinstance(value, tuple):
        return literal(len(value))
    if isinstance(value, Known) and isinstance(value.value, tuple | list):
        return literal(len(value.value))
    value = as_list(f, value, node, "len of something that is no list")
    if value.length.isdigit():
        return literal(int(value.length))
    return Number(value.length, INT, 0, 0, value.most)


def _round(f: Function, node: ast.Call, name: str) -> Value:
    if len(node.args) == 2:
        hint = "Round where results are shown; for whole steps: float(round(x * 100.0)) / 100.0."
        f.error(node, "round to decimals has other bits than x * 100.0 suggests", hint)
    value = _one_number(f, node)
    if value.kind != REAL:
        return replace(value, kind=INT, text=wide(value), literal=False)
    return _whole(f, f"rint_real({bare(value.text)})", value, node)


def _of_math(name: str, result: str) -> Made:
    """Return the translator of a function of ``math`` that takes one number."""

    def made(f: Function, node: ast.Call, _: str) -> Value:
        value = _one_number(f, node)
        if value.kind != REAL and result == INT:
            return replace(value, kind=INT, text=wide(value), literal=False)
        text = bare(as_real(value))
        if name == "sqrt":
            what = "the square root of a negative number"
            if f.unit.checked:
                text = f"checked_real({text}, 0.0, {f.site(node, what)})"
        if result == INT:
            return _whole(f, f"{name}_real({text})", value, node)
        made = f"{name}_real" if result == REAL else name
        return Number(f"{made}({text})", result, value.life)

    return made


def _sum(f: Function, node: ast.Call, name: str) -> Value:
    f.arguments(node, 1, 1, "sum takes one argument here|Add the start to the result.")
    total = f.fresh()
    f.declared[total] = "long"
    f.emit(f"{total} = 0;")

    def inside(value: Value) -> None:
        number = f.number(value, node)
        if number.kind == REAL:
            reason = (
                "sum of real numbers: how it rounds depends on the version of Python (from 3.12 "
                "on it is compensated)"
            )
            f.error(node, reason, "Write reduce_sum(values), or add up in a loop.")
        added = binary(f, ast.Add(), Number(total, INT, FIXED), number, node)
        f.emit(f"{total} = {bare(added.text)};")

    each_value(f, node.args[0], node, inside)
    return Number(total, INT, FIXED)


def _any_or_all(is_any: bool) -> Made:
    """Return what translates ``any`` or ``all``, which stop as soon as they know."""

    def made(f: Function, node: ast.Call, name: str) -> Value:
        f.arguments(node, 1, 1, "any and all take one argument")
        argument = node.args[0]
        if isinstance(argument, ast.ListComp) and any(nodes_of(ast.Call, argument)):
            f.error(node, "any or all of a list whose entries draw or call functions",
                    "Write a generator, without the brackets; or a loop.")  # fmt: skip
        if isinstance(argument, Generators) and len(argument.generators) > 1:
            f.error(node, "any or all of several loops", "Write the loops.")
        flag = f.fresh()
        f.declared[flag] = "int"
        f.emit(f"{flag} = {0 if is_any else 1};")

        def inside(value: Value) -> None:
            found = f.is_true(value, node)
            text = str(int(found)) if isinstance(found, bool) else found.text
            test = bare(text) if is_any else f"!{text}"
            f.emit(f"if ({test}) {{ {flag} = {1 if is_any else 0}; break; }}")

        each_value(f, argument, node, inside)
        return Number(flag, BOOL, FIXED, 0, 1)

    return made


def _list(f: Function, node: ast.Call, name: str) -> Value:
    if not node.args:
        f.error(node, UNKNOWN_MOST, "Write Bounded(most).")
    return list_from(f, node, name)


def _bounded(f: Function, node: ast.Call, name: str) -> Value:
    f.arguments(node, 1, 2, "Bounded takes the largest number of entries, and the first entries")
    values = f.ordered(node.args)
    most = f.number(values[0], node)
    if most.kind not in (INT, BOOL) or most.most is None:
        hint = "Write a product of keys of the configuration, or a constant."
        f.error(node, "how long the list can become must follow from the configuration", hint)
    kinds = f.fact("kinds", name) or f.fact("entries", name) or (INT,)
    inner = f.fact("inner", name) or 0
    if len(values) == 2:
        entries = as_list(f, values[1], node, "Bounded takes a list of first entries")
        made = lists.new(f, name, entries.kinds, max(most.most, entries.most), bounded=True)
        lists.copy(f, entries, made)
        return made
    made = lists.new(f, name, kinds, max(most.most, 0), inner=inner, bounded=True)
    f.emit(f"{made.counter} = 0;")
    return made


def _fresh_word(f: Function, node: ast.Call, name: str) -> Value:
    f.error(node, "a stream without a state", "Write Rng.load(society.stream) or Rng.seed(...).")


def reduced(f: Function, node: ast.Call, name: str) -> Value:
    """Translate ``reduce_sum``; its terms are stored in a separate list first."""
    made = list_from(f, node, "terms")
    if made.kind != REAL or made.pairs or made.rows:
        f.error(
            node,
            "reduce_sum of something else than real numbers",
            "Write sum(values) of whole numbers.",
        )
    return f.constant(Number(alone("reduce_sum_alone", made), REAL))


BUILTIN: dict[Any, Made] = {
    float: _float,
    int: _int,
    bool: _bool,
    abs: _abs,
    len: _len,
    round: _round,
    min: extreme("min"),
    max: extreme("max"),
    sum: _sum,
    any: _any_or_all(True),
    all: _any_or_all(False),
    sorted: in_order,
    list: _list,
    math.sqrt: _of_math("sqrt", REAL),
    math.fabs: _of_math("fabs", REAL),
    math.floor: _of_math("floor", INT),
    math.ceil: _of_math("ceil", INT),
    math.trunc: _of_math("trunc", INT),
    math.isnan: _of_math("isnan", BOOL),
    math.isinf: _of_math("isinf", BOOL),
    math.isfinite: _of_math("isfinite", BOOL),
    random_permutation: draws.permutation,
    random_matching: draws.matching,
    reduce.reduce_sum: reduced,
    bounded_module.Bounded: _bounded,
    Rng: _fresh_word,
    Rng.load: draws.load,
    Rng.seed: draws.seed,
    softmath.soft_exp: draws.soft("soft_exp", 1),  # type: ignore[dict-item]
    softmath.soft_log: draws.soft("soft_log", 1),  # type: ignore[dict-item]
    softmath.soft_pow: draws.soft("soft_pow", 2),  # type: ignore[dict-item]
}


@handles(ast.Call)
def _call(f: Function, node: ast.Call, name: str) -> Value:
    from societies.translate.calls import call_user, callable_of

    function = f.expression(node.func)
    if isinstance(function, Method):
        return _method(f, function, node, name)
    user = callable_of(function)
    value = function.value if isinstance(function, Known) else None
    try:
        made = BUILTIN.get(value) if value is not None else None
    except TypeError:  # not hashable
        made = None
    if made is not None:
        return made(f, node, name)
    refused = no_such_function(value) if value is not None else None
    if refused is not None:
        f.error(node, *refused)
    if user is not None:
        return call_user(f, user, node, name)
    if isinstance(value, ModuleType):
        f.error(node, f"the module {value.__name__} is no function")
    if isinstance(value, type):
        f.error(node, f"the class {value.__name__} has no place in a kernel", ATTRIBUTES)
    if value is None:
        f.error(node, f"{ast.unparse(node.func)} is no function")
    f.error(
        node,
        f"{ast.unparse(node.func)} cannot be translated",
        "Write it as a function of this file.",
    )


def _method(f: Function, method: Method, node: ast.Call, name: str) -> Value:

    owner = method.owner
    if isinstance(owner, Stream):
        return draw(f, owner, method.name, node)
    if isinstance(owner, EventList):
        if method.name != "append" or len(node.args) != 1:
            said = f"rows are appended to '{owner.name}', and read from the file"
            f.error(node, said, f"Write .append(({f.unit.declared.clock}, ...)).", wrong=True)
        storing.events_append(f, owner, f.expression(node.args[0]), node)
        return Known(None)
    assert isinstance(owner, List)
    return list_method(f, owner, method.name, node, name)
