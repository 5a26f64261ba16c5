"""What does the workload that counts sequences of legal chess moves (perft) declare?

The rules are in ``reference_py/games/chess``, the kernels in ``kernels/games/chess``. Some plies
are counted breadth first, level by level. Levels that do not fit the memory are expanded in
batches. A batch is so small that its children fit the next level even if every position has the
largest possible number of moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from reference_py.games.chess.parameters import PerftParameters
from reference_py.games.chess.perft import KINDS, SETS
from reference_py.games.chess.rules import MOST_MOVES
from societies.games.chess.perft_config import DEFAULT_POSITIONS, MOST_POSITIONS, ChessPerftConfig
from societies.games.memory import fitted_to_memory
from societies.opencl import Device
from societies.workload import (
    Field,
    Launch,
    Phase,
    Scratch,
    Setup,
    Slices,
    Source,
    Step,
    Workload,
    phase,
)

FOLDER = "games/chess"
BLOCK = 2048
"""Positions per block of running sums: WIDE_BLOCK of kernels/primitives/wide.cl."""

GPU_PART, CPU_PART = 64, 1
"""Positions per workgroup; on a CPU one, since a driver hands a core many workgroups at a time, and
the last batches of a level have few positions."""

LISTED = 2048
"""Moves that a workgroup on a GPU lists at a time: more than MOST_MOVES, as many as local memory
holds."""

MOVES_MADE = 40.0
"""Approximate number of moves per position; slices of long launches are measured in moves."""


DEPTH_FIRST = 2
"""Plies that a work-item counts depth first. The moves of the last ply are counted without being
made, so a single loop is enough, without a stack or a list of moves."""


@dataclass(frozen=True)
class CountLevels:
    """How the count of one depth is divided into levels and batches.

    Attributes
    ----------
    batches : number of positions expanded at a time, for each level that is expanded
    starts : index of the first position of each level, the last level (not expanded) included
    bounds : largest number of positions of each level that are in memory at a time
    last : number of plies below the last level
    """

    batches: tuple[int, ...]
    starts: tuple[int, ...]
    bounds: tuple[int, ...]
    last: int

    @property
    def size(self) -> int:
        """Number of positions of all levels, for which memory is allocated."""
        return self.starts[-1] + self.bounds[-1]


def count_levels(p: PerftParameters, depth: int) -> CountLevels:
    """Return how the count of a depth is divided; from depth 2 on the first ply is a level."""
    expanded = max(min(1, depth - 1), depth - DEPTH_FIRST)
    batches, starts, bounds = [], [0], [1]
    for _ in range(expanded):
        batches.append(min(bounds[-1], max(1, p.level_positions // MOST_MOVES)))
        starts.append(starts[-1] + bounds[-1])
        bounds.append(batches[-1] * MOST_MOVES)
    return CountLevels(tuple(batches), tuple(starts), tuple(bounds), depth - expanded)


class ChessPerft(Workload[ChessPerftConfig, PerftParameters]):
    """Positions whose sequences of legal moves are counted, to one depth after the other."""

    name = "chess_perft"
    summary = "sequences of legal moves of chess counted (perft), to one depth after the other"
    config = ChessPerftConfig
    clock, copies, work = "depth", "game", "node"
    ticks_key = "depth"
    counted_by, timed = "nodes", True
    step_arguments = ("level", "parents", "children", "skip", "most", "plies")
    numpy, twins, items = True, "reference_py.games.chess", GPU_PART
    part_is_phase = True
    report_class = "societies.games.chess.perft_report:PerftReport"

    def count(self, config: ChessPerftConfig) -> int:
        """Return the number of games: that of the positions, unless ``replicates`` is given."""
        return int(getattr(config, "replicates", len(config.fens)))

    def fitted(self, config: ChessPerftConfig, device: Device | None) -> ChessPerftConfig:
        """Return the configuration with as many positions as the device has memory for."""
        bounds = (MOST_MOVES, DEFAULT_POSITIONS, MOST_POSITIONS)
        return fitted_to_memory(Setup(self, config, device), "level_positions", bounds)

    def sizes(self, p: PerftParameters) -> dict[str, int]:
        """Return the numbers of positions in memory, sets per position, levels, moves and kinds."""
        deepest = count_levels(p, p.depth)
        return {
            "position": deepest.size,
            "set": SETS,
            "level": len(deepest.starts),
            "kind": p.kinds,
            "detail": len(KINDS) - 1,
            "move": MOST_MOVES,
        }

    def fields(self, p: PerftParameters) -> Mapping[str, Field]:
        """Return the positions of a count, which are valid only during it, and its results."""
        position, passing = ("position",), partial(Field, checkpointed=False)
        at_end = partial(Field, ("move",), final=True)
        details, follows = f"of the last moves: {', '.join(KINDS[1:])}", "where what follows begins"
        moves = (
            "first moves as the side to move sees the board: square of origin + 64 * target "
            "+ 4096 * promotion (1 knight, 2 bishop, 3 rook, 4 queen); 0 behind the last"
        )
        by_move = "nodes of the last depth by first move"
        return {
            "sets": passing(("set", *position), "uint64", "bits", "positions by level"),
            "counts": passing(("level",), "uint32", "positions", "of each level"),
            "first": passing(position, "uint32", "index", f"{follows} on the next"),
            "tallies": passing(("kind", *position), "int64", "moves", "what is counted below"),
            "nodes": Field((), "int64", "nodes", "sequences of `depth` legal moves", logged=True),
            "details": Field(("detail",), "int64", "moves", details, logged=p.detail),
            "root_moves": at_end("uint16", "1", moves, none=0),
            "divided": at_end("int64", "nodes", by_move, present="root_moves"),
        }

    def phases(self, p: PerftParameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase; launches have workgroups for the largest batch."""
        deepest = count_levels(p, p.depth)
        blocks = -(-max(deepest.batches, default=1) // BLOCK)
        sums = {"sums": Scratch((copies * blocks,), "uint32", shared="sums")}
        names = ("begin", "expand", "count", "reduce", "answer")
        file = {name: f"{FOLDER}/{name}.cl" for name in names}
        more: dict[str, Any] = {"arguments": {"blocks": blocks}}

        def parts(of: int) -> Callable[[Mapping[str, int]], int]:
            return lambda step: copies * -(-step["most"] // of)

        def slices(of: int) -> Slices:
            return Slices("first_group", lambda step: of * MOVES_MADE ** step["plies"])

        def shared(
            name: str, kernel: str = "", *, sliced: bool = False, **own: Any
        ) -> tuple[Launch, ...]:
            """Return the launches, for CPUs and others, whose workgroups are parts of positions."""
            return tuple(
                Launch(
                    file[name], parts(of), kernel, of, on_cpu=on_cpu,
                    slices=slices(of) if sliced else None, **own, **more,
                )
                for on_cpu, of in ((True, CPU_PART), (False, GPU_PART))
            )  # fmt: skip

        summing: dict[str, Any] = {"scratch": sums, "alone_on_cpu": True, **more}
        return {
            "begin": phase(file["begin"], global_size=copies, **more),
            "expand": Phase((
                *shared("expand", "count_moves_of_all"),
                Launch(file["expand"], parts(BLOCK), "sum_blocks", **summing),
                Launch(file["expand"], copies, "sum_all", **summing),
                *shared("expand", scratch=sums),
            )),
            "count": Phase(shared("count", sliced=True)),
            "reduce": Phase(shared("reduce")),
            "answer": phase(file["answer"], global_size=copies, **more),
        }  # fmt: skip

    def schedule(self, p: PerftParameters, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the steps of a count, from the positions of level 0 to their results."""
        if tick:
            yield Step("begin")
            cut = count_levels(p, tick)
            yield from self._below(cut, 0, seen)
            yield Step("answer", "", {"children": cut.starts[1] if cut.batches else 0})

    def _below(self, cut: CountLevels, level: int, seen: Any) -> Iterator[Step]:
        """Yield the steps from a level on, batch after batch."""
        if level == len(cut.batches):
            yield self._step("count", cut, level, 0)
            return
        boards = int(seen["counts"][:, level].max()) if level else 1
        for skip in range(0, max(1, boards), cut.batches[level]):
            yield self._step("expand", cut, level, skip)
            yield from self._below(cut, level + 1, seen)
            yield self._step("reduce", cut, level, skip)

    def _step(self, phase: str, cut: CountLevels, level: int, skip: int) -> Step:
        """Return a step over positions of a level."""
        arguments = {"level": level, "parents": cut.starts[level], "skip": skip}
        if phase == "count":
            arguments |= {"most": cut.bounds[level], "plies": cut.last}
        else:
            arguments |= {"most": cut.batches[level], "children": cut.starts[level + 1]}
        label = f"level {level}" + (f", from position {skip}" if skip else "")
        return Step(phase, label, arguments)

    def source(self, p: PerftParameters) -> Source:
        """Return macros and positions; another position does not rebuild the kernels."""
        macros = {
            "GPU_PART": GPU_PART,
            "CPU_PART": CPU_PART,
            "KINDS": p.kinds,
            "MOST_MOVES": f"{MOST_MOVES}u",
            "LISTED": f"{LISTED}u",
        }
        arguments = {
            "given": len(p.boards),
            "given_sets": np.array([board.position for board in p.boards], np.uint64),
        }
        return Source(macros, arguments=arguments)

    def plan_rows(self, config: ChessPerftConfig, p: PerftParameters) -> list[tuple[str, str]]:
        """Return how the last count is divided into levels and batches."""
        cut = count_levels(p, p.depth)
        return [
            (
                "plies of the last count",
                f"{len(cut.batches)} breadth first, {cut.last} depth first",
            ),
            ("positions of a batch", ", ".join(f"{batch:,}" for batch in cut.batches)),
            ("positions in memory", f"at most {cut.size:,} of a game"),
        ]

    def headlines(self) -> list[str]:
        """Return the variables of the closing table; the report shows all others."""
        return ["nodes"]


WORKLOAD = ChessPerft()
