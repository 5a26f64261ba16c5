"""What is the value of an `#if`, by C's rules? Integers of 64 bits, signed if both sides are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uU]?(?:ll|LL|[lL])?[uU]?)")
_CHARACTER = re.compile(r"'(?:([^\\'])|\\([0-7]{1,3})|\\x([0-9a-fA-F]+)|\\(.))'")
_ESCAPES = dict(zip("abtnvfr0", (7, 8, 9, 10, 11, 12, 13, 0), strict=True))
_WIDTH = 1 << 64
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"),
    ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_PRECEDENCE = {operator: level for level, row in enumerate(_LEVELS) for operator in row}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}


class _Value(NamedTuple):
    number: int
    unsigned: bool = False

    def converted(self, unsigned: bool) -> _Value:
        """Return it as an ``intmax_t`` or ``uintmax_t``."""
        number = self.number % _WIDTH
        if not unsigned and number >= _WIDTH // 2:
            number -= _WIDTH
        return _Value(number, unsigned)


def value_of(words: Sequence[str]) -> int:
    """Return the value of an expression, whose macros are expanded, from its tokens.

    Raises
    ------
    ValueError
        If it is none, in words for the user.
    """
    reader = _ConditionReader(list(words))
    value = reader.comma(True)
    if reader.words:
        raise ValueError(f"unexpected {reader.words[0]!r}")
    return value.number


class _ConditionReader:
    """``counts`` is False where the value of an operand does not matter: division by 0 is fine."""

    def __init__(self, words: list[str]):
        self.words = words

    def comma(self, counts: bool) -> _Value:
        value = self._choice(counts)
        while self._next(","):
            value = self._choice(counts)
        return value

    def _next(self, word: str) -> bool:
        if self.words and self.words[0] == word:
            del self.words[0]
            return True
        return False

    def _require(self, word: str) -> None:
        if not self._next(word):
            raise ValueError(f"expected {word!r}")

    def _choice(self, counts: bool) -> _Value:
        condition = self._binary(0, counts)
        if not self._next("?"):
            return condition
        first = self.comma(counts and condition.number != 0)
        self._require(":")
        second = self._choice(counts and condition.number == 0)
        chosen = first if condition.number else second
        return chosen.converted(first.unsigned or second.unsigned)

    def _binary(self, level: int, counts: bool) -> _Value:
        left = self._unary(counts)
        while self.words and _PRECEDENCE.get(self.words[0], -1) >= level:
            operator = self.words.pop(0)
            needed = counts
            if operator in ("&&", "||"):
                needed = counts and bool(left.number) == (operator == "&&")
            right = self._binary(_PRECEDENCE[operator] + 1, needed)
            left = _combined(operator, left, right, counts)
        return left

    def _unary(self, counts: bool) -> _Value:
        if not self.words:
            raise ValueError("an operand is missing")
        word = self.words.pop(0)
        if word in ("+", "-", "~", "!"):
            value = self._unary(counts)
            if word == "!":
                return _Value(int(not value.number))
            number = {"+": value.number, "-": -value.number, "~": ~value.number}[word]
            return _Value(number).converted(value.unsigned)
        if word == "(":
            value = self.comma(counts)
            self._require(")")
            return value
        if word[0].isalpha() or word[0] in "_$":
            if self.words and self.words[0] == "(":
                raise ValueError(f"{word} is not a macro with arguments")
            return _Value(int(word == "true"))
        return _constant(word)


def _combined(operator: str, left: _Value, right: _Value, counts: bool) -> _Value:
    if operator in ("&&", "||"):
        both = (left.number != 0, right.number != 0)
        return _Value(int(all(both) if operator == "&&" else any(both)))
    if operator in ("<<", ">>"):
        if not 0 <= right.number < 64:
            if counts:
                raise ValueError(f"a shift by {right.number}")
            return left
        moved = left.number << right.number if operator == "<<" else left.number >> right.number
        return _fitting(moved, left.unsigned, counts)
    unsigned = left.unsigned or right.unsigned
    a, b = left.converted(unsigned).number, right.converted(unsigned).number
    if operator in _COMPARISONS:
        return _Value(int(_COMPARISONS[operator](a, b)))
    if operator in ("/", "%") and b == 0:
        if counts:
            raise ValueError("a division by 0")
        return _Value(0, unsigned)
    return _fitting(_ARITHMETIC[operator](a, b), unsigned, counts)


def _fitting(number: int, unsigned: bool, counts: bool) -> _Value:
    value = _Value(number).converted(unsigned)
    if counts and not unsigned and value.number != number:
        raise ValueError("a number that does not fit into 64 bits")
    return value


def _constant(word: str) -> _Value:
    if character := _CHARACTER.fullmatch(word):
        plain, octal, hexadecimal, escaped = character.groups()
        if plain or escaped:
            number = ord(plain) if plain else _ESCAPES.get(escaped, ord(escaped))
        else:
            number = int(octal, 8) if octal else int(hexadecimal, 16)
            number = (number + 128) % 256 - 128  # char is signed
        return _Value(number)
    match = _NUMBER.fullmatch(word)
    if match is None:
        raise ValueError(f"{word} is not an integer")
    digits, suffix = match.groups()
    is_octal = digits[0] == "0" and digits.isdigit()
    try:
        number = int(digits, 8 if is_octal else 0)
    except ValueError:
        raise ValueError(f"{word} is not an integer") from None
    if number >= _WIDTH:
        raise ValueError(f"{word} does not fit into 64 bits")
    return _Value(number, "u" in suffix.lower() or number >= _WIDTH // 2)
