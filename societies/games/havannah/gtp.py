"""How does another program play Havannah against Societies? By the Go Text Protocol, version 2.

A command is a line; a number in front of it is repeated in the answer. An answer begins with ``=``
or, after an error, with ``?``, and ends with an empty line. The command ``swap`` is an addition
for Havannah, as in the program Castro; ``genmove`` may answer ``swap`` as well.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from rich.console import Console

from reference_py.games.havannah.parameters import BLACK, WHITE
from societies.errors import ConfigError
from societies.games.havannah.match_config import HavannahMatchConfig
from societies.games.havannah.players import Opponent
from societies.games.havannah.position import NAMES, SWAP
from societies.opencl import Device
from societies.version import package_version

COLOURS = {"w": WHITE, "white": WHITE, "b": BLACK, "black": BLACK}
LONGEST = 1000
"""Longest line, in characters, that is read."""


class GtpError(Exception):
    """Raised for a command that cannot be carried out; the text says why."""


class GtpEngine:
    """A GTP engine that answers commands; ``is_open`` is False after the command ``quit``."""

    def __init__(self, config: HavannahMatchConfig, device: str | Device) -> None:
        self._opponent = Opponent(config, device)
        self.is_open = True
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "protocol_version": lambda words: "2",
            "name": lambda words: "Societies Havannah",
            "version": lambda words: package_version(),
            "known_command": lambda words: str(bool(words) and words[0] in self._commands).lower(),
            "list_commands": lambda words: "\n".join(sorted(self._commands)),
        }
        names = [name for name in dir(self) if name.startswith("_do_")]
        self._commands |= {name.removeprefix("_do_"): getattr(self, name) for name in names}

    def answer(self, line: str) -> str:
        """Return the complete answer to a line; "" for an empty line or a comment."""
        text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", line[:LONGEST].split("#")[0]).split()
        if not text:
            return ""
        number = text.pop(0) if text[0].isascii() and text[0].isdecimal() else ""
        try:
            if not text or text[0] not in self._commands:
                raise GtpError("unknown command")
            found, sign = self._commands[text[0]](text[1:]), "="
        except (GtpError, ConfigError) as error:
            found, sign = str(error), "?"
        return f"{sign}{number}{' ' if found else ''}{found}\n\n"

    def _do_quit(self, words: list[str]) -> str:
        self.is_open = False
        return ""

    def _do_boardsize(self, words: list[str]) -> str:
        if not words or words[0] not in map(str, range(3, 11)):
            raise GtpError("unacceptable size")
        self._opponent.resize(int(words[0]))
        return ""

    def _do_clear_board(self, words: list[str]) -> str:
        self._opponent.resize(self._opponent.game.size)
        return ""

    def _do_showboard(self, words: list[str]) -> str:
        game = self._opponent.game
        who = game.result or f"{NAMES[game.side]} to move"
        return f"\n{game.drawn()}\n{who}"

    def _do_undo(self, words: list[str]) -> str:
        if not self._opponent.game.undo():
            raise GtpError("cannot undo")
        return ""

    def _do_play(self, words: list[str]) -> str:
        if len(words) != 2 or words[0].lower() not in COLOURS:
            raise GtpError("syntax error: play COLOUR CELL")
        self._take_turn(words[0])
        self._opponent.game.play(words[1])
        return ""

    def _do_swap(self, words: list[str]) -> str:
        self._opponent.game.play(SWAP)
        return ""

    def _do_genmove(self, words: list[str]) -> str:
        if len(words) != 1 or words[0].lower() not in COLOURS:
            raise GtpError("syntax error: genmove COLOUR")
        self._take_turn(words[0])
        game = self._opponent.game
        if game.is_over:
            raise GtpError(f"the game is over, {game.result}")
        move = self._opponent.choice().move
        game.play(move)
        return move

    def _do_time_settings(self, words: list[str]) -> str:
        """Set main time, period and its moves; without a period the main time is for 30 moves."""
        numbers = [_number(word) for word in words]
        if len(numbers) != 3 or any(one is None or one < 0 for one in numbers):
            raise GtpError("syntax error: time_settings MAIN PERIOD MOVES")
        main, period, moves = (float(one or 0) for one in numbers)
        seconds = period / moves if moves else main / 30
        opponent = self._opponent
        opponent.strength = replace(opponent.strength, seconds=min(seconds, 3600.0))
        return ""

    def _take_turn(self, word: str) -> None:
        side, game = COLOURS[word.lower()], self._opponent.game
        if side != game.side and not game.is_over:
            raise GtpError(f"{NAMES[game.side]} is to move")


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if abs(value) < 1e9 else None


def serve(
    config: HavannahMatchConfig,
    device: str | Device,
    console: Console | None = None,
    lines: Iterable[str] | None = None,
    out: Any = None,
) -> str:
    """Answer commands until ``quit`` or the end of the input; return "" to be printed."""
    server, out = GtpEngine(config, device), out or sys.stdout
    given = sys.stdin.buffer if lines is None else lines
    for line in given:
        text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
        out.write(server.answer(text))
        out.flush()
        if not server.is_open:
            break
    return ""
