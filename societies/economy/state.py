"""How do the core's fields follow from the economy's table of its state?

The table, to which a field is added by one line, is `reference_py.economy.state`.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from reference_py.economy import state
from reference_py.economy.parameters import REMOVE_AGENT, Parameters
from societies.economy.series import series_of
from societies.workload.declare.fields import Field
from societies.workload.declare.fields import initial_state as initial

ALIVE = "alive"
"""The field that says which agents are in the simulation."""

MOST_UNITS = (2**31 - 1) // 2
"""Half of what 32 bits count: room for what is held between two evenings."""


def state_fields(p: Parameters) -> dict[str, Field]:
    """Return the fields that a society of these parameters has.

    Where agents are removed, files have nothing in their places: the zeros of the state are no
    numbers of anybody.
    """
    removes = any(shock.remove == REMOVE_AGENT for shock in p.shocks)
    found = {}
    for name, array in state.arrays(p).items():
        said = {word: one for word, one in vars(array).items() if word != "of_agent"}
        found[name] = Field(**said, present=ALIVE * (removes and array.of_agent and name != ALIVE))
    return found


def sizes(p: Parameters) -> dict[str, int]:
    """Return the length of every dimension."""
    return {**state.sizes(p), "series": len(series_of(p))}


def initial_state(p: Parameters) -> dict[str, NDArray[Any]]:
    """Return every array of the state as it is before the streams are seeded, society first."""
    return initial(state_fields(p), sizes(p), p.societies, p)
