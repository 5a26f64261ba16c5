"""How are the core's fields made from the economy's table of the state?

The table is `reference_py.economy.state`; a new field is one line in it.
"""

from __future__ import annotations

from reference_py.economy import state
from reference_py.economy.parameters import REMOVE_AGENT, Parameters
from societies.economy.series import columns_of
from societies.workload.declare.fields import Field
from societies.workload.running.faults import FAULT, FAULT_MEANING

ALIVE = "alive"
"""Field that is nonzero for agents in the simulation."""

MOST_UNITS = 2**30 - 1
"""Half of the largest int32: leaves room for units held in the course of a day."""


def state_fields(p: Parameters) -> dict[str, Field]:
    """Return the fields of a society with these parameters.

    If agents are removed, files have missing values for them, because the zeros in their state are
    not observations.
    """
    removes = any(shock.remove == REMOVE_AGENT for shock in p.shocks)
    found = {}
    for name, array in state.arrays(p).items():
        said = {word: one for word, one in vars(array).items() if word != "of_agent"}
        found[name] = Field(**said, present=ALIVE * (removes and array.of_agent and name != ALIVE))
    if p.rule_sites:
        found[FAULT] = Field((), "int32", "1", FAULT_MEANING, compared=False, checkpointed=False)
    return found


def sizes(p: Parameters) -> dict[str, int]:
    """Return the length of every dimension."""
    return {**state.sizes(p), "series": len(columns_of(p))}
