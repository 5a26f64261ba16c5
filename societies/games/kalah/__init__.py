"""Kalah, searched: what is declared of it.

The rules are in ``reference_py/games/kalah``, the kernels in ``kernels/games/kalah``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_py.games.kalah import answer, begin, descend, expand, parallel, reduce
from reference_py.games.kalah.parameters import Parameters
from societies.games.kalah.config import DEFAULT_BOARDS, LEAST_BOARDS, MOST_BOARDS, KalahConfig
from societies.games.kalah.levels import Levels, Stage, levels
from societies.workload import (
    Field,
    Launch,
    Phase,
    Scratch,
    Slices,
    Source,
    Step,
    Workload,
    phase,
)

if TYPE_CHECKING:
    from societies.opencl import Device

FOLDER = "games/kalah"
BLOCK = 2048
"""Boards of a block of running sums: WIDE_BLOCK of kernels/primitives/wide.cl."""

FEW = 256
"""Boards of a level that one workgroup expands alone: beyond it a GPU is better off with many."""

MEMORY_SHARE = 4
"""One part in so many of a device's memory is for the boards in flight."""

PART = 64
"""Boards that a workgroup takes where a work-item takes a board."""


class Kalah(Workload[KalahConfig, Parameters]):
    """Games of one size whose trees are searched side by side, to one depth after the other."""

    name = "kalah"
    summary = "minimax of Kalah: the whole tree of a board, to one depth after the other"
    config = KalahConfig
    clock, copies, work = "depth", "game", "node"
    counted_by, timed = "nodes", True
    step_arguments = ("level", "parents", "children", "skip", "most", "plies")
    numpy = True

    @property
    def ticks_key(self) -> str:
        """The key that says how deep the last search goes."""
        return "depth"

    def parameters(self, config: KalahConfig) -> Parameters:
        """Return what the reference is handed of a search."""
        return config.parameters()

    def count(self, config: KalahConfig) -> int:
        """Return how many games are searched: as many as there are boards, unless it is said."""
        return int(getattr(config, "replicates", len(config.games())))

    def fitted(self, config: KalahConfig, device: Device | None) -> KalahConfig:
        """Return the configuration with as many boards as the memory of the device has room for."""
        if config.boards != "auto":
            return config
        boards = MOST_BOARDS if device and device.kind != "cpu" else DEFAULT_BOARDS
        while device and boards > LEAST_BOARDS:
            one = config.model_copy(update={"boards": boards})
            p, games = one.parameters(), self.count(one)
            fields, sizes = self.fields(p), self.sizes(p)
            arrays = [games * field.nbytes(sizes) for field in fields.values()]
            whole = device.global_memory or sum(arrays) * MEMORY_SHARE
            if sum(arrays) <= whole // MEMORY_SHARE and max(arrays) <= (
                device.max_alloc or max(arrays)
            ):
                break
            boards //= 2
        return config.model_copy(update={"boards": boards})

    def sizes(self, p: Parameters) -> dict[str, int]:
        """Return cells, boards that are kept, and levels."""
        cuts = _cuts(p)
        return {
            "board": max(one.size for one in cuts),
            "cell": p.cells,
            "level": max(len(one.starts) for one in cuts) + 1,
        }

    def fields(self, p: Parameters) -> Mapping[str, Field]:
        """Return the boards of a search, which mean nothing between two of them, and its result."""
        board = ("board",)
        # The evaluation of a board, depth 0, is there before the first tick: it has no depths.
        when: dict[str, Any] = {"logged": True} if p.depth else {"final": True}
        found = "of the best line, as TOP sees it"
        best = "cell of the best move, -1 if there is none"
        return {
            "boards": Field(("board", "cell"), "uint8", "stones", "boards by level", kept=False),
            "movers": Field(board, "uint8", "1", "who is to move: 0 TOP, 1 BOTTOM", kept=False),
            "counts": Field(("level",), "uint32", "boards", "boards of each level", kept=False),
            "first": Field(
                board, "uint32", "index", "where its moves begin on the next", kept=False
            ),
            "board_score": Field(board, "int32", "1", f"score {found}", kept=False),
            "board_pit": Field(board, "int16", "index", best, kept=False),
            "board_nodes": Field(board, "int64", "boards", "boards looked at below", kept=False),
            "board_leaves": Field(board, "int64", "boards", "those at full depth", kept=False),
            "board_finished": Field(board, "int64", "boards", "those over above it", kept=False),
            "score": Field((), "int32", "1", f"score {found}", **when),
            "pit": Field((), "int16", "1", best, **when),
            "nodes": Field((), "int64", "boards", "boards looked at", **when),
            "leaves": Field((), "int64", "boards", "boards at the full depth", **when),
            "finished": Field((), "int64", "boards", "boards above it whose game was over", **when),
            # How the work was divided, which may depend on the device, is no part of the result.
            "frontier": Field(
                (), "int64", "boards", "boards that the last phase was handed", kept=False, **when
            ),
            "boards_per_launch": Field(
                (), "int64", "boards", "the most of them in one batch", kept=False, **when
            ),
        }

    def phases(self, p: Parameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase; a launch has workgroups for all boards it may get."""
        file = {name: f"{FOLDER}/{name}.cl" for name in self.reference(p)}
        blocks = -(-max(max(cut.bounds) for cut in _cuts(p)) // BLOCK)
        sums = {"sums": Scratch((copies * blocks,), "uint32", shared="sums")}
        given = {"board_count": self.sizes(p)["board"], "blocks": blocks}

        def parts(of: int, least: int = 0) -> Callable[[Mapping[str, int]], int]:
            return lambda step: copies * -(-step["most"] // of) if step["most"] > least else 0

        def some(least: int, most: int) -> Callable[[Mapping[str, int]], int]:
            return lambda step: copies if least < step["most"] <= most else 0

        more: dict[str, Any] = {"arguments": given}
        summing: dict[str, Any] = {"scratch": sums, "alone_on_cpu": True, **more}
        of_a_board = Slices("first_group", lambda step: _nodes(p, step["plies"]))
        of_a_part = Slices("first_group", lambda step: PART * _nodes(p, step["plies"]))
        last = {
            "descend": phase(
                file.get("descend", ""), parts(PART), items=PART, slices=of_a_part, **more
            ),
            "parallel": phase(
                file.get("parallel", ""), parts(1), alone_on_cpu=True, slices=of_a_board, **more
            ),
        }
        return {
            "begin": phase(file["begin"], copies, alone_on_cpu=True, **more),
            "expand": Phase((
                Launch(file["expand"], some(0, FEW), "expand_few", alone_on_cpu=True, **more),
                Launch(file["expand"], parts(BLOCK, FEW), "count_moves", **summing),
                Launch(file["expand"], some(FEW, p.boards), "count_children", **summing),
                Launch(file["expand"], parts(PART, FEW), scratch=sums, items=PART, **more),
            )),
            self.last_phase(p): last[self.last_phase(p)],
            "reduce": phase(file["reduce"], parts(PART), items=PART, **more),
            "answer": phase(file["answer"], global_size=copies, **more),
        }  # fmt: skip

    def last_phase(self, p: Parameters) -> str:
        """Return the phase that takes each board of the last level further."""
        return "descend" if p.form == "expanded" else "parallel"

    def schedule(self, p: Parameters, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the phases of a search; one of no plies is done before the first tick."""
        if not tick and p.depth:
            return
        yield Step("begin")
        yield from self._stages(p, levels(p, tick), 0, seen)
        yield Step("answer")

    def _stages(self, p: Parameters, cut: Levels, number: int, seen: Any) -> Iterator[Step]:
        """Yield the steps of a stage and of those after it, batch after batch."""
        stage = cut.stages[number]
        boards = int(seen["counts"][:, stage.level].max()) if stage.level else 1
        for skip in range(0, boards, stage.batch):
            for level in range(stage.level, stage.end):
                yield _step("expand", cut, stage, level, skip)
            if number + 1 < len(cut.stages):
                yield from self._stages(p, cut, number + 1, seen)
            else:
                yield _step(self.last_phase(p), cut, stage, stage.end, skip)
            for level in reversed(range(stage.level, stage.end)):
                yield _step("reduce", cut, stage, level, skip)

    def part(self, step: Step, tick: int) -> str:
        """Return the phase: whether each level and batch had something to do says nothing more."""
        return step.phase

    def source(self, p: Parameters) -> Source:
        """Return macros and boards; another board builds nothing."""
        macros = {
            "PITS": p.pits,
            "EMPTY_CAPTURE": p.empty_capture,
            "LEVELS": self.sizes(p)["level"],
            "PART": PART,
        }
        cuts = [cut.last for cut in _cuts(p)]
        if p.form == "layers":
            macros["NODES"] = sum(p.pits**level for level in range(max(cuts) + 1))
        else:
            macros["PLIES"] = max(cuts)
        arguments = {
            "given": len(p.games),
            "given_boards": np.array([one.board for one in p.games], np.uint8),
            "given_movers": np.array([one.to_move for one in p.games], np.uint8),
        }
        return Source(macros, arguments=arguments)

    def reference(self, p: Parameters) -> Mapping[str, Callable[..., None]]:
        """Return the twin of every phase."""
        last = {"descend": descend.descend, "parallel": parallel.parallel}
        return {
            "begin": begin.begin,
            "expand": expand.expand,
            self.last_phase(p): last[self.last_phase(p)],
            "reduce": reduce.reduce,
            "answer": answer.answer,
        }

    def work_items(self, p: Parameters, copies: int, device: Any) -> int:
        """Return work-items of a workgroup: two warps, so that many boards are under way."""
        return PART

    def play(
        self,
        config: KalahConfig,
        *,
        device: Any = "auto",
        moves: str = "",
        side: str = "bottom",
        console: Any = None,
    ) -> str:
        """Play a game against the search; return how it ended.

        Parameters
        ----------
        moves : str
            Your pits, counted from 1 in the direction of sowing, instead of asking: 3,5,1.
        side : str
            Which side is yours: top or bottom.
        """
        from rich.console import Console

        from societies.games.kalah.play import play

        return play(self, config, device, moves, side, console or Console())

    def plan_rows(self, config: KalahConfig, p: Parameters) -> list[tuple[str, str]]:
        """Return how the last search is cut."""
        cut = levels(p, p.depth)
        first = " + ".join(str(stage.plies) for stage in cut.stages)
        batches = ", ".join(f"{stage.batch:,}" for stage in cut.stages)
        return [
            ("board", f"{p.pits} pits a side, {p.stones} stones a pit"),
            (
                "plies of the last search",
                f"{first} breadth first, {cut.last} in {self.last_phase(p)}",
            ),
            ("boards of a batch", batches),
            (
                "boards in flight",
                f"at most {cut.bounds[-1]:,} of the last level of a game"
                + (f", {self.count(config):,} games" if self.count(config) > 1 else ""),
            ),
            ("nodes, roughly", f"{config.estimate():.1g}"),
        ]


WORKLOAD = Kalah()


def _cuts(p: Parameters) -> list[Levels]:
    """Return how the search of each depth is cut."""
    return [levels(p, depth) for depth in range(min(1, p.depth), p.depth + 1)]


def _nodes(p: Parameters, plies: int) -> float:
    """Return the most boards that there may be below one in so many plies."""
    return float(sum(p.pits**ply for ply in range(plies + 1)))


def _step(phase: str, cut: Levels, stage: Stage, level: int, skip: int) -> Step:
    """Return a step over the boards of a level: all, or a batch where the stage begins."""
    begins = level == stage.level
    arguments = {
        "level": level,
        "parents": cut.starts[level],
        "skip": skip if begins else 0,
        "most": stage.batch if begins else cut.bounds[level],
    }
    if phase in ("expand", "reduce"):
        arguments["children"] = cut.starts[level + 1]
    else:
        arguments["plies"] = cut.last
    return Step(phase, f"level {level}" + (f", from board {skip}" if skip else ""), arguments)
