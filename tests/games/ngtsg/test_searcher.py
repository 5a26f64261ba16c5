"""Do players whose searches leave out nodes find what the plain search finds, with fewer nodes?"""

import pytest

from reference_py.games.chess.fen import read_fen
from reference_py.games.chess.match import after
from reference_py.games.chess.search import decoded, words_of
from societies import config_from_dict, open_results, run, verify
from societies.errors import ConfigError
from societies.games.chess import WORKLOAD as CHESS
from societies.games.chess.searcher import ChessSearcher
from societies.games.connect6 import WORKLOAD as CONNECT6
from societies.games.connect6.config import Connect6PositionConfig
from societies.games.connect6.searcher import Connect6Searcher
from societies.games.matches import played_games
from societies.workload import Setup
from societies.workload.running.engines import DeviceEngine

ENDING = "3qk3/4p3/8/8/8/8/4P3/R3K2R w KQ - 70 60"
MIDDLE = "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N1PN2/PP3PPP/R1BQKB1R w KQ - 0 1"
KEYS = (
    {"deepening": 2, "aspiration": 50},
    {"principal_variation": True, "near_root": [1, 4]},
    {"rounds": [1, 5], "deepening": 1, "aspiration": 60_000, "near_root": [1, 1, 8]},
)
STONES = Connect6PositionConfig(black="J10 K10 H8", white="I9 I10")


def searcher(game, keys, device="auto", depth=3):
    """Return a player's search."""
    keys = dict(keys)
    batch = {"leaves": 64, "branches": 16, "near_root": keys.pop("near_root", [])}
    settings = {"depth": depth, "batch": batch, **keys}
    if game == "chess":
        config = config_from_dict({"workload": "chess", **settings})
        return ChessSearcher(Setup(CHESS, config).on(device))
    config = config_from_dict({"workload": "connect6", "width": 8, **settings})
    return Connect6Searcher(Setup(CONNECT6, config).on(device))


@pytest.fixture(scope="module")
def plain():
    """Values of the plain search, by game and depth."""
    chess, connect6 = searcher("chess", {}), searcher("connect6", {})
    return {
        "chess": [chess.find(read_fen(MIDDLE), depth, only=True).value for depth in (1, 2, 3)],
        "connect6": [connect6.find(STONES.root(), depth).value for depth in (1, 2, 3)],
    }


@pytest.mark.parametrize("keys", KEYS, ids=str)
@pytest.mark.parametrize("game", ["chess", "connect6"])
def test_every_depth_has_the_value_of_the_plain_search(game, keys, plain):
    """Depth after depth, each from what the one before has left, and one depth alone."""
    one, found = searcher(game, keys), []
    root = STONES.root()
    if game == "chess":
        board = read_fen(MIDDLE)
        root = words_of(board.position, board.side)
    one.search(root, 3, each=found.append)
    assert [other.depth for other in found] == one.depths(3)
    assert [other.value for other in found] == [plain[game][other.depth - 1] for other in found]
    alone = one.search(root, 3, alone=True)
    assert (alone.value, alone.depth) == (plain[game][2], 3)


def test_a_depth_begins_with_what_the_one_before_has_left():
    """Depths in turn visit the nodes that one search with all of these depths visits."""
    keys = {"deepening": 1, "aspiration": 60_000, "rounds": [1]}
    one = searcher("chess", keys)
    in_turn = one.find(read_fen(MIDDLE), 3)
    batch = {"leaves": 64, "branches": 16}
    config = config_from_dict(
        {"workload": "chess", "depth": 3, "fen": MIDDLE, "batch": batch, **keys}
    )
    engine = DeviceEngine(CHESS, CHESS.parameters(config), one.setup.device)
    engine.start()
    superstep = 0
    while engine.ended() is None:
        superstep += 1
        engine.run_ticks(superstep, superstep)
    whole = engine.arrays("visited", "value")
    assert in_turn.nodes == int(whole["visited"].sum())
    assert in_turn.value == int(whole["value"][0])


@pytest.mark.parametrize("keys", [KEYS[0], KEYS[-1]], ids=str)
def test_device_and_reference_find_the_same(keys):
    board = read_fen(ENDING)
    found = [searcher("chess", keys, device).find(board, 2) for device in ("auto", "reference")]
    assert found[0].move == found[1].move
    assert [one.nodes for one in found] == [found[0].nodes] * 2


def test_a_search_that_is_stopped_answers_with_the_deepest_completed_depth():
    one, found = searcher("chess", {"deepening": 2}), []
    best = one.find(read_fen(MIDDLE), 32, each=found.append, stop=lambda: len(found) == 2)
    assert [other.depth for other in found] == [1, 3] and best == found[1]
    assert best.value == searcher("chess", {}).find(read_fen(MIDDLE), 3, only=True).value
    within = one.find(read_fen(MIDDLE), 32, seconds=1e-9)
    assert (within.depth, within.move) == (1, found[0].move)


def test_a_time_ends_a_search_of_connect6():
    one = searcher("connect6", {"deepening": 1})
    assert one.find(STONES.root(), 12, seconds=1e-9).depth == 1


def test_a_match_is_played_with_values_of_the_plain_search(tmp_path):
    """Of every move of a player with all keys: no other move is worth more to the plain search."""
    player = {"depth": 3, **KEYS[-1]}
    fen = ENDING.replace("70 60", "92 60")
    settings = {"workload": "chess_match", "fen": fen, "games": 2, "opening": 2}
    config = config_from_dict({**settings, "players": [player, {"kind": "random"}]})
    report = run(config, out=tmp_path / "match.h5")
    name = "search, 3 plies, rounds 1 5, deepening by 1 ply, aspiration 60000, near the root 1 1 8"
    assert dict(report.rows)["players"] == f"{name} against random"
    with open_results(tmp_path / "match.h5") as results:
        first = next(played_games(results))
    refined, usual, board = searcher("chess", KEYS[-1]), searcher("chess", {}), read_fen(fen)
    for number, code in enumerate(first.moves[:8]):
        if number >= 2 and number % 2 == 0:
            found = refined.find(board, 3, only=True)
            assert found.value == usual.find(board, 3, only=True).value
        board = after(board, decoded(code))


@pytest.mark.parametrize(
    "settings",
    [
        {
            "workload": "chess_match",
            "fen": "8/8/8/3k4/3P4/3K4/8/8 w - - 96 1",
            "players": [{"depth": 3, **KEYS[-1]}, {"kind": "random"}],
        },
        {
            "workload": "connect6_match",
            "black": "A1 B1 C1 D1 S19",
            "white": "A3 A5 A7 C9",
            "players": [
                {"depth": 2, "width": 2, "rounds": [1], "deepening": 1, "aspiration": 9},
                {"kind": "random"},
            ],
        },
    ],
    ids=["chess", "connect6"],
)
def test_matches_are_the_same_in_plain_python(settings):
    report = verify(config_from_dict({"games": 2, **settings}))
    assert report.identical, str(report)


@pytest.mark.parametrize("workload", ["chess_match", "connect6_match"])
@pytest.mark.parametrize(
    ("player", "said"),
    [
        ({"rounds": [5, 1]}, "players.0.rounds.1: 1 after 5; the numbers ascend"),
        ({"rounds": [0]}, "players.0.rounds.0"),
        ({"near_root": [1, 1, 1]}, "players.0.near_root: 3 levels; above the leaves there are 2"),
        ({"near_root": [100]}, "players.0.near_root.0: 100 nodes; batch.branches allows"),
        ({"deepening": 2}, "players.0.deepening: 2 plies less than 2 is not a valid depth"),
        ({"aspiration": 5}, "players.0.aspiration: the window is laid"),
        ({"kind": "random", "rounds": [1]}, "random is not the search: no rounds"),
        ({"deepening": 33}, "players.0.deepening"),
    ],
)
def test_what_contradicts_itself_is_refused(workload, player, said):
    with pytest.raises(ConfigError, match=said):
        config_from_dict({"workload": workload, "players": [player, {"kind": "random"}]})


def test_a_key_without_effect_is_reported():
    players = [{"rounds": [1], "principal_variation": True}, {"kind": "random"}]
    for workload in ("chess_match", "connect6_match"):
        warnings = config_from_dict({"workload": workload, "players": players}).warnings()
        assert [one.path for one in warnings] == [("players", 0, "principal_variation")]
