"""Has a file of another library changed since it was written? Its last line has the hash of it.

HDF5, and so netCDF, ignores bytes behind the end of its data. xarray, R and others open such a file
as usual, and do not look at the hash.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import h5py

from societies.errors import OutputError, option
from societies.output.trust import require_file

MARK = b"\nsocieties: SHA-256 of all bytes above: "
"""Begins the last line, which ends with 64 hexadecimal digits."""

_LENGTH = len(MARK) + 64
_CALIBRATION = "definition_sha256"
"""Attribute of the file of a calibration."""


def add_hash(path: str | os.PathLike[str]) -> None:
    """Append the hash of a complete file to it."""
    with open(path, "r+b") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0, os.SEEK_END)
        file.write(MARK + digest.encode())


def hash_holds(path: str | os.PathLike[str]) -> bool | None:
    """Return whether a file has the bytes that were hashed; None if it ends without a hash.

    Raises OutputError or OSError if it is no plain file, or cannot be read.
    """
    require_file(path)
    size = os.path.getsize(path) - _LENGTH
    if size < 0:
        return None
    found = hashlib.sha256()
    with open(path, "rb") as file:
        file.seek(size)
        last = file.read(_LENGTH)
        if not last.startswith(MARK):
            return None
        file.seek(0)
        while size and (part := file.read(min(size, 1 << 20))):
            found.update(part)
            size -= len(part)
    return last[len(MARK) :] == found.hexdigest().encode()


def require_hash(path: Path, again: str) -> None:
    """Raise OutputError, which says what to do ``again``, unless a file has the hashed bytes."""
    holds = hash_holds(path)
    if not holds:
        what = "its bytes have another checksum" if holds is False else "its checksum is missing"
        raise OutputError(f"{path}: damaged: {what}.\n{again}")


def is_calibration(path: str | os.PathLike[str]) -> bool:
    """Whether a file is that of a calibration, even a damaged one; False if it cannot be read."""
    try:
        require_file(path)
        with h5py.File(path, "r") as file:
            return _CALIBRATION in file.attrs
    except (OSError, KeyError, ValueError, RuntimeError, OutputError):
        return False


def calibration_attributes(path: Path) -> dict[str, Any]:
    """Return the attributes of the file of a calibration, whose bytes must be as they were written.

    Raises OutputError if it is damaged.
    """
    require_hash(path, BEGIN_AGAIN.format(option("overwrite", True)))
    with h5py.File(path, "r") as file:
        return dict(file.attrs)


BEGIN_AGAIN = "Restore it from a copy, or calibrate again ({})."
