"""How does the CPU calculate batches that are too small for another device?

The host of the published original calculated such batches. Here the CPU's OpenCL device does, with
the same kernels: it gets positions and returns moves or values. Only the parts of arrays that
belong to the batch are copied, so the size of the tree does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.games.ngtsg.tree import CLOSED
from societies.opencl import choose_device
from societies.workload.declare.phases import Step
from societies.workload.running.engines import DeviceEngine


class Few:
    """Host phases that calculate the small batches of all games on the CPU's OpenCL device."""

    def __init__(self, workload: Any, p: Any) -> None:
        self._workload, self._p = workload, p
        self._engine: DeviceEngine | None = None

    def phases(self) -> dict[str, Callable[[Mapping[str, Any], int], None]]:
        """Return the functions of the phases that the parameters require."""
        found: dict[str, Callable[[Mapping[str, Any], int], None]] = {}
        if self._p.min_branches:
            found["branch_few"] = self._branch
        if self._p.min_leaves:
            found["evaluate_few"] = self._evaluate
        return found

    def _branch(self, arrays: Mapping[str, Any], tick: int) -> None:
        """List the moves of every node of a small batch of branches."""
        p = self._p
        for game, level, batch in self._batches(arrays, p.min_branches, leaves=False):
            memory = self._calculated(arrays, game, level, batch, "branch")
            first = game * p.batch
            counts = memory["batch_counts"].get_part(0, len(batch))
            moves = memory["batch_moves"].get_part(0, len(batch) * p.width)
            arrays["batch_counts"].set_part(first, counts)
            arrays["batch_moves"].set_part(first * p.width, moves)

    def _evaluate(self, arrays: Mapping[str, Any], tick: int) -> None:
        """Close the nodes of a small batch of leaves, and update their parents."""
        p = self._p
        for game, level, batch in self._batches(arrays, p.min_leaves, leaves=True):
            memory = self._calculated(arrays, game, level, batch, "evaluate")
            values = memory["best"].get_part(1, len(batch))
            nodes = _Part(arrays, game * p.nodes, int(batch[0]), int(batch[-1]))
            best, states = nodes.get("best"), nodes.get("states")
            best[batch - batch[0]], states[batch - batch[0]] = values, CLOSED
            nodes.set("best", best)
            nodes.set("states", states)
            arrays["batch_leaves"].set_part(game, np.array([len(batch)], np.uint32))
            if level == 0:
                continue
            parents = nodes.get("parents")[batch - batch[0]].astype(np.int64)
            above = _Part(arrays, game * p.nodes, int(parents[0]), int(parents[-1]))
            best, still = above.get("best"), above.get("open_children")
            np.maximum.at(best, parents - parents[0], -values)
            np.subtract.at(still, parents - parents[0], 1)
            above.set("best", best)
            above.set("open_children", still)

    def _batches(self, arrays: Mapping[str, Any], least: int, leaves: bool) -> Any:
        """Yield game, level and nodes of every batch of a kind with fewer than ``least`` nodes."""
        p = self._p
        levels, sizes = arrays["level"].get(), arrays["batch_size"].get()
        leaf = arrays["horizon"].get() if p.deepening else np.full(len(levels), p.depth)
        for game, (level, size) in enumerate(zip(levels.tolist(), sizes.tolist(), strict=True)):
            kind = level == leaf[game] if leaves else level < leaf[game]
            if kind and 0 < size < least:
                batch = arrays["batch"].get_part(game * p.batch, size)
                yield game, level, batch.astype(np.int64)

    def _calculated(
        self,
        arrays: Mapping[str, Any],
        game: int,
        level: int,
        batch: NDArray[np.int64],
        phase: str,
    ) -> Mapping[str, Any]:
        """Run a phase for a batch on the CPU; return its arrays, with the batch from node 1 on."""
        p, size = self._p, len(batch)
        first, span = int(batch[0]), int(batch[-1] - batch[0]) + 1
        words = arrays["positions"].get_part((game * p.nodes + first) * p.words, span * p.words)
        if self._engine is None:
            own = self._workload.small(p, max(p.min_leaves, p.min_branches))
            self._engine = DeviceEngine(self._workload, own, choose_device("cpu"))
            self._engine.start()
        memory: Mapping[str, Any] = self._engine.run_step.arrays
        # Node 0 is the parent of all: kernels write values to it, which are never read.
        memory["positions"].set_part(p.words, words.reshape(span, p.words)[batch - first].ravel())
        memory["batch"].set_part(0, np.arange(1, size + 1, dtype=np.uint32))
        memory["batch_size"].set(np.array([size], np.uint32))
        memory["level"].set(np.array([level], np.uint32))
        self._engine.step(Step(phase), 1)
        return memory


class _Part:
    """Consecutive nodes of a game, first to last."""

    def __init__(self, arrays: Mapping[str, Any], whole: int, first: int, last: int) -> None:
        self._arrays, self._at, self._count = arrays, whole + first, last - first + 1

    def get(self, name: str) -> NDArray[Any]:
        """Return the entries of an array for these nodes."""
        part: NDArray[Any] = self._arrays[name].get_part(self._at, self._count)
        return part

    def set(self, name: str, values: NDArray[Any]) -> None:
        """Replace the entries of an array for these nodes."""
        self._arrays[name].set_part(self._at, values)
