"""Which circles and lines does a network of agents have, and which agents form a community?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.workload.declare.scene import MOST_NODES, Links

Link = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Givers, takers and weights: three arrays (link,)."""

MOST_TABLE, MOST_LINES = 63, 1000
"""Most circles of a network whose lines are all sent, at most a table of weights (`packed`); and
most lines of a network with more circles."""

PASSES = 20
"""Most passes over all agents in the search for communities."""


def network(
    links: Iterable[Link],
    sizes: NDArray[Any],
    colours: NDArray[Any],
    alive: NDArray[Any],
) -> dict[str, NDArray[Any]]:
    """Return what is drawn of a network.

    Above `MOST_NODES` agents, those of one colour are one circle, and what they give each other is
    left out. Of many lines the largest are drawn, among them the largest from and to each circle.

    Parameters
    ----------
    links : of several ticks, which are added up
    sizes, colours : (agent,) float and int
    alive : (agent,) whether an agent takes part

    Returns
    -------
    "nodes", (circle, 9) float32: size, colour, agents that take part, community, agents in all,
    what it gave and to how many, what it got and from how many; and "links", (line, 3) float32:
    giver, taker, weight. Nothing if there are too many colours.
    """
    count = len(sizes)
    here = np.asarray(alive) != 0
    circle = np.arange(count)
    if count > MOST_NODES:
        circle = colours.astype(np.int64)
        count = int(circle.max()) + 1
        if count > MOST_NODES:
            return {}
        sizes, colours = np.bincount(circle, sizes * here, count), np.arange(count)
    table = np.zeros((count, count))
    for givers, takers, weights in links:
        np.add.at(table, (circle[givers], circle[takers]), weights)
    np.fill_diagonal(table, 0.0)
    givers, takers = np.nonzero(table)
    members = np.bincount(circle, minlength=count)
    living = np.bincount(circle, here, count)
    nodes = [sizes, colours, living, communities(table), members]
    nodes += [table.sum(1), (table > 0).sum(1), table.sum(0), (table > 0).sum(0)]
    if count > MOST_TABLE:
        chosen = _largest_lines(table, givers, takers)
        givers, takers = givers[chosen], takers[chosen]
    lines = [givers, takers, table[givers, takers]]
    return {
        "nodes": np.stack(nodes, axis=1).astype(np.float32),
        "links": np.stack(lines, axis=1).astype(np.float32),
    }


def _largest_lines(
    table: NDArray[np.float64], givers: NDArray[np.int64], takers: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the positions of the largest lines, at most `MOST_LINES`, in their order."""
    first = (takers == table.argmax(1)[givers]) | (givers == table.argmax(0)[takers])
    order = np.lexsort((-table[givers, takers], ~first))
    return np.sort(order[:MOST_LINES])


def packed_links(links: NDArray[Any], circles: int) -> NDArray[np.float32]:
    """Return the lines of a network in fewer bytes.

    Parameters
    ----------
    links : (line, 3) giver, taker, weight
    circles : number of circles

    Returns
    -------
    (line, 2): giver * circles + taker, and weight; or (circles * circles, 1), the weights of all
    pairs, if there are few circles.
    """
    pairs = links[:, 0].astype(np.int64) * circles + links[:, 1].astype(np.int64)
    if circles**2 > 2 * len(links):
        return np.stack([pairs, links[:, 2]], axis=1).astype(np.float32)
    table = np.zeros((circles**2, 1), np.float32)
    table[pairs, 0] = links[:, 2]
    return table


def communities(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the community of each agent, numbered in the order of their first agents.

    This is the local moving phase of Blondel et al. (2008, Journal of Statistical Mechanics
    P10008): agents move, in the order of their numbers, to the community that raises the modularity
    most (ties: the lowest number), until none moves; then the communities move in the same way.

    Directions of the weights in ``table`` (giver, taker) are ignored.
    """
    weights = table + table.T
    found = np.arange(len(table))
    while True:
        moved = _moved(weights)
        found = moved[found]
        if len(moved) == int(moved.max(initial=-1)) + 1:
            return found
        count = int(moved.max()) + 1
        merged = np.zeros((count, count))
        np.add.at(merged, (moved[:, None], moved[None]), weights)
        weights = merged


def _moved(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the community of each node after nodes have moved, from one for each."""
    count, degree = len(weights), weights.sum(1)
    label, total = np.arange(count), degree.copy()
    whole = degree.sum()
    for _ in range(PASSES if whole > 0 else 0):
        before = label.copy()
        for node in range(count):
            own = label[node]
            total[own] -= degree[node]
            near = np.bincount(label, weights[node], count)
            near[own] -= weights[node, node]
            gain = near - total * degree[node] / whole
            best = int(gain.argmax())
            # A move has to raise the modularity by more than rounding does.
            label[node] = best if gain[best] > gain[own] + 1e-12 * whole else own
            total[label[node]] += degree[node]
        if (label == before).all():
            break
    _, first, renumbered = np.unique(label, return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return order[renumbered]


def network_facts(
    net: Links, state: Any, agents: int, drawn: Mapping[str, NDArray[Any]]
) -> dict[str, Any]:
    """Return the words about a network: what is drawn, and whether agents are put together."""
    shown = f"{net.title}: {state.links}, {state.window}"
    said = f"{shown}; size: what it holds; colour: {state.colour}"
    together = agents > MOST_NODES
    if together and drawn:
        said = (
            f"{shown}. {agents:,} agents are too many to draw: each circle stands for all of one "
            f"colour ({state.colour}), its size for what they hold"
        )
    elif together:
        said = f"{net.title}: {agents:,} agents, in too many colours to draw"
    if drawn:
        lines, whole = len(drawn["links"]), int(drawn["nodes"][:, 6].sum())
        if lines < whole:
            said += f"; the {lines:,} largest of {whole:,} lines are drawn"
    return {"title": said, "together": together}


def summed(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return a number for each node: the sum over further dimensions."""
    return np.asarray(values.reshape(len(values), -1).sum(1), np.float64)


def largest(values: NDArray[Any]) -> NDArray[Any]:
    """Return a number for each node: the position of the largest value in further dimensions."""
    return values.reshape(len(values), -1).argmax(1) if values.ndim > 1 else values
