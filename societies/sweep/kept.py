"""What does a process keep from one batch to the next: its device, and the program of the last one.

Batches of a bucket differ in values, numbers and size, not in the text of their kernels, so only
the first of them builds a program, and calls its kernels for the first time. Nothing else is kept:
arrays are as large as their batch, and results depend on nothing that was computed before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from societies.opencl import Device
from societies.workload.engines import Built, Engine


class Kept:
    """Device and program of the batch that ended last, for one that is asked to run there.

    A batch takes it away while it runs: what two threads compute at once are two programs. After an
    error it is not given back, as nobody knows in which state the device is.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._last: tuple[str, Built] | None = None

    @contextmanager
    def lent(self, device: str) -> Iterator[Loan]:
        """Lend what is kept to a batch, and keep what that has afterwards."""
        with self._lock:
            name, built = self._last or ("", None)
            self._last = None
        loan = Loan(device, built if name == device else None)
        del built
        yield loan
        if loan.built is not None:
            with self._lock:
                self._last = device, loan.built

    def forget(self) -> None:
        """Keep nothing any more."""
        with self._lock:
            self._last = None


@dataclass(eq=False)
class Loan:
    """What a batch begins with, and leaves to the next one.

    Attributes
    ----------
    name : of the device, as the user said it
    built : program of the batch before; None: there is none on this device
    """

    name: str
    built: Built | None

    @property
    def device(self) -> str | Device:
        """The device that is in use, or the name by which one is chosen."""
        return self.name if self.built is None else self.built.device

    def take(self, engine: Engine) -> None:
        """Leave the program of an engine to the next batch, and drop the one before."""
        self.built = engine.built


KEPT = Kept()
"""What this process keeps."""


def forget() -> None:
    """Keep nothing any more; for workers that are told so."""
    KEPT.forget()
