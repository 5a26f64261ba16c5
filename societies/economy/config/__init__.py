"""What can be configured of an economy, and which keys contradict each other?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from societies.config.model import Conflict
from societies.economy.config.conflicts import (
    economy_conflicts,
    economy_warnings,
    too_large_in_turn,
)
from societies.economy.config.keys import EconomyKeys


class EconomyConfig(EconomyKeys):
    """A society of self-interested agents that extract, barter and consume resources."""

    def conflicts(self) -> Iterator[Conflict]:
        """Yield every contradiction between keys that are valid each by itself."""
        return economy_conflicts(self)

    def conflicts_in_turn(self, configs: Sequence[Any]) -> Iterator[Conflict]:
        """Yield what becomes too large if a society has these parameters in turn."""
        return too_large_in_turn(configs)

    def warnings(self) -> Iterator[Conflict]:
        """Yield what a run of so few days does not reach."""
        return economy_warnings(self)
