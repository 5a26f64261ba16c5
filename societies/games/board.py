"""What do games of two sides share: the moves so far, taking them back, reading them from text?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

from societies.errors import ConfigError


class BoardGame:
    """A game: its current state, and all moves made.

    Attributes
    ----------
    state : names of the attributes that `make` replaces, in addition to the side to move
    side : the side to move
    moves : the moves made, in order
    """

    state: ClassVar[tuple[str, ...]]

    def __init__(self, side: int) -> None:
        self.side = side
        self.moves: list[Any] = []
        self._before: list[tuple[int, list[Any]]] = []

    def read(self, word: str) -> Any:
        """Return the move that a word means.

        Raises
        ------
        ConfigError
            If the word is no move, or the move is not possible now; the message says why.
        """
        raise NotImplementedError

    def make(self, move: Any) -> Any:
        """Replace the state by that after a move; return what kind of move it was, if any."""
        raise NotImplementedError

    def text(self, move: Any) -> str:
        """Return the text of a move that is possible now."""
        return str(move)

    @property
    def result(self) -> str:
        """How the game ended, in words; empty while it continues."""
        raise NotImplementedError

    def push(self, move: Any) -> Any:
        """Make a move; return what kind of move it was."""
        before = self.side, [getattr(self, name) for name in self.state]
        kind = self.make(move)
        self._before.append(before)
        self.moves.append(move)
        return kind

    def undo(self) -> bool:
        """Take the last move back; return False if no move was made."""
        if not self.moves:
            return False
        self.moves.pop()
        self.side, values = self._before.pop()
        for name, value in zip(self.state, values, strict=True):
            setattr(self, name, value)
        return True

    def has_moved(self, side: int) -> bool:
        """Return whether a side has made a move that can be taken back."""
        return any(mover == side for mover, _ in self._before)

    def replay(self, words: Iterable[str]) -> Self:
        """Make the moves that words mean; return the game.

        Raises
        ------
        ConfigError
            If a move is not possible; the message gives its number.
        """
        for number, word in enumerate(words, 1):
            try:
                self.push(self.read(word))
            except ConfigError as error:
                raise ConfigError(f"move {number}: {error}") from None
        return self
