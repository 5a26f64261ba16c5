"""Which keys does the YAML file of a plate have, with which units, ranges and meanings?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from reference_py.physics.laplace.parameters import Conductor, Parameters, rectangle
from societies.config.model import (
    Conflict,
    From0,
    From1,
    Interval,
    ListOf,
    Section,
    WorkloadConfig,
    initial,
    key,
    shape,
    value,
)
from societies.errors import ConfigError
from societies.physics import PRECISION, Precision
from societies.physics.laplace.image import bright_cells, remarks
from societies.workload.declare.config import (
    INTERVENTIONS,
    MOST_TICKS,
    InterventionConfig,
    Numbers,
    changed_after,
    changed_copies,
    checkpoints,
)
from societies.workload.declare.naming import parameters_of
from societies.workload.running.points import intervention_conflicts

LARGEST_SIDE = 46_340  # cells of a plate are counted in 32 bits
DEPTH = {"tiled": 1, "deep": 8}
"""Default number of steps per launch, by form."""
MUCH = 1 << 30
"""Size of recorded plates, in bytes, from which a warning says that the file is large."""
LARGEST_POTENTIAL = 1e30  # sums of four cells are finite in single precision
Index = Annotated[int, Field(ge=0, lt=LARGEST_SIDE)]
Potential = Annotated[float, Field(ge=-LARGEST_POTENTIAL, le=LARGEST_POTENTIAL, strict=False)]


def most_steps(shape: tuple[int, int], ratio: float, spread: float, tolerance: float) -> float:
    """Return after how many steps a plate meets its tolerance at the latest.

    A step is linear: its change is a symmetric matrix times the change of the step before. On a
    plate with no held cells except its border, the largest eigenvalue of Jacobi's rule is

        (cos(pi / (rows - 1)) + cos(pi / (columns - 1))) / 2,

    and held cells inside only make it smaller (interlacing). So in every step the Euclidean norm of
    the changes falls by at least that factor. No cell changes by more than the norm; in the first
    step no cell changes by more than the largest difference of potentials.

    This holds in exact arithmetic. A tolerance near the rounding of the numbers may never be met,
    and the plate ends after this number of steps all the same.

    Parameters
    ----------
    shape : rows and columns
    ratio : ratio of the heat equation; 1/4 is Jacobi's rule
    spread : largest difference of potentials
    tolerance : above 0
    """
    rows, columns = shape
    first = spread * math.sqrt(rows * columns)
    if first <= tolerance:
        return 1.0
    # 1 - cos x loses its digits on large plates; 2 sin(x / 2)^2 does not.
    slow = math.sin(math.pi / (2 * (rows - 1))) ** 2 + math.sin(math.pi / (2 * (columns - 1))) ** 2
    # The eigenvalues of heat lie between 1 - 4 ratio (2 - slow), at least -(1 - slow), and
    # 1 - 4 ratio slow. On 3 x 3 cells one step settles the only free cell: slow is 1.
    slow = min(4 * ratio * slow, 2 - 4 * ratio * (2 - slow), 1 - 1e-12)
    return 1 - math.log(first / tolerance) / math.log1p(-slow)


class ConductorConfig(Section):
    """A rectangle of cells that are held at a potential."""

    rows: ListOf[Index] = key(
        ..., "First and last row", "index", min_length=2, max_length=2, examples=[[1, 1]]
    )
    columns: ListOf[Index] = key(
        ..., "First and last column", "index", min_length=2, max_length=2, examples=[[1, 1]]
    )
    value: Potential = initial(1.0, "Potential", "V")


class LaplaceIntervention(InterventionConfig):
    """Values of plates that are changed, for good or for some time."""

    step: int = changed_after("step")
    plates: Numbers = changed_copies("plates")


class LaplaceRecord(Section):
    """What is recorded in the file, and how often."""

    series: int = key(50, "Record the change every this many steps", "step", ge=1)
    detail: int = key(0, "Record the plate every this many steps; 0: never", "step", ge=0)
    checkpoint: Interval = checkpoints("step", "the plate", 1000)


class LaplaceConfig(WorkloadConfig):
    """A plate whose border and conductors are held at potentials."""

    workload: Literal["laplace"] = key("laplace", "What the file configures")
    side: int = shape(200, "Rows and columns of a square plate", "cells", ge=3, le=LARGEST_SIDE)
    rows: int | None = shape(None, "Rows, if not side", "cells", ge=3, le=LARGEST_SIDE)
    columns: int | None = shape(None, "Columns, if not side", "cells", ge=3, le=LARGEST_SIDE)
    conductor: Literal["seed", "none"] | ListOf[ConductorConfig] = key(
        "seed",
        "What is held at a potential inside: the four cells in the middle at 1, nothing, or a list "
        "of rectangles, of which later ones cover earlier ones",
    )
    image: str | None = key(
        None,
        "Picture of the plate's size whose bright pixels (grey above 127 of 255) are held at 1",
    )
    border: Potential | ListOf[Potential] = initial(
        0.0, "Potential of the border; four numbers: top and bottom row, left and right column", "V"
    )
    method: Literal["jacobi", "heat", "sor"] = shape(
        "jacobi",
        "Each cell becomes the mean of its neighbours, takes heat from them, or goes beyond their "
        "mean (successive over-relaxation of red and then of black cells), which takes the fewest "
        "steps",
    )
    ratio: float = value(
        0.25, "Of heat: diffusivity times a step's time over a cell's area", "1", gt=0, le=0.25
    )
    omega: float | None = value(
        None,
        "Of sor: how far a cell goes towards the mean of its neighbours and beyond; default: the "
        "best for a plate without conductors, 2 / (1 + sin(pi / (n - 1))) of n x n cells",
        "1",
        gt=0,
        lt=2,
    )
    steps: int | None = key(
        None, "Most steps; default: as many as the tolerance can take", "step", ge=1, le=MOST_TICKS
    )
    tolerance: float | None = value(
        None,
        "End when a step changes no cell by more. With jacobi on n x n cells the solution is then "
        "about 2 (n / pi)^2 times as far away",
        "V",
        gt=0,
    )
    check_every: From1 = shape(50, "Steps from one look at the tolerance to the next", "step")
    precision: Precision = PRECISION
    variant: Literal["rows", "seed", "tiled", "deep"] = shape(
        "rows",
        "Form of the kernels, with the same results: bands of rows, the original's cells, tiles in "
        "local memory, or several steps of such tiles in one launch",
    )
    depth: int | None = shape(
        None,
        "Most steps of a launch of the form deep, 12 in double; default: 8, which suits CPUs and "
        "large plates; 24 suits a GPU where the plate is small",
        "step",
        ge=1,
        le=24,
    )
    replicates: From1 = key(1, "Plates that are solved in parallel", "plates")
    first_plate: From0 = key(0, "Number of the first plate", "index")
    interventions: ListOf[LaplaceIntervention] = INTERVENTIONS
    record: LaplaceRecord = key(LaplaceRecord, "What is recorded in the file, and how often")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the plate."""
        return self.rows or self.side, self.columns or self.side

    @property
    def relaxation(self) -> float:
        """The factor of over-relaxation, to 12 digits: mathematical libraries agree on these."""
        if self.omega is not None:
            return self.omega
        rows, columns = self.shape
        slow = (math.cos(math.pi / (rows - 1)) + math.cos(math.pi / (columns - 1))) / 2
        return float(f"{2 / (1 + math.sqrt(1 - slow * slow)):.12g}")

    @property
    def most_steps(self) -> int:
        """Number of steps after which the tolerance is met and checked, at most `MOST_TICKS`."""
        if self.tolerance is None:
            return MOST_TICKS
        ratio = self.ratio if self.method == "heat" else 0.25
        steps = min(most_steps(self.shape, ratio, self._spread, self.tolerance), MOST_TICKS)
        return min(math.ceil(steps / self.check_every) * self.check_every, MOST_TICKS)

    @property
    def last_step(self) -> int:
        """Largest number of steps: ``steps``, or else the bound for the tolerance."""
        return self.most_steps if self.steps is None else self.steps

    @property
    def rectangles(self) -> tuple[ConductorConfig, ...]:
        """The conductors except those of the picture."""
        if isinstance(self.conductor, tuple):
            return self.conductor
        if self.conductor == "none":
            return ()
        row, column = (side // 2 for side in self.shape)
        return (ConductorConfig(rows=(row - 1, row), columns=(column - 1, column), value=1.0),)

    @property
    def held(self) -> list[float]:
        """All potentials before the first step: 0 for free cells, and those of held cells."""
        border = self.border if isinstance(self.border, tuple) else (self.border,)
        bright = [] if self.image is None else [1.0]
        return [0.0, *border, *(one.value for one in self.rectangles), *bright]

    @property
    def _spread(self) -> float:
        """Largest difference of potentials."""
        return max(self.held) - min(self.held)

    def parameters(self) -> Parameters:
        """Return the parameters of a plate that the reference takes."""
        rows, columns = self.shape
        conductors = []
        for one in self.rectangles:
            (top, bottom), (left, right) = one.rows, one.columns
            corners = (top, left), (bottom, right)
            conductors.append(rectangle(rows, columns, *corners, one.value))
        if self.image is not None:
            conductors.append(Conductor(bright_cells(self.image, self.shape), 1.0))
        return parameters_of(
            Parameters,
            self,
            rows=rows,
            columns=columns,
            border=self.border if isinstance(self.border, tuple) else (self.border,) * 4,
            conductors=tuple(conductors),
            tolerance=-1.0 if self.tolerance is None else self.tolerance,
            series_every=self.record.series,
            omega=self.relaxation,
            last=self.last_step,
            detail_every=self.record.detail,
            depth=self.depth or DEPTH.get(self.variant, 1),
        )

    def inputs(self) -> dict[str, str]:
        """Return the file of the picture, if one is given."""
        return {} if self.image is None else {"image": self.image}

    def conflicts(self) -> Iterator[Conflict]:
        """Yield contradictory keys: no end, conductors on the border, a tolerance too small, ..."""
        yield from intervention_conflicts(self)
        rows, columns = self.shape
        if self.steps is None and self.tolerance is None:
            yield Conflict(("steps",), "neither steps nor a tolerance is given: it would not end")
        if self.conductor == "seed" and min(rows, columns) < 6:
            small = (
                f"the four cells in the middle need 6 x 6 cells; the plate has {rows} x {columns}"
            )
            yield Conflict(("conductor",), small, (("side",), ("rows",), ("columns",)))
        if self.image is not None:
            if self.conductor == "seed":
                message = "the four cells in the middle would be held too; set conductor: none"
                yield Conflict(("image",), message, (("conductor",),))
            try:
                bright_cells(self.image, self.shape)
            except ConfigError as error:
                yield Conflict(("image",), str(error), (("side",), ("rows",), ("columns",)))
        if self.omega is not None and self.method != "sor":
            yield Conflict(("omega",), f"{self.method} has no omega", (("method",),))
        if self.method == "sor" and self.variant != "rows":
            message = f"sor has no form {self.variant}; choose rows"
            yield Conflict(("variant",), message, (("method",),))
        if self.depth is not None and self.variant != "deep":
            message = f"the form {self.variant} has no depth; only deep has one"
            yield Conflict(("depth",), message, (("variant",),))
        if self.depth is not None and self.depth > 12 and self.precision == "double":
            message = f"{self.depth} steps are more than the 12 for which tiles in double have room"
            yield Conflict(("depth",), message, (("precision",),))
        if isinstance(self.border, tuple) and len(self.border) != 4:
            yield Conflict(("border",), f"one number or four; these are {len(self.border)}")
        numbers = np.finfo(np.float32 if self.precision == "single" else np.float64)
        least, most = float(numbers.tiny), float(numbers.max)
        if self.tolerance is not None and self.tolerance < least:
            message = (
                f"{self.tolerance} is below {least:.3g}, the least that {self.precision} tells "
                "from 0"
            )
            yield Conflict(("tolerance",), message)
        if self.tolerance is not None and self.tolerance > most:
            message = f"{self.tolerance} is above {most:.3g}, the most that {self.precision} holds"
            yield Conflict(("tolerance",), message)
        for number, one in enumerate(self.conductor if isinstance(self.conductor, tuple) else ()):
            for name, (first, last), length in (
                ("rows", one.rows, rows),
                ("columns", one.columns, columns),
            ):
                if not 1 <= first <= last <= length - 2:
                    yield Conflict(
                        ("conductor", number, name),
                        f"{first} to {last} are not inside the border: 1 to {length - 2}",
                        (("side",), (name,)),
                    )

    def warnings(self) -> Iterator[Conflict]:
        """Yield parts of the picture that are ignored, and a file that will be very large."""
        for remark in remarks(self.image, self.shape) if self.image is not None else ():
            yield Conflict(("image",), remark)
        if self.steps is None and self.record.detail:
            rows, columns = self.shape
            steps = self.most_steps
            nbytes = steps // self.record.detail * rows * columns
            nbytes *= 4 if self.precision == "single" else 8
            if nbytes > MUCH:
                yield Conflict(
                    ("record", "detail"),
                    f"the file is made for {steps} steps, the most that this tolerance can take: "
                    f"{nbytes / MUCH:,.0f} GiB of recorded plates; set steps, or record fewer",
                )
