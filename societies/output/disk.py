"""How are raw data read and written in a file whose HDF5 structure is final?

HDF5 makes a file and reads it. While a run writes, HDF5 is not involved: every dataset has a fixed
position (an extent), so its raw data are written with the system's own calls. They reach the file
in the order of the calls even if the process is killed, a failure is reported by the call that
failed, and other programs that use HDF5 do not find the file open.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Selection = Sequence[int | slice]

SPAN = 1 << 20
"""Most bytes that are read, changed and written back at once to change many small pieces."""
BETWEEN = 1 << 14
"""Most bytes between two rows that are written at once."""
AT_ONCE = 1 << 24
"""Most bytes that one system call reads."""
FEW_PIECES = 32
"""Largest number of pieces of a dataset that are written one by one instead."""


@dataclass(frozen=True)
class Extent:
    """Position, type and shape of the raw data of a dataset: contiguous, in C order."""

    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the raw data."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def end(self) -> int:
        """First byte behind the raw data."""
        return self.offset + self.nbytes

    def rows(self, first: int, stop: int) -> Extent:
        """Return the part with these positions of the first dimension."""
        row = math.prod(self.shape[1:]) * self.dtype.itemsize
        return Extent(self.offset + first * row, self.dtype, (stop - first, *self.shape[1:]))

    def row(self, at: int) -> Extent:
        """Return the part at one position of the first dimension, without that dimension."""
        return Extent(self.rows(at, at + 1).offset, self.dtype, self.shape[1:])


class Disk:
    """An open file and the extents in it.

    Parameters
    ----------
    descriptor : of the open file; the caller closes it
    salt : int, optional
        What all checksums of the file begin with (see `societies.output.positions`); None: layout 2
    """

    def __init__(
        self, descriptor: int, extents: dict[str, Extent], salt: int | None = None
    ) -> None:
        self.descriptor = descriptor
        self.extents = extents
        self.salt = salt
        self._syncing = Lock()
        self._failed: OSError | None = None

    def read(self, name: str, *selection: int | slice) -> NDArray[Any]:
        """Return values of a dataset: all, or those at positions of its leading dimensions."""
        return self._read(self.extents[name], selection)

    def write(self, name: str, values: ArrayLike, *selection: int | slice) -> None:
        """Write values of a dataset: all, or those at positions of its leading dimensions."""
        extent = self.extents[name]
        self._write(extent, selection, np.asarray(values).astype(extent.dtype, copy=False))

    def read_rows(self, name: str, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return the values at positions of the first dimension, at least one."""
        groups = self._groups(self.extents[name], rows)
        parts = [self.read(name, slice(one[0], one[-1] + 1))[one - one[0]] for one in groups]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def write_rows(self, name: str, rows: NDArray[np.intp], values: NDArray[Any]) -> None:
        """Write values at positions of the first dimension, (row, ...).

        Values of other dimensions may be fewer than the dataset has. Where the rows between are
        small, they are read and written again with the same bytes: one call does for many rows.
        """
        inner, first = [slice(0, length) for length in values.shape[1:]], 0
        for one in self._groups(self.extents[name], rows):
            part, at = values[first : first + len(one)], slice(one[0], one[-1] + 1)
            first += len(one)
            if len(one) < at.stop - at.start:
                whole = self.read(name, at)
                whole[(one - one[0], *inner)] = part
                self.write(name, whole, at)
            else:
                self.write(name, part, at, *inner)

    @staticmethod
    def _groups(extent: Extent, rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        """Divide rows into those that are read or written at once."""
        if not len(rows):
            return []
        each = max(1, extent.rows(0, 1).nbytes)
        span = max(1, SPAN // each)
        apart = np.diff(rows)
        breaks = (apart < 1) | ((apart - 1) * each > BETWEEN)
        breaks |= np.diff((rows - rows[0]) // span) > 0
        return np.split(rows, np.flatnonzero(breaks) + 1)

    def sync(self) -> None:
        """Flush everything written so far to the disk; on return it survives a power cut.

        The system reports a failure only once, to one thread, which need not have written the lost
        data. So after a failure every later call raises it again.
        """
        with self._syncing:
            if self._failed is not None:
                raise OSError(*self._failed.args)
            try:
                # The file's size never changes after its creation: the data alone are enough.
                getattr(os, "fdatasync", os.fsync)(self.descriptor)
            except OSError as error:
                self._failed = error
                raise

    def read_bytes(self, offset: int, nbytes: int) -> bytearray:
        """Return bytes of the file; fewer than ``nbytes`` if the file ends before."""
        content = bytearray(nbytes)
        view, done = memoryview(content), 0
        while done < nbytes:
            part = _pread(self.descriptor, min(nbytes - done, AT_ONCE), offset + done)
            if not part:
                break
            view[done : done + len(part)] = part
            done += len(part)
        view.release()
        del content[done:]
        return content

    def write_bytes(self, offset: int, content: bytes | bytearray | memoryview) -> None:
        """Write bytes of the file."""
        view, done = memoryview(content), 0
        while done < len(view):
            # On a full disk, or at a limit of size, a write is first cut short; the next one fails.
            done += _pwrite(self.descriptor, view[done:], offset + done)

    def _load(self, extent: Extent) -> NDArray[Any]:
        if not extent.nbytes:
            return np.empty(extent.shape, extent.dtype)
        content = self.read_bytes(extent.offset, extent.nbytes)
        if len(content) != extent.nbytes:
            raise OSError(errno.EIO, "the file ends too early")
        return np.frombuffer(content, extent.dtype).reshape(extent.shape)

    def _store(self, extent: Extent, values: NDArray[Any]) -> None:
        if values.size:
            flat = np.ascontiguousarray(values).reshape(-1)
            self.write_bytes(extent.offset, flat.view(np.uint8).data)

    def _read(self, extent: Extent, selection: Selection) -> NDArray[Any]:
        selection = _shortened(selection, extent.shape)
        if not selection:
            return self._load(extent)
        first, *rest = selection
        if isinstance(first, int):
            return self._read(extent.row(first), rest)
        part = extent.rows(first.start, first.stop)
        if not rest:
            return self._load(part)
        values = [
            self._load(part.rows(low, high))[(slice(None), *rest)]
            if high - low > 1
            else self._read(part.row(low), rest)[np.newaxis]
            for low, high in _spans(part)
        ]
        if not values:
            return np.empty(extent.shape, extent.dtype)[(slice(0, 0), *rest)]
        return np.concatenate(values)

    def _write(self, extent: Extent, selection: Selection, values: NDArray[Any]) -> None:
        selection = _shortened(selection, extent.shape)
        if not selection:
            self._store(extent, values)
            return
        first, *rest = selection
        if isinstance(first, int):
            self._write(extent.row(first), rest, values)
            return
        part = extent.rows(first.start, first.stop)
        if not rest:
            self._store(part, values)
        elif len(values) <= FEW_PIECES:
            for at, piece in enumerate(values):
                self._write(part.row(at), rest, piece)
        else:
            for low, high in _spans(part):
                if high - low == 1:
                    self._write(part.row(low), rest, values[low])
                    continue
                whole = self._load(part.rows(low, high))
                whole[(slice(None), *rest)] = values[low:high]
                self._store(part.rows(low, high), whole)


_POSITION = Lock()
"""Lock held while a file's position is set and used, because threads share it (Windows)."""


def _pread(descriptor: int, nbytes: int, offset: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(descriptor, nbytes, offset)
    with _POSITION:  # Windows
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, nbytes)


def _pwrite(descriptor: int, content: memoryview, offset: int) -> int:
    if hasattr(os, "pwrite"):
        return os.pwrite(descriptor, content, offset)
    with _POSITION:  # Windows
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.write(descriptor, content)


def _shortened(selection: Selection, shape: tuple[int, ...]) -> list[int | slice]:
    """Return a selection with explicit bounds, without trailing slices that select everything."""
    result: list[int | slice] = [
        slice(*one.indices(size)[:2]) if isinstance(one, slice) else int(one)
        for one, size in zip(selection, shape, strict=False)
    ]
    while result and result[-1] == slice(0, shape[len(result) - 1]):
        result.pop()
    return result


def _spans(extent: Extent) -> list[tuple[int, int]]:
    """Divide the first dimension into ranges of at most `SPAN` bytes, but at least one position."""
    count = extent.shape[0] if extent.nbytes else 0
    step = max(1, SPAN * max(count, 1) // max(extent.nbytes, 1))
    return [(low, min(low + step, count)) for low in range(0, count, step)]
