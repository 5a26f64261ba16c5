"""Which words can a shell complete for CONFIG, --device and --set?

Every function takes the beginning of a word. A mistake elsewhere on the line, or a machine without
OpenCL, only makes the list shorter: a shell that completes has nowhere to print an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from societies.errors import SocietiesError
from societies.paths import shipped_configuration, shipped_configurations

if TYPE_CHECKING:
    from societies.config import WorkloadConfig

_KINDS = {
    "auto": "a GPU if one is found, else a CPU",
    "cpu": "the best CPU",
    "gpu": "the best GPU",
    "reference": "plain Python",
}


def configurations(beginning: str) -> list[str]:
    """Return shipped configurations, and YAML files and folders on disk."""
    path = Path(beginning)
    folder = path if beginning.endswith("/") else path.parent
    found = [name for name in shipped_configurations() if name.startswith(beginning)]
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return found
    for entry in entries:
        name = f"{entry}/" if entry.is_dir() else str(entry)
        hidden = entry.name.startswith(".") and not path.name.startswith(".")
        if name.startswith(beginning) and not hidden and entry.suffix in ("", ".yaml", ".yml"):
            found += [name] if entry.is_dir() or entry.suffix else []
    return found


def devices(beginning: str) -> list[tuple[str, str]]:
    """Return the values of --device with their meanings: kinds, and every device's number."""
    from societies.opencl import list_devices

    found = list(_KINDS.items())
    with suppress(SocietiesError):  # no OpenCL
        found += [(device.index, device.name) for device in list_devices()]
    return [(word, meaning) for word, meaning in found if word.startswith(beginning)]


def workloads(beginning: str) -> list[str]:
    """Return the names of all workloads."""
    from societies.workload.running.registry import workload_names

    return [name for name in workload_names() if name.startswith(beginning)]


def overrides(config: Path | None, beginning: str) -> list[tuple[str, str]]:
    """Return arguments of --set: keys of the configuration's workload or, after ``=``, values."""
    path = config if config is None or config.is_file() else shipped_configuration(config)
    if path is None:
        return []
    from societies.workload.running.registry import named_workload, workload

    try:
        known = named_workload(path)
        if known is None:
            return []
        model = workload(known).config
    except SocietiesError:
        return []
    name, equals, _ = beginning.partition("=")
    found = []
    for path, field in _keys(model):
        key = ".".join(path)
        if equals and key == name:
            found = [(f"{key}={value}", field.description or "") for value in _values(field)]
            break
        found.append((f"{key}=", field.description or ""))
    return [(word, meaning) for word, meaning in found if word.startswith(beginning)]


def _keys(model: type[WorkloadConfig], path: tuple[str, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Yield path and field of every key that has a value, section by section."""
    from societies.config.model import Section

    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, Section):
            yield from _keys(inner, (*path, name))  # type: ignore[arg-type]
        else:
            yield (*path, name), field


def _values(field: Any) -> list[str]:
    """Return the values of a key that is a switch or a choice; else nothing."""
    if field.annotation is bool:
        return ["true", "false"]
    if get_origin(field.annotation) is Literal:
        return [str(value) for value in get_args(field.annotation)]
    return []
