"""How is a seal stored in a file, found again, and checked?"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import zlib
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from societies.inputs import HDF5
from societies.output.disk import Disk, Extent
from societies.output.layout import (
    CHECKSUMS,
    COMMITS,
    COUNTER,
    ENDED,
    SEALED,
    SESSION_BYTES,
    SESSION_RECORDS,
    SESSIONS,
    Attribute,
    is_open_ended,
)
from societies.output.study_layout import (
    CHECKSUM,
    DEFINITION,
    ERROR,
    ERROR_BYTES,
    PLACES,
    POINTS,
    RUN,
    STATUS,
    WALL_TIME,
)
from societies.output.tables import EVENTS

MAGIC = b"\x89societies seal\n"
DIGEST = 16
_LARGEST = 1 << 24
"""Most bytes of a decompressed seal; ours take about a hundred for every dataset."""
_MOST = 64
"""Most positions that are tried as the start of a seal. A hostile file may have thousands of them,
each of which claims the whole rest of the file and would be hashed."""

_WINDOW = 1 << 26
"""Bytes in which seals are looked for at a time; Ctrl-C is heard before the next. A large file of
another program that is not even HDF5 is not searched beyond the first."""


_Count = Annotated[int, Field(ge=0, lt=1 << 63)]


@dataclass(frozen=True)
class Fixed:
    """A range of bytes that never changes; ``name`` is the coordinate stored in it, or ""."""

    name: str
    offset: _Count
    nbytes: _Count
    digest: str


@dataclass(frozen=True)
class VariableCheck:
    """How a variable is checked: its dimension along the clock, if any, and its fill value."""

    axis: _Count | None
    dim: str
    lag: _Count
    fill: str


@dataclass(frozen=True)
class AnySeal:
    """The parts of a seal that every file has.

    Attributes
    ----------
    size : bytes of the file
    attributes : short attributes of the file, which can be shown if HDF5 cannot open it
    extents : raw data that are written later, by name of the dataset
    fixed : all other bytes except the seals
    seals : offsets and sizes of the seals themselves
    tables : names of the columns of each table of events
    salt : what all checksums begin with (see `societies.output.positions`); None: layout 2
    """

    size: int
    attributes: dict[str, Attribute]
    extents: dict[str, Extent]
    fixed: tuple[Fixed, ...]
    seals: tuple[tuple[int, int], ...]
    tables: dict[str, tuple[str, ...]]
    salt: int | None = field(default=None, kw_only=True)

    @property
    def layout(self) -> int:
        """Version of the file's layout, of a run or a study."""
        return SEALED[0] if self.salt is None else SEALED[1]

    def disk(self, descriptor: int) -> Disk:
        """Return the raw data of the file that is open as ``descriptor``."""
        return Disk(descriptor, self.extents, self.salt)


@dataclass(frozen=True)
class StudySeal(AnySeal):
    """The seal of a study; ``variables`` are the results, each with its fill value."""

    variables: dict[str, str]


@dataclass(frozen=True)
class Seal(AnySeal):
    """The seal of a run's file.

    Attributes
    ----------
    clock, ticks, slots : as in the layout
    series : variables
    fills : fill value of each column of each table, as hexadecimal digits; empty in older files
    """

    clock: str
    ticks: int
    slots: int
    series: dict[str, VariableCheck]
    fills: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def open_ended(self) -> bool:
        """Whether `ticks` is only a bound; see `is_open_ended`."""
        return is_open_ended((one.name for one in self.fixed), self.tables, self.clock)

    def coordinate(self, name: str) -> Extent:
        """Return the extent of a coordinate of integers."""
        found = next(one for one in self.fixed if one.name == name)
        return Extent(found.offset, np.dtype("<i8"), (found.nbytes // 8,))


def find(descriptor: int) -> Seal | StudySeal | None:
    """Return the first intact seal of an open file, None if it has none."""
    if os.fstat(descriptor).st_size < len(MAGIC):
        return None
    with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as content:
        tried, of_hdf5 = 0, content[: len(HDF5)] == HDF5
        for start in range(0, len(content) if of_hdf5 else _WINDOW, _WINDOW):
            at, end = start - 1, start + _WINDOW + len(MAGIC) - 1
            while tried < _MOST and (at := content.find(MAGIC, at + 1, end)) >= 0:
                tried += 1
                if (seal := unpacked(content, at)) is not None:
                    return seal
    return None


def packed(seal: AnySeal, room: int) -> bytes:
    """Return a seal as ``room`` bytes: a header, the compressed content, and a checksum last."""
    data: dict[str, Any] = {
        **vars(seal),
        "extents": {
            name: [one.offset, one.dtype.str, list(one.shape)] for name, one in seal.extents.items()
        },
        "layout": seal.layout,
    }
    if seal.salt is None:
        del data["salt"]
    text = zlib.compress(json.dumps(data, separators=(",", ":"), default=vars).encode())
    content = MAGIC + room.to_bytes(8, "little") + len(text).to_bytes(8, "little") + text
    if len(content) + DIGEST > room:
        raise ValueError(f"the seal takes {len(content) + DIGEST} bytes, there are {room}")
    content = content.ljust(room - DIGEST, b"\0")
    return content + hashlib.blake2b(content, digest_size=DIGEST).digest()


def unpacked(content: mmap.mmap | bytearray, at: int) -> Seal | StudySeal | None:
    """Return the seal at offset ``at`` of a file, None if it is not intact."""
    begin = at + len(MAGIC) + 16
    room = int.from_bytes(content[begin - 16 : begin - 8], "little")
    nbytes = int.from_bytes(content[begin - 8 : begin], "little")
    end = at + room - DIGEST
    if end + DIGEST > len(content) or not begin <= begin + nbytes <= end:
        return None
    if room > 2 * _LARGEST:
        return None
    packed, check = content[at:end], content[end : end + DIGEST]
    if hashlib.blake2b(packed, digest_size=DIGEST).digest() != check:
        return None
    try:
        return _understood(packed[begin - at : begin - at + nbytes])
    except (ValueError, TypeError, KeyError, StopIteration, zlib.error):
        return None  # from a foreign file, or of another version


_NumberType = Annotated[str, Field(pattern=r"^([|<>][iufb][1-8]|\|S[1-9]\d{0,3})$")]


class _Stored(BaseModel):
    """A seal as it is stored in a file, which may be of unknown origin."""

    model_config = ConfigDict(strict=True, extra="forbid", defer_build=True)

    layout: int
    size: _Count
    attributes: dict[str, Attribute]
    extents: dict[str, tuple[_Count, _NumberType, tuple[_Count, ...]]]
    fixed: tuple[Fixed, ...]
    seals: tuple[tuple[_Count, _Count], ...]
    tables: dict[str, tuple[str, ...]]
    salt: Annotated[int, Field(ge=0, lt=1 << 32)] | None = None


class _StoredOfRun(_Stored):
    clock: str
    ticks: _Count
    slots: _Count
    series: dict[str, VariableCheck]
    fills: dict[str, tuple[str, ...]] = {}


class _StoredOfStudy(_Stored):
    variables: dict[str, str]


@cache
def _stored() -> TypeAdapter[_StoredOfRun | _StoredOfStudy]:
    """Return what reads a stored seal; building it takes as long as importing this module."""
    return TypeAdapter(_StoredOfRun | _StoredOfStudy)


def _understood(packed: bytes | bytearray) -> Seal | StudySeal | None:
    decompressor = zlib.decompressobj()
    stored = _stored().validate_json(decompressor.decompress(packed, _LARGEST))
    study = isinstance(stored, _StoredOfStudy)
    kind: type[Seal | StudySeal] = StudySeal if study else Seal
    data = {name: getattr(stored, name) for name in kind.__dataclass_fields__}
    data["extents"] = {
        name: Extent(offset, np.dtype(dtype), shape)
        for name, (offset, dtype, shape) in stored.extents.items()
    }
    seal = kind(**data)
    if stored.layout != seal.layout:
        return None
    places = [(one.offset, one.nbytes) for one in seal.extents.values()]
    places += [(one.offset, one.nbytes) for one in seal.fixed]
    if any(offset + nbytes > seal.size for offset, nbytes in (*places, *seal.seals)):
        raise ValueError("a part of it lies beyond the end of the file")
    if isinstance(seal, StudySeal):
        _require_study(seal)
    else:
        _require_run(seal)
    return seal


def _require_study(seal: StudySeal) -> None:
    """Raise an error unless each dataset that is read has an extent of the right type and shape."""
    runs = seal.extents[STATUS].shape[:1]
    own = {STATUS: ("|i1", 1), ERROR: (f"|S{ERROR_BYTES}", 1), WALL_TIME: ("<f8", 1)}
    places = {PLACES.format(table): ("<i8", 2) for table in seal.tables}
    for name, (dtype, dims) in {**own, CHECKSUM: ("<u4", 1), **places}.items():
        found = seal.extents[name]
        if found.dtype != np.dtype(dtype) or found.shape != (*runs, 2)[:dims]:
            raise ValueError(f"{name}: {found}")
    for name, fill in seal.variables.items():
        found = seal.extents[name]
        if found.shape[:1] != runs or found.dtype.itemsize != len(bytes.fromhex(fill)):
            raise ValueError(f"{name}: {found}")
    for table, columns in seal.tables.items():
        rows = seal.extents[f"{EVENTS}/{table}/{RUN}"].shape
        for found in (seal.extents[f"{EVENTS}/{table}/{one}"] for one in {*columns, RUN}):
            if found.dtype.kind not in "if" or found.shape[:1] != rows or len(rows) != 1:
                raise ValueError(f"{table}: {found}")
    if not {RUN, POINTS, DEFINITION} <= {one.name for one in seal.fixed}:
        raise ValueError("no runs, points or definition")


def _require_run(seal: Seal) -> None:
    """Raise an error unless each dataset that is read has an extent of the right type and shape."""

    def require(name: str, dtype: Any, *shape: int) -> None:
        found = seal.extents[name]
        if found.dtype != np.dtype(dtype) or found.shape != shape:
            raise ValueError(f"{name}: {found}")

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
    if seal.fills and seal.fills.keys() != seal.tables.keys():
        raise ValueError(f"fill values of {list(seal.fills)}")
    for table, columns in seal.tables.items():
        for column, digits in zip(columns, seal.fills.get(table, ()), strict=bool(seal.fills)):
            place = f"{EVENTS}/{table}/{column}"
            if seal.extents[place].dtype.itemsize != len(bytes.fromhex(digits)):
                raise ValueError(f"{place}: {digits}")
        ticks = seal.extents[f"{EVENTS}/{table}/{seal.clock}"]
        if ticks.dtype.kind != "i" or len(ticks.shape) != 1:
            raise ValueError(f"{table}: {ticks}")
        require(f"{CHECKSUMS}/{EVENTS}/{table}", np.uint32, *ticks.shape)
        for values in (seal.extents[f"{EVENTS}/{table}/{column}"] for column in columns):
            if values.dtype.kind not in "if" or values.shape[:1] != ticks.shape:
                raise ValueError(f"{table}: {values}")
