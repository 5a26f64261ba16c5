"""What do all phases of a search share: which boards a step takes, and what is noted of each?

The boards of a level stand one after another. Device twin: ``kernels/games/kalah/search.cl``.
"""

from dataclasses import dataclass

from reference_py.games.kalah.parameters import TOP

NO_PIT = -1
"""The move of a board of which none was looked for."""


@dataclass
class Answer:
    """What a search found of a board.

    Attributes
    ----------
    score : of the best line, as TOP sees it
    pit : the best move, the lowest of equal ones; `NO_PIT` if none was looked for
    nodes : boards looked at
    leaves : of these, those at the full depth
    finished : of these, those above it whose game was over
    """

    score: int
    pit: int = NO_PIT
    nodes: int = 1
    leaves: int = 0
    finished: int = 0


def include(answer, side, pit, found):
    """Count what was found below a move, and keep the move if it is the best so far.

    TOP keeps the first strictly larger score, BOTTOM the first strictly smaller.
    """
    better = found.score > answer.score if side == TOP else found.score < answer.score
    if answer.pit == NO_PIT or better:
        answer.score, answer.pit = found.score, pit
    answer.nodes += found.nodes
    answer.leaves += found.leaves
    answer.finished += found.finished


def batch(game, level, parents, skip, most):
    """Return where the boards of a level are that a step takes, at most ``most``, some skipped."""
    count = min(max(int(game.counts[level]) - skip, 0), most)
    return range(parents + skip, parents + skip + count)


def position(game, at):
    """Return a board of the search, as a list, and who is to move."""
    return game.boards[at].tolist(), int(game.movers[at])


def put(game, at, board, side):
    """Place a board."""
    game.boards[at], game.movers[at] = board, side


def note(game, at, answer):
    """Keep what was found of a board."""
    game.board_score[at], game.board_pit[at] = answer.score, answer.pit
    game.board_nodes[at] = answer.nodes
    game.board_leaves[at] = answer.leaves
    game.board_finished[at] = answer.finished


def noted(game, at):
    """Return what was found of a board."""
    return Answer(
        int(game.board_score[at]),
        int(game.board_pit[at]),
        int(game.board_nodes[at]),
        int(game.board_leaves[at]),
        int(game.board_finished[at]),
    )


def count_boards(game, boards):
    """Count the boards that one launch was handed."""
    game.frontier += boards
    game.boards_per_launch = max(int(game.boards_per_launch), boards)
