"""Which file does a run write, what does it say about its origin, and may a run go on with it?"""

from __future__ import annotations

import platform
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from societies.config import to_yaml
from societies.economy.config import EconomyConfig
from societies.economy.parameters import Parameters
from societies.economy.results import Layout
from societies.economy.state import sizes, state_fields
from societies.errors import OutputError
from societies.output import ResultFile
from societies.output.files import require_allowed, require_target
from societies.output.layout import declare
from societies.version import package_version

MODEL_VERSION = "1"
"""Changes when, and only when, results change; see CHANGELOG, "Results change"."""

DEVICES = {"none": "no devices", "tools": "tools", "all": "all devices"}


def require_room(path: Path, p: Parameters, layout: Layout, *, overwrite: bool) -> None:
    """Raise OutputError if the file plainly cannot be made, before any work is done."""
    nbytes = declare(**_parts(p, layout), attributes={}).nbytes_on_disk
    require_target(path, nbytes, overwrite=overwrite)
    require_allowed(path, nbytes)


def _parts(p: Parameters, layout: Layout) -> dict[str, Any]:
    """Return what the file is made of, attributes aside."""
    lengths = sizes(p)
    state = {name: (f.shape(lengths), f.dtype) for name, f in state_fields(p).items() if f.kept}
    return {
        "coordinates": layout.coordinates(),
        "variables": layout.variables(),
        "state": state,
    }


def create(
    path: Path, p: Parameters, layout: Layout, facts: dict[str, str], *, overwrite: bool
) -> ResultFile:
    """Make the file; ``facts`` are attributes that tell the device."""
    config = layout.config
    attributes: dict[str, str | int] = {
        "title": f"economy, {config.agents} agents x {config.resources} resources",
        "scenario": f"{'trade' if config.trade else 'no trade'}, {DEVICES[config.devices]}",
        "agents": config.agents,
        "resources": config.resources,
        "workload": config.workload,
        "configuration": to_yaml(config),
        "seed": str(config.seed),
        "model_version": MODEL_VERSION,
        "societies_version": package_version(),
        "git_commit": git_commit(),
        "utility_tables": describe_tables(p),
        "created": _now(),
        "python": platform.python_version(),
        **facts,
    }
    return ResultFile.create(path, **_parts(p, layout), attributes=attributes, overwrite=overwrite)


def reopen(path: Path, config: EconomyConfig) -> ResultFile:
    """Open the file to write on, after checking that it is one of this configuration."""
    if not path.exists():
        raise OutputError(
            f"{path}: does not exist, so there is nothing to continue\n"
            "begin it by running without --resume, or name another file with --out"
        )
    file = ResultFile.resume(path)
    try:
        version = str(file.attributes.get("model_version"))
        if version != MODEL_VERSION:
            raise OutputError(
                f"{path} was made by model version {version}, this is {MODEL_VERSION}: results "
                "differ, so it cannot be continued\nrun it anew with another --out"
            )
        try:
            different = _different_keys(str(file.attributes["configuration"]), to_yaml(config))
        except (KeyError, TypeError, yaml.YAMLError) as error:
            raise OutputError(
                f"{path}: its configuration is missing or damaged, so it cannot be continued\n"
                "run it anew with another --out"
            ) from error
        if different:
            key, old, new = different[0]
            more = f" (and {len(different) - 1} more)" if different[1:] else ""
            raise OutputError(
                f"{path} was made with another configuration: {key} is {old} in the file and "
                f"{new} here{more}\nresume it with the configuration and options that made it"
            )
    except BaseException:
        file.close()
        raise
    return file


def describe_tables(p: Parameters) -> str:
    """Say how long the utility tables are, and whether one ends before utility does."""
    ended = " (cut off at more than an agent will hold)" if p.tables_cut_off else ""
    return f"{', '.join(str(n) for n in p.table_lengths)} units{ended}"


def _different_keys(before: str, now: str) -> list[tuple[str, str, str]]:
    """Return key, old and new value wherever two resolved configurations differ."""
    made_with = yaml.safe_load(before)
    if not isinstance(made_with, dict):
        raise TypeError("no configuration")
    old, new = _flat(made_with), _flat(yaml.safe_load(now))
    return [
        (key, str(old.get(key, "absent")), str(new.get(key, "absent")))
        for key in {**old, **new}
        if old.get(key, "absent") != new.get(key, "absent")
    ]


def _flat(item: Any, prefix: str = "") -> dict[str, Any]:
    """Return every value of nested sections and lists under its dotted key."""
    if isinstance(item, dict | list):
        pairs = item.items() if isinstance(item, dict) else enumerate(item)
        parts = [_flat(value, f"{prefix}.{key}".lstrip(".")) for key, value in pairs]
        return {key: value for part in parts for key, value in part.items()}
    return {prefix: item}


def session(first: int, facts: dict[str, str]) -> str:
    """Return the record that tells who computed the days from ``first`` on."""
    version = " ".join(["societies", package_version(), git_commit()]).strip()
    return f"from day {first} | {facts['device']} | {facts['driver']} | {version} | {_now()}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def git_commit() -> str:
    """Return the commit of the checkout this runs from or was built from, else "unknown"."""
    root = Path(__file__).resolve().parents[2]
    stamp = Path(__file__).resolve().parents[1] / "_data" / "commit.txt"
    if stamp.is_file():  # a wheel; hatch_build.py wrote it
        return stamp.read_text(encoding="utf-8").strip() or "unknown"
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return "unknown"

    def ask(*words: str) -> str:
        done = subprocess.run(
            [git, "-C", str(root), *words], capture_output=True, text=True, check=False
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    commit = ask("rev-parse", "HEAD")
    return f"{commit}-modified" if commit and ask("status", "--porcelain") else commit or "unknown"
