"""Which nodes are done with, now that the batch is?

Those whose children are all closed, and those that are of no use any more. Only ancestors of the
part of the level that was gone through can be, level by level towards the root. Of each level all
nodes are judged by the same values, whatever their order; so what becomes known of one of them on
the way counts for the others in a second pass. Every node but the last of each level is then as if
the nodes of the batch had been closed one after the other (docs/write-a-search.md says why). Levels
that are done with are dropped at the end.
Device twins: ``kernels/games/ngtsg/close.cl`` and, by many workgroups,
``kernels/games/ngtsg/close_by_groups.cl``.
"""

from reference_py.games.ngtsg.compact import compact_levels
from reference_py.games.ngtsg.tree import (
    CLOSED,
    CUT,
    DOOMED,
    EXPANDED,
    batch_level,
    is_dead,
    is_root,
    pass_on,
)

PASSES = 2


def close_batch(p, game, tick):
    """Close the ancestors of the batch that are done with, twice from below to the root."""
    level = batch_level(game)
    if level is None:
        return
    for _ in range(PASSES):
        first, last = int(game.batch_first), int(game.batch_end) - 1
        for _ in range(level):
            first, last = int(game.parents[first]), int(game.parents[last])
            done = {node: _done(p, game, node) for node in range(first, last + 1)}
            for node, state in done.items():
                if state != game.states[node]:
                    game.states[node] = state
                    if not is_root(node):
                        pass_on(game, node)
    compact_levels(p, game, tick)


def _done(p, game, node):
    """Return the state of a node, new if it is done with now."""
    state = int(game.states[node])
    if state == DOOMED:
        return CUT
    if state != EXPANDED:
        return state
    if is_dead(p, game, node):
        return CUT
    return EXPANDED if game.open_children[node] else CLOSED
