"""How does a tree of moves grow by playouts? Every leaf is played out as soon as it is reached.

Upper confidence bounds choose the way down (Kocsis and Szepesvári, "Bandit based Monte-Carlo
planning", 2006). With ``rave`` a move that had few playouts is also worth what the games below its
position were won in which the same side had a stone on that cell at the end (Gelly and Silver,
"Combining online and offline knowledge in UCT", 2007). Trees know nothing of each other: they are
the blocks of Rocki and Suda (2011). Device twin: ``kernels/games/havannah/grow.cl``.
"""

from dataclasses import dataclass
from math import sqrt

from reference_py.games.havannah.board import board_of
from reference_py.games.havannah.forest import Forest
from reference_py.games.havannah.moves import LOSES, OPEN_MOVE, TAKEN, TIES, WINS
from reference_py.games.havannah.parameters import EMPTY, STREAM_GAP, other
from reference_py.games.havannah.plant import clear
from reference_py.games.havannah.playout import drawn
from reference_py.primitives.rng import Rng
from reference_py.primitives.softmath import soft_log

UNTRIED = 1e30
"""Bound of a move without playouts: such moves come first, in the order of cells."""

PRIOR = 5.0
"""Half wins with which each estimate of ``rave`` begins: as many playouts, half of them won."""


@dataclass(frozen=True)
class TreeParameters:
    """A position and how its trees grow.

    Attributes
    ----------
    size : cells of a side of the board, 3 to 10
    stones : what each cell holds, by index
    to_move : WHITE or BLACK
    trees : trees of the position
    nodes : most positions of a tree
    leaves : leaves of each tree in a tick
    each : playouts of a leaf
    exploration : weight of the term that prefers moves with few playouts
    rave : playouts of a move at which its own wins weigh as much as those of all games with a stone
        in this cell; 0: these do not count
    stream_base : where the streams of the seed begin
    limit : random streams of a game
    """

    size: int
    stones: tuple[int, ...]
    to_move: int
    trees: int
    nodes: int
    leaves: int
    each: int
    exploration: float
    rave: float
    stream_base: int = 0
    limit: int = 2**40
    # what the kernels of playouts are compiled with
    winner: str = "forest"
    find: str = "halving"
    memory: str = "private"
    neighbours: str = "computed"

    @property
    def cells(self) -> int:
        """Cells of the board."""
        return 3 * self.size * (self.size - 1) + 1


def grow(p, game, tick):
    """Play out ``leaves`` leaves of every tree that is not solved."""
    root = Forest(board_of(p.size), p.find)
    for cell, what in enumerate(game.board):
        if what != EMPTY:
            root.place(cell, what)
    for tree in range(p.trees):
        for _ in range(p.leaves):
            if game.solved[tree] == OPEN_MOVE:
                _play_leaf(p, game, tree, root)


def _play_leaf(p, game, tree, root):
    path, forest = [], root.copy()
    node, side, visits, reasons = 0, game.to_move, game.played[tree], 0
    while True:
        cell = best_move(p, game, tree, node, visits)
        path.append((node, cell))
        reasons = forest.place(cell, side)
        side = other(side)
        visits, below = game.visits[tree][node][cell], game.below[tree][node][cell]
        if not below:
            if visits < 2 * p.each or game.node_count[tree] == p.nodes:
                break
            below = game.node_count[tree]
            known = [TAKEN if one == TAKEN else OPEN_MOVE for one in game.known[tree][node]]
            known[cell] = TAKEN
            clear(p, game, tree, below, known)
            game.below[tree][node][cell] = below
            game.node_count[tree] += 1
        node = below
    halves, owned = _played_out(p, game, tree, forest, side, reasons)
    game.played[tree] += p.each
    mover = other(side)
    for node, cell in reversed(path):
        game.visits[tree][node][cell] += p.each
        game.halves[tree][node][cell] += halves[mover]
        if p.rave:
            for near, (seen, gained) in enumerate(owned[mover]):
                if game.known[tree][node][near] != TAKEN:
                    game.seen[tree][node][near] += seen
                    game.gained[tree][node][near] += gained
        mover = other(mover)
    if reasons or EMPTY not in forest.stones:
        game.solved[tree] = _solved(game, tree, path, WINS if reasons else TIES)


def best_move(p, game, tree, node, visits):
    """Return the open cell of the largest bound, the lowest of equal ones.

    ``visits`` are the playouts of the position.
    """
    best, bound, spread = None, -1.0, soft_log(float(max(2, visits)))
    for cell in range(p.cells):
        if game.known[tree][node][cell] != OPEN_MOVE:
            continue
        n, halves = game.visits[tree][node][cell], game.halves[tree][node][cell]
        if p.rave:
            own = halves / (2.0 * n) if n else 0.0
            weight = p.rave / (p.rave + n)
            seen, gained = game.seen[tree][node][cell], game.gained[tree][node][cell]
            value = weight * ((gained + PRIOR) / (2.0 * (seen + PRIOR))) + (1.0 - weight) * own
            value += p.exploration * sqrt(spread / (n + 1.0))
        elif n:
            value = halves / (2.0 * n) + p.exploration * sqrt(spread / n)
        else:
            value = UNTRIED
        if value > bound:
            best, bound = cell, value
    return best


def _played_out(p, game, tree, forest, side, reasons):
    """Return half wins of each side, and for each cell games with its stone and half wins then.

    ``side`` is to move, unless the other one has won by ``reasons``.
    """
    halves = {side: 0, other(side): 0}
    owned = {one: [[0, 0] for _ in range(p.cells)] for one in halves}
    for k in range(p.each):
        number = (game.played[tree] + k) * p.trees + tree
        ended, winner = forest, other(side) if reasons else None
        if not reasons:
            stream = game.index * p.limit + game.stream + number
            ended, winner = _played(forest, side, Rng.seed(p.stream_base, STREAM_GAP, stream))
        for one in halves:
            gained = 1 if winner is None else 2 * (winner == one)
            halves[one] += gained
            for cell, what in enumerate(ended.stones):
                if what == one:
                    owned[one][cell][0] += 1
                    owned[one][cell][1] += gained
    return halves, owned


def _played(forest, side, rng):
    """Play a game to its end; return its stones and who won, None if neither did."""
    ended, empties = forest.copy(), [i for i, what in enumerate(forest.stones) if what == EMPTY]
    for n in range(len(empties), 0, -1):
        if ended.place(drawn(empties, n, rng), side):
            return ended, side
        side = other(side)
    return ended, None


def _solved(game, tree, path, what):
    """Carry what is certain of the last move back; return what is of the move to the root."""
    for node, cell in reversed(path):
        known = game.known[tree][node]
        known[cell] = what
        if what == WINS:
            what = LOSES
        elif OPEN_MOVE in known:
            return OPEN_MOVE
        else:
            what = TIES if TIES in known else WINS
    return what
