"""Is what a model declares of the form that engines need? Its mistakes, with file and line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from societies.config.problems import suggestion
from societies.errors import ConfigError
from societies.model.carried import NUMBER
from societies.workload import Events, Field, Series, Step
from societies.workload.declare.fields import SERIES
from societies.workload.running.ensembles import once
from societies.workload.running.faults import FAULT

_TAKEN = {
    "index": "it is the number of the {copies}",
    "series": "it is where a {clock}'s series are written",
    FAULT: "checked builds have a field of this name",
    NUMBER: "phases that Python carries out have a field of this name",
}
"""Names that fields cannot have, since rules read or write something else by them."""


def require_declared(model: Any, p: Any) -> None:
    """Raise ConfigError for the first mistake in what a model declares for some parameters."""
    once(p, f"declared by {model.name}", lambda _: _require(model, p))


def _require(model: Any, p: Any) -> None:
    for name, mistakes in _MISTAKES.items():
        method = getattr(type(model), name)
        made = getattr(model, name)(p)
        listed = mistakes(model, p, made) if isinstance(made, Mapping) else iter(
            [f"returns no dictionary from {name}: {made!r}"]
        )  # fmt: skip
        for what in listed:
            raise ConfigError(f"{_place(method)}: the model {model.name} {what}")


def _place(function: Callable[..., Any]) -> str:
    """Return file and first line of a function."""
    code = function.__code__
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def _of_sizes(model: Any, p: Any, made: Mapping[str, Any]) -> Iterator[str]:
    for name, length in made.items():
        if not isinstance(length, Integral) or isinstance(length, bool) or length < 0:
            yield f"has {length!r} as the length of '{name}': it needs a whole number"


def _of_fields(model: Any, p: Any, made: Mapping[str, Any]) -> Iterator[str]:
    taken = {**_TAKEN, **dict.fromkeys(model.events(p), "it is a list of events")}
    for name, one in made.items():
        if name in taken or not name.isascii():
            why = taken.get(name, "names of fields have the letters a to z, digits and _")
            said = why.format(copies=model.copies, clock=model.clock)
            yield f"cannot have a field '{name}': {said}"
        if not isinstance(one, Field):
            yield f"has no Field(...) as its field '{name}'"
        yield from _of_dims(f"the field '{name}'", one.dims, {**model.sizes(p), SERIES: 0})
        try:
            np.dtype(one.dtype)
        except TypeError:
            kinds = "int8 to int64, uint8 to uint64 or float64"
            yield f"has '{one.dtype}' as the type of the field '{name}': it is one of {kinds}"


def _of_series(model: Any, p: Any, made: Mapping[str, Any]) -> Iterator[str]:
    for name, one in made.items():
        if not isinstance(one, Series):
            yield f"has no Series(unit, meaning) as its series '{name}'"
        yield from _of_dims(f"the series '{name}'", one.dims, model.sizes(p))


def _of_events(model: Any, p: Any, made: Mapping[str, Any]) -> Iterator[str]:
    for name, one in made.items():
        if not isinstance(one, Events):
            yield f"has no Events(columns, rows) as its events '{name}'"


def with_arguments(schedule: Callable[..., Iterable[Step]]) -> Callable[..., Iterable[Step]]:
    """Return the schedule of a model, which raises ConfigError for a step without an argument."""
    place = _place(schedule)
    known: set[tuple[type, str, tuple[str, ...]]] = set()  # checked: models, phases and arguments

    def checked(model: Any, step: Step) -> Step:
        if not isinstance(step, Step):
            raise ConfigError(
                f"{place}: schedule of the model {model.name} gives {step!r}: write Step({step!r})"
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
            yield f"gives {what} the dimension '{dim}'{near}, of which sizes says no length"


_MISTAKES: dict[str, Callable[[Any, Any, Mapping[str, Any]], Iterator[str]]] = {
    "sizes": _of_sizes,
    "fields": _of_fields,
    "series": _of_series,
    "events": _of_events,
}
"""What is wrong with what each method of a model returns."""
