"""What determines a box of atoms? Its size, where the atoms begin, the force, and the step.

Reduced units: the size and the depth of the Lennard-Jones potential and the mass of an atom are 1.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reference_py.primitives.num import num_type
from reference_py.primitives.rng import STREAM_GAP

BLOCK = 2048
"""Atoms of which one workgroup takes sums; a power of two, so that sums of blocks are parts of the
tree over all atoms (kernels/primitives/reduce.cl)."""

WIDER = 1.0001
"""A cell is at least that many times as wide as the distance at which pairs are looked for: more
than the rounding of an atom's cell can be wrong by."""

NONE = 2**32 - 1
"""`overlap` of a box in which no atom is too close to another one."""

FINE = -1
"""`failed` of such a box."""


@dataclass(frozen=True, eq=False)
class Parameters:
    """A box of atoms and how it changes.

    Attributes
    ----------
    atoms : int
    length : side of the box, in double; kernels and reference round it to ``num``
    cutoff, dt, temperature : floats
    form : "plain", "shifted" or "shifted_force"
    degrees : degrees of freedom, 3 N - 3 or 3 N
    velocities : "normal", "pairs", "zero" or "file": how the first velocities are found
    rescaled : after each of how many first steps velocities are scaled to the temperature
    tail : whether the energy has the correction for pairs beyond the cutoff
    cells_of_lattice : cells of the face-centred lattice along a side; 0: ``positions`` are given
    positions, speeds : (atom, axis) float64, or None
    stream_base : where on the generator's orbit the streams of the seed begin
    precision : "single" or "double"
    variant : which pairs are tried; results do not depend on it
    skin : of ``list`` and ``sorted``: by how much lists or cells reach further than the cutoff
    series_every : steps from one recorded energy to the next
    """

    atoms: int
    length: float
    cutoff: float = 2.5
    dt: float = 0.003
    temperature: float = 1.4
    form: str = "shifted_force"
    degrees: int = 0
    velocities: str = "normal"
    rescaled: int = 0
    tail: bool = False
    cells_of_lattice: int = 0
    positions: NDArray[np.float64] | None = None
    speeds: NDArray[np.float64] | None = None
    stream_base: int = 0
    stream_gap: int = STREAM_GAP
    precision: str = "single"
    variant: str = "all_pairs"
    skin: float = 0.3
    series_every: int = 1

    @property
    def num(self):
        """The NumPy type of positions and velocities."""
        return num_type(self.precision)

    @property
    def half_dt(self) -> float:
        """Half the length of a step."""
        return self.dt / 2.0

    @property
    def volume(self) -> float:
        """Volume of the box whose side is rounded to ``num``."""
        side = float(self.num(self.length))
        return (side * side) * side

    @property
    def energy_at_cutoff(self) -> float:
        """Energy of a pair at the cutoff."""
        q6 = self._sixth_power
        return 4.0 * (q6 * (q6 - 1.0))

    @property
    def slope_at_cutoff(self) -> float:
        """Derivative of a pair's energy at the cutoff."""
        q6 = self._sixth_power
        return -(24.0 * (q6 * ((q6 + q6) - 1.0))) / self.cutoff

    @property
    def _sixth_power(self) -> float:
        q = 1.0 / (self.cutoff * self.cutoff)
        return (q * q) * q

    @property
    def tail_energy(self) -> float:
        """Energy of all pairs beyond the cutoff if these were spread evenly; 0 if not asked for."""
        if not self.tail:
            return 0.0
        q3 = 1.0 / ((self.cutoff * self.cutoff) * self.cutoff)
        density = self.atoms / self.volume
        return ((8.0 / 9.0) * math.pi * self.atoms * density) * (((q3 * q3) * q3) - 3.0 * q3)

    @property
    def reach(self) -> float:
        """Distance up to which pairs are looked for."""
        return self.cutoff + (self.skin if self.variant in ("list", "sorted") else 0.0)

    @property
    def cells(self) -> int:
        """Cells along a side, of about one atom or more each; below 3 there are no cells."""
        most = max(3, math.floor((4.0 * self.atoms) ** (1.0 / 3.0)))
        return min(math.floor(self.length / (WIDER * self.reach)), most)

    def fitting(self) -> "Parameters":
        """Return the parameters with a variant for which the box is large enough."""
        found = (replace(self, variant=one) for one in ("list", "particle"))
        return next((p for p in found if p.cells >= 3), replace(self, variant="all_pairs"))

    @property
    def blocks(self) -> int:
        """Blocks of atoms, the last one perhaps not full."""
        return -(-self.atoms // BLOCK)
