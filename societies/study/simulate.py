"""Which statistics does a model have at many parameter points? All points run together.

Calibrators of other packages call a function of parameters: `simulator` makes one. It runs all its
points in as few launches as possible.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from societies import signals
from societies.config.model import LARGEST_INTEGER
from societies.errors import BuildError, ConfigError, option
from societies.study.recorded import dataset_of, require_recorded, require_statistics
from societies.study.targets import Targets, load_targets
from societies.sweep.batch import Batch, Result, run_shape
from societies.sweep.document import Sweep, load_sweep
from societies.sweep.executors import executor_of
from societies.sweep.in_memory import Keep
from societies.sweep.lanes import Executor
from societies.sweep.points import Bucket, checked_points, data_of, groups
from societies.workload.declare.protocol import Setup
from societies.workload.running.varying import NotVarying, found_key, is_section, varying

if TYPE_CHECKING:
    import xarray as xr

MOST_OF_BATCH = 4096
"""Most runs of a launch: their series are in memory until the statistics are computed."""
Progress = Callable[[int, int], None]
"""Called with (runs done, runs)."""


@dataclass(eq=False)
class Simulator:
    """A model as a function of parameters: call it with points, (n, keys), to get statistics.

    Attributes
    ----------
    sweep : the configuration that all points share, and its workload
    keys : names of the parameters, in the order of the columns of points
    targets : the statistics, in the order of the columns of the result
    replicates : runs of each point, whose mean is returned
    device, workers, scheduler : as for `societies.sweep.run`
    failures : reasons why runs failed, with their number
    runs_done : number of runs that were computed
    """

    sweep: Sweep
    keys: tuple[str, ...]
    targets: Targets
    replicates: int = 1
    device: str = "auto"
    workers: int = 0
    scheduler: str = ""
    failures: dict[str, int] = field(default_factory=dict)
    runs_done: int = 0

    def __post_init__(self) -> None:
        self._next = 0
        self._executor: Executor | None = None
        chosen, base = self.sweep.workload, self.sweep.base
        self._repeated = "replicates" in type(base).model_fields
        if self.replicates > 1 and not self._repeated:
            raise ConfigError(f"{base.workload} has no random draws, so all seeds are the same")
        setup = Setup(chosen, base)
        require_recorded(self.targets, setup)
        self._keep = Keep(self.targets.variables)

    def require_statistics(self) -> None:
        """Raise ConfigError if no run can have the statistics.

        Points that differ in shape are not checked here: their runs may have other ticks.
        """
        if not shapes_among(self.sweep, self.keys):
            require_statistics(self.targets, Setup(self.sweep.workload, self.sweep.base))

    @property
    def names(self) -> list[str]:
        """Names of the statistics."""
        return list(self.targets.statistics)

    def __call__(
        self, points: ArrayLike | Sequence[Sequence[Any]], seeds: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the statistics at some points, means over the replicates: (n, statistic).

        Parameters
        ----------
        points : (n, key) or (key,) values of the keys
        seeds : (n,) whole numbers; the same seed and point give the same bits. Default: new seeds
            at each call

        Returns
        -------
        (n, statistic) or (statistic,) float64; NaN where a statistic cannot be computed in any run
        """
        rows = points if isinstance(points, list) else np.asarray(points).tolist()
        single = bool(rows) and not isinstance(rows[0], list | tuple | np.ndarray)
        rows = [rows] if single else rows
        if seeds is None:
            own = np.arange(self._next, self._next + len(rows), dtype=np.int64)
            self._next += len(rows)
        elif len(own := self._seeds(seeds)) != len(rows):
            raise ConfigError(f"{option('seeds')}: {len(own)} seeds for {len(rows)} points")
        numbers = own[:, None] * self.replicates + np.arange(self.replicates)
        found = mean_over_replicates(self.runs(rows, numbers))
        return found[0] if single else found

    def _seeds(self, seeds: ArrayLike) -> NDArray[np.int64]:
        """Return seeds, each for ``replicates`` consecutive runs; refuse other values."""
        most = (LARGEST_INTEGER - self.sweep.workload.first(self.sweep.base)) // self.replicates
        found = np.asarray(seeds).reshape(-1)
        if len(found) and (found.dtype.kind not in "iu" or min(found) < 0 or max(found) >= most):
            raise ConfigError(
                f"{option('seeds')}: expected whole numbers from 0 to {most - 1}, which select the "
                "random draws; the configuration's own seed has 64 bits"
            )
        return found.astype(np.int64)

    def runs(
        self,
        points: Sequence[Sequence[Any]],
        numbers: NDArray[np.int64],
        progress: Progress | None = None,
    ) -> NDArray[np.float64]:
        """Return the statistics of every run: (point, replicate, statistic).

        Parameters
        ----------
        points : values of the keys at each point
        numbers : (point, replicate) int64, 0 or more: they select the random draws
        """
        found = np.full((numbers.size, len(self.targets.statistics)), np.nan)
        for rows, data in self.computed(points, numbers, progress):
            found[rows] = self.targets.evaluate(data)
        return found.reshape(*numbers.shape, found.shape[1])

    def computed(
        self,
        points: Sequence[Sequence[Any]],
        numbers: NDArray[np.int64],
        progress: Progress | None = None,
    ) -> Iterator[tuple[list[int], xr.Dataset]]:
        """Yield the results of several runs at a time: their rows and a dataset along ``run``.

        Row ``r`` is replicate ``r % replicates`` of point ``r // replicates``. Runs that fail are
        left out; `failures` has the reasons.
        """
        for point in points:
            if len(point) != len(self.keys):
                raise ConfigError(
                    f"{option('points')}: {len(point)} values for {len(self.keys)} keys: "
                    f"{', '.join(self.keys)}"
                )
        named = [dict(zip(self.keys, point, strict=True)) for point in points]
        flat = numbers.reshape(-1) + self.sweep.workload.first(self.sweep.base)
        todo = self._batches(named, flat, numbers.shape[1])
        running: dict[Future[Result], tuple[Batch, Bucket]] = {}
        executor, done, began = self._executing(), 0, time.monotonic()
        while todo or running:
            signals.pass_on(began)
            while todo and len(running) < executor.slots and executor.has_room(todo[0][0]):
                batch, bucket = todo.popleft()
                running[executor.submit(batch)] = batch, bucket
            over, _ = wait(running, timeout=2.0, return_when=FIRST_COMPLETED)
            if not over:
                executor.require_alive()
            for future in over:
                batch, bucket = running.pop(future)
                rows = list(batch.rows)
                if (again := executor.settled(batch, future)) is not None:
                    todo.appendleft((again, bucket))
                    continue
                if (error := future.exception()) is None:
                    yield rows, self._dataset(future.result(), bucket)
                elif not isinstance(error, Exception):
                    raise error
                elif len(rows) > 1 and not isinstance(error, BuildError):
                    half = len(rows) // 2
                    parts = (batch.part(0, half), batch.part(half, len(rows)))
                    todo.extendleft((part, bucket) for part in reversed(parts))
                    continue
                else:
                    self._fail(" ".join(str(error).split()), len(rows))
                done += len(rows)
                self.runs_done += len(rows)
                if progress:
                    progress(done, numbers.size)

    def checked(self, points: Sequence[Mapping[str, Any]], copies: int) -> list[Bucket]:
        """Return the points that can share a launch; invalid points count as failures.

        Raises ConfigError if no point is valid.
        """
        try:
            return checked_points(self.sweep, points, copies=copies)
        except ConfigError:
            good, why = [], ""
            for number, point in enumerate(points):
                try:
                    checked_points(self.sweep, [point], copies=copies)
                    good.append(number)
                except ConfigError as error:
                    why = str(error)
                    self._fail(why.partition("\n")[0], 1)
            if not good:
                raise ConfigError(f"no point is valid: {why}") from None
            found = checked_points(self.sweep, [points[n] for n in good], copies=copies)
            for bucket in found:
                bucket.points[:] = [good[n] for n in bucket.points]
            return found

    def _batches(
        self, points: Sequence[Mapping[str, Any]], numbers: NDArray[np.int64], replicates: int
    ) -> deque[tuple[Batch, Bucket]]:
        found: deque[tuple[Batch, Bucket]] = deque()
        if not points:
            return found
        workload, base = self.sweep.workload, self.sweep.base
        # As in a study, interventions may name copies that are in no launch.
        copies = max(int(numbers.max()) + 1 - workload.first(base), self.sweep.replicates)
        buckets, data = self.checked(points, copies), data_of(base, copies)
        self._executing(len(buckets))
        for bucket in buckets:
            rows = [p * replicates + r for p in bucket.points for r in range(replicates)]
            for group in groups(workload, rows, numbers, self._repeated):
                size = self._size(len(group))
                for some in (group[i : i + size] for i in range(0, len(group), size)):
                    columns, _ = bucket.values_of([points[row // replicates] for row in some])
                    batch = Batch(
                        *(workload.name, data, bucket.settings, columns),
                        *(numbers[some], some, self._keep),
                    )
                    found.append((batch, bucket))
        return found

    def _size(self, runs: int) -> int:
        lanes = self._executing().slots * (4 if self.workers else 1)
        return min(MOST_OF_BATCH, -(-runs // lanes))

    def _executing(self, programs: int = 1) -> Executor:
        if self._executor is None:
            self._executor = executor_of(self.device, self.workers, self.scheduler, programs)
        return self._executor

    def _fail(self, why: str, runs: int) -> None:
        self.failures[why] = self.failures.get(why, 0) + runs

    def _dataset(self, result: Result, bucket: Bucket) -> xr.Dataset:
        """Return the results of a batch as the dataset of a study."""
        workload = self.sweep.workload
        return dataset_of(result, run_shape(Setup(workload, bucket.config), self._keep), workload)

    def close(self) -> None:
        """Stop the worker processes that were started for several devices."""
        if self._executor is not None:
            self._executor.close()
            self._executor = None

    def __enter__(self) -> Simulator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def mean_over_replicates(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means over replicates without NaN, by `mean_within`: (point, statistic)."""
    finite = np.isfinite(values)
    low, high = (np.where(finite, values, end) for end in (np.inf, -np.inf))
    with np.errstate(invalid="ignore"):
        found: NDArray[np.float64] = np.where(finite, values, 0).sum(1) / finite.sum(1)
    return found.clip(low.min(1), high.max(1))


def simulator(
    config: str | os.PathLike[str] | Mapping[str, Any],
    keys: Sequence[str] | Mapping[str, Any],
    statistics: str | os.PathLike[str] | Mapping[str, Any] | Targets,
    *,
    set: Mapping[str, Any] | None = None,
    replicates: int = 1,
    device: str = "auto",
    workers: int = 0,
    scheduler: str = "",
) -> Simulator:
    """Return a model as a function of parameter points, run in as few launches as possible.

    Parameters
    ----------
    config : a YAML file, the name of a shipped configuration, or a section with its keys
    keys : names of the parameters
    statistics : a targets file, or statistics by name: ``{"mean_gini": {"of": "gini"}}``
    set : further keys of the configuration
    replicates : runs of each point, whose mean is returned
    device, workers, scheduler : as for `societies.sweep.run`

    Returns
    -------
    Simulator

    Raises
    ------
    ConfigError
        If a key, a variable or a statistic does not exist.
    """
    if isinstance(statistics, Targets):
        targets = statistics
    else:
        given = statistics
        if isinstance(given, Mapping) and "statistics" not in given:
            given = {"statistics": dict(given)}
        targets = load_targets(given)[0]
    names, base = tuple(keys), sweep_of(config, set or {}, tuple(keys))
    found = Simulator(base, names, targets, replicates, device, workers, scheduler)
    found.require_statistics()
    return found


def sweep_of(config: Any, set: Mapping[str, Any], keys: Sequence[str] = ()) -> Sweep:
    """Return the base of a study to which points are added later.

    Raises ConfigError if the configuration is not valid, or does not have a key.
    """
    base = os.fspath(config) if isinstance(config, os.PathLike) else config
    # A sweep needs a point; a label changes no result.
    sweep = load_sweep({"base": base, "set": dict(set), "vary": {"points": [{"label": "base"}]}})
    data = sweep.base.model_dump()
    for key in keys:
        try:
            _, _, section = found_key(type(sweep.base), data, key)
        except NotVarying as why:
            raise ConfigError(f"{key}: {why}") from None
        if section is not None:
            raise ConfigError(f"{key}: {is_section(section)}")
    return sweep


def shapes_among(sweep: Sweep, keys: Sequence[str]) -> list[str]:
    """Return the keys whose values cannot share a launch: each value needs its own program."""
    data, found = sweep.base.model_dump(), []
    for key in keys:
        try:
            varying(type(sweep.base), data, key)
        except NotVarying:
            found.append(key)
    return found
