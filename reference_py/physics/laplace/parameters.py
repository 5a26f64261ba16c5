"""What determines a plate? Its size, the rule of a step, its conductors, and when it ends."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reference_py.primitives.num import num_type

BLOCK = 2048
"""Cells of which one workgroup takes the largest change or the sum; a power of two, so that sums
of blocks are parts of the tree over all cells (kernels/primitives/reduce.cl)."""


@dataclass(frozen=True)
class Conductor:
    """A set of cells that are held at a potential.

    Attributes
    ----------
    cells : (row, column) bool, none of them on the border of the plate
    potential : float, rounded to the precision of the plate
    """

    cells: NDArray[np.bool_]
    potential: float


@dataclass(frozen=True)
class Parameters:
    """A plate and how it changes.

    Attributes
    ----------
    rows, columns : int, at least 3
    border : potentials of the top and bottom row, corners included, and of the left and right
        column
    conductors : in the order of the configuration; where two overlap, the later one holds
    method : "jacobi", each free cell becomes the mean of its neighbours, "heat", or "sor",
        successive over-relaxation of red and then of black cells
    ratio : of heat, diffusivity times the length of a step over the area of a cell: above 0, at
        most 1/4; beyond that, errors grow from step to step
    precision : "single" or "double"
    tolerance : the plate ends when a step has changed no cell by more; negative: no such end
    check_every : steps from one look at the tolerance to the next
    series_every : steps from one recorded change to the next
    variant : form of the kernels: "rows", "seed", "tiled" or "deep"; results do not depend on it
    omega : of sor, by how much a cell goes beyond the mean of its neighbours: above 0, below 2
    last : the last step, at which several steps of one launch end; 0 if that is not known
    detail_every : steps from one recorded plate to the next; 0 for none
    depth : most steps of a launch; results do not depend on it
    """

    rows: int
    columns: int
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    conductors: tuple[Conductor, ...] = ()
    method: str = "jacobi"
    ratio: float = 0.25
    precision: str = "single"
    tolerance: float = -1.0
    check_every: int = 50
    series_every: int = 50
    variant: str = "rows"
    omega: float = 1.0
    last: int = 0
    detail_every: int = 0
    depth: int = 1

    @property
    def num(self):
        """The NumPy type of a potential."""
        return num_type(self.precision)

    @property
    def blocks(self) -> int:
        """Blocks of cells in the plate, the last one perhaps not full."""
        return -(-self.rows * self.columns // BLOCK)

    def is_looked_at(self, step) -> bool:
        """Return whether the largest change of a step is computed."""
        return step % self.check_every == 0 or step % self.series_every == 0

    def is_recorded(self, step) -> bool:
        """Return whether the plate after a step is recorded."""
        return self.detail_every > 0 and step % self.detail_every == 0

    def end_of_span(self, step) -> int:
        """Return the last step of the launch that makes this step, if its changes are not computed.

        A launch makes at most ``depth`` steps. It ends before a step whose change is computed, at
        a step whose plate is recorded, and with the run.
        """
        done = step - 1
        checked, noted = done - done % self.check_every, done - done % self.series_every
        begin = max(checked, noted)
        end = min(checked + self.check_every, noted + self.series_every) - 1
        if self.detail_every:
            block_start = done - done % self.detail_every
            begin, end = max(begin, block_start), min(end, block_start + self.detail_every)
        if self.last >= step:
            end = min(end, self.last)
        return min(end, done - (done - begin) % self.depth + self.depth)

    def span(self, step) -> int:
        """Return the number of steps of the launch that ends with this step, at most ``depth``.

        0 if the launch continues after this step (see `end_of_span`).
        """
        done = step - 1
        since = min(done % self.check_every, done % self.series_every)
        if self.detail_every:
            since = min(since, done % self.detail_every)
        steps = since % self.depth + 1
        ends = steps == self.depth or step == self.last or self.is_recorded(step)
        return steps if ends or self.is_looked_at(step + 1) else 0


def rectangle(rows, columns, first, last, potential) -> Conductor:
    """Return a conductor of the cells from (row, column) ``first`` to ``last``, both included."""
    cells = np.zeros((rows, columns), np.bool_)
    cells[first[0] : last[0] + 1, first[1] : last[1] + 1] = True
    return Conductor(cells, potential)
