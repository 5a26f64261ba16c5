"""Who carries out the schedule: an OpenCL device or the reference, behind the same few methods.

Both start a set of societies, run steps or whole days, and give and take the state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from societies.device import BoundKernel, Device, DeviceArray, Program, get_all
from societies.economy import schedule, source
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

State = dict[str, NDArray[Any]]

LOG_DAYS = 64
"""Days whose series are kept on the device before the host reads them."""

WORKGROUP_LIMIT = 256

AGENTS_PER_COMPUTE_UNIT = 16
"""Beyond it a GPU has more agents to do than it can hold with a work-item for each resource."""


ALONE_ON_CPU = frozenset(
    [
        *("start_day", "open_device_market", "device_matching", "device_trading"),
        *("own_use", "production", "invention"),
        "end_day",
    ]
)
"""Kernels whose groups have a single work-item on a CPU (kernels/primitives/group.cl)."""

STATISTICS: dict[str, tuple[str, ...]] = {
    "distributions": (),
    "device_knowledge": ("row",),
    "device_means": (),
    "device_statistics": ("day",),
    "group_statistics": (),
    "society_statistics": ("row", "day"),
}
"""What the statistics of a society launch, if bound, and the arguments that change each day."""


class Engine(Protocol):
    """What a run needs of whoever carries it out."""

    parameters: Parameters

    def start(self) -> None:
        """Put the societies where they are before day 1."""

    def step(self, step: Step, day: int) -> None:
        """Run one step of a day."""

    def run_days(self, first: int, last: int) -> NDArray[np.float64]:
        """Run days first to last (at most `LOG_DAYS`); (society, day, series) float64."""

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

    Raises
    ------
    DeviceError
        If the kernels do not build or the arrays do not fit.
    """

    def __init__(
        self, device: Device, parameters: Parameters, workgroup: int | None = None
    ) -> None:
        self.device = device
        self.parameters = p = parameters
        self._state: dict[str, DeviceArray] = {
            name: device.array(array) for name, array in initial_state(p).items()
        }
        self._log = device.zeros((p.societies, LOG_DAYS, len(series_of(p))), np.float64)
        self._row = self._ran = 0
        self.program = Program(
            device, source.files(p), macros=source.macros(p), header=source.header(p)
        )
        self.kernels = self._bind(workgroup or workgroup_size(device, p))

    def _bind(self, lanes: int) -> dict[str, BoundKernel]:
        """Return each phase's kernel with everything set but what changes from call to call."""
        p, device = self.parameters, self.device
        program = self.program
        state: dict[str, Any] = {f"state_{name}": array for name, array in self._state.items()}
        state |= source.counts(p)
        tables = {name: device.array(array) for name, array in source.tables(p).items()}
        rows = (p.societies, source.DISTRIBUTIONS, p.agents)
        moments = device.zeros((p.societies, source.DISTRIBUTIONS, source.MOMENTS), np.float64)
        streams = p.societies * (p.agents + 1) * PURPOSE_COUNT
        pairs = p.societies * (p.agents // 2)

        def bind(kernel: str, groups: int, **more: Any) -> BoundKernel:
            items = 1 if on_cpu and kernel in ALONE_ON_CPU else lanes
            return program.kernel(kernel).bind(
                global_size=(groups * items,), local_size=(items,), **state, **more
            )

        agents = p.societies * p.agents
        on_cpu = bool(source.macros(p).get("DEVICE_IS_CPU", device.kind == "cpu"))
        working: dict[str, Any] = {}
        if p.device is not None:
            working["rows"] = device.zeros(max(1, source.extraction_in_global_memory(p) * agents))
        launch = {
            "seed_streams": bind(
                "seed_streams",
                -(-streams // lanes),
                societies=p.societies,
                first_society=p.first_society,
                stream_base=p.stream_base,
            ),
            "matching": bind("matching", p.societies),
            "extraction": bind("extraction", agents, **tables, **working),
            "end_day": bind("end_day", agents, **tables),
            "refresh_values": bind("refresh_values", agents, **tables),
            "agent_statistics": bind("agent_statistics", agents, **tables),
            "distributions": bind(
                "distributions",
                p.societies * source.DISTRIBUTIONS,
                samples=device.zeros(rows, np.float64),
                works=device.zeros(rows, np.float64),
                moments=moments,
            ),
            "society_statistics": bind(
                "society_statistics",
                p.societies,
                moments=moments,
                day_log=self._log,
                rows=LOG_DAYS,
                row=0,
                day=0,
            ),
            "consumption": bind("consumption", agents, **tables),
        }
        if pairs:
            scores = source.scores_in_global_memory(p) * pairs
            launch["trading"] = bind(
                "trading", pairs, **tables, scores=device.zeros(max(1, scores)), market_round=0
            )
        if len(p.trade_power) > 1:
            groups = p.societies * len(p.trade_power)
            utilities = device.zeros((groups, p.agents), np.float64)
            launch["group_statistics"] = bind(
                "group_statistics", groups, **tables, utilities=utilities
            )
        if p.device is not None:
            events = (p.societies, LOG_DAYS * p.agents)
            self._invention_log = device.zeros((*events, 4 + p.device.component_slots), np.int32)
            self._invention_count = device.zeros(p.societies, np.uint32)
            types, means = len(DEVICE_TYPES), p.societies * source.DEVICE_MEANS
            self._knowing_log = device.zeros((p.societies, LOG_DAYS, types, p.resources), np.int32)
            launch |= {
                "device_holdings": bind("device_holdings", agents * types),
                "device_knowledge": bind(
                    "device_knowledge",
                    p.societies * types,
                    knowing_log=self._knowing_log,
                    rows=LOG_DAYS,
                    row=0,
                ),
                "device_means": bind(
                    "device_means", means, amounts=device.zeros((means, p.agents), np.float64)
                ),
                "device_statistics": bind("device_statistics", p.societies, day=0),
            }
            launch |= {
                "start_day": bind("start_day", agents),
                "production": bind("production", agents, **tables),
                "invention": bind(
                    "invention",
                    p.societies,
                    **tables,
                    day=0,
                    invention_log=self._invention_log,
                    invention_count=self._invention_count,
                    log_rows=LOG_DAYS * p.agents,
                    orders=device.zeros(max(1, source.orders_in_global_memory(p)), np.uint32),
                ),
                "open_device_market": bind("open_device_market", p.societies, type=0),
                "device_matching": bind("device_matching", p.societies, type=0),
                "own_use": bind("own_use", agents, **tables, type=0),
            }
            if pairs:
                launch["device_trading"] = bind("device_trading", pairs, **tables, type=0)
        if p.shocks:
            launch["draw_shocks"] = bind("draw_shocks", p.societies)
            launch["shocks"] = bind("shocks", agents, shock=0)
        return launch

    def start(self) -> None:
        """Put the societies where they are before day 1."""
        for name, array in initial_state(self.parameters).items():
            self._state[name].set(array)
        for step in schedule.start(self.parameters):
            self.step(step, 0)

    def step(self, step: Step, day: int) -> None:
        """Run one step of a day."""
        for kernel, changed in self.launches(step, day):
            self.kernels[kernel](**changed)

    def launches(self, step: Step, day: int) -> list[tuple[str, dict[str, int]]]:
        """Return the kernels that a step launches, with the arguments that change."""
        phase = step.phase
        if phase not in self.kernels and phase in ("trading", "device_trading"):
            return []  # a single agent meets nobody
        if phase == "trading":
            return [(phase, {"market_round": step.round})]
        if step.device >= 0:
            return [(phase, {"type": step.device})]
        if phase == "invention":
            return [(phase, {"day": day})]
        if phase == "society_statistics":
            today: dict[str, int] = {"row": self._row, "day": day}
            return [
                (kernel, {name: today[name] for name in changed})
                for kernel, changed in STATISTICS.items()
                if kernel in self.kernels
            ]
        if phase == "agent_statistics" and "device_holdings" in self.kernels:
            return [(phase, {}), ("device_holdings", {})]
        if phase == "shocks":
            due = [i for i, shock in enumerate(self.parameters.shocks) if shock.day == day]
            return [(phase, {"shock": i}) for i in due]
        return [(phase, {})]

    def run_days(self, first: int, last: int) -> NDArray[np.float64]:
        """Run days first to last (at most `LOG_DAYS`); (society, day, series) float64."""
        self._ran = last - first + 1
        if self.parameters.device is not None:
            self._invention_count.set(np.zeros(self.parameters.societies, np.uint32))
        for day in range(first, last + 1):
            self._row = day - first
            for step in schedule.day_schedule(self.parameters, day):
                self.step(step, day)
        self._row = 0
        log: NDArray[np.float64] = self._log.get()
        return log[:, : self._ran]

    def inventions(self) -> NDArray[np.int32]:
        """Return the inventions of the last `run_days`, a row each, by day and society."""
        counts = self._invention_count.get()
        log = self._invention_log.get() if counts.any() else np.empty((0, 0, 0), np.int32)
        rows = [
            np.insert(log[society, :count], 0, society, axis=1)
            for society, count in enumerate(counts)
            if count
        ]
        return _by_day(np.concatenate(rows) if rows else None, self.parameters)

    def agents_knowing(self) -> NDArray[np.int32]:
        """Return how many knew each device; (society, day, device, resource), as `run_days`."""
        log: NDArray[np.int32] = self._knowing_log.get()
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


def scratch_bytes(p: Parameters) -> int:
    """Return the bytes on the device beside the state: tables, scratch memory and the day log."""
    tables = sum(array.nbytes for array in source.tables(p).values())
    quantities = source.DISTRIBUTIONS * (2 * p.agents + source.MOMENTS)
    if p.device is not None:  # the log of knowledge has words of 4 bytes
        quantities += source.DEVICE_MEANS * p.agents
        quantities += LOG_DAYS * len(DEVICE_TYPES) * p.resources // 2
    if len(p.trade_power) > 1:
        quantities += len(p.trade_power) * p.agents
    if p.device is not None:
        quantities += source.extraction_in_global_memory(p) * p.agents
        quantities += LOG_DAYS * p.agents * (4 + p.device.component_slots) // 2
    scores = source.scores_in_global_memory(p) * (p.agents // 2)
    return tables + 8 * p.societies * (quantities + scores + LOG_DAYS * len(series_of(p)))


def launches_per_day(p: Parameters) -> int:
    """Return the kernels launched on a day without shocks."""
    steps = [step.phase for step in schedule.day_schedule(p, 1)]
    meetings = 0
    if p.agents == 1:
        meetings = steps.count("trading") + steps.count("device_trading")
    more = ["distributions"]
    if p.device is not None:
        more += ["device_holdings", "device_knowledge", "device_means", "device_statistics"]
    if len(p.trade_power) > 1:
        more += ["group_statistics"]
    return len(steps) + len(more) - meetings


class ReferenceEngine:
    """The societies in plain Python, the definition of every result.

    Parameters
    ----------
    parameters : Parameters
    """

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._p = _for_reference(parameters)
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
        from reference_py.economy.day import run_phase

        for society in self._societies:
            run_phase(self._p, society, step.phase, day, step.round, step.device)

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
