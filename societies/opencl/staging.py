"""Which pinned buffers are reused for arrays that the host needs only until the next read?

A GPU copies to pinned memory, which the system cannot move, several times as fast as to other
memory; and a reused buffer saves allocating memory for each array.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from societies.opencl.device import Device

LEAST = 1 << 24
"""Least bytes of a buffer, because pinning takes milliseconds even for a few bytes."""


class Staging:
    """A buffer on the host that is reused, and enlarged when a larger array is needed."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._memory: NDArray[np.uint8] = np.empty(0, np.uint8)

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array with undefined contents; it overlaps all arrays returned before."""
        nbytes = math.prod(shape) * np.dtype(dtype).itemsize
        if nbytes > self._memory.nbytes:
            pinned = self._pinned(max(nbytes, LEAST, 2 * self._memory.nbytes))
            self._memory = np.empty(nbytes, np.uint8) if pinned is None else pinned
        return self._memory[:nbytes].view(dtype).reshape(shape)

    def _pinned(self, nbytes: int) -> NDArray[np.uint8] | None:
        """Return pinned memory; None if the device does not need it, or it cannot be allocated."""
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
