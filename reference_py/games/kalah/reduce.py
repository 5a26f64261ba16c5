"""What are the boards of a level worth, now that those which follow them are known?

Device twin: ``kernels/games/kalah/reduce.cl``.
"""

from reference_py.games.kalah.rules import evaluate, is_over, moves
from reference_py.games.kalah.search import Answer, batch, include, note, noted, position


def reduce(p, game, tick, level, parents, children, skip, most):
    """Give each board of a batch the best of what follows it, as its mover sees it."""
    for at in batch(game, level, parents, skip, most):
        board, side = position(game, at)
        if is_over(p, board):
            answer = Answer(evaluate(p, board), finished=1)
        else:
            answer = Answer(0)
            for number, pit in enumerate(moves(p, board, side)):
                below = children + int(game.first[at]) + number
                include(answer, side, pit, noted(game, below))
        note(game, at, answer)
