"""How does plain Python carry out rules that were not translated?"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from reference_py.copies import Copy
from societies.config.problems import suggestion
from societies.translate import Declared, RuleError
from societies.workload import Field
from societies.workload.running.state import array_of

NUMBER = "python_number"
"""Field with the number of a society, for phases that plain Python carries out."""


def note_number(config: Any, society: Any) -> None:
    """Note the number of a society, for phases that plain Python carries out."""
    society.python_number = society.index


def whole(
    function: Callable[..., None],
    name: str,
    parameters: Sequence[str],
    entry: str,
    declared: Declared,
) -> Callable[..., None]:
    """Return a phase in plain Python as engines call it: for all entries, errors with their line.

    It raises `RuleError` if the rule raises an error, or sets other series than the model has.
    """
    names = [one for one in parameters[2:] if one != entry]

    @wraps(function)
    def carried_out(config: Any, society: Any, day: int, **arguments: int) -> None:
        given = {declared.clock: day, "tick": day, **arguments}
        values = [given[one] for one in names]
        try:
            if not entry:
                function(config, society, *values)
            for i in range(declared.lengths[entry] if entry else 0):
                function(config, society, *values, i)
        except Exception as error:
            raise _explained(error, function, name, declared, society.index, day) from error
        made = getattr(society, "series", None)
        if isinstance(made, dict) and list(made) != list(declared.series):
            _require_series(made, function, name, declared)
            society.series = {one: made[one] for one in declared.series}

    return carried_out


def _require_series(made: Mapping[str, Any], function: Any, name: str, declared: Declared) -> None:
    """Raise RuleError unless a phase has set every series, and no other."""
    said = [f"there is no series '{one}'{suggestion(one, declared.series)}"
            for one in made if one not in declared.series]  # fmt: skip
    said += [f"the series '{one}' is missing" for one in declared.series if one not in made]
    if said:
        where = f"{inspect.getsourcefile(function)}:{function.__code__.co_firstlineno}"
        listed = f"Series that the model declares: {', '.join(declared.series)}."
        raise RuleError(f"{where}: {name}: {said[0]}\n  {listed}")


def _explained(
    error: Exception, function: Any, name: str, declared: Declared, index: int, day: int
) -> RuleError:
    """Return an error that says where in the rules another one was raised."""
    file, line = inspect.getsourcefile(function) or "", 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    where = f"{declared.clock} {day}, {declared.copies} {index}, phase {name}"
    source = inspect.getsource(sys.modules[function.__module__]).split("\n")
    shown = source[line - 1].strip() if 0 < line <= len(source) else ""
    said = f"{type(error).__name__}: {error}"
    return RuleError(f"{file}:{line}: {said}\n    {shown}\n  in {where}")


def on_host(
    function: Callable[..., None],
    clock: str,
    p: Any,
    fields: Mapping[str, Field],
    arrays: Mapping[str, Any],
    tick: int,
    **arguments: int,
) -> None:
    """Carry out a phase in plain Python, for the societies that are on a device."""
    numbers = arrays[NUMBER].get()
    names = [name for name in (*fields, "series") if name in arrays]
    state = {name: arrays[name].get() for name in names}
    for place, number in enumerate(numbers.tolist()):
        copy = Copy(number, {name: values[place].tolist() for name, values in state.items()})
        if "ended" in state and state["ended"][place] not in (-1, tick):
            continue
        function(p, copy, tick, **arguments)
        where = f"{clock} {tick}, phase {function.__name__}"
        for name, values in state.items():
            made = getattr(copy, name)
            made = list(made.values()) if isinstance(made, dict) else made
            values[place] = array_of(made, name, values.dtype, values.shape[1:], where)
    for name, values in state.items():
        arrays[name].set(values)
