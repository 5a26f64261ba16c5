"""To which depth is the root searched, and in which order are its moves tried?

One depth after the other is searched, each from nothing. What remains of one is the order of the
root's moves, best first, and the value, around which the window of the next depth may be laid.
Where a value is outside of its window, the same depth is searched again with a window that has it.
Device twin: ``kernels/games/ngtsg/deepening.cl``.
"""

from reference_py.games.ngtsg.parameters import NEXT_DEPTH, NO_MOVE, NOTHING
from reference_py.games.ngtsg.tree import PENDING, horizon, is_missed, root_window


def first_depth(p, game, tick):
    """Begin with the least depth, the game's own order of moves and no window."""
    game.horizon = p.depths[0]
    game.root_moves[0] = NO_MOVE
    game.repeated = 0
    if p.aspiration:
        game.low, game.high = NOTHING, -NOTHING


def order_root(p, game, tick):
    """Order the moves of the root as the last search left them, if there was one."""
    if game.level == 0 and horizon(p, game) and game.root_moves[0] != NO_MOVE:
        count = int(game.batch_counts[0])
        game.batch_moves[0, :count] = game.root_moves[:count]


def next_depth(p, game, tick):
    """Begin with the root again, once it is closed and the search is not over."""
    if game.level != NEXT_DEPTH:
        return
    first, count = int(game.first_child[0]), int(game.child_count[0])
    values = [_value(game, child) for child in range(first, first + count)]
    order = sorted(range(count), key=lambda child: -values[child])  # equal ones as they were
    game.root_moves[:count] = [game.moves[first + child] for child in order]
    if is_missed(p, game):
        game.repeated += 1
        game.low, game.high = _wider(p, game)
    else:
        game.horizon += p.deepening
        if p.aspiration:
            value = int(game.best[0])
            game.low = max(value - p.aspiration, NOTHING)
            game.high = min(value + p.aspiration, -NOTHING)
    game.best[0], game.states[0] = NOTHING, PENDING
    game.first_child[0] = game.child_count[0] = game.open_children[0] = 0
    game.counts[:] = game.taken[:] = 0
    game.counts[0] = 1
    game.level = 0


def _value(game, child):
    """Return what a child is worth to the root, or at most; nothing is known of some."""
    best = int(game.best[child])
    return NOTHING if best == NOTHING else -best


def _wider(p, game):
    """Return the window on the side of the old one on which the value lies."""
    low, high = root_window(p, game)
    return (NOTHING, low + 1) if int(game.best[0]) <= low else (high - 1, -NOTHING)
