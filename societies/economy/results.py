"""What goes into the file of an economy run: coordinates, variables and where each one is taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.economy.config import EconomyConfig
from societies.economy.state import ACTIVITIES, QUANTILES, SERIES, STATE
from societies.output import Coordinate, ResultFile, Variable

HHI = "hhi"
MINUTES = "minutes"

AGENT_DETAIL = {
    "agent_units_extracted": "units_extracted",
    "agent_units_held": "units_held",
    "agent_units_traded": "units_traded",
    "agent_utility": "utility",
}
"""Variable of the file and field of the state, per agent."""

RESOURCE_DETAIL = {
    "held": "units owned at the end of the day, after consumption",
    "experience": "experience in extracting, at the end of the day",
    "value": "remembered marginal value of one more unit, at the end of the day",
    "extracted": STATE["extracted"].meaning,
}
"""Fields of the state that are recorded per agent and resource, and what they mean by then."""


def recorded_days(every: int, days: int) -> NDArray[np.int64]:
    """Return the days on which something with this interval is recorded; none if it is 0."""
    if every == 0:
        return np.array([], dtype=np.int64)
    return np.arange(every, days + 1, every, dtype=np.int64)


class Layout:
    """Coordinates and variables of a configuration's file, and the writing of days into it.

    Parameters
    ----------
    config : EconomyConfig
    """

    def __init__(self, config: EconomyConfig) -> None:
        self.config = config
        record = config.record
        self._every = {
            "day": record.society,
            "agent_day": record.agent,
            "resource_day": record.agent_resource,
        }
        # Detail recorded as often as the series shares their coordinate.
        self.agent_day = "day" if record.agent == record.society else "agent_day"
        self.resource_day = "day" if record.agent_resource == record.society else "resource_day"
        self._days = {
            name: recorded_days(every, config.days)
            for name, every in self._every.items()
            if every and name in ("day", self.agent_day, self.resource_day)
        }

    def coordinates(self) -> list[Coordinate]:
        """Return the named coordinates of the file."""
        config = self.config
        societies = np.arange(config.first_society, config.first_society + config.replicates)
        result = [Coordinate("society", societies, "", "number of the society")]
        names = {
            "day": "day, counted from 1",
            "agent_day": "day of per-agent detail",
            "resource_day": "day of per-agent and per-resource detail",
        }
        result += [Coordinate(name, days, "day", names[name]) for name, days in self._days.items()]
        if config.record.agent or config.record.agent_resource:
            result.append(Coordinate("agent", np.arange(config.agents), "", "number of the agent"))
        if config.record.agent_resource:
            numbers = np.arange(config.resources)
            result.append(Coordinate("resource", numbers, "", "number of the resource"))
        result.append(Coordinate("quantile", np.array(QUANTILES), "1", "quantile over resources"))
        result.append(Coordinate("activity", np.array(ACTIVITIES), "", "what time is spent on"))
        return result

    def variables(self) -> list[Variable]:
        """Return the variables of the file."""
        nan = float("nan")
        result = []
        for name, series in SERIES.items():
            if name == "hhi_0":
                meaning = "Herfindahl-Hirschman index of extraction, quantiles over resources"
                dims: tuple[str, ...] = ("society", "day", "quantile")
                result.append(Variable(HHI, dims, "float64", "1", meaning, nan))
            elif name == f"minutes_{ACTIVITIES[0]}":
                meaning = "minutes per living agent by activity"
                dims = ("society", "day", "activity")
                result.append(Variable(MINUTES, dims, "float64", "min", meaning, nan))
            elif not name.startswith(("hhi_", "minutes_")):
                dims = ("society", "day")
                result.append(Variable(name, dims, "float64", series.unit, series.meaning, nan))
        if self.config.record.agent:
            dims = ("society", self.agent_day, "agent")
            result += [
                _detail(name, field, dims, STATE[field].meaning)
                for name, field in AGENT_DETAIL.items()
            ]
        if self.config.record.agent_resource:
            dims = ("society", self.resource_day, "agent", "resource")
            result += [
                _detail(name, name, dims, meaning) for name, meaning in RESOURCE_DETAIL.items()
            ]
        return result

    def detail_days(self) -> set[int]:
        """Return the days after which the state itself is recorded."""
        days: set[int] = set()
        if self.config.record.agent:
            days.update(self._days[self.agent_day].tolist())
        if self.config.record.agent_resource:
            days.update(self._days[self.resource_day].tolist())
        return days

    def write_series(self, file: ResultFile, first: int, series: NDArray[np.float64]) -> None:
        """Write the series of days from ``first`` on, (society, day, series) float64."""
        for name, columns, lag in _columns():
            days = np.arange(first, first + series.shape[1]) - lag
            wanted = (days % self._every["day"] == 0) & (days >= 1)
            if not wanted.any():
                continue
            rows = days[wanted] // self._every["day"] - 1
            block = series[:, wanted][:, :, columns]
            values = block if name in (HHI, MINUTES) else block[:, :, 0]
            file.write(name, values, day=slice(int(rows[0]), int(rows[-1]) + 1))

    def write_detail(self, file: ResultFile, day: int, state: dict[str, NDArray[Any]]) -> None:
        """Write what is recorded of the state on this day, if anything is."""
        record = self.config.record
        by_name = {name: name for name in RESOURCE_DETAIL}
        for every, dim, fields in (
            (record.agent, self.agent_day, AGENT_DETAIL),
            (record.agent_resource, self.resource_day, by_name),
        ):
            if every and day % every == 0:
                for name, field in fields.items():
                    file.write(name, state[field], **{dim: day // every - 1})


def _detail(name: str, field: str, dims: tuple[str, ...], meaning: str) -> Variable:
    kind = STATE[field]
    fill = float("nan") if kind.dtype == "float64" else -1
    return Variable(name, dims, kind.dtype, kind.unit, meaning, fill)


def _columns() -> Iterator[tuple[str, list[int], int]]:
    """Yield each variable with its columns of the series and its lag in days."""
    names = list(SERIES)
    groups = {HHI: "hhi_", MINUTES: "minutes_"}
    for variable, prefix in groups.items():
        yield variable, [i for i, name in enumerate(names) if name.startswith(prefix)], 0
    for i, name in enumerate(names):
        if not name.startswith(tuple(groups.values())):
            yield name, [i], SERIES[name].lag
