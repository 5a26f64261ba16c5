"""What do comparisons, ``and``, ``or``, ``not`` and the choice between two values become?"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterable
from dataclasses import replace

from societies.translate.frames import CLine
from societies.translate.function import TRUTHS, Function, handles
from societies.translate.membership import contains
from societies.translate.messages import STATE, WRITE_REAL
from societies.translate.operators import SYMBOLS, exactly_real
from societies.translate.values import (
    BOOL,
    CALLED,
    CTYPES,
    FIXED,
    INT,
    MAYBE,
    NONE,
    REAL,
    WORD,
    Known,
    List,
    Number,
    Settings,
    Value,
    as_real,
    bare,
    common_kind,
    wide,
)


def _not(f: Function, node: ast.UnaryOp) -> Number | bool:
    if not isinstance(node.op, ast.Not):
        return f.is_true(f.expression(node), node)
    found = f.truth(node.operand)
    if isinstance(found, bool):
        return not found
    return Number(f"(!{found.text})", BOOL, found.life, 0, 1)


def _all_or_any(f: Function, node: ast.BoolOp) -> Number | bool:
    """Return whether all, or any, are true; what comes later is worked out only if needed."""
    conj = isinstance(node.op, ast.And)
    result: Number | None = None
    for one in node.values:
        with f.aside() as lines:
            value = f.truth(one)
        if isinstance(value, bool):
            if result is None:
                f.splice(lines)
            if value != conj:
                if lines and result is not None:  # what is before it still happens
                    _then(f, result, lines, None, conj)
                return value
            if lines and result is not None:
                result = _then(f, result, lines, None, conj)
        elif result is None:
            f.splice(lines)
            result = value
        elif lines:
            result = _then(f, result, lines, value, conj)
        else:
            text = f"({result.text} {'&&' if conj else '||'} {value.text})"
            result = Number(text, BOOL, min(result.life, value.life), 0, 1)
    return conj if result is None else result


def _then(
    f: Function, result: Number, lines: Iterable[CLine], value: Number | None, conj: bool
) -> Number:
    """Return a truth value after further lines, which run only if they decide it."""
    flag = f.fresh()
    f.emit(f"int {flag} = {bare(result.text)};")
    with f.block(f"if ({flag if conj else '!' + flag})"):
        f.splice(list(lines), 1)
        if value is not None:
            f.emit(f"{flag} = {bare(value.text)};")
    return Number(flag, BOOL, FIXED, 0, 1)


def _comparison(f: Function, node: ast.Compare) -> Number | bool:
    """Return the result of a comparison, or of a chain: each part only if those before hold."""
    first, *others = node.ops
    if isinstance(first, ast.In | ast.NotIn) and not others:
        return contains(f, node)
    left, right = f.ordered([node.left, node.comparators[0]])
    right = f.steady(right) if others and isinstance(right, Number) else right
    result = _compared(f, first, left, right, node)
    for i, (op, one) in enumerate(zip(others, node.comparators[1:], strict=True), 1):
        left, last = right, i == len(others)
        with f.aside() as lines:
            right = f.expression(one)
        if result is False:
            return False
        needs = isinstance(right, Number) and right.life == 0 and not last
        if lines or needs:
            number = f.number(right, node)
            inner = f.fresh()
            f.emit(f"{CTYPES[number.kind]} {inner} = 0;")
            flag = f.fresh()
            f.emit(f"int {flag} = {'1' if result is True else bare(result.text)};")
            with f.block(f"if ({flag})"):
                f.splice(lines, 1)
                f.emit(f"{inner} = {bare(number.text)};")
                right = replace(number, text=inner, life=FIXED, literal=False)
                found = _compared(f, op, left, right, node)
                f.emit(f"{flag} = {_text(found)};")
            result = Number(flag, BOOL, FIXED, 0, 1)
            continue
        found = _compared(f, op, left, right, node)
        if isinstance(result, bool) or isinstance(found, bool):
            if found is False:
                return False
            result = found if result is True else result
        else:
            text = f"({result.text} && {found.text})"
            result = Number(text, BOOL, min(result.life, found.life), 0, 1)
    return result


def _text(found: Number | bool) -> str:
    return str(int(found)) if isinstance(found, bool) else bare(found.text)


def _compared(f: Function, op: ast.cmpop, a: Value, b: Value, node: ast.AST) -> Number | bool:
    if isinstance(op, ast.Is | ast.IsNot):
        return _is_none(f, op, a, b, node)
    if isinstance(op, ast.In | ast.NotIn):
        f.error(node, "'in' within a chain of comparisons", "Write two comparisons and 'and'.")
    if isinstance(a, Known | Settings) and isinstance(b, Known | Settings):
        table = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
                 ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}  # fmt: skip
        try:
            return bool(table[type(op)](a.value, b.value))
        except TypeError as error:
            f.error(node, str(error))
    if isinstance(a, List | tuple) or isinstance(b, List | tuple):
        f.error(node, "lists are not compared", "Compare their entries in a loop.")
    word = next((one.value for one in (a, b) if isinstance(one, Known)), None)
    if isinstance(word, str) and word not in [getattr(one, "value", "") for one in ast.walk(node)]:
        f.error(node, f"the word '{word}' is compared with a number", f'Write == "{word}".')
    x, y = f.number(a, node), f.number(b, node)
    equality = isinstance(op, ast.Eq | ast.NotEq)
    if not equality:
        x, y = f.present(x, node), f.present(y, node)
    if WORD in (x.kind, y.kind):
        f.error(node, *STATE)
    symbol = SYMBOLS[type(op)]
    life = min(x.life, y.life)
    if REAL in (x.kind, y.kind):
        if MAYBE in (x.kind, y.kind) or NONE in (x.kind, y.kind):
            f.error(
                node, "None or a whole number, compared with a real one", "Ask 'is None' first."
            )
        for one, other in ((x, y), (y, x)):
            if one.kind != REAL and not exactly_real(one):
                order, before = f"order_of({bare(wide(one))}, {bare(other.text)})", one is y
                text = f"(0.0 {symbol} {order})" if before else f"({order} {symbol} 0.0)"
                return Number(text, BOOL, life, 0, 1)
        texts = [as_real(x), as_real(y)]
    else:
        texts = [wide(x), wide(y)] if x.kind != BOOL or y.kind != BOOL else [x.text, y.text]
    return Number(f"({texts[0]} {symbol} {texts[1]})", BOOL, life, 0, 1)


def _is_none(f: Function, op: ast.cmpop, a: Value, b: Value, node: ast.AST) -> Number | bool:
    if not (isinstance(b, Known) and b.value is None):
        f.error(node, "'is' compares with None alone", "Write ==.")
    if isinstance(a, Known | Settings | List | tuple):
        return (isinstance(a, Known) and a.value is None) == isinstance(op, ast.Is)
    number = f.number(a, node)
    if number.kind not in (MAYBE, NONE):
        return isinstance(op, ast.IsNot)
    symbol = "==" if isinstance(op, ast.Is) else "!="
    return Number(f"({number.text} {symbol} NOTHING)", BOOL, number.life, 0, 1)


TRUTHS |= {ast.UnaryOp: _not, ast.BoolOp: _all_or_any, ast.Compare: _comparison}


@handles(ast.Compare)
def _compare(f: Function, node: ast.Compare, name: str) -> Value:
    found = _comparison(f, node)
    return Known(found) if isinstance(found, bool) else found


@handles(ast.BoolOp)
def _bool_op(f: Function, node: ast.BoolOp, name: str) -> Value:
    """Return the value of ``a and b`` or ``a or b``, which is that of one of them."""
    conj = isinstance(node.op, ast.And)
    result: Value | None = None
    for one in node.values:
        if result is None:
            result = f.expression(one)
            continue
        if isinstance(result, Known):
            if bool(result.value) != conj:
                return result
            result = f.expression(one)
            continue
        before = f.steady(result)
        test = f.is_true(before, node)
        if isinstance(test, bool):
            if test != conj:
                return before
            result = f.expression(one)
            continue
        with f.aside() as lines:
            value = f.expression(one)
        if not conj and isinstance(before, Number) and before.kind == MAYBE:
            before = replace(before, kind=INT, low=None, high=None)  # it is true, so not None
        pair = (value, before) if conj else (before, value)
        sides: tuple[list[CLine], list[CLine]] = (lines, []) if conj else ([], lines)
        result = chosen(f, test, pair, sides, node)
    assert result is not None
    return result


@handles(ast.IfExp)
def _if_exp(f: Function, node: ast.IfExp, name: str) -> Value:
    test = f.truth(node.test)
    if isinstance(test, bool):
        return f.expression(node.body if test else node.orelse, name)
    with f.aside() as first:
        a = f.expression(node.body)
    with f.aside() as second:
        b = f.expression(node.orelse)
    return chosen(f, test, (a, b), (first, second), node)


def chosen(
    f: Function, test: Number, values: tuple[Value, Value], lines: tuple[list[CLine], list[CLine]],
    node: ast.AST,
) -> Number:  # fmt: skip
    """Return the first value if a test holds, else the second; each after its own lines."""
    for value in values:
        if isinstance(value, List | tuple):
            f.error(node, "a choice between lists", "Write if and else, and use a list in each.")
    a, b = (f.number(value, node) for value in values)
    kind = common_kind(a.kind, b.kind)
    if kind is None:
        f.error(node, f"{CALLED[a.kind]} or {CALLED[b.kind]}", WRITE_REAL)
    low = high = None
    if kind in (INT, BOOL):
        low = None if a.low is None or b.low is None else min(a.low, b.low)
        high = None if a.high is None or b.high is None else max(a.high, b.high)
    x, y = (wide(one) if kind in (INT, MAYBE) else one.text for one in (a, b))
    if not any(lines):
        life = min(test.life, a.life, b.life)
        return Number(f"({test.text} ? {x} : {y})", kind, life, low, high)
    name = f.fresh()
    f.emit(f"{CTYPES[kind]} {name} = 0;")
    f.emit(f"if ({bare(test.text)}) {{")
    f.splice(lines[0], 1)
    f.emit(f"    {name} = {bare(x)};")
    f.emit("} else {")
    f.splice(lines[1], 1)
    f.emit(f"    {name} = {bare(y)};")
    f.emit("}")
    return Number(name, kind, FIXED, low, high)
