"""How are atoms exported from a file of results? As a trajectory in extended XYZ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.errors import ConfigError, OutputError, option

if TYPE_CHECKING:
    import xarray as xr

SPECIES = "Ar"
"""Argon, the usual element for Lennard-Jones atoms; programs need the name of an element."""


def xyz(results: xr.Dataset, path: Path, *, box: int = 0) -> None:
    """Write positions and velocities of each recorded step; if none is recorded, of the last one.

    Positions are in units of sigma, in a periodic cube whose corner is the origin.

    Parameters
    ----------
    box : int
        Which box of the file, from 0.
    """
    boxes = results.sizes["box"]
    if not 0 <= box < boxes:
        raise ConfigError(f"{option('box', box)}: the file has boxes 0 to {boxes - 1}")
    if "detail_x" in results:
        steps = [int(step) for step in results.detail_step]
        frames = [(step, "detail_", {"detail_step": at}) for at, step in enumerate(steps)]
    else:
        frames = [(-1, "", {})]
    if not frames:
        raise OutputError("none of these steps has recorded positions (record.detail)")
    length = float(results.attrs["box_length"])
    one = results.isel(box=box)
    with open(path, "w", encoding="ascii") as file:
        for step, prefix, at in frames:
            x, v = (one[f"{prefix}{name}"].isel(at).values for name in "xv")
            file.write(_frame(x, v, length, f" Step={step}" if step >= 0 else ""))


def _frame(x: Any, v: Any, length: float, more: str) -> str:
    """Return the lines of one step."""
    digits = 9 if x.dtype == np.float32 else 17
    row = " ".join([SPECIES, *[f"%.{digits}g"] * 6])
    lattice = " ".join(f"{length:.17g}" if i % 4 == 0 else "0.0" for i in range(9))
    lines = [
        str(len(x)),
        f'Lattice="{lattice}" Properties=species:S:1:pos:R:3:velo:R:3 pbc="T T T"{more}',
        *(row % tuple(numbers) for numbers in np.hstack([x, v]).tolist()),
    ]
    return "\n".join(lines) + "\n"
