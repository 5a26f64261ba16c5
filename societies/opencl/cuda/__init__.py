"""NVIDIA's GPUs through CUDA: the OpenCL kernels themselves, compiled by NVRTC, run through CuPy.

The planned text of a program gets a header in front (``opencl.cuh``) and its few words that C++
does not know changed (`translate`). Everything above knows the device by its name alone:
``--device cuda``.
"""

from societies.opencl.cuda.device import NAME, CudaDevice, asked_for, cuda_device, cuda_devices

__all__ = ["NAME", "CudaDevice", "asked_for", "cuda_device", "cuda_devices"]
