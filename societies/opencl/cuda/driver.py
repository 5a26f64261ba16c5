"""How does CUDA replace pyopencl in the device layer? Memory, copies, launches and events.

`Cuda` has the names of the module ``pyopencl`` that arrays and kernels use, so that they work with
both. Everything runs on one stream, in order.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import DeviceError
from societies.opencl.cuda.compiler import Entry

LOCAL_ALIGNMENT = 128
"""Alignment in bytes of every local pointer among a kernel's parameters."""

MOST_GROUPS = (2**31 - 1, 65535, 65535)
"""Largest number of workgroups per dimension (CUDA programming guide, technical specifications)."""

_STREAM = 0  # the default one


class CudaError(DeviceError):
    """A failure of CUDA, as a message of one line."""


def _failed(doing: str, error: Exception) -> CudaError:
    return CudaError(f"{doing}: CUDA says {' '.join(str(error).split())}")


class _Untranslated(Exception):
    """Stands for pyopencl's error class; never raised, because CUDA's failures are `CudaError`."""


class CudaBuffer:
    """Memory on the GPU; freed when no object refers to it."""

    def __init__(self, memory: Any, nbytes: int):
        self.memory = memory
        self.size = nbytes

    @property
    def address(self) -> int:
        """Address for a kernel."""
        return int(self.memory.ptr)


class LocalMemory:
    """Value of a kernel's local pointer: the number of bytes."""

    def __init__(self, nbytes: int):
        self.nbytes = nbytes


class Event:
    """Represents the work enqueued before its creation; has times if the device is profiled."""

    __slots__ = ("_begin", "_cuda", "_end")

    def __init__(self, cuda: Cuda, begin: int | None = None, end: int | None = None):
        self._cuda, self._begin, self._end = cuda, begin, end

    def wait(self) -> None:
        """Wait until this work has completed."""
        if self._end is None:
            self._cuda.finish()
        else:
            self._cuda.call("waiting for a kernel", "eventSynchronize", self._end)

    @property
    def profile(self) -> SimpleNamespace:
        """Start (0) and end in nanoseconds, relative to the start."""
        if self._end is None:
            raise CudaError("timing a kernel: the device was chosen with profiling=False")
        took = self._cuda.call("timing a kernel", "eventElapsedTime", self._begin, self._end)
        return SimpleNamespace(start=0, end=round(float(took) * 1e6))

    def __del__(self) -> None:
        for event in (self._begin, self._end):
            if event is not None:
                self._cuda.spare.append(event)


class CudaKernel:
    """A kernel with memory for its arguments, which the driver reads at a launch."""

    def __init__(self, cuda: Cuda, function: int, name: str, entry: Entry):
        self.function, self.function_name, self.entry = function, name, entry
        self.num_args = len(entry.sizes)
        self._cuda = cuda
        self._values = [ctypes.create_string_buffer(max(size, 1)) for size in entry.sizes]
        self._held: list[Any] = [None] * self.num_args
        self._locals: dict[int, int] = {}
        addresses = [ctypes.addressof(value) for value in self._values]
        self._pointers = (ctypes.c_void_p * max(self.num_args, 1))(*addresses)
        self.parameters = ctypes.addressof(self._pointers)
        self.local_bytes = 0

    def set_arg(self, position: int, value: Any) -> None:
        """Set an argument: bytes, a buffer, local memory, or None for a null pointer."""
        size = self.entry.sizes[position]
        if isinstance(value, LocalMemory):
            self._locals[position] = value.nbytes
            self._place_locals()
            return
        if value is None:
            raw = bytes(size)
        elif isinstance(value, CudaBuffer):
            raw = value.address.to_bytes(8, "little")
            self._held[position] = value
        else:
            raw = bytes(value)
        if len(raw) != size:
            name = self.entry.parameters[position].name
            raise CudaError(
                f"kernel {self.function_name}: argument {name} has {len(raw)} bytes here and "
                f"{size} in the compiled kernel"
            )
        ctypes.memmove(self._values[position], raw, size)

    def _place_locals(self) -> None:
        """Place the arrays of the local pointers one after the other."""
        offset = 0
        for position, nbytes in sorted(self._locals.items()):
            ctypes.memmove(self._values[position], offset.to_bytes(4, "little"), 4)
            offset += -(-nbytes // LOCAL_ALIGNMENT) * LOCAL_ALIGNMENT
        self.local_bytes = offset

    def get_work_group_info(self, fact: str, device: Any) -> Any:
        """Return a fact about the compiled kernel; names as in `Cuda.kernel_work_group_info`."""
        if fact == "required":
            return self.entry.required or (0, 0, 0)
        return self._cuda.attribute(self.function, fact)


class CudaModule:
    """Machine code that is loaded on the GPU."""

    def __init__(self, cuda: Cuda, code: bytes, entries: dict[str, Entry]):
        self._cuda, self.entries = cuda, entries
        cuda.use()
        self._module = cuda.call("loading kernels", "moduleLoadData", code)
        self._functions: dict[str, int] = {}

    def function(self, name: str) -> int:
        """Return a kernel's function."""
        if name not in self._functions:
            self._functions[name] = self._cuda.call(
                f"kernel {name}", "moduleGetFunction", self._module, name
            )
        return self._functions[name]


class Cuda:
    """One GPU, with the names of pyopencl that the device layer uses.

    ``cupy`` is the module, or an object with its ``cuda.runtime``, ``cuda.driver`` and
    ``cuda.alloc``.
    """

    Error = _Untranslated
    MemoryObject = CudaBuffer
    LocalMemory = LocalMemory
    mem_flags = SimpleNamespace(READ_WRITE=0)
    kernel_work_group_info = SimpleNamespace(
        LOCAL_MEM_SIZE="CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES",
        WORK_GROUP_SIZE="CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK",
        COMPILE_WORK_GROUP_SIZE="required",
    )

    def __init__(self, cupy: Any, ordinal: int):
        self._cupy, self.ordinal = cupy, ordinal
        self.runtime, self.driver = cupy.cuda.runtime, cupy.cuda.driver
        self.timed = True
        self.spare: list[int] = []
        self._launch = self.driver.launchKernel
        self._untimed = Event(self)  # shared by all untimed launches: it waits for all of them
        self._set_device = self.runtime.setDevice
        self.use()
        self.call("opening the GPU", "deviceSynchronize")  # the driver's calls need its context

    def call(self, doing: str, name: str, *arguments: Any) -> Any:
        """Call CUDA's runtime or driver; raise its errors as `CudaError`."""
        function = getattr(self.runtime, name, None) or getattr(self.driver, name)
        try:
            return function(*arguments)
        except DeviceError:
            raise
        except Exception as error:
            raise _failed(doing, error) from error

    def use(self) -> None:
        """Make this GPU the one of the calling thread."""
        self._set_device(self.ordinal)

    def finish(self) -> None:
        """Wait until all enqueued work has completed."""
        self.use()
        self.call("waiting for the GPU", "streamSynchronize", _STREAM)

    def attribute(self, function: int, name: str) -> int:
        """Return a fact about a loaded kernel."""
        return int(self.call("a kernel", "funcGetAttribute", getattr(self.driver, name), function))

    def Buffer(self, context: Any, flags: Any, nbytes: int) -> CudaBuffer:
        """Return uninitialised memory."""
        self.use()
        try:
            return CudaBuffer(self._cupy.cuda.alloc(nbytes), nbytes)
        except Exception as error:
            raise _failed(f"allocating {nbytes / 2**20:.1f} MiB", error) from error

    def Kernel(self, program: CudaModule, name: str) -> CudaKernel:
        """Return a kernel object with its own arguments."""
        return CudaKernel(self, program.function(name), name, program.entries[name])

    def enqueue_copy(
        self,
        queue: Any,
        to: Any,
        source: Any,
        is_blocking: bool = True,
        byte_count: int | None = None,
        dst_offset: int = 0,
        src_offset: int = 0,
    ) -> Event:
        """Copy between host and GPU, after waiting for earlier work; or within the GPU."""
        self.use()
        if isinstance(to, CudaBuffer) and isinstance(source, CudaBuffer):
            nbytes = min(to.size, source.size) if byte_count is None else byte_count
            self._on_gpu(to.address + dst_offset, source.address + src_offset, nbytes)
        elif isinstance(to, CudaBuffer):
            host: NDArray[Any] = source
            where = to.address + dst_offset
            kind = self.runtime.memcpyHostToDevice
            self.call("writing an array", "memcpy", where, host.ctypes.data, host.nbytes, kind)
        else:
            host = to
            where = source.address + src_offset
            kind = self.runtime.memcpyDeviceToHost
            self.call("reading an array", "memcpy", host.ctypes.data, where, host.nbytes, kind)
        return Event(self)

    def _on_gpu(self, to: int, source: int, nbytes: int) -> None:
        kind = self.runtime.memcpyDeviceToDevice
        self.call("copying an array", "memcpyAsync", to, source, nbytes, kind, _STREAM)

    def enqueue_fill_buffer(
        self, queue: Any, buffer: CudaBuffer, pattern: NDArray[Any], offset: int, size: int
    ) -> Event:
        """Fill a buffer with a pattern: by memset if its bytes are equal, else by copying."""
        self.use()
        raw = pattern.tobytes()
        start = buffer.address + offset
        if len(set(raw)) == 1:
            self.call("filling an array", "memsetAsync", start, raw[0], size, _STREAM)
            return Event(self)
        first = np.frombuffer(raw, np.uint8)
        kind = self.runtime.memcpyHostToDevice
        self.call("filling an array", "memcpy", start, first.ctypes.data, first.nbytes, kind)
        done = first.nbytes
        while done < size:
            more = min(done, size - done)
            self._on_gpu(start + done, start, more)
            done += more
        return Event(self)

    def enqueue_nd_range_kernel(
        self,
        queue: Any,
        kernel: CudaKernel,
        global_size: Sequence[int],
        local_size: Sequence[int],
    ) -> Event:
        """Launch a kernel whose arguments are set."""
        groups, items = grid(tuple(global_size), tuple(local_size))
        self._set_device(self.ordinal)
        begin = end = None
        if self.timed:
            begin, end = self._event(), self._event()
            self.runtime.eventRecord(begin, _STREAM)
        try:
            self._launch(
                kernel.function, *groups, *items, kernel.local_bytes, _STREAM, kernel.parameters, 0
            )
        except Exception as error:
            raise _failed(f"launching kernel {kernel.function_name}", error) from error
        if end is None:
            return self._untimed
        self.runtime.eventRecord(end, _STREAM)
        return Event(self, begin, end)

    def _event(self) -> int:
        """Return an event that is not in use."""
        return self.spare.pop() if self.spare else int(self.runtime.eventCreate())


@cache  # a run has few sizes and many launches
def grid(
    global_size: tuple[int, ...], local_size: tuple[int, ...]
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Return the workgroups, and the work-items per workgroup, in three dimensions.

    Raises
    ------
    DeviceError
        If there are more workgroups in a dimension than CUDA can number.
    """
    groups = [n // m for n, m in zip(global_size, local_size, strict=True)] + [1, 1]
    items = [*local_size, 1, 1]
    for axis, (n, most) in enumerate(zip(groups, MOST_GROUPS, strict=False)):
        if n > most:
            raise CudaError(
                f"{n} workgroups in dimension {axis} are more than the {most} that CUDA can number"
            )
    return (groups[0], groups[1], groups[2]), (items[0], items[1], items[2])
