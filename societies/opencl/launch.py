"""When has an enqueued kernel completed, and how long did it take?"""

from __future__ import annotations

from typing import Any

from societies.opencl.debug import translated_errors


class EnqueuedKernel:
    """One enqueued kernel."""

    __slots__ = ("_event",)

    def __init__(self, event: Any):
        self._event = event

    def wait(self) -> None:
        """Wait until the kernel has completed."""
        if self._event is not None:
            with translated_errors("waiting for a kernel"):
                self._event.wait()

    @property
    def seconds(self) -> float:
        """Time that the device spent in the kernel; waits until it has completed."""
        if self._event is None:
            return 0.0
        self.wait()
        with translated_errors("timing a kernel (was the device chosen with profiling=False?)"):
            return float(self._event.profile.end - self._event.profile.start) * 1e-9
