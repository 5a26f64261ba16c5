"""How does an amalgamated text become one in which all local memory has its place?"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from societies.errors import BuildError
from societies.inputs import shown
from societies.kerneltext import cache
from societies.kerneltext.source import AmalgamatedText, amalgamate, lines_joined, without_comments
from societies.localmem.places import SourceLocation
from societies.localmem.planned import Allocation, CallSite, FunctionPlan, KernelPlan, PlannedText
from societies.paths import data_directory, kind_unless_file

VERSION = 4
"""Version of the rules by which memory is planned, a part of the key of the cache."""

COMMON_EXTENSIONS = (
    "cl_khr_fp64",
    "cl_khr_byte_addressable_store",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
)
"""Extensions that the devices we care about have."""

WORD = re.compile(r"\blocal_(?:malloc|free)\b")
_PASTED = re.compile(r"\blocal_(?:##|\b)")


def plan(
    source: AmalgamatedText,
    predefined: Mapping[str, str | None] | None = None,
    leaks: str = "end",
    cached: bool = True,
    checks: bool = False,
) -> PlannedText:
    """Give every `local_malloc` of a text its place in one block of each kernel.

    Parameters
    ----------
    source : an amalgamated text (`societies.kerneltext.source.amalgamate`)
    predefined
        Macros that the device's compiler defines, besides those of the OpenCL standard: its
        extensions, and what ``-D`` says; None: known not to be defined.
    leaks
        Of memory that a function leaves allocated: ``"end"``: it is freed where the function ends;
        ``"inherit"``: it belongs to the caller.
    cached : whether a plan of the same text may come from, and goes to, the disk cache
    checks : whether to look for mistakes that the plan does not show (`societies.localmem.checks`)

    Raises
    ------
    BuildError
        With file, line and column, for whatever keeps the text from being planned.
    """
    if leaks not in ("end", "inherit"):
        raise ValueError(f"leaks={leaks!r} is neither 'end' nor 'inherit'")
    if not WORD.search(source.text) and not _PASTED.search(source.text):
        return PlannedText(source)
    code = without_comments(lines_joined(source.text), keep_strings=True)
    visible = without_comments(code)  # without strings
    if not WORD.search(visible) and not ("##" in visible and _PASTED.search(visible)):
        return PlannedText(source)
    predefined = dict(predefined or {})
    # warnings, which only the checks give, name real paths, which are not in the text
    files = {name: str(path) for name, path in source.files.items()} if checks else {}
    key = _key(code, predefined, leaks, checks, files)
    entry = (cache.load(key) or cache.shipped(key)) if cached else None
    if entry is not None:
        return _restored(source, *entry)
    # libclang and pcpp take a tenth of a second to load, so they are loaded only to plan
    from societies.localmem.planner import make_plan

    with _uncollected():
        made = make_plan(source, predefined, leaks, checks)
    if cached:
        cache.store(key, _description(made), made.source.text.encode())
    return made


@contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no cycles meanwhile: planning makes up to a million objects that stay to its end.

    To look through them again and again takes a third of its time.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def plan_file(
    file: str | Path, macros: Mapping[str, str] | None = None, **options: Any
) -> PlannedText:
    """Plan and check one file for a device that is not at hand.

    Parameters
    ----------
    file : a path, or a file of the kernels folder. Includes are looked up as in `Program`.
    macros : values by name; an empty value counts as 1. ``DEVICE_IS_CPU`` is 1 unless given.
    options : of `plan`

    Raises
    ------
    BuildError
        As `plan`.
    """
    path: str | Path = Path(file).resolve() if os.path.isfile(file) else file
    kernels = data_directory("kernels")
    if kind := kind_unless_file(file):
        raise BuildError(f"{shown(file)}: is {kind}, not a file")
    if not os.path.isfile(path) and not os.path.isfile(kernels / path):
        if os.path.isdir(file):
            raise BuildError(f"{shown(file)}: is a folder; name a file in it")
        raise BuildError(f"{shown(file)}: no such file, neither in {Path.cwd()} nor in {kernels}")
    return plan_source(lambda known: amalgamate([path], known), macros, **options)


def plan_source(
    source: Callable[[Mapping[str, Any]], AmalgamatedText],
    macros: Mapping[str, str] | None = None,
    **options: Any,
) -> PlannedText:
    """Plan and check a text for a device that is not at hand: ``source`` makes it from the macros.

    The others are those of `plan_file`.
    """
    known = {"DEVICE_IS_CPU": "1", **{n: v or "1" for n, v in (macros or {}).items()}}
    return plan(source(known), dict.fromkeys(COMMON_EXTENSIONS, "1"), checks=True, **options)


def _key(code: str, predefined: Mapping[str, str | None], *others: Any) -> str:
    rows = [row.rstrip() for row in code.split("\n")]  # where comments were
    parts = ["local memory", VERSION, rows, sorted(predefined.items()), *others]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _description(made: PlannedText) -> dict[str, Any]:
    return {
        "kernels": {name: vars(entry) for name, entry in made.kernels.items()},
        "functions": {name: vars(entry) for name, entry in made.functions.items()},
        "warnings": made.warnings,
    }


def _restored(source: AmalgamatedText, description: Any, text: bytes) -> PlannedText:
    planned = source.copy()
    planned.text = text.decode()

    def row(entry: dict[str, Any]) -> dict[str, Any]:
        path = [CallSite(function, SourceLocation(*place)) for function, place in entry["path"]]
        blocks = [Allocation(SourceLocation(*place), *sizes) for place, *sizes in entry["blocks"]]
        place = SourceLocation(*entry["place"])
        return {**entry, "path": tuple(path), "blocks": tuple(blocks), "place": place}

    return PlannedText(
        planned,
        {name: KernelPlan(**row(entry)) for name, entry in description["kernels"].items()},
        {name: FunctionPlan(**row(entry)) for name, entry in description["functions"].items()},
        tuple(description["warnings"]),
    )
