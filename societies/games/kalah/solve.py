"""What does the workload that solves small games of Kalah declare?

A table holds the value of every board, layer after layer: the boards with one stone in the pits,
with two, and so on. It is filled backwards from the end of the games, so every board is evaluated
once. Only starts with more stones than the table are searched, until they reach its boards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_py.copies import Copy
from reference_py.games.kalah import above
from reference_py.games.kalah.layer import layer_boards, most_potential
from reference_py.games.kalah.parameters import UNSOLVED, SolveParameters
from societies.games.kalah.search import FOLDER, PART, TWINS
from societies.games.kalah.solve_config import MOST_STONES, KalahSolveConfig
from societies.workload import Field, Launch, Phase, Slices, Source, Step, Workload, phase

if TYPE_CHECKING:
    from societies.opencl import Device

MEMORY_SHARE = 2
"""The tables of all games get 1 / `MEMORY_SHARE` of a device's memory."""


class KalahSolve(Workload[KalahSolveConfig, SolveParameters]):
    """Games with few pits and stones, whose boards all get their exact values."""

    name = "kalah_solve"
    summary = "small games of Kalah solved exactly, by a table of all boards"
    config = KalahSolveConfig
    clock, copies, work = "layer", "game", "board"
    counted_by, timed = "boards", True
    step_arguments = ("wanted", "most")
    numpy, twins, items = True, TWINS, PART
    part_is_phase = True
    report_class = "societies.games.kalah.solve_report:SolveReport"

    def ticks(self, config: KalahSolveConfig) -> int:
        """Return the last layer of the largest table."""
        return config.parameters().table

    def count(self, config: KalahSolveConfig) -> int:
        """Return the number of games: all configured ones, unless ``replicates`` is given."""
        every = len(config.pits) * len(config.empty_capture)
        return int(getattr(config, "replicates", every))

    def sizes(self, p: SolveParameters) -> dict[str, int]:
        """Return the numbers of boards of the largest table, and of starts."""
        entries = max(comb(p.layers(pits) + 2 * pits, 2 * pits) for pits in p.pits)
        return {"entry": entries, "start": p.stones}

    def fields(self, p: SolveParameters) -> Mapping[str, Field]:
        """Return the table, and the margins of the starts."""
        won = "stones by which the side to move wins what is in the pits"
        wins = "by which the first player wins with 1, 2, ... stones a pit; -32768: not solved"
        captures = "whether the game has the rule empty_capture"
        at_end = partial(Field, final=True)
        return {
            "values": Field(("entry",), "int8", "stones", won),
            "margin": at_end(("start",), "int16", "stones", wins, initial=UNSOLVED, none=UNSOLVED),
            "pits_a_side": at_end((), "uint8", "pits", "pits of a side of the game"),
            "captures_empty": at_end((), "uint8", "1", captures),
            "boards": Field((), "int64", "boards", "boards of the layer", logged=True),
        }

    def phases(self, p: SolveParameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase, and the host's search above the table."""
        given = {"value_count": self.sizes(p)["entry"]}
        filling = Launch(
            f"{FOLDER}/fill.cl",
            lambda step: copies * -(-step["most"] // PART),
            items=PART,
            arguments=given,
            slices=Slices("first_group", lambda step: float(PART)),
        )
        reading = phase(f"{FOLDER}/margins.cl", global_size=copies, arguments=given)

        def search(arrays: Mapping[str, Any], tick: int) -> None:
            now = {name: arrays[name].get() for name in self.fields(p)}
            for game in range(copies):
                state = {name: array[game] for name, array in now.items()}
                one = Copy(game, state)
                above.above(p, one, tick)
            arrays["margin"].set(now["margin"])

        top = {"above": Phase(host=search)} if self._has_more(p) else {}
        return {"fill": Phase((filling,)), "margins": reading, **top}

    def _has_more(self, p: SolveParameters) -> bool:
        """Return whether a start has more stones than its table."""
        return any(p.layers(pits) < 2 * pits * p.stones for pits in p.pits)

    def schedule(self, p: SolveParameters, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the steps of a layer, boards of the smallest potential first."""
        if not tick:
            return
        here = [pits for pits in p.pits if tick <= p.layers(pits)]
        most = max(layer_boards(2 * pits, tick) for pits in here)
        for wanted in range(max(most_potential(pits, tick) for pits in here) + 1):
            yield Step("fill", f"potential {wanted}", {"wanted": wanted, "most": most})
        yield Step("margins")
        if tick == p.table and self._has_more(p):
            yield Step("above")

    def source(self, p: SolveParameters) -> Source:
        """Return macros, binomial coefficients and the games."""
        cells, stones = 2 * max(p.pits), p.table
        rows = [[comb(n, k) for k in range(cells + 1)] for n in range(stones + cells + 1)]
        arguments = {
            "binomials": np.array(rows, np.uint64),
            "given": len(p.games),
            "given_pits": np.array([one.pits for one in p.games], np.uint32),
            "given_captures": np.array([one.empty_capture for one in p.games], np.uint32),
        }
        return Source({"MOST_CELLS": cells, "COLUMNS": cells + 1, "PART": PART}, "", arguments)

    def plan_rows(self, config: KalahSolveConfig, p: SolveParameters) -> list[tuple[str, str]]:
        """Return a row for each game with the size of its table."""
        tables = (
            f"{pits} pits: {comb(p.layers(pits) + 2 * pits, 2 * pits):,} boards with at most "
            f"{p.layers(pits)} stones"
            for pits in p.pits
        )
        return [("table", one) for one in tables]

    def device_rows(self, config: KalahSolveConfig, device: Device) -> list[tuple[str, str]]:
        """Return the most stones of a table that fits the memory of the device."""
        entries = min(device.max_alloc, device.global_memory // MEMORY_SHARE) // self.count(config)
        cells = 2 * max(config.pits)
        most = max(n for n in range(MOST_STONES + 1) if n == 0 or comb(n + cells, cells) <= entries)
        return [
            (
                "room on the device",
                f"for tables of {max(config.pits)} pits with at most {most} stones, "
                f"{comb(most + cells, cells):,} boards",
            )
        ]


WORKLOAD = KalahSolve()
