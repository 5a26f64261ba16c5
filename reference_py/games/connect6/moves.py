"""Which turns are tried, in which order?

C6-M1. A turn is a word: its first point, and in the upper half the second one.
Device twins: ``kernels/games/connect6/moves.cl``, and by many work-items
``kernels/games/connect6/together.cl``.
"""

from functools import lru_cache

from reference_py.games.connect6.classes import SHORTEST, SIX, WINDOW, kind_of
from reference_py.games.connect6.evaluate import sides
from reference_py.games.connect6.geometry import (
    DIRECTIONS,
    NONE,
    POINTS,
    SIDE,
    edge_distance,
    line_of,
    lines_with,
    points_of_bits,
    put_stone,
    segment,
    segment_at,
)

ATTACK = (0, 4, 15, 40, 80, 150, 800, 2000, 15000)
DEFENCE = (0, 3, 12, 30, 60, 3000, 6000, 9000, 9000)
"""What a segment is worth by its class: to who extends it, to who splits it."""

REACH = 3
"""Steps from a stone to a candidate."""

IMMEDIATE = 30000
"""Score of a turn that completes six."""

NEAR = 4
"""Stones in a window of six that can be completed in a turn."""

CENTRE = POINTS // 2
RAYS = tuple((r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if r or c)


def turn_of(first, second=NONE):
    """Return the word of a turn."""
    return first | second << 16


def branch(p, position):
    """Return the turns of a position in their order; none if the game is over."""
    return [turn_of(first, second) for _, first, second in scored_turns(p, *sides(position))]


def scored_turns(p, own, other):
    """Return the turns with their scores: (score, first point, second point)."""
    if not own | other:
        return [(0, CENTRE, NONE)]
    mine, others = lines_with(own), lines_with(other)
    if not p.full_width:
        if any_six(own, mine, others) or any_six(other, others, mine):
            return []
        won = immediate_win(own, other)
        if won:
            return [(IMMEDIATE, *won)]
    return pairs(p, own | other, mine, others)


def any_six(stones, own, other):
    """Return whether a side has six in a row."""
    return any(
        kind_of(*segment(own, other, direction, point)[1:]) == SIX
        for point in points_of_bits(stones)
        for direction in range(len(DIRECTIONS))
    )


@lru_cache(maxsize=1)
def all_windows():
    """Return all windows of six points, as sets of bits."""
    found = []
    for rows, columns in DIRECTIONS:
        for point in range(POINTS):
            row, column = divmod(point, SIDE)
            far = column + (WINDOW - 1) * columns
            if row + (WINDOW - 1) * rows < SIDE and 0 <= far < SIDE:
                step = rows * SIDE + columns
                found.append(sum(1 << (point + i * step) for i in range(WINDOW)))
    return tuple(found)


def immediate_win(own, other):
    """Return the first two points that complete six, or None.

    Windows are tried by direction, then by their first point.
    """
    for window in all_windows():
        if window & other or (window & own).bit_count() < NEAR:
            continue
        empty = points_of_bits(window & ~own)
        if len(empty) == 2:
            return tuple(empty)
        if len(empty) == 1:
            free = (at for at in range(POINTS) if not (own | other) >> at & 1)
            return empty[0], next((at for at in free if at != empty[0]), NONE)
    return None


def candidates(stones):
    """Return the empty points near a stone, ascending: no other stone is between."""
    found = set()
    for point in points_of_bits(stones):
        row, column = divmod(point, SIDE)
        for rows, columns in RAYS:
            for step in range(1, REACH + 1):
                r, c = row + step * rows, column + step * columns
                if not (0 <= r < SIDE and 0 <= c < SIDE) or stones >> (r * SIDE + c) & 1:
                    break
                found.add(r * SIDE + c)
    return sorted(found)


def single_score(mine, others, point):
    """Return the score of a single stone on an empty point."""
    score = edge_distance(point) + 1
    for direction in range(len(DIRECTIONS)):
        number, length, place = line_of(point, direction)
        own, other = mine[direction][number], others[direction][number]
        first, size, mask = segment_at(own, other, length, place)
        if size >= SHORTEST:
            after = mask | 1 << (place - first)
            score += ATTACK[kind_of(size, after)] - ATTACK[kind_of(size, mask)]
        first, size, mask = segment_at(other, own, length, place)
        if size >= SHORTEST:
            left = place - first
            pieces = (left, mask & ((1 << left) - 1)), (size - left - 1, mask >> (left + 1))
            score += DEFENCE[kind_of(size, mask)] - max(DEFENCE[kind_of(*one)] for one in pieces)
    return score


def pairs(p, stones, mine, others):
    """Return the best pairs of the best single points."""
    scored = [(single_score(mine, others, point), point) for point in candidates(stones)]
    best = sorted(scored, key=lambda one: (-one[0], one[1]))[: p.singles]
    if len(best) < 2:
        return [(score, point, NONE) for score, point in best]
    turns = []
    for i, (score, first) in enumerate(best):
        put_stone(mine, first)
        for _, second in best[i + 1 :]:
            turns.append((score + single_score(mine, others, second), first, second))
        put_stone(mine, first)
    turns.sort(key=lambda turn: -turn[0])
    return turns[: p.width]
