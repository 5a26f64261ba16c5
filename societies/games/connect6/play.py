"""How does a person play Connect6 against the search in a terminal?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from reference_py.games.connect6.text import turn_text
from societies.games import terminal
from societies.games.connect6.config import Connect6Config
from societies.games.connect6.game import BLACK, NAMES, WHITE, Connect6Game
from societies.games.connect6.searcher import Connect6Searcher, FoundTurn
from societies.opencl import Device
from societies.workload import Setup

SIDES = {"black": BLACK, "white": WHITE}
MOST_DEPTH = 12


def play(
    setup: Setup[Connect6Config, Any],
    *,
    device: str | Device = "auto",
    moves: str = "",
    side: str = "white",
    seconds: str = "",
    save: Path | None = None,
    console: Console | None = None,
) -> str:
    """Play a game against the search; return how it ended.

    Parameters
    ----------
    moves : str
        Your turns in order, instead of asking: J9I10,K9L9; or a file of a
        saved game, game.txt, to make the turns of both sides in it.
    side : str
        Which side is yours: black or white.
    seconds : str
        Time of the search for a turn, instead of the configuration's depth.
    save : Path or None
        File to write the turns of the game to.
    """
    time, own = terminal.read_seconds(seconds), terminal.read_side(side, SIDES)
    terminal.require_new(save)
    searcher = Connect6Searcher(setup.on(device))
    config = setup.config
    game = Connect6Game(config.games()[0])
    table = _Connect6Game(game, own, config.depth, time, console, searcher)
    saved = terminal.saved_game(moves)
    end = table.played(moves) if saved is None else table.replayed(moves, saved.split())
    return end + terminal.save_game(save, f"{game.record()}\n")


class _Connect6Game(terminal.TerminalGame):
    """A game of Connect6."""

    names, moves, ply, question, most = NAMES, "turns", "turn", "two points", MOST_DEPTH
    help = "two points: J9I10 or J9 I10; (h)int, (u)ndo, (l)evel N, (q)uit"
    game: Connect6Game
    searcher: Connect6Searcher

    def find(self) -> FoundTurn:
        return self.searcher.find(self.game.position, self.level, self.seconds)

    def move_of(self, found: FoundTurn) -> int:
        return found.turn

    def hint(self, found: FoundTurn) -> str:
        return f"{turn_text(found.turn)}: {found.text}"
