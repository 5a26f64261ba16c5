"""With what does the checksum of a piece of data begin, so that it fits only in one position?

A CRC-32 that begins with zero says that a row is a row that was written, but not that it is the
right one: two rows that are swapped together with their checksums are as good as before. In layout
3 it begins with a value for the file, the name of the dataset and the index of the row. Two
different beginnings of the same data always give different checksums, because a CRC is an
invertible function of what it begins with. In layout 2 all checksums begin with zero.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from societies.output.disk import Disk

_INDEX = 8
"""Bytes of an index."""


def beginning(disk: Disk, name: str) -> int:
    """Return what the checksum of a whole dataset begins with."""
    return 0 if disk.salt is None else zlib.crc32(name.encode(), disk.salt)


def beginnings(disk: Disk, name: str, rows: Iterable[int]) -> list[int]:
    """Return what the checksum of each of these rows of a dataset begins with."""
    if disk.salt is None:
        return [0 for _ in rows]
    whole = beginning(disk, f"{name} ")
    return [zlib.crc32(row.to_bytes(_INDEX, "little"), whole) for row in rows]
