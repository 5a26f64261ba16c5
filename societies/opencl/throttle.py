"""How does a thread that launches kernels leave time to the others of its process?

A queue has room for some hundred launches. One more waits until there is room, and while it waits
no other Python thread runs: what is to be written meanwhile stands still, too. Launches that never
fill the queue wait between them instead, as others run.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from societies.opencl.debug import translated_errors
from societies.opencl.device import Device

LAUNCHES = 32
"""Launches from one mark to the next."""

MARKS = 5
"""Marks that are ahead of the device at most: enough launches that it does not run out of them."""


class Throttle:
    """Marks in the queue of a device, of which so few are ahead that the queue is never full.

    Does nothing on CPUs, whose queues have no end, nor where launches let other threads run.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._marks: deque[Any] = deque()
        self._launches = 0
        self._needed = device.kind == "gpu" and device.compiler is None

    def __call__(self, launches: int) -> None:
        """Take note of further launches, at most `LAUNCHES`; wait if the device is far behind."""
        self._launches += launches
        if self._launches < LAUNCHES or not self._needed:
            return
        self._launches = 0
        with translated_errors(f"waiting for {self._device.name}"):
            self._marks.append(self._device.api.enqueue_marker(self._device.queue))
            if len(self._marks) > MARKS:
                self._marks.popleft().wait()
