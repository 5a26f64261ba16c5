"""What did a run do? The report that `societies.run` returns and the command line prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from societies.output import open_results, units_of
from societies.words import plural
from societies.workload.running.profile import Profile


def _number(value: float) -> str:
    """Return a number with six digits; whole numbers from a million on with all their digits."""
    return f"{value:,.0f}" if abs(value) >= 1e6 and value == round(value) else f"{value:.6g}"


@dataclass(frozen=True)
class RunReport:
    """What a run did.

    Attributes also have the workload's own names: if it counts in days, ``first_day`` and ``days``
    are `first_tick` and `last_tick`; if its copies are societies, ``societies`` is `copies`.

    Attributes
    ----------
    workload : the workload that ran
    config : its configuration
    path : path of the file
    first_tick, last_tick : int
        First and last tick of this run; ``first_tick > last_tick`` if there was nothing to do.
    wall_seconds : float, duration of the whole run, including the building of kernels
    building_seconds : float, time to open the device and to build kernels or load them from cache
    final : mean over copies of every series at the last tick
    state_sha256 : hash of the complete state at the end; equal on every device
    ended : why the run ended before the last tick of its configuration; empty if it did not
    profile : times of every phase, if they were requested and at least one tick was run
    """

    workload: Any = field(repr=False)
    config: Any = field(repr=False)
    path: Path
    first_tick: int
    last_tick: int
    device: str
    wall_seconds: float
    building_seconds: float
    final: dict[str, float]
    state_sha256: str
    ended: str = ""
    profile: Profile | None = field(default=None, repr=False)

    def __getattr__(self, name: str) -> int:
        if not name.startswith("_"):
            clock, copies = self.workload.clock, plural(self.workload.copies)
            words = {
                f"first_{clock}": "first_tick",
                plural(clock): "last_tick",
                copies: "copies",
            }
            if name in words:
                return int(getattr(self, words[name]))
        raise AttributeError(f"a report of this run has no '{name}'")

    @property
    def copies(self) -> int:
        """Number of copies in this run."""
        return int(self.workload.count(self.config))

    @property
    def work_per_second(self) -> float:
        """Units of work (``workload.work``) of this run per second, without `building_seconds`.

        If the workload measures the time of its ticks, only that time counts.
        """
        work, seconds = self._work
        return work / (seconds or self.wall_seconds - self.building_seconds)

    @property
    def tick_seconds(self) -> float:
        """Measured seconds of the ticks of this run, without building; 0 if not measured."""
        return self._work[1]

    @cached_property
    def _work(self) -> tuple[float, float]:
        """Units of work in this run, and the measured seconds of its ticks (0 if not measured)."""
        ticks, counted = self.last_tick - self.first_tick + 1, self.workload.counted_by
        if not counted:
            return float(self.workload.work_done(self.config, ticks)), 0.0
        with open_results(self.path) as results:
            now = results.sel({self.workload.clock: slice(self.first_tick, self.last_tick)})
            measured = float(now["seconds"].sum()) if "seconds" in now else 0.0
            return float(now[counted].sum()), measured

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Closing table: results of the last tick with the file's names and units, then the run."""
        return self._rows(self.headlines)

    @property
    def rows_of_run(self) -> list[tuple[str, str]]:
        """Closing table without results of the last tick, for reports that show others."""
        return self._rows(())

    def _rows(self, names: Sequence[str]) -> list[tuple[str, str]]:
        clock = self.workload.clock
        units = units_of(self.path, names)
        over = self.means_over
        rows = [(f"last {clock}", f"{self.last_tick}{f', means over {over}' if over else ''}")]
        if self.ended:
            rows.append(("ended because", self.ended))
        complete = self.first_tick > self.last_tick
        if complete and self.last_tick:  # if it is 0, the run was over before its first tick
            rows.append((f"{plural(clock)} run now", "none, the file was complete"))
        elif self.first_tick > 1:
            rows.append((f"{plural(clock)} run now", f"{self.first_tick} to {self.last_tick}"))
        for name, unit in zip(names, units, strict=True):
            value = _number(self.final[name])
            rows.append((name.replace("_", " "), value if unit == "1" else f"{value} {unit}"))
        rows.append(("device", self.device))
        if not complete:
            setup = f", of which {self.building_seconds:.1f} s to build kernels"
            shown = setup if self.building_seconds >= 0.05 else ""
            rows.append(("wall time", f"{self.wall_seconds:.1f} s{shown}"))
            if self.tick_seconds:
                rows.append((f"time of {plural(clock)}", f"{self.tick_seconds:.4g} s"))
            work = plural(self.workload.work)
            rows.append((f"{work} per second", f"{self.work_per_second:,.0f}"))
        return [*rows, ("state sha256", self.state_sha256), ("written to", str(self.path))]

    @property
    def headlines(self) -> list[str]:
        """Series of the closing table."""
        chosen = self.workload.headlines() or self.final
        return [name for name in chosen if name in self.final]

    @property
    def means_over(self) -> str:
        """The copies over which the closing table has means; empty if there is only one."""
        return "" if self.copies == 1 else f"{self.copies} {plural(self.workload.copies)}"
