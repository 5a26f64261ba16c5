"""Do a device and the reference agree, and on what was that tried? The same for all workloads.

Both carry out the same steps side by side, and every array is compared after every step. Equal
bits say nothing of a rule that had nothing to do, so it is noted which phases changed anything and
how often what the workload counts (`Count`) has happened. What did not happen is told as a warning.

Unless days are asked for, a long run is compared at several times only: on its first days, on days
spread over it, and on days on which what a workload counts happens that would else be missed. The
device runs on to each of them and hands its state to the reference.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError, override

State = Mapping[str, NDArray[Any]]
Progress = Callable[[int, int, str], None]
"""Called with the days compared so far, those to be compared, and what is being done."""

FIRST_DAYS = 2
"""Days compared at the start of a run that is not compared as a whole."""

TIMES, DAYS_AT_A_TIME = 3, 2
"""Further times, the last of them the end of the run, and the days compared at each."""

MOST_SINGLE_DAYS = 8
"""Days that may be added because something happens on them that no other of the days shows."""

ALL_DAYS = FIRST_DAYS + TIMES * DAYS_AT_A_TIME + MOST_SINGLE_DAYS
"""A run of so many days is compared as a whole: so much may be compared of any other."""

_BLOCK = 64
_HINT_SECONDS = 5.0

S_contra = TypeVar("S_contra", contravariant=True)
S = TypeVar("S")


class Engine(Protocol[S_contra]):
    """What is needed of either side."""

    def step(self, step: S_contra, day: int, /) -> None:
        """Run one step of a day."""

    def run_days(self, first: int, last: int) -> NDArray[np.float64]:
        """Run days first to last (at most 64); (society, day, series) float64."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Return a copy of every array of the state."""

    def load(self, state: State) -> None:
        """Replace the kept arrays of the state; all others are as before day 1."""


@dataclass(frozen=True)
class Count:
    """Something that a phase may do, such as a trade: told where a changed array says too little.

    Attributes
    ----------
    phases : in which it may happen: ``production`` or, of several of a kind, ``own_use (tool)``
    of : function of the states before and after such a phase; how often it has happened
    total : under which name it is added up for people, together with its like
    series : series of which one is neither 0 nor NaN on a day on which it happens, and only then;
        empty if no series tells. Where there are any, `verify` finds such a day.
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
class Subject(Generic[S]):
    """What a workload says of itself to be compared.

    Attributes
    ----------
    engine, reference : both sides
    device : name of the first, for people
    days : days of the configuration
    schedule : function of the day; its steps, those before day 1 for day 0
    kept : function of a state; what of it a checkpoint holds
    series : names of what `Engine.run_days` returns
    counts : what is counted, by name
    phase : function of step and day; under which name it is noted whether it did anything
    """

    engine: Engine[S]
    reference: Engine[S]
    device: str
    days: int
    schedule: Callable[[int], Sequence[S]]
    kept: Callable[[State], State]
    series: Sequence[str] = ()
    counts: Mapping[str, Count] = field(default_factory=dict)
    phase: Callable[[S, int], str] = lambda step, day: str(step)


@dataclass(frozen=True)
class Difference:
    """The first place where device and reference differ."""

    day: int
    phase: str
    array: str
    index: tuple[int, ...]
    device_value: Any
    reference_value: Any

    def __str__(self) -> str:
        return (
            f"day {self.day}, phase {self.phase}, array {self.array}, index {list(self.index)}: "
            f"device {self.device_value!r}, reference {self.reference_value!r}"
        )


@dataclass(frozen=True)
class Coverage:
    """What has happened on the days compared; ``str`` is what to print.

    Attributes
    ----------
    acted : how often each phase of the run has changed an array
    counts : how often what the workload counts has happened
    totals : the same, added up for people
    shown_by : for what has not happened, a day of the run on which it does, where one is known
    nowhere : what happens on no day of the run, as far as the device went to see
    """

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
        every = "all" if acted == len(self.acted) else f"{acted} of"
        totals = ", ".join(f"{n:,.0f} {total}" for total, n in self.totals.items() if n)
        lines = [f"{every} {len(self.acted)} phases acted" + (f": {totals}" if totals else "")]
        here = [
            f"{name} (day {self.shown_by[name]} has it)" if name in self.shown_by else name
            for name in self.missing
            if name not in self.nowhere
        ]
        if here:
            lines.append(f"warning: did not happen on the days compared: {', '.join(here)}")
        if self.nowhere:
            names = [name for name in self.missing if name in self.nowhere]
            lines.append(f"warning: happens on no day of this run: {', '.join(names)}")
        return "\n".join(lines)


@dataclass(frozen=True)
class VerifyReport:
    """The outcome of running device and reference side by side; ``str`` is what to print.

    Attributes
    ----------
    days : number of days compared, or to be compared if there is a difference
    arrays : number of arrays compared after every phase
    after : day of the checkpoint from which both began; 0: from the start
    windows : first and last of the days compared one after the other; day 0 belongs to day 1
    coverage : what has happened on these days; None if there is a difference
    """

    identical: bool
    days: int
    arrays: int
    device: str
    difference: Difference | None = None
    after: int = 0
    windows: tuple[tuple[int, int], ...] = ()
    coverage: Coverage | None = None

    def __str__(self) -> str:
        if self.difference is not None:
            return f"different: {self.difference}"
        days = f"{self.days} day{'' if self.days == 1 else 's'}"
        if len(self.windows) > 1:
            days += f" ({_written(self.windows)})"
        elif self.after:
            days += f" from day {self.after + 1} on"
        first = f"identical: {days}, {self.arrays} arrays"
        return first if self.coverage is None else f"{first}\n{self.coverage}"


def verify(
    subject: Subject[S],
    *,
    days: int | None = None,
    begin: tuple[int, State] | None = None,
    progress: Progress | None = None,
) -> VerifyReport:
    """Compare both sides after every step; stop at the first difference.

    Parameters
    ----------
    subject : Subject
    days : int, optional
        Compare so many days. Default: all from ``begin`` on or, without it, of a run of more than
        `ALL_DAYS` days a part; see the top of this module.
    begin : day and state of a checkpoint, optional
        Begin after it instead of with day 0.

    Raises
    ------
    ConfigError
        If more days are asked for than the configuration has.
    """
    began = time.perf_counter()
    after = begin[0] if begin else 0
    asked = days_to_verify(days, subject.days, after)
    if begin:
        subject.engine.load(begin[1])
        subject.reference.load(begin[1])
    some = days is None and begin is None and asked > ALL_DAYS
    comparison = _Comparison(subject, progress, ALL_DAYS if some else asked)
    windows = [(after + 1, after + (FIRST_DAYS if some else asked))]
    comparison.window(after + 1 if begin else 0, windows[0][1])
    happens: dict[str, list[int]] = {}
    seen = True
    if comparison.difference is None and some:
        morning = subject.kept(subject.engine.state())
        happens, seen = comparison.look_ahead(FIRST_DAYS + 1)
        subject.engine.load(morning)
        subject.reference.load(morning)
        windows = chosen_windows(subject.days, happens)
        comparison.planned = _length(windows)
        compared = FIRST_DAYS
        for first, last in windows:
            if comparison.difference is None and last > compared:
                comparison.run_on(compared + 1, first - 1)
                comparison.window(max(first, compared + 1), last)
                compared = last
    elif comparison.difference is None:
        seconds = max(_HINT_SECONDS, time.perf_counter() - began)
        happens, seen = comparison.look_ahead(windows[0][1] + 1, seconds)
        seen = seen and not begin  # nothing is known of the days before a checkpoint
    found = comparison.difference
    return VerifyReport(
        identical=found is None,
        days=_length(windows),
        arrays=comparison.arrays,
        device=subject.device,
        difference=found,
        after=after,
        windows=tuple(windows),
        coverage=None if found else comparison.coverage(after, happens, seen),
    )


def chosen_windows(days: int, happens: Mapping[str, Sequence[int]]) -> list[tuple[int, int]]:
    """Return first and last of the days to compare of a run that is not compared as a whole.

    Parameters
    ----------
    days : int, of the run; more than `ALL_DAYS`
    happens : for what the first days do not show, the days on which it happens
    """
    chosen = set(range(1, FIRST_DAYS + 1))
    for i in range(1, TIMES + 1):
        end = days * i // TIMES
        chosen.update(range(end - DAYS_AT_A_TIME + 1, end + 1))
    most = len(chosen) + MOST_SINGLE_DAYS
    missed = {name: set(at) for name, at in happens.items() if at and not chosen & set(at)}
    while missed and len(chosen) < most:
        candidates = sorted(set().union(*missed.values()))
        day = max(candidates, key=lambda d: sum(d in at for at in missed.values()))
        chosen.add(day)
        missed = {name: at for name, at in missed.items() if day not in at}
    windows: list[tuple[int, int]] = []
    for day in sorted(chosen):
        if windows and windows[-1][1] == day - 1:
            windows[-1] = (windows[-1][0], day)
        else:
            windows.append((day, day))
    return windows


class _Comparison(Generic[S]):
    """Both sides, and what has happened on the days compared so far."""

    def __init__(self, subject: Subject[S], progress: Progress | None, planned: int) -> None:
        self.subject, self.planned = subject, planned
        self.difference: Difference | None = None
        self.arrays = 0
        self._progress = progress or (lambda done, days, doing: None)
        self._done = 0
        self._acted: dict[str, int] = {}
        self._counts: dict[str, float] = dict.fromkeys(subject.counts, 0)
        self._due: dict[str, list[int]] = {}  # days of every phase of the run
        for day in range(subject.days + 1):
            for name in {subject.phase(step, day): None for step in subject.schedule(day)}:
                self._due.setdefault(name, []).append(day)

    def window(self, first: int, last: int) -> None:
        """Compare these days; without effect once there is a difference."""
        if self.difference is not None:
            return
        engine, reference = self.subject.engine, self.subject.reference
        before = engine.state()
        self.arrays = len(before)
        for day in range(first, last + 1):
            for step in self.subject.schedule(day):
                self._tell(f"day {day}, {step}, device")
                engine.step(step, day)
                after = engine.state()
                self._tell(f"day {day}, {step}, reference")
                reference.step(step, day)
                self.difference = first_difference(day, str(step), after, reference.state())
                if self.difference is not None:
                    return
                self._note(self.subject.phase(step, day), before, after)
                before = after
            self._done += day > 0
        self._tell(f"day {last} is equal")

    def _note(self, phase: str, before: State, after: State) -> None:
        """Note whether a phase did anything, and what of that is counted."""
        changed = any(after[name].tobytes() != before[name].tobytes() for name in after)
        self._acted[phase] = self._acted.get(phase, 0) + changed
        for name, count in self.subject.counts.items() if changed else ():
            if phase in count.phases or phase.partition(" (")[0] in count.phases:
                self._counts[name] += count.of(before, after)

    def run_on(self, first: int, last: int) -> None:
        """Let the device run these days alone, then hand its state to both sides.

        The device is given it too: both then begin alike in what a checkpoint leaves out.
        """
        if first > last:
            return
        for day in range(first, last + 1, _BLOCK):
            end = min(day + _BLOCK - 1, last)
            self._tell(f"days {day} to {end}, device alone")
            self.subject.engine.run_days(day, end)
        state = self.subject.kept(self.subject.engine.state())
        self.subject.engine.load(state)
        self.subject.reference.load(state)

    def look_ahead(
        self, first: int, seconds: float | None = None
    ) -> tuple[dict[str, list[int]], bool]:
        """Let the device run on and see when happens what has not happened so far.

        Parameters
        ----------
        first : int, the next day
        seconds : float, optional
            Stop after so long, or when everything has been seen once.

        Returns
        -------
        Days on which it happens, by name, and whether the device came to the end of the run.
        """
        happens = {name: days for name, days in self._due.items() if name not in self._acted}
        places = {name: i for i, name in enumerate(self.subject.series)}
        told = {name: [places[one] for one in self._series(name)] for name in self._counts}
        unseen = {name for name in told if told[name] and not self._counts[name]}
        began, size, last = time.perf_counter(), 1, self.subject.days
        while unseen and first <= last:
            late = seconds is not None and time.perf_counter() - began > seconds
            if late or (seconds is not None and unseen <= happens.keys()):
                return happens, False
            end = min(first + size - 1, last)
            self._tell(f"days {first} to {end}, device alone, to see when what happens")
            series = self.subject.engine.run_days(first, end)
            for name in unseen:
                at = np.nan_to_num(series[:, :, told[name]]).any(axis=(0, 2))
                if at.any():
                    found = (first + np.flatnonzero(at)).tolist()
                    happens[name] = [*happens.get(name, []), *found]
            first, size = end + 1, min(2 * size, _BLOCK)
        return happens, True

    def coverage(self, after: int, happens: Mapping[str, Sequence[int]], seen: bool) -> Coverage:
        """Return what has happened, and where else happens what has not.

        Parameters
        ----------
        after : int, day of the checkpoint at which the comparison began
        happens, seen : what `look_ahead` returned
        """
        totals: dict[str, float] = {}
        for name, count in self.subject.counts.items():
            totals[count.total] = totals.get(count.total, 0) + self._counts[name]
        due = [name for name, days in self._due.items() if not after or days[-1] > after]
        acted = {name: self._acted.get(name, 0) for name in due}
        missing = [name for name, often in {**acted, **self._counts}.items() if not often]
        return Coverage(
            acted=acted,
            counts=dict(self._counts),
            totals=totals,
            shown_by={name: min(happens[name]) for name in missing if happens.get(name)},
            nowhere=frozenset(
                name for name in missing if seen and self._series(name) and name not in happens
            ),
        )

    def _series(self, name: str) -> tuple[str, ...]:
        """Return the series that tell when something counted happens; none of a phase."""
        return self.subject.counts[name].series if name in self.subject.counts else ()

    def _tell(self, doing: str) -> None:
        self._progress(self._done, self.planned, doing)


def first_difference(day: int, phase: str, found: State, expected: State) -> Difference | None:
    """Return the first place where two states differ in a bit, in the order of ``expected``."""
    for name, b in expected.items():
        a = found[name]
        if a.tobytes() == b.tobytes():
            continue
        bits = a.dtype.str.replace("f", "u")
        different = np.argwhere(a.view(bits) != b.view(bits))
        if len(different):
            index = tuple(int(i) for i in different[0])
            return Difference(day, phase, name, index, a[index].item(), b[index].item())
    return None


def days_to_verify(asked: int | None, days: int, after: int = 0) -> int:
    """Return how many days to compare, after the day of a checkpoint.

    Raises
    ------
    ConfigError
        If more days are asked for than the configuration has.
    """
    if after and after + (asked or 1) > days:
        raise ConfigError(
            f"verify: the checkpoint is of day {after}, the configuration has {days} days; "
            f"raise it with {override(f'days={after + (asked or 1)}')}"
        )
    days -= after
    if asked is not None and not 1 <= asked <= days:
        raise ConfigError(
            f"verify: {asked} days are asked for, the configuration has {days}; "
            f"raise it with {override(f'days={asked}')}"
            if asked > 0
            else f"verify: {asked} days are asked for; there must be at least 1"
        )
    return days if asked is None else asked


def _risen(before: NDArray[Any], after: NDArray[Any]) -> float:
    """Add up what has become more; of unsigned numbers too, where a difference would wrap."""
    more = after > before
    return float((after[more] - before[more]).sum())


def _length(windows: Sequence[tuple[int, int]]) -> int:
    return sum(last - first + 1 for first, last in windows)


def _written(windows: Sequence[tuple[int, int]]) -> str:
    """Write days as people do: ``1 to 2, 24, 99 to 100``."""
    return ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in windows)
