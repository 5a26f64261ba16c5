"""Which keys does the YAML file of a perft count have?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from reference_py.games.chess.parameters import PerftParameters
from reference_py.games.chess.rules import MOST_MOVES
from societies.config.model import (
    Auto,
    Conflict,
    Interval,
    ListOf,
    Section,
    WorkloadConfig,
    key,
    shape,
)
from societies.games.chess.config import FEN, boards_of, position_conflicts
from societies.workload.declare.config import checkpoints
from societies.workload.declare.naming import parameters_of

MOST_NODES = 1e17
BRANCHING = 35.0
"""Approximate number of moves of a position in the middle of a game."""

DEFAULT_POSITIONS, MOST_POSITIONS = 2**18, 2**20
"""Positions of a level in memory at a time: without a device or on a CPU, and on a GPU."""

LevelPositions = Annotated[int, Field(ge=MOST_MOVES, le=2**24)]


class PerftRecord(Section):
    """What is recorded in the file, and how often."""

    checkpoint: Interval = checkpoints("depth", "the counts", 1)


class ChessPerftConfig(WorkloadConfig):
    """Positions of chess below which all sequences of legal moves are counted."""

    workload: Literal["chess_perft"] = key("chess_perft", "What the file configures")
    fen: str = FEN
    positions: ListOf[str] = key(
        (), "Instead of one position, those of games that are counted in parallel"
    )
    depth: int = shape(
        5, "Plies of the last count; each run counts 1, 2, ... plies", "plies", ge=1, le=16
    )
    detail: bool = shape(
        False,
        "Whether captures, captures en passant, castles, promotions, checks and mates among the "
        "last moves are counted as well; every last move is then made",
    )
    divide: bool = key(False, "Whether the count below each first move is reported")
    level_positions: Auto[LevelPositions] = shape(
        "auto",
        "Most positions of a level of a game in memory at a time; a level that has more is counted "
        "in batches; auto: 1,048,576 on a GPU and 262,144 elsewhere, fewer if memory is short",
        "positions",
    )
    record: PerftRecord = key(PerftRecord, "What is recorded in the file, and how often")

    @property
    def fens(self) -> tuple[str, ...]:
        """The positions in Forsyth-Edwards notation."""
        return self.positions or (self.fen,)

    def parameters(self) -> PerftParameters:
        """Return the parameters that the reference takes."""
        level_positions = (
            DEFAULT_POSITIONS if self.level_positions == "auto" else self.level_positions
        )
        return parameters_of(
            PerftParameters, self, boards=boards_of(self.fens), level_positions=level_positions
        )

    def conflicts(self) -> Iterator[Conflict]:
        """Yield lines that describe no position, and a depth whose count would never end."""
        yield from position_conflicts(self)
        nodes = BRANCHING**self.depth
        if nodes > MOST_NODES:
            yield Conflict(
                ("depth",),
                f"{self.depth} plies are about {nodes:.0e} sequences of moves; at most "
                f"{MOST_NODES:.0e} are counted",
            )
