"""What did all trees of a position find of each of its moves?

Device twin: ``kernels/games/havannah/gather.cl``.
"""

from reference_py.games.havannah.moves import LOSES, OPEN_MOVE, TAKEN, TIES, WINS


def gather(p, game, tick):
    """Add up the roots of the trees; what one of them knows for certain is certain."""
    for cell in range(p.cells):
        game.playouts[cell] = sum(game.visits[tree][0][cell] for tree in range(p.trees))
        won = sum(game.halves[tree][0][cell] for tree in range(p.trees))
        game.points[cell] = won / 2
        known = [game.known[tree][0][cell] for tree in range(p.trees)]
        certain = [one for one in known if one in (WINS, LOSES, TIES)]
        game.certain[cell] = TAKEN if TAKEN in known else certain[0] if certain else OPEN_MOVE
