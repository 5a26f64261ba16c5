"""Does a network have the communities and, for many agents, the sums that it should?"""

from types import SimpleNamespace

import networkx
import numpy as np
import pytest

from societies.view.networks import (
    MOST_LINES,
    MOST_TABLE,
    communities,
    network,
    network_facts,
    packed_links,
)
from societies.workload.declare.scene import MOST_NODES, Links


def blocks(seed, count=48, parts=5):
    """Return weights with denser blocks."""
    draw = np.random.default_rng(seed)
    table = draw.poisson(2, (count, count)) * (draw.random((count, count)) < 0.2) * 1.0
    same = np.arange(count) % parts
    table *= np.where(same[:, None] == same, 8, 1)
    np.fill_diagonal(table, 0)
    return table


@pytest.mark.parametrize("seed", range(4))
def test_communities_are_as_good_as_those_of_another_library(seed):
    table = blocks(seed)
    graph = networkx.from_numpy_array(table + table.T)
    found = communities(table)
    mine = [set(np.flatnonzero(found == one).tolist()) for one in np.unique(found)]
    theirs = networkx.community.louvain_communities(graph, seed=seed)
    modularity = networkx.community.modularity
    assert modularity(graph, mine) > modularity(graph, theirs) - 0.01
    assert [found.tolist().index(one) for one in range(len(mine))] == sorted(
        found.tolist().index(one) for one in range(len(mine))
    )


def test_communities_without_links_are_single_agents():
    assert communities(np.zeros((3, 3))).tolist() == [0, 1, 2]
    assert communities(np.zeros((0, 0))).tolist() == []
    pairs = np.array([[0, 0, 1, 0], [0, 0, 0, 2], [0, 0, 0, 0], [0, 0, 0, 0]])
    assert communities(pairs * 1.0).tolist() == [0, 1, 0, 1]


def test_many_agents_are_one_circle_for_each_colour_and_that_is_said():
    count = MOST_NODES + 100
    colours, alive = np.arange(count) % 3, np.arange(count) >= 6
    link = (np.array([0, 1, 3, 0]), np.array([1, 2, 4, 3]), np.array([5, 7, 11, 13]))
    drawn = network([link, link], np.full(count, 2.0), colours, alive)
    sizes, hues, living, _, members = drawn["nodes"][:, :5].T
    assert hues.tolist() == [0, 1, 2] and members.sum() == count and living.sum() == count - 6
    assert np.array_equal(sizes, 2 * living)
    assert drawn["links"].tolist() == [[0, 1, 32], [1, 2, 14]]  # not what colour 0 gave itself
    net = Links("Trade", "", {}, "", {})
    state = SimpleNamespace(links="units", window="this day", colour="its group")
    title = network_facts(net, state, 10_000, drawn)["title"]
    assert "10,000 agents are too many to draw: each circle stands for all of one colour" in title
    assert network([link], np.ones(count), np.arange(count), alive) == {}
    assert "in too many colours" in network_facts(net, state, 10_000, {})["title"]


def test_few_agents_are_circles_of_their_own():
    link = (np.array([0, 1]), np.array([1, 2]), np.array([5, 7]))
    drawn = network([link], np.arange(3), np.array([4, 5, 6]), np.array([1, 0, 1]))
    assert drawn["nodes"][:, [0, 1, 2, 4]].tolist() == [[0, 4, 1, 1], [1, 5, 0, 1], [2, 6, 1, 1]]
    assert drawn["links"].tolist() == [[0, 1, 5], [1, 2, 7]]


def test_of_many_lines_the_largest_are_drawn_and_that_is_said():
    count = MOST_NODES
    table = np.random.default_rng(1).permutation(count**2).reshape(count, count).astype(float)
    np.fill_diagonal(table, 0)
    givers, takers = np.nonzero(table)
    link = givers, takers, table[givers, takers]
    drawn = network([link], np.ones(count), np.zeros(count), np.ones(count))
    assert len(drawn["links"]) == MOST_LINES
    pairs = {(int(a), int(b)) for a, b, _ in drawn["links"]}
    for agent in range(count):
        assert (agent, int(table[agent].argmax())) in pairs
        assert (int(table[:, agent].argmax()), agent) in pairs
    gave, takers, got, givers = drawn["nodes"][:, 5:].T
    assert np.allclose(gave, table.sum(1)) and np.allclose(got, table.sum(0))
    assert set(takers) | set(givers) <= {count - 1, count - 2}  # one weight is 0
    net = Links("Trade", "", {}, "", {})
    state = SimpleNamespace(links="units", window="this day", colour="its group")
    said = network_facts(net, state, count, drawn)["title"]
    assert said.endswith(f"; the 1,000 largest of {len(link[0]):,} lines are drawn")


@pytest.mark.parametrize("count", [48, MOST_TABLE])
def test_of_few_circles_all_lines_are_drawn(count):
    givers, takers = np.nonzero(~np.eye(count, dtype=bool))
    ones = np.ones(count)
    drawn = network([(givers, takers, np.arange(len(givers)) + 1.0)], ones, 0 * ones, ones)
    assert len(drawn["links"]) == count * (count - 1) > MOST_LINES
    assert packed_links(drawn["links"], count).nbytes == 4 * count**2


@pytest.mark.parametrize("lines", [3, 20])
def test_lines_are_sent_as_pairs_or_as_a_table(lines):
    draw = np.random.default_rng(lines)
    pairs = np.sort(draw.choice(36, lines, replace=False))
    weights = draw.integers(1, 99, lines).astype(float)
    sent = packed_links(np.stack([pairs // 6, pairs % 6, weights], axis=1), 6)
    assert sent.nbytes == 4 * min(2 * lines, 36)
    if sent.shape[1] == 2:
        assert np.array_equal(sent, np.stack([pairs, weights], axis=1))
    else:
        assert np.array_equal(np.flatnonzero(sent), pairs)
        assert np.array_equal(sent[pairs, 0], weights)
