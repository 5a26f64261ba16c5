"""Where are compiled programs cached for OpenCL implementations that have no cache? On disk.

One file per program, named by the hash of everything that decides its contents. Files appear
whole (written aside, then renamed), carry a checksum, and count as absent when anything about
them is wrong; so any number of processes may read and write the folder at once.

The package has entries of its own, compressed, in ``kernels/built`` (`shipped`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from societies.paths import data_directory

POCL = "Portable Computing Language"
"""Name of PoCL's platform."""


class BuildDevice(Protocol):
    """What the cache asks of a device (`societies.opencl.Device`): which builds it can share."""

    platform: str
    platform_version: str
    version: str
    driver: str
    name: str
    simulator: bool


_MAGIC = b"societies program 1\n"
_LOCKS = 64  # files: programs that share one are built one after the other
_PATIENCE = 120.0  # seconds for another process's build of the same program


def cache_directory() -> Path:
    """Return ``SOCIETIES_CACHE_DIR``, else the user's cache folder for societies."""
    if given := os.environ.get("SOCIETIES_CACHE_DIR"):
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("societies")


def caches_itself(device: BuildDevice) -> bool:
    """Return whether builds on this device are left out of our cache.

    PoCL keeps its own, and a simulator builds from source to know the lines.
    """
    return device.platform == POCL or device.simulator


def program_key(device: BuildDevice, text: str, options: tuple[str, ...]) -> str:
    """Return the hash that names the compiled form of ``text`` on this device."""
    parts = (device.platform, device.platform_version, device.version, device.driver, device.name)
    return key_of(text, *options, *parts)


def key_of(*parts: str) -> str:
    """Return the hash of some texts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@contextlib.contextmanager
def alone(key: str) -> Iterator[None]:
    """Let one process at a time build the program of this key.

    PoCL fails now and then, without a reason, where several processes build one program into an
    empty cache. A folder that cannot be written, or a process that is stopped while it builds, is
    no reason to fail: the build continues without the lock then.
    """
    from filelock import FileLock, Timeout

    folder = cache_directory() / "locks"
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, NotImplementedError, Timeout):
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{int(key[:8], 16) % _LOCKS:02}.lock"
            stack.enter_context(FileLock(path, timeout=_PATIENCE))
        yield


def begin_build(key: str) -> int:
    """Note that a program is being built, and return how many of its builds came to nothing.

    These are the ones that began and did not end (`end_build`), since their process was killed, and
    those that were passed to `end_build`. A note that cannot be written is no reason to fail.
    """
    count = 0
    with contextlib.suppress(OSError, ValueError):
        number, *begun = _note(key).read_text().split()
        count = int(number) + len(begun)
    _write_note(key, f"{count} begun")
    return count


def end_build(key: str, failed: int) -> None:
    """Note that a build has ended, and how many builds of the program are known to be damaged."""
    if failed:
        _write_note(key, str(failed))
    else:
        with contextlib.suppress(OSError):
            _note(key).unlink(missing_ok=True)


def _note(key: str) -> Path:
    return cache_directory() / f"{key}.builds"


def _write_note(key: str, text: str) -> None:
    with contextlib.suppress(OSError):
        cache_directory().mkdir(parents=True, exist_ok=True)
        _note(key).write_text(text)


def load(key: str) -> tuple[Any, bytes] | None:
    """Return (description, binary) stored under ``key``, or None if there is no valid entry."""
    try:
        return _opened((cache_directory() / f"{key}.clbin").read_bytes())
    except (OSError, ValueError):
        return None


def shipped(key: str) -> tuple[Any, bytes] | None:
    """Return (description, binary) that the package has under ``key``, or None."""
    try:
        return _opened(zlib.decompress(shipped_path(key).read_bytes()))
    except (OSError, ValueError, zlib.error):
        return None


def shipped_path(key: str) -> Path:
    """Return the file of an entry of the package; `.ci/kernels.py` makes them."""
    return data_directory("kernels") / "built" / f"{key}.z"


def _opened(data: bytes) -> tuple[Any, bytes] | None:
    start = len(_MAGIC)
    digest, body = data[start : start + 32], data[start + 32 :]
    if data[:start] != _MAGIC or hashlib.sha256(body).digest() != digest:
        return None
    description, binary = body.split(b"\n", 1)
    return json.loads(description), binary


def packed(description: Any, binary: bytes) -> bytes:
    """Return the contents of the file of an entry."""
    body = json.dumps(description).encode() + b"\n" + binary
    return _MAGIC + hashlib.sha256(body).digest() + body


def store(key: str, description: Any, binary: bytes) -> None:
    """Keep a program; a cache that cannot be written is no reason to fail."""
    with contextlib.suppress(OSError):
        folder = cache_directory()
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(packed(description, binary))
            os.replace(temporary, folder / f"{key}.clbin")
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
