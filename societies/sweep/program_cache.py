"""Which device and program does a process cache between batches? Those of the last one.

Batches of a bucket differ in values, numbers and size, not in the text of their kernels, so only
the first of them builds a program and calls its kernels for the first time. Nothing else is cached:
arrays are as large as their batch, and results depend on nothing that was computed before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from societies.opencl import Device
from societies.workload.running.engines import Built, Engine


class ProgramCache:
    """Device and program of the batch that ended last, for a batch on the same device.

    A batch takes the program out of the cache while it runs, so two threads that compute at once
    use two programs. After an error it is not put back: the state of the device is then unknown.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._last: tuple[str, Built] | None = None

    @contextmanager
    def borrow(self, device: str) -> Iterator[Loan]:
        """Lend the cached program to a batch, and cache the one that the batch returns."""
        with self._lock:
            name, built = self._last or ("", None)
            self._last = None
        loan = Loan(device, built if name == device else None)
        del built
        yield loan
        if loan.built is not None:
            with self._lock:
                self._last = device, loan.built

    def clear(self) -> None:
        """Drop the cached program."""
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


PROGRAMS = ProgramCache()
"""The cache of this process."""


def clear_programs() -> None:
    """Clear the cache of programs (called in worker processes)."""
    PROGRAMS.clear()
