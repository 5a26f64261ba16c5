"""What does a file record about its origin, and may a run continue it?"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from societies import citation
from societies.config import WorkloadConfig, quoted, read_text, to_yaml
from societies.config.files import MODEL, SECTION
from societies.config.problems import dotted
from societies.errors import ConfigError, DamageWarning, OutputError, command_line, option
from societies.output.resultfile import ResultFile
from societies.version import package_version
from societies.workload.declare.protocol import Setup
from societies.workload.declare.rules import RulesSection
from societies.workload.running.contents import contents_of, lacking
from societies.workload.running.plugged import rule_attributes
from societies.workload.running.sources import SOURCES, compare, sources_of, text_of

_STATUS = ("status", "--porcelain=v2", "--branch", "--no-ahead-behind", "--untracked-files=no")
_COMMIT = "# branch.oid "
"""Arguments and output of `git status`, which reports the commit and modified files in one call."""

TABLE = "table_sha256"
VARIED = "varied"
"""Attributes of a file whose copies have parameters of a table: the table's hash, and its keys."""

LONGEST_COMMAND = 20_000
"""Characters of a command line that a file has; HDF5 stores attributes of at most 64 KiB."""

LONGER_AT_MOST, LONG = 2, 1 << 16
"""Limit of the configuration read from a file: `LONGER_AT_MOST` times the length of ours plus
`LONG` characters. Parsing YAML takes seconds per 100 kB."""


def origin(setup: Setup[Any, Any]) -> dict[str, str]:
    """Return the attributes of every file: configuration, versions of the code, and time."""
    config = setup.config
    return {
        "workload": config.workload,
        **({"label": config.label} if config.label else {}),
        "configuration": to_yaml(config),
        "seed": str(getattr(config, "seed", "")),
        "model_version": setup.workload.version_of(config),
        SOURCES: text_of(sources_of(setup)),
        "societies_version": package_version(),
        "git_commit": git_commit(),
        "created": now(),
        **how_made(config.workload),
        "python": platform.python_version(),
        **{f"{key}_sha256": digest for key, digest in digests(config).items()},
        **(
            {}
            if config.table is None
            else {TABLE: config.table.sha256, VARIED: ", ".join(config.table.columns)}
        ),
        **setup.workload.origin(config),
        **rule_attributes([setup.workload.plugged(config)]),
    }


def how_made(workload: str) -> dict[str, str]:
    """Return the publication of the model, and the command line, as attributes of a file."""
    publication, command = citation.references().get(workload), command_line()
    return {
        **({} if publication is None else {"reference": publication.text}),
        **({"command": command[:LONGEST_COMMAND]} if command else {}),
    }


def reopen(path: Path, setup: Setup[Any, Any]) -> ResultFile:
    """Open a file to continue it, after checking that this configuration made it.

    Raises OutputError if another configuration or version of the model made it, or it cannot be
    opened.
    """
    if not path.exists():
        raise OutputError(
            f"{path}: does not exist, so there is nothing to continue\n"
            f"begin it by running without {option('resume', True)}, or name another file with "
            f"{option('out')}"
        )
    file = ResultFile.resume(path)
    try:
        require_origin(path, file.attributes, setup)
        if missing := lacking(file, contents_of(setup)):
            raise OutputError(
                f"{path}: has no '{missing[0]}', which is recorded now: an earlier version of "
                f"Societies made it\nrun it again into another file, with {option('out')}"
            )
        for damage in file.damages:
            text = f"{path}: damaged: {damage}; the run continues without it"
            warnings.warn(text, DamageWarning, stacklevel=2)
    except BaseException:
        file.close()
        raise
    return file


def require_origin(
    path: Path,
    attributes: Mapping[str, Any],
    setup: Setup[Any, Any],
    but: tuple[str, ...] = (),
    going_on: str = "resume it",
    doing: str = "the file",
) -> None:
    """Raise OutputError unless a file was made with this configuration; keys ``but`` may differ.

    Warns if the model's sources have changed although the version of the model has not.
    """
    config = setup.config
    model_version = setup.workload.version_of(config)
    version = str(attributes.get("model_version"))
    if version != model_version:
        raise OutputError(
            f"{path} was made by model version {_short(version)}, this is {model_version}: results "
            "differ, so it cannot be continued\n"
            f"run it again into another file, with {option('out')}"
        )
    try:
        different = _different_keys(str(attributes["configuration"]), config)
    except (KeyError, TypeError, ConfigError) as error:
        raise OutputError(
            f"{path}: its configuration is missing or damaged, so it cannot be continued\n"
            f"run it again into another file, with {option('out')}"
        ) from error
    # Where the files of rules are does not matter: the version has the hash of their text.
    but = (*but, SECTION) if isinstance(getattr(config, SECTION, None), RulesSection) else but
    but = (*but, MODEL)
    different = [found for found in different if found[0].split(".")[0] not in but]
    for key, old, new in different:
        if key == "workload":  # the other keys of two workloads cannot be compared
            raise OutputError(
                f"{path} is a result of the workload {old}, the configuration is of {new}\n"
                "name another file, or a configuration of that workload"
            )
    if different:
        key, old, new = different[0]
        more = f" (and {len(different) - 1} more)" if different[1:] else ""
        raise OutputError(
            f"{path} was made with another configuration: {key} is {old} in the file and "
            f"{new} here{more}\n{going_on} with the configuration that made it; "
            f"`societies info --config {shlex.quote(str(path))}` prints it"
        )

    _require_table(path, attributes.get(TABLE), config.table, going_on)
    for key, digest in digests(config).items():
        if key not in but and str(attributes.get(f"{key}_sha256")) != digest:
            raise OutputError(
                f"{path} was made with another file for {key}: the contents of "
                f"{config.inputs()[key]} have changed\n"
                f"put the former one back, or run it again into another file, with {option('out')}"
            )
    compare(path, attributes, sources_of(setup), git_commit(), doing)


def _require_table(path: Path, stored: Any, table: Any, going_on: str) -> None:
    """Raise OutputError unless a file was made with this table of parameters."""
    digest = None if table is None else table.sha256
    if stored == digest:
        return
    if stored is None or table is None:
        one, other = ("without", "with") if stored is None else ("with", "without")
        why = f"{one} a table of parameters, this is {other} one"
    else:
        why = "with another table of parameters: some keys or numbers differ"
    how = f"without {option('table')}" if stored is None else f"with its table ({option('table')})"
    raise OutputError(f"{path} was made {why}\n{going_on} {how}")


def digests(config: WorkloadConfig) -> dict[str, str]:
    """Return the SHA-256 of every file that a run reads in addition to its configuration, by key.

    Raises ConfigError if one cannot be read.
    """
    found = {}
    for key, path in config.inputs().items():
        try:
            found[key] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        except OSError as error:
            raise ConfigError(f"{key}: {path} cannot be read: {error.strerror}") from error
    return found


def _different_keys(before: str, config: WorkloadConfig) -> list[tuple[str, str, str]]:
    """Return key, old and new value for each difference between two resolved configurations.

    A key that was added to the program after the file was written counts as its default. The file
    may come from a stranger, so a text that is much longer than this configuration is not parsed.
    """
    now = to_yaml(config)
    if len(before) > LONGER_AT_MOST * len(now) + LONG:
        return [("the configuration", f"{len(before)} characters", f"{len(now)} characters")]
    made_with = read_text(before, "configuration")
    if not isinstance(made_with.data, dict) or made_with.problems:
        raise TypeError("no configuration")
    old, new = _flat(made_with.data), _flat(read_text(now, "configuration").data)
    files, contents = {dotted(path) for path in config.files()}, config.inputs()
    if new.keys() - old.keys():
        old = _with_defaults(made_with.data, config) | old
    return [
        (_short(key), _short(str(old.get(key, "absent"))), _short(str(new.get(key, "absent"))))
        for key in {**old, **new}
        if old.get(key, "absent") != new.get(key, "absent")
        and not (key in files and _same_file(key in contents, old.get(key), new.get(key)))
    ]


def _same_file(hashed: bool, before: Any, now: Any) -> bool:
    """Return whether two texts name one file: a saved configuration has absolute paths.

    Of a file whose contents are ``hashed``, which are compared as well, the name alone counts.
    """
    one = os.path.basename if hashed else os.path.abspath
    return isinstance(before, str) and isinstance(now, str) and one(before) == one(now)


def _with_defaults(data: Mapping[str, Any], config: WorkloadConfig) -> dict[str, Any]:
    """Return the values of a file's configuration, with defaults for keys that it lacks."""
    try:
        complete = type(config).model_validate(data)
    except ValueError:
        return {}
    return _flat(read_text(to_yaml(complete), "configuration").data)


def _short(text: str) -> str:
    """Return a text from a file as it is if short and printable, else quoted and shortened."""
    return text if text.isprintable() and len(text) <= 60 else quoted(text)


def _flat(item: Any, prefix: str = "") -> dict[str, Any]:
    """Return every value of nested sections and lists under its dotted key."""
    if isinstance(item, dict | list):
        pairs = item.items() if isinstance(item, dict) else enumerate(item)
        parts = [_flat(value, f"{prefix}.{key}".lstrip(".")) for key, value in pairs]
        return {key: value for part in parts for key, value in part.items()}
    return {prefix: item}


def session(clock: str, first: int, facts: dict[str, str]) -> str:
    """Return the record of the process and device that compute the ticks from ``first`` on."""
    version = " ".join(["societies", package_version(), git_commit()]).strip()
    return f"from {clock} {first} | {facts['device']} | {facts['driver']} | {version} | {now()}"


def now() -> str:
    """Return the present time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache
def git_commit() -> str:
    """Return the commit of the checkout that contains or built this package, else "unknown".

    The result is cached: modules that are imported do not change if the files do.
    """
    root = Path(__file__).resolve().parents[3]
    stamp = Path(__file__).resolve().parents[2] / "_data" / "commit.txt"
    if stamp.is_file():  # a wheel; hatch_build.py wrote it
        return stamp.read_text(encoding="utf-8").strip() or "unknown"
    return commit_of(root) or "unknown"


def commit_of(root: Path) -> str:
    """Return the commit of a checkout, with ``-modified`` if files that git tracks differ from it.

    Untracked files, such as results and figures, do not count. hatch_build.py has the same
    function, because it cannot import this package.
    """
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return ""

    done = subprocess.run(
        [git, "--no-optional-locks", "-C", str(root), *_STATUS],
        capture_output=True,
        text=True,
        check=False,
    )
    rows = done.stdout.splitlines() if done.returncode == 0 else []
    commit = next((row.removeprefix(_COMMIT) for row in rows if row.startswith(_COMMIT)), "")
    if commit == "(initial)":
        return ""
    changed = any(not row.startswith("#") for row in rows)
    return f"{commit}-modified" if changed else commit
