"""How are all points of a sweep checked, and its study opened, before anything runs?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.config import files, problems
from societies.errors import ConfigError, OutputError, option
from societies.output.study import StudyFile
from societies.sweep.batch import Batch, Shape
from societies.sweep.designs import identity
from societies.sweep.document import INPUTS, Sweep, compared, digest, files_in, wherever
from societies.sweep.executors import is_address
from societies.sweep.in_memory import Keep
from societies.sweep.layout import Runs, different_shapes, joined_shape, keep_of, layout_of
from societies.sweep.points import Bucket, Point, checked_points, sweep_points
from societies.words import counted
from societies.workload.declare.optional import NamedProgram
from societies.workload.declare.protocol import Setup, Workload
from societies.workload.running.ensembles import keys_changed
from societies.workload.running.points import without_effect
from societies.workload.running.programs import allowed, require_allowed
from societies.workload.running.provenance import git_commit
from societies.workload.running.sources import SOURCES, compare, sources_of, text_of

MANY = 1_000_000
"""Number of runs above which the user must confirm the sweep."""
MOST_RUNS = 100_000_000
"""Most runs of a study; their numbers alone take some GiB of memory."""
MANY_PROGRAMS = 64
"""Number of programs above which the user is warned of the cost of compiling them."""
PROGRAMS_HASHED = 8
"""Number of programs whose sources are hashed; those of the others are nearly always the same."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A sweep whose points are all checked.

    Attributes
    ----------
    sweep : Sweep
    points : the values of each point
    buckets : groups of points that can share a launch
    runs : runs of the study, or of its part
    keep, shape : what the study records of each run
    base : base configuration of the sweep as plain data, with as many copies as there are numbers
    part : (k, n), if this is the k-th of n parts
    """

    sweep: Sweep
    points: Sequence[Point]
    buckets: Sequence[Bucket]
    runs: Runs
    keep: Keep
    shape: Shape
    base: Mapping[str, Any]
    part: tuple[int, int] | None = None

    @cached_property
    def sources(self) -> dict[str, str]:
        """Hashes of the kernels and of the reference, of the first programs at least."""
        configs = [self.sweep.base, *(one.config for one in self.buckets[:PROGRAMS_HASHED])]
        return sources_of(*(Setup(self.sweep.workload, one) for one in configs))

    def batch(
        self, bucket: Bucket, rows: list[int], runs: Runs, copies: NDArray[np.int64], **more: Any
    ) -> Batch:
        """Return a batch of runs of a bucket, with further attributes.

        Parameters
        ----------
        rows : of the runs in the study
        runs, copies : all runs of the study, and their copy numbers
        """
        columns, policies = bucket.values_of([self.points[int(runs.point[row])] for row in rows])
        given = (self.sweep.workload.name, self.base, bucket.settings, columns)
        return Batch(*given, copies[rows], rows, self.keep, policies=policies, **more)


def prepared(
    sweep: Sweep,
    replicates: int | None = None,
    part: tuple[int, int] | None = None,
    *,
    yes: bool = False,
) -> Prepared:
    """Make and check all points of a sweep.

    Raises ConfigError with a line for every problem; or if there are very many runs, unless
    ``yes``.
    """
    count = sweep.replicates if replicates is None else replicates
    if count < 1:
        raise ConfigError(f"{option('replicates', count)}: at least 1 is needed")
    if count > 1 and "replicates" not in type(sweep.base).model_fields:
        raise ConfigError(
            f"{option('replicates', count)}: {sweep.base.workload} has no random draws, so all "
            "runs of a point would be the same"
        )
    total = sweep.count * count
    if total > MOST_RUNS:
        raise ConfigError(
            f"{sweep.name}: has {sweep.count:,} points, {total:,} runs; a study has at most "
            f"{MOST_RUNS:,}"
        )
    if total > MANY and not yes:
        raise ConfigError(
            f"{sweep.name}: has {sweep.count:,} points, {total:,} runs; at 1,000 runs a second "
            f"that is {total / 3.6e6:,.1f} hours, and each number recorded of a run takes "
            f"{8 * total / 1e6:,.0f} MB\nto run all of them: {option('yes', True)}"
        )
    points, places = sweep_points(sweep)
    runs = Runs.of(range(len(points)), range(count))
    return _checked(sweep, points, runs, part, places)


def _checked(
    sweep: Sweep,
    points: Sequence[Point],
    runs: Runs,
    part: tuple[int, int] | None = None,
    places: Any = None,
) -> Prepared:
    """Check all points, and that they have the variables to be recorded."""
    first = sweep.workload.first(sweep.base)
    copies = int(runs.copies(sweep).max()) - first + 1
    buckets = checked_points(sweep, points, places, copies=copies)
    setups = different_shapes(sweep, buckets)
    keep = keep_of(sweep, setups)
    shape = joined_shape(sweep, setups, keep)
    own = runs if part is None else runs.part(*part)
    if not len(own.number):
        raise ConfigError(
            f"{option('part')}: there are {counted(len(points), 'point')} for {part[1]} parts"  # type: ignore[index]
        )
    repeated = "replicates" in type(sweep.base).model_fields
    base = sweep.base.model_copy(update={"replicates": copies} if repeated else {})
    return Prepared(sweep, points, buckets, own, keep, shape, base.model_dump(mode="json"), part)


def warnings_of(ready: Prepared) -> list[str]:
    """Return warnings about a sweep that is probably not intended so, one sentence each."""
    count, idle = len(ready.buckets), list(_idle(ready))
    if count <= MANY_PROGRAMS:
        return idle
    first, *_ = ready.buckets
    keys = ", ".join(first.settings)
    return [
        *idle,
        f"{keys}: {count:,} values are up to {count:,} programs to compile, of some seconds each, "
        "and as many launches; only values of the model share one",
    ]


def _idle(ready: Prepared) -> Iterator[str]:
    """Yield a warning for each key that varies, or that an intervention sets, without effect."""
    idle: dict[str, str] = {}
    acting: set[str] = set()
    first, *_ = ready.points
    for one in ready.buckets:
        changes = getattr(one.config, "interventions", ())
        sets = [keys_changed(one.config, change, key) for change in changes for key in change.set]
        keys = {*first, *(key for of in sets for key in of)}
        found = without_effect(one.config.idle(), keys)
        idle |= found
        acting |= keys - found.keys()
    yield from (f"{key}: has no effect {why}" for key, why in idle.items() if key not in acting)


def programs_of(plan: Prepared) -> list[NamedProgram]:
    """Return the external programs that the points name, each once."""
    chosen = plan.sweep.workload
    if type(chosen).programs is Workload.programs:
        return []  # this workload starts no programs
    setups = (Setup(chosen, one.config) for one in plan.buckets)
    return list(dict.fromkeys(one for setup in setups for one in chosen.programs(setup.p)))


def require_programs(plan: Prepared, allow: bool) -> None:
    """Raise ConfigError if a point names an external program that is not allowed to run."""
    with allowed(allow):
        require_allowed(programs_of(plan))


def require_sense(
    resume: bool,
    overwrite: bool,
    retry_failed: bool,
    add_points: bool,
    part: tuple[int, int] | None,
    workers: int,
    scheduler: str,
    batch: int | None,
) -> None:
    """Raise ConfigError for arguments that contradict each other."""
    if (resume or retry_failed or add_points) and overwrite:
        raise ConfigError(
            f"{option('overwrite', True)} begins the study again, so it cannot also be continued"
        )
    if part is not None and not 1 <= part[0] <= part[1]:
        raise ConfigError(f"{option('part')}: K/N needs 1 <= K <= N, got {part[0]}/{part[1]}")
    if part is not None and add_points:
        raise ConfigError(
            f"{option('part')}: a part cannot grow; merge the parts, then add to the study"
        )
    if workers and scheduler:
        raise ConfigError(
            f"{option('workers')} starts a cluster here, {option('scheduler')} names another: "
            "choose one"
        )
    if scheduler and not is_address(scheduler):
        raise ConfigError(
            f"{option('scheduler', scheduler)}: expected where a scheduler of Dask listens, "
            "such as tcp://host:8786"
        )
    if workers < 0:
        raise ConfigError(f"{option('workers', workers)}: at least 1 is needed")
    if batch is not None and batch < 1:
        raise ConfigError(f"{option('batch', batch)}: at least 1 is needed")


@contextmanager
def opened_study(
    plan: Prepared, path: Path, goes_on: bool, *, overwrite: bool, grow: bool
) -> Iterator[tuple[StudyFile, Prepared]]:
    """Make the study of a sweep, or open it to be continued; yield it with the sweep to run.

    A study to be continued has its own points and runs, which may include later additions.

    Raises OutputError if it is a study of another sweep.
    """
    if not goes_on:
        more = {SOURCES: text_of(plan.sources)}
        if plan.part is not None:
            more["part"] = "{}/{}".format(*plan.part)
        more |= files.file_attributes(path, plan.sweep.definition, _data_files(plan.sweep))
        layout = layout_of(plan.sweep, plan.points, plan.runs, plan.shape, **more)
        with StudyFile.create(path, layout, overwrite=overwrite) as file:
            yield file, plan
        return
    if not path.exists():
        raise OutputError(
            f"{path}: does not exist, so there is nothing to continue\n"
            f"begin it without {option('resume', True)}, or name another file with {option('out')}"
        )
    file = StudyFile.resume(path)
    try:
        file, plan = _grown(plan, file, grow=grow)
        yield file, plan
    finally:
        file.close()


def _data_files(sweep: Sweep) -> list[problems.Path]:
    """Return the keys of a sweep that name files of data or programs, in its base or as factors."""
    keys = sweep.base.files()
    varied = {key for factor in sweep.factors for key in factor.keys}
    grid = [("vary", "grid", key) for (key, *below) in keys if key in varied and not below]
    return [*(("base", *key) for key in keys), *grid]


def _grown(plan: Prepared, file: StudyFile, *, grow: bool) -> tuple[StudyFile, Prepared]:
    """Add the runs that the study lacks, if allowed; return the study and the sweep to run."""
    sweep, path = plan.sweep, file.path
    _require_same(sweep, file, points=not grow)
    compare(path, file.attributes, plan.sources, git_commit(), "the study")
    part = str(file.attributes.get("part", ""))
    asked = "" if plan.part is None else "{}/{}".format(*plan.part)
    if part != asked:
        wanted = f"part {asked}" if asked else "the whole study"
        raise OutputError(
            f"{path}: is {f'part {part}' if part else 'a whole study'}, not {wanted}; "
            f"{option('part')} must be that of the file"
        )
    stored = Runs(file.runs, file.point, file.replicate)
    own, others = _files(sweep, file)
    here = {identity(wherever(point, own)): point for point in plan.points}
    known = [identity(wherever(point, others)) for point in file.points]
    # The paths of this sweep, which may be another folder's than those of the file.
    points = [here.get(one, point) for one, point in zip(known, file.points, strict=True)]
    new = [point for one, point in here.items() if one not in {*known}]
    if not grow:
        new = []
    before, count = int(stored.replicate.max()) + 1, int(plan.runs.replicate.max()) + 1
    runs = stored
    if count > before:
        if part:
            raise OutputError(f"{path}: is a part, which cannot grow; merge the parts first")
        runs = runs.joined(Runs.of(range(len(points)), range(before, count), len(runs.number)))
    if new:
        numbers = range(len(points), len(points) + len(new))
        runs = runs.joined(Runs.of(numbers, range(max(before, count)), len(runs.number)))
        points += new
    if len(runs.number) == len(stored.number):
        # Use the points of the file: another version of SciPy may sample others.
        return file, replace(_checked(sweep, points, stored), part=plan.part)
    longer = _checked(sweep, points, runs)
    if not set(file.variables) <= set(longer.shape.variables):
        raise OutputError(f"{path}: has variables that the sweep does not record any more")
    inherited = (SOURCES, files.FOLDER, files.FILES)
    former = {name: str(file.attributes[name]) for name in inherited if name in file.attributes}
    layout = layout_of(sweep, points, runs, longer.shape, **former)
    return file.grown(layout), longer


def _require_same(sweep: Sweep, file: StudyFile, *, points: bool) -> None:
    """Raise OutputError if a study belongs to another sweep.

    ``points`` says whether the points must be the same as well.
    """
    asked, stored = sweep.definition, file.definition
    own, others = _files(sweep, file)
    same = {one.partition("|")[2] for one in own.values()}
    for text, one in others.items():
        if one not in own.values() and os.path.basename(text) in same:
            raise OutputError(
                f"{file.path}: was made with other files: the contents of {text} have changed\n"
                f"put the former ones back, or name another file with {option('out')}"
            )
    asked = files.anywhere(compared(asked, own), [("base", *key) for key in sweep.base.files()])
    stored = files.as_saved(compared(stored, others), file.attributes, file.path)
    names = [name for name in asked if points or name != "vary"]
    different = [name for name in names if digest(asked[name]) != digest(stored.get(name))]
    if not different:
        return
    name = different[0]
    what = _first_difference(name, stored.get(name), asked[name])
    hint = f"; {option('add_points', True)} adds the points that it lacks" if name == "vary" else ""
    raise OutputError(
        f"{file.path}: is a study of another sweep: {what}\n"
        f"continue with the sweep that made it, or name another file with {option('out')}{hint}"
    )


def _files(sweep: Sweep, file: StudyFile) -> tuple[dict[str, str], dict[str, str]]:
    """Return `files_in` the sweep and in the study, of which an earlier one has fewer hashes."""
    asked, stored = sweep.definition, file.definition
    if INPUTS not in stored:
        asked = {name: one for name, one in asked.items() if name != INPUTS}
    return files_in(asked), files_in(stored)


def _first_difference(name: str, stored: Any, asked: Any) -> str:
    if isinstance(stored, dict) and isinstance(asked, dict):
        for key in sorted({*stored, *asked}):
            if stored.get(key) != asked.get(key):
                return _first_difference(f"{name}.{key}", stored.get(key), asked.get(key))
    texts = [re.sub(r"[0-9a-f]{64}\|", "", str(one)) for one in (stored, asked)]  # names of files
    short = [text if len(text) < 80 else f"{text[:77]}..." for text in texts]
    return f"{name} is {short[0]} in the file and {short[1]} in this sweep"
