"""Have the rules of the model changed since a file was made? Each source file has a hash.

Sources are the kernels of a configuration and the files that they include, the modules of the
reference with the same names, the modules that the workload's module imports, directly or
indirectly, and those that make its parameters and its steps of a tick. The hash does not depend on
comments, empty lines or the folder of installation. A result file holds the hashes as text, one per
line.
"""

from __future__ import annotations

import hashlib
import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from inspect import getsource
from pathlib import Path
from typing import Any

from societies.errors import BuildError, OriginWarning
from societies.kerneltext.source import amalgamate, without_comments
from societies.paths import data_directory
from societies.words import counted
from societies.workload.declare.phases import kernel_files
from societies.workload.declare.protocol import Setup

SOURCES = "sources"
"""Attribute of a file with one line per source: its name and the first digits of its SHA-256."""

DIGITS = 12
MOST_NAMED = 3

OWN, REFERENCE, KERNELS = "societies", "reference_py", "kernels/"
"""This package, of which only modules with a part in results are sources; the reference; the folder
of kernels."""

_IMPORT = re.compile(
    r"^\s*(?:from\s+([\w.]+)\s+import\s+([^#\n(]+|\([^)]*\))|import\s+([^#\n;]+))", re.MULTILINE
)


def sources_of(*setups: Setup[Any, Any]) -> dict[str, str]:
    """Return the name and hash of every source of some configurations, sorted by name."""
    modules: set[str] = set()
    kernels: set[Path] = set()
    for setup in setups:
        for base in type(setup.workload).__mro__:
            _reach(base.__module__, modules)
        for function in setup.workload.reference(setup.p).values():
            _reach(function.__module__, modules)
        kernels.update(_with_includes(tuple(kernel_files(setup.phases))))
    rules = {
        f"rule:{one.text}".replace(" ", "_"): one.sha256()[:DIGITS]
        for setup in setups
        for one in setup.workload.plugged(setup.config).functions.values()
    }
    for name in map(_name, kernels):
        if name.startswith(KERNELS):
            twin = name.removeprefix(KERNELS).removesuffix(".cl")
            _reach(f"{REFERENCE}.{twin.replace('/', '.')}", modules)
    kernels.update(_with_includes(tuple(_twins(modules))))
    files = {_file_of(module) for module in modules if not _is_own(module)} | kernels
    for setup in setups:
        chosen: Any = type(setup.workload)
        files |= _of_parameters(chosen)
    return dict(sorted((_name(path), _digest(path)) for path in files if path)) | rules


def text_of(sources: Mapping[str, str]) -> str:
    """Return hashes as the text of the attribute `SOURCES`."""
    return "\n".join(f"{name} {digest}" for name, digest in sources.items())


def hashes_of(attributes: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the hashes in a file's attributes; None if it has none."""
    if SOURCES not in attributes:
        return None
    rows = (row.split(" ") for row in str(attributes[SOURCES]).splitlines())
    return {row[0]: row[1] for row in rows if len(row) == 2}


def changed(current: Mapping[str, str], stored: Mapping[str, str]) -> list[str]:
    """Return the sources that two lists of hashes share and that differ."""
    return [name for name, digest in current.items() if stored.get(name, digest) != digest]


def compare(
    path: Path, attributes: Mapping[str, Any], current: Mapping[str, str], commit: str, doing: str
) -> None:
    """Warn if a source differs from that of a file, or if its commit does and it has no hashes.

    Parameters
    ----------
    current : `sources_of` its configuration, from the present code
    commit : commit of the present code
    doing : noun in messages for the result that would mix old and new rules: "this branch"
    """
    made = str(attributes.get("git_commit", "unknown"))
    commits = f"it is of commit {made[:12]}, this is {commit[:12]}"
    stored = hashes_of(attributes)
    if stored is None:
        if made != commit or made == "unknown" or made.endswith("-modified"):
            _warn(
                f"{path}: does not say by which rules it was made, so they cannot be compared "
                f"({commits}); if a rule has changed since, {doing} mixes both"
            )
        return
    if names := changed(current, stored):
        more = len(names) - MOST_NAMED
        named = ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        files = counted(len(names), "source file")
        _warn(
            f"{path}: {files} of the model changed since it was made, {named} ({commits}); if "
            f"that changed a rule, {doing} mixes both"
        )


def _warn(text: str) -> None:
    warnings.warn(text, OriginWarning, stacklevel=4)


def _reach(module: str, found: set[str]) -> None:
    """Add a module to ``found``, and what it imports from its own package and the reference."""
    top = module.partition(".")[0]
    if module in found or top in sys.stdlib_module_names or (path := _file_of(module)) is None:
        return
    found.add(module)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for one in _imported(path.read_text(encoding="utf-8"), package):
        of = one.partition(".")[0]
        if of == REFERENCE or (of == top and not _is_own(one)):
            _reach(one, found)


@lru_cache(maxsize=64)
def _of_parameters(workload: Any) -> set[Path]:
    """Return modules of a workload of this package that make its parameters and steps of a tick.

    These are the module of its configuration, and what its methods for them import, directly or
    indirectly, from its own folder.
    """
    module = sys.modules[workload.__module__]
    if not _is_own(module.__name__):
        return set()
    package, home = str(module.__package__), _resolved(str(module.__file__))
    texts = [(getsource(getattr(workload, name)), package) for name in ("parameters", "schedule")]
    texts.append((f"import {workload.config.__module__}", package))
    found: set[Path] = set()
    for text, above in texts:
        for one in _imported(text, above):
            below = one.removeprefix(f"{package}.")
            path = home.parent / f"{below.replace('.', '/')}.py"
            if below != one and path.is_file() and path not in {home, *found}:
                found.add(path)
                texts.append((path.read_text(encoding="utf-8"), one.rpartition(".")[0]))
    return found


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == OWN


@lru_cache(maxsize=256)
def _imported(text: str, package: str) -> tuple[str, ...]:
    """Return the modules that a text may import: those named, and every name imported from them.

    Names with leading dots, as in ``from .prices import price``, are relative to ``package``.
    """
    found = []
    for said, names, alone in _IMPORT.findall(text.replace("\\\n", " ")):
        found += re.findall(r"([\w.]+)(?:\s+as\s+\w+)?", alone)
        of = said.lstrip(".")
        if of != said:
            above = package.split(".")
            of = ".".join([*above[: len(above) - (len(said) - len(of)) + 1], *filter(None, [of])])
        found += [of] if of else []
        found += [f"{of}.{word}" for word in re.findall(r"(\w+)(?:\s+as\s+\w+)?", names)]
    return tuple(found)


def _file_of(module: str) -> Path | None:
    found = sys.modules.get(module)
    if found is None and module.startswith(f"{REFERENCE}."):
        with suppress(ImportError):  # the name of a function or class
            found = import_module(module)
    file = getattr(found, "__file__", None)
    return _resolved(file) if file else None


@lru_cache(maxsize=1024)
def _resolved(file: str) -> Path:
    return Path(file).resolve()  # asks the system about every folder above the file


@lru_cache(maxsize=64)
def _with_includes(files: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the files of kernels and of all that they include."""
    try:
        found = amalgamate(files).files.values()
    except (
        BuildError
    ):  # a model whose kernels are not written yet runs in plain Python all the same
        return ()
    return tuple(_resolved(str(path)) for path in found)


def _twins(modules: Iterable[str]) -> list[str]:
    """Return the kernel files with the name of a module of the reference: matches launch them."""
    own = (module for module in sorted(modules) if module.partition(".")[0] == REFERENCE)
    names = [f"{module.partition('.')[2].replace('.', '/')}.cl" for module in own]
    return [name for name in names if (data_directory("kernels") / name).is_file()]


@lru_cache(maxsize=1024)
def _name(path: Path) -> str:
    """Return the name of a source, the same in every installation."""
    if path.is_relative_to(kernels := _resolved(str(data_directory("kernels")))):
        return f"{KERNELS}{path.relative_to(kernels).as_posix()}"
    package = path.parent
    while (package.parent / "__init__.py").is_file():
        package = package.parent
    return path.relative_to(package.parent).as_posix()


def _digest(path: Path) -> str:
    return _digest_at(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=1024)
def _digest_at(path: Path, _modified: int) -> str:
    """Return the hash of a source without comments and empty lines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    else:
        text = without_comments(text, keep_strings=True)
    rows = [row.rstrip() for row in text.splitlines() if row.strip()]
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:DIGITS]
