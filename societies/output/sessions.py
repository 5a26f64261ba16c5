"""How is a record stored that describes one process that wrote a result file?

A record is text in UTF-8 that ends with its CRC-32: ``from day 1 | ... | crc32 89abcdef``.
"""

from __future__ import annotations

import zlib

from societies.output.layout import SESSION_BYTES

_MARK = b" | crc32 "
_CUT = "…".encode()


def packed(text: str) -> bytes:
    """Return a text as a record; a text that is too long is cut."""
    record, room = text.encode(), SESSION_BYTES - len(_MARK) - 8
    if len(record) > room:
        record = record[: room - len(_CUT)].decode(errors="ignore").encode() + _CUT
    return record + _MARK + f"{zlib.crc32(record):08x}".encode()


def intact(record: bytes) -> bool:
    """Whether a record is as it was written, or unused."""
    text, mark, check = record.rpartition(_MARK)
    return not record or (bool(mark) and check == f"{zlib.crc32(text):08x}".encode())


def unpacked(record: bytes) -> str:
    """Return the text of a record, or what is readable of a damaged one."""
    return record.rpartition(_MARK)[0].decode(errors="replace") or record.decode(errors="replace")
