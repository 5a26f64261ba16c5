"""Which move is best? Players that choose by random playouts: flat Monte Carlo, and UCT.

A player is handed `evaluate`, which plays out positions: on a device, where many are done at once,
or by `evaluation` below, which is its definition. A playout has the stream of its number in the
order in which a player asks for them, so its choices are the same on every device. Source: Kocsis
and Szepesvári, "Bandit based Monte-Carlo planning" (2006); several playouts of one leaf, and leaves
that are collected with virtual losses, are those of Rocki and Suda (2011).
"""

from math import log, sqrt

from reference_py.games.havannah.begin import forest_of
from reference_py.games.havannah.parameters import EMPTY, STREAM_GAP, other
from reference_py.games.havannah.playout import DRAW, RESULT, WON, playout
from reference_py.primitives.rng import Rng

WIN, LOSS, TIE, OPEN = 1, -1, 0, None
"""What is known of a move for certain, as who makes it sees it."""


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


class Move:
    """A move in the tree, and what was found of it.

    Attributes
    ----------
    cell : where the stone goes
    visits, points : playouts below, and how many who makes the move won, a draw being half of one
    known : `WIN`, `LOSS`, `TIE` or `OPEN`
    replies : moves after it, None as long as it is a leaf
    """

    __slots__ = ("cell", "known", "points", "replies", "visits")

    def __init__(self, cell):
        self.cell = cell
        self.visits, self.points = 0, 0.0
        self.known, self.replies = OPEN, None

    @property
    def rate(self):
        """Share of the playouts that were won."""
        return self.points / self.visits if self.visits else 0.0


class Search:
    """A tree of moves from a position, which grows with every batch of leaves.

    Parameters
    ----------
    stones, side : the position, nobody has won, and who is to move
    evaluate : as `evaluation` returns it
    stream : number of the first stream
    playouts : of each leaf
    leaves : of a batch
    exploration : factor of the term that prefers moves with few visits

    Attributes
    ----------
    root : a move to the position, whose replies are what is looked for
    stream : number of the next stream
    """

    def __init__(self, stones, side, evaluate, stream, playouts, leaves, exploration):
        self._stones, self._side, self._evaluate = list(stones), side, evaluate
        self.stream, self._playouts, self._leaves = stream, playouts, leaves
        self._exploration = exploration
        self.root = Move(-1)
        self._expand(self.root, self._stones)

    def flat(self):
        """Play out every move of the position once more, all in one batch."""
        moves = [move for move in self.root.replies if move.known is OPEN]
        self._play([[move] for move in moves])

    def grow(self):
        """Collect a batch of leaves, play them out and keep what was found."""
        paths = []
        for _ in range(self._leaves):
            path = self._descend()
            if path is None:
                break
            for move in path:  # a virtual loss, so that the next path is another
                move.visits += self._playouts
            paths.append(path)
        for path in paths:
            for move in path:
                move.visits -= self._playouts
        self._play(paths)

    @property
    def is_solved(self):
        """Whether more playouts cannot change the choice."""
        open_moves = [move for move in self.root.replies if move.known is not LOSS]
        return self.root.known is not OPEN or len(open_moves) <= 1

    def best(self):
        """Return the best move: a certain win, else the one with the most visits."""

        def worth(move):
            certain = 0 if move.known is OPEN or move.known is TIE else move.known
            return certain, move.visits, move.points, -move.cell

        return max(self.root.replies, key=worth)

    def _expand(self, move, stones):
        move.replies = [Move(cell) for cell, what in enumerate(stones) if what == EMPTY]

    def _descend(self):
        """Return the moves from the root to a leaf, None if there is nothing open."""
        path, move = [], self.root
        while move.replies:
            move = self._chosen(move)
            if move is None:
                return None
            path.append(move)
            if move.visits == 0:
                break
            if move.replies is None:
                if move.visits < 2 * self._playouts:
                    break
                self._expand(move, self._board(path)[0])
        return path

    def _chosen(self, parent):
        """Return the open reply with the largest upper bound; those never visited come first."""
        best, most = None, -1.0
        logarithm = log(max(2, parent.visits))
        for move in parent.replies:
            if move.known is not OPEN:
                continue
            if move.visits == 0:
                return move
            bound = move.points / move.visits + self._exploration * sqrt(logarithm / move.visits)
            if bound > most:
                best, most = move, bound
        return best

    def _board(self, path):
        stones, side = self._stones.copy(), self._side
        for move in path:
            stones[move.cell] = side
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
            for move in reversed(path):
                move.visits += self._playouts
                move.points += points
                points = self._playouts - points
            self.root.visits += self._playouts
            if has_won or EMPTY not in stones:
                path[-1].known = WIN if has_won else TIE
                self._know(path)

    def _know(self, path):
        """Carry what is certain of the last move of a path to those before it."""
        for move in [*reversed(path[:-1]), self.root]:
            known = [reply.known for reply in move.replies]
            if WIN in known:
                move.known = LOSS
            elif OPEN in known:
                return
            else:
                move.known = TIE if TIE in known else WIN
