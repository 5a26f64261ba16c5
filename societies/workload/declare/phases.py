"""What is a phase? Kernels, their numbers of workgroups, their arguments and scratch memory.

A phase is declared in one place. The launches, the scratch memory that `plan` counts, the kernel
files that are compiled, and what `capture`, `verify` and the race check run follow from it. The
module is long because it contains the declarations and their binding to a device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from societies.errors import DeviceError
from societies.opencl.debug import device_error
from societies.opencl.throttle import LAUNCHES, Throttle
from societies.workload.declare.slices import Pace, Slices

if TYPE_CHECKING:
    from societies.opencl import BoundKernel, Device, DeviceArray, Kernel, Program

WORKGROUP_LIMIT = 256
"""Largest number of work-items in a workgroup in the portable profile."""

MOST_LISTED = 64
"""Largest number of different sequences of steps whose launches are cached. If every tick has
different steps, a cache does not help."""

TICK = "tick"
"""Kernel parameter with the number of the tick; so has a parameter with the clock's name."""

Groups = int | tuple[int, ...] | str | Callable[[Mapping[str, int]], int]


@dataclass(frozen=True)
class Step:
    """One phase within a tick.

    Attributes
    ----------
    phase : name of the phase
    label : distinguishes it from the tick's other steps of this phase: "machine, round 2"
    arguments : numbers for its kernels and the reference's function, by name
    """

    phase: str
    label: str = ""
    arguments: Mapping[str, int] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return f"{self.phase} ({self.label})" if self.label else self.phase


@dataclass(frozen=True)
class Scratch:
    """Working memory of a launch that is not part of the state.

    Attributes
    ----------
    shape : lengths; if one of them is 0, the kernel gets a single row, which it must not access
    dtype : NumPy type
    shared : name of memory that several launches share and that the host can read
        (`BoundPhases.memory`); "": not shared
    """

    shape: tuple[int, ...]
    dtype: str = "float64"
    shared: str = ""

    @property
    def allocated(self) -> tuple[int, ...]:
        """Shape on the device, where no array is empty."""
        # a whole row, because a parameter may be a pointer to vectors
        return self.shape if math.prod(self.shape) else (max(self.shape[-1], 1),)

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        return math.prod(self.allocated) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Rounds:
    """How a CPU carries out consecutive steps (rounds) in one launch.

    Between launches all cores wait for each other, and a copy may move to another core, whose cache
    does not hold its data. If a step needs only results of its own copy from the step before, one
    workgroup can therefore carry out several steps of a copy.

    Attributes
    ----------
    counted : argument that grows by one from step to step: "market_round"
    parameter : kernel parameter with the number of steps; 1 in a launch of a single step
    groups : workgroups of a launch of several steps
    arguments : arguments with other values in such a launch, by the name of the parameter
    """

    counted: str
    parameter: str
    groups: int
    arguments: Mapping[str, int]

    def pay(self, cores: int) -> bool:
        """Return True if every core gets enough workgroups; False on other devices (0 cores)."""
        return cores > 0 and GROUPS_A_CORE * cores <= self.groups


GROUPS_A_CORE = 4
"""Least number of workgroups per core for launches of several rounds."""


@dataclass(frozen=True)
class Joined:
    """How a GPU carries out a step and the steps after it in one launch.

    A GPU waits some microseconds between two launches. If a workgroup of a step needs no results of
    other workgroups from the step before, one kernel can carry out both steps.

    Attributes
    ----------
    followers : phases of the following steps, in order
    launch : launch that replaces those of all these steps
    """

    followers: tuple[str, ...]
    launch: Launch


@dataclass(frozen=True)
class Launch:
    """One kernel of a phase.

    Values of a kernel's parameters are found by name: in ``scratch`` and ``arguments``, in the
    arrays of the state (``held`` or ``state_held``), in the arguments that change from step to
    step, and in the workload's `Source`, for all kernels.

    Attributes
    ----------
    file : kernel file, as for `societies.opencl.Program`
    groups : workgroups, in up to three dimensions; with 0 nothing is launched. A text is the name
        of an array of the state, whose largest entry is the number; it is read before every launch.
        A function gets the step's arguments (and ``tick``) and returns the number.
    kernel : name of the kernel; "": that of the phase
    items : work-items per workgroup; 0: the workload's default. Results do not depend on it.
    global_size : total number of work-items, if they may be divided into any workgroups; the
        number of workgroups follows from it
    alone_on_cpu : True if a workgroup has a single work-item on a CPU
        (kernels/primitives/group.cl)
    scratch : working memory by the name of the parameter
    arguments : values that do not change, by the name of the parameter
    each : name of a parameter, and a function of the tick that returns its values: the kernel is
        launched once for each of them
    slices : how the launch is divided if it takes long; requires that ``groups`` is a function
    rounds : how a CPU carries out several steps in one launch; None: not at all. Results do not
        depend on it
    on_cpu : True: launched only on CPUs; False: only on other devices; None: on all
    """

    file: str
    groups: Groups = 0
    kernel: str = ""
    items: int | tuple[int, ...] = 0
    global_size: int = 0
    alone_on_cpu: bool = False
    scratch: Mapping[str, Scratch] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    each: tuple[str, Callable[[int], Sequence[int]]] | None = None
    slices: Slices | None = None
    rounds: Rounds | None = None
    on_cpu: bool | None = None

    def count(self, tick: int, arguments: Mapping[str, int] | None = None) -> int:
        """Return the number of launches in a step of this tick with these arguments."""
        groups = self.groups if isinstance(self.groups, tuple) else (self.groups,)
        if callable(self.groups):
            groups = (self.groups({TICK: tick, **(arguments or {})}),)
        if not self.global_size and 0 in groups:
            return 0
        return len(self.each[1](tick)) if self.each else 1


@dataclass(frozen=True)
class Phase:
    """Work of a step on a device: launches, in order, or a function on the host.

    Attributes
    ----------
    launches : tuple of Launch
    swaps : pairs of arrays of the state that exchange their names after the launches (double
        buffers); the reference's function exchanges them itself
    before : function called before the launches, with the arrays on the device by name, the tick
        and the step's arguments
    host : function called after the launches, with the same arguments
    joined : how a GPU carries out this step and those after it in one launch; None: not at all.
        Results do not depend on it
    """

    launches: tuple[Launch, ...] = ()
    swaps: tuple[tuple[str, str], ...] = ()
    before: Callable[..., None] | None = None
    host: Callable[..., None] | None = None
    joined: Joined | None = None

    def on(self, on_cpu: bool) -> Phase:
        """Return the phase with only the launches for CPUs, or for other devices."""
        launches = tuple(one for one in self.launches if one.on_cpu in (None, on_cpu))
        return replace(self, launches=launches, joined=None if on_cpu else self.joined)

    @property
    def rounds(self) -> Rounds | None:
        """Return how a CPU carries out several of its steps in one launch; None: not at all."""
        return self.launches[0].rounds if len(self.launches) == 1 else None


def phase(file: str, groups: Groups = 0, **more: Any) -> Phase:
    """Return a phase of one launch; the arguments are those of `Launch`."""
    return Phase((Launch(file, groups, **more),))


def kernel_files(phases: Mapping[str, Phase]) -> list[str]:
    """Return the files of all launches without repetition, in the order of the phases."""
    files = [launch.file for one in phases.values() for launch in one.launches]
    joined = [one.joined.launch.file for one in phases.values() if one.joined is not None]
    return list(dict.fromkeys(files + joined))


def scratch_memory(phases: Mapping[str, Phase]) -> dict[str, Scratch]:
    """Return all scratch memory by name: its shared name, or PHASE/KERNEL/PARAMETER.

    Raises
    ------
    ValueError
        If two launches share memory of different shapes or types.
    """
    found: dict[str, Scratch] = {}
    for name, one in phases.items():
        for launch in one.launches:
            for parameter, scratch in launch.scratch.items():
                place = _scratch_name(name, launch, parameter)
                if found.setdefault(place, scratch) != scratch:
                    raise ValueError(f"scratch memory {place}: {found[place]} and {scratch}")
    return found


def _scratch_name(phase: str, launch: Launch, parameter: str) -> str:
    own = f"{phase}/{launch.kernel or phase}/{parameter}"
    return launch.scratch[parameter].shared or own


def in_rounds(
    phases: Mapping[str, Phase], steps: Iterable[Step], cores: int
) -> list[tuple[Step, int]]:
    """Return the steps to launch on a CPU with ``cores`` cores, each with its number of rounds.

    Of consecutive steps that one launch carries out (`Rounds`), only the first is returned, with
    their number. On other devices (0 cores) every number is 1.
    """
    found: list[tuple[Step, int]] = []
    for step in steps:
        several = phases[step.phase].rounds
        if found and several is not None and several.pay(cores):
            first, count = found[-1]
            number = first.arguments.get(several.counted, 0) + count
            following = {**first.arguments, several.counted: number}
            if first.phase == step.phase and step.arguments == following:
                found[-1] = first, count + 1
                continue
        found.append((step, 1))
    return found


def fused_steps(
    phases: Mapping[str, Phase], steps: Sequence[Step], cores: int
) -> Iterator[tuple[Step, int, Joined | None]]:
    """Yield the steps that are launched, without steps that an earlier launch includes.

    Each comes with the number of rounds that a launch includes on a CPU with ``cores`` cores, and
    with the `Joined` that includes the steps after it, or None. Steps are not fused at all unless
    all launches are known in advance (`decided_before`).
    """
    decided = decided_before(phases, steps)
    rounds = in_rounds(phases, steps, cores if decided else 0)
    names = [step.phase for step, _ in rounds]
    place = 0
    while place < len(rounds):
        step, count = rounds[place]
        joined, place = phases[step.phase].joined if decided else None, place + 1
        if joined is not None:
            end = place + len(joined.followers)
            joined = joined if tuple(names[place:end]) == joined.followers else None
        yield step, count, joined
        place += 0 if joined is None else len(joined.followers)


def known_before(phases: Mapping[str, Phase], steps: Iterable[Step]) -> bool:
    """Return True if all launches of some steps and their sizes are known before the first."""
    return all(
        not (one.before or one.host)
        and not any(launch.each or callable(launch.groups) for launch in one.launches)
        for one in (phases[step.phase] for step in steps)
    )


def decided_before(phases: Mapping[str, Phase], steps: Iterable[Step]) -> bool:
    """Return True if `known_before` holds and the steps swap no arrays."""
    return known_before(phases, steps) and not any(phases[step.phase].swaps for step in steps)


def cores_of(device: Device | None, on_cpu: bool | None = None) -> int:
    """Return the cores of a CPU, for launches of several rounds; 0 on other devices.

    Parameters
    ----------
    device : None is the reference
    on_cpu : whether kernels are built in their form for CPUs; default: if the device is a CPU
    """
    if device is None:
        return 0
    return device.compute_units if (device.kind == "cpu" if on_cpu is None else on_cpu) else 0


def launches_of(
    phases: Mapping[str, Phase], steps: Sequence[Step], tick: int, device: Device | None = None
) -> int:
    """Return the number of launches of some steps on a device; by default on one that is no CPU."""
    on_cpu = device is not None and device.kind == "cpu"
    phases = {name: one.on(on_cpu) for name, one in phases.items()}
    return sum(
        launch.count(tick, step.arguments)
        for step, _, joined in fused_steps(phases, steps, cores_of(device))
        for launch in (phases[step.phase].launches if joined is None else [joined.launch])
    )


def workgroup_size(device: Device, items: int) -> int:
    """Return work-items per workgroup: ``items``, rounded up to whole warps, at most 256."""
    warp = max(8, device.warp if device.kind != "cpu" else 8)
    return min(WORKGROUP_LIMIT, device.max_workgroup, -(-items // warp) * warp)


class BoundLaunch:
    """A launch with all arguments set except those that change from step to step.

    If phases swap arrays, there is one bound kernel for each arrangement of the arrays.
    """

    def __init__(
        self,
        launch: Launch,
        bind: Callable[[], BoundKernel],
        changing: Iterable[str],
        arrangement: Callable[[], tuple[int, ...]] | None,
        size: Callable[[Mapping[str, int]], tuple[int, ...]] | None,
        pace: Pace | None = None,
    ) -> None:
        self._pace = pace
        self._bind, self._changing = bind, tuple(changing)
        self._arrangement, self._size, self._each = arrangement, size, launch.each
        self._kernel = bind()
        self._kernels = {arrangement() if arrangement else (): self._kernel}

    @property
    def kernel(self) -> BoundKernel:
        """The kernel, bound to the present arrangement of the arrays."""
        if self._arrangement is None:
            return self._kernel
        now = self._arrangement()
        if now not in self._kernels:
            self._kernels[now] = self._bind()
        return self._kernels[now]

    @property
    def always(self) -> BoundKernel | None:
        """The kernel if every launch with this arrangement of the arrays is the same, else None."""
        return self.kernel if self._each is None and self._size is None else None

    @property
    def changing(self) -> tuple[str, ...]:
        """Names of its arguments that change from step to step."""
        return self._changing

    def __call__(self, tick: int, values: Mapping[str, int]) -> None:
        """Enqueue the kernel; of ``values`` it gets those for which it has parameters."""
        changed = {name: values[name] for name in self._changing if name in values}
        if self._each is None:
            self._enqueue(changed, values)
        else:
            name, among = self._each
            for value in among(tick):
                self._enqueue({**changed, name: value}, values)

    def _enqueue(self, changed: Mapping[str, int], values: Mapping[str, int]) -> None:
        if self._size is None:
            self.kernel(**changed)
        elif 0 not in (size := self._size(values)):
            if self._pace is None:
                self.kernel.launch(global_size=size, **changed)
            else:
                self._pace.launch(self.kernel, size[0], changed, values)


_Call: TypeAlias = "tuple[BoundKernel, Any, tuple[Any, ...], list[tuple[str, int]]]"
"""A kernel, the function that enqueues it, that function's arguments, kernel arguments to set."""


class _Listed:
    """Prepared launches of a sequence of steps that is repeated in many ticks.

    Parameters
    ----------
    launches : kernels, names of their arguments that change, and the steps' own arguments
    written : names of the arrays that the launches may write
    swaps : pairs of arrays that exchange their names after the launches, in order

    Attributes
    ----------
    named : kernels with the names of arguments that differ from tick to tick
    """

    def __init__(
        self,
        launches: Iterable[tuple[BoundKernel, tuple[str, ...], Mapping[str, int]]],
        written: frozenset[str],
        swaps: tuple[tuple[str, str], ...],
    ) -> None:
        self.written, self.swaps = written, swaps
        self._calls: list[_Call] = []
        self.named: list[tuple[BoundKernel, str]] = []
        for kernel, changing, own in launches:
            if kernel.ready is None:
                continue
            fixed = [(name, own[name]) for name in changing if name in own]
            self._calls.append((kernel, *kernel.ready, fixed))
            named = [(kernel, name) for name in changing if name not in own]
            self.named += [one for one in named if one not in self.named]

    def __call__(self, values: Mapping[str, int], throttle: Throttle | None) -> int:
        """Enqueue all launches, with pauses if there is a ``throttle``; return their number."""
        for kernel, name in self.named:
            if name in values:
                kernel.put(name, values[name])
        if throttle is None:
            self._enqueue(self._calls)
        else:
            for first in range(0, len(self._calls), LAUNCHES):
                several = self._calls[first : first + LAUNCHES]
                self._enqueue(several)
                throttle(len(several))
        return len(self._calls)

    def _enqueue(self, calls: Iterable[_Call]) -> None:
        for kernel, enqueue, arguments, fixed in calls:
            for name, value in fixed:
                kernel.put(name, value)
            try:
                enqueue(*arguments)
            except kernel.kernel.device.api.Error as error:
                raise device_error(error, f"launching {kernel.kernel.label}") from error


class BoundPhases:
    """All phases of a workload on a device, with their scratch memory.

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
    memory : dict of name to array on the device: scratch memory, and copies of ``arguments``
    parameters : names of all parameters of the kernels
    written : names of the arrays of the state that steps may have written since the caller last
        cleared this set
    throttled : whether launches pause for other threads (`Throttle`)

    Raises
    ------
    DeviceError
        If no value is found for a kernel's parameter, or the device lacks memory.
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
        phases = {name: one.on(on_cpu) for name, one in phases.items()}
        self._phases, self._program, self.arrays = phases, program, arrays
        self._arguments, self._work_items, self._on_cpu = arguments, work_items, on_cpu
        self.numbers: dict[str, int] = {}
        self._tick, self._changing = tick, (TICK, tick, *changing)
        swapped = [name for one in phases.values() for pair in one.swaps for name in pair]
        self._swapping = tuple(dict.fromkeys(swapped))
        self.memory: dict[str, DeviceArray] = {
            name: program.device.zeros(scratch.allocated, scratch.dtype)
            for name, scratch in scratch_memory(phases).items()
        }
        self.launches: dict[str, list[BoundLaunch]] = {
            name: [self._bound(name, launch) for launch in one.launches]
            for name, one in phases.items()
        }
        self._cores = cores_of(program.device, on_cpu)
        self._of_rounds = {
            name: self._bound_rounds(name, one.launches[0], several)
            for name, one in phases.items()
            if (several := one.rounds) is not None and several.pay(self._cores)
        }
        self._joined = {
            name: self._bound(name, one.joined.launch)
            for name, one in phases.items()
            if one.joined is not None
        }
        kernels = [one.kernel.kernel for several in self.launches.values() for one in several]
        self.parameters = frozenset(p.name for kernel in kernels for p in kernel.parameters)
        self.written: set[str] = set()
        self._writes = {name: self._written_by(name, one) for name, one in phases.items()}
        self._listed: dict[tuple[Step, ...], dict[tuple[int, ...], _Listed | None]] = {}
        self._newest: tuple[tuple[Step, ...], dict[tuple[int, ...], _Listed | None] | None]
        self._newest = (), None
        self._throttle = Throttle(program.device)
        self.throttled = False

    def all(self, steps: tuple[Step, ...], tick: int) -> None:
        """Run the steps of a tick, all of which are known in advance.

        The launches of a tuple of steps are prepared once and cached, separately for each
        arrangement of the arrays that steps swap.
        """
        device, arrays = self._program.device, self.arrays
        if steps is not self._newest[0]:
            if steps not in self._listed and len(self._listed) < MOST_LISTED:
                self._listed[steps] = {}
            self._newest = steps, self._listed.get(steps)
        listed, of_arrangement = None, self._newest[1]
        if of_arrangement is not None:
            arrangement = tuple([id(arrays[name]) for name in self._swapping])
            listed = of_arrangement.get(arrangement)
            if listed is None and arrangement not in of_arrangement:
                listed = of_arrangement[arrangement] = self._list(steps)
        if listed is None or device.recording is not None or device.launched is not None:
            for step in steps:
                self(step, tick)
            return
        values = {TICK: tick, self._tick: tick, **self.numbers} if listed.named else {}
        device.counters.launches += listed(values, self._throttle if self.throttled else None)
        self._swap(listed.swaps)
        self.written |= listed.written

    def _list(self, steps: tuple[Step, ...]) -> _Listed | None:
        """Return the prepared launches of some steps; None if they are not known in advance."""
        if not known_before(self._phases, steps):
            return None
        launches: list[tuple[BoundKernel, tuple[str, ...], Mapping[str, int]]] = []
        swaps: list[tuple[str, str]] = []
        sizes_vary = False
        for step, count, joined in fused_steps(self._phases, steps, self._cores):
            own, bound = step.arguments, self.launches[step.phase]
            if joined is not None:
                bound = [self._joined[step.phase]]
            elif count > 1:
                several, launch = self._of_rounds[step.phase]
                own, bound = {**own, several.parameter: count}, [launch]
            for launch in bound:
                kernel = launch.always
                if kernel is None:
                    sizes_vary = True
                else:
                    launches.append((kernel, launch.changing, own))
            swaps += self._phases[step.phase].swaps
            self._swap(self._phases[step.phase].swaps)
        self._swap(reversed(swaps))
        written = frozenset().union(*(self._writes[s.phase] for s in steps))
        return None if sizes_vary else _Listed(launches, written, tuple(swaps))

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
            phase.host(self.arrays, tick, **step.arguments)
        self._swap(phase.swaps)
        self.written |= self._writes[step.phase]

    def _written_by(self, name: str, one: Phase) -> frozenset[str]:
        """Return the arrays of the state that a phase may write: all if it has host functions."""
        if one.before or one.host:
            return frozenset(self.arrays)
        kernels = [self._program.kernel(launch.kernel or name) for launch in one.launches]
        pointers = [p for kernel in kernels for p in kernel.parameters if not p.const]
        swapped = [array for pair in one.swaps for array in pair]
        return frozenset([*swapped, *(self._array_name(p.name) for p in pointers)])

    def _bound(self, phase: str, launch: Launch, count: str = "") -> BoundLaunch:
        """Return a launch with its arguments set; ``count`` names a further changing argument."""
        kernel = self._program.kernel(launch.kernel or phase)
        local, whole, size = self._sizes(launch)
        given = {
            p.name: 1 if p.name == count else self._given(kernel, phase, launch, p.name)
            for p in kernel.parameters
        }
        swapped = {p: a for p in given if (a := self._array_name(p)) in self._swapping}
        # The functions must not refer to `self`: a reference cycle would delay freeing all arrays.
        arrays = self.arrays

        def bind() -> BoundKernel:
            now = {parameter: arrays[array] for parameter, array in swapped.items()}
            return kernel.bind(global_size=whole, local_size=local, **{**given, **now})

        def arrangement() -> tuple[int, ...]:
            return tuple([id(arrays[array]) for array in swapped.values()])

        own = {*launch.arguments, *launch.scratch, *self.arrays}
        changes = (*self._changing, count)
        changing = [name for name in given if name in changes and name not in own]
        wait = self._program.device.finish
        pace = Pace(launch.slices, local[0], wait, self.arrays) if launch.slices else None
        return BoundLaunch(launch, bind, changing, arrangement if swapped else None, size, pace)

    def _bound_rounds(
        self, phase: str, launch: Launch, several: Rounds
    ) -> tuple[Rounds, BoundLaunch]:
        """Return the declaration of the rounds, and the launch that carries out several."""
        arguments = {**launch.arguments, **several.arguments}
        arguments.pop(several.parameter)
        one = replace(launch, groups=several.groups, arguments=arguments)
        return several, self._bound(phase, one, several.parameter)

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

    def _array_name(self, parameter: str) -> str:
        """Return the name of the array that a parameter would stand for (``state_held``: held)."""
        return parameter if parameter in self.arrays else parameter.removeprefix("state_")

    def _given(self, kernel: Kernel, phase: str, launch: Launch, name: str) -> Any:
        """Return the value of a kernel's parameter."""
        if name in launch.arguments:
            return launch.arguments[name]
        if name in launch.scratch:
            return self.memory[_scratch_name(phase, launch, name)]
        if (array := self._array_name(name)) in self.arrays:
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
