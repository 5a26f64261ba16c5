"""How are keys sorted with their payload? The order is total, so every method has one result.

By key, ascending or descending; equal keys (also +0 and -0) ascending by payload, then by the bits
of the key. NaN come last in both directions. With payload i for entry i the sort is stable.
Device twin: ``kernels/primitives/sort.cl``, which works in place.
"""

from collections.abc import Sequence

from reference_py.primitives.softmath import bits_of


def sort_keys(
    keys: Sequence[float], payload: Sequence[int], *, descending: bool = False
) -> tuple[list[float], list[int]]:
    """Keys and payload in order of the keys."""

    def place(i: int) -> tuple[bool, float, int, int]:
        key = keys[i]
        if key != key:
            return True, 0.0, payload[i], bits_of(key)
        return False, -key if descending else key, payload[i], bits_of(key)

    order = sorted(range(len(keys)), key=place)
    return [keys[i] for i in order], [payload[i] for i in order]


def sort_keys_uint(
    keys: Sequence[int], payload: Sequence[int], *, descending: bool = False
) -> tuple[list[int], list[int]]:
    """Keys and payload in order of the keys, which are 32-bit words."""
    order = sorted(
        range(len(keys)), key=lambda i: (-keys[i] if descending else keys[i], payload[i])
    )
    return [keys[i] for i in order], [payload[i] for i in order]
