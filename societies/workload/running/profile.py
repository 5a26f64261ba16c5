"""Where does the time of a run go: launches, seconds, bytes and host time of every phase?

On a device a kernel's seconds are those that the device reports, from its start to its end. Its
bytes are the sizes of all arrays that it reads or writes, each counted once per launch, even if it
uses a part of an array or reads it twice. The reference has only calls and seconds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from societies.opencl import BoundKernel, DeviceArray
from societies.opencl.kernel import EnqueuedKernel


@dataclass
class PhaseTimes:
    """Times of all steps of a phase.

    Attributes
    ----------
    launches : int, number of launches, or of calls of the reference's function
    seconds : float, time in which its kernels, or the reference's function, ran
    bytes_moved : int, or None if the phase has no kernels
    host_seconds : float, time of the host to launch kernels, or to run a phase on the host
    """

    phase: str
    launches: int = 0
    seconds: float = 0.0
    bytes_moved: int | None = None
    host_seconds: float = 0.0

    @property
    def bytes_per_second(self) -> float | None:
        """Achieved bandwidth."""
        if self.bytes_moved is None or not self.seconds:
            return None
        return self.bytes_moved / self.seconds


class Profile:
    """Measured times of a run.

    Parameters
    ----------
    launched : list to which the device appends every launch; None for the reference, whose phases
        have completed when they return
    used : names of the parameters that each kernel uses

    Attributes
    ----------
    phases : list of PhaseTimes, in the order of their first step
    seconds : float, time of all ticks, from the first launch to the end of the last kernel
    """

    def __init__(
        self,
        launched: list[tuple[BoundKernel, EnqueuedKernel]] | None = None,
        used: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        self._phases: dict[str, PhaseTimes] = {}
        self._open: list[tuple[PhaseTimes, EnqueuedKernel]] = []
        self._launched, self._used = launched, used or {}
        self._bytes: dict[int, tuple[BoundKernel, int]] = {}
        self.seconds = 0.0

    @property
    def phases(self) -> list[PhaseTimes]:
        """Every phase that was run."""
        return list(self._phases.values())

    @property
    def kernel_seconds(self) -> float:
        """Seconds of all phases."""
        return math.fsum(one.seconds for one in self.phases)

    @property
    def host_share(self) -> float:
        """Share of the time in which no kernel ran because the device waited for the host."""
        return max(0.0, 1.0 - self.kernel_seconds / self.seconds) if self.seconds else 0.0

    @contextmanager
    def ticks(self, wait: Callable[[], None]) -> Iterator[None]:
        """Measure the ticks that the block runs; ``wait`` waits for all launches."""
        wait()
        self._read()
        began = time.perf_counter()
        yield
        wait()
        self.seconds += time.perf_counter() - began
        self._read()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure the step of a phase that the block runs."""
        times = self._phases.setdefault(name, PhaseTimes(name))
        if self._launched is not None:
            self._launched.clear()
        began = time.perf_counter()
        yield
        taken = time.perf_counter() - began
        if self._launched is None:
            times.launches += 1
            times.seconds += taken
            return
        times.host_seconds += taken
        for kernel, launch in self._launched:
            times.launches += 1
            times.bytes_moved = (times.bytes_moved or 0) + self._bytes_of(kernel)
            self._open.append((times, launch))

    def _bytes_of(self, kernel: BoundKernel) -> int:
        known = self._bytes.get(id(kernel))
        if known is None:
            used = self._used.get(kernel.kernel.name, frozenset())
            arrays = {
                id(value): value
                for name, value in kernel.arguments.items()
                if name in used and isinstance(value, DeviceArray)
            }
            known = kernel, sum(array.nbytes for array in arrays.values())
            self._bytes[id(kernel)] = known
        return known[1]

    def _read(self) -> None:
        """Add the times of the launches so far, which must have completed."""
        for times, launch in self._open:
            times.seconds += launch.seconds
        self._open.clear()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as numbers and texts, for JSON."""
        total = self.kernel_seconds
        return {
            "seconds": self.seconds,
            "kernel_seconds": total,
            "host_share": self.host_share,
            "phases": [
                {
                    **asdict(one),
                    "share": one.seconds / total if total else 0.0,
                    "bytes_per_second": one.bytes_per_second,
                }
                for one in self.phases
            ],
        }
