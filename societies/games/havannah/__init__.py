"""What does the workload that rates moves of Havannah by random playouts declare?

The rules are in ``reference_py/games/havannah``, the kernels in ``kernels/games/havannah``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reference_py.games.havannah.board import DIRECTIONS, board_of, name_of
from reference_py.games.havannah.parameters import Parameters
from societies.games.havannah import figure
from societies.games.havannah.config import HavannahConfig, next_of, positions_of
from societies.games.havannah.position import NAMES
from societies.games.havannah.runners import COPYING, MODERN, PART, Transfers, launches
from societies.workload import Field, Launch, Phase, Scratch, Slices, Source, Step, Workload, phase

if TYPE_CHECKING:
    from societies.opencl import Device

FOLDER = "games/havannah"
WIDTH_ON_CPU = 16
"""Playouts that a CPU work-item runs at a time by vector instructions, with ``offline``."""

OFFLINE_FROM = 8
"""Board size from which a CPU is faster if it finds the winner from the full board."""

HELD_ITEMS = 8
"""Work-items of a workgroup with boards in local memory: 16 KiB in all on the board of ten."""


class Havannah(Workload[HavannahConfig, Parameters]):
    """A position whose moves are rated: games after each move are played to the end at random."""

    name = "havannah"
    summary = "Monte-Carlo playouts of Havannah, which rate each move of a position"
    config = HavannahConfig
    clock, copies, work = "batch", "game", "playout"
    twins, items = "reference_py.games.havannah", PART
    figure = staticmethod(figure.figure)
    step_arguments = ("first_candidate", "candidates_now", "skip", "most")
    contents_class = "societies.games.havannah.results:RatingContents"
    report_class = "societies.games.havannah.results:RatingReport"

    def fitted(self, config: HavannahConfig, device: Device | None) -> HavannahConfig:
        """Return the configuration with the test for the winner that is fastest on the device."""
        if config.winner != "auto":
            return config
        fast = is_faster_offline(device, config.size) and config.memory == "private"
        return config.model_copy(update={"winner": "offline" if fast else "forest"})

    def sizes(self, p: Parameters) -> dict[str, int]:
        """Return the numbers of candidates, cells, playouts per batch, sets of reasons and rows."""
        padded = 2 * p.size + 1
        return {
            "candidate": len(p.candidates),
            "cell": p.cells,
            "playout": p.batch,
            "kind": 8,
            "row": 2 * padded,
            "spot": 32 * padded,
        }

    def fields(self, p: Parameters) -> Mapping[str, Field]:
        """Return the positions, the results of a batch of playouts, and the counts."""
        one: tuple[str, ...] = ("candidate",)
        constant = partial(Field, constant=True)
        working = partial(constant, compared=False)
        count = partial(Field, one, "int64", "playouts", logged=True)
        at_end = partial(Field, final=True)
        counted = "playouts in which who made the candidate move"
        cells = "cell of the candidate"
        stones = "stones after the candidate move: 1 white, 2 black"
        settled = "outcome of a candidate that wins at once, else 0"
        kinds = "by the structures of the last stone: 1 ring + 2 bridge + 4 fork"
        placed = "sum of the stones placed, the candidate's one"
        fields = {
            "candidate": constant(one, "uint16", "index", cells, initial=lambda p: p.candidates),
            "board": constant((*one, "cell"), "uint8", "1", stones, initial=positions_of),
            "next": constant(one, "uint8", "1", "who moves then", initial=next_of),
            "streams": constant(one, "uint64", "index", "stream of playout 0", initial=_streams),
            "empties": constant(one, "uint16", "cells", "empty cells"),
            "settled": constant(one, "uint16", "1", settled),
            "spots": working((*one, "cell"), "uint16", "1", "empty cells, then others"),
            "rows": working((*one, "row"), "uint32", "1", "stones as bits"),
            "parents": working((*one, "spot"), "uint16", "1", "groups of stones"),
            "outcomes": Field(
                (*one, "playout"), "uint16", "1", "stones, reasons and result", checkpointed=False
            ),
            "wins": count(f"{counted} won"),
            "losses": count(f"{counted} lost"),
            "draws": count("playouts that ended in a draw"),
            "finishes": at_end((*one, "kind"), "int64", "playouts", kinds),
            "lengths": at_end(one, "int64", "stones", placed),
            "squares": at_end(one, "int64", "stones^2", "sum of the squares of these numbers"),
        }
        if p.record_game >= 0:
            meaning = "cells of the playout that is recorded, -1 after its end"
            moves = partial(at_end, (*one, "cell"), "int16", "index", meaning)
            fields["moves"] = moves(initial=-1, none=-1, checkpointed=False)
        return fields

    def phases(self, p: Parameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase."""
        positions = copies * len(p.candidates)
        plies = p.cells - sum(map(bool, p.stones)) - 1
        items = HELD_ITEMS if p.memory == "local" else PART
        boards = {"boards": Scratch((held_words(p, copies),), "uint32", "boards")}
        launch = Launch(
            f"{FOLDER}/play.cl",
            lambda step: copies * step["candidates_now"] * -(-step["most"] // PART),
            alone_on_cpu=True,
            items=items,
            scratch=boards,
            slices=Slices("first_group", lambda step: float(PART * max(1, plies))),
        )
        play, count = Phase((launch,)), phase(f"{FOLDER}/tally.cl", positions, alone_on_cpu=True)
        if p.runner in COPYING:
            transfers = Transfers(p)
            play = Phase((launch,), before=transfers.copy_in, host=transfers.copy_out)
            count = Phase(host=transfers.tally)
        each: dict[str, Any] = {"global_size": positions, "items": items, "scratch": boards}
        again = phase(f"{FOLDER}/replay.cl", **each) if p.record_game >= 0 else None
        return {
            "begin": phase(f"{FOLDER}/begin.cl", **each),
            "play": play,
            "tally": count,
            **({"replay": again} if again else {}),
        }

    def schedule(self, p: Parameters, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the steps of a batch; tick 0 prepares the boards."""
        if not tick:
            yield Step("begin")
            return
        for number, some in enumerate(launches(p), 1):
            yield Step("play", "" if p.runner == MODERN else f"launch {number}", some)
        yield Step("tally")

    def finish(self, p: Parameters) -> Sequence[Step]:
        """Return the step that replays the playout to be recorded, to find its moves."""
        return [Step("replay")] if p.record_game >= 0 else []

    def source(self, p: Parameters) -> Source:
        """Return macros and the board's tables; another position or seed needs no new kernels."""
        macros: dict[str, Any] = {
            **self.macros(p, "size", "winner", "find", "memory"),
            "PART": PART,
            "HELD": f"__{p.memory}",
            "HELD_ITEMS": HELD_ITEMS,
        }
        header = "#define WIDTH 1"
        if p.winner == "offline":
            header = f"#if DEVICE_IS_CPU\n#define WIDTH {WIDTH_ON_CPU}\n#else\n{header}\n#endif"
        if p.neighbours == "table":
            header += f"\n#define NEAR_TABLE 1\n{near_table(p.size)}"
        return Source(macros, header, arguments=dict(board_tables(p.size)))

    def work_done(self, config: HavannahConfig, ticks: int) -> float:
        """Return the number of playouts of all candidates."""
        return float(ticks * config.batch * len(config.cells()) * self.count(config))

    def plan_rows(self, config: HavannahConfig, p: Parameters) -> list[tuple[str, str]]:
        """Return rows with the position and the number of playouts."""
        return [
            ("position", f"size {p.size}, {sum(map(bool, p.stones))} stones"),
            ("candidates", f"{len(p.candidates)} of {NAMES[p.to_move]}"),
            ("playouts", f"{config.playouts:,} of each candidate"),
            *self._launch_rows(p),
        ]

    def _launch_rows(self, p: Parameters) -> list[tuple[str, str]]:
        if p.runner == MODERN:
            return []
        each = f"{p.together} of {min(p.active, len(p.candidates))} candidates"
        return [("launches of a batch", f"{sum(1 for _ in launches(p)):,}, {each} each")]


@lru_cache(maxsize=16)
def board_tables(size: int) -> Mapping[str, NDArray[Any]]:
    """Return the tables of a board that kernels use.

    ``spot_of`` (cell,) is 32 (y + 1) + x + 1, ``cell_of`` (spot,) its inverse, ``masks`` (spot,)
    the sides and corners that a spot is on, and ``marks`` (12, row) the cells of each as bits.
    """
    board, padded = board_of(size), 2 * size + 1
    spots = np.array([32 * (y + 1) + x + 1 for x, y in board.places], np.uint16)
    cell_of, masks = np.zeros(32 * padded, np.uint16), np.zeros(32 * padded, np.uint16)
    marks = np.zeros((12, padded), np.uint32)
    cell_of[spots] = np.arange(board.cells)
    masks[spots] = board.masks
    for (x, y), mask in zip(board.places, board.masks, strict=True):
        for bit in range(12):
            if mask >> bit & 1:
                marks[bit, y + 1] |= np.uint32(1 << (x + 1))
    return {"spot_of": spots, "cell_of": cell_of, "masks": masks, "marks": marks}


def is_faster_offline(device: Device | None, size: int) -> bool:
    """Return whether a device is faster if it finds the winner from the full board.

    An H100 does so 1.03 times as fast on a board of 4 cells a side, 3.3 times on one of 6 and 4.1
    times on one of 10 (benchmarks/results/havannah-h100.csv).
    """
    return device is not None and (device.kind != "cpu" or size >= OFFLINE_FROM)


def near_table(size: int) -> str:
    """Return the spots of the six neighbours of every spot as a table in constant memory."""
    board = board_of(size)
    spots = 32 * (2 * size + 1)
    near = [0] * (6 * spots)
    for x, y in board.places:
        spot = 32 * (y + 1) + x + 1
        for i, (dx, dy) in enumerate(DIRECTIONS):
            near[6 * spot + i] = spot + 32 * dy + dx
    return f"__constant ushort near_of[{len(near)}] = {{{', '.join(map(str, near))}}};"


def held_words(p: Parameters, copies: int) -> int:
    """Return how many 32-bit words the boards of a launch take in global memory."""
    if p.memory != "global":
        return 0
    most = max(some["candidates_now"] * -(-some["most"] // PART) for some in launches(p))
    items = copies * max(most, -(-len(p.candidates) // PART)) * PART
    padded = 2 * p.size + 1
    return items * (2 * padded + (p.cells + 32 * padded + 1) // 2)


def names_of(size: int) -> list[str]:
    """Return the names of all cells of a board."""
    board = board_of(size)
    return [name_of(board, cell) for cell in range(board.cells)]


def _streams(p: Parameters) -> list[int]:
    return [cell * p.limit for cell in p.candidates]


WORKLOAD = Havannah()
