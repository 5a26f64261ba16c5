"""Which states of a run are saved as checkpoints, and when?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from numpy.typing import NDArray

from societies.output import ResultFile
from societies.output.checkpoints import ROTATING, Sums
from societies.workload.declare.fields import State
from societies.workload.running.engines import ENDED, Engine
from societies.workload.running.seen import Read, SeenState
from societies.workload.running.state import checkpointed
from societies.workload.running.written import Contents

SAVE_SECONDS = 5.0
"""Least time between checkpoints if their interval is ``auto``: more would cost more time than the
ticks that they save. The last two of a run are always written."""

Due = Read | Callable[[], State]
"""A state to be saved: a copy, or a function that returns one (`Engine.held`)."""


class Saving:
    """The states of a run that are saved as checkpoints, of an interval that is ``asked`` for.

    A state is read or held when its tick is computed, and written after the tick was committed.

    Attributes
    ----------
    every : ticks from one checkpoint to the next; 0 for none
    due : states to be saved, by tick; as many as there are rotating slots
    """

    def __init__(
        self, engine: Engine, file: ResultFile, contents: Contents, asked: int | str
    ) -> None:
        self._engine, self._file, self._contents = engine, file, contents
        self._fields = engine.fields
        self.every = file.checkpoint_interval(asked)
        self.due: dict[int, Due] = {}
        self._auto = asked == "auto"
        # A run that may end at any tick does not know which checkpoints are its last two: it holds
        # the newest two, and writes them when it ends, or at a commit if they are due.
        self._sparing = self._auto and ENDED not in self._fields
        self._saved = time.perf_counter()
        self._number = 0  # number of the last checkpoint

    def begin(self, tick: int) -> None:
        """Begin after a tick."""
        self._number = checkpoint_number(tick, self.every) if self.every else 0

    @property
    def nbytes(self) -> int:
        """Bytes of the copies that are due."""
        copies = [one.state for one in self.due.values() if isinstance(one, Read)]
        return sum(array.nbytes for state in copies for array in state.values())

    def after(self, tick: int, last: int, state: SeenState, *, early: bool) -> None:
        """Read or hold the state of a tick before ``last`` if a checkpoint of it is due.

        With ``early`` another thread may begin to write it at once.
        """
        if not self._saves(tick, last):
            return
        self._number = checkpoint_number(tick, self.every)
        if self._sparing:
            self._saved, read = time.perf_counter(), state.read(hashed=False)
            self.due[tick] = read
            if early and read.sums is not None:
                self.write_early(tick, checkpointed(self._fields, read.state), read.sums.result)
        else:
            self.due[tick] = self._engine.held()
        for one in sorted(self.due)[:-ROTATING]:
            del self.due[one]  # a newer one would overwrite it in the file

    def _saves(self, tick: int, last: int) -> bool:
        """Return True if a checkpoint is due after a tick that is not the last."""
        if not self.every or tick % self.every:
            return False
        of_the_last_two = tick + self.every >= last
        # The number selects the slot in turn; the next checkpoint must not overwrite the newest.
        turn = checkpoint_number(tick, self.every) % ROTATING != self._number % ROTATING
        return of_the_last_two or (self._late() and turn) or not self._sparing

    def _late(self) -> bool:
        return time.perf_counter() - self._saved >= SAVE_SECONDS

    def due_until(self, tick: int, *, over: bool = False) -> dict[int, Due]:
        """Remove and return the states to be saved up to ``tick``; later ticks are not written.

        Until the run is over, states that are held are saved only so often (`SAVE_SECONDS`).
        """
        if not (over or self._sparing or not self._auto or self._late()):
            return {}
        return {one: self.due.pop(one) for one in sorted(self.due) if one <= tick}

    def write_early(self, tick: int, state: State, sums: Sums) -> None:
        """Begin to write a checkpoint in another thread, before its tick is committed."""
        if self.every:
            number = checkpoint_number(tick, self.every)
            self._file.begin_checkpoint(tick, state, number, sums)

    def write(self, due: Mapping[int, Due]) -> None:
        """Write the newest states, as many as there are rotating slots, and wait for them."""
        for tick in list(due)[-ROTATING:]:
            one = due[tick]
            read = one if isinstance(one, Read) else Read(one(), None, None)
            self._write(tick, read.state, read.sums)

    def stop(self, tick: int, state: Mapping[str, NDArray[Any]]) -> None:
        """Save the state of the last tick that is written, and those that were due before it."""
        self.write(self.due_until(tick, over=True))
        self._write(tick, state)

    def _write(
        self,
        tick: int,
        state: Mapping[str, NDArray[Any]],
        sums: Future[dict[str, int]] | None = None,
    ) -> None:
        self._saved = time.perf_counter()
        self._contents.write_checkpoint(self._file, state)
        if self.every:
            number = checkpoint_number(tick, self.every)
            known = None if sums is None else sums.result
            self._file.checkpoint(tick, checkpointed(self._fields, state), number, sums=known)


def checkpoint_number(tick: int, every: int) -> int:
    """Return the number of a tick's checkpoint; between two regular ones it is the later one's."""
    return -(-tick // every)
