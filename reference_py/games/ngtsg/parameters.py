"""What is a search given: how deep, with pruning or without, how many nodes at a time?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Words = Sequence[int]
"""A position: so many words of 32 bits as the game says. Whose turn it is is one of its facts."""

NO_MOVE = 2**32 - 1
"""The move that led to the root, and the best move of a position without any."""

NO_LEVEL = 2**32 - 1
"""The level of the next batch once the root is closed."""

NOTHING = -(2**31) + 1
"""The best value of a node of which nothing is known: minus infinity. Its negative is an int."""


@dataclass(frozen=True)
class Game:
    """The three functions of a game, which is all that a search knows of it.

    Attributes
    ----------
    branch : function of parameters and position that returns the moves in their order; none: the
        game is over there, or its search does not look further
    evaluate : function of parameters, position and ply (moves since the root) that returns what the
        position is worth to its side to move, more than `NOTHING` and less than its negative. It
        is asked for leaves and for positions without moves
    make : function of parameters, position and move that returns the position after the move
    """

    branch: Callable[..., Sequence[int]]
    evaluate: Callable[..., int]
    make: Callable[..., Words]


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
    form : whether the tree is kept by the "device" or by the "host"; same results
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

    @property
    def starts(self) -> tuple[int, ...]:
        """Where the nodes of each level begin in memory."""
        return tuple(sum(self.capacities[:level]) for level in range(self.depth + 1))

    @property
    def nodes(self) -> int:
        """Nodes of all levels for which there is room."""
        return sum(self.capacities)

    @property
    def batch(self) -> int:
        """Most nodes of any batch."""
        return max(self.most_leaves, self.most_branches)
