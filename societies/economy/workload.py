"""What does the economy declare so that the core can run, verify, capture and time it?

Its parts are imported only when they are used, so that reading a configuration stays quick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from societies.economy.config import EconomyConfig
from societies.errors import ConfigError, option
from societies.workload import Block, Events, Series, Setup, Source, Step, Workload
from societies.workload.declare.naming import Imported
from societies.workload.declare.scene import Scene
from societies.workload.running.forms import in_form, require_form

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reference_py.economy.parameters import Parameters
    from societies.opencl import Device
    from societies.rule import Rule

MODEL_VERSION = "1"
"""Changes when, and only when, results change; see CHANGELOG, "Results change"."""

AGENTS_PER_COMPUTE_UNIT = 16
"""Above this number of agents per compute unit a GPU cannot keep all workgroups resident."""

REGISTERS, REGISTERS_WITH_DEVICES = 96, 64
"""Most registers of a work-item if a GPU has many agents: with 64 NVIDIA's multiprocessors hold 32
warps, with 96 some 20, which is quicker where agents have no devices; see LOG.md."""


class Economy(Workload[EconomyConfig, "Parameters"]):
    """Self-interested agents that extract, barter, invent, make and consume."""

    name = "economy"
    summary = "agents extract, barter, invent and consume"
    version = MODEL_VERSION
    config = EconomyConfig
    clock, copies, work = "day", "society", "agent-day"
    step_arguments = ("market_round", "device_type")
    numbered = True
    contents_class = "societies.economy.results:DayRecorder"
    report_class = "societies.economy.report:EconomyReport"

    sizes = Imported("societies.economy.state:sizes")
    fields = Imported("societies.economy.state:state_fields")
    phases = Imported("societies.economy.phases:phases")
    reference = Imported("societies.economy.phases:reference")
    counts = Imported("societies.economy.coverage:counted_quantities")
    part = Imported("societies.economy.coverage:part")
    limits = Imported("societies.economy.limits:limits")
    seconds = Imported("societies.economy.duration:seconds")
    watched = Imported("societies.economy.scene:watched")
    figure = Imported("societies.economy.figure:figure")

    def parameters(self, config: EconomyConfig) -> Parameters:
        """Return the parameters of a configuration's societies: numbers and tables."""
        from societies.economy.ensemble import ensemble
        from societies.economy.parameters import parameters
        from societies.workload.running.ensembles import points_of

        points = points_of(self, config)
        return parameters(config) if points is None else ensemble(config, points)

    def parameters_of_copy(self, p: Parameters, place: int, tick: int) -> Parameters:
        """Return the parameters of one society on a day."""
        from societies.economy.ensemble import Ensemble

        return p.of(place, tick) if isinstance(p, Ensemble) else p

    def parameters_of_copies(self, p: Parameters, tick: int) -> Mapping[str, NDArray[Any]]:
        """Return the kernels' tables that have a part for each society."""
        from societies.economy.ensemble import Ensemble

        return p.rows(tick) if isinstance(p, Ensemble) else {}

    def changes(self, p: Parameters) -> Sequence[int]:
        """Return the days after which parameters change."""
        from societies.economy.ensemble import Ensemble

        return p.points.after if isinstance(p, Ensemble) else ()

    def settled(self, p: Parameters) -> Mapping[str, tuple[int, ...]]:
        """Return what the drawing of shocks changes: their targets and its random stream."""
        from reference_py.economy.streams import PURPOSES

        if not p.shocks:
            return {}
        return {"shock_target": (), "stream": (p.agents, PURPOSES["shocks"])}

    def replaceable(self) -> Mapping[str, Rule]:
        """Return the rules that a user's functions may replace."""
        from societies.economy.rules import RULES

        return RULES

    def events(self, p: Parameters) -> Mapping[str, Events]:
        """Return the list of inventions: day, inventor, device_type, resource, components.

        An agent invents one device a day at most, and a device is invented once a day at most.
        """
        if p.devices is None:
            return {}
        from reference_py.economy.devices import TYPES

        most = min(p.agents, TYPES * p.resources)
        return {"inventions": Events(4 + p.component_slots, most)}

    def schedule(
        self, p: Parameters, tick: int, seen: Mapping[str, NDArray[Any]]
    ) -> Sequence[Step]:
        """Return the steps of a day."""
        from societies.economy import schedule

        return schedule.cached_schedule(p, tick)

    def computed_on(self, p: Parameters, device: Device) -> None:
        """Let the tables of many curves be made on the device."""
        from societies.economy.ensemble import Ensemble

        if isinstance(p, Ensemble):
            p.computed_on(device)

    def source(self, p: Parameters) -> Source:
        """Return macros, accessors, tables and the bounds of shared loops."""
        from societies.economy import source

        arguments = {**source.constant_tables(p), **source.loop_bounds(p)}
        return Source(source.macros(p), source.header(p), arguments, "WORK_ITEMS")

    def work_items(self, p: Parameters, copies: int, device: Any) -> int:
        """Return one work-item for each resource, in whole warps.

        On a GPU that could not hold all workgroups of this size at once, each agent gets a single
        warp, whose work-items serve several resources: twice as many agents run concurrently.
        """
        from societies.workload.declare.phases import workgroup_size

        items = 1 if self._crowded(p, copies, device) else p.resources
        return workgroup_size(device, items)

    def registers(self, p: Parameters, copies: int, device: Any) -> int:
        """Return a limit if a GPU has many agents, so that it can hold more of them at once."""
        most = REGISTERS if p.devices is None else REGISTERS_WITH_DEVICES
        return most if self._crowded(p, copies, device) else 0

    def _crowded(self, p: Parameters, copies: int, device: Any) -> bool:
        many: bool = copies * p.agents > AGENTS_PER_COMPUTE_UNIT * device.compute_units
        return many and device.kind == "gpu"

    def work_done(self, config: EconomyConfig, ticks: int) -> float:
        """Return agent-days."""
        return float(ticks * config.replicates * config.agents)

    def check(self, block: Block, p: Parameters) -> None:
        """Raise an error before results get wrong: the ends of tables are estimates (`bounds`).

        Half of the limit leaves room for units held in the course of a day.
        """
        from societies.config.model import LARGEST_INTEGER
        from societies.economy.series import columns_of

        limit = p.largest_holding if p.tables_cut_off else LARGEST_INTEGER
        held = block.logs["series"][..., columns_of(p).index("units_held_max")].max()
        if held > limit // 2:
            raise ConfigError(
                f"utility.min_marginal: an agent holds {held:.0f} units of a resource, too near to "
                f"the {limit} that tables and counts are made for\n"
                "raise utility.min_marginal; what was done before is in the file"
            )

    def series(self, p: Parameters) -> Mapping[str, Series]:
        """Return the statistics of a day."""
        from societies.economy.series import series_table

        return series_table(
            p.devices is not None, p.groups, measures=p.measures, policies=p.policies
        )

    def entries(self, p: Parameters) -> Mapping[str, Sequence[object]]:
        """Return the names of the entries of the dimensions of series."""
        from societies.economy.series import entries

        return entries(p.devices is not None, p.groups)

    def plan_rows(self, config: EconomyConfig, p: Parameters) -> list[tuple[str, str]]:
        """Return the rows about sizes, groups and tables for the plan of a run."""
        from societies.economy.results import describe_tables

        return [
            ("agents x resources", f"{p.agents} x {p.resources}"),
            ("agents per group", ", ".join(str(n) for n in config.group_sizes())),
            ("utility tables", describe_tables(p)),
        ]

    def scene(self, p: Parameters) -> Scene:
        """Return what a page draws: series, who gave what to whom, and the spread."""
        from societies.economy.scene import scene

        return scene(p, self.fields(p), self.series(p))

    def headlines(self) -> Sequence[str]:
        """Return the variables of the closing table."""
        return ("units_extracted", "units_held", "units_traded", "utility", "gini")

    def left_out(self) -> Mapping[str, str]:
        """Return the series of policies; without any, no income is taxed."""
        from societies.economy.series import WITHOUT_POLICIES

        return WITHOUT_POLICIES

    def trace(
        self,
        config: EconomyConfig,
        *,
        agent: int,
        day: int | None = None,
        days: str | None = None,
        society: int | None = None,
        start: Path | None = None,
        phase: str | None = None,
        form: str = "text",
        full: bool = False,
        without: str | None = None,
        device: str | Device = "auto",
        progress: Callable[[int, int], None] | None = None,
    ) -> str:
        """Return a text on what an agent did on a day and why, or on its life over many days.

        Parameters
        ----------
        agent : int
            The agent, from 0.
        day : int, optional
            The day, from 1.
        days : str, optional
            Instead of a day: the life of the agent over these days, such as 1:300.
        society : int, optional
            The society; default: the first.
        start : path, optional
            Result file with a checkpoint to begin from.
        phase : str, optional
            Only this phase of the day, such as own_use.
        form : str
            text or json.
        full : bool
            Leave nothing out of the text.
        without : str, optional
            Of a life: also the twin in which no device of a resource is invented: invention:21.
        """
        from societies.economy.explain import report_life
        from societies.economy.explain.life import life, resource_of, without_invention
        from societies.economy.explain.report import text
        from societies.economy.explain.trace import trace

        require_form(form)
        if (day is None) == (days is None):
            raise ConfigError(f"give either {option('day')} or {option('days')}")
        setup = Setup(self, config)
        if days is not None:
            if phase is not None:
                raise ConfigError(f"{option('phase', phase)}: is for one day ({option('day')})")
            lived = life(
                setup,
                days=days,
                agent=agent,
                society=society,
                start=start,
                device=device,
                progress=progress,
            )
            if without is not None:
                if start is not None:
                    raise ConfigError(
                        f"{option('without', without)}: the twin lives from day 1 on; leave out "
                        f"{option('start')}"
                    )
                lived.without_of = resource_of(without, config.resources)
                twin = without_invention(config, lived.without_of)
                lived.without = life(
                    Setup(self, twin),
                    days=days,
                    agent=agent,
                    society=society,
                    device=device,
                    progress=progress,
                )
            return in_form(form, lived, partial(report_life.text, full=full))
        if without is not None:
            raise ConfigError(f"{option('without', without)}: is of a life ({option('days')})")
        assert day is not None
        found = trace(
            setup,
            day=day,
            agent=agent,
            society=society,
            start=start,
            phase=phase,
            device=device,
            progress=progress,
        )
        return in_form(form, found, partial(text, full=full))


WORKLOAD = Economy()
