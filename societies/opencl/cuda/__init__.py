"""How do OpenCL kernels run on NVIDIA GPUs through CUDA? NVRTC compiles them, CuPy runs them.

The planned text of a program gets a header (``opencl.cuh``), and the few words that C++ does not
know are replaced (`translate`). The layers above do not depend on CUDA; the device is chosen by its
name, ``--device cuda``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from societies.opencl.cuda.cupy import NAME, asked_for

if TYPE_CHECKING:
    from societies.opencl.cuda.device import CudaDevice, cuda_device, cuda_devices

__all__ = ["NAME", "CudaDevice", "asked_for", "cuda_device", "cuda_devices"]


def __getattr__(name: str) -> Any:
    """Import what only a CUDA device needs, among it the translation of kernels, at first use."""
    if name not in ("CudaDevice", "cuda_device", "cuda_devices"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module("societies.opencl.cuda.device"), name)
