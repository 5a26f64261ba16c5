"""Can Connect6 be played: turns read, refused, taken back, answered, written down?"""

import pytest
from typed import typed_game

from reference_py.games.connect6.text import turn_text
from societies import config_from_dict
from societies.errors import ConfigError
from societies.games.connect6 import WORKLOAD
from societies.games.connect6.config import Connect6PositionConfig
from societies.games.connect6.game import BLACK, WHITE, Connect6Game
from societies.games.connect6.searcher import Connect6Searcher
from societies.members import options
from societies.workload import Setup

SETTINGS = {"workload": "connect6", "black": "", "depth": 1, "width": 4, "prover": 3}


def test_turns_are_read_made_and_taken_back():
    game = Connect6Game(Connect6PositionConfig(black="", white=""))
    game.push(game.read("j10"))
    assert (game.side, game.record()) == (WHITE, "J10")
    game.push(game.read("J9 I10"))
    assert game.drawn().splitlines()[10].split()[9:11] == ["O", "X"]
    assert game.undo()
    assert (game.side, game.record()) == (WHITE, "J10")
    assert game.undo()
    assert not game.undo()
    assert game.side == BLACK


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("J10", "2 different points"),
        ("A1A1", "2 different points"),
        ("A1B1C1", "2 different points"),
        ("J10A1", "J10 is taken"),
        ("Z9A1", "not a point"),
        ("99", "not a point"),
    ],
)
def test_what_is_no_turn_is_said(text, message):
    with pytest.raises(ConfigError, match=message):
        Connect6Game(Connect6PositionConfig()).read(text)


def test_six_in_a_row_win():
    game = Connect6Game(
        Connect6PositionConfig(black="A1 B1 C1 D1 S19", white="A3 A5 A7 C9", to_move="black")
    )
    assert game.result == ""
    game.push(game.read("E1F1"))
    assert game.result == "Black wins"


def play(lines, **options):
    """Return what is shown of a game in which a player types some lines, and its end."""
    shown, end = typed_game(WORKLOAD, config_from_dict(SETTINGS), lines, width=120, **options)
    return end, shown


def test_a_saved_game_is_replayed(tmp_path):
    at, again = tmp_path / "game.txt", tmp_path / "again.txt"
    play(["A1S19", "q"], save=at)
    turns = at.read_text().split()
    end, shown = play([], moves=str(at), side="white", save=again)
    assert end.startswith("the turns are used up; ") and len(turns) >= 3
    said = [
        line.split(": ")[1] for line in shown.splitlines() if line[:7] in ("Black: ", "White: ")
    ]
    assert said == turns and again.read_text() == at.read_text()
    at.write_text("J10 J10A1")
    with pytest.raises(ConfigError, match=f"moves='{at}': J10A1: J10 is taken"):
        play([], moves=str(at))
    with pytest.raises(ConfigError, match="No such file"):
        play([], moves=str(tmp_path / "nowhere"))


def test_the_help_calls_the_file_a_file():
    found = {one.name: one for one in options(WORKLOAD.play)}
    assert found["save"].metavar == "FILE"


def test_a_game_in_the_terminal(tmp_path):
    at = tmp_path / "game.txt"
    end, shown = play(["nonsense", "h", "l 2", "J9I10", "u", "A1S19", "q"], save=at)
    assert end == f"the game was left; written to {at}"
    assert "not a point" in shown
    assert "worth" in shown
    assert "2 turns" in shown
    assert at.read_text().split()[:2] == ["J10", "A1S19"]


def test_moves_are_replayed():
    end, _ = play([], moves="J9I10,A1S19")
    assert end == "the turns are used up; White is to move"
    with pytest.raises(ConfigError, match="J10 is taken"):
        play([], moves="J10A1")
    with pytest.raises(ConfigError, match="black or white"):
        play([], side="red")
    with pytest.raises(ConfigError, match="seconds"):
        play([], seconds="soon")


def test_threats_are_found_before_a_search(device):
    config = config_from_dict({**SETTINGS, "prover": 3})
    game = Connect6Game(
        Connect6PositionConfig(black="L8 K9 J10 L10 I11", white="I7 I8 I9 J9 I10 G13")
    )
    found = Connect6Searcher(Setup(WORKLOAD, config).on(device)).find(game.position, 1)
    assert found.proven == 1
    game.push(found.turn)
    assert game.result == "Black wins", turn_text(found.turn)
