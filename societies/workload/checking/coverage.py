"""What does a comparison report? The first difference, and which phases and events it covered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from societies.words import counted, plural
from societies.workload.declare.fields import State
from societies.workload.running.state import one_nan


@dataclass(frozen=True)
class Difference:
    """The first element in which device and reference differ.

    ``clock`` is the name of a tick, as in the classes below.
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


def first_difference(
    clock: str, tick: int, phase: str, found: State, expected: State
) -> Difference | None:
    """Return the first element in which two states differ, in the order of ``expected``."""
    for name, wanted in expected.items():
        got, bits = found[name], wanted.dtype.str.replace("f", "u")
        differs = one_nan(got).view(bits) != one_nan(wanted).view(bits)
        for index in map(tuple, np.argwhere(differs).tolist()):
            values = got[index].item(), wanted[index].item()
            return Difference(clock, tick, phase, name, index, *values)
    return None


def first_different_event(
    clock: str, tick: int, phase: str, found: State, expected: State
) -> Difference | None:
    """Return the first difference in the lists of events of a tick: their length, or a number.

    The index is that of the copy, or those of copy, row of the copy and column.
    """
    for name, wanted in expected.items():
        got, what = found[name], f"events {name}"
        if np.array_equal(got, wanted):
            continue
        for copy in np.union1d(got[:, 0], wanted[:, 0]).tolist():
            ours, theirs = (rows[rows[:, 0] == copy, 1:] for rows in (got, wanted))
            counts = len(ours), len(theirs)
            if counts[0] != counts[1]:
                return Difference(clock, tick, phase, f"{what}, number of rows", (copy,), *counts)
            for row, column in np.argwhere(ours != theirs).tolist():
                values = ours[row, column].item(), theirs[row, column].item()
                return Difference(clock, tick, phase, what, (copy, row, column), *values)
    return None


@dataclass(frozen=True)
class Coverage:
    """Phases that acted and events that happened in the compared ticks; ``str`` is the report.

    Attributes
    ----------
    acted : how often each phase of the run has changed an array
    counts : number of events of each kind that the workload counts
    totals : sums of these counts, as printed
    shown_by : for phases and events that are missing, a tick of the run that has them, if known
    nowhere : events that happen at no tick of the run
    """

    clock: str
    acted: Mapping[str, int]
    counts: Mapping[str, float]
    totals: Mapping[str, float]
    shown_by: Mapping[str, int]
    nowhere: frozenset[str]

    @property
    def missing(self) -> list[str]:
        """Phases that never acted, and kinds of events that never happened."""
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
    """The result of comparing device and reference; ``str`` is the printed report.

    Attributes
    ----------
    ticks : number of compared ticks, or of planned ones if there is a difference
    arrays : number of arrays compared after every phase
    after : tick of the checkpoint from which both began; 0: from the start
    windows : first and last tick of each run of consecutive compared ticks; tick 0 counts to tick 1
    coverage : phases and events in these ticks; None if there is a difference
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


def _written(windows: Sequence[tuple[int, int]]) -> str:
    """Return ticks as text: ``1 to 2, 24, 99 to 100``."""
    return ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in windows)
