"""What values did arrays have after earlier ticks? A page goes back, and adds up links of a week.

The copies stay on the device until the host needs them, so the host does not wait for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from societies.opencl import Device, DeviceArray, get_each
from societies.opencl.debug import translated_errors
from societies.workload.declare.fields import State


class Recent:
    """Copies of some arrays (copy, ...) after each of the last ``ticks`` ticks."""

    def __init__(self, device: Device, arrays: Mapping[str, DeviceArray], ticks: int) -> None:
        self._arrays, self._ticks = dict(arrays), ticks
        self._rows = {
            name: device.empty((ticks * array.shape[0], *array.shape[1:]), array.dtype)
            for name, array in arrays.items()
        }

    def copy(self, tick: int) -> None:
        """Copy the arrays as they are after a tick, once the launches enqueued before are done."""
        for name, array in self._arrays.items():
            if array.nbytes:
                with translated_errors(f"keeping {name} of a tick"):
                    self._rows[name].set_row(tick % self._ticks, array)

    def of(self, ticks: Sequence[int], first: int, copies: int) -> dict[int, State]:
        """Return the arrays of some copies (copy, ...) after ticks; waits for the device once."""
        parts = {
            (tick, name): (rows, tick % self._ticks * len(self._arrays[name]) + first, copies)
            for tick in ticks
            for name, rows in self._rows.items()
        }
        found = get_each(parts)
        return {tick: {name: found[tick, name] for name in self._rows} for tick in ticks}


def copy_each(arrays: Mapping[str, DeviceArray], to: Mapping[str, DeviceArray]) -> None:
    """Copy arrays to those of the same name, shape and device, after what was enqueued before."""
    for name, array in arrays.items():
        if array.nbytes:
            with translated_errors(f"copying {name} on the device"):
                to[name].set_row(0, array)
