"""What is a phase: its kernels, how many workgroups they have, what they work on, what changes.

A phase is declared in one place. From it follow the launches, the scratch memory that `plan`
counts, the kernel files that are compiled, and what `capture`, `verify` and the race check run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.errors import DeviceError

if TYPE_CHECKING:
    from societies.device import BoundKernel, Device, DeviceArray, Kernel, Program

WORKGROUP_LIMIT = 256
"""Most work-items of a workgroup: that of the portable profile."""

TICK = "tick"
"""Kernel parameter that is handed the number of the tick."""


@dataclass(frozen=True)
class Step:
    """One phase within a tick.

    Attributes
    ----------
    phase : name of the phase
    label : what tells it from the tick's other steps of this phase: "machine, round 2"
    arguments : numbers that its kernels and the reference's function are handed by name
    """

    phase: str
    label: str = ""
    arguments: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.phase} ({self.label})" if self.label else self.phase


@dataclass(frozen=True)
class Scratch:
    """Memory in which a launch works and which nobody reads afterwards.

    Attributes
    ----------
    shape : lengths; if one is 0, the kernel is handed a single element that it does not touch
    dtype : NumPy type
    shared : name under which several launches are handed the same memory; "" for none
    """

    shape: tuple[int, ...]
    dtype: str = "float64"
    shared: str = ""

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        return max(1, math.prod(self.shape)) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Launch:
    """One kernel of a phase.

    A kernel's parameters are found by their names: among ``scratch`` and ``arguments``, the arrays
    of the state (``held`` or ``state_held``), and what the workload's source gives to all kernels.

    Attributes
    ----------
    file : kernel file, as for `societies.device.Program`
    groups : workgroups, in up to three dimensions. A text is the name of an array of the state
        whose largest entry is the number; it is read before every launch.
    kernel : name of the kernel; "": that of the phase
    items : work-items of a workgroup; 0: as the workload chooses. Results do not depend on it
    alone_on_cpu : whether a workgroup has a single work-item on a CPU
        (kernels/primitives/group.cl)
    scratch : working memory by the name of the parameter
    arguments : numbers that do not change, by the name of the parameter
    """

    file: str | Path
    groups: int | tuple[int, ...] | str
    kernel: str = ""
    items: int | tuple[int, ...] = 0
    alone_on_cpu: bool = False
    scratch: Mapping[str, Scratch] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Phase:
    """What a step does on a device: some launches, in order, or a function on the host.

    Attributes
    ----------
    launches : tuple of Launch
    swaps : pairs of arrays of the state that exchange their names after the launches (double
        buffers); the reference's function exchanges them itself
    host : called with the arrays on the device by name, the tick and the step's arguments
    """

    launches: tuple[Launch, ...] = ()
    swaps: tuple[tuple[str, str], ...] = ()
    host: Callable[..., None] | None = None


def phase(file: str | Path, groups: int | tuple[int, ...] | str, **more: Any) -> Phase:
    """Return a phase of one launch; the arguments are those of `Launch`."""
    return Phase((Launch(file, groups, **more),))


def kernel_files(phases: Mapping[str, Phase]) -> list[str | Path]:
    """Return the files of all launches, each once, in the order of the table."""
    files = (launch.file for one in phases.values() for launch in one.launches)
    return list(dict.fromkeys(files))


def scratch_bytes(phases: Mapping[str, Phase]) -> int:
    """Return the bytes of all scratch memory; what launches share counts once."""
    found: dict[str, int] = {}
    for name, one in phases.items():
        for launch in one.launches:
            for parameter, scratch in launch.scratch.items():
                own = f"{name}/{launch.kernel}/{parameter}"
                found[scratch.shared or own] = scratch.nbytes
    return sum(found.values())


def launches_of(phases: Mapping[str, Phase], steps: Iterable[Step]) -> int:
    """Return how many kernels some steps launch."""
    return sum(len(phases[step.phase].launches) for step in steps)


def workgroup_size(device: Device, items: int) -> int:
    """Return work-items per group: one for each of the items, in whole warps, at most 256."""
    warp = max(8, device.warp if device.kind != "cpu" else 8)
    return min(WORKGROUP_LIMIT, device.max_workgroup, -(-items // warp) * warp)


class BoundLaunch:
    """A launch whose arguments are set but for the tick and those of the step.

    Arrays that other phases swap are bound anew for each arrangement of them, once.
    """

    def __init__(
        self,
        bind: Callable[[], BoundKernel],
        changing: frozenset[str],
        swapped: Callable[[], tuple[int, ...]],
        size: Callable[[], tuple[int, ...]] | None,
    ) -> None:
        self._bind, self._changing, self._swapped, self._size = bind, changing, swapped, size
        self._bound = {swapped(): bind()}

    @property
    def bound(self) -> BoundKernel:
        """The kernel, bound to the arrays as they are named now."""
        arrangement = self._swapped()
        if arrangement not in self._bound:
            self._bound[arrangement] = self._bind()
        return self._bound[arrangement]

    def __call__(self, tick: int, arguments: Mapping[str, int]) -> None:
        """Enqueue the kernel."""
        changed = {name: value for name, value in arguments.items() if name in self._changing}
        if TICK in self._changing:
            changed[TICK] = tick
        if self._size is None:
            self.bound(**changed)
        else:
            self.bound.launch(global_size=self._size(), **changed)


class BoundPhases:
    """All phases of a workload on a device, with their scratch memory.

    Parameters
    ----------
    phases : by name
    program : has all kernels
    arrays : the state on the device, by name; phases that swap arrays change this dictionary
    arguments : what kernels may ask for by name besides; arrays of NumPy are copied to the device
    changing : names of the arguments that steps carry
    work_items : of a workgroup that does not say how many it has
    on_cpu : whether kernels are built in the form for CPUs

    Raises
    ------
    DeviceError
        If a kernel has a parameter that nobody gives, or the memory does not suffice.
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
    ) -> None:
        self._phases, self._program, self._arrays = phases, program, arrays
        self._arguments, self._work_items, self._on_cpu = arguments, work_items, on_cpu
        self._steps = frozenset((TICK, *changing))
        self._swapping = {name for one in phases.values() for pair in one.swaps for name in pair}
        self._memory: dict[str, DeviceArray] = {}
        self.launches = {
            name: [self._bound(name, launch) for launch in one.launches]
            for name, one in phases.items()
        }

    def __call__(self, step: Step, tick: int) -> None:
        """Run one step of a tick."""
        for launch in self.launches[step.phase]:
            launch(tick, step.arguments)
        phase = self._phases[step.phase]
        if phase.host is not None:
            phase.host(self._arrays, tick, **step.arguments)
        for a, b in phase.swaps:
            self._arrays[a], self._arrays[b] = self._arrays[b], self._arrays[a]

    def _bound(self, name: str, launch: Launch) -> BoundLaunch:
        kernel = self._program.kernel(launch.kernel or name)
        items = launch.items or self._work_items
        local = (items,) if isinstance(items, int) else items
        if self._on_cpu and launch.alone_on_cpu:
            local = (1,) * len(local)
        groups = launch.groups
        size = None
        if isinstance(groups, str):
            word, groups = groups, 1

            def size() -> tuple[int, ...]:
                return (int(self._arrays[word].get().max()) * local[0], *local[1:])

        grid = (groups,) if isinstance(groups, int) else groups
        whole = tuple(g * n for g, n in zip(grid, local, strict=True))
        given = {p.name: self._given(kernel, name, launch, p.name) for p in kernel.parameters}
        swapped = {p: a for p in given if (a := self._array_name(p)) in self._swapping}

        def bind() -> BoundKernel:
            now = {parameter: self._arrays[array] for parameter, array in swapped.items()}
            return kernel.bind(global_size=whole, local_size=local, **{**given, **now})

        def arrangement() -> tuple[int, ...]:
            return tuple(id(self._arrays[array]) for array in swapped.values())

        own = (*launch.arguments, *launch.scratch, *self._arrays)
        changing = frozenset(given.keys() & self._steps - set(own))
        return BoundLaunch(bind, changing, arrangement, size)

    def _array_name(self, parameter: str) -> str:
        """Return the array of the state that a parameter means, if it means one."""
        return parameter if parameter in self._arrays else parameter.removeprefix("state_")

    def _given(self, kernel: Kernel, phase: str, launch: Launch, name: str) -> Any:
        """Return what a kernel is handed for a parameter."""
        if name in launch.arguments:
            return launch.arguments[name]
        if name in launch.scratch:
            scratch = launch.scratch[name]
            return self._scratch(scratch, scratch.shared or f"{phase}/{kernel.name}/{name}")
        if (array := self._array_name(name)) in self._arrays:
            return self._arrays[array]
        if name in self._steps:
            return 0
        if name not in self._arguments:
            raise DeviceError(
                f"{kernel.label}: nobody gives its parameter {name}: it is no array of the state, "
                "no scratch memory or argument of its phase, and none that all kernels may have"
            )
        value = self._arguments[name]
        if not isinstance(value, np.ndarray):
            return value
        if name not in self._memory:
            self._memory[name] = self._program.device.array(value)
        return self._memory[name]

    def _scratch(self, scratch: Scratch, name: str) -> DeviceArray:
        if name not in self._memory:
            shape = scratch.shape if math.prod(scratch.shape) else (1,)
            self._memory[name] = self._program.device.zeros(shape, scratch.dtype)
        return self._memory[name]
