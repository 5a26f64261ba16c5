"""What does the YAML file of a sweep say: a base configuration, what varies, what is recorded?"""

from __future__ import annotations

import copy
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from societies.config import files
from societies.config.check import checked, validated
from societies.config.document import Document, from_mapping
from societies.config.load import find_config, read_document
from societies.config.model import From1, ListOf, Section, WorkloadConfig, key
from societies.config.overrides import set_key
from societies.config.problems import Origin, Path, Problem, config_error, described
from societies.config.rules import name_rules
from societies.errors import ConfigError
from societies.inputs import whole_number
from societies.sweep.designs import combined, factors
from societies.sweep.factor import Factor
from societies.sweep.places import in_base, in_sweep
from societies.sweep.until import FIRST, UntilConfig, problems, with_number
from societies.translate.plugins import load_plug_in, split
from societies.workload.declare.protocol import Workload
from societies.workload.running.plugged import Plugged
from societies.workload.running.provenance import digests
from societies.workload.running.registry import MODELS, workload

INPUTS, RULES = "inputs", "rules"
"""Keys of a study's definition: hashes of the files that runs read, and of the functions that are
varied. Earlier studies have no `INPUTS`."""

MOST_POINTS = 10_000_000
"""Most points of a study: all are in memory, and each has at least one run in the file."""


Replicates = Annotated[
    Annotated[From1, Tag("number")] | Annotated[UntilConfig, Tag("section")],
    Discriminator(lambda value: "section" if isinstance(value, dict | UntilConfig) else "number"),
]


class SweepRecord(Section):
    """What the file of a study records of every run."""

    variables: ListOf[str] | None = key(
        None, "Variables to record of each run; default: all that the base configuration records"
    )
    ticks: ListOf[Annotated[int, Field(ge=1)]] | None = key(
        None, "Ticks for which these variables are recorded; default: all ticks of the run's file"
    )
    final: ListOf[str] = key((), "Arrays of the state to record after the last tick")


class SweepConfig(WorkloadConfig):
    """A base configuration and what varies."""

    workload: Literal["sweep"] = key("sweep", "Kind of the file")
    base: Any = key(
        ...,
        "The configuration that all points share: a YAML file, the name of a shipped "
        "configuration, or a section with its keys",
        examples=["economy/quickstart"],
    )
    set: dict[str, Any] = key(
        {},
        "Keys of the base to change in all points; a section is merged key by key",
    )
    vary: dict[str, Any] = key(
        ...,
        "Keys that vary from point to point, by the method that makes the points",
        examples=[{}],
    )
    replicates: Replicates = key(
        1,
        "Runs of each point with different random draws; default: the replicates of the base. Or "
        "how precisely means must be known: {until: {gini: 0.01}, at_most: 1000}",
        "runs",
    )
    common_random_numbers: bool = key(
        True, "Whether a replicate has the same random numbers at every point"
    )
    record: SweepRecord = key(SweepRecord, "What the file of the study records of every run")


@dataclass(frozen=True, eq=False)
class Sweep:
    """A checked sweep whose points are not made yet.

    Attributes
    ----------
    name : name of the file, for messages
    config : contents of the file
    base : the configuration that all points share
    workload : workload of the base
    factors : factors that vary; points are all combinations, the last factor varies fastest
    document : positions of all keys and values in the file
    until : how precisely means must be known; None: the number of replicates is given
    """

    name: str
    config: SweepConfig
    base: WorkloadConfig
    workload: Workload[Any, Any]
    factors: Sequence[Factor]
    document: Document
    until: UntilConfig | None = None

    @property
    def count(self) -> int:
        """Number of points, computed without making them."""
        count = 1
        for factor in self.factors:
            count *= factor.count
        return count

    @property
    def replicates(self) -> int:
        """Number of replicates, that of the first round if it follows from `until`."""
        assert isinstance(self.config.replicates, int)
        return self.config.replicates

    @property
    def definition(self) -> dict[str, Any]:
        """Plain data that identify the study; the number of replicates is not part of them."""
        vary = [factor.definition for factor in self.factors]
        rules = self.rules()
        hashes = {RULES: rules} if rules else {}
        hashes |= {INPUTS: inputs} if (inputs := self.inputs()) else {}
        return {
            "base": self.base.model_dump(mode="json"),
            "model_version": self.workload.version_of(self.base),
            "vary": vary,
            **hashes,
            "common_random_numbers": self.config.common_random_numbers,
            "record": self.config.record.model_dump(mode="json"),
        }

    def inputs(self) -> dict[str, str]:
        """Return the hash of every file that runs read, by its name in the base or in a factor."""
        configs = [self.base]
        if type(self.base).inputs is not WorkloadConfig.inputs:
            for factor in self.factors:
                for place, name in enumerate(factor.keys):
                    texts = {row[place] for row in factor.rows() if isinstance(row[place], str)}
                    configs += [self.base.model_copy(update={name: text}) for text in sorted(texts)]
        return {
            str(getattr(config, key)): one
            for config in configs
            for key, one in digests(config).items()
        }

    @property
    def plugged(self) -> list[Plugged]:
        """The rules that the base and values of factors replace."""
        declared = {
            f"rules.{name}": (name, one) for name, one in self.workload.replaceable().items()
        }
        found = [self.workload.plugged(self.base)]
        for factor in self.factors:
            for place, varied in enumerate(factor.keys):
                if varied not in declared:
                    continue
                name, of = declared[varied]
                texts = {row[place] for row in factor.rows()}
                functions = {text for text in texts if split(str(text)) is not None}
                found += [Plugged({name: load_plug_in(of, text)}) for text in sorted(functions)]
        return [one for one in found if one]

    @property
    def python(self) -> list[str]:
        """A line for each file whose Python is carried out."""
        lines = self.workload.python_of(self.base)
        return list(dict.fromkeys([*lines, *(x for one in self.plugged for x in one.described())]))

    def rules(self) -> dict[str, str]:
        """Return the hash of every function that is varied, by its text."""
        return {
            f"{name}={one.text}": one.sha256()
            for plugged in self.plugged
            for name, one in plugged.functions.items()
        }


def files_in(definition: Mapping[str, Any]) -> dict[str, str]:
    """Return what a sweep calls its files of data and of Python, with hash and name of each.

    The hash of Python in the base is in the version of the model.
    """
    named: dict[str, str] = {}
    for path in files.python_files(definition):
        named |= {one: "" for one in [files.value_at(definition, path)] if isinstance(one, str)}
    rules = definition.get(RULES, {}).items()
    named |= {text.partition("=")[2]: one for text, one in rules} | definition.get(INPUTS, {})
    return {text: f"{one}|{os.path.basename(text)}" for text, one in named.items()}


def wherever(data: Any, named: Mapping[str, str]) -> Any:
    """Return plain data in which files are named by `files_in`, whatever their folder."""
    if isinstance(data, Mapping):
        return {name: wherever(one, named) for name, one in data.items()}
    if isinstance(data, list | tuple):
        return [wherever(one, named) for one in data]
    return named.get(data, data) if isinstance(data, str) else data


def compared(definition: Mapping[str, Any], named: Mapping[str, str]) -> dict[str, Any]:
    """Return the parts of a definition, without the hashes of files, which are in the parts."""
    return {
        name: wherever(one, named)
        for name, one in definition.items()
        if name not in (INPUTS, RULES)
    }


def digest(definition: Any) -> str:
    """Return the hash of plain data."""
    return hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()


def load_sweep(
    source: str | os.PathLike[str] | Mapping[str, Any], overrides: Sequence[str] = ()
) -> Sweep:
    """Read and check a sweep; its points are checked when they are made.

    Parameters
    ----------
    source
        A YAML file, the name of a shipped one (``economy/sweeps/utility_exponent``), or a
        dictionary with the contents of such a file.
    overrides
        Texts ``"a.b=c"`` that change keys of the base in all points, as for `load_config`.

    Raises
    ------
    ConfigError
        With one line ``file.yaml:12:5  key.path: message`` per problem.
    """
    if isinstance(source, Mapping):
        name, document = "sweep", from_mapping(source)
        name_rules(document)
        folder = FilePath()
    else:
        path = find_config(source)
        name, document, folder = str(path), read_document(path, "base: CONFIG"), path.parent
    if isinstance(document.data, dict) and document.data.get("workload", "sweep") != "sweep":
        place = document.place(("workload",))
        message = "is the configuration of a run; a sweep names it as its base: base: CONFIG"
        raise config_error([Problem(place, (), message)])
    config = validated(document, SweepConfig, lambda key: in_base(_model(document, folder))(key))
    assert isinstance(config, SweepConfig)
    until = config.replicates if isinstance(config.replicates, UntilConfig) else None
    if until is not None:
        first = min(FIRST, until.at_most)
        config = config.model_copy(update={"replicates": first})
    base = _base(document, config, folder, overrides)
    found = factors(document, type(base), base.model_dump(), folder, in_sweep(SweepConfig))
    chosen = workload(base.workload)
    _require_replicates(document, config, base)
    if "replicates" in type(base).model_fields:
        # The base's replicates are the runs of each point, unless the sweep has its own number.
        if "replicates" not in config.model_fields_set:
            config = config.model_copy(update={"replicates": base.replicates})  # type: ignore[attr-defined]
        base = base.model_copy(update={"replicates": 1})
    sweep = Sweep(name, config, base, chosen, found, document, until)
    if until is not None:
        try:
            until = with_number(until, lambda: (point for point, _ in combined(found)))
        except ValueError as error:
            raise document.error(("replicates", "base"), str(error)) from None
        sweep = replace(sweep, until=until)
        said = problems(until, config.record.variables, sweep.count)
        if found_problems := [document.problem(path, text) for path, text in said]:
            raise config_error(found_problems)
    if sweep.count > MOST_POINTS:
        message = f"has {described(sweep.count)} points, a study has at most {MOST_POINTS:,}"
        raise document.error(("vary",), message)
    return sweep


def _base(
    document: Document, config: SweepConfig, folder: FilePath, overrides: Sequence[str]
) -> WorkloadConfig:
    """Return the base configuration with the values that the sweep sets in all points."""
    if isinstance(config.base, dict):
        base = document.below("base")
    elif isinstance(config.base, str):
        try:
            path = _file_of(config.base, folder)
        except ConfigError as error:
            raise document.error(("base",), str(error)) from None
        base = read_document(path)
    else:
        message = f"expected the name of a configuration, got {described(config.base)}"
        raise document.error(("base",), message)
    if isinstance(base.data, dict):
        _set_below(document, base, config.set)
        model, own = _model(document, folder), base.data.get("replicates", 1)
        if model is not None and "replicates" in model.model_fields and isinstance(own, int):
            # Interventions may name copies, so the base has as many as the sweep has replicates.
            assert isinstance(config.replicates, int)
            base.data["replicates"] = max(config.replicates, own)
    return checked(base, overrides, MODELS, in_sweep(SweepConfig))


def _set_below(document: Document, base: Document, values: Mapping[Any, Any]) -> None:
    """Set keys of the base to the values in the sweep's ``set``.

    A section in ``set`` is merged into the section of the base key by key, as ``--set a.b=c`` would
    do: keys that it does not name keep their values. Lists and single values are replaced.
    """
    seen: dict[Path, Origin] = {}

    def merge(below: tuple[str, ...], values: Mapping[Any, Any], said: Path) -> None:
        for name, value in values.items():
            path, where = (*below, *str(name).split(".")), (*said, name)
            place = document.place(where)
            section = isinstance(value, dict) and isinstance(_section(base.data, path), dict | list)
            if section and value:
                merge(path, value, where)
            elif section:
                message = "is empty, so it sets nothing; name keys of it and their values"
                base.problems.append(Problem(place, path, message))
            elif path in seen:
                also = f", also at {seen[path].text}" if seen[path].text else ""
                base.problems.append(Problem(place, path, f"is set twice{also}"))
            else:
                seen[path] = place
                set_key(base, path, Document(copy.deepcopy(value)), place)

    merge((), values, ("set",))


def _section(data: Any, path: Sequence[str]) -> Any:
    """Return the value at a path of plain data, an empty section if the path does not exist."""
    for part in path:
        if isinstance(data, list):
            entry = whole_number(part)
            data = data[entry] if entry is not None and entry < len(data) else None
        else:
            data = data.get(part, {}) if isinstance(data, dict) else None
    return data


def _file_of(name: str, folder: FilePath) -> FilePath:
    """Return the file of a base: in the sweep's folder or, failing that, as `find_config` does."""
    near = folder / name
    return near if os.path.isfile(near) else find_config(name)


def _model(document: Document, folder: FilePath) -> type[WorkloadConfig] | None:
    """Return the model of the base, even if the sweep is not valid; None if it is unknown."""
    said = document.data.get("base")
    try:
        base = read_document(_file_of(said, folder)).data if isinstance(said, str) else said
        name = base.get("workload") if isinstance(base, dict) else None
        return MODELS[name] if isinstance(name, str) else None
    except ConfigError:
        return None


def _require_replicates(document: Document, config: SweepConfig, base: WorkloadConfig) -> None:
    """Raise ConfigError if the sweep has replicates but its workload has no random draws."""
    assert isinstance(config.replicates, int)
    if config.replicates > 1 and "replicates" not in type(base).model_fields:
        message = f"{base.workload} has no random draws, so all runs of a point would be the same"
        raise document.error(("replicates",), message)
