"""Which keys do configurations of several physical workloads share?"""

from __future__ import annotations

from typing import Any, Literal

from societies.config.model import shape

Precision = Literal["single", "double"]

PRECISION: Any = shape("single", "Numbers of 32 or 64 bits")
