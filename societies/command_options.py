"""How are the options and arguments of the commands declared, each in a line or two?"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from societies.numbers import from_1, real, whole
from societies.numbers import workers as at_most_workers
from societies.options import CONFIG


def _by(name: str) -> Callable[[str], Any]:
    """Return a function that completes words by one of `societies.completion`, imported then."""

    def complete(incomplete: str) -> Any:
        return getattr(import_module("societies.completion"), name)(incomplete)

    return complete


def _complete_override(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    from societies.completion import overrides

    return overrides(ctx.meta.get(CONFIG), incomplete)


def argument(metavar: str, meaning: str, **more: Any) -> Any:
    """Return a word of a command without a name."""
    return typer.Argument(metavar=metavar, help=meaning, **more)


def option(metavar: str, meaning: str, *names: str, **more: Any) -> Any:
    """Return an option with a value; without names it has that of the parameter."""
    return typer.Option(*names, metavar=metavar, help=meaning, **more)


def number(meaning: str, parser: Callable[[str], Any] = from_1, metavar: str = "N") -> Any:
    """Return an option whose value is a number."""
    return option(metavar, meaning, parser=parser)


def switch(meaning: str, *names: str) -> Any:
    """Return an option without a value."""
    return typer.Option(*names, help=meaning)


ConfigPath = Annotated[
    Path,
    argument(
        "CONFIG",
        "A YAML file, or the name of a shipped one: economy/quickstart.",
        autocompletion=_by("configurations"),
    ),
]
WorkloadName = argument("WORKLOAD", "Its name: societies list.", autocompletion=_by("workloads"))
Device = Annotated[
    str,
    option(
        "D",
        "auto, cpu, gpu, reference, PLATFORM:INDEX or part of a name; run and sweep also take "
        "several: 0:0,0:1.",
        autocompletion=_by("devices"),
    ),
]
Override = Annotated[
    list[str] | None,
    option(
        "KEY=VALUE",
        "Override a key of CONFIG; repeatable.",
        "--set",
        autocompletion=_complete_override,
    ),
]
Seed = Annotated[int | None, number("Short for --set seed=N.", whole)]
Ticks = Annotated[
    int | None, number("How many ticks to run: short for --set days=N, steps=N.", whole)
]
Replicates = Annotated[int | None, number("Short for --set replicates=N.", whole)]
Table = Annotated[
    Path | None,
    option("CSV", "Parameters of each copy: a column for each key, a row for each copy."),
]
AllowPrograms = Annotated[
    bool, switch("Let programs run that CONFIG names (players of chess).", "--allow-programs")
]
Overwrite = Annotated[bool, switch("Replace FILE.", "--overwrite")]
Resume = Annotated[bool, switch("Continue an interrupted FILE.", "--resume")]
Quiet = Annotated[bool, switch("Print only FILE's path.", "-q", "--quiet")]
AsJson = Annotated[bool, switch("Print all numbers as JSON.", "--json")]
Workers = Annotated[int | None, number("Compute in N processes, by Dask.", at_most_workers)]
Level = Annotated[float, number("Level of the intervals.", real, "P")]
Headlines = Annotated[
    str | None, option("A,B,...", "Default: the headline variables of the workload.")
]
