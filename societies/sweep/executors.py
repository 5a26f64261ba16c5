"""Where are batches computed: in this process, in others of this machine, or by workers of Dask?

All executors return futures of `concurrent.futures`, so the loop that writes the study is the same.
"""

from __future__ import annotations

import logging
import math
import re
import time
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from societies.errors import DeviceError, SocietiesError, option
from societies.opencl import choose_device
from societies.sweep.batch import Batch, Result, run_batch
from societies.sweep.lanes import MOST_OF_GPU, PROGRAMS_PER_PROCESS, Executor, Lost, Processes
from societies.sweep.program_cache import clear_programs
from societies.version import package_version
from societies.workload.running.devices import listed_devices, local_devices

SCHEDULER_SECONDS = 15.0
"""Longest wait for an answer of a scheduler."""
MANY_RUNS = 2048
"""Runs from which on a single GPU computes in another process than the one that writes."""
LOUD = ("distributed", "tornado", "asyncio")
"""Loggers that are silenced while Dask computes, together with their child loggers."""
WORKERS_SECONDS = 2.0
"""Interval at which the workers are counted."""


class Unreachable(SocietiesError):
    """Raised if the scheduler of Dask does not answer."""


class Here(Executor):
    """Computes in this process, one batch at a time."""

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

    def close(self) -> None:
        """Clear the cache of programs."""
        clear_programs()


class Dask(Executor):
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


def begun_early(device: str, workers: int, scheduler: str) -> Processes | None:
    """Return processes of several devices, which start while the sweep is checked; else None."""
    if workers or scheduler:
        return None
    with suppress(DeviceError):  # `executor_of` reports it, after mistakes in the sweep
        devices = local_devices(device)
        return Processes(devices, _most(device)) if len(devices) > 1 else None
    return None


def _most(device: str) -> int:
    """Return the most processes that a device gets: a list names each, and one is enough on a CPU.

    On a CPU a process uses all cores.
    """
    if listed_devices(device):
        return 1
    return MOST_OF_GPU if choose_device(device).kind == "gpu" else 1


def executor_of(
    device: str, workers: int, scheduler: str, programs: int, runs: int = 0
) -> Executor:
    """Return the executor that computes the batches of a sweep.

    This process itself uses a single device with few programs. Several devices, many programs, or
    ``runs`` for which a GPU may need several processes, get processes of their own: programs fill
    the memory of the process that builds them.
    """
    if workers:
        local_devices(device)  # reports an error of this machine once, not from every worker
    if workers or scheduler:
        return Dask(scheduler, workers, device)
    devices = local_devices(device)
    if devices == ["reference"]:
        return Here(devices[0])
    most = _most(device)
    many = programs > PROGRAMS_PER_PROCESS or (most > 1 and runs >= MANY_RUNS)
    return Processes(devices, most) if len(devices) > 1 or many else Here(devices[0])
