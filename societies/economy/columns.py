"""Which columns does every table of events in an economy's file begin with?"""

from __future__ import annotations

from societies.output import Column

ROOM = 16
"""Initial capacity of a table of trades or links, in rows per agent and day; a full one grows."""


def of_day(events: str) -> tuple[Column, Column]:
    """Return the columns for the society and the day of events such as "trade"."""
    return (
        Column("society", "int32", "", "number of the society"),
        Column("day", "int32", "day", f"day of the {events}"),
    )
