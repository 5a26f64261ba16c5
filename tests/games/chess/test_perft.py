"""Does the workload count what others counted, in every form and however it is cut?"""

from dataclasses import replace

import pytest
from chess_oracles import DETAIL, PERFT
from random_boards import boards

from societies import config_from_dict, load_config, open_results, run
from societies.errors import ConfigError
from societies.games.chess.perft import WORKLOAD, ChessPerft
from societies.games.chess.perft_report import move_of
from societies.workload.running.engines import DeviceEngine

FENS = [one["fen"] for one in PERFT]


class OnGpu(ChessPerft):
    """Perft as a GPU counts it, with room for so few moves that they are listed in rounds."""

    def source(self, p):
        source = super().source(p)
        macros = {**source.macros, "DEVICE_IS_CPU": 0, "LISTED": "250u"}
        return replace(source, macros=macros)


def counted(device, depth, workload=WORKLOAD, **settings):
    """Return the arrays after the last depth, of all games."""
    config = config_from_dict({"workload": "chess_perft", "depth": depth, **settings})
    config = WORKLOAD.fitted(config, device)
    p, copies = WORKLOAD.parameters(config), WORKLOAD.count(config)
    engine = DeviceEngine(workload, p, device, copies=copies)
    engine.start()
    engine.run_ticks(depth, depth)
    return engine.arrays("nodes", "details", "root_moves", "divided")


@pytest.mark.parametrize(
    ("depth", "level_positions"),
    [(1, "auto"), (2, "auto"), (3, 300), (4, "auto"), (4, 5000), (5, "auto")],
)
def test_counts_of_others(device, depth, level_positions):
    found = counted(device, depth, positions=FENS, level_positions=level_positions)["nodes"]
    assert found.tolist() == [one["perft"][depth - 1] for one in PERFT]


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_counts_of_others_in_the_form_of_a_gpu(device, depth):
    found = counted(device, depth, OnGpu(), positions=FENS)["nodes"]
    assert found.tolist() == [one["perft"][depth - 1] for one in PERFT]


def test_replies_that_are_not_counted_one_by_one_are_as_many(device):
    """With `detail` every last move is made, in one form alone."""
    given, _ = boards(300, 37)
    fens = [board.fen() for board in given]
    made = counted(device, 3, positions=fens, detail=True)["nodes"].tolist()
    assert counted(device, 3, positions=fens)["nodes"].tolist() == made
    assert counted(device, 3, OnGpu(), positions=fens)["nodes"].tolist() == made


def test_few_positions_are_shared_among_the_cores_of_a_cpu():
    """Each of 20 positions has a workgroup of its own; on a GPU one has them all."""
    p = WORKLOAD.parameters(config_from_dict({"workload": "chess_perft", "depth": 3}))
    for phase in ("expand", "count", "reduce"):
        one = WORKLOAD.phases(p, 1)[phase]
        for on_cpu, expected in ((True, 20), (False, 1)):
            launch = one.on(on_cpu).launches[-1]
            assert launch.groups({"most": 20, "plies": 2}) == expected


@pytest.mark.thorough
@pytest.mark.parametrize(
    "one", [one for one in PERFT if len(one["perft"]) > 5], ids=lambda o: o["name"]
)
def test_six_plies(device, one):
    assert counted(device, 6, fen=one["fen"])["nodes"].tolist() == [one["perft"][5]]


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_kinds_of_last_moves(device, depth):
    found = counted(device, depth, positions=FENS, detail=True)
    for game, one in enumerate(PERFT):
        expected = [one["detail"][depth - 1][kind] for kind in DETAIL]
        assert [found["nodes"][game], *found["details"][game]] == expected


@pytest.mark.parametrize("one", PERFT, ids=lambda one: one["name"])
def test_counts_below_each_first_move(device, one):
    found = counted(device, 3, fen=one["fen"])
    side = (
        WORKLOAD.parameters(config_from_dict({"workload": "chess_perft", "fen": one["fen"]}))
        .boards[0]
        .side
    )
    rows = zip(found["root_moves"][0].tolist(), found["divided"][0].tolist(), strict=True)
    assert {move_of(code).name(side): nodes for code, nodes in rows if code} == one["divide3"]


def test_no_moves_at_all(device):
    """Mate and stalemate: nothing follows at any depth."""
    ends = [
        "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    ]
    for depth in (1, 2, 4):
        assert counted(device, depth, positions=ends)["nodes"].tolist() == [0, 0]


def test_most_moves_of_any_position(device):
    fen = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
    assert counted(device, 1, fen=fen)["nodes"].tolist() == [218]
    assert counted(device, 2, fen=fen)["nodes"].tolist() == [99]


def test_the_report_and_the_file(tmp_path, device):
    config = load_config("games/chess/perft", ["depth=3", "divide=true", "detail=true"])
    report = run(config, out=tmp_path / "perft.h5")
    rows = dict(report.rows)
    assert rows["e2e4"] == "600" and rows["checks"] == "12" and rows["nodes"] == "8,902"
    with open_results(tmp_path / "perft.h5") as results:
        assert results.nodes.values[0].tolist() == [20, 400, 8902]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"fen": "8/8/8/8/8/8/8/8 w - -"}, "fen: piece placement: white has 0 kings"),
        ({"positions": ["start", "x"]}, "positions.1: 1 fields; a position has six"),
        ({"fen": FENS[1], "positions": ["start"]}, "fen: positions are given as well"),
        ({"depth": 12}, "depth: 12 plies are about 3e+18"),
        ({"level_positions": 217}, "level_positions"),
    ],
)
def test_what_is_wrong_is_named(settings, said):
    with pytest.raises(ConfigError) as error:
        config_from_dict({"workload": "chess_perft", **settings})
    assert said in str(error.value)
