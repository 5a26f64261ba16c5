"""What was found of the game's own board? It is the result of the search.

Device twin: ``kernels/games/kalah/answer.cl``.
"""

from reference_py.games.kalah.search import noted


def answer(p, game, tick):
    """Keep what the first board was given."""
    found = noted(game, 0)
    game.score, game.pit, game.nodes = found.score, found.pit, found.nodes
    game.leaves, game.finished = found.leaves, found.finished
