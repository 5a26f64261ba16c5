"""How does a command line read a number, which errors does it report, and is a number finite?"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from societies.errors import shortened

if TYPE_CHECKING:
    from typer import BadParameter

DECIMAL = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
"""Pattern of a decimal number without a sign."""

LARGEST = 2**64 - 1
"""Largest value of an option that is a whole number: the largest seed."""

LARGEST_COUNT = 2**31 - 1
"""Largest value of an option that is a count or a tick."""

MOST_WORKERS = 1024


def whole(text: str | int) -> int:
    """Read the value of an option that is a whole number; a default is a number already."""
    text = str(text)
    # `int` takes digits of other alphabets and underscores, and fails for thousands of digits.
    if re.fullmatch(r"\s*[-+]?[0-9]{1,20}\s*", text) and abs(int(text)) <= LARGEST:
        return int(text)
    if re.fullmatch(r"\s*[-+]?[0-9]+\s*", text):
        raise _wrong(f"must be at most {LARGEST}, got {shortened(text)}")
    raise _wrong(f"expected a whole number, got {shortened(text) or 'nothing'}")


def from_0(text: str) -> int:
    """Read a whole number of at least 0."""
    return _within(0, LARGEST_COUNT, whole(text))


def from_1(text: str) -> int:
    """Read a whole number of at least 1."""
    return _within(1, LARGEST_COUNT, whole(text))


def workers(text: str) -> int:
    """Read a number of processes."""
    return _within(1, MOST_WORKERS, whole(text))


class Numbers(tuple[int, ...]):
    """Several whole numbers: 1,8,64."""


def several_from_1(text: str) -> Numbers:
    """Read whole numbers of at least 1 with commas between them."""
    return Numbers(from_1(part.strip()) for part in text.split(","))


def _within(least: int, most: int, number: int) -> int:
    if number < least:
        raise _wrong(f"must be at least {least}, got {number}")
    if number > most:
        raise _wrong(f"must be at most {most}, got {number}")
    return number


def real(text: str | float) -> float:
    """Read the value of an option that is a real number; a default is a number already."""
    text = str(text).strip()
    # `float` takes digits of other alphabets, underscores and words such as nan, too.
    if not re.fullmatch(rf"[-+]?{DECIMAL}", text):
        raise _wrong(f"expected a number, got {shortened(text) or 'nothing'}")
    if not is_finite(float(text)):
        raise _wrong(f"must be finite, got {shortened(text)}")
    return float(text)


def is_finite(value: Any) -> bool:
    """Return True for an int or a float that is finite in double precision."""
    try:
        return type(value) in (int, float) and math.isfinite(value)
    except OverflowError:  # an int that is too large for a float
        return False


def _wrong(message: str) -> BadParameter:
    from typer import BadParameter  # here, as those who read no command line do without typer

    return BadParameter(message)
