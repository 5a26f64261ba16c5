"""Plates for the tests of Laplace's equation: the reference's steps, and those of the kernels."""

from dataclasses import replace

import numpy as np

from reference_py.physics.laplace import advance, change, plate, sweep, totals
from reference_py.physics.laplace.parameters import Parameters, rectangle
from societies.opencl import Program
from societies.physics.laplace import WORKLOAD

FORMS = ("seed", "rows")


def seed_plate(side, **settings):
    """Return parameters of the seed's plate: four cells in the middle at potential 1."""
    first, last = side // 2 - 1, side // 2
    conductor = rectangle(side, side, (first, first), (last, last), 1.0)
    return Parameters(side, side, conductors=(conductor,), **settings)


def run(p, steps, one=None):
    """Return a plate of the reference after some steps, or earlier where its tolerance is met."""
    one = one or plate.start(p)
    for step in range(1, steps + 1):
        sweep.sweep(p, one, step)
        if step % p.check_every == 0:
            change.change(p, one, step)
        advance.advance(p, one, step)
        if one.ended != plate.RUNNING:
            break
    totals.totals(p, one, step)
    return one


class Plates:
    """Plates of one shape on a device, each phase a method.

    ``start`` are plates of the reference as they are before the first step.
    """

    def __init__(self, device, p, start, form="rows", items=7, parts=3):
        self.p, self.form, self.items, self.parts = p, form, items, parts
        self.count = len(start)
        macros = WORKLOAD.source(replace(p, variant=form)).macros
        files = [f"physics/laplace/{name}.cl" for name in ("sweep", "change", "advance", "totals")]
        self.program = Program(device, files, macros, WORKLOAD.lookups(p))
        mask = np.int32 if form == "seed" else np.uint8
        arrays = {
            "phi": np.stack([one.phi for one in start]),
            "next": np.full((len(start), p.rows, p.columns), np.nan, p.num),
            "free": np.stack([one.free for one in start]).astype(mask),
            "change": np.zeros(len(start), p.num),
            "ended": np.array([one.ended for one in start], np.int64),
            "sum": np.zeros(len(start)),
            "residual": np.zeros(len(start)),
            "sums": np.zeros((len(start), p.blocks)),
            "squares": np.zeros((len(start), p.blocks)),
            "value_table": WORKLOAD.parameters_of_copies(p, 0)["value_table"].repeat(self.count, 0),
        }
        self.arrays = {name: device.array(array) for name, array in arrays.items()}

    def _launch(self, kernel, groups, *names, **values):
        arguments = {name: self.arrays[name] for name in names}
        sizes = {"global_size": groups * self.items, "local_size": self.items}
        getattr(self.program, kernel)(**sizes, **arguments, **values)

    def sweep(self):
        groups = self.count * self.parts
        self._launch(
            "sweep", groups, "phi", "next", "free", "ended", "value_table", copies=self.count
        )

    def change(self, step):
        a = self.arrays
        self._launch("block_change", self.count * self.p.blocks, "phi", "next", changes=a["sums"])
        values = {"changes": a["sums"], "tick": step, "blocks": self.p.blocks}
        self._launch("change", self.count, "change", "ended", "value_table", **values)

    def advance(self):
        if self.form == "seed":
            self._launch("advance", self.parts, "phi", "next", copies=self.count)
        else:
            self.arrays["phi"], self.arrays["next"] = self.arrays["next"], self.arrays["phi"]

    def totals(self):
        names = ("sums", "squares")
        self._launch("block_totals", self.count * self.p.blocks, "phi", "free", *names)
        self._launch("totals", self.count, *names, "sum", "residual", blocks=self.p.blocks)

    def step(self, step):
        self.sweep()
        if step % self.p.check_every == 0:
            self.change(step)
        self.advance()

    def __getitem__(self, name):
        return self.arrays[name].get()


def random_plate(p, seed):
    """Return a plate with potentials and free cells that have no order."""
    generator = np.random.default_rng(seed)
    one = plate.start(p)
    one.phi = generator.normal(size=one.phi.shape).astype(p.num)
    one.free &= generator.random(one.free.shape) < 0.8
    return one


def with_values(p, **settings):
    """Return the parameters with other settings."""
    return replace(p, **settings)
