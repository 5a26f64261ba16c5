"""Which keys does the YAML file of a product have, with which units, ranges and meanings?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from reference_py.physics.matmul.parameters import Matrix, Parameters
from reference_py.primitives.rng import RANDOM_STREAMS
from societies.config.model import Conflict, Interval, Section, WorkloadConfig, accepts, key, shape
from societies.errors import ConfigError, override
from societies.physics import PRECISION, Precision
from societies.physics.matmul.matrices import entries_of, file_of, overflows, shape_of
from societies.workload.declare.config import LARGEST_SEED, checkpoints
from societies.workload.declare.naming import parameters_of

LARGEST_SIDE = 1 << 20
LARGEST_MATRIX = 1 << 34
"""Most entries of a matrix; kernels count entries of a row in 32 bits, of a matrix in 64."""

DRAWN = ("random", "identity", "ones")


class MatmulRecord(Section):
    """What is recorded in the file, and how often."""

    product: bool = key(False, "Write the product C")
    checkpoint: Interval = checkpoints("repeat", "the product", "never")


class MatmulConfig(WorkloadConfig):
    """A product C = A B."""

    workload: Literal["matmul"] = key("matmul", "What the file configures")
    rows: int = shape(1024, "Rows of A and of C", "entries", ge=1, le=LARGEST_SIDE)
    inner: int = shape(
        1024, "Columns of A and rows of B; with 0, C is 0", "entries", ge=0, le=LARGEST_SIDE
    )
    columns: int = shape(1024, "Columns of B and of C", "entries", ge=1, le=LARGEST_SIDE)
    a: str = shape(
        "random",
        "What is in A: random, identity, ones, or a file: NAME.npy, or NAME.h5:DATASET",
    )
    b: str = shape("random", "The same of B")
    seed: int = key(
        1, "Seed of random matrices: the same seed, the same bits", "1", ge=0, le=LARGEST_SEED
    )
    precision: Precision = PRECISION
    arithmetic: Literal["fused", "separate"] = shape(
        "fused",
        "Whether a product and its addition are rounded once, together, or each by itself; each "
        "has bits of its own",
    )
    variant: Literal["auto", "naive", "tiled", "blocked", "vector", "wide"] = shape(
        "auto",
        "Form of the kernels, with the same results: an entry for each work-item, tiles in local "
        "memory, blocks in registers for GPUs, vectors of 256 or 512 bits for CPUs; auto: as suits "
        "device and sizes",
    )
    tile: int = shape(16, "Of tiled: side of a tile", "entries", ge=1, le=16)
    repeats: int = key(10, "How often the product is computed, to time it", "1", ge=1, le=10**6)
    record: MatmulRecord = key(MatmulRecord, "What is recorded in the file, and how often")

    def parameters(self) -> Parameters:
        """Return the parameters that the reference takes."""
        # `auto` without a device (`fitted` chooses for a device): every device can run naive.
        variant = "naive" if self.variant == "auto" else self.variant
        a, b = _matrix(self.a), _matrix(self.b)
        return parameters_of(Parameters, self, a=a, b=b, variant=variant)

    def inputs(self) -> dict[str, str]:
        """Return the files of matrices, if any are given."""
        given = {"a": self.a, "b": self.b}
        return {name: file_of(text) for name, text in given.items() if text not in DRAWN}

    def conflicts(self) -> Iterator[Conflict]:
        """Yield files without a matrix of the right size, and sizes beyond all memory."""
        of_a, of_b = ("rows", "inner"), ("inner", "columns")
        for name, sides in (("a", of_a), ("b", of_b)):
            text = getattr(self, name)
            rows, columns = (getattr(self, side) for side in sides)
            needs = tuple((side,) for side in sides)
            if rows * columns > LARGEST_MATRIX:
                message = f"{rows} x {columns} entries of {name.upper()} are more than 2^34"
                yield Conflict((sides[0],), message, needs)
            if text in DRAWN:
                continue
            if not text:
                yield Conflict((name,), f"expected one of {', '.join(DRAWN)}, or a file")
                continue
            try:
                shape = shape_of(text)
                if shape != (rows, columns):
                    message = (
                        f"{text} has {shape[0]} x {shape[1]} entries, {name.upper()} "
                        f"{rows} x {columns} ({sides[0]} x {sides[1]})"
                    )
                    wrong = [
                        f"{side}={length}"
                        for side, length in zip(sides, shape, strict=True)
                        if getattr(self, side) != length
                    ]
                    if all(accepts(type(self), *one) for one in zip(sides, shape, strict=True)):
                        message += f"; {' '.join(map(override, wrong))} takes all of it"
                    yield Conflict((name,), message, needs)
                elif overflows(entries_of(text)) and self.precision == "single":
                    message = f"{text} holds numbers beyond 3.4e38; set precision: double"
                    yield Conflict((name,), message, (("precision",),))
            except ConfigError as error:
                yield Conflict((name,), str(error), needs)
        if self.rows * self.columns > LARGEST_MATRIX:
            message = f"{self.rows} x {self.columns} entries of C are more than 2^34"
            yield Conflict(("rows",), message, (("columns",),))
        if 2 * max(self.rows, self.inner) > RANDOM_STREAMS:
            message = f"more rows than random streams ({RANDOM_STREAMS})"
            yield Conflict(("rows",), message, (("inner",),))


def _matrix(text: str) -> Matrix:
    found: Matrix = text if text in DRAWN else np.asarray(entries_of(text))
    return found
