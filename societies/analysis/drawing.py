"""What do the figures of results share: panels, lines, labels, legends and the small print?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.analysis.selecting import RUN, copies_of, unknown
from societies.economy.figure import happenings
from societies.errors import ConfigError, SocietiesError
from societies.words import plural
from societies.workload.figure import (
    COLOURS,
    COLUMNS,
    MOST_POINTS,
    NONE,
    Mark,
    clock_of,
    line_with_band,
    mark,
    meaning,
    numbers,
    origin,
    require_shown,
    words,
)

if TYPE_CHECKING:
    import xarray as xr

    Cases = Mapping[str, xr.Dataset]

MOST_CASES = 8
"""Lines that can still be told apart; a key with more values is drawn along an axis."""
GREY = "#666666"
POINTS = MOST_POINTS
"""Points of a line at most."""


def variable_of(data: xr.Dataset, name: str) -> Any:
    """Return a variable as real numbers, or say that it is missing."""
    if name not in data:
        if name in ("minutes", "extraction_share", "hhi", "device_maker_share", "interdependence"):
            raise SocietiesError(f"has no variable '{name}', which this figure shows{_why(name)}")
        raise unknown(name, map(str, data.data_vars))
    return numbers(data, name, *map(str, data[name].dims))


def _why(name: str) -> str:
    """Say which runs have a variable, if those with devices alone do."""
    of_devices = name in ("extraction_share", "device_maker_share", "interdependence")
    return "; runs with devices have it: set devices=tools or all" if of_devices else ""


def draw_line(
    axes: Any, data: xr.Dataset, values: Any, colour: str, shown: str, label: str
) -> None:
    """Draw a variable of all copies over the ticks."""
    clock, copies = clock_of(data), copies_of(data)
    ordered = values.transpose(copies, clock).values
    line_with_band(axes, data[clock].values, ordered, colour, shown, label)


def coloured(cases: Cases) -> list[tuple[str, str, xr.Dataset]]:
    """Return label, colour and dataset of every case."""
    if len(cases) > MOST_CASES:
        raise ConfigError(f"{len(cases)} results are too many for one figure; at most {MOST_CASES}")
    colours = (*COLOURS, GREY, "#000000")
    return [(label, colours[i], data) for i, (label, data) in enumerate(cases.items())]


def new_panels(count: int, *, wide: bool = False) -> tuple[Any, list[Any]]:
    """Return a figure and its panels."""
    from matplotlib.figure import Figure

    columns = min(count, COLUMNS)
    rows = -(-count // columns)
    size = (8.5, 4.8) if wide else (max(5.5, 3.6 * columns + 0.8), 0.9 + 3.0 * rows)
    figure = Figure(figsize=size, layout="constrained")
    return figure, [figure.add_subplot(rows, columns, i + 1) for i in range(count)]


def label_panel(axes: Any, data: xr.Dataset, title: str, axis: str) -> None:
    """Write title and labels of a panel along whose lower edge the ticks go."""
    ticks = data[clock_of(data)].values
    axes.set_title(words(title, 60))
    axes.set_ylabel(words(axis))
    axes.set_xlabel(clock_of(data))
    axes.set_xlim((ticks[0] - 1, ticks[-1]))
    axes.locator_params(axis="x", nbins=5, integer=True)


def finished(
    figure: Any,
    cases: Cases,
    shown: str,
    *,
    legend: bool = True,
    marked: bool = True,
    by_point: bool = False,
) -> Any:
    """Add the legend of the cases, what line and band are, and the small print.

    ``by_point`` says that a line has a place for each point of a study; else they are together.
    """
    if shown:
        require_shown(shown)
    first = next(iter(cases.values()))
    marks: list[Mark] = []
    if marked and RUN not in first.dims:
        marks = next((found for found in map(happenings, cases.values()) if found), [])
    lines = []
    if shown:
        copies = copies_of(first)
        counts = {data.sizes[copies_of(data)] for data in cases.values()}
        if max(counts) > 1 and RUN not in first.dims:
            line, band = meaning(copies, max(counts), shown)
            lines.append(f"line: {line}" + (f"; band: {band}" if shown != NONE else ""))
        elif max(counts) > 1:
            points = max(len(set(data["point"].values.tolist())) for data in cases.values())
            together = "" if by_point or points == 1 else f" of {points} points together"
            count = max(counts) // points if by_point else max(counts)
            line, band = meaning("run" if together else "replicate", count, shown)
            lines.append(f"line: {line}{together}" + (f"; band: {band}" if shown != NONE else ""))
        for axes in figure.axes:
            mark(axes, first, marks)
        if legend and len(cases) > 1:
            handles = figure.axes[0].get_legend_handles_labels()
            wide = 0.5 + 0.085 * max(map(len, cases))  # inches of an entry, roughly
            ncols = max(1, min(len(cases), int(figure.get_figwidth() / wide)))
            figure.legend(*handles, loc="outside upper left", ncols=ncols, fontsize=9)
    if marks:
        lines.append("dashed: " + "; ".join(one.text for one in marks[:4]))
    lines += [_origin(data) for data in list(cases.values())[:3]]
    lines = list(dict.fromkeys(words(line, 110) for line in lines))
    lines = [line for line in lines if line]
    figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=7.5, color=GREY)
    return figure


def _origin(data: xr.Dataset) -> str:
    if clock_of(data) not in data.coords:
        return origin(data)
    each = -(-data.sizes[clock_of(data)] // POINTS)
    thinned = f"  ·  means of {each} {plural(clock_of(data))}" if each > 1 else ""
    return origin(data) + thinned


def longest(cases: Cases) -> xr.Dataset:
    """Return the case that goes on longest, whose ticks all panels have."""
    return max(cases.values(), key=lambda data: int(data[clock_of(data)].values[-1]))


def unit_of(values: xr.DataArray) -> str:
    """Return the unit for a label; nothing for a mere number."""
    unit = str(values.attrs.get("units", "1"))
    return "" if unit == "1" else unit


def about(values: xr.DataArray) -> str:
    """Return what a variable means, shortened for a label."""
    return str(values.attrs.get("long_name", values.name)).split(",")[0].split(":")[0]


def short(value: Any) -> str:
    """Return a value of a key as it labels an axis."""
    return f"{value:.4g}" if isinstance(value, float | np.floating) else words(value, 24)
