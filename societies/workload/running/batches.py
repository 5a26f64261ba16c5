"""How do more copies run than fit into a device's memory? In batches, a block of ticks at a time.

The host's memory holds the states of all copies. For each block, every batch in turn is copied to
the device, runs the block's ticks, and is copied back. So the file has the same commits and
checkpoints as without batches, and the same bits, because a copy depends neither on the other
copies nor on its index.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.config.model import LARGEST_INTEGER
from societies.errors import DeviceError
from societies.opencl import Device
from societies.workload.declare.fields import State
from societies.workload.declare.phases import Step
from societies.workload.declare.protocol import Setup
from societies.workload.running.devices import chosen_device
from societies.workload.running.engines import (
    LOG_TICKS,
    Built,
    DeviceEngine,
    Engine,
    ReferenceEngine,
)
from societies.workload.running.launches import scratch_memory
from societies.workload.running.logs import sorted_by_tick
from societies.workload.running.profile import Profile
from societies.workload.running.state import checkpointed
from societies.workload.running.sufficiency import available_memory, byte_count

SHARE_OF_GPU, SHARE_OF_FREE = 0.9, 0.5
"""Shares that copies may take of a GPU's memory and, on a CPU, of the host's free memory. The rest
is for the display and, on a CPU, for the states of all copies on the host."""

SECONDS = 2.0
"""Seconds that a batch runs at a time; long enough that moving its state takes a small share."""


class Batches(Engine):
    """An engine of all copies that runs them in batches on an inner engine.

    Parameters
    ----------
    inner : engine that has the number of copies of a batch
    copies : number of copies
    first : index of the first of them in the whole ensemble
    """

    def __init__(self, inner: Engine, copies: int, first: int = 0) -> None:
        self.inner, self.copies, self._first = inner, copies, first
        self.fields, self.parameters = inner.fields, inner.parameters
        self.built = inner.built
        self.count = math.ceil(copies / inner.copies)
        self.block_seconds = SECONDS * self.count
        self.throttled = False
        self._parts: list[State] = []
        self._logs: State = {}
        self._events: dict[str, NDArray[np.int32]] = {}
        self._measured: State = {}
        self.profile: Profile | None = None

    def _places(self) -> Iterator[tuple[int, int]]:
        """Change the inner engine to each batch; yield the batch's index and number of copies."""
        for number in range(self.count):
            place = number * self.inner.copies
            self.inner.at(self._first + place)
            yield number, min(self.inner.copies, self.copies - place)

    def start(self) -> None:
        """Set all copies to their state before the first tick."""
        self._parts = []
        for _ in self._places():
            self.inner.start()
            self._parts.append(self.inner.state())

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace the checkpointed arrays of the state."""
        self._parts = []
        whole = checkpointed(self.fields, state)
        for number, _ in self._places():
            places = number * self.inner.copies + np.arange(self.inner.copies)
            rows = np.minimum(places, self.copies - 1)  # a batch is filled up with the last copy
            self.inner.load({name: array[rows] for name, array in whole.items()})
            self._parts.append(self.inner.state())

    def steps(self, tick: int) -> Iterator[Step]:
        """Raise NotImplementedError: batches run whole ticks only."""
        raise NotImplementedError

    def run_ticks(self, first: int, last: int) -> None:
        """Run whole ticks of all batches, and log them."""
        logs: list[State] = []
        events: list[dict[str, NDArray[np.int32]]] = []
        self._measured = {}
        for number, count in self._places():
            self.inner.put(self._parts[number])
            self.inner.throttled = self.throttled
            self.inner.run_ticks(first, last)
            self._parts[number] = self.inner.state()
            logs.append({name: log[:count] for name, log in self.inner.logs().items()})
            events.append({})
            for name, rows in self.inner.events().items():
                own = rows[rows[:, 0] < count]
                own[:, 0] += number * self.inner.copies
                events[-1][name] = own
            for name, values in self.inner.measured().items():
                self._measured[name] = self._measured.get(name, 0) + values
        self._logs = {name: np.concatenate([log[name] for log in logs]) for name in logs[0]}
        self._events = {name: sorted_by_tick([one[name] for one in events]) for name in events[0]}

    def logs(self, *, borrowed: bool = False) -> State:
        """Return the logged fields of the last `run_ticks`: (copy, tick, ...)."""
        return self._logs

    def events(self) -> dict[str, NDArray[np.int32]]:
        """Return the events of the last `run_ticks`: a row has the copy's index and the columns."""
        return self._events

    def measured(self) -> State:
        """Return the measured times of the last `run_ticks`, as sums over the batches."""
        return self._measured

    def profiled(self) -> Profile:
        """Measure every phase from now on, and return the profile that collects the times."""
        self.profile = self.inner.profiled()
        return self.profile

    def finish(self) -> None:
        """Run the steps after the last tick."""
        for number, _ in self._places():
            self.inner.put(self._parts[number])
            self.inner.finish()
            self._parts[number] = self.inner.state()

    def wait(self) -> None:
        """Wait until all launches and copies have completed."""
        self.inner.wait()

    def arrays(self, *names: str) -> State:
        """Return copies of some arrays of the state."""
        joined = {name: np.concatenate([part[name] for part in self._parts]) for name in names}
        return {name: array[: self.copies] for name, array in joined.items()}


@dataclass(frozen=True)
class OwnCopies:
    """The copies of a run that one of several processes computes.

    Attributes
    ----------
    first, copies : index of the first copy in the ensemble, and number of copies
    processes, of_device : number of processes of the run, and number that use the same device
    """

    first: int
    copies: int
    processes: int
    of_device: int


MANY = 4096
"""Copies for which the working memory of each is counted: a GPU has other forms for few copies."""


class Room:
    """Memory of a device, and the number of copies that fit; of a `OwnCopies`, its share of it.

    Attributes
    ----------
    fixed, bytes_per_copy : bytes that all copies share; bytes of each copy
    largest : bytes of one copy in the largest array
    has, in_one : bytes that the device has for copies: in total; at most in one array
    """

    def __init__(
        self, setup: Setup[Any, Any], device: Device, part: OwnCopies | None = None
    ) -> None:
        workload, p, sizes = setup.workload, setup.p, setup.sizes
        tables = setup.source.arguments.items()
        arrays = {name: one for name, one in tables if isinstance(one, np.ndarray)}
        rows = workload.parameters_of_copies(p, 0)
        self.fixed = sum(one.nbytes for name, one in arrays.items() if name not in rows)
        parts = [one.nbytes // max(1, len(one)) for one in rows.values()]
        fields = setup.fields.values()
        parts += [field.nbytes(sizes) for field in fields]
        parts += [(LOG_TICKS + 1) * field.nbytes(sizes) for field in fields if field.logged]
        parts += [4] if workload.numbered else []
        events = workload.events(p).values()
        parts += [4 + 4 * one.columns * (LOG_TICKS * one.rows + 1) for one in events]
        on_cpu = device.kind == "cpu"
        one, two = (
            scratch_memory({name: each.on(on_cpu) for name, each in workload.phases(p, n).items()})
            for n in (MANY, MANY + 1)
        )
        of_scratch = [two[name].nbytes - one[name].nbytes for name in one]
        parts += of_scratch
        self.fixed += sum(scratch.nbytes for scratch in one.values()) - MANY * sum(of_scratch)
        self.bytes_per_copy, self.largest = sum(parts), max(parts)
        free = available_memory() if device.kind == "cpu" else None
        if free is None:
            self.has = int(SHARE_OF_GPU * device.global_memory)
        else:
            self.has = min(int(SHARE_OF_FREE * free), device.global_memory or free)
        if part is not None:
            self.has //= part.processes if device.kind == "cpu" else part.of_device
        self.in_one = device.max_alloc or self.has
        self._device, self._copies = device, workload.copies

    @property
    def copies(self) -> int:
        """Number of copies that fit; 0 if not even one does."""
        if not self.has:  # the device does not report its memory
            return 2**31
        fit = min((self.has - self.fixed) // self.bytes_per_copy, self.in_one // self.largest)
        return max(0, int(fit))

    def nbytes(self, copies: int) -> int:
        """Return the bytes that a run of this many copies takes on the device."""
        return self.fixed + copies * self.bytes_per_copy

    def lack(self) -> str:
        """Return a message with needed and available memory if not even one copy fits, else ""."""
        if self.copies:
            return ""
        most = self._device.max_alloc
        if most and self.largest > most:
            return (
                f"memory: one {self._copies} has an array of {byte_count(self.largest)}, "
                f"{self._device.name} takes at most {byte_count(most)} in one"
            )
        return (
            f"memory: one {self._copies} needs {byte_count(self.nbytes(1))}, "
            f"{self._device.name} has {byte_count(self.has)} for it"
        )


def batch_size(copies: int, fit: int, asked: int | None) -> int:
    """Return the largest number of copies of a batch, if batches are nearly equal in size."""
    most = min(fit, asked or copies, copies)
    return math.ceil(copies / math.ceil(copies / most))


def require_fit(room: Room) -> None:
    """Raise DeviceError if not even one copy fits the device."""
    if room.lack():
        raise DeviceError(f"{room.lack()}\nmake it smaller, or take another device")


def engine_of(
    setup: Setup[Any, Any],
    device: str | Device,
    *,
    profiling: bool = False,
    batch: int | None = None,
    like: Built | None = None,
    part: OwnCopies | None = None,
    some: NDArray[np.intp] | None = None,
) -> tuple[Engine, str, dict[str, str]]:
    """Return an engine, the displayed name of its device, and attributes for the file.

    Raises DeviceError if not even one copy fits the device.

    Parameters
    ----------
    batch : int, optional
        Largest number of copies on the device at a time; fewer if they do not fit. The engine can
        then run whole ticks only. Default: all copies at once, so that single steps can be run.
    like : program of another engine on the device, which is reused if its text is the same
    part : OwnCopies, optional
        The copies of this engine. Default: all.
    some : (copy,) int, optional
        Index of each copy of this engine, as for `Engine`; its program is that of all copies.
    """
    chosen, name, facts = chosen_device(device, profiling=profiling)
    setup = setup.on(chosen)
    workload, p = setup.workload, setup.p
    begin, copies = (0, setup.copies) if part is None else (part.first, part.copies)
    copies = copies if some is None else len(some)
    size = copies if batch is None else batch_size(copies, copies_that_fit(setup, part), batch)
    of: dict[str, Any] = {"first": setup.first, "copies": size, "numbers": setup.config.numbers}
    of |= {"chosen": some}
    inner: Engine
    if chosen is None:
        inner = ReferenceEngine(workload, p, ensemble=setup.copies, **of)
    else:
        if some is not None:
            of["work_items"] = workload.work_items(p, setup.copies, chosen)
        inner = DeviceEngine(workload, p, chosen, like=like, **of)
    if size < copies:
        return Batches(inner, copies, begin), name, facts
    if begin:
        inner.at(begin)
    return inner, name, facts


def copies_that_fit(setup: Setup[Any, Any], part: OwnCopies | None = None) -> int:
    """Return how many copies fit a device, before anything is built; raises DeviceError if none."""
    if setup.device is None:
        return LARGEST_INTEGER
    room = Room(setup, setup.device, part)
    require_fit(room)
    return room.copies
