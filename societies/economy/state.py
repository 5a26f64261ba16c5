"""What does a society remember from day to day: the one table that declares the economy's state.

From `STATE` come the device buffers, the kernels' accessors, the checkpoint, the arrays that
`societies verify` compares and the table in docs/model.md. To add a field, add a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

PURPOSES = {
    "extraction": 0,
    "consumption": 1,
    "invention": 2,
    "resource_matching": 3,
    "device_matching": 4,
    "invention_order": 5,
    "shocks": 6,
}
"""What a random stream is for. Appended to, never reordered: a stream's place depends on it."""

PURPOSE_COUNT = 16


@dataclass(frozen=True)
class Field:
    """One array of the state; its first dimension is always the society.

    Attributes
    ----------
    dims : dimensions after the society
    dtype : NumPy type on host and device
    unit : unit of the numbers
    meaning : one line
    initial : value before the first day
    of_agent : whether the removal of an agent resets the agent's entries to `initial`
    kept : whether the field is part of a checkpoint; what a phase hands to the next one on the
        same day is not
    """

    dims: tuple[str, ...]
    dtype: str
    unit: str
    meaning: str
    initial: float = 0
    of_agent: bool = True
    kept: bool = True

    def shape(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """Return the shape of the array, the society first."""
        return (sizes["society"], *(sizes[dim] for dim in self.dims))


_AR = ("agent", "resource")
_A = ("agent",)

STATE: dict[str, Field] = {
    "held": Field(_AR, "int32", "units", "units owned and free to use"),
    "experience": Field(_AR, "float64", "units extracted", "experience in extracting"),
    "value": Field(_AR, "float64", "util", "remembered marginal value of one more unit"),
    "extracted": Field(_AR, "int32", "units", "units extracted today"),
    "alive": Field(_A, "uint8", "1", "1 while the agent is in the simulation", initial=1),
    "gain_per_minute": Field(_A, "float64", "util/min", "gain of the last unit extracted"),
    "minutes": Field(_A, "float64", "min", "minutes spent extracting today"),
    "units_sold": Field(_A, "int32", "units", "units given away in resource trades so far today"),
    "deals": Field(_A, "int32", "deals", "resource trades today, counted at the first proposer"),
    "units_extracted": Field(_A, "int32", "units", "units extracted today, all resources"),
    "units_held": Field(_A, "int32", "units", "units held before consumption, all resources"),
    "units_traded": Field(
        _A, "int32", "units", "units given away in resource trades today", kept=False
    ),
    "resources_extracted": Field(_A, "int32", "resources", "different resources extracted today"),
    "largest_holding": Field(_A, "int32", "units", "largest holding of one resource"),
    "utility": Field(_A, "float64", "util", "utility of all holdings before consumption"),
    "utility_1": Field(_A, "float64", "util", "utility one day before"),
    "utility_2": Field(_A, "float64", "util", "utility two days before"),
    "utility_total": Field(_A, "float64", "util", "utility summed since day 1"),
    "available": Field(
        ("resource",), "uint8", "1", "1 while the resource exists", initial=1, of_agent=False
    ),
    "stream": Field(
        ("owner", "purpose"), "uint64", "1", "state of each random stream", of_agent=False
    ),
    "shock_target": Field(
        ("shock",), "int32", "index", "what each shock removes, drawn on day 0", of_agent=False
    ),
    "partners": Field(
        ("round", "agent"),
        "int32",
        "agent",
        "order of the agents in a round: positions 0 and 1 meet, 2 and 3, ...",
        of_agent=False,
        kept=False,
    ),
    "series": Field(
        ("series",), "float64", "various", "the day's statistics", of_agent=False, kept=False
    ),
}

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
ACTIVITIES = ("hand",)


@dataclass(frozen=True)
class Series:
    """One number per society and day.

    ``lag`` is 1 for what is known only a day later: the value written on day d is that of d - 1.
    """

    unit: str
    meaning: str
    lag: int = 0


SERIES: dict[str, Series] = {
    "units_extracted": Series("units", "units extracted per living agent"),
    "units_held": Series("units", "units held per living agent, before consumption"),
    "units_traded": Series("units", "units given away in resource trades per living agent"),
    "deals": Series("deals", "resource trades divided by living agents, each deal once"),
    "resources_extracted": Series(
        "resources", "different resources that an agent extracted, mean over living agents"
    ),
    "units_held_max": Series("units", "largest holding of one resource by one agent"),
    "agents_alive": Series("agents", "agents in the simulation"),
    "utility": Series("util", "utility of the holdings before consumption, mean over agents"),
    "utility_median": Series("util", "median over living agents of their utility"),
    "gini": Series("1", "Gini coefficient of the day's utilities"),
    "gini_cumulative": Series("1", "Gini coefficient of utility summed since day 1"),
    "gini_extracted": Series("1", "Gini coefficient of the units extracted"),
    "gini_3day": Series("1", "Gini coefficient of utility over the day before to the day after", 1),
    "gini_paper": Series("1", "gini_3day times mean 3-day over mean cumulative utility", 1),
    "minutes_hand": Series("min", "minutes spent extracting by hand per living agent"),
    "hhi_0": Series("1", "HHI of extraction over resources, minimum"),
    "hhi_1": Series("1", "HHI of extraction over resources, first quartile"),
    "hhi_2": Series("1", "HHI of extraction over resources, median"),
    "hhi_3": Series("1", "HHI of extraction over resources, third quartile"),
    "hhi_4": Series("1", "HHI of extraction over resources, maximum"),
}


def sizes(parameters: Any) -> dict[str, int]:
    """Return the length of every dimension."""
    return {
        "society": parameters.societies,
        "agent": parameters.agents,
        "resource": parameters.resources,
        "owner": parameters.agents + 1,
        "purpose": PURPOSE_COUNT,
        "shock": max(1, len(parameters.shocks)),
        "round": max(1, parameters.rounds),
        "series": len(SERIES),
    }


def initial_state(parameters: Any) -> dict[str, NDArray[Any]]:
    """Return every array of the state as it is before the streams are seeded, society first."""
    lengths = sizes(parameters)
    return {
        name: np.full(field.shape(lengths), field.initial, dtype=field.dtype)
        for name, field in STATE.items()
    }
