"""Laplace's equation and heat on plates: what is declared of them.

The rules are in ``reference_py/physics/laplace``, the kernels in ``kernels/physics/laplace``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reference_py.physics.laplace import advance, black, change, deep, plate, sweep, totals
from reference_py.physics.laplace.parameters import (
    BLOCK,
    Conductor,
    Parameters,
    rectangle,
    seed_conductor,
)
from societies.physics.laplace import duration
from societies.physics.laplace.config import LaplaceConfig
from societies.physics.laplace.image import bright_cells
from societies.workload import Field, Launch, Phase, Scratch, Source, Step, Workload, phase

if TYPE_CHECKING:
    import xarray as xr

    from societies.opencl import Device
    from societies.physics.laplace.view import Controls
    from societies.workload import View

FOLDER = "physics/laplace"
DEPTH = {"tiled": 1, "deep": 8}
"""Steps that a launch makes at most, by form."""

TILES = {"single": (64, 56), "double": (64, 26)}
"""Columns and rows of a tile, by precision: 32 KiB of local memory."""

BAND = 8
"""Rows that a workgroup takes in the form ``rows``: enough work for a launch, and little to wait
for at its end."""


class Laplace(Workload[LaplaceConfig, Parameters]):
    """Plates of one shape, side by side."""

    name = "laplace"
    summary = "the potential around conductors (Laplace's equation), and heat, on a plate"
    config = LaplaceConfig
    clock, copies, work = "step", "plate", "cell-step"
    numpy = True
    step_arguments = ("steps",)

    def parameters(self, config: LaplaceConfig) -> Parameters:
        """Return what the reference is handed of a plate."""
        border = config.border if isinstance(config.border, tuple) else (config.border,) * 4
        top, bottom, left, right = border
        return Parameters(
            *config.shape,
            border=(top, bottom, left, right),
            conductors=tuple(_conductors(config)),
            method=config.method,
            ratio=config.ratio,
            precision=config.precision,
            tolerance=-1.0 if config.tolerance is None else config.tolerance,
            check_every=config.check_every,
            series_every=config.record.series,
            variant=config.variant,
            omega=config.relaxation,
            last=self.ticks(config),
            detail_every=config.record.detail,
        )

    def ticks(self, config: LaplaceConfig) -> int:
        """Return the most steps: those asked for, else those that the tolerance can take."""
        return config.most_steps if config.steps is None else config.steps

    def sizes(self, p: Parameters) -> dict[str, int]:
        """Return the sides of a plate."""
        return {"row": p.rows, "column": p.columns}

    def fields(self, p: Parameters) -> Mapping[str, Field]:
        """Return what a plate has. ``next`` is not compared: a plate that has ended has none."""
        cells, num = ("row", "column"), np.dtype(p.num).name
        mask = "int32" if p.variant == "seed" else "uint8"
        potential, free = "potential of a cell", "whether a cell follows the rule: 1, or 0"
        after, last = "potentials after the step", "step that met the tolerance, or -1"
        largest = "largest change of a cell in the step last looked at"
        return {
            "phi": Field(
                cells,
                num,
                "V",
                potential,
                initial=plate.potentials,
                final=True,
                recorded=True,
                within=(None, None),
            ),
            "next": Field(
                cells, num, "V", after, initial=plate.potentials, kept=False, compared=False
            ),
            "free": Field(
                cells, mask, "1", free, initial=plate.free_cells, constant=True, final=True
            ),
            "change": Field((), num, "V", largest, logged=True, within=(0, None)),
            "ended": Field((), "int64", "step", last, initial=plate.RUNNING, final=True),
            "sum": Field(
                (), "float64", "V", "sum of all potentials at the end", kept=False, final=True
            ),
            "residual": Field(
                (), "float64", "V", "norm of the residual at the end", kept=False, final=True
            ),
        }

    def phases(self, p: Parameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase.

        On a CPU a work-item alone goes along the rows four times as fast as sixteen or more do.
        """
        seed, cells, blocks = p.variant == "seed", p.rows * p.columns, copies * p.blocks
        sums = {name: Scratch((blocks,), shared=name) for name in ("sums", "squares")}
        changes = {"changes": Scratch((blocks,), shared="sums")}
        names = (*self.reference(p), "sweep")
        file = {name: f"{FOLDER}/{name}.cl" for name in names}
        parts = copies * (-(-cells // 256) if seed else -(-p.rows // BAND))
        swap = Phase(swaps=(("phi", "next"),))
        swept = {"sweep": phase(file["sweep"], parts, alone_on_cpu=not seed)}
        if p.method == "sor":
            swept["black"] = phase(file["black"], parts, alone_on_cpu=True)
        if p.variant in DEPTH:
            depth, (wide, tall) = DEPTH[p.variant], TILES[p.precision]
            kept = (wide - 2 * depth, tall - 2 * depth)
            tiles = copies * -(-p.columns // kept[0]) * -(-p.rows // kept[1])
            swept["deep"] = phase(file["deep"], tiles, alone_on_cpu=True)
        if p.variant == "tiled":
            del swept["sweep"]
        return {
            **swept,
            "change": Phase((
                Launch(file["change"], blocks, "block_change", scratch=changes, alone_on_cpu=True),
                Launch(file["change"], copies, scratch=changes, alone_on_cpu=True),
            )),
            "advance": phase(file["advance"], parts) if seed else swap,
            "totals": Phase((
                Launch(file["totals"], blocks, "block_totals", scratch=sums, alone_on_cpu=True),
                Launch(file["totals"], copies, scratch=sums, alone_on_cpu=True),
            )),
        }  # fmt: skip

    def schedule(self, p: Parameters, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the phases of a step; there is nothing to do before the first."""
        if not tick:
            return
        looked = p.is_looked_at(tick)
        if p.variant in DEPTH and (p.variant == "tiled" or not looked):
            steps = p.span(tick, DEPTH[p.variant])
            if not steps:
                return  # the step is one of several that are made together, later
            yield Step("deep", arguments={"steps": steps})
        else:
            yield Step("sweep")
            if p.method == "sor":
                yield Step("black")
        if looked:
            yield Step("change")
        yield Step("advance")

    def finish(self, p: Parameters) -> tuple[Step, ...]:
        """Return what is worked out at the end."""
        return (Step("totals"),)

    def source(self, p: Parameters) -> Source:
        """Return the macros of the kernels."""
        macros = {
            "ROWS": p.rows,
            "COLUMNS": p.columns,
            "BLOCK": BLOCK,
            "BLOCKS": p.blocks,
            "CHECK_EVERY": p.check_every,
            "FORM_IS_SEED": p.variant == "seed",
            "METHOD_IS_HEAT": p.method == "heat",
            "METHOD_IS_SOR": p.method == "sor",
            "NUM_IS_DOUBLE": p.precision == "double",
            "P_ratio": p.ratio,
            "P_omega": p.omega,
            "P_tolerance": p.tolerance,
        }
        if p.variant in DEPTH:
            wide, tall = TILES[p.precision]
            macros |= {"TILE": wide, "TALL": tall, "DEPTH": DEPTH[p.variant]}
        return Source(macros, header="#define P(name) P_##name\n")

    def reference(self, p: Parameters) -> Mapping[str, Callable[..., None]]:
        """Return the twin of every phase."""
        swept: dict[str, Callable[..., None]] = {"sweep": sweep.sweep}
        if p.variant == "tiled":
            del swept["sweep"]
        if p.method == "sor":
            swept["black"] = black.black
        if p.variant in DEPTH:
            swept["deep"] = deep.deep
        return {
            **swept,
            "change": change.change,
            "advance": advance.advance,
            "totals": totals.totals,
        }

    def work_done(self, config: LaplaceConfig, ticks: int) -> float:
        """Return cells times steps."""
        rows, columns = config.shape
        return float(rows * columns * ticks * self.count(config))

    def seconds(self, config: LaplaceConfig, device: Device | None) -> float | None:
        """Return how long a run takes, roughly, None on a GPU."""
        return duration.seconds(config, self.ticks(config), device)

    def why_ended(self, state: Mapping[str, NDArray[Any]]) -> str:
        """Return how little the last steps changed."""
        return f"no cell changed by more than {float(state['change'].max()):.4g}"

    def figure(self, results: xr.Dataset, *, plate: int = 0, palette: str = "") -> Any:
        """Draw the potentials of a plate in colours, and how much its steps changed.

        Parameters
        ----------
        plate : int
            Which plate of the file, from 0.
        palette : str
            A colour map of matplotlib, viridis; default: blue, green, red.
        """
        from societies.physics.laplace.figure import figure

        return figure(results, plate, palette)

    def view(self, config: LaplaceConfig, *, device: str | Device = "auto") -> View[Controls]:
        """Show the plate while it is solved; its edges and conductors can be changed."""
        from societies.physics.laplace.view import PlateView

        return PlateView(self, config, device)


def _conductors(config: LaplaceConfig) -> Iterator[Conductor]:
    """Yield the conductors of a configuration."""
    rows, columns = config.shape
    if config.conductor == "seed":
        yield seed_conductor(rows, columns)
    elif isinstance(config.conductor, tuple):
        for one in config.conductor:
            (top, bottom), (left, right) = one.rows, one.columns
            yield rectangle(rows, columns, (top, left), (bottom, right), one.value)
    if config.image is not None:
        yield Conductor(bright_cells(config.image, config.shape), 1.0)


WORKLOAD = Laplace()
