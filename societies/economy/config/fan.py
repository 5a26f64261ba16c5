"""Which societies have the same past, and from which day on do they draw numbers of their own?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from societies.config.model import Conflict, From0, Section, shape
from societies.workload.declare.config import MOST_TICKS


class FanConfig(Section):
    """Many futures of one past: societies with the same draws up to a day, then with their own."""

    day: int = shape(
        0,
        "Last day with common draws; from the next day on each society has draws of its own",
        "day",
        symbol="fan_day",
        ge=0,
        le=MOST_TICKS,
    )
    futures: From0 = shape(
        0,
        "Number of consecutive societies with the same past; 0: each has a past of its own",
        "societies",
        symbol="futures",
    )


def fan_conflicts(config: Any) -> Iterator[Conflict]:
    """Yield an error if `day` or `futures` is missing, or if a fan would be incomplete."""
    fan = config.fan
    if not fan.futures:
        if fan.day:
            message = "needs a number of futures: fan.futures"
            yield Conflict(("fan", "day"), message, (("fan", "futures"),))
        return
    if not 1 <= fan.day < config.days:
        message = f"the futures begin after a day from 1 to {config.days - 1}, the last but one"
        yield Conflict(("fan", "day"), message, (("days",),))
    for name in ("replicates", "first_society"):
        if (number := getattr(config, name)) % fan.futures:
            message = f"{number} is no multiple of the {fan.futures} futures of each past"
            yield Conflict((name,), message, (("fan", "futures"),))
