"""How is a file that a user names read? Completely and in bounded time, or with a clear error."""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
from pathlib import Path

from societies.errors import ConfigError
from societies.paths import kind_unless_file

HDF5 = b"\x89HDF\r\n\x1a\n"
"""First bytes of an HDF5 file: a user may give a result in place of another file."""

LONGEST_TABLE = 64 * 2**20
"""Most bytes of a table in CSV."""

MOST_BYTES = 2**31
"""Most bytes of a text file of another program, unless a format has a smaller limit."""

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

PYTHON_FUNCTION = re.compile(r"(?P<file>.+\.py):(?P<function>[^\W\d]\w*)")
"""How a user names a function: ``FILE.py:FUNCTION``."""

LONGEST_PATH = 160
"""Most characters of a path in messages; longer paths are shown without their middle."""


def shown(path: str | os.PathLike[str]) -> str:
    """Return a path for messages: on one line, and without its middle if it is very long."""
    text = os.fspath(path)
    if any(c in text for c in "\n\r\x00"):
        text = repr(text)
    half = LONGEST_PATH // 2
    return text if len(text) <= LONGEST_PATH else f"{text[:half]}...{text[-half:]}"


def content(path: str | os.PathLike[str], most: int) -> bytes:
    """Return at most ``most + 1`` bytes of a regular file.

    Raises OSError if it cannot be read, or is not a regular file: reading it could block or never
    end.
    """
    # Without O_NONBLOCK a pipe, and some files of /proc, would wait for data.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except ValueError:
        raise OSError(errno.EINVAL, "its name has a null character") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            number = errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL
            raise OSError(number, os.strerror(number))
        with open(descriptor, "rb", closefd=False) as file:
            # A read reserves as much memory as it may return. Files of /proc tell 0 bytes.
            first = file.read(min(found.st_size, most) + 1) or b""
            more = file.read(most + 1 - len(first)) if len(first) > found.st_size else b""
            return first + (more or b"")
    finally:
        os.close(descriptor)


Stamp = tuple[int, int, int, int]


def nearest_file(path: str | os.PathLike[str], suffix: str = "") -> str:
    """Return the name of the file in the same folder whose name is most similar; "" if none is."""
    import difflib  # only needed for messages

    try:
        folder, name = os.path.split(os.fspath(path))
        names = [one for one in os.listdir(folder or ".") if one.endswith(suffix)]
    except (OSError, ValueError):
        return ""
    return next(iter(difflib.get_close_matches(name, names, n=1)), "")


def stamp(path: str | os.PathLike[str]) -> Stamp:
    """Return which file a path leads to and its last change, as the key of a cache of contents.

    A path and a time are not enough: files of one name in two folders may have the same time.

    Raises OSError or ValueError if there is no such file.
    """
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def read_bytes(path: str | os.PathLike[str], most: int, name: str = "") -> bytes:
    """Return the bytes of a file that a user names, in messages by ``name`` or else the path.

    Raises ConfigError if it is not a file, cannot be read, or has more than ``most`` bytes.
    """
    name = name or shown(path)
    if kind := kind_unless_file(path):
        raise ConfigError(f"{name}: is {kind}, not a file")
    try:
        found = content(path, most) if os.path.getsize(path) <= most else None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", "its name has a null character")
        raise ConfigError(f"{name}: cannot be read ({said})") from None
    if found is None or len(found) > most:
        raise ConfigError(f"{name}: is larger than {byte_limit(most)}, the most that is read")
    return found


def read_text(path: str | os.PathLike[str], most: int) -> str:
    """Return the text of a file that a user names, without a byte-order mark.

    Raises
    ------
    ConfigError
        As for `read_bytes`; also if the text is not UTF-8, with line and column of the first fault.
    """
    return decoded(read_bytes(path, most), shown(path))


def read_foreign(path: Path, name: str, most: int = MOST_BYTES) -> str:
    r"""Return the text of another program's file; every line ends in ``\n``.

    A byte-order mark (BOM) determines the encoding. Without one it is UTF-8 or, if that fails,
    Latin-1, which has the same digits, letters and signs of ASCII. Messages call the file ``name``.

    Raises ConfigError as for `read_bytes`; also if it is not text.
    """
    raw = read_bytes(path, most, name)
    marked = next((one for mark, one in _MARKS.items() if raw.startswith(mark)), "")
    try:
        text = raw.decode(marked or "utf-8")
    except UnicodeDecodeError:
        text = "\x00" if marked else raw.decode("latin-1")
    if "\x00" in text:
        raise ConfigError(f"{name} is not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def whole_number(text: str) -> int | None:
    """Return the number of a text of at most 18 digits 0 to 9, None for other texts."""
    digits = text.strip()
    # `int` fails for "²", for which `isdigit` is True, and for numbers of thousands of digits.
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 18 else None


def decoded(found: bytes, name: str) -> str:
    """Return bytes as text, without a byte-order mark.

    Raises ConfigError if the bytes are not UTF-8, with line and column of the first fault.
    """
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = found[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        what = f"byte 0x{found[error.start]:02x}"
        if found.startswith((b"\xff\xfe", b"\xfe\xff")):
            what = "it is UTF-16"
        raise ConfigError(
            f"{name}:{line}:{column}  is not UTF-8 text ({what}); save the file as UTF-8"
        ) from None


def byte_limit(most: int) -> str:
    """Return a limit as a text for messages, such as 4 MiB."""
    return f"{most >> 20} MiB" if most >= 2**20 else f"{most >> 10} KiB"
