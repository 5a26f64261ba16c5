"""Where does the host read arrays to that it needs only until it reads the next?

A GPU copies to memory that the system cannot move (pinned) several times as fast as to other
memory, and without a part of it being made for each array.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from societies.opencl.device import Device

LEAST = 1 << 24
"""Bytes of the first piece: pinning takes milliseconds, however few they are."""


class Staging:
    """Memory of the host that is used again and again; it becomes longer where that is needed."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._memory: NDArray[np.uint8] = np.empty(0, np.uint8)

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array of unknown contents, in the place of all that were returned before."""
        nbytes = math.prod(shape) * np.dtype(dtype).itemsize
        if nbytes > self._memory.nbytes:
            pinned = self._pinned(max(nbytes, LEAST, 2 * self._memory.nbytes))
            self._memory = np.empty(nbytes, np.uint8) if pinned is None else pinned
        return self._memory[:nbytes].view(dtype).reshape(shape)

    def _pinned(self, nbytes: int) -> NDArray[np.uint8] | None:
        """Return memory that is pinned; None where it need not be, or cannot: it is too much."""
        device = self._device
        if device.kind != "gpu" or device.compiler is not None:
            return None
        cl = device.api
        try:
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
            buffer = cl.Buffer(device.context, flags, nbytes)
            both = cl.map_flags.READ | cl.map_flags.WRITE
            mapped, _ = cl.enqueue_map_buffer(
                device.queue, buffer, both, 0, (nbytes,), np.uint8, is_blocking=True
            )
        except cl.Error:
            return None
        return mapped  # type: ignore[no-any-return]
