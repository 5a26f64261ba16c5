"""Which coordinates, variables, tables and checkpoints does the file of a run have?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike, NDArray

from reference_py.primitives.rng import LAST_STATE
from societies.config import files
from societies.errors import OutputError, option, override
from societies.output import ResultFile, checkpoints, checksums, opening
from societies.output.checkpoints import slots
from societies.output.files import READING, explained, require_allowed, require_target
from societies.output.layout import SEALED, declare, require_ours
from societies.output.ranges import Expected, Within, refusal, require_state
from societies.output.trust import opened
from societies.words import plural
from societies.workload.declare.config import recorded, retained_ticks
from societies.workload.declare.fields import Field
from societies.workload.declare.protocol import Setup
from societies.workload.running.engines import ENDED, ended_at
from societies.workload.running.provenance import origin, require_origin
from societies.workload.running.written import Contents


def parts(setup: Setup[Any, Any], contents: Contents) -> dict[str, Any]:
    """Return everything that the file is created with except its attributes."""
    workload, config = setup.workload, setup.config
    return {
        "coordinates": contents.coordinates(),
        "variables": contents.variables(),
        "tables": contents.tables(),
        "state": {
            name: ((setup.copies, *field.shape(setup.sizes)), field.dtype)
            for name, field in setup.fields.items()
            if field.saved
        },
        "clock": workload.clock,
        "copies": workload.copies,
        "ticks": setup.ticks,
        "slots": slots(recorded(config, "checkpoint", "auto"), len(retained_ticks(config))),
    }


def require_room(
    setup: Setup[Any, Any], contents: Contents, path: Path, *, overwrite: bool
) -> None:
    """Raise OutputError, before any work is done, if the file can certainly not be created."""
    nbytes = declare(**parts(setup, contents), attributes={}).nbytes_on_disk
    require_target(path, nbytes, overwrite=overwrite)
    require_allowed(path, nbytes)


def create(
    setup: Setup[Any, Any],
    contents: Contents,
    path: Path,
    facts: dict[str, str],
    *,
    overwrite: bool,
) -> ResultFile:
    """Create the file; ``facts`` are attributes that name the device."""
    config = setup.config
    attributes = {
        **contents.attributes(),
        **origin(setup),
        **files.file_attributes(path, config.model_dump(mode="json"), config.files()),
        **facts,
    }
    layout = declare(**parts(setup, contents), attributes=attributes)
    return ResultFile.create(path, layout, overwrite=overwrite)


def require_checkpoint(
    setup: Setup[Any, Any], path: Path, tick: int, state: Mapping[str, NDArray[Any]]
) -> None:
    """Raise OutputError unless this configuration could have produced a state read from a file."""
    workload = setup.workload
    expected = {
        name: Expected(
            (setup.copies, *one.shape(setup.sizes)), one.dtype, _within(name, one), one.some
        )
        for name, one in setup.fields.items()
        if one.saved
    }
    when = f"{workload.clock} {tick}"
    limits = {**named_limits(setup, tick), ENDED: tick}
    require_state(path, when, state, expected, limits, workload.copies)
    ended = ended_at(state)
    if ended not in (None, tick):  # the run would have ended then, with a checkpoint of that tick
        raise refusal(path, when, f"all {plural(workload.copies)} have ended by {ended}")


def checkpoint_of(
    setup: Setup[Any, Any], path: Path, last: int | None = None
) -> tuple[int, dict[str, NDArray[Any]]]:
    """Return tick and state of the newest checkpoint in a file of this configuration.

    With ``last`` it is the newest one up to this tick. The number of ticks and the keys of
    recording may differ, because they do not change a state. The file is opened only for reading.

    Raises OutputError if the file has another configuration or version, has no valid checkpoint or
    cannot be read.
    """
    with explained(path, READING), opening.reading_sealed(path) as (disk, seal):
        with opened(path) as file:
            require_ours(file, path, *SEALED)
            attributes = dict(file.attrs)
        committed = checksums.commits(disk, seal).tick
        found = checkpoints.latest(disk, seal.slots, committed, last)
        stored = list(checkpoints.ticks(disk, seal.slots, committed).values())
    clock, key = seal.clock, setup.workload.ticks_key
    require_origin(path, attributes, setup, (key, "record"), doing="what is computed from it")
    if found is not None:
        require_checkpoint(setup, path, *found[1:])
        return found[1:]
    if last is not None and stored:
        which = f"that of {clock} {stored[0]}"
        if len(stored) > 1:
            listed = ", ".join(map(str, stored[:-1]))
            which = f"those of {plural(clock)} {listed} and {stored[-1]}"
        raise OutputError(
            f"{path}: has no checkpoint of {clock} {last} or before; it has {which}\n"
            f"go from {clock} 1, without {option('start')}; or make a file that ends with "
            f"the checkpoint of {clock} {last}: run with {override(f'{key}={last}')} and "
            f"{option('out')}"
        )
    if not seal.slots:
        raise OutputError(
            f"{path}: has no checkpoints, which record.checkpoint switched off\n"
            f"run it again with {override('record.checkpoint=auto')}"
        )
    some = f"some {plural(clock)}"
    raise OutputError(f"{path}: has no checkpoint yet; let its run continue for {some}")


def _within(name: str, field: Field) -> Within | None:
    """Return the range of a field; ``ended`` is -1 or a tick up to that of the checkpoint."""
    return (-1, ENDED) if name == ENDED else field.within


def named_limits(setup: Setup[Any, Any], tick: int) -> dict[str, ArrayLike]:
    """Return the values, after this tick, of the limits that `Field.within` gives by name."""
    lengths = {f"{dim}s - 1": length - 1 for dim, length in setup.sizes.items()}
    return {**lengths, "last state": LAST_STATE, **setup.workload.limits(setup.p, tick)}
