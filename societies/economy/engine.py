"""Who carries out the schedule: an OpenCL device or the reference, behind the same few methods.

Both start a set of societies, run steps or whole days, and give and take the state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from societies.device import Device, DeviceArray, Program, get_all
from societies.economy import phases, schedule, source
from societies.economy.parameters import EffortCurve, Parameters
from societies.economy.schedule import Step
from societies.economy.state import (
    DEVICE_STATE,
    DEVICE_TYPES,
    PURPOSE_COUNT,
    PURPOSES,
    STATE,
    initial_state,
    series_of,
    sizes,
    state_fields,
)
from societies.streams import STREAM_GAP
from societies.workload.phases import WORKGROUP_LIMIT, BoundPhases, kernel_files

State = dict[str, NDArray[Any]]

AGENTS_PER_COMPUTE_UNIT = 16
"""Above this number of agents per compute unit a GPU cannot keep all workgroups resident, so each
gets a single warp."""


class Engine(Protocol):
    """What a run needs of whoever carries it out."""

    parameters: Parameters

    def start(self) -> None:
        """Put the societies where they are before day 1."""

    def step(self, step: Step, day: int) -> None:
        """Run one step of a day."""

    def run_days(self, first: int, last: int) -> NDArray[np.float64]:
        """Run days first to last (at most `phases.LOG_DAYS`); (society, day, series) float64."""

    def inventions(self) -> NDArray[np.int32]:
        """Return the inventions of the last `run_days`, a row each, by day and society.

        Columns: society, day, inventor, type, resource, and the components, filled up with -1.
        """

    def agents_knowing(self) -> NDArray[np.int32]:
        """Return how many knew each device; (society, day, device, resource), as `run_days`."""

    def state(self) -> State:
        """Return a copy of every array of the state."""

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace the kept arrays of the state; all others are as before day 1."""


def kept(state: Mapping[str, NDArray[Any]]) -> State:
    """Return the part of the state that a checkpoint holds."""
    fields = STATE | DEVICE_STATE
    return {name: state[name] for name, field in fields.items() if field.kept and name in state}


def state_hash(state: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of the kept state: names, shapes and bytes in the order of the table."""
    digest = hashlib.sha256()
    for name, array in kept(state).items():
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        digest.update(f"{name} {little.dtype.str} {little.shape}\n".encode())
        digest.update(little.tobytes())
    return digest.hexdigest()


class DeviceEngine:
    """The societies on an OpenCL device: one workgroup per agent, pair or society.

    Parameters
    ----------
    device : Device
    parameters : Parameters
    workgroup : int, optional
        Work-items per group; the results do not depend on it.
    only : collection of str, optional
        Phases that will be run; the kernels of others are not built.

    Attributes
    ----------
    memory : dict of name to array on the device
        Tables, scratch memory and the logs, among them ``day_log``.

    Raises
    ------
    DeviceError
        If the kernels do not build or the arrays do not fit.
    """

    def __init__(
        self,
        device: Device,
        parameters: Parameters,
        workgroup: int | None = None,
        only: Collection[str] | None = None,
    ) -> None:
        self.device = device
        self.parameters = p = parameters
        self._state: dict[str, DeviceArray] = {
            name: device.array(array) for name, array in initial_state(p).items()
        }
        self._row = self._ran = 0
        macros = source.macros(p)
        table = phases.phases(p)
        files = phases.files(p)
        if only is not None:
            table = {name: table[name] for name in only if name in table}
            files = kernel_files(table)
        self.program = Program(device, files, macros=macros, header=source.header(p))
        self._run = BoundPhases(
            table,
            self.program,
            arrays=self._state,
            arguments={**source.counts(p), **source.tables(p)},
            changing=phases.CHANGING,
            work_items=workgroup or workgroup_size(device, p),
            on_cpu=bool(macros.get("DEVICE_IS_CPU", device.kind == "cpu")),
            tick=phases.CLOCK,
        )
        self.memory = self._run.memory

    def start(self) -> None:
        """Put the societies where they are before day 1."""
        for name, array in initial_state(self.parameters).items():
            self._state[name].set(array)
        for step in schedule.start(self.parameters):
            self.step(step, 0)

    def step(self, step: Step, day: int) -> None:
        """Run one step of a day."""
        self._run(step, day, row=self._row)

    def run_days(self, first: int, last: int) -> NDArray[np.float64]:
        """Run days first to last (at most `phases.LOG_DAYS`); (society, day, series) float64."""
        self._ran = last - first + 1
        if self.parameters.device is not None:
            self.memory["invention_count"].set(np.zeros(self.parameters.societies, np.uint32))
        for day in range(first, last + 1):
            self._row = day - first
            for step in schedule.day_schedule(self.parameters, day):
                self.step(step, day)
        self._row = 0
        log: NDArray[np.float64] = self.memory["day_log"].get()
        return log[:, : self._ran]

    def inventions(self) -> NDArray[np.int32]:
        """Return the inventions of the last `run_days`, a row each, by day and society."""
        counts = self.memory["invention_count"].get()
        log = self.memory["invention_log"].get() if counts.any() else np.empty((0, 0, 0), np.int32)
        rows = [
            np.insert(log[society, :count], 0, society, axis=1)
            for society, count in enumerate(counts)
            if count
        ]
        return _by_day(np.concatenate(rows) if rows else None, self.parameters)

    def agents_knowing(self) -> NDArray[np.int32]:
        """Return how many knew each device; (society, day, device, resource), as `run_days`."""
        log: NDArray[np.int32] = self.memory["knowing_log"].get()
        return log[:, : self._ran]

    def state(self) -> State:
        """Return a copy of every array of the state."""
        return get_all(self._state)

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace the kept arrays of the state; all others are as before day 1."""
        for name, array in {**initial_state(self.parameters), **kept(state)}.items():
            self._state[name].set(array)


def workgroup_size(device: Device, p: Parameters) -> int:
    """Return work-items per group: one per resource, in whole warps, within the portable limit.

    With more agents than a GPU can have resident at this size, each agent gets a single warp, whose
    work-items then serve several resources: twice as many agents are under way at once.
    """
    step = max(8, device.warp if device.kind != "cpu" else 8)
    full = min(WORKGROUP_LIMIT, device.max_workgroup, -(-p.resources // step) * step)
    crowded = p.societies * p.agents > AGENTS_PER_COMPUTE_UNIT * device.compute_units
    return step if device.kind == "gpu" and crowded else full


class ReferenceEngine:
    """The societies in plain Python, the definition of every result.

    Parameters
    ----------
    parameters : Parameters
    """

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._p = _for_reference(parameters)
        self._phases = phases.reference(phases.phases(parameters))
        self._societies = self._unpack(initial_state(parameters))
        self._knowing: list[list[list[list[int]]]] = []

    @property
    def societies(self) -> list[Any]:
        """The societies as they are now, one object for each."""
        return self._societies

    @property
    def plain(self) -> SimpleNamespace:
        """The parameters as the reference takes them."""
        return self._p

    def start(self) -> None:
        """Put the societies where they are before day 1."""
        self._societies = self._unpack(initial_state(self.parameters))
        for step in schedule.start(self.parameters):
            self.step(step, 0)

    def step(self, step: Step, day: int) -> None:
        """Run one step of a day."""
        for society in self._societies:
            self._phases[step.phase](self._p, society, day, **step.arguments)

    def run_days(self, first: int, last: int) -> NDArray[np.float64]:
        """Run days first to last; (society, day, series) float64."""
        rows: list[list[list[float]]] = []
        self._knowing = []
        for society in self._societies:
            society.inventions.clear()
        for day in range(first, last + 1):
            for step in schedule.day_schedule(self.parameters, day):
                self.step(step, day)
            rows.append([society.series for society in self._societies])
            if self.parameters.device is not None:
                self._knowing.append([list(one.agents_knowing) for one in self._societies])
        return np.array(rows, dtype=np.float64).transpose(1, 0, 2)

    def inventions(self) -> NDArray[np.int32]:
        """Return the inventions of the last `run_days`, a row each, by day and society."""
        rows = [
            [i, *facts, *parts]
            for i, society in enumerate(self._societies)
            for *facts, parts in society.inventions
        ]
        return _by_day(np.array(rows, np.int32) if rows else None, self.parameters)

    def agents_knowing(self) -> NDArray[np.int32]:
        """Return how many knew each device; (society, day, device, resource), as `run_days`."""
        return np.array(self._knowing, dtype=np.int32).swapaxes(0, 1)

    def state(self) -> State:
        """Return a copy of every array of the state."""
        return {
            name: np.array(
                [getattr(society, name) for society in self._societies], dtype=field.dtype
            )
            for name, field in state_fields(self.parameters).items()
        }

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace the kept arrays of the state; all others are as before day 1."""
        self._societies = self._unpack({**initial_state(self.parameters), **kept(state)})

    def _unpack(self, state: Mapping[str, NDArray[Any]]) -> list[Any]:
        from reference_py.economy.society import Society

        return [
            Society(
                self.parameters.first_society + i,
                {name: array[i].tolist() for name, array in state.items()},
            )
            for i in range(self.parameters.societies)
        ]


def _by_day(inventions: NDArray[np.int32] | None, p: Parameters) -> NDArray[np.int32]:
    """Sort rows of society, day and so on by day, those of a day by society."""
    if inventions is None:
        assert p.device is not None
        return np.empty((0, 5 + p.device.component_slots), np.int32)
    return inventions[np.argsort(inventions[:, 1], kind="stable")]


def _for_reference(p: Parameters) -> SimpleNamespace:
    """Return the parameters as plain numbers and lists."""
    plain = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(p).items()
    }
    plain["utility_curves"] = [
        SimpleNamespace(marginal=c.marginal.tolist(), total=c.total.tolist(), floor=c.floor)
        for c in p.utility_curves
    ]
    plain["effort_curves"] = _plain_curves(p.effort_curves)
    if p.device is not None:
        device = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in vars(p.device).items()
        }
        device["effort_curves"] = _plain_curves(p.device.effort_curves)
        plain["device"] = SimpleNamespace(**device, component_slots=p.device.component_slots)
    lengths = sizes(p)
    return SimpleNamespace(
        **plain,
        stream_base=p.stream_base,
        stream_gap=STREAM_GAP,
        purposes=PURPOSES,
        purpose_count=PURPOSE_COUNT,
        series=list(series_of(p)),
        device_types=len(DEVICE_TYPES),
        device_names=DEVICE_TYPES,
        agent_fields={
            name: (_plain(field.initial, field.dtype), [lengths[dim] for dim in field.dims[1:]])
            for name, field in state_fields(p).items()
            if field.of_agent
        },
    )


def _plain_curves(curves: tuple[EffortCurve, ...]) -> list[SimpleNamespace]:
    return [
        SimpleNamespace(
            minutes=c.minutes.tolist(), total=c.total.tolist(), max_experience=c.max_experience
        )
        for c in curves
    ]


def _plain(value: float, dtype: str) -> int | float:
    return float(value) if dtype == "float64" else int(value)
