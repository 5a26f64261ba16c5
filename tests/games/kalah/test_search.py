"""Does every form of the search, however it is cut, find what the reference and others found?"""

import itertools
from collections import Counter
from functools import cache
from itertools import product

import pytest
from boards import RESULTS, config, fuzz, given, searched, splits
from marks import thorough_but
from oracles import FUZZ, RULES, START, initial

from reference_py.games.kalah.descend import minimax
from reference_py.games.kalah.parameters import TOP, Parameters, Position
from reference_py.games.kalah.rules import evaluate
from societies import open_results, run, verify
from societies.games.kalah import WORKLOAD
from societies.games.kalah.config import estimated_boards
from societies.games.kalah.levels import search_levels, shortened
from societies.workload.running import pace as slices
from societies.workload.running.engines import DeviceEngine, ReferenceEngine

FORMS = {
    "expanded": {},
    "small batches": {"boards": 64, "plies": 3},
    "one ply at the end": {"plies": 1},
    "all plies at the end": {"plies": 8},
    "few plies alone": {"alone": 5, "plies": 2},
    "layers": {"form": "layers"},
    "layers in small batches": {"form": "layers", "boards": 64},
}


@pytest.mark.parametrize("name", thorough_but(("layers", "few plies alone"), FORMS))
def test_the_start_position(device, name):
    depth = 8
    found = searched(config(depth, **FORMS[name]), device)
    for tick in range(1, depth + 1):
        one = {name: int(values[0, tick - 1]) for name, values in found.items()}
        expected = initial()[tick]
        assert one == {
            "score": expected["score"],
            "pit": expected["move"],
            "nodes": expected["nodes"],
            "leaves": expected["leaves"],
            "finished": expected["terminals"],
        }


def test_ten_plies(device):
    """The first depth at which a game ends on the way."""
    found = searched(config(10), device, [10])
    expected = initial()[10]
    assert expected["terminals"] == 1
    counts = ("score", "move", "nodes", "leaves", "terminals")
    assert [int(found[name][0, 0]) for name in RESULTS] == [expected[name] for name in counts]


@pytest.mark.parametrize(
    "name",
    thorough_but(
        ("one ply at the end", "layers in small batches"),
        FORMS,
    ),
)
def test_boards_of_others(device, name):
    boards = given([(case["board"], case["to_move"]) for case in FUZZ])
    found = searched(config(6, positions=boards, **FORMS[name]), device)
    for game, case in enumerate(FUZZ):
        for depth in (1, 2, 3, 4, 6):
            expected = case["minimax"][str(depth)]
            one = [int(found[of][game, depth - 1]) for of in ("score", "pit", "nodes")]
            assert one == [expected["score"], expected["move"], expected["nodes"]]


@cache
def plain(game, depth):
    """Return what the plain search finds of a board of others."""
    return minimax(RULES, FUZZ[game]["board"], FUZZ[game]["to_move"], depth)


@pytest.mark.thorough
@pytest.mark.parametrize("split", splits(5), ids=str)
def test_every_split(device, split):
    boards = given([(case["board"], case["to_move"]) for case in FUZZ[:3]])
    settings = config(5, positions=boards, form="layers", split=list(split))
    found = searched(settings, device)
    for game in range(3):
        for depth in (1, 2, 3, 4, 5):
            expected = plain(game, depth)
            assert found["score"][game, depth - 1] == expected.score
            assert found["pit"][game, depth - 1] == expected.pit
            assert found["nodes"][game, depth - 1] == expected.nodes


@pytest.mark.parametrize(
    ("form", "empty_capture"),
    thorough_but(
        [("expanded", True), ("layers", False)],
        [*product(("expanded", "layers"), (False, True))],
        2,
    ),
)
def test_random_boards(device, form, empty_capture):
    seed = 11 + empty_capture
    print("seed", seed)
    p = Parameters(empty_capture=empty_capture)
    boards = fuzz(seed, 256, p)
    settings = config(
        3, positions=given(boards), form=form, empty_capture=empty_capture, boards=256, plies=2
    )
    found = searched(settings, device)
    for game, (board, side) in enumerate(boards):
        for depth in (1, 2, 3):
            expected = minimax(p, board, side, depth)
            for name in RESULTS:
                assert found[name][game, depth - 1] == getattr(expected, name), (board, side, name)


@pytest.mark.thorough
@pytest.mark.parametrize("pits", [1, 3, 5, 8])
def test_boards_of_other_sizes(device, pits):
    p = Parameters(pits=pits, stones=12)
    boards = fuzz(pits, 30, p)
    boards.append((list(p.games[0].board), TOP))
    found = {
        form: searched(
            config(4, pits=pits, stones=12, positions=given(boards), form=form, boards=512), device
        )
        for form in ("expanded", "layers")
    }
    for game, (board, side) in enumerate(boards):
        expected = minimax(p, board, side, 3)
        for one in found.values():
            for name in RESULTS:
                assert one[name][game, 2] == getattr(expected, name), (board, side, name)
    for name in RESULTS:
        assert (found["expanded"][name] == found["layers"][name]).all()


def test_a_finished_game_is_answered(device):
    board = [0] * 6 + [20] + [4, 4, 0, 0, 0, 0, 20]
    found = searched(config(2, board=board), device)
    assert {name: values[0].tolist() for name, values in found.items()} == {
        "score": [8, 8],
        "pit": [-1, -1],
        "nodes": [1, 1],
        "leaves": [0, 0],
        "finished": [1, 1],
    }


@pytest.mark.parametrize("form", ["expanded", "layers"])
def test_no_plies_are_the_evaluation(device, form, tmp_path):
    """There is no first tick: the file has the board's value, and no depths."""
    board, path = FUZZ[1]["board"], tmp_path / "none.h5"
    settings = config(0, board=board, to_move="bottom", form=form)
    report = run(settings, device=device, out=path)
    assert report.last_tick == 0 and run(settings, device=device, out=path, resume=True)
    assert (
        report.state_sha256 == run(settings, device="reference", out=tmp_path / "b.h5").state_sha256
    )
    assert verify(settings).identical
    with open_results(path) as found:
        expected = {"score": evaluate(RULES, board), "nodes": 1, "leaves": 1}
        assert {name: found[name].values.tolist() for name in expected} == {
            name: [value] for name, value in expected.items()
        }
        assert found.finished.values == [0] and found.sizes["depth"] == 0
        assert found.pit.isnull().all()  # there is no best move
    assert dict(report.rows)["score"] == str(expected["score"])


def nbytes(boards, depth):
    """Return the bytes of all arrays of a search with this number of boards at a time."""
    p = WORKLOAD.parameters(config(depth, boards=boards))
    sizes = WORKLOAD.sizes(p)
    return sum(field.nbytes(sizes) for field in WORKLOAD.fields(p).values())


def test_boards_in_flight_follow_from_the_memory(device):
    """A quarter of it, in powers of two; the results stay as they are."""

    def fitted(memory, **settings):
        facts = {"kind": "gpu", "global_memory": memory, "max_alloc": memory // 2}
        return WORKLOAD.fitted(config(13, **settings), type("Gpu", (), facts)).boards

    for memory in (1 << 20, 1 << 24, 10**8):
        boards = fitted(memory)
        assert nbytes(boards, 13) <= memory // 4 < nbytes(2 * boards, 13)
    assert fitted(1 << 10) == 64 and fitted(1 << 36) == 2**20 and fitted(1 << 20, boards=77) == 77
    assert WORKLOAD.fitted(config(13), None).boards == 2**18
    few = searched(config(8, boards=fitted(1 << 16), plies=2), device, [8])
    expected = searched(config(8), device, [8])
    assert all((few[name] == expected[name]).all() for name in RESULTS)


@pytest.mark.parametrize("name", ["expanded", "layers", "small batches"])
def test_a_long_launch_is_several(device, monkeypatch, name):
    """On a device so slow each slice has one workgroup that finds boards, whatever it does."""
    finished = [0] * 6 + [20] + [4, 4, 0, 0, 0, 0, 20]
    boards = given([(finished, TOP), (START, TOP), (FUZZ[1]["board"], FUZZ[1]["to_move"])])
    settings = config(7, positions=boards, **{"plies": 2, "boards": 2048, **FORMS[name]})
    expected, whole, sliced = searched(settings, device, [7]), Counter(), Counter()
    monkeypatch.setattr(slices, "SLOWEST", 1.0)
    monkeypatch.setattr(slices.time, "perf_counter", itertools.count().__next__)
    launch = slices.Pace.launch

    def counted(pace, kernel, size, changed, values):
        before = device.counters.launches
        launch(pace, kernel, size, changed, values)
        whole[kernel.kernel.name] += 1
        sliced[kernel.kernel.name] += device.counters.launches - before

    monkeypatch.setattr(slices.Pace, "launch", counted)
    found = searched(settings, device, [7])
    last = {"layers": "parallel"}.get(name, "descend")
    expanding = {"expand_few", "expand"} if name == "expanded" else {"expand_few"}
    assert set(whole) >= {*expanding, "reduce", last}
    assert all(sliced[kernel] > whole[kernel] for kernel in (*expanding, "reduce", last)), sliced
    assert all((found[of] == expected[of]).all() for of in RESULTS)


@pytest.mark.parametrize("plies", range(13))
def test_the_estimate_of_nodes_is_near_the_count(plies):
    """Known counts are met within a tenth, and exactly while all boards are looked at."""
    ratio = estimated_boards(Parameters(), plies) / initial()[plies]["nodes"]
    assert ratio == 1 if plies <= 3 else 0.9 < ratio < 1.1


def test_the_estimate_follows_the_board():
    for case in FUZZ:
        p = Parameters(positions=(Position(tuple(case["board"]), case["to_move"]),))
        for plies, found in case["minimax"].items():
            assert 0.9 < estimated_boards(p, int(plies)) / found["nodes"] < 1.1
    finished = Position((0,) * 6 + (20, 4, 4, 0, 0, 0, 0, 20))
    assert estimated_boards(Parameters(positions=(finished,) * 300), 64) == 300


def test_a_game_that_is_nearly_over_may_be_searched_to_its_end():
    """There are few boards below it, however many plies; of the start there are too many."""
    board = [0, 0, 0, 0, 1, 2, 20, 1, 1, 0, 0, 0, 0, 20]
    assert config(64, board=board).estimate() < 10_000


@pytest.mark.parametrize("name", FORMS)
def test_device_and_reference_agree_after_every_phase(name):
    boards = given([(START, TOP), (FUZZ[1]["board"], FUZZ[1]["to_move"])])
    report = verify(config(4, positions=boards, **FORMS[name]))
    assert report.identical, str(report)
    assert report.ticks == 4


@pytest.mark.thorough
@pytest.mark.parametrize("work_items", [1, 7, 32, 256])
@pytest.mark.parametrize("form", ["expanded", "layers"])
def test_workgroups_of_any_size(device, form, work_items):
    p = WORKLOAD.parameters(config(5, form=form, boards=64))
    engine = DeviceEngine(WORKLOAD, p, device, work_items=work_items)
    expected = ReferenceEngine(WORKLOAD, p)
    for one in (engine, expected):
        one.start()
        one.run_ticks(5, 5)
    assert engine.hash() == expected.hash()


@pytest.mark.parametrize("form", ["expanded", "layers"])
@pytest.mark.parametrize("boards", [64, 4096, 2**18])
@pytest.mark.parametrize("pits", [1, 3, 6, 8])
def test_levels_add_up_and_fit(form, boards, pits):
    for depth in range(1, 20):
        last = min(3, depth // 2)
        split = (depth // 3, depth - depth // 3 - last, last + 1)
        p = Parameters(pits, depth=depth, form=form, split=split, boards=boards, plies=3)
        cut = search_levels(p, depth)
        plies = [stage.plies for stage in cut.stages]
        assert sum(plies) + cut.last == depth
        assert [stage.level for stage in cut.stages] == [sum(plies[:i]) for i in range(len(plies))]
        assert max(cut.bounds) <= boards and len(cut.bounds) == sum(plies) + 1
        assert all(1 <= stage.batch <= cut.bounds[stage.level] for stage in cut.stages)
        assert cut.size == sum(cut.bounds)


def test_smaller_depths_shorten_the_plies_breadth_first_then_those_before():
    assert shortened((2, 3, 4), 8) == (2, 3, 3)
    assert shortened((2, 3, 4), 6) == (2, 1, 3)
    assert shortened((2, 3, 4), 4) == (1, 0, 3)
    assert shortened((2, 3, 4), 2) == (0, 0, 2)


def stages(depth, **settings):
    found = search_levels(Parameters(depth=depth, **settings), depth).stages
    return [(stage.level, stage.plies, stage.batch) for stage in found]


def test_the_boards_before_are_taken_one_by_one():
    assert stages(8, form="layers", split=(2, 3, 4)) == [(0, 2, 1), (2, 3, 1)]
    assert stages(8, form="layers", split=(0, 5, 4)) == [(0, 5, 1)]
    assert stages(5, form="layers", split=(2, 0, 4)) == [(0, 2, 1), (2, 0, 1)]


def test_a_split_that_does_not_fit_is_done_in_batches():
    """The published one, 11 plies breadth first at a depth of 14, did not fit its card."""
    assert stages(14, form="layers", split=(0, 11, 4)) == [(0, 6, 1), (6, 5, 33)]
    assert stages(13) == [(0, 6, 1), (6, 3, 1213)]
    assert stages(9, boards=64) == [(0, 2, 1), (2, 1, 10), (3, 2, 1)]


BAD = [
    ({"board": [4] * 13}, "board: 13 cells; a board with 6 pits a side has 14"),
    ({"board": [40] * 7 + [0] * 7}, "board: 280 stones; a board has at most 255"),
    ({"board": [-1] + [0] * 13}, "board.0: "),
    ({"to_move": "left"}, "to_move: "),
    ({"depth": -1}, "depth: "),
    ({"pits": 8, "depth": 4, "plies": 8}, "plies: 8 plies with 8 pits a side are up to 16,777,216"),
    ({"boards": 63}, "boards: must be at least 64, got 63"),
    ({"depth": 21}, "depth: 21 plies are about 4e\\+14 boards to look at; at most 1e\\+13"),
    ({"form": "layers", "split": [0, 5, 4]}, r"split: 0 \+ 5 \+ 4 - 1 = 8 plies, and depth is 6"),
    ({"form": "expanded", "split": [0, 3, 4]}, "split: expanded has no split; layers has"),
    ({"form": "layers", "split": [1, 1]}, "split: three numbers are needed"),
    ({"form": "layers", "split": [0, 2, 5]}, "split: a parallel tree of 5 levels has 1555 boards"),
    ({"board": [1] * 14, "positions": given([(START, TOP)])}, "board: positions give the boards"),
    ({"plise": 3}, "plise: "),
]


@pytest.mark.parametrize(("settings", "message"), BAD)
def test_what_is_refused(settings, message):
    from societies.errors import ConfigError

    with pytest.raises(ConfigError, match=message):
        config(**{"depth": 6, **settings})
