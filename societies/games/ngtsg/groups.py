"""By how many workgroups are nodes listed and weighed, and those of a level selected and closed?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reference_py.games.ngtsg.parameters import SearchParameters
from societies.workload import Launch, Phase, Scratch
from societies.workload.declare.phases import WORKGROUP_LIMIT

FOLDER = "games/ngtsg"

FEW_PARENTS = 512
"""Most nodes of a level whose children are selected and closed by one workgroup on a GPU."""

MOST_SELECTING, MOST_CLOSING = 256, 512
"""Most workgroups of a launch that selects or closes: two or four for each core of a large GPU."""

LEAST_STRIP = 8
"""Least parents of a strip that one of them takes (kernels/games/ngtsg/select_by_groups.cl)."""

ITEMS, ITEMS_ON_CPU = 64, 16
"""Work-items of a workgroup where each calculates a node; on a CPU small batches have several."""


def over_nodes(
    file: str, kernel: str, copies: int, nodes: int, together: int, **more: Any
) -> Phase:
    """Return the phase of a kernel of which a work-item is a node, of so many in each copy.

    Where a GPU has a workgroup for a node, ``together`` is how many at most; else 0. A CPU has no
    more workgroups than its nodes need: a core takes up to 512 at a time, and if most had nothing
    to do, all work would be in those that the first core takes.
    """
    groups, on_cpu = (copies * -(-nodes // items) for items in (ITEMS, ITEMS_ON_CPU))
    several = copies * min(nodes, together) or groups
    return Phase(
        (
            Launch(file, several, kernel, items=ITEMS, on_cpu=False, **more),
            Launch(file, on_cpu, kernel, items=ITEMS_ON_CPU, on_cpu=True, **more),
        )
    )


def by_groups(p: SearchParameters, copies: int, tree: Mapping[str, Phase]) -> dict[str, Phase]:
    """Return the phases that many workgroups carry out on a GPU, where levels may be large.

    A CPU keeps the kernels of ``tree``, which are of one work-item there, and so does a GPU with
    small levels or many games.
    """
    parents = max(p.capacities[:-1], default=0)
    most = {"select": MOST_SELECTING // copies, "close": MOST_CLOSING // copies}
    groups = {name: min(-(-parents // WORKGROUP_LIMIT), many) for name, many in most.items()}
    if parents <= FEW_PARENTS or min(groups.values()) < 2:
        return {}
    strips = -(-parents // LEAST_STRIP)
    ancestors = max(1, sum(p.capacities[:-2]))  # whose children are no leaves
    further = {
        "select": {
            "turns": Scratch((copies, 2), "uint32"),
            "sums": Scratch((copies, strips), "uint32"),
        },
        "close": {
            "raised": Scratch((copies, ancestors), "uint32"),
            "best_between": Scratch((copies, ancestors), "int32"),
            "states_between": Scratch((copies, ancestors), "uint8"),
            "arrived": Scratch((copies,), "uint32"),
        },
    }
    numbers: dict[str, list[dict[str, int]]] = {
        "select": [{"most_strips": strips}],
        "close": [{"ancestors": ancestors, "second": second} for second in (0, 1)],
    }
    found = {}
    for name, scratch in further.items():
        alone = tree[name].launches[0]
        together = Launch(
            f"{FOLDER}/{name}_by_groups.cl",
            copies * groups[name],
            f"{name}_by_groups",
            scratch={**alone.scratch, **scratch},
            on_cpu=False,
        )
        launches = (replace(together, arguments=of_launch) for of_launch in numbers[name])
        found[name] = Phase((*launches, replace(alone, on_cpu=True)))
    return found
