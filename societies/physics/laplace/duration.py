"""How long will a run of plates take, roughly?

Speeds were measured with plates of 32, 200 and 1000 cells a side on a processor of two cores that
had other work too (benchmarks/results/laplace-2-cores.csv). Other processors differ by a factor of
a few: the estimate tells seconds from hours, no more. Nothing was measured on GPUs.
"""

from __future__ import annotations

from societies.opencl import Device
from societies.physics.laplace.config import LaplaceConfig

CPU = {"single": 1.2e9, "double": 0.8e9}
"""Cell-steps per second of one core, with PoCL."""

SEED_FORM = 0.2e9
"""The same of the form ``seed``."""

LAUNCHES = 15e-6
"""Seconds of a step however small the plate is, for its launches."""

REFERENCE, CALLS = 80e6, 20e-6
"""Cell-steps per second of the reference, and its seconds of a step however small the plate is."""


def seconds(config: LaplaceConfig, steps: int, device: Device | None) -> float | None:
    """Return how long so many steps take, roughly, or those that the tolerance takes at most."""
    rows, columns = config.shape
    cells, steps = rows * columns, min(steps, config.most_steps)
    if device is None:
        return steps * (CALLS + cells / REFERENCE)
    if device.kind != "cpu":
        return None
    speed = SEED_FORM if config.variant == "seed" else CPU[config.precision]
    return steps * (LAUNCHES + cells / (speed * max(1, device.compute_units)))
