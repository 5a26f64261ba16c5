"""How are the parts of a study, which were computed separately, merged into one file?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from societies.config.files import FOLDER, seen_from
from societies.errors import ConfigError, OutputError, option
from societies.output.files import READING, explained
from societies.output.study import StudyFile
from societies.output.study_layout import StudyLayout
from societies.sweep.document import compared, digest, files_in, wherever
from societies.sweep.report import SweepReport, report_of
from societies.workload.running.sources import compare, hashes_of


def merge(parts: Sequence[str | Path], out: str | Path, *, overwrite: bool = False) -> SweepReport:
    """Merge the parts of a study into one file; the parts stay as they are.

    Raises
    ------
    ConfigError
        If no parts are named.
    OutputError
        If they are not parts of the same study, have runs in common, are damaged, or are being
        written.
    """
    paths = [Path(one) for one in parts]
    if not paths:
        raise ConfigError("merge: name the files of the parts")
    target = Path(out)
    _require_different(paths, target)
    with ExitStack() as stack:
        files = [stack.enter_context(StudyFile.read(path)) for path in paths]
        _require_parts(files)
        order = np.concatenate([file.runs for file in files])
        where = {int(run): row for row, run in enumerate(np.sort(order))}
        seen = dict[int, Path]()
        for file in files:
            for run in file.runs.tolist():
                if seen.setdefault(run, file.path) is not file.path:
                    said = f"run {run} is in {seen[run]} and in {file.path}"
                    raise OutputError(f"{said}; merge parts that have no run in common")
        layout = _layout([file.layout for file in files], np.argsort(order))
        if FOLDER in (about := dict(layout.attributes)):
            about[FOLDER] = seen_from(target, paths[0].parent / str(about[FOLDER]))
            layout = replace(layout, attributes=about)
        merged = stack.enter_context(StudyFile.create(target, layout, overwrite=overwrite))
        for file in files:
            merged.copy(file, {row: where[int(run)] for row, run in enumerate(file.runs)})
        expected = len(merged.points) * int(layout.attributes["replicates"])
        missing = expected - len(merged.runs)
        note = f"{missing} of {expected} runs are in none of these parts"
        return report_of(merged, notes=(note,) * bool(missing))


def _require_different(paths: Sequence[Path], target: Path) -> None:
    """Raise ConfigError if two paths lead to the same file, or a part would be overwritten."""
    named: dict[tuple[int, int], Path] = {}
    for path in paths:
        with explained(path, READING):
            status = path.stat()
        other = named.setdefault((status.st_dev, status.st_ino), path)
        if target.exists() and target.samefile(path):
            raise ConfigError(
                f"{option('out', str(target))}: is one of the parts, which stay as they are; name "
                "another file"
            )
        if other is not path:
            also = f", also as {other}" if other != path else ""
            raise ConfigError(f"merge: {path} is named twice{also}; name each part once")


def _require_parts(files: Sequence[StudyFile]) -> None:
    """Raise OutputError if files are not of the same study."""
    first = files[0]
    for file in files[1:]:
        named, other = files_in(first.definition), files_in(file.definition)
        for text, one in other.items():
            if text in named and named[text] != one:
                raise OutputError(f"{file.path}: {text} has other contents than for {first.path}")
        if digest(compared(file.definition, other)) != digest(compared(first.definition, named)):
            raise OutputError(f"{file.path}: is of another sweep than {first.path}")
        if wherever(file.points, other) != wherever(first.points, named):
            raise OutputError(
                f"{file.path}: has other points than {first.path}; parts of a sampled design need "
                "the same versions of SciPy and SALib"
            )
        if (file.variables, set(file.events)) != (first.variables, set(first.events)):
            raise OutputError(f"{file.path}: has other variables than {first.path}")
        hashes = hashes_of(first.attributes) or {}
        commit = str(first.attributes.get("git_commit", "unknown"))
        compare(file.path, file.attributes, hashes, commit, "the study")


def _layout(found: Sequence[StudyLayout], order: NDArray[np.intp]) -> StudyLayout:
    """Return the layout of a file with all runs of the layouts ``found``, sorted by ``order``."""
    along = []
    for i, one in enumerate(found[0].along):
        values = np.concatenate([layout.along[i].values for layout in found])[order]
        along.append(replace(one, values=values))
    runs = np.concatenate([one.runs for one in found])[order]
    attributes = {k: v for k, v in found[0].attributes.items() if k != "part"}
    tables = {
        name: replace(table, rows=sum(layout.tables[name].rows for layout in found))
        for name, table in found[0].tables.items()
    }
    return replace(found[0], runs=runs, along=along, attributes=attributes, tables=tables)
