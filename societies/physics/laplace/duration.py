"""How many seconds will a run of plates take, approximately?

Speeds were measured with plates of 32, 200 and 1000 cells a side on a processor with two cores that
also ran other programs (benchmarks/results/laplace-2-cores.csv). Other processors are some times
faster or slower, so the estimate only tells seconds from hours. GPUs were not measured.
"""

from __future__ import annotations

from societies.opencl import Device
from societies.physics.laplace.config import LaplaceConfig

CPU = {"single": 1.2e9, "double": 0.8e9}
"""Cell-steps per second of one core, with PoCL."""

SEED_FORM = 0.2e9
"""Cell-steps per second of one core in the form ``seed``."""

LAUNCHES = 15e-6
"""Seconds of a step for its launches, for plates of any size."""

REFERENCE, CALLS = 80e6, 20e-6
"""Cell-steps per second of the reference, and its seconds of a step for plates of any size."""


def seconds(config: LaplaceConfig, steps: int, device: Device | None) -> float | None:
    """Return the estimated seconds of ``steps`` steps, at most those that the tolerance needs."""
    rows, columns = config.shape
    cells, steps = rows * columns, min(steps, config.most_steps)
    if device is None:
        return steps * (CALLS + cells / REFERENCE)
    if device.kind != "cpu":
        return None
    speed = SEED_FORM if config.variant == "seed" else CPU[config.precision]
    return steps * (LAUNCHES + cells / (speed * max(1, device.compute_units)))
