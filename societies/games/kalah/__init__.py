"""What does the workload that searches the game tree of Kalah declare?

The rules are in ``reference_py/games/kalah``, the kernels in ``kernels/games/kalah``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from reference_py.games.kalah.parameters import Parameters
from societies.games.kalah import figure, search
from societies.games.kalah.config import KalahConfig
from societies.games.kalah.levels import search_levels
from societies.workload import Field, Phase, Source, Step, phase
from societies.workload.declare.naming import Imported


class Kalah(search.LevelSearch[KalahConfig, Parameters]):
    """Games of one size whose trees are searched in parallel, to one depth after the other."""

    name = "kalah"
    summary = "minimax of Kalah: the whole tree of a board, to one depth after the other"
    config = KalahConfig
    play = Imported("societies.games.kalah.play:play", of_setup=True)
    clock, copies, work = "depth", "game", "node"
    ticks_key = "depth"
    counted_by, timed = "nodes", True
    step_arguments = search.STEP_ARGUMENTS
    figure = staticmethod(figure.figure)

    def count(self, config: KalahConfig) -> int:
        """Return the number of games: that of the boards, unless ``replicates`` is given."""
        return int(getattr(config, "replicates", len(config.games())))

    def sizes(self, p: Parameters) -> dict[str, int]:
        """Return the numbers of cells, boards in memory, and levels."""
        return search.sizes([p])

    def fields(self, p: Parameters) -> Mapping[str, Field]:
        """Return the boards of a search and its results."""
        # A search to depth 0 is over before the first tick, so it has no series by depth.
        when = {"logged": True} if p.depth else {"final": True}
        return {**search.board_fields(), **search.answer_fields(**when)}

    def phases(self, p: Parameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase."""
        given = {"board_count": self.sizes(p)["board"]}
        file = f"{search.FOLDER}/begin.cl"
        return {
            "begin": phase(file, copies, alone_on_cpu=True, arguments=given),
            **search.phases([p], copies),
        }

    def schedule(self, p: Parameters, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the steps of a search; tick 0 is the search of no plies."""
        if tick or not p.depth:
            yield Step("begin")
            yield from search.steps(p, tick, seen)

    def source(self, p: Parameters) -> Source:
        """Return macros and boards; another board does not rebuild the kernels."""
        rules = self.macros(p, "pits", "empty_capture")
        arguments = {
            "given": len(p.games),
            "given_boards": np.array([one.board for one in p.games], np.uint8),
            "given_movers": np.array([one.to_move for one in p.games], np.uint8),
        }
        return Source({**rules, **search.macros([p])}, arguments=arguments)

    def plan_rows(self, config: KalahConfig, p: Parameters) -> list[tuple[str, str]]:
        """Return how the last search is divided into stages."""
        cut = search_levels(p, p.depth)
        first = " + ".join(str(stage.plies) for stage in cut.stages)
        batches = ", ".join(f"{stage.batch:,}" for stage in cut.stages)
        return [
            ("board", f"{p.pits} pits a side, {p.stones} stones a pit"),
            (
                "plies of the last search",
                f"{first} breadth first, {cut.last} in {search.last_phase(p)}",
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
