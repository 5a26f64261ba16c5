"""What is a board worth after some plies? Every line is played out, depth first, nothing pruned.

Device twin: ``kernels/games/kalah/descend.cl``, where a work-item takes a board.
"""

from reference_py.games.kalah.rules import evaluate, is_over, moves, play
from reference_py.games.kalah.search import Answer, batch, count_boards, include, note, position


def minimax(p, board, side, depth):
    """Return the `Answer` for a board.

    A finished game is worth what its board is worth. A move after which the same side is to move
    again is a ply like any other.
    """
    if depth == 0:
        return Answer(evaluate(p, board), leaves=1)
    if is_over(p, board):
        return Answer(evaluate(p, board), finished=1)
    answer = Answer(0)
    for pit in moves(p, board, side):
        after, following, _ = play(p, board, side, pit)
        include(answer, side, pit, minimax(p, after, following, depth - 1))
    return answer


def descend(p, game, tick, level, parents, skip, most, plies):
    """Search every board of a batch to ``plies`` plies."""
    boards = batch(game, level, parents, skip, most)
    for at in boards:
        note(game, at, minimax(p, *position(game, at), plies))
    count_boards(game, len(boards))
