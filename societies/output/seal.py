"""Is the part of a file that never changes as it was made, and where does the rest lie?

When a file is made, everything in it but the raw data of what a run writes is final: names,
attributes, coordinates, HDF5's own structures. A *seal* holds their checksums and the places of
all raw data. It lies in the file twice, each time complete, so a file is recognised by it, and its
data can be checked, even when HDF5 can no longer open it.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import h5py
import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from societies.output.disk import Disk, Extent
from societies.output.layout import (
    CHECKSUMS,
    COMMITS,
    COPIES,
    COUNTER,
    ENDED,
    LAYOUT_VERSION,
    SEALS,
    SESSION_BYTES,
    SESSION_RECORDS,
    SESSIONS,
    Attribute,
    Layout,
    is_open_ended,
)
from societies.output.tables import EVENT, EVENTS

MAGIC = b"\x89societies seal\n"
_DIGEST = 16
_LONGEST_ATTRIBUTE = 200
_LARGEST = 1 << 24
"""Bytes of an unpacked seal at most; one of ours takes a hundred for every dataset."""
_MOST = 64
"""Places that are looked at for an intact seal: a stranger's file may have thousands, each of which
claims the whole rest of the file."""


_Count = Annotated[int, Field(ge=0, lt=1 << 63)]


@dataclass(frozen=True)
class Fixed:
    """A stretch of bytes that never changes; ``name`` is the coordinate that lies there, if any."""

    name: str
    offset: _Count
    nbytes: _Count
    digest: str


@dataclass(frozen=True)
class Series:
    """How a variable is checked: its dimension along the clock, if any, and its fill value."""

    axis: _Count | None
    dim: str
    lag: _Count
    fill: str


@dataclass(frozen=True)
class Seal:
    """What a seal says.

    Attributes
    ----------
    size : bytes of the file
    clock, ticks, slots : as in the layout
    attributes : the short ones of the file, for a file that HDF5 cannot open
    extents : raw data that a run writes, by name of the dataset
    fixed : all other bytes but the seals
    seals : places and sizes of the seals themselves
    series : variables
    tables : names of the columns of each table of events
    """

    size: int
    clock: str
    ticks: int
    slots: int
    attributes: dict[str, Attribute]
    extents: dict[str, Extent]
    fixed: tuple[Fixed, ...]
    seals: tuple[tuple[int, int], ...]
    series: dict[str, Series]
    tables: dict[str, tuple[str, ...]]

    @property
    def open_ended(self) -> bool:
        """Whether `ticks` is only a bound; see `is_open_ended`."""
        return is_open_ended((one.name for one in self.fixed), self.tables, self.clock)

    def coordinate(self, name: str) -> Extent:
        """Return where the whole numbers of a coordinate lie."""
        found = next(one for one in self.fixed if one.name == name)
        return Extent(found.offset, np.dtype("<i8"), (found.nbytes // 8,))


@dataclass(frozen=True)
class Damage:
    """Something that is not as it was written.

    Attributes
    ----------
    what : the part of the file, as a user knows it
    where : bytes of the file
    which : what of the part, such as its days
    harmless : whether a run can go on, because what is damaged is not needed or written again
    unfinished : whether it does not count yet and a killed run would have left the same
    """

    what: str
    where: str
    which: str = ""
    harmless: bool = False
    unfinished: bool = False

    def __str__(self) -> str:
        return ", ".join(word for word in (self.what, self.which, self.where) if word)


def stretch(offset: int, end: int) -> str:
    """Name a range of bytes."""
    return f"byte {offset} of the file" if end == offset + 1 else f"bytes {offset} to {end - 1}"


def make(path: Path, disk: Disk, layout: Layout) -> Seal:
    """Seal a file whose structures are final and return the seal; ``disk`` has no extents yet."""
    extents, scales, seals = _places(path, layout)
    size = os.fstat(disk.descriptor).st_size
    ours = [(one.offset, one.end) for one in extents.values() if one.nbytes]
    ours += [(offset, offset + nbytes) for offset, nbytes in seals]
    fixed = tuple(
        Fixed(name, offset, end - offset, digest(disk, offset, end - offset))
        for name, offset, end in _between(ours, scales, size)
    )
    series = {}
    for name, variable in layout.variables.items():
        axis = layout.axis(variable)
        dim = "" if axis is None else variable.dims[axis]
        fill = np.array(variable.fill, extents[name].dtype).tobytes().hex()
        series[name] = Series(axis, dim, variable.lag, fill)
    about = {
        key: value
        for key, value in layout.attributes.items()
        if len(str(value)) <= _LONGEST_ATTRIBUTE
    }
    tables = {
        name: tuple(column.name for column in table.columns)
        for name, table in layout.tables.items()
    }
    made = Seal(
        *(size, layout.clock, layout.ticks, layout.slots, {**about, COPIES: layout.copies}),
        *(extents, fixed, tuple(seals), series, tables),
    )
    for offset, nbytes in seals:
        disk.write_bytes(offset, _packed(made, nbytes))
    return made


def find(descriptor: int) -> Seal | None:
    """Return what the first intact seal of an open file says; None: there is none."""
    if os.fstat(descriptor).st_size < len(MAGIC):
        return None
    with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as content:
        at = -1
        for _ in range(_MOST):
            at = content.find(MAGIC, at + 1)
            seal = _unpacked(content, at) if at >= 0 else None
            if seal is not None or at < 0:
                return seal
    return None


def damages(disk: Disk, seal: Seal) -> Iterator[Damage]:
    """Yield what is not as it was in the part of the file that never changes."""
    size = os.fstat(disk.descriptor).st_size
    if size != seal.size:
        yield Damage("length of the file", f"{size} bytes instead of {seal.size}")
    for one in seal.fixed:
        if digest(disk, one.offset, one.nbytes) != one.digest:
            what = f"coordinate '{one.name}'" if one.name else "structure (names, attributes)"
            yield Damage(what, stretch(one.offset, one.offset + one.nbytes))
    for offset, nbytes in seal.seals:
        if _unpacked(disk.read_bytes(offset, nbytes), 0) != seal:
            yield Damage("one of two seals (checksums)", stretch(offset, offset + nbytes))


def digest(disk: Disk, offset: int, nbytes: int) -> str:
    """Return the checksum of a stretch of a file."""
    value, step = hashlib.blake2b(digest_size=_DIGEST), 1 << 22
    for at in range(offset, offset + nbytes, step):
        value.update(disk.read_bytes(at, min(step, offset + nbytes - at)))
    return value.hexdigest()


def _places(
    path: Path, layout: Layout
) -> tuple[dict[str, Extent], dict[str, tuple[int, int]], list[tuple[int, int]]]:
    """Return the extents that a run writes, those of coordinates, and those of the seals."""
    extents, scales, seals = {}, {}, []
    events = {f"{table.place}/{EVENT}" for table in layout.tables.values()}
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
            elif name in layout.coordinates or name in events:
                scales[name] = (offset, offset + nbytes)
            else:
                extents[name] = Extent(offset, dataset.dtype, dataset.shape)
    return extents, scales, seals


def _between(
    ours: Iterable[tuple[int, int]], scales: dict[str, tuple[int, int]], size: int
) -> Iterator[tuple[str, int, int]]:
    """Yield name, start and end of every stretch that is not ``ours``; coordinates have names."""
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


def _packed(seal: Seal, room: int) -> bytes:
    """Return a seal as bytes: its length, itself, and its checksum at the end of the room."""
    data: dict[str, Any] = {
        **asdict(seal),
        "extents": {
            name: [one.offset, one.dtype.str, list(one.shape)] for name, one in seal.extents.items()
        },
        "layout": LAYOUT_VERSION,
    }
    text = zlib.compress(json.dumps(data, separators=(",", ":")).encode())
    content = MAGIC + room.to_bytes(8, "little") + len(text).to_bytes(8, "little") + text
    if len(content) + _DIGEST > room:
        raise ValueError(f"the seal takes {len(content) + _DIGEST} bytes, there are {room}")
    content = content.ljust(room - _DIGEST, b"\0")
    return content + hashlib.blake2b(content, digest_size=_DIGEST).digest()


def _unpacked(content: mmap.mmap | bytearray, at: int) -> Seal | None:
    """Return the seal at this place of a file, None if there is no intact one."""
    begin = at + len(MAGIC) + 16
    room = int.from_bytes(content[begin - 16 : begin - 8], "little")
    nbytes = int.from_bytes(content[begin - 8 : begin], "little")
    end = at + room - _DIGEST
    if end + _DIGEST > len(content) or not begin <= begin + nbytes <= end:
        return None
    if room > 2 * _LARGEST:
        return None
    packed, check = content[at:end], content[end : end + _DIGEST]
    if hashlib.blake2b(packed, digest_size=_DIGEST).digest() != check:
        return None
    try:
        return _understood(packed[begin - at : begin - at + nbytes])
    except (ValueError, TypeError, KeyError, StopIteration, zlib.error):
        return None  # made by somebody else, or by another version


_NumberType = Annotated[str, Field(pattern=r"^([|<>][iufb][1-8]|\|S[1-9]\d{0,3})$")]


class _Stored(BaseModel):
    """A seal as it lies in a file, which anybody may have written."""

    model_config = ConfigDict(strict=True, extra="forbid")

    layout: int
    size: _Count
    clock: str
    ticks: _Count
    slots: _Count
    attributes: dict[str, Attribute]
    extents: dict[str, tuple[_Count, _NumberType, tuple[_Count, ...]]]
    fixed: tuple[Fixed, ...]
    seals: tuple[tuple[_Count, _Count], ...]
    series: dict[str, Series]
    tables: dict[str, tuple[str, ...]]


def _understood(packed: bytes | bytearray) -> Seal | None:
    decompressor = zlib.decompressobj()
    stored = _Stored.model_validate_json(decompressor.decompress(packed, _LARGEST))
    if stored.layout != LAYOUT_VERSION:
        return None
    data = {name: getattr(stored, name) for name in Seal.__dataclass_fields__}
    data["extents"] = {
        name: Extent(offset, np.dtype(dtype), shape)
        for name, (offset, dtype, shape) in stored.extents.items()
    }
    seal = Seal(**data)
    _require_readable(seal)
    return seal


def _require_readable(seal: Seal) -> None:
    """Raise an error unless all that is read has a place, with the type and shape of a run's."""

    def require(name: str, dtype: Any, *shape: int) -> None:
        found = seal.extents[name]
        if found.dtype != np.dtype(dtype) or found.shape != shape:
            raise ValueError(f"{name}: {found}")

    places = [(one.offset, one.nbytes) for one in seal.extents.values()]
    places += [(one.offset, one.nbytes) for one in seal.fixed]
    if any(offset + nbytes > seal.size for offset, nbytes in (*places, *seal.seals)):
        raise ValueError("something is not in the file")
    require(COUNTER, np.int64)
    require(COMMITS, np.int64, 2, 3 + len(seal.tables))
    require(SESSIONS, f"S{SESSION_BYTES}", SESSION_RECORDS)
    require(ENDED, f"S{SESSION_BYTES}", 1)
    for slot in range(seal.slots):
        require(f"checkpoint/{slot}/tick", np.int64)
        require(f"checkpoint/{slot}/checksum", np.uint32)
    for name, series in seal.series.items():
        values, fill = seal.extents[name], bytes.fromhex(series.fill)
        if values.dtype.kind not in "iuf" or values.dtype.itemsize != len(fill):
            raise ValueError(f"{name}: {values}")
        if series.axis is None:
            require(f"{CHECKSUMS}/{name}", np.uint32, 2)
        else:
            along = values.shape[series.axis : series.axis + 1]
            require(f"{CHECKSUMS}/{name}", np.uint32, *along)
            if seal.coordinate(series.dim).shape != along:
                raise ValueError(f"{name}: {values} along '{series.dim}'")
    for table, columns in seal.tables.items():
        ticks = seal.extents[f"{EVENTS}/{table}/{seal.clock}"]
        if ticks.dtype.kind != "i" or len(ticks.shape) != 1:
            raise ValueError(f"{table}: {ticks}")
        require(f"{CHECKSUMS}/{EVENTS}/{table}", np.uint32, *ticks.shape)
        for values in (seal.extents[f"{EVENTS}/{table}/{column}"] for column in columns):
            if values.dtype.kind not in "if" or values.shape[:1] != ticks.shape:
                raise ValueError(f"{table}: {values}")
