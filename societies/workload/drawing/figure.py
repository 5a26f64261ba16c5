"""What is drawn of a run whose workload has no figure of its own? Its series over the ticks.

Workloads with a figure of their own use the same panels: see `panels_figure`.

A figure of a workload is a function of the open dataset of a file. It returns matplotlib's Figure,
and raises ConfigError if the copy to be drawn is not in the file, or OutputError if the variables
to be drawn are not as a run writes them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError, OutputError, SocietiesError, option, printable
from societies.words import counted, plural, short
from societies.workload.drawing import bands
from societies.workload.drawing.lettering import fit, wrapped

if TYPE_CHECKING:
    import xarray as xr

MOST_PANELS = 6
"""Largest number of series in the default figure."""
COLOURS = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#E69F00")
"""Colours of Okabe and Ito, which colour-blind people can distinguish."""

_LEFT_OUT: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()
_MISSING: WeakKeyDictionary[Any, list[tuple[int, int]]] = WeakKeyDictionary()
"""What figures leave out, and for panels how many values are missing, of how many."""
_NUMBERS = "iufb"
"""Kinds of NumPy types that can be drawn."""
_LONGEST_WORDS = 120
_LARGEST = 1e300
"""Numbers below it can be added and scaled in a figure without overflow."""

INK, _GREY, _PALE, _GRID = "#222222", "#666666", "#999999", "#E3E3E3"
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
    "text.color": INK,
    "xtick.color": _GREY,
    "ytick.color": _GREY,
    "lines.linewidth": 1.4,
    "savefig.facecolor": "white",
    "figure.constrained_layout.h_pad": 0.09,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text, which can be searched and edited
    "pdf.fonttype": 42,
    "svg.hashsalt": "societies",  # without it an SVG's identifiers differ from run to run
}
"""Settings of matplotlib with which `societies.plot_overview` draws every figure."""


MOST_POINTS = 250
"""Largest number of points of a line. In a longer run each point is the mean of several ticks,
which also reduces daily noise."""
COLUMNS = 3
"""Number of panels in a row."""

LEVEL, PART = 0.95, 0.9
"""Level of the intervals of the mean; share of the copies between the quantiles."""
INTERVAL, QUANTILES, NONE = SHOWN = ("interval", "quantiles", "none")
"""Kinds of bands."""
NUMBER_OF_MARK = "number of mark"
"""Name of the texts at marks, which the small print explains."""
_MOST_MARKS = 12
_CHARACTER = 0.022
"""Width of a character at a mark in a narrow panel, as a share of the panel."""


class Mark(NamedTuple):
    """A tick at which something happened.

    Attributes
    ----------
    tick : the tick at whose end it happened
    text : description for the small print
    """

    tick: int
    text: str


class Panel(NamedTuple):
    """One series over the ticks.

    Attributes
    ----------
    variable : name of a variable (copy, tick) of the file
    title, label : title of the panel and label of its axis
    colour : colour of the line
    """

    variable: str
    title: str
    label: str
    colour: str


Draw = Callable[[Any, Any], None]
"""A function that draws a dataset into axes of matplotlib."""


def series_figure(results: xr.Dataset, *, bands: str = INTERVAL) -> Any:
    """Return a figure of the first six series of a result.

    Raises SocietiesError if there is nothing to draw.

    Parameters
    ----------
    results : xarray.Dataset
        As `societies.open_results` returns it.
    bands : str
        Kind of the band: "interval" of the mean, "quantiles" of the copies, or "none".

    Returns
    -------
    matplotlib.figure.Figure
    """
    return panels_figure(results, panels_of(results), shown=bands, marks=marks_of(results))


def series_of(results: xr.Dataset, dims: Collection[str]) -> list[str]:
    """Return the names of the variables of numbers along these dimensions."""
    return [
        str(name)
        for name, array in results.data_vars.items()
        if set(array.dims) == set(dims) and array.dtype.kind in _NUMBERS
    ]


def others(drawn: Sequence[str], names: Sequence[str]) -> str:
    """Return a text on the series that a figure does not show, "" if it shows all."""
    unseen = [name for name in names if name not in drawn]
    if not unseen:
        return ""
    return f"{len(drawn)} of {len(names)} series; others by name: {option('variables', unseen[0])}"


def panels_of(results: xr.Dataset) -> list[Panel]:
    """Return a panel for each of the first series."""
    series = series_of(results, clock_and_copies(results))
    panels = []
    for name, colour in zip(series[:MOST_PANELS], COLOURS, strict=False):
        unit = str(results[name].attrs.get("units", "1"))
        title = words(name.replace("_", " ").capitalize())
        panels.append(Panel(name, title, "" if unit == "1" else words(unit), colour))
    return panels


def panels_figure(
    results: xr.Dataset,
    panels: Sequence[Panel],
    more: Sequence[Draw] = (),
    who: str = "",
    *,
    shown: str = INTERVAL,
    marks: Sequence[Mark] = (),
) -> Any:
    """Return a figure of some series, each in a panel.

    A panel shows the mean or the median over copies as a line and, if there are several copies, a
    band; the legend says which. In a long run, points are means of consecutive ticks.

    Raises ConfigError if ``shown`` is not one of these. Raises SocietiesError if there is nothing
    to draw. Raises OutputError if a variable to be drawn is missing or has the wrong form.

    Parameters
    ----------
    results : xarray.Dataset
    panels : series to draw
    more : functions that draw one further panel each
    who : beginning of the title; default: the title of the file
    shown : kind of the band: "interval" of the mean, "quantiles" of the copies, or "none"
    marks : ticks to mark with a line
    """
    from matplotlib.figure import Figure

    clock, copies = clock_and_copies(results)
    require_shown(shown)
    if not panels:
        raise SocietiesError(
            f"has no variable with one number per {copies} and {clock}, so there is nothing to "
            "draw. Plot it with xarray."
        )
    if results.sizes[clock] == 0:
        raise SocietiesError(f"holds no complete {clock} yet. Run it first, or continue its run.")
    count = len(panels) + len(more)
    rows = -(-count // COLUMNS)
    figure = Figure(figsize=(10, 0.9 + 2.75 * rows), layout="constrained")
    grid = figure.add_gridspec(rows, min(count, COLUMNS))
    places = [grid[i // COLUMNS, i % COLUMNS] for i in range(count)]
    for panel, place in zip(panels, places, strict=False):
        _draw(figure.add_subplot(place), results, panel, shown)
    for draw, place in zip(more, places[len(panels) :], strict=True):
        draw(figure.add_subplot(place), results)
    for axes in figure.axes:
        mark(axes, results, marks)
    figure.suptitle(
        title(results, who), x=0.01, ha="left", fontsize=12.5, color=INK, fontweight="normal"
    )
    legend(figure, results.sizes[copies], copies, shown)
    series = series_of(results, (clock, copies))
    if len(series) > MOST_PANELS and [one.variable for one in panels] == series[:MOST_PANELS]:
        leave_out(figure, others(series[:MOST_PANELS], series))
    if shown == INTERVAL and (said := of_pasts(results)):
        leave_out(figure, said)
    small_print(figure, results, marks)
    fit(figure)
    return figure


def leave_out(figure: Any, text: str) -> None:
    """Note what a figure does not show; its small print has the text."""
    _LEFT_OUT.setdefault(figure, []).append(text)


def left_out(figure: Any) -> list[str]:
    """Return the texts on what a figure does not show."""
    lost: dict[str, list[int]] = {}
    for axes in figure.axes:
        name = axes.get_title("left") or axes.get_title()
        for missing, every in _MISSING.get(axes, []):
            before = lost.get(name, [0, 0])
            lost[name] = [before[0] + missing, before[1] + every]
    values = [f"{name} {few:,} of {many:,}" for name, (few, many) in lost.items() if few]
    said = [f"missing or infinite values left out: {', '.join(values)}"] if values else []
    return [*dict.fromkeys(_LEFT_OUT.get(figure, [])), *said]


def count_missing(axes: Any, values: Any, but: int = 0) -> None:
    """Note how many values of a panel are missing, apart from ``but`` that stand for no value."""
    missing = int(np.isnan(values).sum()) - but
    _MISSING.setdefault(axes, []).append((missing, np.size(values) - but))


def require_shown(shown: str) -> None:
    """Raise ConfigError unless this is a kind of band (`SHOWN`)."""
    if shown not in SHOWN:
        raise ConfigError(f"{option('bands', shown)}: choose one of {', '.join(SHOWN)}")


def line_with_band(
    axes: Any,
    ticks: NDArray[Any],
    values: NDArray[np.float64],
    colour: str,
    shown: str = INTERVAL,
    name: str = "",
    *,
    band: bool = True,
    most: int = MOST_POINTS,
    padding: int = 0,
    pasts: NDArray[Any] | None = None,
    level: float = LEVEL,
    **style: Any,
) -> None:
    """Draw a series of several copies: mean and interval, or median and quantiles.

    Parameters
    ----------
    axes : axes of matplotlib
    ticks : (tick,)
    values : (copy, tick)
    colour, name : colour of the line, and its name in a legend
    shown : "interval", "quantiles" or "none"
    band : whether the band is drawn
    most : largest number of points; of more ticks, points are means of several
    padding : number of missing values that stand for no value
    pasts : `pasts_of` the copies
    level : of the interval of the mean
    style : properties of the line in matplotlib
    """
    count_missing(axes, values, padding)
    ticks, values, _ = bands.thinned(ticks, values, most)
    shown = shown if band or shown == QUANTILES else NONE
    line, low, high = middle_and_band(values, shown, pasts, level)
    if band and len(values) > 1 and shown != NONE:
        axes.fill_between(ticks, low, high, color=colour, alpha=0.22, linewidth=0)
    # Not clipped, so that a line along zero is visible on the axis.
    style = {"marker": "o" if len(ticks) == 1 else ""} | style
    axes.plot(ticks, line, color=colour, clip_on=False, zorder=3, label=name or "_line", **style)


def middle_and_band(
    values: NDArray[np.float64],
    shown: str,
    pasts: NDArray[Any] | None = None,
    level: float = LEVEL,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the line over copies and the ends of its band, each (...) for (copy, ...)."""
    if shown == QUANTILES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # ticks at which all values are missing
            low, line, high = np.nanquantile(values, [(1 - PART) / 2, 0.5, (1 + PART) / 2], axis=0)
        return line, low, high
    line = bands.mean(values)
    low, high = (line, line) if shown == NONE else bands.ends_of_mean(values, level, pasts=pasts)
    return line, low, high


def pasts_of(results: xr.Dataset, copies: str = "") -> NDArray[Any] | None:
    """Return the number of the past of each copy of a fan; None if the result is no fan.

    ``copies`` is the dimension of the copies, if it is not named as in the file.
    """
    copies = copies or str(results.attrs.get("copies", "society"))
    futures = (configuration_of(results).get("fan") or {}).get("futures")
    if not futures or copies not in results.dims or copies not in results.coords:
        return None
    found: NDArray[Any] = results[copies].values // int(futures)
    return found


def of_pasts(results: xr.Dataset) -> str:
    """Return a text on the interval of the mean in a fan; "" if the result is none."""
    pasts = pasts_of(results)
    if pasts is None:
        return ""
    return (
        f"a fan: the interval is that of {len(np.unique(pasts))} pasts, whose futures are not "
        "independent"
    )


def meaning(copies: str, count: int | str, shown: str, level: float = LEVEL) -> tuple[str, str]:
    """Return descriptions of line and band for the legend."""
    several = f"{count} {plural(copies)}"
    if shown == QUANTILES:
        low, high = (f"{100 * end:g} %" for end in ((1 - PART) / 2, (1 + PART) / 2))
        return f"median of {several}", f"{low} to {high} quantile of the {plural(copies)}"
    return f"mean of {several}", f"{100 * level:g} % interval of the mean (bootstrap)"


def legend(figure: Any, count: int, copies: str, shown: str) -> None:
    """Draw a legend of line and band below the title, if there are several copies."""
    if count >= 2:
        _below_title(figure, handles_of(*meaning(copies, count, shown), shown))


def handles_of(line: str, band: str, shown: str, **style: Any) -> list[Any]:
    """Return the entries of a legend for line and band."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Line2D([], [], color=_PALE, label=line, **style)]
    if shown != NONE:
        handles.append(Patch(color=_PALE, alpha=0.45, linewidth=0, label=band))
    return handles


def _below_title(figure: Any, handles: Sequence[Any]) -> None:
    """Draw a legend in the second line of the title, which is left blank for it."""
    figure.suptitle(
        f"{figure._suptitle.get_text()}\n ",
        **{"x": 0.01, "ha": "left", "fontsize": 12.5, "color": INK, "fontweight": "normal"},
    )
    y = 1 - 0.26 / figure.get_figheight()
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.0, y),
        ncols=min(len(handles), 6),
        fontsize=9,
    )


def mark(
    axes: Any, results: xr.Dataset, marks: Sequence[Mark], own: Sequence[Mark] | None = None
) -> None:
    """Draw a line at each marked tick, with the numbers of its marks if there are several.

    Parameters
    ----------
    axes : axes of matplotlib
    results : the dataset that is drawn
    marks : all marks of the figure, numbered in this order
    own : marks of this panel; default: all
    """
    first, last = axes.get_xlim()
    at: dict[float, list[int]] = {}
    for number, one in enumerate(marks, 1):
        if first <= one.tick <= last and (own is None or one in own):
            at.setdefault(one.tick, []).append(number)
    filled = [-np.inf]  # where the texts of each line end
    for tick, numbers in sorted(at.items()):
        axes.axvline(tick, color=_GREY, linewidth=0.9, linestyle=(0, (3, 2)), zorder=2)
        if len(marks) > 1:
            text = ", ".join(map(str, numbers))
            text = text if len(numbers) < 4 else f"{numbers[0]}-{numbers[-1]}"
            line = next((k for k, end in enumerate(filled) if end <= tick), len(filled))
            filled[line:] = [tick + (last - first) * _CHARACTER * (len(text) + 1)]
            axes.annotate(
                text,
                (tick, 1),
                xycoords=("data", "axes fraction"),
                xytext=(1.5, -1 - 9 * line),
                textcoords="offset points",
                va="top",
                fontsize=7.5,
                color=_GREY,
                gid=NUMBER_OF_MARK,
            )


def small_print(figure: Any, results: xr.Dataset, marks: Sequence[Mark] = ()) -> None:
    """Write at the foot the meaning of the marks, and the file and version of the results."""
    lines = []
    if marks:
        lines.append(wrapped(words(marked(marks), longest=600), 150))
    lines += [words(text, longest=150) for text in left_out(figure)]
    lines.append(origin(results) + averaged(results))
    figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=7.5, color=_GREY)


def averaged(results: xr.Dataset) -> str:
    """Return a text with the number of ticks per point of a line; "" if it is one."""
    clock = clock_of(results)
    each = -(-results.sizes[clock] // MOST_POINTS)
    recorded = "" if (np.diff(results[clock].values) == 1).all() else "recorded "
    return f"  ·  means of {each} {recorded}{plural(clock)}" if each > 1 else ""


def marked(marks: Sequence[Mark]) -> str:
    """Return a text with the meaning of the dashed lines, numbered if there are several."""
    numbered = [
        f"{number}: {one.text}" if len(marks) > 1 else one.text
        for number, one in enumerate(marks[:_MOST_MARKS], 1)
    ]
    rest = [f"and {len(marks) - _MOST_MARKS} more"] if len(marks) > _MOST_MARKS else []
    return "dashed: " + "; ".join([*numbered, *rest])


def clock_of(results: xr.Dataset) -> str:
    """Return the name of a tick in a dataset."""
    return str(results.attrs.get("clock", "day"))


def origin(results: xr.Dataset) -> str:
    """Return a text with file, workload, seed, versions and number of ticks of a result."""
    attrs, parts = results.attrs, []
    clock = clock_of(results)
    source = str(results.encoding.get("source", ""))
    if source:
        parts.append(words(source.replace("\\", "/").rsplit("/", 1)[-1]))
    named = {"workload": "", "seed": "seed ", "model_version": "model "}
    if "seed" not in attrs and "seed" in results.coords:  # a study has a seed for each run
        seeds = np.unique(results["seed"].values)
        attrs = {**attrs, "seed": seeds[0]} if len(seeds) == 1 else attrs
    parts += [f"{word}{words(attrs[name])}" for name, word in named.items() if name in attrs]
    if clock in results.coords:
        done = int(results[clock].values[-1]) if results.sizes[clock] else 0
        of = f" of {words(attrs['ticks'])}" if "ticks" in attrs else ""
        parts.append(f"{plural(clock)} up to {done}{of}")
    if "societies_version" in attrs:
        parts.append(f"societies {words(attrs['societies_version'])}")
    return "  ·  ".join(parts)


def values_set(one: Mapping[str, Any]) -> str:
    """Return the label of an intervention, or a text with the values that it sets."""
    if one.get("label"):
        return str(one["label"])
    values = one.get("set")
    pairs = values.items() if isinstance(values, dict) else ()
    return ", ".join(f"{key} {short(value)}" for key, value in pairs)


def marks_of(
    results: xr.Dataset,
    keys: Iterable[str] = ("interventions",),
    worded: Callable[[Mapping[str, Any]], str] = values_set,
) -> list[Mark]:
    """Return marks for the events in a run's configuration, in the order of ticks.

    An entry of the lists has its tick under the clock's name; ``worded`` describes it.
    """
    said, clock = configuration_of(results), clock_of(results)
    entries = [one for key in keys for one in _sections(said.get(key))]
    at = [(one.get(clock), worded(one)) for one in entries]
    at += [(one["until"], f"end of {worded(one)}") for one in entries if one.get("until")]
    return sorted(
        Mark(tick, f"{clock} {tick} {what}")
        for tick, what in at
        if isinstance(tick, int) and tick > 0
    )


def _sections(said: Any) -> list[Mapping[str, Any]]:
    return [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []


def configuration_of(results: xr.Dataset) -> Mapping[str, Any]:
    """Return the configuration of a result as plain data; empty if it cannot be read.

    The mapping is cached and read-only, and its contents must not be changed.
    """
    return _read(str(results.attrs.get("configuration", "")))


@lru_cache(maxsize=16)
def _read(text: str) -> Mapping[str, Any]:
    """Return a configuration as plain data; cached, because a figure needs it many times."""
    import yaml

    try:
        said = yaml.safe_load(text)
    except yaml.YAMLError:
        said = None
    return MappingProxyType(said if isinstance(said, dict) else {})


def clock_and_copies(results: xr.Dataset) -> tuple[str, str]:
    """Return the names of a tick and of a copy in a file.

    Raises OutputError if the file has no coordinates of these names, or its ticks are not ascending
    integers.
    """
    clock, copies = (
        str(results.attrs.get(what, word))
        for what, word in (("clock", "day"), ("copies", "society"))
    )
    for dim in (clock, copies):
        if dim == clock and dim not in results.coords and clock in results.attrs.values():
            raise OutputError(
                f"has no figure, as its run records no number for each {words(clock)}; "
                "`societies export --to csv` writes what it holds as tables"
            )
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
    """Raise ConfigError unless a file has a copy with this index, counted from 0."""
    _, copies = clock_and_copies(results)
    count = results.sizes[copies]
    if not 0 <= place < count:
        raise ConfigError(f"{option(copies, place)}: the {plural(copies)} are 0 to {count - 1}")


def drawable(results: xr.Dataset, name: str, *dims: str) -> xr.DataArray:
    """Return a variable as real numbers along these dimensions, in this order.

    Values that are infinite, or too large for the axis of a figure, are replaced by NaN.

    Raises OutputError if there is no such variable, or it has other dimensions or does not hold
    numbers.
    """
    if name not in results:
        raise OutputError(f"has no variable '{name}', so it cannot be drawn")
    array = results[name]
    if sorted(map(str, array.dims)) != sorted(dims):
        own = ", ".join(words(dim) for dim in array.dims) or "none"
        raise OutputError(
            f"'{name}' has the dimensions {own}, not {', '.join(dims)}, so it cannot be drawn"
        )
    if array.dtype.kind not in _NUMBERS:
        raise OutputError(f"'{name}' does not hold numbers, so it cannot be drawn")
    found = array.transpose(*dims).astype(float).load()
    return found.where(abs(found) < _LARGEST)


def _draw(axes: Any, results: xr.Dataset, panel: Panel, shown: str) -> None:
    clock, copies = clock_and_copies(results)
    series = drawable(results, panel.variable, copies, clock)
    pasts = pasts_of(results)
    line_with_band(axes, results[clock].values, series.values, panel.colour, shown, pasts=pasts)
    label(axes, results, panel.title, panel.label)
    from_zero(axes)


def from_zero(axes: Any) -> None:
    """Set the limits of the vertical axis so that it includes zero and everything drawn."""
    drawn = [line.get_ydata() for line in axes.lines]
    drawn += [path.vertices[:, 1] for area in axes.collections for path in area.get_paths()]
    values = np.concatenate([np.asarray(one, float).ravel() for one in drawn] or [np.zeros(1)])
    values = values[np.isfinite(values)]
    top, bottom = (float(values.max()), float(values.min())) if len(values) else (0.0, 0.0)
    axes.set_ylim((min(0.0, bottom * 1.08), top * 1.08 if top > 0 else 1))
    if top >= 1000:
        axes.yaxis.set_major_formatter(thousands)


def label(axes: Any, results: xr.Dataset, title: str, label: str) -> None:
    """Write the title and the labels of a panel with the ticks along the horizontal axis."""
    clock, _ = clock_and_copies(results)
    ticks = results[clock].values
    axes.set_title(title)
    axes.set_ylabel(label)
    axes.set_xlabel(clock)
    axes.set_xlim((ticks[0] - 1, ticks[-1]))
    axes.locator_params(axis="x", nbins=5, integer=True)


def title(results: xr.Dataset, who: str = "") -> str:
    """Return the title of a figure: ``who`` or the file's title, and the number of copies."""
    _, copies = clock_and_copies(results)
    parts = [who or words(results.attrs.get("title", ""))]
    parts.append(counted(results.sizes[copies], copies))
    return "  ·  ".join(part for part in parts if part)


def words(text: object, longest: int = _LONGEST_WORDS) -> str:
    """Return a text from a file for a figure: without formulas and unprintable characters.

    A text of more than ``longest`` characters is cut.
    """
    shown = str(text)
    shown = shown if len(shown) <= longest else f"{shown[: longest - 3]}..."
    return printable(shown).replace("$", r"\$")


def thousands(value: float, _: int | None = None) -> str:
    """Return the label of a tick with narrow spaces between thousands."""
    return f"{value:,.6g}".replace(",", "\u202f")
