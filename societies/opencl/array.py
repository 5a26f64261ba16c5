"""How are arrays held in a device's memory, and copied to and from the host?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from societies.errors import DeviceError
from societies.opencl.debug import translated_errors

FILLED_AT_ONCE = 1 << 30
"""Most bytes that one command fills."""

PATTERN_BYTES = 4
"""Least bytes of the pattern by which an array is filled: with a pattern of one byte, NVIDIA's
OpenCL writes outside of the array from byte 2**31 on, and the device is lost (an H100, driver 580;
also pyopencl's issue 395)."""

K = TypeVar("K")


@dataclass
class Counters:
    """Counts of transfers, allocations and launches; profiling shows them and tests assert them."""

    uploads: int = 0
    downloads: int = 0
    allocations: int = 0
    launches: int = 0


class Recorder(Protocol):
    """Records the launches on a device (`societies.opencl.Recording`)."""

    def launch(
        self,
        kernel: Any,
        sizes: tuple[tuple[int, ...], tuple[int, ...]],
        arguments: Mapping[str, Any],
    ) -> None:
        """Record a launch that is about to be enqueued."""

    def overwrite(self, array: DeviceArray) -> None:
        """Record that the host is about to write an array."""


class Memory(Protocol):
    """The part of a device that its arrays use (`societies.opencl.Device`)."""

    counters: Counters
    recording: Recorder | None
    simulator: bool

    @property
    def api(self) -> Any:
        """The module pyopencl, or an object with the same names for another kind of device."""

    @property
    def queue(self) -> Any:
        """The in-order queue of the device."""

    def allocate(self, nbytes: int) -> Any:
        """Return an uninitialised buffer."""


class HostBuffer(Protocol):
    """A reusable buffer on the host (`societies.opencl.staging.Staging`)."""

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array with undefined contents."""


@dataclass(frozen=True)
class Local:
    """Scratch for a ``__local`` parameter: ``n`` elements of ``dtype`` in each workgroup."""

    dtype: DTypeLike
    n: int

    @property
    def nbytes(self) -> int:
        """Bytes in each workgroup (at least one element: OpenCL refuses zero)."""
        return int(np.dtype(self.dtype).itemsize) * max(int(self.n), 1)


def get_all(arrays: Mapping[K, DeviceArray]) -> dict[K, NDArray[Any]]:
    """Copy several arrays of one device to the host, waiting once for all of them."""
    return get_each({name: (array, 0, len(array)) for name, array in arrays.items()})


def get_each(parts: Mapping[K, tuple[DeviceArray, int, int]]) -> dict[K, NDArray[Any]]:
    """Copy rows of arrays (array, first row, rows) of one device, waiting once for all of them."""
    with translated_errors("reading arrays"):
        copies = {name: one._begin_get(first, rows) for name, (one, first, rows) in parts.items()}
        for one, _, _ in parts.values():
            one.device.queue.finish()
            break
    return {name: host for name, (host, _) in copies.items()}


class DeviceArray:
    """A contiguous array in the memory of one device.

    Made by `Device.array`, `Device.zeros` and `Device.empty`. Nothing is copied between host and
    device except by `get` and `set`. An array of size zero has no buffer (``buffer`` is None),
    because OpenCL has no buffer of zero bytes; kernels then receive a null pointer.
    """

    def __init__(self, device: Memory, shape: int | tuple[int, ...], dtype: DTypeLike):
        self.device = device
        self.shape = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
        self.dtype = np.dtype(dtype)
        if self.dtype.hasobject or self.dtype.kind in "USMmc":
            raise DeviceError(f"a device array cannot hold dtype {self.dtype}: use numbers")
        if any(n < 0 for n in self.shape):
            raise DeviceError(f"a device array cannot have the shape {self.shape}")
        self.size = 1
        for n in self.shape:
            self.size *= n
        self.nbytes = self.size * self.dtype.itemsize
        self.buffer: Any = device.allocate(self.nbytes) if self.nbytes else None

    def get(self, rows: int | None = None, to: HostBuffer | None = None) -> NDArray[Any]:
        """Copy the array, or its first rows, to the host and return it.

        Waits for all work enqueued before. With ``to`` the result is in a reusable buffer, which
        the next copy may overwrite.
        """
        shape = self.shape if rows is None else (min(rows, self.shape[0]), *self.shape[1:])
        host: NDArray[Any] = (to.array if to else np.empty)(shape, self.dtype)
        if host.nbytes:
            self._copy("reading", host, self.buffer)
            self.device.counters.downloads += 1
        return host

    def _copy(self, doing: str, to: Any, source: Any, **offset: int) -> None:
        """Copy between the array and the host; wait until that is done."""
        with translated_errors(f"{doing} {self!r}"):
            self.device.api.enqueue_copy(self.device.queue, to, source, is_blocking=True, **offset)

    def _begin_get(self, first: int, rows: int) -> tuple[NDArray[Any], Any]:
        """Begin to copy rows to the host; return them, and an object to hold until that is done."""
        if not 0 <= first <= first + rows <= self.shape[0]:
            raise DeviceError(f"{self!r} has no rows {first} to {first + rows - 1}")
        host: NDArray[Any] = np.empty((rows, *self.shape[1:]), self.dtype)
        if not host.nbytes:
            return host, None
        self.device.counters.downloads += 1
        offset = first * (self.nbytes // self.shape[0])
        copy = self.device.api.enqueue_copy(
            self.device.queue, host, self.buffer, src_offset=offset, is_blocking=False
        )
        return host, copy

    def set(self, values: ArrayLike) -> None:
        """Overwrite the array with values of the same shape and dtype.

        Raises
        ------
        DeviceError
            If shape or dtype differ: a silent conversion would hide a mistake.
        """
        host = np.ascontiguousarray(values).reshape(np.shape(values))
        if host.shape != self.shape or host.dtype != self.dtype:
            raise DeviceError(
                f"set() on {self!r} was given {host.dtype} of shape {host.shape}; "
                "shape and dtype must be equal"
            )
        if self.device.recording is not None:
            self.device.recording.overwrite(self)
        if self.nbytes:
            self._copy("writing", self.buffer, host)
            self.device.counters.uploads += 1

    def get_part(self, first: int, count: int) -> NDArray[Any]:
        """Copy ``count`` elements from ``first`` on, in C order, to the host; waits as `get`."""
        self._require_part(first, count)
        host: NDArray[Any] = np.empty(count, self.dtype)
        if count:
            offset = first * self.dtype.itemsize
            self._copy("reading a part of", host, self.buffer, src_offset=offset)
            self.device.counters.downloads += 1
        return host

    def set_part(self, first: int, values: NDArray[Any]) -> None:
        """Overwrite the elements from ``first`` on, in C order, with values of the same dtype.

        Raises
        ------
        DeviceError
            If the dtype or the number of elements differs.
        """
        host = np.ascontiguousarray(values)
        if host.dtype != self.dtype:
            raise DeviceError(f"set_part() on {self!r} was given {host.dtype}")
        self._require_part(first, host.size)
        if self.device.recording is not None:
            self.device.recording.overwrite(self)
        if host.size:
            offset = first * self.dtype.itemsize
            if self.device.simulator:  # to Oclgrind, memory written from an offset on is not set
                whole = self.get()
                whole.reshape(-1)[first : first + host.size] = host.reshape(-1)
                host, offset = whole, 0
            self._copy("writing a part of", self.buffer, host, dst_offset=offset)
            self.device.counters.uploads += 1

    def _require_part(self, first: int, count: int) -> None:
        if not 0 <= first <= first + count <= self.size:
            raise DeviceError(f"{self!r} has no elements {first} to {first + count - 1}")

    def set_row(self, row: int, array: DeviceArray) -> None:
        """Copy an array to a row of this one on the device, without waiting for it."""
        self.device.api.enqueue_copy(
            self.device.queue,
            self.buffer,
            array.buffer,
            byte_count=array.nbytes,
            dst_offset=row * array.nbytes,
        )

    def fill(self, value: Any = 0) -> None:
        """Set every element to ``value`` on the device, without a transfer."""
        if self.device.recording is not None:
            self.device.recording.overwrite(self)
        if self.nbytes:
            pattern = np.asarray(value, dtype=self.dtype)
            with translated_errors(f"filling {self!r}"):
                if self.device.simulator:  # to Oclgrind, filled memory is still uninitialised
                    self._copy("filling", self.buffer, np.full(self.shape, pattern))
                    return
                if not any(pattern.tobytes()):  # OpenCL takes no pattern of 24 bytes, say
                    pattern = np.zeros((), np.uint8)
                pattern = np.tile(pattern, max(1, PATTERN_BYTES // pattern.nbytes))
                rest = self.nbytes % pattern.nbytes
                for first in range(0, self.nbytes - rest, FILLED_AT_ONCE):
                    size = min(FILLED_AT_ONCE, self.nbytes - rest - first)
                    self.device.api.enqueue_fill_buffer(
                        self.device.queue, self.buffer, pattern, first, size
                    )
                if rest:
                    last, offset = pattern.view(np.uint8)[:rest], self.nbytes - rest
                    self._copy("filling", self.buffer, last, dst_offset=offset)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray({self.dtype}, shape {self.shape})"


@dataclass(frozen=True)
class Transfer:
    """A NumPy array as the argument of a call; subclasses say whether it is copied in or out."""

    host: NDArray[Any]

    upload = True

    def stage(self, device: Memory) -> DeviceArray:
        """Return the device array for the call, with the values if they are to be copied in."""
        staged = DeviceArray(device, self.host.shape, self.host.dtype)
        if self.upload:
            staged.set(self.host)
        return staged

    def finish(self, staged: DeviceArray) -> None:
        """Copy the result into the host array if it is to be copied out."""
        if not self.upload:
            self.host[...] = staged.get()


class In(Transfer):
    """An array that is copied to the device before the call."""


class Out(Transfer):
    """An array that is copied from the device after the call and never uploaded."""

    upload = False
