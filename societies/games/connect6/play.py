"""How is Connect6 played against the search in a terminal?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from reference_py.games.connect6.text import turn_text
from societies.errors import ConfigError, option
from societies.games.connect6.game import BLACK, NAMES, WHITE, Game
from societies.games.connect6.searcher import Found, Searcher

if TYPE_CHECKING:
    from societies.games.connect6.config import Connect6Config
    from societies.opencl import Device
    from societies.workload import Workload

SIDES = {"black": BLACK, "white": WHITE}
MOST_DEPTH, MOST_SECONDS = 12, 3600
HELP = "two points: J9I10 or J9 I10; (h)int, (u)ndo, (l)evel N, (q)uit"


def play(
    workload: Workload[Any, Any],
    config: Connect6Config,
    device: str | Device,
    moves: str,
    side: str,
    seconds: float,
    save: Path | None,
    console: Console,
) -> str:
    """Play until the game is over, the turns are used up or the player leaves; return the end."""
    if side not in SIDES:
        raise ConfigError(f"{option('side', side)}: black or white")
    if save is not None and save.exists():
        raise ConfigError(f"{option('save', str(save))}: the file exists")
    table = _Table(workload, config, device, SIDES[side], seconds, console)
    replayed = [word.strip() for word in moves.split(",")] if moves else None
    table.say(table.game.drawn())
    end = table.played(replayed, moves)
    if save is not None:
        save.write_text(f"{table.game.record()}\n")
        end += f"; written to {save}"
    return end


def read_seconds(text: str) -> float:
    """Return the time for a turn; 0: none."""
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
        config: Connect6Config,
        device: str | Device,
        own: int,
        seconds: float,
        console: Console,
    ) -> None:
        self.game = Game(config.games()[0])
        self.own, self.seconds, self.console = own, seconds, console
        self.level = MOST_DEPTH if seconds else max(1, config.depth)
        self._searcher = Searcher(workload, config, device)

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False)

    def find(self) -> Found:
        return self._searcher.find(self.game.position, self.level, self.seconds)

    def made(self, turn: int) -> None:
        """Make a turn, and show the board."""
        self.say(f"{NAMES[self.game.side]}: {turn_text(turn)}")
        self.game.push(turn)
        self.say(self.game.drawn())

    def played(self, replayed: list[str] | None, moves: str) -> str:
        """Let turns be made, those that were given or that are typed, and the search's."""
        while not self.game.result:
            if self.game.side != self.own:
                self.made(self.find().turn)
            elif replayed is not None:
                if not replayed:
                    return f"the turns are used up; {NAMES[self.own]} is to move"
                try:
                    self.made(self.game.read(replayed.pop(0)))
                except ConfigError as error:
                    raise ConfigError(f"{option('moves', moves)}: {error}") from None
            elif not self.asked():
                return "the game was left"
        if replayed:
            raise ConfigError(f"{option('moves', moves)}: the game is over before {replayed[0]}")
        return self.game.result

    def asked(self) -> bool:
        """Ask until there is a turn or one was taken back; return whether the game goes on."""
        while True:
            try:
                typed = self.console.input(f"{NAMES[self.own]}, two points? ").strip()
            except EOFError:
                return False
            word, _, number = typed.partition(" ")
            try:
                if word in ("q", "quit"):
                    return False
                if word in ("h", "hint"):
                    found = self.find()
                    self.say(f"{turn_text(found.turn)}: {found.text}")
                elif word in ("u", "undo"):
                    if self.undone():
                        return True
                    self.say("there is nothing to take back")
                elif word in ("l", "level"):
                    if not number.isdecimal() or not 1 <= int(number) <= MOST_DEPTH:
                        raise ConfigError(f"level {number}: 1 to {MOST_DEPTH} turns")
                    self.level = int(number)
                    self.say(f"{self.level} turns")
                elif word in ("", "?"):
                    self.say(HELP)
                else:
                    self.made(self.game.read(typed))
                    return True
            except ConfigError as error:
                self.say(f"{error}; {HELP}")

    def undone(self) -> bool:
        """Take back the player's last turn and what came after it; show the board."""
        if len(self.game.turns) < 2 - (self.game.side != self.own):
            return False
        while self.game.undo():
            if self.game.side == self.own:
                break
        self.say(self.game.drawn())
        return True
