"""How does a person play chess against the search in a terminal?"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from reference_py.games.chess.board import BLACK, WHITE
from reference_py.games.chess.fen import FenError
from societies.errors import ConfigError, option
from societies.games import terminal
from societies.games.chess.config import ChessConfig
from societies.games.chess.game import NAMES, ChessGame, pgn, read_pgn
from societies.games.chess.searcher import MOST_DEPTH, ChessSearcher, FoundMove
from societies.opencl import Device
from societies.words import counted
from societies.workload import Setup

SIDES = {"white": WHITE, "black": BLACK}


def play(
    setup: Setup[ChessConfig, Any],
    *,
    device: str | Device = "auto",
    moves: str = "",
    side: str = "white",
    seconds: str = "",
    save: Path | None = None,
    protocol: str = "",
    console: Console | None = None,
) -> str:
    """Play a game against the search, or let a program use it; return how it ended.

    Parameters
    ----------
    moves : str
        Your moves in order, instead of asking: e2e4,g1f3 or e4,Nf3; or a file of a
        saved game, game.pgn, to make the moves of both sides in it.
    side : str
        Which side is yours: white or black.
    seconds : str
        Time of the search for a move; without it looks as far ahead as the key depth says.
    save : Path or None
        File to write the game to, in portable game notation.
    protocol : str
        uci: speak the Universal Chess Interface instead, by which chess programs use engines.
    """
    config = setup.config
    if protocol:
        from societies.games.chess.uci import Uci

        if protocol != "uci":
            raise ConfigError(f"{option('protocol', protocol)}: uci")
        Uci(setup, device).run()
        return ""
    time, own = terminal.read_seconds(seconds), terminal.read_side(side, SIDES)
    terminal.require_new(save)
    fen, saved = config.fens[0], terminal.saved_game(moves)
    words: list[str] = []
    try:
        if saved is not None:
            fen, words = read_pgn(saved)
        game = ChessGame() if fen == "start" else ChessGame(fen)
    except (ConfigError, FenError) as error:
        raise ConfigError(f"{option('moves', moves)}: {error}") from None
    searcher = ChessSearcher(setup.on(device))
    table = _ChessGame(game, own, config.depth, time, console, searcher)
    end = table.played(moves) if saved is None else table.replayed(moves, words)
    players = [""] * 2
    players[own], players[1 - own] = "player", "Societies"
    tags = [
        ("Event", "societies play"),
        ("Site", "?"),
        ("Date", f"{datetime.date.today():%Y.%m.%d}"),
        ("Round", "-"),
        ("White", players[WHITE]),
        ("Black", players[BLACK]),
    ]
    return end + terminal.save_game(save, pgn(game, tags, game.score()[0]))


class _ChessGame(terminal.TerminalGame):
    """A game of chess."""

    names, moves, ply, question, most = NAMES, "moves", "ply", "move", MOST_DEPTH
    help = "a move: e2e4, e7e8q or Nf3; (h)int, (u)ndo, (l)evel N, (m)oves, (q)uit"
    game: ChessGame
    searcher: ChessSearcher

    def find(self) -> FoundMove:
        return self.searcher.find(self.game.board, self.level, seconds=self.seconds)

    def move_of(self, found: FoundMove) -> Any:
        return found.move

    def hint(self, found: FoundMove) -> str:
        return f"{self.game.san(found.move)}: {found.score} after {counted(found.depth, 'ply')}"

    def drawn(self) -> str:
        return self.game.drawn(self.own)

    def obeyed(self, word: str) -> bool:
        if word not in ("m", "moves"):
            return False
        self.say(" ".join(self.game.san(move) for move in self.game.legal()))
        return True
