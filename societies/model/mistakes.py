"""Do the declarations of a model have the form that engines need? Mistakes with file and line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import wraps
from keyword import iskeyword
from numbers import Integral, Number
from pathlib import Path
from types import FunctionType
from typing import Any, get_args, get_origin

import numpy as np
from pydantic.fields import FieldInfo

from societies.config.model import VALUE, WorkloadConfig
from societies.config.problems import suggestion
from societies.errors import ConfigError, SocietiesError
from societies.model.carried import NUMBER, PLACE, in_words, place_in
from societies.translate.values import FIELDS
from societies.words import plural
from societies.workload import Events, Field, Series, Step, Workload
from societies.workload.declare.config import EnsembleConfig
from societies.workload.declare.fields import SERIES
from societies.workload.running.ensembles import once
from societies.workload.running.faults import FAULT
from societies.workload.running.state import fitted
from societies.workload.values.copies import initial_of, parameters_of_copy

_TAKEN = {
    "index": "it is the number of the {copies}",
    "series": "it is where a {clock}'s series are written",
    FAULT: "checked builds have a field of this name",
    NUMBER: "phases that Python carries out have a field of this name",
    PLACE: "phases that Python carries out have a field of this name",
}
"""Names that fields cannot have, since rules read or write something else by them."""

_LIKE = {"bool": "int8", "float16": "float64", "float32": "float64"}
"""What to write instead of types that fields cannot have."""


def require_class(model: Any) -> None:
    """Raise ConfigError for the first mistake that the class of a model has."""
    for where, what in _of_class(model):
        raise ConfigError(f"{place_of(where)}: {what}")


def _of_class(model: Any) -> Iterator[tuple[Any, str]]:
    """Yield the mistakes of a class, each with the class or function in which it is."""
    own, config = type(model), model.config
    the_model = f"the model {model.name}"
    if isinstance(config, WorkloadConfig):
        said = f"{the_model} has an object as its config"
        yield own, f"{said}: write config = {type(config).__name__}"
    if not (isinstance(config, type) and issubclass(config, WorkloadConfig)):
        name = getattr(config, "__name__", "MyConfig")
        yield (
            own,
            f"{the_model} has no class of keys as its config: write class {name}(DailyConfig)",
        )
    if not isinstance(model.name, str):
        yield own, f"{the_model} has {model.name!r} as its name: write name = '...'"
    words = get_args(config.model_fields["workload"].annotation)
    if words and model.name not in words:
        said = f"workload is {words[0]!r}, and the model has the name {model.name!r}"
        yield config, f"{said}: write workload: Literal[{model.name!r}]"
    for name, key in config.model_fields.items():
        limits = [hasattr(one, limit) for one in key.metadata for limit in ("ge", "gt", "le", "lt")]
        if any(limits) and not _is_number(key):
            said = f"the key '{name}' has limits, which only numbers have"
            yield config, f"{said}: leave ge, le, gt and lt out"
        more = key.json_schema_extra
        if isinstance(more, dict) and more.get("kind") == VALUE and not _is_number(key):
            said = f"the key '{name}' may differ between {plural(model.copies)}, and is no number"
            yield config, f"{said}: write key(...) instead of value(...)"
    if issubclass(config, EnsembleConfig):
        tick, copy = config.TICK, config.FIRST_COPY.removeprefix("first_")
        if (model.clock, model.copies) != (tick, copy):
            said = f"{the_model} has the words {model.clock} and {model.copies}"
            said += f", and its keys {config.__name__} have {tick} and {copy}"
            yield own, f'{said}: write clock, copies = "{tick}", "{copy}"'
    if model.ticks_key not in config.model_fields:
        said = f"{the_model} has no key {model.ticks_key}"
        yield config, f"{said}: write class {config.__name__}(DailyConfig)"
    if not isinstance(model._declared, str):
        said = f"{the_model} has {model._declared!r} as its version"
        yield own, f"{said}, which is a text: write version = '{model._declared}'"
    for name in ("start", "day", "further", "step_arguments"):
        listed = getattr(model, name)
        if isinstance(listed, str):
            yield own, f"{name} of {the_model} is one text: write {name} = ({listed!r},)"
        if not isinstance(listed, tuple) or not all(isinstance(one, str) for one in listed):
            names = listed if isinstance(listed, list | tuple) else ()
            wanted = tuple([str(getattr(one, "__name__", one)) for one in names])
            yield own, f"{the_model} has {_shown(listed)} as {name}: write {name} = {wanted}"
    for name, base in inspect.getmembers(Workload, inspect.isfunction):
        method = inspect.getattr_static(own, name)
        if method is base or isinstance(method, staticmethod | classmethod) or name[0] == "_":
            continue
        takes = ", ".join(inspect.signature(base).parameters)
        if not isinstance(method, FunctionType):
            yield own, f"{name} of {the_model} is no function: write def {name}({takes})"
        elif not _can_be_called_as(method, base):
            has = ", ".join(inspect.signature(method).parameters)
            yield method, f"{name} of {the_model} has ({has}): write def {name}({takes})"


def _is_number(key: FieldInfo) -> bool:
    """Return whether a key is a number, by its default or else by its type."""
    if not (key.is_required() or key.default is None):
        return isinstance(key.default, Number)
    kinds = [key.annotation, *get_args(key.annotation)]
    return not any((get_origin(one) or one) in (list, tuple, dict, set, str) for one in kinds)


def _shown(value: Any) -> str:
    """Return a value as Python writes it; what has only an address is named by its type."""
    text = repr(value)
    return f"a {type(value).__name__}" if " at 0x" in text else text


def _can_be_called_as(method: Callable[..., Any], base: Callable[..., Any]) -> bool:
    """Return whether a method takes the arguments of the one that it overrides."""
    kinds = [one.kind for one in inspect.signature(base).parameters.values()]
    try:
        inspect.signature(method).bind(*(None for kind in kinds if kind < kind.VAR_POSITIONAL))
    except TypeError:
        return False
    return True


def require_declared(model: Any, p: Any) -> None:
    """Raise ConfigError for the first mistake in what a model declares for some parameters."""
    once(p, f"declared by {model.name}", lambda _: _require(model, p))


def _require(model: Any, p: Any) -> None:
    for name, mistakes in _MISTAKES.items():
        method = getattr(type(model), name)
        try:
            made = getattr(model, name)(p)
            listed = mistakes(model, p, made) if isinstance(made, Mapping) else iter(
                [f"returns no dictionary from {name}: {_shown(made)}"]
            )  # fmt: skip
            for what in listed:
                raise ConfigError(f"{place_of(method)}: the model {model.name} {what}")
        except SocietiesError:
            raise
        except NotImplementedError as error:
            where, near = place_of(type(model)), suggestion(name, vars(type(model)))
            said = f"the model {model.name} has no {name}: write def {name}(self, p){near}"
            raise ConfigError(f"{where}: {said}") from error
        except Exception as error:
            said = f"{name} of the model {model.name}: {type(error).__name__}: {error}"
            raise ConfigError(f"{place_of(method, error)}: {said}") from error


def place_of(where: Any, error: Exception | None = None) -> str:
    """Return file and first line of a class or function; for an error, its line in this file."""
    where = inspect.unwrap(where)
    if isinstance(where, type):
        file, line = inspect.getsourcefile(where) or "", inspect.getsourcelines(where)[1]
    else:
        file, line = where.__code__.co_filename, where.__code__.co_firstlineno
    return f"{Path(file).name}:{place_in(file, error)[0] or line}"


def _of_names(
    what: str, made: Mapping[str, Any], model: Any, in_file: Iterable[str] = ()
) -> Iterator[str]:
    """Yield what is wrong with names, some of which are names of variables in files as well."""
    from societies.output.layout import RESERVED  # reading configurations needs no h5py

    taken = {*RESERVED, model.clock, model.copies, f"detail_{model.clock}", SERIES}
    for name in in_file:
        if name in taken:
            yield f"cannot have {what} '{name}', which files have: choose another name"
    for name in made:
        if not (isinstance(name, str) and name.isidentifier() and name.isascii()):
            yield f"cannot have {what} {name!r}: names have the letters a to z, digits and _"
        if iskeyword(name):
            yield f"cannot have {what} {name!r}, a word of Python: choose another name"


def _in_files(fields: Mapping[str, Any], *more: str) -> set[str]:
    """Return the fields that are variables of their own names in files."""
    kinds = ("logged", "final", *more)
    return {name for name, one in fields.items() if any(getattr(one, kind, 0) for kind in kinds)}


def _of_sizes(model: Any, p: Any, made: Mapping[str, Any]) -> Iterator[str]:
    yield from _of_names("a dimension", made, model, made)
    for name, length in made.items():
        if type(length) is not int or length < 1:
            yield f"has {length!r} as the length of '{name}': write an int from 1 on"


def _of_fields(model: Any, p: Any, made: Mapping[str, Any]) -> Iterator[str]:
    yield from _of_names("a field", made, model, _in_files(made, "recorded"))
    for name in _in_files(made, "recorded") & {*model.sizes(p)}:
        yield f"has a dimension and a field '{name}': choose another name for one"
    taken = {**_TAKEN, **dict.fromkeys(model.events(p), "it is a list of events")}
    for name in model.events(p):
        of_kernels = [f"{name}_{end}" for end in ("log", "count", "rows")]
        taken |= dict.fromkeys(of_kernels, f"kernels find the events '{name}' by it")
    lengths = {**model.sizes(p), SERIES: 0}
    limits = [*(f"{dim}s - 1" for dim in model.sizes(p)), "last state", *model.limits(p, 0)]
    for name, one in made.items():
        if name in taken:
            said = taken[name].format(copies=model.copies, clock=model.clock)
            yield f"cannot have a field '{name}': {said}"
        if not isinstance(one, Field):
            yield f"has no Field(...) as its field '{name}'"
        yield from _of_dims(f"the field '{name}'", one.dims, lengths)
        if one.dtype not in FIELDS:
            yield f"has {one.dtype!r} as the type of the field '{name}': {_instead(one.dtype)}"
        yield from _of_initial(name, one, p, one.shape(lengths))
        yield from _of_within(name, one, limits)
    ended = made.get("ended")
    if ended is not None and (ended.dims, ended.dtype, ended.initial) != ((), "int32", -1):
        as_text = 'Field((), "int32", UNIT, MEANING, initial=-1)'
        yield f"has a field 'ended', the {model.clock} at which one ended: write {as_text}"


def _instead(dtype: Any) -> str:
    """Return what to write instead of a type that fields cannot have."""
    with suppress(TypeError):
        name = np.dtype(dtype).name
        if (name := _LIKE.get(name, name)) in FIELDS:
            return f"write '{name}'"
    return "it is one of int8 to int64, uint8 to uint64 or float64"


def _of_initial(name: str, one: Field, p: Any, shape: tuple[int, ...]) -> Iterator[str]:
    first = parameters_of_copy(p, 0, 0)
    value = initial_of(first, one.initial, len(one.dims)) if callable(one.initial) else one.initial
    try:
        made = fitted(value, one.dtype)
    except ValueError as error:
        yield f"cannot have this initial value of the field '{name}' ({one.dtype}): {error}"
        return
    row = made.shape[1:] if made.ndim > len(shape) else made.shape
    if len(row) > len(shape) or any(
        n not in (1, m) for n, m in zip(reversed(row), reversed(shape), strict=False)
    ):
        said = f"has {in_words(row)} as the initial value of the field '{name}'"
        yield f"{said}: it needs {in_words(shape)}"


def _of_within(name: str, one: Field, limits: Iterable[str]) -> Iterator[str]:
    within: Any = one.within
    if within is None:
        return
    if not isinstance(within, tuple) or len(within) != 2:
        yield f"has {within!r} as limits of the field '{name}': write within=(0, None)"
    for limit in within:
        if not (limit is None or isinstance(limit, Number) or limit in limits):
            near = suggestion(limit, limits) if isinstance(limit, str) else ""
            known = ", ".join(f"'{known}'" for known in limits)
            said = f"has {limit!r} as a limit of the field '{name}'"
            yield f"{said}: it is a number, None, or one of {known}{near}"


def _of_series(model: Any, p: Any, made: Mapping[str, Any]) -> Iterator[str]:
    yield from _of_names("a series", made, model, made)
    for name in {*made} & _in_files(model.fields(p)):
        yield f"has a field and a series '{name}' in files: choose another name for one"
    for name in {*made} & {*model.sizes(p)}:
        yield f"has a dimension and a series '{name}': choose another name for one"
    for name, one in made.items():
        if not isinstance(one, Series):
            yield f"has no Series(unit, meaning) as its series '{name}'"
        yield from _of_dims(f"the series '{name}'", one.dims, model.sizes(p))
        if one.log != SERIES and not getattr(model.fields(p).get(one.log), "logged", False):
            yield f"has no field '{one.log}' with logged=True, which the series '{name}' is from"


def _of_events(model: Any, p: Any, made: Mapping[str, Any]) -> Iterator[str]:
    yield from _of_names("events", made, model)
    for name, one in made.items():
        if not isinstance(one, Events):
            yield f"has no Events(columns, rows) as its events '{name}'"
        if name in _TAKEN:
            said = _TAKEN[name].format(copies=model.copies, clock=model.clock)
            yield f"cannot have events '{name}': {said}"
        for what, number in (("columns", one.columns), ("rows", one.rows)):
            if type(number) is not int or number < 1:
                said = f"has events '{name}' with {number!r} {what}"
                yield f"{said}: Events(columns, rows) has whole numbers from 1"
        yield from _of_names(f"a column of '{name}'", one.named, model, one.named)
        facts = [of for of in one.named.values() if not isinstance(of, tuple) or len(of) != 2]
        if one.named and (len(one.named) != one.columns - 1 or facts):
            yield (
                f"has events '{name}' of {one.columns} columns and {len(one.named)} names: the "
                f"{model.clock} is the first column; each other one has NAME: (UNIT, MEANING)"
            )


def with_arguments(schedule: Callable[..., Iterable[Step]]) -> Callable[..., Iterable[Step]]:
    """Return the schedule of a model, which raises ConfigError for a step without an argument."""
    place = place_of(schedule)
    known: set[tuple[type, str, tuple[str, ...]]] = set()  # checked: models, phases and arguments

    def checked(model: Any, step: Step) -> Step:
        if not isinstance(step, Step):
            raise ConfigError(
                f"{place}: schedule of the model {model.name} gives {step!r}: write Step({step!r})"
            )
        for name, value in step.arguments.items():
            if not (isinstance(value, Integral) and -(2**31) <= value < 2**31):
                raise ConfigError(
                    f"{place}: the step '{step.phase}' of the model {model.name} has {value!r} as "
                    f"its argument '{name}', which is a whole number of 32 bits"
                )
        form = type(model), step.phase, tuple(step.arguments)
        if form in known:
            return step
        rule = model.rules().get(step.phase)
        names = inspect.signature(rule).parameters if rule is not None else ()
        for name in model.step_arguments:
            if name in names and name not in step.arguments:
                raise ConfigError(
                    f"{place}: the step '{step.phase}' of the model {model.name} lacks the "
                    f"argument '{name}': write Step('{step.phase}', arguments={{'{name}': ...}})"
                )
        known.add(form)
        return step

    @wraps(schedule)
    def steps(model: Any, p: Any, tick: int, seen: Any) -> Iterable[Step]:
        made = schedule(model, p, tick, seen)
        if isinstance(made, Iterator):
            return (checked(model, one) for one in made)
        for one in made:
            checked(model, one)
        return made

    return steps


def _of_dims(what: str, dims: Any, lengths: Mapping[str, int]) -> Iterator[str]:
    if not isinstance(dims, tuple):
        yield f"has {dims!r} as the dimensions of {what}: write a tuple, such as ({dims!r},)"
    for dim in dims:
        if dim not in lengths:
            near = suggestion(dim, lengths)
            yield f"gives {what} the dimension '{dim}', of which sizes says no length{near}"


_MISTAKES: dict[str, Callable[[Any, Any, Mapping[str, Any]], Iterator[str]]] = {
    "sizes": _of_sizes,
    "events": _of_events,
    "fields": _of_fields,
    "series": _of_series,
}
"""What is wrong with what each method of a model returns."""
