"""Which figures show a study, its outcomes by the varied keys and their sensitivity?"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.analysis.drawing import (
    GREY,
    finished,
    in_unit,
    meant,
    new_panels,
    require_along,
    title_of,
    unit_of,
    variable_of,
)
from societies.analysis.labels import different, shorts
from societies.analysis.selecting import RUN, workload_of
from societies.analysis.sensitivity import morris, sobol, varied
from societies.config.model import LABEL
from societies.errors import ConfigError, SocietiesError, option
from societies.workload.drawing.bands import mean
from societies.workload.drawing.figure import (
    COLOURS,
    INK,
    INTERVAL,
    LEVEL,
    NONE,
    clock_of,
    count_missing,
    from_zero,
    leave_out,
    line_with_band,
    middle_and_band,
    require_shown,
    thousands,
    words,
)
from societies.workload.drawing.lettering import characters, legend_above, wrapped

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.drawing import Cases

SEQUENTIAL = "cividis"
"""A colour map that colour-blind readers see alike, with increasing brightness."""
MOST_PANELS_OF_STUDY = 12
"""Most panels of a figure over several keys."""
MOST_TICKS = 10
"""Most labels along an axis."""
DOTS: dict[str, Any] = {"marker": "o", "markersize": 4}
"""Style of a line over the points of a study, with a dot at each point."""


def of_study(study: xr.Dataset) -> str:
    """Return the figure that shows a study best."""
    try:
        design_of(study)
    except SocietiesError:
        return "sweep" if varied(study) else "series"
    return "sensitivity"


def sweep(cases: Cases, *, variables: Sequence[str] = (), bands: str = INTERVAL) -> Any:
    """Draw the last tick of a study by its varied keys.

    One key: a line with a band, or dots with bars if its values are texts. Two keys: a heat map if
    they form a grid, else coloured dots. More keys: a panel for each, with a dot for each point.
    """
    (study,) = cases.values()
    keys = varied(study)
    chosen = list(variables) or [n for n in ("utility", "gini") if n in study] or scalars(study)[:2]
    require_shown(bands)
    panels_each = 1 if len(keys) <= 2 else len(keys)
    count = panels_each * len(chosen)
    if count > MOST_PANELS_OF_STUDY:
        fit = max(1, MOST_PANELS_OF_STUDY // panels_each)
        if variables:
            raise ConfigError(
                f"{option('variables', ','.join(chosen))}: {len(chosen)} variables over "
                f"{len(keys)} keys are too many panels; at most {fit}"
            )
        chosen = chosen[:fit]
    figure, panels = new_panels(panels_each * len(chosen))
    each = iter(panels)
    for name in chosen:
        values = _at_the_end(study, name).values
        own = [next(each) for _ in range(panels_each)]
        if len(keys) == 1:
            _over_one(own[0], study, values, keys[0], bands, unit_of(study[name]))
        elif len(keys) == 2:
            said = meant(cases, INTERVAL, by_point=True)
            label = f"{said[0] if said else ''} {in_unit(study[name])}".strip()
            _over_two(figure, own[0], study, values, keys, label)
        else:
            for axes, key in zip(own, keys, strict=True):
                _over_others(axes, study, values, key, unit_of(study[name]))
        for axes in own:
            axes.set_title(words(f"{title_of(study[name])}{_at(study, name)}"))
    if len(keys) > 2:
        leave_out(figure, "a dot for each point: the mean of its runs; the other keys vary too")
    shown = bands if len(keys) == 1 else ""
    return finished(
        figure, cases, shown, legend=False, marks=False, by_point=True, along=False, **DOTS
    )


def _at(study: xr.Dataset, name: str) -> str:
    """Return a text that names the tick of an outcome."""
    clock = clock_of(study)
    return f", {clock} {study[clock].values[-1]}" if clock in study[name].dims else ""


def _over_one(axes: Any, study: xr.Dataset, values: Any, key: str, shown: str, unit: str) -> None:
    places, of = _along(study, key)
    most = max(np.bincount(of))
    table = np.full((most, len(places)), np.nan)
    for place in range(len(places)):
        own = values[of == place]
        table[: len(own), place] = own
    padding = table.size - len(values)
    if places.dtype.kind in "iuf":
        line_with_band(
            axes, places, table, COLOURS[0], shown, most=len(places), padding=padding, **DOTS
        )
        axes.set_xlabel(words(key))
        axes.set_ylabel(unit)
        from_zero(axes)
        return
    count_missing(axes, table, padding)
    middle, low, high = middle_and_band(table, shown)
    rows = np.arange(len(places))
    if shown != NONE and most > 1:
        axes.hlines(rows, low, high, color=COLOURS[0], alpha=0.45, linewidth=4)
    axes.plot(middle, rows, linestyle="", color=COLOURS[0], clip_on=False, zorder=3, **DOTS)
    _label_values(axes, "y", shorts(places))
    axes.set_xlabel(unit)
    axes.invert_yaxis()  # the first value above
    axes.grid(visible=True, axis="x")
    axes.margins(y=0.5 / len(places))
    height = 0.9 + 0.35 * len(places) + 0.5
    axes.figure.set_figheight(max(axes.figure.get_figheight(), height))


def _along(study: xr.Dataset, key: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the values along an axis, and the index of the value of each run.

    Points with a label have their label along an axis of texts.
    """
    values = study[key].values
    if values.dtype.kind not in "iuf" and LABEL in study.coords:
        values = study[LABEL].values.astype(str)
    return different(values)


def _label_values(axes: Any, side: str, labels: Sequence[str]) -> None:
    """Label positions along an axis with wrapped texts; if there are many, only some of them."""
    each = 1 if side == "y" and not axes.images else -(-len(labels) // MOST_TICKS)
    figure, columns = axes.figure, axes.get_subplotspec().get_gridspec().ncols
    inches = (
        (figure.get_figwidth() / columns - 1.2) * each / max(1, len(labels) - (not axes.images))
    )
    room = max(characters(inches, 10.0), 6) if side == "x" else 24
    shown = [wrapped(one, room) for one in labels[::each]]
    if each > 1:
        leave_out(figure, f"an axis names one of {each} values")
    set_ticks = axes.set_xticks if side == "x" else axes.set_yticks
    set_ticks(range(0, len(labels), each), shown)


def _over_two(
    figure: Any, axes: Any, study: xr.Dataset, values: Any, keys: Sequence[str], label: str
) -> None:
    (x, i), (y, j) = (different(study[key].values) for key in keys)
    count_missing(axes, values)
    total, count = np.zeros((len(y), len(x))), np.zeros((len(y), len(x)))
    finite = np.isfinite(values)
    np.add.at(total, (j[finite], i[finite]), values[finite])
    np.add.at(count, (j[finite], i[finite]), 1)
    with np.errstate(invalid="ignore"):
        means = total / count
    axes.grid(visible=False)
    axes.set(xlabel=words(keys[0]), ylabel=words(keys[1]))
    if 4 * np.count_nonzero(count) >= count.size:
        image = axes.imshow(means, origin="lower", aspect="auto", cmap=SEQUENTIAL)
        _label_values(axes, "x", shorts(x))
        _label_values(axes, "y", shorts(y))
    else:  # a sample, in whose grid nearly all cells would be empty
        rows, columns = np.nonzero(count)
        places = [
            known[at] if known.dtype.kind in "iuf" else at
            for known, at in ((x, columns), (y, rows))
        ]
        image = axes.scatter(*places, c=means[rows, columns], cmap=SEQUENTIAL)
        for side, known in (("x", x), ("y", y)):
            if known.dtype.kind not in "iuf":
                _label_values(axes, side, shorts(known))
    largest = np.nanmax(np.abs(means), initial=0)
    many = thousands if largest >= 1000 else None
    figure.colorbar(image, ax=axes, label=label, format=many)


def _over_others(axes: Any, study: xr.Dataset, values: Any, key: str, unit: str) -> None:
    """Draw a dot for each point over one of several keys."""
    count_missing(axes, values)
    places, of = _along(study, key)
    points, first = np.unique(study["point"].values, return_index=True)
    means = [mean(values[study["point"].values == point]) for point in points]
    numeric = places.dtype.kind in "iuf"
    x = places[of[first]] if numeric else of[first]
    axes.plot(x, means, linestyle="", color=COLOURS[0], alpha=0.6, **DOTS)
    if not numeric:
        _label_values(axes, "x", shorts(places))
    axes.set_xlabel(words(key))
    axes.set_ylabel(unit)


def sensitivity(cases: Cases, *, variables: Sequence[str] = ()) -> Any:
    """Draw the sensitivity of a study's outcomes: Sobol indices or Morris's effects."""
    from matplotlib.lines import Line2D

    (study,) = cases.values()
    method, options = design_of(study)
    chosen = list(variables) or ["gini" if "gini" in study else scalars(study)[0]]
    keys = varied(study)
    figure, panels = new_panels(len(chosen), wide=len(chosen) == 1)
    for axes, name in zip(panels, chosen, strict=True):
        outcome = _at_the_end(study, name)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            _effects(axes, outcome, keys, method, options)
        for one in said:
            leave_out(figure, str(one.message))
        axes.set_title(words(f"{title_of(study[name])}{_at(study, name)}: what it depends on"))
    interval = f"{100 * LEVEL:g} % interval (bootstrap)"
    entries = [
        *(one for one in panels[0].containers if one.get_label()[0] != "_"),
        *(line for line in panels[0].lines if not line.get_label().startswith("_")),
        Line2D([], [], color=INK, linewidth=1, label=interval),
    ]
    legend_above(figure, [entries])
    return finished(figure, cases, "", legend=False, marks=False, along=False)


def _effects(
    axes: Any, outcome: Any, keys: Sequence[str], method: str, options: Mapping[str, Any]
) -> None:
    """Draw the sensitivity of one outcome into a panel."""
    if method == "saltelli":
        found = sobol(outcome, keys, second_order=bool(options.get("second_order")), level=LEVEL)
        order = found.sortby("total")
        _bars(axes, order, "total", "#0072B2", 0.2, "in all (total)")
        _bars(axes, order, "first", "#E69F00", -0.2, "alone (first order)")
        axes.set_xlabel("part of its variance")
    else:
        found = morris(outcome, keys, levels=options.get("levels"), level=LEVEL)
        order = found.sortby("mu_star")
        _bars(axes, order, "mu_star", "#0072B2", 0.0, "mean size of elementary effects")
        spread = "their standard deviation (sigma)"
        axes.plot(order.sigma, range(order.sizes["parameter"]), "o", color="#D55E00", label=spread)
        axes.set_xlabel(words(f"effect on {outcome.name} {in_unit(outcome)}".strip()))
    axes.set_yticks(range(order.sizes["parameter"]), [words(one) for one in order.parameter.values])
    axes.grid(visible=True, axis="x")
    axes.grid(visible=False, axis="y")
    axes.axvline(0, color=GREY, linewidth=0.8)


def _bars(axes: Any, found: xr.Dataset, name: str, colour: str, shift: float, label: str) -> None:
    middle = found[name].values
    ends = np.abs(np.stack([middle - found[f"{name}_low"], found[f"{name}_high"] - middle]))
    axes.barh(
        np.arange(len(middle)) + shift,
        middle,
        height=0.36 if shift else 0.6,
        color=colour,
        xerr=ends,
        error_kw={"elinewidth": 1, "ecolor": INK},
        label=label,
    )


def design_of(study: xr.Dataset) -> tuple[str, dict[str, Any]]:
    """Return the method and the options of a study's design, as recorded in its file."""
    try:
        said = json.loads(str(study.attrs.get("design", "")))
    except ValueError:
        said = []
    methods = [(n, o) for one in said for n, o in one.items() if n in ("saltelli", "morris")]
    if len(methods) != 1 or len(said) != 1:
        raise SocietiesError(
            "has no design of saltelli or morris alone, from which sensitivity follows"
        )
    return str(methods[0][0]), dict(methods[0][1])


def scalars(study: xr.Dataset) -> list[str]:
    """Return the variables with one number per run, or per run and tick; headline ones first."""
    clock, workload = clock_of(study), workload_of(study)
    found = [
        str(n) for n, v in study.data_vars.items() if {*v.dims} <= {RUN, clock} and RUN in v.dims
    ]
    usual = [name for name in (workload.headlines() if workload else ()) if name in found]
    return usual + [name for name in found if name not in usual]


def _at_the_end(study: xr.Dataset, name: str) -> xr.DataArray:
    """Return a variable of every run after the last tick."""
    values: xr.DataArray = variable_of(study, name)
    if (clock := clock_of(study)) in values.dims:
        values = values.isel({clock: -1})
    require_along(values, RUN)
    return values
