"""Which figures show a study: its outcomes over the varied keys, and their sensitivity?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.analysis.drawing import (
    GREY,
    LEFT_OUT,
    MOST_CASES,
    finished,
    in_unit,
    meant,
    new_panels,
    require_along,
    shorts,
    titled,
    unit_of,
    variable_of,
)
from societies.analysis.selecting import RUN
from societies.analysis.sensitivity import morris, sobol, varied
from societies.errors import SocietiesError
from societies.words import counted
from societies.workload.drawing.figure import (
    COLOURS,
    INK,
    INTERVAL,
    LEVEL,
    clock_of,
    from_zero,
    line_with_band,
    thousands,
    words,
)
from societies.workload.drawing.lettering import characters, legend_above, wrapped

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.drawing import Cases

SEQUENTIAL = "cividis"
"""A colour map that colour-blind readers see alike, with increasing brightness."""
MOST_TICKS = 10
"""Most labels along an axis."""
DOTS: dict[str, Any] = {"marker": "o", "markersize": 4}
"""Style of a line over the points of a study, with a dot at each point."""


def cases_of(label: str, data: xr.Dataset, figure: str) -> dict[str, xr.Dataset]:
    """Return the cases of one file; a study of one key with few values has a case for each."""
    if RUN not in data.dims:
        return {label: data}
    done = data
    if "status" in data.coords:
        done = data.isel({RUN: np.flatnonzero(data["status"].values.astype(str) == "done")})
        if not done.sizes[RUN]:
            raise SocietiesError("has no run that is done")
        done = done.assign_attrs({LEFT_OUT: _left_out(data, done)})
    keys = varied(done)
    if figure in ("sweep", "sensitivity", "trade_network") or len(keys) != 1:
        return {label: done}
    values = np.unique(done[keys[0]].values)
    if len(values) > MOST_CASES:
        return {label: done}
    own = [np.flatnonzero(done[keys[0]].values == value) for value in values]
    key = f"{label}: {keys[0]}" if label else keys[0]
    labels = [f"{key} {one}" for one in shorts(values)]
    return {one: done.isel({RUN: rows}) for one, rows in zip(labels, own, strict=True)}


def _left_out(study: xr.Dataset, done: xr.Dataset) -> str:
    """Return a text with the numbers of runs and points that are not shown; "" if all are."""
    runs, lost = study.sizes[RUN], study.sizes[RUN] - done.sizes[RUN]
    points = len(np.setdiff1d(study["point"].values, done["point"].values))
    all_of = f", among them all of {counted(points, 'point')}" if points else ""
    return f"left out: {lost} of {runs} runs, not done{all_of}" if lost else ""


def sweep(cases: Cases, *, variables: Sequence[str] = (), bands: str = INTERVAL) -> Any:
    """Draw the last tick of a study over its keys: lines with bands, or a heat map of two keys."""
    study = _study(cases)
    keys = varied(study)
    chosen = (
        list(variables) or [n for n in ("utility", "gini") if n in study] or _scalars(study)[:2]
    )
    if not 1 <= len(keys) <= 2 or not chosen:
        raise SocietiesError(
            f"varies {len(keys)} keys ({', '.join(keys) or 'none'}); lines are drawn for one, a "
            "heat map for two: choose points first, or take the figure sensitivity"
        )
    figure, panels = new_panels(len(chosen))
    for axes, name in zip(panels, chosen, strict=True):
        values = _at_the_end(study, name)
        if len(keys) == 1:
            _over_one(axes, study, values, keys[0], bands)
            axes.set_ylabel(unit_of(study[name]))
            from_zero(axes)
        else:
            said = meant(cases, INTERVAL, by_point=True)
            label = f"{said[0] if said else ''} {in_unit(study[name])}".strip()
            _over_two(figure, axes, study, values, keys, label)
        axes.set_title(words(f"{titled(name)}{_at(study, name)}"))
    shown = bands if len(keys) == 1 else ""
    return finished(figure, cases, shown, legend=False, by_point=True, along=False, **DOTS)


def _at(study: xr.Dataset, name: str) -> str:
    """Return a text that names the tick of an outcome."""
    clock = clock_of(study)
    return f", {clock} {study[clock].values[-1]}" if clock in study[name].dims else ""


def _over_one(axes: Any, study: xr.Dataset, values: Any, key: str, shown: str) -> None:
    places, of = np.unique(study[key].values, return_inverse=True)
    most = max(np.bincount(of))
    table = np.full((most, len(places)), np.nan)
    for place in range(len(places)):
        own = values[of == place]
        table[: len(own), place] = own
    textual = places.dtype.kind not in "iuf"
    x = np.arange(len(places)) if textual else places
    line_with_band(axes, x, table, COLOURS[0], shown, most=len(x), **DOTS)
    if textual:
        _ticks(axes, "x", [words(one) for one in places])
    axes.set_xlabel(words(key))


def _ticks(axes: Any, side: str, labels: Sequence[str]) -> None:
    """Label positions along an axis with wrapped texts; if there are many, only some of them."""
    each = -(-len(labels) // MOST_TICKS)
    figure, columns = axes.figure, axes.get_subplotspec().get_gridspec().ncols
    inches = (
        (figure.get_figwidth() / columns - 1.2) * each / max(1, len(labels) - (not axes.images))
    )
    room = max(characters(inches, 10.0), 6) if side == "x" else 24
    shown = [wrapped(one, room) for one in labels[::each]]
    set_ticks = axes.set_xticks if side == "x" else axes.set_yticks
    set_ticks(range(0, len(labels), each), shown)


def _over_two(
    figure: Any, axes: Any, study: xr.Dataset, values: Any, keys: Sequence[str], label: str
) -> None:
    (x, i), (y, j) = (np.unique(study[key].values, return_inverse=True) for key in keys)
    total, count = np.zeros((len(y), len(x))), np.zeros((len(y), len(x)))
    there = np.isfinite(values)
    np.add.at(total, (j[there], i[there]), values[there])
    np.add.at(count, (j[there], i[there]), 1)
    with np.errstate(invalid="ignore"):
        image = axes.imshow(total / count, origin="lower", aspect="auto", cmap=SEQUENTIAL)
    _ticks(axes, "x", shorts(x))
    _ticks(axes, "y", shorts(y))
    axes.set(xlabel=words(keys[0]), ylabel=words(keys[1]))
    axes.grid(visible=False)
    largest = np.nanmax(np.abs(total / np.maximum(count, 1)), initial=0)
    many = thousands if largest >= 1000 else None
    figure.colorbar(image, ax=axes, label=label, format=many)


def sensitivity(cases: Cases, *, variables: Sequence[str] = ()) -> Any:
    """Draw the sensitivity of a study's outcome: Sobol indices or Morris's effects."""
    from matplotlib.lines import Line2D

    study = _study(cases)
    method, options = _design(study)
    name = variables[0] if variables else ("gini" if "gini" in study else _scalars(study)[0])
    outcome = study[name]
    clock = clock_of(study)
    if clock in outcome.dims:
        outcome = outcome.isel({clock: -1})
    require_along(outcome, RUN)
    keys = varied(study)
    figure, (axes,) = new_panels(1, wide=True)
    if method == "saltelli":
        found = sobol(outcome, keys, second_order=bool(options.get("second_order")), level=LEVEL)
        order = found.sortby("total")
        _bars(axes, order, "total", "#0072B2", 0.2, "in all (total)")
        _bars(axes, order, "first", "#E69F00", -0.2, "alone (first order)")
        axes.set_xlabel(f"part of the variance of {words(name)}")
    else:
        found = morris(outcome, keys, levels=options.get("levels"), level=LEVEL)
        order = found.sortby("mu_star")
        _bars(axes, order, "mu_star", "#0072B2", 0.0, "mean size of elementary effects")
        spread = "their standard deviation (sigma)"
        axes.plot(order.sigma, range(order.sizes["parameter"]), "o", color="#D55E00", label=spread)
        axes.set_xlabel(words(f"effect on {name} {in_unit(outcome)}".strip()))
    axes.set_yticks(range(order.sizes["parameter"]), [words(one) for one in order.parameter.values])
    axes.grid(visible=True, axis="x")
    axes.grid(visible=False, axis="y")
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_title(words(f"What {name} depends on"))
    said = f"{100 * LEVEL:g} % interval (bootstrap)"
    interval = Line2D([], [], color=INK, linewidth=1, label=said)
    dots = [line for line in axes.lines if not line.get_label().startswith("_")]
    legend_above(
        figure, [[*(one for one in axes.containers if one.get_label()[0] != "_"), *dots, interval]]
    )
    return finished(figure, cases, "", legend=False, along=False)


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


def _study(cases: Cases) -> xr.Dataset:
    data = next(iter(cases.values()))
    if len(cases) > 1 or RUN not in data.dims:
        raise SocietiesError("is not a study: this figure takes the file of societies sweep")
    return data


def _design(study: xr.Dataset) -> tuple[str, dict[str, Any]]:
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


def _scalars(study: xr.Dataset) -> list[str]:
    clock = clock_of(study)
    return [
        str(n) for n, v in study.data_vars.items() if {*v.dims} <= {RUN, clock} and RUN in v.dims
    ]


def _at_the_end(study: xr.Dataset, name: str) -> NDArray[np.float64]:
    values = variable_of(study, name)
    clock = clock_of(study)
    if clock in values.dims:
        values = values.isel({clock: -1})
    require_along(values, RUN)
    found: NDArray[np.float64] = values.transpose(RUN).values
    return found
