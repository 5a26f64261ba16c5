"""Which data describe one agent's life? `life` records them, `report_life` writes the text."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

PARTS = (
    "extraction",
    "swaps",
    "sales",
    "payments",
    "redistribution",
    "consumption",
    "devices",
    "other",
)
"""Parts of a day's change of wealth; `other` is units used to make devices, and shocks."""

MOST_TURNS = 10
"""Number of days to report: those that changed the rank most."""


@dataclass(frozen=True)
class Swapped:
    """The swaps of an agent with another in one round of a market.

    Attributes
    ----------
    partner : int
    given, received : units by resource, net over the swaps of the round
    gained : util
    """

    partner: int
    given: dict[int, int]
    received: dict[int, int]
    gained: float


@dataclass(frozen=True)
class Dealt:
    """The devices that an agent sold to another, or bought from it, in one round.

    Attributes
    ----------
    sold : True if the agent sold them
    device_type, count : type and number of the devices
    resources : of the devices bought; several if the round had several deals
    partner : int
    util : utility of the units received or paid, util
    """

    sold: bool
    device_type: int
    count: int
    resources: tuple[int, ...]
    partner: int
    util: float


@dataclass
class Day:
    """One day of an agent.

    Attributes
    ----------
    day : int
    rank : 1 is the wealthiest of the living
    wealth, wealth_devices, income : util
    change : the day's change of wealth by `PARTS`; `mean` is the same for the mean of the other
        living agents
    extracted : units by resource
    sources : units by source (`SOURCES`)
    gain_per_minute : util, of the last unit extracted
    made : devices by type and resource
    invented : type and resource
    swaps, deals : in the order of the day
    overtook, overtaken_by : agents whose rank fell below, or rose above, its own since yesterday
    """

    day: int
    rank: int
    wealth: float
    wealth_devices: float
    income: float
    change: dict[str, float]
    mean: dict[str, float]
    extracted: dict[int, int]
    sources: dict[str, int]
    gain_per_minute: float
    made: dict[tuple[int, int], int] = field(default_factory=dict)
    invented: list[tuple[int, int]] = field(default_factory=list)
    swaps: list[Swapped] = field(default_factory=list)
    deals: list[Dealt] = field(default_factory=list)
    overtook: list[int] = field(default_factory=list)
    overtaken_by: list[int] = field(default_factory=list)


@dataclass
class Life:
    """Many days of one agent.

    Attributes
    ----------
    agents, resources, society, agent : numbers
    first, last : the requested days
    days : list of `Day`; fewer than requested if the agent was removed
    before : rank and wealth on the evening before the first day, None if unknown
    mean_wealth : (day,) mean wealth of the living agents, util
    removed_on : day on which the agent was removed, or None
    devices : True if the economy has devices
    reached : text on how the days were run
    without, without_of : the same days in the twin in which devices of a resource are not invented,
        and the resource
    """

    agents: int
    resources: int
    society: int
    agent: int
    first: int
    last: int
    devices: bool
    days: list[Day] = field(default_factory=list)
    before: tuple[int, float] | None = None
    mean_wealth: list[float] = field(default_factory=list)
    removed_on: int | None = None
    reached: str = ""
    without: Life | None = None
    without_of: int | None = None

    def turns(self) -> list[Day]:
        """Return the days that changed the rank most, the largest change first."""
        ranks = [self.before[0] if self.before else None, *(day.rank for day in self.days)]
        changed = [
            (abs(was - day.rank), day)
            for was, day in zip(ranks, self.days, strict=False)
            if was is not None and was != day.rank
        ]
        # Sorting is stable: of equal changes the first comes first.
        largest = sorted(changed, key=lambda one: one[0], reverse=True)
        return [day for _, day in largest[:MOST_TURNS]]

    def rank_before(self, day: Day) -> int | None:
        """Return the rank on the evening before a day."""
        at = day.day - self.days[0].day
        return self.days[at - 1].rank if at else self.before[0] if self.before else None

    def data(self) -> dict[str, Any]:
        """Return the life as plain data, for JSON."""
        found = asdict(self)
        for one, day in zip(found["days"], self.days, strict=True):
            one["made"] = [[device_type, r, n] for (device_type, r), n in day.made.items()]
        found["turns"] = [day.day for day in self.turns()]
        found["without"] = self.without.data() if self.without is not None else None
        return found
