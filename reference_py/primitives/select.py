"""Which entries of an array are the largest or smallest, without those that are masked?

Candidates are unmasked and not NaN. Larger (smaller) values come first, equal ones by index.
Device twin: ``kernels/primitives/select.cl``, where ``NONE`` stands for None.
"""

from collections.abc import MutableSequence, Sequence

from reference_py.primitives.rng import Rng


def extreme_max(values: Sequence[float], mask: Sequence[bool] | None = None) -> int | None:
    """Index of the largest unmasked value, or None."""
    order = ordered(values, mask, largest=True)
    return order[0] if order else None


def extreme_min(values: Sequence[float], mask: Sequence[bool] | None = None) -> int | None:
    """Index of the smallest unmasked value, or None."""
    order = ordered(values, mask, largest=False)
    return order[0] if order else None


def extreme_max_random(
    rng: Rng, values: Sequence[float], mask: Sequence[bool] | None = None
) -> int | None:
    """Index of a largest unmasked value, each of the equals with the same chance, or None.

    One bounded draw where there is a choice, else none.
    """
    return one_of_the_first(rng, values, ordered(values, mask, largest=True))


def extreme_min_random(
    rng: Rng, values: Sequence[float], mask: Sequence[bool] | None = None
) -> int | None:
    """Index of a smallest unmasked value, each of the equals with the same chance, or None.

    One bounded draw where there is a choice, else none.
    """
    return one_of_the_first(rng, values, ordered(values, mask, largest=False))


def n_largest(values: Sequence[float], mask: MutableSequence[bool], k: int) -> list[int | None]:
    """Indices of the k largest unmasked values in order, None where no candidate is left.

    The mask entries of the winners become True.
    """
    return first(ordered(values, mask, largest=True), mask, k)


def n_smallest(values: Sequence[float], mask: MutableSequence[bool], k: int) -> list[int | None]:
    """Indices of the k smallest unmasked values in order, None where no candidate is left.

    The mask entries of the winners become True.
    """
    return first(ordered(values, mask, largest=False), mask, k)


def ordered(values: Sequence[float], mask: Sequence[bool] | None, *, largest: bool) -> list[int]:
    """All candidates in order; the sort is stable, so equal values stay in order of index."""
    candidates = [i for i, v in enumerate(values) if v == v and not (mask is not None and mask[i])]
    return sorted(candidates, key=lambda i: -values[i] if largest else values[i])


def one_of_the_first(rng: Rng, values: Sequence[float], order: list[int]) -> int | None:
    """Return a random one of the elements that are equal to the first, None if there are none."""
    equals = [i for i in order if values[i] == values[order[0]]]
    return equals[rng.below(len(equals))] if equals else None


def first(order: list[int], mask: MutableSequence[bool], k: int) -> list[int | None]:
    """The first k of an order, padded with None, and marked in the mask."""
    winners = order[:k]
    for i in winners:
        mask[i] = True
    return winners + [None] * (k - len(winners))
