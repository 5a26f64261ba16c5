"""Which refinements of the published search contradict each other, and how are they described?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from reference_py.games.ngtsg.parameters import Refinements
from societies.config.model import Conflict
from societies.config.problems import Path
from societies.words import counted

NEAR_ROOT = ("batch", "near_root")


def unpruned(keys: Refinements) -> Iterator[Conflict]:
    """Yield a conflict for each key that has no effect without pruning."""
    for name in ("rounds", "principal_variation", "deepening", "aspiration"):
        if getattr(keys, name):
            message = "it only changes what is pruned, and pruning is switched off"
            yield Conflict((name,), message, (("pruning",),))


def contradictions(
    keys: Refinements, depth: int, branches: int, at: Path = (), near_root: Path = NEAR_ROOT
) -> Iterator[Conflict]:
    """Yield contradictions among the keys that make a search visit fewer nodes.

    ``branches`` is the largest batch of nodes that are not leaves; ``at`` is the path of the
    section with the keys, and ``near_root`` that of the key below it.
    """
    for i, (before, number) in enumerate(pairwise(keys.rounds), 1):
        if number <= before:
            yield Conflict((*at, "rounds", i), f"{number} after {before}; the numbers ascend")
            break
    for i, (before, level) in enumerate(pairwise(keys.rounds_at), 1):
        if level <= before:
            yield Conflict((*at, "rounds_at", i), f"{level} after {before}; the levels ascend")
            break
    if keys.rounds_at and keys.rounds_at[-1] > depth:
        message = f"level {keys.rounds_at[-1]}; the last one, of the leaves, is {depth}"
        yield Conflict((*at, "rounds_at"), message, ((*at, "depth"),))
    for i, most in enumerate(keys.near_root):
        if most > branches:
            message = f"{most} nodes; batch.branches allows {branches}"
            yield Conflict((*at, *near_root, i), message, (("batch", "branches"),))
    of_depth = ((*at, "depth"),)
    if len(keys.near_root) > depth:
        message = f"{len(keys.near_root)} levels; above the leaves there are {depth}"
        yield Conflict((*at, *near_root), message, of_depth)
    if keys.deepening and keys.deepening >= depth:
        message = f"{keys.deepening} plies less than {depth} is not a valid depth"
        yield Conflict((*at, "deepening"), message, of_depth)
    if keys.aspiration and not keys.deepening:
        message = "the window is laid around the value of the depth before; deepening is 0"
        yield Conflict((*at, "aspiration"), message, ((*at, "deepening"),))


def idle(keys: Refinements, at: Path = ()) -> Iterator[Conflict]:
    """Yield keys that have no effect because of other keys."""
    if keys.rounds_at and not keys.rounds:
        yield Conflict((*at, "rounds_at"), "no level is gone through in rounds: there are none")
    if keys.principal_variation and keys.rounds[:1] == (1,) and not keys.rounds_at:
        message = "rounds that begin with 1 search the leftmost line first, too"
        yield Conflict((*at, "principal_variation"), message)


def refinements_text(keys: Refinements, ply: str) -> list[str]:
    """Return the active keys in words; ``ply`` is the game's name for a level of the tree."""
    rounds, levels, near = (
        " ".join(map(str, numbers)) for numbers in (keys.rounds, keys.rounds_at, keys.near_root)
    )
    return [
        *([f"rounds {rounds}"] if rounds else []),
        *([f"at levels {levels}"] if levels else []),
        *(["leftmost line first"] if keys.principal_variation else []),
        *([f"deepening by {counted(keys.deepening, ply)}"] if keys.deepening else []),
        *([f"aspiration {keys.aspiration}"] if keys.aspiration else []),
        *([f"near the root {near}"] if near else []),
    ]
