"""How does a report write numbers, lists and lines? Resources are r0, agents a0, values util."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from reference_py.economy.devices import DEVICE_TYPES

WIDTH = 100
A_FEW = 8
"""Entries of a list that are written out where not everything is asked for."""


def wrapped(line: str, indent: str = "") -> list[str]:
    """Return the line in pieces that fit the width."""
    inner = line.lstrip(" ")
    indent += " " * (len(line) - len(inner))
    return textwrap.wrap(
        inner,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def number(x: float) -> str:
    """Write a number as people read it: four digits, or all before the point."""
    return f"{x:,.0f}" if abs(x) >= 10000 else f"{x:.4g}"


def short(x: float) -> str:
    """Write a number in a table: three digits, or all before the point."""
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def name_of(device_type: int) -> str:
    """Return the type's name in words."""
    return DEVICE_TYPES[device_type].replace("_", " ")


def listed(parts: list[str], full: bool, most: int = A_FEW) -> str:
    """Join the parts, leaving out most of a long list unless everything is asked for."""
    if full or len(parts) <= most:
        return ", ".join(parts) or "nothing"
    return f"{', '.join(parts[:most])} and {len(parts) - most} more"


def resources(numbers: Iterable[int]) -> str:
    """Name resources."""
    return " ".join(f"r{r}" for r in numbers) or "nothing"


def counted(count: int, what: str) -> str:
    """Say how many."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def rounds(numbers: Iterable[int]) -> str:
    """Write the numbers of rounds, runs of them together."""
    runs: list[list[int]] = []
    for n in sorted(set(numbers)):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    words = [f"{a}" if a == b else f"{a}-{b}" for a, b in runs]
    single = len(runs) == 1 and runs[0][0] == runs[0][1]
    return f"{'round' if single else 'rounds'} {', '.join(words)}"


def aligned(rows: list[list[str]]) -> Iterator[str]:
    """Yield the rows with their columns under each other; wider ones than a page are wrapped."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()
