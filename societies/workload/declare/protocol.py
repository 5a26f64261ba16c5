"""What does a workload declare, from which running, verifying, capturing and timing it follow?

A workload advances in ticks that it names itself (a day, a step, a depth, a batch), in many copies
at once that it names too (societies, plates, games). It declares arrays, phases and the order in
which they run. docs/design/workload.md has the reasons, and how each workload maps onto this.

The file is long because all that a workload may declare stands here together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from numpy.typing import ArrayLike, NDArray

from societies.words import plural
from societies.workload.declare.fields import SERIES, Events, Field, Series, State
from societies.workload.declare.naming import twins_of
from societies.workload.declare.phases import Phase, Step, workgroup_size

if TYPE_CHECKING:
    from societies.config.model import WorkloadConfig
    from societies.opencl import Device
    from societies.output import Coordinate, ResultFile, Table, Variable
    from societies.workload.checking.coverage import Count
    from societies.workload.running.interrupts import Interruption
    from societies.workload.running.programs import NamedProgram
    from societies.workload.running.report import RunReport


C = TypeVar("C", bound="WorkloadConfig")
P = TypeVar("P")


@dataclass(frozen=True)
class Source:
    """Which text the kernels of a workload are.

    Attributes
    ----------
    macros : put in front as ``#define``
    header : OpenCL text put after the macros
    arguments : arguments of every kernel that has a parameter of the name: numbers, and constant
        arrays, which are copied to the device once. Sizes (``agents``), the number of the first
        copy (``first_society``), an array with the number of each (``society_numbers``) and the
        attributes of the parameters need no mention
    work_items : name of a macro that is the number of work-items of a workgroup; "": none
    """

    macros: Mapping[str, int | float | str | bool] = field(default_factory=dict)
    header: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    work_items: str = ""


@dataclass(frozen=True)
class Block:
    """What happened in some consecutive ticks, handed to `Contents.write`.

    Attributes
    ----------
    first, last : ticks
    logs : (copy, tick, ...) of each field that is logged
    events : int32 rows of each list of events: the copy's place, then its columns; in the order of
        ticks, within a tick of copies
    state : call it for every array at the end of the block; the copy is made once
    interruption : asked in long work whether Ctrl-C was pressed
    measured : of each tick what belongs to this run alone (`MEASURED`), if the workload is timed
    """

    first: int
    last: int
    logs: Mapping[str, NDArray[Any]]
    events: Mapping[str, NDArray[Any]]
    state: Callable[[], State]
    interruption: Interruption
    measured: Mapping[str, NDArray[Any]] = field(default_factory=dict)


class LeftOut(Exception):
    """Raised by `Contents.write` on Ctrl-C: the block's last tick is not written, and begun again.

    ``state`` is that before the tick, from which a resumed run goes on.
    """

    def __init__(self, state: Mapping[str, NDArray[Any]]) -> None:
        super().__init__()
        self.state = state


class Contents(Protocol):
    """What a workload's file holds, and how a block of ticks is written into it."""

    def coordinates(self) -> list[Coordinate]:
        """Return the coordinates of the file."""

    def variables(self) -> list[Variable]:
        """Return its variables."""

    def tables(self) -> list[Table]:
        """Return its tables of events."""

    def attributes(self) -> dict[str, str | int]:
        """Return attributes that say what was run, its ``title`` among them."""

    def stops(self) -> Collection[int]:
        """Return the ticks at which a block must end, as something is written of their state."""

    def begin(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Prepare for this process to go on after a tick."""

    def write(self, file: ResultFile, block: Block) -> None:
        """Write a block, which is committed afterwards.

        One that ends at none of `stops` may be written by another thread while the engine goes on:
        it is not asked for its state.

        Raises
        ------
        LeftOut
            If Ctrl-C came in long work at one of `stops`.
        """

    def write_checkpoint(self, file: ResultFile, state: Mapping[str, NDArray[Any]]) -> None:
        """Write what belongs to the newest state whenever one is saved, by whichever thread."""

    def finish(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Write what is recorded of the end of the run, after the steps of `Workload.finish`."""

    def means(self, block: Block) -> dict[str, float]:
        """Return means over copies of the last tick of the block, by variable, for the report."""

    def recorded_means(self, dataset: Any, tick: int) -> dict[str, float]:
        """Return the same of the last tick of a file that was complete before."""


class Workload(Generic[C, P]):
    """Base of every workload: what must be declared, and what may be.

    An entry point of the group ``societies.workloads`` names an instance.

    Attributes
    ----------
    name : the value of the key ``workload``
    summary : one line for lists
    version : changed when, and only when, results change: a file of another one is not resumed
    config : the model of its configuration
    clock : what a tick is, in the singular: "day", "step", "depth", "batch", "sample"
    copies : what is repeated, in the singular: "society", "plate", "game", "box"
    work : what a benchmark counts: "agent-day", "cell-step", "node"
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    version: ClassVar[str] = "1"
    config: ClassVar[type[Any]]
    clock: ClassVar[str] = "tick"
    copies: ClassVar[str] = "copy"
    work: ClassVar[str] = "tick"
    counted_by: ClassVar[str] = ""
    """Name of the logged field whose sum over copies and ticks is the work done, where that is a
    result; empty: `work_done` says it."""
    open_ended: ClassVar[bool] = False
    """Whether `ticks` is only a bound; the file then has ticks as rows of tables alone."""
    timed: ClassVar[bool] = False
    """Whether the file has `MEASURED`: how long every tick took, how many kernels it launched. The
    host then waits for the device after every tick, or `timed_together` says that it need not."""
    export: ClassVar[Mapping[str, Callable[..., object]]] = {}
    """Formats that `societies export FILE --to NAME` writes besides those of all workloads.

    The name is the ending of the file too. A function ``write(results, path, *, ...)`` is handed
    the dataset with the ticks that are asked for and writes one file; its keyword-only parameters
    are options."""
    step_arguments: ClassVar[tuple[str, ...]] = ()
    """Names of the arguments that steps carry."""
    numbered: ClassVar[bool] = False
    """Whether kernels take the number of each copy from the array ``society_numbers`` (by the name
    of a copy), so that copies of one launch may have any numbers. Else they count them on from
    ``first_society``, and copies with the same random draws need launches of their own."""
    numpy: ClassVar[bool] = False
    """Whether the reference is handed arrays; else lists, on which plain Python is faster."""
    twins: ClassVar[str] = ""
    """Package of the reference: the function of a phase has its name, in the module named as the
    kernel file of its last launch (of a phase without launches, as the phase). Or one module."""
    items: ClassVar[int] = 0
    """Work-items of a workgroup, where a launch does not say it and a device can have as many; 0:
    one for each entry of the longest dimension. Results do not depend on it."""
    part_is_phase: ClassVar[bool] = False
    """Whether `verify` notes all steps of a phase as one: where a step is a level or a batch, it
    says nothing that each of them had something to do."""

    @property
    def copies_plural(self) -> str:
        """Plural of the name of a copy."""
        return plural(self.copies)

    @property
    def clock_plural(self) -> str:
        """Plural of the name of a tick."""
        return plural(self.clock)

    @property
    def ticks_key(self) -> str:
        """Key of the configuration that says how many ticks there are at most: ``days``."""
        return self.clock_plural

    # What must be declared.

    def sizes(self, p: P) -> dict[str, int]:
        """Return the length of every dimension of the fields."""
        raise NotImplementedError(f"workload {self.name} does not define sizes")

    def fields(self, p: P) -> Mapping[str, Field]:
        """Return the arrays of the state by name."""
        raise NotImplementedError(f"workload {self.name} does not define fields")

    def phases(self, p: P, copies: int) -> Mapping[str, Phase]:
        """Return every phase by name: which kernels it launches, with how many workgroups.

        A launch serves all copies, so most numbers of workgroups are multiples of ``copies``.
        """
        raise NotImplementedError(f"workload {self.name} does not define phases")

    def schedule(self, p: P, tick: int, seen: Mapping[str, NDArray[Any]]) -> Iterable[Step]:
        """Return the steps of a tick in order; of tick 0, what happens before the first.

        The steps are taken one at a time, so a generator may decide by ``seen[name]``, an array
        of the state (copy, ...) as it is at that moment. Only this reading waits for the device.
        If many ticks have the same steps, return one tuple for all: its launches are listed once.
        """
        raise NotImplementedError(f"workload {self.name} does not define schedule")

    def source(self, p: P) -> Source:
        """Return the text of the kernels."""
        raise NotImplementedError(f"workload {self.name} does not define source")

    # What has a default.

    def reference(self, p: P) -> Mapping[str, Callable[..., None]]:
        """Return for every phase a function of parameters, copy, tick and the step's arguments.

        It changes the copy, a `societies.workload.running.engines.Copy`. Default: those of `twins`.
        """
        return twins_of(self.twins, self.phases(p, 1))

    def series(self, p: P) -> Mapping[str, Series]:
        """Return what is recorded of every copy and tick, in the order of the array ``series``.

        The array, (copy, series) float64, is added to the fields; the last phase of a tick fills
        it. A copy of the reference may set it as a dictionary.
        """
        return {}

    def arrays(self, p: P) -> dict[str, Field]:
        """Return all arrays of the state: the fields and, if there are any, the series."""
        fields = dict(self.fields(p))
        if SERIES not in fields and self.series(p):
            fields[SERIES] = Field(
                (SERIES,),
                "float64",
                "various",
                "series of the tick",
                initial=math.nan,
                checkpointed=False,
                logged=True,
            )
        return fields

    def lengths(self, p: P) -> dict[str, int]:
        """Return the length of every dimension of all arrays."""
        return {**self.sizes(p), SERIES: len(self.series(p))}

    def parameters(self, config: C) -> P:
        """Return what kernels and reference are handed.

        Default: what the configuration's method `parameters` returns; without one, itself.
        """
        made = getattr(config, "parameters", None)
        return made() if callable(made) else config  # type: ignore[return-value]

    def fitted(self, config: C, device: Device | None) -> C:
        """Return the configuration with what it leaves to the device decided; None: the reference.

        How much a device does at a time may follow from its memory: lengths of arrays that are
        neither kept nor compared. Nothing else may, so that every device finds the same.
        """
        return config

    def parameters_of_copy(self, p: P, place: int, tick: int) -> P:
        """Return the parameters of the copy at a place in a tick, for the reference.

        ``p`` itself, unless copies differ in their parameters (`points.points_of`).
        """
        return p

    def parameters_of_copies(self, p: P, tick: int) -> Mapping[str, NDArray[Any]]:
        """Return the arguments of kernels that have an entry for each copy, (copy, ...), in a tick.

        They are among those of `source` as well, as they are before the first tick.
        """
        return {}

    def changes(self, p: P) -> Sequence[int]:
        """Return the ticks after which parameters of copies change, ascending."""
        return ()

    def ticks(self, config: C) -> int:
        """Return the most ticks of a run. Default: the key that has the clock's name, ``days``."""
        return int(getattr(config, self.ticks_key))

    def count(self, config: C) -> int:
        """Return how many copies run side by side."""
        return int(getattr(config, "replicates", 1))

    def first(self, config: C) -> int:
        """Return the number of the first copy."""
        return int(getattr(config, f"first_{self.copies}", 0))

    def contents(self, config: C) -> Contents | None:
        """Return what the file holds; None: the series, and recorded fields now and then."""
        return None

    def events(self, p: P) -> Mapping[str, Events]:
        """Return lists of events that kernels append to."""
        return {}

    def finish(self, p: P) -> Sequence[Step]:
        """Return the steps after the last tick, for what is reported of the end.

        They change no kept array: a run may go on from there.
        """
        return ()

    def work_done(self, config: C, ticks: int) -> float:
        """Return the units of `work` that so many ticks of all copies take."""
        return float(ticks * self.count(config))

    def busy(self, p: P, first: int, last: int) -> Iterable[int]:
        """Return those ticks of a block that may have steps, ascending. Default: all.

        Where one step does the work of several ticks, the others cost the host nothing then. Every
        tick that is left out must have no steps.
        """
        return range(first, last + 1)

    def timed_together(self, p: P) -> bool:
        """Return whether a timed workload's ticks are waited for by blocks and share their time."""
        return False

    def work_items(self, p: P, copies: int, device: Any) -> int:
        """Return work-items per workgroup; the results do not depend on it."""
        if self.items:
            return min(self.items, int(device.max_workgroup))
        return workgroup_size(device, max(self.sizes(p).values(), default=1))

    def not_repeatable(self, config: C) -> str:
        """Return why another run of the configuration has other results; empty: it has the same.

        What depends on the time that something takes, or on programs outside, is run and recorded
        like all else; `verify` and golden hashes refuse it.
        """
        return ""

    def programs(self, p: P) -> Sequence[NamedProgram]:
        """Return the programs of others that a run starts; they run only if the user allows it."""
        return ()

    def check(self, block: Block, p: P) -> None:
        """Raise an error for a block whose results cannot be trusted; it is not written."""

    def counts(self, p: P) -> Mapping[str, Count]:
        """Return what `verify` counts, where a changed array says too little of what happened."""
        return {}

    def part(self, step: Step, tick: int) -> str:
        """Return under which name `verify` notes whether a step did anything."""
        return step.phase if self.part_is_phase else str(step)

    def limits(self, p: P, tick: int) -> Mapping[str, ArrayLike]:
        """Return limits of fields that have a name (`Field.within`), after this tick."""
        return {}

    def seconds(self, config: C, device: Device | None) -> float | None:
        """Return how long a run takes, roughly, None if unknown; no device: in the reference."""
        return None

    def plan_rows(self, config: C, p: P) -> list[tuple[str, str]]:
        """Return further rows of `societies run --dry-run`, or another one of the ticks."""
        return []

    def device_rows(self, config: C, device: Device) -> list[tuple[str, str]]:
        """Return rows of `societies run --dry-run` that say what the device has room for."""
        return []

    def require_outputs(self, config: C, results: Path) -> None:
        """Raise OutputError if what is written beside the results cannot be; asked before a run."""

    def why_ended(self, config: C, state: Mapping[str, NDArray[Any]]) -> str:
        """Return why a run ended before its last tick, from the state at its end."""
        return ""

    def report(self, config: C, **facts: Any) -> RunReport:
        """Return the report of a run; a workload may return more than every run tells."""
        from societies.workload.running.report import RunReport

        return RunReport(self, config, **facts)

    def headlines(self) -> Sequence[str]:
        """Return the variables of the closing table, of those recorded; none: all of them."""
        return ()
