"""How good are the moves of a position? The same rating from Python, without a file.

What is copied to the device, and when, is a strategy, the ``runner``; all find the same. Those but
``modern`` are the ones of a published measurement (Werner, HTWK Leipzig 2012): a few candidates at
a time, and one launch for each playout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reference_py.games.havannah.parameters import Parameters
from reference_py.games.havannah.playout import DRAW, LOST, RESULT, WON
from societies.errors import ConfigError, option
from societies.games.havannah import WORKLOAD, names_of
from societies.games.havannah.config import next_of, positions_of
from societies.workload.devices import chosen_device
from societies.workload.engines import DeviceEngine, ReferenceEngine
from societies.workload.phases import Step
from societies.workload.registry import config_from_dict

if TYPE_CHECKING:
    import xarray as xr

    from societies.opencl import Device

MODERN, RESIDENT, CHUNK, EACH = "modern", "resident", "chunk", "each"
RUNNERS = (MODERN, RESIDENT, CHUNK, EACH)

AT_A_TIME = 2**22
"""Most playouts of a launch of ``modern``, all candidates together."""


def rate(
    moves: str = "",
    *,
    playouts: int = 1000,
    runner: str = MODERN,
    active: int = 8,
    together: int = 1,
    device: str | Device = "auto",
    **settings: Any,
) -> xr.Dataset:
    """Rate the moves of a position by random playouts.

    Parameters
    ----------
    moves : str
        Moves that lead to the position: "J10 A1".
    playouts : int
        Of each candidate.
    runner : str
        "modern": all candidates at once; "resident", "chunk" or "each": ``active`` candidates at a
        time and a launch for each ``together`` of their playouts; positions are copied to the
        device once, for each few candidates, or for each launch, and results back as often.
    active, together : int
    device : str or Device
    settings
        Keys of the workload's configuration: ``size``, ``swap``, ``candidates``, ``seed``,
        ``first_playout``, ``winner``, ``find``.

    Returns
    -------
    xarray.Dataset
        ``wins``, ``losses``, ``draws`` (candidate,) int64; ``rate`` and its standard error,
        ``error``, (candidate,) float64; the coordinates ``candidate``, the cell, and ``name``, its
        text.

    Raises
    ------
    ConfigError
        If there is no such runner, or the configuration contradicts itself.
    """
    import xarray as xr

    if runner not in RUNNERS:
        raise ConfigError(f"{option('runner', runner)}: {', '.join(RUNNERS)}")
    for name, number in (("active", active), ("together", together)):
        if number < 1:
            raise ConfigError(f"{option(name, number)}: at least 1")
    given = {"workload": "havannah", "moves": moves, "batches": 1, "batch": playouts, **settings}
    config: Any = config_from_dict(given)
    chosen, _, _ = chosen_device(device)
    p = WORKLOAD.parameters(WORKLOAD.fitted(config, chosen))
    if runner == MODERN:
        counts = _modern(p, chosen)
    else:
        counts = _in_turn(p, runner, active, together, chosen)
    share = counts[WON] / playouts
    dims = ("candidate",)
    return xr.Dataset(
        {
            "wins": (dims, counts[WON]),
            "losses": (dims, counts[LOST]),
            "draws": (dims, counts[DRAW]),
            "rate": (dims, share),
            "error": (dims, np.sqrt(share * (1 - share) / playouts)),
        },
        coords={
            "candidate": list(p.candidates),
            "name": (dims, [names_of(p.size)[cell] for cell in p.candidates]),
        },
        attrs={"size": p.size, "moves": moves, "playouts": playouts},
    )


def _engine(p: Parameters, device: Device | None) -> Any:
    return ReferenceEngine(WORKLOAD, p) if device is None else DeviceEngine(WORKLOAD, p, device)


def _modern(p: Parameters, device: Device | None) -> dict[int, NDArray[Any]]:
    """Return the counts of all candidates, whose playouts are launched in as few parts as fit."""
    whole = len(p.candidates)
    counts = {kind: np.zeros(whole, np.int64) for kind in (WON, LOST, DRAW)}
    part = max(1, AT_A_TIME // whole)
    whole_parts, rest = divmod(p.batch, part)
    for batches, batch, done in ((whole_parts, part, 0), (1, rest, whole_parts * part)):
        if not batches or not batch:
            continue
        engine = _engine(replace(p, batch=batch, first_playout=p.first_playout + done), device)
        engine.start()
        for tick in range(1, batches + 1):
            engine.run_ticks(tick, tick)
        found = engine.arrays("wins", "losses", "draws")
        for kind, name in ((WON, "wins"), (LOST, "losses"), (DRAW, "draws")):
            counts[kind] += found[name][0]
    return counts


def _in_turn(
    p: Parameters, runner: str, active: int, together: int, device: Device | None
) -> dict[int, NDArray[Any]]:
    """Return the counts of candidates that take turns, a few at a time."""
    whole = len(p.candidates)
    slots = whole if runner == RESIDENT else min(active, whole)
    boards = np.array(positions_of(p), np.uint8)
    streams = np.array([cell * p.limit for cell in p.candidates], np.uint64)
    engine = _engine(replace(p, candidates=p.candidates[:slots]), device)
    ends = np.zeros((whole, p.batch), np.uint16)

    def copy_in(first: int, count: int) -> None:
        rows = [*range(first, first + count), *[first] * (slots - count)]
        after = np.full((1, slots), next_of(p), np.uint8)
        engine.put({"board": boards[None, rows], "next": after, "streams": streams[None, rows]})
        engine.step(Step("begin"), 0)

    def play(first: int, count: int, skip: int) -> None:
        most = min(together, p.batch - skip)
        places = {"first_candidate": first, "candidates_now": count, "skip": skip, "most": most}
        engine.step(Step("play", "", places), 1)

    def copy_out(first: int, count: int, these: slice) -> None:
        ends[first : first + count, these] = engine.arrays("outcomes")["outcomes"][0, :count, these]

    if runner == RESIDENT:
        copy_in(0, whole)
    for first, count in _chunks(whole, active):
        if runner == CHUNK:
            copy_in(first, count)
        for skip in range(0, p.batch, together):
            if runner == EACH:
                copy_in(first, count)
            play(first if runner == RESIDENT else 0, count, skip)
            if runner == EACH:
                copy_out(first, count, slice(skip, skip + together))
        if runner == CHUNK:
            copy_out(first, count, slice(None))
    if runner == RESIDENT:
        copy_out(0, whole, slice(None))
    return {kind: (ends >> RESULT == kind).sum(axis=1) for kind in (WON, LOST, DRAW)}


def _chunks(whole: int, active: int) -> Iterator[tuple[int, int]]:
    for first in range(0, whole, active):
        yield first, min(active, whole - first)
