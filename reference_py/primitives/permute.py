"""How are 0 .. n-1 put in a random order, or divided into random pairs?

Fisher and Yates (R. Durstenfeld, "Algorithm 235: Random permutation", 1964).
Device twin: ``kernels/primitives/permute.cl``, where ``NONE`` stands for None; both draw the same.
"""

from reference_py.primitives.rng import Rng


def random_permutation(rng: Rng, n: int) -> list[int]:
    """The numbers 0 .. n-1, every order equally likely; one bounded draw for each after the first.

    The last place is drawn first, from all; n <= 1 draws nothing.
    """
    order = list(range(n))
    for last in range(n - 1, 0, -1):
        place = rng.below(last + 1)
        order[last], order[place] = order[place], order[last]
    return order


def random_matching(rng: Rng, n: int) -> list[int | None]:
    """Partner of each of 0 .. n-1, every perfect matching equally likely.

    Entries 2 p and 2 p + 1 of a random permutation are partners. For odd n the last of the
    permutation is left, with partner None.
    """
    order = random_permutation(rng, n)
    partner: list[int | None] = [None] * n
    for first, second in zip(order[::2], order[1::2], strict=False):
        partner[first], partner[second] = second, first
    return partner
