"""What does the workload that searches tic-tac-toe declare? It is docs/write-a-search.md's example.

The rules are in ``reference_py/games/tictactoe``, the kernels in ``kernels/games/tictactoe``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from reference_py.games.ngtsg.parameters import SearchParameters
from reference_py.games.tictactoe.search import GAME, SQUARES, has_line
from societies.config.model import Conflict, key, shape
from societies.games.ngtsg.config import SearchConfig
from societies.games.ngtsg.search import SearchWorkload

CROSS, NOUGHT, FREE = "XO."


class TicTacToeConfig(SearchConfig):
    """A position of tic-tac-toe whose tree is searched."""

    workload: Literal["tictactoe"] = key("tictactoe", "What the file configures")
    depth: int = shape(9, "Plies from the root to the leaves", "plies", ge=0, le=SQUARES)
    position: str = key(
        "... ... ...", "The squares, row by row: X, O or a dot; X begins", pattern="^[XO. ]*$"
    )

    words: ClassVar[int] = 2

    @property
    def squares(self) -> str:
        """The squares without the blanks between rows."""
        return self.position.replace(" ", "")

    @property
    def most_moves(self) -> int:
        """Largest number of moves of a position."""
        return SQUARES

    def nodes_estimate(self) -> float:
        """Return how many nodes the tree has if no game ends before the last square is taken."""
        free, nodes, level = self.squares.count(FREE), 1.0, 1.0
        for ply in range(min(self.depth, free)):
            level *= free - ply
            nodes += level
        return nodes

    def roots(self) -> tuple[tuple[int, ...], ...]:
        """Return the squares of the side to move and those of the other side."""
        sides = [
            sum(1 << i for i, square in enumerate(self.squares) if square == side)
            for side in (CROSS, NOUGHT)
        ]
        crosses, noughts = (side.bit_count() for side in sides)
        return (tuple(sides if crosses == noughts else reversed(sides)),)

    def conflicts(self) -> Iterator[Conflict]:
        """Yield the errors of the position."""
        yield from super().conflicts()
        squares = self.squares
        if len(squares) != SQUARES:
            yield Conflict(("position",), f"{len(squares)} squares; a board has {SQUARES}")
        elif squares.count(CROSS) - squares.count(NOUGHT) not in (0, 1):
            yield Conflict(
                ("position",),
                f"{squares.count(CROSS)} X and {squares.count(NOUGHT)} O; X begins, so there are "
                "as many, or one X more",
            )


class TicTacToe(SearchWorkload[TicTacToeConfig, SearchParameters]):
    """The tree of tic-tac-toe."""

    name = "tictactoe"
    summary = "the game tree of tic-tac-toe: the example of a search of one's own"
    config = TicTacToeConfig
    rules, file = GAME, "games/tictactoe/search.cl"

    def parameters(self, config: TicTacToeConfig) -> SearchParameters:
        """Return the parameters of a search that the reference takes."""
        return config.search_parameters(SearchParameters)

    def move_text(self, config: TicTacToeConfig, move: int) -> str:
        """Return row and column, counted from 1."""
        return f"row {move // 3 + 1}, column {move % 3 + 1}"

    def over_text(self, config: TicTacToeConfig) -> str:
        """Return which side has won, or that the board is full."""
        other = self.parameters(config).roots[0][1]
        if not has_line(other):
            return "the game is over: a draw"
        crosses, noughts = (config.squares.count(side) for side in (CROSS, NOUGHT))
        return f"the game is over: {CROSS if crosses > noughts else NOUGHT} wins"


WORKLOAD = TicTacToe()
