"""How many workgroups calculate the nodes of a search, and select and close those of a level?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reference_py.games.ngtsg.parameters import SearchParameters
from societies.workload import Launch, Phase, Scratch
from societies.workload.declare.phases import WORKGROUP_LIMIT

FOLDER = "games/ngtsg"

FEW_PARENTS = 512
"""Largest level, in nodes, whose children one workgroup of a GPU selects and closes."""

MOST_SELECTING, MOST_CLOSING = 256, 512
"""Most workgroups of a launch that selects or closes: 2 or 4 per compute unit of a large GPU."""

LEAST_STRIP = 8
"""Fewest parents in a workgroup's strip (kernels/games/ngtsg/select_by_groups.cl)."""

ITEMS, ITEMS_ON_CPU = 64, 16
"""Work-items per workgroup with a node each; fewer on a CPU, so that small batches have several."""


def over_nodes(
    file: str, kernel: str, copies: int, nodes: int, together: int, **more: Any
) -> Phase:
    """Return the phase of a kernel with a work-item for each of ``nodes`` nodes of every copy.

    If a GPU uses a workgroup for a node, ``together`` is the largest number of such workgroups;
    else it is 0. A CPU gets no more workgroups than the nodes need: a core takes up to 512 of them
    at a time, so with many idle workgroups the first core would get all the work.
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
    """Return the phases that many workgroups of a GPU carry out, for searches with large levels.

    A CPU still uses the kernels of ``tree`` with one work-item. So does a GPU if levels are small
    or games are many; then the result is empty.
    """
    parents = max(p.capacities[:-1], default=0)
    most = {"select": MOST_SELECTING // copies, "close": MOST_CLOSING // copies}
    groups = {name: min(-(-parents // WORKGROUP_LIMIT), many) for name, many in most.items()}
    if parents <= FEW_PARENTS or min(groups.values()) < 2:
        return {}
    strips = -(-parents // LEAST_STRIP)
    ancestors = max(1, sum(p.capacities[:-2]))  # nodes whose children are not leaves
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
