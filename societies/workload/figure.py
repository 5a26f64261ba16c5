"""What does a run look like whose workload draws no figure of its own? Its series, tick by tick.

Workloads that do draw one build on the same panels: see `panels_figure`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from societies.errors import ConfigError, OutputError, SocietiesError, option, printable
from societies.words import plural

if TYPE_CHECKING:
    import xarray as xr

MOST_PANELS = 6
COLOURS = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#E69F00")
"""Colours of Okabe and Ito, which colour-blind people can distinguish."""

_NUMBERS = "iufb"
"""Kinds of NumPy types that can be drawn."""
_LONGEST_WORDS = 120
_LARGEST = 1e300
"""A figure can add and scale numbers below it without their becoming infinite."""

_INK, _GREY, _GRID = "#222222", "#666666", "#E3E3E3"
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same picture on every machine
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "axes.labelcolor": _GREY,
    "axes.edgecolor": _GREY,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": _GRID,
    "grid.linewidth": 0.8,
    "text.color": _INK,
    "xtick.color": _GREY,
    "ytick.color": _GREY,
    "lines.linewidth": 1.4,
    "savefig.facecolor": "white",
    "figure.constrained_layout.h_pad": 0.09,
    "svg.hashsalt": "societies",  # without it an SVG's identifiers differ from run to run
}
"""Settings of matplotlib with which `societies.plot_overview` draws every figure."""


class Panel(NamedTuple):
    """One series over the ticks.

    Attributes
    ----------
    variable : of the file: (copy, tick)
    title, label : of the panel and of its axis
    colour : of the line
    """

    variable: str
    title: str
    label: str
    colour: str


Draw = Callable[[Any, Any], None]
"""Draws a dataset into matplotlib's axes."""


def series_figure(results: xr.Dataset) -> Any:
    """Return a figure of the first series of a result, six at most.

    Parameters
    ----------
    results : xarray.Dataset
        As `societies.open_results` returns it.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    SocietiesError
        If there is nothing to draw.
    """
    return panels_figure(results, panels_of(results))


def panels_of(results: xr.Dataset) -> list[Panel]:
    """Return a panel for each of the first series."""
    dims = set(clock_and_copies(results))
    series = [
        str(name)
        for name, array in results.data_vars.items()
        if set(array.dims) == dims and array.dtype.kind in _NUMBERS
    ]
    panels = []
    for name, colour in zip(series[:MOST_PANELS], COLOURS, strict=False):
        unit = str(results[name].attrs.get("units", "1"))
        title = words(name.replace("_", " ").capitalize())
        panels.append(Panel(name, title, "" if unit == "1" else words(unit), colour))
    return panels


def panels_figure(
    results: xr.Dataset, panels: Sequence[Panel], more: Sequence[Draw] = (), who: str = ""
) -> Any:
    """Return a figure of some series, each in a panel.

    A panel shows the mean over copies as a line and, where there are several copies, the range
    from the least to the greatest as a band.

    Parameters
    ----------
    results : xarray.Dataset
    panels : what to draw
    more : functions that draw a panel each, after the others
    who : of what it is, for the title; default: the title of the file

    Raises
    ------
    SocietiesError
        If there is nothing to draw.
    OutputError
        If what is to be drawn is not what a run writes.
    """
    from matplotlib.figure import Figure

    clock, copies = clock_and_copies(results)
    if not panels:
        raise SocietiesError(
            f"has no variable with one number per {copies} and {clock}, so there is nothing to "
            "draw. Plot it with xarray."
        )
    if results.sizes[clock] == 0:
        raise SocietiesError(f"holds no complete {clock} yet. Run it first, or continue its run.")
    count = len(panels) + len(more)
    figure = Figure(figsize=(10, 8.7 if count > MOST_PANELS else 5.8), layout="constrained")
    places = _places(figure.add_gridspec(-(-count // 3), 6), count)
    for draw, place in zip(more, places[len(panels) :], strict=True):
        draw(figure.add_subplot(place), results)
    for panel, place in zip(panels, places, strict=False):
        _draw(figure.add_subplot(place), results, panel)
    figure.suptitle(
        title(results, who), x=0.01, ha="left", fontsize=12.5, color=_INK, fontweight="normal"
    )
    return figure


def clock_and_copies(results: xr.Dataset) -> tuple[str, str]:
    """Return what a file calls its ticks and its copies.

    Raises
    ------
    OutputError
        If it has no coordinates of these names, or ticks that no run counts.
    """
    clock, copies = (
        str(results.attrs.get(what, word))
        for what, word in (("clock", "day"), ("copies", "society"))
    )
    for dim in (clock, copies):
        if dim not in results.coords or results[dim].dims != (dim,):
            raise OutputError(f"has no coordinate '{words(dim)}', so it cannot be drawn")
    if not results.sizes[copies]:
        raise OutputError(f"has no {words(copies)}, so there is nothing to draw")
    ticks = results[clock].values
    if (
        ticks.dtype.kind not in "iu"
        or (len(ticks) and ticks[0] < 0)
        or (ticks[1:] <= ticks[:-1]).any()
    ):
        raise OutputError(
            f"'{words(clock)}' does not count from tick to tick, so it cannot be drawn"
        )
    return clock, copies


def require_copy(results: xr.Dataset, place: int) -> None:
    """Raise ConfigError unless a file has a copy at this place, counted from 0."""
    _, copies = clock_and_copies(results)
    there = results.sizes[copies]
    if not 0 <= place < there:
        raise ConfigError(f"{option(copies, place)}: the {plural(copies)} are 0 to {there - 1}")


def numbers(results: xr.Dataset, name: str, *dims: str) -> xr.DataArray:
    """Return a variable as real numbers along these dimensions, in this order.

    What is infinite, or too large for the axis of a figure, is missing in it.

    Raises
    ------
    OutputError
        If there is no such variable, or it has other dimensions or no numbers.
    """
    if name not in results:
        raise OutputError(f"has no variable '{name}', so it cannot be drawn")
    array = results[name]
    if sorted(map(str, array.dims)) != sorted(dims):
        there = ", ".join(words(dim) for dim in array.dims) or "none"
        raise OutputError(
            f"'{name}' has the dimensions {there}, not {', '.join(dims)}, so it cannot be drawn"
        )
    if array.dtype.kind not in _NUMBERS:
        raise OutputError(f"'{name}' does not hold numbers, so it cannot be drawn")
    found = array.transpose(*dims).astype(float).load()
    return found.where(abs(found) < _LARGEST)


def _places(grid: Any, count: int) -> list[Any]:
    """Return where the panels go: in rows of up to three, of two rows the upper one fuller."""
    rows = [count] if count <= 3 else [(count + 1) // 2, count // 2]
    if count > MOST_PANELS:
        rows = [3] * (count // 3) + [count % 3] * (count % 3 > 0)
    return [
        grid[row, i * 6 // n : (i + 1) * 6 // n] for row, n in enumerate(rows) for i in range(n)
    ]


def _draw(axes: Any, results: xr.Dataset, panel: Panel) -> None:
    clock, copies = clock_and_copies(results)
    ticks = results[clock].values
    series = numbers(results, panel.variable, copies, clock)
    if results.sizes[copies] > 1:
        least, greatest = series.min(copies), series.max(copies)
        axes.fill_between(ticks, least, greatest, color=panel.colour, alpha=0.22, linewidth=0)
    # Not clipped, so that a line along zero shows on the axis.
    marker = "o" if len(ticks) == 1 else ""
    mean = series.mean(copies)
    axes.plot(ticks, mean, color=panel.colour, marker=marker, clip_on=False, zorder=3)
    label(axes, results, panel.title, panel.label)
    top, bottom = (
        float(end) if series.notnull().any() else 0.0 for end in (series.max(), series.min())
    )
    axes.set_ylim((min(0.0, bottom * 1.08), top * 1.08 if top > 0 else 1))
    if top >= 1000:
        axes.yaxis.set_major_formatter(_thousands)


def label(axes: Any, results: xr.Dataset, title: str, label: str) -> None:
    """Write the title and the labels of a panel, along whose lower edge the ticks go."""
    clock, _ = clock_and_copies(results)
    ticks = results[clock].values
    axes.set_title(title)
    axes.set_ylabel(label)
    axes.set_xlabel(clock)
    axes.set_xlim((ticks[0] - 1, ticks[-1]))


def title(results: xr.Dataset, who: str = "") -> str:
    """Say what was run, as far as is known, and what line and band mean."""
    _, copies = clock_and_copies(results)
    parts = [who or words(results.attrs.get("title", ""))]
    count = results.sizes[copies]
    if count == 1:
        parts.append(f"1 {copies}")
    else:
        parts.append(f"{count} {plural(copies)} (line: mean, band: minimum to maximum)")
    return "  ·  ".join(part for part in parts if part)


def words(text: object) -> str:
    """Return what a file says as words of a figure: no mathematics, nothing that has no picture.

    What is longer than a figure is wide is cut.
    """
    shown = str(text)
    shown = shown if len(shown) <= _LONGEST_WORDS else f"{shown[: _LONGEST_WORDS - 3]}..."
    return printable(shown).replace("$", r"\$")


def _thousands(value: float, _: int | None = None) -> str:
    """Write a tick with narrow spaces between thousands."""
    return f"{value:,.6g}".replace(",", "\u202f")
