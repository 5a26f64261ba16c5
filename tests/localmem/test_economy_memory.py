"""Do the economy's planned kernels need no more local memory than their hand-allocated forms did?

What those took is recorded here: the kernels of commit 7772f62, each array of a kernel a `__local`
variable of its own, as PoCL 3.0 reported them (of distributions with the padding). That the bits
are still those is what tests/golden holds: its hashes were made by the same kernels.
"""

import re

import pytest

from societies import config_from_dict
from societies.economy import memory, phases, source
from societies.economy.parameters import parameters
from societies.opencl import Program, choose_device
from societies.workload.declare.phases import kernel_files

# bytes by hand, with DEVICE_IS_CPU 1 and 0 (where only one is given, it is both); extraction needs
# them for each of the agents that it takes at a time
BY_HAND = {
    (6, 9): {
        "extraction": 564,
        "matching": 24,
        "trading": (1507, 1575),
        "agent_statistics": 88,
        "distributions": 24,
        "society_statistics": 144,
        "consumption": (0, 36),
    },
    (48, 48): {
        "extraction": 2496,
        "matching": 192,
        "trading": (2268, 2336),
        "agent_statistics": 400,
        "distributions": 24,
        "society_statistics": 768,
        "consumption": (0, 192),
    },
    (3, 300): {
        "extraction": 18288,
        "matching": 12,
        "trading": (6048, 6716),
        "agent_statistics": 2416,
        "distributions": 24,
        "society_statistics": 4800,
        "consumption": (0, 1200),
    },
}


AT_ONCE = {
    "extraction_at_once",
    "day_without_trade",
    "meetings",
    "resource_market",
    "society_at_once",
}
"""Kernels that never had such a form; tests/kernels/test_portable_profile.py bounds them."""


@pytest.mark.thorough
@pytest.mark.parametrize("on_cpu", [True, False], ids=["cpu form", "gpu form"])
@pytest.mark.parametrize("shape", BY_HAND, ids=lambda shape: f"{shape[0]}x{shape[1]}")
def test_no_more_than_by_hand(shape, on_cpu):
    agents, resources = shape
    p = parameters(
        config_from_dict({"workload": "economy", "agents": agents, "resources": resources})
    )
    macros = {**source.macros(p), "DEVICE_IS_CPU": on_cpu}
    header = source.header(p)
    program = Program(
        choose_device("auto"), kernel_files(phases.phases(p, 1)), macros=macros, header=header
    )
    plans = program.local_memory
    by_hand = {
        name: hand if isinstance(hand, int) else hand[0 if on_cpu else 1]
        for name, hand in BY_HAND[shape].items()
    }
    together = memory.extraction_slots(p)
    together = min(together, 2) if on_cpu else together
    if together > 1:  # each has 12 bytes more
        by_hand["extraction"] = together * (by_hand["extraction"] + 12)
    if not on_cpu:  # ranks of two agents' resources, and the order of candidates
        ranks = 20 * resources if resources <= 64 else 0
        by_hand["trading"] += ranks + 4 * memory.candidates(p)
        by_hand["matching"] = 8 * p.rounds * (agents | 1)  # orders and draws of all rounds
    used = {name for name, plan in plans.items() if plan.requested + plan.static} - AT_ONCE
    assert used == {name for name, most in by_hand.items() if most}
    for name, most in by_hand.items():
        plan = plans[name]
        declared = re.search(
            rf"\bvoid {name}\([^)]*\)\s*\{{\s*"
            r"__local uchar societies_local_memory(?:_whole)?\[(\d+)\]",  # whole: not inlined
            program.source,
        )
        bytes_declared = int(declared[1]) if declared else 0
        assert bytes_declared == plan.declared
        assert bytes_declared + plan.static <= most
        assert plan.reserved == -(-plan.declared // 16) * 16
        if name == "trading":  # menus, ranking and bargains take turns
            assert plan.total < 0.95 * most
