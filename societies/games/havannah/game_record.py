"""Which moves does a file with the record of a game have?

A record is in the Smart Game Format (FF[4]: nodes of properties between parentheses, of which the
first variation is the game), or a text of moves divided by spaces.
"""

from __future__ import annotations

import re
from pathlib import Path

from societies.errors import ConfigError

LONGEST = 2**20
"""Bytes of a file that is taken for a record."""

_PROPERTY = r"([A-Za-z]+)\s*\[((?:\\.|[^\\\]])*)\](?:\s*\[(?:\\.|[^\\\]])*\])*"
_TOKEN = re.compile(rf"\s*(?:([(;)])|{_PROPERTY})", re.DOTALL)


def moves_of(path: str, size: int) -> list[str]:
    """Return the moves of the first game of a file.

    Raises
    ------
    ConfigError
        If the file cannot be read, is no record or one of a board of another size.
    """
    try:
        with Path(path).open("rb") as file:
            raw = file.read(LONGEST + 1)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = "\x00"
    if "\x00" in text or len(raw) > LONGEST:
        raise ConfigError(f"{path}: no record of a game: not a text of at most 1 MiB")
    is_tree = text.lstrip().startswith("(")
    found = _of_tree(path, text, size) if is_tree else text.replace(",", " ").split()
    if not found:
        raise ConfigError(f"{path}: no record of a game: it has no moves")
    return found


def _of_tree(path: str, text: str, size: int) -> list[str]:
    """Return the moves of the first variation of a text in the Smart Game Format."""
    moves: list[str] = []
    at, colours = 0, ("W", "B")
    while (token := _TOKEN.match(text, at)) is not None:
        at = token.end()
        mark, name, value = token.groups()
        if mark == ")":
            return moves
        if name == "SZ" and value.strip() != str(size):
            raise ConfigError(
                f"{path}: the record is of a board of size {value.strip()}, not {size}"
            )
        if name in colours:
            if value.strip().lower() == "resign":
                return moves
            expected = colours[len(moves) % 2]
            if name != expected:
                number = len(moves) + 1
                raise ConfigError(f"{path}: move {number}: it is {expected}'s move, not {name}'s")
            moves.append(value.strip())
    rest = text[at:].split()
    what = f"{rest[0][:20]!r} is no part of a record" if rest else "the record has no end"
    raise ConfigError(f"{path}: {what}, after {len(moves)} moves")
