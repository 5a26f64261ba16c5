"""What is the position of Havannah after some moves, and is the game over?"""

from __future__ import annotations

from reference_py.games.havannah.board import board_of, cell_of, name_of
from reference_py.games.havannah.forest import Forest
from reference_py.games.havannah.parameters import BLACK, BRIDGE, EMPTY, FORK, RING, WHITE, other
from societies.errors import ConfigError, shortened
from societies.games.board import BoardGame

SWAP = "swap"
NAMES = {WHITE: "White", BLACK: "Black"}
REASONS = {RING: "ring", BRIDGE: "bridge", FORK: "fork"}
"""Names of the reasons for a win, in the order in which they are displayed."""


def said(reasons: int) -> str:
    """Return the reasons of a win in words: "ring and fork"."""
    return " and ".join(name for bit, name in REASONS.items() if reasons & bit)


class HavannahGame(BoardGame):
    """A game of Havannah, whose moves are texts: a cell such as J10, or swap.

    ``reasons`` are those for which the last move has won; 0 if it has not won.
    """

    state = ("_forest", "reasons")

    def __init__(self, size: int, swap: bool = False) -> None:
        super().__init__(WHITE)
        self.size, self.swap, self.board = size, swap, board_of(size)
        self._forest, self.reasons = Forest(self.board), 0

    @property
    def stones(self) -> tuple[int, ...]:
        """What each cell holds."""
        return tuple(self._forest.stones)

    @property
    def empty(self) -> list[int]:
        """Cells without a stone."""
        return [cell for cell, what in enumerate(self._forest.stones) if what == EMPTY]

    @property
    def can_swap(self) -> bool:
        """Whether the next move may be a swap."""
        return self.swap and len(self.moves) == 1

    @property
    def is_over(self) -> bool:
        """Whether one side has won or the board is full."""
        return bool(self.reasons) or EMPTY not in self._forest.stones

    @property
    def result(self) -> str:
        """How the game ended, in words; empty if it continues."""
        if self.reasons:
            return f"{NAMES[other(self.side)]} has won by a {said(self.reasons)}"
        return "a draw: the board is full" if self.is_over else ""

    def read(self, word: str) -> str:
        """Return the move that a word means, as it is written: a cell such as J10, or swap."""
        if self.is_over:
            raise ConfigError(f"{shortened(word)}: the game is over, {self.result}")
        if word.lower() == SWAP:
            if not self.swap:
                raise ConfigError("swap: this game is played without it")
            if not self.can_swap:
                raise ConfigError("swap: only Black's first move may be a swap")
            return SWAP
        cell = cell_of(self.board, word)
        if cell is None:
            last = name_of(self.board, self.board.cells - 1)
            raise ConfigError(
                f"{shortened(word)}: no cell of a board of size {self.size} (A1 to {last})"
            )
        if self._forest.stones[cell] != EMPTY:
            raise ConfigError(f"{word}: {NAMES[self._forest.stones[cell]]} has a stone on it")
        return str(name_of(self.board, cell))

    def make(self, move: str) -> None:
        """Place the stone of a move that was read; with a swap Black takes White's stone."""
        swaps = move == SWAP
        cell = self._forest.stones.index(WHITE) if swaps else cell_of(self.board, move)
        self._forest = Forest(self.board) if swaps else self._forest.copy()
        self.reasons = self._forest.place(cell, self.side)
        self.side = other(self.side)

    def play(self, word: str) -> None:
        """Make the move that a word means (`read`)."""
        self.push(self.read(word))

    def drawn(self) -> str:
        """Return the board as text, the last stone between brackets."""
        signs = {EMPTY: ".", WHITE: "O", BLACK: "X"}
        last = None
        if self.moves:
            name = self.moves[0] if self.moves[-1] == SWAP else self.moves[-1]
            last = cell_of(self.board, name)
        rows: dict[int, list[int]] = {}
        for cell, (_, y) in enumerate(self.board.places):
            rows.setdefault(y, []).append(cell)
        lines = []
        for y, cells in rows.items():
            row = ""
            for cell in cells:
                sign = signs[self._forest.stones[cell]]
                before = "(" if cell == last else ")" if cell - 1 == last and row else " "
                row += before + sign
            row += ")" if cells[-1] == last else ""
            lines.append(f"{chr(ord('A') + y)} {' ' * (2 * self.size - 1 - len(cells))}{row}")
        return "\n".join(lines)


def game_of(size: int, swap: bool, moves: str) -> HavannahGame:
    """Return the game after some moves, separated by spaces or commas.

    Raises
    ------
    ConfigError
        If a move is not possible; the message gives its number.
    """
    return HavannahGame(size, swap).replay(moves.replace(",", " ").split())
