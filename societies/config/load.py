"""How do a file and its overrides become one checked configuration, or one list of problems?"""

from __future__ import annotations

import copy
import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from societies import workloads
from societies.config.document import LARGEST_FILE, Document, from_mapping, read_text
from societies.config.model import CONFLICTS_LATER, Section, WorkloadConfig
from societies.config.overrides import apply_overrides
from societies.config.problems import (
    Path,
    Problem,
    config_error,
    described,
    dotted,
    plain_words,
    suggestion,
)
from societies.errors import ConfigError

_SHORT_LIST = 8


def load_config(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> WorkloadConfig:
    """Read and check a YAML file.

    Parameters
    ----------
    path
        The file.
    overrides
        ``"a.b=c"`` each, obeying the rules of the file; the value is YAML, and a number in the
        key selects an entry of a list (``groups.0.count=3``).

    Raises
    ------
    ConfigError
        With one line ``file.yaml:12:5  key.path: message`` per problem, all at once (a file that
        is not YAML has only the first).
    """
    name = os.fspath(path)
    document = read_text(_text(name), name)
    if document.data is None and not document.problems:
        raise ConfigError(f"{name}:1:1  is empty; a configuration starts with 'workload: economy'")
    return _checked(document, overrides)


def config_from_dict(mapping: Mapping[str, Any], overrides: Sequence[str] = ()) -> WorkloadConfig:
    """Check a configuration given as plain Python data, as `load_config` does a file.

    Raises
    ------
    ConfigError
        With one line ``key.path: message`` per problem, all at once.
    """
    return _checked(from_mapping(mapping), overrides)


def json_schema(workload: str = "economy") -> dict[str, Any]:
    """Return the JSON schema (2020-12) of a workload's configuration, for editors.

    Raises
    ------
    ConfigError
        If there is no such workload.
    """
    schema = workloads.workload(workload).config_model.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "required": ["workload"],
    }


def to_yaml(config: WorkloadConfig) -> str:
    """Return the configuration as YAML with every default written out.

    `load_config` of the text gives an equal configuration.
    """
    return yaml.dump(
        config.model_dump(mode="json"),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=100,
    )


class _Dumper(yaml.SafeDumper):
    """Quotes every text that YAML 1.1 or 1.2 could take for something else."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    plain = text.isidentifier() and text.isascii() and len(text) > 1
    ambiguous = text.lower() in {"on", "off", "yes", "no", "true", "false", "null"}
    style = None if plain and not ambiguous else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _represent_list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.SequenceNode:
    """Write numbers side by side, and sections one below the other."""
    sections = any(isinstance(item, dict) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=not sections)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(list, _represent_list)


def _text(name: str) -> str:
    """Return the text of a file.

    Raises
    ------
    ConfigError
        If it cannot be read, is too large, or is not UTF-8.
    """
    try:
        with open(name, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise ConfigError(f"{name}: no such file{_near_file(name)}") from None
    except IsADirectoryError:
        raise ConfigError(f"{name}: is a directory; name a YAML file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{name!s}: cannot be read ({reason})") from None
    if len(content) > LARGEST_FILE:
        raise ConfigError(f"{name}: is larger than {LARGEST_FILE >> 20} MiB, no configuration is")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        raise ConfigError(
            f"{name}:{line}:{column}  is not UTF-8 text (byte 0x{content[error.start]:02x}); "
            "save the file as UTF-8"
        ) from None


def _near_file(name: str) -> str:
    """Suggest a file with nearly the same name in the same folder."""
    try:
        folder = FilePath(name).parent
        near = difflib.get_close_matches(FilePath(name).name, os.listdir(folder), n=1)
    except (OSError, ValueError):
        return ""
    return f"; did you mean '{folder / near[0]}'?" if near else ""


def _checked(document: Document, overrides: Sequence[str]) -> WorkloadConfig:
    if not isinstance(document.data, dict):
        message = f"expected 'key: value' lines, got {described(document.data)}"
        raise config_error([*document.problems, Problem(document.place(()), (), message)])
    apply_overrides(document, overrides)
    model = _model(document)
    if model is None:
        raise config_error(document.problems)
    config = _validated(document, model)
    if document.problems:
        raise config_error(document.problems)
    return config


def _model(document: Document) -> type[WorkloadConfig] | None:
    """Return the model of the workload that the document names, or report that there is none."""
    known, path = workloads.workload_names(), ("workload",)
    name = document.data.get("workload")
    if "workload" not in document.data:
        message = f"is missing; write for example 'workload: economy' (known: {', '.join(known)})"
    elif not isinstance(name, str):
        message = f"expected one of {', '.join(known)}, got {described(name)}"
    elif name not in known:
        near = suggestion(name, known)
        message = f"unknown workload {described(name)}{near} (known: {', '.join(known)})"
    else:
        return workloads.workload(name).config_model
    document.problems.append(Problem(document.place(path), path, message))
    return None


def _validated(document: Document, model: type[WorkloadConfig]) -> WorkloadConfig:
    """Return the configuration and add what is wrong with it to the document's problems.

    Keys that contradict each other are reported together with keys that are wrong by themselves:
    wrong values are replaced by harmless ones, and contradictions that involve them are left out.
    """
    invalid = set(document.unusable)
    data = document.data
    try:
        config = model.model_validate(data, context=CONFLICTS_LATER)
    except ValidationError as errors:
        for error in errors.errors(include_url=False):
            path = _path(error["loc"], data, error["type"])
            if path not in invalid:
                document.problems.append(_problem(document, model, path, error))
            invalid.add(path)
        data = _repaired(model, data, invalid)
        config = model.model_validate(data, context=CONFLICTS_LATER)
    for conflict in config.conflicts():
        if not conflict.depends_on(invalid):
            place = document.place(conflict.path)
            document.problems.append(Problem(place, conflict.path, conflict.message))
    return config


def _path(location: Sequence[str | int], data: Any, kind: str) -> Path:
    """Return pydantic's location without the names that it adds for alternatives of a type."""
    path: Path = ()
    for depth, part in enumerate(location):
        inside = (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int)
        )
        if inside:
            data = data[part]
        elif kind != "missing" or depth < len(location) - 1:
            continue
        path = (*path, part)
    return path


def _problem(document: Document, model: type[Section], path: Path, error: Any) -> Problem:
    if error["type"] == "extra_forbidden":
        message = "unknown key" + _known_key(model, path)
        return Problem(document.place(path, of_key=True), path, message)
    return Problem(document.place(path), path, plain_words(error, document.written.get(path)))


def _known_key(model: type[Section], path: Path) -> str:
    """Say which key was perhaps meant: a similar one here, or the same one in another section."""
    name = str(path[-1])
    section = _section_at(model, path[:-1])
    near = suggestion(name, section.model_fields)
    if near:
        return near
    elsewhere = [dotted(p) for p in _key_paths(model) if p[-1] == name and len(p) > 1]
    if elsewhere:
        return f"; did you mean '{elsewhere[0]}'?"
    if len(section.model_fields) <= _SHORT_LIST:
        return f"; the keys here are {', '.join(section.model_fields)}"
    return ""


def _inner_section(annotation: Any) -> type[Section] | None:
    """Return the section that a type is or holds (a list of sections, an optional section)."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next(filter(None, map(_inner_section, get_args(annotation))), None)


def _field(model: type[BaseModel], part: str | int) -> FieldInfo | None:
    return model.model_fields.get(part) if isinstance(part, str) else None


def _section_at(model: type[Section], path: Path) -> type[Section]:
    for part in path:
        field = _field(model, part)
        model = (_inner_section(field.annotation) if field else None) or model
    return model


def _key_paths(model: type[Section], path: Path = ()) -> Iterator[Path]:
    for name, field in model.model_fields.items():
        yield (*path, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from _key_paths(field.annotation, (*path, name))


def _repaired(model: type[Section], data: Any, invalid: set[Path]) -> Any:
    """Return a copy of the data in which every invalid value is a default or an example."""
    result = copy.deepcopy(data)
    for path in sorted(invalid, key=len, reverse=True):
        _repair(model, result, path)
    return result


def _repair(model: type[Section], data: Any, path: Path) -> None:
    for depth, part in enumerate(path):
        field = _field(model, part)
        inner = _inner_section(field.annotation) if field else None
        below = path[depth + 1 :]
        value = data.get(part)
        if inner and isinstance(value, dict) and below:  # a section: look inside
            model, data = inner, value
            continue
        if inner and isinstance(value, list) and below:  # an entry of a list of sections
            if len(below) == 1:
                value[int(below[0])] = _example(inner)
            else:
                _repair(inner, value[int(below[0])], below[1:])
            return
        if field and field.is_required():
            data[part] = (field.examples or [None])[0]
        else:
            data.pop(part, None)
        return


def _example(model: type[Section]) -> dict[str, Any]:
    return {
        name: (field.examples or [None])[0]
        for name, field in model.model_fields.items()
        if field.is_required()
    }
