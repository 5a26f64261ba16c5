"""How are OpenCL devices used? Choose one, build programs, call kernels, hold arrays.

A thin layer over pyopencl that does not depend on any model.
"""

import societies.opencl.fused  # noqa: F401  (registers a macro that kernels may use)
from societies.opencl.array import Counters, DeviceArray, In, Local, Out, get_all, get_each
from societies.opencl.device import Device
from societies.opencl.kernel import BoundKernel, EnqueuedKernel, Kernel
from societies.opencl.program import Program
from societies.opencl.record import Launched, Recording, recorded
from societies.opencl.select import choose_device, list_all_devices, list_devices

__all__ = [
    "BoundKernel",
    "Counters",
    "Device",
    "DeviceArray",
    "EnqueuedKernel",
    "In",
    "Kernel",
    "Launched",
    "Local",
    "Out",
    "Program",
    "Recording",
    "choose_device",
    "get_all",
    "get_each",
    "list_all_devices",
    "list_devices",
    "recorded",
]
