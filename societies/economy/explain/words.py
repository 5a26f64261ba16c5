"""How do reports format numbers, lists and lines? Resources are r0, agents a0, values util."""

from __future__ import annotations

from collections.abc import Iterable

from reference_py.economy.devices import DEVICE_TYPES

A_FEW = 8
"""Most entries of a list that a report without ``full`` writes."""


def number(x: float) -> str:
    """Return a number with four digits, or with all digits before the point."""
    return f"{x:,.0f}" if abs(x) >= 10000 else f"{x:.4g}"


def short(x: float) -> str:
    """Return a number for a table: three digits, or all digits before the point."""
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def type_name(device_type: int) -> str:
    """Return the type's name in words."""
    return DEVICE_TYPES[device_type].replace("_", " ")


def listed(parts: list[str], full: bool, most: int = A_FEW) -> str:
    """Join the parts; unless ``full``, only the first ``most`` and the number of the others."""
    if full or len(parts) <= most:
        return ", ".join(parts) or "nothing"
    return f"{', '.join(parts[:most])} and {len(parts) - most} more"


def resources(numbers: Iterable[int]) -> str:
    """Return the names of resources."""
    return " ".join(f"r{r}" for r in numbers) or "nothing"


def rounds(numbers: Iterable[int]) -> str:
    """Return a text with the numbers of rounds; consecutive ones are joined, such as 3-5."""
    runs: list[list[int]] = []
    for n in sorted(set(numbers)):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    words = [f"{a}" if a == b else f"{a}-{b}" for a, b in runs]
    single = len(runs) == 1 and runs[0][0] == runs[0][1]
    return f"{'round' if single else 'rounds'} {', '.join(words)}"
