"""Where does a search begin? At its root, the only node of level 0.

Device twin: ``kernels/games/ngtsg/begin.cl``.
"""

from reference_py.games.ngtsg.parameters import NO_MOVE, NOTHING
from reference_py.games.ngtsg.tree import PENDING


def begin_search(p, game, tick):
    """Place the root, and count from nothing."""
    game.positions[0] = p.roots[game.index % len(p.roots)]
    game.moves[0], game.parents[0] = NO_MOVE, 0
    game.best[0], game.states[0] = NOTHING, PENDING
    game.first_child[0] = game.child_count[0] = game.open_children[0] = 0
    game.counts[:] = 0
    game.counts[0] = 1
    game.taken[:] = game.visited[:] = 0
    game.level = 0
    game.branch_batches = game.leaf_batches = game.leaves = game.shortened = 0
    game.peak = 1
    game.value, game.move = 0, NO_MOVE
    game.as_good = game.perhaps_as_good = 0
