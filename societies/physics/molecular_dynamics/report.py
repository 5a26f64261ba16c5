"""What does the report of a run of atoms contain?

The values of the last step; without steps also the energies per atom, since these are published for
other programs, with more digits than the closing table has.
"""

from __future__ import annotations

from pathlib import Path

from societies.output import open_results
from societies.workload.running.report import RunReport


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
