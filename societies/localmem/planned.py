"""What does a planned text need? The local memory of each kernel and function, and its places."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from societies.kerneltext.source import AmalgamatedText
from societies.localmem.places import SourceLocation, failure


class CallSite(NamedTuple):
    """A function on a call path, and the place in it that leads on: a call or an allocation."""

    function: str
    place: SourceLocation


class Allocation(NamedTuple):
    """A `local_malloc` of a function: ``offset`` is from the base of the function's block."""

    place: SourceLocation
    bytes: int
    alignment: int
    offset: int


@dataclass(frozen=True)
class FunctionPlan:
    """Local memory of a function that is no kernel and of its calls; offsets are from its base."""

    place: SourceLocation
    requested: int
    reserved: int
    alignment: int
    path: tuple[CallSite, ...]
    blocks: tuple[Allocation, ...]


@dataclass(frozen=True)
class KernelPlan:
    """What a kernel needs of local memory.

    Attributes
    ----------
    requested : largest sum of the sizes that are allocated at the same time, bytes
    declared
        Bytes of the block that the rewritten kernel declares: the end of the last block of its
        largest path.
    reserved : the same rounded up to a multiple of 16, the alignment of the block
    static : bytes of the kernel's own ``__local`` variables
    alignment : of the block
    path : the calls that lead to the largest use
    blocks : the allocations in the kernel itself
    """

    place: SourceLocation
    requested: int
    declared: int
    reserved: int
    static: int
    alignment: int
    path: tuple[CallSite, ...]
    blocks: tuple[Allocation, ...]

    @property
    def total(self) -> int:
        """All local memory that is fixed when the kernel is built."""
        return self.declared + self.static


@dataclass(frozen=True)
class PlannedText:
    """A planned text.

    Attributes
    ----------
    source : the text to compile: macros expanded, allocations rewritten, lines where they were
    kernels : every kernel by name; those that allocate nothing reserve 0
    functions : every other function that allocates, or calls one that does
    warnings : messages with file and line
    """

    source: AmalgamatedText
    kernels: dict[str, KernelPlan] = field(default_factory=dict)
    functions: dict[str, FunctionPlan] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def check(self, limit: int, limits_name: str) -> None:
        """Require that every kernel fits.

        Raises
        ------
        BuildError
            With the numbers, the kernel's file and line, and the path to the largest use.
        """
        for name, kernel in self.kernels.items():
            if kernel.declared and kernel.total > limit:
                steps = (f"{one.function} ({one.place.shown(self.source)})" for one in kernel.path)
                path = " > ".join(steps)
                raise failure(
                    self.source,
                    kernel.place,
                    f"kernel {name} needs {kernel.total} bytes of local memory "
                    f"({kernel.declared} by local_malloc, {kernel.static} in __local variables), "
                    f"more than the {limit} of the {limits_name}; "
                    f"most is in use at {path}",
                )
