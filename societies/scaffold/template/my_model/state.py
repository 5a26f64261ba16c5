"""What does a society remember from day to day, and what is reported of every day?"""

from societies.daily import Field, Series

STATE = {
    "money": Field(
        ("agent",),
        "int32",
        "units",
        "money of an agent",
        initial=lambda config: config.money,
        recorded=True,
        within=(0, None),
    ),
    "stream": Field(
        (), "uint64", "1", "state of the society's random stream", within=(1, "last state")
    ),
}

SERIES = {
    "gini": Series("1", "Gini coefficient of money"),
    "richest": Series("units", "money of the richest agent"),
    "poor": Series("agents", "agents that have less than they would have to pay"),
    "total": Series("units", "money of all agents together"),
}
