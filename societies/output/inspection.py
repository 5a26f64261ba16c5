"""What does `societies info` report of a result file: its origin, its progress, its damage?"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from societies.config import read_text, yaml_of
from societies.config.files import FOLDER, as_saved
from societies.errors import OutputError, option, shortened
from societies.output import checkpoints, checksums, lock, seal, sessions
from societies.output.checksums import Commits
from societies.output.disk import Disk
from societies.output.files import READING, explained
from societies.output.layout import (
    COMMITTED,
    ENDED,
    LAYOUT_ATTRIBUTE,
    SEALED,
    SESSIONS,
    require_ours,
)
from societies.output.opening import is_study, reading, require_whole, still_good
from societies.output.seal import END_MISSING, STRUCTURE_INTACT, Damage
from societies.output.stored_seal import Seal, StudySeal, find
from societies.output.study_inspection import half_written, inspected, made_with, sweep_of
from societies.output.trailing import calibration_attributes, hash_holds, is_calibration
from societies.output.trust import opened
from societies.words import counted

_MADE_WITH = (
    *("label", "title", "workload", "scenario", "varied", "parent", "parent_tick", "seed"),
    "model_version",
    "societies_version",
    *("git_commit", "created", "command", "reference", "device", "driver"),
)
"""Attributes to show, in this order; a file need not have all of them."""


LONG = 300
"""Most characters of an attribute that are shown."""


@dataclass(frozen=True)
class Inspection:
    """The report about one file.

    Attributes
    ----------
    rows : list of (label, value), for people
    complete : whether its run reached the end
    checked : whether every recorded byte was compared with its checksum
    damages : list of Damage, empty if the parts that were checked are undamaged
    good : parts that can be relied on in spite of the damages
    """

    path: Path
    rows: list[tuple[str, str]]
    complete: bool
    checked: bool
    damages: list[Damage] = field(default_factory=list)
    good: str = ""


def inspect(path: str | os.PathLike[str], *, check: bool = False) -> Inspection:
    """Inspect a result file, which may be unfinished, being written, or damaged.

    Parameters
    ----------
    check : bool
        Compare everything recorded with its checksums. Without it only the parts that never
        change are compared, as on every opening.

    Raises
    ------
    OutputError
        If it is no result file of societies, or too damaged to be inspected.
    """
    path = Path(path)
    with explained(path, READING), reading(path) as descriptor:
        found = find(descriptor)
        # A calibration with changed bytes is not opened: old versions of HDF5 may abort.
        changed = found is None and hash_holds(path) is False
        if isinstance(found, StudySeal) or (found is None and not changed and is_study(path)):
            rows, complete, damages, good = inspected(path, descriptor, found, check=check)
            return Inspection(path, rows, complete, check, damages, good)
        if found is None and (changed or is_calibration(path)):
            return _of_calibration(path)
        if found is None:
            return _without_seal(path)
        return _inspected(path, found.disk(descriptor), found, check=check)


def configuration(path: str | os.PathLike[str]) -> str:
    """Return the final configuration of the run that made a file, as YAML with every key.

    Paths of files that it names are absolute, so that the text can be read from anywhere.

    For a study this is its sweep, for a calibration the configuration that its trials share.

    Raises OutputError if it is no result file of societies, or cannot be read.
    """
    path = Path(path)
    if is_study(path):
        return sweep_of(path)
    if is_calibration(path):
        with explained(path, READING):
            attributes = calibration_attributes(path)
    else:
        with explained(path, READING):
            require_whole(path)
        with explained(path, READING), opened(path) as file:
            require_ours(file, path)
            attributes = dict(file.attrs)
    text, varied = attributes.get("configuration"), attributes.get("varied")
    if not isinstance(text, str):
        raise OutputError(f"{path}: its configuration is missing or damaged")
    if FOLDER in attributes:
        text = yaml_of(as_saved(read_text(text, "configuration").data, attributes, path))
    if varied is None:
        return text
    keys = " ".join(str(varied).split())
    return f"# Besides, a table gave each copy its own {keys}: {option('table')}\n{text}"


def _inspected(path: Path, disk: Disk, found: Seal, *, check: bool) -> Inspection:
    damages = list(seal.damages(disk, found))
    size = os.fstat(disk.descriptor).st_size
    rows = [("file", f"{path}, {size:,} bytes, layout {found.layout}"), *_made(found.attributes)]
    if any(one.end > size for one in found.extents.values()):
        rows.append(("state", END_MISSING))
        return Inspection(path, rows, False, False, damages, still_good(disk, found))
    live = lock.being_written(path)
    state = checksums.commits(disk, found)
    damages += _recorded(disk, found, state, live=live) if check else state.damages
    complete = state.ended or state.tick >= found.ticks
    why = sessions.unpacked(disk.read(ENDED).item()) if state.ended else ""
    rows.append(("state", _progress(found, state.tick, why, live=live, complete=complete)))
    stored = checkpoints.ticks(disk, found.slots, state.tick)
    rows.append(("checkpoints", _checkpoints(found, list(stored.values()))))
    rows.append(("variables", ", ".join(found.series)))
    rows += [
        (f"events '{name}'", str((state.rows or {}).get(name, "unknown"))) for name in found.tables
    ]
    records = [sessions.unpacked(one) for one in disk.read(SESSIONS).tolist() if one]
    rows += [("written", record) for record in records]
    rows += [] if live else half_written(damages)
    damages = [one for one in damages if not one.unfinished]
    if check:
        said = "as written, all of it" if not damages else "damaged, see below"
    else:
        said = STRUCTURE_INTACT if not damages else "damaged"
    rows.append(("checksums", said))
    good = still_good(disk, found, live=live) if damages else ""
    return Inspection(path, rows, complete, check, damages, good)


def _recorded(disk: Disk, found: Seal, state: Commits, *, live: bool) -> list[Damage]:
    """Return the damage of the recorded data; while a run writes, apparent damage is checked again.

    The writer continues between two checks, so values that are merely being written do not differ
    from their checksums every time.
    """
    wrong = list(checksums.damages(disk, found, state, live=live))
    for _ in range(checksums.LOOKS if live else 0):
        if not wrong:
            break
        time.sleep(0.05)
        state = checksums.commits(disk, found)
        still = {one.what for one in checksums.damages(disk, found, state, live=True)}
        wrong = [one for one in wrong if one.what in still]
    return wrong


def _of_calibration(path: Path) -> Inspection:
    """Describe the file of a calibration, which has a single hash; raise if it is damaged."""
    attributes = calibration_attributes(path)
    complete = bool(attributes["complete"])
    rows = [
        ("calibration", f"{path}, {path.stat().st_size:,} bytes"),
        *_made(attributes),
        ("method", str(attributes["method"])),
        ("state", "complete" if complete else "unfinished"),
        ("checksums", "as written, all of it"),
    ]
    return Inspection(path, rows, complete, True)


def _without_seal(path: Path) -> Inspection:
    """Describe a file of an older layout, in which only checkpoints have checksums."""
    with opened(path) as file:
        version = require_ours(file, path)
        if version in SEALED:
            raise OutputError(
                f"{path}: damaged: both seals (checksums), somewhere in the file.\n"
                "Still good: nothing for certain. Restore the file from a copy, or run it again."
            )
        committed = int(file[COMMITTED[version]][()])
        days = int(file["day"][-1]) if "day" in file and len(file["day"]) else committed
        attributes = {key: str(value) for key, value in file.attrs.items()}
        names = [name for name in file if name not in (COMMITTED[version], "checkpoint")]
    complete = committed >= days
    state = f"complete: {days} days" if complete else f"stopped after day {committed} of {days}"
    size = path.stat().st_size
    rows = [
        ("file", f"{path}, {size:,} bytes, layout {attributes[LAYOUT_ATTRIBUTE]}"),
        *_made(attributes),
        ("state", state),
        ("contents", ", ".join(names)),
        ("checksums", "none in this layout; it can be read, not resumed"),
    ]
    return Inspection(path, rows, complete, False)


def _made(attributes: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, shortened(one, LONG)) for name, one in made_with(attributes, _MADE_WITH)]


def _progress(found: Seal, tick: int, why: str, *, live: bool, complete: bool) -> str:
    known = tick < found.ticks and not found.open_ended
    of = f"{found.clock} {tick}{f' of {found.ticks}' if known else ''}"
    if complete and why:
        return f"complete: ended at {of}: {why}"
    if complete:
        return f"complete: {counted(tick, found.clock)}"
    if live:
        return f"a run is writing it: {of} is complete"
    return f"unfinished: complete up to {of}" if tick else f"unfinished: no {found.clock} yet"


def _checkpoints(found: Seal, ticks: list[int]) -> str:
    if not found.slots:
        return "switched off"
    if not ticks:
        return f"none yet, room for {found.slots}"
    return f"of {found.clock} {' and '.join(map(str, ticks))}"
