"""What does the workload that multiplies two matrices declare?

The rules are in ``reference_py/physics/matmul``, the kernels in ``kernels/physics/matmul``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_py.physics.matmul.parameters import Matrix, Parameters, entries
from societies.physics.matmul import figure
from societies.physics.matmul.config import MatmulConfig
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

if TYPE_CHECKING:
    from societies.opencl import Device

FOLDER = "physics/matmul"

SMALL = 16
"""Side of a matrix below which `auto` selects the form without blocks."""

STRETCH = 256
"""Random entries that a work-item draws; skipping ahead to them costs as much as some 50."""


@dataclass(frozen=True)
class Registers:
    """Blocking of the forms for CPUs: which parts stay in registers and caches.

    Attributes
    ----------
    tall, vectors, width : rows, vectors of a row, and entries of a vector
    band : rows of a workgroup, a multiple of ``tall``
    stripe : panels of a workgroup
    chunk : steps for which a panel stays in the L1 cache, and the rows of a band in the L2 cache
    """

    tall: int
    vectors: int
    width: int
    band: int
    stripe: int
    chunk: int

    @property
    def panel(self) -> int:
        """Columns of a panel."""
        return self.vectors * self.width

    @property
    def macros(self) -> dict[str, int]:
        """The macros of the kernels."""
        return {name.upper(): number for name, number in vars(self).items()}


REGISTERS = {"vector": Registers(4, 3, 8, 256, 44, 256), "wide": Registers(6, 4, 16, 96, 16, 512)}
"""Blocking by form, in single precision, for 16 registers of 256 bits and 32 of 512 bits."""


@dataclass(frozen=True)
class Warps:
    """Blocking of the form for GPUs: which part of C a work-item, a warp and a workgroup have.

    Attributes
    ----------
    tall, wide : rows and columns of a work-item, multiples of 4
    lanes_y, lanes_x : work-items of a warp, down and across
    warps_y, warps_x : warps of a workgroup
    depth : steps whose factors are in local memory at a time, a multiple of 4
    """

    tall: int
    wide: int
    lanes_y: int
    lanes_x: int
    warps_y: int
    warps_x: int
    depth: int

    @property
    def items(self) -> int:
        """Work-items of a workgroup."""
        return self.lanes_y * self.lanes_x * self.warps_y * self.warps_x

    @property
    def macros(self) -> dict[str, int]:
        """The macros of the kernel."""
        return {name.upper(): number for name, number in vars(self).items()}

    def groups(self, p: Parameters) -> tuple[int, int]:
        """Return the workgroups of a product, across and down."""
        height = self.tall * self.lanes_y * self.warps_y
        width = self.wide * self.lanes_x * self.warps_x
        return -(-p.columns // width), -(-p.rows // height)


LARGE = Warps(8, 16, 8, 4, 2, 2, 8)
"""Blocks of 128 x 128 in single precision: two workgroups of four warps on a multiprocessor."""

SMALL_BLOCKS = {"single": Warps(4, 8, 8, 4, 2, 2, 16), "double": Warps(8, 8, 8, 4, 1, 2, 4)}
"""Blocks of 64 x 64, if there are fewer than `ENOUGH` large ones, and in double precision."""

ENOUGH = 100
"""Least number of large blocks: 64, of a side of 1024, leave half of an H200 idle, 256 do not."""

FILLS = ("fill_a", "fill_b")
"""Phases that fill the matrices A and B with random numbers."""

GROUPS, LEAST_BAND = 16, 64
"""Bands are halved, down to `LEAST_BAND` rows, until a product has `GROUPS` workgroups."""

WIDE = re.compile(r"avx512|znver[45]|icelake|cascadelake|tigerlake|sapphirerapids", re.IGNORECASE)
"""Pattern in the versions of CPU devices whose compilers use registers of 512 bits."""


def registers(p: Parameters) -> Registers:
    """Return the blocking of one of the forms for CPUs."""
    one = REGISTERS[p.variant]
    if p.precision == "double":
        one = replace(one, width=one.width // 2)
    stripes = -(-p.columns // (one.panel * one.stripe))
    while one.band >= 2 * LEAST_BAND and stripes * -(-p.rows // one.band) < GROUPS:
        one = replace(one, band=one.band // 2)
    return one


def warps(p: Parameters) -> Warps:
    """Return the blocking of the form for GPUs."""
    across, down = LARGE.groups(p)
    large = p.precision == "single" and across * down >= ENOUGH
    return LARGE if large else SMALL_BLOCKS[p.precision]


class Matmul(Workload[MatmulConfig, Parameters]):
    """Products of matrices of the same sizes that are computed in parallel."""

    name = "matmul"
    summary = "the product of two matrices, in single or double precision, fused or not"
    config = MatmulConfig
    clock, copies, work = "repeat", "product", "fused operation"
    timed = True
    numpy, twins = True, "reference_py.physics.matmul"
    figure = staticmethod(figure.figure)
    contents_class = "societies.physics.matmul.results:WithRate"
    report_class = "societies.physics.matmul.results:RateReport"

    def fitted(self, config: MatmulConfig, device: Device | None) -> MatmulConfig:
        """Return the configuration with the form that suits the device and the sizes."""
        if config.variant != "auto" or device is None:
            return config
        small = min(config.rows, config.inner, config.columns) < SMALL
        on_cpu = "wide" if WIDE.search(f"{device.version} {device.name}") else "vector"
        suited = "naive" if small else on_cpu if device.kind == "cpu" else "blocked"
        return config.model_copy(update={"variant": suited})

    def sizes(self, p: Parameters) -> dict[str, int]:
        """Return the lengths of the sides of the matrices."""
        return {"row": p.rows, "inner": p.inner, "column": p.columns}

    def fields(self, p: Parameters) -> Mapping[str, Field]:
        """Return the three matrices."""
        num, shapes = np.dtype(p.num).name, ((p.rows, p.inner), (p.inner, p.columns))

        def factor(dims: tuple[str, str], name: str, matrix: Matrix, shape: Any) -> Field:
            made = lambda p: entries(p, matrix, shape)  # noqa: E731
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
            for name, matrix, count in zip(FILLS, (p.a, p.b), items, strict=True)
            if _is_random(matrix)
        }
        return {**filled, "multiply": Phase(tuple(_launches(p, copies)))}

    def schedule(self, p: Parameters, tick: int, seen: Any) -> Iterator[Step]:
        """Yield at tick 0 the filling of random matrices, at every other tick the product."""
        if tick:
            yield Step("multiply")
        else:
            for name, matrix in zip(FILLS, (p.a, p.b), strict=True):
                if _is_random(matrix):
                    yield Step(name)

    def source(self, p: Parameters) -> Source:
        """Return the macros of the kernels; with other sizes only those of bands may differ."""
        macros: dict[str, Any] = {
            "NUM_IS_DOUBLE": p.precision == "double",
            **self.macros(p, "arithmetic", "variant"),
        }
        if any(map(_is_random, (p.a, p.b))):
            macros["STRETCH"] = STRETCH
        if p.variant == "tiled":
            macros |= self.macros(p, "tile")
        if p.variant == "blocked":
            macros |= {**warps(p).macros, "ROWS_ARE_ALIGNED": _are_aligned(p)}
        if p.variant in REGISTERS:
            macros |= registers(p).macros
        return Source(macros)

    def work_done(self, config: MatmulConfig, ticks: int) -> float:
        """Return the number of multiplications."""
        entries = config.rows * config.columns * config.inner
        return float(entries * ticks * self.count(config))

    def plan_rows(self, config: MatmulConfig, p: Parameters) -> list[tuple[str, str]]:
        """Return the form of the kernels and the operations of a product."""
        from societies.physics.matmul.results import operations

        return [("form", p.variant), ("operations", f"{operations(config):,.0f}")]


def _is_random(matrix: Matrix) -> bool:
    return isinstance(matrix, str) and matrix == "random"


def _are_aligned(p: Parameters) -> bool:
    """Return whether the rows of A and B are whole vectors of four entries."""
    return not (p.inner % 4 or p.columns % 4)


def _launches(p: Parameters, copies: int) -> Iterator[Launch]:
    """Yield the launches of a product."""
    file = f"{FOLDER}/multiply.cl"
    if p.variant == "naive":
        yield Launch(file, global_size=copies * p.rows * p.columns)
    elif p.variant == "tiled":
        grid = (-(-p.columns // p.tile), copies * -(-p.rows // p.tile))
        yield Launch(file, grid, items=(p.tile, p.tile))
    elif p.variant == "blocked":
        scratch = {}
        if not _are_aligned(p):
            inner, columns = (-(-length // 4) * 4 for length in (p.inner, p.columns))
            shapes = {"a": (copies * p.rows, inner), "b": (copies * inner, columns)}
            dtype = np.dtype(p.num).name
            scratch = {
                f"aligned_{name}": Scratch(shape, dtype, shared=f"aligned_{name}")
                for name, shape in shapes.items()
            }
            for name, (height, width) in shapes.items():
                yield Launch(file, max(1, height * width), f"align_{name}", scratch=scratch)
        blocking = warps(p)
        across, down = blocking.groups(p)
        yield Launch(file, (across, copies * down), items=(blocking.items, 1), scratch=scratch)
    else:
        sizes, dtype = registers(p), np.dtype(p.num).name
        blocks, panels = -(-p.rows // sizes.tall), -(-p.columns // sizes.panel)
        shape = (copies * blocks * sizes.tall, p.inner), (copies * panels * sizes.panel, p.inner)
        packed = {
            name: Scratch(one, dtype, shared=name)
            for name, one in zip(("packed_a", "packed_b"), shape, strict=True)
        }
        yield Launch(file, copies * blocks, "pack_a", alone_on_cpu=True, scratch=packed)
        yield Launch(file, copies * panels, "pack_b", alone_on_cpu=True, scratch=packed)
        groups = copies * -(-p.rows // sizes.band) * -(-panels // sizes.stripe)
        yield Launch(file, groups, items=1, scratch=packed)


WORKLOAD = Matmul()
