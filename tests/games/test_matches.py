"""Is the table of a match right: who begins, wins, points, margin, and their intervals?"""

import numpy as np
import pytest
import scipy.stats

from societies.games.chess.match import WORKLOAD as CHESS
from societies.games.matches import beginner, player_name, standing, student, wilson


def test_each_player_begins_half():
    assert [beginner(game) for game in range(1, 7)] == [0, 1, 0, 1, 0, 1]


def test_a_table_by_hand():
    found = standing([4, -2, 0, 6, 2, -8])
    assert (found.games, found.wins, found.ties, found.losses) == (6, 3, 1, 2)
    assert found.wins_beginning == 2  # of the first, third and fifth game
    assert found.points == 3.5 / 6
    assert found.margin == pytest.approx(1 / 3)  # pairs: 1, 3, -3


@pytest.mark.parametrize("games", [4, 10, 62, 64, 400])
def test_the_interval_of_the_margin_is_student_s(games):
    margins = np.random.default_rng(games).integers(-20, 25, games)
    pairs = margins.reshape(-1, 2).mean(axis=1)
    expected = scipy.stats.t.interval(
        0.95, len(pairs) - 1, loc=pairs.mean(), scale=scipy.stats.sem(pairs)
    )
    assert standing(margins).margin_interval == pytest.approx(expected, abs=5e-3)
    assert student(games) == pytest.approx(scipy.stats.t.ppf(0.975, games), abs=1e-3)


@pytest.mark.parametrize(("wins", "games"), [(0, 10), (10, 10), (3, 7), (61, 100)])
def test_the_interval_of_the_points_is_wilson_s(wins, games):
    expected = scipy.stats.binomtest(wins, games).proportion_ci(method="wilson")
    assert wilson(wins / games, games) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_one_pair_of_games_has_no_interval():
    assert standing([3, -1]).margin_interval == (-np.inf, np.inf)


def test_several_matches_are_one_table():
    found = standing([[2, 0], [-4, 6]])
    assert (found.games, found.wins, found.ties, found.wins_beginning) == (4, 2, 1, 1)


def test_the_ends_of_games_are_listed_with_the_most_frequent_first():
    ends, margins = [[4, 0, 0], [0, 3, 4]], [[0, 1, -1], [1, 0, 0]]
    assert CHESS.endings(ends, margins) == "mate 3 (2 to 1), no pieces to mate 2, third time 1"


def test_players_are_named_by_what_they_do():
    assert player_name("bonzo", 0, 0.0) == "bonzo"
    assert player_name("layers", 5, 0.0) == "layers, 5 plies"
    assert player_name("expanded", 40, 0.25) == "expanded, 40 plies, 0.25 s a move"
