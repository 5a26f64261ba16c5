"""What do compilers write to the standard error of the process instead of their build log?"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

_COUNTS = re.compile(r"\d+ (?:warning|error)s?(?: and \d+ errors?)? generated\.")

_only_one = threading.Lock()


class Heard:
    """The text that was written inside the block of `heard_stderr`; complete after the block.

    The block may set ``withheld``, so that the text is not passed on to standard error, and
    ``counts``, so that lines that only count errors and warnings are passed on as well.
    """

    def __init__(self) -> None:
        self.text = ""
        self.withheld = False
        self.counts = False


@contextmanager
def heard_stderr() -> Iterator[Heard]:
    """Catch text written to file descriptor 2, except what Python itself prints.

    Only one thread catches at a time; its text then includes that of other threads' builds. If
    there is no file descriptor 2, or no temporary file can be made, nothing is caught.
    """
    heard = Heard()
    if not _only_one.acquire(blocking=False):
        yield heard
        return
    with ExitStack() as stack:
        stack.callback(_only_one.release)
        try:
            file = stack.enter_context(tempfile.TemporaryFile())
            original = os.dup(2)
        except OSError:
            yield heard
            return
        stack.callback(os.close, original)
        try:
            with _python_keeps(original):
                os.dup2(file.fileno(), 2)
                try:
                    yield heard
                finally:
                    os.dup2(original, 2)
        finally:
            file.seek(0)
            heard.text = file.read().decode(errors="replace")
            if not heard.withheld:
                _write(original, heard.text if heard.counts else without_counts(heard.text))


def without_counts(text: str) -> str:
    """Return the text without lines such as ``1 error generated.``."""
    rows = text.splitlines(keepends=True)
    return "".join(row for row in rows if not _COUNTS.fullmatch(row.strip()))


@contextmanager
def _python_keeps(descriptor: int) -> Iterator[None]:
    """Within the block, let ``sys.stderr`` write to ``descriptor`` if it is file descriptor 2."""
    before = sys.stderr
    try:
        plain = before.fileno() == 2
    except (AttributeError, OSError, ValueError):
        plain = False
    if not plain:
        yield
        return
    before.flush()
    encoding, errors = before.encoding, before.errors
    with open(
        descriptor, "w", encoding=encoding, errors=errors, buffering=1, closefd=False
    ) as meanwhile:
        sys.stderr = meanwhile
        try:
            yield
        finally:
            before.flush()  # text that other owners of the stream have buffered
            if sys.stderr is meanwhile:
                sys.stderr = before


def _write(descriptor: int, text: str) -> None:
    data = text.encode(errors="replace")
    while data:
        data = data[os.write(descriptor, data) :]
