"""Which options does a command have for a given CONFIG: the name of its clock (``--days``), and the
options of the workload's optional members (trace)?

A command with ``--ticks`` or ``--tick`` also accepts the name of the clock of its CONFIG
(``--days``, ``--step``). The parser reads the words twice: the first time it leaves unknown options
alone, which shows CONFIG; the workload of CONFIG adds its options; the second time counts. So help,
completion and messages use the workload's words too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
import typer.core

from societies.errors import ConfigError, SocietiesError, printable, shortened, typed
from societies.errors import option as as_typed
from societies.inputs import whole_number
from societies.paths import shipped_configuration
from societies.words import plural

if TYPE_CHECKING:
    from societies.workload.declare.protocol import Workload

COMMON = ("debug",)
"""Options of `societies` that every command has too."""

CONFIG = "societies.config"
"""Key of a context's ``meta`` for the configuration that was found on the line, parsed or not."""

RULE, OVERRIDE = "rule", "override"
"""Parameters of commands: ``--rule``, which every command with ``--set`` has."""

ONE, MANY = "--tick", "--ticks"
"""General options for a tick and for a number of ticks, if the clock's name is not used."""


class CommandLine(NamedTuple):
    """The words of a command line, read before the options of its workload are known.

    Attributes
    ----------
    given : values of the known options, by the name of the parameter
    operands : words that are neither options nor their values
    doubtful : words after an unknown option, which may be its value
    unknown : unknown options
    """

    given: Mapping[str, Any]
    operands: Sequence[str]
    doubtful: Sequence[str]
    unknown: Sequence[str]

    @property
    def files(self) -> list[str]:
        """All words that may be operands; the doubtful ones come last."""
        return [*self.operands, *self.doubtful]


RuleTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="RULE=FILE.py:F",
        help="Replace a rule by the function F of a file; repeatable: societies rules WORKLOAD.",
    ),
]


def rule_option() -> Any:
    """Return the option ``--rule``, which is short for ``--set rules.NAME=FILE.py:FUNCTION``."""

    def command(rule: RuleTexts = None) -> None:
        """Do nothing: typer only needs a function with the signature."""

    from societies.members import command_parameters

    return next(one for one in command_parameters(command) if one.name == RULE)


def of_rules(rules: Sequence[str] | None) -> list[str]:
    """Return the overrides that ``--rule NAME=FILE.py:FUNCTION`` is short for.

    Raises
    ------
    ConfigError
        If a text is not of this form.
    """
    for text in rules or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise ConfigError(
                f"--rule {shortened(text)}: expected RULE=FILE.py:FUNCTION, for example "
                "trading.price=my_rules.py:price"
            )
    return [f"rules.{text}" for text in rules or ()]


class OverrideCommand(typer.core.TyperCommand):
    """A command whose ``--rule``, which follows ``--set``, is short for it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words after the command."""
        rest: list[str] = super().parse_args(ctx, args)
        if OVERRIDE in ctx.params:
            rules = of_rules(ctx.params.pop(RULE, None))
            ctx.params[OVERRIDE] = [*(ctx.params[OVERRIDE] or []), *rules] or None
        return rest


class ConfigCommand(OverrideCommand):
    """A command with a CONFIG, which accepts the name of its clock for ticks."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words after the command."""
        line = self.read(ctx, args)
        for common in (one for one in self.params if one.name in COMMON):
            common.handle_parse_result(ctx, line.given, [])  # before CONFIG is found to be wrong
        ctx.meta[CONFIG] = next((path for path in map(_file, line.files) if path), None)
        help_wanted = bool(line.given.get("help"))
        found = None
        try:
            found = self.workload(ctx.meta[CONFIG], line)
            if found is not None:
                self.speak_of(found, line)
        except SocietiesError as error:
            if help_wanted:
                from rich.markup import escape

                self.epilog = escape(printable(str(error)))
            elif not ctx.resilient_parsing:  # True while a shell completes a line
                raise
        if not ctx.resilient_parsing and not help_wanted:
            self.require_known(found, line)
            for one in self.params:
                words = [word for word in one.opts if word in line.unknown]
                words += one.opts[-1:] if one.name in line.given else []
                if len(words) > 1:
                    raise ConfigError(f"{' and '.join(words)} are one option: give one of them")
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if {ONE, MANY} & set(getattr(error.param, "opts", [])):
                error.param_hint = f"'{as_typed(error.param.name)}'"  # type: ignore[union-attr]
            raise

    def read(self, ctx: Any, args: Sequence[str]) -> CommandLine:
        """Return the words as the parser reads them without an error for unknown options."""
        lenient = copy(self)
        lenient.params = [one for one in self.params if one.param_type_name == "option"]
        ctx.ignore_unknown_options = True
        given, words, _ = lenient.make_parser(ctx).parse_args(list(args))
        ctx.ignore_unknown_options = False
        after = list(args[args.index("--") + 1 :]) if "--" in args else []
        if words[len(words) - len(after) :] != after:  # this -- is the value of an option
            after = []
        words = words[: len(words) - len(after)]
        operands = after
        doubtful: list[str] = []
        unknown: list[str] = []
        for before, word in pairwise(["", *words]):
            if word[:1] == "-" and word != "-":
                unknown.append(word.partition("=")[0])
            else:
                after_unknown = before[:2] == "--" and "=" not in before
                (doubtful if after_unknown else operands).append(word)
        return CommandLine(given, operands, doubtful, unknown)

    def workload(self, config: Path | None, line: CommandLine) -> Workload[Any, Any] | None:
        """Return the workload of the configuration on the line, or None."""
        if config is None:
            return None
        from societies.workload.running.registry import load_config, named_workload, workload

        return workload(named_workload(config) or load_config(config).workload)

    def speak_of(self, workload: Workload[Any, Any], line: CommandLine) -> None:
        """Add the names of a workload's clock to the options."""
        own = {ONE: workload.clock, MANY: plural(workload.clock)}
        for parameter in self.params:
            for word in {ONE, MANY} & set(parameter.opts):
                clock = f"--{own[word]}"
                if clock != word:
                    parameter.opts.insert(0, clock)
                generic = line.given.get(parameter.name) is not None and clock not in line.unknown
                typed(word[2:], word[2:] if generic else own[word])

    def require_known(self, found: Workload[Any, Any] | None, line: CommandLine) -> None:
        """Explain an unknown option: CONFIG is missing, or the option is another clock's name."""
        known = {opt for parameter in self.params for opt in parameter.opts}
        strange = [word for word in line.unknown if word not in known]
        if strange and found is None:
            if not line.operands and all(whole_number(word) is not None for word in line.doubtful):
                start = line.given.get("start")
                which = f"; `societies info {start} --config` prints that of FILE" if start else ""
                raise ConfigError(
                    f"CONFIG is missing: societies {self.name} CONFIG {strange[0]} ...{which}"
                )
            from societies.workload.running.registry import load_config

            for word in line.files[:1]:
                load_config(word)  # says that it is no configuration, or has mistakes
        elif strange and found is not None:
            clocks = _clocks()  # imports all workloads
            for word in strange:
                if word in clocks:
                    ticks = [one.opts for one in self.params if {ONE, MANY} & set(one.opts)]
                    alike = [opts for opts in ticks if clocks[word] in opts] or ticks
                    own = " or ".join(opt for opts in alike for opt in opts)
                    hint = f"give {own}" if own else "this command takes no ticks"
                    raise ConfigError(
                        f"{word}: the clock of {found.name} is the {found.clock}; {hint}"
                    )


class MemberCommand(ConfigCommand):
    """A command with additional options from the optional member of the workload with its name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; the member's options go to ``ctx.meta``, for the call of the member.

        Only options that were given are passed on: a study may be drawn by a function without them.
        """
        own = {parameter.name for parameter in self.params}
        rest = super().parse_args(ctx, args)
        options = {name: ctx.params.pop(name) for name in list(ctx.params) if name not in own}
        ctx.meta["options"] = {
            name: value
            for name, value in options.items()
            if ctx.get_parameter_source(name).name not in ("DEFAULT", "DEFAULT_MAP")
        }
        return rest

    def workload(self, config: Path | None, line: CommandLine) -> Workload[Any, Any] | None:
        """Return the workload of the configuration on the line; None for a result, or none."""
        from societies.config.load import is_result

        return None if config is None or is_result(config) else super().workload(config, line)

    def speak_of(self, workload: Workload[Any, Any], line: CommandLine) -> None:
        """Add the options of the member; tick and copy also have the workload's names."""
        super().speak_of(workload, line)
        from societies.members import options

        member = self.member_of(workload, line)
        taken = {opt for parameter in self.params for opt in parameter.opts}
        for option in reversed([] if member is None else options(member)):
            if option.opts == [f"--{workload.clock}"]:
                option.opts.append(ONE)
            elif word := {ONE: workload.clock, "--copy": workload.copies}.get(option.opts[0]):
                typed(option.name, option.name if f"--{option.name}" in line.unknown else word)
                option.opts.insert(0, f"--{word}")
            if not taken & set(option.opts):
                self.params.insert(1, option)

    def member_of(
        self, workload: Workload[Any, Any], line: CommandLine
    ) -> Callable[..., Any] | None:
        """Return the member, None if the command needs none."""
        from societies.members import member_of

        return member_of(workload, str(self.name))


class ResultCommand(ConfigCommand):
    """A command with a FILE, which accepts the names of the clock and copies of its workload."""

    only_with = ""
    """Parameter without which the workload is not looked for, as opening a file takes time."""

    def workload(self, config: Path | None, line: CommandLine) -> Workload[Any, Any] | None:
        """Return the workload that made the file on the line."""
        if self.only_with and not line.given.get(self.only_with):
            return None
        from societies.analysis.selecting import workload_of
        from societies.output import open_results

        for word in line.files:
            with suppress(SocietiesError), open_results(word) as results:
                return workload_of(results)
        return None

    def speak_of(self, workload: Workload[Any, Any], line: CommandLine) -> None:
        """Add the names of the clock, and of a copy."""
        super().speak_of(workload, line)
        for parameter in self.params:
            if "--copy" in parameter.opts and workload.copies != "copy":
                parameter.opts.insert(0, f"--{workload.copies}")
                generic = line.given.get("copy") is not None
                typed("copy", "copy" if generic else workload.copies)

    def require_known(self, found: Workload[Any, Any] | None, line: CommandLine) -> None:
        """Leave unknown options to typer."""


class InfoCommand(ResultCommand):
    """The command that describes a file, with the words of its workload for ``--accounts``."""

    only_with = "accounts"


class PlotCommand(ResultCommand, MemberCommand):
    """The command with the options of a figure: the workload's overview, or ``--figure``."""

    def member_of(
        self, workload: Workload[Any, Any], line: CommandLine
    ) -> Callable[..., Any] | None:
        """Return the function that draws the figure, None if it is unknown."""
        from societies.analysis.figures import FIGURES
        from societies.analysis.plot import OVERVIEW
        from societies.workload.drawing.figure import series_figure

        name = line.given.get("figure") or OVERVIEW
        if name == OVERVIEW and len(line.operands) <= 1:
            return getattr(workload, "figure", None) or series_figure
        return FIGURES.get("series" if name == OVERVIEW else name)


class ExportCommand(PlotCommand):
    """The command with the options of the format, if the workload defines this format."""

    def member_of(
        self, workload: Workload[Any, Any], line: CommandLine
    ) -> Callable[..., Any] | None:
        """Return the function that writes the format, None if the workload does not define it."""
        from societies.analysis.exporting import formats_of

        return formats_of(workload).get(line.given.get("to") or "")


def _file(word: str) -> Path | None:
    """Return the path of the configuration that a word names, or None."""
    with suppress(OSError, ValueError):
        path = Path(word)
        return path if path.is_file() else shipped_configuration(path)
    return None


def _clocks() -> dict[str, str]:
    """Return the general option that the name of each clock, as an option, stands for."""
    from societies.workload.running.registry import workload, workload_names

    found: dict[str, str] = {}
    for name in workload_names():
        with suppress(SocietiesError):  # skip workloads that cannot be loaded
            clock = workload(name).clock
            found |= {f"--{clock}": ONE, f"--{plural(clock)}": MANY}
    return found
