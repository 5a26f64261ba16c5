"""How does an analysis open a result file, finished or not?"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from societies.output.earlier import without_codes, without_removed
from societies.output.files import READING, explained
from societies.output.layout import (
    CLOCK,
    COMMITTED,
    FILL,
    LAYOUT_VERSION,
    is_clock,
    require_ours,
)
from societies.output.opening import require_whole
from societies.output.studies import no_table, open_study, open_study_events
from societies.output.study_layout import is_study
from societies.output.tables import EVENT, read_tables
from societies.output.trust import opened

if TYPE_CHECKING:
    import xarray as xr


def open_results(path: str | PathLike[str], events: str | None = None) -> xr.Dataset:
    """Open a result file lazily, cut to the ticks that are complete.

    Every dimension named by the file's clock (``day``), or ending in it (``agent_day``), ends at
    ``ticks_committed``. A file that a run still writes can be opened too: it shows the ticks
    committed by now. A dataset that is open does not keep anybody from resuming the file.

    Parameters
    ----------
    path : path
        A file that a run of societies wrote.
    events : str, optional
        One of the file's tables of events instead, such as ``"inventions"``.

    Returns
    -------
    xarray.Dataset
        The same as ``xr.open_dataset(path)`` gives (with ``group="events/inventions"``), without
        the ticks not yet committed. Where nothing is missing then, integers stay integers; agents
        that were removed, and what was never invented, are missing (NaN). A study
        (`societies sweep`) has all its runs, be they done or not: see its ``status``; its events
        are those of the runs that are done, run after run, with a column ``run``.

    Raises
    ------
    OutputError
        If the file is missing, not ours or damaged, or has no such table.
    """
    import xarray as xr  # here, because importing it takes longer than all the rest of societies

    path = Path(path)
    if is_study(path):
        return open_study(path) if events is None else open_study_events(path, events)
    with explained(path, READING):
        require_whole(path)
        with opened(path) as file:
            version = require_ours(file, path)
            committed = int(file[COMMITTED[version]][()])
            clock = str(file.attrs.get(CLOCK, "day"))
            found = read_tables(file)
        if events is not None and events not in found:
            raise no_table(path, events, found)
        group = found[events].place if events is not None else None
        whole = xr.open_dataset(
            path, engine="h5netcdf", group=group, mask_and_scale=False, phony_dims="access"
        )
        try:
            trimmed = _trimmed(whole, clock, committed, events=events is not None)
            if events is None and version == LAYOUT_VERSION:
                with opened(path) as file:
                    trimmed = without_removed(without_codes(trimmed, file, clock), file, clock)
        except BaseException:
            whole.close()
            raise
    trimmed.set_close(whole.close)
    return trimmed


def units_of(path: str | PathLike[str], names: Iterable[str]) -> list[str]:
    """Return the units of some variables of a result file, "1" for those that it does not have.

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


def event_tables(path: str | PathLike[str]) -> list[str]:
    """Return the names of a file's tables of events.

    Raises
    ------
    OutputError
        As `open_results` does.
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


def _trimmed(whole: xr.Dataset, clock: str, committed: int, *, events: bool) -> xr.Dataset:
    """Return the part of a dataset that is of the ticks up to the one committed."""
    for variable in whole.variables.values():
        variable.attrs.pop(FILL, None)
    if events:
        ticks = whole[clock]
        rows = int(((ticks >= 0) & (ticks <= committed)).sum())
        return whole.isel({EVENT: slice(0, rows)})
    complete = {
        dim: slice(0, int((whole[dim] <= committed).sum()))
        for dim in map(str, whole.sizes)
        if is_clock(dim, clock)
    }
    return whole.isel(complete)
