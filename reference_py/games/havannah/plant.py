"""What is a tree of moves before its first playout? A root, on whose stones no move can be made.

Device twin: ``kernels/games/havannah/plant.cl``.
"""

from reference_py.games.havannah.moves import OPEN_MOVE, TAKEN
from reference_py.games.havannah.parameters import EMPTY


def plant(p, game, tick):
    """Begin all trees of a game at its position."""
    for tree in range(p.trees):
        game.node_count[tree], game.played[tree], game.solved[tree] = 1, 0, OPEN_MOVE
        clear(p, game, tree, 0, [OPEN_MOVE if what == EMPTY else TAKEN for what in game.board])


def clear(p, game, tree, node, known):
    """Begin a node of a tree, of whose moves this is known."""
    for array in (game.visits, game.halves, game.below):
        array[tree][node][:] = [0] * p.cells
    if p.rave:
        for array in (game.seen, game.gained):
            array[tree][node][:] = [0] * p.cells
    game.known[tree][node][:] = known
