"""Is the part of a file that never changes as it was made, and where are the other parts?

When a file is made, everything in it except the raw data that a run or a sweep will write is final:
names, attributes, coordinates, HDF5's own structures. A *seal* holds the checksums of these parts
and the positions of all other raw data. The file has two complete copies of it. So a file can be
recognised, and its data checked, even if HDF5 can no longer open it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from societies.output.disk import Disk, Extent
from societies.output.layout import COPIES, SEALS, Attribute, Layout
from societies.output.stored_seal import (
    DIGEST,
    AnySeal,
    Fixed,
    Seal,
    StudySeal,
    VariableCheck,
    packed,
    unpacked,
)
from societies.output.study_layout import DEFINITION, POINTS
from societies.output.tables import EVENT, EventTable

_LONGEST_ATTRIBUTE = 200
_NAMES = {
    "": "structure (names, attributes)",
    POINTS: "list of the points",
    DEFINITION: "definition of the sweep",
}
"""Contents of a stretch that is not a coordinate, in the user's words."""


@dataclass(frozen=True)
class Damage:
    """A part of a file that is not as it was written.

    Attributes
    ----------
    what : the part of the file, in the user's words
    where : bytes of the file
    which : details within the part, such as days
    harmless : whether a run can continue, because the part is not needed or will be written again
    unfinished : whether the part is not valid yet, and a killed run would have left the same
    """

    what: str
    where: str
    which: str = ""
    harmless: bool = False
    unfinished: bool = False

    def __str__(self) -> str:
        return ", ".join(word for word in (self.what, self.which, self.where) if word)


END_MISSING = "the end of the file is missing"
STRUCTURE_INTACT = "structure as written; the recorded data: see `societies info --check`"
"""States of runs and studies that `societies info` prints."""


def stretch(offset: int, end: int) -> str:
    """Return words for a range of bytes."""
    return f"byte {offset} of the file" if end == offset + 1 else f"bytes {offset} to {end - 1}"


def make(path: Path, disk: Disk, layout: Layout) -> Seal:
    """Seal the file of a run, whose structures are final; ``disk`` has no extents yet."""
    final = {*layout.coordinates, *(f"{table.group}/{EVENT}" for table in layout.tables.values())}
    common = _common(path, disk, final, {**layout.attributes, COPIES: layout.copies})
    series = {}
    for name, variable in layout.variables.items():
        axis = layout.axis(variable)
        dim = "" if axis is None else variable.dims[axis]
        fill = fill_of(variable.fill, common["extents"][name])
        series[name] = VariableCheck(axis, dim, variable.lag, fill)
    fills = {
        name: tuple(
            fill_of(column.fill, common["extents"][f"{table.group}/{column.name}"])
            for column in table.columns
        )
        for name, table in layout.tables.items()
    }
    made = Seal(
        **common,
        tables=_columns(layout.tables),
        fills=fills,
        clock=layout.clock,
        ticks=layout.ticks,
        slots=layout.slots,
        series=series,
        salt=layout.salt,
    )
    _write(disk, made)
    return made


def make_for_study(
    path: Path,
    disk: Disk,
    final: Collection[str],
    attributes: Mapping[str, Attribute],
    fills: Mapping[str, float | int | None],
    tables: Mapping[str, EventTable],
    salt: int,
) -> StudySeal:
    """Seal a study, whose structures are final; ``disk`` has no extents yet.

    Parameters
    ----------
    final : datasets whose values never change
    fills : of the variables
    salt : what all checksums of the study begin with
    """
    common = _common(path, disk, final, attributes)
    variables = {name: fill_of(fill, common["extents"][name]) for name, fill in fills.items()}
    made = StudySeal(**common, variables=variables, tables=_columns(tables), salt=salt)
    _write(disk, made)
    return made


def fill_of(value: float | int | None, extent: Extent) -> str:
    """Return a fill value as the hexadecimal digits of its bytes."""
    return np.array(value, extent.dtype).tobytes().hex()


def _columns(tables: Mapping[str, EventTable]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(column.name for column in table.columns) for name, table in tables.items()}


def _common(
    path: Path, disk: Disk, final: Collection[str], attributes: Mapping[str, Attribute]
) -> dict[str, Any]:
    """Return the entries common to all seals except the tables; datasets in ``final`` are fixed."""
    extents, scales, seals = _places(path, final)
    size = os.fstat(disk.descriptor).st_size
    ours = [(one.offset, one.end) for one in extents.values() if one.nbytes]
    ours += [(offset, offset + nbytes) for offset, nbytes in seals]
    fixed = tuple(
        Fixed(name, offset, end - offset, digest(disk, offset, end - offset))
        for name, offset, end in _between(ours, scales, size)
    )
    about = {k: one for k, one in attributes.items() if len(str(one)) <= _LONGEST_ATTRIBUTE}
    return {
        "size": size,
        "attributes": about,
        "extents": extents,
        "fixed": fixed,
        "seals": tuple(seals),
    }


def _write(disk: Disk, made: AnySeal) -> None:
    for offset, nbytes in made.seals:
        disk.write_bytes(offset, packed(made, nbytes))


def damages(disk: Disk, seal: AnySeal) -> Iterator[Damage]:
    """Yield the damage in the part of the file that never changes."""
    size = os.fstat(disk.descriptor).st_size
    if size != seal.size:
        yield Damage("length of the file", f"{size} bytes instead of {seal.size}")
    for one in seal.fixed:
        if digest(disk, one.offset, one.nbytes) != one.digest:
            yield Damage(
                _NAMES.get(one.name, f"coordinate '{one.name}'"),
                stretch(one.offset, one.offset + one.nbytes),
            )
    for offset, nbytes in seal.seals:
        if unpacked(disk.read_bytes(offset, nbytes), 0) != seal:
            yield Damage("one of two seals (checksums)", stretch(offset, offset + nbytes))


def digest(disk: Disk, offset: int, nbytes: int) -> str:
    """Return the checksum of a stretch of a file."""
    value, step = hashlib.blake2b(digest_size=DIGEST), 1 << 22
    for at in range(offset, offset + nbytes, step):
        value.update(disk.read_bytes(at, min(step, offset + nbytes - at)))
    return value.hexdigest()


def _places(
    path: Path, final: Collection[str]
) -> tuple[dict[str, Extent], dict[str, tuple[int, int]], list[tuple[int, int]]]:
    """Return the positions of datasets written later, of datasets in ``final``, of the seals."""
    extents, scales, seals = {}, {}, []
    with h5py.File(path, "r", locking=False) as file:
        names: list[str] = []
        file.visit(names.append)
        for name in names:
            dataset = file[name]
            if not isinstance(dataset, h5py.Dataset):
                continue
            offset, nbytes = dataset.id.get_offset() or 0, dataset.id.get_storage_size()
            if name in SEALS:
                seals.append((offset, nbytes))
            elif name in final:
                scales[name] = (offset, offset + nbytes)
            else:
                extents[name] = Extent(offset, np.dtype(dataset.dtype.str), dataset.shape)
    return extents, scales, seals


def _between(
    ours: Iterable[tuple[int, int]], scales: dict[str, tuple[int, int]], size: int
) -> Iterator[tuple[str, int, int]]:
    """Yield name, start and end of every stretch outside ``ours``; only coordinates have names."""
    taken = [("", start, end, True) for start, end in ours]
    taken += [(name, start, end, False) for name, (start, end) in scales.items()]
    at = 0
    for name, start, end, skipped in sorted(taken, key=lambda one: one[1:3]):
        if start > at:
            yield "", at, start
        if not skipped:
            yield name, start, end
        at = max(at, end)
    if size > at:
        yield "", at, size
