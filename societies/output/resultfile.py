"""How does a running simulation write its results, and find its place again after a kill?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray

from societies.errors import OutputError, option
from societies.output import checkpoints, tables
from societies.output.files import (
    MAKING,
    abandon,
    claim,
    explained,
    place,
    require_target,
    temporary_name,
    to_disk,
)
from societies.output.layout import (
    COMMITTED,
    SESSION_BYTES,
    SESSION_RECORDS,
    SESSIONS,
    SLOTS,
    Attribute,
    Coordinate,
    Layout,
    StateLayout,
    Variable,
    build,
    declare,
    difference,
    read_layout,
    require_ours,
)
from societies.output.readers import release
from societies.output.tables import Table
from societies.output.trust import opened

COPIED_AT_ONCE = 1 << 26
"""Bytes of a dataset that are in memory at a time when a file is made anew."""


class ResultFile:
    """One result file, open for writing; make one with :meth:`create` or :meth:`resume`.

    The order of calls for a day, or a block of days::

        write(...), write(...), ...     values of days that nobody counts on yet
        append(table, columns)          events of these days
        commit(day)                     data to the disk, then the counter: from now on they hold
        checkpoint(day, state)          now and then; after the commit of the same day

    A process may die between or inside any of these calls. Days up to :attr:`days_committed` are
    complete, and :meth:`latest_checkpoint` gives a whole state of some day up to it. A resumed
    run starts there and writes the days in between again; they must come out the same, and the
    counter does not move back meanwhile.

    Attributes
    ----------
    path : pathlib.Path
        The file's name.
    """

    def __init__(self, path: Path, file: h5py.File, layout: Layout) -> None:
        self.path = path
        self._open(file, layout)
        self._committed = int(self._datasets[COMMITTED][()])
        self._latest_slot: str | None = None
        self._rows = dict.fromkeys(layout.tables, 0)
        self.rewind(self._committed)

    def _open(self, file: h5py.File, layout: Layout) -> None:
        self._file = file
        self._layout = layout
        names = [*layout.variables, COMMITTED, SESSIONS]
        names += [f"{t.place}/{c.name}" for t in layout.tables.values() for c in t.columns]
        # Kept open: HDF5 says nothing when a dataset fails to write at its closing.
        self._datasets = {name: file[name] for name in names}

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        *,
        coordinates: Iterable[Coordinate],
        variables: Iterable[Variable],
        attributes: Mapping[str, Attribute],
        state: StateLayout,
        tables: Iterable[Table] = (),
        overwrite: bool = False,
    ) -> Self:
        """Make a complete file without any day in it, and open it for writing.

        The file is built under another name (``*.partial``) in the same folder and gets its own
        name in one step, so under ``path`` there is never half a file.

        Parameters
        ----------
        path : path
            Name of the file; its folder must exist.
        coordinates, variables : iterables
            What the file holds; the dimensions of the variables are the coordinates.
        attributes : mapping of str to str, int or float
            Attributes of the file (of the dataset, in xarray).
        state : mapping of name to (shape, dtype)
            The arrays of a checkpoint.
        tables : iterable
            Tables of events.
        overwrite : bool
            Replace an existing file. Without it an existing file is not touched.

        Raises
        ------
        OutputError
            If the file exists, or cannot be made there; nothing is left behind then.
        """
        path = Path(path)
        layout = declare(coordinates, variables, attributes, state, tables)
        with explained(path, MAKING):
            require_target(path, layout.nbytes_on_disk, overwrite=overwrite)
        file = _made(path, layout, None, overwrite=overwrite)
        with explained(path, "read this file"):
            return cls(path, file, read_layout(file))

    @classmethod
    def resume(
        cls,
        path: str | PathLike[str],
        *,
        coordinates: Iterable[Coordinate] | None = None,
        variables: Iterable[Variable] | None = None,
        state: StateLayout | None = None,
    ) -> Self:
        """Open an existing file to write on.

        With ``coordinates``, ``variables`` and ``state`` (all three, as for :meth:`create`) the
        file must have been made for them.

        Raises
        ------
        OutputError
            If the file is missing, not ours, damaged, open in another process, or made for
            something else; it is not touched then.
        """
        path = Path(path)
        release(path)
        with explained(path, "write this file"):
            with opened(path) as file:  # opening "r+" may write, even to an empty file
                require_ours(file, path)
            file = opened(path, "r+", libver="earliest")
        try:
            with explained(path, "read this file"):
                there = read_layout(file)
            if coordinates is not None and variables is not None and state is not None:
                unlike = difference(there, declare(coordinates, variables, {}, state))
                if unlike:
                    raise OutputError(
                        f"{path}: does not fit what is to be run: {unlike}.\n"
                        "Resume with the configuration that made it, or name another file with "
                        f"{option('out')}."
                    )
            with explained(path, "read this file"):
                return cls(path, file, there)
        except BaseException:
            file.close()
            raise

    @property
    def attributes(self) -> dict[str, Attribute]:
        """Attributes given at creation."""
        return dict(self._layout.attributes)

    @property
    def coordinates(self) -> dict[str, Coordinate]:
        """Coordinates by name."""
        return dict(self._layout.coordinates)

    @property
    def variables(self) -> dict[str, Variable]:
        """Variables by name."""
        return dict(self._layout.variables)

    @property
    def days_committed(self) -> int:
        """Last day up to which every value is complete; 0 at first."""
        return self._committed

    @property
    def sessions(self) -> list[str]:
        """Records of :meth:`log_session`, oldest first."""
        with explained(self.path, "read this file"):
            return [record.decode() for record in self._datasets[SESSIONS][()] if record]

    def write(self, name: str, values: ArrayLike, **index: int | slice) -> None:
        """Write a block of one variable; it counts from the next :meth:`commit` on.

        Parameters
        ----------
        name : str
            The variable.
        values : array
            Of the shape that the index selects; dimensions with a single position are left out.
        **index : int or slice of step 1
            Positions (from 0, not coordinate values) by dimension; other dimensions: everything.

        Raises
        ------
        KeyError, ValueError, TypeError
            If there is no such variable, dimension or position, or the values do not fit.
        OutputError
            If the file cannot be written.
        """
        variable = self._layout.variables[name]
        if unknown := index.keys() - set(variable.dims):
            raise KeyError(f"'{name}' has no dimension {', '.join(sorted(unknown))}")
        selection: list[int | slice] = []
        shape: list[int] = []
        for dim, size in zip(variable.dims, self._layout.shape(variable), strict=True):
            at = index.get(dim, slice(None))
            if isinstance(at, slice):
                start, stop = at.start or 0, size if at.stop is None else at.stop
                if not 0 <= start <= stop <= size or at.step not in (None, 1):
                    raise ValueError(f"'{name}': {at} does not lie within {size} of '{dim}'")
                selection.append(slice(start, stop))
                shape.append(stop - start)
            else:
                if not 0 <= at < size:
                    raise ValueError(f"'{name}': {at} is not one of {size} positions of '{dim}'")
                selection.append(int(at))
        block = np.asarray(values)
        if block.shape != tuple(shape):
            raise ValueError(f"'{name}': values {block.shape}, the index selects {tuple(shape)}")
        if not np.can_cast(block.dtype, np.dtype(variable.dtype), "same_kind"):
            raise TypeError(f"'{name}' is {variable.dtype}, not {block.dtype}")
        if block.size:
            with self._writing():
                self._datasets[name][tuple(selection)] = block

    def append(self, table: str, columns: Mapping[str, NDArray[Any]]) -> None:
        """Write rows of a table after those it has; they count from the next commit on.

        Days do not fall from row to row. A table that is full becomes twice as long, for which the
        whole file is made anew and replaced in one step: there must be room for both.

        Parameters
        ----------
        table : str
        columns : mapping of name to array (rows) or (rows, positions)

        Raises
        ------
        KeyError, ValueError
            If there is no such table or column, or the values do not fit.
        OutputError
            If the file cannot be written.
        """
        there = self._layout.tables[table]
        first, count = self._rows[table], tables.block(there, columns)
        if first + count > there.rows:
            self._lengthen(there.longer(first + count))
        if count:
            with self._writing():
                for name, values in columns.items():
                    self._datasets[f"{there.place}/{name}"][first : first + count] = values
        self._rows[table] = first + count

    def rewind(self, day: int) -> None:
        """Let the next rows of every table follow those up to this day, from which a run goes on.

        Rows of later days are written again, and must come out the same.
        """
        with explained(self.path, "read this file"):
            for name, table in self._layout.tables.items():
                self._rows[name] = tables.rows_until(self._file, table, day)

    def _lengthen(self, table: Table) -> None:
        layout = replace(self._layout, tables={**self._layout.tables, table.name: table})
        with self._writing():
            to_disk(self._file)
        # A link to the file stays one: what is replaced is the file itself.
        made = _made(self.path.resolve(), layout, self._file, overwrite=True)
        self._file.close()
        self._open(made, layout)

    def commit(self, day: int) -> None:
        """Declare every value up to ``day`` complete: data, flush, counter, flush.

        The counter never moves back; a day below it is flushed and otherwise ignored.

        Raises
        ------
        OutputError
            If the file cannot be written; it is closed then and holds the days committed before.
        """
        with self._writing():
            to_disk(self._file)
            if day > self._committed:
                self._datasets[COMMITTED][()] = day
                to_disk(self._file)
                self._committed = int(day)

    def checkpoint(self, day: int, state: Mapping[str, NDArray[Any]]) -> None:
        """Keep the full state at the end of a committed day, in the slot not needed now.

        Parameters
        ----------
        day : int
            Not above :attr:`days_committed`; 0 is the state before the first day.
        state : mapping of name to array
            Exactly the arrays declared at creation.

        Raises
        ------
        ValueError
            If the day is not committed, or the arrays are not those declared.
        OutputError
            If the file cannot be written; it is closed then, and the checkpoint before remains.
        """
        if not 0 <= day <= self._committed:
            raise ValueError(f"day {day} is not committed (days committed: {self._committed})")
        given = {name: (array.shape, array.dtype) for name, array in state.items()}
        if given != self._layout.state:
            raise ValueError(f"state is {given}, declared was {self._layout.state}")
        with self._writing():
            if self._latest_slot is None:
                found = checkpoints.latest(self._file)
                self._latest_slot = found[0] if found else SLOTS[1]
            slot = SLOTS[1 - SLOTS.index(self._latest_slot)]
            checkpoints.store(self._file, slot, int(day), state)
            self._latest_slot = slot

    def latest_checkpoint(self) -> tuple[int, dict[str, NDArray[Any]]] | None:
        """Return day and arrays of the newest intact checkpoint, or None if there is none.

        Raises
        ------
        OutputError
            If the file cannot be read.
        """
        with explained(self.path, "read this file"):
            found = checkpoints.latest(self._file)
        return None if found is None else found[1:]

    def log_session(self, text: str) -> None:
        """Append one record, such as the device and the first day, and flush it.

        The table holds 64 records of 1024 bytes in UTF-8; a longer text is cut, and when the table
        is full its last record is replaced.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        record = text.encode()
        if len(record) > SESSION_BYTES:
            mark = "…".encode()
            kept = record[: SESSION_BYTES - len(mark)].decode(errors="ignore")
            record = kept.encode() + mark
        with self._writing():
            position = min(len(self.sessions), SESSION_RECORDS - 1)
            self._datasets[SESSIONS][position] = record
            to_disk(self._file)

    def close(self) -> None:
        """Close the file; what is not committed stays in it and does not count."""
        if self._file.id.valid:
            with self._writing():
                self._file.flush()
                self._file.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Explain a failure, and close the file at once as it is: HDF5 cannot go on with it."""
        with explained(self.path, "write this file"):
            if not self._file.id.valid:
                raise OutputError(f"{self.path}: is closed. Open it again to write.")
            try:
                yield
            except (OSError, RuntimeError, ValueError):
                abandon(self._file)
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _made(path: Path, layout: Layout, old: h5py.File | None, *, overwrite: bool) -> h5py.File:
    """Build a file under another name, with what an old one holds, and give it its own name."""
    temporary = temporary_name(path)
    file = None
    try:
        with explained(path, MAKING):
            with temporary.open("xb") as empty:
                claim(empty.fileno(), layout.nbytes_on_disk)
            # Aligned, so that a counter lies within one page and changes as one.
            file = h5py.File(temporary, "w", libver="earliest", alignment_interval=8)
            claim(file.id.get_vfd_handle(), layout.nbytes_on_disk)
            datasets = build(file, layout)
            if old is not None:
                _copy(old, file)
            to_disk(file)
            del datasets
            file.close()
            # Closed and opened again, HDF5 has settled everything but raw data, and sees and
            # gives back what was claimed beyond the file's end.
            file = h5py.File(temporary, "r+", libver="earliest")
            to_disk(file)
            place(temporary, path, overwrite=overwrite)
            return file
    except BaseException:
        if file is not None:
            abandon(file)
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _copy(old: h5py.File, new: h5py.File) -> None:
    """Copy the values of every dataset into that of the same name, which may be longer."""
    names: list[str] = []
    old.visit(names.append)
    for name in names:
        source, target = old[name], new[name]
        if isinstance(source, h5py.Group) or source.is_scale or not source.size:
            continue
        if not source.shape:
            target[()] = source[()]
            continue
        step = max(1, COPIED_AT_ONCE * len(source) // source.nbytes)
        for first in range(0, len(source), step):
            rows = slice(first, min(first + step, len(source)))
            target[rows] = source[rows]
