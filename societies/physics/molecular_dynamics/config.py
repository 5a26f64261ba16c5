"""Which keys does the YAML file of a box of atoms have, with which units and meanings?"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Literal

from reference_py.physics.molecular_dynamics.parameters import Parameters
from reference_py.primitives.rng import stream_base
from reference_py.primitives.softmath import soft_pow
from societies.config.model import (
    Conflict,
    From0,
    From1,
    Interval,
    ListOf,
    Section,
    WorkloadConfig,
    key,
    shape,
    value,
)
from societies.errors import ConfigError
from societies.physics import PRECISION, Precision
from societies.physics.molecular_dynamics.atoms import Atoms, found, read_atoms
from societies.workload.declare.config import (
    INTERVENTIONS,
    MOST_TICKS,
    SEED,
    InterventionConfig,
    Numbers,
    changed_after,
    changed_copies,
    checkpoints,
    detailed,
    stream_conflicts,
)
from societies.workload.declare.naming import parameters_of
from societies.workload.running.points import intervention_conflicts

MOST_ATOMS = 1 << 24
ALL_PAIRS_AT_MOST = 20_000  # atoms


class MolecularDynamicsIntervention(InterventionConfig):
    """Values of boxes that are changed, for good or for some time."""

    step: int = changed_after("step")
    boxes: Numbers = changed_copies("boxes")


class MolecularDynamicsRecord(Section):
    """What is recorded in the file, and how often."""

    series: int = key(
        10, "Record energies, temperature and pressure every this many steps", "step", ge=1
    )
    detail: int = detailed("step", "positions and velocities")
    checkpoint: Interval = checkpoints("step", "the state")


class MolecularDynamicsConfig(WorkloadConfig):
    """Lennard-Jones atoms in a periodic cube, in units of sigma, epsilon and the mass."""

    workload: Literal["molecular_dynamics"] = key("molecular_dynamics", "What the file configures")
    cells: int = shape(
        16, "Cells of four atoms of the face-centred lattice along a side", "cells", ge=1, le=161
    )
    density: float = shape(0.15, "Atoms in a volume of one", "1/sigma^3", gt=0, le=10)
    atoms: str | None = key(
        None,
        "File of the atoms at the start, instead of a lattice: extended XYZ, or the layout of "
        "NIST's reference calculations",
    )
    temperature: float = value(1.4, "Temperature at the start", "epsilon", ge=0, le=1e6)
    cutoff: float = shape(2.5, "Distance from which pairs do not act", "sigma", ge=0.5, le=1e4)
    dt: float = value(0.003, "Length of a step", "tau", gt=0, le=1)
    steps: int = key(
        1000, "Number of steps; 0: energies of the start alone", "step", ge=0, le=MOST_TICKS
    )
    form: Literal["plain", "shifted", "shifted_force"] = shape(
        "shifted_force",
        "Potential at the cutoff: unchanged; shifted to energy 0; shifted to energy and force 0",
    )
    tail: bool = shape(
        False, "Add to the energy that of pairs beyond the cutoff, as if atoms were spread evenly"
    )
    degrees: Literal["3N-3", "3N"] = shape(
        "3N-3", "Degrees of freedom of the temperature: without or with the motion of the whole"
    )
    velocities: Literal["normal", "pairs", "zero", "file"] = shape(
        "normal",
        "First velocities: normal and scaled to the temperature, small and opposite in pairs, "
        "none, or those of the file of atoms",
    )
    seed: int = SEED
    thermostat: Literal["none", "rescale"] = shape(
        "none", "What keeps the temperature: nothing, or velocities are scaled after a step"
    )
    equilibrate: int = shape(
        400, "Steps at the start during which the thermostat is on", "step", ge=0
    )
    variant: Literal["auto", "all_pairs", "particle", "cell", "sorted", "list"] = shape(
        "auto",
        "How pairs are found, with the same results: all are tried; an atom or a cell tries the "
        "cells around; atoms sorted by cell for some steps; lists; auto: "
        "lists, or all pairs in a box too small for cells",
    )
    skin: float = shape(
        0.3,
        "By how much lists, and cells of sorted atoms, reach further than the cutoff",
        "sigma",
        ge=0.01,
        le=1e3,
    )
    precision: Precision = PRECISION
    replicates: From1 = key(
        1, "Boxes that are simulated in parallel, each with its own velocities", "boxes"
    )
    first_box: From0 = key(0, "Number of the first box", "index")
    interventions: ListOf[MolecularDynamicsIntervention] = INTERVENTIONS
    record: MolecularDynamicsRecord = key(
        MolecularDynamicsRecord, "What is recorded in the file, and how often"
    )

    @property
    def from_file(self) -> Atoms | None:
        """The atoms of the file, if one is given."""
        return None if self.atoms is None else read_atoms(self.atoms)

    @property
    def number_of_atoms(self) -> int:
        """Number of atoms of a box."""
        return 4 * self.cells**3 if self.atoms is None else len(read_atoms(self.atoms).positions)

    @property
    def length(self) -> float:
        """Side of the box."""
        if self.atoms is not None:
            return read_atoms(self.atoms).length
        return soft_pow(self.number_of_atoms / self.density, 1.0 / 3.0)

    def parameters(self) -> Parameters:
        """Return the parameters that the reference takes."""
        stored, atoms = self.from_file, self.number_of_atoms
        p = parameters_of(
            Parameters,
            self,
            atoms=atoms,
            degrees=3 * atoms - (3 if self.degrees == "3N-3" else 0),
            rescaled=self.equilibrate if self.thermostat == "rescale" else 0,
            cells_of_lattice=self.cells,
            positions=None if stored is None else stored.positions,
            speeds=None if stored is None else stored.velocities,
            stream_base=stream_base(self.seed),
            variant="list" if self.variant == "auto" else self.variant,
            series_every=self.record.series,
        )
        return p.fitting() if self.variant == "auto" else p

    def inputs(self) -> dict[str, str]:
        """Return the file of atoms, if one is given."""
        return {} if self.atoms is None else {"atoms": str(found(self.atoms))}

    def conflicts(self) -> Iterator[Conflict]:
        """Yield contradictory keys: boxes that are too small, too many atoms, no velocity."""
        yield from intervention_conflicts(self)
        if self.tail and self.form != "plain":
            yield Conflict(("tail",), f"belongs to form: plain, not {self.form}", (("form",),))
        try:
            stored = self.from_file
        except ConfigError as error:
            yield Conflict(("atoms",), str(error))
            return
        yield from self._velocities(stored)
        atoms, length = self.number_of_atoms, self.length
        size = ("atoms",) if self.atoms else ("cells",)
        needs: tuple[tuple[str, ...], ...] = (("cells",), ("density",), ("atoms",), ("cutoff",))
        if not 2 <= atoms <= MOST_ATOMS:
            yield Conflict(size, f"{atoms} atoms; the box takes 2 to {MOST_ATOMS}", needs)
            return
        if length < 2.0 * self.cutoff:
            yield Conflict(
                size,
                f"the box is {length:.6g} long, less than twice the cutoff"
                + self._enough(2.0 * self.cutoff),
                needs,
            )
            return
        cells = self.parameters().cells
        if self.variant in ("particle", "cell", "sorted", "list") and cells < 3:
            p = self.parameters()
            yield Conflict(
                ("variant",),
                f"{self.variant} needs 3 cells along a side, each {p.reach:.6g} wide or more; the "
                f"box is {length:.6g} long" + self._enough(3.0 * 1.0001 * p.reach),
                (*needs, ("skin",)),
            )
        if self.parameters().variant == "all_pairs" and atoms > ALL_PAIRS_AT_MOST:
            yield Conflict(
                ("variant",),
                f"all pairs of {atoms} atoms would take very long: {ALL_PAIRS_AT_MOST} at most",
                needs,
            )
        streams = (self.first_box + self.replicates) * atoms
        yield from stream_conflicts(self, streams, ("replicates", "first_box"), needs=needs)

    def _velocities(self, stored: Atoms | None) -> Iterator[Conflict]:
        if self.velocities == "file" and (stored is None or stored.velocities is None):
            message = "the file of atoms has none" if stored else "there is no file of atoms"
            yield Conflict(("velocities",), message, (("atoms",),))
        if self.velocities == "zero" and self.thermostat == "rescale" and self.equilibrate:
            yield Conflict(
                ("velocities",),
                "atoms that rest cannot be scaled to a temperature",
                (("thermostat",), ("equilibrate",)),
            )

    def _enough(self, length: float) -> str:
        """Return text with the lattice that makes a box of this length."""
        if self.atoms is not None:
            return ""
        atoms = length * length * length * self.density
        cells = max(1, ceil((atoms / 4.0) ** (1.0 / 3.0) * (1.0 + 1e-12)))
        return f"; cells: {cells} would do"

    def warnings(self) -> Iterator[Conflict]:
        """Yield keys without an effect."""
        for name in ("cells", "density"):
            if self.atoms is not None and name in self.given:
                yield Conflict((name,), "has no effect: the file of atoms says it")
        stored = self.from_file
        for remark in stored.remarks if stored else ():
            yield Conflict(("atoms",), remark)
        if stored and stored.velocities is not None and self.velocities != "file":
            message = f"{self.velocities}; those of the file of atoms are not used"
            yield Conflict(("velocities",), message)
        if self.thermostat == "none" and "equilibrate" in self.given:
            yield Conflict(("equilibrate",), "has no effect without a thermostat")
        if self.record.detail > self.steps:
            yield Conflict(
                ("record", "detail"),
                f"{self.record.detail} steps are more than the run has ({self.steps}): none of "
                "this is recorded",
            )
