"""What values did arrays have after each of the last ticks? A page adds up links over a week."""

from __future__ import annotations

from collections.abc import Mapping

from societies.opencl import Device, DeviceArray
from societies.opencl.debug import translated_errors
from societies.workload.declare.fields import State


class Recent:
    """Copies of some arrays after each of the last ticks, on the device until the host needs them.

    The host does not wait for a copy to be made, so blocks of ticks run without a pause.

    Parameters
    ----------
    device : Device
    arrays : arrays (copy, ...) by name
    ticks : number of ticks; the copies of earlier ones are overwritten
    """

    def __init__(self, device: Device, arrays: Mapping[str, DeviceArray], ticks: int) -> None:
        self._arrays, self._ticks = dict(arrays), ticks
        self._rows = {
            name: device.empty((ticks, *array.shape), array.dtype) for name, array in arrays.items()
        }

    def copy(self, tick: int) -> None:
        """Copy the arrays as they are after a tick, once the launches enqueued before are done."""
        for name, array in self._arrays.items():
            if array.nbytes:
                with translated_errors(f"keeping {name} of a tick"):
                    self._rows[name].set_row(tick % self._ticks, array)

    def of(self, tick: int, first: int, copies: int) -> State:
        """Return the arrays of some copies (copy, ...) after a tick; waits for the device."""
        found = {}
        for name, array in self._arrays.items():
            each = array.size // array.shape[0]
            begin = tick % self._ticks * array.size + first * each
            part = self._rows[name].get_part(begin, copies * each)
            found[name] = part.reshape(copies, *array.shape[1:])
        return found
