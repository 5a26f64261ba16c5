"""What does the workload that searches Havannah by trees on the device declare?

The rules are in ``reference_py/games/havannah/grow.py``. A batch is one launch with a workgroup for
each tree, which plays out a fixed number of leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from reference_py.games.havannah.grow import TreeParameters
from societies.games.havannah import FOLDER
from societies.games.havannah import WORKLOAD as RATING
from societies.games.havannah.position import NAMES
from societies.games.havannah.search_config import HavannahSearchConfig, tree_bytes
from societies.words import counted
from societies.workload import Field, Launch, Phase, Scratch, Source, Step, Workload, phase

TREE_ITEMS = 64
"""Work-items per tree on a GPU; on a CPU a tree has one."""


class HavannahSearch(Workload[HavannahSearchConfig, TreeParameters]):
    """A position whose moves are searched by trees, which grow by playouts."""

    name = "havannah_search"
    summary = "UCT of Havannah: the best move, found by trees of moves that the device keeps"
    config = HavannahSearchConfig
    clock, copies, work = "batch", "game", "playout"
    twins, items, numbered = "reference_py.games.havannah", TREE_ITEMS, True
    report_class = "societies.games.havannah.results:HavannahSearchReport"

    def sizes(self, p: TreeParameters) -> dict[str, int]:
        """Return the numbers of trees, positions per tree, cells, and cells with estimates."""
        return {
            "tree": p.trees,
            "node": p.nodes,
            "cell": p.cells,
            "estimate": p.cells if p.rave else 0,
        }

    def fields(self, p: TreeParameters) -> Mapping[str, Field]:
        """Return the position, the trees, and the sums over all trees for each move."""
        constant, sure = partial(Field, constant=True), (0, 4)
        logged = partial(Field, ("cell",), logged=True)
        tree, move = partial(Field, ("tree",)), partial(Field, ("tree", "node", "cell"))
        estimate = partial(Field, ("tree", "node", "estimate"), "uint32")
        stones = "stones of the position: 1 white, 2 black"
        results = "0 nothing, 1 taken, 2 wins, 3 loses, 4 ties"
        after = "position after a move, 0 for none"
        halves = "of these, as who makes the move sees them"
        return {
            "board": constant(("cell",), "uint8", "1", stones, initial=lambda p: p.stones),
            "to_move": constant((), "uint8", "1", "who is to move", initial=lambda p: p.to_move),
            "stream": constant((), "uint64", "index", "stream of playout 0"),
            "node_count": tree("uint32", "positions", "positions of a tree", within=(1, p.nodes)),
            "played": tree("uint32", "playouts", "playouts of a tree"),
            "solved": tree("uint8", "1", "what is certain of the move to the root", within=sure),
            "visits": move("uint32", "playouts", "playouts below a move"),
            "halves": move("uint32", "half wins", halves),
            "below": move("uint32", "index", after, within=(0, p.nodes - 1)),
            "known": move("uint8", "1", results, within=sure),
            "seen": estimate("playouts", "playouts below a position with such a stone"),
            "gained": estimate("half wins", "half wins in these"),
            "playouts": logged("int64", "playouts", "playouts of all trees"),
            "points": logged("float64", "playouts", "playouts won, a draw being half of one"),
            "certain": logged("uint8", "1", f"what is certain of a move: {results}", within=sure),
        }

    def phases(self, p: TreeParameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase."""
        trees, padded = copies * p.trees, 2 * p.size + 1
        board = {
            "spots": Scratch((trees, p.cells), "uint16"),
            "rows": Scratch((trees, 4 * padded), "uint32"),
            "parents": Scratch((trees, 2 * 32 * padded), "uint16"),
        }
        file = f"{FOLDER}/grow.cl"
        launch = Launch(file, groups=trees, alone_on_cpu=True, items=TREE_ITEMS, scratch=board)
        return {
            "plant": phase(f"{FOLDER}/plant.cl", global_size=trees * p.cells),
            "grow": Phase((launch,)),
            "gather": phase(f"{FOLDER}/gather.cl", global_size=copies * p.cells),
        }

    def schedule(self, p: TreeParameters, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the steps of a batch; tick 0 plants the trees."""
        if not tick:
            yield Step("plant")
            return
        yield Step("grow")
        yield Step("gather")

    def source(self, p: TreeParameters) -> Source:
        """Return macros and the board's tables; another position or seed needs no new kernels."""
        of_playouts: Any = p
        board = RATING.source(of_playouts)
        macros = {**board.macros, "RAVE": bool(p.rave), "TREE_ITEMS": TREE_ITEMS}
        return Source(macros, self.lookups(p) + board.header, arguments=board.arguments)

    def work_done(self, config: HavannahSearchConfig, ticks: int) -> float:
        """Return the number of playouts of all trees, if none of them is solved."""
        return float(ticks * config.leaves * config.each * config.trees * self.count(config))

    def plan_rows(self, config: HavannahSearchConfig, p: TreeParameters) -> list[tuple[str, str]]:
        """Return rows with the position and the size of the trees."""
        nbytes = p.trees * tree_bytes(p.size, p.nodes, p.rave)
        each = f"{p.nodes:,} positions each, {nbytes / 2**20:.0f} MiB in all"
        return [
            ("position", f"size {p.size}, {sum(map(bool, p.stones))} stones"),
            ("to move", NAMES[p.to_move]),
            ("trees", f"{counted(p.trees, 'tree')} of {each}"),
        ]


WORKLOAD = HavannahSearch()
