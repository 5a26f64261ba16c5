"""Do steps of markets serve agents in their order, once each, and only with what is left?"""

import random

import pytest

from reference_py.primitives.rng import Rng
from societies.model.markets import (
    choose,
    draw_word,
    draw_words,
    index_of,
    match_in_order,
    match_one_by_one,
    pick,
    placed,
    ration_in_order,
    trimmed_mean,
    visit_in_order,
)

WORDS = 1 << 32


def test_words_are_the_next_of_the_stream_of_their_agent_alone():
    streams = [Rng.seed(5, 2**32, number).pack() for number in range(3)]
    one_by_one = list(streams)
    assert draw_words(streams, 1, 4) == [draw_word(one_by_one, 1) for _ in range(4)]
    assert streams == one_by_one


def test_a_word_picks_each_of_n_equally_often():
    assert [pick(word, 3) for word in (0, WORDS // 3, WORDS // 3 + 1, WORDS - 1)] == [0, 0, 1, 2]


def test_the_chosen_differ_and_keep_what_was_chosen_before():
    draw = random.Random(1)
    for n in range(1, 7):
        for before in ([], [n - 1]):
            for count in range(len(before), n + 1):
                chosen, taken = list(before), []
                choose([draw.randrange(WORDS) for _ in range(n)], n, count, taken, chosen)
                assert chosen[: len(before)] == before
                assert sorted(chosen) == taken == sorted(set(chosen)) and len(chosen) == count


def test_every_set_is_chosen_equally_often():
    seen = {}
    for a in range(12):
        for b in range(12):
            chosen = []
            choose([a * WORDS // 12 + 5, b * WORDS // 12 + 5], 4, 2, [], chosen)
            seen[tuple(chosen)] = seen.get(tuple(chosen), 0) + 1
    assert len(seen) == 12 and set(seen.values()) == {12}


def test_agents_are_sorted_by_word_and_then_by_index():
    order = [placed(word, index) for word, index in ((7, 2), (7, 1), (3, 9))]
    assert [index_of(place) for place in sorted(order)] == [9, 1, 2]


def matched(match, places, *given):
    """Return who was matched with whom, in order; an acceptance takes a place."""
    found = []

    def accept(applicant, employer):
        places[employer] -= 1
        found.append((applicant, employer))

    match(*given, places, accept)
    return found, places


ORDER = [placed(word, index) for index, word in enumerate((50, 10, 40, 20, 30))]
"""Applicants 1, 3, 4, 2, 0 in their order."""


def test_applicants_first_in_order_get_the_places_that_they_ask_for():
    asked = [0, 0, 1, 0, 1]
    found, left = matched(match_in_order, [2, 1], ORDER, lambda j: asked[j])
    assert found == [(1, 0), (3, 0), (4, 1)]  # 2 and 0 come too late
    assert left == [0, 0]


def test_an_applicant_goes_through_its_list_before_the_next_begins():
    lists = [[1, 0], [0, 1], [-1, 1], [0, 1], [0, -1]]
    found, left = matched(match_one_by_one, [1, 2], ORDER, lists)
    assert found == [(1, 0), (3, 1), (2, 1)]  # 4 knows only the full employer 0
    assert left == [0, 0]


def test_a_supplier_serves_in_rank_until_it_has_nothing_left():
    wanted, offered, granted = [30, 20, 0, 10], [45, 5], []
    asked = [0, 0, 0, -1]

    def grant(buyer, supplier, most):
        amount = min(most, 25)  # a limit of one trade
        wanted[buyer] -= amount
        offered[supplier] -= amount
        granted.append((buyer, supplier, amount))

    ranked = [(0.1, 1), (0.2, 2), (0.3, 0), (0.4, 3)]
    ration_in_order(ranked, lambda i: asked[i], wanted, offered, grant)
    assert granted == [(1, 0, 20), (0, 0, 25)]
    assert (wanted, offered) == ([5, 0, 0, 10], [0, 5])
    ration_in_order(ranked, lambda i: asked[i], wanted, offered, grant)
    assert len(granted) == 2  # supplier 0 has nothing left


@pytest.mark.parametrize("rounds", [False, True])
def test_buyers_buy_in_order_what_budget_and_stock_allow(rounds):
    lists, budgets, stocks = [[0, 1], [0, 1], [1, -1]], [10, 10, 10], [12, 9]
    order = [placed(word, index) for word, index in ((1, 1), (2, 0), (3, 2))]
    if rounds:
        for k in range(2):
            visit_in_order(order, lists, k, k + 1, budgets, stocks)
        assert budgets == [8, 0, 1]  # 2 is at shop 1 before 0 comes to it
    else:
        visit_in_order(order, lists, 0, 2, budgets, stocks)
        assert budgets == [0, 0, 9]
    assert stocks == [0, 0]


def test_a_trimmed_mean_leaves_out_a_twentieth_at_each_end():
    assert trimmed_mean([], 20) == 0.0
    assert trimmed_mean([1, 2, 9], 20) == 4.0
    assert trimmed_mean([-1000, *range(1, 19), 1000], 20) == 9.5
