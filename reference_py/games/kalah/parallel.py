"""What is a board worth after some plies? A whole tree of boards, made level by level.

Every node has as many children as a side has pits, whether they are moves or not, so that each is
found by its number (reference_py/primitives/tree.py). Three steps: generate, evaluate, reduce.
Device twin: ``kernels/games/kalah/parallel.cl``, where a workgroup takes a board and has its tree
in local memory.
"""

from dataclasses import dataclass

from reference_py.games.kalah.rules import evaluate, is_over, moves, pits_of, play
from reference_py.games.kalah.search import Answer, batch, count_boards, include, note, position
from reference_py.primitives import tree


@dataclass
class BoardNode:
    """A board of the tree; what is no move has none."""

    board: list[int]
    side: int


def generate(p, board, side, plies):
    """Return all nodes of the tree; None where there is no such move or no game any more."""
    nodes = [BoardNode(list(board), side)]
    for number in range(1, tree.nodes(p.pits, plies)):
        above = nodes[tree.parent(p.pits, number)]
        nodes.append(None)
        if above is not None and not is_over(p, above.board):
            pit = pits_of(p, above.side)[(number - 1) % p.pits]
            if pit in moves(p, above.board, above.side):
                nodes[-1] = BoardNode(*play(p, above.board, above.side, pit)[:2])
    return nodes


def evaluate_nodes(p, nodes, plies):
    """Return the answer of every node as if the search ended at it; None for what is no node.

    What the inner nodes get here is replaced from below, unless their game is over.
    """
    last = tree.level_start(p.pits, plies)
    return [
        node
        and Answer(
            evaluate(p, node.board),
            leaves=int(number >= last),
            finished=int(number < last and is_over(p, node.board)),
        )
        for number, node in enumerate(nodes)
    ]


def reduce_nodes(p, nodes, answers, plies):
    """Give each board whose search continues the best answer for its mover, from below."""
    for number in reversed(range(tree.level_start(p.pits, plies))):
        node = nodes[number]
        if node is not None and not is_over(p, node.board):
            answers[number] = Answer(0)
            for j, pit in enumerate(pits_of(p, node.side)):
                found = answers[tree.child(p.pits, number, j)]
                if found is not None:
                    include(answers[number], node.side, pit, found)


def parallel(p, game, tick, level, parents, skip, most, plies):
    """Search every board of a batch to ``plies`` plies."""
    boards = batch(game, level, parents, skip, most)
    for at in boards:
        nodes = generate(p, *position(game, at), plies)
        answers = evaluate_nodes(p, nodes, plies)
        reduce_nodes(p, nodes, answers, plies)
        note(game, at, answers[0])
    count_boards(game, len(boards))
