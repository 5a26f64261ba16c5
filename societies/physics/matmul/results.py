"""How fast was a product? Its operations, and how many of them a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from societies.output import ResultFile, open_results
from societies.workload.contents import SeriesAndDetail
from societies.workload.fields import Field, State
from societies.workload.report import RunReport

UNMEASURED = 0.0
"""Rate of a run whose repetitions took no time that could be measured."""


def operations(config: Any) -> int:
    """Return the operations of a product: a multiplication and an addition for each step."""
    return 2 * int(config.rows) * int(config.inner) * int(config.columns)


def rate(config: Any, seconds: Any) -> float:
    """Return thousand millions of operations in a second, of the repetition in the middle."""
    middle = float(np.median(seconds)) if len(seconds) else 0.0
    return operations(config) / middle / 1e9 if middle > 0 else UNMEASURED


class WithRate(SeriesAndDetail):
    """The file of a run: C if it is asked for, seconds, operations."""

    def __init__(self, workload: Any, config: Any) -> None:
        super().__init__(workload, config)
        if config.record.product:
            self._final: dict[str, Field] = {"C": workload.fields(self._p)["C"]}

    def attributes(self) -> dict[str, str | int]:
        """Return the title, sizes, and operations of a repetition."""
        config = self.config
        sizes = f"{config.rows} x {config.inner} x {config.columns}"
        title = f"matmul, {sizes}, {config.precision}, {config.arithmetic}"
        sides = {"rows": config.rows, "inner": config.inner, "columns": config.columns}
        return {"title": title, **sides, "flops": operations(config)}

    def finish(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Write the product if it is asked for."""
        super().finish(file, tick, state)


class RateReport(RunReport):
    """The report of a run, with seconds and rate."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The closing table of any run, how long a repetition took and how fast it was."""
        with open_results(self.path) as results:
            seconds = results["seconds"].values
        seconds = seconds[np.isfinite(seconds)]
        if not len(seconds):
            return super().rows
        speed = f"{rate(self.config, seconds):,.1f} GFLOP/s, the median of {len(seconds)}"
        return [
            *super().rows,
            ("seconds of a product", f"{float(np.median(seconds)):.6g}"),
            ("speed", speed),
        ]
