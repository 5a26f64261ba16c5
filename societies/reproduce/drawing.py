"""How is each figure of the paper drawn? In the paper's form, with the spread over societies.

A function ``figure_N`` takes the runs by name, (society, day, ...), and draws into a figure of
matplotlib. Lines are means over societies; bands are their range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.economy.curves import resource_effort, utility_curve

if TYPE_CHECKING:
    import xarray as xr

Runs = Mapping[str, "xr.Dataset"]
Reals = NDArray[np.float64]

SCENARIOS = {
    "no_trade": "no trade, no devices",
    "trade": "trade, no devices",
    "tools": "trade, tools",
    "devices": "trade, all devices",
}
BLUE, GREEN, ORANGE, RED, GREY = "#0072B2", "#009E73", "#E69F00", "#D55E00", "#888888"
SHADES = ("#C8C8C8", "#56B4E9", BLUE, ORANGE, RED)
BEFORE, AFTER = 200, 1500
"""Days that Figure 13 shows before and after the removal."""
LARGEST_HOLDING = 100_000


def gain_per_minute(exponent: float, units: int) -> Reals:
    """Return the gain of the next unit by units already extracted and held, (unit,) util/min.

    The curves are those of the default parameters but for the exponent of utility.
    """
    utility = utility_curve(600.0, exponent, 1.0, LARGEST_HOLDING)
    minutes = resource_effort(9.0, 3.0, 600.0).minutes
    found: Reals = np.asarray(utility.marginal[:units], float) / np.asarray(minutes[:units], float)
    return found


def band(axes: Any, values: xr.DataArray, colour: str, label: str | None = None) -> None:
    """Draw the mean over societies and their range."""
    days = values.day.values
    low, high = values.min("society").values, values.max("society").values
    axes.fill_between(days, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(days, values.mean("society").values, color=colour, label=label)


def finish(axes: Any, values: xr.DataArray, label: str, *, zero: bool = True) -> None:
    """Name the axes."""
    days = values.day.values
    axes.set(xlabel="day", ylabel=label, xlim=(days[0], days[-1]))
    if zero:
        axes.set_ylim(bottom=0)


def figure_5(figure: Any, runs: Runs) -> None:
    """Gain per minute of the next unit of a held resource, and of a new one."""
    for axes, exponent in zip(figure.subplots(1, 2), (1.001, 2.5), strict=True):
        held = gain_per_minute(exponent, 600)
        axes.plot(np.arange(len(held)), held, color=BLUE, label="next unit of a held resource")
        axes.axhline(held[0], color=RED, linestyle="--", label="first unit of a new resource")
        axes.set(
            title=f"n = {exponent}", xlabel="units extracted and held", ylabel="util per minute"
        )
        axes.set_ylim(bottom=0)
        axes.legend()


def figure_6(figure: Any, runs: Runs) -> None:
    """Units traded per agent and day, by the exponent of utility."""
    axes = figure.subplots()
    for (name, run), colour in zip(runs.items(), (RED, ORANGE, BLUE), strict=True):
        band(axes, run.units_traded, colour, f"n = {name.removeprefix('exponent_')}")
        finish(axes, run.units_traded, "units traded per agent and day")
    axes.legend()


def _four(figure: Any, runs: Runs, draw: Callable[[Any, xr.Dataset], None]) -> None:
    for axes, name in zip(figure.subplots(2, 2).flat, SCENARIOS, strict=True):
        draw(axes, runs[name])
        axes.set_title(SCENARIOS[name])


def figure_7(figure: Any, runs: Runs) -> None:
    """Units extracted per agent and day in four scenarios."""

    def draw(axes: Any, run: xr.Dataset) -> None:
        band(axes, run.units_extracted, BLUE)
        finish(axes, run.units_extracted, "units per agent and day")

    _four(figure, runs, draw)


def figure_8(figure: Any, runs: Runs) -> None:
    """Gini coefficient of utility in four scenarios, as such and on the paper's scale."""

    def draw(axes: Any, run: xr.Dataset) -> None:
        band(axes, run.gini, RED, "Gini of the day's utility")
        on_paper = run.gini_paper.mean("society").values
        axes.plot(run.day.values, on_paper, "k--", linewidth=0.9, label="on the paper's scale")
        finish(axes, run.gini, "Gini coefficient")
        axes.legend()

    _four(figure, runs, draw)


def figure_9(figure: Any, runs: Runs) -> None:
    """Share of the units extracted by hand and with each type of device."""
    axes, run = figure.subplots(), runs["long_run"]
    shares = run.extraction_share.mean("society").transpose("source", "day")
    names = [str(one) for one in run.source.values]
    axes.stackplot(run.day.values, shares.values, colors=SHADES, labels=names, linewidth=0)
    finish(axes, run.extraction_share, "share of the units extracted")
    axes.set_ylim(0, 1)
    axes.legend(loc="center right", reverse=True, frameon=True)


def figure_10(figure: Any, runs: Runs) -> None:
    """Share of tools made with machines, and of machines made with factories."""
    axes, shares = figure.subplots(), runs["long_run"].device_maker_share
    labels = ("tools made with device machines", "machines made with device factories")
    for i, (label, colour) in enumerate(zip(labels, (BLUE, RED), strict=True)):
        band(axes, shares.isel(made_type=i), colour, label)
    finish(axes, shares, "share of the devices made")
    axes.legend()


def figure_11(figure: Any, runs: Runs) -> None:
    """Concentration of extraction: minimum, quartiles and maximum over resources."""
    axes, hhi = figure.subplots(), runs["long_run"].hhi.mean("society")
    labels = ("minimum", "lower quartile", "median", "upper quartile", "maximum")
    for i, (label, colour) in enumerate(zip(labels, (*SHADES[:2], RED, *SHADES[2:4]), strict=True)):
        axes.plot(hhi.day.values, hhi.isel(quantile=i).values, color=colour, label=label)
    finish(axes, hhi, "HHI over agents, by resource")
    axes.legend(reverse=True)


def figure_12(figure: Any, runs: Runs) -> None:
    """Resources contained in the device that extracted a unit, mean over units."""
    axes, values = figure.subplots(), runs["long_run"].interdependence
    band(axes, values, RED)
    for contained in (5, 30, 180, 1080):
        axes.axhline(contained, color="0.8", linewidth=0.7, zorder=0)
    finish(axes, values, "resource interdependence")
    axes.set_yscale("symlog", linthresh=1.0)


def figure_13(figure: Any, runs: Runs) -> None:
    """Utility and extraction before and after a resource is removed."""
    run = runs["removal"]
    removed = int(run.attrs["removed"])
    run = run.sel(day=slice(max(1, removed - BEFORE), removed + AFTER))
    labels = {"utility": "utility per agent", "units_extracted": "units per agent and day"}
    for axes, (name, label) in zip(figure.subplots(1, 2), labels.items(), strict=True):
        band(axes, run[name], RED if name == "utility" else BLUE)
        axes.axvline(removed, color=GREY, linewidth=0.8)
        finish(axes, run[name], label, zero=False)
        axes.set_yscale("log")


FIGURES: dict[int, tuple[Callable[[Any, Runs], None], tuple[float, float]]] = {
    5: (figure_5, (10, 4)),
    6: (figure_6, (8, 4.5)),
    7: (figure_7, (10, 7)),
    8: (figure_8, (10, 7)),
    9: (figure_9, (8, 4.5)),
    10: (figure_10, (8, 4.5)),
    11: (figure_11, (8, 4.5)),
    12: (figure_12, (8, 4.5)),
    13: (figure_13, (10, 4)),
}
"""What draws each figure, and its size in inches."""
