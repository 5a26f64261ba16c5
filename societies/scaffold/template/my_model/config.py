"""Which keys does the model's YAML file have, with which units, ranges and meanings?"""

from typing import Literal

from societies.config.model import initial, shape, value
from societies.workload.declare.config import DailyConfig


class MyModelConfig(DailyConfig):
    """The Boltzmann wealth model; days, seed, replicates and record are those of every model."""

    workload: Literal["my_model"]
    # The kernels keep 8 bytes for each agent in local memory, of which there are 32 KiB.
    agents: int = shape(500, "Number of agents", "agents", ge=1, le=3500)
    money: int = initial(100, "Money of every agent at the start", "units", ge=1, le=100_000)
    amount: int = value(10, "What one agent pays another when they meet", "units", ge=1, le=100_000)
