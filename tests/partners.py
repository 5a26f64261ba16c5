"""Partners as a table of agent x partner: how the state held them before the lists, and tests do.

Until CHANGELOG's "Partners remembered and met are lists" the state had ``partner_memory`` (agent,
device_type, partner, memory_day) and ``met`` (agent, partner). The lists say the same, so the
tables, and the hashes of the states of then, follow from them.
"""

import dataclasses

import numpy as np

from reference_py.economy.state import NO_AGENT
from societies.economy.state import state_fields
from societies.workload.running.state import state_hash


def remember(s, agent, device_type, gains):
    """Let the agent remember gains, newest first, by partner; of no other."""
    memory = s.partner_memory[agent][device_type]
    rest = len(memory) - len(gains)
    days = len(memory[0])
    s.remembered_partner[agent][device_type] = [*gains, *[NO_AGENT] * rest]
    s.partner_memory[agent][device_type] = [
        *(list(row) for row in gains.values()),
        *([0.0] * days for _ in range(rest)),
    ]


def gains_of(s, agent, device_type):
    """Return the gains that the agent remembers, newest first, by partner."""
    partners, memory = (
        s.remembered_partner[agent][device_type],
        s.partner_memory[agent][device_type],
    )
    return {b: gains for b, gains in zip(partners, memory, strict=True) if b != NO_AGENT}


def memory_table(remembered_partner, partner_memory):
    """Return (..., partner, memory_day) for (..., memory) and (..., memory, memory_day).

    The partners are as many as there are agents, the first dimension but of (society, agent, ...).
    """
    remembered_partner = np.asarray(remembered_partner)
    agents = remembered_partner.shape[-3]
    table = np.zeros((*remembered_partner.shape[:-1], agents, partner_memory.shape[-1]))
    for *place, memory in np.argwhere(remembered_partner != NO_AGENT):
        partner = remembered_partner[(*place, memory)]
        assert not table[(*place, partner)].any()  # no agent is in a list twice
        table[(*place, partner)] = partner_memory[(*place, memory)]
    return table


def met_table(met):
    """Return (..., agent, partner) uint8 for (..., agent, device_round)."""
    met = np.asarray(met)
    table = np.zeros((*met.shape[:-1], met.shape[-2]), np.uint8)
    for *place, round_ in np.argwhere(met != NO_AGENT):
        table[(*place, met[(*place, round_)])] = 1
    return table


def with_tables(state):
    """Return the state with tables in place of the lists."""
    return {
        name: memory_table(state["remembered_partner"], array)
        if name == "partner_memory"
        else met_table(array)
        if name == "met"
        else array
        for name, array in state.items()
        if name != "remembered_partner"
    }


def hash_with_tables(p, state):
    """Return the hash that the state had with tables in place of the lists."""
    fields = state_fields(p)
    if p.devices is None:
        return state_hash(fields, state)
    fields["met"] = dataclasses.replace(fields["met"], dtype="uint8")
    return state_hash(fields, with_tables(state))
