"""How does a run proceed in blocks of ticks, and when are blocks and checkpoints written?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

from societies.background import in_background
from societies.errors import DeviceError
from societies.output import ResultFile
from societies.signals import Stopped
from societies.workload.declare.config import recorded, retained_ticks
from societies.workload.declare.fields import State
from societies.workload.declare.protocol import Setup
from societies.workload.running.appended import require_events
from societies.workload.running.engines import (
    BLOCK_SECONDS,
    ENDED,
    LOG_TICKS,
    Engine,
    ended_at,
)
from societies.workload.running.interrupts import Interruption
from societies.workload.running.pace import paced
from societies.workload.running.saving import Due, Saving
from societies.workload.running.seen import SeenState
from societies.workload.running.state import checkpointed
from societies.workload.running.waiting import Waiting
from societies.workload.running.written import Block, Contents, LeftOut

COMMIT_SECONDS = 1.0
"""Least time between commits: shorter blocks wait, and are written and committed together.

A variable of the file stores all ticks of a copy contiguously. So writing a few ticks of many
copies touches every page of it, and a commit writes all these pages to the disk.
"""

COMMIT_SHARE, RAREST_SECONDS = 0.02, 30.0
"""Slow commits take at most about this share of a run's time, because the pause before the next one
is longer, up to `RAREST_SECONDS`: computing at the same time does not hide all of their cost."""

WAITING_BYTES = 1 << 27
"""Blocks are written at once if their logs and states have more bytes than this."""


class _Written(NamedTuple):
    """Result of the thread that has written blocks."""

    tick: int
    means: dict[str, float]
    seconds: float
    room: Waiting
    """The emptied `Waiting` that held the blocks; it can be reused."""


class Simulation:
    """The loop over blocks of ticks, which computes and writes them.

    With ``hashed`` the hash of the last state, `state_sha256`, is computed while the end of the
    file is written.

    Attributes
    ----------
    tick : last tick that is committed
    means : means over copies of the last tick's series, by variable; None before the first block
    why : reason why the run ended before its last tick, or ""
    state_sha256 : hash of the checkpointed state after the last tick
    """

    def __init__(
        self,
        setup: Setup[Any, Any],
        engine: Engine,
        file: ResultFile,
        contents: Contents,
        stop: Interruption,
        *,
        hashed: bool = True,
    ) -> None:
        self.workload, self.config, self.engine = setup.workload, setup.config, engine
        self.file, self.contents = file, contents
        self.saving = Saving(engine, file, contents, recorded(self.config, "checkpoint", "auto"))
        self.keep = retained_ticks(self.config)
        self.p, self.fields = setup.p, setup.fields
        self._kinds = setup.workload.events(setup.p)
        self._words = setup.workload.clock, setup.workload.copies, setup.first
        self._detail_ticks = {*contents.stops()}
        self.stops = {*self._detail_ticks, *self.keep, *engine.stops}
        self._pauses = {*contents.pauses(), *self.keep, *engine.stops}
        self.stop, stop.let_go = stop, engine.let_go
        self._hashed = hashed
        self.tick = 0
        self.means: dict[str, float] | None = None
        self.why = ""
        self._waiting, self._spare = Waiting(), Waiting()
        self._writing: Future[_Written] | None = None
        self._committed = time.perf_counter()
        self._commit_took = 0.0
        self._hashing: Future[str] | None = None

    @property
    def state_sha256(self) -> str:
        """Hash of the checkpointed state after the last tick."""
        return self.engine.hash() if self._hashing is None else self._hashing.result()

    def blocks(self, tick: int, last: int) -> Iterator[int]:
        """Run the ticks after ``tick`` up to ``last``, or until all copies have ended.

        A block is written while the next one is computed, unless writing needs the state at its
        end. Yields first ``tick`` and then the last tick that was computed; the attribute `tick`
        is the last one written.

        Raises Stopped after a signal, with the state saved.
        """
        try:
            yield from self._blocks(tick, last)
        except DeviceError:
            if self.stop.again:  # what waits for a device may have been ended
                self.stop.check()
            raise
        finally:  # if the caller stops iterating, it closes the file next
            if self._writing is not None:
                wait([self._writing])

    def _blocks(self, tick: int, last: int) -> Iterator[int]:
        length, self.tick = 1, tick
        self.saving.begin(tick)
        self.contents.begin(self.file, tick, self.engine.state)
        self.file.rewind(tick)
        yield tick
        ended = self.engine.ended()
        if self.tick < last and ended is not None:  # all copies ended before the first tick
            self._commit(ended, last, ended, self._seen())
        elif not last:  # a run without ticks: its start computes the results
            self._commit(0, last, ended, self._seen())
        computed = self.tick
        while computed < last and ended is None and not self.stop.is_set():
            began = time.perf_counter()
            end = block_end(computed, length, last, self.stops, self.saving.every)
            behind = bool(self._waiting)
            self.engine.throttled = behind or self._writing is not None
            with self.salvaging(last), self._gathering(last), self.stop.at_once():
                self.engine.run_ticks(computed + 1, end)
            if self._writing is not None and self._writing.done():
                self._written()
            if self._enough_waits():
                self._start_writing()
            if behind:
                yield computed
            with self.salvaging(last), self.stop.at_once():
                self.engine.wait()  # here a second signal ends the wait for a device that hangs
                ends = self.engine.ended_copies()
            ended = ended_at(ends)
            with self.salvaging(last):  # a failed device or `Workload.check` raises here
                block = self._read(computed + 1, end, last, ends)
            if not self._can_wait(end, last, ended):
                if end in self._pauses:  # if `LeftOut` is raised, only this tick may be missing
                    self._write_waiting()
                try:
                    with self.salvaging(last):  # the end reads the device
                        if self._hashed and (end == last or ended is not None):
                            then = partial(self.saving.write_early, block.last)
                            cast(SeenState, block.state).begin(then)  # while the ticks are written
                        block = self._detailed(block)
                        self._write(self._waiting.joined(block), block, last, ended)
                except LeftOut as left:
                    self.saving.stop(self.tick, left.state)
                    raise Stopped(self.stop.number) from None
                yield self.tick
            else:
                self._waiting.add(block)
            took = (time.perf_counter() - began) / self.engine.block_seconds
            length = _next_length(end - computed, took * BLOCK_SECONDS)
            computed = block.last
        if self._waiting or self._writing is not None:
            self._write_waiting()
            yield self.tick
        if self.tick < last and ended is None:
            if self.tick:  # tick 0 is computed again instead: it never has a checkpoint
                with self.stop.at_once():
                    state = self.engine.state()
                self.saving.stop(self.tick, state)
            raise Stopped(self.stop.number)

    @contextmanager
    def salvaging(self, last: int) -> Iterator[None]:
        """If the body raises, first write the blocks computed before, if the file permits it."""
        try:
            yield
        except BaseException:
            self._written()
            if self._waiting and self.file.writable:
                self.file.rewind(self.tick)  # events may have been written, and not committed
                self._write_waiting()
            raise

    @contextmanager
    def _gathering(self, last: int) -> Iterator[None]:
        """Gather the waiting blocks in another thread while the body runs."""
        if not self._waiting:
            yield
            return
        gathering = in_background(self._waiting.gather, last)
        try:
            yield
        finally:
            gathering.result()

    def _can_wait(self, end: int, last: int, ended: int | None) -> bool:
        """Return True if the block up to ``end`` may be written after the engine has gone on."""
        must_write = end == last or end in self._pauses or ended is not None
        return not must_write and not self.workload.timed

    def _enough_waits(self) -> bool:
        """Return True if the waiting blocks are to be written now, during the next block."""
        pause = min(RAREST_SECONDS, max(COMMIT_SECONDS, self._commit_took / COMMIT_SHARE))
        late = self._writing is None and time.perf_counter() - self._committed >= pause
        nbytes = self._waiting.nbytes + self.saving.nbytes
        return bool(self._waiting) and (late or nbytes > WAITING_BYTES)

    def _seen(self) -> SeenState:
        """Return the present state; it must be read before the engine continues."""
        return SeenState(self.engine, self.fields, saved=bool(self.saving.every))

    def _read(self, first: int, last: int, end: int, ends: State) -> Block:
        """Return the block of ticks that the engine has just computed, up to the end of all copies.

        ``end`` is the run's last tick, ``ends`` the tick at which each copy ended, by its name.
        """
        ended = ended_at(ends)
        # `gather` copies waiting logs before the next reading.
        borrowed = self._can_wait(last, end, ended)
        last = last if ended is None else ended
        ticks = last - first + 1
        state = self._seen()
        logs = {name: log[:, :ticks] for name, log in self.engine.logs(borrowed=borrowed).items()}
        measured = {name: values[:ticks] for name, values in self.engine.measured().items()}
        events, over = self.engine.events(), ends.get(ENDED)
        require_events(self._kinds, events, range(first, last + 1), *self._words)
        block = Block(first, last, logs, events, state, self.stop, measured, over)
        self.workload.check(block, self.p)
        if last < end:
            self.saving.after(last, end, state, early=self._writing is None)
        if borrowed:
            block = self._detailed(block)
        # A block holds no state while it waits.
        return replace(block, state=self._seen()) if borrowed or last in self.saving.due else block

    def _detailed(self, block: Block) -> Block:
        """Return a block with what is recorded of the state at its end."""
        if block.last not in self._detail_ticks:
            return block
        return replace(block, detail={block.last: self.contents.detail(block.last, block.state())})

    def _start_writing(self) -> None:
        """Write and commit the waiting blocks in another thread."""
        self._written()
        waiting, self._waiting = self._waiting, self._spare
        due = self.saving.due_until(waiting.newest.last)
        self._writing = in_background(self._put, waiting, due)

    def _put(self, waiting: Waiting, due: Mapping[int, Due]) -> _Written:
        """Write and commit blocks, and checkpoints of their ends."""
        began = time.perf_counter()
        block = waiting.joined()
        self.contents.write(self.file, block)
        means = self.contents.means(waiting.newest)
        self.file.commit(block.last)
        waiting.clear()
        self.saving.write(due)
        return _Written(block.last, means, time.perf_counter() - began, waiting)

    def _written(self) -> None:
        """Wait for the thread that writes blocks, and raise its error if it failed."""
        if self._writing is None:
            return
        wait([self._writing])
        writing, self._writing = self._writing, None
        try:
            self.tick, self.means, self._commit_took, self._spare = writing.result()
        except BaseException:
            self._waiting.clear()  # later blocks would leave a gap in the file
            self.saving.due.clear()
            raise
        self._committed = time.perf_counter()

    def _write_waiting(self) -> None:
        """Write and commit the waiting blocks, and wait until they are written."""
        self._written()
        if self._waiting:
            self._start_writing()
            self._written()

    def _write(self, block: Block, newest: Block, last: int, ended: int | None) -> None:
        """Write and commit a block of joined blocks; ``newest`` is the last of these."""
        self._written()
        self.contents.write(self.file, block)
        self.means = self.contents.means(newest)
        self._commit(block.last, last, ended, cast(SeenState, block.state))  # see `_read`
        self.tick = block.last

    def _commit(self, end: int, last: int, ended: int | None, state: SeenState) -> None:
        """Commit the ticks up to ``end``; write due checkpoints and the end of a finished run."""
        over = end == last or ended is not None
        if over:
            # Read before `Workload.finish`, whose steps change no checkpointed array.
            read = state.read(hashed=self._hashed)
            self._hashing = read.digest
            self.engine.finish()
            self.contents.finish(self.file, end, self.engine.state)
        if ended is None:
            self.file.commit(end)
        else:
            self.why = self.workload.why_ended(self.config, state())
            self.file.end(end, self.why)
        self._waiting.clear()
        self._committed = time.perf_counter()
        if end in self.keep:
            saved = checkpointed(self.fields, state())
            self.file.checkpoint(end, saved, keep=self.keep.index(end))
        due = self.saving.due_until(end, over=over)
        if over:  # written last: the checkpoint of the last tick marks the file as complete
            due[end] = read
        self.saving.write(due)
        if ended is not None:
            self.file.shorten()


def block_end(tick: int, length: int, last: int, stops: Any, checkpoint: int) -> int:
    """Return the last tick of the block after ``tick``.

    This is the next tick at which the file must be written, but at most ``tick + length``.
    """
    for end in range(tick + 1, min(tick + length, last) + 1):
        if end in stops or (checkpoint and end % checkpoint == 0):
            return end
    return min(tick + length, last)


def _next_length(ticks: int, seconds: float) -> int:
    """Return how many ticks take about `BLOCK_SECONDS`."""
    return paced(ticks, seconds, BLOCK_SECONDS, LOG_TICKS)
