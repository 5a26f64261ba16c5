"""How is a study opened for an analysis and compared with its checksums?"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import OutputError
from societies.output import lock, opening
from societies.output.disk import Disk
from societies.output.earlier import without_codes, without_removed
from societies.output.files import READING, explained
from societies.output.layout import CLOCK, FILL
from societies.output.run_events import RunEvents
from societies.output.seal import Damage
from societies.output.stored_seal import StudySeal
from societies.output.study_checks import Checker, Rows, old_wrong_rows
from societies.output.study_layout import (
    DONE,
    ERROR,
    PENDING,
    RUN,
    STATES,
    STATUS,
    WALL_TIME,
    extents_of,
)
from societies.output.tables import EVENT, EVENTS, Column, EventTable
from societies.output.trust import opened

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Content:
    """The runs and events of a study after they were compared with its checksums.

    Attributes
    ----------
    runs : (run,) int64, numbers of the runs
    rows : state of each run, and damage
    events : tables by name
    live : whether a sweep is writing the study
    """

    runs: NDArray[np.int64]
    rows: Rows
    events: Mapping[str, RunEvents]
    live: bool


def checked_study(path: Path) -> Content:
    """Compare a study with all its checksums; layout 1 has checksums of the results only.

    Raises OutputError if the file is missing, no study, or damaged.
    """
    with explained(path, READING), opening.reading(path) as descriptor:
        found = opening.sealed_study(path, descriptor)
        if found is None:
            content = old_content(path, Disk(descriptor, extents_of(path)))
        else:
            content = content_of(path, *found)
    if content.rows.wrong:
        raise opening.damaged_runs(path, content.rows.wrong, content.rows.good)
    return content


def content_of(path: Path, disk: Disk, found: StudySeal) -> Content:
    """Compare the runs of a study; its sealed parts were compared before."""
    place = next(one for one in found.fixed if one.name == RUN)
    runs = np.frombuffer(disk.read_bytes(place.offset, place.nbytes), np.int64)
    events = _events(disk, found.tables, runs)
    live = lock.being_written(path)
    rows = Checker(disk, found.variables, events, runs).look(live=live)
    return Content(runs, rows, events, live)


def old_content(path: Path, disk: Disk) -> Content:
    """Compare the runs of a study of layout 1, in which only runs that are done have a checksum."""
    with opened(path) as file:
        runs: NDArray[np.int64] = file[RUN][...]
        variables = json.loads(file.attrs["variables"])
        columns = {name: list(group) for name, group in file.get(EVENTS, {}).items()}
    columns = {name: [one for one in found if one != EVENT] for name, found in columns.items()}
    events, status = _events(disk, columns, runs), disk.read(STATUS)
    wrong = old_wrong_rows(disk, variables, events, np.flatnonzero(status == DONE).tolist())
    damages = [Damage(f"run {runs[row]}", "its results") for row in wrong]
    strange = np.flatnonzero((status < 0) | (status >= len(STATES))).tolist()
    damages += [Damage(f"status of run {runs[row]}", f"which is {status[row]}") for row in strange]
    rows = Rows(status, status == PENDING, damages)
    return Content(runs, rows, events, lock.being_written(path))


def _events(
    disk: Disk, columns: Mapping[str, Sequence[str]], runs: NDArray[np.int64]
) -> dict[str, RunEvents]:
    tables = {}
    for name, of in columns.items():
        extents = {one: disk.extents[f"{EVENTS}/{name}/{one}"] for one in of}
        columns_of = tuple(Column(one, extents[one].dtype, "", "") for one in of)
        tables[name] = EventTable(name, columns_of, extents[RUN].shape[0])
    return {name: RunEvents(disk, table, runs) for name, table in tables.items()}


def open_study(path: str | os.PathLike[str]) -> xr.Dataset:
    """Open a study lazily, finished or not, after comparing it with its checksums.

    Returns
    -------
    xarray.Dataset
        The same as ``xr.open_dataset(path)`` gives, with the words ``pending``, ``done`` and
        ``failed`` as ``status`` and text as ``error``. A pending run has no results, even if a
        killed sweep has written some of them.

    Raises
    ------
    OutputError
        If the file is missing, no study, or damaged.
    """
    import xarray as xr

    path = Path(path)
    content = checked_study(path)
    with explained(path, READING):
        raw = xr.open_dataset(path, engine="h5netcdf", decode_cf=False, phony_dims="access")
        try:
            if content.live or content.rows.half.any():
                from societies.output.checked import without

                raw = without(raw, RUN, content.rows.state != PENDING, _fills(path))
            found = xr.decode_cf(raw)
            with opened(path) as file:
                found = without_removed(found, file, str(found.attrs.get(CLOCK, "day")))
            found = _in_words(found, content.rows.state)
        except BaseException:
            raw.close()
            raise
    found.set_close(raw.close)
    return found


def _in_words(found: xr.Dataset, state: NDArray[Any]) -> xr.Dataset:
    """Return a study with words for the status of its runs, and text for their errors."""
    texts, over = found[ERROR], state != PENDING
    words = np.array(STATES)[state.astype(int)]
    said = [
        (one.decode(errors="replace") if isinstance(one, bytes) else one) if is_over else ""
        for one, is_over in zip(texts.values, over, strict=True)
    ]
    strings = np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else object
    text = np.array(said, dtype=strings).astype(object)
    # A variable alone has its coordinates, and not the attributes of the study.
    found["point"].attrs["design"] = str(found.attrs.get("design", ""))
    named = {"long_name": "pending, done or failed"}
    return found.assign_coords({STATUS: (RUN, words, named), ERROR: (RUN, text, texts.attrs)})


def _fills(path: Path) -> dict[str, Any]:
    """Return the fill value of each variable that a sweep writes for every run, by name."""
    with opened(path) as file:
        names = [*json.loads(file.attrs["variables"]), WALL_TIME]
        return {name: file[name].fillvalue for name in names}


def open_study_events(path: str | os.PathLike[str], events: str) -> xr.Dataset:
    """Open a table of events of a study lazily: the events of runs that are done, run after run.

    Raises OutputError if the file is missing, no study, or damaged, or has no such table.
    """
    import xarray as xr

    path = Path(path)
    content = checked_study(path)
    with explained(path, READING):
        if events not in content.events:
            raise no_table(path, events, content.events)
        table = content.events[events]
        whole = xr.open_dataset(
            path,
            engine="h5netcdf",
            group=table.table.group,
            mask_and_scale=False,
            phony_dims="access",
        )
    for variable in whole.variables.values():
        variable.attrs.pop(FILL, None)
    with opened(path) as file:
        whole = without_codes(whole, file[table.table.group])
    done = np.flatnonzero(content.rows.state == DONE)
    rows = table.chosen(done[np.argsort(content.runs[done], kind="stable")].tolist())
    chosen = whole.isel({EVENT: rows}).assign_coords({EVENT: np.arange(len(rows))})
    chosen.set_close(whole.close)
    return chosen


def no_table(path: Path, asked: str, tables: Iterable[str]) -> OutputError:
    """Return the error for a table of events that a file does not have."""
    names = ", ".join(tables)
    said = f"tables of events: {names}" if names else "no tables of events"
    return OutputError(f"{path}: has no '{asked}'; it has {said}")
