"""How are consecutive blocks of ticks collected, to be written to the file as one block?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.workload.declare.fields import SERIES
from societies.workload.running.written import Block

ROOM_BYTES = 3 << 26
"""Bytes of logs for which memory is allocated first; it is enlarged when it is full."""


class Waiting:
    """Consecutive blocks that are not yet written, with their logs joined along the tick.

    The logs of series have the memory order of the file's variables (series, copy, tick), so that
    writing them is quick. Copying a block into this order takes time, so `gather` does it while the
    device computes. If `gather` is interrupted, `joined` copies the remaining blocks.
    """

    def __init__(self) -> None:
        self._blocks: list[Block] = []  # without logs once these are in `_logs`
        self._gathered = 0  # number of blocks whose logs are in `_logs`
        self._logs: dict[str, NDArray[Any]] = {}
        self._room = 0  # capacity of `_logs` in ticks

    def __bool__(self) -> bool:
        return bool(self._blocks)

    @property
    def nbytes(self) -> int:
        """Bytes of the logs, events and states that wait."""
        late = self._blocks[self._gathered :]
        kinds = [block.logs for block in late] + [block.events for block in self._blocks]
        kinds += [state for block in self._blocks for state in block.detail.values()]
        if self._gathered:
            ticks = self._blocks[self._gathered - 1].last + 1 - self._blocks[0].first
            kinds.append({name: log[:, :ticks] for name, log in self._logs.items()})
        return sum(array.nbytes for arrays in kinds for array in arrays.values())

    @property
    def newest(self) -> Block:
        """The block that was added last."""
        block = self._blocks[-1]
        if self._gathered < len(self._blocks):
            return block
        first = self._blocks[0].first
        ticks = slice(block.first - first, block.last + 1 - first)
        return replace(block, logs={name: log[:, ticks] for name, log in self._logs.items()})

    def add(self, block: Block) -> None:
        """Append a block."""
        self._blocks.append(block)

    def gather(self, last: int) -> None:
        """Copy the logs of the added blocks, which may be borrowed; they are released afterwards.

        ``last`` is the last tick of the run, which limits the memory that is allocated.
        """
        for at in range(self._gathered, len(self._blocks)):
            self._lay_out(self._blocks[at], last)
            self._gathered = at + 1
        for at, block in enumerate(self._blocks):
            if block.logs:
                self._blocks[at] = replace(block, logs={})

    def joined(self, *more: Block) -> Block:
        """Return the waiting blocks, followed by ``more``, as one block; ``more`` is not added.

        Its arrays have the axes of a block's arrays, and are valid until blocks are next added or
        gathered.
        """
        blocks = [*self._blocks, *more]
        last = blocks[-1]
        if len(blocks) == 1 and not self._gathered:
            return last
        self.gather(last.last)
        for block in more:
            self._lay_out(block, last.last)
        ticks = last.last - blocks[0].first + 1
        logs = {name: log[:, :ticks] for name, log in self._logs.items()}
        events = {
            name: np.concatenate([block.events[name] for block in blocks]) for name in last.events
        }
        detail = {tick: state for block in blocks for tick, state in block.detail.items()}
        return replace(last, first=blocks[0].first, logs=logs, events=events, detail=detail)

    def clear(self) -> None:
        """Remove all blocks, after they were written; free the memory if it is large."""
        self._blocks, self._gathered = [], 0
        if sum(log.nbytes for log in self._logs.values()) > ROOM_BYTES:
            self._logs, self._room = {}, 0

    def _lay_out(self, block: Block, last: int) -> None:
        first = self._blocks[0].first
        start, end = block.first - first, block.last + 1 - first
        if end > self._room:
            self._enlarge(block.logs, start, end, last + 1 - first)
        for name, log in block.logs.items():
            self._logs[name][:, start:end] = log

    def _enlarge(self, logs: Mapping[str, NDArray[Any]], used: int, ticks: int, most: int) -> None:
        """Enlarge the logs to at least ``ticks`` ticks; copy the first ``used`` ticks.

        More is allocated for ticks that follow, but not for more than ``most`` ticks.
        """
        each = sum(log[:, :1].nbytes for log in logs.values())
        room = max(ticks, min(most, max(2 * ticks, ROOM_BYTES // max(1, each))))
        larger = {}
        for name, log in logs.items():
            copies, _, *others = log.shape
            if name == SERIES:
                larger[name] = np.moveaxis(np.empty((*others, copies, room), log.dtype), 0, 2)
            else:
                larger[name] = np.empty((copies, room, *others), log.dtype)
            if used:
                larger[name][:, :used] = self._logs[name][:, :used]
        # Assigned last, because a signal may interrupt any of the lines above.
        self._logs, self._room = larger, room
