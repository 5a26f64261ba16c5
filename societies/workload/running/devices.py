"""Which device carries out a run, given a device, its name, or SOCIETIES_DEVICE?"""

from __future__ import annotations

import os
import platform

from societies.opencl import Device, choose_device

REFERENCE = "reference"


def is_reference(device: str | Device) -> bool:
    """Return True if the argument or SOCIETIES_DEVICE requests the reference."""
    if isinstance(device, Device):
        return False
    asked = device.strip().lower()
    if asked in ("", "auto"):
        asked = os.environ.get("SOCIETIES_DEVICE", "").strip().lower()
    return asked == REFERENCE


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
