"""What the functions of Python and of the library of primitives become in C."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reference_py.primitives import bounded as bounded_module
from reference_py.primitives import reduce, softmath
from reference_py.primitives.permute import random_matching, random_permutation
from reference_py.primitives.rng import Rng
from societies.translate import draws, lists, storing
from societies.translate.function import Function
from societies.translate.loops import Generators, list_of
from societies.translate.membership import whole
from societies.translate.messages import FROM_CONFIG
from societies.translate.operators import binary
from societies.translate.ordering import each_value, extreme, in_order
from societies.translate.values import (
    BOOL,
    FIXED,
    INT,
    REAL,
    Known,
    List,
    Number,
    Value,
    as_real,
    bare,
    literal,
    wide,
)
from societies.translate.walks import walk

Made = Callable[[Function, ast.Call, str], Value]


def _one(f: Function, node: ast.Call) -> Value:
    if len(node.args) != 1 or node.keywords:
        f.error(node, "takes one argument here")
    return f.expression(node.args[0])


def _one_number(f: Function, node: ast.Call) -> Number:
    return f.present(f.number(_one(f, node), node), node)


def _float(f: Function, node: ast.Call, name: str) -> Value:
    argument = node.args[0] if len(node.args) == 1 else None
    if isinstance(argument, ast.Constant) and argument.value in ("inf", "-inf", "nan"):
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
    """Return a real number without a fraction as a whole one."""
    if f.unit.checked:
        what = "the real number does not fit 64 bits"
        return Number(f"checked_whole({bare(text)}, {f.site(node, what)})", INT, value.life)
    return Number(f"((long){text})", INT, value.life)


def _bool(f: Function, node: ast.Call, name: str) -> Value:
    if len(node.args) != 1:
        f.error(node, "takes one argument here")
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
    if not isinstance(value, List):
        f.error(node, "len of something that is no list")
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
    return _whole(f, f"rint({bare(value.text)})", value, node)


def _of_math(name: str, result: str) -> Made:
    """Return what translates a function of the module math of one number."""

    def made(f: Function, node: ast.Call, _: str) -> Value:
        value = _one_number(f, node)
        if value.kind != REAL and result == INT:
            return replace(value, kind=INT, text=wide(value), literal=False)
        text = bare(as_real(value))
        if name == "sqrt":
            what = "the square root of a negative number"
            if f.unit.checked:
                text = f"checked_real({text}, 0.0, {f.site(node, what)})"
            return Number(f"sqrt({text})", REAL, value.life)
        if result == INT:
            return _whole(f, f"{name}({text})", value, node)
        return Number(f"{name}({text})", result, value.life)

    return made


def _sum(f: Function, node: ast.Call, name: str) -> Value:
    if len(node.args) != 1 or node.keywords:
        f.error(node, "sum takes one argument here", "Add the start to the result.")
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
        if len(node.args) != 1 or node.keywords:
            f.error(node, "any and all take one argument")
        argument = node.args[0]
        if isinstance(argument, ast.ListComp) and not _pure(argument):
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


def _pure(node: ast.ListComp) -> bool:
    return not any(isinstance(one, ast.Call) for one in ast.walk(node.elt))


def list_from(f: Function, node: ast.Call, name: str, keywords: tuple[str, ...] = ()) -> List:
    """Return a new list of the values of a list, a range or a generator."""
    if len(node.args) != 1 or any(one.arg not in keywords for one in node.keywords):
        f.error(node, "takes one list here")
    argument = node.args[0]
    if isinstance(argument, Generators):
        made: List = list_of(f, argument, name)
        return made
    if isinstance(argument, ast.List | ast.Tuple):
        return lists.display(f, argument, name)
    if not (isinstance(argument, ast.Call | ast.Subscript)):
        value = f.expression(argument)
        if isinstance(value, List):
            whole(f, value, node)
            return lists.copied(f, value, name)
    elif isinstance(argument, ast.Call) and not _is_walk(f, argument):
        value = f.expression(argument, name)
        if isinstance(value, List):
            whole(f, value, node)
            return value if value.fresh else lists.copied(f, value, name)
        f.error(node, "this is no list")
    steps = walk(f, argument, [ast.Pass()])
    if steps.most is None:
        f.error(node, *FROM_CONFIG)
    k = f.cname("k")
    with f.aside() as lines, f.block(f"for (long {k} = 0; {steps.more(k)}; ++{k})"):
        value = steps.item(k)
        if isinstance(value, List):
            f.error(node, "a slice of rows", "Write a comprehension: [list(row) for row in x].")
        parts = value if isinstance(value, tuple) else (value,)
        kinds = tuple(f.number(one, node).kind for one in parts)
        made = lists.new(f, name, kinds, steps.most)
        storing.add(f, made, value, node, sure=True)
    f.emit(f"{made.counter} = 0;")
    f.splice(lines)
    return made


def _is_walk(f: Function, node: ast.Call) -> bool:
    """Return whether a call is one of range, zip, enumerate and reversed."""
    if not isinstance(node.func, ast.Name) or node.func.id in f.frame.scope:
        return False
    function = f.lookup(node.func.id, node)
    return isinstance(function, Known) and function.value in (range, zip, enumerate, reversed)


def _list(f: Function, node: ast.Call, name: str) -> Value:
    if not node.args:
        f.error(node, "how many entries will the list have at most?", "Write Bounded(most).")
    return list_from(f, node, name)


def _bounded(f: Function, node: ast.Call, name: str) -> Value:
    if len(node.args) not in (1, 2) or node.keywords:
        f.error(node, "Bounded takes the largest number of entries, and the first entries")
    values = f.ordered(node.args)
    most = f.number(values[0], node)
    if most.kind not in (INT, BOOL) or most.most is None:
        hint = "Write a product of keys of the configuration, or a constant."
        f.error(node, "how long the list can become must follow from the configuration", hint)
    kinds = f.fact("kinds", name) or f.fact("entries", name) or (INT,)
    inner = f.fact("inner", name) or 0
    if len(values) == 2:
        entries = values[1]
        if not isinstance(entries, List):
            f.error(node, "Bounded takes a list of first entries")
        made = lists.new(f, name, entries.kinds, max(most.most, entries.most), bounded=True)
        lists.copy(f, entries, made)
        return made
    made = lists.new(f, name, kinds, max(most.most, 0), inner=inner, bounded=True)
    f.emit(f"{made.counter} = 0;")
    return made


def _fresh_word(f: Function, node: ast.Call, name: str) -> Value:
    f.error(node, "a stream without a state", "Write Rng.load(society.stream) or Rng.seed(...).")


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
    reduce.reduce_sum: draws.reduced,
    bounded_module.Bounded: _bounded,
    Rng: _fresh_word,
    Rng.load: draws.load,
    Rng.seed: draws.seed,
    softmath.soft_exp: draws.soft("soft_exp", 1),  # type: ignore[dict-item]
    softmath.soft_log: draws.soft("soft_log", 1),  # type: ignore[dict-item]
    softmath.soft_pow: draws.soft("soft_pow", 2),  # type: ignore[dict-item]
}
