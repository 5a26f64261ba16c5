"""Which parts do the figures of results share: panels, lines, labels, legends, small print?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.analysis.selecting import RUN, copies_of, unknown
from societies.analysis.sensitivity import varied
from societies.economy.figure import happenings
from societies.errors import ConfigError, SocietiesError, option
from societies.workload.drawing.bands import mean
from societies.workload.drawing.figure import (
    COLOURS,
    COLUMNS,
    INTERVAL,
    QUANTILES,
    Mark,
    averaged,
    clock_of,
    drawable,
    handles_of,
    left_out,
    line_with_band,
    mark,
    marked,
    meaning,
    of_pasts,
    origin,
    pasts_of,
    require_shown,
    words,
)
from societies.workload.drawing.lettering import characters, fit, legend_above, wrapped

if TYPE_CHECKING:
    import xarray as xr

    Cases = Mapping[str, xr.Dataset]

MOST_CASES = 8
"""Most lines that a reader can distinguish; a key with more values is drawn along an axis."""
GREY = "#666666"
LEFT_OUT = "left_out"
"""Attribute with a text on the parts of a study that a figure does not show."""
_TITLES = {
    "gini_3day": "Gini of 3-day utility",
    "gini_cumulative": "Gini of utility since day 1",
    "gini_extracted": "Gini of units extracted",
    "gini_paper": "Gini as in the paper",
}
"""Titles of variables whose names do not say enough."""


def variable_of(data: xr.Dataset, name: str) -> Any:
    """Return a variable as real numbers; raise an error if it is missing."""
    if name not in data:
        if name in ("minutes", "extraction_share", "hhi", "device_maker_share", "interdependence"):
            of_devices = name not in ("minutes", "hhi")
            why = "; runs with devices have it: set devices=tools or all" if of_devices else ""
            raise SocietiesError(f"has no variable '{name}', which this figure shows{why}")
        raise unknown(name, map(str, data.data_vars))
    return drawable(data, name, *map(str, data[name].dims))


def require_along(values: Any, *dims: str) -> None:
    """Raise ConfigError unless a variable has these dimensions and no others, in any order."""
    if {*values.dims} != {*dims}:
        own = ", ".join(map(str, values.dims)) or "none"
        raise ConfigError(
            f"{option('variables', values.name)}: has the dimensions {own}; "
            f"this figure draws one number per {' and '.join(dims)}"
        )


def draw_line(
    axes: Any, data: xr.Dataset, values: Any, colour: str, shown: str, label: str
) -> None:
    """Draw a variable of all copies over the ticks."""
    clock, copies = clock_of(data), copies_of(data)
    ordered, pasts = values.transpose(copies, clock).values, pasts_of(data)
    if _points(data) > 1:
        ordered, shown = over_points(data, ordered), shown.replace(INTERVAL, QUANTILES)
        pasts = None
    line_with_band(axes, data[clock].values, ordered, colour, shown, label, pasts=pasts)


def _points(data: xr.Dataset) -> int:
    """Return how many points with different parameters the runs of a case have; at least 1."""
    if RUN not in data.dims or "point" not in data.coords or not varied(data):
        return 1
    return len(np.unique(data["point"].values))


def over_points(data: xr.Dataset, values: Any) -> Any:
    """Return the mean over the replicates of each point, (point, ...) for (run, ...)."""
    point = data["point"].values
    return np.stack([mean(values[point == one]) for one in np.unique(point)])


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
    """Write title and labels of a panel whose horizontal axis shows ticks."""
    ticks = data[clock_of(data)].values
    axes.set_title(words(title, 60))
    axes.set_ylabel(words(axis))
    axes.set_xlabel(clock_of(data))
    axes.set_xlim((ticks[0] - 1, ticks[-1]))
    axes.locator_params(axis="x", nbins=5, integer=True)


def meant(cases: Cases, shown: str, *, by_point: bool = False) -> tuple[str, str] | None:
    """Return texts that explain lines and bands; None if every line shows a single run.

    With ``by_point`` a line has a value for each point of a study. Otherwise a line shows the
    median of several points and the band their quantiles. Points differ in their parameters, so an
    interval of their mean has no meaning.
    """
    first = next(iter(cases.values()))
    counts = [data.sizes[copies_of(data)] for data in cases.values()]
    if RUN not in first.dims:
        return meaning(copies_of(first), range_of(counts), shown) if max(counts) > 1 else None
    of = [np.unique(data["point"].values, return_counts=True)[1] for data in cases.values()]
    points = max(map(_points, cases.values()))
    if by_point or points == 1:
        runs = [int(count) for each in of for count in each] if by_point else counts
        word = "replicate" if by_point or max(map(len, of)) == 1 else "run"
        return meaning(word, range_of(runs), shown) if max(runs) > 1 else None
    line, band = meaning("point", points, shown.replace(INTERVAL, QUANTILES))
    return f"{line}, each the mean of its runs ({range_of(counts)} in all)", band


def pooled(cases: Cases) -> str:
    """Return a text that explains the mean over all runs of each case."""
    counts = [data.sizes[copies_of(data)] for data in cases.values()]
    points = [_points(data) for data in cases.values()]
    if max(counts) < 2:
        return ""
    first = next(iter(cases.values()))
    copies = copies_of(first)
    if copies == RUN and max(len(np.unique(data["point"].values)) for data in cases.values()) == 1:
        copies = "replicate"
    said = meaning(copies, range_of(counts), INTERVAL)[0]
    return f"{said} of {range_of(points)} points together" if max(points) > 1 else said


def range_of(counts: Sequence[int]) -> int | str:
    """Return the common value of all counts, or a text with the smallest and the largest."""
    least, most = min(counts), max(counts)
    return most if least == most else f"{least} to {most}"


def finished(
    figure: Any,
    cases: Cases,
    shown: str,
    *,
    legend: bool = True,
    marks: bool = True,
    by_point: bool = False,
    along: bool = True,
    apart: bool = False,
    explained: tuple[str, str] | None = None,
    **style: Any,
) -> Any:
    """Add the legend, which explains cases, lines and bands, and the small print.

    Parameters
    ----------
    figure : of matplotlib
    cases : results in the figure
    shown : meaning of the bands; "" if no lines have bands
    legend : whether the legend has an entry for each case
    marks : whether the figure marks shocks and interventions
    by_point : whether a line has a value for each point of a study
    along : whether the horizontal axis shows ticks
    apart : whether each case has its own panel
    explained : texts on the meaning of lines and bands; default: those of the copies of the cases
    style : matplotlib's style of the lines
    """
    first = next(iter(cases.values()))
    happened: list[Mark] = []
    if marks and clock_of(first) in first.coords:
        happened = marks_among(cases)
    if shown:
        require_shown(shown)
        for axes, label in zip(figure.axes, cases, strict=False) if apart else ():
            mark_own(axes, cases, label)
        for axes in () if apart else figure.axes:
            mark(axes, first, happened)
        entries = figure.axes[0].get_legend_handles_labels()[0]
        said = explained or meant(cases, shown, by_point=by_point)
        rows = [entries if legend and len(cases) > 1 else []]
        rows.append(handles_of(*said, shown, **style) if said else [])
        legend_above(figure, rows)
    most = characters(figure.get_figwidth() - 0.2, 7.5)
    lines = [str(data.attrs.get(LEFT_OUT, "")) for data in cases.values()]
    lines += [of_pasts(data) for data in cases.values() if shown == INTERVAL]
    lines += left_out(figure)
    files = dict.fromkeys(
        (data.encoding.get("source", ""), _origin(data, along)) for data in cases.values()
    )
    lines += [said for _, said in list(files)[:3]]
    lines += [f"and {len(files) - 3} more"] if len({name for name, _ in files}) > 3 else []
    lines = list(dict.fromkeys(words(line, most) for line in lines))
    lines[:0] = [wrapped(words(marked(happened), 4 * most), most)] if happened else []
    return with_foot(figure, "\n".join(filter(None, lines)))


def with_foot(figure: Any, text: str) -> Any:
    """Write the small print at the foot of a figure, and let all texts fit; return the figure."""
    figure.supxlabel(text, x=0.01, ha="left", fontsize=7.5, color=GREY)
    fit(figure)
    return figure


def marks_among(cases: Cases) -> list[Mark]:
    """Return the marks of all cases; each names its cases unless all cases have the same marks.

    A mark with the same name as its case does not repeat it.
    """
    found = _happened(cases)
    if all(happenings(data) == found for data in cases.values()):
        return found
    named = {one: ", ".join(n for n in cases if one in happenings(cases[n])) for one in found}
    return [
        one if one.text.endswith(f" {of}") else Mark(one.tick, f"{one.text} ({of})")
        for one, of in named.items()
    ]


def _happened(cases: Cases) -> list[Mark]:
    return sorted({one for data in cases.values() for one in happenings(data)})


def mark_own(axes: Any, cases: Cases, label: str) -> None:
    """Draw the marks of a case in its panel, numbered across all cases."""
    mark(axes, cases[label], _happened(cases), happenings(cases[label]))


def _origin(data: xr.Dataset, along: bool) -> str:
    """Return a text with the source file and the number of ticks averaged in each point."""
    if not along or clock_of(data) not in data.coords:
        return origin(data)
    return origin(data) + averaged(data)


def longest(cases: Cases) -> xr.Dataset:
    """Return the case with the latest tick, whose ticks all panels use."""
    return max(cases.values(), key=lambda data: int(data[clock_of(data)].values[-1]))


def unit_of(values: xr.DataArray) -> str:
    """Return the unit for a label; "" for a quantity without a unit."""
    unit = str(values.attrs.get("units", "1"))
    return "" if unit == "1" else unit


def in_unit(values: xr.DataArray) -> str:
    """Return the unit in brackets; "" for a quantity without a unit."""
    return f"[{unit}]" if (unit := unit_of(values)) else ""


def titled(name: str, meaning: str) -> str:
    """Return the title of a variable: its name in words; for a Gini coefficient its quantity."""
    if name in _TITLES:
        return _TITLES[name]
    if name.startswith("gini") and meaning.startswith("Gini coefficient"):
        return of_quantity(meaning)
    name = re.sub("^(gini|top_share)_", r"\1_of_", name)
    return re.sub(r"(\d)([a-z])", r"\1-\2", name.replace("_", " ")).capitalize()


def unit_label(unit: str) -> str:
    """Return the label of an axis with a unit; "" for a quantity without a unit."""
    return "" if unit in ("", "1") else words(unit)


def title_of(values: xr.DataArray) -> str:
    """Return the title of a variable of a file."""
    return titled(str(values.name), meaning_of(values))


def of_quantity(meaning: str) -> str:
    """Return a label for a Gini coefficient that names its quantity."""
    return words(meaning.replace("over living agents ", "").replace("Gini coefficient", "Gini"), 60)


def legend_inside(axes: Any) -> None:
    """Draw the legend of a panel where it covers the least, on a pale background."""
    axes.legend(loc="best", fontsize=8.5, frameon=True, framealpha=0.7, edgecolor="none")


def meaning_of(values: xr.DataArray) -> str:
    """Return the meaning that a variable states as an attribute; "" if it has none."""
    return str(values.attrs.get("long_name", ""))


def about(values: xr.DataArray) -> str:
    """Return the meaning of a variable, shortened for a label."""
    return str(values.attrs.get("long_name", values.name)).split(",")[0].split(":")[0]
