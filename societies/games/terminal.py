"""How is a game against a search played in a terminal: asking, hints, taking back, the end?

This module knows no game: the terminal of a game is a `Table`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console

from societies.errors import ConfigError, option
from societies.texts import read_text, shown, whole_number
from societies.words import counted

LONGEST_GAME = 2**20
"""Bytes of a file with moves."""

LEAST_SECONDS, MOST_SECONDS = 0.001, 3600


def read_seconds(text: str) -> float:
    """Return the time for a move; 0: none was given."""
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
"""Bytes of a file that is taken for a saved game."""


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
    """Return the text of the file that stands in place of moves; None if these are moves.

    The name of a file has a dot or a slash, which moves have not.

    Raises
    ------
    ConfigError
        If there is no such file, or it is no text.
    """
    if not {".", "/", "\\"} & set(moves):
        return None
    return read_text(Path(moves), option("moves", moves), LONGEST)


class Table:
    """A game, who answers in it, and where it is shown.

    Parameters
    ----------
    game : with ``side``, ``read``, ``push`` and ``undo``
    own : side of the player
    level : how far the search looks ahead
    seconds : its time for a move, 0: none; with one, the level is the most
    console : Console
    searcher : who is asked by `find`

    Attributes
    ----------
    names : of the sides
    moves, ply : what the game's moves, and a level of its tree, are called
    question, help : what is asked for, and what may be answered
    most : deepest level
    """

    names: ClassVar[Mapping[int, str] | Sequence[str]]
    moves: ClassVar[str]
    ply: ClassVar[str]
    question: ClassVar[str]
    help: ClassVar[str]
    most: ClassVar[int]

    def __init__(
        self, game: Any, own: int, level: int, seconds: float, console: Console, searcher: Any
    ) -> None:
        self.game, self.own, self.seconds, self.console = game, own, seconds, console
        self.searcher = searcher
        self.level = self.most if seconds else max(1, level)

    def find(self) -> Any:
        """Return what the search finds for the position now."""
        raise NotImplementedError

    def move_of(self, found: Any) -> Any:
        """Return the move of what was found."""
        raise NotImplementedError

    def hint(self, found: Any) -> str:
        """Return what was found, in words."""
        raise NotImplementedError

    def written(self, move: Any) -> str:
        """Return a move as it is shown before it is made."""
        raise NotImplementedError

    def drawn(self) -> str:
        """Return the board."""
        raise NotImplementedError

    def result(self) -> str:
        """Return how the game ended; empty while it goes on."""
        raise NotImplementedError

    def made(self) -> int:
        """Return how many moves were made."""
        raise NotImplementedError

    def obeyed(self, word: str) -> bool:
        """Do what a further word asks for; return whether it is one."""
        return False

    def say(self, text: str) -> None:
        """Show a text as it is."""
        self.console.print(text, highlight=False, markup=False)

    def make(self, move: Any) -> None:
        """Make a move, and show the board."""
        self.say(f"{self.names[self.game.side]}: {self.written(move)}")
        self.game.push(move)
        self.say(self.drawn())

    def played(self, given: str) -> str:
        """Let moves be made, the given ones (with commas) or those typed, and the search's."""
        replayed = [word.strip() for word in given.split(",")] if given else None
        self.say(self.drawn())
        while not self.result():
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
        return self.result()

    def replayed(self, given: str, words: Sequence[str]) -> str:
        """Make the moves of both sides that a file has, and no others."""
        self.say(self.drawn())
        for word in words:
            if self.result():
                raise ConfigError(f"{option('moves', given)}: the game is over before {word}")
            try:
                self.make(self.game.read(word))
            except ConfigError as error:
                raise ConfigError(f"{option('moves', given)}: {error}") from None
        return self.result() or (
            f"the {self.moves} are used up; {self.names[self.game.side]} is to move"
        )

    def _asked(self) -> bool:
        """Ask until there is a move or one was taken back; return whether the game goes on."""
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
                    self.say(self.hint(self.find()))
                elif word in ("u", "undo"):
                    if self._undone():
                        return True
                    self.say("there is nothing to take back")
                elif word in ("l", "level"):
                    self._look(number.strip())
                elif word in ("", "?"):
                    self.say(self.help)
                elif not self.obeyed(word):
                    self.make(self.game.read(typed))
                    return True
            except ConfigError as error:
                self.say(f"{error}; {self.help}")

    def _look(self, number: str) -> None:
        """Let the search look so far ahead."""
        level = whole_number(number)
        if level is None or not 1 <= level <= self.most:
            raise ConfigError(f"level {shown(number)}: 1 to {counted(self.most, self.ply)}")
        self.level = level
        self.say(counted(self.level, self.ply))

    def _undone(self) -> bool:
        """Take back the player's last move and what came after it; show the board."""
        if self.made() < (2 if self.game.side == self.own else 1):
            return False
        while self.game.undo():
            if self.game.side == self.own:
                break
        self.say(self.drawn())
        return True
