"""Which keys do configurations of many workloads share?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from reference_py.primitives.rng import RANDOM_STREAMS, STREAM_GAP, stream_base
from societies.config.model import (
    LARGEST_INTEGER,
    Conflict,
    From0,
    Interval,
    Label,
    ListOf,
    Section,
    WorkloadConfig,
    key,
)
from societies.config.problems import Path
from societies.words import plural

LARGEST_SEED = 2**64 - 1
MOST_TICKS = 10_000_000
"""Largest number of days, steps or passes in a configuration: the file has a row for each."""

SEED: Any = key(
    1, "Seed of every random draw: the same seed, the same bits", "1", ge=0, le=LARGEST_SEED
)


def replicates(copies: str) -> Any:
    """Return the key ``replicates`` of a workload whose copies have this name (plural)."""
    what = f"Number of {copies} that are simulated at once and differ in their random draws"
    return key(1, what, copies, ge=1, le=LARGEST_INTEGER)


def first_copy(copy: str) -> Any:
    """Return the key of the first copy's number, of a workload whose copies have this name."""
    first = (
        f"Number of the first {copy}; {copy} k of an ensemble alone: first_{copy} k, replicates 1"
    )
    return key(0, first, "index", ge=0, le=LARGEST_INTEGER)


REPLICATES, FIRST_SOCIETY = replicates("societies"), first_copy("society")
"""Keys of every model of societies that draws random numbers."""


def changed_after(clock: str) -> Any:
    """Return the key of an intervention for the tick after which it holds."""
    return key(
        ...,
        f"The change happens at the end of this {clock}; 0: before the first {clock}",
        clock,
        ge=0,
        le=LARGEST_INTEGER,
        examples=[0],
    )


def changed_copies(copies: str) -> Any:
    """Return the key of an intervention for the numbers of the copies that it changes."""
    return key((), f"Numbers of the {copies} whose values change; empty: all", "index")


class InterventionConfig(Section):
    """Values that are changed, for good or for some time.

    Models add the tick at whose end they change, first of all, and the copies.
    """

    set: dict[str, Any] = key(
        {},
        "New values by key; only keys of kind `value` can change. A list of numbers, or a column "
        "of a CSV file, {file: F, column: C}, is a series: its first value holds on the next tick",
    )
    until: int | None = key(
        None,
        "The values hold until the end of this tick; then the earlier ones hold again. Default: to "
        "the end of the run",
        "tick",
        ge=1,
        le=LARGEST_INTEGER,
    )
    label: Label | None = key(None, "Name of the intervention in figures and tables")

    @model_validator(mode="after")
    def _with_series(self) -> Self:
        """Read series from files, so that the configuration of a result has their values."""
        from societies.workload.running import series_files

        clock = next(one for one in type(self).model_fields if one not in IN_ALL_WORKLOADS)
        first = getattr(self, clock) + 1
        for name, one in self.set.items():
            self.set[name] = series_files.read(name, one, clock, first)
        return self


IN_ALL_WORKLOADS = frozenset(InterventionConfig.model_fields)
"""Keys of every intervention."""


Numbers = ListOf[From0]
"""Numbers of copies."""

INTERVENTIONS: Any = key((), "Which values are changed, and when")


class DayIntervention(InterventionConfig):
    """Values of societies that are changed, for good or for some time."""

    day: int = changed_after("day")
    societies: Numbers = changed_copies("societies")


Ticks = ListOf[Annotated[int, Field(ge=1, le=MOST_TICKS)]]
"""Numbers of ticks."""


def keeping(clock: str) -> Any:
    """Return the key ``record.keep`` of a workload."""
    ticks = plural(clock)
    return key(
        (),
        f"{ticks.capitalize()} whose full state is stored permanently, so that other runs can "
        f"branch off at these {ticks}",
        clock,
    )


KEEP: Any = keeping("day")
"""Key of every section ``record`` of societies."""


def checkpoints(clock: str, what: str, default: int | str = "auto") -> Any:
    """Return the key ``record.checkpoint`` of a workload; ``what`` is saved."""
    return key(
        default,
        f"Save {what}, from which a run can be resumed, every this many {plural(clock)}; 0 or "
        "never: not at all; auto: 50, or more where it is large",
        clock,
    )


def detailed(clock: str, what: str) -> Any:
    """Return the key ``record.detail`` of a workload; ``what`` is recorded."""
    return key(0, f"Record {what} every this many {plural(clock)}; 0: never", clock, ge=0)


class RecordConfig(Section):
    """What is recorded in the file, and how often."""

    detail: int = detailed("day", "the arrays of the state")
    checkpoint: Interval = checkpoints("day", "the full state")
    keep: Ticks = KEEP


def recorded(config: Any, name: str, default: Any) -> Any:
    """Return a key of the section ``record``, or ``default`` if the workload does not have it."""
    return getattr(getattr(config, "record", None), name, default)


def retained_ticks(config: Any) -> list[int]:
    """Return the ticks with a permanent checkpoint (``record.keep``), ascending."""
    return sorted(recorded(config, "keep", ()))


def listed_twice(path: Path, ticks: Sequence[int], clock: str = "day") -> Iterator[Conflict]:
    """Yield a conflict for each tick that a list has more than once."""
    for i, tick in enumerate(ticks):
        if tick in ticks[:i]:
            yield Conflict((*path, i), f"{clock} {tick} is listed twice")


def stream_conflicts(
    config: Any,
    streams: int,
    keys: Sequence[str],
    reckoned: str = "",
    needs: tuple[Path, ...] = (),
) -> Iterator[Conflict]:
    """Yield a conflict if more random streams are needed than the generator has.

    Parameters
    ----------
    streams : number of streams that are needed
    keys : keys from which this number follows; the one with the largest value is reported
    reckoned : explanation of the number, for the message
    needs : further keys on which it depends
    """
    if streams > RANDOM_STREAMS:
        largest = max(keys, key=lambda name: int(getattr(config, name)))
        how = f" ({reckoned})" if reckoned else ""
        message = (
            f"{streams} random streams are needed{how}, more than the {RANDOM_STREAMS} there are"
        )
        yield Conflict((largest,), message, (*needs, *((name,) for name in keys)))


def keep_conflicts(config: Any, clock: str = "day") -> Iterator[Conflict]:
    """Yield conflicts of the key ``record.keep``, permanent checkpoints."""
    keep = recorded(config, "keep", ())
    yield from listed_twice(("record", "keep"), keep, clock)
    if keep and recorded(config, "checkpoint", "auto") in (0, "never"):
        message = "needs checkpoints, which record.checkpoint switches off"
        yield Conflict(("record", "keep"), message, (("record", "checkpoint"),))


class Seeded:
    """Adds to a configuration with the key ``seed`` the start of its random streams."""

    @property
    def stream_base(self) -> int:
        """Position on the generator's orbit at which the streams of this seed begin."""
        config: Any = self
        return stream_base(config.seed)


class EnsembleConfig(Seeded, WorkloadConfig):
    """Base class for models whose copies draw random numbers; a subclass has the keys.

    They are the number of ticks, ``seed``, ``replicates``, the number of the first copy,
    ``interventions`` and ``record``.

    Attributes
    ----------
    TICK, FIRST_COPY : what a tick is called; the key of the first copy's number
    DRAWN_BY : keys on which the number of streams of a copy depends, and how, in words
    """

    TICK: ClassVar[str] = "day"
    FIRST_COPY: ClassVar[str] = "first_society"
    DRAWN_BY: ClassVar[tuple[tuple[str, ...], str]] = ((), "")

    @property
    def stream_gap(self) -> int:
        """Draws between the starts of neighbouring streams."""
        return STREAM_GAP

    def streams(self) -> int:
        """Return the number of random streams of a copy; models with several override it."""
        return 1

    def conflicts(self) -> Iterator[Conflict]:
        """Yield conflicts of interventions, ``record.keep`` and the number of random streams."""
        from societies.workload.running.points import intervention_conflicts

        yield from intervention_conflicts(self)
        yield from keep_conflicts(self, self.TICK)
        copies = sum(getattr(self, name) for name in (self.FIRST_COPY, "replicates"))
        keys, reckoned = self.DRAWN_BY
        names = ("replicates", self.FIRST_COPY, *keys)
        yield from stream_conflicts(self, copies * self.streams(), names, reckoned)

    def warnings(self) -> Iterator[Conflict]:
        """Yield what is never recorded or reached, idle values, and interventions that overlap."""
        from societies.workload.running import points

        yield from points.overlaps(self)
        yield from points.unused_values(self)
        yield from points.idle_changes(self)
        yield from points.never_recorded(self, self.TICK)


class DailyConfig(EnsembleConfig):
    """Base class for models of societies that draw random numbers: days, seed, ensemble, record."""

    days: int = key(100, "Number of days to simulate", "day", ge=1, le=MOST_TICKS)
    seed: int = SEED
    replicates: int = REPLICATES
    first_society: int = FIRST_SOCIETY
    interventions: ListOf[DayIntervention] = INTERVENTIONS
    record: RecordConfig = key(RecordConfig, "What is recorded in the file, and how often")


class QuarterIntervention(InterventionConfig):
    """Values of economies that are changed, for good or for some time."""

    quarter: int = changed_after("quarter")
    economies: Numbers = changed_copies("economies")


class QuarterRecord(RecordConfig):
    """What is recorded in the file, and how often; keys are those of every model, in quarters."""

    detail: int = detailed("quarter", "prices, wages, savings and other arrays")
    checkpoint: Interval = checkpoints("quarter", "the full state")
    keep: Ticks = keeping("quarter")


class QuarterlyConfig(EnsembleConfig):
    """Base class for models of economies whose ticks are quarters, like `DailyConfig` for days."""

    TICK, FIRST_COPY = "quarter", "first_economy"

    quarters: int = key(1000, "Number of quarters to simulate", "quarter", ge=1, le=MOST_TICKS)
    seed: int = SEED
    replicates: int = replicates("economies")
    first_economy: int = first_copy("economy")
    interventions: ListOf[QuarterIntervention] = INTERVENTIONS
    record: QuarterRecord = key(QuarterRecord, "What is recorded in the file, and how often")
