"""The product of two matrices: what is declared of it.

The rules are in ``reference_py/physics/matmul``, the kernels in ``kernels/physics/matmul``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_py.physics.matmul import fill, multiply
from reference_py.physics.matmul.parameters import Matrix, Parameters, entries
from societies.physics.matmul.config import MatmulConfig
from societies.workload import Field, Launch, Phase, Scratch, Source, Step, Workload, phase

if TYPE_CHECKING:
    import xarray as xr

    from societies.opencl import Device
    from societies.workload.protocol import Contents
    from societies.workload.report import RunReport

FOLDER = "physics/matmul"

SMALL = 16
"""Sides below which `auto` takes the form that has no blocks."""

STRETCH = 256
"""Entries of a random row that a work-item draws: skipping to them takes as long as some 50."""

TALL, VECTORS, WIDTH = 4, 2, 8
"""Of the form for CPUs: rows, vectors and entries of a vector that are kept in registers."""

BAND, CHUNK = 64, 256
"""Of the form for CPUs: rows of a workgroup, and steps that a panel stays in the first cache."""


class Matmul(Workload[MatmulConfig, Parameters]):
    """Products of matrices of the same sizes, side by side."""

    name = "matmul"
    summary = "the product of two matrices, in single or double precision, fused or not"
    config = MatmulConfig
    clock, copies, work = "repeat", "product", "fused operation"
    timed = True
    numpy = True

    def parameters(self, config: MatmulConfig) -> Parameters:
        """Return what the reference is handed of a product."""
        return config.parameters()

    def fitted(self, config: MatmulConfig, device: Device | None) -> MatmulConfig:
        """Return the configuration with the form that suits the device and the sizes."""
        if config.variant != "auto" or device is None:
            return config
        small = min(config.rows, config.inner, config.columns) < SMALL
        suited = "naive" if small else "vector" if device.kind == "cpu" else "blocked"
        return config.model_copy(update={"variant": suited})

    def sizes(self, p: Parameters) -> dict[str, int]:
        """Return the sides of the matrices."""
        return {"row": p.rows, "inner": p.inner, "column": p.columns}

    def fields(self, p: Parameters) -> Mapping[str, Field]:
        """Return the three matrices."""
        num, shapes = np.dtype(p.num).name, ((p.rows, p.inner), (p.inner, p.columns))

        def factor(dims: tuple[str, str], name: str, matrix: Matrix, shape: Any) -> Field:
            def made(p: Parameters) -> Any:
                return entries(p, matrix, shape)

            return Field(dims, num, "1", f"entries of {name}", initial=made, constant=True)

        return {
            "A": factor(("row", "inner"), "A", p.a, shapes[0]),
            "B": factor(("inner", "column"), "B", p.b, shapes[1]),
            "C": Field(("row", "column"), num, "1", "entries of C = A B"),
        }

    def phases(self, p: Parameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase."""
        stretches = (-(-p.inner // STRETCH), -(-p.columns // STRETCH))
        items = (copies * p.rows * stretches[0], copies * p.inner * stretches[1])
        fill_file = f"{FOLDER}/fill.cl"
        filled = {
            name: phase(fill_file, global_size=max(1, count))
            for name, matrix, count in zip(_fills(), (p.a, p.b), items, strict=True)
            if _is_random(matrix)
        }
        return {**filled, "multiply": Phase(tuple(_launches(p, copies)))}

    def schedule(self, p: Parameters, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the filling of random matrices, and then the product every time."""
        if tick:
            yield Step("multiply")
        else:
            for name, matrix in zip(_fills(), (p.a, p.b), strict=True):
                if _is_random(matrix):
                    yield Step(name)

    def source(self, p: Parameters) -> Source:
        """Return the macros of the kernels; other sizes build nothing."""
        forms = ("naive", "tiled", "blocked", "vector")
        macros: dict[str, Any] = {
            "NUM_IS_DOUBLE": p.precision == "double",
            "ARITHMETIC_IS_FUSED": p.arithmetic == "fused",
            **{f"FORM_IS_{form.upper()}": p.variant == form for form in forms},
        }
        if any(map(_is_random, (p.a, p.b))):
            macros["STRETCH"] = STRETCH
        if p.variant == "tiled":
            macros["TILE"] = p.tile
        if p.variant == "blocked":
            macros |= {"SIDE": p.side, "ROWS_ARE_ALIGNED": not (p.inner % 4 or p.columns % 4)}
        if p.variant == "vector":
            shape = {"TALL": TALL, "VECTORS": VECTORS, "WIDTH": WIDTH}
            macros |= {**shape, "BAND": BAND, "CHUNK": CHUNK}
        return Source(macros)

    def reference(self, p: Parameters) -> Mapping[str, Callable[..., None]]:
        """Return the twin of every phase."""
        twins = {"fill_a": fill.fill_a, "fill_b": fill.fill_b}
        drawn = zip(twins.items(), (p.a, p.b), strict=True)
        filled = {name: twin for (name, twin), matrix in drawn if _is_random(matrix)}
        return {**filled, "multiply": multiply.multiply}

    def work_done(self, config: MatmulConfig, ticks: int) -> float:
        """Return the products that are added up."""
        entries = config.rows * config.columns * config.inner
        return float(entries * ticks * self.count(config))

    def contents(self, config: MatmulConfig) -> Contents:
        """Return what the file holds, in addition the operations and their rate."""
        from societies.physics.matmul.results import WithRate

        return WithRate(self, config)

    def report(self, config: MatmulConfig, **facts: Any) -> RunReport:
        """Return the report of a run, with seconds and rate."""
        from societies.physics.matmul.results import RateReport

        return RateReport(self, config, **facts)

    def plan_rows(self, config: MatmulConfig, p: Parameters) -> list[tuple[str, str]]:
        """Return the form of the kernels and the operations of a product."""
        from societies.physics.matmul.results import operations

        return [("form", p.variant), ("operations", f"{operations(config):,.0f}")]

    def figure(self, results: xr.Dataset, *, product: int = 0) -> Any:
        """Draw how long each repetition took, and the product if it was recorded.

        Parameters
        ----------
        product : int
            Which product of the file, from 0.
        """
        from societies.physics.matmul.figure import figure

        return figure(results, product)


def _fills() -> tuple[str, str]:
    return "fill_a", "fill_b"


def _is_random(matrix: Matrix) -> bool:
    return isinstance(matrix, str) and matrix == "random"


def _launches(p: Parameters, copies: int) -> Iterator[Launch]:
    """Yield the launches of a product."""
    file = f"{FOLDER}/multiply.cl"
    if p.variant == "naive":
        yield Launch(file, global_size=copies * p.rows * p.columns)
    elif p.variant == "tiled":
        grid = (-(-p.columns // p.tile), copies * -(-p.rows // p.tile))
        yield Launch(file, grid, items=(p.tile, p.tile))
    elif p.variant == "blocked":
        block = 8 * p.side
        grid = (-(-p.columns // block), copies * -(-p.rows // block))
        yield Launch(file, grid, items=(p.side * p.side, 1))
    else:
        blocks, panels = -(-p.rows // TALL), -(-p.columns // (VECTORS * WIDTH))
        dtype = np.dtype(p.num).name
        shape = (copies * blocks * TALL, p.inner), (copies * panels * VECTORS * WIDTH, p.inner)
        packed = {
            name: Scratch(one, dtype, shared=name)
            for name, one in zip(("packed_a", "packed_b"), shape, strict=True)
        }
        yield Launch(file, copies * blocks, "pack_a", alone_on_cpu=True, scratch=packed)
        yield Launch(file, copies * panels, "pack_b", alone_on_cpu=True, scratch=packed)
        yield Launch(file, copies * -(-p.rows // BAND), items=1, scratch=packed)


WORKLOAD = Matmul()
