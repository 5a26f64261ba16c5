"""How is a result file built under a temporary name until it is complete?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import h5py
import numpy as np

from societies.output import checksums, lock, opening, seal, study_checks
from societies.output.building import build
from societies.output.disk import Disk
from societies.output.files import (
    MAKING,
    abandon,
    being_written_elsewhere,
    claim,
    explained,
    temporary_name,
)
from societies.output.layout import CHECKSUMS, COMMITS, Layout
from societies.output.stored_seal import Seal, StudySeal
from societies.output.study_layout import CHECKSUM, StudyLayout, build_study

_Sealed = TypeVar("_Sealed", Seal, StudySeal)

COPIED_AT_ONCE = 1 << 26
"""Most bytes of a dataset in memory at a time while it is copied into a new file."""


def locked_target(path: Path) -> int | None:
    """Lock the file that is to be replaced and return its descriptor; None if it cannot be opened.

    Raises OutputError if a run or sweep is writing it, or has replaced it meanwhile.
    """
    for write in (True, False):  # a user may replace a file without permission to write it
        try:
            descriptor = opening.descriptor_of(path, write=write)
        except OSError:
            continue
        with suppress(FileNotFoundError):
            if lock.acquire(descriptor, exclusive=write) and os.path.samestat(
                os.fstat(descriptor), os.stat(path)
            ):
                return descriptor
        lock.release(descriptor)
        raise being_written_elsewhere(path)
    return None


def made(path: Path, layout: Layout, old: Disk | None = None) -> tuple[Path, Disk, Seal]:
    """Build a file under a temporary name, with the values of ``old``; it is locked at once."""

    def finish(temporary: Path, disk: Disk) -> Seal:
        sealed = seal.make(temporary, disk, layout)
        disk.extents, disk.salt = sealed.extents, sealed.salt
        if old is None:
            _begin(disk, sealed)
        else:
            _copy(old, disk)
        return sealed

    return _built(path, layout.nbytes_on_disk, lambda file: build(file, layout), finish)


def made_study(path: Path, layout: StudyLayout) -> tuple[Path, Disk, StudySeal]:
    """Build a study without results under a temporary name; it is locked at once."""
    fills = {one.name: one.fill for one in layout.variables.values()}

    def finish(temporary: Path, disk: Disk) -> StudySeal:
        attributes, tables = layout.attributes, layout.tables
        sealed = seal.make_for_study(
            temporary, disk, layout.final, attributes, fills, tables, layout.salt
        )
        disk.extents, disk.salt = sealed.extents, sealed.salt
        disk.write(CHECKSUM, study_checks.pending(disk, layout.runs))
        return sealed

    return _built(path, layout.nbytes, lambda file: build_study(file, layout), finish)


@contextmanager
def removed_on_error(temporary: Path, disk: Disk) -> Iterator[None]:
    """Release and remove a new file if the block fails."""
    try:
        yield
    except BaseException:
        lock.release(disk.descriptor)
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _built(
    path: Path,
    nbytes: int,
    build: Callable[[h5py.File], object],
    finish: Callable[[Path, Disk], _Sealed],
) -> tuple[Path, Disk, _Sealed]:
    """Let HDF5 build a file of about ``nbytes`` bytes, and seal it when its structure is final."""
    with explained(path, MAKING):
        temporary, descriptor = lock.create(lambda: temporary_name(path))
    disk, file = Disk(descriptor, {}), None
    with removed_on_error(temporary, disk), explained(path, MAKING):
        try:
            claim(disk.descriptor, nbytes)
            # Aligned, so that a counter lies within one page and changes as one. Without HDF5's
            # lock: a process started by another thread meanwhile (a compiler, say) inherits it.
            file = h5py.File(temporary, "w", libver="earliest", alignment_interval=8, locking=False)
            claim(disk.descriptor, nbytes)
            datasets = build(file)
            file.flush()
            del datasets
            file.close()
            # Closing completes HDF5's structures. Opening again makes HDF5 notice the space that
            # was claimed beyond the file's end, and release it.
            file = h5py.File(temporary, "r+", libver="earliest", locking=False)
            file.close()
            lock.acquire(disk.descriptor)  # if locks belong to processes, HDF5's close released it
            sealed = finish(temporary, disk)
            disk.sync()
            return temporary, disk, sealed
        except BaseException:
            if file is not None:
                abandon(file)
            raise


def _begin(disk: Disk, sealed: Seal) -> None:
    """Write the records of a file without ticks: nothing is committed, no checksum withdrawn."""
    record = checksums.record(disk, 0, False, [0] * len(sealed.tables))
    disk.write(COMMITS, np.stack([record, record]))
    for name, series in sealed.series.items():
        if series.axis is None:
            disk.write(f"{CHECKSUMS}/{name}", checksums.whole_sum(disk, name))


def _copy(old: Disk, new: Disk) -> None:
    """Copy every dataset into the one of the same name, which may be longer or shorter."""
    for name, extent in old.extents.items():
        if not extent.shape:
            new.write(name, old.read(name))
        elif extent.nbytes:
            step = max(1, COPIED_AT_ONCE * extent.shape[0] // extent.nbytes)
            count = min(extent.shape[0], new.extents[name].shape[0])
            for first in range(0, count, step):
                rows = slice(first, min(first + step, count))
                new.write(name, old.read(name, rows), rows)
