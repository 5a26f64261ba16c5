"""How is chess played against the search in a terminal?"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from reference_py.games.chess.board import BLACK, WHITE
from societies.errors import ConfigError, option
from societies.games.chess.game import NAMES, UNDECIDED, Game, pgn
from societies.games.chess.searcher import MOST_DEPTH, Found, Searcher

if TYPE_CHECKING:
    from societies.games.chess.config import ChessConfig
    from societies.opencl import Device
    from societies.workload import Workload

SIDES = {"white": WHITE, "black": BLACK}
MOST_SECONDS = 3600
HELP = "a move: e2e4, e7e8q or Nf3; (h)int, (u)ndo, (l)evel N, (m)oves, (q)uit"


def play(
    workload: Workload[Any, Any],
    config: ChessConfig,
    device: str | Device,
    moves: str,
    side: str,
    seconds: float,
    save: Path | None,
    console: Console,
) -> str:
    """Play until the game is over, the moves are used up or the player leaves; return the end."""
    if side not in SIDES:
        raise ConfigError(f"{option('side', side)}: white or black")
    if save is not None and save.exists():
        raise ConfigError(f"{option('save', str(save))}: the file exists")
    table = _Table(workload, config, device, SIDES[side], seconds, console)
    replayed = [word.strip() for word in moves.split(",")] if moves else None
    console.print(table.game.drawn(table.own), highlight=False, markup=False)
    end = table.played(replayed, moves)
    if save is not None:
        players = [""] * 2
        players[table.own], players[1 - table.own] = "player", "Societies"
        tags = [
            ("Event", "societies play"),
            ("Site", "?"),
            ("Date", f"{datetime.date.today():%Y.%m.%d}"),
            ("Round", "-"),
            ("White", players[WHITE]),
            ("Black", players[BLACK]),
        ]
        save.write_text(pgn(table.game, tags, table.game.result()[0]))
        end += f"; written to {save}"
    return end


def read_seconds(text: str) -> float:
    """Return the time for a move; 0: none."""
    try:
        seconds = float(text or 0)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MOST_SECONDS:
        raise ConfigError(f"{option('seconds', text)}: seconds, at most {MOST_SECONDS}")
    return seconds


class _Table:
    """A game, who answers in it, and where it is shown."""

    def __init__(
        self,
        workload: Workload[Any, Any],
        config: ChessConfig,
        device: str | Device,
        own: int,
        seconds: float,
        console: Console,
    ) -> None:
        fen = config.fens[0]
        self.game = Game() if fen == "start" else Game(fen)
        self.own, self.seconds, self.console = own, seconds, console
        self.level = MOST_DEPTH if seconds else max(1, config.depth)
        self._searcher = Searcher(workload, config, device)

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False)

    def find(self) -> Found:
        return self._searcher.find(self.game.board, self.level, seconds=self.seconds)

    def made(self, move: Any) -> None:
        """Make a move, and show the board."""
        self.say(f"{NAMES[self.game.side]}: {self.game.san(move)}")
        self.game.push(move)
        self.say(self.game.drawn(self.own))

    def played(self, replayed: list[str] | None, moves: str) -> str:
        """Let moves be made, those that were given or that are typed, and the search's."""
        while self.game.result()[0] == UNDECIDED:
            if self.game.side != self.own:
                self.made(self.find().move)
            elif replayed is not None:
                if not replayed:
                    return f"the moves are used up; {NAMES[self.own]} is to move"
                try:
                    self.made(self.game.read(replayed.pop(0)))
                except ConfigError as error:
                    raise ConfigError(f"{option('moves', moves)}: {error}") from None
            elif not self.asked():
                return "the game was left"
        if replayed:
            raise ConfigError(f"{option('moves', moves)}: the game is over before {replayed[0]}")
        result, why = self.game.result()
        return f"{result}: {why}"

    def asked(self) -> bool:
        """Ask until there is a move or one was taken back; return whether the game goes on."""
        while True:
            try:
                typed = self.console.input(f"{NAMES[self.own]}, move? ").split()
            except EOFError:
                return False
            word, number = (typed or ["?"])[0], typed[-1] if typed else ""
            try:
                if word in ("q", "quit"):
                    return False
                if word in ("h", "hint"):
                    found = self.find()
                    said = self.game.san(found.move)
                    self.say(f"{said}: {found.score} after {found.depth} plies")
                elif word in ("u", "undo"):
                    if self.undone():
                        return True
                    self.say("there is nothing to take back")
                elif word in ("m", "moves"):
                    self.say(" ".join(self.game.san(move) for move in self.game.legal()))
                elif word in ("l", "level"):
                    if not number.isdecimal() or not 1 <= int(number) <= MOST_DEPTH:
                        raise ConfigError(f"level {number}: 1 to {MOST_DEPTH} plies")
                    self.level = int(number)
                    self.say(f"{self.level} plies")
                elif word == "?":
                    self.say(HELP)
                else:
                    self.made(self.game.read(word))
                    return True
            except ConfigError as error:
                self.say(f"{error}; {HELP}")

    def undone(self) -> bool:
        """Take back the player's last move and what came after it; show the board."""
        if not any(board.side == self.own for board in self.game.boards[:-1]):
            return False
        while self.game.undo():
            if self.game.side == self.own:
                break
        self.say(self.game.drawn(self.own))
        return True
