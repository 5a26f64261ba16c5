"""What does the paper say in numbers, what do we find, and does it agree?

Claims of Figures 7 to 13 of Haney, Haarsma and Ditta (2016) are the targets of `societies validate
economy`, and their verdict is that of `societies.study`. Those of Figures 5 and 6 compare curves or
several runs, which a target cannot; they are here.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from societies.analysis.effect_table import digits
from societies.analysis.effects import for_json
from societies.output.files import written
from societies.reproduce.drawing import Reals, Runs, gain_per_minute
from societies.study.target_file import Target
from societies.study.targets import Targets, load_targets
from societies.study.validation import Verdict, band_text, judged, verdict_on

if TYPE_CHECKING:
    import xarray as xr

LEVEL = 0.95
TARGETS = "economy"
"""The shipped targets; their cases have the names of runs."""
REMOVAL, SHOCK, SHOCK_DAY = "removal", "shock", 600
"""Run of Figure 13, the case of its targets, and the day on which its resource is removed."""
HEAD = ["figure", "the paper", "band", "ours", "95 % interval", "in band", "recorded", "verdict"]


@dataclass(frozen=True)
class CurveClaim:
    """A claim that compares curves or several runs.

    Attributes
    ----------
    figure : its number
    said : the claim
    band : least and largest value that agrees; None: no end
    of : function of the runs by name; (society,) float64
    """

    figure: int
    said: str
    band: tuple[float | None, float | None]
    of: Callable[[Runs], Reals]


def _traded(exponent: str, runs: Runs) -> Reals:
    """Return the units that each society trades on a day, in the mean."""
    found: Reals = runs[f"exponent_{exponent}"].units_traded.astype(float).mean("day").values
    return found


def _after_the_first(exponent: float) -> Reals:
    """Return what units 2 to 67, a day's work, bring a minute, over what the first brings."""
    gains = gain_per_minute(exponent, 67)
    found: Reals = gains[1:] / gains[0]
    return found


COMPARISONS = (
    CurveClaim(5, "the first unit of a resource brings 600 / 9 = 67 util a minute", (66, 67.5),
               lambda runs: gain_per_minute(2.5, 1)),
    CurveClaim(5, "n = 1.001: another unit of a held resource brings more (ratio after a day)",
               (1, None), lambda runs: _after_the_first(1.001)[-1:]),
    CurveClaim(5, "n = 2.5: it brings less; largest ratio", (0, 1),
               lambda runs: _after_the_first(2.5).max(keepdims=True)),
    CurveClaim(6, "trade falls from n = 1.1 to 1.5: ratio of the units traded", (0, 0.99),
               lambda runs: _traded("1.5", runs) / _traded("1.1", runs)),
    CurveClaim(6, "trade falls from n = 1.5 to 2.0: ratio of the units traded", (0, 0.99),
               lambda runs: _traded("2.0", runs) / _traded("1.5", runs)),
)  # fmt: skip


def targets_of(figure: int) -> list[Targets]:
    """Return the targets of a figure, by case."""
    found = []
    for one in load_targets(TARGETS):
        own = {
            name: target
            for name, target in one.statistics.items()
            if (target.source or "").startswith(f"Figure {figure}:")
        }
        if own:
            case = one.case.model_copy(update={"statistics": own})
            found.append(replace(one, case=case))
    return found


def verdicts(figure: int, runs: Runs) -> list[Verdict]:
    """Return the verdict on each claim of a figure, from the series of its runs by name."""
    found = []
    for one in COMPARISONS:
        if one.figure == figure:
            target = Target(of="ratio", band=one.band, source=f"Figure {figure}: {one.said}")
            found.append(verdict_on("", one.said, "1", target, one.of(runs), level=LEVEL))
    for targets in targets_of(figure):
        run = REMOVAL if targets.name == SHOCK else targets.name
        found += judged(targets, _of_case(runs[run]), targets.name, LEVEL)
    return found


def _of_case(run: xr.Dataset) -> xr.Dataset:
    """Return a run with its days as in the case: Figure 13's resource is removed on a later day."""
    removed = int(run.attrs.get("removed", 0))
    late = removed - SHOCK_DAY if removed else 0
    return run.assign_coords(day=run["day"] - late).assign_attrs(clock="day", copies="society")


def cells(figure: int, one: Verdict, recorded: Mapping[str, float]) -> list[str]:
    """Return the row of the table; ``recorded`` is that of the `Figure`."""
    said = (one.target.source or "").partition(": ")[2]
    case = one.case.replace("_", " ")
    interval = (
        f"{digits(for_json(one.low))} to {digits(for_json(one.high))}"
        if len(one.values) > 1
        else ""
    )
    known = recorded.get(f"{one.case}.{one.name}")
    return [
        *(str(figure), f"{case}: {said}" if case else said, band_text(one.target)),
        *(digits(for_json(one.mean)), interval, f"{100 * one.share:.0f} %"),
        *("" if known is None else f"{known:.4g}", one.verdict),
    ]


def write_table(path: Path, rows: Iterable[list[str]]) -> None:
    """Write rows of claims as CSV."""
    with written(path) as made, made.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEAD)
        writer.writerows(rows)


def as_markdown(rows: Iterable[list[str]]) -> str:
    """Return rows of claims as a table of Markdown."""
    head = [HEAD, ["---"] * len(HEAD)]
    return "".join(f"| {' | '.join(row)} |\n" for row in (*head, *rows))
