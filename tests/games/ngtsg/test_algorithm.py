"""Does the reference visit the nodes that the algorithm's own definition visits?"""

import random

import literal
import plain
import pytest
import random_game
from literal import alpha_beta, search

from reference_py.games.tictactoe.search import GAME as TICTACTOE

SIZES = (1, 2, 3, 7, 20, 100)


def counts(game):
    """Return value, nodes, leaves, batches of both kinds and the most nodes that were stored."""
    return (
        int(game.value),
        int(game.visited.sum()),
        int(game.leaves),
        int(game.branch_batches),
        int(game.leaf_batches),
        int(game.peak),
    )


def trees(seed, number, ends):
    """Yield rules, parameters and root of random trees and searches."""
    drawn = random.Random(seed)
    for tree in range(number):
        width, depth = drawn.randint(1, 6), drawn.randint(1, 6)
        rules = random_game.game(tree, width, drawn.choice((2, 5, 20, 1000)), ends)
        leaves, branches = drawn.choice(SIZES), drawn.choice(SIZES)
        prune = drawn.random() < 0.85
        yield rules, plain.parameters(depth, prune, leaves, branches, width, [tree]), [tree]


def test_counts_are_those_of_the_definition():
    for rules, p, root in trees(1, 300, ends=0):
        found = search(rules, p, root)
        nodes = found.branches + found.leaves
        expected = (
            *(found.value, nodes, found.leaves),
            *(found.branch_batches, found.leaf_batches, found.peak),
        )
        assert counts(plain.searched(rules, p)) == expected, p


@pytest.mark.parametrize("ends", [0, 30])
def test_batches_of_one_are_serial_alpha_beta(ends):
    for rules, p, root in trees(2, 100, ends):
        one = plain.parameters(p.depth, p.prune, 1, 1, p.width, root)
        game = plain.searched(rules, one)
        assert (int(game.value), int(game.visited.sum())) == alpha_beta(rules, p, root), p


@pytest.mark.parametrize("ends", [0, 30])
def test_a_small_pool_only_takes_smaller_batches(ends):
    shortened = 0
    for rules, p, root in trees(3, 100, ends):
        small = plain.parameters(p.depth, p.prune, 100, 100, p.width, root, rooms=p.width)
        game = plain.searched(rules, small)
        shortened += int(game.shortened)
        assert int(game.value) == alpha_beta(rules, p, root)[0], p
        assert game.counts.max() <= p.width
    assert shortened > 50


def test_the_best_move_is_the_first_of_the_best():
    moves = 0
    for rules, p, root in trees(4, 200, 30):
        game = plain.searched(rules, p)
        values = [
            -alpha_beta(rules, _below(p), rules.make(p, root, move), 1)[0]
            for move in rules.branch(p, root)
        ]
        if not values:
            continue
        moves += 1
        best = [move for move, value in enumerate(values) if value == max(values)]
        assert int(game.move) in best
        assert int(game.as_good) <= len(best) <= int(game.as_good + game.perhaps_as_good)
        if not p.prune:
            assert (int(game.move), int(game.as_good)) == (best[0], len(best))
    assert moves > 100


def _below(p):
    return plain.parameters(p.depth, False, 1, 1, p.width, [0])


def test_no_one_wins_at_tic_tac_toe():
    p = plain.parameters(9, True, 64, 16, 9, [0, 0])
    game = plain.searched(TICTACTOE, p)
    assert int(game.value) == 0
    assert literal.alpha_beta(TICTACTOE, plain.parameters(9, True, 1, 1, 9, [0, 0]), [0, 0])[0] == 0


@pytest.mark.thorough
def test_all_games_of_tic_tac_toe():
    p = plain.parameters(9, False, 4096, 512, 9, [0, 0])
    game = plain.searched(TICTACTOE, p)
    assert int(game.visited.sum()) == 549_946  # positions in all orders, as is well known
    assert int(game.leaves) == 255_168  # games
