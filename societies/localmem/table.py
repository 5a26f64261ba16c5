"""What does a plan look like as a table of functions and kernels?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from societies.kerneltext.source import AmalgamatedText
from societies.localmem.places import SourceLocation
from societies.localmem.planned import CallSite, FunctionPlan, KernelPlan, PlannedText
from societies.words import aligned

PORTABLE_LIMIT = 32 * 1024
"""Bytes of local memory that every device we care about has (`societies.opencl`)."""


def table(plan: PlannedText) -> str:
    """Return the allocations and the kernels of a plan in aligned columns."""
    source = plan.source
    entries: list[tuple[str, FunctionPlan | KernelPlan]]
    allocations = [("function", "allocation", "bytes", "alignment", "offset")]
    entries = [*plan.functions.items(), *plan.kernels.items()]
    for name, entry in entries:
        allocations += [
            (name, _shown(source, b.place), str(b.bytes), str(b.alignment), str(b.offset))
            for b in entry.blocks
        ]
    functions = [("function", "requested", "reserved", "largest path")]
    for name, function in plan.functions.items():
        path = _path(source, function.path)
        functions.append((name, str(function.requested), str(function.reserved), path))
    kernels = [("kernel", "requested", "reserved", "static", "of 32 KiB", "largest path")]
    for name, kernel in plan.kernels.items():
        share = f"{100 * kernel.total / PORTABLE_LIMIT:.1f} %"
        numbers = (str(kernel.requested), str(kernel.reserved), str(kernel.static), share)
        kernels.append((name, *numbers, _path(source, kernel.path)))
    parts: list[Sequence[Sequence[str]]] = [allocations, functions, kernels]
    return "\n\n".join(_aligned(rows) for rows in parts if len(rows) > 1)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(aligned(rows, right=partial(_is_number, rows)))


def _is_number(rows: Sequence[Sequence[str]], column: int) -> bool:
    return all(row[column].rstrip(" %").replace(".", "", 1).isdigit() for row in rows[1:])


def _path(source: AmalgamatedText, path: Sequence[CallSite]) -> str:
    return " > ".join(f"{step.function} ({_shown(source, step.place)})" for step in path) or "-"


def _shown(source: AmalgamatedText, place: SourceLocation) -> str:
    """Return ``file:line``, relative to the working directory where the file is below it."""
    path = Path(source.shown(place.file))
    if path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return f"{path}:{place.line}"
