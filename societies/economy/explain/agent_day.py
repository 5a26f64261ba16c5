"""How is one agent's day recorded: its events in parts, and its holdings between the parts?"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from typing import Any, cast

from reference_py.economy.parameters import Parameters
from societies.economy.explain.events import (
    Attempt,
    Considered,
    Invented,
    Made,
    Meeting,
    OwnUse,
    Pairing,
    Received,
    Removed,
    Taxed,
    Unit,
    facts_of,
)
from societies.economy.explain.replay import EventTime, TradeListener
from societies.economy.schedule import DayStep

PHASES = {
    "trading": ("refresh_values", "matching", "trading"),
    "device_trading": ("open_device_market", "device_matching", "device_trading"),
    "own_use": ("own_use",),
    "production": ("production",),
    "extraction": ("extraction",),
    "invention": ("invention",),
    "taxes": ("collect_taxes", "pay_transfers"),
    "end_day": ("end_day",),
    "consumption": ("consumption",),
    "shocks": ("shocks",),
}
"""Parts of a day that are reported separately, and the steps of the schedule in each."""


@dataclass
class Snapshot:
    """State of the agent at one moment.

    Attributes
    ----------
    held, value, experience : lists over resources
    set_aside : units locked for tools that it will make
    device_minutes, device_experience, to_make : (device_type, resource)
    utility : utility of all its holdings, util
    alive : True if the agent is in the simulation
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


SNAPSHOT = [one.name for one in fields(Snapshot) if one.name != "utility"]
"""Arrays of the state whose entries for the agent a snapshot copies."""


@dataclass
class DayPart:
    """A part of the day: consecutive steps of one of the `PHASES`.

    Attributes
    ----------
    phase : name of the part
    device_type : type of device that the part is about, -1 if none
    market : number of the resource market, from 1, if the part is one
    before, after : Snapshot
    events : list of (EventTime, event), in order
    steps : steps of the schedule in this part
    """

    phase: str
    device_type: int
    market: int
    before: Snapshot
    after: Snapshot
    events: list[tuple[EventTime, Any]] = field(default_factory=list)
    steps: list[DayStep] = field(default_factory=list)

    @property
    def rounds(self) -> list[int]:
        """Numbers of the rounds in this part."""
        return [step.round for step in self.steps if step.phase == self.phase]


@dataclass
class Trace:
    """The day of one agent.

    Attributes
    ----------
    society, day, agent : int
    sections : list of DayPart, only the requested ones
    morning, evening : Snapshot, before and after the day
    recipes : (device_type, resource) lists of components, in the morning
    reached : str, text on how the morning's state was computed
    checked : str, text on whether the day was compared with the device's
    state_sha256 : hash of the society's state in the evening
    """

    parameters: Parameters
    society: int
    day: int
    agent: int
    sections: list[DayPart]
    morning: Snapshot
    evening: Snapshot
    recipes: list[list[list[int]]]
    reached: str
    checked: str
    state_sha256: str

    def data(self) -> dict[str, Any]:
        """Return the whole day as plain data, with None for numbers that are not finite."""
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
                    "device_type": section.device_type,
                    "market": section.market,
                    "before": asdict(section.before),
                    "after": asdict(section.after),
                    "events": [
                        {
                            "event": type(event).__name__,
                            "step": str(place.step),
                            "round": place.step.round,
                            **facts_of(event),
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
    """Return nested data with None for every number that JSON cannot write (NaN, infinity)."""
    if isinstance(data, dict):
        return {name: _without_nan(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_without_nan(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def _recorder(kind: Callable[..., Any]) -> Callable[..., None]:
    """Return a method that records an event of this kind if the agent takes part in it."""

    def record(self: AgentListener, agent: int, **facts: Any) -> None:
        if self.concerns(agent):
            self.keep(kind(**facts))

    return record


class AgentListener(TradeListener):
    """Records all actions of one agent in a day, in sections."""

    def __init__(self, agent: int) -> None:
        super().__init__(agent)
        self.sections: list[DayPart] = []
        self._utility = 0.0

    def begin(self, step: DayStep, society: Any) -> None:
        """Open a section if this step is the first of one."""
        super().begin(step, society)
        phase = next((name for name, steps in PHASES.items() if step.phase in steps), "")
        last = self.sections[-1] if self.sections else None
        market = self.market if phase == "trading" else 0
        if step.phase == "refresh_values":
            market += 1
        here = (phase, step.device_type, market)
        if last is None or here != (last.phase, last.device_type, last.market):
            now = self.snapshot(society)
            self.sections.append(DayPart(phase, step.device_type, market, now, now))
        self.sections[-1].steps.append(step)
        self.events = self.sections[-1].events

    def end(self, society: Any) -> None:
        """Record a snapshot of the agent after the step."""
        self.sections[-1].after = self.snapshot(society)

    def snapshot(self, society: Any) -> Snapshot:
        """Return the current state of the agent."""
        own = {
            name: copy.deepcopy(getattr(society, name)[self.agent])
            for name in SNAPSHOT
            if hasattr(society, name)
        }
        own["alive"] = bool(own["alive"])
        return Snapshot(utility=self._utility, **own)

    def on_utility(self, agent: int, utility: float) -> None:
        """Record the current utility of the agent's holdings."""
        if agent == self.agent:
            self._utility = utility

    def on_meeting(self, a: int, b: int, attempt: int, **facts: Any) -> None:
        """Record that two agents see each other's menus (again after every swap)."""
        if attempt == 0 and self.concerns(a, b):
            self.keep(Meeting(a, b, **facts))

    def on_pair(self, a: int, b: int, **facts: Any) -> None:
        """Record that two agents are paired for device trade."""
        if self.concerns(a, b):
            self.keep(Pairing(a, b, **facts))

    def on_own_use(self, agent: int, considered: list[dict[str, Any]], **facts: Any) -> None:
        """Record the agent's decision for a device, or for none."""
        if self.concerns(agent):
            self.keep(OwnUse(**facts, considered=[Considered(**one) for one in considered]))

    on_unit, on_made, on_attempt, on_tax, on_transfer = map(
        _recorder, (Unit, Made, Attempt, Taxed, Received)
    )

    def on_invented(self, **facts: Any) -> None:
        """Record an invention by any agent; other agents can learn it from now on."""
        self.keep(Invented(**facts))

    def on_removed(self, **facts: Any) -> None:
        """Record that a shock removes a resource or an agent from the society."""
        self.keep(Removed(**facts))
