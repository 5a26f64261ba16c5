"""Which device and programs does a process cache between batches? Those of its last batches.

Batches of a bucket differ in values, numbers and size, not in the text of their kernels, so only
the first of them builds a program and calls its kernels for the first time. Buckets take turns, so
the programs of several buckets are cached. Nothing else is: arrays are as large as their batch, and
results depend on nothing that was computed before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

from societies.opencl import Device
from societies.workload.running.engines import Built, Engine

MOST_PROGRAMS = 16
"""Most programs that are cached; their host memory is not free again before the process ends."""


class ProgramCache:
    """Device and programs of the last batches, for the next batch on the same device.

    A batch takes them out of the cache while it runs, so two threads that compute concurrently use
    different programs. After an error they are not put back, because the state of the device is
    unknown then.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._device = ""
        self._programs: dict[str, Built] = {}  # by bucket, the last used one at the end

    @contextmanager
    def borrow(self, device: str, bucket: str) -> Iterator[Loan]:
        """Lend the program of a bucket, or else the last used one, and cache the returned one.

        Different buckets may have the same text, such as those of different numbers of days.
        """
        with self._lock:
            programs = self._programs if self._device == device else {}
            self._programs = {}
        newest = next(reversed(programs.values()), None)
        loan = Loan(device, programs.pop(bucket, newest))
        del newest
        yield loan
        if loan.built is not None:
            programs[bucket] = loan.built
            for oldest in list(programs)[:-MOST_PROGRAMS]:
                del programs[oldest]
            with self._lock:
                self._device, self._programs = device, programs

    def clear(self) -> None:
        """Drop the cached programs."""
        with self._lock:
            self._programs = {}


@dataclass(eq=False)
class Loan:
    """The program that a batch borrows from the cache, and then the one that it returns.

    Attributes
    ----------
    name : the device, as the user named it
    built : a program of a previous batch; None if there is none on this device
    """

    name: str
    built: Built | None

    @property
    def device(self) -> str | Device:
        """The device of the program, or the name by which a device is chosen."""
        return self.name if self.built is None else self.built.device

    def take(self, engine: Engine) -> None:
        """Return the program of an engine to the cache, as that of the bucket."""
        self.built = engine.built


PROGRAMS = ProgramCache()
"""The cache of this process."""


def program_of(settings: Mapping[str, Any]) -> str:
    """Return a text that is the same for all batches of a bucket, which share a program."""
    return repr(sorted(settings.items()))


def clear_programs() -> None:
    """Clear the cache of programs (called in worker processes)."""
    PROGRAMS.clear()
