"""What do the phases of a match share: who is asked for a move, and by which random numbers?

Device twin: ``kernels/games/kalah/match.cl``.
"""

from reference_py.games.kalah.parameters import MOST_PAIRS, PAIR_STREAMS, STREAM_GAP, TOP
from reference_py.primitives.rng import Rng

FIRST, SECOND, CHANCE, NO_PLAYER = 1, 2, 4, 0
"""Who is asked for the next move: a player, chance in the opening, none once the game is over."""


def player_of(side, tick):
    """Return which player has a side: TOP, who begins, is player 0 in games 1, 3, 5, ..."""
    first_is_top = tick % 2 == 1
    return 0 if (side == TOP) == first_is_top else 1


def asked_next(p, match, tick):
    """Return who is asked for the next move of a game that continues."""
    if match.moves_made < p.opening:
        return CHANCE
    return FIRST if player_of(match.to_move, tick) == 0 else SECOND


def stream_number(p, match, tick):
    """Return the number of `stream_of`: that of the pair's opening, then the game's own."""
    pair, second = divmod(tick - 1, 2)
    own = 0 if match.moves_made < p.opening else 1 + second
    return (match.index * MOST_PAIRS + pair) * PAIR_STREAMS + own


def stream_of(p, match, tick):
    """Return the random numbers from here on."""
    return Rng.seed(p.stream_base, STREAM_GAP, stream_number(p, match, tick)).pack()
