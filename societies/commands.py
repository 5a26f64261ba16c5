"""How is a command made only when it is used, so that help and completion start at once?

Typer makes the options of all commands at each start, which takes longer than anything else that
``societies --help`` does. Here a command is a function and its class until it is looked up; a list
of commands needs only their docstrings.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType
from typing import Any, TypeVar

import typer
import typer.core

from societies.options import COMMON, OVERRIDE, OverrideCommand, rule_option

F = TypeVar("F", bound=Callable[..., Any])

_FUNCTIONS: dict[str, tuple[Callable[..., Any], type[typer.core.TyperCommand]]] = {}
"""Function and class of every command, in the order of the list of commands."""


def command(
    name: str = "", *, cls: type[typer.core.TyperCommand] = OverrideCommand
) -> Callable[[F], F]:
    """Make a function a command; its signature is read when the command is looked up."""

    def register(function: F) -> F:
        _FUNCTIONS[name or function.__name__] = (function, cls)
        return function

    return register


def _made(name: str) -> Any:
    """Return a command with its options, which typer reads from the signature of its function."""
    function, cls = _FUNCTIONS[name]
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    alone.command(name, cls=cls)(function)
    return typer.main.get_command(alone)


class Commands(typer.core.TyperGroup):
    """The commands. Their help shows types for options only; switches take no value."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "commands": dict.fromkeys(_FUNCTIONS)})
        self._listed = False
        _import_help_lazily()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of this name; the options in `COMMON` may follow it as well."""
        if self._listed:
            text = inspect.getdoc(_FUNCTIONS[cmd_name][0])
            return typer.core.TyperCommand(cmd_name, help=text)
        if cmd_name not in _FUNCTIONS:
            return None
        if self.commands[cmd_name] is None:
            self.commands[cmd_name] = _made(cmd_name)
        command = self.commands[cmd_name]
        own = [one for one in command.params if one.name not in COMMON]
        names = [one.name for one in own]
        if OVERRIDE in names:
            own.insert(names.index(OVERRIDE) + 1, rule_option())
        command.params = [*own, *(one for one in self.params if one.name in COMMON)]
        adapted(command.get_params(ctx))
        return command

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(self.commands)

    def get_params(self, ctx: Any) -> Any:
        """Return the options before the command."""
        return adapted(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help; of the commands only their first sentences are needed."""
        with self._as_list():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return the names of commands that begin like this, with their first sentences."""
        with self._as_list():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _as_list(self) -> Iterator[None]:
        """Return commands without options meanwhile."""
        self._listed = True
        try:
            yield
        finally:
            self._listed = False


def adapted(parameters: Any) -> Any:
    """Let help show no type of arguments ("list[Path]" tells a user nothing) and of switches."""
    for parameter in parameters:
        if "process_value" not in vars(parameter):
            _convert_late(parameter)
        if isinstance(parameter, typer.core.TyperArgument):
            parameter.display_type_rich = lambda ctx: None  # type: ignore[method-assign]
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


def _convert_late(parameter: Any) -> None:
    """Let typer prepare a conversion, for which it imports pydantic, only if a value is given."""
    process = parameter.process_value

    def process_value(ctx: Any, value: Any) -> Any:
        if isinstance(value, str) and value is parameter.default:
            return value
        if value is not None or (parameter.required and not ctx.resilient_parsing):
            return process(ctx, value)
        none = () if parameter.multiple or parameter.nargs == -1 else None
        return parameter.callback(ctx, parameter, none) if parameter.callback else none

    parameter.process_value = process_value


HELP = "typer.rich_utils"
UNUSED = ("rich.markdown", "rich.traceback")
"""Modules that typer's help imports for texts in Markdown and for tracebacks, neither of which are
used here; with Pygments they take a third of the time of ``--help``."""


class _StandIn(ModuleType):
    """A module in place of an unused one: each of its names is an empty class."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return type(name, (), {})


class _HelpLoader:
    """Loads typer's help with stand-ins for `UNUSED`."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return None: the module is made as usual."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module."""
        absent = [name for name in UNUSED if name not in sys.modules]
        sys.modules.update({name: _StandIn(name) for name in absent})
        try:
            self._loader.exec_module(module)
        finally:
            for name in absent:
                del sys.modules[name]


def _import_help_lazily() -> None:
    """Let typer's help be imported when it is first used, by `_HelpLoader`."""
    spec = None if HELP in sys.modules else find_spec(HELP)
    if spec is not None and spec.loader is not None:
        spec.loader = LazyLoader(_HelpLoader(spec.loader))  # type: ignore[arg-type]
        sys.modules[HELP] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
