"""How does an analysis open a result file, finished or not?"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from societies.errors import OutputError
from societies.output.files import LOCKED, explained
from societies.output.layout import COMMITTED, require_ours
from societies.output.tables import EVENT, NO_DAY, read_tables
from societies.output.trust import opened

if TYPE_CHECKING:
    import xarray as xr


def open_results(path: str | PathLike[str], events: str | None = None) -> xr.Dataset:
    """Open a result file lazily, cut to the days that are complete.

    Every dimension named ``day`` or ending in ``_day`` ends at ``days_committed``. A file that a
    run still writes can be opened too: it shows the days committed by now. A dataset that is open
    in a program does not keep that program from resuming the file.

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
        the days not yet committed.

    Raises
    ------
    OutputError
        If the file is missing, not ours or damaged, or has no such table.
    """
    import xarray as xr  # here, because importing it takes longer than all the rest of societies

    path = Path(path)
    with explained(path, "read this file"):
        locking = _locking(path)
        with opened(path, "r", **locking) as file:
            require_ours(file, path)
            committed = int(file[COMMITTED][()])
            found = read_tables(file)
        if events is not None and events not in found:
            names = f"tables of events: {', '.join(found)}" if found else "no tables of events"
            raise OutputError(f"{path}: has no '{events}'; it has {names}")
        group = found[events].place if events is not None else None
        whole = xr.open_dataset(path, engine="h5netcdf", group=group, driver_kwds=locking)
    if events is not None:
        rows = int(((whole.day != NO_DAY) & (whole.day <= committed)).sum())
        trimmed = whole.isel({EVENT: slice(0, rows)})
        trimmed.set_close(whole.close)
        return trimmed
    complete = {
        dim: slice(0, int((whole[dim] <= committed).sum()))
        for dim in map(str, whole.sizes)
        if dim == "day" or dim.endswith("_day")
    }
    trimmed = whole.isel(complete)
    trimmed.set_close(whole.close)
    return trimmed


def _locking(path: Path) -> dict[str, bool]:
    """Return the option under which HDF5 reads the file: with a lock if it can be had.

    Beside a writer it is read without: no structure of the file ever changes under a reader, and
    days beyond those committed are cut off.
    """
    try:
        opened(path).close()
    except OSError as error:
        if any(words in str(error) for words in LOCKED):
            return {"locking": False}
        raise
    return {}
