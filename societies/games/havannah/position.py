"""What is the position of Havannah after some moves, and is the game over?"""

from __future__ import annotations

from dataclasses import dataclass

from reference_py.games.havannah.board import board_of, cell_of, name_of
from reference_py.games.havannah.forest import Forest
from reference_py.games.havannah.parameters import BLACK, BRIDGE, EMPTY, FORK, RING, WHITE, other
from societies.errors import ConfigError, shortened

SWAP = "swap"
NAMES = {WHITE: "White", BLACK: "Black"}
REASONS = {RING: "ring", BRIDGE: "bridge", FORK: "fork"}
"""Names of the reasons for a win, in the order in which they are displayed."""


def said(reasons: int) -> str:
    """Return the reasons of a win in words: "ring and fork"."""
    return " and ".join(name for bit, name in REASONS.items() if reasons & bit)


@dataclass
class HavannahGame:
    """A game of Havannah: its board and the moves so far.

    Parameters
    ----------
    size : cells of a side
    swap : whether Black may take White's first stone

    Attributes
    ----------
    stones : what each cell holds
    to_move : WHITE or BLACK
    moves : texts of the moves made
    reasons : reasons why the last move has won, 0 if it has not won
    """

    size: int
    swap: bool = False

    def __post_init__(self) -> None:
        self.board = board_of(self.size)
        self.clear()

    def clear(self) -> None:
        """Take all stones away."""
        self._forest = Forest(self.board)
        self.to_move, self.reasons = WHITE, 0
        self.moves: list[str] = []

    @property
    def side(self) -> int:
        """The side to move."""
        return self.to_move

    def read(self, word: str) -> str:
        """Return the move that was typed; `push` says whether it is possible."""
        return word

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
            return f"{NAMES[other(self.to_move)]} has won by a {said(self.reasons)}"
        return "a draw: the board is full" if self.is_over else ""

    def play(self, move: str) -> None:
        """Make a move: a cell such as J10, or swap.

        Raises
        ------
        ConfigError
            If the move is not possible; the message says why.
        """
        if self.is_over:
            raise ConfigError(f"{shortened(move)}: the game is over, {self.result}")
        if move.lower() == SWAP:
            self._swap()
            return
        cell = cell_of(self.board, move)
        if cell is None:
            last = name_of(self.board, self.board.cells - 1)
            raise ConfigError(
                f"{shortened(move)}: no cell of a board of size {self.size} (A1 to {last})"
            )
        if self._forest.stones[cell] != EMPTY:
            raise ConfigError(f"{move}: {NAMES[self._forest.stones[cell]]} has a stone on it")
        self.reasons = self._forest.place(cell, self.to_move)
        self.moves.append(name_of(self.board, cell))
        self.to_move = other(self.to_move)

    push = play

    def _swap(self) -> None:
        if not self.swap:
            raise ConfigError("swap: this game is played without it")
        if len(self.moves) != 1:
            raise ConfigError("swap: only Black's first move may be a swap")
        cell = self._forest.stones.index(WHITE)
        self._forest = Forest(self.board)
        self._forest.place(cell, BLACK)
        self.moves.append(SWAP)
        self.to_move = WHITE

    def undo(self) -> bool:
        """Take the last move back; return False if no move was made."""
        if not self.moves:
            return False
        moves = self.moves[:-1]
        self.clear()
        for move in moves:
            self.play(move)
        return True

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
    game = HavannahGame(size, swap)
    for number, move in enumerate(moves.replace(",", " ").split(), 1):
        try:
            game.play(move)
        except ConfigError as error:
            raise ConfigError(f"move {number}: {error}") from None
    return game
