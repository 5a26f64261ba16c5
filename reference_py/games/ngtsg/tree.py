"""What is known of a node, and is it still of any use to the root?

The nodes of a level stand one after another, in the order in which a walk depth first comes to
them; those of each level have memory of their own. Device twin: ``kernels/games/ngtsg/tree.cl``.
"""

from reference_py.games.ngtsg.parameters import NOTHING

PENDING, EXPANDED, DOOMED, CLOSED, CUT = range(5)
"""States of a node: not looked at yet; has children; found to be of no use while a batch
was selected, which `close_batch` has yet to pass on; done, its value is exact; done, its value is
only a bound, or it was never looked at."""


def is_root(node):
    """Return whether a node has no parent: the root is the first of all."""
    return node == 0


def is_done(state):
    """Return whether nothing that happens below a node matters any more."""
    return state >= DOOMED


def is_dead(p, game, node):
    """Return whether no value of a node can change the root's: its window is empty.

    What its own side is sure of, here or at an ancestor, is not less than what the other side
    allows; or an ancestor is done with. Above the root is the window that the search was given.
    """
    if not p.prune:
        return False
    low, high = int(game.best[node]), -NOTHING
    own = False  # whether the node that is looked at has the same side to move
    while not is_root(node):
        node = int(game.parents[node])
        if is_done(game.states[node]):
            return True
        best = int(game.best[node])
        if own:
            low = max(low, best)
        else:
            high = min(high, -best)
        own = not own
    below, above = root_window(p, game)
    if own:  # the root's side is the other one
        below, above = -above, -below
    return max(low, below) >= min(high, above)


def root_window(p, game):
    """Return what the value of the root has to be more than, and less than."""
    return (int(game.low), int(game.high)) if p.aspiration else (NOTHING, -NOTHING)


def is_missed(p, game):
    """Return whether the value of a root that is done with is outside of the window."""
    low, high = root_window(p, game)
    value = int(game.best[0])
    return (low > NOTHING and value <= low) or (high < -NOTHING and value >= high)


def horizon(p, game):
    """Return the level of the leaves."""
    return int(game.horizon) if p.deepening else p.depth


def pass_on(game, node):
    """Let the parent of a node that is done with know its value, if there is one."""
    parent, best = int(game.parents[node]), int(game.best[node])
    if best != NOTHING:
        game.best[parent] = max(int(game.best[parent]), -best)
    game.open_children[parent] -= 1


def batch_level(game):
    """Return the level of the batch; None: the search is over, or has not begun again."""
    level = int(game.level)
    return level if level < len(game.counts) else None
