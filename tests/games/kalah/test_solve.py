"""Does the table have the exact value of every board, as others computed those of the starts?"""

import random
from itertools import product
from math import comb

import numpy as np
import pytest
from oracles import solved

from reference_py.games.kalah import layer
from reference_py.games.kalah.fill import best_margin, is_decided
from reference_py.games.kalah.parameters import UNSOLVED, Parameters
from societies import config_from_dict, open_results, plan, run, verify
from societies.errors import ConfigError
from societies.games.kalah.solve import WORKLOAD
from societies.workload.running.engines import DeviceEngine


def config(**settings):
    return config_from_dict({"workload": "kalah_solve", **settings})


def margins(settings, device, path):
    """Return the margin of every start: (empty capture, pits, stones) -> stones."""
    run(settings, device=device, out=path, overwrite=True)
    games = product(settings.empty_capture, settings.pits)
    with open_results(path) as results:
        return {
            (capture, pits, 1 + i): UNSOLVED if np.isnan(value) else int(value)
            for (capture, pits), values in zip(games, results.margin.values, strict=True)
            for i, value in enumerate(values)
        }


@pytest.mark.parametrize("stones", [3, pytest.param(6, marks=pytest.mark.thorough)])
def test_the_starts_are_worth_what_others_found(device, stones, tmp_path):
    found = margins(config(stones=stones), device, tmp_path / "solved.h5")
    expected = {
        (one["empty_capture"], one["pits"], one["seeds"]): one["first_player_margin"]
        for one in solved()
    }
    assert len(expected) == 36
    assert found == {key: value for key, value in expected.items() if key[2] <= stones}


def exact(p, board, known):
    """Return the value of a board by trying all lines, without any table."""
    key = tuple(board)
    if key not in known:
        known[key] = best_margin(p, board, lambda one: exact(p, one, known))
    return known[key]


@pytest.mark.parametrize("empty_capture", [False, True])
@pytest.mark.parametrize(("pits", "stones"), [(1, 12), (2, 8), (3, 4), (4, 2)])
def test_every_board_of_the_table(device, pits, stones, empty_capture):
    settings = config(pits=[pits], empty_capture=[empty_capture], stones=12, layers=stones)
    engine = DeviceEngine(WORKLOAD, WORKLOAD.parameters(settings), device)
    engine.start()
    for tick in range(1, stones + 1):
        for step in engine.steps(tick):
            if step.phase != "above":
                engine.step(step, tick)
    values, known = engine.state()["values"][0], {}
    p, at = Parameters(pits, empty_capture=empty_capture), 0
    for total in range(stones + 1):
        for number in range(layer.layer_boards(2 * pits, total)):
            board = layer.unrank(number, 2 * pits, total)
            assert values[at] == exact(p, board, known), board
            at += 1
    assert at == len(values)


@pytest.mark.parametrize(("cells", "stones"), [(2, 9), (4, 7), (6, 5), (16, 2)])
def test_boards_of_a_layer_are_counted_through(cells, stones):
    boards = [layer.unrank(i, cells, stones) for i in range(layer.layer_boards(cells, stones))]
    assert boards == sorted(boards) and len({tuple(one) for one in boards}) == len(boards)
    assert {sum(one) for one in boards} == {stones}
    assert [layer.rank(one) for one in boards] == list(range(len(boards)))
    assert layer.place(boards[0]) == comb(stones + cells - 1, cells)
    assert layer.place(boards[-1]) + 1 == comb(stones + cells, cells)


def test_a_move_that_banks_nothing_lowers_the_potential():
    generator, seen = random.Random(3), 0
    for _ in range(3000):
        pits = generator.randrange(1, 9)
        p = Parameters(pits, empty_capture=generator.random() < 0.5)
        board = [generator.choice([0, 0, 1, 2, 3, 9, 20]) for _ in range(2 * pits)]
        before = layer.potential(board)
        assert 0 <= before <= layer.most_potential(pits, sum(board))
        if is_decided(board):
            continue
        for i in range(pits):
            after, banked, again = layer.sow(p, board, i) if board[i] else (board, 1, False)
            assert banked or (layer.potential(layer.flipped(after)) < before and not again)
            assert sum(after) + (banked if board[i] else 0) == sum(board)
            seen += not banked
    assert seen > 1000


@pytest.mark.parametrize("table", [5, 10, 13])
def test_starts_above_the_table_are_searched(device, table, tmp_path):
    whole = margins(config(pits=[1, 2, 3], stones=3), device, tmp_path / "whole.h5")
    some = config(pits=[1, 2, 3], stones=3, layers=table)
    assert margins(some, device, tmp_path / "some.h5") == whole
    few = margins(config(pits=[3], stones=3, layers=table, most_above=9), device, tmp_path / "f.h5")
    assert few[(True, 3, 3)] == few[(False, 3, 3)] == UNSOLVED and few[(False, 3, 1)] == 0


def test_device_and_reference_agree():
    for settings in (config(pits=[2, 1], stones=3, layers=9), config(pits=[3], stones=1)):
        report = verify(settings)
        assert report.identical, str(report)


def test_the_report_has_a_row_for_each_game(device, tmp_path):
    report = run(config(pits=[1, 2], stones=3), device=device, out=tmp_path / "solved.h5")
    rows = dict(report.rows)
    assert rows["2 pits, empty capture"] == "+2, -2, -2"
    assert rows["margin with stones a pit"] == "1, 2, 3"
    planned = plan(config(), device=device).rows
    assert ("table", "3 pits: 5,245,786 boards with at most 36 stones") in planned
    assert dict(planned)["room on the device"].startswith("for tables of 3 pits with at most")


def test_values_fit_their_type():
    boards = np.iinfo(np.int8).max
    with pytest.raises(ConfigError, match=f"layers: must be at most {boards}"):
        config(layers=128)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"pits": [6], "stones": 8},
            r"layers: .* at most 96 stones in 12 pits has [\d,]{18,} boards, "
            r"and at most 1,099,511,627,776 are possible: layers is at most \d+$",
        ),
        ({"pits": []}, "pits: at least one is needed"),
        ({"pits": [9]}, "pits.0: "),
        ({"empty_capture": []}, "empty_capture: at least one is needed"),
    ],
)
def test_what_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        config(**settings)
