"""Which variables can the file of an economy run have, and which arrays do they come from?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from societies.economy.series import TYPE
from societies.output import Variable
from societies.workload.declare.fields import Field


@dataclass(frozen=True)
class Detail:
    """A quantity of every agent that is recorded on chosen days.

    Attributes
    ----------
    fields : fields of the state; several are concatenated along the last dimension
    dims : dimensions in addition to society, day and agent
    meaning : meaning at the end of the day; "" for the meaning of the field
    """

    fields: tuple[str, ...]
    dims: tuple[str, ...] = ()
    meaning: str = ""

    def variable(self, name: str, day: str, fields: Mapping[str, Field]) -> Variable:
        """Return the variable of the file; ``day`` is the name of its dimension of days."""
        kind = fields[self.fields[0]]
        dims = ("society", day, "agent", *self.dims)
        return Variable(name, dims, kind.file_dtype, kind.unit, self.meaning or kind.meaning)


AGENT_DETAIL = {
    "agent_units_extracted": Detail(("units_extracted",)),
    "agent_units_held": Detail(("units_held",)),
    "agent_units_traded": Detail(("units_traded",)),
    "agent_utility": Detail(("utility",)),
}
AGENT_DEVICE_DETAIL = {
    "agent_minutes": Detail(
        ("minutes_with", "making_minutes"), ("activity",), "minutes spent today by activity"
    ),
    "agent_extracted_with": Detail(("extracted_with",), ("source",)),
    "agent_devices_made": Detail(("made_today",), TYPE),
    "agent_devices_sold": Detail(("devices_sold",), TYPE),
    "agent_device_minutes": Detail(("device_stock",), TYPE),
    "agent_units_paid": Detail(("units_paid",)),
    "agent_overtime": Detail(("overtime",)),
}
"""Variables per agent without devices (above) and those that devices add."""

AGENT_MEASURE_DETAIL = {
    "agent_income": Detail(("income",)),
    "agent_consumption": Detail(("utility_consumed",)),
    "agent_wealth": Detail(("wealth",)),
}
AGENT_MEASURE_DEVICE_DETAIL = {
    "agent_income_sales": Detail(("income_sales",)),
    "agent_spending_devices": Detail(("spending_devices",)),
    "agent_wealth_devices": Detail(("wealth_devices",)),
}
"""Variables per agent that economic measures bring, and those of them that need devices."""

AGENT_POLICY_DETAIL = {
    "agent_units_taxed": Detail(("units_taxed",)),
    "agent_units_transferred": Detail(("units_transferred",)),
}
"""Variables per agent that taxes and transfers bring."""

RESOURCE_MEASURES = ("resource_price", "resource_price_dispersion", "resource_units_priced")
"""Measures of every resource: fields of the state."""

RESOURCE = ("resource",)
RESOURCE_DETAIL = {
    "held": Detail(("held",), RESOURCE, "units owned at the end of the day, after consumption"),
    "experience": Detail(
        ("experience",), RESOURCE, "experience in extracting, at the end of the day"
    ),
    "value": Detail(
        ("value",),
        RESOURCE,
        "remembered marginal value of one more unit, at the end of the day",
    ),
    "extracted": Detail(("extracted",), RESOURCE),
}
RESOURCE_DEVICE_DETAIL = {
    "device_minutes": Detail(
        ("device_minutes",),
        (*TYPE, *RESOURCE),
        "minutes of use left in the devices owned, at the end of the day",
    ),
    "device_experience": Detail(
        ("device_experience",),
        (*TYPE, *RESOURCE),
        "experience in making the device, at the end of the day",
    ),
    "made": Detail(("devices_made",), (*TYPE, *RESOURCE)),
}
"""Variables per agent and resource without devices (above) and those that devices add."""

RECIPES = {
    "recipe": (*TYPE, *RESOURCE, "component"),
    "invented_on": (*TYPE, *RESOURCE),
    "inventor": (*TYPE, *RESOURCE),
}
"""Fields of the state about the recipes of devices, and their dimensions."""
