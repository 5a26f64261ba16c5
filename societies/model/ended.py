"""What does a file hold of copies that ended early? Nothing after their last tick."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.output import ResultFile
from societies.workload.declare.protocol import Block
from societies.workload.running.contents import SeriesAndDetail


class UntilTheEnd(SeriesAndDetail):
    """Contents in which series are missing (NaN) after the tick in the field ``ended`` of a copy.

    Means over copies leave them out. Logged fields have their `Field.none` after that tick, or NaN
    or, of integers that cannot be missing, 0. The detail is the state, which no longer changes.
    """

    def write(self, file: ResultFile, block: Block) -> None:
        """Write the series of a block, and the states in it that are recorded."""
        super().write(file, self._until_the_end(block))

    def means(self, block: Block) -> dict[str, float]:
        """Return means over the copies that had not ended before the block's last tick."""
        return super().means(self._until_the_end(block))

    def _mean(self, name: str, numbers: NDArray[Any]) -> float:
        there = numbers[~np.isnan(numbers)]
        return super()._mean(name, there) if there.size else math.nan

    def _until_the_end(self, block: Block) -> Block:
        """Return a block without the logs of ticks after the end of a copy."""
        ended = block.ended
        if ended is None or not (ended >= 0).any():
            return block
        ticks = np.arange(block.first, block.last + 1)
        over = (ended[:, None] >= 0) & (ticks[None] > ended[:, None])
        logs: dict[str, NDArray[Any]] = {}
        for name, log in block.logs.items():
            none = self.setup.fields[name].none
            missing = math.nan if log.dtype.kind == "f" else none or 0
            after = over.reshape(over.shape + (1,) * (log.ndim - 2))
            logs[name] = np.where(after, np.array(missing, log.dtype), log)
        return replace(block, logs=logs)
