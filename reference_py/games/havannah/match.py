"""How does a player choose, and how is a game between two players played?"""

import time
from dataclasses import dataclass

from reference_py.games.havannah.board import board_of
from reference_py.games.havannah.forest import Forest
from reference_py.games.havannah.grow import TreeParameters
from reference_py.games.havannah.parameters import (
    BLACK,
    EMPTY,
    STREAM_GAP,
    WHITE,
    Parameters,
    other,
)
from reference_py.games.havannah.search import (
    OPEN,
    PlainTrees,
    Search,
    TreeSearch,
    evaluation,
)
from reference_py.primitives.rng import Rng

RANDOM, FLAT, UCT, TREES = "random", "flat", "uct", "trees"
SWAP = -2
"""The move of Black that takes White's first stone."""

EVEN = 0.5
"""Share of wins of a position in which neither side is better off."""

GAME_STREAMS = 2**26
"""Random streams of a game: half of them for the playouts of each player, but for the last few."""


@dataclass(frozen=True)
class Strength:
    """How a player chooses.

    Attributes
    ----------
    kind : "random", "flat", "uct", a tree on the host, or "trees", which the device keeps
    playouts : for a move
    seconds : for a move instead; 0: none
    each : playouts of a leaf
    leaves : leaves of a batch, of "trees" of each tree
    exploration : of UCT
    trees, nodes, rave : as of `TreeParameters`
    """

    kind: str = UCT
    playouts: int = 10_000
    seconds: float = 0.0
    each: int = 8
    leaves: int = 32
    exploration: float = 0.2
    trees: int = 2
    nodes: int = 2**14
    rave: float = 0.0


@dataclass(frozen=True)
class MatchParameters:
    """Two players and the game that they play again and again.

    Attributes
    ----------
    size, swap : of the board, and whether Black may take White's first stone
    players : the first and the second; White is the first one in every other game
    games : of a match
    opening : moves at the start of a game that are random, the same in both games of a pair
    stream_base : where the streams of the seed begin
    """

    size: int
    swap: bool
    players: tuple[Strength, Strength]
    games: int
    opening: int = 0
    stream_base: int = 0

    @property
    def cells(self) -> int:
        """Cells of the board."""
        return 3 * self.size * (self.size - 1) + 1

    @property
    def most_moves(self) -> int:
        """Moves of the longest game."""
        return self.cells + 1


def leaf_parameters(size, slots, each, stream_base):
    """Return the parameters of a rating whose candidates are positions of any kind."""
    empty = (EMPTY,) * (3 * size * (size - 1) + 1)
    return Parameters(size, empty, WHITE, (0,) * slots, each, 0, 1, stream_base)


FLAT_EACH = 8
"""Playouts of a move at a time where a player by trees rates all moves alike: in the opening."""


def tree_parameters(size, strength, stream_base):
    """Return the parameters of the trees of a player."""
    empty, s = (EMPTY,) * (3 * size * (size - 1) + 1), strength
    most = s.trees, s.nodes, s.leaves, s.each
    return TreeParameters(size, empty, WHITE, *most, s.exploration, s.rave, stream_base)


def evaluates(size, strength, stream_base):
    """Return what plays positions out for a player in plain Python, and keeps its trees."""
    if strength.kind != TREES:
        return evaluation(leaf_parameters(size, 1, strength.each, stream_base))
    leaf = leaf_parameters(size, 1, FLAT_EACH, stream_base)
    return PlainTrees(tree_parameters(size, strength, stream_base), leaf)


def choose(strength, stones, side, swap, evaluate, rng, stream):
    """Return the move that a player chooses, the search that found it, and the next stream.

    ``swap`` says whether Black may take White's first stone in this game. Black does so if its best
    reply wins fewer than half of its playouts: who swaps gets the other side of the position. White
    begins with the move that is nearest to even then.
    """
    empty = [cell for cell, what in enumerate(stones) if what == EMPTY]
    opening = swap and len(empty) == len(stones)
    can_swap = swap and len(empty) == len(stones) - 1 and side == BLACK
    if strength.kind == RANDOM:
        options = [*empty, SWAP] if can_swap else empty
        return options[rng.below(len(options))], None, stream
    began = time.perf_counter()
    if strength.kind == TREES and not opening:
        search = TreeSearch(stones, side, evaluate, stream)
    else:
        each = FLAT_EACH if strength.kind == TREES else strength.each
        more = each, strength.leaves, strength.exploration
        search = Search(stones, side, evaluate, stream, *more)
    while not search.is_solved and not _is_enough(strength, search, began):
        if strength.kind == FLAT or opening:
            search.flat()
        else:
            search.grow()
    best = search.best()
    if opening:
        best = min(search.moves, key=lambda move: (abs(move.rate - EVEN), move.cell))
    elif strength.kind == FLAT and search.known == OPEN:
        best = max(search.moves, key=lambda move: (move.points, -move.cell))
    swaps = can_swap and search.visits and best.rate < EVEN
    return SWAP if swaps else best.cell, search, search.stream


def _is_enough(strength, search, began):
    """Return whether a search has had its playouts, or its time."""
    if strength.seconds:
        return search.visits > 0 and time.perf_counter() - began >= strength.seconds
    return search.visits >= strength.playouts


def play_game(p, index, tick, evaluates):
    """Play game ``tick`` of a match; return its moves and which player won, None for a draw.

    ``evaluates`` has for each player what plays positions out. Player 0 has White in games
    1, 3, ...
    """
    forest = Forest(board_of(p.size))
    first = (index * p.games + tick - 1) * GAME_STREAMS
    pair = (index * p.games + (tick - 1) // 2 * 2) * GAME_STREAMS + GAME_STREAMS - 1

    def numbers(stream):
        return Rng.seed(p.stream_base, STREAM_GAP, stream)

    opening, chance = numbers(pair), [numbers(first + GAME_STREAMS - 2 - i) for i in range(2)]
    streams = [first, first + GAME_STREAMS // 2]
    side, moves = WHITE, []
    while EMPTY in forest.stones:
        player = (0 if side == WHITE else 1) ^ (tick + 1) % 2
        if len(moves) < p.opening:
            empty = [cell for cell, what in enumerate(forest.stones) if what == EMPTY]
            move = empty[opening.below(len(empty))]
        else:
            may_swap = p.swap and len(moves) < 2
            move, _, streams[player] = choose(
                p.players[player],
                forest.stones,
                side,
                may_swap,
                evaluates[player],
                chance[player],
                streams[player],
            )
        moves.append(move)
        if move == SWAP:
            cell = forest.stones.index(WHITE)
            forest = Forest(board_of(p.size))
            forest.place(cell, BLACK)
        elif forest.place(move, side):
            return moves, player
        side = other(side)
    return moves, None


def game(p, match, tick):
    """Play a game of a match, with playouts in plain Python."""
    players = [evaluates(p.size, one, p.stream_base) for one in p.players]
    note(p, match, *play_game(p, match.index, tick, players))


def note(p, match, moves, winner):
    """Keep a game: its moves, and who won it."""
    match.moves[:] = moves + [-1] * (p.most_moves - len(moves))
    match.moves_made = len(moves)
    match.margin = 0 if winner is None else 1 if winner == 0 else -1
