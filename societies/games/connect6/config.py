"""Which keys does the YAML file of a search of Connect6 have?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from reference_py.games.connect6.parameters import WORDS_OF_A_SIDE, Connect6Parameters
from reference_py.games.connect6.text import point_of, text_of, words_of
from societies.config.model import Conflict, ListOf, Section, key, shape
from societies.games.ngtsg.config import SearchConfig

SINGLES = 16
"""Number of candidate points that are paired: K1."""

BLACK: str = key("J10", "Points of Black's stones, with blanks: a letter A to S, a number 1 to 19")
WHITE: str = key("", "Points of White's stones")
TO_MOVE: Literal["auto", "black", "white"] = key(
    "auto", "Who is to move; auto: as the numbers of stones say"
)


class Connect6PositionConfig(Section):
    """Stones on a board, and the side to move."""

    black: str = BLACK
    white: str = WHITE
    to_move: Literal["auto", "black", "white"] = TO_MOVE

    def points(self) -> tuple[list[int], list[int]]:
        """Return the points of both sides."""
        return _points(self.black), _points(self.white)

    def turn(self) -> str:
        """Return the side to move."""
        if self.to_move != "auto":
            return self.to_move
        black, white = self.points()
        return "white" if len(black) > len(white) else "black"

    def root(self) -> tuple[int, ...]:
        """Return the words of the position."""
        black, white = self.points()
        own, other = (black, white) if self.turn() == "black" else (white, black)
        words: tuple[int, ...] = words_of(own, other)
        return words

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield the key and a message for each error of the position."""
        found: dict[str, list[int]] = {}
        for side in ("black", "white"):
            try:
                found[side] = _points(getattr(self, side))
            except ValueError as error:
                yield side, str(error)
                return
        seen: set[int] = set()
        for side, points in found.items():
            for point in points:
                if point in seen:
                    yield side, f"{text_of(point)} is taken already"
                    return
                seen.add(point)
        black, white = (len(points) for points in found.values())
        if not self._arranged(black, white):
            yield (
                "black",
                f"{black} black and {white} white stones: after Black's first stone both sides "
                "place two a turn",
            )

    def _arranged(self, black: int, white: int) -> bool:
        """Return whether the numbers of stones are possible at the beginning of a turn."""
        turn = self.turn()
        if turn == "white":  # Black: 1, 3, 5, ...
            return black % 2 == 1 and white == black - 1
        return white % 2 == 0 and black == max(0, white - 1)


def _points(text: str) -> list[int]:
    return [point_of(word) for word in text.split()]


class Connect6Config(SearchConfig):
    """A position of Connect6 whose tree is searched."""

    workload: Literal["connect6"] = key("connect6", "What the file configures")
    depth: int = shape(3, "Turns from the root to the leaves", "turns", ge=0, le=32)
    width: int = shape(48, "Most turns of a position that are tried", "turns", ge=1, le=120)
    singles: int = shape(
        SINGLES, "Candidate points, the best ones, that are paired: K1", "points", ge=2, le=64
    )
    full_width: bool = shape(
        False,
        "Whether every position has exactly as many turns, so that no six in a row ends a line: "
        "for counting whole trees",
    )
    prover: int = shape(
        0,
        "Own turns in which a win by threats alone is looked for before the search, on the host; "
        "0: none is looked for",
        "turns",
        ge=0,
        le=6,
    )
    black: str = BLACK
    white: str = WHITE
    to_move: Literal["auto", "black", "white"] = TO_MOVE
    positions: ListOf[Connect6PositionConfig] = key(
        (), "Instead of one position, those of games that are searched in parallel"
    )

    words: ClassVar[int] = 2 * WORDS_OF_A_SIDE

    @property
    def most_moves(self) -> int:
        """Largest number of turns of a position."""
        return min(self.width, self.singles * (self.singles - 1) // 2)

    def games(self) -> tuple[Connect6PositionConfig, ...]:
        """Return the positions to search from."""
        one = Connect6PositionConfig(black=self.black, white=self.white, to_move=self.to_move)
        return tuple(self.positions) or (one,)

    def roots(self) -> tuple[tuple[int, ...], ...]:
        """Return the words of the positions to search from."""
        return tuple(one.root() for one in self.games())

    def parameters(self) -> Connect6Parameters:
        """Return the parameters that the reference takes."""
        return self.search_parameters(Connect6Parameters)

    def conflicts(self) -> Iterator[Conflict]:
        """Yield errors of the positions, and conflicts of the search's keys."""
        yield from super().conflicts()
        for i, one in enumerate(self.games()):
            for name, message in one.problems():
                path = ("positions", i, name) if self.positions else (name,)
                yield Conflict(path, message)
