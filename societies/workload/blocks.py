"""How does a run go on, block of ticks by block, and when is what written of each?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from numpy.typing import NDArray

from societies.config.model import WorkloadConfig
from societies.output import ResultFile
from societies.workload.config import kept_ticks, recorded
from societies.workload.engines import BLOCK_SECONDS, ENDED, LOG_TICKS, Engine
from societies.workload.fields import State, kept
from societies.workload.interrupts import Interruption
from societies.workload.protocol import Block, Contents, LeftOut, Workload
from societies.workload.slices import paced


class Simulation:
    """The loop over blocks of ticks, and what is written of each.

    Attributes
    ----------
    tick : the last tick that is committed
    means : means over copies of the last tick's series, by variable; None before the first block
    why : why the run ended before its last tick, if it did
    """

    def __init__(
        self,
        workload: Workload[Any, Any],
        config: WorkloadConfig,
        engine: Engine,
        file: ResultFile,
        contents: Contents,
        stop: Interruption,
    ) -> None:
        self.workload, self.config, self.engine = workload, config, engine
        self.file, self.contents = file, contents
        self.every = file.checkpoint_interval(recorded(config, "checkpoint", "auto"))
        self.keep = kept_ticks(config)
        self.p = workload.parameters(config)
        self.fields = workload.arrays(self.p)
        self.stops = {*contents.stops(), *self.keep}
        self.stop = stop
        self.tick = 0
        self.means: dict[str, float] | None = None
        self.why = ""

    def blocks(self, tick: int, last: int) -> Iterator[int]:
        """Run from after a tick to the last one, or until all copies have ended.

        A block is written while the next one is computed, unless the state at its end is needed.
        Yields the tick up to which the file is written, at first the one begun with.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C; the state is saved.
        """
        length, self.tick = 1, tick
        self.contents.begin(self.file, tick, self.engine.state)
        self.file.rewind(tick)
        yield tick
        ended = self.engine.ended()
        if self.tick < last and ended is not None:  # before the first tick: there is only an end
            self._commit(ended, last, ended, cache(self.engine.state))
        elif not last:  # a run without ticks: what it finds is there after its start
            self._commit(0, last, ended, cache(self.engine.state))
        computed, behind = self.tick, None
        while computed < last and ended is None and not self.stop.is_set():
            began = time.perf_counter()
            end = block_end(computed, length, last, self.stops, self.every)
            try:
                with self.stop.at_once():
                    self.engine.run_ticks(computed + 1, end)
                    ended = self.engine.ended()
            finally:  # also if this block fails
                if behind:
                    self._write(behind, last, None)
            if behind:
                yield self.tick
            block = self._read(computed + 1, end if ended is None else ended)
            behind = block if self._can_wait(end, last) else None
            if behind is None:
                try:
                    self._write(block, last, ended)
                except LeftOut as left:
                    self._save(self.tick, left.state)
                    raise KeyboardInterrupt from None
                yield self.tick
            took = (time.perf_counter() - began) / self.engine.block_seconds
            length = _next_length(end - computed, took * BLOCK_SECONDS)
            computed = block.last
        if behind:
            self._write(behind, last, None)
            yield self.tick
        if self.tick < last and ended is None:
            self._save(self.tick, self.engine.state())
            raise KeyboardInterrupt

    def _can_wait(self, end: int, last: int) -> bool:
        """Return whether the block up to ``end`` may be written when the engine has gone on.

        Runs that may end at any tick are asked after each block whether they did, which waits.
        """
        there = end == last or end in self.stops or ENDED in self.fields
        return not there and not self.workload.timed

    def _read(self, first: int, last: int) -> Block:
        """Return what happened in the ticks that the engine has just been through."""
        ticks = last - first + 1
        state = cache(self.engine.state)
        logs = {name: log[:, :ticks] for name, log in self.engine.logs().items()}
        measured = {name: values[:ticks] for name, values in self.engine.measured().items()}
        block = Block(first, last, logs, self.engine.events(), state, self.stop, measured)
        self.workload.check(block, self.p)
        if self._saves(last):
            state()  # before the engine goes on
        return block

    def _saves(self, tick: int) -> bool:
        """Return whether a checkpoint is due after a tick that is not the last."""
        return bool(self.every) and tick % self.every == 0

    def _write(self, block: Block, last: int, ended: int | None) -> None:
        """Write and commit a block."""
        self.contents.write(self.file, block)
        self.means = self.contents.means(block)
        self._commit(block.last, last, ended, block.state)
        self.tick = block.last

    def _commit(self, end: int, last: int, ended: int | None, state: Callable[[], State]) -> None:
        """Commit the ticks up to ``end``; write the end of a run that is over, and checkpoints."""
        over = end == last or ended is not None
        if over:
            state()  # as it is before the steps that follow the last tick
            self.engine.finish()
            self.contents.finish(self.file, end, self.engine.state)
        if ended is None:
            self.file.commit(end)
        else:
            self.why = self.workload.why_ended(self.config, state())
            self.file.end(end, self.why)
        if end in self.keep:
            saved = kept(self.fields, state())
            self.file.checkpoint(end, saved, keep=self.keep.index(end))
        # This is done last: with the checkpoint of the last tick a file counts as complete.
        if over or self._saves(end):
            self._save(end, state())

    def _save(self, tick: int, state: Mapping[str, NDArray[Any]]) -> None:
        self.contents.write_checkpoint(self.file, state)
        if self.every:
            number = checkpoint_number(tick, self.every)
            self.file.checkpoint(tick, kept(self.fields, state), number)


def checkpoint_number(tick: int, every: int) -> int:
    """Return the number of a tick's checkpoint; one between two regular ones has the later's."""
    return -(-tick // every)


def block_end(tick: int, length: int, last: int, stops: Any, checkpoint: int) -> int:
    """Return the last tick of the block after ``tick``.

    That is the next tick at which the file must be written, at most ``length`` ticks on.
    """
    for end in range(tick + 1, min(tick + length, last) + 1):
        if end in stops or (checkpoint and end % checkpoint == 0):
            return end
    return min(tick + length, last)


def _next_length(ticks: int, seconds: float) -> int:
    """Return how many ticks take about `BLOCK_SECONDS`."""
    return paced(ticks, seconds, BLOCK_SECONDS, LOG_TICKS)
