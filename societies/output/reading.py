"""How does an analysis open a result file, whether its run has ended or not?"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from societies.output.checksums import commits, of_variable
from societies.output.earlier import without_codes, without_removed
from societies.output.files import READING, explained
from societies.output.layout import (
    CLOCK,
    COMMITTED,
    COUNTER,
    FILL,
    TICKS,
    is_clock,
    require_ours,
)
from societies.output.opening import damaged, descriptor_of, is_study, require_whole, sealed
from societies.output.stored_seal import StudySeal, find
from societies.output.studies import checked_study, no_table, open_study, open_study_events
from societies.output.tables import EVENT, read_tables, rows_until
from societies.output.trust import opened

if TYPE_CHECKING:
    import xarray as xr

    from societies.output.checked import RunChecks


def open_results(path: str | PathLike[str], events: str | None = None) -> xr.Dataset:
    """Open a result file lazily, cut to the ticks that are complete.

    Every dimension named by the file's clock (``day``), or ending in it (``agent_day``), ends at
    ``ticks_committed``. A file that a run is writing can be opened too: it shows the ticks
    committed so far. An open dataset does not prevent the file from being resumed.

    Everything is compared with its checksums: names, attributes and coordinates when the file is
    opened, a study or a table of events completely at that time, other variables when their values
    are first read.

    Parameters
    ----------
    path : a file that a run of societies wrote
    events : one of the file's tables of events instead, such as ``"inventions"``

    Returns
    -------
    xarray.Dataset
        The same as ``xr.open_dataset(path)`` gives (with ``group="events/inventions"``), without
        the ticks not yet committed. Integer variables without missing values stay integers; values
        of removed agents, and of devices that were never invented, are missing (NaN). A study
        (`societies sweep`) has all its runs, done or not: see its ``status``. Its tables have the
        events of the runs that are done, run after run, with a column ``run``.

    Raises
    ------
    OutputError
        If the file is missing, damaged or no result file, or has no such table. Reading the values
        of a damaged variable raises it as well.
    """
    import xarray as xr  # here, because importing it takes longer than all the rest of societies

    path = Path(path)
    if is_study(path):
        return open_study(path) if events is None else open_study_events(path, events)
    with explained(path, READING):
        from societies.output.checked import RunChecks  # loads xarray

        checks = RunChecks(path)
        whole = None
        try:
            with opened(path) as file:
                version = require_ours(file, path)
                clock = str(file.attrs.get(CLOCK, "day"))
                found = read_tables(file)
                if checks.commits is None:
                    committed = int(file[COMMITTED[version]][()])
                else:
                    committed = checks.commits.tick
                    checks.require_clock(clock)
            if events is not None and events not in found:
                raise no_table(path, events, found)
            group = found[events].group if events is not None else None
            whole = xr.open_dataset(
                path, engine="h5netcdf", group=group, mask_and_scale=False, phony_dims="access"
            )
            if checks.commits is not None:
                checks.require_sealed(whole, group or "")
            if checks.commits is None:
                trimmed = _trimmed(whole, clock, committed, events=events is not None)
            elif events is not None:
                rows = slice(0, checks.require_events(events))
                trimmed = _without_fills(whole).isel({EVENT: rows})
            else:
                whole[COUNTER] = whole[COUNTER].copy(data=np.int64(committed))
                trimmed = _trimmed(checks.watch(whole), clock, committed, events=False)
            with opened(path) as file:
                last = int(file.attrs.get(TICKS, committed))
                over = committed >= last or checks.commits is None or checks.commits.ended
                trimmed = without_codes(trimmed, file[group or "/"], clock, complete=bool(over))
                if events is None:
                    trimmed = without_removed(trimmed, file, clock)
        except BaseException:
            if whole is not None:
                whole.close()
            checks.close()
            raise
    trimmed.set_close(partial(_close, whole, checks))
    return trimmed


def _close(whole: xr.Dataset, checks: RunChecks) -> None:
    whole.close()
    checks.close()


def units_of(path: str | PathLike[str], names: Iterable[str]) -> list[str]:
    """Return the units of some variables of a result file; "1" for names that it does not have.

    This is for the command line: it does not load xarray, which takes longer than a short run.

    Raises
    ------
    OutputError
        As `open_results` does.
    """
    path = Path(path)
    with explained(path, READING):
        require_whole(path)
        with opened(path) as file:
            require_ours(file, path)
            return [str(file[name].attrs["units"]) if name in file else "1" for name in names]


def require_as_written(path: str | PathLike[str], name: str) -> None:
    """Compare a variable of a result file or a study with its checksums; ignore other files.

    Raises OutputError if the variable, or the structure of the file, is damaged.
    """
    path = Path(path)
    try:
        descriptor = descriptor_of(path)
    except OSError:
        return  # the caller reports the error when it reads the file
    with explained(path, READING):
        try:
            found = find(descriptor)
            if isinstance(found, StudySeal):
                checked_study(path)
            elif found is not None and (whole := sealed(path, descriptor)):
                disk, seal = whole
                wrong = commits(disk, seal).damages
                if name in seal.series:
                    wrong += of_variable(disk, seal, name, commits(disk, seal).tick)
                if not all(one.harmless for one in wrong):
                    raise damaged(path, disk, seal, wrong)
        finally:
            os.close(descriptor)


def event_tables(path: str | PathLike[str]) -> list[str]:
    """Return the names of a file's tables of events.

    Raises OutputError as `open_results` does.
    """
    path = Path(path)
    with explained(path, READING):
        study = is_study(path)
        if not study:
            require_whole(path)
        with opened(path) as file:
            if not study:
                require_ours(file, path)
            return list(read_tables(file))


def _without_fills(whole: xr.Dataset) -> xr.Dataset:
    """Return a dataset without declared fill values, so that no value is read as missing."""
    for variable in whole.variables.values():
        variable.attrs.pop(FILL, None)
    return whole


def _trimmed(whole: xr.Dataset, clock: str, committed: int, *, events: bool) -> xr.Dataset:
    """Return the part of a dataset up to the tick ``committed``."""
    whole = _without_fills(whole)
    if events:
        return whole.isel({EVENT: slice(0, rows_until(whole[clock].values, committed))})
    complete = {
        dim: slice(0, int((whole[dim] <= committed).sum()))
        for dim in map(str, whole.sizes)
        if is_clock(dim, clock)
    }
    return whole.isel(complete)
