"""The device layer: choose an OpenCL device, build programs, call kernels, keep arrays there.

Thin over pyopencl, and knows nothing of economics.
"""

from societies.device.array import Counters, DeviceArray, In, InOut, Local, Out, get_all
from societies.device.device import Device
from societies.device.kernel import BoundKernel, Kernel, Launch
from societies.device.program import Program
from societies.device.record import Launched, Recording
from societies.device.select import choose_device, list_devices

__all__ = [
    "BoundKernel",
    "Counters",
    "Device",
    "DeviceArray",
    "In",
    "InOut",
    "Kernel",
    "Launch",
    "Launched",
    "Local",
    "Out",
    "Program",
    "Recording",
    "choose_device",
    "get_all",
    "list_devices",
]
