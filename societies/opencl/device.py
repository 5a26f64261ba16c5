"""Which facts, context, queue and memory has an OpenCL device?"""

from __future__ import annotations

import gc
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from societies.errors import DeviceError
from societies.opencl.array import Counters, DeviceArray, Recorder
from societies.opencl.debug import DEBUG_BUILD_OPTIONS, debug_mode, opencl, translated_errors
from societies.opencl.processor import known_model

PORTABLE_WORKGROUP = 256
"""Work-items in a workgroup that every supported device can run."""

PORTABLE_LOCAL_MEMORY = 32 * 1024
"""Bytes of local memory that every supported device has."""

_KINDS = (("gpu", 4), ("accelerator", 8), ("cpu", 2))  # CL_DEVICE_TYPE_* of the OpenCL standard
_CORRECT_DIVIDE = 1 << 7  # CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
_DENORM = 1 << 0  # CL_FP_DENORM

_MIB = 1024 * 1024

NVIDIA = "NVIDIA CUDA"
"""Name of NVIDIA's platform of OpenCL, and of its devices through CUDA."""


class Device:
    """One OpenCL device, with the facts that determine what can run on it.

    Nothing is created on the device before `queue` or an array is requested.

    Attributes
    ----------
    name, platform, driver, version : texts of the OpenCL implementation
    reported_version : as the implementation reports it; ``version`` names the model that PoCL
        compiles for where its compiler does not know the processor (`societies.opencl.processor`)
    kind : str
        ``"gpu"``, ``"accelerator"``, ``"cpu"`` or ``"custom"``.
    index : str
        ``"P:D"``: platform and device number, valid as an explicit choice.
    compute_units, max_workgroup, warp : int
        ``warp`` is the number of work-items that run in step (preferred multiple).
    local_memory, global_memory, max_alloc : bytes; ``max_alloc`` is the largest single array
    fp64, simulator : whether it has double precision; whether it is a simulator such as Oclgrind
    reason : why it was chosen (empty if it was only listed)
    own_limits : whether workgroups and local memory are checked against the device's own limits
        instead of the portable profile of 256 work-items and 32 KiB
    profiling : bool
        Whether the queue times every kernel (`EnqueuedKernel.seconds`); set before the queue is
        first used. Timing costs about 4 microseconds a launch on an H100, nothing on a CPU.
    counters : uploads, downloads, allocations and launches so far
    recording : the recording in progress; see `societies.opencl.recorded`
    launched : list of (BoundKernel, Launch), or None
        List to which every launch of a bound kernel is appended; None: launches are not timed.
    """

    def __init__(self, cl_device: Any, platform: Any, index: str):
        self.cl_device = cl_device
        self.index = index
        self.name = _text(cl_device, "name")
        self.platform = _text(platform, "name")
        self.reported_version = _text(cl_device, "version")
        self.version = known_model(cl_device, self.reported_version)
        self.platform_version = _text(platform, "version")
        self.driver = _text(cl_device, "driver_version")
        kind_bits = int(_fact(cl_device, "type", 0))
        self.kind = next((kind for kind, bit in _KINDS if kind_bits & bit), "custom")
        extensions = _text(cl_device, "extensions").split()
        self.fp64 = "cl_khr_fp64" in extensions or int(_fact(cl_device, "double_fp_config", 0)) != 0
        self.compute_units = int(_fact(cl_device, "max_compute_units", 1))
        self.max_workgroup = int(_fact(cl_device, "max_work_group_size", 1))
        self.max_item_sizes = tuple(_fact(cl_device, "max_work_item_sizes", (self.max_workgroup,)))
        self.local_memory = int(_fact(cl_device, "local_mem_size", 0))
        self.global_memory = int(_fact(cl_device, "global_mem_size", 0))
        self.max_alloc = int(_fact(cl_device, "max_mem_alloc_size", 0))
        # NVIDIA's and the generic query; an OpenCL 1.2 device may answer neither
        generic = int(_fact(cl_device, "preferred_work_group_size_multiple", 0))
        self.warp = int(_fact(cl_device, "warp_size_nv", 0)) or generic or 1
        self.available = bool(_fact(cl_device, "available", True)) and bool(
            _fact(cl_device, "compiler_available", True)
        )
        self.simulator = "oclgrind" in f"{self.platform} {self.name}".lower()
        single = int(_fact(cl_device, "single_fp_config", 0))
        self.correct_single = bool(single & _CORRECT_DIVIDE)
        self.subnormal_single = bool(single & _DENORM)
        self.reason = ""
        self.own_limits = False
        self.profiling = True
        self.counters = Counters()
        self.recording: Recorder | None = None
        self.launched: list[Any] | None = None

    @property
    def orders_workgroups(self) -> bool:
        """Whether a workgroup of a launch may wait for results of another.

        How to order the memory of other GPUs is not known (kernels/economy/crew.cl).
        """
        return self.kind == "cpu" or self.platform == NVIDIA

    compiler: Any = None
    """None for OpenCL's compiler; otherwise a function of source and options that returns the
    program and its signatures."""

    @property
    def api(self) -> Any:
        """The module pyopencl; other kinds of devices have an object with the same names."""
        return opencl()

    @property
    def build_options(self) -> tuple[str, ...]:
        """Options of every build; none of them lets the compiler change a result."""
        options = ["-cl-std=CL1.2", "-cl-kernel-arg-info"]
        if self.correct_single:
            options.append("-cl-fp32-correctly-rounded-divide-sqrt")
        if self.simulator:  # it cannot run optimised shifts, and must check every access
            options.append("-cl-opt-disable")
        elif debug_mode() and self.kind == "cpu":
            options.extend(DEBUG_BUILD_OPTIONS)
        return tuple(options)

    def options_for(self, registers: int) -> tuple[str, ...]:
        """Return build options for at most ``registers`` of a work-item; 0: any number."""
        asked = registers and self.platform == NVIDIA
        return (f"-cl-nv-maxrregcount={registers}",) if asked else ()

    @property
    def workgroup_limit(self) -> int:
        """Largest number of work-items in a workgroup."""
        if self.own_limits:
            return self.max_workgroup
        return min(self.max_workgroup, PORTABLE_WORKGROUP)

    @property
    def local_memory_limit(self) -> int:
        """Largest number of bytes of local memory in a workgroup."""
        if self.own_limits:
            return self.local_memory
        return min(self.local_memory, PORTABLE_LOCAL_MEMORY)

    @property
    def limits_name(self) -> str:
        """Name of these two limits in messages."""
        return "device" if self.own_limits else "portable profile"

    @cached_property
    def context(self) -> Any:
        """The OpenCL context of this device."""
        with translated_errors(f"opening {self}"):
            return _shared_context(self.cl_device) if self.simulator else _context(self.cl_device)

    @cached_property
    def queue(self) -> Any:
        """The one in-order queue on which everything of this device runs."""
        cl = self.api
        with translated_errors(f"opening {self}"):
            timed = cl.command_queue_properties.PROFILING_ENABLE if self.profiling else 0
            return cl.CommandQueue(self.context, properties=timed)

    def allocate(self, nbytes: int) -> Any:
        """Return a buffer of ``nbytes`` > 0 bytes, uninitialised.

        Raises
        ------
        DeviceError
            If the device's largest array is smaller, or its memory is used up.
        """
        if self.max_alloc and nbytes > self.max_alloc:
            raise DeviceError(
                f"an array of {nbytes / _MIB:.0f} MiB is larger than {self.name} allows "
                f"({self.max_alloc / _MIB:.0f} MiB in one array)"
            )
        cl = self.api
        with translated_errors(f"allocating {nbytes / _MIB:.1f} MiB on {self.name}"):
            buffer = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, nbytes)
        self.counters.allocations += 1
        return buffer

    def array(self, values: ArrayLike) -> DeviceArray:
        """Copy a host array to the device (one upload) and return it."""
        host = np.asarray(values)
        result = DeviceArray(self, host.shape, host.dtype)
        result.set(host)
        return result

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> DeviceArray:
        """Return an array whose contents are undefined."""
        return DeviceArray(self, shape, dtype)

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> DeviceArray:
        """Return an array of zeros; nothing is uploaded."""
        result = DeviceArray(self, shape, dtype)
        result.fill(0)
        return result

    def finish(self) -> None:
        """Wait until all enqueued work has completed."""
        with translated_errors(f"waiting for {self.name}"):
            self.queue.finish()

    def __str__(self) -> str:
        return f"{self.index} {self.name} ({self.platform})"

    def __repr__(self) -> str:
        return f"<Device {self}>"


def _context(cl_device: Any) -> Any:
    cl = opencl()
    try:
        return cl.Context([cl_device])
    except cl.Error:  # perhaps out of memory: reference cycles may still hold unused contexts
        gc.collect()
        return cl.Context([cl_device])


@cache
def _shared_context(cl_device: Any) -> Any:
    """Return the only context on Oclgrind, which would restart its log with a second one."""
    return _context(cl_device)


def _fact(source: Any, name: str, default: Any) -> Any:
    """Return one property, or the default if the implementation does not support the query."""
    try:
        return getattr(source, name)
    except Exception:  # pyopencl raises LogicError, fakes and old versions AttributeError
        return default


def _text(source: Any, name: str) -> str:
    return str(_fact(source, name, "")).strip("\0 ")
