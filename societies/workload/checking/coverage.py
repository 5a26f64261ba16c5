"""What does a comparison report? The first difference, and what happened while both were equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from societies.words import counted, plural

State = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Count:
    """Something that a phase may do, such as a trade; counted if a changed array says too little.

    Attributes
    ----------
    phases : in which it may happen: ``production`` or, of several of a kind, ``own_use (tool)``
    of : function of the states before and after such a phase; how often it has happened
    total : under which name it is added up for people, together with its like
    series : series of which one is neither 0 nor NaN on a tick on which it happens, and only then;
        empty if no series tells. Where there are any, `verify` finds such a tick.
    """

    phases: tuple[str, ...]
    of: Callable[[State, State], float]
    total: str
    series: tuple[str, ...] = ()


def rises(array: str) -> Callable[[State, State], float]:
    """Return a function for `Count.of`: by how much an array has risen, where it has."""

    def of(before: State, after: State) -> float:
        return _risen(before[array], after[array])

    return of


def falls(array: str) -> Callable[[State, State], float]:
    """Return a function for `Count.of`: by how much an array has fallen, where it has."""

    def of(before: State, after: State) -> float:
        return _risen(after[array], before[array])

    return of


@dataclass(frozen=True)
class Difference:
    """The first place where device and reference differ.

    ``clock`` says what a tick is, here and below.
    """

    clock: str
    tick: int
    phase: str
    array: str
    index: tuple[int, ...]
    device_value: Any
    reference_value: Any

    def __str__(self) -> str:
        return (
            f"{self.clock} {self.tick}, phase {self.phase}, array {self.array}, "
            f"index {list(self.index)}: "
            f"device {self.device_value!r}, reference {self.reference_value!r}"
        )


@dataclass(frozen=True)
class Coverage:
    """What has happened on the ticks compared; ``str`` is what to print.

    Attributes
    ----------
    acted : how often each phase of the run has changed an array
    counts : how often what the workload counts has happened
    totals : the same, added up for people
    shown_by : for what has not happened, a tick of the run on which it does, where one is known
    nowhere : what happens on no tick of the run, as far as the device went to see
    """

    clock: str
    acted: Mapping[str, int]
    counts: Mapping[str, float]
    totals: Mapping[str, float]
    shown_by: Mapping[str, int]
    nowhere: frozenset[str]

    @property
    def missing(self) -> list[str]:
        """Phases that never acted, and what was counted and has never happened."""
        return [name for name, often in {**self.acted, **self.counts}.items() if not often]

    def __str__(self) -> str:
        acted = sum(1 for often in self.acted.values() if often)
        if acted == len(self.acted) == 1:
            phases = "the only phase"
        elif acted == len(self.acted):
            phases = f"all {acted} phases"
        else:
            phases = f"{acted} of {counted(len(self.acted), 'phase')}"
        totals = ", ".join(f"{n:,.0f} {total}" for total, n in self.totals.items() if n)
        lines = [f"{phases} acted" + (f": {totals}" if totals else "")]
        here = [
            f"{name} ({self.clock} {self.shown_by[name]} has it)" if name in self.shown_by else name
            for name in self.missing
            if name not in self.nowhere
        ]
        if here:
            lines.append(
                f"warning: did not happen on the {plural(self.clock)} compared: {', '.join(here)}"
            )
        if self.nowhere:
            names = [name for name in self.missing if name in self.nowhere]
            lines.append(f"warning: happens on no {self.clock} of this run: {', '.join(names)}")
        return "\n".join(lines)


@dataclass(frozen=True)
class VerifyReport:
    """The outcome of running device and reference side by side; ``str`` is what to print.

    Attributes
    ----------
    ticks : number of ticks compared, or to be compared if there is a difference
    arrays : number of arrays compared after every phase
    after : tick of the checkpoint from which both began; 0: from the start
    windows : first and last of the ticks compared one after the other; tick 0 belongs to tick 1
    coverage : what has happened on these ticks; None if there is a difference
    """

    identical: bool
    clock: str
    ticks: int
    arrays: int
    device: str
    difference: Difference | None = None
    after: int = 0
    windows: tuple[tuple[int, int], ...] = ()
    coverage: Coverage | None = None

    def __str__(self) -> str:
        if self.difference is not None:
            return f"different: {self.difference}"
        ticks = counted(self.ticks, self.clock)
        if len(self.windows) > 1:
            ticks += f" ({_written(self.windows)})"
        elif self.after:
            ticks += f" from {self.clock} {self.after + 1} on"
        first = f"identical: {ticks}, {self.arrays} arrays"
        return first if self.coverage is None else f"{first}\n{self.coverage}"


def _risen(before: NDArray[Any], after: NDArray[Any]) -> float:
    """Add up the rises of an array, also of unsigned numbers, whose differences would wrap."""
    more = after > before
    return float((after[more] - before[more]).sum())


def _written(windows: Sequence[tuple[int, int]]) -> str:
    """Write ticks as people do: ``1 to 2, 24, 99 to 100``."""
    return ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in windows)
