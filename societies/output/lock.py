"""Which process may write a file now, and which files of killed processes may be removed?

A writer holds a lock of its own on one byte far behind the file's end. HDF5's lock is another kind
(``flock`` on Linux and macOS), so plain readers neither wait for a writer nor block one. The lock
belongs to the open descriptor: it ends with the process, even if that is killed, and a second
writer in the same process is detected as well.
"""

from __future__ import annotations

import errno
import os
import re
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_BYTE = 1 << 62
_HELD_BY_ANOTHER = (errno.EACCES, errno.EAGAIN)
_here: set[tuple[int, int]] = set()
"""Files locked by this process, where the system's locks belong to processes (macOS)."""


def acquire(descriptor: int, *, exclusive: bool = True) -> bool:
    """Lock the open file until its descriptor is closed; False: another writer holds it.

    On a file system without locks this always returns True: the user must not start two writers
    on it. ``exclusive`` needs a writable descriptor. Any number of descriptors may hold a lock
    that is not exclusive; while one does, no writer gets its lock.
    """
    try:
        import fcntl
    except ImportError:  # Windows refuses to replace or truncate an open file by itself
        return True
    kind = fcntl.F_WRLCK if exclusive else fcntl.F_RDLCK
    command = getattr(fcntl, "F_OFD_SETLK", None)
    try:
        if command is not None:
            request = struct.pack("hhqqi4x", kind, os.SEEK_SET, _BYTE, 1, 0)
            fcntl.fcntl(descriptor, command, request)
        else:
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) in _here:
                return False
            how = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
            fcntl.lockf(descriptor, how | fcntl.LOCK_NB, 1, _BYTE)
            _here.add((status.st_dev, status.st_ino))
    except OSError as error:
        return error.errno not in _HELD_BY_ANOTHER
    return True


def create(name: Callable[[], Path]) -> tuple[Path, int]:
    """Make a new file and lock it; return its path and its descriptor.

    Between its making and its locking a file looks like one that a killed process left behind, and
    another writer may remove it (`remove_stale`). So the file is only used if its name still leads
    to it once it is locked; otherwise ``name`` is called for another one.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        path = name()
        descriptor = os.open(path, flags, 0o666)
        with suppress(FileNotFoundError):
            if acquire(descriptor) and os.path.samestat(os.stat(path), os.fstat(descriptor)):
                return path, descriptor
        release(descriptor)


def release(descriptor: int) -> None:
    """Close a descriptor and with it the lock that it holds."""
    with suppress(OSError):
        status = os.fstat(descriptor)
        _here.discard((status.st_dev, status.st_ino))
    with suppress(OSError):
        os.close(descriptor)


def being_written(path: Path) -> bool:
    """Whether a process writes the file at this moment."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return False
    try:
        return not acquire(descriptor, exclusive=False)
    finally:
        release(descriptor)


def remove_stale(path: Path) -> list[Path]:
    """Remove temporary files of killed processes that were making ``path``; return their names.

    Such a file is named ``<stem>.<8 hexadecimal digits>.partial``. The process that makes it holds
    its lock, so if the lock is free, that process has ended.
    """
    pattern = re.compile(re.escape(path.stem[:60]) + r"\.[0-9a-f]{8}\.partial")
    removed = []
    with suppress(OSError):
        for entry in os.scandir(Path(os.path.realpath(path)).parent):
            if not pattern.fullmatch(entry.name) or not entry.is_file(follow_symlinks=False):
                continue
            with suppress(OSError):
                descriptor = os.open(entry.path, os.O_RDWR)
                try:
                    if acquire(descriptor):
                        os.unlink(entry.path)
                        removed.append(Path(entry.path))
                finally:
                    release(descriptor)
    return removed
