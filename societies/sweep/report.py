"""What is said of a sweep while it runs and when it is over?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from societies.output.study import StudyFile
from societies.output.study_layout import DONE, PENDING
from societies.words import counted
from societies.workload.running.sufficiency import duration

MOST_FAILURES = 20
"""Failures that the closing table shows."""


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes
    ----------
    done, failed : runs of this session that are over
    runs : of this session
    seconds : since its start
    """

    done: int
    failed: int
    runs: int
    seconds: float

    @property
    def left(self) -> float | None:
        """Seconds that the rest will probably take; None before anything is done."""
        over = self.done + self.failed
        return (self.runs - over) * self.seconds / over if over else None

    def __str__(self) -> str:
        over = self.done + self.failed
        failed = f", {self.failed} failed" if self.failed else ""
        if self.left is None:
            return f"{over} of {self.runs} runs"
        rate = over / max(self.seconds, 1e-9)
        left = "" if over == self.runs else f", {duration(self.left)} left"
        return f"{over} of {self.runs} runs{failed}, {rate:.3g} runs/s{left}"


Watch = Callable[[Progress], None]


@dataclass(frozen=True)
class Failure:
    """A run that failed: its number, its point's values, why."""

    run: int
    point: Mapping[str, Any]
    replicate: int
    why: str


@dataclass(frozen=True)
class SweepReport:
    """What a session of a sweep did.

    Attributes
    ----------
    path : Path of the study
    points, runs : of the whole study, or of its part
    done, pending : runs of the study by now
    computed : runs of this session that were done
    failures : all runs of the study that failed
    devices : that computed something
    seconds : wall time
    launch_seconds : of it within batches, in all processes together
    notes : what else happened, a sentence each
    """

    path: Path
    points: int
    runs: int
    done: int
    pending: int
    computed: int
    failures: Sequence[Failure]
    devices: Sequence[str]
    seconds: float
    launch_seconds: float
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The closing table."""
        rate = self.computed / max(self.seconds, 1e-9)
        state = f"{self.done} done, {len(self.failures)} failed, {self.pending} pending"
        found = [
            ("points", str(self.points)),
            ("runs", f"{self.runs}: {state}"),
            ("computed now", counted(self.computed, "run")),
        ]
        if self.computed:
            found += [
                ("device", "; ".join(self.devices)),
                ("wall time", f"{self.seconds:.3g} s, {rate:.3g} runs/s"),
            ]
        return [*found, *(("note", one) for one in self.notes), ("written to", str(self.path))]

    @property
    def failed_rows(self) -> list[tuple[str, str]]:
        """The table of failures: runs of the same point and reason together."""
        alike: dict[tuple[str, str], list[int]] = {}
        for one in self.failures:
            values = ", ".join(f"{key} {value}" for key, value in one.point.items())
            alike.setdefault((values, one.why), []).append(one.run)
        rows = []
        for (values, why), runs in list(alike.items())[:MOST_FAILURES]:
            named = f"run {runs[0]}" if len(runs) == 1 else f"runs {', '.join(map(str, runs[:8]))}"
            more = f" and {len(runs) - 8} more" if len(runs) > 8 else ""
            rows.append((f"{named}{more}", f"{values}: {' '.join(why.split())}"))
        if len(alike) > MOST_FAILURES:
            rows.append(("...", f"{len(alike) - MOST_FAILURES} more; see the variable 'error'"))
        return rows


def report_of(
    file: StudyFile,
    *,
    computed: int = 0,
    devices: Sequence[str] = (),
    seconds: float = 0.0,
    launch_seconds: float = 0.0,
    notes: Sequence[str] = (),
) -> SweepReport:
    """Return what became of a study by now."""
    failures = [
        Failure(
            int(file.runs[row]), file.points[int(file.point[row])], int(file.replicate[row]), why
        )
        for row, why in file.errors().items()
    ]
    return SweepReport(
        file.path,
        len(set(file.point.tolist())),
        len(file.runs),
        int((file.status == DONE).sum()),
        int((file.status == PENDING).sum()),
        computed,
        failures,
        devices,
        seconds,
        launch_seconds,
        notes,
    )
