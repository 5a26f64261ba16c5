"""Which plies of a search are taken breadth first, which board after board, and which at the end?

A search is cut into stages. A stage takes a batch of boards of a level some plies further, breadth
first; the next stage goes on from there, batch after batch, and after the last one a phase of its
own takes each board the last plies. No board has more moves than a side has pits, so the memory of
a batch is known before it is made, and whatever does not fit is only more batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from reference_py.games.kalah.parameters import Parameters

LEAST_BOARDS, DEFAULT_BOARDS, MOST_BOARDS = 64, 2**18, 2**20
"""Boards of a level that are kept at a time: at least, without a device, and most on a GPU."""


@dataclass(frozen=True)
class Stage:
    """Plies taken breadth first from a level, with so many boards of it at a time."""

    level: int
    plies: int
    batch: int

    @property
    def end(self) -> int:
        """The level that it leads to."""
        return self.level + self.plies


@dataclass(frozen=True)
class Levels:
    """How a search of some depth is cut.

    Attributes
    ----------
    stages : one after the other, the first from level 0
    last : plies that the last phase takes each board further
    starts : where the boards of each level begin in memory
    bounds : the most boards of each level that are there at a time
    """

    stages: tuple[Stage, ...]
    last: int
    starts: tuple[int, ...]
    bounds: tuple[int, ...]

    @property
    def size(self) -> int:
        """Boards of all levels together, for which there must be memory."""
        return self.starts[-1] + self.bounds[-1]


@lru_cache(maxsize=256)
def levels(p: Parameters, depth: int) -> Levels:
    """Return how the search of a depth is cut."""
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
    return Levels(stages, last, tuple(starts), tuple(bounds))


def shortened(split: tuple[int, int, int], depth: int) -> tuple[int, int, int]:
    """Return the plies (PRE, SEQ, last) of a smaller depth: SEQ gives way first, then PRE."""
    pre, seq, par = split
    fewer = pre + seq + par - 1 - depth
    plies = []
    for own in (seq, pre, par - 1):
        less = min(own, fewer)
        plies.append(own - less)
        fewer -= less
    return plies[1], plies[0], plies[2]


def _stages(p: Parameters, level: int, plies: int) -> Iterator[Stage]:
    """Yield the stages of some plies from single boards of a level."""
    fit = 0  # plies from one board
    while fit < plies and p.pits ** (fit + 1) <= p.boards:
        fit += 1
    yield Stage(level, fit, 1)
    level, plies, above = level + fit, plies - fit, p.pits**fit
    while plies:
        take = plies if plies <= fit else max(1, fit // 2)
        batch = min(above, p.boards // p.pits**take)
        yield Stage(level, take, batch)
        level, plies, above = level + take, plies - take, batch * p.pits**take
