"""Which devices carry out a run, given a device, a name, a list of them, or SOCIETIES_DEVICE?"""

from __future__ import annotations

import os
import platform
import re
from contextlib import suppress

from societies.errors import DeviceError
from societies.opencl import Device, choose_device, list_devices

REFERENCE = "reference"

_SEVERAL = re.compile(r"\w+:\d+(\s*,\s*\w+:\d+)+")
"""Numbers of several devices, ``0:0,0:1``; no other name of a device looks like this."""


def is_reference(device: str | Device) -> bool:
    """Return True if the argument or SOCIETIES_DEVICE requests the reference."""
    return not isinstance(device, Device) and _asked(device) == REFERENCE


def _asked(device: str) -> str:
    """Return what the argument or, for ``auto``, SOCIETIES_DEVICE requests, in lower case."""
    asked = device.strip().lower()
    if asked in ("", "auto"):
        asked = os.environ.get("SOCIETIES_DEVICE", "").strip().lower() or "auto"
    return asked


def listed_devices(device: str | Device) -> list[str]:
    """Return the devices of a list like ``0:0,0:1``, [] for anything else.

    A device may be listed several times; each time stands for a process.
    """
    if isinstance(device, Device) or not _SEVERAL.fullmatch(_asked(device)):
        return []
    return [one.strip() for one in _asked(device).split(",")]


def local_devices(device: str) -> list[str]:
    """Return the local devices that a name selects: for "auto" all GPUs like the chosen one.

    Raises DeviceError if no device fits.
    """
    if listed := listed_devices(device):
        for one in dict.fromkeys(listed):
            choose_device(one)
        return listed
    if is_reference(device):
        return [device]
    chosen = choose_device(device)
    asked = device.strip().lower()
    if chosen.kind != "gpu" or asked not in ("", "auto", "gpu"):
        return [device]
    with suppress(DeviceError):
        alike = [one for one in list_devices() if _alike(one, chosen)]
        if len(alike) > 1:
            return [one.index for one in alike]
    return [device]


def _alike(one: Device, other: Device) -> bool:
    same = ("kind", "name", "platform")
    return not one.simulator and all(getattr(one, of) == getattr(other, of) for of in same)


def chosen_device(
    device: str | Device, *, profiling: bool = False
) -> tuple[Device | None, str, dict[str, str]]:
    """Return the device (None: the reference), its displayed name, and attributes for the file.

    With ``profiling`` a device that is opened here times every launch; a given `Device` is used as
    it was created.
    """
    if is_reference(device):
        python = f"Python {platform.python_version()}"
        return None, REFERENCE, {"device": REFERENCE, "driver": python, "build_options": ""}
    chosen = device if isinstance(device, Device) else choose_device(device, profiling=profiling)
    facts = {
        "device": f"{chosen.name} ({chosen.platform})",
        "driver": f"{chosen.driver}; {chosen.version}",
        "build_options": " ".join(chosen.build_options),
    }
    why = f" ({chosen.reason})" if chosen.reason else ""
    return chosen, f"{chosen}{why}", facts
