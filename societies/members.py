"""How do optional members of a workload (trace, play, view) become commands with options?

The signature of a member defines its options, its docstring their meaning; nothing is registered
elsewhere. The command line passes the configuration, the device and the progress; every other
keyword-only parameter becomes an option of the same name.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from societies.errors import OPTIONS, ConfigError
from societies.numbers import whole

if TYPE_CHECKING:
    from societies.workload.declare.protocol import Workload

GIVEN = ("config", "console", "device", "progress", "results")
"""Parameters that do not become options, because the command line passes them."""

WHAT = {"trace": "be traced", "play": "be played", "view": "be viewed"}
"""Verbs for the error about a workload without such a member."""


def member_of(workload: Workload[Any, Any], name: str) -> Callable[..., Any]:
    """Return an optional member of a workload; a view of any run exists without one.

    Raises ConfigError if the workload has none.
    """
    from societies.workload.running.registry import workloads

    member = getattr(workload, name, None)
    if member is None and name == "view":
        from societies.view import show_run

        return show_run
    if member is None:
        able = ", ".join(one for one, other in workloads().items() if hasattr(other, name))
        raise ConfigError(
            f"workload {workload.name} cannot {WHAT[name]}: it does not define how; "
            f"these can: {able or 'none'}"
        )
    return cast(Callable[..., Any], member)


def options(member: Callable[..., Any]) -> list[Any]:
    """Return the command-line options for a member's keyword-only parameters."""
    meanings = parameter_meanings(member.__doc__ or "")
    wanted = {
        name: parameter
        for name, parameter in inspect.signature(member).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in GIVEN
    }
    # Only for options: types of other parameters may be imported for type checkers only.
    hints = typing.get_type_hints(
        types.SimpleNamespace(__annotations__={n: one.annotation for n, one in wanted.items()}),
        inspect.unwrap(getattr(member, "__func__", member)).__globals__,
    )
    found = []
    for name, parameter in wanted.items():
        kind, form = _read(hints[name])
        words = [OPTIONS.get(name, f"--{name.replace('_', '-')}")]
        option = typer.Option(*words, help=meanings.get(name, ""), **form)
        found.append(parameter.replace(annotation=Annotated[kind, option]))

    def command(**arguments: Any) -> None:
        """Do nothing: typer only needs a function with the member's signature."""

    command.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
    chosen = [one for one in command_parameters(command) if one.name in {own.name for own in found}]
    for option in chosen:
        if option.is_flag:
            option.metavar = ""  # it takes no value
    return chosen


def command_parameters(command: Callable[..., Any]) -> list[Any]:
    """Return the parameters of a command line that typer makes of a function's signature."""
    app = typer.Typer(add_completion=False)
    app.command()(command)
    return list(typer.main.get_command(app).params)


def parameter_meanings(docstring: str) -> dict[str, str]:
    """Return the description of each parameter in a NumPy-style docstring, as one line.

    It is the indented text, or what follows the colon if there is none.
    """
    text = inspect.cleandoc(docstring)
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+$|\Z)", text, re.M | re.S)
    if not section:
        return {}
    entries = re.split(r"^(\w[\w, ]*?) *: *([^\n]*)(?:\n|\Z)", section[1], flags=re.M)
    found: dict[str, str] = {}
    for names, first, text in zip(entries[1::3], entries[2::3], entries[3::3], strict=True):
        meaning = " ".join(text.split()) or first
        found |= {name.strip(): meaning for name in names.split(",")}
    return found


def _read(hint: Any) -> tuple[Any, dict[str, Any]]:
    """Return a type that a command line can read, and how: of a path or a text, the path."""
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    parts = typing.get_args(hint) if union else (hint,)
    kind = Path if Path in parts else next(part for part in parts if part is not type(None))
    forms: dict[Any, dict[str, Any]] = {
        int: {"parser": whole, "metavar": "N"},
        Path: {"parser": Path, "metavar": "FILE"},
        str: {"metavar": "WORD"},
        list[float]: {"metavar": "X"},
    }
    return kind | None if type(None) in parts else kind, forms.get(kind, {})


def call(member: Callable[..., Any], given: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
    """Call a member with its options and with the entries of ``given`` that are its parameters."""
    wanted = inspect.signature(member).parameters
    return member(**{name: value for name, value in given.items() if name in wanted}, **arguments)
