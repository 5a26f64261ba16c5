"""Which keys does the configuration of an economy have, and which of them contradict each other?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from societies.config.model import Conflict
from societies.economy.config.conflicts import (
    economy_conflicts,
    economy_warnings,
    too_large_in_turn,
)
from societies.economy.config.idle import asleep, idle, idle_warnings
from societies.economy.config.keys import EconomyKeys
from societies.economy.config.policies import policy_warnings
from societies.economy.config.rules import rules_without_effect
from societies.workload.running.points import idle_changes, overlaps, unused_values


class EconomyConfig(EconomyKeys):
    """A society of self-interested agents that extract, barter and consume resources."""

    def conflicts(self) -> Iterator[Conflict]:
        """Yield every contradiction between keys that are each valid alone."""
        return economy_conflicts(self)

    def conflicts_in_turn(self, configs: Sequence[Any]) -> Iterator[Conflict]:
        """Yield numbers that get too large in a society with these parameters one after another."""
        return too_large_in_turn(configs)

    def warnings(self) -> Iterator[Conflict]:
        """Yield keys and values without effect in this run, and interventions that overlap."""
        yield from economy_warnings(self)
        yield from policy_warnings(self)
        yield from rules_without_effect(self)
        yield from overlaps(self)
        yield from unused_values(self)
        yield from idle_changes(self)
        yield from idle_warnings(self)

    def idle(self) -> Iterator[tuple[str, str]]:
        """Yield keys without effect at any time of this run, and why."""
        return idle(self)

    def asleep(self) -> Iterator[tuple[str, str]]:
        """Yield keys of policies without effect until another key changes, and why."""
        return asleep(self)
