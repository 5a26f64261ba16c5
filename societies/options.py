"""Which words may follow a command: the clock's own word for ticks, and the options of what a
workload offers itself (trace).

A command that has ``--ticks`` or ``--tick`` takes the word of the clock of its CONFIG as well
(``--days``, ``--step``). Which configuration stands on the line is found before anything is
parsed, so help, completion and messages speak that word too.
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
"""Where a context keeps the configuration that was found on its line, parsed or not."""

ONE, MANY = "--tick", "--ticks"
"""What a tick, and several, are called where the clock's own word is not used."""


class Word(NamedTuple):
    """A word of a command line that is no value of an option.

    Attributes
    ----------
    text : without what follows ``=``
    doubtful : whether it may be the value of an option that is not known
    """

    text: str
    doubtful: bool = False


class ConfigCommand(typer.core.TyperCommand):
    """A command of a CONFIG, which takes ticks by its clock's own word."""

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
            elif not ctx.resilient_parsing:  # else a shell completes a line
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
        """Return the configuration on the line, if there is one."""
        return next((path for path in map(_file, self.operands(words)) if path), None)

    def workload(self, words: Sequence[str]) -> Workload[Any, Any] | None:
        """Return the workload of the configuration on the line, if there is one."""
        path = self.file(words)
        if path is None:
            return None
        from societies.workload.declare.registry import load_config, named_workload, workload

        name = named_workload(path)
        return workload(name or load_config(path).workload)

    def speak_of(self, workload: Workload[Any, Any], words: Sequence[str]) -> None:
        """Add the words of a workload to the options."""
        own = {ONE: f"--{workload.clock}", MANY: f"--{workload.clock_plural}"}
        used = {word.text for word in self.options(words)}
        for parameter in self.params:
            for word in {ONE, MANY} & set(parameter.opts):
                generic = word in used and own[word] not in used
                if own[word] != word:
                    parameter.opts.insert(0, own[word])
                typed(word.lstrip("-"), (word if generic else own[word]).lstrip("-"))

    def require_known(self, found: Workload[Any, Any] | None, words: Sequence[str]) -> None:
        """Say of an unknown option what stands behind it: no CONFIG, or another one's clock."""
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
        """Return the words that are no options; last those that may be values of unknown ones."""
        found = [word for word in self._words(words) if not word.text.startswith("-")]
        return [word.text for word in sorted(found, key=lambda word: word.doubtful)]

    def options(self, words: Sequence[str]) -> list[Word]:
        """Return the words that are options."""
        return [word for word in self._words(words) if word.text.startswith("-")]

    def _words(self, words: Sequence[str]) -> Iterator[Word]:
        """Yield the words that are no values of options of this command."""
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
    """A command whose further options are those of an optional member of the workload."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; the member's options go to ``ctx.meta``, for whoever calls it."""
        own = {parameter.name for parameter in self.params}
        rest = super().parse_args(ctx, args)
        ctx.meta["options"] = {
            name: ctx.params.pop(name) for name in list(ctx.params) if name not in own
        }
        return rest

    def speak_of(self, workload: Workload[Any, Any], words: Sequence[str]) -> None:
        """Add the options of the member; one that is named by the clock is ``--tick`` too."""
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
        """Return the member, None if the command does without."""
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
    """The command whose options are those of a figure: a workload's own, or one that is named."""

    def member_of(
        self, workload: Workload[Any, Any], words: Sequence[str]
    ) -> Callable[..., Any] | None:
        """Return what draws the figure, if it is known."""
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
    """The command whose options are those of the format, if it is one of the workload's own."""

    def member_of(
        self, workload: Workload[Any, Any], words: Sequence[str]
    ) -> Callable[..., Any] | None:
        """Return what writes the format on the line, if the workload adds it."""
        from societies.analysis.exporting import formats_of

        name = _given("--to", words)
        return formats_of(workload).get(name) if name else None


def _given(option: str, words: Sequence[str]) -> str | None:
    """Return the value of an option on the line."""
    found = [after for word, after in pairwise(words) if word == option]
    found += [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]
    return found[-1] if found else None


def _file(word: str) -> Path | None:
    """Return the configuration that a word names, if it is one."""
    with suppress(OSError, ValueError):
        path = Path(word)
        return path if path.is_file() else shipped_configuration(path)
    return None


def _require_configuration(operands: Sequence[str]) -> None:
    """Raise ConfigError if what stands for CONFIG is none, or has mistakes."""
    from societies.workload.declare.registry import load_config

    for word in operands[:1]:
        load_config(word)


def _clocks() -> set[str]:
    """Return the words of all clocks."""
    from societies.workload.declare.registry import workload, workload_names

    found = set()
    for name in workload_names():
        with suppress(SocietiesError):  # one that cannot be loaded has no say here
            found.add(workload(name).clock)
    return found
