"""What do the file and the report of a box of atoms hold, and what if two atoms come too close?

The report has the values of the last step; without steps also the energies per atom, since these
are published for other programs, with more digits than the closing table has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.physics.molecular_dynamics.pair import energy_and_force, nearest, square, within
from reference_py.physics.molecular_dynamics.parameters import NONE, Parameters
from reference_py.primitives.fixed import fits
from societies.errors import SocietiesError
from societies.output import ResultFile, open_results
from societies.workload.declare.fields import State
from societies.workload.declare.protocol import Setup
from societies.workload.running.contents import SeriesAndDetail
from societies.workload.running.report import RunReport


class AtomsInFile(SeriesAndDetail):
    """Series, positions and velocities. Overlaps of atoms are checked but not recorded."""

    def __init__(self, setup: Setup[Any, Any]) -> None:
        super().__init__(setup)
        del self._recorded.logged["overlap"]

    def finish(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Write the end after a check for overlaps, which a run without steps has not had yet."""
        last = state()
        if (last["overlap"] != NONE).any():
            refuse_overlap(self._p, last, last["overlap"][:, None], tick)
        super().finish(file, tick, state)

    def attributes(self) -> dict[str, str | int]:
        """Return the title, the number of atoms and the side of the box."""
        atoms, length = self._p.atoms, self._p.length
        title = f"{atoms:,} atoms in a box of {length:.4g} sigma"
        return {"title": title, "atoms": atoms, "box_length": repr(length)}


def refuse_overlap(
    p: Parameters, state: Mapping[str, NDArray[Any]], overlap: NDArray[np.uint32], first: int
) -> None:
    """Raise an error that says which atoms are too close, how far apart, and at which step.

    Parameters
    ----------
    state : state at the end; a box does not move after it has failed
    overlap : (box, tick) uint32, from tick ``first`` on
    """
    number = int(np.argmax((overlap != NONE).any(axis=1)))
    failed = int(state["failed"][number])
    step = failed if failed >= 0 else first + int(np.argmax(overlap[number] != NONE))
    x, i = state["x"][number], int(state["overlap"][number])
    where = f"box {number}: " if len(overlap) > 1 else ""
    hint = "a smaller dt, or a start with more room, may help; what was done before is in the file"
    if not np.isfinite(x[i]).all():
        raise SocietiesError(
            f"{where}atom {i} moved by more than the length of the box in step {step}\n{hint}"
        )
    j, r = _partner(p, x, i)
    raise SocietiesError(f"{where}atoms {i} and {j} are {r:.6g} apart at step {step}\n{hint}")


def _partner(p: Parameters, x: NDArray[Any], atom: int) -> tuple[int, float]:
    """Return the first atom that is too close to ``atom``, and its distance."""
    d = [nearest(p, x[atom, axis] - x[:, axis]) for axis in range(3)]
    r2 = square(d)
    with np.errstate(all="ignore"):
        u, w = energy_and_force(p, r2)
        terms = [w * one for one in d] + [u, w * r2]
    close = within(p, r2) & ~np.logical_and.reduce([fits(term) for term in terms])
    close[atom] = False
    partner = int(np.argmax(close))
    return partner, float(np.sqrt(float(r2[partner])))


def of_the_end(path: Path, atoms: int) -> dict[str, float]:
    """Return the series of the last step, if it was not recorded, from the final fields."""
    with open_results(path) as results:
        end = {name: float(results[name].mean()) for name in "UKTP"}
    potential, kinetic = end["U"] / atoms, end["K"] / atoms
    return {
        "potential_energy": potential,
        "kinetic_energy": kinetic,
        "total_energy": potential + kinetic,
        "temperature": end["T"],
        "pressure": end["P"],
    }


def atoms_report(workload: Any, config: Any, **facts: Any) -> RunReport:
    """Return the report of a run; without steps it also has energies per atom."""
    if facts["last_tick"] % config.record.series:  # the last series belong to an earlier step
        facts["final"] = of_the_end(facts["path"], config.number_of_atoms)
    return AtomsReport(workload, config, **facts)


class AtomsReport(RunReport):
    """The report of a run; without steps it has the energies per atom that steps have."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The closing table of every run; without steps, energies per atom after those of all."""
        if "U" not in self.final:  # the table has the series of the last step
            return super().rows
        pressure = f"{self.final['P']:.8g} epsilon/sigma^3"
        rows = [(name, pressure if name == "P" else said) for name, said in super().rows]
        potential, kinetic = (self.final[name] / self.config.number_of_atoms for name in "UK")
        energies = {
            "potential energy": potential,
            "kinetic energy": kinetic,
            "total energy": potential + kinetic,
        }
        added = [(name, f"{value:.8g} epsilon per atom") for name, value in energies.items()]
        at = [name for name, _ in rows].index("device")
        return [*rows[:at], *added, *rows[at:]]
