"""How does one reach the start of a phase of a given day, to capture it?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from societies.capture import capture_step, prepare, require_day
from societies.device import Device
from societies.economy import schedule, source
from societies.economy.config import EconomyConfig
from societies.economy.engine import DeviceEngine, state_hash
from societies.economy.parameters import Parameters, parameters
from societies.economy.phases import LOG_DAYS
from societies.economy.schedule import Step
from societies.economy.state import DEVICE_TYPES
from societies.errors import ConfigError, option


def capture(
    config: EconomyConfig,
    *,
    phase: str,
    day: int | None = None,
    market_round: int | None = None,
    market: int = 1,
    device: str | Device = "auto",
    out: str | Path | None = None,
    overwrite: bool = False,
) -> Path:
    """Run to the start of a phase and write a folder that reproduces its launches.

    Parameters
    ----------
    config : EconomyConfig
    phase : str
        As `verify` names it: ``extraction``, ``trading (round 2)``, ``own_use (machine)``,
        ``device_trading (machine, round 2)``; without a type, of whichever comes.
    day : int, optional
        Default: day 1 or, for a phase that it has not, the first day that has it.
    market_round : int, optional
        Which round of ``trading``, from 0; default 0.
    market : int
        Which time, from 1, where the phase (and round) comes several times on a day.
    device : str or Device
    out : path, optional
        Default: ``capture-PHASE-day-N`` in the current folder.
    overwrite : bool
        Replace an older capture.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ConfigError, DeviceError, OutputError
        As `societies.errors` says.
    """
    p = parameters(config)
    name, device_type, number = _named(phase, market_round)
    day = _day(p, config.days, name) if day is None else day
    require_day(day, config.days)
    at = _place(p, config.days, day, Step(name, number, device_type), market)
    folder, chosen, shown = prepare(name, day, device=device, out=out, overwrite=overwrite)
    engine = DeviceEngine(chosen, p)
    capture_step(
        folder,
        engine,
        _steps(p, day),
        at,
        day,
        log_days=LOG_DAYS,
        config=config,
        facts={"captured_on": shown, "macros": source.macros(p)},
        state_hash=lambda: state_hash(engine.state()),
        overwrite=overwrite,
    )
    return folder


def _named(phase: str, market_round: int | None) -> tuple[str, int, int]:
    """Return the phase's name, device type (-1: any) and round, written as `verify` prints it."""
    types = "|".join(DEVICE_TYPES)
    match = re.fullmatch(
        rf"\s*(\w+)\s*(?:\((?:({types})(?:, (?=round)|(?=\))))?(?:round (\d+))?\))?\s*", phase
    )
    name = match[1] if match else phase.strip()
    device = DEVICE_TYPES.index(match[2]) if match and match[2] else -1
    written = int(match[3]) if match and match[3] else None
    if written is not None and market_round not in (None, written):
        raise ConfigError(
            f"{option('phase', phase)} and {option('market_round', market_round)} "
            "contradict each other"
        )
    return name, device, written if written is not None else market_round or 0


def _steps(p: Parameters, day: int) -> list[Step]:
    return schedule.day_schedule(p, day) if day else schedule.start(p)


def _days_with(p: Parameters, days: int, name: str) -> list[int]:
    """Return the days that have the phase, day 1 first: it is the one that people mean."""
    kinds = {0, 1, *(shock.day for shock in p.shocks if 0 <= shock.day <= days)}
    order = sorted(kinds, key=lambda day: (day != 1, day))
    return [day for day in order if any(step.phase == name for step in _steps(p, day))]


def _day(p: Parameters, days: int, name: str) -> int:
    return next(iter(_days_with(p, days, name)), 1)


def _place(p: Parameters, days: int, day: int, wanted: Step, market: int) -> int:
    """Return which step of the day is meant."""
    steps = _steps(p, day)
    name, number = wanted.phase, wanted.round
    if not any(step.phase == name for step in steps):
        elsewhere = _days_with(p, days, name)
        hint = f"\n{name} comes on day {_listed(elsewhere)}" if elsewhere else ""
        raise ConfigError(
            f"{option('phase', name)}: day {day} has no such phase; "
            f"it has: {_listed(step.phase for step in steps)}{hint}"
        )
    rounds = sorted({step.round for step in steps if step.phase == name})
    if number not in rounds:
        raise ConfigError(
            f"{option('market_round', number)}: the rounds of {name} are {_listed(rounds)}"
        )
    places = [
        i
        for i, step in enumerate(steps)
        if (step.phase, step.round) == (name, number) and wanted.device in (-1, step.device)
    ]
    if not places:
        types = {
            DEVICE_TYPES[step.device] for step in steps if step.phase == name and step.device >= 0
        }
        there = _listed(t for t in DEVICE_TYPES if t in types) or "not about one type of device"
        raise ConfigError(
            f"{option('phase', str(wanted))}: {name} of day {day} is "
            f"{'of ' if types else ''}{there}"
        )
    if not 1 <= market <= len(places):
        times = "once" if len(places) == 1 else f"{len(places)} times"
        raise ConfigError(f"{option('market', market)}: {wanted} comes {times} on day {day}")
    return places[market - 1]


def _listed(names: Any) -> str:
    unique: Sequence[Any] = list(dict.fromkeys(names))
    return ", ".join(map(str, unique))
