"""What does a complete layer say? Its game, its number of boards, and the margin of its start.

Device twin: ``kernels/games/kalah/margins.cl``.
"""

from reference_py.games.kalah.layer import layer_boards, place


def margins(p, game, tick):
    """Count the boards of the layer; if a start position is one of them, keep its margin."""
    rules = p.games[game.index % len(p.games)]
    pits = game.pits_a_side = rules.pits
    game.captures_empty = int(rules.empty_capture)
    game.boards = layer_boards(2 * pits, tick) if tick <= p.layers(pits) else 0
    stones, rest = divmod(tick, 2 * pits)
    if rest == 0 and 1 <= stones <= p.stones and tick <= p.layers(pits):
        game.margin[stones - 1] = game.values[place([stones] * 2 * pits)]
