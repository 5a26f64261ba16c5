"""How are the launches on a device recorded, with their arguments and data?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from numpy.typing import NDArray

from societies.errors import DeviceError
from societies.opencl.array import DeviceArray
from societies.opencl.device import Device
from societies.opencl.kernel import Kernel


class Launched(NamedTuple):
    """One launch: the kernel, its sizes, and the value of each parameter."""

    kernel: Kernel
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: dict[str, Any]


class Recording:
    """The launches on a device, in order, and the former contents of their arrays; see `recorded`.

    Attributes
    ----------
    launches : list of Launched
    before : for every array of the launches, a host copy of its values before its first launch
    """

    def __init__(self) -> None:
        self.launches: list[Launched] = []
        self.before: dict[DeviceArray, NDArray[Any]] = {}

    def launch(
        self,
        kernel: Kernel,
        sizes: tuple[tuple[int, ...], tuple[int, ...]],
        arguments: Mapping[str, Any],
    ) -> None:
        """Record a launch that is about to be enqueued."""
        for value in arguments.values():
            if isinstance(value, DeviceArray) and value not in self.before:
                self.before[value] = value.get()
        self.launches.append(Launched(kernel, *sizes, dict(arguments)))

    def overwrite(self, array: DeviceArray) -> None:
        """Record that the host is about to write an array.

        Raises
        ------
        DeviceError
            If an earlier launch used the array: the launches alone would not reproduce the results.
        """
        if array in self.before:
            names = [n for n, a in self.launches[-1].arguments.items() if a is array]
            raise DeviceError(
                f"the host writes {array!r}{f' ({names[0]})' if names else ''} between two "
                "launches that are recorded; let a kernel do it"
            )


@contextmanager
def recorded(device: Device) -> Iterator[Recording]:
    """Record every launch inside the block, and the former contents of its arrays; this is slow.

    Raises
    ------
    DeviceError
        If the host writes an array that a recorded launch used; only kernels may write it.
    """
    outer, recording = device.recording, Recording()
    device.recording = recording
    try:
        yield recording
    finally:
        device.recording = outer
