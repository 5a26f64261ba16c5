"""Which arrays, phases and steps do all workloads share that search the tree of Kalah?

A workload may have several searches that use the same memory in turn, as those of the two players
of a match. Each search is given by its parameters: form, depth, split, boards at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from reference_py.games.kalah.parameters import Parameters
from societies.games.kalah.levels import (
    DEFAULT_BOARDS,
    LEAST_BOARDS,
    MOST_BOARDS,
    SearchLevels,
    Stage,
    search_levels,
)
from societies.games.memory import fitted_to_memory
from societies.workload import Field, Launch, Phase, Scratch, Setup, Slices, Step, Workload, phase

if TYPE_CHECKING:
    from societies.games.kalah.config import KalahSearchConfig
    from societies.opencl import Device

S = TypeVar("S", bound="KalahSearchConfig")
Q = TypeVar("Q")

FOLDER, TWINS = "games/kalah", "reference_py.games.kalah"
STEP_ARGUMENTS = ("level", "parents", "children", "skip", "most", "plies")
BLOCK = 2048
"""Boards per block of running sums: WIDE_BLOCK of kernels/primitives/wide.cl."""

FEW = 256
"""Up to this number of boards one workgroup expands a level; above it a GPU uses several."""

PART = 64
"""Boards per workgroup in kernels with a work-item for each board."""

ALONE_ON_CPU = 6
"""Depth up to which one work-item of a CPU is faster than the launches of a divided search, if
there are at most 6^6 boards on its last ply."""

Searches = Sequence[Parameters]


def cuts(searches: Searches) -> list[SearchLevels]:
    """Return the levels of every search to every depth."""
    return [
        search_levels(p, depth) for p in searches for depth in range(min(1, p.depth), p.depth + 1)
    ]


def sizes(searches: Searches) -> dict[str, int]:
    """Return the numbers of cells, boards in memory, and levels."""
    found = cuts(searches)
    return {
        "board": max((one.size for one in found), default=1),
        "cell": searches[0].cells if searches else 0,
        "level": max((len(one.starts) for one in found), default=1) + 1,
    }


def board_fields() -> dict[str, Field]:
    """Return the arrays of boards, which are valid only during a search."""
    passing = partial(Field, checkpointed=False)
    each = partial(passing, ("board",))
    return {
        "boards": passing(("board", "cell"), "uint8", "stones", "boards by level"),
        "movers": each("uint8", "1", "who is to move: 0 TOP, 1 BOTTOM"),
        "counts": passing(("level",), "uint32", "boards", "boards of each level"),
        "first": each("uint32", "index", "its first on the next level"),
        "board_score": each("int32", "1", f"score {FOUND}"),
        "board_pit": each("int16", "index", BEST),
        "board_nodes": each("int64", "boards", "boards looked at below"),
        "board_leaves": each("int64", "boards", "boards at the full depth"),
        "board_finished": each("int64", "boards", "boards above it whose game was over"),
    }


FOUND = "of the best line, as TOP sees it"
BEST = "cell of the best move, -1 if there is none"


def answer_fields(**when: Any) -> dict[str, Field]:
    """Return the results of a search; ``when`` says when they are recorded or checkpointed."""
    # The division of the work may depend on the device, so it is no part of the result.
    count = partial(Field, (), "int64", "boards")
    divided = {**when, "checkpointed": False}
    return {
        "score": Field((), "int32", "1", f"score {FOUND}", **when),
        "pit": Field((), "int16", "1", BEST, none=-1, **when),
        "nodes": count("boards looked at", **when),
        "leaves": count("boards at the full depth", **when),
        "finished": count("boards above it whose game was over", **when),
        "frontier": count("boards that the last phase was handed", **divided),
        "boards_per_launch": count("the most of them in a batch", **divided),
    }


def phases(searches: Searches, copies: int) -> dict[str, Phase]:
    """Return the kernels of every phase; launches have workgroups for the largest batch."""
    if not searches:
        return {}
    blocks = -(-max(max(cut.bounds) for cut in cuts(searches)) // BLOCK)
    boards = max(p.boards for p in searches)
    sums = {"sums": Scratch((copies * blocks,), "uint32", shared="sums")}
    given = {"board_count": sizes(searches)["board"], "blocks": blocks}

    def parts(of: int, least: int = 0) -> Callable[[Mapping[str, int]], int]:
        return lambda step: copies * -(-step["most"] // of) if step["most"] > least else 0

    def some(least: int, most: int) -> Callable[[Mapping[str, int]], int]:
        return lambda step: copies if least < step["most"] <= most else 0

    def slices(of: int, work: Callable[[Mapping[str, int]], float]) -> Slices:
        return Slices("first_group", lambda step: of * work(step), partial(_busy, of))

    # Work per board: it is read, and each of its moves is made or its result is read.
    moves = slices(PART, lambda step: 1.0 + pits)
    below = slices(PART, lambda step: _nodes(searches[0], step["plies"]))
    tree = slices(1, lambda step: _nodes(searches[0], step["plies"]))
    counted = slices(BLOCK, lambda step: 2.0)
    few = slices(FEW, lambda step: min(1.0, step["most"] / FEW) * (3.0 + pits))

    pits = searches[0].pits
    more: dict[str, Any] = {"arguments": given}
    alone: dict[str, Any] = {"alone_on_cpu": True, **more}
    summing: dict[str, Any] = {"scratch": sums, **alone}
    by_part: dict[str, Any] = {"items": PART, "slices": moves, **more}
    expanding, reducing, descending, parallel_ = (
        f"{FOLDER}/{name}.cl" for name in ("expand", "reduce", "descend", "parallel")
    )
    last = {
        "descend": phase(descending, parts(PART), items=PART, slices=below, **more),
        "parallel": phase(parallel_, parts(1), slices=tree, **alone),
    }
    return {
        "expand": Phase((
            Launch(expanding, some(0, FEW), "expand_few", slices=few, **alone),
            Launch(expanding, parts(BLOCK, FEW), "count_moves", slices=counted, **summing),
            Launch(expanding, some(FEW, boards), "count_children", **summing),
            Launch(expanding, parts(PART, FEW), scratch=sums, **by_part),
        )),
        **{name: last[name] for name in sorted({last_phase(p) for p in searches})},
        "reduce": phase(reducing, parts(PART), **by_part),
        "answer": phase(f"{FOLDER}/answer.cl", global_size=copies, **more),
    }  # fmt: skip


def _busy(
    of: int, step: Mapping[str, int], arrays: Mapping[str, Any]
) -> tuple[int, NDArray[np.int64]]:
    """Return the workgroups of a game, with ``of`` boards each, and how many of them have work."""
    counts = arrays["counts"].get()[:, step["level"]].astype(np.int64)
    boards = np.clip(counts - step["skip"], 0, step["most"])
    return -(-step["most"] // of), -(-boards // of)


def last_phase(p: Parameters) -> str:
    """Return the phase that searches the last plies below each board of the last level."""
    return "descend" if p.form == "expanded" else "parallel"


def macros(searches: Searches) -> dict[str, int | float | str | bool]:
    """Return the macros of the kernels except those of the rules."""
    found: dict[str, int | float | str | bool] = {
        "LEVELS": sizes(searches)["level"],
        "PART": PART,
    }
    for name, form in (("NODES", "layers"), ("PLIES", "expanded")):
        lasts = [cut.last for cut in cuts([p for p in searches if p.form == form])]
        if lasts:
            tree = _nodes(searches[0], max(lasts))
            found[name] = int(tree) if form == "layers" else max(lasts)
    return found


def steps(p: Parameters, depth: int, seen: Any) -> Iterator[Step]:
    """Yield the steps of a search, from the boards of level 0 to their results."""
    yield from _stages(p, search_levels(p, depth), 0, seen)
    yield Step("answer")


def _stages(p: Parameters, cut: SearchLevels, number: int, seen: Any) -> Iterator[Step]:
    """Yield the steps of a stage and of all later ones, batch after batch."""
    stage = cut.stages[number]
    boards = int(seen["counts"][:, stage.level].max()) if stage.level else 1
    for skip in range(0, boards, stage.batch):
        for level in range(stage.level, stage.end):
            yield _step("expand", cut, stage, level, skip)
        if number + 1 < len(cut.stages):
            yield from _stages(p, cut, number + 1, seen)
        else:
            yield _step(last_phase(p), cut, stage, stage.end, skip)
        for level in reversed(range(stage.level, stage.end)):
            yield _step("reduce", cut, stage, level, skip)


def _step(phase: str, cut: SearchLevels, stage: Stage, level: int, skip: int) -> Step:
    """Return a step over a level: one batch at the beginning of a stage, else all boards."""
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


def _nodes(p: Parameters, plies: int) -> float:
    """Return the largest number of boards within ``plies`` plies of a board, itself included."""
    return float(sum(p.pits**ply for ply in range(plies + 1)))


class LevelSearch(Workload[S, Q]):
    """A workload that searches trees of Kalah level by level."""

    numpy, twins, items = True, TWINS, PART
    part_is_phase = True

    def fitted(self, config: S, device: Device | None) -> S:
        """Return a configuration with as many boards as the memory of the device has room for."""
        if config.alone == "auto":
            alone = ALONE_ON_CPU if device and device.kind == "cpu" else 0
            most = max(plies for plies in range(9) if config.pits**plies <= 6**6)
            config = config.model_copy(update={"alone": min(alone, most)})
        bounds = (LEAST_BOARDS, DEFAULT_BOARDS, MOST_BOARDS)
        return fitted_to_memory(Setup(self, config, device), "boards", bounds)
