"""How is a text file of another program read, with any line ends and any usual encoding?"""

from __future__ import annotations

import codecs
import os
from pathlib import Path

from societies.errors import ConfigError
from societies.paths import kind_unless_file

MOST_BYTES = 2**31
"""Most bytes of a text file, unless a format has a smaller limit."""

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def read_text(path: Path, name: str, most: int = MOST_BYTES) -> str:
    r"""Return the text of a file; every line ends in ``\n``.

    A byte-order mark (BOM) determines the encoding. Without one it is UTF-8 or, if that fails,
    Latin-1, which has the same digits, letters and signs of ASCII.

    Parameters
    ----------
    path : path of the file
    name : name of the file in messages
    most : largest number of bytes

    Raises
    ------
    ConfigError
        If the file cannot be read, is longer, or is not text.
    """
    if kind := kind_unless_file(path):
        raise ConfigError(f"{name} is {kind}, not a file")
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            raw = file.read() if size <= most else b""
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise ConfigError(f"{name} cannot be read: {said}") from error
    if max(size, len(raw)) > most:
        raise ConfigError(f"{name} has more than {most:,} bytes, the most that are read")
    encoding = next((one for mark, one in _MARKS.items() if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        if encoding != "utf-8":
            raise ConfigError(f"{name} is not text") from None
        text = raw.decode("latin-1")
    if "\x00" in text:
        raise ConfigError(f"{name} is not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def whole_number(text: str) -> int | None:
    """Return the number of a text of at most 18 digits 0 to 9, None for other texts."""
    digits = text.strip()
    # `int` fails for "²", for which `isdigit` is True, and for numbers of thousands of digits.
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 18 else None


def shown(text: str) -> str:
    """Return a word of a file for messages: shortened, without control characters."""
    return "".join(one if one.isprintable() else "?" for one in text[:40])
