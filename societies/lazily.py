"""How is a library imported at its first use, as reading a configuration needs no arrays?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["np"]


class _Lazy:
    """A module that is imported when the first of its names is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)  # found at once the next time
        return found


if TYPE_CHECKING:
    import numpy as np
else:
    np = _Lazy("numpy")
"""NumPy, for modules that describe arrays but seldom make one."""
