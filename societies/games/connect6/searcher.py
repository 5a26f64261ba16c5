"""Who finds a turn of Connect6, to a depth or in a time? Threats first, then a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from reference_py.games.connect6.evaluate import WINS, sides
from reference_py.games.connect6.geometry import points_of
from reference_py.games.connect6.moves import turn_of
from reference_py.games.connect6.wins import shortest_win
from societies.games.connect6.config import Connect6Config
from societies.games.ngtsg import searcher
from societies.words import counted


@dataclass(frozen=True)
class Found:
    """What was found: a turn, what it is worth to the side to move, and how far was looked."""

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


class Searcher(searcher.Searcher[Connect6Config]):
    """A search whose engines stay, and a prover before it; another position builds nothing."""

    growth = 8.0
    always: ClassVar[Mapping[str, Any]] = {"prover": 0, "positions": (), "form": "device"}
    once = ("classes",)

    def is_decided(self, value: int, plies: int) -> bool:
        """Return whether somebody has won."""
        return abs(value) >= WINS

    def find(self, position: Sequence[int], depth: int, seconds: float = 0.0) -> Found:
        """Return the best turn of a position that has one.

        Parameters
        ----------
        depth : turns, with a time at most
        seconds : of the whole search; 0: none. One turn is always searched
        """
        own, other = sides(position)
        if own and self.config.prover:
            turns, pair = shortest_win(own, other, self.config.prover)
            if turns is not None and pair.bit_count() == 2:
                return Found(turn_of(*points_of(pair)), WINS, 0, 0, turns)
        found = self.search(position, depth, seconds=seconds, alone=not seconds)
        return Found(found.move, found.value, found.depth, found.nodes)
