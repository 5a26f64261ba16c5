"""Which moves are made, and what becomes of the game?

If the player to move searches, its search has ended before. Moves are made until the next search
is needed. Two kinds of players do not search. Bonzo takes the pit nearest to its store whose last
stone falls into the store; without such a pit, the nearest one that is not empty. Chance takes any
pit.
Device twin: ``kernels/games/kalah/move.cl``.
"""

from reference_py.games.kalah.match import CHANCE, NO_PLAYER, asked_next, player_of, stream_of
from reference_py.games.kalah.parameters import BONZO, MOST_MOVES, RANDOM, TOP
from reference_py.games.kalah.rules import is_over, moves, play, store_of, totals
from reference_py.primitives.rng import Rng


def bonzo(p, board, side):
    """Return Bonzo's pit."""
    nearest = moves(p, board, side)[::-1]
    store = store_of(p, side)
    return next((pit for pit in nearest if pit + board[pit] == store), nearest[0])


def any_move(p, match, board, side):
    """Return a pit, each with the same probability."""
    numbers, pits = Rng.load(match.stream), moves(p, board, side)
    pit = pits[numbers.below(len(pits))]
    match.stream = numbers.pack()
    return pit


def kind_asked(p, match, tick):
    """Return the kind of player who is asked for a move."""
    if match.asked == CHANCE:
        return RANDOM
    return p.players[player_of(match.to_move, tick)].kind


def make_move(p, match, tick, kind):
    """Make the move of the player who is asked for it, record it, and see who is asked next."""
    board, side = match.board.tolist(), int(match.to_move)
    if kind == RANDOM:
        pit = any_move(p, match, board, side)
    elif kind == BONZO:
        pit = bonzo(p, board, side)
    else:
        pit = int(match.pit)
        match.searched[player_of(side, tick)] += match.nodes
    board, match.to_move, _ = play(p, board, side, pit)
    match.board[:] = board
    match.moves[match.moves_made] = pit
    match.moves_made += 1
    if is_over(p, board) or match.moves_made == MOST_MOVES:
        top, bottom = totals(p, board)
        match.margin = top - bottom if player_of(TOP, tick) == 0 else bottom - top
        match.asked = NO_PLAYER
    else:
        if match.moves_made == p.opening:
            match.stream = stream_of(p, match, tick)
        match.asked = asked_next(p, match, tick)


def move(p, match, tick):
    """Make moves until the game is over or a player has to search."""
    while match.asked != NO_PLAYER:
        make_move(p, match, tick, kind_asked(p, match, tick))
        if match.asked != NO_PLAYER and kind_asked(p, match, tick) not in (BONZO, RANDOM):
            return
