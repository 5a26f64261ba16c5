"""Where are batches computed: in this process, in others of this machine, or by workers of Dask?

All executors return futures of `concurrent.futures`, so the loop that writes the study is the same.
"""

from __future__ import annotations

import logging
import math
import multiprocessing
import os
import re
import threading
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol

from societies import signals
from societies.errors import BuildError, DeviceError, SocietiesError, option
from societies.sweep.batch import Batch, Result, run_batch
from societies.sweep.program_cache import clear_programs
from societies.version import package_version

RENEW_AFTER = 16
"""Number of programs after which a process is replaced. Compilers never free some host memory for
each program (NVIDIA's about 100 MiB), so a process that is not replaced would fill the machine."""
MOST_FAILURES = 2
"""Failures in succession after which a device is left out: a new process may mend the first one."""
SCHEDULER_SECONDS = 15.0
"""Longest wait for an answer of a scheduler."""
LOUD = ("distributed", "tornado", "asyncio")
"""Loggers that are silenced while Dask computes, together with their child loggers."""
WORKERS_SECONDS = 2.0
"""Interval at which the workers are counted."""


class Lost(SocietiesError):
    """Raised if a process that computed a batch has died for an unknown reason."""


class Unreachable(SocietiesError):
    """Raised if the scheduler of Dask does not answer."""


class Executor(Protocol):
    """Computes batches.

    Attributes
    ----------
    notes : sentences about devices that were left out
    """

    notes: list[str]

    @property
    def slots(self) -> int:
        """Number of batches that can be submitted at a time."""

    def has_room(self, batch: Batch | None = None) -> bool:
        """Return whether a batch can be submitted now; None: one that has not failed before."""

    def submit(self, batch: Batch) -> Future[Result]:
        """Begin to compute a batch."""

    def settled(self, batch: Batch, future: Future[Result]) -> Batch | None:
        """Take note of how a batch has ended; return it if another device is to compute it."""

    def require_alive(self) -> None:
        """Raise an error if nothing more can be computed."""

    def close(self) -> None:
        """End everything that was started."""


class OneKind:
    """Base class of executors that do not tell devices apart."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def has_room(self, batch: Batch | None = None) -> bool:
        """Return True: `slots` alone limits what is submitted."""
        return True

    def settled(self, batch: Batch, future: Future[Result]) -> Batch | None:
        """Return None: what failed would fail again."""
        return None


class Here(OneKind):
    """Computes in this process, one batch at a time."""

    slots = 1

    def __init__(self, device: str) -> None:
        super().__init__()
        self._device = device

    def submit(self, batch: Batch) -> Future[Result]:
        """Compute a batch; the returned future is done."""
        future: Future[Result] = Future()
        try:
            future.set_result(run_batch(batch.on(self._device)))
        except Exception as error:
            future.set_exception(error)
        return future

    def require_alive(self) -> None:
        """Do nothing: this process is alive."""

    def close(self) -> None:
        """Clear the cache of programs."""
        clear_programs()


class Processes:
    """Computes in one process per device; a process is replaced after `RENEW_AFTER` programs.

    A batch that a device fails to compute is tried on another one. If that computes it, the device
    was the cause: it gets a new process, and is left out after `MOST_FAILURES` in succession.
    Meanwhile it gets no other batch, since a broken device would fail all of them at once.

    Parameters
    ----------
    devices : names, one for each process
    """

    def __init__(self, devices: Sequence[str]) -> None:
        self._lanes = {number: _Lane(device) for number, device in enumerate(devices)}
        self._computing: dict[Future[Result], int] = {}
        self.notes: list[str] = []

    @property
    def slots(self) -> int:
        """Number of devices that are not left out."""
        return len(self._lanes)

    def has_room(self, batch: Batch | None = None) -> bool:
        """Return whether a device is idle on which the batch may be computed."""
        return self._lane_for(batch) is not None

    def _lane_for(self, batch: Batch | None) -> int | None:
        """Return the number of an idle lane on which the batch may be computed."""
        busy = self._computing.values()
        idle = {number: lane for number, lane in self._lanes.items() if number not in busy}
        if batch is not None and batch.failed_on is not None and len(self._lanes) > 1:
            idle.pop(batch.failed_on, None)
        elif len(self._lanes) > 1:
            idle = {number: lane for number, lane in idle.items() if not lane.suspect}
        return min(idle, key=lambda number: idle[number].suspect, default=None)

    def submit(self, batch: Batch) -> Future[Result]:
        """Begin to compute a batch in a process that is idle; `settled` must follow."""
        number = self._lane_for(batch)
        assert number is not None
        future = self._lanes[number].submit(batch)
        self._computing[future] = number
        return future

    def settled(self, batch: Batch, future: Future[Result]) -> Batch | None:
        """Take note of how a batch has ended; return it if another device is to compute it."""
        number = self._computing.pop(future)
        error = future.exception()
        of_device = isinstance(error, DeviceError | Lost) and not isinstance(error, BuildError)
        if error is None:
            self._lanes[number].failures = 0
        if batch.failed_on is not None:
            self._judge(batch.failed_on, guilty=error is None)
        elif of_device and len(self._lanes) > 1:
            self._lanes[number].fail(error)
            return replace(batch, failed_on=number)
        return None

    def _judge(self, number: int, *, guilty: bool) -> None:
        """Let a device go on, unless what it failed to compute was computed too many times."""
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
        why = " ".join(str(lane.error).split())
        self.notes.append(f"device {lane.device} failed again and again and was left out: {why}")

    def require_alive(self) -> None:
        """Do nothing: processes that died are replaced."""

    def close(self) -> None:
        """End the processes."""
        for lane in self._lanes.values():
            lane.close()


class _Lane:
    """A device and its present process.

    Attributes
    ----------
    suspect : whether another device has yet to show why a batch failed
    failures, error : number of failures in succession that were the device's; the last error
    """

    def __init__(self, device: str) -> None:
        self.device, self._pool, self._seen = device, _pool(), set[str]()
        self._running: Future[Result] | None = None
        self.suspect, self.failures = False, 0
        self.error: BaseException | None = None

    @property
    def idle(self) -> bool:
        return self._running is None or self._running.done()

    def submit(self, batch: Batch) -> Future[Result]:
        program = repr(sorted(batch.settings.items()))
        if program not in self._seen and len(self._seen) >= RENEW_AFTER:
            self._renew()
        self._seen.add(program)
        outer: Future[Result] = Future()
        try:
            inner = self._pool.submit(run_batch, batch.on(self.device))
        except BrokenProcessPool:
            self._renew()
            inner = self._pool.submit(run_batch, batch.on(self.device))

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
        self._renew()

    def _renew(self) -> None:
        self.close()
        self._pool, self._seen = _pool(), set()

    def close(self) -> None:
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        busy = not self.idle
        self._pool.shutdown(wait=not busy, cancel_futures=True)
        for process in processes if busy else ():
            process.kill()


def _pool() -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")  # a device that is open does not survive a fork
    return ProcessPoolExecutor(1, mp_context=context, initializer=_begin, initargs=(os.getpid(),))


def _begin(parent: int) -> None:
    """Ignore signals, which the parent process handles, and exit when the parent has ended."""
    signals.ignore()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Dask(OneKind):
    """Computes on the workers of a Dask scheduler, each with its own devices.

    Parameters
    ----------
    scheduler : address of the scheduler; "": start a cluster on this machine
    workers : number of processes of that cluster
    device : device that every worker uses
    """

    def __init__(self, scheduler: str, workers: int, device: str) -> None:
        super().__init__()
        try:
            import distributed
        except ImportError as error:
            raise SocietiesError(
                f"{option('scheduler') if scheduler else option('workers')} needs the package "
                f"{error.name}, which is not installed: pip install 'societies[study]'"
            ) from None
        dask: Any = distributed  # it has no types
        self._silenced = _silence()  # our own errors report failures in one line
        self._address, self._device, self._cluster = scheduler, device, None
        if not scheduler:
            self._cluster = dask.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,  # the study and its report name failed runs
            )
        try:
            self._client = dask.Client(
                self._cluster or scheduler, timeout=SCHEDULER_SECONDS, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise Unreachable(
                f"{scheduler}: no scheduler of Dask answers ({error}); start one with "
                "'dask scheduler', or leave the address out"
            ) from None
        try:
            if not scheduler:
                self._client.wait_for_workers(workers, timeout=60)
            self._require_same_version()
        except BaseException:
            self.close()
            raise
        self._slots, self._look = 0, -math.inf

    @property
    def slots(self) -> int:
        """Two batches for each present worker: one is computed, the next one waits at the worker.

        Workers may join while a sweep runs, such as cluster jobs that waited in a queue.
        """
        now = time.monotonic()
        if now >= self._look and self._client.status == "running":
            self._look = now + WORKERS_SECONDS
            with suppress(OSError, TimeoutError):  # `require_alive` reports a lost scheduler
                self._slots = 2 * max(1, len(self._workers()))
        return max(1, self._slots)

    def _workers(self) -> dict[str, Any]:
        found: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return found

    def _require_same_version(self) -> None:
        """Raise an error if a worker has another version of societies than this process."""
        if not self._workers():
            raise Unreachable(
                f"{self._address}: the scheduler has no workers; start some with "
                f"'dask worker {self._address} --nthreads 1'"
            )
        here = package_version()
        for address, version in self._client.run(_version).items():
            if version != here:
                raise SocietiesError(
                    f"worker {address} has societies {version}, here is {here}: install the same "
                    "version on both"
                )

    def submit(self, batch: Batch) -> Future[Result]:
        """Send a batch to the scheduler, which tries another worker if one dies."""
        outer: Future[Result] = Future()
        inner = self._client.submit(run_batch, batch.on(self._device), pure=False)

        def over(done: Any) -> None:
            if outer.done():
                return
            try:
                if done.status == "finished":
                    outer.set_result(done.result(timeout=SCHEDULER_SECONDS))
                else:
                    error = done.exception(timeout=SCHEDULER_SECONDS)
                    outer.set_exception(_of_worker(error))
            except BaseException as error:
                with suppress(Exception):
                    outer.set_exception(Unreachable(f"{self._address}: {error}"))

        inner.add_done_callback(over)
        return outer

    def require_alive(self) -> None:
        """Raise an error if the scheduler no longer answers."""
        if self._client.status not in ("running", "connecting"):
            raise Unreachable(f"{self._address}: the scheduler no longer answers")
        if self._client.status == "connecting":
            time.sleep(SCHEDULER_SECONDS)
            if self._client.status != "running":
                raise Unreachable(f"{self._address}: the scheduler no longer answers")

    def close(self) -> None:
        """Clear the workers' programs and disconnect; end a cluster that was started here."""
        answers = self._client.status == "running"
        if self._cluster is None and answers:
            with suppress(Exception):
                self._client.run(clear_programs)
        with suppress(Exception):
            self._client.close(timeout=SCHEDULER_SECONDS)
        if self._cluster is not None:
            with suppress(Exception):
                self._cluster.close(timeout=SCHEDULER_SECONDS)
        for logger in self._silenced if answers else ():
            logger.disabled = False  # not after a loss, of which it would report more and more


def _silence() -> list[logging.Logger]:
    """Disable the loggers of Dask and its libraries, and return those that were enabled.

    They log pages of tracebacks when a scheduler is killed. Loggers of Dask's modules have levels
    and handlers of their own, so each one is disabled.
    """
    named = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in LOUD]
    found = [logging.getLogger(name) for name in {*named, *LOUD}]
    found = [logger for logger in found if not logger.disabled]
    for logger in found:
        logger.disabled = True
    return found


_ADDRESS = re.compile(
    r"((tcp|tls|ucx|wss?)://)?(\[[0-9a-fA-F:.%\w]+\]|[^\s:/\[\]]+):(?P<port>\d{1,5})/?"
)


def is_address(text: str) -> bool:
    """Whether a text can be the address of a scheduler: ``tcp://host:8786``, ``host:8786``.

    With any other text a client of Dask fails half constructed, and prints a traceback at exit.
    """
    found = _ADDRESS.fullmatch(text)
    return found is not None and 0 < int(found["port"]) < 65536


def _version() -> str:
    return package_version()


def _of_worker(error: BaseException | None) -> BaseException:
    """Return the error of a batch; if its workers died, as `Lost` with a plain message."""
    if type(error).__name__ == "KilledWorker":
        return Lost("the workers that computed it died, several in turn; is their memory full?")
    return error or Lost("the batch was given up by the scheduler")
