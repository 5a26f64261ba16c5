"""Which keys configure resources: their utility, extraction, consumption and market?

Lists give one number per resource. Keys that a group may override have the same text in `groups`.
"""

from __future__ import annotations

from typing import Literal

from societies.config.model import (
    From0,
    PerResource,
    Section,
    initial,
    shape,
    tabulated,
    value,
)
from societies.economy.config.ranges import (
    DEFAULT_MENU,
    MOST_ATTEMPTS,
    MOST_RESOURCES,
    MOST_ROUNDS,
    AtLeastOne,
    Experience,
    MoreThanOne,
    NotNegative,
    Positive,
)

SCALE = "Utility of the first unit of a resource (D in U = D x^(1/n))"
EXPONENT = "How fast marginal utility falls (n in U = D x^(1/n))"
MAX_EFFORT = "Effort for one unit without any experience"
MIN_EFFORT = "Effort for one unit at full experience; at most max_effort"
MAX_EXPERIENCE = (
    "Experience at which effort is lowest; any excess is lost at the end of the day's work"
)
RESOURCE_LIFETIME = (
    "Mean life of a held unit: every night each unit is consumed with probability 1/lifetime"
)
UNITS = "Units of each resource that an agent holds before the first day"

Units = From0


class UtilityConfig(Section):
    """How much a unit of a resource is worth. Lists give one number per resource."""

    scale: PerResource[Positive] = tabulated(600.0, SCALE, "util")
    exponent: PerResource[MoreThanOne] = tabulated(2.5, EXPONENT, "1")
    min_marginal: Positive = value(
        1.0, "Lower limit of marginal utility; must be less than every scale", "util/unit"
    )


class ExtractionConfig(Section):
    """How many minutes a unit takes, and how practice shortens them."""

    max_effort: PerResource[Positive] = tabulated(9.0, MAX_EFFORT, "min/unit")
    min_effort: PerResource[Positive] = tabulated(3.0, MIN_EFFORT, "min/unit")
    max_experience: PerResource[Experience] = tabulated(600.0, MAX_EXPERIENCE, "units extracted")
    daily_experience_penalty: NotNegative = value(
        3.0,
        "Experience of a resource lost on a day on which it is not extracted",
        "units extracted/day",
    )
    near_best_band: NotNegative = value(
        0.0,
        "An agent extracts any resource whose gain per minute is at most this below the best; "
        "0: only the best",
        "util/min",
        usual=(0.0, 20.0),
    )


class ConsumptionConfig(Section):
    """How fast holdings disappear."""

    resource_lifetime: PerResource[AtLeastOne] = tabulated(5.0, RESOURCE_LIFETIME, "day")


class EndowmentConfig(Section):
    """What agents hold before the first day."""

    units: PerResource[Units] = initial(0, UNITS, "units")


class TradingConfig(Section):
    """How the resource market works."""

    rounds: int = shape(
        12,
        "Rounds of each of a day's markets; every round pairs all agents again; 0: no meetings",
        "1/market",
        ge=0,
        le=MOST_ROUNDS,
    )
    attempts: int = shape(
        8, "Swaps that a pair may try in one meeting", "1/meeting", ge=1, le=MOST_ATTEMPTS
    )
    menu_size: int = shape(
        DEFAULT_MENU,
        "Number of resources that each partner offers, at most all. Default: 6 or all of them, "
        "whichever is fewer",
        "resources",
        ge=1,
        le=MOST_RESOURCES,
    )
    min_surplus: NotNegative = value(
        0.1, "Each partner must gain more than this by a swap", "util", usual=(0.0, 200.0)
    )
    price: Literal["geometric", "inverse_geometric", "unit"] = shape(
        "geometric",
        "Price of a swap: geometric mean of both partners' marginal rates of substitution, its "
        "inverse, or one unit for one unit",
    )
    fresh_values: bool = shape(
        False,
        "Agents compose menus from present marginal utilities instead of remembered ones",
    )
