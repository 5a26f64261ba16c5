"""Which options does a command have for a given CONFIG: the name of its clock (``--days``), and the
options of the workload's optional members (trace)?

A command with ``--ticks`` or ``--tick`` also accepts the name of the clock of its CONFIG
(``--days``, ``--step``). The configuration on the command line is found before anything is parsed,
so help, completion and messages use that name too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
import typer.core
from rich.markup import escape

from societies.errors import ConfigError, SocietiesError, printable, typed
from societies.paths import shipped_configuration
from societies.words import plural

if TYPE_CHECKING:
    from societies.workload.declare.protocol import Workload

CONFIG = "societies.config"
"""Key of a context's ``meta`` for the configuration that was found on the line, parsed or not."""

ONE, MANY = "--tick", "--ticks"
"""General options for a tick and for a number of ticks, if the clock's name is not used."""


class Word(NamedTuple):
    """A word of a command line that is not the value of a known option.

    Attributes
    ----------
    text : the word without ``=`` and its value
    doubtful : whether it may be the value of an unknown option
    """

    text: str
    doubtful: bool = False


class ConfigCommand(typer.core.TyperCommand):
    """A command with a CONFIG, which accepts the name of its clock for ticks."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words after the command."""
        words = list(args)
        ctx.meta[CONFIG] = self.file(words)
        help_wanted = bool({"-h", "--help"} & set(words))
        found = None
        try:
            found = self.workload(words)
            if found is not None:
                self.speak_of(found, words)
        except SocietiesError as error:
            if help_wanted:
                self.epilog = escape(printable(str(error)))
            elif not ctx.resilient_parsing:  # True while a shell completes a line
                raise
        if not ctx.resilient_parsing and not help_wanted:
            self.require_known(found, words)
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            opts = getattr(error.param, "opts", [])
            said = [word.text for word in self.options(words) if word.text in opts]
            if said and {ONE, MANY} & set(opts):
                error.param_hint = f"'{said[-1]}'"
            raise

    def file(self, words: Sequence[str]) -> Path | None:
        """Return the configuration on the line, or None."""
        return next((path for path in map(_file, self.operands(words)) if path), None)

    def workload(self, words: Sequence[str]) -> Workload[Any, Any] | None:
        """Return the workload of the configuration on the line, or None."""
        path = self.file(words)
        if path is None:
            return None
        from societies.workload.declare.registry import load_config, named_workload, workload

        name = named_workload(path)
        return workload(name or load_config(path).workload)

    def speak_of(self, workload: Workload[Any, Any], words: Sequence[str]) -> None:
        """Add the names of a workload's clock to the options."""
        own = {ONE: f"--{workload.clock}", MANY: f"--{workload.clock_plural}"}
        used = {word.text for word in self.options(words)}
        for parameter in self.params:
            for word in {ONE, MANY} & set(parameter.opts):
                generic = word in used and own[word] not in used
                if own[word] != word:
                    parameter.opts.insert(0, own[word])
                typed(word.lstrip("-"), (word if generic else own[word]).lstrip("-"))

    def require_known(self, found: Workload[Any, Any] | None, words: Sequence[str]) -> None:
        """Explain an unknown option: CONFIG is missing, or the option is another clock's name."""
        known = {opt for parameter in self.params for opt in parameter.opts}
        strange = [word.text for word in self.options(words) if word.text not in known]
        if not strange:
            return
        if found is None:
            _require_configuration(self.operands(words))
            return
        # Only now are all workloads imported.
        clocks = {f"--{word}" for clock in _clocks() for word in (clock, plural(clock))}
        for word in strange:
            if word in clocks:
                number = MANY if word in {f"--{plural(clock)}" for clock in _clocks()} else ONE
                ticks = [one.opts for one in self.params if {ONE, MANY} & set(one.opts)]
                alike = [opts for opts in ticks if number in opts]
                own = [opt for opts in alike or ticks for opt in opts]
                hint = f"give {' or '.join(own)}" if own else "this command takes no ticks"
                raise ConfigError(f"{word}: the clock of {found.name} is the {found.clock}; {hint}")

    def operands(self, words: Sequence[str]) -> list[str]:
        """Return the words that are not options; possible values of unknown options come last."""
        found = [word for word in self._words(words) if not word.text.startswith("-")]
        return [word.text for word in sorted(found, key=lambda word: word.doubtful)]

    def options(self, words: Sequence[str]) -> list[Word]:
        """Return the words that are options."""
        return [word for word in self._words(words) if word.text.startswith("-")]

    def _words(self, words: Sequence[str]) -> Iterator[Word]:
        """Yield the words that are not values of this command's options."""
        options = [one for one in self.params if one.param_type_name == "option"]
        known = {opt: one for one in options for opt in one.opts}
        value = doubtful = False
        for word in words:
            if value:
                value = False
                continue
            name, equals, _ = word.partition("=")
            if word.startswith("-") and len(word) > 1:
                yield Word(name)
                one = known.get(name)
                value = one is not None and not equals and not getattr(one, "is_flag", False)
                doubtful = one is None and not equals and name.startswith("--")
            else:
                yield Word(word, doubtful)
                doubtful = False


class MemberCommand(ConfigCommand):
    """A command with additional options from an optional member of the workload."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; the member's options go to ``ctx.meta``, for the call of the member."""
        own = {parameter.name for parameter in self.params}
        rest = super().parse_args(ctx, args)
        ctx.meta["options"] = {
            name: ctx.params.pop(name) for name in list(ctx.params) if name not in own
        }
        return rest

    def speak_of(self, workload: Workload[Any, Any], words: Sequence[str]) -> None:
        """Add the options of the member; one with the clock's name is also ``--tick``."""
        super().speak_of(workload, words)
        from societies.members import options

        member = self.member_of(workload, words)
        taken = {opt for parameter in self.params for opt in parameter.opts}
        for option in reversed([] if member is None else options(member)):
            if option.opts == [f"--{workload.clock}"]:
                option.opts.append(ONE)
            if not taken & set(option.opts):
                self.params.insert(1, option)

    def member_of(
        self, workload: Workload[Any, Any], words: Sequence[str]
    ) -> Callable[..., Any] | None:
        """Return the member, None if the command needs none."""
        raise NotImplementedError


class TraceCommand(MemberCommand):
    """The command whose options are those of the workload's member ``trace``."""

    def member_of(self, workload: Workload[Any, Any], words: Sequence[str]) -> Callable[..., Any]:
        """Return the member."""
        from societies.members import member_of

        return member_of(workload, "trace")


class PlayCommand(MemberCommand):
    """The command whose options are those of the workload's member ``play``."""

    def member_of(self, workload: Workload[Any, Any], words: Sequence[str]) -> Callable[..., Any]:
        """Return the member."""
        from societies.members import member_of

        return member_of(workload, "play")


class ViewCommand(MemberCommand):
    """The command whose options are those of the workload's member ``view``."""

    def member_of(self, workload: Workload[Any, Any], words: Sequence[str]) -> Callable[..., Any]:
        """Return the member."""
        from societies.members import member_of

        return member_of(workload, "view")


class PlotCommand(MemberCommand):
    """The command with the options of a figure: the workload's overview, or ``--figure``."""

    def member_of(
        self, workload: Workload[Any, Any], words: Sequence[str]
    ) -> Callable[..., Any] | None:
        """Return the function that draws the figure, None if it is unknown."""
        from societies.analysis.figures import FIGURES
        from societies.analysis.plot import OVERVIEW
        from societies.workload.drawing.figure import series_figure

        name = _given("--figure", words) or OVERVIEW
        several = sum(word.text[:1] != "-" and not word.doubtful for word in self._words(words)) > 1
        if name == OVERVIEW and not several:
            return getattr(workload, "figure", None) or series_figure
        return FIGURES.get("series" if name == OVERVIEW else name)

    def workload(self, words: Sequence[str]) -> Workload[Any, Any] | None:
        """Return the workload that made the file on the line."""
        from societies.analysis.selecting import workload_of
        from societies.output import open_results

        for word in self.operands(words):
            with suppress(SocietiesError), open_results(word) as results:
                return workload_of(results)
        return None

    def require_known(self, found: Workload[Any, Any] | None, words: Sequence[str]) -> None:
        """Leave unknown options to typer."""


class ExportCommand(PlotCommand):
    """The command with the options of the format, if the workload defines this format."""

    def member_of(
        self, workload: Workload[Any, Any], words: Sequence[str]
    ) -> Callable[..., Any] | None:
        """Return the function that writes the format, None if the workload does not define it."""
        from societies.analysis.exporting import formats_of

        name = _given("--to", words)
        return formats_of(workload).get(name) if name else None


def _given(option: str, words: Sequence[str]) -> str | None:
    """Return the value of an option on the line."""
    found = [after for word, after in pairwise(words) if word == option]
    found += [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]
    return found[-1] if found else None


def _file(word: str) -> Path | None:
    """Return the path of the configuration that a word names, or None."""
    with suppress(OSError, ValueError):
        path = Path(word)
        return path if path.is_file() else shipped_configuration(path)
    return None


def _require_configuration(operands: Sequence[str]) -> None:
    """Raise ConfigError if the first operand is not a configuration, or has mistakes."""
    from societies.workload.declare.registry import load_config

    for word in operands[:1]:
        load_config(word)


def _clocks() -> set[str]:
    """Return the names of all clocks."""
    from societies.workload.declare.registry import workload, workload_names

    found = set()
    for name in workload_names():
        with suppress(SocietiesError):  # skip workloads that cannot be loaded
            found.add(workload(name).clock)
    return found
