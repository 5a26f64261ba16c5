"""How is a search of Kalah divided: which plies breadth first in stages, which in the last phase?

A stage expands a batch of boards of one level by some plies, breadth first. The next stage expands
the resulting level, batch after batch. After the last stage a separate phase searches the last
plies below each board. No board has more moves than a side has pits, so the memory of a batch has
an upper bound that is known in advance; a level that does not fit only needs more batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from reference_py.games.kalah.parameters import Parameters

LEAST_BOARDS, DEFAULT_BOARDS, MOST_BOARDS = 64, 2**18, 2**20
"""Boards of a level in memory: the minimum, the default without a GPU, the maximum on a GPU."""


@dataclass(frozen=True)
class Stage:
    """A number of plies that are expanded breadth first from a level, batch by batch."""

    level: int
    plies: int
    batch: int

    @property
    def end(self) -> int:
        """The level after the stage's last ply."""
        return self.level + self.plies


@dataclass(frozen=True)
class SearchLevels:
    """How the search of one depth is divided.

    Attributes
    ----------
    stages : in order; the first begins at level 0
    last : plies that the last phase searches below each board
    starts : index of the first board of each level in memory
    bounds : largest number of boards of each level that are in memory at a time
    """

    stages: tuple[Stage, ...]
    last: int
    starts: tuple[int, ...]
    bounds: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of boards of all levels together, for which memory is allocated."""
        return self.starts[-1] + self.bounds[-1]


@lru_cache(maxsize=256)
def search_levels(p: Parameters, depth: int) -> SearchLevels:
    """Return how the search of a depth is divided."""
    if p.form == "layers":
        pre, seq, last = shortened(p.split, depth)
        stages = (*_stages(p, 0, pre), *_stages(p, pre, seq)) if pre else _stages(p, 0, seq)
    else:
        last = depth if depth <= p.alone else min(depth, p.plies)
        stages = _stages(p, 0, depth - last)
    stages = tuple(stages)
    bounds = [1]
    for stage in stages:
        bounds += [stage.batch * p.pits**ply for ply in range(1, stage.plies + 1)]
    starts = [sum(bounds[:level]) for level in range(len(bounds))]
    return SearchLevels(stages, last, tuple(starts), tuple(bounds))


def shortened(split: tuple[int, int, int], depth: int) -> tuple[int, int, int]:
    """Return the plies (PRE, SEQ, last) of a smaller depth: SEQ becomes shorter first, then PRE."""
    pre, seq, par = split
    fewer = pre + seq + par - 1 - depth
    plies = []
    for own in (seq, pre, par - 1):
        less = min(own, fewer)
        plies.append(own - less)
        fewer -= less
    return plies[1], plies[0], plies[2]


def _stages(p: Parameters, level: int, plies: int) -> Iterator[Stage]:
    """Yield the stages for some plies from a level; the first takes one board at a time."""
    fit = 0  # plies below one board whose boards fit the memory
    while fit < plies and p.pits ** (fit + 1) <= p.boards:
        fit += 1
    yield Stage(level, fit, 1)
    level, plies, above = level + fit, plies - fit, p.pits**fit
    while plies:
        take = plies if plies <= fit else max(1, fit // 2)
        batch = min(above, p.boards // p.pits**take)
        yield Stage(level, take, batch)
        level, plies, above = level + take, plies - take, batch * p.pits**take
