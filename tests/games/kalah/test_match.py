"""Are matches played by the rules, by the players asked for, the same on every device?"""

import pytest
from marks import in_turn

from reference_py.games.kalah import rules
from reference_py.games.kalah.descend import minimax
from reference_py.games.kalah.move import bonzo
from reference_py.games.kalah.parameters import BOTTOM, TOP, Parameters
from reference_py.primitives.rng import Rng
from societies import config_from_dict, open_results, run, verify
from societies.errors import ConfigError
from societies.games.kalah import WORKLOAD as SEARCHED
from societies.games.kalah.match import WORKLOAD as MATCH
from societies.games.matches import played_games
from societies.opencl import choose_device
from societies.workload import Step
from societies.workload.running.engines import DeviceEngine, ReferenceEngine

SMALL = {"workload": "kalah_match", "pits": 4, "stones": 3, "boards": 64, "plies": 2}
P = Parameters(4, 3)
SEARCH = {"kind": "expanded", "depth": 4}
LAYERS = {"kind": "layers", "depth": 3}
BONZO, RANDOM = {"kind": "bonzo"}, {"kind": "random"}


def config(*players, **settings):
    return config_from_dict({**SMALL, "players": list(players), **settings})


def played(settings, path, device="auto"):
    """Run a match; return its report, the records of its matches, and a column of its file."""
    report = run(settings, device=device, out=path)
    with open_results(path) as results:
        return report, [list(played_games(results, i)) for i in range(settings.replicates)]


def replayed(record):
    """Yield board, side, player and move of a game; its margin has to be what was recorded."""
    board, side = list(P.games[0].board), TOP
    for pit in record.moves:
        yield board, side, record.beginner if side == TOP else 1 - record.beginner, pit
        assert pit in rules.moves(P, board, side) and not rules.is_over(P, board)
        board, side, _ = rules.play(P, board, side, pit)
    assert rules.is_over(P, board)
    top, bottom = rules.totals(P, board)
    assert record.margin == (top - bottom) * (1 - 2 * record.beginner)


def test_every_move_is_its_player_s(tmp_path):
    settings = config(SEARCH, BONZO, games=8, opening=3, seed=5)
    report, (games,) = played(settings, tmp_path / "match.h5")
    nodes = 0
    for record in games:
        for number, (board, side, player, pit) in enumerate(replayed(record)):
            if number >= 3 and player == 0:
                found = minimax(P, board, side, 4)
                assert pit == found.pit
                nodes += found.nodes
            elif number >= 3:
                assert pit == bonzo(P, board, side)
    for one, two in zip(games[::2], games[1::2], strict=True):
        assert one.moves[:3] == two.moves[:3]  # a pair begins alike, with the sides changed
    assert len({record.moves for record in games}) > 4
    with open_results(tmp_path / "match.h5") as results:
        assert results.searched.values.sum(axis=1)[0].tolist() == [nodes, 0]
    table = dict(report.rows)
    wins = sum(record.margin > 0 for record in games)
    assert table["players"] == "expanded, 4 plies against bonzo"
    assert table["wins"].split(" ")[0] == str(wins)


def test_bonzo_takes_the_nearest_pit_that_ends_in_the_store():
    assert bonzo(P, [4, 3, 1, 0, 0, 1, 1, 1, 1, 0], BOTTOM) == 1
    assert bonzo(P, [4, 3, 2, 1, 0, 1, 1, 1, 1, 0], BOTTOM) == 3
    assert bonzo(P, [1, 1, 1, 0, 0, 4, 1, 1, 0, 0], TOP) == 5
    assert bonzo(P, [1, 1, 1, 0, 0, 3, 1, 1, 0, 0], TOP) == 7


@pytest.mark.parametrize(
    "players", [(SEARCH, LAYERS), (LAYERS, RANDOM), (RANDOM, BONZO)], ids=lambda two: two[1]["kind"]
)
def test_device_and_reference_agree(players):
    report = verify(config(*players, games=4, opening=1, replicates=2))
    assert report.identical, str(report)


def test_chance_is_fair_and_its_own_in_every_match(tmp_path):
    """Three matches side by side are the first, second and third match alone."""
    settings = config(RANDOM, RANDOM, games=40, replicates=3)
    _, matches = played(settings, tmp_path / "three.h5")
    assert len({record.moves for games in matches for record in games}) > 115  # some are short
    first = [record.moves[0] for games in matches for record in games]
    assert all(15 <= first.count(pit) <= 45 for pit in rules.pits_of(P, TOP))
    for number in range(3):
        alone = config(RANDOM, RANDOM, games=40, first_match=number)
        assert played(alone, tmp_path / f"{number}.h5")[1] == [matches[number]]
    for games in matches:
        for record in games:
            list(replayed(record))


def test_random_games_side_by_side_are_the_reference_s(tmp_path):
    """More matches than lanes, and more games than rows of a log."""
    settings = config(RANDOM, RANDOM, games=66, opening=2, replicates=9)
    _, found = played(settings, tmp_path / "device.h5")
    assert found == played(settings, tmp_path / "reference.h5", device="reference")[1]


@pytest.mark.thorough
@pytest.mark.parametrize(("pits", "empty_capture"), in_turn(range(1, 9), [False, True], 1))
def test_random_games_of_every_size_are_the_reference_s(pits, empty_capture):
    more = {"pits": pits, "stones": 12, "empty_capture": empty_capture}
    report = verify(config(RANDOM, RANDOM, games=4, opening=pits, replicates=37, **more))
    assert report.identical, str(report)


def test_a_rejected_draw_is_repeated_in_its_game_alone():
    """One in a thousand million is rejected; the lanes then make all moves again one by one."""
    settings = config(RANDOM, RANDOM, pits=3, replicates=17)
    p = MATCH.parameters(settings)
    device = DeviceEngine(MATCH, p, choose_device("auto"), copies=17)
    reference = ReferenceEngine(MATCH, p, copies=17)
    for engine in (device, reference):
        engine.start()
        engine.step(Step("start"), 1)
    stream = reference.arrays("stream")["stream"]
    stream[3] = 5 << 32 | 5  # draws 0, which 2^32 modulo 3 rejects
    drawn, skipped = Rng.load(int(stream[3])), Rng.load(int(stream[3]))
    drawn.below(3)
    skipped.skip(1)
    assert drawn.pack() != skipped.pack()
    for engine in (device, reference):
        engine.put({"stream": stream})
        engine.step(Step("move"), 1)
    found, expected = device.state(), reference.state()
    for name in ("board", "to_move", "asked", "stream", "moves", "moves_made", "margin"):
        assert found[name].tobytes() == expected[name].tobytes(), name


def test_forms_play_the_same_games(tmp_path):
    expanded = config(SEARCH, RANDOM, games=4)
    layers = config({**LAYERS, "depth": 4}, RANDOM, games=4)
    assert played(expanded, tmp_path / "a.h5")[1] == played(layers, tmp_path / "b.h5")[1]


def test_a_time_for_moves(tmp_path):
    settings = config({"kind": "expanded", "seconds": 0.005}, BONZO, games=2)
    with pytest.raises(ConfigError, match=r"verify: .* cannot be repeated: players.0.seconds is a"):
        verify(settings)
    _, (games,) = played(settings, tmp_path / "timed.h5")
    assert [len(list(replayed(record))) > 5 for record in games] == [True, True]


def test_a_longer_match_begins_with_the_shorter_one(tmp_path):
    _, (few,) = played(config(SEARCH, RANDOM, games=2), tmp_path / "few.h5")
    _, (many,) = played(config(SEARCH, RANDOM, games=6), tmp_path / "many.h5")
    assert many[:2] == few


BAD = [
    ({"games": 3}, "games: 3 is odd"),
    ({"players": [SEARCH]}, "players: 1 player; a match has two"),
    ({"players": [SEARCH, {"kind": "bonzo", "depth": 3}]}, "players.1.kind: bonzo does not look"),
    ({"players": [{"depth": 60}, BONZO]}, "players.0.depth: 60 plies are about"),
    ({"players": [{"seconds": -1}, BONZO]}, "players.0.seconds: "),
    ({"players": [{**LAYERS, "split": [1, 1, 1]}, BONZO]}, r"players.0.split: 1 \+ 1 \+ 1 - 1"),
    (
        {"players": [{"split": [0, 3, 4]}, BONZO]},
        "players.0.split: expanded has no split; layers has",
    ),
]


@pytest.mark.parametrize(("settings", "message"), BAD)
def test_what_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        config_from_dict({**SMALL, **settings})


def test_games_that_are_only_repeated_are_warned_of():
    assert [found.path for found in config(SEARCH, BONZO, games=4).warnings()] == [("games",)]
    assert not list(config(SEARCH, RANDOM, games=4).warnings())
    assert not list(config(SEARCH, BONZO, games=4, opening=1).warnings())


def test_figures_are_drawn(tmp_path):
    """Of a match, and of a search, also where some of it is missing."""
    played(config(RANDOM, BONZO, games=6, replicates=2), tmp_path / "match.h5")
    with open_results(tmp_path / "match.h5") as results:
        left, right = MATCH.figure(results, match=1).axes
        share = ((results.margin.values[1] > 0) + (results.margin.values[1] == 0) / 2).mean()
        assert left.lines[0].get_ydata()[-1] == share
        assert sum(bar.get_height() for bar in right.patches) == 6
        with pytest.raises(ConfigError, match="match=2: the matches are 0 to 1"):
            MATCH.figure(results, match=2)
    run(config_from_dict({"workload": "kalah", "depth": 4}), out=tmp_path / "search.h5")
    with open_results(tmp_path / "search.h5") as results:
        left, right = SEARCHED.figure(results.where(results.depth < 4)).axes
        assert left.lines[0].get_ydata()[:3].tolist() == [7, 42, 227]
        assert [text.get_text() for text in right.texts] == ["9", "9", "9"]
        with pytest.raises(ConfigError, match="game=1: the games are 0 to 0"):
            SEARCHED.figure(results, game=1)
