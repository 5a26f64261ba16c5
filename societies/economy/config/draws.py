"""Does a stream of random numbers continue each day, or begin at a position of that day?"""

from __future__ import annotations

from typing import Any

from societies.config.model import Section, value
from societies.economy.config.policies import changed_keys

PREFIX = "draws"
"""Section of the configuration."""


class DrawsConfig(Section):
    """Where random numbers come from."""

    synchronized: bool = value(
        False,
        "Whether every day's draws begin at a position that the day alone determines, however many "
        "were made before, so that twins share more of their random numbers",
        symbol="synchronized_draws",
    )


def synchronizes(config: Any) -> bool:
    """Return whether draws are synchronized at any time, or may be by a table or intervention."""
    if config.draws.synchronized:
        return True
    return any(name.startswith(f"{PREFIX}.") for name in changed_keys(config))
