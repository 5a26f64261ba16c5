"""How does a command line read whole numbers, and what does it say of what is none?"""

from __future__ import annotations

import typer


def whole(text: str) -> int:
    """Read the value of an option that is a whole number."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"expected a whole number, got {text or 'nothing'}") from None


def from_0(text: str) -> int:
    """Read a whole number of at least 0."""
    return _at_least(0, whole(text))


def from_1(text: str) -> int:
    """Read a whole number of at least 1."""
    return _at_least(1, whole(text))


class Numbers(tuple[int, ...]):
    """Several whole numbers: 1,8,64."""


def several_from_1(text: str) -> Numbers:
    """Read whole numbers of at least 1 with commas between them."""
    return Numbers(from_1(part.strip()) for part in text.split(","))


def _at_least(least: int, number: int) -> int:
    if number < least:
        raise typer.BadParameter(f"must be at least {least}, got {number}")
    return number
