"""How are the missing runs of a sweep computed, and written to the study as soon as they end?"""

from __future__ import annotations

import os
import time
import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from societies import signals
from societies.errors import (
    BuildError,
    Interrupted,
    SocietiesError,
    SweepWarning,
    option,
)
from societies.output.files import require_target
from societies.output.study import StudyFile
from societies.output.study_layout import DONE, FAILED, PENDING
from societies.signals import Stopped
from societies.sweep.batch import Batch, Result, WrongVersion
from societies.sweep.batch_sizes import FIRST_BATCH, BatchSizes
from societies.sweep.document import Sweep, load_sweep
from societies.sweep.executors import Dask, Unreachable, begun_early, executor_of
from societies.sweep.lanes import Executor, Lost
from societies.sweep.layout import Runs
from societies.sweep.order import in_turn
from societies.sweep.points import Bucket, groups
from societies.sweep.prepare import (
    Prepared,
    opened_study,
    prepared,
    require_programs,
    require_sense,
    warnings_of,
)
from societies.sweep.program_cache import program_of
from societies.sweep.report import Progress, SweepReport, Watch, report_of
from societies.sweep.until import run_until
from societies.words import counted
from societies.workload.running.interrupts import Interruption, interrupts

SMALLEST = 16
"""Towards the end batches on several devices become smaller, so that all devices end at about the
same time, but not smaller than this part of what `BatchSizes` says."""
MOST_SEARCHED = 1024
"""Most groups of runs among which one is searched whose program a device has already."""
BATCHES_OF_WORKER = 4
"""Least number of batches for each worker, so that all workers end at about the same time."""
MOST_OF_WORKER = 1024
"""Most runs of a worker's batch, because its results are sent in one piece."""
_OWN = ("source", "out", "replicates", "resume")
LOOK_SECONDS = 2.0
"""Seconds after which the scheduler is checked if no batch has ended."""


def run(
    source: Sweep | str | os.PathLike[str] | Mapping[str, Any],
    *,
    out: str | Path | None = None,
    device: str = "auto",
    resume: bool = False,
    overwrite: bool = False,
    retry_failed: bool = False,
    add_points: bool = False,
    replicates: int | None = None,
    part: tuple[int, int] | None = None,
    workers: int = 0,
    scheduler: str = "",
    batch: int | None = None,
    yes: bool = False,
    allow_programs: bool = False,
    progress: Watch | None = None,
) -> SweepReport:
    """Carry out a sweep and write its study while it runs.

    Parameters
    ----------
    source : a sweep from `load_sweep`, or an argument for it
    out : path, optional
        The study, one HDF5 file; default: in the current folder, with the name of the sweep's file.
    device : str
        As for `societies.run`. ``auto`` and ``gpu`` use all GPUs like the best one, however few
        runs there are.
    resume : compute only the missing runs of an existing study
    overwrite : replace an existing file
    retry_failed : compute only the failed runs of an existing study
    add_points : add the points that a study does not have yet
    replicates : runs of each point, instead of the sweep's number; a study with fewer runs grows
    part : (int, int), optional
        (k, n): the k-th of n parts of the points, in a file of its own; see `merge`.
    workers : processes of a local cluster of Dask; 0: none
    scheduler : address of a running scheduler of Dask, whose workers compute
    batch : int, optional
        Runs of a batch. Default: as many as take about ten seconds. The results do not depend on
        it.
    yes : allow more than `prepare.MANY` runs
    allow_programs : as for `societies.run`, here and on all workers
    progress : called with a `Progress` after every batch

    Returns
    -------
    SweepReport
        With ``failures``: a run that fails does not stop the others.

    Raises
    ------
    ConfigError
        If the sweep or one of its points is not valid, before anything is computed.
    OutputError
        If the study cannot be written or is one of another sweep.
    SocietiesError
        If no worker can compute anything; runs that were done before are in the file.
    Interrupted
        After Ctrl-C, SIGTERM or SIGHUP; runs that were done before are in the file.

    Warns
    -----
    SweepWarning
        If the sweep has very many programs to compile.
    """
    given = {name: one for name, one in locals().items() if name not in _OWN}
    began = time.perf_counter()
    sweep = source if isinstance(source, Sweep) else load_sweep(source)
    path = Path(out) if out is not None else Path(f"{Path(sweep.name).stem}.h5")
    if sweep.until is not None and replicates is None:
        return run_until(partial(run, sweep, out=path), sweep.until, path, resume, **given)
    require_sense(resume, overwrite, retry_failed, add_points, part, workers, scheduler, batch)
    goes_on = resume or retry_failed or add_points
    with ExitStack() as stack:
        executor: Executor | None = None
        if not goes_on:
            executor = begun_early(device, workers, scheduler)
            if executor is not None:
                stack.callback(executor.close)
        plan = prepared(sweep, replicates, part, yes=yes)
        require_programs(plan, allow_programs)
        for text in warnings_of(plan):
            warnings.warn(text, SweepWarning, stacklevel=2)
        if not goes_on:  # first make sure that something can be computed, then replace a file
            require_target(path, 0, overwrite=overwrite)
            if executor is None:
                runs = len(plan.runs.number)
                executor = executor_of(device, workers, scheduler, len(plan.buckets), runs)
                stack.callback(executor.close)
        file, ready = stack.enter_context(
            opened_study(plan, path, goes_on, overwrite=overwrite, grow=add_points)
        )
        wrong = len(file.damaged)
        said = "was damaged and is" if wrong == 1 else "were damaged and are"
        notes = [f"{counted(wrong, 'run')} {said} computed again"] if wrong else []
        if file.mended:
            notes.append("the status of runs was damaged; their checksums tell it")
        rows = np.flatnonzero(file.status == (FAILED if retry_failed else PENDING)).tolist()
        session = _Session(ready, file, rows, progress, batch, allow_programs)
        if rows and executor is None:
            executor = executor_of(device, workers, scheduler, session.programs, len(rows))
            stack.callback(executor.close)
        try:
            if executor is not None:
                session.run(executor)
        except KeyboardInterrupt as error:
            number = signals.number_of(error)
            raise Interrupted(f"interrupted; {_state(file)}", path, number) from None
        except (Unreachable, WrongVersion) as error:
            raise type(error)(f"{error}\n{_state(file)}") from None
        notes += executor.notes if executor is not None else []
        return session.report(time.perf_counter() - began, notes)


def _state(file: StudyFile) -> str:
    done = int((file.status == DONE).sum())
    resume = option("resume", True)
    return f"{done} of {len(file.runs)} runs are done in {file.path}; {resume} continues"


def _why(error: BaseException) -> str:
    """Return one line that says why a run failed."""
    text = " ".join(str(error).split())
    if isinstance(error, SocietiesError):
        return text
    if isinstance(error, MemoryError):
        return "the memory of the computer that computed it is full" + (f": {text}" if text else "")
    return f"{type(error).__name__}: {text}"


@dataclass
class _Session:
    """The runs that one call of `run` computes, and their progress.

    Attributes
    ----------
    plan, file : the sweep, and the study that receives its results
    rows : rows of the file that are to be computed
    watch : called with the progress
    asked : runs of a batch, if the caller has set it
    allow_programs : whether programs that configurations name may run
    """

    plan: Prepared
    file: StudyFile
    rows: Sequence[int]
    watch: Watch | None
    asked: int | None
    allow_programs: bool = False
    done: int = 0
    failed: int = 0
    launch_seconds: float = 0.0
    devices: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        of_point = {point: one for one in self.plan.buckets for point in one.points}
        self._queues: dict[int, tuple[Bucket, list[int]]] = {}
        for row in self.rows:
            bucket = of_point[int(self.file.point[row])]
            self._queues.setdefault(id(bucket), (bucket, []))[1].append(row)
        self._runs = Runs(self.file.runs, self.file.point, self.file.replicate)
        self._copies = self._runs.copies(self.plan.sweep)
        sweep = self.plan.sweep
        repeated = "replicates" in type(sweep.base).model_fields
        self._groups = deque(
            (bucket, group)
            for bucket, own in in_turn(
                [*self._queues.values()],
                self.file.replicate if sweep.workload.numbered else None,
                FIRST_BATCH,
            )
            for group in groups(sweep.workload, own, self._copies, repeated)
        )
        self._left = len(self.rows)  # runs in no batch yet
        self._again: deque[Batch] = deque()
        self._lost: set[int] = set()
        self._sources = self.plan.sources if self.rows else {}
        self._began = time.perf_counter()

    @property
    def programs(self) -> int:
        """Largest number of programs that are built."""
        return len(self._queues)

    def run(self, executor: Executor) -> None:
        """Compute all rows.

        Raises
        ------
        Stopped
            After a signal; batches that ended before are written first.
        """
        running: dict[Future[Result], Batch] = {}
        self._tell()
        with interrupts() as stop:
            try:
                self._run(executor, running, stop)
            except Stopped:
                for future, batch in running.items():
                    if future.done() and future.exception() is None:
                        self._settle(batch, future, executor.settled(batch, future))
                raise

    def _run(
        self, executor: Executor, running: dict[Future[Result], Batch], stop: Interruption
    ) -> None:
        """Submit batches and write their results; ``running`` maps futures to their batches."""
        sizes = BatchSizes()
        while True:
            self._submit(executor, running, sizes.size, stop)
            if not running:
                return
            with stop.at_first():
                over, _ = wait(running, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
                if not over:
                    executor.require_alive()
            ended = [(running.pop(future), future) for future in over]
            again = [executor.settled(batch, future) for batch, future in ended]
            try:
                if executor.slots > 1:  # devices compute while results are written
                    self._submit(executor, running, sizes.size, stop)
            finally:
                for (batch, future), elsewhere in zip(ended, again, strict=True):
                    took = self._settle(batch, future, elsewhere)
                    if took:
                        sizes.add(len(batch.rows), took)
                    self._tell()

    def _submit(
        self,
        executor: Executor,
        running: dict[Future[Result], Batch],
        timed: int,
        stop: Interruption,
    ) -> None:
        """Submit batches as long as the executor has room."""
        stop.check()
        while len(running) < executor.slots and (
            batch := self._next(self._size(executor, timed), executor)
        ):
            running[executor.submit(batch)] = batch
            stop.check()

    def _size(self, executor: Executor, timed: int) -> int:
        """Return how many runs the next batch has.

        ``timed`` is the number that the duration of earlier batches suggests.
        """
        if self.asked is not None:
            return self.asked
        if isinstance(executor, Dask):  # its workers may join and leave
            each = -(-len(self.rows) // (BATCHES_OF_WORKER * executor.slots))
            return min(MOST_OF_WORKER, max(1, each))
        each = -(-self._left // executor.slots)
        return max(1, min(timed, max(each, timed // SMALLEST)))

    def _next(self, size: int, executor: Executor) -> Batch | None:
        """Return the next batch that the executor can take, None if there is none.

        A new batch has at most ``size`` runs, or up to twice as many if they are twins.
        """
        for batch in self._again:
            if executor.has_room(batch):
                self._again.remove(batch)
                return batch
        if not self._groups or not executor.has_room():
            return None
        place = self._place(*executor.programs())
        bucket, group = self._groups[place]
        if bucket.policies:  # twins are computed together, so that their past is computed once
            copies = self._copies[group[: 2 * size]]
            while size < len(copies) and copies[size] == copies[size - 1]:
                size += 1
        if len(group) > size:
            self._groups[place] = bucket, group[size:]
        else:
            del self._groups[place]
        self._left -= len(group[:size])
        more = {"allow_programs": self.allow_programs, "sources": self._sources}
        return self.plan.batch(bucket, group[:size], self._runs, self._copies, **more)

    def _place(self, own: str, others: set[str]) -> int:
        """Return the index of the next group: with a device's own program, or one that is unused.

        So a device does not build the program of each bucket, but of its own buckets, as long as
        there are enough of them.
        """
        unused = None
        if len(self._queues) > 1 and (own or others):
            for place, (bucket, _) in enumerate(islice(self._groups, MOST_SEARCHED)):
                program = program_of(bucket.settings)
                if program == own:
                    return place
                if unused is None and program not in others:
                    unused = place
        return unused or 0

    def _settle(self, batch: Batch, future: Future[Result], elsewhere: Batch | None) -> float:
        """Write the results of a batch and return its seconds; 0 if it has to be tried again.

        ``elsewhere`` is the batch if another device is to compute it.
        """
        try:
            result = future.result()
        except (Unreachable, WrongVersion):
            raise
        except Exception as error:
            if elsewhere is not None:
                self._again.append(elsewhere)
            elif isinstance(error, Lost) and not self._lost.issuperset(batch.rows):
                self._lost.update(batch.rows)
                self._again.append(batch)
            else:
                self._divide(batch, error)
            return 0.0
        seconds = result.seconds / len(batch.rows)
        try:
            self.file.write(batch.rows, result.values, seconds, result.events)
        except ValueError as error:
            self._divide(batch, error)
            return 0.0
        self.done += len(batch.rows)
        self.launch_seconds += result.seconds
        self.devices.add(result.device)
        return result.seconds

    def _divide(self, batch: Batch, error: BaseException) -> None:
        """Try both halves of a failed batch again; mark a run that fails alone as failed."""
        count = len(batch.rows)
        if count > 1 and not isinstance(error, BuildError):
            self._again += [batch.part(0, count // 2), batch.part(count // 2, count)]
            return
        self.file.fail(batch.rows, _why(error), 0.0)
        self.failed += count

    def _tell(self) -> None:
        if self.watch:
            seconds = time.perf_counter() - self._began
            self.watch(Progress(self.done, self.failed, len(self.rows), seconds))

    def report(self, seconds: float, notes: Sequence[str]) -> SweepReport:
        """Return the report on the study."""
        return report_of(
            self.file,
            computed=self.done,
            devices=sorted(self.devices),
            seconds=seconds,
            launch_seconds=self.launch_seconds,
            notes=notes,
        )
