"""What does a run write into its file? Blocks of ticks, by the contents of its workload.

Most workloads have the default contents (`contents.SeriesAndDetail`), or a subclass of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from societies.lazily import np
    from societies.output import Coordinate, EventTable, ResultFile, Variable
    from societies.workload.declare.fields import State
    from societies.workload.running.interrupts import Interruption


@dataclass(frozen=True)
class Block:
    """Results of some consecutive ticks, for `Contents.write`.

    Attributes
    ----------
    first, last : first and last tick
    logs : (copy, tick, ...) of each logged field
    events : int32 rows of each list of events: the copy's index, then the columns; sorted by tick,
        and within a tick by copy
    state : function that returns every array at the end of the block; the copy is made once
    interruption : to be checked in long work: whether Ctrl-C was pressed
    measured : times of each tick (`MEASURED`) if the workload is timed; they are no results
    ended : (copy,) the tick at which each copy ended, -1 while it continues; None if copies cannot
        end before the run
    detail : what `Contents.detail` returned at each of `Contents.stops` in the block, by tick
    """

    first: int
    last: int
    logs: Mapping[str, NDArray[Any]]
    events: Mapping[str, NDArray[Any]]
    state: Callable[[], State]
    interruption: Interruption
    measured: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    ended: NDArray[np.int32] | None = None
    detail: Mapping[int, State] = field(default_factory=dict)


class LeftOut(Exception):
    """Raised by `Contents.write` on Ctrl-C if it has not written the block's last tick.

    ``state`` is the state before that tick, from which a resumed run computes it again.
    """

    def __init__(self, state: Mapping[str, NDArray[Any]]) -> None:
        super().__init__()
        self.state = state


class Contents(Protocol):
    """Declares the contents of a workload's file, and writes blocks of ticks into it."""

    def coordinates(self) -> list[Coordinate]:
        """Return the coordinates of the file."""

    def variables(self) -> list[Variable]:
        """Return its variables."""

    def tables(self) -> list[EventTable]:
        """Return its tables of events."""

    def attributes(self) -> dict[str, str | int]:
        """Return attributes that describe the run, including its ``title``."""

    def stops(self) -> Collection[int]:
        """Return the ticks at which a block must end because their state is recorded."""

    def detail(self, tick: int, state: State) -> State:
        """Return the arrays at one of `stops` that `write` needs, as `Block.detail`."""

    def pauses(self) -> Collection[int]:
        """Return those of `stops` at which the engine must wait until the block is written."""

    def begin(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Prepare to continue after ``tick`` in this process."""

    def write(self, file: ResultFile, block: Block) -> None:
        """Write a block, which is committed afterwards.

        A block that does not end at one of `pauses` may be written by another thread while the
        engine continues, so its state must not be read. Several blocks may be joined to one.

        Raises LeftOut if Ctrl-C was pressed during long work at one of `pauses`.
        """

    def write_checkpoint(self, file: ResultFile, state: Mapping[str, NDArray[Any]]) -> None:
        """Write further data of a checkpoint besides its state; any thread may call this."""

    def finish(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Write the results of the end of the run, after the steps of `Workload.finish`."""

    def means(self, block: Block) -> dict[str, float]:
        """Return means over copies of the block's last tick, by variable, for the report."""

    def recorded_means(self, dataset: Any, tick: int) -> dict[str, float]:
        """Return the same means as `means` from a complete file, for its last tick."""
