"""What must a workload declare, so that it can be run, verified, captured and timed?

A workload advances in ticks (a day, a step, a depth, a batch) and has many copies at once
(societies, plates, games); it names both. It declares arrays, phases and the order in which phases
run. docs/design/workload.md has the reasons, and the declarations of all workloads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from societies.words import plural
from societies.workload.declare.fields import (
    SERIES,
    Events,
    Field,
    Series,
    series_columns,
)
from societies.workload.declare.optional import (
    Counted,
    FromOutside,
    InPython,
    OnDevice,
    Reported,
    Skipping,
)
from societies.workload.declare.phases import Phase, Step, workgroup_size
from societies.workload.declare.scene import Watched
from societies.workload.values.copies import Copies, OfCopies
from societies.workload.values.keys import shape_macros, shape_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from societies.config.model import WorkloadConfig
    from societies.opencl import Device
    from societies.workload.running.written import Block

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


class Workload(
    OnDevice[C, P],
    OfCopies[P],
    Counted[P],
    Skipping[P],
    FromOutside[C, P],
    InPython[C, P],
    Reported[C],
    Watched[C, P],
    Generic[C, P],
):
    """Base class of every workload. An entry point of ``societies.workloads`` names an instance.

    Declarations that few workloads need are in its other base classes: `optional` has most,
    `scene` what a page shows, and `values.copies` those of copies with different parameters.
    """

    # -- What is it, and how long and large is a run?

    name: ClassVar[str]
    """Value of the key ``workload``."""
    summary: ClassVar[str]
    """One line for lists."""
    version: ClassVar[str] = "1"
    """Changed if, and only if, results change; files of other versions are not resumed."""
    config: ClassVar[type[Any]]
    """Class of its configuration."""
    clock: ClassVar[str] = "tick"
    """Name of a tick in the singular: "day", "step", "depth", "batch", "sample"."""
    copies: ClassVar[str] = "copy"
    """Name of a copy in the singular: "society", "plate", "game", "box"."""
    numbered: ClassVar[bool] = False
    """True if kernels read the number of each copy from the array ``society_numbers`` (named after
    a copy), so that copies of one launch may have any numbers. Otherwise the numbers are
    consecutive from ``first_society``; copies with equal random draws then need separate launches.
    """

    @property
    def ticks_key(self) -> str:
        """Key of the configuration with the largest number of ticks: ``days``."""
        return plural(self.clock)

    def ticks(self, config: C) -> int:
        """Return the largest number of ticks of a run. Default: the value of `ticks_key`."""
        return int(getattr(config, self.ticks_key))

    def count(self, config: C) -> int:
        """Return the number of copies."""
        return int(getattr(config, "replicates", 1))

    def first(self, config: C) -> int:
        """Return the number of the first copy."""
        return int(getattr(config, f"first_{self.copies}", 0))

    # -- Which parameters does it have?

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

    # -- Which arrays, series and events are there?

    def sizes(self, p: P) -> dict[str, int]:
        """Return the length of every dimension of the fields."""
        raise NotImplementedError(f"workload {self.name} does not define sizes")

    def fields(self, p: P) -> Mapping[str, Field]:
        """Return the arrays of the state by name."""
        raise NotImplementedError(f"workload {self.name} does not define fields")

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

    def events(self, p: P) -> Mapping[str, Events]:
        """Return lists of events that kernels append to."""
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
        return {**self.sizes(p), SERIES: sum(map(len, self.columns(p).values()))}

    # -- Which phases are there, in which order, and what carries them out?

    step_arguments: ClassVar[tuple[str, ...]] = ()
    """Names of the arguments that steps may have."""
    twins: ClassVar[str] = ""
    """Package of the reference. The function of a phase has the name of the phase, and its module
    that of the kernel file of the last launch (or of the phase, without launches). May also be a
    single module."""
    numpy: ClassVar[bool] = False
    """True if the reference gets arrays; otherwise lists, with which plain Python is faster."""

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

    def finish(self, p: P) -> Sequence[Step]:
        """Return the steps after the last tick, which compute results of the end of the run.

        They must not change checkpointed arrays, so that the run can be continued.
        """
        return ()

    def source(self, p: P) -> Source:
        """Return macros, header and arguments of the kernels."""
        raise NotImplementedError(f"workload {self.name} does not define source")

    def macros(self, p: P, *shapes: str) -> dict[str, Any]:
        """Return the macros of keys declared as shapes: ``NAME``, and ``NAME_WORD`` for each word.

        Other shapes are parameters of kernels, so that no kernel is built again for another size.
        """
        return shape_macros({one: shape_of(self.config, one, getattr(p, one)) for one in shapes})

    def reference(self, p: P) -> Mapping[str, Callable[..., None]]:
        """Return for every phase a function of parameters, copy, tick and the step's arguments.

        It changes the copy, a `reference_py.copies.Copy`. Default: the functions found in `twins`.
        """
        from societies.workload.running.twins import twins_of

        return twins_of(self.twins, self.phases(p, 1))

    items: ClassVar[int] = 0
    """Work-items per workgroup if a launch sets none; 0: one for each entry of the longest size."""

    def work_items(self, p: P, copies: int, device: Any) -> int:
        """Return the number of work-items per workgroup; results do not depend on it."""
        if self.items:
            return min(self.items, int(device.max_workgroup))
        return workgroup_size(device, max(self.sizes(p).values(), default=1))

    def registers(self, p: P, copies: int, device: Any) -> int:
        """Return the most registers of a work-item on NVIDIA's GPUs, which changes no result."""
        return 0

    # -- How is its work counted, and is it timed?

    work: ClassVar[str] = "tick"
    """Unit that benchmarks count: "agent-day", "cell-step", "node"."""
    counted_by: ClassVar[str] = ""
    """Name of the logged field whose sum over copies and ticks is the work done, if only the run
    itself shows how much that is; empty: `work_done` returns it."""
    timed: ClassVar[bool] = False
    """True if the file has the variables `MEASURED`, duration and launches of every tick. The host
    then waits for the device after every tick, or after every block if `timed_together`."""

    def work_done(self, config: C, ticks: int) -> float:
        """Return the number of units of `work` in ``ticks`` ticks of all copies."""
        return float(ticks * self.count(config))

    # -- What do its file, plan and report have?

    contents_class: ClassVar[str] = "societies.workload.running.contents:SeriesAndDetail"
    """Class of the contents of the file (`Contents`), ``MODULE:CLASS``, or a function that makes
    them; it gets the setup. The module is imported by a run alone, as that of reports is: reading a
    configuration needs no HDF5."""
    report_class: ClassVar[str] = "societies.workload.running.report:RunReport"
    """Class of the report of a run, ``MODULE:CLASS``: `RunReport` or a subclass with more. May also
    be a function with the parameters of `RunReport`."""
    export: ClassVar[Mapping[str, Callable[..., object]]] = {}
    """Formats that `societies export FILE --to NAME` writes besides those of all workloads.

    NAME is also the ending of the file. A function ``write(results, path, *, ...)`` gets the
    dataset of the requested ticks and writes one file; its keyword-only parameters are options."""

    def plan_rows(self, config: C, p: P) -> list[tuple[str, str]]:
        """Return further rows of `societies run --dry-run`; one may replace the row of ticks."""
        return []

    def check(self, block: Block, p: P) -> None:
        """Raise an error if the results of a block cannot be trusted; the block is not written."""


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
            if device is not self.device:
                made.__dict__.pop("source", None)  # may be computed on the device
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
