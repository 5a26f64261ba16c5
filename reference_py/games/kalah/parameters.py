"""What is a search given? The board, the variant of the rules, how deep, in which form."""

from dataclasses import dataclass

TOP, BOTTOM = 0, 1
"""The two sides. TOP maximises the evaluation, BOTTOM minimises it."""


@dataclass(frozen=True)
class Position:
    """A board and whose turn it is.

    Attributes
    ----------
    board : stones of each cell: BOTTOM's pits, BOTTOM's store, TOP's pits, TOP's store
    to_move : `TOP` or `BOTTOM`
    """

    board: tuple[int, ...]
    to_move: int = TOP


@dataclass(frozen=True)
class Parameters:
    """A game and how its tree is searched.

    Attributes
    ----------
    pits : pits of a side, 1 to 8
    stones : of a pit at the start
    empty_capture : whether a last stone in an own empty pit is banked although the pit that faces
        it is empty
    positions : boards to search from; game g has number g modulo their number. Empty: the start
    depth : plies of the deepest search
    form : "expanded" (a work-item a board) or "layers" (a workgroup a board); same results
    split : of ``layers``, (PRE, SEQ, PAR): plies taken one board after the other, plies taken
        breadth first, and levels, one more than plies, of the tree in local memory
    plies : of ``expanded``, plies that a work-item searches depth first
    boards : most boards of one level of a game in memory at a time
    alone : of ``expanded``, a search of at most this many plies is one work-item's
    """

    pits: int = 6
    stones: int = 4
    empty_capture: bool = False
    positions: tuple[Position, ...] = ()
    depth: int = 6
    form: str = "expanded"
    split: tuple[int, int, int] = (0, 3, 4)
    plies: int = 4
    boards: int = 2**18
    alone: int = 0

    @property
    def cells(self) -> int:
        """Cells of a board: pits and stores of both sides."""
        return 2 * self.pits + 2

    @property
    def rules(self) -> "Parameters":
        """The game and the boards alone: the same however they are searched."""
        return Parameters(self.pits, self.stones, self.empty_capture, self.positions)

    @property
    def games(self) -> tuple[Position, ...]:
        """The boards to search from, at least one."""
        return self.positions or (Position(start_board(self.pits, self.stones)),)


def start_board(pits: int = 6, stones: int = 4) -> tuple[int, ...]:
    """Return the board on which a game begins."""
    return (*[stones] * pits, 0, *[stones] * pits, 0)


EXPANDED, LAYERS, BONZO, RANDOM = "expanded", "layers", "bonzo", "random"
"""Kinds of players: two forms of the search, the nearest pit that ends in the store, any move."""

MOST_MOVES = 1024
"""Moves of a game that are recorded; no game that was ever seen has a quarter of them."""

STREAM_GAP = 1024
"""Draws between the starts of neighbouring random streams: a game draws fewer."""

PAIR_STREAMS, MOST_PAIRS = 3, 2**19
"""Streams of two games with the same opening (that of the opening, one for each game), and most
such pairs of a match."""


@dataclass(frozen=True)
class Player:
    """Who chooses moves.

    Attributes
    ----------
    kind : one of the kinds above
    depth : plies that a search looks ahead; with a time the most
    seconds : time of a search for a move, 0: none
    split : of ``layers``
    """

    kind: str
    depth: int = 6
    seconds: float = 0.0
    split: tuple[int, int, int] = (0, 3, 4)

    @property
    def searches(self) -> bool:
        """Whether it looks ahead."""
        return self.kind in (EXPANDED, LAYERS)


@dataclass(frozen=True)
class MatchParameters:
    """Two players and the game that they play again and again.

    Attributes
    ----------
    players : the first and the second; TOP, who begins, is the first one in every other game
    opening : moves at the start of a game that are random, the same in both games of a pair
    stream_base : where the streams of the seed begin
    pits, stones, empty_capture, plies, boards, alone : as those of `Parameters`
    """

    players: tuple[Player, Player]
    opening: int = 0
    stream_base: int = 0
    pits: int = 6
    stones: int = 4
    empty_capture: bool = False
    plies: int = 4
    boards: int = 2**18
    alone: int = 0

    @property
    def cells(self) -> int:
        """Cells of a board: pits and stores of both sides."""
        return 2 * self.pits + 2

    @property
    def searches(self) -> tuple[Parameters, ...]:
        """The searches of the players that look ahead, in their order."""
        return tuple(self.search(player) for player in self.players if player.searches)

    def search(self, player: Player) -> Parameters:
        """Return the search of a player."""
        return Parameters(
            self.pits,
            self.stones,
            self.empty_capture,
            (),
            player.depth,
            player.kind,
            player.split,
            self.plies,
            self.boards,
            self.alone,
        )


UNSOLVED = -32768
"""The margin of a start position that was not solved."""


@dataclass(frozen=True)
class SolveParameters:
    """Games that are solved exactly.

    Attributes
    ----------
    pits : pits of a side of each game
    captures : for each variant of the rules, whether it has ``empty_capture``; the games of the
        first variant come first
    stones : start positions with 1, 2, ... stones a pit are solved
    table : most stones in the pits of the boards whose value is in the table
    most_above : most boards that are looked at above the table
    """

    pits: tuple[int, ...] = (1, 2, 3)
    captures: tuple[bool, ...] = (False, True)
    stones: int = 6
    table: int = 36
    most_above: int = 10**6

    @property
    def games(self) -> tuple[Parameters, ...]:
        """The rules of each game."""
        return tuple(
            Parameters(pits, empty_capture=capture)
            for capture in self.captures
            for pits in self.pits
        )

    def layers(self, pits: int) -> int:
        """Return the last layer, most stones in the pits, of a game's table."""
        return min(self.table, 2 * pits * self.stones)
