"""Does the report of a search say what holds: why there is no move, of how many nodes, how long?"""

import pytest

from societies import config_from_dict, open_results, run

MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
STALEMATE = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
BLOCKED = "7k/8/8/8/p7/Pp1p4/RP1P4/KRB5 w - - 0 1"
WON = {"black": "A1 B1 C1 D1 E1 F1 S19", "white": "A3 A5 A7 C3 C5 C7", "width": 8}
BOTH = {"black": "A1 B1 C1 D1 E1 F1 S19", "white": "A3 B3 C3 D3 E3 F3", "width": 8}
BOTH_BEFORE_BLACK = {**BOTH, "white": f"{BOTH['white']} S3 S5"}
NO_DEPTH = "depth 0: evaluated, no move searched"


def rows_of(tmp_path, workload, device="auto", **settings):
    """Return the rows of the report of a run."""
    config = config_from_dict({"workload": workload, "depth": 2, **settings})
    return dict(run(config, out=tmp_path / "search.h5", device=device).rows)


@pytest.mark.parametrize(
    ("workload", "settings", "said"),
    [
        ("chess", {"fen": MATED}, "no move: checkmate"),
        ("chess", {"fen": MATED, "depth": 0}, "no move: checkmate"),
        ("chess", {"fen": STALEMATE}, "no move: stalemate"),
        ("chess", {"fen": STALEMATE, "pruning": "none"}, "no move: stalemate"),
        ("chess", {"fen": BLOCKED, "rules": "pseudo_legal"}, "no move: every piece is blocked"),
        ("chess", {"depth": 0}, NO_DEPTH),
        ("connect6", WON, "the game is over: Black wins"),
        ("connect6", BOTH, "the game is over: Black wins"),
        ("connect6", BOTH_BEFORE_BLACK, "the game is over: White wins"),
        ("connect6", {"depth": 0}, NO_DEPTH),
        ("tictactoe", {"position": "XXX OO. ..."}, "the game is over: X wins"),
        ("tictactoe", {"position": "OOO XX. X.."}, "the game is over: O wins"),
        ("tictactoe", {"position": "XOX XXO OXO"}, "the game is over: a draw"),
        ("tictactoe", {"depth": 0}, NO_DEPTH),
    ],
)
def test_why_there_is_no_move_is_said(tmp_path, workload, settings, said):
    rows = rows_of(tmp_path, workload, "reference", **settings)
    assert rows["best move"] == said
    assert rows["nodes visited"] == "1 of 1"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"fen": "start", "pruning": "none"}, "421 of 421"),
        ({"fen": "start", "pruning": "alpha_beta"}, " of roughly 4.2e+02"),
    ],
)
def test_a_tree_that_was_searched_whole_is_counted_exactly(tmp_path, settings, said):
    rows = rows_of(tmp_path, "chess", **settings)
    assert rows["nodes visited"].endswith(said)


def test_the_seconds_that_nodes_per_second_are_taken_over_are_shown(tmp_path):
    """Those of the supersteps; the wall time has what is built and written besides."""
    rows = rows_of(tmp_path, "chess")
    with open_results(tmp_path / "search.h5", events="measured") as measured:
        seconds = float(measured.seconds.sum())
    assert rows["time of supersteps"] == f"{seconds:.4g} s"
    nodes = int(rows["nodes visited"].split()[0].replace(",", ""))
    assert rows["nodes per second"] == f"{nodes / seconds:,.0f}"
