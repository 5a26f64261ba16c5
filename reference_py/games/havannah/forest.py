"""Does a new stone win? Winner test (b) of three: groups are trees, which the stone unites.

A root knows which sides and corners its group touches. Only the group of the new stone can win.
Device twin: ``kernels/games/havannah/forest.cl``.
"""

from reference_py.games.havannah.board import OUTSIDE, reasons_of_mask
from reference_py.games.havannah.parameters import EMPTY, RING


class Forest:
    """Stones of both sides, and their groups as disjoint sets.

    Parameters
    ----------
    board : Board
    find : how `root` shortens the path that it walks: "halving", "compression" or "plain" (not)

    Attributes
    ----------
    stones : side of the stone on each cell, or EMPTY
    """

    def __init__(self, board, find="halving"):
        self.board, self.find = board, find
        self.stones = [EMPTY] * board.cells
        self._parent = list(range(board.cells))
        self._rank = [0] * board.cells
        self._mask = list(board.masks)

    def copy(self):
        """Return another forest with the same stones."""
        made = Forest(self.board, self.find)
        made.stones = self.stones.copy()
        made._parent, made._rank = self._parent.copy(), self._rank.copy()
        made._mask = self._mask.copy()
        return made

    def root(self, cell):
        """Return the root of a stone's group."""
        parent, root = self._parent, cell
        while parent[root] != root:
            if self.find == "halving":
                parent[root] = parent[parent[root]]
            root = parent[root]
        if self.find == "compression":
            while parent[cell] != root:
                parent[cell], cell = root, parent[cell]
        return root

    def place(self, cell, side):
        """Put a stone; return a bit mask of the reasons why it wins, 0 if it does not."""
        self.stones[cell] = side
        around = self.board.neighbours[cell]
        own = [self._is(near, side) for near in around]
        arcs = [near for i, near in enumerate(around) if own[i] and not own[i - 1]]
        if all(own):
            arcs = [around[0]]
        roots = [self.root(near) for near in arcs]
        ring = len(set(roots)) < len(roots) or all(own)
        for i, near in enumerate(around):  # is it surrounded by own stones now?
            if own[i] and own[i - 1] and own[(i + 1) % 6] and self._is_inside(near, side):
                ring = True
        root = cell
        for other in roots:
            root = self._unite(root, other)
        return (RING if ring else 0) | reasons_of_mask(self._mask[root])

    def _is(self, cell, side):
        return cell != OUTSIDE and self.stones[cell] == side

    def _is_inside(self, cell, side):
        return all(self._is(near, side) for near in self.board.neighbours[cell])

    def _unite(self, a, b):
        """Unite two groups, given by their roots; return their root, that of the deeper tree."""
        if a == b:
            return a
        if self._rank[a] < self._rank[b]:
            a, b = b, a
        self._parent[b] = a
        self._mask[a] |= self._mask[b]
        if self._rank[a] == self._rank[b]:
            self._rank[a] += 1
        return a
