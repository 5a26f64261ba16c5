"""What does a file contain for copies that ended early? Nothing after their last tick."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.output import ResultFile
from societies.workload.declare.fields import SERIES, State
from societies.workload.declare.protocol import Setup
from societies.workload.running.contents import SeriesAndDetail
from societies.workload.running.engines import ENDED
from societies.workload.running.written import Block


def contents_of_model(setup: Setup[Any, Any]) -> SeriesAndDetail:
    """Return the contents of the file, without series after the end of a copy."""
    ends = ENDED in setup.fields and SERIES in setup.fields
    return UntilTheEnd(setup) if ends else SeriesAndDetail(setup)


class UntilTheEnd(SeriesAndDetail):
    """Contents in which the series of a copy are missing (NaN) after the tick in its ``ended``.

    Means over copies leave them out. After that tick a logged field has its `Field.none`, else NaN,
    or 0 if it is an integer. The detail is the state, which no longer changes. Fields that are not
    in checkpoints are treated like logged ones, since a resumed run does not know them.
    """

    def detail(self, tick: int, state: State) -> State:
        """Return the recorded fields."""
        found = super().detail(tick, state)
        over = (state[ENDED] >= 0) & (state[ENDED] < tick)
        for name in found if over.any() else ():
            if not (self.setup.fields[name].saved or self.setup.fields[name].constant):
                found[name] = self._without(name, found[name], over)
        return found

    def write(self, file: ResultFile, block: Block) -> None:
        """Write the series of a block, and the states in it that are recorded."""
        super().write(file, self._until_the_end(block))

    def means(self, block: Block) -> dict[str, float]:
        """Return means over the copies that had not ended before the block's last tick."""
        return super().means(self._until_the_end(block))

    def _mean(self, name: str, numbers: NDArray[Any]) -> float:
        present = numbers[~np.isnan(numbers)]
        return super()._mean(name, present) if present.size else math.nan

    def _until_the_end(self, block: Block) -> Block:
        """Return a block without the logs of ticks after the end of a copy."""
        ended = block.ended
        if ended is None or not (ended >= 0).any():
            return block
        ticks = np.arange(block.first, block.last + 1)
        over = (ended[:, None] >= 0) & (ticks[None] > ended[:, None])
        logs = {name: self._without(name, log, over) for name, log in block.logs.items()}
        return replace(block, logs=logs)

    def _without(self, name: str, values: NDArray[Any], over: NDArray[np.bool_]) -> NDArray[Any]:
        """Return values of a field without those at which ``over`` is True, its first axes."""
        none = self.setup.fields[name].none
        missing = math.nan if values.dtype.kind == "f" else none or 0
        after = over.reshape(over.shape + (1,) * (values.ndim - over.ndim))
        return np.where(after, np.array(missing, values.dtype), values)
