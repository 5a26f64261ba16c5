"""How does a run branch off another run, with the same history up to a tick?

A branch is a run of a configuration like any other. Its history up to the parent's newest
checkpoint before the tick of branching is copied from the parent's file; later ticks are computed.
So its file is the same as that of a run of its configuration from the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from societies.config import read_text
from societies.config.model import accepts
from societies.errors import ConfigError, OutputError, option, override
from societies.output import ResultFile, checkpoints, checksums, opening
from societies.output.building import read_layout
from societies.output.disk import Disk
from societies.output.files import READING, explained
from societies.output.layout import SEALED, Layout, require_ours
from societies.output.stored_seal import Seal
from societies.output.trust import opened
from societies.words import one_of, plural
from societies.workload.declare.config import recorded, retained_ticks
from societies.workload.declare.fields import State
from societies.workload.declare.protocol import Setup
from societies.workload.running.contents import contents_of, lacking
from societies.workload.running.fans import FAN, futures_of, of_futures, repeated
from societies.workload.running.file import require_checkpoint
from societies.workload.running.provenance import require_origin
from societies.workload.running.varying import SHARED, SHARED_SHAPE

PARENT, PARENT_TICK = "parent", "parent_tick"
"""Attributes of a branch: the parent's file, and the last tick of the common history."""


@dataclass(frozen=True, eq=False)
class Parent:
    """The file from which a run branches off.

    Attributes
    ----------
    path : path of the file
    tick : last tick of the common history
    begin : tick of the checkpoint from which the branch is computed; 0: from the start
    state : state at that tick; None at the start
    futures : number of copies of the branch that have the history of one of the parent, in a fan
    checkpoints : by tick, the parent's checkpoints up to ``begin`` that the branch needs as well
    """

    path: Path
    tick: int
    begin: int
    state: State | None
    checkpoints: dict[int, State]
    disk: Disk
    layout: Layout
    futures: int = 0

    @property
    def attributes(self) -> dict[str, str]:
        """Attributes of the branch's file that name its parent."""
        created = str(self.layout.attributes.get("created", ""))
        return {PARENT: f"{self.path.name}, created {created}", PARENT_TICK: str(self.tick)}


def _raised(workload: Any, ticks: int) -> str:
    """Return the advice to raise the number of ticks to ``ticks``; "" if that is not allowed."""
    if not accepts(workload.config, workload.ticks_key, ticks):
        return ""
    return f"; raise it with {override(f'{workload.ticks_key}={ticks}')}"


@contextmanager
def parent_of(setup: Setup[Any, Any], path: Path, tick: int | None) -> Iterator[Parent]:
    """Open the file from which a run branches off after ``tick``, by default its last tick.

    Raises ConfigError if the run has no tick after ``tick``. Raises OutputError if the file has
    another configuration or version, ends earlier, or is damaged.
    """
    workload, config, clock = setup.workload, setup.config, setup.workload.clock
    with ExitStack() as stack:
        with explained(path, READING):
            disk, seal = stack.enter_context(opening.reading_sealed(path))
            with opened(path) as file:
                require_ours(file, path, *SEALED)
                layout = read_layout(file)
            end = opening.require_sound(path, disk, seal)[0].tick
        tick = end if tick is None else tick
        if not 0 <= tick <= end:
            raise OutputError(
                f"{path}: ends with {clock} {end}, so nothing can branch off after {clock} {tick}"
                f"\nchoose {one_of(clock)} up to {end}, or let that run continue"
            )
        if tick >= setup.ticks:
            raise ConfigError(
                f"{option(clock, tick)}: the run has {setup.ticks} "
                f"{plural(clock)}, none after that{_raised(workload, 2 * max(1, tick))}"
            )
        but: tuple[str, ...] = (workload.ticks_key, "record", "interventions", "label")
        futures = futures_of(_configuration(layout.attributes), setup, path, tick)
        but += (FAN, "replicates", f"first_{workload.copies}") if futures else ()
        require_origin(path, layout.attributes, setup, but, "branch off it", "this branch")
        _require_same_past(path, layout.attributes, config, tick, clock)
        begin, state, checkpoints_of = _begin(setup, path, tick, disk, seal, layout, futures)
        yield Parent(path, tick, begin, state, checkpoints_of, disk, layout, futures)


def _begin(
    setup: Setup[Any, Any],
    path: Path,
    tick: int,
    disk: Disk,
    seal: Seal,
    layout: Layout,
    futures: int,
) -> tuple[int, State | None, dict[int, State]]:
    """Return the tick and state from which the branch is computed, after checking the state.

    The third result has the parent's checkpoints that will be copied, by tick. They are read now,
    because a parent that is still running may overwrite them.
    """
    saved, config = _configuration(layout.attributes), setup.config
    asked = config.model_dump(mode="json")
    if _recorded_of(saved) != _recorded_of(asked) or lacking(layout, contents_of(setup)):
        return 0, None, {}  # the two files do not record the same
    if _removals_of(saved) != _removals_of(asked):
        return 0, None, {}  # removals are drawn before the first tick and are part of the state
    committed = min(checksums.commits(disk, seal).tick, tick)
    retained = [one for one in retained_ticks(config) if one <= committed]
    every = checkpoints.interval(_asked(config), layout.state_nbytes)
    wanted = [*retained, *([committed // every * every] if every else [])]
    found_of = {one: checkpoints.of_tick(disk, seal.slots, one) for one in wanted}
    # The branch has to compute the ticks of `record.keep` whose checkpoints the parent lacks.
    newest = min((one for one in retained if found_of[one] is None), default=committed)
    found = checkpoints.latest(disk, seal.slots, newest)
    if found is None:
        return 0, None, {}
    _, begin, state = found
    state = repeated(state, futures)
    if {*state} != {name for name, one in setup.fields.items() if one.saved}:
        return 0, None, {}  # values that change on the way may bring arrays that the parent lacks
    require_checkpoint(setup, path, begin, state)
    copied = {
        tick: repeated(one, futures)
        for tick, one in found_of.items()
        if one is not None and tick <= begin
    }
    return begin, state, copied


def _asked(config: Any) -> Any:
    """Return the value of `record.checkpoint`, the interval of checkpoints."""
    return recorded(config, "checkpoint", "auto")


def _interventions_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the interventions of a configuration, without keys that are not set."""
    return [
        {
            name: value
            for name, value in one.items()
            if name != "label" and value not in (None, {}, [])
        }
        for one in data.get("interventions") or []
    ]


def _removals_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the interventions that remove something."""
    return [one for one in _interventions_of(data) if "remove" in one]


def _recorded_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a configuration records, without the keys of checkpoints."""
    record = dict(data.get("record", {}))
    return {name: one for name, one in record.items() if name not in ("checkpoint", "keep")}


def _configuration(attributes: Mapping[str, Any]) -> dict[str, Any]:
    data = read_text(str(attributes["configuration"]), "configuration").data
    assert isinstance(data, dict)  # `require_origin` has read it before
    return data


def _require_same_past(
    path: Path, attributes: Mapping[str, Any], config: Any, tick: int, clock: str
) -> None:
    """Raise OutputError if interventions before the tick differ from those of the file."""

    def past(data: Mapping[str, Any]) -> list[Any]:
        """Return the interventions before the tick; their end is of the past if it is, too."""
        return [
            {name: value for name, value in one.items() if name != "until" or value < tick}
            for one in _interventions_of(data)
            if one[clock] < tick
        ]

    before, now = past(_configuration(attributes)), past(config.model_dump(mode="json"))
    if before != now:
        different = [one for one in before if one not in now]
        different += [one for one in now if one not in before]
        first = min(one[clock] for one in different or before)
        raise OutputError(
            f"{path}: has other interventions before {clock} {tick}, such as that of {clock} "
            f"{first}; what is past cannot be changed\n"
            f"branch off earlier, with {option(clock, first)}"
        )


def require_other(path: Path, parent: Path) -> None:
    """Raise OutputError if a branch would replace the file that it comes from."""
    if path.exists() and parent.exists() and path.samefile(parent):
        raise OutputError(
            f"{path}: is the file from which the run branches off\n"
            f"name another one with {option('out')}"
        )


def copy_history(parent: Parent, file: ResultFile, config: Any) -> None:
    """Copy everything up to the parent's checkpoint into the new file, and commit it."""
    tick, clock = parent.begin, parent.layout.clock
    copies = parent.layout.copies
    if not tick:
        return
    for name, variable in file.variables.items():
        axis = parent.layout.axis(variable)
        if axis is None:
            continue  # written when the run continues
        dim = variable.dims[axis]
        ticks = parent.layout.coordinates[dim].values
        past = slice(0, int(np.count_nonzero(ticks + variable.lag <= tick)))
        values = parent.disk.read(name, *[slice(None)] * axis, past)
        if copies in variable.dims and parent.futures > 1:
            values = np.repeat(values, parent.futures, axis=variable.dims.index(copies))
        file.write(name, values, **{dim: past})
    for name, table in parent.layout.tables.items():
        ticks = parent.disk.read(f"{table.group}/{clock}")
        rows = int(np.count_nonzero((ticks >= 0) & (ticks <= tick)))
        columns = {
            column.name: parent.disk.read(f"{table.group}/{column.name}", slice(0, rows))
            for column in table.columns
        }
        file.append(name, of_futures(columns, copies, parent.futures))
    file.commit(tick)
    _copy_checkpoints(parent, file, config)


def _copy_checkpoints(parent: Parent, file: ResultFile, config: Any) -> None:
    """Write the parent's checkpoints that a run from the start would have written by then."""
    retained, every = retained_ticks(config), file.checkpoint_interval(_asked(config))
    for tick, state in parent.checkpoints.items():
        if tick in retained:
            file.checkpoint(tick, state, keep=retained.index(tick))
        if tick % every == 0:  # without regular checkpoints there are none to copy
            file.checkpoint(tick, state, tick // every)


def last_tick(path: Path) -> int:
    """Return the last complete tick of a file."""
    with explained(path, READING), opening.reading_sealed(path) as (disk, seal):
        return checksums.commits(disk, seal).tick


def with_values(config: Any, values: Mapping[int, Mapping[str, Any]]) -> Any:
    """Return the configuration with interventions that set values at the end of ticks.

    Raises ConfigError if a value cannot be changed.
    """
    if "interventions" not in type(config).model_fields:
        raise ConfigError(
            f"{config.workload} has no key interventions: its values cannot be changed on the way"
        )
    from societies.workload.running.registry import workload

    if "interventions" in {key.partition(".")[0] for one in values.values() for key in one}:
        raise ConfigError(
            "interventions: a branch has those of CONFIG; write them in it, or name the values "
            f"that change after {option('tick')}: {override('KEY=VALUE')}"
        )
    clock, before = workload(config.workload).clock, len(config.interventions)
    try:
        return with_interventions(
            config, [{clock: tick, "set": dict(one)} for tick, one in values.items()]
        )
    except ConfigError as error:  # the user gave values and no intervention: reword the message
        text = str(error)
        for own in (f"interventions.{before + place}" for place in range(len(values))):
            text = text.replace(f"{own}.set.", "")
            text = text.replace(f"{own}.{clock}: ", f"{option(clock)}: ").replace(f"{own}: ", "")
        text = text.replace(SHARED, "stays as in the parent; only parameters of the model change")
        raise ConfigError(text.replace(SHARED_SHAPE, "it stays as in the parent")) from None


def with_interventions(config: Any, added: Sequence[Mapping[str, Any]]) -> Any:
    """Return the configuration with more interventions, each given as plain data."""
    from societies.workload.running.registry import config_from_dict

    data = config.model_dump(mode="json")
    data["interventions"] = [*data["interventions"], *map(dict, added)]
    changed = config_from_dict(data)
    changed._table = config.table
    return changed
