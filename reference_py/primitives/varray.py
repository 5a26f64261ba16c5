"""Which registered item is chosen at random, whatever the order of registration?

On the device items are appended to a variable-length array in any order (here: a list).
Device twin: ``kernels/primitives/varray.cl``, where ``NONE`` stands for None.
"""

from collections.abc import Iterable

from reference_py.primitives.rng import Rng


def choose_among(rng: Rng, items: Iterable[int]) -> int | None:
    """One of the distinct items with equal probability; None for none; one draws nothing."""
    ranked = sorted(items)
    return ranked[rng.below(len(ranked))] if ranked else None
