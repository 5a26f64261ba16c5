"""Which nodes are next? The first of the deepest level that are still of use to the root.

A node of which nothing is known is of use if its parent is, so parents are asked: those that are
of none are marked, and all their children are left out.
Device twin: ``kernels/games/ngtsg/select.cl``.
"""

from reference_py.games.ngtsg.tree import DOOMED, batch_level, is_dead, is_done


def select_batch(p, game, tick):
    """List the nodes of the batch, and say where the part of the level ends that they are from."""
    level = batch_level(game)
    if level is None:
        return
    most = p.most_leaves if level == p.depth else p.most_branches
    start = p.starts[level]
    first, end = start + int(game.taken[level]), start + int(game.counts[level])
    game.batch_first = first
    chosen = [first] if level == 0 else _of_parents(p, game, first, end, most)
    game.batch[: len(chosen)] = chosen
    game.batch_size = len(chosen)
    game.batch_end = chosen[-1] + 1 if len(chosen) == most else end


def _of_parents(p, game, first, end, most):
    """Return the first nodes of use among some consecutive ones, at most so many."""
    chosen = []
    parent = int(game.parents[first])
    last = int(game.parents[end - 1])
    while parent <= last and len(chosen) < most:
        begin = int(game.first_child[parent])
        pending = range(max(begin, first), begin + int(game.child_count[parent]))
        if pending:
            if is_done(game.states[parent]):
                pass
            elif is_dead(p, game, parent):
                game.states[parent] = DOOMED
            else:
                chosen += pending[: most - len(chosen)]
        parent += 1
    return chosen
