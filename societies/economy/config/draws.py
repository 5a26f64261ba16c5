"""Does a stream of random numbers continue each day, or begin at a position of that day?"""

from __future__ import annotations

from typing import Any

from societies.config.model import Section, value
from societies.economy.config.policies import changed_keys

PREFIX = "draws"
"""Section of the configuration."""


class DrawsConfig(Section):
    """Where each day's random numbers begin."""

    synchronized: bool = value(
        False,
        "Whether the position of a day's first draw depends on the day alone, not on the number of "
        "earlier draws; then twins share more of their random numbers",
        symbol="synchronized_draws",
    )


def synchronizes(config: Any) -> bool:
    """Return whether draws are synchronized, or could be by a table or an intervention."""
    if config.draws.synchronized:
        return True
    return any(name.startswith(f"{PREFIX}.") for name in changed_keys(config))
