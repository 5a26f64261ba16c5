"""Which moves does a file with the record of a game of Havannah contain?

A record is in the Smart Game Format (FF[4]: nodes of properties between parentheses; the first
variation of the first game is read), or a text of moves separated by spaces. A position is reached
by moves only, so records with any other origin are refused: set-up stones, passes, handicaps, the
rules of another game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from societies.errors import ConfigError, shortened
from societies.inputs import read_foreign

LONGEST = 2**20
"""Largest size of a record in bytes."""

COLOURS = ("W", "B")
SETUP = ("AB", "AW", "AE", "PL")
OF_GAME = ("21", "havannah")
"""Accepted values of the property GM (game): Havannah has number 21."""

HARMLESS = frozenset(
    re.findall(
        r"\w+",
        "FF CA AP ST SZ GM AN BR BT CP DT EV GN GC ON OT PB PC PW RE RO RU SO TM US WR WT KM HA "
        "BL WL OB OW MN KO BM DO IT TE C DM GB GW HO N UC V AR CR DD LB LN MA SL SQ TR FG PM VW "
        "TB TW BS WS ID LT EL EX SI SE CH L M",
    )
)
"""Properties of FF[4] and earlier formats that move no stone. GM, SZ and HA are checked apart."""

_PART = re.compile(r"\s*(?:([();])|([A-Za-z]+)|\[((?:\\.|[^\\\]])*)\])", re.DOTALL)


@dataclass(frozen=True)
class GameRecord:
    """Contents of a record.

    Attributes
    ----------
    moves : cells such as J10, and ``swap``
    remarks : a sentence for each part of the file that is ignored
    """

    moves: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def record_of(path: str, size: int) -> GameRecord:
    """Return the moves of the first game of a file.

    Raises
    ------
    ConfigError
        If the file cannot be read, is no record, is one of a board of another size, or has a
        position that moves alone do not lead to; with line and column.
    """
    text = read_foreign(Path(path), path, LONGEST)
    if "(" in text or ";" in text:
        found = _SgfReader(path, text, size).record()
    else:
        found = GameRecord(tuple(text.replace(",", " ").split()))
    if not found.moves:
        raise ConfigError(f"{path}: no record of a game: it has no moves")
    return found


class _SgfReader:
    """Parser of a text in the Smart Game Format that collects the moves of the first variation."""

    def __init__(self, path: str, text: str, size: int) -> None:
        self._path, self._text, self._size = path, text, size
        self._moves: list[str] = []
        self._is_over = False

    def record(self) -> GameRecord:
        """Return the moves of the first variation of the first game."""
        began = re.search(r"\(\s*;", self._text)
        if began is None or set("[;])") & set(self._text[: began.start()]):
            raise self._refused(0, "no record of a game: it does not begin with (;")
        depth = games = 0
        follows = False  # whether the first variation of the first game has ended
        node = closed = varied = False  # whether properties may follow; whether nodes may not
        for at, mark, name, values in self._parts(began.start()):
            if mark == "(":
                games += not depth
                varied |= depth > 0 and follows and games == 1
                depth += 1
                node = closed = False
            elif not depth:
                raise self._refused(at, f"{shortened(mark or name)} is outside of a game")
            elif mark == ")":
                depth -= 1
                node, closed = False, True
                follows = True
            elif mark == ";":
                if closed:
                    raise self._refused(at, "a node after a variation, which belongs to none")
                node = True
            elif not node:
                raise self._refused(at, f"{shortened(name)} is in no node; a node begins with ;")
            elif not follows:
                self._take(at, name, values)
        if depth:
            raise self._refused(len(self._text), "the record has no end: a ) is missing")
        remarks = []
        if games > 1:
            remarks.append(f"{self._path} has {games} games; the first is read")
        if varied:
            remarks.append(f"{self._path} has variations; the first is read")
        return GameRecord(tuple(self._moves), tuple(remarks))

    def _parts(self, at: int) -> Iterator[tuple[int, str, str, list[str]]]:
        """Yield position and mark, or position, name and values of a property, in order."""
        name, began, values = "", at, list[str]()
        while (part := _PART.match(self._text, at)) is not None:
            mark, word, value = part.groups()
            begins, at = part.start(part.lastindex or 0), part.end()
            if value is not None:
                if not name:
                    raise self._refused(begins - 1, "a value without a property")
                values.append(re.sub(r"\\(\n|.)", _unescaped, value, flags=re.DOTALL))
                continue
            if name:
                if not values:
                    raise self._refused(began, f"{shortened(name)} has no value")
                yield began, "", name, values
            name, began, values = word or "", begins, []
            if mark:
                yield begins, mark, "", []
        rest = self._text[at:].split()
        if rest:
            at += len(self._text[at:]) - len(self._text[at:].lstrip())
            missing = "; a ] is missing" if rest[0].startswith("[") else ""
            raise self._refused(at, f"{shortened(rest[0])} is not part of a record{missing}")
        if name and not values:
            raise self._refused(began, f"{shortened(name)} has no value")
        if name:
            yield began, "", name, values

    def _take(self, at: int, given: str, values: list[str]) -> None:
        """Read a property of the game: a move, or a setting that must agree with the board."""
        name = "".join(letter for letter in given if letter.isupper())  # older: Black for B
        value = values[0].strip()
        if name in COLOURS:
            self._move(at, name, values)
        elif name in SETUP:
            expected = COLOURS[len(self._moves) % 2]
            if name != "PL" or value[:1].upper() != expected:
                what = "sets stones" if name != "PL" else f"says that {shortened(value)} is to move"
                raise self._refused(
                    at, f"{shortened(given)} {what}; only records of moves are read"
                )
        elif name == "SZ" and value.lstrip("0") != str(self._size):
            raise self._refused(
                at, f"the record is of a board of size {shortened(value)}, not {self._size}"
            )
        elif name == "GM" and value.lower() not in OF_GAME:
            raise self._refused(at, f"GM[{shortened(value)}]: another game; Havannah has number 21")
        elif name == "HA" and value not in ("", "0"):
            raise self._refused(at, f"HA[{shortened(value)}]: there are no handicaps here")
        elif name not in HARMLESS:
            raise self._refused(
                at, f"{shortened(given)} is not known, and may change the position; remove it"
            )

    def _move(self, at: int, colour: str, values: list[str]) -> None:
        value = values[0].strip()
        number, expected = len(self._moves) + 1, COLOURS[len(self._moves) % 2]
        if self._is_over:
            raise self._refused(at, f"a move of {colour} after a resignation")
        if len(values) > 1:
            raise self._refused(at, f"move {number}: {colour} has {len(values)} values")
        if value.lower() == "resign":
            self._is_over = True
            return
        if colour != expected:
            raise self._refused(at, f"move {number}: it is {expected}'s move, not {colour}'s")
        if value.lower() in ("", "pass"):
            raise self._refused(at, f"move {number}: {colour}[{value}] is a pass; there are none")
        if not value.isalnum():
            raise self._refused(at, f"move {number}: {shortened(value)} is not a cell")
        self._moves.append(value)

    def _refused(self, at: int, message: str) -> ConfigError:
        """Return the error for the text at a position, with line and column."""
        line = self._text.count("\n", 0, at) + 1
        column = at - self._text.rfind("\n", 0, at)
        return ConfigError(f"{self._path}:{line}:{column}: {message}")


def _unescaped(found: re.Match[str]) -> str:
    return "" if found[1] == "\n" else found[1]
