"""How is one step of a run captured, in a folder that reproduces it on another machine?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from societies.config import to_yaml
from societies.errors import ConfigError, option
from societies.opencl import Device
from societies.words import plural
from societies.workload.checking.capture_folder import capture_launches, prepare
from societies.workload.declare.phases import Step
from societies.workload.declare.protocol import Setup
from societies.workload.running.devices import chosen_device
from societies.workload.running.engines import FINISH, LOG_TICKS, DeviceEngine
from societies.workload.running.programs import allowed
from societies.workload.running.request import Config, setup_of
from societies.workload.running.state import initial_state

MOST_TICKS_LOOKED_AT = 10_000
"""Number of ticks in which a step is looked for; most steps are in one of the first ticks."""


def capture(
    config: Config,
    *,
    phase: str,
    tick: int | None = None,
    time: int = 1,
    device: str | Device = "auto",
    out: str | Path | None = None,
    overwrite: bool = False,
    allow_programs: bool = False,
) -> Path:
    """Run to the start of a step and write a folder that reproduces its launches.

    Raises ConfigError, DeviceError, OutputError as `societies.errors` says.

    Parameters
    ----------
    config, device, allow_programs
        As for `run`.
    phase : str
        Name of the step as in `verify`: ``extraction``, ``trading (round 2)``. Without the part in
        brackets, the first step of the phase.
    tick : default: the first tick that has the step, with tick 1 before tick 0; for a step after
        the last tick, the end of the run
    time : number of the occurrence, from 1, if the tick has the step several times
    out : default: ``capture-PHASE-day-N`` in the current folder, with the name of a tick for day
    overwrite : replace an older capture

    Returns
    -------
    Path
        The folder.
    """
    given = setup_of(config, called="capture")
    on = chosen_device(device)[0]
    setup = given.on(on)  # may change the steps
    workload, p, clock, last = setup.workload, setup.p, setup.workload.clock, setup.ticks
    name = phase.partition("(")[0].strip()
    known = setup.phases
    if name not in known:
        raise ConfigError(
            f"{option('phase', name)}: {workload.name} has the phases {', '.join(known)}"
        )
    if name in workload.untranslated(p):
        raise ConfigError(
            f"{option('phase', name)}: plain Python carries it out, and there is no kernel to "
            "capture; `societies check` says why"
        )
    if not known[name].launches:
        raise ConfigError(f"{option('phase', name)}: {workload.name} launches no kernel in it")
    at_the_end = tick is None and any(_is(step, phase) for step in workload.finish(p))
    if tick is None:
        tick = last if at_the_end else next(_ticks_with(setup, phase), 1)
    if not 0 <= tick <= last:
        raise ConfigError(
            f"{option('tick', tick)}: the configuration has the {plural(clock)} 0 to {last}"
        )
    shown_tick = "end" if at_the_end else f"{clock}-{tick}"
    folder, chosen, shown = prepare(f"{name}-{shown_tick}", on or device, out, overwrite=overwrite)
    with allowed(allow_programs):
        engine = DeviceEngine(workload, p, chosen, first=setup.first, copies=setup.copies)
    ended = None
    if tick > 0:
        engine.start()
        ended = engine.ended()
    until = tick + 1 if at_the_end else tick
    for first in range(1, until, LOG_TICKS):
        if ended is None:
            engine.run_ticks(first, min(first + LOG_TICKS, until) - 1)
            ended = engine.ended()
    if ended is not None:
        if not at_the_end:
            raise ConfigError(f"{option('tick', tick)}: the run ends in {clock} {ended}")
        tick = ended
    number = FINISH if at_the_end else tick
    before: list[Step] = []
    left = time
    for step in workload.finish(p) if at_the_end else engine.steps(tick):
        if _is(step, phase):
            left -= 1
            if not left:
                break
        engine.step(step, number)
        before.append(step)
    else:
        raise _absent(setup, phase, tick, before, time)
    capture_launches(
        folder,
        chosen,
        lambda: engine.step(step, number),
        config_text=to_yaml(given.config),
        facts={
            "what": f"{step} {'after' if at_the_end else 'of'} {clock} {tick}",
            "workload": workload.name,
            "phase": str(step),
            clock: tick,
            f"step_of_{clock}": len(before),
            "captured_on": shown,
            "macros": dict(setup.source.macros),
        },
        state_hash=engine.hash,
        overwrite=overwrite,
    )
    return folder


def _is(step: Step, wanted: str) -> bool:
    """Return True if the user's text means this step; without a label, any step of the phase."""
    name, _, label = wanted.partition("(")
    words = [word.strip() for word in label.rstrip(") ").split(",") if word.strip()]
    has = [word.strip() for word in step.label.split(",")]
    return step.phase == name.strip() and all(word in has for word in words)


def _ticks_with(setup: Setup[Any, Any], phase: str) -> Iterator[int]:
    """Yield the ticks that have a step, tick 1 first, judged by the initial state."""
    state = initial_state(setup.fields, setup.sizes, setup.copies, setup.p)
    last = min(setup.ticks, MOST_TICKS_LOOKED_AT)
    for tick in chain((1, 0) if last else (0,), range(2, last + 1)):
        if any(_is(step, phase) for step in setup.workload.schedule(setup.p, tick, state)):
            yield tick


def _absent(
    setup: Setup[Any, Any], phase: str, tick: int, steps: list[Step], time: int
) -> ConfigError:
    """Return the error for a step that a tick does not have, or not ``time`` times."""
    workload = setup.workload
    here = f"{workload.clock} {tick}"
    times = sum(_is(step, phase) for step in steps)
    if times:
        often = "once" if times == 1 else f"{times} times"
        return ConfigError(f"{option('time', time)}: {here} has {phase} {often}")
    name = phase.partition("(")[0].strip()
    same = dict.fromkeys(str(step) for step in steps if step.phase == name)
    available = ", ".join(same or dict.fromkeys(step.phase for step in steps))
    others = sorted(islice(_ticks_with(setup, phase), 3))
    if others:
        ticks = workload.clock if len(others) == 1 else plural(workload.clock)
        hint = f"it comes in {ticks} {', '.join(map(str, others))}"
    elif any(_is(step, phase) for step in workload.finish(setup.p)):
        hint = f"it comes after the last {workload.clock}: leave out {option('tick')}"
    else:
        hint = f"{here} has: {available}" if available else f"{here} has no steps"
    return ConfigError(f"{option('phase', phase)}: {here} has no such step; {hint}")
