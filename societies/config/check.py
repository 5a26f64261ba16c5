"""Is the content of a document a valid configuration, and if not, what are all its problems?"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path as File
from typing import Any, Protocol, get_args, runtime_checkable

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from societies.config.document import Document
from societies.config.model import CONFLICTS_LATER, KEY, Section, WorkloadConfig
from societies.config.overrides import apply_overrides
from societies.config.problems import (
    MOST_REPORTED,
    Path,
    Problem,
    config_error,
    described,
    dotted,
    plain_words,
    suggestion,
)
from societies.errors import SocietiesError

_SHORT_LIST = 9


@runtime_checkable
class ModelsOfFiles(Protocol):
    """Models of configurations to which a file of Python can add one."""

    def of_file(self, name: str) -> str:
        """Return the name of the workload in a file, which is known from then on."""


Elsewhere = Callable[[Path], str]
"""A function that returns where an unknown key belongs outside of this configuration, or ""."""


def checked(
    document: Document,
    overrides: Sequence[str],
    models: Mapping[str, type[WorkloadConfig]],
    elsewhere: Elsewhere = lambda path: "",
) -> WorkloadConfig:
    """Return the configuration that a document and its overrides describe.

    Raises ConfigError with a line for every problem.

    Parameters
    ----------
    models : the models of all workloads by name; only that of the named workload is looked up
    elsewhere : called for unknown keys
    """
    _require_keys(document)
    apply_overrides(document, overrides)
    model = _model(document, models)
    if model is None:
        raise config_error(document.problems)
    return validated(document, model, elsewhere)


def _require_keys(document: Document) -> None:
    """Raise ConfigError if a document is no mapping."""
    if not isinstance(document.data, dict):
        message = f"expected 'key: value' lines, got {described(document.data)}"
        raise config_error([*document.problems, document.problem((), message)])


def validated(
    document: Document, model: type[WorkloadConfig], elsewhere: Elsewhere = lambda path: ""
) -> WorkloadConfig:
    """Return the configuration that a document describes, as `checked` does for a known model.

    Raises ConfigError with a line for every problem.
    """
    _require_keys(document)
    found = _validated(document, model, elsewhere)
    if document.problems:
        raise config_error(document.problems)
    return found


def _model(
    document: Document, models: Mapping[str, type[WorkloadConfig]]
) -> type[WorkloadConfig] | None:
    """Return the model of the workload that the document names; else None, and add a problem."""
    path, file = ("workload",), document.data.get("model")
    if ("model",) in document.unusable:
        return None
    if isinstance(file, str) and isinstance(models, ModelsOfFiles):
        try:
            own = models.of_file(file)
        except SocietiesError as error:
            document.problems.append(document.problem(("model",), str(error)))
            return None
        name = document.data.setdefault("workload", own)
        if name != own:
            message = f"{file} has the workload '{own}', not {described(name)}"
            hint = f"{message}; write workload: {own}, or leave the key out"
            document.problems.append(document.problem(path, hint))
            return None
    name = document.data.get("workload")
    if isinstance(name, str) and name != "sweep" and name in models:
        return models[name]
    known = sorted(models)
    if name == "sweep":
        message = "'sweep' is not a workload; give a sweep to `societies sweep`"
    elif name is None and "vary" in document.data:
        message = "is missing; if this is a sweep, give it to `societies sweep`"
    elif "workload" not in document.data:
        message = f"is missing; write 'workload: NAME' (known: {', '.join(known)})"
    elif not isinstance(name, str):
        message = f"expected one of {', '.join(known)}, got {described(name)}"
    else:
        near = suggestion(name, known)
        message = f"unknown workload {described(name)}{near} (known: {', '.join(known)})"
        if not near and name.isidentifier():
            message += (
                f"; a model of your own is known once it is installed (pip install -e FOLDER), or "
                f"write model: {name}.py if that file is in the folder of this one"
            )
        meant = next((one for one in known if near.endswith(f"'{one}'?")), None)
        if meant is not None:  # continue with the likely model to report further problems as well
            document.refuse(path, message)
            document.data["workload"] = meant
            return models[meant]
    document.problems.append(document.problem(path, message))
    return None


def _validated(
    document: Document, model: type[WorkloadConfig], elsewhere: Elsewhere
) -> WorkloadConfig:
    """Return the configuration, and add its problems to those of the document.

    Contradictions between keys are reported together with invalid values. For this, invalid values
    are replaced by valid ones, and contradictions that involve these keys are not reported.
    """
    invalid = set(document.unusable)
    data = document.data
    try:
        config = model.model_validate(data, context=CONFLICTS_LATER)
    except ValidationError as errors:
        found = errors.errors(include_url=False)
        more = len(found) - MOST_REPORTED
        for error in found[:MOST_REPORTED]:
            if _other_alternative_fits(error, found[:MOST_REPORTED]):
                continue
            if (name := _default(error, model, data)) is not None:
                file = File(str(sys.modules[model.__module__].__file__)).name
                message = f"its default in {file} {plain_words(error)}"
                document.problems.append(document.problem((name,), message))
                invalid.add((name,))
                continue
            path = path_of(error, data)
            if path not in invalid:
                document.problems.append(_problem(document, model, path, error, elsewhere))
            invalid.add(path)
        if more > 0:  # contradictions can wait
            raise config_error(document.problems, more) from None
        data = _repaired(model, data, invalid)
        try:
            config = model.model_validate(data, context=CONFLICTS_LATER)
        except ValidationError:  # a foreign workload with a required key without examples
            raise config_error(document.problems) from None
    for conflict in config.conflicts():
        if not conflict.depends_on(invalid):
            document.problems.append(document.problem(conflict.path, conflict.message))
    return config


def _other_alternative_fits(error: Any, found: Sequence[Any]) -> bool:
    """Whether an error is about a word, though the value fits another alternative better.

    If a key is ``board: start | [stones, ...]`` and its value is a list, only errors of the second
    alternative are reported.
    """
    *key, alternative = error["loc"] or ("",)
    if not str(alternative).startswith("literal[") or isinstance(error["input"], str):
        return False
    others = [one["loc"] for one in found if list(one["loc"][: len(key)]) == key]
    return any(len(loc) > len(key) and loc[len(key)] != alternative for loc in others)


def _default(error: Any, model: type[Section], data: Any) -> str | None:
    """Return the key whose default an error is about; None if it is about what was written."""
    name = str(next(iter(error["loc"]), ""))
    wrong = error["type"] != "missing" and name in model.model_fields and name not in data
    return name if wrong else None


def path_of(error: Any, data: Any) -> Path:
    """Return the key of one of pydantic's errors, also one that is missing in ``data``.

    It has no names that pydantic adds for alternatives of a type. An error of a whole section may
    name one of its keys.
    """
    path: Path = ()
    for depth, part in enumerate(error["loc"]):
        inside = (isinstance(data, dict) and part in data) or (
            isinstance(data, list | tuple) and isinstance(part, int)
        )
        if inside:
            data = data[part]
        elif error["type"] != "missing" or depth < len(error["loc"]) - 1:
            continue
        path = (*path, part)
    name = error.get("ctx", {}).get(KEY)
    return (*path, name) if name else path


def _problem(
    document: Document, model: type[Section], path: Path, error: Any, elsewhere: Elsewhere
) -> Problem:
    if error["type"] == "extra_forbidden":
        message = "unknown key" + (elsewhere(path) or _known_key(model, path, document.data))
        return Problem(document.place(path, of_key=True), path, message)
    message = plain_words(error, document.written.get(path))
    if error["type"] == "model_type" and (section := _section_at(model, path)) is not model:
        keys = list(section.model_fields)
        if len(keys) <= _SHORT_LIST and error["input"] is not None:
            message += f"; its keys are {', '.join(keys)}"
    return document.problem(path, message)


def _known_key(model: type[Section], path: Path, data: Any) -> str:
    """Suggest the intended key: a similar one here, or the same one in another section.

    A section without keys has probably lost its keys to a wrong indentation.
    """
    name = str(path[-1])
    section = _section_at(model, path[:-1])
    elsewhere = [p for p in _key_paths(model) if p[-1] == name]
    for candidate in elsewhere:
        if len(path) == 1 and _is_empty(data, candidate[:-1]):
            return f"; indent it if it belongs to {dotted(candidate[:-1])}"
    near = suggestion(name, section.model_fields)
    if near and not elsewhere:
        return near
    if elsewhere and len(elsewhere[0]) > 1:  # the same name elsewhere says more, but not all
        begins = f"{near.rstrip('?')} or" if near else "; did you mean"
        return f"{begins} '{dotted(elsewhere[0])}'?"
    if elsewhere and all(isinstance(part, str) for part in path):
        return f"; indent it less if it does not belong to {dotted(path[:-1])}"
    if near:
        return near
    if len(section.model_fields) <= _SHORT_LIST:
        return f"; the keys here are {', '.join(section.model_fields)}"
    return ""


def _is_empty(data: Any, path: Path) -> bool:
    """Whether a section is present but has no keys."""
    for part in path:
        if not isinstance(data, dict) or part not in data:
            return False
        data = data[part]
    return data is None and bool(path)


def _inner_section(annotation: Any) -> type[Section] | None:
    """Return the section class in a type: itself, or in a list or an optional type."""
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


def places_of(model: type[Section], path: Path) -> list[str]:
    """Return the dotted keys that a path may mean: the path itself, or keys with its last name.

    If such a key is a section, ``.KEY`` is appended.
    """
    found = list(_key_paths(model))
    meant = [path] if path in found else [one for one in found if one[-1] == path[-1]]
    sections = {one[:-1] for one in found}
    return [dotted((*one, "KEY") if one in sections else one) for one in meant]


def _key_paths(model: type[Section], path: Path = ()) -> Iterator[Path]:
    for name, field in model.model_fields.items():
        yield (*path, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from _key_paths(field.annotation, (*path, name))


def _repaired(model: type[Section], data: Any, invalid: set[Path]) -> Any:
    """Return a copy of the data with invalid values replaced by the default or an example."""
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
            entry = int(below[0])
            if len(below) == 1 or not isinstance(value[entry], dict):
                value[entry] = _example(inner)
            else:
                _repair(inner, value[entry], below[1:])
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
