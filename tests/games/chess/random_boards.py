"""Positions of random games, as python-chess has them."""

import random

import chess

MIDDLES = (
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "8/5p2/8/1k1Pp2r/4p3/5n2/4P1P1/R3K2R w KQ e6 0 1",
    "4k3/PPP4p/8/3pP3/3Pp3/8/ppp4P/4K3 w - d6 0 1",
    "k7/8/8/K2pP2r/8/8/8/8 w - d6 0 1",
)
"""Beginnings with moves of all kinds: castles, captures en passant, promotions, pins."""


def boards(count, seed):
    """Return ``count`` positions of random games, and how many moves there were of each kind."""
    generator, found = random.Random(seed), []
    kinds = dict.fromkeys(("castle", "en passant", "promotion", "check", "pinned passing"), 0)
    while len(found) < count:
        board = chess.Board(generator.choice(MIDDLES))
        for _ in range(generator.randrange(1, 60)):
            found.append(board.copy(stack=False))
            moves = list(board.legal_moves)
            if not moves:
                break
            passing = list(board.generate_legal_ep())
            kinds["en passant"] += bool(passing)
            kinds["pinned passing"] += board.has_pseudo_legal_en_passant() and not passing
            kinds["castle"] += any(map(board.is_castling, moves))
            kinds["promotion"] += any(move.promotion for move in moves)
            kinds["check"] += board.is_check()
            board.push(generator.choice(passing or moves))
    return found[:count], kinds


def seen(board):
    """Return the line of a position with a square for en passant only where a pawn stands ready."""
    return board.fen(en_passant="fen")
