"""What does a position look like after a turn?

Device twin: ``kernels/games/connect6/make.cl``.
"""

from reference_py.games.connect6.geometry import NONE
from reference_py.games.connect6.parameters import WORDS_OF_A_SIDE


def make(p, position, move):
    """Return the position after a turn: the sides have changed."""
    own = [int(word) for word in position[:WORDS_OF_A_SIDE]]
    for point in (move & NONE, move >> 16):
        if point != NONE:
            own[point // 32] |= 1 << point % 32
    return [*position[WORDS_OF_A_SIDE:], *own]
