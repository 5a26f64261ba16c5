"""What does arithmetic of whole and real numbers become, as Python means it?"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from societies.translate import storing
from societies.translate.function import Function, handles
from societies.translate.messages import APPEND_EACH, ASK_BEFORE, TOO_LARGE
from societies.translate.values import (
    INT,
    LEAST,
    MOST,
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
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]]
_SIGNS = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
_EXACT = 2**53
_BEYOND = "the whole number needs more than 64 bits, or is -2**63, which stands for None"
_ZERO = "division by zero"
FLOOR = "Write math.floor(a / b), or int(...)."
REMAINDER = "Write a - b * float(math.floor(a / b)), or int(...)."


@handles(ast.BinOp)
def _binary(f: Function, node: ast.BinOp, name: str) -> Value:
    if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List):
        return storing.repeated(f, node.left, node.right, name)
    if isinstance(node.op, ast.Mult) and isinstance(node.right, ast.List):
        f.error(node, "a number before a list", "Write [0] * n.")
    if (found := _written_out(node)) is not None:
        return f.held(literal(found), node)
    left, right = f.ordered([node.left, node.right])
    if isinstance(node.op, ast.Add) and isinstance(left, List) and isinstance(right, List):
        f.error(node, "lists are not added", APPEND_EACH)
    return binary(f, node.op, f.number(left, node), f.number(right, node), node)


def _written_out(node: ast.expr) -> int | None:
    """Return a whole number that is written with operators, such as 2**63 - 1; None otherwise."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and type(node.op) in _SIGNS:
        x = _written_out(node.operand)
        return None if x is None else int(_SIGNS[type(node.op)](x))
    if not (isinstance(node, ast.BinOp) and type(node.op) in (ast.Add, ast.Sub, ast.Mult, ast.Pow)):
        return None
    a, b = _written_out(node.left), _written_out(node.right)
    if a is None or b is None:
        return None
    if not isinstance(node.op, ast.Pow):
        return int(FOLDED[SYMBOLS[type(node.op)]](a, b))
    return a**b if 0 <= b <= 64 and abs(a) < 2**64 else None


def binary(f: Function, op: ast.operator, a: Number, b: Number, node: ast.AST) -> Number:
    """Return the result of an operator of two numbers."""
    a, b = f.present(a, node), f.present(b, node)
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
            f.error(node, f"{symbol} of real numbers", REMAINDER if symbol == "%" else FLOOR)
        return Number(f"({as_real(a)} {symbol} {as_real(b)})", REAL, life)
    low, high = bounds(symbol, a, b)
    known, offset = None, None
    if a.known is not None and b.known is not None:
        known = _computed(symbol, a.known, b.known)
    for entry, more in ((a, b), (b, a)):
        if symbol == "+" and entry.offset is not None and isinstance(more.known, int):
            offset = entry.offset + more.known
    text = _whole(f, symbol, a, b, node, (low, high))
    return Number(text, INT, life, low, high, known, offset=offset)


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
        f.error(node, f"{symbol} of real numbers", REMAINDER if symbol == "%" else FLOOR)
    if symbol == "<<" and b.known > 64:
        f.error(node, *TOO_LARGE)
    try:
        found = FOLDED[symbol](a.known, b.known)
    except (ZeroDivisionError, ValueError, OverflowError) as error:
        f.error(node, str(error), ASK_BEFORE)
    return f.held(literal(int(found) if isinstance(found, bool) else found), node)


def _quotient(f: Function, a: Number, b: Number, node: ast.AST) -> Number:
    x, y = as_real(a), as_real(b)
    if a.kind != REAL and b.kind != REAL:
        x, y = (_exact(f, one, node) for one in (a, b))
    if f.unit.checked and not (b.literal and b.known):
        y = f"checked_real_divisor({y}, {f.site(node, _ZERO)})"
    return Number(f"({x} / {y})", REAL, min(a.life, b.life))


def exactly_real(number: Number) -> bool:
    """Return whether a whole number, whatever its value is, is one that a real one can have."""
    if number.literal and number.known is not None:
        return int(float(number.known)) == number.known
    within = number.low is not None and number.high is not None
    return within and -_EXACT <= number.low <= number.high <= _EXACT  # type: ignore[operator]


def _exact(f: Function, number: Number, node: ast.AST) -> str:
    """Return the text as a real number of a whole one that a real one must hold exactly."""
    if exactly_real(number):
        return as_real(number)
    what = "a whole number of more than 53 bits becomes a real one"
    if number.literal:
        f.error(node, what, f"Write {float(number.known or 0)!r}, if it may be rounded.")
    if not f.unit.checked:
        return as_real(number)
    return f"(real)checked_exact({wide(number)}, {f.site(node, what)})"


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
            return f"checked_{word}({bare(x)}, {bare(y)}, {f.site(node, _BEYOND)})"
        return f"({x} {symbol} {y})"
    if symbol in ("//", "%"):
        word = "div" if symbol == "//" else "mod"
        safe = b.literal and b.known not in (0, -1)
        if safe and a.positive and b.positive:
            return f"({x} {'/' if symbol == '//' else '%'} {y})"
        if f.unit.checked and not safe:
            y = f"checked_divisor({bare(y)}, {f.site(node, _ZERO)})"
        return f"floor_{word}({bare(x)}, {bare(y)})"
    if symbol in ("<<", ">>"):
        f.require(f"{b.text} >= 0", node, "a shift by a negative number")
    if symbol == "<<":
        if f.unit.checked:
            return f"checked_shift({bare(x)}, {bare(y)}, {f.site(node, _BEYOND)})"
        return f"shift_left({bare(x)}, {bare(y)})"
    if symbol == ">>":
        return f"shift_right({bare(x)}, {bare(y)})"
    never = {"&": a.positive or b.positive, "|": True, "^": a.positive and b.positive}[symbol]
    return _present(f, f"({x} {symbol} {y})", proven or never, node)


def _present(f: Function, text: str, proven: bool, node: ast.AST) -> str:
    """Return the text of a whole number of 64 bits, which must not be the one that is None."""
    tested = f.unit.checked and not proven
    return f"checked_present({bare(text)}, {f.site(node, _BEYOND)})" if tested else text


def bounds(symbol: str, a: Number, b: Number) -> tuple[int | None, int | None]:
    """Return bounds that the result of an operator never leaves."""
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
        return (low, high) if low > LEAST and high <= MOST else (None, None)
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
    if a.kind == INT and b.kind == INT and isinstance(b.known, int) and b.literal:
        if a.literal and isinstance(a.known, int) and b.known >= 0:
            if b.known > 63 and abs(a.known) > 1:
                f.error(node, *TOO_LARGE)
            return f.held(literal(a.known**b.known), node)
        if b.known in (0, 1, 2, 3, 4):
            base, made = f.constant(a) if a.life == 0 else a, literal(1)
            for _ in range(b.known):
                made = binary(f, ast.Mult(), made, base, node) if not made.literal else base
            return made
    if a.kind != REAL and b.kind != REAL:
        reason = "a power with an exponent that is not 0, 1, 2, 3 or 4"
        f.error(node, reason, "Write x * x, or a loop that multiplies.")
    f.error(node, "a power has other bits on every device",
            "Write x * x, math.sqrt(x), or soft_pow(x, y) of societies.model.")  # fmt: skip


@handles(ast.UnaryOp)
def _unary(f: Function, node: ast.UnaryOp, name: str) -> Value:
    if isinstance(node.op, ast.Not):
        true = f.truth(node)
        return Known(true) if isinstance(true, bool) else true
    if (found := _written_out(node)) is not None:
        return f.held(literal(found), node)
    value = f.present(f.number(f.expression(node.operand), node), node)
    if isinstance(node.op, ast.Invert) and value.kind == REAL:
        f.error(node, "~ of a real number", "Write int(...).")
    if value.literal and value.known is not None:
        plain = int(value.known) if isinstance(value.known, bool) else value.known
        return f.held(literal(_SIGNS[type(node.op)](plain)), node)
    text = value.text if value.kind == REAL else wide(value)
    kind = REAL if value.kind == REAL else INT
    if isinstance(node.op, ast.UAdd):
        return replace(value, kind=kind, text=text)
    if isinstance(node.op, ast.Invert):
        low, high = (None if x is None else ~x for x in (value.high, value.low))
        return Number(_present(f, f"(~{text})", low is not None, node), INT, value.life, low, high)
    low, high = (None if x is None else -x for x in (value.high, value.low))
    known = None if value.known is None else -value.known
    signed = f"(-{text})"
    if kind == INT and f.unit.checked and value.low is None:
        signed = f"checked_sub(0, {bare(text)}, {f.site(node, _BEYOND)})"
    return Number(signed, kind, value.life, low, high, known)
