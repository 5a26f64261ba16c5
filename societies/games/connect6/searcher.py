"""How is the best turn of Connect6 found? By a search for wins by threats, then in the tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from reference_py.games.connect6.evaluate import WINS, sides
from reference_py.games.connect6.geometry import points_of_bits
from reference_py.games.connect6.moves import turn_of
from reference_py.games.connect6.wins import shortest_win
from societies.games.connect6.config import Connect6Config
from societies.games.ngtsg import searcher
from societies.words import counted


@dataclass(frozen=True)
class FoundTurn:
    """Result of a search: a turn, its value for the side to move, and the depth."""

    turn: int
    value: int
    depth: int
    nodes: int
    proven: int = 0

    @property
    def text(self) -> str:
        """The value, in words."""
        if self.proven:
            return f"wins by threats in {self.proven}"
        return f"worth {self.value:,} after {counted(self.depth, 'turn')}, {self.nodes:,} nodes"


class Connect6Searcher(searcher.Searcher[Connect6Config]):
    """A prover and a search whose engines are reused for every position."""

    growth = 8.0
    always: ClassVar[Mapping[str, Any]] = {"prover": 0, "positions": (), "form": "device"}
    once = ("classes",)

    def is_decided(self, value: int, plies: int) -> bool:
        """Return whether the value means that one side has won."""
        return abs(value) >= WINS

    def find(self, position: Sequence[int], depth: int, seconds: float = 0.0) -> FoundTurn:
        """Return the best turn of a position that has one; see `Searcher.search`."""
        own, other = sides(position)
        if own and self.config.prover:
            turns, pair = shortest_win(own, other, self.config.prover)
            if turns is not None and pair.bit_count() == 2:
                return FoundTurn(turn_of(*points_of_bits(pair)), WINS, 0, 0, turns)
        found = self.search(position, depth, seconds=seconds, alone=not seconds)
        return FoundTurn(found.move, found.value, found.depth, found.nodes)
