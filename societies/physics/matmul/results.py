"""How fast was a product, in operations per second?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.output import ResultFile, Variable, open_results
from societies.workload.declare.fields import Field
from societies.workload.declare.protocol import Setup
from societies.workload.running.contents import SeriesAndDetail
from societies.workload.running.measured import DIFFERS
from societies.workload.running.report import RunReport
from societies.workload.running.written import Block

RATE = "gflops"
"""Variable of the file with the rate of each repeat (attributes are written before the run)."""

GIGA = 1e9

UNMEASURED = 0.0
"""Rate of a repeat whose time was too short to be measured."""


def operations(config: Any) -> int:
    """Return the operations of a product: a multiplication and an addition for each step."""
    return 2 * int(config.rows) * int(config.inner) * int(config.columns)


def rates(config: Any, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rate of each repeat, in 10^9 operations per second."""
    rates = np.full(len(seconds), UNMEASURED)
    np.divide(operations(config) / GIGA, seconds, out=rates, where=seconds > 0)
    return rates


class WithRate(SeriesAndDetail):
    """Contents of the file of a run: C if requested, seconds, operations and their rate."""

    def __init__(self, setup: Setup[Any, Any]) -> None:
        super().__init__(setup)
        if setup.config.record.product:
            self._final: dict[str, Field] = {"C": setup.fields["C"]}

    def variables(self) -> list[Variable]:
        """Return the variables of any timed run, and the rate."""
        meaning = f"operations in a second, products and sums, in thousand millions{DIFFERS}"
        rate = Variable(RATE, (self.workload.clock,), "float64", "GFLOP/s", meaning)
        return [*super().variables(), rate]

    def attributes(self) -> dict[str, str | int]:
        """Return the title, sizes, and operations of a repetition."""
        config = self.config
        sizes = f"{config.rows} x {config.inner} x {config.columns}"
        title = f"matmul, {sizes}, {config.precision}, {config.arithmetic}"
        sides = {"rows": config.rows, "inner": config.inner, "columns": config.columns}
        return {"title": title, **sides, "flops": operations(config)}

    def write(self, file: ResultFile, block: Block) -> None:
        """Write the measurements of the repeats of a block, and their rates."""
        super().write(file, block)
        found = rates(self.config, block.measured["seconds"])
        file.write(RATE, found, **{self.workload.clock: slice(block.first - 1, block.last)})


class RateReport(RunReport):
    """The report of a run, with seconds and rate.

    Some compilers finish a kernel at its first launch, so the first repeat is left out if there are
    others.
    """

    @property
    def work_per_second(self) -> float:
        """Multiplications per second of the median repeat, without building and reading back."""
        seconds, _ = self._middle()
        steps = self.workload.work_done(self.config, 1)
        return steps / seconds if seconds > 0 else super().work_per_second

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The closing table of every run, with seconds and speed of a product."""
        seconds, of = self._middle()
        if not seconds > 0:
            return super().rows
        rate = operations(self.config) / seconds / GIGA
        said = f"{rate:,.1f}" if rate >= 1 else f"{rate:.3g}"
        return [
            *super().rows,
            ("seconds of a product", f"{seconds:.6g}"),
            ("speed", f"{said} GFLOP/s, {of}"),
        ]

    def _middle(self) -> tuple[float, str]:
        """Return the median seconds of a repeat, and a description of the repeats included."""
        with open_results(self.path) as results:
            seconds = results["seconds"].values
        later = seconds[1:][np.isfinite(seconds[1:])]
        if len(later):
            return float(np.median(later)), f"the median of {len(later)}, without the first"
        first = float(seconds[0])
        return first, "of the only repeat, for which a compiler may have finished the kernel"
