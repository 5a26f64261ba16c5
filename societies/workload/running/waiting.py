"""How do blocks of ticks wait until they are written together, as if they were one?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.workload.declare.fields import SERIES
from societies.workload.declare.protocol import Block

ROOM_BYTES = 1 << 28
"""Bytes of logs for which there is room at once; more are copied to where there is."""


class Waiting:
    """Blocks that follow each other, and their logs side by side along the tick.

    Series lie as the variables of a file do, each by itself with all ticks of a copy together, so
    that little is left to do when they are written. To lay out a block takes time in which a device
    can go on (`gather`). If it is broken off, it is done again when blocks are handed on.
    """

    def __init__(self) -> None:
        self._blocks: list[Block] = []  # without their logs where these are laid out
        self._gathered = 0  # blocks whose logs are
        self._logs: dict[str, NDArray[Any]] = {}
        self._room = 0  # ticks for which the logs have room

    def __bool__(self) -> bool:
        return bool(self._blocks)

    @property
    def nbytes(self) -> int:
        """Bytes of what waits."""
        late = self._blocks[self._gathered :]
        kinds = [block.logs for block in late] + [block.events for block in self._blocks]
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
        """Have a block wait after those that do."""
        self._blocks.append(block)

    def gather(self, last: int) -> None:
        """Lay out what was added, whose logs are not needed then, and may have been lent.

        ``last`` is the last tick up to which blocks may follow.
        """
        for at in range(self._gathered, len(self._blocks)):
            self._lay_out(self._blocks[at], last)
            self._gathered = at + 1
        for at, block in enumerate(self._blocks):
            if block.logs:
                self._blocks[at] = replace(block, logs={})

    def joined(self, *more: Block) -> Block:
        """Return what waits, and blocks after it that are not added, as one block.

        Its arrays are in the order of those of a block, and hold until blocks are added or laid out
        again.
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
        return replace(last, first=blocks[0].first, logs=logs, events=events)

    def clear(self) -> None:
        """Forget what has been written."""
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
        """Make room for so many ticks, and for those that follow; keep those in use."""
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
        # Only now, for any of this may be broken off.
        self._logs, self._room = larger, room
