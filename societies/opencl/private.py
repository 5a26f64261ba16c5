"""Where are compiled kernels cached, so that no other user can change what this user runs?

PoCL runs the programs that it finds in its cache. Without HOME its cache is in the shared temporary
folder, under a path that any other user may have created. So PoCL always gets a folder that was
checked.
"""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from societies.errors import LACKING, DeviceError

ROOM = 4 << 20
"""Free bytes below which PoCL fails, or ends the process; kernels take up to 1 MB."""

_CACHE, _POCL = "XDG_CACHE_HOME", "POCL_CACHE_DIR"


def give_caches() -> None:
    """Set the cache folders of PoCL, pyopencl and this package to folders private to this user.

    Folders that the user has set are used if they are private; otherwise a private folder below the
    temporary folder. The folder in ``POCL_CACHE_DIR`` is used without a check.

    Raises
    ------
    DeviceError
        If no folder can be written.
    """
    base = _users_cache()
    if base is None or not _is_ours(base):
        base = _temporary()
        os.environ[_CACHE] = str(base)
    if not os.environ.get(_POCL):
        folder = base / "pocl" / "kcache"
        if not (_is_ours(base / "pocl") and _is_ours(folder)):
            folder = _temporary() / "pocl"
            folder.mkdir(exist_ok=True)
        os.environ[_POCL] = str(folder)


def require_room() -> None:
    """Raise DeviceError if PoCL's cache has no room: PoCL would end the process.

    The free space of a disk does not show a user's quota; only a write meets it.
    """
    folder, why = os.environ.get(_POCL, ""), ""
    try:
        free = shutil.disk_usage(folder).free
        if free < ROOM:
            why = f"{LACKING[errno.ENOSPC]} ({free >> 10} KiB free)"
        else:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(bytes(ROOM))
                file.flush()
    except OSError as error:
        why = LACKING.get(error.errno or 0, "")
    if why:
        raise DeviceError(
            f"{folder}: {why}; PoCL needs some MiB in this folder to build kernels\n"
            "free some space or set POCL_CACHE_DIR to another folder"
        )


def trouble() -> str:
    """Return why PoCL cannot use its cache; "" if it can."""
    folder = os.environ.get(_POCL, "")
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1 << 16))
    except OSError as error:
        return (
            f"PoCL's cache {folder} cannot be used: {error.strerror or error}\n"
            "set POCL_CACHE_DIR to a folder of yours that can be written"
        )
    return ""


def _users_cache() -> Path | None:
    """Return the user's cache folder; relative paths are ignored, as the XDG standard requires."""
    given = os.environ.get(_CACHE, "")
    if os.path.isabs(given):
        return Path(given)
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        home = _home_of_record()
    return Path(home) / ".cache" if os.path.isabs(home) else None


def _home_of_record() -> str:
    try:
        import pwd
    except ImportError:  # Windows, for which pip has no PoCL either
        return str(Path.home())
    with suppress(KeyError):  # a user without an entry, as in containers
        return pwd.getpwuid(os.getuid()).pw_dir
    return ""


def _is_ours(folder: Path) -> bool:
    """Return True if the folder exists or can be made, and only this user can write to it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.stat()
    except OSError:
        return False
    owner: Callable[[], int] | None = getattr(os, "geteuid", None)
    if owner is None:
        return os.access(folder, os.W_OK)
    others = facts.st_mode & stat.S_IWOTH
    # Many systems give each user a group of the same number and let groups write.
    group = facts.st_mode & stat.S_IWGRP and facts.st_gid not in (os.getegid(), facts.st_uid)
    return facts.st_uid == owner() and not others and not group and os.access(folder, os.W_OK)


def _temporary() -> Path:
    """Return a private folder in the temporary folder, if possible the same in every process."""
    try:
        name = f"societies-{os.geteuid()}" if hasattr(os, "geteuid") else "societies"
        folder = Path(tempfile.gettempdir()) / name
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        facts = folder.lstat()  # a link may lead anywhere
        private = stat.S_ISDIR(facts.st_mode) and not stat.S_IMODE(facts.st_mode) & 0o077
        if private and (not hasattr(os, "geteuid") or facts.st_uid == os.geteuid()):
            return folder
        folder = Path(tempfile.mkdtemp(prefix="societies-"))
    except OSError as error:
        raise DeviceError(
            f"no folder for compiled kernels can be made: {error.strerror or error}\n"
            "set TMPDIR to a folder that can be written"
        ) from error
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
