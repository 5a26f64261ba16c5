"""Operators: arithmetic, comparisons, ``and``, ``or``, ``not`` and the choice between two values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from societies.translate.function import TRUTHS, Function, Line, handles
from societies.translate.messages import WRITE_REAL
from societies.translate.values import (
    BOOL,
    CALLED,
    CTYPES,
    FIXED,
    INT,
    LEAST,
    MAYBE,
    MOST,
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
    literal,
    wide,
)

SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Div: "/",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
FOLDED: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "/": operator.truediv,
}
_EXACT = 2**53
_TOO_LARGE = "the whole number needs more than 64 bits"
_ZERO = "division by zero"


@handles(ast.BinOp)
def _binary(f: Function, node: ast.BinOp, name: str) -> Value:
    from societies.translate import lists

    if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List):
        return lists.repeated(f, node.left, node.right, name)
    if isinstance(node.op, ast.Mult) and isinstance(node.right, ast.List):
        f.error(node, "a number before a list", "Write [0] * n.")
    left, right = f.ordered([node.left, node.right])
    if isinstance(left, List) or isinstance(right, List):
        f.error(node, "lists are not added", "Append the entries in a loop.")
    return binary(f, node.op, f.number(left, node), f.number(right, node), node)


def binary(f: Function, op: ast.operator, a: Number, b: Number, node: ast.AST) -> Number:
    """Return the result of an operator of two numbers."""
    a, b = f.present(a, node), f.present(b, node)
    if WORD in (a.kind, b.kind):
        f.error(node, "the state of a random stream is no number", "Write rng = Rng.load(...).")
    if isinstance(op, ast.Pow):
        return _power(f, a, b, node)
    symbol = SYMBOLS.get(type(op))
    if symbol is None:
        f.error(node, f"{type(op).__name__} cannot be translated", "Write the loops.")
    if a.literal and b.literal and a.known is not None and b.known is not None:
        return _folded(f, symbol, a, b, node)
    life = min(a.life, b.life)
    if symbol == "/":
        return _quotient(f, a, b, node)
    if REAL in (a.kind, b.kind):
        if symbol not in ("+", "-", "*"):
            f.error(node, f"{symbol} of real numbers", "Write math.floor(a / b), or int(...).")
        return Number(f"({as_real(a)} {symbol} {as_real(b)})", REAL, life)
    low, high = bounds(symbol, a, b)
    known = None
    if a.known is not None and b.known is not None:
        known = _computed(symbol, a.known, b.known)
    text = _whole(f, symbol, a, b, node, (low, high))
    return Number(text, INT, life, low, high, known)


def _computed(symbol: str, a: float, b: float) -> Any:
    try:
        found = FOLDED[symbol](a, b)
    except (ZeroDivisionError, ValueError, OverflowError, MemoryError):
        return None
    return found if isinstance(found, float) or LEAST < found <= MOST else None


def _folded(f: Function, symbol: str, a: Number, b: Number, node: ast.AST) -> Number:
    """Return the result of an operator of two numbers that are written out."""
    assert a.known is not None and b.known is not None
    if REAL in (a.kind, b.kind) and symbol not in ("+", "-", "*", "/"):
        f.error(node, f"{symbol} of real numbers", "Write math.floor(a / b), or int(...).")
    if symbol == "<<" and (b.known < 0 or b.known > 64):
        f.error(node, _TOO_LARGE, "Write it as a real number: 1e22.")
    try:
        found = FOLDED[symbol](a.known, b.known)
    except (ZeroDivisionError, ValueError, OverflowError) as error:
        f.error(node, str(error))
    if isinstance(found, bool):
        found = int(found)
    if isinstance(found, int) and not LEAST < found <= MOST:
        f.error(node, _TOO_LARGE, "Write it as a real number: 1e22.")
    return literal(found)


def _quotient(f: Function, a: Number, b: Number, node: ast.AST) -> Number:
    x, y = as_real(a), as_real(b)
    if f.unit.checked:
        if a.kind != REAL and b.kind != REAL:
            x, y = (f"(real){exact(f, one, node)}" for one in (a, b))
        if not (b.literal and b.known):
            y = f"checked_real_divisor({y}, {f.site(node, _ZERO)})"
    return Number(f"({x} / {y})", REAL, min(a.life, b.life))


def exact(f: Function, number: Number, node: ast.AST) -> str:
    """Return the text of a whole number that a real one must hold exactly."""
    within = number.low is not None and number.high is not None
    if within and -_EXACT <= number.low <= number.high <= _EXACT:  # type: ignore[operator]
        return wide(number)
    what = "a whole number of more than 53 bits becomes a real one"
    return f"checked_exact({wide(number)}, {f.site(node, what)})" if f.unit.checked else wide(number)


def _whole(
    f: Function, symbol: str, a: Number, b: Number, node: ast.AST,
    within: tuple[int | None, int | None],
) -> str:  # fmt: skip
    """Return the text of an operator of two whole numbers."""
    x, y = wide(a), wide(b)
    proven = None not in within
    if symbol in ("+", "-", "*"):
        if f.unit.checked and not proven:
            word = {"+": "add", "-": "sub", "*": "mul"}[symbol]
            return f"checked_{word}({bare(x)}, {bare(y)}, {f.site(node, _TOO_LARGE)})"
        return f"({x} {symbol} {y})"
    if symbol in ("//", "%"):
        word = "div" if symbol == "//" else "mod"
        safe = b.literal and b.known not in (0, -1)
        if safe and a.positive and b.positive:
            return f"({x} {'/' if symbol == '//' else '%'} {y})"
        if f.unit.checked and not safe:
            y = f"checked_divisor({bare(y)}, {f.site(node, _ZERO)})"
        return f"floor_{word}({bare(x)}, {bare(y)})"
    if symbol == "<<":
        if f.unit.checked:
            return f"checked_shift({bare(x)}, {bare(y)}, {f.site(node, _TOO_LARGE)})"
        return f"shift_left({bare(x)}, {bare(y)})"
    if symbol == ">>":
        f.require(f"{b.text} >= 0", node, "a shift by a negative number")
        return f"shift_right({bare(x)}, {bare(y)})"
    return f"({x} {symbol} {y})"


def bounds(symbol: str, a: Number, b: Number) -> tuple[int | None, int | None]:
    """Return the bounds that the result of an operator has in any case."""
    if a.low is None or b.low is None or a.high is None or b.high is None:
        if symbol == "%" and b.low is not None and b.low > 0:
            return 0, None if b.high is None else b.high - 1
        positive = a.positive and b.positive and symbol in ("//", "&", "|", "^", ">>")
        if positive and symbol == "&" and (a.high is not None or b.high is not None):
            return 0, min(one.high for one in (a, b) if one.high is not None)
        return (0 if positive else None), (a.high if positive and symbol in ("//", ">>") else None)
    if symbol in ("+", "-", "*"):
        made = FOLDED[symbol]
        ends = [made(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        low, high = min(ends), max(ends)
        return (low, high) if LEAST < low and high <= MOST else (None, None)
    if symbol == "%" and b.low > 0:
        return 0, min(b.high - 1, a.high) if a.low >= 0 else b.high - 1
    if symbol == "//" and b.low > 0:
        ends = [x // y for x in (a.low, a.high) for y in (b.low, b.high)]
        return min(ends), max(ends)
    if symbol == "&" and a.low >= 0 and b.low >= 0:
        return 0, min(a.high, b.high)
    if symbol == ">>" and b.low >= 0:
        return min(a.low, 0) if a.low < 0 else 0, max(a.high, 0)
    if symbol in ("|", "^") and a.low >= 0 and b.low >= 0:
        return 0, 2 ** max(a.high, b.high, 1).bit_length() - 1
    return None, None


def _power(f: Function, a: Number, b: Number, node: ast.AST) -> Number:
    exponents = (0, 1, 2, 3, 4)
    if a.kind == INT and b.literal and b.known in exponents and b.kind == INT:
        if a.literal and isinstance(a.known, int) and isinstance(b.known, int):
            return literal(a.known**b.known)
        base, made = f.kept(a) if a.life == 0 else a, literal(1)
        for _ in range(int(b.known or 0)):
            made = binary(f, ast.Mult(), made, base, node) if not made.literal else base
        return made
    folded = a.literal and b.literal and a.kind == INT and b.kind == INT
    if folded and isinstance(a.known, int) and isinstance(b.known, int) and 0 <= b.known <= 63:
        if abs(a.known**b.known) <= MOST:
            return literal(a.known**b.known)
        f.error(node, _TOO_LARGE, "Write it as a real number: 1e22.")
    if folded and isinstance(b.known, int) and b.known > 63:
        f.error(node, _TOO_LARGE, "Write it as a real number: 1e22.")
    reason = "a power has other bits on every device"
    if a.kind != REAL and b.kind != REAL:
        reason = "a power with an exponent that is not 0, 1, 2, 3 or 4"
    f.error(node, reason, "Write x * x, math.sqrt(x), or soft_pow(x, y) of societies.model.")


@handles(ast.UnaryOp)
def _unary(f: Function, node: ast.UnaryOp, name: str) -> Value:
    if isinstance(node.op, ast.Not):
        found = f.truth(node)
        return Known(found) if isinstance(found, bool) else found
    value = f.present(f.number(f.expression(node.operand), node), node)
    if value.literal and value.known is not None:
        made = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
        if isinstance(node.op, ast.Invert) and value.kind == REAL:
            f.error(node, "~ of a real number", "Write int(...).")
        known = int(value.known) if isinstance(value.known, bool) else value.known
        return literal(made[type(node.op)](known))
    kind = REAL if value.kind == REAL else INT
    flipped = (
        None if value.high is None else -value.high, None if value.low is None else -value.low,
    )  # fmt: skip
    known = None if value.known is None else -value.known
    if isinstance(node.op, ast.UAdd):
        return replace(value, kind=kind, text=wide(value) if kind == INT else value.text)
    if isinstance(node.op, ast.Invert):
        if kind == REAL:
            f.error(node, "~ of a real number", "Write int(...).")
        return Number(f"(~{wide(value)})", INT, value.life)
    if kind == INT and f.unit.checked and value.low is None:
        text = f"checked_sub(0, {bare(wide(value))}, {f.site(node, _TOO_LARGE)})"
        return Number(text, INT, value.life, *flipped, known)
    text = value.text if kind == REAL else wide(value)
    return Number(f"(-{text})", kind, value.life, *flipped, known)


# -------------------------------------------------------------------- truth


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
                return value if result is None else _forced(f, result, lines, value, conj)
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
    f: Function, result: Number, lines: Iterable[Line], value: Number | None, conj: bool
) -> Number:
    """Return a truth value after further lines, which run only if they decide it."""
    flag = f.fresh()
    f.emit(f"int {flag} = {bare(result.text)};")
    with f.block(f"if ({flag if conj else '!' + flag})"):
        f.splice(list(lines), 1)
        if value is not None:
            f.emit(f"{flag} = {bare(value.text)};")
    return Number(flag, BOOL, FIXED, 0, 1)


def _forced(
    f: Function, result: Number, lines: Iterable[Line], value: bool, conj: bool
) -> Number | bool:
    """Return a truth value that a known part decides; what is before it still happens."""
    lines = list(lines)
    if lines:
        _then(f, result, lines, None, conj)
    return value


def _comparison(f: Function, node: ast.Compare) -> Number | bool:
    """Return the result of a comparison, or of a chain: each part only if those before hold."""
    if len(node.ops) == 1:
        op = node.ops[0]
        if isinstance(op, ast.In | ast.NotIn):
            from societies.translate.membership import contains

            return contains(f, node)
        left, right = f.ordered([node.left, node.comparators[0]])
        return _compared(f, op, left, right, node)
    left, right = f.ordered([node.left, node.comparators[0]])
    if isinstance(right, Number):
        right = f.steady(right)
    result = _compared(f, node.ops[0], left, right, node)
    for i, (op, one) in enumerate(zip(node.ops[1:], node.comparators[1:], strict=True)):
        left, last = right, i == len(node.ops) - 2
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
    x, y = f.number(a, node), f.number(b, node)
    equality = isinstance(op, ast.Eq | ast.NotEq)
    if not equality:
        x, y = f.present(x, node), f.present(y, node)
    if WORD in (x.kind, y.kind):
        f.error(node, "the state of a random stream is no number")
    symbol = SYMBOLS[type(op)]
    life = min(x.life, y.life)
    if REAL in (x.kind, y.kind):
        if MAYBE in (x.kind, y.kind) or NONE in (x.kind, y.kind):
            f.error(node, "None or a whole number, compared with a real one", "Ask 'is None' first.")
        texts = [
            one.text if one.kind == REAL else f"(real){exact(f, one, node)}"
            if not one.literal else as_real(one)
            for one in (x, y)
        ]  # fmt: skip
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


TRUTHS[ast.UnaryOp] = _not
TRUTHS[ast.BoolOp] = _all_or_any
TRUTHS[ast.Compare] = _comparison


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
        pair = (value, before) if conj else (before, value)
        sides: tuple[list[Line], list[Line]] = (lines, []) if conj else ([], lines)
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
    f: Function, test: Number, values: tuple[Value, Value], lines: tuple[list[Line], list[Line]],
    node: ast.AST,
) -> Number:  # fmt: skip
    """Return the first value if a test holds, else the second; each after its own lines."""
    for value in values:
        if isinstance(value, List | tuple):
            f.error(node, "a choice between lists", "Write if and else, and use the list there.")
    a, b = (f.number(value, node) for value in values)
    kinds = {a.kind, b.kind}
    kind = a.kind
    if a.kind != b.kind:
        if not kinds <= {INT, MAYBE, NONE, BOOL}:
            f.error(node, f"{CALLED[a.kind]} or {CALLED[b.kind]}", WRITE_REAL)
        kind = MAYBE if kinds & {MAYBE, NONE} else INT
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
