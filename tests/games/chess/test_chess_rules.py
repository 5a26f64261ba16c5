"""Are the rules of the reference, and the device functions that hold them, those of others?"""

import chess
import numpy as np
import pytest
from chess_oracles import DETAIL, PERFT
from random_boards import boards

from reference_py.games.chess.board import Position
from reference_py.games.chess.fen import FenError, read_fen, write_fen
from reference_py.games.chess.perft import KINDS, perft
from reference_py.games.chess.rules import (
    KNIGHT,
    QUEEN,
    count_moves,
    in_check,
    limits_of,
    moves,
    play,
)
from societies.opencl import Program

NAMES = [one["name"] for one in PERFT]


@pytest.mark.parametrize("one", PERFT, ids=NAMES)
def test_counts_of_others(one):
    board = read_fen(one["fen"])
    for plies in (1, 2, 3):
        assert perft(board.position, plies) == [one["perft"][plies - 1]]
    for plies in (1, 2):
        expected = [one["detail"][plies - 1][kind] for kind in DETAIL]
        assert perft(board.position, plies, len(KINDS)) == expected


@pytest.mark.parametrize("one", PERFT, ids=NAMES)
def test_counts_below_each_first_move(one):
    position, side, *_ = read_fen(one["fen"])
    found = {move.name(side): perft(play(position, move), 2)[0] for move in moves(position)}
    assert found == one["divide3"]


def test_random_positions_have_the_moves_of_python_chess():
    """Each move leads to the same position, too; en passant is noted where a pawn is ready."""
    given, kinds = boards(2000, 1)
    assert all(number > 10 for number in kinds.values()), kinds
    for i, board in enumerate(given):
        position, side, *_ = read_fen(board.fen())
        found = moves(position)
        assert sorted(move.name(side) for move in found) == sorted(
            move.uci() for move in board.legal_moves
        )
        assert in_check(position) == board.is_check()
        for move in found if i % 20 == 0 else ():
            after = board.copy(stack=False)
            after.push(chess.Move.from_uci(move.name(side)))
            assert play(position, move) == read_fen(after.fen(en_passant="fen")).position


def test_a_line_is_read_and_written():
    for one in PERFT:
        assert write_fen(read_fen(one["fen"])) == one["fen"]
    given, _ = boards(100, 2)
    for board in given:
        written = write_fen(read_fen(board.fen()))
        assert chess.Board(written).board_fen() == board.board_fen()
        assert read_fen(written)[:2] == read_fen(board.fen())[:2]


BOARD = "4k3/8/8/3pP3/8/8/8/4K2R"
WRONG = {
    "ten fields": ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 a b c d", "10 fields; a position has six"),
    "no field": ("", "0 fields"),
    "ranks": ("8/8/8 w - -", "piece placement: 3 ranks"),
    "long rank": ("4k4/8/8/8/8/8/8/4K3 w - -", "piece placement: 4k4 has 9 squares; rank 8"),
    "short rank": ("4k3/8/8/8/8/8/8/4K2 w - -", "piece placement: 4K2 has 7 squares; rank 1"),
    "letter": ("4k3/8/8/8/4x3/8/8/4K3 w - -", "piece placement: x in 4x3"),
    "no king": ("8/8/8/8/8/8/8/4K3 w - -", "piece placement: black has 0 kings"),
    "two kings": ("4k3/8/8/8/8/8/8/K3K3 w - -", "piece placement: white has 2 kings"),
    "pawn": ("P3k3/8/8/8/8/8/8/4K3 w - -", "piece placement: a pawn is on the first or"),
    "many": ("4k3/8/8/8/8/QQ6/PPPPPPPP/4K3 w - -", "piece placement: white has 8 pawns and 1"),
    "side": (f"{BOARD} white - -", "side to move: white: w or b"),
    "check": ("4k3/8/8/8/8/8/8/4RK2 w - -", "side to move: w: it could capture the king"),
    "castling": (f"{BOARD} w KQ -", "castling: Q: king or rook is not where it was"),
    "castling twice": (f"{BOARD} w KK -", "castling: KK: some of KQkq"),
    "en passant": (f"{BOARD} w K e6", "en passant: e6: no pawn has just moved over it"),
    "behind": ("4k3/3p4/8/3pP3/8/8/8/4K3 w - d6", "en passant: d6: the pawn cannot have"),
    "rank": (f"{BOARD} w K d3", "en passant: d3: it is on rank 6"),
    "square": (f"{BOARD} w K d9", "en passant: d9: a square such as e3"),
    "digits": ("4k3/44/8/8/8/8/8/4K3 w - -", "piece placement: 44 in 44: no digit follows another"),
    "clock": (f"{BOARD} w K d6 -1 1", "halfmove clock: -1: a whole number from 0 to 9999"),
    "number": (f"{BOARD} w K d6 0 0", "fullmove number: 0: a whole number from 1 to 9999"),
    "high clock": (f"{BOARD} w K d6 10000 1", "halfmove clock: 10000: a whole number from 0 to"),
    "long number": (f"{BOARD} w K d6 0 {'9' * 5000}", "fullmove number: 99999"),
    "other digits": (f"{BOARD} w K d6 ٣ 1", "halfmove clock: ٣: a whole number from 0 to 9999"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name):
    line, said = WRONG[name]
    with pytest.raises(FenError) as error:
        read_fen(line)
    assert str(error.value).startswith(said)


@pytest.fixture(scope="module")
def program(device):
    macros = {"CPU_PART": 1, "GPU_PART": 64, "KINDS": len(KINDS)}
    return Program(device, "games/chess/perft.cl", macros)


def packed(program, positions):
    return np.array([tuple(one) for one in positions], program.struct("position_t"))


def test_device_functions_are_the_references(program):
    given, _ = boards(1000, 3)
    positions = [read_fen(board.fen()).position for board in given]
    arrays = packed(program, positions)
    assert program.function("count_moves")(arrays).tolist() == [*map(count_moves, positions)]
    assert program.function("in_check")(arrays).tolist() == [*map(in_check, positions)]
    limits = program.function("limits_of")(arrays)
    expected = [limits_of(position) for position in positions]
    for name in ("danger", "checkers", "targets"):
        assert limits[name].tolist() == [getattr(one, name) for one in expected]
    assert limits["pinned"].tolist() == [sum(one.pins) for one in expected]
    cases = [(one, move) for one in positions[::10] for move in moves(one)]
    assert {move.promotion for _, move in cases} == {0, *range(KNIGHT, QUEEN + 1)}
    chosen = np.array(
        [(1 << move.start, 1 << move.end, move.promotion) for _, move in cases],
        program.struct("move_t"),
    )
    after = program.function("play")(packed(program, [one for one, _ in cases]), chosen)
    made = zip(*(after[name].tolist() for name in Position._fields), strict=True)
    assert [*made] == [tuple(play(*case)) for case in cases]
