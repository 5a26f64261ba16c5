"""How many points, launches and programs, how much memory and time would a sweep take?

Nothing is written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from societies.errors import SocietiesError
from societies.output.study_layout import StudyLayout
from societies.sweep.batch import Batch, run_batch
from societies.sweep.batch_sizes import FIRST_BATCH
from societies.sweep.document import Sweep, load_sweep
from societies.sweep.layout import layout_of
from societies.sweep.points import Bucket, groups
from societies.sweep.prepare import Prepared, prepared, programs_of, warnings_of
from societies.sweep.program_cache import clear_programs
from societies.words import counted
from societies.workload.declare.protocol import Setup
from societies.workload.running import plan as of_run
from societies.workload.running.devices import chosen_device, local_devices
from societies.workload.running.programs import program_lines
from societies.workload.running.sufficiency import byte_count, duration

SHOWN = 3
"""Most points that are printed."""


def plan(
    source: Sweep | str | os.PathLike[str] | Mapping[str, Any],
    *,
    out: str | Path | None = None,
    device: str = "auto",
    replicates: int | None = None,
    part: tuple[int, int] | None = None,
    yes: bool = False,
    time_it: bool = True,
) -> of_run.Plan:
    """Return what `run` would do, after checking every point.

    Parameters
    ----------
    time_it : compute some runs of the first point, to estimate the time

    Returns
    -------
    Plan
        With ``rows``, a list of (label, value), and ``warnings``.

    Raises
    ------
    ConfigError
        If the sweep or one of its points is not valid.
    """
    sweep = source if isinstance(source, Sweep) else load_sweep(source)
    path = Path(out) if out is not None else Path(f"{Path(sweep.name).stem}.h5")
    ready = prepared(sweep, replicates, part, yes=yes)
    runs, chosen = ready.runs, sweep.workload
    layout = layout_of(sweep, ready.points, runs, ready.shape)
    devices = local_devices(device)
    copies = runs.copies(sweep)
    repeated = "replicates" in type(sweep.base).model_fields
    launches = 0
    for bucket in ready.buckets:
        own = np.flatnonzero(np.isin(runs.point, bucket.points)).tolist()
        launches += sum(1 for _ in groups(chosen, own, copies, repeated))
    rows: list[tuple[str, str]] = [
        ("sweep", f"{sweep.name}: {layout.attributes['title']}"),
        ("points", f"{len(set(runs.point.tolist())):,}, {counted(runs_each(ready), 'replicate')}"),
        *((f"point {i}", _said(ready.points[i])) for i in range(min(SHOWN, len(ready.points)))),
        ("random numbers", _common(sweep)),
        ("runs", f"{len(runs.number):,}"),
        ("buckets", f"{len(ready.buckets):,} of points that differ in values of the model alone"),
        ("compilations", _compilations(ready.buckets)),
        ("launches of batches", f"at least {launches:,}"),
        ("device", "; ".join(chosen_device(one)[1] for one in devices)),
        *_of_bucket(ready, ready.buckets[0], devices[0]),
        ("results in the file", f"{byte_count(layout.nbytes)}, {_variables(layout)}"),
        ("time, roughly", _time(ready, devices, launches) if time_it else "not measured"),
        ("output", f"{path.absolute()}{' (exists)' if path.exists() else ''}"),
        *(("program", line) for line in program_lines(programs_of(ready))),
    ]
    return of_run.Plan(rows, tuple(warnings_of(ready)))


def runs_each(ready: Prepared) -> int:
    """Return the number of runs of each point."""
    return int(ready.runs.replicate.max()) + 1


def _said(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in point.items())


def _common(sweep: Sweep) -> str:
    if "replicates" not in type(sweep.base).model_fields:
        return "none"
    common = sweep.config.common_random_numbers
    return "the same for a replicate at every point" if common else "different in every run"


def _compilations(buckets: Any) -> str:
    keys = ", ".join(buckets[0].settings)
    return f"at most {len(buckets):,}{f' ({keys})' if keys else ''}"


def _variables(layout: StudyLayout) -> str:
    names = [*layout.tables, *layout.variables]
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return f"{', '.join(names[:6])}{more}"


def _of_bucket(ready: Prepared, bucket: Bucket, device: str) -> list[tuple[str, str]]:
    """Return the rows of `societies run --dry-run` on launches and memory, for one batch."""
    batch = _some(ready, bucket, device)
    found = dict(of_run.plan(Setup(ready.sweep.workload, batch.config), device=device).rows)
    clock = ready.sweep.workload.clock
    names = (f"launches per {clock}", "memory on the device", "memory of the state")
    runs = counted(len(batch.rows), "run")
    return [(name, f"{found[name]} ({runs} of the first point)") for name in names if name in found]


def _some(ready: Prepared, bucket: Bucket, device: str) -> Batch:
    """Return a batch of the first runs of a bucket."""
    runs = ready.runs
    rows = np.flatnonzero(np.isin(runs.point, bucket.points)).tolist()
    copies = runs.copies(ready.sweep)
    repeated = "replicates" in type(ready.sweep.base).model_fields
    group = next(groups(ready.sweep.workload, rows, copies, repeated), [])[:FIRST_BATCH]
    return ready.batch(bucket, group, runs, copies, device=device)


def _time(ready: Prepared, devices: list[str], launches: int) -> str:
    """Estimate the time by computing a batch of the first point."""
    batch = _some(ready, ready.buckets[0], devices[0])
    try:
        first = run_batch(batch).seconds  # with the building of kernels
        again = run_batch(batch).seconds
    except SocietiesError as error:
        return f"unknown: the first point fails ({' '.join(str(error).split())})"
    finally:
        clear_programs()
    total = again / len(batch.rows) * len(ready.runs.number)
    total += max(0.0, first - again) * min(launches, len(ready.buckets))
    runs = counted(len(batch.rows), "run")
    return f"{duration(total / len(devices))}, from {runs} that took {again:.2g} s"
