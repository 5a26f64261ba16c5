"""A GPU on paper: CUDA's memory and launches as the CUDA device sees them, without a GPU.

Memory is the host's, copies and fills are carried out, kernels are compiled for real by NVRTC for
the H100 but not run; each launch is noted with the bytes of its arguments.
"""

import ctypes
import os
import re
from types import SimpleNamespace

import numpy as np
import pytest

FUSED = re.compile(r"\bfma\.\w+\.(f32|f64)")
"""A fused operation in PTX."""

LOOSE = re.compile(r"\b(?:mul|add|sub)\.(?:ftz\.)?(?:f32|f64)\b")
"""An operation of reals that a later compiler might fuse: it names no rounding."""

PROPERTIES = {
    "name": b"paper H100",
    "major": 9,
    "minor": 0,
    "multiProcessorCount": 132,
    "maxThreadsPerBlock": 1024,
    "maxThreadsDim": (1024, 1024, 64),
    "sharedMemPerBlock": 49152,
    "totalGlobalMem": 80 * 2**30,
    "warpSize": 32,
}


class Memory:
    def __init__(self, nbytes):
        self._room = ctypes.create_string_buffer(nbytes + 256)
        self.ptr = -(-ctypes.addressof(self._room) // 256) * 256


class Paper:
    """What stands for the module ``cupy``; ``launches`` has (grid, block, local bytes, values)."""

    __version__ = "on paper"

    def __init__(self):
        self.launches, self.functions, self.waits = [], {}, 0
        self.runtime = SimpleNamespace(
            memcpyHostToDevice=1,
            memcpyDeviceToHost=2,
            memcpyDeviceToDevice=3,
            getDeviceCount=lambda: 1,
            getDeviceProperties=lambda ordinal: PROPERTIES,
            driverGetVersion=lambda: 13000,
            setDevice=lambda ordinal: None,
            memcpy=lambda to, source, nbytes, kind: ctypes.memmove(to, source, nbytes) and None,
            memcpyAsync=lambda to, source, nbytes, kind, stream: (
                ctypes.memmove(to, source, nbytes) and None
            ),
            memsetAsync=lambda to, value, nbytes, stream: ctypes.memset(to, value, nbytes) and None,
            eventCreate=lambda: 7,
            eventRecord=lambda event, stream: None,
            eventElapsedTime=lambda begin, end: 0.25,
            eventSynchronize=lambda event: None,
            streamSynchronize=self._wait,
            deviceSynchronize=lambda: None,
        )
        self.driver = SimpleNamespace(
            CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES="static",
            CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK="items",
            moduleLoadData=lambda code: 1,
            moduleGetFunction=self._function,
            funcGetAttribute=lambda name, function: {"static": 0, "items": 1024}[name],
            launchKernel=self._launch,
        )
        self.cuda = SimpleNamespace(runtime=self.runtime, driver=self.driver, alloc=Memory)

    def _wait(self, stream):
        self.waits += 1

    def _function(self, module, name):
        number = len(self.functions) + 1
        self.functions[number] = name
        return number

    def _launch(self, function, *rest):
        grid, block, (local_bytes, stream, parameters, extra) = rest[:3], rest[3:6], rest[6:]
        assert stream == 0 and extra == 0 and all(grid) and all(block)
        self.launches.append((self.functions[function], grid, block, local_bytes, parameters))


def argument(launch, position, dtype):
    """Return an argument of a noted launch, as the GPU would read it, until the next one."""
    place = ctypes.cast(launch[4], ctypes.POINTER(ctypes.c_void_p))[position]
    return np.frombuffer(ctypes.string_at(place, np.dtype(dtype).itemsize), dtype)[0]


def device(paper=None):
    """Return a CUDA device of a GPU on paper."""
    from societies.opencl.cuda import CudaDevice

    return CudaDevice(paper or Paper(), 0)


def nvrtc_or_skip():
    """Skip the test where NVRTC or CuPy is not installed.

    ``SOCIETIES_REQUIRE_NVRTC=1`` (set by .ci/nightly) turns the skip into a failure.
    """
    from societies.errors import DeviceError
    from societies.opencl.cuda import cupy

    try:
        cupy.nvrtc()
    except DeviceError as error:
        assert not os.environ.get("SOCIETIES_REQUIRE_NVRTC"), error
        pytest.skip(f"needs CuPy and NVRTC: pip install 'cupy-cuda13x[ctk]' ({error})")
