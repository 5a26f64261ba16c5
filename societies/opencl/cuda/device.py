"""What is known of a GPU that is used through CUDA? The device of ``--device cuda``."""

from __future__ import annotations

from typing import Any

from societies.errors import DeviceError, shortened
from societies.inputs import whole_number
from societies.kerneltext.source import AmalgamatedText
from societies.opencl.array import Counters
from societies.opencl.build import RawParameter
from societies.opencl.cuda.compiler import OPTIONS, compiled
from societies.opencl.cuda.cupy import NAME, cupy, gpus, nvrtc
from societies.opencl.cuda.driver import Cuda, CudaModule
from societies.opencl.device import NVIDIA, Device
from societies.opencl.program import predefined


class CudaDevice(Device):
    """A `Device` whose kernels NVRTC compiles for its ``architecture``, such as ``sm_90``."""

    def __init__(self, module: Any, ordinal: int):
        runtime = module.cuda.runtime
        facts = runtime.getDeviceProperties(ordinal)
        name = facts["name"]
        self.index = f"{NAME}:{ordinal}"
        self.name = name.decode() if isinstance(name, bytes) else str(name)
        self.platform = NVIDIA
        self.architecture = f"sm_{facts['major']}{facts['minor']}"
        nvrtc_version = ".".join(str(n) for n in nvrtc().getVersion())
        self.platform_version = f"NVRTC {nvrtc_version}, CuPy {module.__version__}"
        driver = int(runtime.driverGetVersion())
        self.driver = f"CUDA {driver // 1000}.{driver % 1000 // 10}"
        # the planner's macros depend on the version of OpenCL C of the text
        self.version = self.reported_version = (
            f"OpenCL 1.2 by {self.platform_version}, {self.architecture}"
        )
        self.kind = "gpu"
        self.fp64 = True
        self.compute_units = int(facts["multiProcessorCount"])
        self.max_workgroup = int(facts["maxThreadsPerBlock"])
        self.max_item_sizes = tuple(int(n) for n in facts["maxThreadsDim"])
        self.local_memory = int(facts["sharedMemPerBlock"])
        self.global_memory = self.max_alloc = int(facts["totalGlobalMem"])
        self.warp = int(facts["warpSize"])
        self.available = True
        self.simulator = False
        self.correct_single = True
        self.subnormal_single = True
        self.cl_device = None
        self.reason = ""
        self.own_limits = False
        self.counters = Counters()
        self.recording = None
        self.launched = None
        self._cuda = Cuda(module, ordinal)

    @property
    def api(self) -> Any:
        """CUDA with the names of pyopencl."""
        return self._cuda

    @property
    def build_options(self) -> tuple[str, ...]:
        """Options of every build; with them every operation is rounded separately."""
        return (*OPTIONS, f"--gpu-architecture={self.architecture}")

    def options_for(self, registers: int) -> tuple[str, ...]:
        """Return build options for at most ``registers`` of a work-item; 0: any number."""
        return (f"--maxrregcount={registers}",) if registers else ()

    @property
    def profiling(self) -> bool:
        """Whether every launch is timed."""
        return self._cuda.timed

    @profiling.setter
    def profiling(self, timed: bool) -> None:
        self._cuda.timed = timed

    @property
    def context(self) -> Any:
        """None: CUDA has one context for each GPU."""
        return None

    @property
    def queue(self) -> Any:
        """The CUDA object, which has a single stream."""
        return self._cuda

    def compiler(
        self, source: AmalgamatedText, options: tuple[str, ...]
    ) -> tuple[Any, dict[str, list[RawParameter]]]:
        """Return the loaded kernels of a planned text, and their signatures."""
        own = tuple(option for option in options if option not in self.build_options)
        found = compiled(self, source, predefined(self, own), own)
        program = CudaModule(self._cuda, found.code, dict(found.entries))
        return program, {name: list(entry.parameters) for name, entry in found.entries.items()}


def cuda_device(spec: str = NAME) -> CudaDevice:
    """Return the GPU for ``cuda`` or ``cuda:N``, where N is its number in CUDA.

    Raises
    ------
    DeviceError
        If CuPy, NVRTC or the GPU is missing.
    """
    _, _, number = spec.partition(":")
    count = gpus()
    available = ", ".join(f"{NAME}:{ordinal}" for ordinal in range(count))
    ordinal = whole_number(number or "0")
    if ordinal is None or ordinal >= count:
        raise DeviceError(f"device {shortened(spec)}: no such device; available: {available}")
    return CudaDevice(cupy(), ordinal)


def cuda_devices() -> list[CudaDevice]:
    """Return all GPUs; an empty list without CuPy or a GPU."""
    try:
        return [CudaDevice(cupy(), ordinal) for ordinal in range(gpus())]
    except DeviceError:
        return []
