"""How is one agent's day traced, event by event?

The days before are run on any OpenCL device, or skipped by starting from a checkpoint; the day
itself runs in the reference, which reports to a listener. `report` writes the day as a text.
"""

from __future__ import annotations

from pathlib import Path

from reference_py.economy.parameters import REMOVE_AGENT, Parameters
from societies.config.model import accepts
from societies.economy.config import EconomyConfig
from societies.economy.explain.agent_day import PHASES, AgentListener, Trace
from societies.economy.explain.replay import (
    parameters_of_one,
    replay,
    require_same,
    state_of_one,
)
from societies.economy.schedule import day_schedule
from societies.errors import ConfigError, option, override
from societies.opencl import Device
from societies.workload.declare.fields import State
from societies.workload.declare.protocol import Setup
from societies.workload.running.devices import chosen_device
from societies.workload.running.engines import LOG_TICKS, DeviceEngine, Engine, ReferenceEngine
from societies.workload.running.file import checkpoint_of
from societies.workload.running.progress import Advance
from societies.workload.running.state import checkpointed, state_hash


def trace(
    setup: Setup[EconomyConfig, Parameters],
    *,
    day: int,
    agent: int,
    society: int | None = None,
    start: str | Path | None = None,
    phase: str | None = None,
    device: str | Device = "auto",
    progress: Advance | None = None,
) -> Trace:
    """Return what an agent did on a day, and why.

    Parameters are those of `Economy.trace`; ``progress`` is called with (days done, days).

    Raises
    ------
    ConfigError
        If the day, agent, society or part of the day does not exist.
    DeviceError
        If the device fails, or its day differs from the reference's.
    OutputError
        If the file has no checkpoint to begin with.
    """
    workload, config, whole = setup.workload, setup.config, setup.p
    number = config.first_society if society is None else society
    require_agent(config, day, agent, number)
    p = parameters_of_one(whole, number)
    _require_phase(p, day, phase)
    engine, begin, name = engine_before(setup, p, day, start, device, progress, day)
    reached = f"from the checkpoint of day {begin} in {start}" if start is not None else ""
    fields = workload.arrays(p)
    before = checkpointed(fields, engine.state())
    _require_alive(p, before, agent, day)
    listener = AgentListener(agent)
    after = replay(workload, p, before, day, listener)
    digest = state_hash(fields, after)
    checked = "the day was run by the reference alone"
    if isinstance(engine, DeviceEngine):
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
        parameters=workload.parameters_of_copy(p, 0, day),
        society=number,
        day=day,
        agent=agent,
        sections=[s for s in listener.sections if s.phase and phase in (None, s.phase)],
        morning=listener.sections[0].before,
        evening=listener.sections[-1].after,
        recipes=_recipes(before),
        reached=reached or "at once, on the first day",
        checked=checked,
        state_sha256=digest,
    )


def engine_before(
    setup: Setup[EconomyConfig, Parameters],
    p: Parameters,
    day: int,
    start: str | Path | None,
    device: str | Device,
    progress: Advance | None,
    end: int,
) -> tuple[Engine, int, str]:
    """Return an engine in the state before a day, its first state's day, and the device's name.

    Parameters
    ----------
    p : Parameters of one society
    start : result file with a checkpoint to begin with; None: begin before the first day
    end : last of the days whose progress is reported
    """
    workload, number = setup.workload, p.first_society
    begin, state = 0, None
    if start is not None:
        begin, ensemble = checkpoint_of(setup, Path(start), day - 1)
        state = state_of_one(ensemble, number - setup.first)
    chosen, _, facts = chosen_device(device)
    engine: Engine = ReferenceEngine(workload, p, first=number)
    if chosen:
        engine = DeviceEngine(workload, p, chosen, first=number)
    if state is None:
        engine.start()
    else:
        engine.load(state)
    run_days(engine, begin + 1, day - 1, progress, end)
    return engine, begin, facts["device"]


def run_days(engine: Engine, first: int, last: int, progress: Advance | None, end: int) -> None:
    """Run days first to last and report progress as a part of all days up to ``end``."""
    at_once = LOG_TICKS if isinstance(engine, DeviceEngine) else 1
    if progress:
        progress(first - 1, end)
    while first <= last:
        until = min(last, first + at_once - 1)
        engine.run_ticks(first, until)
        first = until + 1
        if progress:
            progress(until, end)


def _recipes(state: State) -> list[list[list[int]]]:
    if "recipe" not in state:
        return []
    return [
        [[k for k in parts if k >= 0] for parts in kind] for kind in state["recipe"][0].tolist()
    ]


def require_agent(
    config: EconomyConfig, day: int, agent: int, society: int, word: str = "day"
) -> None:
    """Raise ConfigError unless the day (given by option ``word``), agent and society exist."""
    if not 1 <= day <= config.days:
        raise ConfigError(
            f"{option(word, day)}: the configuration has days 1 to {config.days}"
            + (
                f"; raise it with {override(f'days={day}')}"
                if accepts(type(config), "days", day)
                else ""
            )
        )
    if not 0 <= agent < config.agents:
        raise ConfigError(f"{option('agent', agent)}: the agents are 0 to {config.agents - 1}")
    if not 0 <= society - config.first_society < config.replicates:
        first, last = config.first_society, config.first_society + config.replicates - 1
        known = f"societies are {first} to {last}" if last > first else f"only society is {first}"
        raise ConfigError(f"{option('society', society)}: the configuration's {known}")


def _require_phase(p: Parameters, day: int, phase: str | None) -> None:
    """Raise ConfigError unless the day has the part ``phase``."""
    if phase is None:
        return
    scheduled = {step.phase for step in day_schedule(p, day)}
    parts = [name for name in PHASES if name in scheduled]
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
