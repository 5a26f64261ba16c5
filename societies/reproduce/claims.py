"""What does the paper say in numbers, what do we find, and does it agree?

Source of the claims: Haney, Haarsma and Ditta (2016), Figures 5 to 13. Each has a band that was
chosen for how exactly the paper says it: 2 % for numbers of the text, 5 to 10 % for what is read
from a figure, and for words such as "nearly" what they allow.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from societies.reproduce.drawing import Reals, Runs, gain_per_minute
from societies.workload.drawing import bands

if TYPE_CHECKING:
    import xarray as xr

LEVEL = 0.95


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    Attributes
    ----------
    figure : its number
    said : the claim, with the published number
    band : least and largest mean over societies that agrees
    of : function of the runs by name; (society,) float64
    recorded : mean of the recorded runs of the authors' program; NaN where they lack it
    """

    figure: int
    said: str
    band: tuple[float, float]
    of: Callable[[Runs], Reals]
    recorded: float = math.nan


@dataclass(frozen=True)
class ComparedClaim:
    """A claim with our mean over societies, its interval and the verdict."""

    claim: Claim
    societies: int
    mean: float
    low: float
    high: float

    @property
    def agrees(self) -> bool:
        """Return True if the mean, or with several societies its interval, reaches the band."""
        least, most = self.claim.band
        low, high = (self.mean, self.mean) if math.isnan(self.low) else (self.low, self.high)
        return low <= most and high >= least

    def cells(self) -> list[str]:
        """Return the row of the table."""
        least, most = (f"{end:.4g}" for end in self.claim.band)
        interval = "" if math.isnan(self.low) else f"{self.low:.4g} to {self.high:.4g}"
        recorded = "" if math.isnan(self.claim.recorded) else f"{self.claim.recorded:.4g}"
        verdict = "agrees" if self.agrees else "differs"
        one, said = self.claim, f"{least} to {most}"
        return [str(one.figure), one.said, said, f"{self.mean:.4g}", interval, recorded, verdict]


HEAD = ["figure", "the paper", "agrees from, to", "ours", "95 % interval", "recorded", "verdict"]


def at(run: str, name: str, day: int, **entry: str | float) -> Callable[[Runs], Reals]:
    """Return what reads a series on a day."""
    return lambda runs: series(runs[run], name, **entry).sel(day=day).values


def over(run: str, name: str, first: int, last: int, **entry: str | float) -> Callable[..., Reals]:
    """Return what takes the mean of a series over days."""
    return lambda runs: (
        series(runs[run], name, **entry).sel(day=slice(first, last)).mean("day").values
    )


def series(run: xr.Dataset, name: str, **entry: str | float) -> xr.DataArray:
    """Return a series, (society, day), as float64."""
    return run[name].sel(entry).transpose("society", "day").astype(float)


def ratio(above: Callable[[Runs], Reals], below: Callable[[Runs], Reals]) -> Callable[..., Reals]:
    """Return what divides one by the other, society by society."""
    return lambda runs: above(runs) / below(runs)


def first_day(run: str, name: str, level: float, **entry: str | float) -> Callable[[Runs], Reals]:
    """Return what finds the first day on which a series is above a level; NaN if it never is."""

    def found(runs: Runs) -> Reals:
        values = series(runs[run], name, **entry)
        above = values.values > level
        return np.where(above.any(1), values.day.values[above.argmax(1)], np.nan)

    return found


def peak_day(run: str, name: str, first: int, last: int) -> Callable[[Runs], Reals]:
    """Return what finds the day of a series' largest value among some days."""

    def found(runs: Runs) -> Reals:
        values = series(runs[run], name).sel(day=slice(first, last))
        days: Reals = values.day.values[values.values.argmax(1)].astype(float)
        return days

    return found


def leading(source: str) -> Callable[[Runs], Reals]:
    """Return what finds the first day on which a source carries more than each other one."""

    def found(runs: Runs) -> Reals:
        shares = runs["long_run"].extraction_share.transpose("society", "day", "source")
        place = [str(one) for one in shares.source.values].index(source)
        leads = shares.values.argmax(2) == place
        return np.where(leads.any(1), shares.day.values[leads.argmax(1)], np.nan)

    return found


def lowest_after(name: str) -> Callable[[Runs], Reals]:
    """Return what finds the lowest value in the 100 days after the removal, over that before."""

    def found(runs: Runs) -> Reals:
        values = series(runs["removal"], name)
        after: Reals = values.sel(day=slice(3001, 3100)).min("day").values
        return after / _before(values)

    return found


def recovered(name: str, day: int) -> Callable[[Runs], Reals]:
    """Return what takes the mean of the five days up to ``day`` over that before the removal."""

    def found(runs: Runs) -> Reals:
        values = series(runs["removal"], name)
        late: Reals = values.sel(day=slice(day - 4, day)).mean("day").values
        return late / _before(values)

    return found


def _before(values: xr.DataArray) -> Reals:
    found: Reals = values.sel(day=slice(2996, 3000)).mean("day").values
    return found


def _after_the_first(exponent: float) -> Reals:
    """Return what units 2 to 67, a day's work, bring a minute, over what the first brings."""
    gains = gain_per_minute(exponent, 67)
    found: Reals = gains[1:] / gains[0]
    return found


def _traded(exponent: str) -> Callable[[Runs], Reals]:
    return over(f"exponent_{exponent}", "units_traded", 1, 500)


UNITS = "units_extracted"
CLAIMS = (
    Claim(5, "the first unit of a resource brings 600 / 9 = 67 util a minute", (66, 67.5),
          lambda runs: gain_per_minute(2.5, 1)),
    Claim(5, "n = 1.001: another unit of a held resource brings more (ratio after a day)",
          (1, math.inf), lambda runs: _after_the_first(1.001)[-1:]),
    Claim(5, "n = 2.5: it brings less; largest ratio", (0, 1),
          lambda runs: _after_the_first(2.5).max(keepdims=True)),
    Claim(6, "trade falls from n = 1.1 to 1.5: ratio of the units traded", (0, 0.99),
          ratio(_traded("1.5"), _traded("1.1"))),
    Claim(6, "trade falls from n = 1.5 to 2.0: ratio of the units traded", (0, 0.99),
          ratio(_traded("2.0"), _traded("1.5"))),
    Claim(7, "no trade: 67 units on day 1", (66.5, 67.5), at("no_trade", UNITS, 1), 67.0),
    Claim(7, "no trade: 103.5 on day 201", (101.4, 105.6), at("no_trade", UNITS, 201), 104.54),
    Claim(7, "no trade: 137.8 on day 251", (135.0, 140.6), at("no_trade", UNITS, 251), 137.57),
    Claim(7, "no trade: 162.4 on day 301", (159.2, 165.6), at("no_trade", UNITS, 301), 161.36),
    Claim(7, "no trade: steady at 187 (days 401 to 500)", (183.3, 190.7),
          over("no_trade", UNITS, 401, 500), 184.79),
    Claim(7, "trade: 125 units on day 125", (118.75, 131.25), at("trade", UNITS, 125), 121.7),
    Claim(7, "trade: the same level in the end as without (ratio)", (0.95, 1.05),
          ratio(over("trade", UNITS, 401, 500), over("no_trade", UNITS, 401, 500)), 1.0294),
    Claim(7, "tools: 416 units on day 151", (374, 458), at("tools", UNITS, 151), 450.71),
    Claim(7, "tools: plateau at 471 (days 401 to 500)", (424, 518),
          over("tools", UNITS, 401, 500), 514.69),
    Claim(7, "all devices: about twelve-fold, of 187, after 500 days", (10.8, 13.2),
          lambda runs: over("devices", UNITS, 451, 500)(runs) / 187.0, 13.71),
    Claim(8, "no devices: inequality near 0 (with trade, mean of all days)", (0, 0.02),
          over("trade", "gini", 1, 500)),
    Claim(8, "tools: a surge about day 50 (day of the largest Gini until 100)", (40, 60),
          peak_day("tools", "gini", 25, 100)),
    Claim(8, "tools: gone by day 100 (Gini of day 100 over that of day 50)", (0, 0.5),
          ratio(at("tools", "gini", 100), at("tools", "gini", 50))),
    Claim(8, "all devices: settles clearly higher than with tools (ratio, days 401 to 500)",
          (2, math.inf),
          ratio(over("devices", "gini", 401, 500), over("tools", "gini", 401, 500))),
    Claim(9, "tools from about day 15 (first day on which they carry most)", (10, 20),
          leading("tool")),
    Claim(9, "machines by day 100 (first day on which they carry most)", (50, 100),
          leading("machine")),
    Claim(9, "factories nearly everything by day 300 (share)", (0.8, 1),
          at("long_run", "extraction_share", 300, source="factory")),
    Claim(9, "industries only beginning by day 300 (share)", (0, 0.15),
          at("long_run", "extraction_share", 300, source="industry")),
    Claim(10, "nearly all tools are made with machines on day 300", (0.9, 1),
          lambda runs: _makers(runs, 0), 0.9857),
    Claim(10, "nearly half of the machines are made with factories on day 300", (0.4, 0.6),
          lambda runs: _makers(runs, 1), 0.6001),
    Claim(11, "the median HHI settles near 0.5 (days 1001 to 1500)", (0.45, 0.55),
          lambda runs: _hhi(runs, 2).sel(day=slice(1001, 1500)).mean("day").values),
    Claim(11, "some resources at 1 (largest HHI, days 301 to 500)", (0.98, 1),
          lambda runs: _hhi(runs, 4).sel(day=slice(301, 500)).mean("day").values),
    Claim(12, "0 on day 1, all by hand", (0, 0), at("long_run", "interdependence", 1), 0.0),
    Claim(12, "5 with tools: about the days of tools (first day above 4.5)", (15, 60),
          first_day("long_run", "interdependence", 4.5)),
    Claim(12, "30 with machines: about their days (first day above 27)", (50, 110),
          first_day("long_run", "interdependence", 27)),
    Claim(12, "more than 24 later: resources contained more than once (day 500)",
          (24, math.inf), at("long_run", "interdependence", 500)),
    Claim(13, "extraction falls nearly ten-fold (lowest of 100 days, over that before)",
          (0.08, 0.15), lowest_after(UNITS)),
    Claim(13, "utility falls by half (lowest of 100 days, over that before)", (0.4, 0.6),
          lowest_after("utility")),
    Claim(13, "extraction has recovered after 500 days (over that before)", (0.9, 1.2),
          recovered(UNITS, 3500)),
    Claim(13, "utility has recovered after 500 days (over that before)", (0.9, 1.2),
          recovered("utility", 3500)),
)  # fmt: skip


def _makers(runs: Runs, made: int) -> Reals:
    shares = runs["long_run"].device_maker_share.isel(made_type=made)
    found: Reals = shares.sel(day=300).values.astype(float)
    return found


def _hhi(runs: Runs, quantile: int) -> xr.DataArray:
    return runs["long_run"].hhi.isel(quantile=quantile).transpose("society", "day").astype(float)


def measured(figure: int, runs: Runs) -> list[ComparedClaim]:
    """Return what was found of each claim of a figure."""
    found = []
    for claim in (one for one in CLAIMS if one.figure == figure):
        values = np.asarray(claim.of(runs), float)
        low, high = bands.ends_of_mean(values, LEVEL)
        count = int(np.isfinite(values).sum())
        mean = float(bands.mean(values)) if count else math.nan
        found.append(ComparedClaim(claim, count, mean, float(low), float(high)))
    return found


def write_table(path: Path, found: Iterable[ComparedClaim]) -> None:
    """Write claims as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*HEAD, "societies"])
        writer.writerows([*one.cells(), one.societies] for one in found)


def as_markdown(rows: Iterable[list[str]]) -> str:
    """Return rows of claims as a table of Markdown."""
    head = [HEAD, ["---"] * len(HEAD)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (*head, *rows))
