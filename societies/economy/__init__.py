"""What does an economy declare? Self-interested agents that extract, barter, invent and consume."""

from societies.economy.config import EconomyConfig
from societies.economy.workload import WORKLOAD

__all__ = ["WORKLOAD", "EconomyConfig"]
