"""How does a thread that launches kernels leave time to the other threads of its process?

A queue holds some hundred launches. A launch into a full queue waits without releasing Python's
interpreter lock, so no other thread runs, not even one that writes a file. So this thread waits
earlier, in a call that lets other threads run, and never fills the queue.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from societies.opencl.debug import translated_errors
from societies.opencl.device import Device

LAUNCHES = 32
"""Number of launches between two markers."""

MARKS = 5
"""Largest number of markers that the device has not reached; enough launches to keep it busy."""


class Throttle:
    """Markers in the queue of a device, for which launches wait so that the queue is never full.

    Does nothing on CPUs, whose queues are unlimited, nor with CUDA.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._marks: deque[Any] = deque()
        self._launches = 0
        self._needed = device.kind == "gpu" and device.compiler is None

    def __call__(self, launches: int) -> None:
        """Count further launches, at most `LAUNCHES`; wait if the device is far behind."""
        self._launches += launches
        if self._launches < LAUNCHES or not self._needed:
            return
        self._launches = 0
        with translated_errors(f"waiting for {self._device.name}"):
            self._marks.append(self._device.api.enqueue_marker(self._device.queue))
            if len(self._marks) > MARKS:
                self._marks.popleft().wait()
