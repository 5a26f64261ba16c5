"""How many nodes of the batch have children for which there is room, and where do these go?

The next level is empty, as the deepest level always comes first. Where its memory is too small for
all children, the batch becomes shorter: values never depend on it, only counts do. In a search of
several depths the moves of the root are put in order before.
Device twin: ``kernels/games/ngtsg/append.cl``.
"""

from reference_py.games.ngtsg.deepening import order_root
from reference_py.games.ngtsg.tree import batch_level, horizon


def append_children(p, game, tick):
    """Give every node of the batch a place for its children; count the batch."""
    if p.deepening:
        order_root(p, game, tick)
    level, size = batch_level(game), int(game.batch_size)
    if level is None:
        return
    game.children = game.batch_leaves = 0
    if level < horizon(p, game):
        size = _placed(p, game, level, size)
        game.branch_batches += size > 0
    else:
        game.leaf_batches += size > 0
    game.batch_level_of = level
    game.taken[level] = int(game.batch_end) - p.starts[level]
    game.visited[level] += size
    game.nodes_taken = size
    game.peak = max(int(game.peak), sum(int(count) for count in game.counts))


def _placed(p, game, level, size):
    """Place the children of as many nodes as there is room for; return how many these are."""
    room, made, placed = p.capacities[level + 1], 0, 0
    for i in range(size):
        game.batch_offsets[i] = made
        made += int(game.batch_counts[i])
        placed += made <= room
    if placed < size:
        game.shortened += 1
        game.batch_size = placed
        game.batch_end = int(game.batch[placed - 1]) + 1
        made = int(game.batch_offsets[placed])
    game.children = game.counts[level + 1] = made
    if p.rounds:
        game.round[level + 1] = 0
    return placed
