"""How are a file and its overrides turned into a checked configuration, or a list of problems?"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import yaml

from societies.config.check import checked
from societies.config.document import LARGEST_FILE, Document, from_mapping, read_text
from societies.config.files import anywhere
from societies.config.model import WorkloadConfig
from societies.config.problems import suggestion
from societies.config.rules import name_rules
from societies.errors import ConfigError
from societies.inputs import HDF5, byte_limit, content, decoded, nearest_file, shown
from societies.paths import (
    kind_unless_file,
    shipped_configuration,
    shipped_configurations,
    shipped_sweeps,
)

Models = Mapping[str, type[WorkloadConfig]]
"""The models of all workloads' configurations by name."""


def load_config(
    path: str | os.PathLike[str], overrides: Sequence[str], models: Models
) -> WorkloadConfig:
    """Read and check a YAML file as `societies.load_config` does, given the known models."""
    overrides = _texts(overrides)
    return checked(read_document(find_config(path)), overrides, models)


def read_document(path: str | os.PathLike[str], begins: str = "workload: NAME") -> Document:
    """Return the document in a YAML file.

    Raises ConfigError if it cannot be read, is not YAML, or is empty: it should begin with
    ``begins``.
    """
    name = os.fspath(path)
    document = read_text(_text(name), shown(name))
    name_rules(document, FilePath(name).parent)
    if document.data is None and not document.problems:
        raise ConfigError(f"{shown(name)}:1:1  is empty; a configuration starts with '{begins}'")
    return document


def config_from_dict(
    mapping: Mapping[str, Any], overrides: Sequence[str], models: Models
) -> WorkloadConfig:
    """Check a configuration given as plain Python data, as `load_config` does for a file."""
    if not isinstance(mapping, Mapping):
        hint = (
            "; load_config takes a file or a name" if isinstance(mapping, str | os.PathLike) else ""
        )
        raise ConfigError(f"expected a dictionary, got {type(mapping).__name__}{hint}")
    document = from_mapping(mapping)
    name_rules(document)
    return checked(document, _texts(overrides), models)


def is_result(path: FilePath) -> bool:
    """Whether a path is that of an HDF5 file, by its first bytes."""
    try:
        return content(path, len(HDF5) - 1) == HDF5
    except OSError:
        return False


def find_config(path: str | os.PathLike[str]) -> FilePath:
    """Return the file that a path names: on disk or, failing that, among the shipped ones.

    Raises ConfigError if the file does not exist, or the argument is not a path.
    """
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        hint = "; config_from_dict takes a dictionary" if isinstance(path, Mapping) else ""
        raise ConfigError(
            "expected the path of a YAML file or the name of a shipped configuration, got "
            f"{type(path).__name__}{hint}"
        )
    name = os.fspath(path)
    if os.path.lexists(name) or "\0" in name:  # opening the file reports a null character
        return FilePath(name)
    shipped = shipped_configuration(name)
    if shipped is not None:
        return shipped
    near = _near_file(name) or suggestion(name, [*shipped_configurations(), *shipped_sweeps()])
    raise ConfigError(
        f"{shown(name) or 'an empty name'}: no such file, nor a shipped configuration{near}\n"
        "`societies list` names those that are shipped"
    )


def _texts(overrides: Sequence[str]) -> list[str]:
    """Return the overrides as a list; a text alone would be taken for a list of characters.

    Raises ConfigError if they are not all texts.
    """
    given = None if isinstance(overrides, str | Mapping) else list(overrides)
    if given is None or not all(isinstance(text, str) for text in given):
        raise ConfigError('overrides must be a list of texts: ["days=3", "trading.rounds=4"]')
    return given


def json_schema(model: type[WorkloadConfig]) -> dict[str, Any]:
    """Return the JSON schema (2020-12) of a model of configurations, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **model.model_json_schema(),
        "required": ["workload"],
    }


def to_yaml(config: WorkloadConfig) -> str:
    """Return the configuration as YAML with every default written out.

    `load_config` of the text gives an equal configuration in the same folder; `saved` is for texts
    that are read from anywhere.
    """
    return yaml_of(config.model_dump(mode="json"))


def saved(config: WorkloadConfig) -> str:
    """Return the configuration as YAML, with absolute paths of all files that it names."""
    return yaml_of(anywhere(config.model_dump(mode="json"), config.files()))


def yaml_of(data: Any) -> str:
    """Return plain data as YAML."""
    return yaml.dump(
        data,
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
    """Write a list of numbers on one line, and a list of sections with one entry below another."""
    sections = any(isinstance(item, dict) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=not sections)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(list, _represent_list)


def _text(name: str) -> str:
    """Return the text of a file.

    Raises ConfigError if it cannot be read, is too large, or is not UTF-8.
    """
    if kind := kind_unless_file(name):
        raise ConfigError(
            f"{shown(name)}: is {kind}, not a file; write the configuration into a file"
        )
    try:
        found = content(name, LARGEST_FILE)
    except FileNotFoundError:
        why = "no such file"
        if os.path.islink(name):
            why = f"is a link to {shown(os.readlink(name))}, which does not exist"
        raise ConfigError(f"{shown(name)}: {why}") from None
    except IsADirectoryError:
        raise ConfigError(f"{shown(name)}: is a directory; name a YAML file in it") from None
    except OSError as error:
        raise ConfigError(f"{shown(name)}: cannot be read ({error.strerror})") from None
    if found.startswith(HDF5):
        raise ConfigError(
            f"{shown(name)}: is an HDF5 file, not a configuration\n`societies info --config "
            f"{shlex.quote(str(name))}` prints the one that a result was made with"
        )
    if len(found) > LARGEST_FILE:
        limit = byte_limit(LARGEST_FILE)
        raise ConfigError(f"{shown(name)}: is larger than {limit}, no configuration is")
    return decoded(found, shown(name))


def _near_file(name: str) -> str:
    """Suggest a file with nearly the same name in the same folder."""
    near = nearest_file(name)
    return f"; did you mean '{FilePath(name).parent / near}'?" if near else ""
