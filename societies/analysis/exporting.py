"""How is a result exported to other programs: as tables (CSV, Parquet), as netCDF, or in a format
that its workload defines?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, nullcontext
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.analysis.selecting import (
    RUN,
    copies_of,
    names,
    unknown,
    with_ticks,
    with_variables,
    workload_of,
)
from societies.config.problems import suggestion
from societies.errors import ConfigError, OutputError, SocietiesError, option
from societies.output import open_results
from societies.output.files import MAKING, already_exists, explained, file_for_hdf5, written
from societies.output.reading import event_tables
from societies.output.tables import EVENT
from societies.paths import kind_unless_file
from societies.workload.drawing.figure import clock_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from societies.analysis.selecting import Ticks
    from societies.workload.declare.protocol import Workload

ROWS_AT_ONCE = 500_000
"""Most rows of a table in memory at a time, unless a single copy has more."""

Parts = Iterator["pd.DataFrame"]
"""A table as an iterator of consecutive parts."""


def export(
    source: str | PathLike[str] | xr.Dataset,
    to: str,
    out: str | PathLike[str] | None = None,
    *,
    variables: str | list[str] | None = None,
    ticks: Ticks = None,
    overwrite: bool = False,
    **options: Any,
) -> list[Path]:
    """Write variables of a result in a format that other programs read.

    ``csv`` and ``parquet`` are long tables: a row for each combination of coordinates, a column for
    each coordinate and each variable. Variables of the same dimensions share a table; a list of
    events is a table with a row for each event. Numbers have all their digits; missing values are
    empty. ``netcdf`` is one netCDF-4 file with all variables, their units and attributes, and
    the lists of events as groups. A workload may define further formats (`Workload.export`).

    Parameters
    ----------
    source : path or xarray.Dataset
        A result file, or a dataset from :func:`societies.open_results`, which has no events.
    to : ``"csv"``, ``"parquet"``, ``"netcdf"`` or a format of the workload
    out : path, optional
        The file, if there is one table; else the folder, made if missing. Default: the folder of
        the source, or the current folder for a dataset.
    variables : list of str, or text with commas, optional
        Names of variables and of lists of events; a name that both have selects both. Default: all.
    ticks : text, slice or list, optional
        ``"1:300"``, ``"1:300:10"`` (both ends included), ``"10,20"``; default: all.
    overwrite : bool
        Replace existing files.
    options
        Keyword arguments of the workload's format.

    Returns
    -------
    list of pathlib.Path
        The files: ``<name>.csv`` for a single table; for several ``<name>_<dimensions>.csv`` each,
        and ``<name>_variables.csv`` with unit and meaning of every variable.

    Raises
    ------
    ConfigError
        If the format, a variable or the ticks do not exist.
    OutputError
        If the source cannot be read, or a file cannot be written or exists already.
    SocietiesError
        If Parquet is requested and its package is missing.
    """
    with ExitStack() as stack:
        if isinstance(source, str | PathLike):
            file, name, folder = Path(source), Path(source).stem, Path(source).parent
            data = stack.enter_context(open_results(source))
            events = event_tables(file)
        else:
            file, name, folder = None, Path(source.encoding.get("source", "results")).stem, Path()
            data, events = stack.enter_context(nullcontext(source)), []
        own = formats_of(workload_of(data))
        if to not in (*FORMATS, *own):
            known = [*FORMATS, *own]
            raise ConfigError(
                f"{option('to', to)}: not a format of this file; choose one of {', '.join(known)}"
                f"{suggestion(to, known)}"
            )
        if to in own and variables is not None:
            raise ConfigError(f"{option('variables')}: a file of {to} has variables of its own")
        if to not in own and options:
            raise ConfigError(f"{option(next(iter(options)))}: {to} has no such option")
        asked = list(dict.fromkeys([*map(str, data.data_vars), *events]))
        if variables is not None:
            asked = names(variables)
        listed = [one for one in asked if one in events]  # a variable may have the same name
        for one in asked:
            if one not in data.data_vars and one not in events:
                raise unknown(one, [*map(str, data.data_vars), *events])
        data = with_ticks(data, ticks)
        lists = {
            one: with_event_ticks(stack.enter_context(open_results(file, one)), data, ticks)
            for one in listed
            if file is not None and to not in own
        }
        data = with_variables(data, [one for one in asked if one in data.data_vars])
        where = folder if out is None else Path(out)
        if to in own:
            writers = {where: lambda path: own[to](data, path, **options)}
            if where.is_dir():
                writers = {where / f"{name}.{to}": writers[where]}
        else:
            writers = FORMATS[to](data, lists, name, where, out is not None)
        if not writers:
            raise ConfigError(f"{option('variables')}: names nothing, so there is nothing to write")
        return _written(writers, file, overwrite=overwrite)


Writer = Callable[[Path], object]
"""Function that writes one file to a given path."""

Writers = Callable[["xr.Dataset", Mapping[str, "xr.Dataset"], str, Path, bool], dict[Path, Writer]]
"""Function of variables, lists of events, the name of the files, where they go, and whether the
user said so; returns what writes each file."""


def formats_of(workload: Workload[Any, Any] | None) -> Mapping[str, Callable[..., Any]]:
    """Return the formats that a workload adds: the functions that write them, by name."""
    found: Mapping[str, Callable[..., Any]] = getattr(workload, "export", {})
    return found


def with_event_ticks(events: xr.Dataset, results: xr.Dataset, ticks: Ticks) -> xr.Dataset:
    """Return the events of the requested ticks."""
    if ticks is None:
        return events
    clock = clock_of(results)
    return events.isel({EVENT: events[clock].isin(results[clock]).values})


def _written(writers: Mapping[Path, Writer], source: Path | None, *, overwrite: bool) -> list[Path]:
    """Write every file under a temporary name first: a file with its final name is complete."""
    for path in writers:
        if kind := kind_unless_file(path):
            raise OutputError(f"{path}: is {kind}, not a file. Choose another place.")
        if source is not None and path.exists() and path.samefile(source):
            raise OutputError(f"{path}: is the result itself. Choose another place.")
        if path.exists() and not overwrite:
            raise already_exists(path, resumable=False)
    with ExitStack() as stack:  # at its end all files get their names
        for path, write in writers.items():
            stack.enter_context(explained(path, MAKING))
            with explained(path, MAKING):
                path.parent.mkdir(parents=True, exist_ok=True)
                write(stack.enter_context(written(path, overwrite=overwrite)))
    return list(writers)


# ---------------------------------------------------------------- tables


def export_tables(data: xr.Dataset) -> dict[tuple[str, ...], list[str]]:
    """Return the variables of each table, by its dimensions; scalars are in no table."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name, variable in data.data_vars.items():
        if variable.dims:
            found.setdefault(tuple(map(str, variable.dims)), []).append(str(name))
    return found


def _as_tables(ending: str, write: Callable[[Parts, Path], object]) -> Writers:
    def writers(
        data: xr.Dataset, lists: Mapping[str, xr.Dataset], name: str, where: Path, said: bool
    ) -> dict[Path, Writer]:
        parts: dict[str, Callable[[], Parts]] = {}
        for dims, variables in export_tables(data).items():
            parts["_".join(dims)] = lambda d=dims, v=variables: export_rows(data[v], d)  # type: ignore[misc]
        for one, events in lists.items():
            parts[f"events_{one}"] = lambda e=events: iter([event_rows(e, _when(data))])  # type: ignore[misc]
        is_file = said and where.suffix.lower() == f".{ending}" and not where.is_dir()
        if is_file and len(parts) > 1:
            raise ConfigError(
                f"{option('out', str(where))}: these variables are {len(parts)} tables, as their "
                f"dimensions differ; name a folder, or fewer variables with {option('variables')}"
            )
        if len(parts) == 1:
            path = where if is_file else where / f"{name}.{ending}"
            (only,) = parts.values()
            return {path: lambda target: write(only(), target)}
        made: dict[Path, Writer] = {
            where / f"{name}_{table}.{ending}": lambda target, p=p: write(p(), target)  # type: ignore[misc]
            for table, p in parts.items()
        }
        if made:
            about = codebook(data, lists)
            made[where / f"{name}_variables.{ending}"] = lambda target: write(iter([about]), target)
        return made

    return writers


def export_rows(data: xr.Dataset, dims: tuple[str, ...]) -> Parts:
    """Yield variables of the same dimensions as rows, in the order of the dimensions.

    Coordinates along one of the dimensions (the keys that a study varies) are columns as well.
    """
    length = data.sizes[dims[0]]
    each = math.prod(data.sizes[dim] for dim in dims[1:])
    step = max(1, ROWS_AT_ONCE // max(1, each))
    for first in range(0, max(1, length), step):
        part = data.isel({dims[0]: slice(first, min(first + step, length))})
        scalars = [name for name, one in part.coords.items() if not one.dims]
        part = part.drop_vars(scalars)
        order = [*dims, *(str(name) for name in part.coords if name not in dims), *part.data_vars]
        frame = part.to_dataframe(dim_order=list(dims)).reset_index()[order]
        yield frame.astype({name: "Int64" for name in part.data_vars if _is_whole(part[name])})


def event_rows(events: xr.Dataset, first: tuple[str, ...] = ()) -> pd.DataFrame:
    """Return a list of events as rows, with some columns first.

    A column with several values per event becomes several columns: ``recipe_0``, ``recipe_1``.
    """
    import pandas as pd

    columns: dict[str, Any] = {}
    order = [*(name for name in first if name in events), *map(str, events.data_vars)]
    for name, column in ((name, events[name]) for name in dict.fromkeys(order)):
        values = column.transpose(EVENT, ...).values
        if values.ndim == 1:
            meanings = str(column.attrs.get("flag_meanings", "")).split()
            columns[str(name)] = [meanings[i] for i in values] if meanings else values
        else:
            each = {f"{name}_{i}": values[:, i] for i in range(values.shape[1])}
            kind = "Int64" if _is_whole(column) else values.dtype
            columns |= {one: pd.array(part, kind) for one, part in each.items()}
    return pd.DataFrame(columns)


def _is_whole(variable: xr.DataArray) -> bool:
    """Whether a variable has whole numbers in its file, and floats here, as some are missing."""
    stored = np.dtype(variable.encoding.get("dtype", variable.dtype))
    return variable.dtype.kind == "f" and stored.kind in "iu"


def _when(data: xr.Dataset) -> tuple[str, ...]:
    """Return the names of the columns for run, copy and tick; events may lack some of them."""
    return RUN, copies_of(data), clock_of(data)


def codebook(data: xr.Dataset, lists: Mapping[str, xr.Dataset]) -> pd.DataFrame:
    """Return a table with the unit, the meaning and the exported table of every variable."""
    import pandas as pd

    found = [(one, "_".join(map(str, data[one].dims))) for one in data.data_vars if data[one].dims]
    described = [(name, table, data[name].attrs) for name, table in found]
    for table, events in lists.items():
        described += [
            (name, f"events_{table}", column.attrs) for name, column in events.data_vars.items()
        ]
    return pd.DataFrame(
        [(n, t, a.get("units", ""), a.get("long_name", "")) for n, t, a in described],
        columns=["variable", "table", "units", "meaning"],
    )


def _write_csv(parts: Parts, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        for i, part in enumerate(parts):
            part.to_csv(file, index=False, header=i == 0, lineterminator="\n")


def _write_parquet(parts: Parts, path: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise SocietiesError(
            "Parquet needs pyarrow, which is missing: pip install pyarrow"
        ) from error
    with ExitStack() as stack:
        writer = None
        for part in parts:
            table = pyarrow.Table.from_pandas(part, preserve_index=False)
            if writer is None:
                writer = stack.enter_context(parquet.ParquetWriter(path, table.schema))
            writer.write_table(table)


# ---------------------------------------------------------------- netCDF


def _as_netcdf(
    data: xr.Dataset, lists: Mapping[str, xr.Dataset], name: str, where: Path, said: bool
) -> dict[Path, Writer]:
    is_file = said and where.suffix and not where.is_dir()
    path = where if is_file else where / f"{name}.nc"
    if not data.data_vars and not lists:
        return {}

    def write(target: Path) -> None:
        with file_for_hdf5(target) as file:
            _plain(data).to_netcdf(file, engine="h5netcdf", encoding=_encoding(data))
            for one, events in lists.items():
                _plain(events).to_netcdf(
                    file, engine="h5netcdf", mode="a", group=f"events/{one}", encoding={}
                )

    return {path: write}


def _plain(data: xr.Dataset) -> xr.Dataset:
    """Return the dataset without the storage options of the file that it was read from.

    ASCII texts of attributes get a fixed length: Octave cannot read netCDF-4's strings.
    """
    found = data.copy().drop_encoding()
    for one in (found, *found.variables.values()):
        one.attrs = {
            name: np.bytes_(value.encode()) if isinstance(value, str) and value.isascii() else value
            for name, value in one.attrs.items()
        }
    return found


def _encoding(data: xr.Dataset) -> dict[str, dict[str, Any]]:
    """Return an encoding of texts as characters: not every program reads netCDF-4's strings."""
    return {
        str(name): {"dtype": "S1"} for name, one in data.variables.items() if one.dtype.kind in "UO"
    }


FORMATS: dict[str, Writers] = {
    "csv": _as_tables("csv", _write_csv),
    "parquet": _as_tables("parquet", _write_parquet),
    "netcdf": _as_netcdf,
}
"""Functions that return the writers of the files of each format."""
