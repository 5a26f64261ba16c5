"""How are all phases of a workload bound to a device: their kernels, arguments and memory?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.errors import DeviceError
from societies.kerneltext.source import Generated
from societies.opencl.throttle import Throttle
from societies.workload.declare.phases import (
    TICK,
    Launch,
    Phase,
    Step,
)
from societies.workload.running.launches import (
    BoundLaunch,
    LaunchCache,
    LaunchList,
    fused_steps,
    items_of_long,
    known_before,
    scratch_memory,
    scratch_name,
)
from societies.workload.running.pace import Pace

if TYPE_CHECKING:
    from societies.opencl import BoundKernel, DeviceArray, Kernel, Program
    from societies.opencl.argtypes import Parameter


class BoundPhases:
    """All phases of a workload on a device, with their scratch memory.

    Raises DeviceError if no value is found for a kernel's parameter, or the device lacks memory.

    Parameters
    ----------
    phases : by name
    program : has all kernels
    arrays : the state on the device, by name; phases that swap arrays change this dictionary
    arguments : further values for kernel parameters by name; NumPy arrays are copied to the device
    changing : names of the arguments that steps may have
    work_items : work-items per workgroup of launches that do not set it
    on_cpu : whether kernels are built in their form for CPUs
    tick : name of a second parameter for the number of the tick, in addition to ``tick``: "day"

    Attributes
    ----------
    launches : dict of phase to list of BoundLaunch
    numbers : dict of name to number: arguments that all steps have in addition to their own
    of_host : what host functions of phases get: the state, and whatever the engine adds
    memory : dict of name to array on the device: scratch memory, and copies of ``arguments``
    parameters : names of all parameters of the kernels
    written : names of the arrays of the state that steps may have written since the caller last
        cleared this set
    logged : names of the fields that the last steps have written into the logs themselves
    throttled : whether launches pause for other threads (`Throttle`)
    whole_ticks : whether a phase has a launch that carries out whole ticks (`Joined.logged`)
    """

    def __init__(
        self,
        phases: Mapping[str, Phase],
        program: Program,
        *,
        arrays: dict[str, DeviceArray],
        arguments: Mapping[str, Any],
        changing: Iterable[str],
        work_items: int,
        on_cpu: bool,
        tick: str = TICK,
    ) -> None:
        device = program.device
        facts = on_cpu, device.compute_units, device.orders_workgroups
        phases = {name: one.on(*facts) for name, one in phases.items()}
        self._phases, self._program, self.arrays = phases, program, arrays
        self._arguments, self._work_items, self._on_cpu = arguments, work_items, on_cpu
        self.of_host: Mapping[str, Any] = arrays
        self.numbers: dict[str, int] = {}
        self._tick, self._changing = tick, (TICK, tick, *changing)
        swapped = [name for one in phases.values() for pair in one.swaps for name in pair]
        self._swapping = tuple(dict.fromkeys(swapped))
        scratch = scratch_memory(phases)
        self.memory: dict[str, DeviceArray] = {
            name: program.device.zeros(one.allocated, one.dtype) for name, one in scratch.items()
        }
        self._cached = [name for name, one in scratch.items() if one.cached]
        self.launches: dict[str, list[BoundLaunch]] = {
            name: [self._bound(name, launch) for launch in one.launches]
            for name, one in phases.items()
        }
        self._joined = {
            name: self._bound(name, one.joined.launch)
            for name, one in phases.items()
            if one.joined is not None
        }
        self.whole_ticks = any(one.joined and one.joined.logged for one in phases.values())
        kernels = [one.kernel.kernel for several in self.launches.values() for one in several]
        self.parameters = frozenset(p.name for kernel in kernels for p in kernel.parameters)
        self.written: set[str] = set()
        self.logged: frozenset[str] = frozenset()
        self._writes = {name: self._written_by(name, one) for name, one in phases.items()}
        self._prepared = LaunchCache()
        self._throttle = Throttle(program.device)
        self.throttled = False

    def forget(self) -> None:
        """Clear what kernels have cached of the state (`Scratch.cached`), which has changed."""
        for name in self._cached:
            self.memory[name].fill(0)

    def logs_all(self, steps: tuple[Step, ...], logged: Collection[str]) -> bool:
        """Return True if one launch carries out all steps and writes all these fields' logs."""
        listed = self._launches_of(steps)
        return listed is not None and listed.logged.issuperset(logged)

    def _launches_of(self, steps: tuple[Step, ...]) -> LaunchList | None:
        """Return the prepared launches of some steps; None if each step is launched by itself."""
        device = self._program.device
        if device.recording is not None or device.launched is not None:
            return None
        arrangement = tuple([id(self.arrays[name]) for name in self._swapping])
        return self._prepared.of(steps, arrangement, self._prepare)

    def all(self, steps: tuple[Step, ...], tick: int) -> None:
        """Run the steps of a tick, all of which are known in advance (`LaunchCache`).

        A launch that carries out whole ticks carries out ``numbers["ticks"]`` of them.
        """
        device, listed = self._program.device, self._launches_of(steps)
        if listed is None:
            for step in steps:
                self(step, tick)
            return
        values = {TICK: tick, self._tick: tick, **self.numbers} if listed.named else {}
        device.counters.launches += listed(values, self._throttle if self.throttled else None)
        self._swap(listed.swaps)
        self.written |= listed.written
        self.logged = listed.logged

    def _prepare(self, steps: tuple[Step, ...]) -> LaunchList | None:
        """Return the prepared launches of some steps; None if they are not known in advance."""
        if not known_before(self._phases, steps):
            return None
        launches: list[tuple[BoundKernel, tuple[str, ...], Mapping[str, int]]] = []
        swaps: list[tuple[str, str]] = []
        logged: set[str] = set()
        sizes_vary = False
        for step, joined in fused_steps(self._phases, steps):
            own, bound = step.arguments, self.launches[step.phase]
            if joined is not None:
                bound = [self._joined[step.phase]]
                logged.update(joined.logged)
            for launch in bound:
                kernel = launch.always
                if kernel is None:
                    sizes_vary = True
                else:
                    launches.append((kernel, launch.changing, own))
            swaps += self._phases[step.phase].swaps
            self._swap(self._phases[step.phase].swaps)
        self._swap(reversed(swaps))
        writes = frozenset().union(*(self._writes[s.phase] for s in steps))
        return None if sizes_vary else LaunchList(launches, writes, frozenset(logged), tuple(swaps))

    def _swap(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Exchange the names of pairs of arrays, one pair after another."""
        for a, b in pairs:
            self.arrays[a], self.arrays[b] = self.arrays[b], self.arrays[a]

    def __call__(self, step: Step, tick: int) -> None:
        """Run one step of a tick."""
        values = {TICK: tick, self._tick: tick, **self.numbers, **step.arguments}
        phase = self._phases[step.phase]
        if phase.before is not None:
            phase.before(self.arrays, tick, **step.arguments)
        for launch in self.launches[step.phase]:
            launch(tick, values)
        if phase.host is not None:
            phase.host(self.of_host, tick, **step.arguments)
        self._swap(phase.swaps)
        self.written |= self._writes[step.phase]

    def _written_by(self, name: str, one: Phase) -> frozenset[str]:
        """Return the arrays of the state that a phase may write: all if it has host functions."""
        if one.before or one.host:
            return frozenset(self.arrays)
        kernels = [self._program.kernel(launch.kernel or name) for launch in one.launches]
        written = [
            self._array_name(launch, p)
            for launch, kernel in zip(one.launches, kernels, strict=True)
            for p in kernel.parameters
            if not p.const
        ]
        swapped = [array for pair in one.swaps for array in pair]
        return frozenset([*swapped, *written])

    def _bound(self, phase: str, launch: Launch) -> BoundLaunch:
        """Return a launch with its arguments set."""
        kernel = self._program.kernel(launch.kernel or phase)
        local, whole, size = self._sizes(launch)
        given = {p.name: self._given(kernel, phase, launch, p) for p in kernel.parameters}
        of_arrays = {p.name: self._array_name(launch, p) for p in kernel.parameters}
        swapped = {p: a for p, a in of_arrays.items() if a in self._swapping}
        # The functions must not refer to `self`: a reference cycle would delay freeing all arrays.
        arrays = self.arrays

        def bind() -> BoundKernel:
            now = {parameter: arrays[array] for parameter, array in swapped.items()}
            return kernel.bind(global_size=whole, local_size=local, **{**given, **now})

        def arrangement() -> tuple[int, ...]:
            return tuple([id(arrays[array]) for array in swapped.values()])

        arrays_given = [name for name, array in of_arrays.items() if array in self.arrays]
        own = {*launch.arguments, *launch.scratch, *arrays_given}
        changing = [name for name in given if name in self._changing and name not in own]
        wait = self._program.device.finish
        pace = Pace(launch.slices, local[0], wait, self.arrays) if launch.slices else None
        return BoundLaunch(launch, bind, changing, arrangement if swapped else None, size, pace)

    def _sizes(
        self, launch: Launch
    ) -> tuple[
        tuple[int, ...], tuple[int, ...], Callable[[Mapping[str, int]], tuple[int, ...]] | None
    ]:
        """Return local and global size, and a function for the global size if that is not fixed."""
        items = launch.items or self._work_items
        local = (items,) if isinstance(items, int) else items
        if self._on_cpu and launch.alone_on_cpu:
            local = (1,) * len(local)
        elif launch.long_items:
            units = self._program.device.compute_units
            local = (items_of_long(local[0], launch.global_size, units),)
        groups = launch.groups
        if isinstance(groups, str):
            word, arrays = groups, self.arrays

            def read(values: Mapping[str, int]) -> tuple[int, ...]:
                return (int(arrays[word].get().max()) * local[0], *local[1:])

            return local, local, read
        if callable(groups):
            counted = groups

            def size(values: Mapping[str, int]) -> tuple[int, ...]:
                return (counted(values) * local[0], *local[1:])

            return local, local, size
        if launch.global_size:
            groups = -(-launch.global_size // local[0])
        grid = (groups,) if isinstance(groups, int) else groups
        return local, tuple(g * n for g, n in zip(grid, local, strict=True)), None

    def _array_name(self, launch: Launch, parameter: Parameter) -> str:
        """Return the name of the array that a parameter would stand for (``state_held``: held).

        "" for a number, which may have the name of an array. Arrays have the prefix in generated
        text, where other parameters have none.
        """
        name, prefix = parameter.name, "state_"
        if not parameter.pointer:
            return ""
        if isinstance(launch.file, Generated):
            return name.removeprefix(prefix) if name.startswith(prefix) else ""
        return name if name in self.arrays else name.removeprefix(prefix)

    def _given(self, kernel: Kernel, phase: str, launch: Launch, parameter: Parameter) -> Any:
        """Return the value of a kernel's parameter."""
        name = parameter.name
        if name in launch.arguments:
            return launch.arguments[name]
        if name in launch.scratch:
            return self.memory[scratch_name(phase, launch, name)]
        if (array := self._array_name(launch, parameter)) in self.arrays:
            return self.arrays[array]
        if name in self._changing or (launch.each and name == launch.each[0]):
            return 0
        if launch.slices and name == launch.slices.parameter:
            return 0
        if name not in self._arguments:
            raise DeviceError(
                f"{kernel.label}: its parameter {name} has no value: it is no array of the state, "
                "no scratch memory or argument of its phase, and none that all kernels may have"
            )
        value = self._arguments[name]
        if not isinstance(value, np.ndarray):
            return value
        if name not in self.memory:
            self.memory[name] = self._program.device.array(value)
        return self.memory[name]
