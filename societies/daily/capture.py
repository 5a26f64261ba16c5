"""How does a phase of a model that lives day by day become a folder that reproduces it?"""

from __future__ import annotations

from pathlib import Path

from societies.capture import capture_step, prepare, require_day
from societies.daily.config import DailyConfig
from societies.daily.engines import LOG_DAYS, DeviceEngine
from societies.daily.model import Model
from societies.daily.run import state_hash
from societies.device import Device
from societies.errors import ConfigError, option


def capture(
    model: Model,
    config: DailyConfig,
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
    model : Model
    config : DailyConfig
    phase : str
        One of ``model.day`` or, on day 0, of ``model.start``.
    day : int, optional
        Default: the first day that has the phase.
    market_round : int, optional
        Which time, from 0, where the phase comes several times on a day.
    market : int
        Only 1: markets are the economy's.
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
    if day is None:
        day = 0 if phase in model.start and phase not in model.day else 1
    require_day(day, config.days)
    at = _place(model, phase, day, market_round or 0, market)
    folder, chosen, shown = prepare(phase, day, device=device, out=out, overwrite=overwrite)
    engine = DeviceEngine(model, config, chosen)
    capture_step(
        folder,
        engine,
        _phases(model, day),
        at,
        day,
        log_days=LOG_DAYS,
        config=config,
        facts={"captured_on": shown},
        state_hash=lambda: state_hash(model, engine.state()),
        overwrite=overwrite,
    )
    return folder


def _phases(model: Model, day: int) -> tuple[str, ...]:
    return model.day if day else model.start


def _place(model: Model, phase: str, day: int, number: int, market: int) -> int:
    """Return which phase of the day is meant."""
    phases = _phases(model, day)
    places = [at for at, name in enumerate(phases) if name == phase]
    if not places:
        other = "on day 0" if day else "from day 1 on"
        hint = f"\n{phase} comes {other}" if phase in _phases(model, int(not day)) else ""
        raise ConfigError(
            f"{option('phase', phase)}: day {day} has no such phase; "
            f"it has: {', '.join(phases)}{hint}"
        )
    times = "once" if len(places) == 1 else f"{len(places)} times"
    if number >= len(places):
        raise ConfigError(f"{option('market_round', number)}: {phase} comes {times} on day {day}")
    if market != 1:
        raise ConfigError(f"{option('market', market)}: {model.name} has no markets")
    return places[number]
