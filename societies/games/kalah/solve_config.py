"""Which keys does the YAML file for the solution of small games of Kalah have?"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Annotated, Literal

from pydantic import Field

from reference_py.games.kalah.parameters import SolveParameters
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
from societies.workload.declare.config import checkpoints
from societies.workload.declare.naming import parameters_of

MOST_STONES = 127
"""Most stones in the pits of a board of the table; its values have 8 bits."""

MOST_ENTRIES = 2**40
"""Most boards of a table; each takes a byte."""

Pits = Annotated[int, Field(ge=1, le=8)]
Layer = Annotated[int, Field(ge=1, le=MOST_STONES)]


class SolveRecord(Section):
    """What is recorded in the file, and how often."""

    checkpoint: Interval = checkpoints("layer", "the table")


class KalahSolveConfig(WorkloadConfig):
    """Small games of Kalah that are solved exactly."""

    workload: Literal["kalah_solve"] = key("kalah_solve", "What the file configures")
    pits: ListOf[Pits] = shape((1, 2, 3), "Pits of a side, of each game", "pits")
    empty_capture: ListOf[bool] = shape(
        (False, True),
        "Variants of the rules in which all games are solved: whether a last stone in an own empty "
        "pit is banked if nothing faces it, too",
    )
    stones: int = shape(6, "Starts with 1, 2, ... stones a pit are solved", "stones", ge=1, le=12)
    layers: Auto[Layer] = shape(
        "auto",
        "Layers of the table: most stones in the pits of its boards; starts with more are "
        "searched down to it on the host; auto: as many as the starts have",
        "stones",
    )
    most_above: int = shape(
        1_000_000,
        "Most boards that are looked at above the table, for each game; a start that needs more is "
        "left unsolved",
        "boards",
        ge=0,
        le=10**9,
    )
    record: SolveRecord = key(SolveRecord, "What is recorded in the file, and how often")

    @property
    def needed(self) -> int:
        """Largest number of stones in the pits of a start."""
        return 2 * max(self.pits) * self.stones

    def parameters(self) -> SolveParameters:
        """Return the parameters that the reference takes."""
        table = min(MOST_STONES, self.needed) if self.layers == "auto" else self.layers
        captures = self.empty_capture
        return parameters_of(
            SolveParameters, self, captures=captures, table=min(table, self.needed)
        )

    def conflicts(self) -> Iterator[Conflict]:
        """Yield contradictory keys: no game at all, a table larger than any memory."""
        for name in ("pits", "empty_capture"):
            if not getattr(self, name):
                yield Conflict((name,), "at least one is needed")
        if not self.pits:
            return
        cells, stones = 2 * max(self.pits), self.parameters().table
        boards = comb(stones + cells, cells)
        if boards > MOST_ENTRIES:
            fits = max(n for n in range(stones) if comb(n + cells, cells) <= MOST_ENTRIES)
            yield Conflict(
                ("layers",),
                f"a table of all boards with at most {stones} stones in {cells} pits has "
                f"{boards:,} boards, and at most {MOST_ENTRIES:,} are possible: layers is at most "
                f"{fits}",
                (("pits",), ("stones",)),
            )
