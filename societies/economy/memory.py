"""What of an agent's work fits the local memory of a workgroup, and what is in global memory?"""

from __future__ import annotations

from reference_py.economy.devices import SOURCES
from reference_py.economy.parameters import Parameters


def leaves(p: Parameters) -> int:
    """Return the leaves of the tree over resources: a power of two."""
    least: int = (p.resources - 1).bit_length()
    return 1 << least


def candidates(p: Parameters) -> int:
    """Return the most swaps that are ever ranked at once in a meeting.

    A ranking is extended only while fewer than ``attempts`` swaps were queued, so before it the
    product of the two sale lists is below ``attempts`` and their sum at most ``attempts``; each
    list then grows by a menu at most.
    """
    grown: int = p.menu_size * p.menu_size + p.menu_size * p.attempts + p.attempts
    pairs: int = p.resources * p.resources
    return min(grown, pairs)


CANDIDATES_IN_LOCAL_MEMORY = 512

RANKED_BY_COUNTING = 64
"""Resources up to which menus are ranked by counting: SELECT_BY_RANK of primitives/select.cl."""

MOST_PAIRS = 2
"""Most pairs of a workgroup of trading on a GPU: measured, benchmarks/LOG.md."""

PAIRS_SPACE = 16 * 1024
"""Bytes of local memory for the pairs of such a workgroup."""

PAIRS_BEFORE_TOGETHER = 8192
"""Pairs of which a large GPU holds no more at once, so that two may share a workgroup."""

INVENTION_ORDER_LIMIT = 4096
"""Agents whose order of invention fits local memory."""

ROW_LIMIT, DEVICE_ROW_LIMIT = 512, 256
"""Resources whose extraction fits local memory, without and with devices."""

EXTRACTION_ROWS, DEVICE_EXTRACTION_ROWS = 3, len(SOURCES) + 4
"""Reals that extraction keeps of a resource beyond that (kernels/economy/extraction.cl)."""

EXTRACTION_SPACE = 24 * 1024
"""Bytes of local memory for agents whose days of extraction a workgroup walks side by side."""

MOST_TOGETHER = 8
"""Most agents of such a workgroup: each has its work-item, and memory for more is scarce."""

GROUPS_BEFORE_TOGETHER = 1024
"""Workgroups that keep a large GPU busy: with more agents, a workgroup takes several."""


def extraction_slots(p: Parameters) -> int:
    """Return the agents whose extraction fits the local memory of a workgroup, at most 8."""
    limit, _ = extraction_rows(p)
    if p.resources > limit:
        return 1
    a_resource = 20 if p.devices is None else 32 + 8 * len(SOURCES)
    each = 12 * (2 * leaves(p) + 1) + a_resource * p.resources + 4 * len(SOURCES)
    slots: int = min(MOST_TOGETHER, EXTRACTION_SPACE // each)
    return max(1, slots)


def extraction_together(p: Parameters, societies: int) -> int:
    """Return how many agents a workgroup of extraction takes: two, or more of many.

    Two keep a processor's core busier than one alone; eight share a GPU's.
    """
    many: int = -(-societies * p.agents // GROUPS_BEFORE_TOGETHER)
    return min(extraction_slots(p), max(2, many))


def pair_slots(p: Parameters) -> int:
    """Return the pairs whose meetings fit the local memory of a workgroup on a GPU, at most two."""
    count = candidates(p)
    if p.resources > RANKED_BY_COUNTING or count > CANDIDATES_IN_LOCAL_MEMORY:
        return 1
    each = 24 * p.resources + p.resources // 4 + 20 * count + 20 * p.attempts + 48
    slots: int = min(MOST_PAIRS, PAIRS_SPACE // each)
    return max(1, slots)


def pairs_together(p: Parameters, societies: int) -> int:
    """Return how many pairs a workgroup of trading takes: one, or several of many."""
    pairs = societies * (p.agents // 2)
    return pair_slots(p) if pairs >= PAIRS_BEFORE_TOGETHER else 1


def scores_in_global_memory(p: Parameters) -> int:
    """Return the reals that each meeting needs in global memory for the scores of candidates."""
    count: int = candidates(p)
    return 0 if count <= CANDIDATES_IN_LOCAL_MEMORY else 2 * count


def extraction_in_global_memory(p: Parameters) -> int:
    """Return the reals that extraction needs in global memory for each agent."""
    limit, rows = extraction_rows(p)
    return rows * p.resources if p.resources > limit else 0


def extraction_rows(p: Parameters) -> tuple[int, int]:
    """Return the most resources whose rows fit local memory, and the reals of each resource."""
    if p.devices is None:
        return ROW_LIMIT, EXTRACTION_ROWS
    return DEVICE_ROW_LIMIT, DEVICE_EXTRACTION_ROWS


def orders_in_global_memory(p: Parameters) -> int:
    """Return the numbers of agents that the inventions of a society need in global memory."""
    return 0 if p.agents <= INVENTION_ORDER_LIMIT else p.agents
