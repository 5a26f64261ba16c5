"""Do a device and the reference compute the same bits, in any workload?

Both run the same steps, and every array is compared after every step. Equal bits prove nothing
about a rule that was not applied, so the report says which phases changed anything and how often
the events that the workload counts (`Count`) happened. A warning names those that did not happen.

If the number of ticks is not given, only parts of a long run are compared: its first ticks, some
ticks spread over the run, and ticks with counted events that are missing in the others. The device
runs alone to each of them, and the reference then starts from the device's state.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from societies.config.model import accepts
from societies.errors import ConfigError, option
from societies.opencl import Device
from societies.words import plural
from societies.workload.checking.coverage import (
    Coverage,
    Difference,
    VerifyReport,
    first_difference,
    first_different_event,
)
from societies.workload.checking.windows import (
    ALL_TICKS,
    FIRST_TICKS,
    chosen_windows,
    joined,
    length,
    ticks_to_verify,
)
from societies.workload.declare.fields import SERIES, State
from societies.workload.declare.phases import Step
from societies.workload.declare.protocol import Setup
from societies.workload.running.batches import engine_of
from societies.workload.running.devices import REFERENCE
from societies.workload.running.engines import ENDED, FINISH, LOG_TICKS, ReferenceEngine, ended_at
from societies.workload.running.file import checkpoint_of
from societies.workload.running.plan import NotKnown, Unseen
from societies.workload.running.request import Config, setup_of, ticks_of
from societies.workload.running.state import checkpointed
from societies.workload.running.verified import note_verified

Progress = Callable[[int, int, str], None]
"""Called with the number of ticks compared so far, their planned number, and the present action."""

MOST_LISTED = 10_000
"""Number of ticks whose steps are listed in advance, to find the ticks of rare phases."""

_HINT_SECONDS = 5.0


def verify(
    config: Config,
    *,
    device: str | Device = "auto",
    ticks: int | None = None,
    start: str | Path | None = None,
    table: Any = None,
    progress: Progress | None = None,
    **clock: int | None,
) -> VerifyReport:
    """Run device and reference step by step and compare every array after every phase.

    Parameters
    ----------
    ticks : int, optional
        Number of first ticks to compare; the name of the clock can be used too (``days=3``).
        Default: all ticks of a short run; for a longer run the first ticks and some later ones,
        with the device running alone in between.
    start : a result of this configuration (ticks and ``record`` may differ): begin with its newest
        checkpoint instead of tick 0, and compare ``ticks`` ticks after it, or all
    table : xarray.Dataset, dict of arrays or path of a CSV file, optional
        As for `run`.
    progress : called before every step with (ticks compared, ticks to compare, text on the step)

    Returns
    -------
    VerifyReport
        With ``identical`` and, if False, the first ``difference``: tick, phase, array, index and
        both values; else ``coverage``: the phases that changed anything at these ticks, the counts
        that the workload defines, and those that stayed 0 (``coverage.missing``).
        ``str(report)`` is a summary of a few lines.
    """
    setup = setup_of(config, table, called="verify")
    workload, word = setup.workload, setup.workload.clock
    ticks = ticks_of(plural(workload.clock), ticks, clock)
    began = time.perf_counter()
    if why := workload.not_repeatable(setup.config):
        raise ConfigError(f"verify: a run of this cannot be repeated: {why}")
    begin = checkpoint_of(setup, Path(start)) if start else None
    after = begin[0] if begin else 0
    possible = partial(accepts, workload.config, workload.ticks_key)
    # Checked before any kernel is built.
    asked = ticks_to_verify(word, ticks, setup.ticks, after, workload.ticks_key, possible)
    if begin and ended_at(begin[1]) is not None:
        raise ConfigError(
            f"verify: the run of {start} ended at {word} {after}: there is no {word} left to "
            f"compare\ncompare from the beginning, without {option('start')}"
        )
    comparison = Comparison(setup, device, progress)
    if begin:
        comparison.load(begin[1])
    some = ticks is None and begin is None and asked > ALL_TICKS
    comparison.planned = ALL_TICKS if some else asked
    last = after + (FIRST_TICKS if some else asked)
    windows, coverage = [(after + 1, last)], None
    comparison.window(after + 1 if begin else 0, last)
    if comparison.difference is None:
        if some:
            before = comparison.engine.state()
            happens, seen = comparison.look_ahead(last + 1)
            comparison.load(before)
            windows = chosen_windows(comparison.end, happens)
            comparison.planned = length(windows)
            comparison.compare(windows, last)
        else:
            seconds = max(_HINT_SECONDS, time.perf_counter() - began)
            happens, seen = comparison.look_ahead(last + 1, seconds)
            seen = seen and not begin  # the ticks before a checkpoint were not looked at
    if comparison.difference is None:
        windows = comparison.windows
        coverage = comparison.coverage(after, happens, seen)
        if comparison.device != REFERENCE:
            note_verified(setup)
    return VerifyReport(
        identical=comparison.difference is None,
        clock=word,
        ticks=length(windows),
        arrays=comparison.arrays,
        device=comparison.device,
        difference=comparison.difference,
        after=after,
        windows=tuple(windows),
        coverage=coverage,
    )


class Comparison:
    """The engines of device and reference, and the results of the ticks compared so far.

    Attributes
    ----------
    engine, reference : engines of the device and of the reference
    device : displayed name of the device
    planned : number of ticks to compare
    end : last tick of the run as far as known; it may be less than the number in the configuration
    windows : first and last tick of each run of consecutive compared ticks
    difference : first difference, or None
    """

    def __init__(
        self, setup: Setup[Any, Any], device: str | Device, progress: Progress | None
    ) -> None:
        workload = setup.workload
        self.workload, self.clock, self._last = workload, workload.clock, setup.ticks
        self.engine, self.device, _ = engine_of(setup, device)
        p = self._p = self.engine.parameters  # fitted to the device, and used by both sides
        self.reference = ReferenceEngine(workload, p, first=setup.first, copies=setup.copies)
        self._fields = workload.arrays(p)
        self._kinds = dict(workload.counts(p))
        named = {*self._kinds, *(count.total for count in self._kinds.values())}
        self._counted = [name for name in workload.events(p) if name not in named]
        columns = chain.from_iterable(workload.columns(p).values())
        self._places = {name: i for i, name in enumerate(columns)}
        self.planned, self.end = 0, self._last
        self.windows: list[tuple[int, int]] = []
        self.difference: Difference | None = None
        self.arrays = sum(field.compared for field in self._fields.values())
        self._progress = progress or (lambda done, ticks, doing: None)
        self._done = 0
        self._acted: dict[str, int] = {}
        self._counts: dict[str, float] = dict.fromkeys([*self._kinds, *self._counted], 0)
        self._due = self._listed(p)  # the ticks of every phase of the run, if known in advance

    def _listed(self, p: Any) -> dict[str, list[int]]:
        due: dict[str, list[int]] = {}
        ticks = range(min(self._last, MOST_LISTED) + 1)
        try:
            for tick in ticks:
                steps = self.workload.schedule(p, tick, Unseen())
                for name in {self.workload.part(step, tick): None for step in steps}:
                    due.setdefault(name, []).append(tick)
        except NotKnown:  # the steps depend on the state, so phases are not known in advance
            return {}
        return due

    def load(self, state: State) -> None:
        """Load a state into both sides; arrays that checkpoints lack get equal values in both."""
        saved = checkpointed(self._fields, state)
        self.engine.load(saved)
        self.reference.load(saved)

    def window(self, first: int, last: int) -> None:
        """Compare these ticks; do nothing if there is a difference or all copies have ended."""
        if self.difference is not None or (first > 0 and self.engine.ended() is not None):
            return  # `ended` is not yet defined before tick 0
        for tick in range(first, last + 1):
            self.difference = self._tick(tick)
            if self.difference is not None:
                return
            self._done += tick > 0
            if tick:
                self.windows.append((tick, tick))
            if self.engine.ended() is not None:
                break
        self._note_end()
        self.windows = joined(self.windows)
        self._tell(f"{self.clock} {min(last, self.end)} is equal")

    def compare(self, windows: Sequence[tuple[int, int]], last: int) -> None:
        """Compare windows of ticks after the tick ``last``, up to the first difference."""
        for first, end in windows:
            if self.difference is not None:
                return
            self.run_on(last + 1, first - 1)
            self.window(max(first, last + 1), end)
            last = end

    def _tick(self, tick: int) -> Difference | None:
        """Compare the steps of a tick, and after the run's last tick those of `finish`."""
        found = self._compare(self.engine.steps(tick), tick)
        if found is None and (tick == self._last or self.engine.ended() is not None):
            found = self._compare(self.workload.finish(self._p), FINISH)
        return found

    def _compare(self, steps: Iterable[Step], tick: int) -> Difference | None:
        """Run some steps on both sides, and compare after each."""
        before, rows = self.engine.state(), dict[str, int]()
        for one in (self.engine, self.reference):
            one.forget_events()
        for step in steps:
            # The reference first: it names the line of a rule whose index is beyond a list, where
            # the device would write into the memory of others.
            self._tell(f"{self.clock} {tick}, {step}, reference")
            self.reference.step(step, tick)
            self._tell(f"{self.clock} {tick}, {step}, device")
            self.engine.step(step, tick)
            after = self.engine.state()
            found = self.first_difference(tick, str(step), after, self.reference.state())
            got, wanted = self.engine.events(), self.reference.events()
            found = found or first_different_event(self.clock, tick, str(step), got, wanted)
            if found is not None:
                return found
            more = {name: len(own) - rows.get(name, 0) for name, own in got.items()}
            self._note(self.workload.part(step, tick), before, after, more)
            before, rows = after, {name: len(own) for name, own in got.items()}
        return None

    def first_difference(
        self, tick: int, phase: str, found: State, expected: State
    ) -> Difference | None:
        """Return the first element of the compared arrays in which two states differ."""
        compared = {name: a for name, a in expected.items() if self._fields[name].compared}
        return first_difference(self.clock, tick, phase, found, compared)

    def _note(self, phase: str, before: State, after: State, rows: Mapping[str, int]) -> None:
        """Record whether a phase changed anything or appended rows, and count its events."""
        changed = any(after[name].tobytes() != before[name].tobytes() for name in after)
        for name, more in rows.items():
            changed |= more > 0
            if name in self._counted:
                self._counts[name] += more
        self._acted[phase] = self._acted.get(phase, 0) + changed
        for name, count in self._kinds.items() if changed else ():
            if phase in count.phases or phase.partition(" (")[0] in count.phases:
                self._counts[name] += count.of(before, after)

    def run_on(self, first: int, last: int) -> None:
        """Let the device run these ticks alone, then load its state into both sides.

        The device loads it too, so that arrays that checkpoints lack have equal values in both.
        """
        if first > last:
            return
        for tick in range(first, last + 1, LOG_TICKS):
            if self.engine.ended() is not None:
                return
            end = min(tick + LOG_TICKS - 1, last)
            self._tell(f"{plural(self.clock)} {tick} to {end}, device alone")
            self.engine.run_ticks(tick, end)
        self.load(self.engine.state())

    def look_ahead(
        self, first: int, seconds: float | None = None
    ) -> tuple[dict[str, list[int]], bool]:
        """Let the device run on from ``first``; return the ticks of missing phases and events.

        It stops at the end of the run or, if ``seconds`` are given, after this time or when all of
        them have happened once. The second result says whether it reached the end.
        """
        happens = {name: ticks for name, ticks in self._due.items() if name not in self._acted}
        places = {name: [self._places[one] for one in self._series(name)] for name in self._kinds}
        unseen = {name for name in places if places[name] and not self._counts[name]}
        lists = {name for name in self._counted if not self._counts[name]}
        began, size, last = time.perf_counter(), 1, self._last
        to_the_end = ENDED in self._fields and seconds is None
        while (unseen or lists or to_the_end) and first <= last and self.engine.ended() is None:
            late = seconds is not None and time.perf_counter() - began > seconds
            if late or (seconds is not None and unseen | lists <= happens.keys()):
                return happens, False
            end = min(first + size - 1, last)
            self._tell(
                f"{plural(self.clock)} {first} to {end}, device alone, to see when what happens"
            )
            self.engine.run_ticks(first, end)
            series = self.engine.logs()[SERIES] if unseen else np.empty(0)
            for name in unseen:
                at = np.nan_to_num(series[:, :, places[name]]).any(axis=(0, 2))
                if at.any():
                    found = (first + np.flatnonzero(at)).tolist()
                    happens[name] = [*happens.get(name, []), *found]
            for name in lists:
                if len(rows := self.engine.events()[name]):
                    happens[name] = [*happens.get(name, []), *np.unique(rows[:, 1]).tolist()]
            first, size = end + 1, min(2 * size, LOG_TICKS)
        self._note_end()
        return {name: [t for t in ticks if t <= self.end] for name, ticks in happens.items()}, True

    def _note_end(self) -> None:
        ended = self.engine.ended()
        if ended is not None:
            self.end = ended

    def coverage(self, after: int, happens: Mapping[str, Sequence[int]], seen: bool) -> Coverage:
        """Return what has happened after tick ``after``, and other ticks with what is missing.

        ``happens`` and ``seen`` are the results of `look_ahead`.
        """
        totals: dict[str, float] = {}
        for name, count in self._kinds.items():
            totals[count.total] = totals.get(count.total, 0) + self._counts[name]
        totals |= {f"rows of '{name}'": self._counts[name] for name in self._counted}
        begin = after + 1 if after else 0
        due = [n for n, ticks in self._due.items() if any(begin <= t <= self.end for t in ticks)]
        due += [name for name in self._acted if name not in self._due]
        acted = {name: self._acted.get(name, 0) for name in due}
        missing = [name for name, often in {**acted, **self._counts}.items() if not often]
        return Coverage(
            clock=self.clock,
            acted=acted,
            counts=dict(self._counts),
            totals=totals,
            shown_by={name: min(happens[name]) for name in missing if happens.get(name)},
            nowhere=frozenset(
                name
                for name in missing
                if seen and (self._series(name) or name in self._counted) and name not in happens
            ),
        )

    def _series(self, name: str) -> tuple[str, ...]:
        """Return the series that show when a counted event happens; none for a phase."""
        return self._kinds[name].series if name in self._kinds else ()

    def _tell(self, doing: str) -> None:
        self._progress(self._done, self.planned, doing)


REPORT_IT = "please report it; societies verify finds the phase"
"""Advice if a device's ticks are not those of the reference."""
