"""Do societies go on drawing where they stopped, or every day from a place of that day?"""

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
        "Whether all draws of a day come from places of that day, however much was drawn before, "
        "so that twins have more of their random numbers in common",
        symbol="synchronized_draws",
    )


def synchronizes(config: Any) -> bool:
    """Return whether draws are synchronized at any time, or may be by a table or intervention."""
    if config.draws.synchronized:
        return True
    return any(name.startswith(f"{PREFIX}.") for name in changed_keys(config))
