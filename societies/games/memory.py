"""How many positions of a level are in memory at a time? As many as a device has room for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from societies.config.model import WorkloadConfig

if TYPE_CHECKING:
    from societies.opencl import Device
    from societies.workload import Workload

MEMORY_SHARE = 4
"""Arrays take at most one part in this many of a device's memory."""

C = TypeVar("C", bound=WorkloadConfig)


def fitted_to_memory(
    workload: Workload[Any, Any],
    config: C,
    device: Device | None,
    key: str,
    bounds: tuple[int, int, int],
) -> C:
    """Return the configuration with a number for ``auto``, as large as the device has memory for.

    Parameters
    ----------
    key : key with the number of positions
    bounds : the smallest number, the one without a GPU, and the one with a GPU
    """
    if getattr(config, key) != "auto":
        return config
    least, usual, most = bounds
    number = most if device and device.kind != "cpu" else usual
    while device and number > least:
        one = config.model_copy(update={key: number})
        p, copies = workload.parameters(one), workload.count(one)
        lengths = workload.sizes(p)
        arrays = [copies * field.nbytes(lengths) for field in workload.fields(p).values()]
        whole = device.global_memory or sum(arrays) * MEMORY_SHARE
        largest = device.max_alloc or max(arrays)
        if sum(arrays) <= whole // MEMORY_SHARE and max(arrays) <= largest:
            break
        number = max(least, number // 2)
    return config.model_copy(update={key: number})
