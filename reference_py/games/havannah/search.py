"""Which move is best? Players that choose by random playouts: flat Monte Carlo, and UCT.

A player is handed `evaluate`, which plays out positions: on a device, where many are done at once,
or by `evaluation` below, which is its definition. A player by trees is handed what also keeps
these: a device, or `PlainTrees`. A playout has the stream of its number in the
order in which a player asks for them, so its choices are the same on every device. Source: Kocsis
and Szepesvári, "Bandit based Monte-Carlo planning" (2006); several playouts of one leaf, and leaves
that are collected with virtual losses, are those of Rocki and Suda (2011).
"""

from dataclasses import dataclass
from math import log

import numpy as np

from reference_py.copies import Copy
from reference_py.games.havannah.begin import forest_of
from reference_py.games.havannah.gather import gather
from reference_py.games.havannah.grow import grow
from reference_py.games.havannah.moves import LOSES, OPEN_MOVE, TAKEN, TIES, WINS
from reference_py.games.havannah.parameters import EMPTY, STREAM_GAP, other
from reference_py.games.havannah.plant import plant
from reference_py.games.havannah.playout import DRAW, RESULT, WON, playout
from reference_py.primitives.rng import Rng

WIN, LOSS, TIE, OPEN = 1, -1, 0, 2
"""What is known of a move for certain, as who makes it sees it."""

KNOWN = {OPEN_MOVE: OPEN, WINS: WIN, LOSES: LOSS, TIES: TIE}
"""The same of a move of a tree."""


def evaluation(p):
    """Return the function that plays positions out, in plain Python.

    It is handed boards, who moves next on each, the number of the first stream of each, and how
    many playouts there are; it returns, for each, whether the last move has won, and how many
    playouts who made it won and drew.
    """

    def evaluate(boards, movers, streams, playouts):
        found = []
        for stones, side, stream in zip(boards, movers, streams, strict=True):
            forest, reasons = forest_of(p, stones)
            if reasons:
                found.append((True, playouts, 0))
                continue
            ends = [
                playout(p, forest, side, Rng.seed(p.stream_base, STREAM_GAP, stream + k)) >> RESULT
                for k in range(playouts)
            ]
            found.append((False, ends.count(WON), ends.count(DRAW)))
        return found

    return evaluate


@dataclass(frozen=True)
class MoveStatistics:
    """A move of the position, and what was found of it.

    Attributes
    ----------
    cell : where the stone goes
    visits, points : playouts below, and how many who makes the move won, a draw being half of one
    known : `WIN`, `LOSS`, `TIE` or `OPEN`
    """

    cell: int
    visits: int
    points: float
    known: int

    @property
    def rate(self):
        """Share of the playouts that were won."""
        return self.points / self.visits if self.visits else 0.0


class Node:
    """A position of the tree, with an entry for each of its moves in every array.

    Attributes
    ----------
    cells : where the stones go, ascending
    visits, points, known : as in a `MoveStatistics`; visits may count playouts still to come
    below : position after a move, by the place of the move
    begun : the moves before this place have had visits; they are tried first, in order
    """

    __slots__ = ("begun", "below", "cells", "is_open", "known", "points", "visits")

    def __init__(self, stones):
        self.cells = [cell for cell, what in enumerate(stones) if what == EMPTY]
        self.visits, self.points = np.zeros(len(self.cells)), np.zeros(len(self.cells))
        self.known, self.is_open = np.full(len(self.cells), OPEN, np.int8), True
        self.below, self.begun = {}, 0

    def chosen(self, visits, exploration):
        """Return the place of the open move with the largest upper bound, None if none is open.

        ``visits`` are those of the position. Moves never visited come first.
        """
        if self.begun < len(self.cells):
            return self.begun
        bounds = self.points / self.visits
        bounds += exploration * np.sqrt(log(max(2, visits)) / self.visits)
        if self.is_open:
            return int(bounds.argmax())
        bounds[self.known != OPEN] = -1.0
        place = int(bounds.argmax())
        return None if bounds[place] < 0 else place

    def know(self, place, what):
        """Note what is certain of a move; return what follows for the move to this position."""
        self.known[place], self.is_open = what, False
        if (self.known == WIN).any():
            return LOSS
        if (self.known == OPEN).any():
            return OPEN
        return TIE if (self.known == TIE).any() else WIN


class Search:
    """A tree of moves from a position, which grows with every batch of leaves.

    Parameters
    ----------
    stones, side : the position, not won yet, and who is to move
    evaluate : as `evaluation` returns it
    stream : number of the first stream
    playouts : of each leaf
    leaves : of a batch
    exploration : factor of the term that prefers moves with few visits

    Attributes
    ----------
    visits : playouts so far
    known : what is certain of the position, as who moved to it sees it
    stream : number of the next stream
    """

    def __init__(self, stones, side, evaluate, stream, playouts, leaves, exploration):
        self._stones, self._side, self._evaluate = bytearray(stones), side, evaluate
        self.stream, self._playouts, self._leaves = stream, playouts, leaves
        self._exploration = exploration
        self._root = Node(self._stones)
        self.visits, self.known = 0, OPEN
        self._fresh = set()  # moves whose first playouts are in the batch that is collected

    @property
    def moves(self):
        """What was found of each move, in the order of cells."""
        root = self._root
        found = zip(root.cells, root.visits, root.points, root.known, strict=True)
        return [
            MoveStatistics(cell, int(n), float(won), int(known)) for cell, n, won, known in found
        ]

    def flat(self):
        """Play out every move of the position again, all in one batch."""
        root = self._root
        paths = [[(root, place)] for place in range(len(root.cells)) if root.known[place] == OPEN]
        root.visits[root.known == OPEN] += self._playouts
        root.begun = len(root.cells)
        self._play(paths)

    def grow(self):
        """Collect a batch of leaves, play them out and keep what was found.

        The visits of a path count as soon as it is collected and its points only when it has been
        played: a virtual loss, so that the next path is another.
        """
        paths = []
        self._fresh.clear()
        for _ in range(self._leaves):
            path = self._descend()
            if path is None:
                break
            for node, place in path:
                node.visits[place] += self._playouts
                node.begun = max(node.begun, place + 1)
            paths.append(path)
        self._play(paths)

    @property
    def is_solved(self):
        """Whether more playouts cannot change the choice."""
        return self.known != OPEN or int((self._root.known != LOSS).sum()) <= 1

    def best(self):
        """Return the best move: a certain win, else the one with the most visits."""
        return max(self.moves, key=_worth)

    def _descend(self):
        """Return the moves from the root to a leaf, None if there is nothing open.

        A leaf gets replies when it has been played out twice. Before its first playouts it is
        unknown whether the game ends with it, so in the batch of these it stays a leaf.
        """
        path, node, visits = [], self._root, self.visits
        while True:
            place = node.chosen(visits, self._exploration)
            if place is None:
                return None
            path.append((node, place))
            visits = node.visits[place]
            if visits == 0:
                self._fresh.add((node, place))
                return path
            if place not in node.below:
                if visits < 2 * self._playouts or (node, place) in self._fresh:
                    return path
                node.below[place] = Node(self._board(path)[0])
            node = node.below[place]

    def _board(self, path):
        stones, side = self._stones.copy(), self._side
        for node, place in path:
            stones[node.cells[place]] = side
            side = other(side)
        return stones, side

    def _play(self, paths):
        if not paths:
            return
        made = [self._board(path) for path in paths]
        streams = [self.stream + i * self._playouts for i in range(len(paths))]
        self.stream += len(paths) * self._playouts
        boards, movers = zip(*made, strict=True)
        found = self._evaluate(boards, movers, streams, self._playouts)
        for path, stones, (has_won, won, drawn) in zip(paths, boards, found, strict=True):
            points = won + drawn / 2
            for node, place in reversed(path):
                node.points[place] += points
                points = self._playouts - points
            self.visits += self._playouts
            if has_won or EMPTY not in stones:
                self._know(path, WIN if has_won else TIE)

    def _know(self, path, what):
        """Carry what is certain of the last move of a path to those before it."""
        for node, place in reversed(path):
            what = node.know(place, what)
            if what == OPEN:
                return
        self.known = what


def _worth(move):
    certain = 0 if move.known in (OPEN, TIE) else move.known
    return certain, move.visits, move.points, -move.cell


class TreeSearch:
    """Trees of moves from a position, which a keeper holds and lets grow: a device, plain Python.

    Parameters
    ----------
    stones, side, stream : as in a `Search`
    keeper : has `plant(stones, side, stream)`, which begins a search; `grow()`, which plays out
        some leaves of every tree and returns the playouts of each and whether one is solved; and
        `found()`, which returns what `gather` does

    Attributes
    ----------
    visits, known, stream : as in a `Search`; `known` is `OPEN` until a tree is solved
    """

    def __init__(self, stones, side, keeper, stream):
        self._keeper, self._first, self.stream = keeper, stream, stream
        self.visits, self.known, self._moves = 0, OPEN, None
        self._choices = sum(what == EMPTY for what in stones)
        keeper.plant(stones, side, stream)

    def grow(self):
        """Play out some leaves of every tree."""
        played, solved = self._keeper.grow()
        self.visits, self._moves = int(sum(played)), None
        self.stream = self._first + int(max(played)) * len(played)
        certain = [KNOWN[int(one)] for one in solved if one != OPEN_MOVE]
        self.known = certain[0] if certain else OPEN

    @property
    def moves(self):
        """What was found of each move, in the order of cells."""
        if self._moves is None:
            found = enumerate(zip(*self._keeper.found(), strict=True))
            self._moves = [
                MoveStatistics(cell, int(visits), float(points), KNOWN[int(certain)])
                for cell, (visits, points, certain) in found
                if certain != TAKEN
            ]
        return self._moves

    @property
    def is_solved(self):
        """Whether more playouts cannot change the choice."""
        return self.known != OPEN or (self.visits > 0 and self._choices == 1)

    def best(self):
        """Return the best move: a certain win, else the one with the most visits."""
        return max(self.moves, key=_worth)


class PlainTrees:
    """Keeps trees in plain Python, and plays positions out as `evaluation` does.

    Parameters
    ----------
    p : TreeParameters
    leaf : Parameters
        Those of the positions that are played out without a tree.
    """

    def __init__(self, p, leaf):
        self._p, self._evaluate, self._game = p, evaluation(leaf), None
        estimates = ("seen", "gained") if p.rave else ()
        self._of_moves = ("visits", "halves", "below", "known", *estimates)

    def __call__(self, *positions):
        """Play positions out."""
        return self._evaluate(*positions)

    def plant(self, stones, side, stream):
        """Begin the trees of a position."""
        p = self._p

        of_trees = ("node_count", "played", "solved")
        state = {name: [[[0] * p.cells] for _ in range(p.trees)] for name in self._of_moves}
        state |= {name: [0] * p.trees for name in of_trees}
        state |= {name: [0] * p.cells for name in ("playouts", "points", "certain")}
        state |= {"board": list(stones), "to_move": side, "stream": stream}
        self._game = Copy(0, state)
        plant(p, self._game, 0)

    def grow(self):
        """Play out some leaves of every tree; return playouts of each, and what is certain."""
        p, game = self._p, self._game
        for name in self._of_moves:
            for tree, nodes in enumerate(getattr(game, name)):
                # a leaf adds at most one position
                most = min(p.nodes, game.node_count[tree] + p.leaves)
                nodes += [[0] * p.cells for _ in range(len(nodes), most)]
        grow(p, game, 1)
        return game.played, game.solved

    def found(self):
        """Return playouts, points and what is certain of each cell."""
        gather(self._p, self._game, 1)
        return self._game.playouts, self._game.points, self._game.certain
