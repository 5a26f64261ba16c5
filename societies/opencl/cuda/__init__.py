"""How do OpenCL kernels run on NVIDIA GPUs through CUDA? NVRTC compiles them, CuPy runs them.

The planned text of a program gets a header (``opencl.cuh``), and the few words that C++ does not
know are replaced (`translate`). The layers above do not depend on CUDA; the device is chosen by its
name, ``--device cuda``.
"""

from societies.opencl.cuda.device import NAME, CudaDevice, asked_for, cuda_device, cuda_devices

__all__ = ["NAME", "CudaDevice", "asked_for", "cuda_device", "cuda_devices"]
