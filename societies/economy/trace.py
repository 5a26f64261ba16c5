"""What did an agent do on one day, and why: its day in the reference, event by event.

The society is brought to the morning of that day on any device, or from a checkpoint; the day
itself runs in the reference, before an observer. `societies.economy.telling` puts it into words.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from societies.economy.config import EconomyConfig
from societies.economy.parameters import REMOVE_AGENT, Parameters, parameters
from societies.economy.replay import (
    Place,
    Witness,
    parameters_of_one,
    replay,
    require_same,
    state_of_one,
)
from societies.economy.schedule import Step
from societies.errors import ConfigError, option, override
from societies.opencl import Device
from societies.output.provenance import checkpoint_of
from societies.workload.devices import chosen_device
from societies.workload.engines import LOG_TICKS, DeviceEngine, Engine, ReferenceEngine
from societies.workload.fields import State, kept, state_hash
from societies.workload.file import require_checkpoint
from societies.workload.plan import numbers
from societies.workload.protocol import Workload
from societies.workload.run import Progress

PHASES = {
    "trading": ("refresh_values", "matching", "trading"),
    "device_trading": ("open_device_market", "device_matching", "device_trading"),
    "own_use": ("own_use",),
    "production": ("production",),
    "extraction": ("extraction",),
    "invention": ("invention",),
    "end_day": ("end_day",),
    "consumption": ("consumption",),
    "shocks": ("shocks",),
}
"""Parts of a day that are told by themselves, and the steps of the schedule in each."""


@dataclass
class Meeting:
    """Two agents meet in the resource market and see what the other offers."""

    a: int
    b: int
    menu_a: list[int]
    menu_b: list[int]


@dataclass
class Pairing:
    """Two agents are paired for a round of device trade.

    Attributes
    ----------
    a, b : agents; A was drawn and took B
    gained : util that A gained in what it remembers of deals with B, for this type
    met : whether they had met today for this type, so that B was drawn at random
    """

    a: int
    b: int
    gained: float
    met: bool


@dataclass
class Unit:
    """A unit is extracted.

    Attributes
    ----------
    source : 0 by hand, else 1 + the type of the device
    start, minutes : when in the working day, and how long it takes
    value : util, its marginal utility; ``gain`` per minute
    """

    resource: int
    source: int
    start: float
    minutes: float
    value: float
    gain: float


@dataclass
class Considered:
    """A device that an agent knows and may make for itself; ``refused`` says why not."""

    resource: int
    benefit: float
    cost: float
    refused: str


@dataclass
class OwnUse:
    """An agent decides to make a device for itself, or to make none any more.

    Attributes
    ----------
    resource : None if none gains
    considered : all devices of the type that it knows
    """

    device: int
    resource: int | None
    benefit: float
    cost: float
    considered: list[Considered]


@dataclass
class Made:
    """A promised device is made; ``by`` is the type that sped it, None by hand."""

    device: int
    resource: int
    by: int | None
    minutes: float
    experience: float
    parts: list[int]


@dataclass
class Attempt:
    """An agent tries to invent.

    Attributes
    ----------
    considered : resources, or components, that it tries; none if it has too few
    open : those whose device nobody knows
    experience : with all that is considered
    probability : of finding one of the open devices
    """

    device: int
    considered: list[int]
    open: list[int]
    experience: float
    probability: float


@dataclass
class Invented:
    """Somebody invents a device."""

    agent: int
    device: int
    resource: int
    parts: list[int]


@dataclass
class Removed:
    """A shock takes a resource, or an agent, from the society.

    Attributes
    ----------
    what : resource or agent
    index : which one, also where the configuration says random
    """

    what: str
    index: int


@dataclass
class Snapshot:
    """What is the agent's at some moment.

    Attributes
    ----------
    held, value, experience : lists over resources
    set_aside : units locked for tools that it will make
    device_minutes, device_experience, to_make : (type, resource)
    utility : util, of all that is held
    alive : whether it is in the simulation
    """

    held: list[int]
    value: list[float]
    experience: list[float]
    utility: float
    alive: bool
    gain_per_minute: float
    set_aside: list[int] = field(default_factory=list)
    device_minutes: list[list[float]] = field(default_factory=list)
    device_experience: list[list[float]] = field(default_factory=list)
    to_make: list[list[int]] = field(default_factory=list)
    overtime: float = 0.0
    reserved_minutes: float = 0.0


@dataclass
class Section:
    """A part of the day: consecutive steps of one of the `PHASES`.

    Attributes
    ----------
    phase : name of the part
    device : type that it is about, -1 for none
    market : number of the resource market, from 1, for a part that is one
    before, after : Snapshot
    events : list of (Place, event), in order
    steps : what the schedule ran
    """

    phase: str
    device: int
    market: int
    before: Snapshot
    after: Snapshot
    events: list[tuple[Place, Any]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def rounds(self) -> list[int]:
        """Numbers of the rounds that it has."""
        return [step.round for step in self.steps if step.phase == self.phase]


@dataclass
class Trace:
    """The day of one agent; ``str`` tells it in words.

    Attributes
    ----------
    society, day, agent : int
    sections : list of Section, those asked for
    morning, evening : Snapshot, before and after the day
    recipes : (type, resource) lists of components, in the morning
    reached : str, how the morning was reached
    checked : str, whether the day ends as on the device
    state_sha256 : hash of the society's state in the evening
    """

    parameters: Parameters
    society: int
    day: int
    agent: int
    sections: list[Section]
    morning: Snapshot
    evening: Snapshot
    recipes: list[list[list[int]]]
    reached: str
    checked: str
    state_sha256: str

    def text(self, *, full: bool = False) -> str:
        """Tell the day; ``full`` leaves nothing out."""
        from societies.economy.telling import told

        return "\n".join(told(self, full=full))

    def __str__(self) -> str:
        return self.text()

    def data(self) -> dict[str, Any]:
        """Return the day as plain data, everything included; None for a number that is not."""
        whole = {
            "society": self.society,
            "day": self.day,
            "agent": self.agent,
            "reached": self.reached,
            "checked": self.checked,
            "state_sha256": self.state_sha256,
            "recipes": self.recipes,
            "morning": asdict(self.morning),
            "sections": [
                {
                    "phase": section.phase,
                    "device": section.device,
                    "market": section.market,
                    "before": asdict(section.before),
                    "after": asdict(section.after),
                    "events": [
                        {
                            "event": type(event).__name__,
                            "step": str(place.step),
                            "round": place.step.round,
                            **asdict(event),
                        }
                        for place, event in section.events
                    ],
                }
                for section in self.sections
            ],
            "evening": asdict(self.evening),
        }
        return cast(dict[str, Any], _without_nan(whole))


def _without_nan(data: Any) -> Any:
    """Return nested data with None for every real number that JSON does not have."""
    if isinstance(data, dict):
        return {name: _without_nan(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_without_nan(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


class AgentWitness(Witness):
    """Keeps all that one agent does in a day, in sections."""

    def __init__(self, agent: int) -> None:
        super().__init__(agent)
        self.one = agent
        self.sections: list[Section] = []
        self._met = (-1, -1)

    def begin(self, step: Step) -> None:
        """Open a section with the first of its steps."""
        super().begin(step)
        phase = next((name for name, steps in PHASES.items() if step.phase in steps), "")
        last = self.sections[-1] if self.sections else None
        market = self.market if phase == "trading" else 0
        if step.phase == "refresh_values":
            market += 1
        if last is None or (phase, step.device, market) != (last.phase, last.device, last.market):
            now = self.snapshot()
            self.sections.append(Section(phase, step.device, market, now, now))
        self.sections[-1].steps.append(step)
        self.events = self.sections[-1].events

    def end(self) -> None:
        """Note where the agent stands after every step, and what a shock took."""
        self.sections[-1].after = self.snapshot()
        if self.step.phase != "shocks":
            return
        for shock, target in zip(self.p.shocks, self.s.shock_target, strict=True):
            if shock.day == self.day:
                what = "agent" if shock.remove == REMOVE_AGENT else "resource"
                self.keep(Removed(what, int(target)))

    def snapshot(self) -> Snapshot:
        """Return what is the agent's now."""
        from reference_py.economy.curves import total_utility, utility_curve

        p, s, one = self.p, self.s, self.one
        held = list(s.held[one])
        curves = [utility_curve(p, one, r) for r in range(p.resources)]
        worth = sum(total_utility(curve, units) for curve, units in zip(curves, held, strict=True))
        result = Snapshot(
            held=held,
            value=list(s.value[one]),
            experience=list(s.experience[one]),
            utility=worth,
            alive=bool(s.alive[one]),
            gain_per_minute=s.gain_per_minute[one],
        )
        if p.device is not None:
            result.set_aside = list(s.set_aside[one])
            result.device_minutes = [list(row) for row in s.device_minutes[one]]
            result.device_experience = [list(row) for row in s.device_experience[one]]
            result.to_make = [list(row) for row in s.to_make[one]]
            result.overtime = s.overtime[one]
            result.reserved_minutes = s.reserved_minutes[one]
        return result

    def on_menus(self, a: int, b: int, menu_a: set[int], menu_b: set[int]) -> None:
        """Two agents see each other's menus; they look again after every swap."""
        if self.concerns(a, b) and self._met != (self.market, self.step.round):
            self._met = (self.market, self.step.round)
            self.keep(Meeting(a, b, sorted(menu_a), sorted(menu_b)))

    def on_pair(self, a: int, b: int) -> None:
        """Two agents are paired for device trade."""
        if self.concerns(a, b):
            gained = sum(self.s.partner_memory[a][self.step.device][b])
            self.keep(Pairing(a, b, gained, bool(self.s.met[a][b])))

    def on_unit(self, agent: int, resource: int, source: int, time: float, minutes: float) -> None:
        """A unit is about to be extracted."""
        if agent == self.one:
            value = self.value(agent, resource)
            self.keep(Unit(resource, source, time, minutes, value, value / minutes))

    def on_own_use(
        self, agent: int, resource: int | None, benefit: float, cost: list[float]
    ) -> None:
        """The agent decides for a device, or for none."""
        if agent == self.one:
            device = self.step.device
            known = self.s.device_experience[agent][device]
            considered = [
                self._considered(device, r, cost[r]) for r, e in enumerate(known) if e > 0.0
            ]
            spent = 0.0 if resource is None else cost[resource]
            self.keep(OwnUse(device, resource, benefit, spent, considered))

    def _considered(self, device: int, resource: int, cost: float) -> Considered:
        """Say what one more device would bring and cost, and what stands in the way."""
        from reference_py.economy import valuation

        p, s, one = self.p, self.s, self.one
        benefit = valuation.benefit(p, s, one, device, resource)
        refused = ""
        if not benefit > cost:
            refused = "brings no more than it costs"
        enough = p.device.days_to_hold * p.day_length
        if not valuation.stock(p, s, one, device, resource) < enough:
            refused = "owns enough"
        elif not valuation.can_make(p, s, one, device, resource):
            refused = self._cannot_make(device, resource)
        return Considered(resource, benefit, cost, refused)

    def _cannot_make(self, device: int, resource: int) -> str:
        from reference_py.economy import valuation

        p, s, one = self.p, self.s, self.one
        if s.device_experience[one][device][resource] < 1.0:
            return "knows too little"
        minutes, units = valuation.worst_case(p, s, one, device, resource)
        if not s.reserved_minutes[one] + minutes < p.day_length:
            return "no time to make it"
        short = [k for k in range(p.resources) if units[k] > s.held[one][k]]
        return f"lacks {', '.join(f'r{k}' for k in short)}"

    def on_made(
        self, agent: int, device_type: int, resource: int, by: int | None, minutes: float
    ) -> None:
        """A device is made."""
        device = device_type
        if agent == self.one:
            parts = [k for k in self.s.recipe[device][resource] if k >= 0]
            experience = self.s.device_experience[agent][device][resource]
            self.keep(Made(device, resource, by, minutes, experience, parts))

    def on_attempt(
        self, agent: int, device_type: int, considered: list[int], open: list[int]
    ) -> None:
        """An agent tries to invent something of a type."""
        device = device_type
        if agent != self.one:
            return
        from reference_py.economy.devices import COMPONENT, TOOL

        p, s = self.p, self.s
        known = s.experience[agent]
        chance = p.device.tool_probability
        if device != TOOL:
            known = s.device_experience[agent][COMPONENT[device]]
            chance = p.device.device_probability
        experience = sum(known[r] for r in considered)
        chance *= experience * p.device.inventiveness[p.group_of_agent[agent]]
        self.keep(Attempt(device, list(considered), list(open), experience, min(1.0, chance)))

    def on_invented(self, agent: int, device_type: int, resource: int, parts: list[int]) -> None:
        """Anybody invents something; the others can learn it from now on."""
        self.keep(Invented(agent, device_type, resource, list(parts)))


def trace(
    workload: Workload[EconomyConfig, Parameters],
    config: EconomyConfig,
    *,
    day: int,
    agent: int,
    society: int | None = None,
    start: str | Path | None = None,
    phase: str | None = None,
    device: str | Device = "auto",
    progress: Progress | None = None,
) -> Trace:
    """Say what an agent did on a day, and why.

    Parameters
    ----------
    workload : the economy
    config : EconomyConfig
    day : int, from 1
    agent : int
    society : int, optional
        Number of the society; default: the configuration's first.
    start : path, optional
        A result of this configuration (``days`` and ``record`` aside): begin with its newest
        checkpoint before the day instead of day 0.
    phase : str, optional
        Only this part of the day, one of `PHASES`.
    device : str or Device
        Where the days before are run.
    progress : callable, optional
        Called with (days done, days).

    Raises
    ------
    ConfigError
        If there is no such day, agent, society or part of a day.
    DeviceError
        If the device fails, or its day is not that of the reference.
    OutputError
        If there is no checkpoint to begin with.
    """
    number = config.first_society if society is None else society
    _require(config, day, agent, number)
    whole = parameters(config)
    p = parameters_of_one(whole, number)
    _require_phase(p, day, phase)
    begin, state, reached = 0, None, ""
    if start is not None:
        begin, ensemble = checkpoint_of(Path(start), config, workload.version, day - 1)
        require_checkpoint(workload, config, Path(start), begin, ensemble)
        state = state_of_one(ensemble, number - whole.first_society)
        reached = f"from the checkpoint of day {begin} in {start}"
    chosen, _, facts = chosen_device(device)
    name = facts["device"]
    engine: Engine = ReferenceEngine(workload, p, first=number)
    if chosen:
        engine = DeviceEngine(workload, p, chosen, first=number)
    if state is None:
        engine.start()
    else:
        engine.load(state)
    _run(engine, begin + 1, day - 1, progress)
    fields = workload.arrays(p)
    before = kept(fields, engine.state())
    _require_alive(p, before, agent, day)
    witness = AgentWitness(agent)
    after = replay(workload, p, before, day, witness)
    digest = state_hash(fields, after)
    checked = "the day was run by the reference alone"
    if chosen:
        engine.run_ticks(day, day)
        require_same(p, day, engine.state(), after)
        checked = f"the day ends in the same state on {name}"
    if progress:
        progress(day, day)
    if begin < day - 1:
        one = begin + 1 == day - 1
        days = f"day {day - 1}" if one else f"days {begin + 1} to {day - 1}"
        reached = f"{reached}, " if reached else ""
        reached += f"by {days} on {name}"
    return Trace(
        parameters=p,
        society=number,
        day=day,
        agent=agent,
        sections=[s for s in witness.sections if s.phase and phase in (None, s.phase)],
        morning=witness.sections[0].before,
        evening=witness.sections[-1].after,
        recipes=_recipes(before),
        reached=reached or "at once, on the first day",
        checked=checked,
        state_sha256=digest,
    )


def _run(engine: Engine, first: int, last: int, progress: Progress | None) -> None:
    """Run days first to last, telling how far it is; the day after them is still to come."""
    at_once = LOG_TICKS if isinstance(engine, DeviceEngine) else 1
    if progress:
        progress(first - 1, last + 1)
    while first <= last:
        until = min(last, first + at_once - 1)
        engine.run_ticks(first, until)
        first = until + 1
        if progress:
            progress(until, last + 1)


def _recipes(state: State) -> list[list[list[int]]]:
    if "recipe" not in state:
        return []
    return [
        [[k for k in parts if k >= 0] for parts in kind] for kind in state["recipe"][0].tolist()
    ]


def _require(config: EconomyConfig, day: int, agent: int, society: int) -> None:
    """Raise ConfigError unless there are such a day, agent and society."""
    if not 1 <= day <= config.days:
        raise ConfigError(
            f"{option('day', day)}: the configuration has days 1 to {config.days}"
            + (f"; raise it with {override(f'days={day}')}" if day > 0 else "")
        )
    if not 0 <= agent < config.agents:
        raise ConfigError(f"{option('agent', agent)}: the agents are 0 to {config.agents - 1}")
    if not 0 <= society - config.first_society < config.replicates:
        there = numbers(config.first_society, config.replicates)
        raise ConfigError(
            f"{option('society', society)}: the configuration's societies are {there}"
        )


def _require_phase(p: Parameters, day: int, phase: str | None) -> None:
    """Raise ConfigError unless the day has such a part."""
    from societies.economy.schedule import day_schedule

    if phase is None:
        return
    there = {step.phase for step in day_schedule(p, day)}
    parts = [name for name, steps in PHASES.items() if name in there or there & set(steps)]
    if phase not in parts:
        raise ConfigError(
            f"{option('phase', phase)}: the parts of day {day} are {', '.join(parts)}"
        )


def _require_alive(p: Parameters, state: State, agent: int, day: int) -> None:
    """Raise ConfigError if the agent was removed before the day."""
    if state["alive"][0, agent]:
        return
    on = [
        shock.day
        for i, shock in enumerate(p.shocks)
        if shock.remove == REMOVE_AGENT and state["shock_target"][0, i] == agent
    ]
    raise ConfigError(
        f"{option('agent', agent)}: was removed at the end of day {on[0]}, before day {day}"
    )
