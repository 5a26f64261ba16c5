"""What are the running sums of an array, and which flags are set, in order of index?

Sums are modulo 2**32. Device twin: ``kernels/primitives/scan.cl``, which works in place.
"""

from collections.abc import Sequence


def scan_exclusive(values: Sequence[int]) -> tuple[list[int], int]:
    """Sums of everything before each entry, and the total."""
    sums = []
    total = 0
    for value in values:
        sums.append(total)
        total = (total + value) % 2**32
    return sums, total


def scan_inclusive(values: Sequence[int]) -> tuple[list[int], int]:
    """Sums up to and with each entry, and the total."""
    sums = []
    total = 0
    for value in values:
        total = (total + value) % 2**32
        sums.append(total)
    return sums, total


def compact(flags: Sequence[int]) -> list[int]:
    """Indices of the flags that are not 0, ascending."""
    return [i for i, flag in enumerate(flags) if flag]
