"""Which nodes are next? The first of the deepest level that are still of use to the root.

A node of which nothing is known is of use if its parent is, so parents are asked: those that are
of none are marked, and all their children are left out. With rounds a level is gone through several
times: first for the first children of its parents, then for their next ones, so that parents are
asked again in between; `last_rounds` says of which levels. A search of several depths begins the
next one here.
Device twins: ``kernels/games/ngtsg/select.cl`` and, by many workgroups,
``kernels/games/ngtsg/select_by_groups.cl``.
"""

from reference_py.games.ngtsg.deepening import next_depth
from reference_py.games.ngtsg.parameters import MOST_CHILDREN
from reference_py.games.ngtsg.tree import DOOMED, batch_level, horizon, is_dead, is_done


def select_batch(p, game, tick):
    """List the nodes of the batch, and say where the part of the level ends that they are from."""
    if p.deepening:
        next_depth(p, game, tick)
    level = batch_level(game)
    if level is None:
        return
    most = _most(p, game, level)
    start = p.starts[level]
    first, end = start + int(game.taken[level]), start + int(game.counts[level])
    chosen = [first] if level == 0 else _of_parents(p, game, level, first, end, most)
    while not chosen and p.rounds and game.round[level] < p.last_rounds[level]:
        game.round[level] += 1
        first = start
        chosen = _of_parents(p, game, level, first, end, most)
    game.batch_first = first
    game.batch[: len(chosen)] = chosen
    game.batch_size = len(chosen)
    game.batch_end = chosen[-1] + 1 if len(chosen) == most else end


def _most(p, game, level):
    """Return the most nodes of a batch of a level; of the leftmost line it may be one."""
    if p.principal_variation and not game.taken[level] and (game.taken[:level] == 1).all():
        return 1
    return p.most_leaves if level == horizon(p, game) else p.most_by_level[level]


def _of_parents(p, game, level, first, end, most):
    """Return the first nodes of use among some consecutive ones, at most ``most``."""
    chosen = []
    at = int(game.round[level]) if p.rounds else 0
    low, high = p.ranks[at], MOST_CHILDREN
    if at < p.last_rounds[level]:
        high = p.ranks[at + 1]
    parent = int(game.parents[first])
    last = int(game.parents[end - 1])
    while parent <= last and len(chosen) < most:
        begin, count = int(game.first_child[parent]), int(game.child_count[parent])
        pending = range(max(begin + low, first), begin + min(high, count))
        if pending:
            if is_done(game.states[parent]):
                pass
            elif is_dead(p, game, parent):
                game.states[parent] = DOOMED
            else:
                chosen += pending[: most - len(chosen)]
        parent += 1
    return chosen
