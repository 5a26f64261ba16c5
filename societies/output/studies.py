"""How is a study read: opened by an analysis, described to people, compared with its checksums?"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from societies.errors import OutputError
from societies.output import opening
from societies.output.disk import Disk
from societies.output.files import READING, explained
from societies.output.layout import FILL
from societies.output.study import StudyFile
from societies.output.study_layout import (
    DONE,
    ERROR,
    RUN,
    STATES,
    STATUS,
    extents_of,
    require_study,
)
from societies.output.tables import EVENT, read_tables
from societies.output.trust import opened

if TYPE_CHECKING:
    import xarray as xr


def open_study(path: str | os.PathLike[str]) -> xr.Dataset:
    """Open a study lazily, finished or not.

    Returns
    -------
    xarray.Dataset
        The same as ``xr.open_dataset(path)`` gives, with the words ``pending``, ``done`` and
        ``failed`` as ``status`` and text as ``error``.

    Raises
    ------
    OutputError
        If the file is missing or no study.
    """
    import xarray as xr

    path = Path(path)
    with explained(path, READING):
        require_study(path)
        found = xr.open_dataset(path, engine="h5netcdf", phony_dims="access")
        try:
            return _in_words(found)
        except BaseException:
            found.close()
            raise


def _in_words(found: xr.Dataset) -> xr.Dataset:
    """Return a study with words for the status of its runs, and text for their errors."""
    status, texts = found[STATUS], found[ERROR]
    words = np.array(STATES)[status.values.astype(int)]
    text = np.array(
        [one.decode(errors="replace") if isinstance(one, bytes) else one for one in texts.values],
        dtype=np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else object,
    ).astype(object)
    named = {"long_name": "pending, done or failed"}
    return found.assign_coords({STATUS: (RUN, words, named), ERROR: (RUN, text, texts.attrs)})


def open_study_events(path: str | os.PathLike[str], events: str) -> xr.Dataset:
    """Open a table of events of a study lazily: those of the runs that are done, run after run.

    Raises
    ------
    OutputError
        If the file is missing, no study, or has no such table.
    """
    import xarray as xr

    path = Path(path)
    with explained(path, READING):
        require_study(path)
        with opened(path) as file:
            tables = read_tables(file)
            done = file[RUN][...][file[STATUS][...] == DONE]
        if events not in tables:
            raise no_table(path, events, tables)
        found = xr.open_dataset(
            path,
            engine="h5netcdf",
            group=tables[events].place,
            mask_and_scale=False,
            phony_dims="access",
        )
    for variable in found.variables.values():
        variable.attrs.pop(FILL, None)
    run = found[RUN].values
    rows = np.flatnonzero(np.isin(run, done))
    rows = rows[np.argsort(run[rows], kind="stable")]
    chosen = found.isel({EVENT: rows}).assign_coords({EVENT: np.arange(len(rows))})
    chosen.set_close(found.close)
    return chosen


def no_table(path: Path, asked: str, tables: Iterable[str]) -> OutputError:
    """Return the error for a table of events that a file does not have."""
    names = ", ".join(tables)
    said = f"tables of events: {names}" if names else "no tables of events"
    return OutputError(f"{path}: has no '{asked}'; it has {said}")


def damaged_runs(path: Path) -> list[int]:
    """Return the numbers of runs that are done and whose data are not those that were written."""
    with explained(path, READING):
        descriptor = opening.descriptor_of(path)
        try:
            file = StudyFile(path, Disk(descriptor, extents_of(path)))
            return [int(file.runs[row]) for row in file.wrong_rows()]
        finally:
            os.close(descriptor)


def study_rows(path: Path) -> tuple[list[tuple[str, str]], NDArray[np.int8]]:
    """Return what `societies info` says of a study, and the status of its runs."""
    with explained(path, READING):
        require_study(path)
        with opened(path) as file:
            about = {key: str(one) for key, one in file.attrs.items()}
            status = file[STATUS][...]
            points = len(set(file["point"][...].tolist()))
            events = [
                f"{name} ({int((file[f'{one.place}/{RUN}'][...] >= 0).sum()):,} rows)"
                for name, one in read_tables(file).items()
            ]
    names = ("title", "workload", "vary", "part", "model_version", "societies_version", "created")
    counts = [f"{int((status == i).sum())} {word}" for i, word in enumerate(STATES)]
    rows = [
        ("study", f"{path}, {path.stat().st_size:,} bytes"),
        *((name.replace("_", " "), about[name]) for name in names if about.get(name)),
        ("points", str(points)),
        ("runs", f"{len(status)}: {', '.join(counts)}"),
        ("variables", ", ".join(json.loads(about["variables"]))),
        *([("events", ", ".join(events))] if events else []),
    ]
    return rows, status
