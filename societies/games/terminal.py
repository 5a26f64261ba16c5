"""How does a person play against a search in a terminal: moves, hints, undo, the end?

This module is independent of any game: a game's terminal is a subclass of `TerminalGame`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console

from societies.errors import ConfigError, option, shortened
from societies.inputs import read_foreign, whole_number
from societies.output.files import written
from societies.words import counted

LEAST_SECONDS, MOST_SECONDS = 0.001, 3600


def read_seconds(text: str) -> float:
    """Return the time for a move in seconds; 0 if none is given."""
    if not text:
        return 0.0
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        limits = f"{LEAST_SECONDS} to {MOST_SECONDS} seconds a move"
        raise ConfigError(f"{option('seconds', text)}: {limits}")
    return seconds


LONGEST = 2**20
"""Largest size of a saved game, in bytes."""


def read_side(side: str, sides: Mapping[str, int]) -> int:
    """Return the side that a word means."""
    if side not in sides:
        raise ConfigError(f"{option('side', side)}: {' or '.join(sides)}")
    return sides[side]


def require_new(save: Path | None) -> None:
    """Raise ConfigError if the file for the game exists, or its folder does not."""
    if save is None:
        return
    if save.exists():
        raise ConfigError(f"{option('save', str(save))}: the file exists")
    if not save.parent.is_dir():
        raise ConfigError(f"{option('save', str(save))}: there is no folder {save.parent}")


def saved_game(moves: str) -> str | None:
    """Return the text of the file named in place of moves; None if ``moves`` are moves.

    The name of a file contains a dot or a slash; moves do not.

    Raises
    ------
    ConfigError
        If the file does not exist or is not text.
    """
    if not {".", "/", "\\"} & set(moves):
        return None
    return read_foreign(Path(moves), option("moves", moves), LONGEST)


def save_game(save: Path | None, text: str) -> str:
    """Write a game to a file, if one is given; return what to add to the result."""
    if save is None:
        return ""
    with written(save) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return f"; written to {save}"


class TerminalGame:
    """A game in a terminal between a person and a search.

    Parameters
    ----------
    game : BoardGame
    own : side of the person
    level : depth of the search
    seconds : time of the search for a move, 0: no limit; with a time the level is the greatest
    console : Console; None: of the standard output
    searcher : object that `find` uses to search

    Attributes
    ----------
    names : names of the sides
    moves, ply : the game's words for moves and for a level of its tree
    question, help : prompt for a move, and text about the possible answers
    most : greatest level; 0: the search has no levels
    """

    names: ClassVar[Mapping[int, str] | Sequence[str]]
    moves: ClassVar[str]
    ply: ClassVar[str]
    question: ClassVar[str]
    help: ClassVar[str]
    most: int

    def __init__(
        self,
        game: Any,
        own: int,
        level: int,
        seconds: float,
        console: Console | None,
        searcher: Any,
    ) -> None:
        self.game, self.own, self.seconds, self.searcher = game, own, seconds, searcher
        self.console = console or Console()
        self.level = self.most if seconds else max(1, level)

    def find(self) -> Any:
        """Return the result of the search for the current position."""
        raise NotImplementedError

    def find_hint(self) -> Any:
        """Return the result of the search for a hint."""
        return self.find()

    def move_of(self, found: Any) -> Any:
        """Return the move of a search's result."""
        raise NotImplementedError

    def hint(self, found: Any) -> str:
        """Return a search's result in words."""
        raise NotImplementedError

    def announced(self, move: Any) -> str:
        """Return the line that says which move is made."""
        return f"{self.names[self.game.side]}: {self.game.text(move)}"

    def drawn(self) -> str:
        """Return the board as text."""
        return str(self.game.drawn())

    def obeyed(self, word: str) -> bool:
        """Carry out a command that only this game has; return False for any other word."""
        return False

    def say(self, text: str) -> None:
        """Print a text without markup."""
        self.console.print(text, highlight=False, markup=False)

    def make(self, move: Any) -> None:
        """Make a move, and show the board."""
        line = self.announced(move)
        self.game.push(move)
        self.say(line)
        self.say(self.drawn())

    def played(self, given: str) -> str:
        """Play the given moves (with commas), or typed ones, against those of the search."""
        replayed = self.split(given) if given else None
        self.say(self.drawn())
        while not self.game.result:
            if self.game.side != self.own:
                self.make(self.move_of(self.find()))
            elif replayed is not None:
                if not replayed:
                    return f"the {self.moves} are used up; {self.names[self.own]} is to move"
                try:
                    self.make(self.game.read(replayed.pop(0)))
                except ConfigError as error:
                    raise ConfigError(f"{option('moves', given)}: {error}") from None
            elif not self._asked():
                return "the game was left"
        if replayed:
            raise ConfigError(f"{option('moves', given)}: the game is over before {replayed[0]}")
        return str(self.game.result)

    def split(self, given: str) -> list[str]:
        """Return the moves of a text."""
        return [word.strip() for word in given.split(",")]

    def replayed(self, given: str, words: Sequence[str]) -> str:
        """Make the moves of both sides from a file, and no others."""
        self.say(self.drawn())
        for word in words:
            if self.game.result:
                raise ConfigError(f"{option('moves', given)}: the game is over before {word}")
            try:
                self.make(self.game.read(word))
            except ConfigError as error:
                raise ConfigError(f"{option('moves', given)}: {error}") from None
        return self.game.result or (
            f"the {self.moves} are used up; {self.names[self.game.side]} is to move"
        )

    def _asked(self) -> bool:
        """Ask until a move is made or taken back; return whether the game continues."""
        while True:
            try:
                typed = self.console.input(f"{self.names[self.own]}, {self.question}? ").strip()
            except EOFError:
                return False
            word, _, number = typed.partition(" ")
            try:
                if word in ("q", "quit"):
                    return False
                if word in ("h", "hint"):
                    self.say(self.hint(self.find_hint()))
                elif word in ("u", "undo"):
                    if self._undone():
                        return True
                    self.say("there is nothing to take back")
                elif word in ("l", "level") and self.most:
                    self._look(number.strip())
                elif word in ("", "?"):
                    self.say(self.help)
                elif not self.obeyed(word):
                    self.make(self.game.read(typed))
                    return True
            except ConfigError as error:
                self.say(str(error))
                self.say(self.help)

    def _look(self, number: str) -> None:
        """Set the level of the search to ``number``."""
        level = whole_number(number)
        if level is None or not 1 <= level <= self.most:
            raise ConfigError(f"level {shortened(number)}: 1 to {counted(self.most, self.ply)}")
        self.level = level
        self.say(counted(self.level, self.ply))

    def _undone(self) -> bool:
        """Take back the person's last move and all after it; return False if there is none."""
        if not self.game.has_moved(self.own):
            return False
        while self.game.undo():
            if self.game.side == self.own:
                break
        self.say(self.drawn())
        return True
