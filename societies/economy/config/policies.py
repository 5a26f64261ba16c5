"""Which keys configure policies: taxes in kind, transfers of their revenue, limits of trade?

Every key is a number that tables, sweeps and interventions may change. A run without policies has
no phases for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field

from societies.config.model import (
    LARGEST_REAL,
    SMALLEST_REAL,
    Conflict,
    From0,
    Section,
    key,
    value,
)
from societies.economy.config.ranges import MOST_RESOURCES, Positive

Rate = Annotated[float, Field(ge=0, le=1)]
Units = Annotated[float, Field(ge=0, le=LARGEST_REAL)]
Part = Annotated[float, Field(gt=0, le=1)]

PREFIX = "policies"
"""Section of the configuration."""
TAXES = ("holdings_tax", "income_tax", "sales_tax")
GROUP_KEY = "transfer_share"
"""Key of a group that belongs to the policies."""


def _rate(meaning: str) -> Any:
    return key(0.0, meaning, "1", usual=(0.0, 1.0))


def _from(bracket: str) -> Any:
    above = f"The {bracket} bracket begins above this number of units, summed over resources"
    return key(LARGEST_REAL, above, "units", usual=(0.0, 1000.0))


class TaxConfig(Section):
    """A tax with up to three brackets, each with a rate for the units in it."""

    rate: Rate = _rate("Share due of the units below the middle bracket")
    middle_from: Units = _from("middle")
    middle_rate: Rate = _rate("Share due of the units in the middle bracket")
    top_from: Units = _from("top")
    top_rate: Rate = _rate("Share due of the units in the top bracket")


class TransferConfig(Section):
    """Shares of the fund that are paid out every evening, in equal parts except for `making`."""

    equal: Rate = _rate("Share of the fund that is divided equally among all agents")
    poorest: Rate = _rate("Share of the fund that is divided equally among the poorest agents")
    poorest_part: Part = key(
        0.2, "Part of the agents that counts as the poorest, by the utility of their holdings", "1"
    )
    least_extracting: Rate = _rate(
        "Share of the fund for the agents that extracted the fewest units today, in equal parts"
    )
    least_extracting_part: Part = key(
        0.2, "Part of the agents that counts as extracting the fewest units", "1"
    )
    making: Rate = _rate(
        "Share of the fund that is divided in proportion to the minutes of making devices today"
    )


class PoliciesConfig(Section):
    """Taxes in kind, transfers of their revenue, and limits of trade."""

    holdings_tax: TaxConfig = value(TaxConfig, "Tax on the units held")
    income_tax: TaxConfig = value(
        TaxConfig,
        "Tax on the units of each resource extracted and received today, less those given away",
    )
    sales_tax: TaxConfig = value(
        TaxConfig, "Tax on the units received today, in swaps or for devices"
    )
    transfer: TransferConfig = value(
        TransferConfig, "What is paid out of the fund", symbol="fund_shares"
    )
    quota_of: int = value(
        -1,
        "Resource of which an agent may give away at most `quota` units a day; -1: none",
        "index",
        ge=-1,
        le=MOST_RESOURCES - 1,
        usual=(-1, "resources"),
    )
    quota: From0 = value(
        0,
        "Units of `quota_of` that an agent may give away in a day; 0: its trade is banned",
        "units",
        usual=(0, 50),
    )
    price_of: int = value(
        -1,
        "Resource whose price in swaps is limited; -1: all resources",
        "index",
        ge=-1,
        le=MOST_RESOURCES - 1,
        usual=(-1, "resources"),
    )
    price_floor: Positive = value(
        SMALLEST_REAL,
        "Lowest price in swaps, in units received for a unit given",
        "units/unit",
        usual=(0.0, 1.0),
    )
    price_cap: Positive = value(
        LARGEST_REAL,
        "Highest price in swaps, in units received for a unit given",
        "units/unit",
        usual=(1.0, 5.0),
    )


def in_use(config: Any) -> bool:
    """Return whether the societies of a configuration have policies at any time.

    They do if a key of a policy differs from its default, or if a table or an intervention may
    change one. Values in a table do not matter, so all parts of a table give the same answer.
    """
    if config.policies != PoliciesConfig() or any(group.transfer_share for group in config.groups):
        return True
    changed = changed_keys(config)
    return any(name.startswith(f"{PREFIX}.") or name.endswith(GROUP_KEY) for name in changed)


def policy_warnings(config: Any) -> Iterator[Conflict]:
    """Yield a warning if taxes are collected and never paid out."""
    changed = changed_keys(config)
    taxed = is_taxed(config)
    taxed = taxed or any(one.startswith(f"{PREFIX}.") and one.endswith("rate") for one in changed)
    later = (one.startswith(f"{PREFIX}.transfer.") or one.endswith(GROUP_KEY) for one in changed)
    if taxed and not any(shares_of(config)) and not any(later):
        message = (
            "taxes are not paid out, their units stay in the fund; give a share of "
            f"{PREFIX}.transfer, such as equal: 1, to pay them out"
        )
        yield Conflict((PREFIX,), message)


def is_taxed(config: Any) -> bool:
    """Return whether any tax has a rate."""
    taxes = [getattr(config.policies, name) for name in TAXES]
    return any(one.rate or one.middle_rate or one.top_rate for one in taxes)


def shares_of(config: Any) -> list[float]:
    """Return the shares of the fund that are paid out."""
    transfer = config.policies.transfer
    parts = [transfer.equal, transfer.poorest, transfer.least_extracting, transfer.making]
    return [*parts, *(group.transfer_share for group in config.groups)]


def changed_keys(config: Any) -> Sequence[str]:
    """Return the keys that a table or an intervention of a configuration may change."""
    table = config.table.columns if config.table is not None else ()
    return [*table, *(key for one in config.interventions for key in one.set)]


def policy_conflicts(config: Any) -> Iterator[Conflict]:
    """Yield brackets that are out of order, and transfers of more than the whole fund."""
    for name in TAXES:
        tax = getattr(config.policies, name)
        if tax.top_from < tax.middle_from:
            yield Conflict(
                (PREFIX, name, "top_from"),
                f"{tax.top_from:g} is below middle_from ({tax.middle_from:g}); brackets ascend",
                ((PREFIX, name, "middle_from"),),
            )
    yield from _limit_conflicts(config)
    transfer = config.policies.transfer
    parts = shares_of(config)
    if sum(parts) > 1.0 + 1e-12:
        of_groups = " and transfer_share of the groups" if config.groups else ""
        yield Conflict(
            (PREFIX, "transfer"),
            f"pays out {sum(parts):g} of the fund; equal, poorest, least_extracting, "
            f"making{of_groups} add up to at most 1",
            (("groups",),),
        )
    if transfer.making and config.devices == "none":
        message = "is a subsidy of making devices, of which there are none"
        yield Conflict((PREFIX, "transfer", "making"), message, (("devices",),))


def _limit_conflicts(config: Any) -> Iterator[Conflict]:
    """Yield limits of trade for resources that do not exist, and limits of prices that exclude all.

    Of a swap the price of one resource is the inverse of that of the other.
    """
    policies = config.policies
    for section, name in ((PREFIX, "quota_of"), (PREFIX, "price_of"), ("invention", "banned_of")):
        number = getattr(getattr(config, section), name)
        if number >= config.resources:
            message = f"there is no resource {number}: they are 0 to {config.resources - 1}"
            yield Conflict((section, name), message, (("resources",),))
    floor, cap = policies.price_floor, policies.price_cap
    needs = tuple((PREFIX, name) for name in ("price_floor", "price_of"))
    if cap < floor:
        message = f"{cap:g} is below price_floor ({floor:g})"
        yield Conflict((PREFIX, "price_cap"), message, needs)
    elif policies.price_of < 0 and not floor <= 1.0 <= cap:
        message = (
            f"no swap has prices of {floor:g} to {cap:g} for both of its resources: 1 must be "
            "between them, or name one resource with price_of"
        )
        yield Conflict((PREFIX, "price_cap"), message, needs)
