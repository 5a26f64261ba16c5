"""What carries out the steps of a run? An engine: an OpenCL device or plain Python."""

from __future__ import annotations

from bisect import bisect_left
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.copies import Copy
from societies.errors import SocietiesError
from societies.kerneltext.source import AmalgamatedText, amalgamate
from societies.opencl import Device, DeviceArray, Program, get_all, get_each
from societies.workload.declare.fields import SERIES, State
from societies.workload.declare.phases import LOG_ROW, TICKS, Phase, Step, kernel_files
from societies.workload.declare.protocol import Setup, Workload
from societies.workload.running.appended import EventRows
from societies.workload.running.bound import BoundPhases
from societies.workload.running.logs import DeviceLogs, sorted_by_tick
from societies.workload.running.measured import Stopwatch
from societies.workload.running.profile import Profile
from societies.workload.running.programs import require_allowed
from societies.workload.running.recent import Recent, copy_each
from societies.workload.running.state import (
    array_of,
    checkpointed,
    initial_state,
    initial_values,
    state_hash,
)

LOG_TICKS = 64
"""Largest number of ticks in a block; the host reads the logs of a block at once."""

ENDED = "ended"
"""Field with the tick at which a copy ended, -1 while it continues.

Kernels do not change the checkpointed arrays of a copy that has ended, so it does not matter when
the host reads them. The reference does not call phases for such a copy.
"""


@dataclass(frozen=True, eq=False)
class Built:
    """A program that an engine has built; engines with the same text can reuse it.

    It refers to no arrays, so the memory of the engine that built it can be freed.

    Attributes
    ----------
    device : device for which it was built
    text : kernel files, macros, header and build options
    """

    device: Device
    text: tuple[list[str], dict[str, Any], str, tuple[str, ...]]
    program: Program


FINISH = -1
"""The argument `tick` of phases of `Workload.finish`."""


class _ReportedWords(Mapping[str, NDArray[Any]]):
    """Arrays of the state that a schedule may read; reading one waits for the device."""

    def __init__(self, read: Callable[..., State]) -> None:
        self._read = read

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._read(name)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class _Attributes(dict[str, Any]):
    """The attributes of an object as a dictionary; each is looked up when it is requested."""

    def __init__(self, of: Any) -> None:
        super().__init__()
        self._of = of

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and hasattr(self._of, name)

    def __missing__(self, name: str) -> Any:
        return getattr(self._of, name)


HELD_BYTES = 1 << 27
"""Largest state that a device holds for a checkpoint which may never be written (`Engine.held`).

The device's memory has room for two of them, because batches leave a tenth of it free.
"""

SHARE = 8
"""Snapshots may fill at most one `SHARE`-th of a device's memory."""

BLOCK_SECONDS = 0.5
"""Intended duration of a block if no state has to be moved to the device and back."""


class Engine:
    """What carries out the steps of a run, for all copies or for batches of them.

    Parameters
    ----------
    p : parameters of the workload
    first, copies : number of the first copy, and number of copies
    numbers : (copy,) int, optional
        Number of each copy of the ensemble, if they are not consecutive. Copies with the same
        number have the same random draws.
    chosen : (copy,) int, optional
        Index in the ensemble of each copy to be run; default: all, in order.

    Attributes
    ----------
    built : the program, which another engine with the same kernels can reuse; None without kernels
    block_seconds : intended duration of a block: an interruption loses at most one block
    throttled : whether launches pause for other threads, such as one that writes the file
    room : bytes that snapshots may have together
    stops : ticks at which a block must end
    """

    room = 1 << 30
    stops: Collection[int] = ()

    def __init__(
        self,
        workload: Workload[Any, Any],
        p: Any,
        first: int,
        copies: int,
        numbers: NDArray[Any] | None = None,
        chosen: NDArray[np.intp] | None = None,
    ) -> None:
        require_allowed(workload.programs(p))  # checked here because every use needs an engine
        self.workload, self.parameters, self.first, self.copies = workload, p, first, copies
        self._numbers_of_all, self._chosen = numbers, chosen
        self.block_seconds = BLOCK_SECONDS
        self.throttled = False
        self.built: Built | None = None
        self.fields = dict(workload.arrays(p))
        self.sizes = dict(workload.lengths(p))
        self._event_kinds = dict(workload.events(p))
        self.profile: Profile | None = None
        self._changes, self._stretch, self._tick = tuple(workload.changes(p)), 0, 0
        self._place = 0  # index of the first copy in the ensemble of the parameters
        self._begun = 1  # first tick of the last block
        self._stopwatch = Stopwatch(workload.timed, self.wait, self._launched)
        self._together = False  # True if a whole block is timed instead of each tick

    def _enter(self, tick: int) -> None:
        """Change to the parameters that apply in a tick; `FINISH` uses those of the last tick.

        A change at the end of a tick applies from the next tick on.
        """
        stretch = self._stretch if tick == FINISH else bisect_left(self._changes, tick)
        if stretch != self._stretch:
            self._stretch, self._tick = stretch, tick
            self._parameters_changed()

    def at(self, place: int) -> None:
        """Change to the copies of the ensemble that begin with index ``place``.

        Beyond the end of the ensemble the parameters of the last copy are repeated, with other
        random draws.
        """
        self.first += place - self._place
        self._place = place
        self._parameters_changed()

    def _indices(self) -> NDArray[np.intp]:
        """Return the index of each present copy in the ensemble; it may lie beyond its end."""
        places = np.arange(self._place, self._place + self.copies)
        if self._chosen is None:
            return places
        return self._chosen[np.minimum(places, len(self._chosen) - 1)]

    def copy_numbers(self) -> NDArray[np.uint32]:
        """Return the number of each present copy, which selects its random streams."""
        if self._numbers_of_all is None:
            return np.arange(self.first, self.first + self.copies, dtype=np.uint32)
        last = len(self._numbers_of_all) - 1
        return self._numbers_of_all[np.minimum(self._indices(), last)].astype(np.uint32)

    def _tables_of_copies(self) -> dict[str, NDArray[Any]]:
        """Return the tables that have an entry for each present copy."""
        places = self._indices()
        tables = self.workload.parameters_of_copies(self.parameters, self._tick)
        numbers = {f"{self.workload.copies}_numbers": self.copy_numbers()}
        return numbers | {
            name: np.ascontiguousarray(table[np.minimum(places, len(table) - 1)])
            for name, table in tables.items()
        }

    def _parameters_changed(self) -> None:
        """Replace the parameters by those of the present copies and tick."""
        raise NotImplementedError

    def initial(self) -> State:
        """Return the initial value of every array, before the first phase."""
        return initial_state(self.fields, self.sizes, self.copies, self.parameters, self._indices())

    def state(self) -> State:
        """Return a copy of every array of the state."""
        return self.arrays(*self.fields)

    def each(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield names and arrays of `state` in the table's order, each as soon as it is copied."""
        yield from self.state().items()

    def step(self, step: Step, tick: int) -> None:
        """Run one step of a tick."""
        raise NotImplementedError

    def run_ticks(self, first: int, last: int) -> None:
        """Run whole ticks, at most `LOG_TICKS`, and log them."""
        raise NotImplementedError

    def logs(self, *, borrowed: bool = False) -> State:
        """Return the logged fields of the last `run_ticks`: (copy, tick, ...).

        Borrowed logs are valid until logs are borrowed again, because the memory is reused.
        """
        raise NotImplementedError

    def log(self, name: str) -> NDArray[Any]:
        """Return one logged field of the last `run_ticks`: (copy, tick, ...)."""
        return self.logs()[name]

    def events(self) -> dict[str, NDArray[np.int32]]:
        """Return the events of the last `run_ticks`: a row has the copy's index and the columns."""
        raise NotImplementedError

    def forget_events(self) -> None:
        """Empty the lists of events, before single steps; `run_ticks` begins with empty ones."""
        raise NotImplementedError

    def wait(self) -> None:
        """Wait until all launches and copies have completed."""
        raise NotImplementedError

    def _run_tick(self, tick: int) -> None:
        """Run the steps of a tick, and measure it if the workload is timed."""
        if self.profile is None and not self.workload.timed:
            for step in self.steps(tick):  # no context managers in the inner loop of a run
                self.step(step, tick)
            return
        with nullcontext() if self._together else self._stopwatch.tick():
            for step in self.steps(tick):
                with nullcontext() if self.profile is None else self.profile.phase(step.phase):
                    self.step(step, tick)

    def profiled(self) -> Profile:
        """Measure every phase from now on, and return the profile that collects the times."""
        self.profile = Profile()
        return self.profile

    def _profiling(self) -> AbstractContextManager[None]:
        """Return a context that adds to the profile, if there is one."""
        return nullcontext() if self.profile is None else self.profile.ticks(self.wait)

    def _launched(self) -> int:
        """Return the number of kernels launched so far."""
        return 0

    def measured(self) -> State:
        """Return the measured times of the last `run_ticks`; {} if the workload is not timed."""
        ended = self.ended() if self._together else None
        return self._stopwatch.measured(None if ended is None else ended - self._begun + 1)

    def arrays(self, *names: str) -> State:
        """Return copies of some arrays of the state."""
        raise NotImplementedError

    def part(self, names: Collection[str], first: int, copies: int) -> State:
        """Return arrays of the state, but of some copies only: (copy, ...)."""
        found = self.arrays(*names)
        return {name: array[first : first + copies] for name, array in found.items()}

    def snapshot(self) -> Mapping[str, Any]:
        """Return the checkpointed arrays as they are now, for `restore`; a device holds them."""
        return self.checkpointed_state()

    def held(self) -> Callable[[], State]:
        """Return a function that returns the checkpointed arrays as they are now, at any time."""
        state = self.checkpointed_state()
        return lambda: state

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Return to the state of a snapshot, also one of another engine on the same device."""
        self.load(snapshot)

    def adopt(self, other: Engine, names: Collection[str]) -> None:
        """Replace arrays of the state by those of another engine on the same device."""
        self.put(other.arrays(*names))

    def remember(self, names: Collection[str], ticks: int) -> None:
        """Store from now on what some arrays are after each of the last ``ticks`` ticks."""
        raise NotImplementedError

    def remembered(self, ticks: Sequence[int], first: int, copies: int) -> dict[int, State]:
        """Return what these arrays of some copies were after some of the last ticks, by tick."""
        raise NotImplementedError

    def steps(self, tick: int) -> Iterator[Step]:
        """Yield the steps of a tick; a step may depend on what the steps before have computed."""
        yield from self.workload.schedule(self.parameters, tick, _ReportedWords(self.arrays))

    def start(self) -> None:
        """Set all copies to their state before the first tick."""
        self._reset()
        self._run_outside(self.steps(0), 0)

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace the checkpointed arrays of the state."""
        self._prepare()
        self.put(checkpointed(self.fields, state))

    def _prepare(self) -> None:
        """Set the arrays that checkpoints do not hold, before the others are replaced."""
        if any(field.constant for field in self.fields.values()):
            self.start()  # makes the constant arrays again
        else:
            self._reset()

    def set_parameters(self, p: Any) -> None:
        """Change to parameters with the same shapes, and set the constant arrays that differ.

        All other arrays keep their values; the caller sets those that the next tick reads.
        """
        fields = {name: field for name, field in self.fields.items() if field.constant}
        places = self._indices()
        before = initial_state(fields, self.sizes, self.copies, self.parameters, places)
        after = initial_state(fields, self.sizes, self.copies, p, places)
        self.parameters = p
        self._parameters_changed()
        self.put({k: new for k, new in after.items() if not np.array_equal(new, before[k])})

    def finish(self) -> None:
        """Run the steps after the last tick."""
        self._run_outside(self.workload.finish(self.parameters), FINISH)

    def _run_outside(self, steps: Iterable[Step], tick: int) -> None:
        """Run steps before the first tick or after the last one; they have no events."""
        self.forget_events()
        for step in steps:
            self.step(step, tick)
        for name, rows in self.events().items():
            if len(rows):
                when = f"{'after the last' if tick else 'before the first'} {self.workload.clock}"
                raise SocietiesError(f"rows are appended to '{name}' {when}, and are lost")

    def _reset(self) -> None:
        """Set every array to its initial value, before the first phase."""
        raise NotImplementedError

    def put(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace some arrays of the state or all, including those that checkpoints do not hold."""
        raise NotImplementedError

    def ended(self) -> int | None:
        """Return the tick at which the last copy ended, None while one continues."""
        return ended_at(self.ended_copies())

    def ended_copies(self) -> State:
        """Return the field `ended` alone, by its name; empty if no copy can end before the run."""
        return self.arrays(ENDED) if ENDED in self.fields else {}

    def close(self) -> None:
        """End what the engine has started; it cannot be used afterwards."""

    def let_go(self, seconds: float) -> None:
        """End what has waited so long for a process of a device."""

    def checkpointed_state(self) -> State:
        """Return a copy of the arrays that a checkpoint holds."""
        return checkpointed(self.fields, self.state())

    def hash(self) -> str:
        """Return the hash of the checkpointed state."""
        return state_hash(self.fields, self.state())


def ended_at(state: Mapping[str, NDArray[Any]]) -> int | None:
    """Return the tick at which the last copy of a state ended; None while a copy continues."""
    ticks = state.get(ENDED)
    return int(ticks.max()) if ticks is not None and (ticks >= 0).all() else None


def full_kernel_text(setup: Setup[Any, Any], macros: Mapping[str, Any]) -> AmalgamatedText:
    """Return the text of all kernels of a configuration, with ``macros`` in addition to its own."""
    source = setup.source
    return amalgamate(kernel_files(setup.phases), {**source.macros, **macros}, source.header)


def build(
    workload: Workload[Any, Any],
    p: Any,
    device: Device,
    copies: int,
    *,
    work_items: int | None = None,
    only: Collection[str] | None = None,
    like: Built | None = None,
) -> tuple[Built, dict[str, Phase], int]:
    """Return the program of an engine, its phases, and its work-items per workgroup.

    The parameters are those of `DeviceEngine`.
    """
    source, phases = workload.source(p), dict(workload.phases(p, copies))
    if only is not None:
        phases = {name: one for name, one in phases.items() if name in only}
    size = work_items or workload.work_items(p, copies, device)
    macros = {**source.macros, **({source.work_items: size} if source.work_items else {})}
    files = kernel_files(phases)
    options = device.options_for(registers=workload.registers(p, copies, device))
    text = (files, macros, source.header, options)
    if like is None or like.device is not device or like.text != text:
        program = Program(device, files, macros, source.header, options)
        like = Built(device, text, program)
    return like, phases, size


class DeviceEngine(Engine):
    """All copies on an OpenCL device.

    Raises DeviceError if the kernels do not build or the arrays do not fit.

    Parameters
    ----------
    workload, p, first, copies, numbers, chosen
        As for `Engine`.
    work_items : work-items per workgroup; the results do not depend on it
    only : phases that will be run; the kernels of other phases are not built
    like : Built, optional
        Program of another engine on the device. If its text is the same, because only sizes or
        values differ, it is used and nothing is built.
    """

    def __init__(
        self,
        workload: Workload[Any, Any],
        p: Any,
        device: Device,
        *,
        first: int = 0,
        copies: int = 1,
        numbers: NDArray[Any] | None = None,
        chosen: NDArray[np.intp] | None = None,
        work_items: int | None = None,
        only: Collection[str] | None = None,
        like: Built | None = None,
    ) -> None:
        super().__init__(workload, p, first, copies, numbers, chosen)
        self.device, self.room = device, device.global_memory // SHARE
        self._together = workload.timed and workload.timed_together(p)
        self._state: dict[str, DeviceArray] = {
            name: device.empty((copies, *field.shape(self.sizes)), field.dtype)
            for name, field in self.fields.items()
        }
        self._initialise()
        logged = [
            name for name, one in self.fields.items() if one.logged and one.nbytes(self.sizes)
        ]
        self._logs = DeviceLogs(device, self._state, logged, self._event_kinds, LOG_TICKS)
        self._given = (source := workload.source(p)).arguments
        self.built, phases, size = build(
            workload, p, device, copies, work_items=work_items, only=only, like=like
        )
        self.program = self.built.program
        self.run_step = BoundPhases(
            phases,
            self.program,
            arrays=self._state,
            arguments=ChainMap(
                {**source.arguments, **self._tables_of_copies()},
                self._logs.arguments,
                *self._numbers(),
            ),
            changing=[*workload.step_arguments, f"first_{workload.copies}", LOG_ROW, TICKS],
            work_items=size,
            on_cpu=bool(source.macros.get("DEVICE_IS_CPU", device.kind == "cpu")),
            tick=workload.clock,
        )
        self.run_step.numbers |= {f"first_{workload.copies}": first, LOG_ROW: 0, TICKS: 1}
        self._logs.bind(self.run_step)
        self._recent: Recent | None = None

    def _numbers(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the numbers that any kernel can have as parameters: sizes; attributes of p."""
        numbers = {
            "copies": self.copies,
            **{f"{dim}s": length for dim, length in self.sizes.items()},
        }
        return numbers, _Attributes(self.parameters)

    def step(self, step: Step, tick: int) -> None:
        """Run one step of a tick."""
        self._enter(tick)
        self.run_step(step, tick)

    def set_parameters(self, p: Any) -> None:
        """As `Engine.set_parameters`; also replaces the arrays that `source` passes to kernels."""
        before, self._given = self._given, self.workload.source(p).arguments
        super().set_parameters(p)
        memory = self.run_step.memory
        for name, value in self._given.items():
            if name in memory and not np.array_equal(value, before[name]):
                memory[name].set(value)

    def _parameters_changed(self) -> None:
        self.run_step.numbers[f"first_{self.workload.copies}"] = self.first
        for name, array in self._tables_of_copies().items():
            if name in self.run_step.memory:  # otherwise no kernel reads it
                self.run_step.memory[name].set(array)

    def run_ticks(self, first: int, last: int) -> None:
        """Run whole ticks, at most `LOG_TICKS`, and log them."""
        if last - first >= LOG_TICKS:
            raise ValueError(f"{last - first + 1} ticks at once; {LOG_TICKS} can be logged")
        self._stopwatch.reset()
        self._begun = first
        self.run_step.throttled = self.throttled
        self._logs.begin(last - first + 1)
        if self._run_at_once(first, last):
            return
        timed, together = self.workload.timed, self._together
        with self._profiling(), self._stopwatch.together() if together else nullcontext():
            every = range(first, last + 1)
            all_of_them = timed or self._recent is not None
            for tick in every if all_of_them else self.workload.busy(self.parameters, first, last):
                if tick > first:
                    self._logs.copy(0)  # of the ticks before, if none of them was busy
                self.run_step.numbers[LOG_ROW] = tick - first
                self._run_tick(tick)
                self._logs.copy(tick - first)
                if self._recent is not None:
                    self._recent.copy(tick)
                if together:
                    self._stopwatch.launched_tick()
            self._logs.copy(0)

    def _run_at_once(self, first: int, last: int) -> bool:
        """Run whole ticks in one launch; return False if that is not possible."""
        if self.profile is not None or self._recent is not None or not self.run_step.whole_ticks:
            return False
        if bisect_left(self._changes, first) != bisect_left(self._changes, last):
            return False
        steps = self.workload.schedule(self.parameters, first, _ReportedWords(self.arrays))
        if type(steps) is not tuple or not self.run_step.logs_all(steps, self._logs.copied):
            return False
        self._enter(first)
        self.run_step.numbers |= {LOG_ROW: 0, TICKS: last - first + 1}
        self.run_step.all(steps, first)
        self.run_step.numbers[TICKS] = 1
        self._logs.copy(0, last - first + 1)
        return True

    def _run_tick(self, tick: int) -> None:
        """Run the steps of a tick; if they are always the same, their launches are prepared."""
        if self.profile is None and (self._together or not self.workload.timed):
            steps = self.workload.schedule(self.parameters, tick, _ReportedWords(self.arrays))
            if type(steps) is tuple:
                self._enter(tick)
                self.run_step.all(steps, tick)
            else:  # no context managers in the inner loop of a run
                for step in steps:
                    self.step(step, tick)
        else:
            super()._run_tick(tick)

    def profiled(self) -> Profile:
        """Measure every phase from now on, and return the profile that collects the times.

        Raises DeviceError later, if the device was chosen with ``profiling=False``.
        """
        self.device.launched = []
        self.profile = Profile(self.device.launched, self.program.arrays_used())
        return self.profile

    def wait(self) -> None:
        """Wait until all launches and copies have completed."""
        self.device.finish()

    def _launched(self) -> int:
        """Return the number of kernels launched so far."""
        return self.device.counters.launches

    def logs(self, *, borrowed: bool = False) -> State:
        """Return the logged fields of the last `run_ticks`, see `DeviceLogs.fields`."""
        return self._logs.fields(borrowed=borrowed)

    def log(self, name: str) -> NDArray[Any]:
        """As `Engine.log`; no other field is read from the device."""
        return self._logs.field(name)

    def part(self, names: Collection[str], first: int, copies: int) -> State:
        """As `Engine.part`; only this part is read from the device."""
        return get_each({name: (self._state[name], first, copies) for name in names})

    def snapshot(self) -> Mapping[str, DeviceArray]:
        """As `Engine.snapshot`; the host does not wait, and nothing is read from the device."""
        state = {name: self._state[name] for name, field in self.fields.items() if field.saved}
        made = {name: self.device.empty(one.shape, one.dtype) for name, one in state.items()}
        copy_each(state, made)
        return made

    def held(self) -> Callable[[], State]:
        """As `Engine.held`; if they are small, the device holds them until they are asked for.

        Another thread may do so while this one launches.
        """
        saved = [self._state[name] for name, field in self.fields.items() if field.saved]
        if sum(array.nbytes for array in saved) > HELD_BYTES:
            return super().held()
        return partial(get_all, self.snapshot())

    def restore(self, snapshot: Mapping[str, DeviceArray]) -> None:
        """As `Engine.restore`, on the device."""
        self._prepare()
        self._replace(snapshot)

    def adopt(self, other: Engine, names: Collection[str]) -> None:
        """As `Engine.adopt`, on the device."""
        assert isinstance(other, DeviceEngine) and other.device is self.device
        self._replace({name: other._state[name] for name in names})

    def _replace(self, arrays: Mapping[str, DeviceArray]) -> None:
        copy_each(arrays, self._state)
        self._replaced(arrays)

    def remember(self, names: Collection[str], ticks: int) -> None:
        """As `Engine.remember`, on the device."""
        self._recent = Recent(self.device, {name: self._state[name] for name in names}, ticks)

    def remembered(self, ticks: Sequence[int], first: int, copies: int) -> dict[int, State]:
        """As `Engine.remembered`."""
        assert self._recent is not None
        return self._recent.of(ticks, first, copies)

    def events(self) -> dict[str, NDArray[np.int32]]:
        """Return the events of the last `run_ticks`: a row has the copy's index and the columns."""
        return self._logs.events()

    def forget_events(self) -> None:
        """As `Engine.forget_events`."""
        self._logs.forget_events()

    def arrays(self, *names: str) -> State:
        """Return copies of some arrays of the state."""
        return {name: self._state[name].get() for name in names}

    def state(self) -> State:
        """Return a copy of every array of the state."""
        return get_all(self._state)

    def each(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield names and arrays of `state` in the table's order, each as soon as it is copied."""
        for name, array in self._state.items():
            yield name, array.get()

    def put(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace some arrays of the state."""
        for name, array in state.items():
            self._state[name].set(array)
        self._replaced(state)

    def _reset(self) -> None:
        self._initialise()
        self._replaced(self._state)

    def _replaced(self, names: Iterable[str]) -> None:
        """Note that these arrays were replaced by the host, or copied from another engine."""
        self.run_step.written.update(names)
        self.run_step.forget()

    def _initialise(self) -> None:
        """Set every array to its initial value; a single number is filled in on the device."""
        values = initial_values(self.fields, self.parameters, self.copies, self._indices())
        for name, value in values.items():
            array = self._state[name]
            if value.ndim:
                array.set(np.broadcast_to(value, array.shape))
            else:
                array.fill(value)


class ReferenceEngine(Engine):
    """All copies in plain Python, the definition of every result.

    Parameters
    ----------
    workload, p, first, copies, numbers, chosen
        As for `Engine`.
    ensemble : number of copies of the whole ensemble, if these are a batch of it; 0: ``copies``
    """

    def __init__(
        self,
        workload: Workload[Any, Any],
        p: Any,
        *,
        first: int = 0,
        copies: int = 1,
        numbers: NDArray[Any] | None = None,
        chosen: NDArray[np.intp] | None = None,
        ensemble: int = 0,
    ) -> None:
        super().__init__(workload, p, first, copies, numbers, chosen)
        self._all = ensemble or copies
        self._functions = workload.reference(p)
        self._parameters_changed()
        self._series = tuple(chain.from_iterable(workload.columns(p).values()))
        self._set_series = "its reference"  # the function that has set the series last
        self._last_step = "at the beginning"
        self.copies_now = self._unpack(self.initial())
        self._logged: dict[str, list[Any]] = {}
        self._recent: tuple[tuple[str, ...], int] = (), 0
        self._remembered: dict[int, State] = {}

    def step(self, step: Step, tick: int) -> None:
        """Run one step of a tick."""
        self._enter(tick)
        self._last_step = f"after {self.workload.clock} {tick}, phase {step}"
        function = self._functions.get(step.phase)
        if function is None:
            known = ", ".join(self._functions)
            raise SocietiesError(
                f"workload {self.workload.name}: its reference has no function for the phase "
                f"'{step.phase}'; it has {known or 'none'}"
            )
        for rows in self._event_rows():
            rows.tick = tick
        for p, copy in zip(self._parameters_now, self.copies_now, strict=True):
            ended = getattr(copy, ENDED, tick)
            if tick == FINISH or ended < 0 or ended == tick:  # complete the tick at which it ended
                before = getattr(copy, SERIES, None)
                function(p, copy, tick, **step.arguments)
                found = getattr(copy, SERIES, None)
                if found is not before:
                    self._set_series = f"{function.__module__}.{function.__qualname__}"

    def at(self, place: int) -> None:
        """Change to other copies, as `Engine.at`; their state has to be loaded afterwards."""
        super().at(place)
        for number, copy in zip(self.copy_numbers().tolist(), self.copies_now, strict=True):
            copy.index = number

    def _parameters_changed(self) -> None:
        places = np.minimum(self._indices(), self._all - 1).tolist()
        of = self.workload.parameters_of_copy
        found = {place: of(self.parameters, place, self._tick) for place in dict.fromkeys(places)}
        self._parameters_now = [found[place] for place in places]

    def run_ticks(self, first: int, last: int) -> None:
        """Run whole ticks and log them."""
        self._stopwatch.reset()
        self._logged = {name: [] for name, field in self.fields.items() if field.logged}
        self.forget_events()
        with self._profiling():
            for tick in range(first, last + 1):
                self._run_tick(tick)
                for name, rows in self._logged.items():
                    rows.append(self.arrays(name)[name])
                names, ticks = self._recent
                if names:
                    self._remembered[tick % ticks] = self.arrays(*names)

    def remember(self, names: Collection[str], ticks: int) -> None:
        """As `Engine.remember`."""
        self._recent = tuple(names), ticks

    def remembered(self, ticks: Sequence[int], first: int, copies: int) -> dict[int, State]:
        """As `Engine.remembered`."""
        found = {tick: self._remembered[tick % self._recent[1]] for tick in ticks}
        return {
            tick: {name: array[first : first + copies] for name, array in state.items()}
            for tick, state in found.items()
        }

    def wait(self) -> None:
        """Return at once: plain Python runs synchronously."""

    def logs(self, *, borrowed: bool = False) -> State:
        """Return the logged fields of the last `run_ticks`: (copy, tick, ...)."""
        return {name: np.stack(rows, axis=1) for name, rows in self._logged.items()}

    def events(self) -> dict[str, NDArray[np.int32]]:
        """Return the events of the last `run_ticks`: a row has the copy's index and the columns."""
        return {
            name: sorted_by_tick(
                [
                    np.array([(place, *row) for row in rows], np.int32)
                    for place, copy in enumerate(self.copies_now)
                    if (rows := getattr(copy, name).rows)
                ],
                kind.columns,
            )
            for name, kind in self._event_kinds.items()
        }

    def forget_events(self) -> None:
        """As `Engine.forget_events`."""
        for one in self._event_rows():
            one.rows.clear()

    def _event_rows(self) -> Iterator[EventRows]:
        """Yield every list of events of every copy."""
        for name in self._event_kinds:
            for copy in self.copies_now:
                yield getattr(copy, name)

    def arrays(self, *names: str) -> State:
        """Return copies of some arrays of the state."""
        found = {}
        for name in names:
            values = [self._value(copy, name) for copy in self.copies_now]
            shape = self.copies, *self.fields[name].shape(self.sizes)
            found[name] = array_of(values, name, self.fields[name].dtype, shape, self._last_step)
        return found

    def _value(self, copy: Copy, name: str) -> Any:
        value = getattr(copy, name)
        if not isinstance(value, dict):
            return value
        if missing := [series for series in self._series if series not in value]:
            raise SocietiesError(
                f"workload {self.workload.name}: {self._set_series} sets no value of the series "
                f"{', '.join(missing)}, which series() names"
            )
        return [value[series] for series in self._series]

    def _reset(self) -> None:
        self.copies_now = self._unpack(self.initial())

    def put(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace some arrays of the state."""
        for place, copy in enumerate(self.copies_now):
            for name, array in state.items():
                one = array[place]
                setattr(copy, name, one.copy() if self.workload.numpy else one.tolist())

    def _unpack(self, state: State) -> list[Copy]:
        kinds, clock = self._event_kinds.items(), self.workload.clock
        return [
            Copy(
                number,
                {
                    **{
                        name: array[i].copy() if self.workload.numpy else array[i].tolist()
                        for name, array in state.items()
                    },
                    **{name: EventRows(name, kind, clock, self._tick) for name, kind in kinds},
                },
            )
            for i, number in enumerate(self.copy_numbers().tolist())
        ]


def engine_on(device: Device | None, workload: Workload[Any, Any], p: Any, **given: Any) -> Engine:
    """Return an engine on a device, or in plain Python (None)."""
    if device is None:
        return ReferenceEngine(workload, p, **given)
    return DeviceEngine(workload, p, device, **given)
