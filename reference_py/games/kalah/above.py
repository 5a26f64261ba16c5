"""What are the start positions worth that have more stones than the table?

Minimax from each of them down to boards of the table; a board that comes again is looked at once.
On a device the host does the same, with the table that the device has filled:
``societies/games/kalah/solve.py``.
"""

from reference_py.games.kalah.fill import best_margin
from reference_py.games.kalah.layer import place
from reference_py.games.kalah.parameters import UNSOLVED, Parameters


def margin_above(p, rules, board, values, known):
    """Return the margin of a board, or `UNSOLVED` if too many boards would have to be looked at.

    A board waits on a list until those that follow it are known: lines of play are longer than
    Python may call itself.
    """
    last, waiting = p.layers(rules.pits), [tuple(board)]

    def value_of(one):
        if sum(one) <= last:
            return int(values[place(one)])
        found = known.get(tuple(one))
        if found is None:
            missing.append(tuple(one))
        return found or 0

    while waiting:
        missing = []
        found = best_margin(rules, list(waiting[-1]), value_of)
        if missing:
            waiting += missing
        else:
            known[waiting.pop()] = found
        if len(known) > p.most_above:
            return UNSOLVED
    return known[tuple(board)]


def above(p, game, tick):
    """Solve the start positions above the table, few stones first."""
    rules = Parameters(int(game.pits_a_side), empty_capture=bool(game.captures_empty))
    known = {}
    for stones in range(1, p.stones + 1):
        if 2 * rules.pits * stones > p.layers(rules.pits):
            board = [stones] * 2 * rules.pits
            game.margin[stones - 1] = margin_above(p, rules, board, game.values, known)
