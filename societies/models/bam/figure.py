"""How is an economy drawn? As the book draws it: series, curves, and how firms differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from societies.workload.drawing.figure import clock_and_copies, numbers, require_copy, words

SIZES = ("firms", "households", "banks")
BLUE, GREY = "#0072B2", "0.75"
GROWS = 4.0
"""Largest over least output from which on the axis is logarithmic."""
SERIES = ("gdp", "unemployment", "inflation", "real_wage")
"""Series of the upper row."""


def figure(results: Any, *, economy: int = 0, first: int = 0) -> Any:
    """Draw output, unemployment, inflation and the real wage, the three curves, and bankruptcies.

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
        name: numbers(results, name, "economy", "quarter")[economy].values
        for name in (*SERIES, "wage", "vacancy_rate", "failed_firms")
    }
    quarters = results.quarter.values
    since = int(np.searchsorted(quarters, first or len(quarters) // 2))
    drawing = Figure(figsize=(14, 6.4), layout="constrained")
    upper, lower = drawing.subplots(2, 4)
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
    sizes = (f"{results.attrs[name]} {name}" for name in SIZES if name in results.attrs)
    number = results.economy.values[economy]
    drawing.suptitle(words(f"BAM: {', '.join(sizes)}; economy {number}"))
    return drawing


def _curve(axes: Any, x: Any, y: Any, across: str, up: str, name: str) -> None:
    """Draw points with their least-squares line and correlation."""
    there = np.isfinite(x) & np.isfinite(y)
    x, y = x[there], y[there]
    axes.scatter(x, y, s=5, color=GREY)
    title = name
    if len(x) > 2 and x.std() > 0 and y.std() > 0:
        line = np.polyfit(x, y, 1)
        ends = np.array([x.min(), x.max()])
        axes.plot(ends, np.polyval(line, ends), color=BLUE)
        title = f"{name}: correlation {np.corrcoef(x, y)[0, 1]:.2f}"
    axes.set(xlabel=across, ylabel=up, title=title)
    axes.grid(alpha=0.3)
