"""Which levels are done with, which one is next, and what is the answer once the root is closed?

Device twin: ``kernels/games/ngtsg/compact.cl``.
"""

from reference_py.games.ngtsg.parameters import NEXT_DEPTH, NO_LEVEL, NO_MOVE, NOTHING
from reference_py.games.ngtsg.tree import CLOSED, CUT, batch_level, horizon, is_done, is_missed


def compact_levels(p, game, tick):
    """Give the memory of finished levels back, and find the deepest one with pending nodes.

    A level is finished when it was gone through in all rounds. A root that is closed is searched
    again if its value is outside of the window, or if that was not the last depth.
    """
    if batch_level(game) is None:
        return
    game.leaves += int(game.batch_leaves)
    if is_done(game.states[0]) and (horizon(p, game) < p.depth or is_missed(p, game)):
        game.level = NEXT_DEPTH
        return
    if is_done(game.states[0]):
        game.ended, game.level = tick, NO_LEVEL
        _answer(p, game)
        return
    level = p.depth
    while level > 0 and game.taken[level] == game.counts[level]:
        game.taken[level] = 0
        if game.counts[level] and _next_round(p, game, level):
            break
        game.counts[level] = 0
        level -= 1
    game.level = level


def _next_round(p, game, level):
    """Visit a level again if it has rounds left."""
    if not p.rounds or game.round[level] == p.last_rounds[level]:
        return False
    game.round[level] += 1
    return True


def _answer(p, game):
    """Keep the value of the root, its first best move, and how many are as good, or may be."""
    best = int(game.best[0])
    game.value, game.move = best, NO_MOVE
    game.as_good = game.perhaps_as_good = 0
    for child in range(int(game.first_child[0]), int(game.first_child[0] + game.child_count[0])):
        found, state = int(game.best[child]), game.states[child]
        if state == CLOSED and -found == best:
            if not game.as_good:
                game.move = game.moves[child]
            game.as_good += 1
        elif state == CUT and (found == NOTHING or -found >= best):
            game.perhaps_as_good += 1
