"""What is declared of a model: one table of its state, one of its series, the phases of its day."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.daily.config import DailyConfig
from societies.verifying import Count
from societies.workloads import Workload

if TYPE_CHECKING:
    from societies.device import Device, DeviceArray
    from societies.output.ranges import Within

State = dict[str, NDArray[Any]]
SERIES = "series"


@dataclass(frozen=True)
class Field:
    """One array of the state; its first dimension is always the society.

    Attributes
    ----------
    dims : dimensions after the society
    dtype : NumPy type on host and device
    unit, meaning : what the numbers are
    initial : value before the first day, or a function of the configuration that gives it (a
        number, or an array of the shape of one society)
    kept : whether the field is part of a checkpoint; what one phase hands to the next on the same
        day is not
    recorded : whether ``record.detail`` puts it into the file
    within : least and largest value, each a number, None or one of the names ``"agents - 1"`` (so
        for every dimension) and ``"last state"`` (of a random stream, which begins at 1). A file
        with others is not resumed: give it for all that kernels take for indices or loop bounds
    """

    dims: tuple[str, ...]
    dtype: str
    unit: str
    meaning: str
    initial: float | Callable[[Any], Any] = 0
    kept: bool = True
    recorded: bool = False
    within: Within | None = None


@dataclass(frozen=True)
class Series:
    """One real number per society and day."""

    unit: str
    meaning: str


def series_macros(series: Mapping[str, Series]) -> dict[str, int]:
    """Return ``SERIES``, how many there are, and ``SERIES_name``, the place of each, as macros."""
    return {"SERIES": len(series)} | {f"SERIES_{name}": i for i, name in enumerate(series)}


@dataclass(frozen=True)
class Model:
    """A model that lives day by day; see docs/write-a-workload.md.

    Attributes
    ----------
    name : the value of the key ``workload``
    summary : one line for lists
    version : changed when, and only when, results change: a file of another one is not resumed
    config : the model of its configuration
    sizes : function of the configuration; the length of every dimension of the state
    state : the arrays that a society has, by name. ``series`` is added to them: (society, series)
        float64, filled by the last phase of the day
    series : what ``series`` holds, in order; each is a variable (society, day) of the file
    start, day : names of the phases before day 1, and of every day
    launches : function of device, configuration, arrays (by name, on the device) and work-items
        per workgroup; returns, for every phase, a function of the day that enqueues it
    reference : for every phase, a function of configuration, society and day in plain Python. A
        society has the fields of the state as (nested) lists, its number as ``index``, and takes
        its ``series`` as a dictionary
    counts : what `verify` counts, by name, since a phase may change an array and yet do nothing
        that matters
    """

    name: str
    summary: str
    version: str
    config: type[DailyConfig]
    sizes: Callable[[Any], dict[str, int]]
    state: Mapping[str, Field]
    series: Mapping[str, Series]
    start: tuple[str, ...]
    day: tuple[str, ...]
    launches: Callable[
        [Device, Any, Mapping[str, DeviceArray], int], Mapping[str, Callable[[int], Any]]
    ]
    reference: Mapping[str, Callable[[Any, Any, int], None]]
    counts: Mapping[str, Count] = dataclasses.field(default_factory=dict)

    def workload(self) -> Workload:
        """Return the object that the entry point names."""

        def run(config: Any, **options: Any) -> Any:
            from societies.daily.run import run  # here: reading a configuration stays quick

            return run(self, config, **options)

        def plan(config: Any, **options: Any) -> Any:
            from societies.daily.run import plan

            return plan(self, config, **options)

        def verify(config: Any, **options: Any) -> Any:
            from societies.daily.run import verify

            return verify(self, config, **options)

        def capture(config: Any, **options: Any) -> Any:
            from societies.daily.capture import capture

            return capture(self, config, **options)

        return Workload(self.name, self.summary, self.config, run, plan, verify, capture)

    @property
    def fields(self) -> dict[str, Field]:
        """The fields of the state, the series last."""
        meaning = "the day's statistics"
        series = Field((SERIES,), "float64", "various", meaning, initial=np.nan, kept=False)
        return {**self.state, SERIES: series}

    def shape(self, field: Field, config: DailyConfig) -> tuple[int, ...]:
        """Return the shape of an array of the state, the society first."""
        sizes = {**self.sizes(config), SERIES: len(self.series)}
        return (config.replicates, *(sizes[dim] for dim in field.dims))

    def initial_state(self, config: DailyConfig) -> State:
        """Return every array of the state as it is before the phases of the start."""
        state = {}
        for name, field in self.fields.items():
            value = field.initial(config) if callable(field.initial) else field.initial
            shape = self.shape(field, config)
            state[name] = np.broadcast_to(np.asarray(value, field.dtype), shape).copy()
        return state

    def kept(self, state: Mapping[str, NDArray[Any]]) -> State:
        """Return the part of the state that a checkpoint holds."""
        return {name: state[name] for name, field in self.fields.items() if field.kept}
