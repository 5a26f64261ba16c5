"""How do several devices of this machine compute batches, though one of them may fail?"""

from __future__ import annotations

import math
import multiprocessing
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from typing import Any

from societies import signals
from societies.background import cores
from societies.errors import BuildError, DeviceError, SocietiesError
from societies.sweep.batch import Batch, Result, run_batch
from societies.sweep.program_cache import program_of
from societies.workload.running.devices import chosen_device

PROGRAMS_PER_PROCESS = 16
"""Number of programs after which a process is replaced. Compilers never free some host memory for
each program (NVIDIA's about 100 MiB), so a process that is not replaced would fill the machine."""
MOST_OF_GPU = 3
"""Most processes that a GPU gets without being asked for: it computes for one while others prepare
a batch or sort its results."""
MOST_IDLE = 0.05
"""Share of its time for which a GPU may have nothing to do before it gets another process, which
costs a core and some memory: 40,000 runs on an H100 took 86, 60 and 58 s with 1, 2 and 3."""
MOST_FAILURES = 2
"""Failures in succession after which a device is left out: a new process may mend the first one."""


class Lost(SocietiesError):
    """Raised if a process that computed a batch has died for an unknown reason."""


class Executor(ABC):
    """What computes batches; unless a class says otherwise, on devices that it does not tell apart.

    Attributes
    ----------
    notes : sentences about devices that were left out
    """

    def __init__(self) -> None:
        self.notes: list[str] = []

    @property
    def slots(self) -> int:
        """Number of batches that can be submitted at a time."""
        return 1

    def has_room(self, batch: Batch | None = None) -> bool:
        """Return whether a batch can be submitted now; None: one that has not failed before."""
        return True

    def programs(self) -> tuple[str, set[str]]:
        """Return the program that is ready on the next device, and those on the others."""
        return "", set()

    @abstractmethod
    def submit(self, batch: Batch) -> Future[Result]:
        """Begin to compute a batch."""

    def settled(self, batch: Batch, future: Future[Result]) -> Batch | None:
        """Take note of how a batch has ended; return it if another device is to compute it."""
        return None

    def require_alive(self) -> None:  # noqa: B027
        """Raise an error if nothing more can be computed."""

    @abstractmethod
    def close(self) -> None:
        """End everything that was started."""


class Processes(Executor):
    """Computes in one process per device, which is replaced after `PROGRAMS_PER_PROCESS` programs.

    A batch that a device fails to compute is tried on another one. If that computes it, the device
    was the cause: it gets a new process, and is left out after `MOST_FAILURES` in succession.
    Meanwhile it gets no other batch, since a broken device would fail all of them at once.

    Parameters
    ----------
    devices : names, one for each process
    most : most processes of a device; those beyond ``devices`` start once it was seen to be idle
    """

    def __init__(self, devices: Sequence[str], most: int = 1) -> None:
        super().__init__()
        self._lanes = {number: _Lane(device) for number, device in enumerate(devices)}
        self._most = most
        self._computing: dict[Future[Result], int] = {}

    @property
    def slots(self) -> int:
        """Number of processes whose devices are not left out."""
        return len(self._lanes)

    def has_room(self, batch: Batch | None = None) -> bool:
        """Return whether a device is idle on which the batch may be computed."""
        return self._lane_for(batch) is not None

    def _lane_for(self, batch: Batch | None) -> int | None:
        """Return the number of an idle lane on which the batch may be computed."""
        busy = self._computing.values()
        idle = {number: lane for number, lane in self._lanes.items() if number not in busy}
        if batch is not None and batch.failed_on is not None and len(self._lanes) > 1:
            where = self._elsewhere(batch.failed_on)
            idle = {number: lane for number, lane in idle.items() if number in where}
        elif len(self._lanes) > 1:
            idle = {number: lane for number, lane in idle.items() if not lane.suspect}
        return min(idle, key=lambda number: idle[number].suspect, default=None)

    def _elsewhere(self, number: int) -> set[int]:
        """Return the lanes of other devices than that of a lane; if there are none, other lanes."""
        device = self._lanes[number].device if number in self._lanes else None
        others = {one for one, lane in self._lanes.items() if lane.device != device}
        return others or set(self._lanes) - {number}

    def programs(self) -> tuple[str, set[str]]:
        """Return the program of the device that is next to be used, and those of the others."""
        number = self._lane_for(None)
        other = {lane.program for one, lane in self._lanes.items() if one != number}
        return "" if number is None else self._lanes[number].program, other

    def submit(self, batch: Batch) -> Future[Result]:
        """Begin to compute a batch in a process that is idle; `settled` must follow."""
        number = self._lane_for(batch)
        assert number is not None
        lane = self._lanes[number]
        future = lane.submit(batch, len(self._of(lane.device)))
        self._computing[future] = number
        return future

    def _of(self, device: str) -> list[_Lane]:
        return [lane for lane in self._lanes.values() if lane.device == device]

    def _grow(self, device: str) -> None:
        """Give a device another process if it was idle while those that it has were at work.

        Only while none of them computes: what they compute may take all of its memory.
        """
        own = self._of(device)
        computing = {id(self._lanes[number]) for number in self._computing.values()}
        if (
            len(own) < self._most
            and len(self._lanes) + 1 < cores()  # one is for this process
            and not any(id(lane) in computing for lane in own)
            and math.prod(lane.idle_share for lane in own) > MOST_IDLE
        ):
            for lane in own:
                lane.idle_share = 0.0  # until it is measured with the new one
            self._lanes[max(self._lanes) + 1] = _Lane(device)

    def settled(self, batch: Batch, future: Future[Result]) -> Batch | None:
        """Take note of how a batch has ended; return it if another device is to compute it."""
        number = self._computing.pop(future)
        error = future.exception()
        of_device = isinstance(error, DeviceError | Lost) and not isinstance(error, BuildError)
        if error is None:
            self._lanes[number].ended(future.result())
        if batch.failed_on is not None:
            self._judge(batch.failed_on, guilty=error is None)
        elif error is None:
            self._grow(self._lanes[number].device)
        elif of_device and len(self._lanes) > 1:
            self._lanes[number].fail(error)
            return replace(batch, failed_on=number)
        return None

    def _judge(self, number: int, *, guilty: bool) -> None:
        """Let a device continue, unless what it failed to compute was computed too many times."""
        lane = self._lanes.get(number)
        if lane is None:
            return
        lane.suspect = False
        lane.failures += guilty
        if (
            lane.failures < MOST_FAILURES
            or len(self._lanes) == 1
            or number in self._computing.values()
        ):
            return
        del self._lanes[number]
        lane.close()
        self._most = 1  # several processes may be why one fails
        what = f"{'a process of ' if self._of(lane.device) else ''}device {lane.device}"
        why = " ".join(str(lane.error).split())
        self.notes.append(f"{what} failed again and again and was left out: {why}")

    def close(self) -> None:
        """End the processes."""
        for lane in self._lanes.values():
            lane.close()


class _Lane:
    """A device and its present process.

    Attributes
    ----------
    program : the program of the last batch, see `program_of`
    suspect : whether another device has yet to show why a batch failed
    failures, error : number of failures in succession that were the device's; the last error
    idle_share : share of its last batch's time in which it gave the device nothing to do; 0 of its
        first batch, which builds kernels
    """

    def __init__(self, device: str) -> None:
        self.device, self._pool, self._seen = device, _pool(), set[str]()
        self.program = ""
        # Libraries and drivers are loaded while the study is checked and its file is made.
        self._running: Future[Any] = self._pool.submit(_load, device)
        self.suspect, self.failures = False, 0
        self.error: BaseException | None = None
        self.idle_share, self._ended = 0.0, 0.0

    @property
    def idle(self) -> bool:
        return self._running.done()

    def ended(self, result: Result) -> None:
        """Take note of a batch that was computed."""
        now, before = time.monotonic(), self._ended
        self.failures, self._ended = 0, now
        if before:
            self.idle_share = max(0.0, 1.0 - result.computing / (now - before))

    def submit(self, batch: Batch, sharing: int) -> Future[Result]:
        """Begin to compute a batch in one of ``sharing`` processes of the device."""
        given = batch.on(self.device, sharing)
        self.program = program_of(batch.settings)
        if self.program not in self._seen and len(self._seen) >= PROGRAMS_PER_PROCESS:
            self._replace_process()
        self._seen.add(self.program)
        outer: Future[Result] = Future()
        try:
            inner = self._pool.submit(run_batch, given)
        except BrokenProcessPool:
            self._replace_process()
            inner = self._pool.submit(run_batch, given)

        def over(done: Future[Result]) -> None:
            error = done.exception() if not done.cancelled() else CancelledError()
            if isinstance(error, BrokenProcessPool):
                error = Lost("the process that computed it was killed; is the host's memory full?")
            if error is not None:
                outer.set_exception(error)
            else:
                outer.set_result(done.result())

        self._running = outer
        inner.add_done_callback(over)
        return outer

    def fail(self, error: BaseException | None) -> None:
        """Wait for the verdict of another device; take a new process, which opens it again."""
        self.suspect, self.error = True, error
        self._replace_process()

    def _replace_process(self) -> None:
        self.close()
        self._pool, self._seen = _pool(), set()

    def close(self) -> None:
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        busy = not self.idle
        self._pool.shutdown(wait=not busy, cancel_futures=True)
        for process in processes if busy else ():
            process.kill()


def _load(device: str) -> None:
    """Load the libraries and drivers of a device; errors are left to the first batch."""
    with suppress(SocietiesError):
        chosen_device(device)


def _pool() -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")  # a device that is open does not survive a fork
    return ProcessPoolExecutor(1, mp_context=context, initializer=_begin, initargs=(os.getpid(),))


def _begin(parent: int) -> None:
    """Ignore signals, which the parent process handles, and exit when the parent has ended."""
    signals.ignore()
    signals.end_with(parent)
