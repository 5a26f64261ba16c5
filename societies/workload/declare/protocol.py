"""What must a workload declare, so that it can be run, verified, captured and timed?

A workload advances in ticks (a day, a step, a depth, a batch) and has many copies at once
(societies, plates, games); it names both. It declares arrays, phases and the order in which phases
run. docs/design/workload.md has the reasons, and the declarations of all workloads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from societies.kerneltext.source import amalgamate
from societies.lazily import np
from societies.words import plural
from societies.workload.declare.fields import (
    SERIES,
    Events,
    Field,
    Series,
    State,
    series_columns,
)
from societies.workload.declare.naming import object_named, twins_of
from societies.workload.declare.optional import (
    Counted,
    FromOutside,
    Replaceable,
    Reported,
    Skipping,
)
from societies.workload.declare.phases import Phase, Step, kernel_files, workgroup_size
from societies.workload.declare.scene import Watched
from societies.workload.values.copies import (
    Copies,
    changes_of,
    parameters_of_copy,
    rows_of,
    value_names,
    values_of,
)
from societies.workload.values.keys import (
    VALUE_TABLE,
    shape_macros,
    shape_of,
    table_lookups,
    table_row,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from societies.config.model import WorkloadConfig
    from societies.opencl import Device
    from societies.output import Coordinate, EventTable, ResultFile, Variable
    from societies.workload.running.interrupts import Interruption
    from societies.workload.running.report import RunReport


C = TypeVar("C", bound="WorkloadConfig")
P = TypeVar("P")


@dataclass(frozen=True)
class Source:
    """Macros, header and arguments that all kernels of a workload share.

    Attributes
    ----------
    macros : written before the kernels as ``#define``
    header : OpenCL text after the macros
    arguments : values for kernel parameters by name: numbers, and constant arrays, which are copied
        to the device once. Kernels get some parameters without an entry here: sizes (``agents``),
        the number of the first copy (``first_society``), an array with the number of each copy
        (``society_numbers``) and the attributes of the parameters
    work_items : name of a macro with the number of work-items per workgroup; "": none
    """

    macros: Mapping[str, int | float | str | bool] = field(default_factory=dict)
    header: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    work_items: str = ""


@dataclass(frozen=True)
class Block:
    """Results of some consecutive ticks, for `Contents.write`.

    Attributes
    ----------
    first, last : first and last tick
    logs : (copy, tick, ...) of each logged field
    events : int32 rows of each list of events: the copy's index, then the columns; sorted by tick,
        and within a tick by copy
    state : function that returns every array at the end of the block; the copy is made once
    interruption : to be checked in long work: whether Ctrl-C was pressed
    measured : times of each tick (`MEASURED`) if the workload is timed; they are no results
    ended : (copy,) the tick at which each copy ended, -1 while it continues; None if copies cannot
        end before the run
    detail : what `Contents.detail` returned at each of `Contents.stops` in the block, by tick
    """

    first: int
    last: int
    logs: Mapping[str, NDArray[Any]]
    events: Mapping[str, NDArray[Any]]
    state: Callable[[], State]
    interruption: Interruption
    measured: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    ended: NDArray[np.int32] | None = None
    detail: Mapping[int, State] = field(default_factory=dict)


class LeftOut(Exception):
    """Raised by `Contents.write` on Ctrl-C if it has not written the block's last tick.

    ``state`` is the state before that tick, from which a resumed run computes it again.
    """

    def __init__(self, state: Mapping[str, NDArray[Any]]) -> None:
        super().__init__()
        self.state = state


class Contents(Protocol):
    """Declares the contents of a workload's file, and writes blocks of ticks into it."""

    def coordinates(self) -> list[Coordinate]:
        """Return the coordinates of the file."""

    def variables(self) -> list[Variable]:
        """Return its variables."""

    def tables(self) -> list[EventTable]:
        """Return its tables of events."""

    def attributes(self) -> dict[str, str | int]:
        """Return attributes that describe the run, including its ``title``."""

    def stops(self) -> Collection[int]:
        """Return the ticks at which a block must end because their state is recorded."""

    def detail(self, tick: int, state: State) -> State:
        """Return the arrays at one of `stops` that `write` needs, as `Block.detail`."""

    def pauses(self) -> Collection[int]:
        """Return those of `stops` at which the engine must wait until the block is written."""

    def begin(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Prepare to continue after ``tick`` in this process."""

    def write(self, file: ResultFile, block: Block) -> None:
        """Write a block, which is committed afterwards.

        A block that does not end at one of `pauses` may be written by another thread while the
        engine continues, so its state must not be read. Several blocks may be joined to one.

        Raises
        ------
        LeftOut
            If Ctrl-C was pressed during long work at one of `pauses`.
        """

    def write_checkpoint(self, file: ResultFile, state: Mapping[str, NDArray[Any]]) -> None:
        """Write further data of a checkpoint besides its state; any thread may call this."""

    def finish(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Write the results of the end of the run, after the steps of `Workload.finish`."""

    def means(self, block: Block) -> dict[str, float]:
        """Return means over copies of the block's last tick, by variable, for the report."""

    def recorded_means(self, dataset: Any, tick: int) -> dict[str, float]:
        """Return the same means as `means` from a complete file, for its last tick."""


class Workload(
    Counted[P],
    Skipping[P],
    FromOutside[C, P],
    Replaceable[C],
    Reported[C],
    Watched[C, P],
    Generic[C, P],
):
    """Base class of every workload, with its required and optional declarations.

    Declarations that few workloads need are in its base classes (`optional`).

    An entry point of the group ``societies.workloads`` refers to an instance.

    Attributes
    ----------
    name : value of the key ``workload``
    summary : one line for lists
    version : changed if, and only if, results change; files of other versions are not resumed
    config : class of its configuration
    clock : name of a tick in the singular: "day", "step", "depth", "batch", "sample"
    copies : name of a copy in the singular: "society", "plate", "game", "box"
    work : unit that benchmarks count: "agent-day", "cell-step", "node"
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    version: ClassVar[str] = "1"
    config: ClassVar[type[Any]]
    clock: ClassVar[str] = "tick"
    copies: ClassVar[str] = "copy"
    work: ClassVar[str] = "tick"
    counted_by: ClassVar[str] = ""
    """Name of the logged field whose sum over copies and ticks is the work done, if only the run
    itself shows how much that is; empty: `work_done` returns it."""
    timed: ClassVar[bool] = False
    """True if the file has the variables `MEASURED`, duration and launches of every tick. The host
    then waits for the device after every tick, or after every block if `timed_together`."""
    export: ClassVar[Mapping[str, Callable[..., object]]] = {}
    """Formats that `societies export FILE --to NAME` writes besides those of all workloads.

    NAME is also the ending of the file. A function ``write(results, path, *, ...)`` gets the
    dataset of the requested ticks and writes one file; its keyword-only parameters are options."""
    step_arguments: ClassVar[tuple[str, ...]] = ()
    """Names of the arguments that steps may have."""
    numbered: ClassVar[bool] = False
    """True if kernels read the number of each copy from the array ``society_numbers`` (named after
    a copy), so that copies of one launch may have any numbers. Otherwise the numbers are
    consecutive from ``first_society``; copies with equal random draws then need separate launches.
    """
    derived: ClassVar[tuple[str, ...]] = ()
    """Numbers among the parameters that depend on keys declared as values. Kernels read them, too,
    by ``P(name)``."""
    numpy: ClassVar[bool] = False
    """True if the reference gets arrays; otherwise lists, with which plain Python is faster."""
    contents_class: ClassVar[str] = ""
    """Class of the contents of the file, ``MODULE:CLASS``; "": `contents.SeriesAndDetail`. Modules
    of contents and reports are imported by a run alone: reading a configuration needs no HDF5."""
    report_class: ClassVar[str] = "societies.workload.running.report:RunReport"
    """Class of the report of a run, ``MODULE:CLASS``: `RunReport` or a subclass with more."""
    twins: ClassVar[str] = ""
    """Package of the reference. The function of a phase has the name of the phase, and its module
    that of the kernel file of the last launch (or of the phase, without launches). May also be a
    single module."""
    items: ClassVar[int] = 0
    """Work-items per workgroup for launches that do not set it, limited by the device; 0: one for
    each entry of the longest dimension. Results do not depend on it."""

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
        """Key of the configuration with the largest number of ticks: ``days``."""
        return self.clock_plural

    # What must be declared.

    def sizes(self, p: P) -> dict[str, int]:
        """Return the length of every dimension of the fields."""
        raise NotImplementedError(f"workload {self.name} does not define sizes")

    def fields(self, p: P) -> Mapping[str, Field]:
        """Return the arrays of the state by name."""
        raise NotImplementedError(f"workload {self.name} does not define fields")

    def phases(self, p: P, copies: int) -> Mapping[str, Phase]:
        """Return every phase by name, with the kernels that it launches and their workgroups.

        A launch computes all copies, so most numbers of workgroups are multiples of ``copies``.
        """
        raise NotImplementedError(f"workload {self.name} does not define phases")

    def schedule(self, p: P, tick: int, seen: Mapping[str, NDArray[Any]]) -> Iterable[Step]:
        """Return the steps of a tick in order; those of tick 0 precede the first tick.

        The steps are taken one at a time, so a generator may depend on ``seen[name]``, the present
        value of an array of the state (copy, ...). Only this reading waits for the device. If many
        ticks have the same steps, return the same tuple: its launches are then prepared only once.
        """
        raise NotImplementedError(f"workload {self.name} does not define schedule")

    def source(self, p: P) -> Source:
        """Return macros, header and arguments of the kernels."""
        raise NotImplementedError(f"workload {self.name} does not define source")

    # What has a default.

    def require_class(self) -> None:
        """Raise ConfigError if the class has an impossible declaration; called at its import."""

    def computed_on(self, p: P, device: Device) -> None:
        """Receive the device on which a run is computed; called before `source`.

        The arguments of `source` may be computed on it, with the same bits. Default: nothing.
        """

    def reference(self, p: P) -> Mapping[str, Callable[..., None]]:
        """Return for every phase a function of parameters, copy, tick and the step's arguments.

        It changes the copy, a `reference_py.copies.Copy`. Default: the functions found in `twins`.
        """
        return twins_of(self.twins, self.phases(p, 1))

    def series(self, p: P) -> Mapping[str, Series]:
        """Return the series, which are recorded for every copy and tick.

        An array ``series``, (copy, column) float64, with `columns` in this order, is added to the
        fields; the last phase of a tick fills it. The reference may set it as a dictionary.
        """
        return {}

    def entries(self, p: P) -> Mapping[str, Sequence[object]]:
        """Return the names of the entries of the dimensions of series. Default: numbers from 0."""
        return {dim: range(length) for dim, length in self.sizes(p).items()}

    def columns(self, p: P) -> dict[str, list[str]]:
        """Return the names of the columns of the array ``series``, by series."""
        return series_columns(self.series(p), self.entries(p))

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
        return {**self.sizes(p), SERIES: sum(map(len, self.columns(p).values()))}

    def parameters(self, config: C) -> P:
        """Return the parameters for kernels and reference.

        Default: the result of the configuration's method `parameters`, or else the configuration;
        `Copies` of these if copies differ.
        """
        from societies.workload.running.ensembles import once, points_of

        def made(one: Any) -> Any:
            own = getattr(one, "parameters", None)
            return own() if callable(own) else one

        points = points_of(self, config)
        if points is None:
            return made(config)  # type: ignore[no-any-return]
        return once(config, "copies", lambda _: Copies(points, made))  # type: ignore[return-value]

    def fitted(self, config: C, device: Device | None) -> C:
        """Return the configuration with the values that depend on the device (None: the reference).

        Only lengths of arrays that are neither checkpointed nor compared may depend on the device's
        memory, so that the results are the same on every device.
        """
        return config

    def parameters_of_copy(self, p: P, place: int, tick: int) -> P:
        """Return the parameters of the copy with index ``place`` in a tick, for the reference."""
        return parameters_of_copy(p, place, tick)  # type: ignore[no-any-return]

    def parameters_of_copies(self, p: P, tick: int) -> Mapping[str, NDArray[Any]]:
        """Return, for a tick, the kernel arguments that have an entry per copy: (copy, ...).

        Default: the table of values, from which kernels read ``P(name)``.
        """
        names = self.values()
        if not names:
            return {}
        return {VALUE_TABLE: rows_of(p, lambda one: table_row(values_of(one, names)), tick)}

    def changes(self, p: P) -> Sequence[int]:
        """Return the ticks after which parameters of copies change, ascending."""
        return changes_of(p)

    def settled(self, p: P) -> Mapping[str, tuple[int, ...]]:
        """Return arrays in which the first steps decide what a later removal does, and where.

        In these arrays copies with the same number may differ before their removals do.
        """
        return {}

    def values(self) -> tuple[str, ...]:
        """Return the parameters that may differ between copies, in the order of their table."""
        return (*value_names(self.config), *self.derived)

    def lookups(self, p: P) -> str:
        """Return the header with which kernels read ``P(name)`` from ``value_table``.

        A variable named after a copy (``society``) must hold the index of the copy.
        """
        one = values_of(parameters_of_copy(p, 0, 0), self.values())
        return "\n".join([*table_lookups(one, self.copies), ""])

    def macros(self, p: P, *shapes: str) -> dict[str, Any]:
        """Return the macros of keys declared as shapes: ``NAME``, and ``NAME_WORD`` for each word.

        Other shapes are parameters of kernels by their names, so that no kernel is built again for
        another size.
        """
        return shape_macros({one: shape_of(self.config, one, getattr(p, one)) for one in shapes})

    def ticks(self, config: C) -> int:
        """Return the largest number of ticks of a run. Default: the value of `ticks_key`."""
        return int(getattr(config, self.ticks_key))

    def count(self, config: C) -> int:
        """Return the number of copies."""
        return int(getattr(config, "replicates", 1))

    def first(self, config: C) -> int:
        """Return the number of the first copy."""
        return int(getattr(config, f"first_{self.copies}", 0))

    def contents(self, setup: Setup[C, P]) -> Contents | None:
        """Return the contents of the file; None: those of `contents.SeriesAndDetail`."""
        return object_named(self.contents_class)(setup) if self.contents_class else None

    def events(self, p: P) -> Mapping[str, Events]:
        """Return lists of events that kernels append to."""
        return {}

    def kernel_text(self, p: P, phase: str) -> str:
        """Return the text of the kernels of a phase, for people; "" without kernels.

        Default: the kernel files, without those that they include.
        """
        files = kernel_files({phase: self.phases(p, 1)[phase]})
        return "\n".join(amalgamate([file]).own_text(file) for file in files)

    def origin(self, config: C) -> Mapping[str, str]:
        """Return further attributes of the file about the origin of its results."""
        return {}

    def finish(self, p: P) -> Sequence[Step]:
        """Return the steps after the last tick, which compute results of the end of the run.

        They must not change checkpointed arrays, so that the run can be continued.
        """
        return ()

    def work_done(self, config: C, ticks: int) -> float:
        """Return the number of units of `work` in ``ticks`` ticks of all copies."""
        return float(ticks * self.count(config))

    def work_items(self, p: P, copies: int, device: Any) -> int:
        """Return the number of work-items per workgroup; results do not depend on it."""
        if self.items:
            return min(self.items, int(device.max_workgroup))
        return workgroup_size(device, max(self.sizes(p).values(), default=1))

    def check(self, block: Block, p: P) -> None:
        """Raise an error if the results of a block cannot be trusted; the block is not written."""

    def plan_rows(self, config: C, p: P) -> list[tuple[str, str]]:
        """Return further rows of `societies run --dry-run`; one may replace the row of ticks."""
        return []

    def report(self, config: C, **facts: Any) -> RunReport:
        """Return the report of a run."""
        return object_named(self.report_class)(self, config, **facts)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Setup(Generic[C, P]):
    """A workload with a configuration, and what follows from both, computed once when first read.

    Attributes
    ----------
    config : configuration of this workload
    device : device to whose memory the configuration is fitted; None: it is as the user gave it
    """

    workload: Workload[C, P]
    config: C
    device: Device | None = None

    def on(self, device: Device | str | None) -> Setup[C, P]:
        """Return the setup for a device, which may be given by its name (None: the reference)."""
        from societies.workload.running.devices import chosen_device

        if isinstance(device, str):
            device = chosen_device(device)[0]
        config = self.workload.fitted(self.config, device)
        made = Setup(self.workload, config, device)
        if config is self.config:
            made.__dict__.update({**self.__dict__, **made.__dict__})
        return made

    @cached_property
    def p(self) -> P:
        """Parameters for kernels and reference."""
        return self.workload.parameters(self.config)

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """All arrays of the state by name."""
        return self.workload.arrays(self.p)

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Length of every dimension of the arrays."""
        return self.workload.lengths(self.p)

    @cached_property
    def phases(self) -> Mapping[str, Phase]:
        """Every phase by name, for all copies."""
        return self.workload.phases(self.p, self.copies)

    @cached_property
    def source(self) -> Source:
        """Macros, header and arguments of the kernels."""
        if self.device is not None:
            self.workload.computed_on(self.p, self.device)
        return self.workload.source(self.p)

    @property
    def first(self) -> int:
        """Number of the first copy."""
        return self.workload.first(self.config)

    @property
    def copies(self) -> int:
        """Number of copies."""
        return self.workload.count(self.config)

    @property
    def ticks(self) -> int:
        """Largest number of ticks."""
        return self.workload.ticks(self.config)
