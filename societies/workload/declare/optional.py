"""What do only few workloads declare? Each class has one kind of declaration, with defaults.

They are base classes of `Workload`. The author of a workload reads only those that it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from societies.errors import ConfigError
from societies.workload.declare.fields import State
from societies.workload.declare.phases import Step

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from societies.config.model import WorkloadConfig
    from societies.opencl import Device
    from societies.rule import Rule
    from societies.workload.running.plugged import Plugged

C = TypeVar("C", bound="WorkloadConfig")
P = TypeVar("P")


@dataclass(frozen=True)
class Count:
    """A kind of event, such as a trade, which is counted because changed arrays do not show it.

    Attributes
    ----------
    phases : phases in which it may happen: ``production``, or a labelled one: ``own_use (tool)``
    of : function of the states before and after such a phase; it returns the number of events
    total : name of the printed sum, which may add up several kinds
    series : series of which at least one is neither 0 nor NaN exactly at the ticks at which it
        happens; `verify` can then find such a tick. Empty if no series shows it
    """

    phases: tuple[str, ...]
    of: Callable[[State, State], float]
    total: str
    series: tuple[str, ...] = ()


def rises(array: str) -> Callable[[State, State], float]:
    """Return a function for `Count.of`: the sum of all increases of an array's entries."""

    def of(before: State, after: State) -> float:
        return _risen(before[array], after[array])

    return of


def falls(array: str) -> Callable[[State, State], float]:
    """Return a function for `Count.of`: the sum of all decreases of an array's entries."""

    def of(before: State, after: State) -> float:
        return _risen(after[array], before[array])

    return of


def _risen(before: NDArray[Any], after: NDArray[Any]) -> float:
    """Return the sum of increases of an array; differences of unsigned numbers must not wrap."""
    more = after > before
    return float((after[more] - before[more]).sum())


class Counted(Generic[P]):
    """What `verify` counts, the names of its steps, and limits of the numbers of a state."""

    part_is_phase: ClassVar[bool] = False
    """True if `verify` counts all steps of a phase together when it reports which steps changed
    something; for phases whose steps are levels or batches, some of which may be empty."""

    def counts(self, p: P) -> Mapping[str, Count]:
        """Return the counts of `verify`, for events that changed arrays do not show."""
        return {}

    def part(self, step: Step, tick: int) -> str:
        """Return the name under which `verify` records whether a step changed anything."""
        return step.phase if self.part_is_phase else str(step)

    def limits(self, p: P, tick: int) -> Mapping[str, ArrayLike]:
        """Return the values, after this tick, of the limits that `Field.within` gives by name."""
        return {}


class Skipping(Generic[P]):
    """Ticks without steps, runs that find their own end, and blocks that are timed as a whole."""

    open_ended: ClassVar[bool] = False
    """True if `ticks` is only an upper bound; then the file has ticks only as rows of tables."""

    def busy(self, p: P, first: int, last: int) -> Iterable[int]:
        """Return the ticks of a block that may have steps, ascending. Default: all.

        Ticks that are left out must have no steps; the host then spends no time on them. This helps
        if one step does the work of several ticks.
        """
        return range(first, last + 1)

    def timed_together(self, p: P) -> bool:
        """Return True if a timed workload measures whole blocks, whose ticks share the time."""
        return False


class OnDevice(Generic[C, P]):
    """What depends on the device, although the results do not."""

    def fitted(self, config: C, device: Device | None) -> C:
        """Return the configuration with the values that depend on the device (None: the reference).

        Only lengths of arrays that are neither checkpointed nor compared may depend on the device's
        memory, so that the results are the same on every device.
        """
        return config

    def computed_on(self, p: P, device: Device) -> None:
        """Receive the device on which a run is computed; called before `source`.

        The arguments of `source` may be computed on it, with the same bits. Default: nothing.
        """


class InPython(Generic[C, P]):
    """Rules that functions of a user may replace, and phases in Python that are translated."""

    name: ClassVar[str]
    version: ClassVar[str]

    def require_class(self) -> None:
        """Raise ConfigError if the class has an impossible declaration; called at its import."""
        former = {"contents", "report", "clock_plural", "copies_plural"}  # members until 2026-11
        for name in sorted(former & {*dir(self)}):
            instead = "leave it out" if "_" in name else f"write {name}_class = 'MODULE:CLASS'"
            raise ConfigError(f"{type(self).__name__}.{name} is no member of workloads: {instead}")

    def replaceable(self) -> Mapping[str, Rule]:
        """Return the rules that may be replaced, by name; the section ``rules`` has their keys."""
        return {}

    def plugged(self, config: C) -> Plugged:
        """Return the rules that a configuration replaces."""
        from societies.workload.running.plugged import plugged, replaces_any

        return plugged(self.replaceable() if replaces_any(config) else {}, config)

    def python_of(self, config: C) -> list[str]:
        """Return a line for each file that a configuration names and whose Python is run."""
        model = getattr(config, "model", None)
        lines = [f"model {self.name}: {model}, whose Python is carried out"] if model else []
        return lines + self.plugged(config).described()

    def translated_phases(self, p: P) -> Sequence[str]:
        """Return the phases whose kernels are translated from Python."""
        return ()

    def untranslated(self, p: P) -> Mapping[str, Exception]:
        """Return the phases that plain Python carries out, each with the reason."""
        return {}

    def kernel_text(self, p: P, phase: str) -> str | None:
        """Return the translated text of a phase for people; None: that of its kernel files."""
        return None

    def origin(self, config: C) -> Mapping[str, str]:
        """Return further attributes of the file about the origin of its results."""
        return {}

    def translated_sha256(self, config: C) -> str:
        """Return the hash of the rules that are translated from Python; "" if none are."""
        return self.plugged(config).translated.sha256

    def version_of(self, config: C) -> str:
        """Return the version of the model, with a hash of the rules that are replaced."""
        found = self.plugged(config)
        return f"{self.version} rules {found.sha256[:10]}" if found else str(self.version)


@dataclass(frozen=True)
class NamedProgram:
    """A program that a configuration names.

    Attributes
    ----------
    key : key of the configuration
    command : program and arguments
    options : names and values of options that are sent to it
    """

    key: str
    command: str
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        sent = ", ".join(f"{name} {value}" for name, value in self.options)
        return f"{self.key}: {self.command}" + (f" ({sent})" if sent else "")


class FromOutside(Generic[C, P]):
    """Results that depend on other programs or on time."""

    def not_repeatable(self, config: C) -> str:
        """Return why results differ if the configuration is run again; "" if they do not.

        Results may depend on the time that something takes, or on other programs. Such a
        configuration can be run and recorded, but `verify` and golden hashes refuse it.
        """
        return ""

    def programs(self, p: P) -> Sequence[NamedProgram]:
        """Return the external programs that a run starts; they run only if the user allows it."""
        return ()


class Reported(Generic[C]):
    """Further information in plans and reports."""

    def seconds(self, config: C, device: Device | None) -> float | None:
        """Return a rough estimate of a run's time, None if unknown; device None: the reference."""
        return None

    def device_rows(self, config: C, device: Device) -> list[tuple[str, str]]:
        """Return further rows of `societies run --dry-run` that depend on the device."""
        return []

    def require_outputs(self, config: C, results: Path) -> None:
        """Raise OutputError, before a run, if files next to the results cannot be written."""

    def why_ended(self, config: C, state: Mapping[str, NDArray[Any]]) -> str:
        """Return why a run ended before its last tick, from the state at its end."""
        return "all copies have ended"

    def headlines(self) -> Sequence[str]:
        """Return the variables for the closing table; empty: all that are recorded."""
        return ()

    def left_out(self) -> Mapping[str, str]:
        """Return the series that only some configurations record, and what they equal elsewhere.

        The value is the name of another series, or "" for 0: without taxes no unit is taxed.
        """
        return {}
