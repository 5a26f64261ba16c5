"""Which macros give a kernel its form for a CPU or a GPU, on the device under test?"""

from societies.opencl import choose_device


def is_pocl():
    """Return whether the device under test is PoCL's."""
    return choose_device("auto").platform == "Portable Computing Language"


def form(on_cpu):
    """Return macros of the economy's kernels, without the loop that PoCL compiles wrongly.

    bargaining.cl says which.
    """
    return {"DEVICE_IS_CPU": on_cpu, **({"LADDERS_TOGETHER": 0} if is_pocl() else {})}
