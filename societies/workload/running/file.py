"""Which coordinates, variables, tables and checkpoints does the file of a run have?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike, NDArray

from reference_py.primitives.rng import LAST_STATE
from societies.output import ResultFile
from societies.output.checkpoints import slots
from societies.output.files import require_allowed, require_target
from societies.output.layout import declare
from societies.output.ranges import Expected, Within, refusal, require_state
from societies.workload.declare.config import kept_ticks, recorded
from societies.workload.declare.fields import Field
from societies.workload.declare.protocol import Contents, Workload
from societies.workload.running.engines import ENDED, ended_at
from societies.workload.running.provenance import origin


def parts(workload: Workload[Any, Any], config: Any, contents: Contents) -> dict[str, Any]:
    """Return everything that the file is created with except its attributes."""
    p = workload.parameters(config)
    sizes, copies = workload.lengths(p), workload.count(config)
    return {
        "coordinates": contents.coordinates(),
        "variables": contents.variables(),
        "tables": contents.tables(),
        "state": {
            name: ((copies, *field.shape(sizes)), field.dtype)
            for name, field in workload.arrays(p).items()
            if field.saved
        },
        "clock": workload.clock,
        "copies": workload.copies,
        "ticks": workload.ticks(config),
        "slots": slots(recorded(config, "checkpoint", "auto"), len(kept_ticks(config))),
    }


def require_room(
    workload: Workload[Any, Any], config: Any, contents: Contents, path: Path, *, overwrite: bool
) -> None:
    """Raise OutputError, before any work is done, if the file can certainly not be created."""
    nbytes = declare(**parts(workload, config, contents), attributes={}).nbytes_on_disk
    require_target(path, nbytes, overwrite=overwrite)
    require_allowed(path, nbytes)


def create(
    workload: Workload[Any, Any],
    config: Any,
    contents: Contents,
    path: Path,
    facts: dict[str, str],
    *,
    overwrite: bool,
) -> ResultFile:
    """Create the file; ``facts`` are attributes that name the device."""
    return ResultFile.create(
        path,
        **parts(workload, config, contents),
        attributes={**contents.attributes(), **origin(workload, config), **facts},
        overwrite=overwrite,
    )


def require_checkpoint(
    workload: Workload[Any, Any],
    config: Any,
    path: Path,
    tick: int,
    state: Mapping[str, NDArray[Any]],
) -> None:
    """Raise OutputError unless this configuration could have produced a state read from a file."""
    p = workload.parameters(config)
    sizes, copies = workload.lengths(p), workload.count(config)
    expected = {
        name: Expected((copies, *one.shape(sizes)), one.dtype, _within(name, one), one.some)
        for name, one in workload.arrays(p).items()
        if one.saved
    }
    when = f"{workload.clock} {tick}"
    limits = {**named_limits(workload, p, tick), ENDED: tick}
    require_state(path, when, state, expected, limits, workload.copies)
    ended = ended_at(state)
    if ended not in (None, tick):  # the run would have ended then, with a checkpoint of that tick
        raise refusal(path, when, f"all {workload.copies_plural} have ended by {ended}")


def _within(name: str, field: Field) -> Within | None:
    """Return the range of a field; ``ended`` is -1 or a tick up to that of the checkpoint."""
    return (-1, ENDED) if name == ENDED else field.within


def named_limits(workload: Workload[Any, Any], p: Any, tick: int) -> dict[str, ArrayLike]:
    """Return the values, after this tick, of the limits that `Field.within` gives by name."""
    lengths = {f"{dim}s - 1": length - 1 for dim, length in workload.sizes(p).items()}
    return {**lengths, "last state": LAST_STATE, **workload.limits(p, tick)}
