"""Which keys does the YAML file of a search of Kalah have?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Field

from reference_py.games.kalah import rules as kalah
from reference_py.games.kalah.parameters import BOTTOM, LAYERS, TOP, Parameters, Position
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
from societies.games.estimate import estimated_nodes
from societies.games.kalah.levels import DEFAULT_BOARDS, LEAST_BOARDS
from societies.workload.declare.config import checkpoints
from societies.workload.declare.naming import parameters_of

MOST_NODES = 1e13
MOST_IN_PIT = 255
LOCAL_MEMORY = 32 * 1024 - 64
"""Bytes of local memory that every device of the portable profile has for a board's tree."""

NODE_BYTES = 37
MOST_OF_AN_ITEM = 6**8
"""Most boards that a single work-item may have to search: it cannot be interrupted."""

Plies = Annotated[int, Field(ge=0, le=8)]
BoardCount = Annotated[int, Field(ge=LEAST_BOARDS, le=2**24)]
Stones = Annotated[int, Field(ge=0, le=MOST_IN_PIT)]
SIDES = {"top": TOP, "bottom": BOTTOM}


class KalahPositionConfig(Section):
    """A board and the side to move."""

    board: ListOf[Stones] = key(
        ...,
        "Stones of each cell: BOTTOM's pits and store, TOP's pits and store",
        "stones",
        examples=[[4, 4, 4, 4, 4, 4, 0] * 2],
    )
    to_move: Literal["top", "bottom"] = key("top", "Who is to move")


class KalahRecord(Section):
    """What is recorded in the file, and how often."""

    checkpoint: Interval = checkpoints("depth", "the result", 1)


class KalahSearchConfig(WorkloadConfig):
    """Keys for the variant of the game, and for the search."""

    pits: int = shape(6, "Pits of a side", "pits", ge=1, le=8)
    stones: int = shape(4, "Stones of a pit at the start", "stones", ge=1, le=12)
    empty_capture: bool = shape(
        False, "Whether a last stone in an own empty pit is banked if nothing faces it, too"
    )
    plies: int = shape(4, "Of expanded: plies that a work-item searches", "plies", ge=1, le=8)
    alone: Auto[Plies] = shape(
        "auto",
        "Of expanded: one work-item does a search of at most this many plies, which takes less "
        "time than the launches of a divided one; auto: 6 on a CPU, 0 elsewhere",
        "plies",
    )
    boards: Auto[BoardCount] = shape(
        "auto",
        "Most boards of a level of a game in memory at a time; a level that has more is searched "
        "in batches; auto: as many as the memory of the device holds, at most 1,048,576 on a GPU "
        "and 262,144 elsewhere",
        "boards",
    )

    @property
    def boards_at_a_time(self) -> int:
        """Most boards of a level in memory; ``auto`` stands for the number without a device."""
        return DEFAULT_BOARDS if self.boards == "auto" else self.boards

    @property
    def alone_or_none(self) -> int:
        """Most plies of a search that one work-item carries out; 0 for ``auto``."""
        return 0 if self.alone == "auto" else self.alone

    def conflicts(self) -> Iterator[Conflict]:
        """Yield a conflict if one work-item may have to search too many boards in a launch."""
        for name, plies in (("plies", self.plies), ("alone", self.alone_or_none)):
            if self.pits**plies > MOST_OF_AN_ITEM:
                yield Conflict(
                    (name,),
                    f"{plies} plies with {self.pits} pits a side are up to {self.pits**plies:,} "
                    f"boards of one work-item; at most {MOST_OF_AN_ITEM:,}",
                    (("pits",),),
                )


SAMPLE = 256
"""Largest sample of a ply for an estimate: with it all known counts are met within a tenth."""


@lru_cache(maxsize=64)
def estimated_boards(rules: Parameters, depth: int) -> float:
    """Return the estimated number of boards that a search of ``rules.games`` visits."""

    def children(one: tuple[list[int], int]) -> Iterator[Any]:
        board, side = one
        if not kalah.is_over(rules, board):
            for pit in kalah.moves(rules, board, side):
                yield kalah.play(rules, board, side, pit)[:2]

    roots = [(list(one.board), one.to_move) for one in rules.games]
    return estimated_nodes(roots, children, depth, SAMPLE, depth)


def too_many_nodes(rules: Parameters, plies: int) -> float:
    """Return the estimated number of boards of a search of ``plies`` plies; 0 if not too many.

    Boards are estimated only if the upper bound, ``pits`` moves for every board, is too large.
    """
    most = len(rules.games) * float(sum(rules.pits**ply for ply in range(plies + 1)))
    nodes = estimated_boards(rules, plies) if most > MOST_NODES else 0.0
    return nodes if nodes > MOST_NODES else 0.0


def usual_split(split: tuple[int, ...] | None, depth: int) -> tuple[int, int, int]:
    """Return the given split, or the default: the last four levels are searched as a tree."""
    if split is not None and len(split) == 3:
        return (split[0], split[1], split[2])
    parallel = min(4, depth + 1)
    return (0, depth - parallel + 1, parallel)


def split_conflicts(
    path: tuple[str | int, ...],
    split: tuple[int, ...] | None,
    form: tuple[str, str],
    depth: int,
    pits: int,
) -> Iterator[Conflict]:
    """Yield errors of a split (PRE, SEQ, PAR); ``form`` is the key of the form and its value."""
    if split is None:
        return
    key, value = form
    if value != LAYERS:
        yield Conflict(path, f"{value} has no split; {LAYERS} has", ((*path[:-1], key),))
    if len(split) != 3 or min(split) < 0 or split[2] < 1:
        yield Conflict(
            path,
            "three numbers are needed: plies before, plies breadth first, and at least 1 level of "
            "the parallel tree",
        )
        return
    pre, seq, par = split
    if pre + seq + par - 1 != depth:
        yield Conflict(
            path,
            f"{pre} + {seq} + {par} - 1 = {pre + seq + par - 1} plies, and depth is {depth}: the "
            "parallel tree has one level more than plies",
            ((*path[:-1], "depth"),),
        )
    nodes = sum(pits**level for level in range(par))
    if nodes * NODE_BYTES > LOCAL_MEMORY:
        yield Conflict(
            path,
            f"a parallel tree of {par} levels has {nodes} boards, which do not fit 32 KiB of local "
            "memory",
            (("pits",),),
        )


class KalahConfig(KalahSearchConfig):
    """A game of Kalah whose tree is searched to one depth after the other."""

    workload: Literal["kalah"] = key("kalah", "What the file configures")
    board: Literal["start"] | ListOf[Stones] = key(
        "start",
        "The board: the start, or the stones of each cell: BOTTOM's pits and store, TOP's pits and "
        "store",
        "stones",
    )
    to_move: Literal["top", "bottom"] = key("top", "Who is to move on it")
    positions: ListOf[KalahPositionConfig] = key(
        (), "Instead of one board, boards of games that are searched in parallel"
    )
    depth: int = shape(
        8,
        "Plies of the last search; each run searches 1, 2, ... plies; 0: the evaluation of the "
        "board alone",
        ge=0,
        le=64,
    )
    form: Literal["expanded", "layers"] = shape(
        "expanded",
        "Form of the kernels, with the same results: a work-item searches a board depth first, or "
        "a workgroup makes a tree of boards in local memory",
    )
    split: ListOf[int] | None = shape(
        None,
        "Of layers: plies before (boards one after the other), plies breadth first, levels of the "
        "parallel tree (one more than its plies); smaller depths shorten the second, then the "
        "first; default: 0, depth - 3, 4",
        "plies",
    )
    record: KalahRecord = key(KalahRecord, "What is recorded in the file, and how often")

    @property
    def layers(self) -> tuple[int, int, int]:
        """The split of the plies: the given one or the default."""
        return usual_split(self.split, self.depth)

    def games(self) -> tuple[Position, ...]:
        """Return the boards to search from; the start if none is given."""
        if self.positions:
            return tuple(Position(one.board, SIDES[one.to_move]) for one in self.positions)
        if self.board == "start":
            usual = (*[self.stones] * self.pits, 0)
            return (Position(usual * 2, SIDES[self.to_move]),)
        return (Position(tuple(self.board), SIDES[self.to_move]),)

    def parameters(self) -> Parameters:
        """Return the parameters that the reference takes."""
        return parameters_of(
            Parameters,
            self,
            positions=self.games(),
            split=self.layers,
            boards=self.boards_at_a_time,
            alone=self.alone_or_none,
        )

    def estimate(self) -> float:
        """Return the estimated number of boards of the last search."""
        return estimated_boards(self.parameters().rules, self.depth)

    def conflicts(self) -> Iterator[Conflict]:
        """Yield contradictory keys: boards of another size, a wrong split, too many plies."""
        of_boards = list(self._of_boards())
        yield from of_boards
        if not of_boards and (nodes := too_many_nodes(self.parameters().rules, self.depth)):
            yield Conflict(
                ("depth",),
                f"{self.depth} plies are about {nodes:.1g} boards to look at; at most "
                f"{MOST_NODES:.0g} are searched",
                (("pits",),),
            )
        yield from split_conflicts(
            ("split",), self.split, ("form", self.form), self.depth, self.pits
        )
        yield from super().conflicts()

    def _of_boards(self) -> Iterator[Conflict]:
        cells = 2 * self.pits + 2
        given: list[tuple[tuple[str | int, ...], tuple[int, ...]]] = [
            (("positions", i, "board"), one.board) for i, one in enumerate(self.positions)
        ]
        if isinstance(self.board, tuple):
            given.append((("board",), self.board))
            if self.positions:
                yield Conflict(("board",), "positions give the boards", (("positions",),))
        for path, board in given:
            if len(board) != cells:
                message = (
                    f"{len(board)} cells; a board with {self.pits} pits a side has {cells}: pits "
                    "and store of BOTTOM, pits and store of TOP"
                )
                yield Conflict(path, message, (("pits",),))
            elif sum(board) > MOST_IN_PIT:
                yield Conflict(path, f"{sum(board)} stones; a board has at most {MOST_IN_PIT}")
