"""How long will a run of an economy take, roughly?

Speeds were measured with 48 agents and 48 resources on processors of two cores
(benchmarks/README.md) and on an H200 (benchmarks/results/economy-h200.csv), the reference's with 12
to 24 of each on one core. On CPUs the time is assumed to be proportional to the resources. Other
sizes and devices differ by a factor of a few, and a society with devices slows down as it invents:
the estimate distinguishes minutes from days, no more.
"""

from __future__ import annotations

from societies.economy.config import EconomyConfig
from societies.opencl import Device

CPU = {"no trade": 92_000.0, "none": 24_000.0, "tools": 4_700.0, "all": 1_700.0}
"""Agent-days per second of one core, with PoCL."""

REFERENCE = {"no trade": 1_200.0, "none": 400.0, "tools": 190.0, "all": 115.0}
"""Agent-days per second of the reference."""

GPU = {
    "no trade": (0.00017, 46e6),
    "none": (0.0013, 6.6e6),
    "tools": (0.0073, 885e3),
    "all": (0.020, 293e3),
}
"""Least seconds per day (the time for launches), and agent-days per second of a fully used GPU."""


def seconds(config: EconomyConfig, device: Device | None) -> float:
    """Return the estimated seconds of a run; ``device`` is None for the reference."""
    kind = config.devices if config.trade else "no trade"
    agents = config.agents * config.replicates
    size = config.resources / 48
    if device is None:
        return config.days * agents / REFERENCE[kind]
    if device.kind == "gpu":
        launches, rate = GPU[kind]
        return config.days * max(launches, agents / rate * max(1.0, size))
    return config.days * agents * size / (CPU[kind] * max(1, device.compute_units))
