"""What is a search given: how deep, with pruning or without, how many nodes at a time?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Words = Sequence[int]
"""A position: words of 32 bits, as many as the game says. Whose turn it is is one of its facts."""

NO_MOVE = 2**32 - 1
"""The move that led to the root, and the best move of a position without any."""

NO_LEVEL = 2**32 - 1
"""The level of the next batch once the root is closed."""

NEXT_DEPTH = 2**32 - 2
"""The same where the root is to be searched again, to another depth or with another window."""

NOTHING = -(2**31) + 1
"""The best value of a node of which nothing is known: minus infinity. Its negative is an int."""


MOST_CHILDREN = 2**32 - 1
"""More than a node can have."""


@dataclass(frozen=True)
class GameFunctions:
    """The three functions of a game, which is all that a search knows of it.

    Attributes
    ----------
    branch : function of parameters and position that returns the moves in their order; none: the
        game is over at it, or its search does not look further
    evaluate : function of parameters, position and ply (moves since the root) that returns what the
        position is worth to its side to move, more than `NOTHING` and less than its negative. It
        is requested leaves and for positions without moves
    make : function of parameters, position and move that returns the position after the move
    """

    branch: Callable[..., Sequence[int]]
    evaluate: Callable[..., int]
    make: Callable[..., Words]


@dataclass(frozen=True)
class Refinements:
    """Keys by which a search visits fewer nodes, as `SearchParameters` has them.

    The value of the root depends on none of them.
    """

    rounds: tuple[int, ...] = ()
    principal_variation: bool = False
    deepening: int = 0
    aspiration: int = 0
    near_root: tuple[int, ...] = ()
    rounds_at: tuple[int, ...] = ()


@dataclass(frozen=True)
class SearchParameters:
    """A search; a game's own parameters are added by a class derived from this one.

    Attributes
    ----------
    depth : plies from the root to a leaf
    prune : whether nodes outside of the window of alpha-beta are left out
    most_leaves, most_branches : most nodes of a batch of leaves, and of one of other nodes
    min_leaves, min_branches : smaller batches than these are calculated by the CPU
    capacities : for how many nodes each level has room, from the root's level on
    width : most moves of a position
    words : words of a position
    roots : positions to search from; game g has number g modulo their number
    form : whether the "device" or the "host" holds the tree; same results
    near_root : most nodes of a batch of each level from the root's on, where these are fewer
    principal_variation : whether the leftmost line is searched before anything else
    rounds : how many children of a node are looked at before its window is looked at again, in
        ascending numbers; after the last of them all others; none: all at once
    rounds_at : levels that are gone through in rounds, the root's being 0; none: all are
    deepening : plies from one depth to the next where several are searched one after the other,
        the last of which is `depth`; 0: that one alone
    aspiration : how far the value of a depth may be from that of the one before it; where it is
        farther the depth is searched again. 0: any value is expected
    """

    depth: int = 2
    prune: bool = True
    most_leaves: int = 1
    most_branches: int = 1
    capacities: tuple[int, ...] = (1, 1, 1)
    width: int = 1
    words: int = 1
    roots: tuple[tuple[int, ...], ...] = ()
    form: str = "device"
    min_leaves: int = 0
    min_branches: int = 0
    near_root: tuple[int, ...] = ()
    principal_variation: bool = False
    rounds: tuple[int, ...] = ()
    rounds_at: tuple[int, ...] = ()
    deepening: int = 0
    aspiration: int = 0

    @property
    def starts(self) -> tuple[int, ...]:
        """Where the nodes of each level begin in memory."""
        return tuple(sum(self.capacities[:level]) for level in range(self.depth + 1))

    @property
    def nodes(self) -> int:
        """Nodes of all levels for which there is room."""
        return sum(self.capacities)

    @property
    def depths(self) -> tuple[int, ...]:
        """Depths that are searched one after the other."""
        if not self.deepening:
            return (self.depth,)
        first = self.depth % self.deepening or min(self.deepening, self.depth)
        return tuple(range(first, self.depth + 1, self.deepening))

    @property
    def most_by_level(self) -> tuple[int, ...]:
        """Most nodes of a batch of each level that are no leaves."""
        near = (*self.near_root, *[self.most_branches] * (self.depth + 1))
        return tuple(min(most, self.most_branches) for most in near[: self.depth + 1])

    @property
    def last_rounds(self) -> tuple[int, ...]:
        """Number of the last round of each level, from 0 on."""
        at = self.rounds_at or range(self.depth + 1)
        return tuple(len(self.rounds) if level in at else 0 for level in range(self.depth + 1))

    @property
    def ranks(self) -> tuple[int, ...]:
        """At which children of a node each round begins, and where the last one ends."""
        return (0, *self.rounds, MOST_CHILDREN)

    @property
    def batch(self) -> int:
        """Most nodes of any batch."""
        return max(self.most_leaves, self.most_branches)
