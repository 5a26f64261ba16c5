"""What are leaves worth, and positions without moves, to their side to move?

Device twin: ``kernels/games/ngtsg/evaluate.cl``.
"""

from reference_py.games.ngtsg.tree import CLOSED, batch_level, horizon, is_root, pass_on


def evaluate_batch(rules, p, game, tick):
    """Close the nodes of the batch that have no children, and let their parents know."""
    level = batch_level(game)
    if level is not None and not (level == horizon(p, game) and game.batch_size < p.min_leaves):
        _evaluate(rules, p, game, level)


def evaluate_few(rules, p, game, tick):
    """Close the nodes of a batch of leaves that the CPU calculates."""
    level = batch_level(game)
    if level == horizon(p, game) and game.batch_size < p.min_leaves:
        _evaluate(rules, p, game, level)


def _evaluate(rules, p, game, level):
    for i in range(int(game.batch_size)):
        node = int(game.batch[i])
        if level == horizon(p, game) or not game.child_count[node]:
            game.best[node] = rules.evaluate(p, game.positions[node].tolist(), level)
            game.states[node] = CLOSED
            game.batch_leaves += 1
            if not is_root(node):
                pass_on(game, node)
