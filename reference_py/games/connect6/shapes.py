"""Which shapes does a side have, and how do they cross?

Device twin: ``kernels/games/connect6/shapes.cl``.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations

from reference_py.games.connect6.classes import (
    D3,
    L2,
    L3,
    NOTHING,
    SHORTEST,
    T1,
    T2,
    T3,
    THREATS_SHIFT,
    entry_of,
    key_points,
)
from reference_py.games.connect6.geometry import (
    DIRECTIONS,
    edge_distance,
    line_of,
    point_at,
    points_of_bits,
    segment_at,
)

CROSSING = (L2, D3, L3, T1, T2, T3)
"""Classes whose segments count where they share a stone."""

MEETING = (L2, D3, L3)
"""Classes whose segments count where they share an empty key point."""


@dataclass
class Shapes:
    """What is counted of a side.

    Attributes
    ----------
    of : segments of each class
    threats : stones that are needed to stop all segments
    stones : own stones shared by two segments, by their classes
    keys : empty key points shared by two segments, by their classes
    centre : distances of the stones to the edge, added up
    """

    of: Counter = field(default_factory=Counter)
    threats: int = 0
    stones: Counter = field(default_factory=Counter)
    keys: Counter = field(default_factory=Counter)
    centre: int = 0

    def link(self, one, other):
        """Return how often segments of two classes share a stone or a key point."""
        pair = tuple(sorted((one, other)))
        return self.stones[pair] + self.keys[pair]

    @property
    def crossings(self):
        """Stones shared by two segments, whatever these are: X."""
        return sum(self.stones.values())


def shapes_of(stones, own, other):
    """Return what a side has: its points as bits, and the lines of both sides."""
    found, keys = Shapes(), {}
    for point in points_of_bits(stones):
        found.centre += edge_distance(point)
        kinds = []
        for direction in range(len(DIRECTIONS)):
            number, length, place = line_of(point, direction)
            mine = own[direction][number]
            first, size, mask = segment_at(mine, other[direction][number], length, place)
            entry = entry_of(size, mask)
            kind = entry & ((1 << THREATS_SHIFT) - 1)
            if kind == NOTHING:
                continue
            if kind in CROSSING:
                kinds.append(kind)
            if mask & ((1 << (place - first)) - 1):
                continue  # a stone before this one has counted the segment
            found.of[kind] += 1
            found.threats += entry >> THREATS_SHIFT
            if kind in MEETING and size >= SHORTEST:
                for key in points_of_bits(key_points(size, mask)):
                    at = point_at(direction, number, first + key)
                    keys.setdefault(at, []).append(kind)
        found.stones.update(tuple(sorted(pair)) for pair in combinations(kinds, 2))
    for at in keys.values():
        found.keys.update(tuple(sorted(pair)) for pair in combinations(at, 2))
    return found
