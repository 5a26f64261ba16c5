"""Does a record of a game lead to its own position, or is it refused with the place?"""

from pathlib import Path

import pytest

from reference_py.games.connect6.text import point_of
from reference_py.games.havannah.board import board_of, cell_of
from societies import config_from_dict
from societies.errors import ConfigError
from societies.games.havannah.game_record import record_of

DATA = Path(__file__).parents[2] / "data" / "companions"
GAME = "(;FF[4]GM[21]SZ[4];W[D4];B[C3])"


def record(folder, text):
    path = folder / "game.sgf"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return record_of(str(path), 4)


@pytest.mark.parametrize(
    "text",
    [
        (DATA / "bom.sgf").read_bytes(),
        GAME,
        GAME.encode("utf-16"),
        GAME.replace(";", "\r\n;\t"),
        GAME.replace("W[", "PB[Bj\xf6rn]W[").encode("latin-1"),
        GAME.replace("W[D4]", "White[ d4\n]").replace("B[", "Black["),
        GAME.replace("D4", r"D\4"),
        GAME.replace("D4", "D\\\n4"),
        GAME.replace(";W", r"C[(;W[A1\] \\];W"),
        GAME.replace("SZ[4]", "SiZe[4]HA[0]KM[6.5]"),
        GAME.replace(";B", ";PL[B]B"),
        GAME.replace("C3]", "C3]LB[A1:x][A2:y]TR[A1][A2]C[well]"),
        f"From: me\nof a game\n\n{GAME}\n\n",
        "D4,C3",
    ],
)
def test_what_is_read_without_a_word(tmp_path, text):
    found = record(tmp_path, text)
    assert [move.upper() for move in found.moves] == ["D4", "C3"]
    assert found.remarks == ()


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (GAME + GAME.replace("D4", "A1"), "has 2 games; the first is read"),
        (GAME.replace(";B[C3]", "(;B[C3])(;B[C4];W[C3])"), "has variations; the first is read"),
    ],
)
def test_what_is_left_out_is_reported(tmp_path, text, remark):
    found = record(tmp_path, text)
    assert found.moves == ("D4", "C3")
    assert remark in found.remarks[0]
    given = {"workload": "havannah", "size": 4, "game_record": str(tmp_path / "game.sgf")}
    said = [one.message for one in config_from_dict({**given, "plies": 9}).warnings()]
    assert said == [found.remarks[0], "the record has 2 moves"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ((DATA / "setup.sgf").read_text(), ":1:25: AW sets stones"),
        (GAME.replace("SZ[4]", "SZ[4]AddBlack[C3]"), ":1:19: AddBlack sets stones"),
        (GAME.replace(";B", ";AE[D4]B"), ":1:26: AE sets stones"),
        (GAME.replace("SZ[4]", "SZ[4]PL[B]"), ":1:19: PL says that B is to move"),
        (GAME.replace("SZ[4]", "SZ[4]HA[2]"), ":1:19: HA[2]: there are no handicaps"),
        (GAME.replace("GM[21]", "GM[11]"), ":1:8: GM[11]: another game; Havannah has number 21"),
        (GAME.replace("SZ[4]", "SZ[5]"), ":1:14: the record is of a board of size 5, not 4"),
        (GAME.replace("SZ[4]", "SZ[4]XY[D3]"), ":1:19: XY is not known"),
        (GAME.replace("W[", "w["), ":1:20: w is not known"),
        (GAME.replace("D4", ""), ":1:20: move 1: W[] is a pass"),
        (GAME.replace("D4", "pass"), ":1:20: move 1: W[pass] is a pass"),
        (GAME.replace("D4", "D4 A1"), ":1:20: move 1: D4 A1 is not a cell"),
        (GAME.replace("D4", "D4][A1"), ":1:20: move 1: W has 2 values"),
        (GAME.replace("B[C", "W[C"), ":1:26: move 2: it is B's move, not W's"),
        (GAME.replace("D4", "resign"), ":1:30: a move of B after a resignation"),
        (GAME[:-1], "the record has no end: a ) is missing"),
        (GAME.replace(";B[C3]", "(;B[C3]"), "the record has no end: a ) is missing"),
        (GAME + ")", ":1:32: ) is outside of a game"),
        (GAME.replace("C3]", "C3"), ":1:27: [C3) is not part of a record; a ] is missing"),
        (GAME.replace(";B", "(;B[C4]);B"), ":1:33: a node after a variation"),
        (GAME.replace("W[D4]", "W"), ":1:20: W has no value"),
        (GAME[1:], ":1:1: no record of a game: it does not begin with (;"),
        (GAME.replace(";F", "F"), "no record of a game: it does not begin with (;"),
    ],
)
def test_what_is_refused_with_its_place(tmp_path, text, message):
    with pytest.raises(ConfigError) as error:
        record(tmp_path, text)
    assert message in str(error.value) and len(str(error.value).splitlines()) == 1


def test_what_is_no_cell_is_refused(tmp_path):
    """Python takes no number of thousands of digits, and no code of two letters."""
    assert cell_of(board_of(4), "A" + "9" * 5000) is None
    assert cell_of(board_of(4), "\xdf4") is None  # large it is SS
    for text in ("\xdf4", "J" + "1" * 5000, "J\uff11", "\u01314", "", "J0", "T1"):
        with pytest.raises(ValueError, match="is not a point"):
            point_of(text)
    assert point_of("b10") == 172
    (tmp_path / "game.sgf").write_text(GAME.replace("D4", "A" + "9" * 5000))
    with pytest.raises(ConfigError, match="move 1: A9999"):
        config_from_dict(
            {"workload": "havannah", "size": 4, "game_record": str(tmp_path / "game.sgf")}
        )
