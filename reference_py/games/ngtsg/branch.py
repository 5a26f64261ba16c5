"""Which moves do the nodes of a batch have?

Device twin: ``kernels/games/ngtsg/branch.cl``.
"""

from reference_py.games.ngtsg.tree import batch_level, horizon


def branch_batch(rules, p, game, tick):
    """List the moves of every node of the batch, unless these are leaves or few."""
    if batch_level(game) not in (None, horizon(p, game)) and game.batch_size >= p.min_branches:
        _branch(rules, p, game)


def branch_few(rules, p, game, tick):
    """List the moves of every node of a batch that the CPU calculates."""
    if batch_level(game) not in (None, horizon(p, game)) and game.batch_size < p.min_branches:
        _branch(rules, p, game)


def _branch(rules, p, game):
    for i in range(int(game.batch_size)):
        position = game.positions[game.batch[i]].tolist()
        moves = rules.branch(p, position)
        game.batch_moves[i, : len(moves)] = moves
        game.batch_counts[i] = len(moves)
