"""What does the workload that moves Lennard-Jones atoms in periodic boxes declare?

The rules are in ``reference_py/physics/molecular_dynamics``, the kernels in
``kernels/physics/molecular_dynamics``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reference_py.physics.molecular_dynamics import box
from reference_py.physics.molecular_dynamics.parameters import BLOCK, FINE, NONE, Parameters
from societies.physics.molecular_dynamics import figure
from societies.physics.molecular_dynamics.config import MolecularDynamicsConfig
from societies.physics.molecular_dynamics.xyz import xyz
from societies.workload import Field, Launch, Phase, Scratch, Source, Step, Workload
from societies.workload.declare.fields import Series, series_macros
from societies.workload.declare.view import shown_by

if TYPE_CHECKING:
    from societies.workload.running.written import Block

FOLDER = "physics/molecular_dynamics"
PART = 128
"""Atoms per workgroup."""

CELL_BLOCK = 256
"""Cells per workgroup of the running sums."""

CELL_ITEMS = 64
"""Work-items per cell."""

WIDTH = {"single": 8, "double": 4}
"""Neighbours that a CPU treats at once; lists are padded to a multiple of this number."""

DENSE = 1.3
"""Smallest density, in atoms per sigma^3, that neighbour lists have room for; liquids have less."""


class MolecularDynamics(Workload[MolecularDynamicsConfig, Parameters]):
    """Boxes with the same number of atoms that are simulated in parallel."""

    name = "molecular_dynamics"
    summary = "Lennard-Jones atoms in a periodic box: energies, pressure, trajectories"
    config = MolecularDynamicsConfig
    clock, copies, work = "step", "box", "atom-step"
    numpy, numbered, derived = True, True, ("half_dt",)
    twins, items = "reference_py.physics.molecular_dynamics", PART
    step_arguments = ("energies",)
    export: ClassVar[Mapping[str, Callable[..., object]]] = {"xyz": xyz}
    figure = staticmethod(figure.figure)
    report_class = "societies.physics.molecular_dynamics.results:atoms_report"
    contents_class = "societies.physics.molecular_dynamics.results:AtomsInFile"
    view = shown_by("societies.physics.molecular_dynamics.view:AtomsView")

    def sizes(self, p: Parameters) -> dict[str, int]:
        """Return the numbers of atoms and of axes."""
        return {"atom": p.atoms, "axis": 3}

    def fields(self, p: Parameters) -> Mapping[str, Field]:
        """Return the arrays of a box."""
        places, num = ("atom", "axis"), np.dtype(p.num).name
        number = (None, None)

        def sums(name: str, meaning: str) -> Field:
            return Field(("atom",), "int64", "2^-36 epsilon", meaning, checkpointed=False)

        def total(unit: str, meaning: str) -> Field:
            return Field(
                (), "float64", unit, f"{meaning}, at the end", checkpointed=False, final=True
            )

        return {
            "x": Field(
                places, num, "sigma", "position", None, box.positions, final=True, recorded=True
            ),
            "v": Field(
                places, num, "sigma/tau", "velocity", number, final=True, recorded=True
            ),
            "F": Field(places, "int64", "2^-36 epsilon/sigma", "force", number),
            "u": sums("u", "energy of an atom's pairs"),
            "w": sums("w", "distance times force of an atom's pairs"),
            "overlap": Field(
                (), "uint32", "index", "lowest atom too close to another one, or lost",
                initial=NONE, logged=True,
            ),
            "failed": Field((), "int64", "step", "step at which that was, or -1", initial=FINE),
            "U": total("epsilon", "potential energy of all atoms"),
            "W": total("epsilon", "virial of all atoms, above 0 for repulsion"),
            "K": total("epsilon", "kinetic energy of all atoms"),
            "T": total("epsilon", "temperature"),
            "P": total("epsilon/sigma^3", "pressure"),
        }  # fmt: skip

    def series(self, p: Parameters) -> Mapping[str, Series]:
        """Return the series that are recorded for a box."""
        energy = "epsilon per atom"
        return {
            "potential_energy": Series(energy, "potential energy"),
            "kinetic_energy": Series(energy, "kinetic energy"),
            "total_energy": Series(energy, "sum of both"),
            "temperature": Series("epsilon", "temperature"),
            "pressure": Series("epsilon/sigma^3", "pressure"),
            "momentum": Series("sigma/tau", "size of the sum of all velocities"),
        }

    def phases(self, p: Parameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase."""
        parts, blocks = copies * -(-p.atoms // PART), copies * p.blocks
        memory = _memory(p, copies)

        def launch(file: str, groups: int, kernel: str = "", *names: str, **more: Any) -> Launch:
            scratch = {name: memory[name] for name in names}
            path = f"{FOLDER}/{file}.cl"
            return Launch(path, groups, kernel, scratch=scratch, alone_on_cpu=True, **more)

        cells, finding = copies * max(p.cells, 0) ** 3, []
        summed = ("counts", "start", "totals", "valid")
        if p.variant != "all_pairs":
            finding = [
                launch("place", parts, "count_atoms", "cell", "counts", "valid"),
                launch("place", copies * _cell_blocks(p), "sum_cells", *summed),
                launch("place", copies, "sum_blocks", "totals", "valid"),
                launch("place", parts, "place_atoms", *memory),
            ]
            if _cell_blocks(p) == 1:
                del finding[2]
        if p.variant == "list":
            finding.append(launch("neighbours", parts, "neighbours", *memory))
        groups, items = (cells, CELL_ITEMS) if p.variant == "cell" else (parts, 0)
        places = ("slot", "packed", "lanes", "built", "valid")
        raw = {
            "raw": Scratch((copies, 3, p.atoms if p.velocities == "normal" else 0)),
            "tree": Scratch((copies, p.atoms if p.velocities == "normal" else 0)),
        }
        totals = {
            "sums": Scratch((4, blocks), shared="sums"),
            "wholes": Scratch((2, blocks), "int64", shared="wholes"),
        }
        scaled = {
            "squares": Scratch((blocks,), shared="squares"),
            "factors": Scratch((copies,), np.dtype(p.num).name, shared="factors"),
        }
        start, energies, rescale = (
            partial(Launch, f"{FOLDER}/{name}.cl", scratch=scratch, alone_on_cpu=True)
            for name, scratch in (("start", raw), ("energies", totals), ("rescale", scaled))
        )
        table = {
            "start": Phase((start(copies), start(parts, "wrap", scratch={}))),
            "drift": Phase((launch("drift", parts, "", *places),)),
            "forces": Phase((*finding, launch("forces", groups, "", *memory, items=items))),
            "kick": Phase((launch("kick", parts),)),
            "energies": Phase((energies(blocks, "block_energies"), energies(copies))),
        }
        if p.rescaled:
            factors = (rescale(blocks, "block_squares"), rescale(copies, "factor"))
            table["rescale"] = Phase((*factors, rescale(parts)))
        return table

    def schedule(self, p: Parameters, tick: int, seen: Any) -> tuple[Step, ...]:
        """Return the phases of a step; energies are computed only if they are recorded."""
        return _steps_of_tick(tick == 0, tick % p.series_every == 0, 0 < tick <= p.rescaled)

    def finish(self, p: Parameters) -> tuple[Step, ...]:
        """Return the steps that compute the energies at the end; the forces do not change."""
        return (Step("forces", arguments={"energies": 1}), Step("energies"))

    def source(self, p: Parameters) -> Source:
        """Return the macros of the kernels."""
        reach = p.reach
        fixed = {
            "length": p.length,
            "cutoff": p.cutoff,
            "square_of_cutoff": p.cutoff * p.cutoff,
            "square_of_reach": reach * reach * (1.0 + 1e-5),
            "energy_at_cutoff": p.energy_at_cutoff,
            "slope_at_cutoff": p.slope_at_cutoff,
            "slack": 0.49 * p.skin,
            "margin": 1.001 * (p.reach + p.skin),
            "dof": float(p.degrees),
            "tail_energy": p.tail_energy,
            "volume": p.volume,
        }
        speeds = np.zeros(1) if p.velocities != "zero" else np.zeros(3 * p.atoms)
        if p.velocities == "file":
            assert p.speeds is not None
            speeds = p.speeds.ravel()
        return Source(
            {
                "ATOMS": p.atoms,
                "PART": PART,
                "BLOCK": BLOCK,
                "BLOCKS": p.blocks,
                "SIDE": max(p.cells, 0),
                "CELL_BLOCKS": _cell_blocks(p),
                "ROOM": _room(p),
                "WIDTH": WIDTH[p.precision],
                "NUM_IS_DOUBLE": p.precision == "double",
                "DEVICE_CONTRACTS": False,  # needs no test of the device: no kernel calls MULADD
                **self.macros(p, "variant", "form", "velocities"),
                **series_macros(self.columns(p)),
                **{f"P_{name}": value for name, value in fixed.items()},
            },
            header=self.lookups(p),
            arguments={"speeds": speeds, "closed_up": _closed_up(WIDTH[p.precision], p)},
        )

    def work_done(self, config: MolecularDynamicsConfig, ticks: int) -> float:
        """Return atoms times steps."""
        return float(config.number_of_atoms * ticks * self.count(config))

    def check(self, block: Block, p: Parameters) -> None:
        """Raise an error if a pair of atoms is too close, or an atom has moved too far."""
        from societies.physics.molecular_dynamics.results import refuse_overlap

        if (block.logs["overlap"] != NONE).any():
            refuse_overlap(p, block.state(), block.logs["overlap"], block.first)

    def plan_rows(self, config: MolecularDynamicsConfig, p: Parameters) -> list[tuple[str, str]]:
        """Return rows with the box and the method that finds pairs."""
        cells = f", {p.cells}^3 cells" if p.variant != "all_pairs" else ""
        return [
            ("box", f"{p.atoms:,} atoms, {p.length:.6g} sigma a side"),
            ("pairs", f"{p.variant}{cells}"),
        ]


@cache
def _steps_of_tick(first: bool, recorded: bool, rescaled: bool) -> tuple[Step, ...]:
    """Return the phases of tick 0 (``first``) or of a step."""
    forces = Step("forces", arguments={"energies": int(recorded)})
    moved = (Step("start"), forces) if first else (Step("drift"), forces, Step("kick"))
    scaled = (Step("rescale"),) if rescaled else ()
    return (*moved, *scaled, Step("energies")) if recorded else (*moved, *scaled)


def _cell_blocks(p: Parameters) -> int:
    return max(1, -(-(max(p.cells, 0) ** 3) // CELL_BLOCK))


def _room(p: Parameters) -> int:
    """Return the capacity of a neighbour list; a length equal to it marks an overflow."""
    density = max(1.5 * p.atoms / p.length**3, DENSE)
    near = min(density * 4.0 / 3.0 * math.pi * p.reach**3 + 16.0, float(p.atoms))
    width = WIDTH[p.precision]
    return (int(near) // width + 3) * width


def _closed_up(width: int, p: Parameters) -> NDArray[np.uint8]:
    """Return for each set of lanes, a number of ``width`` bits, the byte offsets of its lanes.

    Returns
    -------
    (set, 2 width) uint8: offsets of all lanes from lane 0, those of the set first; then the size of
    the set, then zeros
    """
    sets = np.arange(1 << width)[:, None] >> np.arange(width) & 1
    order = np.argsort(1 - sets, axis=1, kind="stable")
    count = np.pad(sets.sum(axis=1, keepdims=True), ((0, 0), (0, width - 1)))
    return np.hstack([order * (4 * np.dtype(p.num).itemsize), count]).astype(np.uint8)


def _memory(p: Parameters, copies: int) -> dict[str, Scratch]:
    """Return the working arrays of the forces by name; kernels and steps share them.

    Arrays that a variant does not need are empty.
    """
    atoms = 0 if p.variant == "all_pairs" else p.atoms
    listed = p.atoms if p.variant == "list" else 0
    staying = p.atoms if p.variant in ("list", "sorted") else 0
    width = WIDTH[p.precision]
    places = p.atoms + 2 * width if staying else 0
    num = np.dtype(p.num).name
    shapes: dict[str, tuple[tuple[int, ...], str]] = {
        "counts": ((copies, max(p.cells, 0) ** 3 if atoms else 0), "uint32"),
        "start": ((copies, max(p.cells, 0) ** 3 if atoms else 0), "uint32"),
        "totals": ((copies, _cell_blocks(p)), "uint32"),
        "cell": ((copies, atoms), "uint32"),
        "order": ((copies, atoms), "uint32"),
        "slot": ((copies, staying), "uint32"),
        "packed": ((copies, places, 4), num),
        "lanes": ((copies, 3, places), num),
        "built": ((copies, staying, 3), num),
        "list": ((copies, -(-listed // PART) * (PART + width), _room(p)), "uint32"),
        "lengths": ((copies, listed), "uint32"),
        "widths": ((copies, -(-listed // width)), "uint32"),
        "valid": ((copies,), "uint32"),
    }
    return {name: Scratch(shape, kind, shared=name) for name, (shape, kind) in shapes.items()}


WORKLOAD = MolecularDynamics()
