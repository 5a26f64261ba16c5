"""How is an economy drawn? As the book draws it: series, curves, and how firms differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError, option
from societies.models.bam.config import GRAINS
from societies.workload.drawing.figure import clock_and_copies, drawable, require_copy, words

SIZES = ("firms", "households", "banks")
BLUE, GREY = "#0072B2", "0.75"
COLOURS = (BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00")
GROWS = 4.0
"""Largest over least output from which on the axis is logarithmic."""
LAGS = range(-4, 5)
SMOOTHING = 1600.0
"""Of the filter of Hodrick and Prescott (1997), for quarters."""
SERIES = ("gdp", "unemployment", "inflation", "real_wage")
"""Series of the upper row."""


def figure(results: Any, *, economy: int = 0, first: int = 0) -> Any:
    """Draw series, the three curves, bankruptcies, sizes of firms and co-movements of cycles.

    Sizes of firms are those of the last quarter of detail (`record.detail`).

    Parameters
    ----------
    results : xarray.Dataset
        As `societies.open_results` returns it.
    economy : int
        Which economy of the file, from 0.
    first : int
        First quarter of the curves; 0: the middle of the run, as earlier ones depend on the start.
    """
    from matplotlib.figure import Figure

    clock_and_copies(results)
    require_copy(results, economy)
    found = {
        name: drawable(results, name, "economy", "quarter")[economy].values
        for name in (
            *SERIES,
            "wage",
            "vacancy_rate",
            "failed_firms",
            "productivity",
            "price",
            "rate",
        )
    }
    quarters = results.quarter.values
    begin, last = int(quarters[0]), int(quarters[-1])
    if first and not begin <= first <= last:
        raise ConfigError(f"{option('first', first)}: the quarters are {begin} to {last}")
    since = int(np.searchsorted(quarters, first or begin - 1 + len(quarters) // 2))
    drawing = Figure(figsize=(14, 9.6), layout="constrained")
    grid = drawing.add_gridspec(3, 4)
    upper, lower = ([drawing.add_subplot(grid[row, k]) for k in range(4)] for row in (0, 1))
    for axes, name in zip(upper, SERIES, strict=True):
        unit = words(results[name].attrs.get("units", "1"))
        label = name.replace("_", " ") if unit == "1" else f"{name.replace('_', ' ')} [{unit}]"
        axes.plot(quarters, found[name], color=BLUE, linewidth=0.7)
        grows = name == "gdp" and np.nanmax(found[name]) > GROWS * np.nanmin(found[name]) > 0
        axes.set(xlabel="quarter", ylabel=label, yscale="log" if grows else "linear")
        axes.grid(alpha=0.3)
    u = found["unemployment"][since:]
    with np.errstate(all="ignore"):
        rises = np.diff(found["wage"][since:]) / found["wage"][since:-1]
        output = np.diff(found["gdp"][since:]) / found["gdp"][since:-1]
        changes = np.diff(u) / u[:-1]
    _curve(lower[0], u[1:], rises, "unemployment", "growth of wages", "Phillips curve")
    _curve(lower[1], output, changes, "growth of gdp", "growth of unemployment", "Okun curve")
    _curve(
        lower[2],
        u,
        found["vacancy_rate"][since:],
        "unemployment",
        "vacancy rate",
        "Beveridge curve",
    )
    failed = found["failed_firms"]
    lower[3].bar(quarters, failed, width=1.0, color=BLUE)
    lower[3].set(xlabel="quarter", ylabel="firms that failed")
    _sizes(drawing.add_subplot(grid[2, :2]), results, economy)
    _comovements(drawing.add_subplot(grid[2, 2:]), found, since)
    sizes = (f"{results.attrs[name]} {name}" for name in SIZES if name in results.attrs)
    number = results.economy.values[economy]
    drawing.suptitle(words(f"BAM: {', '.join(sizes)}; economy {number}"))
    return drawing


def _curve(axes: Any, x: Any, y: Any, across: str, up: str, name: str) -> None:
    """Draw points with their least-squares line and correlation."""
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    axes.scatter(x, y, s=5, color=GREY)
    title = name
    if len(x) > 2 and x.std() > 0 and y.std() > 0:
        line = np.polyfit(x, y, 1)
        ends = np.array([x.min(), x.max()])
        axes.plot(ends, np.polyval(line, ends), color=BLUE)
        title = f"{name}: correlation {np.corrcoef(x, y)[0, 1]:.2f}"
    axes.set(xlabel=across, ylabel=up, title=title)
    axes.grid(alpha=0.3)


def _sizes(axes: Any, results: Any, economy: int) -> None:
    """Draw how many firms have which output."""
    axes.set(xlabel="output of a firm [goods]", ylabel="firms", title="Firm sizes")
    if "made" not in results:
        axes.text(0.5, 0.5, "not recorded: record.detail", ha="center", transform=axes.transAxes)
        return
    one = results["made"].isel(economy=economy, detail_quarter=-1)
    made = one.values.astype(float) / GRAINS
    axes.hist(made, bins=min(40, max(10, len(made) // 3)), color=BLUE)
    middle, mean = np.median(made), made.mean()
    axes.axvline(mean, color=COLOURS[1], label=f"mean {mean:.3g}, median {middle:.3g}")
    axes.set_title(f"Firm sizes in quarter {int(one.detail_quarter)}")
    axes.legend(frameon=False)


def _comovements(axes: Any, found: Mapping[str, Any], since: int) -> None:
    """Draw the correlation of cycles with that of output, some quarters later and earlier."""
    late = {name: values[since:] for name, values in found.items()}
    whole = np.isfinite(late["gdp"]) & (late["gdp"] > 0)
    late = {name: values[whole] for name, values in late.items()}
    axes.set(xlabel="quarters after output", ylabel="correlation with output", ylim=(-1.05, 1.55))
    axes.set_title("Co-movements of cycles")
    axes.axhline(0.0, color=GREY)
    axes.grid(alpha=0.3)
    if len(late["gdp"]) < 4 * len(LAGS):
        axes.text(0.5, 0.5, "too few quarters", ha="center", transform=axes.transAxes)
        return
    others = {
        "unemployment": late["unemployment"],
        "productivity": late["productivity"],
        "price": late["price"],
        "real interest rate": late["rate"] - late["inflation"],
        "real wage": late["real_wage"],
    }
    output = cycle(np.log(late["gdp"]))
    for (name, values), colour in zip(others.items(), COLOURS, strict=True):
        own, n = cycle(values), len(output)
        pairs = [(output[max(-k, 0) : n - max(k, 0)], own[max(k, 0) : n + min(k, 0)]) for k in LAGS]
        if own.std() > 1e-12 * (1.0 + abs(values).max()):
            correlations = [np.corrcoef(x, y)[0, 1] for x, y in pairs]
            axes.plot(LAGS, correlations, color=colour, marker="o", markersize=4, label=name)
    axes.legend(frameon=False, ncols=3, fontsize=8, loc="upper center")


def cycle(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a series less its trend by the filter of Hodrick and Prescott (1997)."""
    second = np.diff(np.eye(len(x)), 2, axis=0)
    trend = np.linalg.solve(np.eye(len(x)) + SMOOTHING * second.T @ second, x)
    return np.asarray(x - trend, np.float64)
