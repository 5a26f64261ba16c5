"""What goes into the file of an economy run: coordinates, variables and where each one is taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.economy.config import EconomyConfig
from societies.economy.state import (
    ACTIVITIES,
    DEVICE_ACTIVITIES,
    DEVICE_SERIES,
    DEVICE_TYPES,
    QUANTILES,
    SERIES,
    SOURCES,
    STATE,
)
from societies.output import Coordinate, ResultFile, Variable

HHI = "Herfindahl-Hirschman index of extraction, quantiles over resources"

GROUPED = {
    "hhi": ("quantile", "1", HHI),
    "minutes": ("activity", "min", "minutes per living agent by activity"),
    "extraction_share": ("source", "1", "share of the units extracted by hand and by device type"),
    "devices_made": ("device_type", "devices", "devices made per living agent"),
    "devices_traded": ("device_type", "devices", "devices sold per living agent"),
    "devices_known": ("device_type", "devices", "devices that somebody knows how to make"),
    "inventions": ("device_type", "devices", "devices invented today"),
    "device_maker_share": (
        "made_type",
        "1",
        "share of the tools (machines) made with a device machine (device factory)",
    ),
}
"""Variables that hold several series: their dimension beside society and day, unit and meaning."""

MADE_TYPES = ("tools", "machines")
"""What device-making devices make."""


def grouped(series: str) -> str | None:
    """Return the variable that holds the series together with others, None if it is its own."""
    prefixes = [name for name in GROUPED if series.startswith(f"{name}_")]
    return prefixes[0] if prefixes else None


ALL_SERIES = SERIES | DEVICE_SERIES

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


@dataclass(frozen=True)
class Invention:
    """An event: who found on which day how to make a device, and of what.

    ``recipe`` holds resources of a tool; else resources, whose device of the type below it takes.
    """

    society: int
    day: int
    inventor: int
    device_type: str
    resource: int
    recipe: tuple[int, ...]


def inventions(state: Mapping[str, NDArray[Any]], first: int, last: int) -> list[Invention]:
    """Return what was invented on days first to last, by society, day, type and resource.

    Of a device that was forgotten and invented again in between only the last time is known; to
    forget takes days, so nothing is missed if this is asked every day.
    """
    days = state["invented_on"]
    return sorted(
        (
            Invention(
                society=int(society),
                day=int(days[society, device, r]),
                inventor=int(state["inventor"][society, device, r]),
                device_type=DEVICE_TYPES[device],
                resource=int(r),
                recipe=tuple(int(k) for k in state["recipe"][society, device, r] if k >= 0),
            )
            for society, device, r in np.argwhere((days >= first) & (days <= last))
        ),
        key=lambda event: (event.society, event.day),
    )


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
        activities = ACTIVITIES if config.devices == "none" else ACTIVITIES + DEVICE_ACTIVITIES
        result.append(Coordinate("activity", np.array(activities), "", "what time is spent on"))
        if config.devices != "none":
            result += [
                Coordinate("source", np.array(SOURCES), "", "with what units are extracted"),
                Coordinate("device_type", np.array(DEVICE_TYPES), "", "type of device"),
                Coordinate("made_type", np.array(MADE_TYPES), "", "what is made with devices"),
            ]
        return result

    def variables(self) -> list[Variable]:
        """Return the variables of the file."""
        nan = float("nan")
        result = []
        dims: tuple[str, ...]
        for name, columns, _ in _columns(self.config):
            if len(columns) > 1 or name in GROUPED:
                dim, unit, meaning = GROUPED[name]
                dims = ("society", "day", dim)
                result.append(Variable(name, dims, "float64", unit, meaning, nan))
            else:
                series, dims = ALL_SERIES[name], ("society", "day")
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
        for name, columns, lag in _columns(self.config):
            days = np.arange(first, first + series.shape[1]) - lag
            wanted = (days % self._every["day"] == 0) & (days >= 1)
            if not wanted.any():
                continue
            rows = days[wanted] // self._every["day"] - 1
            block = series[:, wanted][:, :, columns]
            values = block if name in GROUPED else block[:, :, 0]
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


def _columns(config: EconomyConfig) -> Iterator[tuple[str, list[int], int]]:
    """Yield each variable with its columns of the series and its lag in days."""
    names = list(SERIES if config.devices == "none" else ALL_SERIES)
    columns: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        columns.setdefault(grouped(name) or name, []).append(i)
    for variable, places in columns.items():
        yield variable, places, ALL_SERIES[names[places[0]]].lag
