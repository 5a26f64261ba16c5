"""How large can a society's numbers become? The bounds size tables and protect 32-bit counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from societies.economy.config.keys import EconomyKeys

CONCENTRATION = 64
"""Bound of an agent's holdings, in multiples of the units that it can extract in their lifetime."""
USUAL_CONCENTRATION = 4
"""The same for the mean over a long run."""
ALWAYS_TABLED = 2**14
"""Least number of units in utility tables. It is more than the usual curve needs, so the tables and
the kernels' text of small societies do not depend on the number of days."""


Config = TypeVar("Config", bound=EconomyKeys)


def envelope(configs: Sequence[Config]) -> Config:
    """Return a configuration whose bounds hold for each of these, and for a run through them.

    It is only for computing bounds and need not be valid for a run.
    """
    first = configs[0]

    def extreme(choose: Callable[[Iterator[float]], float], section: str, name: str) -> float:
        return choose(number for config in configs for number in _numbers(config, section, name))

    def largest(section: str) -> Any:
        rows = [getattr(config.device, section) for config in configs]
        names = type(rows[0]).model_fields
        return rows[0].model_copy(
            update={name: max(getattr(row, name) for row in rows) for name in names}
        )

    def least_effort(section: str) -> Any:
        least = extreme(min, section, "min_effort")
        return getattr(first, section).model_copy(update={"min_effort": least})

    longest = extreme(max, "consumption", "resource_lifetime")
    return first.model_copy(
        update={
            "day_length": max(config.day_length for config in configs),
            "groups": (),
            "extraction": least_effort("extraction"),
            "endowment": first.endowment.model_copy(
                update={"units": extreme(max, "endowment", "units")}
            ),
            "consumption": first.consumption.model_copy(update={"resource_lifetime": longest}),
            "device": least_effort("device").model_copy(
                update={name: largest(name) for name in ("factor", "lifetime")}
            ),
        }
    )


def units_a_day(config: EconomyKeys) -> int:
    """Return an upper limit of the units that an agent can extract in a day."""
    # An empty list is reported elsewhere.
    least = min(_numbers(config, "extraction", "min_effort"), default=1.0)
    return math.floor(config.day_length * largest_factor(config) / least) + 2


def largest_factor(config: EconomyKeys) -> float:
    """Return the largest factor by which devices speed up extraction."""
    factor = config.device.factor
    if config.devices == "none":
        return 1.0
    if config.devices == "tools":
        return factor.tool
    return max(factor.tool, factor.machine, factor.factory, factor.industry)


def largest_holding(config: EconomyKeys) -> int:
    """Return an upper limit of the units of a resource that an agent ever holds.

    A holding is at most the endowments of all agents plus all that they extract in all days. Units
    are consumed; so the second term is also limited to `CONCENTRATION` times what one agent
    extracts in a unit's lifetime. The bound is at least `ALWAYS_TABLED`.
    """
    most = min(config.agents * config.days * units_a_day(config), CONCENTRATION * _stock(config))
    return max(most + config.agents * _endowment(config), ALWAYS_TABLED)


def random_words(config: EconomyKeys) -> int:
    """Return an upper limit of the random words that consumption draws from an agent's stream."""
    stocks = USUAL_CONCENTRATION * (_stock(config) + config.resources * _endowment(config))
    return config.days * (stocks + 32 * config.resources)


def _endowment(config: EconomyKeys) -> int:
    """Return the most units of a resource that an agent begins with."""
    return int(max(_numbers(config, "endowment", "units"), default=0))


def _stock(config: EconomyKeys) -> int:
    """Return the holdings of an agent that gives nothing away: a day's units times their life."""
    longest = max(_numbers(config, "consumption", "resource_lifetime"), default=1.0)
    return units_a_day(config) * min(config.days, math.ceil(longest))


def _numbers(config: EconomyKeys, section: str, key: str) -> Iterator[float]:
    """Yield every number that the key has, in the section and in the groups that override it."""
    holders: list[Any] = [config, *config.groups]
    for holder in holders:
        value = getattr(getattr(holder, section), key, None)
        if isinstance(value, tuple):
            yield from value
        elif value is not None:
            yield value
