"""What are running sums, set flags and totals of rows of any length, each row by itself?

The results are those of `scan` and `reduce` for every row; the device works in blocks. A row is
one copy's array, and only its first ``length`` entries count.
Device twin: ``kernels/primitives/wide.cl``.
"""

from collections.abc import Sequence

from reference_py.primitives import reduce, scan


def count(flags: Sequence[int]) -> int:
    """Number of flags that are not 0."""
    return reduce.reduce_count(flags)


def scan_exclusive(
    rows: Sequence[Sequence[int]], lengths: Sequence[int]
) -> tuple[list[list[int]], list[int]]:
    """Sums of everything before each entry, modulo 2**32, and the total of each row."""
    sums = [scan.scan_exclusive(row[:n]) for row, n in zip(rows, lengths, strict=True)]
    return [row for row, _ in sums], [total for _, total in sums]


def compact(rows: Sequence[Sequence[int]], lengths: Sequence[int]) -> list[list[int]]:
    """Indices of the flags of each row that are not 0, ascending."""
    return [scan.compact(row[:n]) for row, n in zip(rows, lengths, strict=True)]


def reduce_sum(rows: Sequence[Sequence[float]], lengths: Sequence[int]) -> list[float]:
    """Sum of each row in the fixed tree over all of its entries."""
    return [reduce.reduce_sum(row[:n]) for row, n in zip(rows, lengths, strict=True)]


def reduce_sum_long(rows: Sequence[Sequence[int]], lengths: Sequence[int]) -> list[int]:
    """Sum of each row modulo 2**64 as a signed number."""
    return [reduce.reduce_sum_long(row[:n]) for row, n in zip(rows, lengths, strict=True)]


def reduce_max_uint(rows: Sequence[Sequence[int]], lengths: Sequence[int]) -> list[int]:
    """Largest word of each row; 0 for none."""
    return [reduce.reduce_max_uint(row[:n]) for row, n in zip(rows, lengths, strict=True)]
