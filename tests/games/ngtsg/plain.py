"""A search in plain Python alone, without the platform: its phases, one after the other."""

from types import SimpleNamespace

import numpy as np

from reference_py.games.ngtsg import (
    append,
    begin,
    branch,
    close,
    deepening,
    evaluate,
    make,
    select,
)
from reference_py.games.ngtsg.parameters import NO_LEVEL, SearchParameters

BY_NODE = ("moves", "parents", "first_child", "child_count", "open_children")


def parameters(depth, prune, leaves, branches, width, root, rooms=None, **keys):
    """Return the parameters of a search with room for all nodes, or for a number a level."""
    capacities = [1]
    for _ in range(depth):
        capacities.append(rooms or min(branches, capacities[-1]) * width)
    return SearchParameters(
        depth, prune, leaves, branches, tuple(capacities), width, len(root), (tuple(root),), **keys
    )


def searched(rules, p):
    """Return the state of a game when its search is over."""
    game = SimpleNamespace(
        index=0, ended=-1, **{name: np.zeros(p.nodes, np.uint32) for name in BY_NODE}
    )
    game.positions = np.zeros((p.nodes, p.words), np.uint32)
    game.best, game.states = np.zeros(p.nodes, np.int32), np.zeros(p.nodes, np.uint8)
    for name in ("counts", "taken", "visited", "round"):
        setattr(game, name, np.zeros(p.depth + 1, np.int64))
    for name in ("batch", "batch_counts", "batch_offsets"):
        setattr(game, name, np.zeros(p.batch, np.uint32))
    game.batch_moves = np.zeros((p.batch, p.width), np.uint32)
    game.root_moves = np.zeros(p.width, np.uint32)
    begin.begin_search(p, game, 0)
    if p.deepening:
        deepening.first_depth(p, game, 0)
    superstep = 0
    while game.level != NO_LEVEL:
        superstep += 1
        select.select_batch(p, game, superstep)
        branch.branch_batch(rules, p, game, superstep)
        append.append_children(p, game, superstep)
        make.make_children(rules, p, game, superstep)
        evaluate.evaluate_batch(rules, p, game, superstep)
        close.close_batch(p, game, superstep)
    return game
