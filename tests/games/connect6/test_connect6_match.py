"""Are games between players those that the rules allow, and are their stones recorded?"""

import pytest

from reference_py.games.connect6.match import FULL_BOARD, SIX_IN_A_ROW, MatchParameters, play_game
from reference_py.games.connect6.moves import turn_of
from reference_py.games.connect6.text import words_of
from societies import config_from_dict, open_results, run, verify
from societies.errors import ConfigError
from societies.games.connect6.config import Connect6PositionConfig
from societies.games.connect6.game import Connect6Game
from societies.games.connect6.match import write_turns
from societies.games.matches import played_games

NEARLY = {"black": "A1 B1 C1 D1 S19", "white": "A3 A5 A7 C9"}
SEARCH, RANDOM = {"depth": 1, "width": 4}, {"kind": "random"}


def config(*players, **settings):
    return config_from_dict({"workload": "connect6_match", "players": [*players], **settings})


def test_games_are_by_the_rules(tmp_path):
    """Every game is played again, turn by turn, from what the file and its text say."""
    settings = config(SEARCH, RANDOM, games=4, opening=3)
    report = run(settings, out=tmp_path / "match.h5")
    with open_results(tmp_path / "match.h5") as results:
        games, ends = [*played_games(results)], results.end.values[0].tolist()
        searched = results.searched.values[0]
        write_turns(results, tmp_path / "match.txt")
        with pytest.raises(ConfigError, match="match=1: the matches are 0 to 0"):
            write_turns(results, tmp_path / "x.txt", match=1)
    lines = (tmp_path / "match.txt").read_text().splitlines()
    for record, end, line in zip(games, ends, lines, strict=True):
        number, black, _, won, turns = line.split("\t")
        game = Connect6Game(Connect6PositionConfig(black="", white=""))
        for turn in turns.split():
            assert game.result == ""
            game.push(game.read(turn))
        assert won == game.result
        assert int(number) == record.game and end == SIX_IN_A_ROW
        assert (black == "random") == (record.beginner == 1)
        assert (record.margin > 0) == (won == ("Black wins", "White wins")[record.beginner])
    assert games[0].moves[:5] == games[1].moves[:5] != games[2].moves[:5]
    assert (searched[:, 0] > 0).all() and not searched[:, 1].any()
    assert dict(report.rows)["players"] == "search, 1 turn, width 4 against random"


def test_device_and_reference_agree():
    report = verify(config(SEARCH, RANDOM, games=2, replicates=2, **NEARLY))
    assert report.identical, str(report)


def test_who_has_six_in_a_row_has_won():
    p = MatchParameters((None, None), 2, words_of([0, 1, 2, 3], [100, 102, 140]))
    asked = []

    def first(position):
        asked.append(position)
        return turn_of(4, 5), 7

    assert play_game(p, 0, 1, [first, None]) == ([4, 5], 1, SIX_IN_A_ROW, [7, 0])
    assert play_game(p, 0, 2, [None, first]) == ([4, 5], -1, SIX_IN_A_ROW, [0, 7])
    assert len(asked) == 2
    won = MatchParameters((None, None), 2, words_of([100], range(6)))
    assert play_game(won, 0, 1, [None, None]) == ([], -1, SIX_IN_A_ROW, [0, 0])
    full = [point for point in range(361) if (point % 19 + point // 19 * 2) % 4 > 1]
    other = [point for point in range(361) if point not in full and point > 1]
    last = MatchParameters((None, None), 2, words_of(other, full))
    placed, margin, end, _ = play_game(last, 0, 1, [None, None])
    assert (sorted(placed), margin, end) == ([0, 1], 0, FULL_BOARD)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"players": [SEARCH]}, "players: 1 player; a match has two"),
        ({"players": [{**RANDOM, "prover": 2}, SEARCH]}, "random does not look ahead"),
        ({"games": 3}, "games: 3 is odd"),
        ({"black": "J10 J10"}, "black: J10 is taken already"),
        ({"black": "T1"}, "black: 'T1' is not a point"),
    ],
)
def test_what_is_refused(settings, said):
    with pytest.raises(ConfigError, match=said):
        config_from_dict({"workload": "connect6_match", **settings})


def test_a_time_for_turns_cannot_be_repeated():
    with pytest.raises(ConfigError, match=r"verify: .* cannot be repeated: players.0.seconds"):
        verify(config({"seconds": 0.1}, RANDOM))
