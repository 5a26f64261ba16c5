"""Which keys beyond the published search contradict each other, or do nothing?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from societies.config.model import Conflict

PRUNING = (("pruning",),)


def refinements(config: Any) -> Iterator[Conflict]:
    """Yield what contradicts itself among the keys that have a search visit fewer nodes."""
    if config.pruning == "none":
        for name in ("rounds", "principal_variation", "deepening", "aspiration"):
            if getattr(config, name):
                yield Conflict(
                    (name,), "it only changes what is pruned, and pruning is none", PRUNING
                )
    rounds = tuple(config.rounds)
    for i, (before, number) in enumerate(pairwise(rounds), 1):
        if number <= before:
            yield Conflict(("rounds", i), f"{number} after {before}; the numbers ascend")
            break
    near, branches = config.batch.near_root, config.batch.branches
    for i, most in enumerate(near):
        if most > branches:
            path = ("batch", "near_root", i)
            message = f"{most} nodes; batch.branches allows {branches}"
            yield Conflict(path, message, (("batch", "branches"),))
    if len(near) > config.depth:
        yield Conflict(
            ("batch", "near_root"),
            f"{len(near)} levels; above the leaves there are {config.depth}",
            (("depth",),),
        )
    if config.deepening and config.deepening >= config.depth:
        yield Conflict(
            ("deepening",),
            f"{config.deepening} plies less than {config.depth} is no depth",
            (("depth",),),
        )
    if config.aspiration and not config.deepening:
        yield Conflict(
            ("aspiration",),
            "the window is laid around the value of the depth before; deepening is 0",
            (("deepening",),),
        )


def idle(config: Any) -> Iterator[Conflict]:
    """Yield keys that do nothing beside others."""
    if config.principal_variation and config.rounds[:1] == (1,):
        yield Conflict(
            ("principal_variation",), "rounds that begin with 1 search the leftmost line first, too"
        )
