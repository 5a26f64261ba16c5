"""Which launches do the steps of a tick take, and how are they enqueued?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from societies.opencl.debug import device_error
from societies.opencl.throttle import LAUNCHES, Throttle
from societies.workload.declare.phases import GROUPS_A_UNIT, Joined, Launch, Phase, Scratch, Step
from societies.workload.running.pace import Pace

if TYPE_CHECKING:
    from societies.opencl import BoundKernel, Device

MOST_CACHED = 64
"""Largest number of different sequences of steps whose launches are cached. If every tick has
different steps, a cache does not help."""


def fused_steps(
    phases: Mapping[str, Phase], steps: Sequence[Step]
) -> Iterator[tuple[Step, Joined | None]]:
    """Yield the steps that need a launch: all but those that the launch of another step includes.

    Each comes with the `Joined` whose launch includes the steps that follow it; None if no launch
    does. Steps are not fused at all unless all launches are known in advance (`decided_before`).
    """
    decided = decided_before(phases, steps)
    names = [step.phase for step in steps]
    index = 0
    while index < len(steps):
        step, index = steps[index], index + 1
        joined = phases[step.phase].joined if decided else None
        if joined is not None:
            end = index + len(joined.followers)
            joined = joined if tuple(names[index:end]) == joined.followers else None
        yield step, joined
        index += 0 if joined is None else len(joined.followers)


def known_before(phases: Mapping[str, Phase], steps: Iterable[Step]) -> bool:
    """Return True if the launches of all steps, and their sizes, are known before the first."""
    return all(
        not (one.before or one.host)
        and not any(launch.each or callable(launch.groups) for launch in one.launches)
        for one in (phases[step.phase] for step in steps)
    )


def decided_before(phases: Mapping[str, Phase], steps: Iterable[Step]) -> bool:
    """Return True if `known_before` holds and the steps swap no arrays."""
    return known_before(phases, steps) and not any(phases[step.phase].swaps for step in steps)


def launches_of(
    phases: Mapping[str, Phase], steps: Sequence[Step], tick: int, device: Device | None = None
) -> int:
    """Return the number of launches of some steps on ``device``; None stands for any GPU."""
    on_cpu = device is not None and device.kind == "cpu"
    facts = (0,) if device is None else (device.compute_units, device.orders_workgroups)
    phases = {name: one.on(on_cpu, *facts) for name, one in phases.items()}
    return sum(
        launch.count(tick, step.arguments)
        for step, joined in fused_steps(phases, steps)
        for launch in (phases[step.phase].launches if joined is None else [joined.launch])
    )


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
        """Enqueue the kernel; ``values`` for which it has no parameter are ignored."""
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


class LaunchList:
    """Prepared launches of a sequence of steps that is repeated in many ticks.

    Parameters
    ----------
    launches : kernels, names of their arguments that change, and the steps' own arguments
    written : names of the arrays that the launches may write
    logged : names of the logged fields that the launches themselves write into the logs
    swaps : pairs of arrays that exchange their names after the launches, in order

    Attributes
    ----------
    named : kernels with the names of arguments that differ from tick to tick
    """

    def __init__(
        self,
        launches: Iterable[tuple[BoundKernel, tuple[str, ...], Mapping[str, int]]],
        written: frozenset[str],
        logged: frozenset[str],
        swaps: tuple[tuple[str, str], ...],
    ) -> None:
        self.written, self.logged, self.swaps = written, logged, swaps
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


class LaunchCache:
    """Prepared launches of sequences of steps, for each arrangement of swapped arrays."""

    def __init__(self) -> None:
        self._of_steps: dict[tuple[Step, ...], dict[tuple[int, ...], LaunchList | None]] = {}
        self._newest: tuple[tuple[Step, ...], dict[tuple[int, ...], LaunchList | None] | None]
        self._newest = (), None

    def of(
        self,
        steps: tuple[Step, ...],
        arrangement: tuple[int, ...],
        make: Callable[[tuple[Step, ...]], LaunchList | None],
    ) -> LaunchList | None:
        """Return the launches of some steps, which ``make`` prepares once; None if it cannot."""
        if steps is not self._newest[0]:
            if steps not in self._of_steps and len(self._of_steps) < MOST_CACHED:
                self._of_steps[steps] = {}
            self._newest = steps, self._of_steps.get(steps)
        found = self._newest[1]
        if found is None:
            return None
        if arrangement not in found:
            found[arrangement] = make(steps)
        return found[arrangement]


def scratch_memory(phases: Mapping[str, Phase]) -> dict[str, Scratch]:
    """Return all scratch memory by name: its shared name, or PHASE/KERNEL/PARAMETER.

    Raises ValueError if two launches share memory of different shapes or types.
    """
    found: dict[str, Scratch] = {}
    for name, one in phases.items():
        for launch in [*one.launches, *([one.joined.launch] if one.joined else [])]:
            for parameter, scratch in launch.scratch.items():
                key = scratch_name(name, launch, parameter)
                if found.setdefault(key, scratch) != scratch:
                    raise ValueError(f"scratch memory {key}: {found[key]} and {scratch}")
    return found


def scratch_name(phase: str, launch: Launch, parameter: str) -> str:
    """Return the name of scratch memory: its shared name, or else PHASE/KERNEL/PARAMETER."""
    own = f"{phase}/{launch.kernel or phase}/{parameter}"
    return launch.scratch[parameter].shared or own


FEW_ITEMS = 4
"""Largest workgroup of `items_of_long` below the usual size; sizes between the two gain nothing."""


def items_of_long(items: int, count: int, units: int) -> int:
    """Return the work-items per workgroup of a launch of ``count`` long work-items.

    The number is a power of two up to `FEW_ITEMS`, or else ``items``, the usual size. Work-items of
    a warp wait for each other at branches, and the cache of a compute unit holds the data of few:
    all compute units get work before workgroups grow (times: docs/design/translated-rules.md).
    """
    each = -(-count // (GROUPS_A_UNIT * units))
    few = 1 << max(each - 1, 0).bit_length()
    return few if few <= min(items, FEW_ITEMS) else items
