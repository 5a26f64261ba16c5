"""How is a position of Havannah rated from Python, without a file?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError, option
from societies.games.havannah import WORKLOAD, names_of
from societies.workload import Setup
from societies.workload.running.devices import chosen_device
from societies.workload.running.engines import engine_on
from societies.workload.running.registry import config_from_dict

if TYPE_CHECKING:
    import xarray as xr

    from societies.opencl import Device

COUNTS = ("wins", "losses", "draws")

AT_A_TIME = 2**22
"""Largest number of playouts of a batch over all candidates."""


def rate(
    moves: str = "",
    *,
    playouts: int = 1000,
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
    device : str or Device
    settings
        Keys of the workload's configuration: ``size``, ``swap``, ``candidates``, ``seed``,
        ``first_playout``, ``winner``, ``find``, ``runner``, ``active``, ``together``.

    Returns
    -------
    xarray.Dataset
        ``wins``, ``losses``, ``draws`` (candidate,) int64, playouts, as the side sees them that
        makes the candidate move; ``rate``, the share won, and ``error``, its standard error,
        (candidate,) float64; the coordinates ``candidate``, the cell, and ``name``, its text.

    Raises
    ------
    ConfigError
        If there is no such key, or the configuration contradicts itself.
    DeviceError
        If there is no such device, or it fails.
    """
    import xarray as xr

    if playouts < 1:
        raise ConfigError(f"{option('playouts', playouts)}: at least 1")
    given = {"workload": "havannah", "moves": moves, **settings}
    first: Any = config_from_dict({**given, "batches": 1, "batch": 1})
    batch = min(playouts, AT_A_TIME // len(first.cells()))
    chosen, _, _ = chosen_device(device)
    counts = {name: np.zeros(len(first.cells()), np.int64) for name in COUNTS}
    done = first.first_playout
    for batches, size in ((playouts // batch, batch), (1, playouts % batch)):
        if size:
            more = {"batches": batches, "batch": size, "first_playout": done}
            config: Any = config_from_dict({**given, **more})
            for name, found in _counted(config, chosen).items():
                counts[name] += found
            done += batches * size
    p = WORKLOAD.parameters(first)
    share = counts["wins"] / playouts
    dims = ("candidate",)
    return xr.Dataset(
        {
            **{name: (dims, found) for name, found in counts.items()},
            "rate": (dims, share),
            "error": (dims, np.sqrt(share * (1 - share) / playouts)),
        },
        coords={
            "candidate": list(p.candidates),
            "name": (dims, [names_of(p.size)[cell] for cell in p.candidates]),
        },
        attrs={"size": p.size, "moves": moves, "playouts": playouts},
    )


def _counted(config: Any, device: Device | None) -> dict[str, NDArray[Any]]:
    """Return wins, losses and draws of each candidate after all batches."""
    engine = engine_on(device, WORKLOAD, Setup(WORKLOAD, config).on(device).p)
    engine.start()
    for tick in range(1, config.batches + 1):
        engine.run_ticks(tick, tick)
    return {name: array[0] for name, array in engine.arrays(*COUNTS).items()}
