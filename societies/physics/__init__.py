"""Which workloads compute physical systems and images?"""

from __future__ import annotations

from typing import Any, Literal

from societies.config.model import shape

Precision = Literal["single", "double"]

PRECISION: Any = shape("single", "Numbers of 32 or 64 bits")
"""Key that several of these workloads share."""
