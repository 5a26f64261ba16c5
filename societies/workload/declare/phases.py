"""What is a phase? Kernels, their numbers of workgroups, their arguments and scratch memory.

A phase is declared in one place. The launches, the scratch memory that `plan` counts, the kernel
files that are compiled, and what `capture`, `verify` and the race check run follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from societies.lazily import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from societies.opencl import Device

WORKGROUP_LIMIT = 256
"""Largest number of work-items in a workgroup in the portable profile."""

TICK = "tick"
"""Kernel parameter with the number of the tick; it may also have the clock's name."""

TICKS = "ticks"
"""Kernel parameter with the number of ticks that a launch carries out."""

LOG_ROW = "log_row"
"""Parameter of kernels that write a log themselves: the row of the (first) tick."""

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
    cached : whether kernels store results in it from launch to launch that follow from the state;
        set to 0 at the start and whenever arrays of the state are replaced
    """

    shape: tuple[int, ...]
    dtype: str = "float64"
    shared: str = ""
    cached: bool = False

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
class Joined:
    """How a step and the steps after it are carried out in one launch.

    A launch takes some microseconds. One kernel can carry out several steps if a workgroup needs no
    results of other workgroups from the step before, or if its workgroups see to the order
    themselves (kernels/economy/crew.cl).

    Attributes
    ----------
    followers : phases of the following steps, in order
    launch : launch that replaces those of all these steps
    on_cpu : True: on CPUs; False: on other devices; None: on both, on others while no compute unit
        has more than `GROUPS_A_UNIT` workgroups
    logged : logged fields that the launch itself writes into the logs, of the first tick in row
        ``log_row``; given only if the launch carries out whole ticks, as many as ``ticks`` says
    ordered : whether workgroups need results of each other, which only devices with
        `Device.orders_workgroups` permit
    """

    followers: tuple[str, ...]
    launch: Launch
    on_cpu: bool | None = False
    logged: tuple[str, ...] = ()
    ordered: bool = False

    def pays(self, on_cpu: bool, units: int, orders: bool = True) -> bool:
        """Return True if steps are joined on a CPU, or another device of that many units.

        ``orders``: whether the device orders workgroups.
        """
        if self.ordered and not orders:
            return False
        if self.on_cpu is None:
            return on_cpu or _few(self.launch.groups, units)
        return self.on_cpu == on_cpu


@dataclass(frozen=True)
class Slices:
    """How a launch that may take long is divided into slices, each of some of its workgroups.

    If a launch takes seconds, displays freeze and drivers abort it. The number of workgroups of a
    slice follows from the time of the slices before it on this device; results do not depend on it.

    Attributes
    ----------
    parameter : name of the kernel's parameter that gets the number of the slice's first workgroup
    work : function of the step's arguments: largest work of a workgroup, in units of which every
        device does at least 5 million per second (`running.pace.SLOWEST`)
    busy : needed if many workgroups may have no work. A function of the step's arguments and of the
        arrays of the state on the device; it returns the number of workgroups of a copy, and how
        many of them, from the first on, have work: (copy,). It is called only for launches that are
        divided. Speed and sizes of slices are then computed from the workgroups with work alone:
        a slice of idle workgroups would seem fast, and the next slice would take too long.
    """

    parameter: str
    work: Callable[[Mapping[str, int]], float]
    busy: Callable[[Mapping[str, int], Mapping[str, Any]], tuple[int, NDArray[Any]]] | None = None


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
    long_items : True if each work-item takes long: workgroups have fewer than ``items`` of them
        where there are few, so that all compute units of a GPU have some; for ``global_size``
    alone_on_cpu : True if a workgroup has a single work-item on a CPU
        (kernels/primitives/group.cl)
    scratch : working memory by the name of the parameter
    arguments : values that do not change, by the name of the parameter
    each : name of a parameter, and a function of the tick that returns its values: the kernel is
        launched once for each of them
    slices : how the launch is divided if it takes long; requires that ``groups`` is a function
    on_cpu : True: launched only on CPUs; False: only on other devices; None: on all
    together : launch that replaces this one on other devices than CPUs, while no compute unit has
        more than `GROUPS_A_UNIT` of its workgroups, whose work-items share work; None: nothing does
    """

    file: str
    groups: Groups = 0
    kernel: str = ""
    items: int | tuple[int, ...] = 0
    global_size: int = 0
    long_items: bool = False
    alone_on_cpu: bool = False
    scratch: Mapping[str, Scratch] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    each: tuple[str, Callable[[int], Sequence[int]]] | None = None
    slices: Slices | None = None
    on_cpu: bool | None = None
    together: Launch | None = None

    def on(self, on_cpu: bool, units: int = 0) -> Launch:
        """Return the launch for CPUs, or for other devices with these compute units."""
        few = self.together
        return few if few is not None and not on_cpu and _few(few.groups, units) else self

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
    swaps : pairs of arrays of the state that exchange their names after the launches (double
        buffers); the reference's function exchanges them itself
    before : function called before the launches, with the arrays on the device by name, the tick
        and the step's arguments
    host : function called after the launches, with the same arguments
    joined : how this step and those after it are carried out in one launch; None: not at all.
        Results do not depend on it
    """

    launches: tuple[Launch, ...] = ()
    swaps: tuple[tuple[str, str], ...] = ()
    before: Callable[..., None] | None = None
    host: Callable[..., None] | None = None
    joined: Joined | None = None

    def on(self, on_cpu: bool, units: int = 0, orders: bool = True) -> Phase:
        """Return the phase with only what is launched on CPUs, or on others with these units."""
        usual = [one for one in self.launches if one.on_cpu in (None, on_cpu)]
        launches = tuple([one.on(on_cpu, units) for one in usual])
        joined = self.joined if self.joined and self.joined.pays(on_cpu, units, orders) else None
        return replace(self, launches=launches, joined=joined)


def phase(file: str, groups: Groups = 0, **more: Any) -> Phase:
    """Return a phase of one launch; the arguments are those of `Launch`."""
    return Phase((Launch(file, groups, **more),))


def kernel_files(phases: Mapping[str, Phase]) -> list[str]:
    """Return the files of all launches without repetition, in the order of the phases."""
    launches = [launch for one in phases.values() for launch in one.launches]
    files = [one.file for launch in launches for one in (launch, launch.together) if one]
    joined = [one.joined.launch.file for one in phases.values() if one.joined is not None]
    return list(dict.fromkeys(files + joined))


GROUPS_A_UNIT = 8
"""Workgroups of long work-items that each compute unit of a GPU has before they become larger."""


def _few(groups: Groups, units: int) -> bool:
    """Return True if each of ``units`` compute units has at most `GROUPS_A_UNIT` workgroups."""
    return isinstance(groups, int) and groups <= GROUPS_A_UNIT * units


def workgroup_size(device: Device, items: int) -> int:
    """Return work-items per workgroup: ``items``, rounded up to whole warps, at most 256."""
    warp = max(8, device.warp if device.kind != "cpu" else 8)
    return min(WORKGROUP_LIMIT, device.max_workgroup, -(-items // warp) * warp)
