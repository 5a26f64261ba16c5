"""How does a page follow the file of a run that this process is writing? In a process of its own.

Two processes, because HDF5 does not let one process open a file twice, once for writing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from societies import signals
from societies.config.load import is_result

LOOK = 0.1
"""Seconds between two looks at whether the file has been made."""


@contextmanager
def following(path: Path, *, replaced: bool) -> Iterator[None]:
    """Show a file on a page while the body writes it, and then until Ctrl-C.

    The page is `societies view FILE`; its address is printed to stderr.

    Parameters
    ----------
    path : the file, which need not exist yet
    replaced : whether an existing file is replaced, so that the page waits for the new one
    """
    before = _identity(path) if replaced else None
    over, pages = threading.Event(), list[subprocess.Popen[bytes]]()

    def open_page() -> None:
        while not is_result(path) or _identity(path) == before:
            if over.wait(LOOK):
                return
        words = ["view", str(path), "--port", "0", "--ends-with", str(os.getpid())]
        command = [sys.executable, "-m", "societies", *words]
        pages.append(subprocess.Popen(command, stdout=sys.stderr))

    thread = threading.Thread(target=open_page, name="page", daemon=True)
    thread.start()
    began = time.monotonic()
    try:
        yield
        try:
            signals.pass_on(began)
            thread.join()
            print("the run has ended; Ctrl-C closes the page", file=sys.stderr, flush=True)
            pages[0].wait()
        except KeyboardInterrupt as error:
            if signals.number_of(error) != signal.SIGINT:  # Ctrl-C is how a page is ended
                raise
    finally:
        over.set()
        thread.join()
        for page in pages:
            page.terminate()
            page.wait()


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and number of a file, None if there is none."""
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None
