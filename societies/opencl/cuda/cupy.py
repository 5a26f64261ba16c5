"""Is CuPy installed, and does it find a GPU? Access to the parts of CuPy that are used."""

from __future__ import annotations

import importlib
import os
import warnings
from functools import cache
from typing import Any

from societies.errors import DeviceError, one_line

NAME = "cuda"
"""What names of devices that are used through CUDA begin with."""

NOT_INSTALLED = "device cuda needs CuPy, which is not installed: pip install 'societies[cuda]'"


def asked_for(spec: str) -> bool:
    """Return True if the name of a device, in lower case, means a CUDA device."""
    return spec == NAME or spec.startswith(f"{NAME}:")


@cache
def _module(name: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `gpus` raises an error of its own
            return importlib.import_module(name)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("cupy"):
            raise DeviceError(NOT_INSTALLED) from None
        raise DeviceError(f"device cuda: CuPy cannot be loaded: {one_line(error)}") from error


def cupy() -> Any:
    """Return the module ``cupy``.

    Raises
    ------
    DeviceError
        If it is not installed or cannot be loaded.
    """
    os.environ.setdefault("CUPY_CACHE_IN_MEMORY", "1")  # it compiles none of our kernels
    return _module("cupy")


def nvrtc() -> Any:
    """Return CuPy's binding of NVRTC.

    Raises
    ------
    DeviceError
        If CuPy or NVRTC is not installed.
    """
    cupy()
    library = _module("cupy_backends.cuda.libs.nvrtc")
    try:
        library.getVersion()
    except Exception as error:  # CuPy loads the library at the first call
        raise DeviceError(
            f"device cuda needs NVRTC (pip install nvidia-cuda-nvrtc): {one_line(error)}"
        ) from error
    return library


def gpus() -> int:
    """Return the number of GPUs that CuPy finds.

    Raises
    ------
    DeviceError
        If CuPy is not installed or finds no GPU.
    """
    runtime = cupy().cuda.runtime
    try:
        count = int(runtime.getDeviceCount())
        reason = "CUDA lists no device"
    except Exception as error:
        count, reason = 0, one_line(error)
    if count < 1:
        raise DeviceError(f"device cuda: CuPy finds no NVIDIA GPU here: {reason}")
    return count
