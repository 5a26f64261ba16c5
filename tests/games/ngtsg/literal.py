"""The search as its specification says it: one node after the other, a tree of objects."""

from collections import deque
from dataclasses import dataclass, field

INFINITY = 10**12


@dataclass
class Node:
    position: list
    parent: "Node | None"
    level: int
    best: int = -INFINITY
    state: str = "pending"
    children: list = field(default_factory=list)
    closed_children: int = 0


@dataclass
class Found:
    value: int = 0
    branches: int = 0
    leaves: int = 0
    branch_batches: int = 0
    leaf_batches: int = 0
    peak: int = 1


def search(rules, p, root):
    """Return what a search finds and counts."""
    found, top = Found(), Node(root, None, 0)
    pending = [deque() for _ in range(p.depth + 1)]
    stored = [0] * (p.depth + 1)
    pending[0].append(top)
    stored[0] = 1
    while top.state != "closed":
        level = max(i for i, nodes in enumerate(pending) if nodes)
        for below in range(level + 1, p.depth + 1):
            stored[below] = 0
        batch, most = [], p.most_leaves if level == p.depth else p.most_branches
        while pending[level] and len(batch) < most:
            node = pending[level].popleft()
            if dead(p, node):
                node.state = "cut"
                close(p, node)
            else:
                batch.append(node)
        if level == p.depth:
            found.leaf_batches += bool(batch)
            for node in batch:
                found.leaves += 1
                finish(rules, p, node)
        else:
            found.branch_batches += bool(batch)
            for node in batch:
                found.branches += 1
                node.state = "expanded"
                for move in rules.branch(p, node.position):
                    child = Node(rules.make(p, node.position, move), node, level + 1)
                    node.children.append(child)
                pending[level + 1].extend(node.children)
                stored[level + 1] += len(node.children)
            found.peak = max(found.peak, sum(stored))
            for node in batch:
                if not node.children:
                    found.branches -= 1
                    found.leaves += 1
                    finish(rules, p, node)
    found.value = top.best
    return found


def finish(rules, p, node):
    node.best = rules.evaluate(p, node.position, node.level)
    node.state = "closed"
    close(p, node)


def close(p, node):
    while node.parent is not None and node.parent.state not in ("closed", "cut"):
        above = node.parent
        if node.state == "closed":
            above.best = max(above.best, -node.best)
        above.closed_children += 1
        if above.closed_children < len(above.children) and not dead(p, above):
            return
        above.state = "closed"
        node = above


def dead(p, node):
    if not p.prune:
        return False
    low, high, own = node.best, INFINITY, False
    above = node.parent
    while above is not None:
        if above.state in ("closed", "cut"):
            return True
        if own:
            low = max(low, above.best)
        else:
            high = min(high, -above.best)
        above, own = above.parent, not own
    return low >= high


def alpha_beta(rules, p, position, ply=0, low=-INFINITY, high=INFINITY):
    """Return value and number of nodes of a serial search, fail-soft."""
    moves = rules.branch(p, position) if ply < p.depth else []
    if not moves:
        return rules.evaluate(p, position, ply), 1
    best, nodes = -INFINITY, 1
    for move in moves:
        value, below = alpha_beta(
            rules, p, rules.make(p, position, move), ply + 1, -high, -max(low, best)
        )
        best, nodes = max(best, -value), nodes + below
        if p.prune and best >= high:
            break
    return best, nodes
