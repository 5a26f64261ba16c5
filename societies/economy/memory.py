"""What of an agent's work fits the local memory of a workgroup, and what is in global memory?"""

from __future__ import annotations

from reference_py.economy.devices import SOURCES
from reference_py.economy.parameters import Parameters
from reference_py.economy.state import partners_remembered
from societies.economy.ensemble import Ensemble


def leaves(p: Parameters) -> int:
    """Return the leaves of the tree over resources: a power of two."""
    least: int = (p.resources - 1).bit_length()
    return 1 << least


def candidates(p: Parameters) -> int:
    """Return the largest number of swaps that a meeting ranks at once.

    A ranking is extended only while fewer than ``attempts`` swaps were queued, so before it the
    product of the two sale lists is below ``attempts`` and their sum at most ``attempts``; each
    list then grows by a menu at most.
    """
    grown: int = p.menu_size * p.menu_size + p.menu_size * p.attempts + p.attempts
    pairs: int = p.resources * p.resources
    return min(grown, pairs)


CANDIDATES_IN_LOCAL_MEMORY = 512

RANKED_BY_COUNTING = 64
"""Up to this number of resources menus are ranked by counting (SELECT_BY_RANK in select.cl)."""

MEETINGS_IN_STEP, MEETING_LANES = 16, 2
"""Pairs per workgroup of trading on a GPU if there are many, and work-items for each of them."""

PAIRS_BEFORE_STEP = 7680
"""From this number of pairs on, a GPU holds several meetings in a workgroup, and from twice as many
where agents have more than tools, since their ladders of offers are long; see LOG.md."""

MOST_RANKED_ALONE = 128
"""Most candidate swaps that a work-item ranks alone; it keeps 8 bytes for each."""

INVENTION_ORDER_LIMIT = 4096
"""Most agents whose order of invention fits local memory."""

ROW_LIMIT, DEVICE_ROW_LIMIT = 512, 256
"""Most resources for which extraction fits local memory, without and with devices."""

EXTRACTION_ROWS, DEVICE_EXTRACTION_ROWS = 3, len(SOURCES) + 4
"""Reals per resource that extraction stores in global memory above this limit (extraction.cl)."""

REALS_OF_A_UNIT = 4
"""Reals for what is known of the next unit of a resource (extraction_in_step.cl)."""

EXTRACTION_SPACE = 25 * 1024
"""Bytes of local memory for the agents whose extraction one workgroup computes concurrently."""

MOST_TOGETHER = 8
"""Most agents of such a workgroup: each has one work-item, and local memory is scarce."""

IN_STEP = 16
"""Most agents of a workgroup of a GPU whose days need little local memory."""

GROUPS_BEFORE_TOGETHER = 1024
"""Workgroups that keep a large GPU busy; with more agents, each workgroup takes several."""

AGENTS_AT_ONCE = 1024
"""Up to this number of agents each has a workgroup of many work-items for its extraction."""

UNITS_AHEAD = 7
"""Units of each resource that extraction sorts at once: one less than a power of two."""

ITEMS_AT_ONCE = 256
"""Work-items of a workgroup that computes in parallel what other forms compute step by step."""

MEMORIES_SPACE = 28 * 1024
"""Bytes of local memory for the memories of all agents of a society for one type of device."""

PORTABLE_SPACE = 32 * 1024 - 64
"""Bytes of local memory that a kernel can use on every OpenCL device."""


def statistics_at_once(p: Parameters) -> bool:
    """Return True if all statistics of a society fit the local memory of a workgroup on a GPU."""
    rows = 16  # kernels/economy/society_at_once.cl
    needed: int = 8 * p.agents * p.resources + (8 * rows + 4) * p.agents + 24 * p.resources + 64
    return needed <= PORTABLE_SPACE


def memories_fit(p: Parameters) -> bool:
    """Return True if the memories of all agents for a type of device fit local memory."""
    sets = p.agents * -(-p.agents // 32)  # kernels/economy/device_matching.cl
    needed: int = 12 * p.agents * partners_remembered(p) + 4 * sets
    return needed <= MEMORIES_SPACE and p.agents < 2**16 - 1


def extraction_ahead(p: Parameters) -> bool:
    """Return True if a workgroup of a GPU can sort all units of an agent's day at once."""
    marked: bool = p.resources <= 64  # as bits of a word
    return marked and p.devices is None and not has_band(p)


def has_band(p: Parameters) -> bool:
    """Return True if agents may choose an option that pays nearly as much as the best."""
    return isinstance(p, Ensemble) or p.near_best_band > 0.0


def extraction_at_once(p: Parameters, societies: int) -> bool:
    """Return True if units are sorted at once: possible, and too few agents to fill a GPU."""
    few = societies * p.agents <= AGENTS_AT_ONCE
    return extraction_ahead(p) and few and not p.policies  # which come before the evening


def extraction_front(p: Parameters) -> bool:
    """Return True if a workgroup of a GPU can look units of the best four resources ahead."""
    return p.devices is not None and 4 < p.resources <= 64 and not has_band(p)


def extraction_in_step(p: Parameters) -> int:
    """Return how many agents of a workgroup of a GPU extract in step if there are many, or 0."""
    return IN_STEP if p.resources <= 64 and not has_band(p) else 0


def extraction_slots(p: Parameters) -> int:
    """Return how many agents' extraction fits the local memory of a workgroup, at most 8."""
    limit, _ = extraction_rows(p)
    if p.resources > limit:
        return 1
    a_resource, sources = (20, 0) if p.devices is None else (32, len(SOURCES))
    each = 12 * (2 * leaves(p) + 1) + a_resource * p.resources + 20 * sources
    slots: int = min(MOST_TOGETHER, EXTRACTION_SPACE // each)
    return max(1, slots)


def extraction_together(p: Parameters, societies: int, most: int) -> int:
    """Return the agents per workgroup of extraction: two, or more if there are many agents.

    Two keep a processor's core busier than one alone; more share a GPU's.
    """
    many: int = -(-societies * p.agents // GROUPS_BEFORE_TOGETHER)
    return min(most, max(2, many))


def meetings_in_step(p: Parameters) -> int:
    """Return the pairs per workgroup of a GPU that holds meetings in step; 0 if none can."""
    possible = p.resources <= RANKED_BY_COUNTING and candidates(p) <= MOST_RANKED_ALONE
    return MEETINGS_IN_STEP if possible else 0


def many_pairs(p: Parameters, pairs: int) -> bool:
    """Return True if a GPU holds the meetings of this number of pairs in step."""
    long_ladders = p.devices is not None and not p.devices.tools_only
    return pairs >= PAIRS_BEFORE_STEP * (1 + long_ladders)


def scores_in_global_memory(p: Parameters) -> int:
    """Return the reals that each meeting needs in global memory for the scores of candidates."""
    count: int = candidates(p)
    return 0 if count <= CANDIDATES_IN_LOCAL_MEMORY else 2 * count


def extraction_in_global_memory(p: Parameters) -> int:
    """Return the reals that extraction needs in global memory for each agent."""
    limit, rows = extraction_rows(p)
    spent = 0 if p.devices is None else len(SOURCES)
    reals: int = p.resources * (rows if p.resources > limit else spent)
    return reals


def extraction_rows(p: Parameters) -> tuple[int, int]:
    """Return the most resources whose rows fit local memory, and the reals per resource."""
    if p.devices is None:
        return ROW_LIMIT, EXTRACTION_ROWS
    return DEVICE_ROW_LIMIT, DEVICE_EXTRACTION_ROWS


def orders_in_global_memory(p: Parameters) -> int:
    """Return the uint32 entries per society that invention needs in global memory."""
    return 0 if p.agents <= INVENTION_ORDER_LIMIT else p.agents
