"""Which names of devices mean a GPU that is used through CUDA?"""

from __future__ import annotations

NAME = "cuda"


def asked_for(spec: str) -> bool:
    """Return True if the name of a device, in lower case, means a CUDA device."""
    return spec == NAME or spec.startswith(f"{NAME}:")
