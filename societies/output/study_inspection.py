"""What does `societies info` report of a study: its origin, its progress, its damage?"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from societies.config.files import as_saved
from societies.output import opening, seal
from societies.output.disk import Disk
from societies.output.files import READING, explained
from societies.output.seal import END_MISSING, STRUCTURE_INTACT, Damage
from societies.output.stored_seal import StudySeal
from societies.output.studies import content_of, old_content
from societies.output.study_layout import (
    DEFINITION,
    DONE,
    POINTS,
    STATES,
    STATUS,
    extents_of,
)
from societies.output.tables import read_tables
from societies.output.trust import opened
from societies.words import counted, worded

MOST_VALUES = 6
"""Most values of a key that are listed; if there are more, the range is shown."""
_MADE_WITH = (
    *("label", "title", "workload", "part", "model_version", "societies_version", "git_commit"),
    *("command", "reference"),
    "created",
)
METHODS = ("zip", "points", "latin_hypercube", "sobol", "morris", "saltelli")
"""Methods of a sweep that name the definition of their factor; a grid's is named by its key."""

Rows = list[tuple[str, str]]


def inspected(
    path: Path, descriptor: int, found: StudySeal | None, *, check: bool
) -> tuple[Rows, bool, list[Damage], str]:
    """Return the rows that `societies info` shows, whether the study is complete, and its damages.

    The last value says what is still good. ``found`` is the seal; None: the study has layout 1.
    """
    layout = 1 if found is None else found.layout
    rows: Rows = [("study", f"{path}, {path.stat().st_size:,} bytes, layout {layout}")]
    damages: list[Damage] = []
    if found is None:
        with opened(path) as file:
            opening.require_study(file, path)
        disk, content = Disk(descriptor, extents_of(path)), None
    else:
        disk = found.disk(descriptor)
        damages += seal.damages(disk, found)
        if any(one.end > os.fstat(descriptor).st_size for one in found.extents.values()):
            rows += [*_made(found.attributes), ("state", END_MISSING)]
            return rows, False, damages, "nothing for certain"
    if found is not None and damages:
        rows += _made(found.attributes)
    else:
        rows += _of_file(path)
    status, good = disk.read(STATUS), ""
    if check or found is None:
        content = old_content(path, disk) if found is None else content_of(path, disk, found)
        damages += content.rows.wrong
        status, good = content.rows.state, content.rows.good
        if not content.live:
            rows += half_written(content.rows.damages)
    counts = [f"{int((status == i).sum())} {word}" for i, word in enumerate(STATES)]
    if wrong := int(((status < 0) | (status >= len(STATES))).sum()):
        counts.append(f"{wrong} damaged")
    rows.append(("runs", f"{len(status)}: {', '.join(counts)}"))
    rows.append(("checksums", _checksums(found, damages, check=check)))
    return rows, bool((status == DONE).all()), damages, good or "see `societies info --check`"


def half_written(damages: Iterable[Damage]) -> Rows:
    """Return a row for what a killed process has left half written, if anything."""
    half = [f"{one.what}, {one.which}".strip(", ") for one in damages if one.unfinished]
    said = f"{'; '.join(half)}: not counted, written again on resuming"
    return [("half written", said)] if half else []


def _checksums(found: StudySeal | None, damages: Sequence[Damage], *, check: bool) -> str:
    if damages:
        return "damaged, see below"
    if found is None:
        done = "results and events of the runs that are done: as written"
        return f"{done}; the rest has no checksums in this layout, which can be read, not continued"
    if check:
        return "as written, all of it"
    return STRUCTURE_INTACT


def _of_file(path: Path) -> Rows:
    """Return rows of the attributes of a study, its varied keys, and its variables."""
    with opened(path) as file:
        about = {key: str(one) for key, one in file.attrs.items()}
        points = json.loads(bytes(file[POINTS][...]))
        own = len(set(file["point"][...].tolist()))
        events = list(read_tables(file))
        label = json.loads(bytes(file[DEFINITION][...]))["base"].get("label")
    of = "" if own == len(points) else f" of {len(points)}"
    return [
        *([("label", label)] if label else []),
        *_made(about),
        *(("varied", f"{key}: {_values([one[key] for one in points])}") for key in points[0]),
        ("points", f"{own}{of}, {counted(int(about['replicates']), 'replicate')}"),
        ("variables", ", ".join(json.loads(about["variables"]))),
        *([("events", ", ".join(events))] if events else []),
    ]


def _made(attributes: Mapping[str, Any]) -> Rows:
    return made_with(attributes, _MADE_WITH)


def made_with(attributes: Mapping[str, Any], names: Iterable[str]) -> Rows:
    """Return a row for each of some attributes that a file has."""
    said = ((name, str(attributes.get(name, ""))) for name in names)
    return [(name.replace("_", " "), text) for name, text in said if text]


def _values(column: Sequence[Any]) -> str:
    """Return the values of a key as text: all of them or, if many, their range or the first two."""
    texts = [one if isinstance(one, str) else json.dumps(one) for one in column]
    different = dict(zip(texts, column, strict=True))
    if len(different) <= MOST_VALUES:
        named = map(worded, different)
        return ", ".join(text if len(text) <= 60 else f"{text[:57]}..." for text in named)
    values = list(different.values())
    if all(type(one) in (int, float) for one in values):
        return f"{min(values)} to {max(values)}, {len(values)} values"
    first = ", ".join(worded(text)[:30] for text in list(different)[:2])
    return f"{first} and {len(values) - 2} more"


def sweep_of(path: Path) -> str:
    """Return the sweep that makes a study, as YAML, with every key of its base.

    Raises OutputError if it is no study, cannot be read or is damaged.
    """
    with explained(path, READING):
        with opening.reading(path) as descriptor:
            opening.sealed_study(path, descriptor)
        with opened(path) as file:
            definition = json.loads(bytes(file[DEFINITION][...]))
            attributes = dict(file.attrs)
        vary: dict[str, Any] = {}
        for factor in definition["vary"]:
            ((name, said),) = factor.items()
            if name in METHODS:
                vary[name] = said
            else:
                vary.setdefault("grid", {})[name] = said
        sweep = {
            "base": definition["base"],
            "vary": vary,
            "replicates": int(attributes["replicates"]),
            "common_random_numbers": definition["common_random_numbers"],
            "record": definition["record"],
        }
    sweep = as_saved(sweep, attributes, path)
    return yaml.safe_dump(sweep, sort_keys=False, allow_unicode=True)
