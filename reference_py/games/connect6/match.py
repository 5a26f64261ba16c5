"""How does a game of Connect6 between two players go?

The caller passes what chooses the turns of each player: a search, or chance.
"""

from dataclasses import dataclass, field

from reference_py.games.connect6.evaluate import sides
from reference_py.games.connect6.geometry import NONE, POINTS
from reference_py.games.connect6.make import make
from reference_py.games.connect6.moves import CENTRE, all_windows, candidates, turn_of
from reference_py.games.connect6.text import turn_text, words_of
from reference_py.games.ngtsg.parameters import Refinements
from reference_py.primitives.rng import Rng

SEARCH, RANDOM = "search", "random"
"""Kinds of players: the search, or stones on any points near others."""

ENDS = ("six in a row", "full board")
"""How a game ends."""

SIX_IN_A_ROW, FULL_BOARD = range(len(ENDS))

STREAM_GAP, PAIR_STREAMS = 1024, 3
"""Draws between the starts of neighbouring random streams; streams of a pair of games: one for the
opening, which both share, and one for each game."""


@dataclass(frozen=True)
class Player:
    """Who chooses turns.

    Attributes
    ----------
    kind : one of the kinds above
    depth : turns that it looks ahead; with a time the most
    seconds : of a search for a turn, 0: none
    width : most turns of a position that it tries
    prover : own turns in which it looks for a win by threats first, 0: it does not
    refinements : keys by which its search visits fewer nodes
    """

    kind: str = SEARCH
    depth: int = 2
    seconds: float = 0.0
    width: int = 16
    prover: int = 0
    refinements: Refinements = field(default_factory=Refinements)


@dataclass(frozen=True)
class MatchParameters:
    """Two players and the games between them.

    Attributes
    ----------
    players : the first and the second; the first begins games 1, 3, 5, ...
    games : of a match
    root : position at which games begin, 24 words, as the side to move sees it
    opening : turns at the start of a game that are random, the same in both games of a pair
    stream_base : where the streams of the seed begin
    leaves, branches : most nodes of each kind in a batch of a search
    """

    players: tuple[Player, Player]
    games: int
    root: tuple[int, ...] = words_of((), ())
    opening: int = 0
    stream_base: int = 0
    leaves: int = 1024
    branches: int = 64


def has_six(stones):
    """Return whether a side has six in a row, from its points as bits."""
    return any(stones & window == window for window in all_windows())


def random_turn(position, rng):
    """Return a turn whose stones are each near another one; a single one begins in the centre."""
    own, other = sides(position)
    if not own | other:
        return turn_of(CENTRE)
    stones, chosen = own | other, []
    while len(chosen) < 2 and stones.bit_count() < POINTS:
        near = candidates(stones)
        chosen.append(near[rng.below(len(near))])
        stones |= 1 << chosen[-1]
    return turn_of(*chosen)


def numbers(p, index, tick, own):
    """Return random numbers of a game: ``own`` 0 for the opening of its pair, else its own."""
    pair, second = divmod(tick - 1, 2)
    stream = (index * (p.games // 2) + pair) * PAIR_STREAMS + (1 + second if own else 0)
    return Rng.seed(p.stream_base, STREAM_GAP, stream)


def play_game(p, index, tick, choose):
    """Play game ``tick`` of a match; return its stones, the winner and how it ended.

    ``choose`` has for each player a function of the position that returns a turn and the nodes
    visited for it; None for chance. Returned are the points of the stones in their order, +1 if
    the first player won, -1 if the second did, 0 for a draw, one of `ENDS`, and the nodes of both.
    """
    position, placed, searched, turns = p.root, [], [0, 0], 0
    opening, chance = numbers(p, index, tick, 0), numbers(p, index, tick, 1)
    player = (tick - 1) % 2
    while True:
        own, other = sides(position)
        if has_six(other) or has_six(own):
            won = 1 - player if has_six(other) else player
            return placed, 1 if won == 0 else -1, SIX_IN_A_ROW, searched
        if (own | other).bit_count() == POINTS:
            return placed, 0, FULL_BOARD, searched
        if turns < p.opening:
            turn = random_turn(position, opening)
        elif choose[player] is None:
            turn = random_turn(position, chance)
        else:
            turn, nodes = choose[player](position)
            searched[player] += nodes
        placed += [point for point in (turn & NONE, turn >> 16) if point != NONE]
        position, player, turns = tuple(make(None, position, turn)), 1 - player, turns + 1


def note(match, placed, margin, end, searched):
    """Record a game."""
    match.moves[: len(placed)] = placed
    match.moves_made, match.margin, match.end = len(placed), margin, end
    match.searched[:] = searched


def turns_of(root, placed):
    """Return the turns of a game as text, from the points of its stones in their order."""
    own, other = sides(root)
    single = 0 if own | other else 1
    starts = [0] * single + list(range(single, len(placed), 2))
    ends = [*starts[1:], len(placed)]
    words = [turn_of(*placed[a:b]) for a, b in zip(starts, ends, strict=True)]
    return [turn_text(word) for word in words]
