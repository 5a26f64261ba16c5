"""Which device carries out a run, by whatever name the user gave it?"""

from __future__ import annotations

import os
import platform

from societies.opencl import Device, choose_device

REFERENCE = "reference"


def is_reference(device: str | Device) -> bool:
    """Whether the reference is asked for, by the argument or by SOCIETIES_DEVICE."""
    if isinstance(device, Device):
        return False
    asked = device.strip().lower()
    if asked in ("", "auto"):
        asked = os.environ.get("SOCIETIES_DEVICE", "").strip().lower()
    return asked == REFERENCE


def chosen_device(
    device: str | Device, *, profiling: bool = False
) -> tuple[Device | None, str, dict[str, str]]:
    """Return the device (None: the reference), its name for people, and facts for the file.

    With ``profiling`` it times every launch; a `Device` does what it was made for.
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
