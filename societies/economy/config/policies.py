"""Which keys configure policies that redistribute: taxes in kind, and transfers of what they bring?

Every key is a number that tables, sweeps and interventions may change. Without any of them the run
has no phases of policies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from societies.config.model import LARGEST_REAL, Conflict, Section, key, value

Rate = Annotated[float, Field(ge=0, le=1)]
Units = Annotated[float, Field(ge=0, le=LARGEST_REAL)]
Part = Annotated[float, Field(gt=0, le=1)]

PREFIX = "policies"
"""Section of the configuration."""
GROUP_KEY = "transfer_share"
"""Key of a group that belongs to the policies."""

_ABOVE = "The {} bracket begins above this number of units, of all resources together"


class TaxConfig(Section):
    """A tax of one rate, or of up to three brackets, each with the rate of the units in it."""

    rate: Rate = key(0.0, "Share of the units that is due, of those below the middle bracket", "1")
    middle_from: Units = key(LARGEST_REAL, _ABOVE.format("middle"), "units")
    middle_rate: Rate = key(0.0, "Share of the units in the middle bracket that is due", "1")
    top_from: Units = key(LARGEST_REAL, _ABOVE.format("top"), "units")
    top_rate: Rate = key(0.0, "Share of the units in the top bracket that is due", "1")


class TransferConfig(Section):
    """Which parts of the fund are paid out every evening, in equal parts to those who get any."""

    equal: Rate = key(0.0, "Share of the fund that all agents get", "1")
    poorest: Rate = key(0.0, "Share of the fund that the poorest agents get", "1")
    poorest_part: Part = key(
        0.2, "Which part of the agents are the poorest, by the utility of what they hold", "1"
    )
    least_extracting: Rate = key(
        0.0, "Share of the fund that the agents get that extracted the fewest units today", "1"
    )
    least_extracting_part: Part = key(0.2, "Which part of the agents these are", "1")


class PoliciesConfig(Section):
    """Taxes in kind, collected every evening into a fund, and transfers from the fund."""

    holdings_tax: TaxConfig = value(TaxConfig(), "Tax on the units held")
    income_tax: TaxConfig = value(
        TaxConfig(), "Tax on the units of each resource that came in today, less those that went"
    )
    sales_tax: TaxConfig = value(
        TaxConfig(), "Tax on the units received today in swaps and for devices"
    )
    transfer: TransferConfig = value(
        TransferConfig(), "What is paid out of the fund", symbol="fund_shares"
    )


def in_use(config: Any) -> bool:
    """Return whether the societies of a configuration have policies at any time.

    They have if a policy has another value than by default, or if a table or an intervention may
    change one. The values in a table do not matter, so all parts of a table give the same answer.
    """
    if config.policies != PoliciesConfig() or any(group.transfer_share for group in config.groups):
        return True
    table = config.table.columns if config.table is not None else ()
    changed = [*table, *(key for one in config.interventions for key in one.set)]
    return any(name.startswith(f"{PREFIX}.") or name.endswith(GROUP_KEY) for name in changed)


def policy_conflicts(config: Any) -> Iterator[Conflict]:
    """Yield brackets that are out of order, and transfers of more than the fund has."""
    for name in ("holdings_tax", "income_tax", "sales_tax"):
        tax = getattr(config.policies, name)
        if tax.top_from < tax.middle_from:
            yield Conflict(
                (PREFIX, name, "top_from"),
                f"{tax.top_from:g} is below middle_from ({tax.middle_from:g}); brackets ascend",
                ((PREFIX, name, "middle_from"),),
            )
    transfer = config.policies.transfer
    parts = [transfer.equal, transfer.poorest, transfer.least_extracting]
    parts += [group.transfer_share for group in config.groups]
    if sum(parts) > 1.0 + 1e-12:
        of_groups = " and transfer_share of the groups" if config.groups else ""
        yield Conflict(
            (PREFIX, "transfer"),
            f"pays out {sum(parts):g} of the fund; equal, poorest, least_extracting{of_groups} "
            "add up to at most 1",
            (("groups",),),
        )
