"""How many positions of a level are in memory at a time? As many as a device has room for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from societies.config.model import WorkloadConfig
from societies.workload import Setup

MEMORY_SHARE = 4
"""Arrays take at most one part in this many of a device's memory."""

C = TypeVar("C", bound=WorkloadConfig)


def fitted_to_memory(setup: Setup[C, Any], key: str, bounds: tuple[int, int, int]) -> C:
    """Return the configuration with a number for ``auto``, as large as the device has memory for.

    Parameters
    ----------
    key : key with the number of positions
    bounds : the smallest number, the one without a GPU, and the one with a GPU
    """
    config, device = setup.config, setup.device
    if getattr(config, key) != "auto":
        return config
    least, usual, most = bounds
    number = most if device and device.kind != "cpu" else usual
    while device and number > least:
        one = replace(setup, config=config.model_copy(update={key: number}))
        arrays = [one.copies * field.nbytes(one.sizes) for field in one.fields.values()]
        whole = device.global_memory or sum(arrays) * MEMORY_SHARE
        largest = device.max_alloc or max(arrays)
        if sum(arrays) <= whole // MEMORY_SHARE and max(arrays) <= largest:
            break
        number = max(least, number // 2)
    return config.model_copy(update={key: number})
