"""How large can a society's numbers become: what sizes tables and keeps 32-bit counts safe?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from societies.economy.config.keys import EconomyKeys

CONCENTRATION = 64
"""How many times what it can extract in a lifetime of its units an agent could hold by trade."""
USUAL_CONCENTRATION = 4
"""The same as a mean over a long run."""
ALWAYS_TABLED = 2**14
"""Units that utility tables are made for, however few an agent can hold: more than the usual curve
has, so that small societies have its tables, and kernels of one text, whatever their days."""


Config = TypeVar("Config", bound=EconomyKeys)


def envelope(configs: Sequence[Config]) -> Config:
    """Return a configuration whose bounds are not below those of any of these, or all in turn.

    It is one to calculate with: nobody checks whether it could be run.
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
            "consumption": first.consumption.model_copy(update={"resource_lifetime": longest}),
            "device": least_effort("device").model_copy(
                update={name: largest(name) for name in ("factor", "lifetime")}
            ),
        }
    )


def units_a_day(config: EconomyKeys) -> int:
    """Return more units than an agent can extract in a day."""
    # A list without numbers is reported by itself.
    least = min(_numbers(config, "extraction", "min_effort"), default=1.0)
    return math.floor(config.day_length * largest_factor(config) / least) + 2


def largest_factor(config: EconomyKeys) -> float:
    """Return how many times faster than by hand an agent can extract."""
    factor = config.device.factor
    if config.devices == "none":
        return 1.0
    if config.devices == "tools":
        return factor.tool
    return max(factor.tool, factor.machine, factor.factory, factor.industry)


def largest_holding(config: EconomyKeys) -> int:
    """Return more units than an agent will ever hold.

    At most everything that all agents extract in all days; and since units are consumed, not more
    than many times what it extracts while they last. Never less than `ALWAYS_TABLED`.
    """
    most = min(config.agents * config.days * units_a_day(config), CONCENTRATION * _stock(config))
    return max(most, ALWAYS_TABLED)


def random_words(config: EconomyKeys) -> int:
    """Return more words than consumption will draw from an agent's stream in the whole run."""
    return config.days * (USUAL_CONCENTRATION * _stock(config) + 32 * config.resources)


def _stock(config: EconomyKeys) -> int:
    """Return what an agent holds that keeps all it extracts: a day's units times their lifetime."""
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
