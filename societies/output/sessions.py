"""How is a record stored that describes one process that wrote a result file?

A record is text in UTF-8 that ends with its CRC-32: ``from day 1 | ... | crc32 89abcdef``. The
checksum begins with the record's position (`societies.output.positions`).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from societies.output.disk import Disk
from societies.output.layout import SESSION_BYTES
from societies.output.positions import beginnings

_MARK = b" | crc32 "
_CUT = "…".encode()


def write(disk: Disk, name: str, which: int, text: str) -> None:
    """Write a text as one of the records of a dataset; a text that is too long is cut."""
    record, room = text.encode(), SESSION_BYTES - len(_MARK) - 8
    if len(record) > room:
        record = record[: room - len(_CUT)].decode(errors="ignore").encode() + _CUT
    (start,) = beginnings(disk, name, [which])
    disk.write(name, record + _MARK + f"{zlib.crc32(record, start):08x}".encode(), which)


def damaged(disk: Disk, name: str, least: int) -> Iterator[int]:
    """Yield the indices of records of a dataset that are not as they were written, or are lost.

    Records are written in order, and there are ``least`` of them or more.
    """
    records = disk.read(name).tolist()
    used = max((i + 1 for i, one in enumerate(records) if one), default=0)
    starts = beginnings(disk, name, range(len(records)))
    for which, (record, start) in enumerate(zip(records, starts, strict=True)):
        text, mark, check = record.rpartition(_MARK)
        intact = bool(mark) and check == f"{zlib.crc32(text, start):08x}".encode()
        if not intact and (record or which < max(used, least)):
            yield which


def unpacked(record: bytes) -> str:
    """Return the text of a record, or what is readable of a damaged one."""
    return record.rpartition(_MARK)[0].decode(errors="replace") or record.decode(errors="replace")
