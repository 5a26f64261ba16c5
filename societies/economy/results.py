"""What does the file of an economy run contain, and which array does each variable come from?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.economy.devices import DEVICE_TYPES, SOURCES
from reference_py.economy.measures import TOPS
from reference_py.economy.parameters import Parameters
from reference_py.economy.state import DEVICE_STATE
from societies.economy.columns import of_day
from societies.economy.config import EconomyConfig
from societies.economy.ensemble import Ensemble
from societies.economy.explain.trade_log import TradeLog
from societies.economy.network import network_stops, network_tables, write_network
from societies.economy.series import (
    ACTIVITIES,
    DEVICE_ACTIVITIES,
    MADE_TYPES,
    MEASURES,
    QUANTILES,
    TYPE,
    columns_of,
)
from societies.economy.variables import (
    AGENT_DETAIL,
    AGENT_DEVICE_DETAIL,
    AGENT_MEASURE_DETAIL,
    AGENT_MEASURE_DEVICE_DETAIL,
    AGENT_POLICY_DETAIL,
    RECIPES,
    RESOURCE,
    RESOURCE_DETAIL,
    RESOURCE_DEVICE_DETAIL,
    RESOURCE_MEASURES,
)
from societies.output import Column, Coordinate, EventTable, ResultFile, Variable
from societies.workload.declare.fields import State
from societies.workload.declare.protocol import Setup
from societies.workload.running.contents import SeriesInFile
from societies.workload.running.state import file_values
from societies.workload.running.varying import coordinates
from societies.workload.running.written import Block

DEVICES = {"none": "no devices", "tools": "tools", "all": "all devices"}


def describe_tables(p: Parameters) -> str:
    """Return a text with the lengths of the utility tables, and whether one was cut off."""
    ended = " (cut off at more than an agent will hold)" if p.tables_cut_off else ""
    if isinstance(p, Ensemble):
        return f"{p.describe_curves()}{ended}"
    lengths = ", ".join(str(len(curve.marginal)) for curve in p.utility_curves)
    return f"{lengths} units{ended}"


ROOM_FOR_INVENTIONS = 4
"""Initial capacity of the table of inventions, in rows per device; the table grows when full."""


def recorded_days(every: int, days: int) -> NDArray[np.int64]:
    """Return the days on which a variable with this interval is recorded; none if it is 0."""
    if every == 0:
        return np.array([], dtype=np.int64)
    return np.arange(every, days + 1, every, dtype=np.int64)


class DayRecorder:
    """Defines the coordinates and variables of a configuration's file, and writes days into it."""

    def __init__(self, setup: Setup[EconomyConfig, Parameters]) -> None:
        config = setup.config
        self.config, self.p, self.fields = config, setup.p, setup.fields
        self.devices = config.devices != "none"
        self.trade_log = TradeLog(setup)
        self.groups = len(config.group_sizes())
        record = config.record
        self._every = {
            "day": record.society,
            "agent_day": record.agent,
            "resource_day": record.agent_resource,
            "device_day": record.device if self.devices else 0,
        }
        # Details recorded at the same interval as the series share their coordinate of days.
        self.agent_day = "day" if record.agent == record.society else "agent_day"
        self.resource_day = "day" if record.agent_resource == record.society else "resource_day"
        self.device_day = "day" if record.device == record.society else "device_day"
        dims = ("day", self.agent_day, self.resource_day, self.device_day)
        self._days = {
            name: recorded_days(every, config.days)
            for name, every in self._every.items()
            if every and name in dims
        }
        self._details = [
            (record.agent, self.agent_day, AGENT_DETAIL),
            (record.agent_resource, self.resource_day, RESOURCE_DETAIL),
        ]
        if self.devices:
            self._details += [
                (record.agent, self.agent_day, AGENT_DEVICE_DETAIL),
                (record.agent_resource, self.resource_day, RESOURCE_DEVICE_DETAIL),
            ]
        if self.p.policies:
            self._details.append((record.agent, self.agent_day, AGENT_POLICY_DETAIL))
        self.measures = record.measures
        logged = RESOURCE_MEASURES if self.measures else ()
        self.series = SeriesInFile(setup, record.society, logged)
        if self.measures:
            self._details.append((record.agent, self.agent_day, AGENT_MEASURE_DETAIL))
            if self.devices:
                self._details.append((record.agent, self.agent_day, AGENT_MEASURE_DEVICE_DETAIL))

    def coordinates(self) -> list[Coordinate]:
        """Return the named coordinates of the file."""
        config = self.config
        societies = np.arange(config.first_society, config.first_society + config.replicates)
        result = [Coordinate("society", societies, "", "number of the society")]
        result += coordinates(config, "society", entries="resource")
        names = {
            "day": "day, counted from 1",
            "agent_day": "day of per-agent detail",
            "resource_day": "day of per-agent and per-resource detail",
            "device_day": "day on which those who know a device are counted",
        }
        result += [Coordinate(name, days, "day", names[name]) for name, days in self._days.items()]
        if config.record.agent or config.record.agent_resource:
            result.append(Coordinate("agent", np.arange(config.agents), "", "number of the agent"))
        by_resource = any("resource" in one.along for one in result)
        if config.record.agent_resource or self.devices or by_resource or self.measures:
            numbers = np.arange(config.resources)
            result.append(Coordinate("resource", numbers, "", "number of the resource"))
        result.append(Coordinate("quantile", np.array(QUANTILES), "1", "quantile over resources"))
        activities = ACTIVITIES + DEVICE_ACTIVITIES if self.devices else ACTIVITIES
        result.append(Coordinate("activity", np.array(activities), "", "what time is spent on"))
        if self.measures:
            part = "part of the agents, the richest first"
            result.append(Coordinate("top", np.array(TOPS), "1", part))
        if self.groups > 1:
            names_of_groups = np.array([group.name for group in config.groups])
            result.append(Coordinate("group", names_of_groups, "", "group of agents"))
        if self.devices:
            slots = np.arange(max(config.device.resources_in_tool, config.device.components))
            result += [
                Coordinate("component", slots, "", "place in a recipe"),
                Coordinate("source", np.array(SOURCES), "", "with what units are extracted"),
                Coordinate("device_type", np.array(DEVICE_TYPES), "", "type of device"),
                Coordinate("made_type", np.array(MADE_TYPES), "", "what is made with devices"),
            ]
        return result + self.trade_log.coordinates()

    def variables(self) -> list[Variable]:
        """Return the variables of the file."""
        result = self.series.variables()
        if self.devices:
            result += self._knowledge()
        for every, day, details in self._details:
            if every:
                result += [
                    detail.variable(name, day, self.fields) for name, detail in details.items()
                ]
        if self.groups > 1 and (self.config.record.agent or self.config.record.agent_resource):
            result.append(
                Variable("agent_group", ("agent",), "int32", "index", "group of the agent")
            )
        return result + self.trade_log.variables()

    def _knowledge(self) -> list[Variable]:
        result = []
        dims: tuple[str, ...]
        if self.config.record.device:
            dims = ("society", self.device_day, *TYPE, *RESOURCE)
            meaning = "agents that know anything about making the device"
            result.append(Variable("agents_knowing", dims, self._counts, "agents", meaning))
        for name, places in RECIPES.items():
            one = DEVICE_STATE[name]
            about = (one.dtype, one.unit, one.meaning)
            result.append(Variable(name, ("society", *places), *about, none=one.none))
        return result

    @property
    def _counts(self) -> np.dtype[Any]:
        """Smallest integer type for a number of agents and one more value for "not written"."""
        return np.min_scalar_type(self.config.agents + 1)

    def tables(self) -> list[EventTable]:
        """Return the tables of events in the file."""
        config = self.config
        of_trade = [*network_tables(config), *self.trade_log.tables()]
        if not self.devices:
            return of_trade
        types = len(DEVICE_TYPES) if config.devices == "all" else 1
        room = min(config.agents * config.days, ROOM_FOR_INVENTIONS * types * config.resources)
        meaning, one = "resource whose device it is", DEVICE_STATE["recipe"]
        recipe = Column("recipe", "int32", "index", one.meaning, "component", none=one.none)
        columns = (
            *of_day("invention"),
            Column("inventor", "int32", "index", "agent that invented it"),
            Column("device_type", "int32", "", "type of device", meanings=DEVICE_TYPES),
            Column("resource", "int32", "index", meaning),
            recipe,
        )
        return [EventTable("inventions", columns, config.replicates * room), *of_trade]

    def attributes(self) -> dict[str, str | int]:
        """Return the file's attributes that describe the run: title, scenario, sizes."""
        config = self.config
        return {
            "title": f"economy, {config.agents} agents x {config.resources} resources",
            "scenario": f"{'trade' if config.trade else 'no trade'}, {DEVICES[config.devices]}",
            "agents": config.agents,
            "resources": config.resources,
            "utility_tables": describe_tables(self.p),
        }

    def begin(self, file: ResultFile, day: int, state: Callable[[], State]) -> None:
        """Write variables that never change; store the state if the next day will be replayed."""
        if "agent_group" in file.variables:
            sizes = self.config.group_sizes()
            file.write("agent_group", np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))
        if self.trade_log.societies(day + 1):
            self.trade_log.begin(day, state())

    def write(self, file: ResultFile, block: Block) -> None:
        """Write a block of days, and what is recorded of the states in it.

        Raises
        ------
        LeftOut
            If Ctrl-C came while the last day was replayed.
        """
        self.series.write(file, block)
        if self.devices:
            self._write_inventions(file, block.events["inventions"])
            self._write_knowledge(file, block.first, block.logs["agents_knowing"])
        for day, recorded in block.detail.items():
            self._write_detail(file, day, recorded)
            write_network(file, self.config, day, recorded)
        if block.last in self.pauses():
            state = block.state()
            self.trade_log.write(file, self.p, block.last, state, block.interruption)
            self.trade_log.begin(block.last, state)

    def write_checkpoint(self, file: ResultFile, state: Mapping[str, NDArray[Any]]) -> None:
        """Write the components of every device for which the society has a recipe."""
        if self.devices:
            for name in RECIPES:
                file.write(name, state[name])

    def finish(self, file: ResultFile, day: int, state: Callable[[], State]) -> None:
        """Do nothing: at the end of a run everything is written already."""

    def means(self, block: Block) -> dict[str, float]:
        """Return means over societies of the last day's series."""
        means = block.logs["series"][:, -1].mean(axis=0).tolist()
        of_series = dict(zip(columns_of(self.p), means, strict=True))
        return {name: of_series[name] for name in self._reported()}

    def recorded_means(self, dataset: Any, day: int) -> dict[str, float]:
        """Return the same means from a file, or {} if `day` was not recorded."""
        if day not in dataset["day"].values:
            return {}
        last = dataset.sel(day=day)
        return {name: float(last[name].mean()) for name in self._reported()}

    def _reported(self) -> list[str]:
        measures = {*MEASURES, *RESOURCE_MEASURES}
        return [name for name in self.series.scalars() if name not in measures]

    def stops(self) -> set[int]:
        """Return the days after which the state itself is recorded."""
        days = self.trade_log.stops() | network_stops(self.config)
        if self.config.record.agent:
            days.update(self._days[self.agent_day].tolist())
        if self.config.record.agent_resource:
            days.update(self._days[self.resource_day].tolist())
        return days

    def detail(self, day: int, state: State) -> State:
        """Return the fields that are recorded on a day."""
        kinds = [kind for every, _, kind in self._details if every and day % every == 0]
        names = {field for kind in kinds for one in kind.values() for field in one.fields}
        names |= {flags for name in names if (flags := self.fields[name].present)}
        if day in self.config.record.network:
            names.update(name for name in state if name.startswith("link_"))
        return {name: state[name] for name in names}

    def pauses(self) -> set[int]:
        """Return the days whose trades are recorded, and those before them."""
        return self.trade_log.stops()

    def _write_inventions(self, file: ResultFile, inventions: NDArray[np.int32]) -> None:
        """Append inventions, given as rows in the form of `Engine.events`."""
        society, day, inventor, device_type, resource = inventions[:, :5].T
        columns = {
            "society": society + self.config.first_society,
            "day": day,
            "inventor": inventor,
            "device_type": device_type,
            "resource": resource,
            "recipe": inventions[:, 5:],
        }
        file.append("inventions", columns)

    def _write_knowledge(self, file: ResultFile, first: int, knowing: NDArray[np.int32]) -> None:
        """Write the number of agents that know each device on the block's recorded days.

        ``knowing`` is (society, day, device_type, resource) int32.
        """
        every = self.config.record.device
        days = np.arange(first, first + knowing.shape[1])
        wanted = days % every == 0 if every else np.zeros(len(days), bool)
        if wanted.any():
            rows = days[wanted] // every - 1
            values = knowing[:, int(wanted.argmax()) :: every].astype(self._counts)
            place = {self.device_day: slice(int(rows[0]), int(rows[-1]) + 1)}
            file.write("agents_knowing", values, **place)

    def _write_detail(self, file: ResultFile, day: int, state: dict[str, NDArray[Any]]) -> None:
        """Write the details of the state that are recorded on this day."""
        for every, dim, details in self._details:
            if every and day % every == 0:
                for name, detail in details.items():
                    parts = [file_values(self.fields, field, state) for field in detail.fields]
                    values = np.concatenate(parts, axis=-1)
                    file.write(name, values, **{dim: day // every - 1})
