"""How does a person play Kalah against the search, in a terminal or from Python?

`Match` is a game without a terminal: moves, hints of the search, undo. `play` asks for moves and
draws the board.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console

from reference_py.games.kalah import rules
from reference_py.games.kalah.parameters import BOTTOM, TOP, Parameters, Position
from societies.errors import ConfigError
from societies.games.board import BoardGame
from societies.games.kalah.config import KalahConfig
from societies.games.terminal import TerminalGame, read_side
from societies.inputs import shown, whole_number
from societies.opencl import Device
from societies.words import counted
from societies.workload import Setup
from societies.workload.running.engines import engine_on

NAMES = {TOP: "TOP", BOTTOM: "BOTTOM"}


@dataclass(frozen=True)
class Hint:
    """Result of the search: the best pit, counted from 1, and its value for TOP."""

    pit: int
    score: int
    depth: int


class Match(BoardGame):
    """A game of Kalah with hints of the search, whose moves are pits counted from 1.

    Attributes
    ----------
    board : stones of each cell
    side : the side to move, TOP (0) or BOTTOM (1)
    level : plies that the search looks ahead, first the depth of the configuration
    most : largest level that can be set
    """

    state = ("board",)

    def __init__(self, setup: Setup[KalahConfig, Parameters]) -> None:
        config = setup.config
        self._p: Parameters = replace(config.parameters(), positions=config.games()[:1])
        first = self._p.games[0]
        super().__init__(first.to_move)
        self.board, self.level = list(first.board), config.depth
        self._engine = engine_on(setup.device, setup.workload, self._p)
        self.most = config.depth

    @property
    def is_over(self) -> bool:
        """Whether a side has no stones in its pits."""
        return bool(rules.is_over(self._p, self.board))

    @property
    def pits(self) -> list[int]:
        """Pits that may be emptied, counted from 1 in the direction of sowing; none at the end."""
        if self.is_over:
            return []
        first = rules.pits_of(self._p, self.side).start
        return [cell - first + 1 for cell in rules.moves(self._p, self.board, self.side)]

    @property
    def totals(self) -> tuple[int, int]:
        """Stones that TOP and BOTTOM own in pits and store."""
        top, bottom = rules.totals(self._p, self.board)
        return top, bottom

    def read(self, word: str) -> int:
        """Return the pit that a word means."""
        pit = whole_number(word)
        if pit is None:
            raise ConfigError(f"pits, counted from 1 in the direction of sowing, got {shown(word)}")
        self._require(pit)
        return pit

    def _require(self, pit: int) -> None:
        if pit not in self.pits:
            moves = ", ".join(map(str, self.pits)) or "none, the game is over"
            raise ConfigError(f"pit {pit} is not a move of {NAMES[self.side]} (moves: {moves})")

    def make(self, move: int) -> str:
        """Empty a pit; return what kind of move it was: again, capture or plain.

        Raises
        ------
        ConfigError
            If the pit cannot be emptied.
        """
        self._require(move)
        cell = rules.pits_of(self._p, self.side).start + move - 1
        self.board, self.side, kind = rules.play(self._p, self.board, self.side, cell)
        return str(kind)

    move = BoardGame.push

    @property
    def result(self) -> str:
        """Who has won, with the stones of both; empty while the game continues."""
        if not self.is_over:
            return ""
        top, bottom = self.totals
        winner = "a tie" if top == bottom else f"{NAMES[TOP if top > bottom else BOTTOM]} wins"
        return f"{winner}: TOP {top}, BOTTOM {bottom}"

    def set_level(self, plies: int) -> None:
        """Let the search look ``plies`` plies ahead.

        Raises
        ------
        ConfigError
            If ``plies`` is below 1 or above the configuration's depth.
        """
        if not 1 <= plies <= self.most:
            raise ConfigError(f"level {plies}: 1 to {self.most} plies (depth of the configuration)")
        self.level = plies

    def hint(self) -> Hint:
        """Search for the best move, with the same kernels for every board."""
        engine = self._engine
        engine.set_parameters(replace(self._p, positions=(Position(tuple(self.board), self.side),)))
        engine.run_ticks(self.level, self.level)
        found = {name: int(log[0, 0]) for name, log in engine.logs().items()}
        first = rules.pits_of(self._p, self.side).start
        return Hint(found["pit"] - first + 1, found["score"], self.level)

    def drawn(self) -> str:
        """Return the board as text of at most 40 columns: TOP's pits from right to left."""
        p, pits = self._p, self._p.pits
        top, bottom = (rules.pits_of(p, side) for side in (TOP, BOTTOM))
        row = "".join(f"{self.board[cell]:4d}" for cell in reversed(top))
        other = "".join(f"{self.board[cell]:4d}" for cell in bottom)
        stores = self.board[rules.store_of(p, TOP)], self.board[rules.store_of(p, BOTTOM)]
        numbers = "".join(f"{i:4d}" for i in range(1, pits + 1))
        behind = "".join(f"{i:4d}" for i in range(pits, 0, -1))
        return (
            f"TOP {behind[1:]}\n    {row[1:]}\n{stores[0]:3d} {'':{4 * pits - 1}} {stores[1]:3d}\n"
            f"    {other[1:]}\nBOT {numbers[1:]}"
        )


def play(
    setup: Setup[KalahConfig, Any],
    *,
    device: str | Device = "auto",
    moves: str = "",
    side: str = "bottom",
    console: Console | None = None,
) -> str:
    """Play a game against the search; return how it ended.

    Parameters
    ----------
    moves : str
        Your pits in order, counted from 1 in the direction of sowing, instead of asking: 3,5,1.
    side : str
        Which side is yours: top or bottom.
    """
    own = read_side(side, {"top": TOP, "bottom": BOTTOM})
    depth = setup.config.depth
    if not depth:
        raise ConfigError("play: depth is 0, which looks for no move; at least 1 is needed")
    game = _KalahGame(Match(setup.on(device)), own, depth, 0.0, console, None)
    return game.played(moves)


class _KalahGame(TerminalGame):
    """A game of Kalah."""

    names, moves, ply, question = NAMES, "moves", "ply", "pit"
    help = "a pit, counted in the direction of sowing; (h)int, (u)ndo, (l)evel N, (q)uit"
    game: Match

    @property
    def most(self) -> int:  # type: ignore[override]
        return self.game.most

    def find(self) -> Hint:
        self.game.set_level(self.level)
        return self.game.hint()

    def move_of(self, found: Hint) -> int:
        return found.pit

    def hint(self, found: Hint) -> str:
        return f"pit {found.pit}: worth {found.score} to TOP after {counted(found.depth, 'ply')}"

    def announced(self, move: int) -> str:
        return f"{NAMES[self.game.side]} empties pit {move}"
