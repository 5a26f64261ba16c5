"""In which order are runs computed, so that a stopped study has equally many of each point?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from societies.sweep.points import Bucket

ROUNDS = 4
"""Largest number of rounds in which the buckets take turns. If there are more buckets than programs
that a process caches, each round builds the program of each bucket again."""


def in_turn(
    queues: Sequence[tuple[Bucket, list[int]]],
    replicate: NDArray[np.int64] | None,
    least: int,
) -> Iterator[tuple[Bucket, list[int]]]:
    """Yield runs of one bucket after the other, replicate 0 of all points before replicate 1.

    Parameters
    ----------
    queues : rows of the runs of each bucket
    replicate : (row,) number of the replicate; None if those of a point must stay together, because
        the copies of a launch have successive numbers
    least : fewest runs of a turn
    """
    longest = max((len(own) for _, own in queues), default=0)
    size = max(least, -(-longest // ROUNDS))
    ordered = [
        (bucket, own if replicate is None else sorted(own, key=lambda row: (replicate[row], row)))
        for bucket, own in queues
    ]
    for first in range(0, longest, size):
        for bucket, own in ordered:
            if part := own[first : first + size]:
                yield bucket, part
