"""What is the state of a game of Connect6, when does it end, and how is it shown as text?"""

from __future__ import annotations

from reference_py.games.connect6.evaluate import sides
from reference_py.games.connect6.geometry import NONE, POINTS, SIDE
from reference_py.games.connect6.make import make
from reference_py.games.connect6.moves import all_windows, turn_of
from reference_py.games.connect6.text import point_of, text_of, turn_text
from societies.errors import ConfigError
from societies.games.board import BoardGame
from societies.games.connect6.config import Connect6PositionConfig

BLACK, WHITE = 0, 1
NAMES = ("Black", "White")
MARKS = ("X", "O")


class Connect6Game(BoardGame):
    """A game of Connect6, whose moves are the words of turns.

    ``position`` has the words of the position as the side to move sees it; ``side`` is BLACK (0) or
    WHITE (1).
    """

    state = ("position",)

    def __init__(self, start: Connect6PositionConfig) -> None:
        super().__init__(BLACK if start.turn() == "black" else WHITE)
        self.position: tuple[int, ...] = start.root()

    @property
    def stones(self) -> tuple[int, int]:
        """Points of Black and of White, as bits."""
        own, other = sides(self.position)
        return (own, other) if self.side == BLACK else (other, own)

    @property
    def winner(self) -> int | None:
        """The side with six in a row, or None; if both have, the side that is not to move."""
        for side in (1 - self.side, self.side):
            stones = self.stones[side]
            if any(stones & window == window for window in all_windows()):
                return side
        return None

    @property
    def result(self) -> str:
        """How the game ended; empty while it continues."""
        if self.winner is not None:
            return f"{NAMES[self.winner]} wins"
        black, white = self.stones
        return "a draw: the board is full" if (black | white).bit_count() == POINTS else ""

    def read(self, word: str) -> int:
        """Return the turn that a text such as ``J9I10`` or ``J9 I10`` means."""
        letters = word.replace(" ", "")
        places = [i for i, letter in enumerate(letters) if letter.isalpha()] or [0]
        words = [letters[a:b] for a, b in zip(places, [*places[1:], None], strict=True)]
        try:
            points = [point_of(word) for word in words]
        except ValueError as error:
            raise ConfigError(str(error)) from None
        black, white = self.stones
        wanted = 1 if not black | white else 2
        if len(points) != wanted or len(set(points)) != wanted:
            raise ConfigError(f"{word}: {wanted} different point{'s' * (wanted > 1)} a turn here")
        for point in points:
            if (black | white) >> point & 1:
                raise ConfigError(f"{word}: {text_of(point)} is taken")
        return int(turn_of(*points, *([NONE] if wanted == 1 else [])))

    def make(self, move: int) -> None:
        """Make a turn."""
        self.position = tuple(make(None, self.position, move))
        self.side = 1 - self.side

    def text(self, move: int) -> str:
        """Return the points of a turn: J9I10."""
        return str(turn_text(move))

    def drawn(self) -> str:
        """Return the board as text with row 19 at the top: X is Black, O is White."""
        letters = "    " + " ".join(chr(ord("A") + column) for column in range(SIDE))
        rows = [letters]
        for row in reversed(range(SIDE)):
            marks = " ".join(self._mark(row * SIDE + column) for column in range(SIDE))
            rows.append(f"{row + 1:3d} {marks}")
        return "\n".join(rows)

    def _mark(self, point: int) -> str:
        for side, stones in enumerate(self.stones):
            if stones >> point & 1:
                return MARKS[side]
        return "."

    def record(self) -> str:
        """Return all turns in one line, separated by blanks."""
        return " ".join(turn_text(turn) for turn in self.moves)
