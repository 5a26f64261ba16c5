"""What do the positions after the moves of a batch look like?

Device twin: ``kernels/games/ngtsg/make.cl``.
"""

from reference_py.games.ngtsg.parameters import NOTHING
from reference_py.games.ngtsg.tree import EXPANDED, PENDING, batch_level, horizon


def make_children(rules, p, game, tick):
    """Make the children of every node of the batch, in the order of its moves."""
    level = batch_level(game)
    if level in (None, horizon(p, game)):
        return
    for i in range(int(game.batch_size)):
        node, count = int(game.batch[i]), int(game.batch_counts[i])
        position = game.positions[node].tolist()
        first = p.starts[level + 1] + int(game.batch_offsets[i])
        game.states[node] = EXPANDED
        game.first_child[node] = first
        game.child_count[node] = game.open_children[node] = count
        for child, move in enumerate(game.batch_moves[i, :count].tolist(), first):
            game.positions[child] = rules.make(p, position, move)
            game.moves[child], game.parents[child] = move, node
            game.best[child], game.states[child] = NOTHING, PENDING
            game.first_child[child] = game.child_count[child] = game.open_children[child] = 0
