"""What are sums and other totals of an array, with the same bits for every workgroup size?

A floating-point sum depends on the order of addition, so the order is part of the definition.
Totals of whole numbers do not; they are here for their results on an empty array.
Device twin: ``kernels/primitives/reduce.cl``.
"""

import math
from collections.abc import Sequence


def reduce_sum(values: Sequence[float]) -> float:
    """Sum in a fixed tree: neighbours pairwise, an odd last one carried up; 0.0 for none."""
    level = [float(v) for v in values]
    while len(level) > 1:
        pairs = [level[i] + level[i + 1] for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0] if level else 0.0


def reduce_min(values: Sequence[float]) -> float:
    """Smallest value, the first of equal ones; NaN only if all are; infinity for none."""
    if not values:
        return math.inf
    return min((v for v in values if v == v), default=math.nan)


def reduce_max(values: Sequence[float]) -> float:
    """Largest value, the first of equal ones; NaN only if all are; -infinity for none."""
    if not values:
        return -math.inf
    return max((v for v in values if v == v), default=math.nan)


def reduce_sum_long(values: Sequence[int]) -> int:
    """Sum modulo 2**64 as a signed number."""
    return (sum(values) + 2**63) % 2**64 - 2**63


def reduce_min_long(values: Sequence[int]) -> int:
    """Smallest value; 2**63 - 1 for none."""
    return min(values, default=2**63 - 1)


def reduce_max_long(values: Sequence[int]) -> int:
    """Largest value; -2**63 for none."""
    return max(values, default=-(2**63))


def reduce_sum_uint(values: Sequence[int]) -> int:
    """Sum modulo 2**32."""
    return sum(values) % 2**32


def reduce_min_uint(values: Sequence[int]) -> int:
    """Smallest word; 2**32 - 1 for none."""
    return min(values, default=2**32 - 1)


def reduce_max_uint(values: Sequence[int]) -> int:
    """Largest word; 0 for none."""
    return max(values, default=0)


def reduce_count(flags: Sequence[int]) -> int:
    """Number of flags that are not 0."""
    return sum(1 for flag in flags if flag)


def reduce_any(flags: Sequence[int]) -> bool:
    """True if any flag is not 0; False for none."""
    return any(flags)


def reduce_all(flags: Sequence[int]) -> bool:
    """True if no flag is 0; True for none."""
    return all(flags)
