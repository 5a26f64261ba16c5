"""How does a game of chess between two players go?

Who chooses moves is handed over: a search, chance, or a program of others.
"""

from dataclasses import dataclass, field

from reference_py.games.chess.board import BLACK, WHITE, number_of, squares_of
from reference_py.games.chess.fen import START, FenPosition, read_fen
from reference_py.games.chess.rules import in_check, moves, play
from reference_py.games.chess.search import coded, decoded
from reference_py.games.ngtsg.parameters import Refinements
from reference_py.primitives.rng import Rng

SEARCH, RANDOM, UCI = "search", "random", "uci"
"""Kinds of players: the search, any legal move, a program that speaks UCI."""

ENDS = (
    *("mate", "stalemate", "fifty moves", "third time", "no pieces to mate", "most moves"),
    *("crashed", "hung", "illegal move"),
)
"""How a game ends. Of the last three the player who did it loses."""

MATE_END, STALEMATE, FIFTY, THIRD, NO_PIECES, MOST, CRASHED, HUNG, ILLEGAL = range(len(ENDS))

MOST_PLIES = 600
"""Moves of both sides after which a game is a draw."""

MOST_HALFMOVES, MOST_TIMES = 100, 3
"""Halfmoves without capture or move of a pawn, and times that a position occurs, that make a draw.
FIDE has players claim both; here they end a game."""

STREAM_GAP, PAIR_STREAMS = 1024, 3
"""Draws between the starts of neighbouring random streams; streams of a pair of games: one for the
opening, which both share, and one for each game."""

LIGHT = 0x55AA55AA55AA55AA


class Forfeit(Exception):
    """Raised by who is asked for a move and has none: ``end`` says why, one of `ENDS`."""

    def __init__(self, end):
        super().__init__(ENDS[end])
        self.end = end


@dataclass(frozen=True)
class Player:
    """Who chooses moves.

    Attributes
    ----------
    kind : one of the kinds above
    depth : plies that it looks ahead; with a time the most
    seconds : of a search for a move, 0: none
    path, options : of a program: what is started, and what is set, as (name, value)
    refinements : keys by which its search visits fewer nodes
    """

    kind: str = SEARCH
    depth: int = 2
    seconds: float = 0.0
    path: str = ""
    options: tuple[tuple[str, str], ...] = ()
    refinements: Refinements = field(default_factory=Refinements)


@dataclass(frozen=True)
class MatchParameters:
    """Two players and the games between them.

    Attributes
    ----------
    players : the first and the second; the first is White in games 1, 3, 5, ...
    games : of a match
    fen : position at which games begin
    opening : moves at the start of a game that are random, the same in both games of a pair
    stream_base : where the streams of the seed begin
    leaves, branches : most nodes of each kind in a batch of a search
    """

    players: tuple[Player, Player]
    games: int
    fen: str = START
    opening: int = 0
    stream_base: int = 0
    leaves: int = 256
    branches: int = 32


def after(board, move):
    """Return the board after a move, with its clocks."""
    position = play(board.position, move)
    before = board.position
    pawn = bool(1 << move.start & before.pawns)
    count = (position.own | position.other).bit_count()
    taken = count < (before.own | before.other).bit_count()
    halfmoves = 0 if pawn or taken else board.halfmoves + 1
    return FenPosition(position, 1 - board.side, halfmoves, board.fullmove + (board.side == BLACK))


def can_mate(board):
    """Return whether there may still be a mate.

    Not with bare kings, a minor piece, or bishops that all are on squares of one colour.
    """
    position = board.position
    if position.pawns | position.orthogonals:
        return True
    bishops = position.diagonals
    if position.knights:
        return bool(bishops or (position.knights & position.knights - 1))
    return bool(bishops & LIGHT and bishops & ~LIGHT)


def end_of(boards):
    """Return how a game has ended whose positions these are, None if it continues."""
    board = boards[-1]
    if not moves(board.position):
        return MATE_END if in_check(board.position) else STALEMATE
    if board.halfmoves >= MOST_HALFMOVES:
        return FIFTY
    if sum(one[:2] == board[:2] for one in boards) >= MOST_TIMES:
        return THIRD
    return None if can_mate(board) else NO_PIECES


def numbers(p, index, tick, own):
    """Return random numbers of a game: ``own`` 0 for the opening of its pair, else its own."""
    pair, second = divmod(tick - 1, 2)
    stream = (index * (p.games // 2) + pair) * PAIR_STREAMS + (1 + second if own else 0)
    return Rng.seed(p.stream_base, STREAM_GAP, stream)


def play_game(p, index, tick, choose):
    """Play game ``tick`` of a match; return its moves, the winner and how it ended.

    ``choose`` has for each player a function of the boards and the moves so far that returns a move
    and the nodes visited for it, or raises `Forfeit`; None for chance. Returned are the moves as
    words, +1 if the first player won, -1 if the second did, one of `ENDS`, and the nodes of both.
    """
    boards, made, searched = [read_fen(p.fen)], [], [0, 0]
    first_side = WHITE if tick % 2 else BLACK
    opening, chance = numbers(p, index, tick, 0), numbers(p, index, tick, 1)
    while (end := end_of(boards)) is None and len(made) < MOST_PLIES:
        board = boards[-1]
        player = 0 if board.side == first_side else 1
        legal = moves(board.position)
        if len(made) < p.opening:
            move = legal[opening.below(len(legal))]
        elif choose[player] is None:
            move = legal[chance.below(len(legal))]
        else:
            try:
                move, nodes = choose[player](boards, made)
            except Forfeit as forfeit:
                return made, -1 if player == 0 else 1, forfeit.end, searched
            searched[player] += nodes
            if move not in legal:
                return made, -1 if player == 0 else 1, ILLEGAL, searched
        boards.append(after(board, move))
        made.append(coded(move))
    if end == MATE_END:
        lost = 0 if boards[-1].side == first_side else 1
        return made, -1 if lost == 0 else 1, end, searched
    return made, 0, MOST if end is None else end, searched


def note(match, made, margin, end, searched):
    """Record a game."""
    match.moves[: len(made)] = made
    match.moves_made, match.margin, match.end = len(made), margin, end
    match.searched[:] = searched


def names_of(fen, codes):
    """Return the moves of a game in coordinates."""
    side, found = read_fen(fen).side, []
    for code in codes:
        found.append(decoded(code).name(side))
        side = 1 - side
    return found


def squares(board):
    """Return the numbers of all squares that are taken, as the side to move sees them."""
    return [number_of(square) for square in squares_of(board.position.own | board.position.other)]
