"""What does the workload that solves Laplace's equation and heat flow on plates declare?

The rules are in ``reference_py/physics/laplace``, the kernels in ``kernels/physics/laplace``.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reference_py.physics.laplace import plate
from reference_py.physics.laplace.parameters import BLOCK, Parameters
from reference_py.primitives.num import num_type
from societies.physics.laplace import figure
from societies.physics.laplace.config import DEPTH, LaplaceConfig
from societies.workload import (
    Field,
    Launch,
    Phase,
    Scratch,
    Source,
    Step,
    Workload,
    phase,
)
from societies.workload.declare.view import shown_by

if TYPE_CHECKING:
    from societies.opencl import Device

FOLDER = "physics/laplace"
PHASES = ("sweep", "black", "deep", "change", "advance", "totals")
TILES = {"single": (64, 56), "double": (64, 26)}
"""Columns and rows of a tile on a CPU, by precision: 32 KiB of local memory. On a GPU tiles are
larger (kernels/physics/laplace/deep.cl), so this number of workgroups is enough for it, too."""

TILE_ITEMS = 256
"""Work-items of a tile on a GPU, 4 x 4 of its 64 x 64 cells each."""

SWEEP, BLACK, CHANGE, ADVANCE = map(Step, ("sweep", "black", "change", "advance"))

BAND = 8
"""Rows per workgroup in the form ``rows``: enough work for a workgroup, and little idle time at the
end of a launch."""


CPU_SPEED, SEED_FORM_SPEED = {"single": 1.2e9, "double": 0.8e9}, 0.2e9
"""Cell-steps per second of one core with PoCL, and in the form ``seed``, for plates of 32, 200 and
1000 cells a side on a processor with two cores that also ran other programs
(benchmarks/results/laplace-2-cores.csv). Other processors are some times faster or slower, so an
estimate only tells seconds from hours."""

LAUNCH_SECONDS = 15e-6
"""Seconds of a step for its launches, for plates of any size."""

REFERENCE_SPEED, REFERENCE_CALLS = 80e6, 20e-6
"""Cell-steps per second of the reference, and its seconds of a step for plates of any size."""


class Laplace(Workload[LaplaceConfig, Parameters]):
    """Plates of one shape that are solved in parallel."""

    name = "laplace"
    summary = "the potential around conductors (Laplace's equation), and heat, on a plate"
    config = LaplaceConfig
    clock, copies, work = "step", "plate", "cell-step"
    numpy, numbered, twins = True, True, "reference_py.physics.laplace"
    step_arguments = ("steps",)
    figure = staticmethod(figure.figure)
    report_class = "societies.physics.laplace.report:plate_report"
    view = shown_by("societies.physics.laplace.view:PlateView")

    def ticks(self, config: LaplaceConfig) -> int:
        """Return the largest number of steps: ``steps``, or else the bound for the tolerance."""
        return config.last_step

    def sizes(self, p: Parameters) -> dict[str, int]:
        """Return the numbers of rows and columns of a plate."""
        return {"row": p.rows, "column": p.columns}

    def fields(self, p: Parameters) -> Mapping[str, Field]:
        """Return the arrays of a plate. ``next`` is not compared: it is undefined after the end."""
        cells, num = ("row", "column"), np.dtype(p.num).name
        mask = "int32" if p.variant == "seed" else "uint8"
        potential, free = "potential of a cell", "whether a cell follows the rule: 1, or 0"
        after, last = "potentials after the step", "step that met the tolerance, or -1"
        largest = "largest change of a cell in the step last looked at"
        at_end = partial(Field, (), "float64", "V", checkpointed=False, final=True)
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
                cells, num, "V", after, initial=plate.potentials, checkpointed=False, compared=False
            ),
            "free": Field(
                cells, mask, "1", free, initial=plate.free_cells, constant=True, final=True
            ),
            "change": Field((), num, "V", largest, logged=True, within=(0, None)),
            "ended": Field(
                (), "int64", "step", last, initial=plate.RUNNING, final=True, none=plate.RUNNING
            ),
            "sum": at_end("sum of all potentials at the end"),
            "residual": at_end("norm of the residual at the end"),
        }

    def phases(self, p: Parameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase.

        On a CPU one work-item per workgroup is four times as fast as sixteen or more.
        """
        seed, cells, blocks = p.variant == "seed", p.rows * p.columns, copies * p.blocks
        sums = {name: Scratch((blocks,), shared=name) for name in ("sums", "squares")}
        changes = {"changes": Scratch((blocks,), shared="sums")}
        file = {name: f"{FOLDER}/{name}.cl" for name in PHASES}
        change, totals = (
            partial(Launch, file[name], scratch=scratch, alone_on_cpu=True)
            for name, scratch in (("change", changes), ("totals", sums))
        )
        parts = copies * (-(-cells // 256) if seed else -(-p.rows // BAND))
        swap = Phase(swaps=(("phi", "next"),))
        swept = {"sweep": phase(file["sweep"], parts, alone_on_cpu=not seed)}
        if p.method == "sor":
            swept["black"] = phase(file["black"], parts, alone_on_cpu=True)
        if p.variant in DEPTH:
            wide, tall = TILES[p.precision]
            inner = (wide - 2 * p.depth, tall - 2 * p.depth)
            tiles = copies * -(-p.columns // inner[0]) * -(-p.rows // inner[1])
            swept["deep"] = phase(file["deep"], tiles, items=TILE_ITEMS, alone_on_cpu=True)
        if p.variant == "tiled":
            del swept["sweep"]
        return {
            **swept,
            "change": Phase((change(blocks, "block_change"), change(copies))),
            "advance": phase(file["advance"], parts) if seed else swap,
            "totals": Phase((totals(blocks, "block_totals"), totals(copies))),
        }

    def schedule(self, p: Parameters, tick: int, seen: Any) -> tuple[Step, ...]:
        """Return the phases of a step; tick 0 has none."""
        if not tick:
            return ()
        looked = p.is_looked_at(tick)
        if p.variant in DEPTH and (p.variant == "tiled" or not looked):
            steps = p.span(tick)
            # without steps: a later launch makes this step together with others
            return _steps_of_tick(steps, False, looked) if steps else ()
        return _steps_of_tick(0, p.method == "sor", looked)

    def busy(self, p: Parameters, first: int, last: int) -> Iterator[int]:
        """Yield the last step of each launch."""
        step = first
        while step <= last:
            if p.variant == "deep" and not p.is_looked_at(step):
                step = p.end_of_span(step)
            if step <= last:
                yield step
            step += 1

    def finish(self, p: Parameters) -> tuple[Step, ...]:
        """Return the step that computes the totals at the end."""
        return (Step("totals"),)

    def source(self, p: Parameters) -> Source:
        """Return the macros of the kernels."""
        macros = {
            **self.macros(p, "rows", "columns", "check_every", "variant", "method"),
            "BLOCK": BLOCK,
            "BLOCKS": p.blocks,
            "NUM_IS_DOUBLE": p.precision == "double",
        }
        if p.variant in DEPTH:
            wide, tall = TILES[p.precision]
            macros |= {"TILE": wide, "TALL": tall, "DEPTH": p.depth}
        return Source(macros, header=self.lookups(p))

    def work_done(self, config: LaplaceConfig, ticks: int) -> float:
        """Return cells times steps."""
        rows, columns = config.shape
        return float(rows * columns * ticks * self.count(config))

    def seconds(self, config: LaplaceConfig, device: Device | None) -> float | None:
        """Return an estimate of the seconds of a run, at most those that the tolerance needs.

        GPUs were not measured: None.
        """
        rows, columns = config.shape
        cells, steps = rows * columns, min(config.last_step, config.most_steps)
        if device is None:
            return steps * (REFERENCE_CALLS + cells / REFERENCE_SPEED)
        if device.kind != "cpu":
            return None
        speed = SEED_FORM_SPEED if config.variant == "seed" else CPU_SPEED[config.precision]
        return steps * (LAUNCH_SECONDS + cells / (speed * max(1, device.compute_units)))

    def why_ended(self, config: LaplaceConfig, state: Mapping[str, NDArray[Any]]) -> str:
        """Return the largest last change and, with jacobi, the distance from the solution.

        If every iteration multiplies the slowest mode by rho, the distance is change / (1 - rho).
        A change below the rounding error counts as half a unit in the last place.
        """
        change = float(state["change"].max())
        said = f"no cell changed by more than {rounded_up(change)} V"
        if config.method != "jacobi":
            return said
        rho = sum(math.cos(math.pi / (side - 1)) for side in config.shape) / 2
        rounding = float(np.finfo(num_type(config.precision)).epsneg) * max(map(abs, config.held))
        away = f"{max(change, rounding) / (1 - rho):.2g} V"
        if change < rounding:
            return f"{said}; in {config.precision} precision the solution stays up to {away} away"
        return f"{said}; the solution is about {away} away"


@cache
def _steps_of_tick(deep: int, black: bool, looked: bool) -> tuple[Step, ...]:
    """Return the phases of ``deep`` steps at once, or of one (0), with its change if ``looked``."""
    if deep:
        made: tuple[Step, ...] = (Step("deep", arguments={"steps": deep}),)
    else:
        made = (SWEEP, BLACK) if black else (SWEEP,)
    return (*made, CHANGE, ADVANCE) if looked else (*made, ADVANCE)


def rounded_up(value: float) -> str:
    """Return a number in four digits, rounded up."""
    with decimal.localcontext(prec=4, rounding=decimal.ROUND_CEILING):
        return f"{float(+decimal.Decimal(value)):.4g}"


WORKLOAD = Laplace()
