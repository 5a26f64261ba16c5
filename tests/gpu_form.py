"""Which macros give a kernel its form for a CPU or a GPU, on the device under test?"""

from societies.opencl import choose_device

LOOPS_THAT_POCL_MISCOMPILES = {"LADDERS_TOGETHER": 0, "BOUNDS_TOGETHER": 0}
"""Loops of a whole group within others: see trading.cl and device_trading.cl of the economy."""


def is_pocl():
    """Return whether the device under test is PoCL's."""
    return choose_device("auto").platform == "Portable Computing Language"


def form(on_cpu):
    """Return the macros of the economy's kernels, without what PoCL compiles wrongly."""
    return {"DEVICE_IS_CPU": on_cpu, **(LOOPS_THAT_POCL_MISCOMPILES if is_pocl() else {})}
