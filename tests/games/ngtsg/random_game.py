"""Trees made at random: any number of moves a position, values from few numbers, early ends."""

from reference_py.games.ngtsg.parameters import GameFunctions

MULTIPLIER = 2654435761


def _mixed(*words):
    state = 0
    for word in words:
        state = (state ^ word) * MULTIPLIER % 2**32
        state ^= state >> 15
    return state


def game(seed, width, values, ends):
    """Return the rules of a tree; of a hundred positions this number has no moves."""

    def branch(p, position):
        if ends and _mixed(position[0], 1, seed) % 100 < ends:
            return []
        return list(range(1 + _mixed(position[0], 2, seed) % width))

    def evaluate(p, position, ply):
        return _mixed(position[0], 3, seed) % values - values // 2

    def make(p, position, move):
        return [_mixed(position[0], move + 10, seed)]

    return GameFunctions(branch, evaluate, make)
