"""Are games between players those that the rules allow, whatever a program of others does?"""

import io
import sys
from pathlib import Path

import chess.pgn
import pytest

from reference_py.games.chess.match import CRASHED, ENDS, HUNG, ILLEGAL, MATE_END
from societies import config_from_dict, open_results, run, verify
from societies.errors import ConfigError
from societies.games.chess import external
from societies.games.chess.match import WORKLOAD, write_pgn
from societies.games.matches import played_games

ENDING = "3qk3/4p3/8/8/8/8/4P3/R3K2R w KQ - 70 60"
FAKE = f"{sys.executable} {Path(__file__).with_name('fake_engine.py')}"
SEARCH, RANDOM = {"depth": 1}, {"kind": "random"}


def program(what):
    return {"kind": "uci", "path": f"{FAKE} {what}", "depth": 1}


def config(*players, **settings):
    return config_from_dict({"workload": "chess_match", "players": [*players], **settings})


def test_games_are_by_the_rules(tmp_path):
    """The games of the file, and in portable game notation, are replayed by python-chess."""
    settings = config(SEARCH, RANDOM, games=4, opening=2, fen=ENDING)
    report = run(settings, out=tmp_path / "match.h5")
    with open_results(tmp_path / "match.h5") as results:
        games, ends = [*played_games(results)], results.end.values[0].tolist()
        write_pgn(results, tmp_path / "match.pgn")
        with pytest.raises(ConfigError, match="match=1: the matches are 0 to 0"):
            write_pgn(results, tmp_path / "x.pgn", match=1)
    text = io.StringIO((tmp_path / "match.pgn").read_text())
    for game, end in zip(games, ends, strict=True):
        read = chess.pgn.read_game(text)
        board = read.end().board()
        assert len(board.move_stack) == len(game.moves) and read.errors == []
        assert (end == MATE_END) == board.is_checkmate()
        white = 1 if game.beginner == 0 else -1
        assert read.headers["Result"] == {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[white * game.margin]
        names = [read.headers["White"], read.headers["Black"]]
        assert names == ["search, 1 ply", "random"][:: 1 if game.beginner == 0 else -1]
    assert games[0].moves[:2] == games[1].moves[:2] and games[0].beginner == 0
    assert dict(report.rows)["players"] == "search, 1 ply against random"


def test_device_and_reference_agree():
    settings = config(SEARCH, RANDOM, games=2, replicates=2, fen="8/8/8/3k4/3P4/3K4/8/8 w - - 90 1")
    report = verify(settings)
    assert report.identical, str(report)


@pytest.mark.parametrize(
    ("what", "end"), [("crash", CRASHED), ("hang", HUNG), ("illegal", ILLEGAL)]
)
def test_a_program_that_breaks_the_rules_loses_and_the_match_continues(
    what, end, tmp_path, monkeypatch
):
    # The program loads python-chess first, for which a busy machine needs seconds.
    monkeypatch.setattr(external, "PATIENCE", 1.5)
    monkeypatch.setattr(external, "TO_BEGIN", 60.0)
    settings = config(program(what), RANDOM, games=2)
    report = run(settings, out=tmp_path / "match.h5", allow_programs=True)
    assert dict(report.rows)["games ended by"] == f"{ENDS[end]} 2 (0 to 2)"
    with open_results(tmp_path / "match.h5") as results:
        assert results.end.values[0].tolist() == [end, end]
        assert results.margin.values[0].tolist() == [-1, -1]
        assert [len(game.moves) for game in played_games(results)] == [2, 3]


def test_a_program_plays(tmp_path):
    settings = config(program("play"), RANDOM, games=2, opening=4)
    run(settings, out=tmp_path / "match.h5", allow_programs=True)
    with open_results(tmp_path / "match.h5") as results:
        assert (results.searched.values[0, :, 0] > 0).all() and (results.end.values < CRASHED).all()


def test_what_cannot_be_repeated_is_not_verified():
    for player in (program("play"), {"seconds": 0.1}):
        with pytest.raises(ConfigError, match=r"verify: .* cannot be repeated: players.0"):
            verify(config(player, RANDOM))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"players": [{"kind": "uci", "path": "/no/such/program"}, RANDOM]}, "no such program"),
        ({"players": [{"kind": "uci"}, RANDOM]}, "players.0.path: no such program: named"),
        ({"players": [SEARCH]}, "players: 1 player; a match has two"),
        ({"players": [{**SEARCH, "path": "x"}, RANDOM]}, "search is not a program"),
        ({"players": [{**RANDOM, "depth": 2}, SEARCH]}, "random does not look ahead"),
        ({"games": 3}, "games: 3 is odd"),
        ({"fen": "x"}, "fen: 1 fields"),
    ],
)
def test_what_is_refused(settings, said):
    with pytest.raises(ConfigError, match=said):
        config_from_dict({"workload": "chess_match", **settings})


def test_a_program_that_may_not_be_executed_is_not_called_missing(tmp_path):
    engine = tmp_path / "engine 1"
    engine.write_text("#!/bin/sh\n")
    engine.chmod(0o644)
    given = {"kind": "uci", "path": f"'{engine}' --fast"}
    with pytest.raises(ConfigError) as error:
        config(given, RANDOM)
    said = f"players.0.path: {engine} exists, but is not executable: chmod +x '{engine}'"
    assert said in str(error.value) and "no program" not in str(error.value)
    engine.chmod(0o755)
    config(given, RANDOM)


def test_a_program_that_cannot_be_run_has_lost(tmp_path):
    broken = tmp_path / "engine"
    broken.write_text("no program")
    broken.chmod(0o755)
    settings = config({"kind": "uci", "path": str(broken)}, RANDOM, games=2)
    assert WORKLOAD.not_repeatable(settings)
    run(settings, out=tmp_path / "match.h5", allow_programs=True)
    with open_results(tmp_path / "match.h5") as results:
        assert results.end.values[0].tolist() == [CRASHED, CRASHED]
