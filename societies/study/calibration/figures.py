"""How is a calibration drawn: its parameters, its targets, its progress, and what it recovers?"""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.analysis.designs import as_numbers
from societies.analysis.drawing import GREY, new_panels, unit_label, with_foot
from societies.words import counted
from societies.workload.drawing.figure import COLOURS, words

if TYPE_CHECKING:
    import xarray as xr

    from societies.study.calibration.recover import Recovery

MOST_PAIRS = 15


def draw_calibration(data: xr.Dataset) -> Any:
    """Draw a panel for each parameter, one for each target, and the trace of the search.

    A parameter shows its posterior; or its profile, the least distance at each value; or else the
    distances of all trials.
    """
    names, statistics = data["parameter"].values, data["statistic"].values
    figure, panels = new_panels(len(names) + len(statistics) + 1)
    for i, (axes, name) in enumerate(zip(panels, names, strict=False)):
        _parameter(axes, data, i, str(name))
    for i, axes in enumerate(panels[len(names) : -1]):
        _target(axes, data, i)
    last = panels[-1]
    last.plot(np.arange(1, data.sizes["batch"] + 1), data["trace"].values, "o-", color=COLOURS[0])
    traced = {"abc_smc": "tolerance", "pattern_space": "patterns"}
    traced["profiles"] = "mean of the profiles"
    last.set_title(traced.get(str(data.attrs["method"]), "least distance"))
    last.set_xlabel("batch")
    note = f"{data.attrs['method']}, {data.sizes['trial']} trials. Line: nearest trial. "
    note += "Shaded: band of the target."
    without = int((~np.isfinite(data["statistics"].values)).any(axis=1).sum())
    if without:
        note += f" Left out: missing or infinite statistics of {counted(without, 'trial')}."
    return with_foot(figure, note)


def draw_pairs(data: xr.Dataset) -> Any:
    """Draw the draws of the posterior, or the nearest tenth of the trials, for each pair."""
    names = list(map(str, data["parameter"].values))
    every = list(combinations(range(len(names)), 2))
    pairs = every[:MOST_PAIRS]
    figure, panels = new_panels(max(1, len(pairs)))
    posterior = bool(data.sizes["draw"])
    word = "draw" if posterior else "value"
    distance = data["distance"].values
    near = np.argsort(distance)[: max(20, len(distance) // 10)]
    for axes, (i, j) in zip(panels, pairs, strict=False):
        x, y = (as_numbers(data[f"{word}_{names[k]}"].values) for k in (i, j))
        if not posterior:
            x, y = x[near], y[near]
        axes.plot(x, y, ".", color=COLOURS[0], alpha=0.4, markersize=4)
        axes.set_xlabel(words(names[i]))
        axes.set_ylabel(words(names[j]))
        axes.set(xscale=_scale(data, names[i]), yscale=_scale(data, names[j]))
    if posterior:
        what = f"{counted(data.sizes['draw'], 'draw')} of the posterior"
    else:
        what = f"The nearest {len(near)} of {counted(len(distance), 'trial')}"
    if len(every) > len(pairs):
        what += f". Left out: {len(every) - len(pairs)} of {len(every)} pairs"
    return with_foot(figure, f"{what}.")


def _parameter(axes: Any, data: xr.Dataset, place: int, name: str) -> None:
    every = as_numbers(data[f"value_{name}"].values)
    distance = data["distance"].values
    best = every[int(np.argmin(distance))]
    scale = _scale(data, name)
    axes.set_xscale(scale)
    if data.sizes["draw"]:
        bins = np.exp(_bins(np.log(every))) if scale == "log" else _bins(every)
        draws = as_numbers(data[f"draw_{name}"].values)
        axes.hist(
            draws, bins, weights=np.full(len(draws), 1 / len(draws)), color=COLOURS[0], alpha=0.6
        )
        axes.set_ylabel("share of the draws")
    elif data.sizes["bin"]:
        least = data["profile"].values[place]
        # The intervals have equal shares of the prior; the trials crowd where targets are near.
        unit_of, order = data["unit"].values[:, place], np.argsort(every, kind="stable")
        edges = np.interp(np.linspace(0, 1, len(least) + 1), unit_of[order], every[order])
        axes.stairs(np.where(np.isfinite(least), least, np.nan), edges, color=COLOURS[0], lw=2)
        axes.set_ylabel("least distance")
    else:
        axes.plot(every, distance, ".", color=COLOURS[0], alpha=0.4, markersize=4)
        axes.set_ylabel("distance")
    axes.axvline(best, color=GREY, linewidth=1)
    axes.set_title(words(name, 50))
    axes.set_xlabel(unit_label(str(data[f"value_{name}"].attrs.get("units", ""))))


def _scale(data: xr.Dataset, name: str) -> str:
    """Return the scale of a parameter's axis: that of its prior."""
    prior = json.loads(data.attrs["definition"])["parameters"][name]
    return "log" if str(prior.get("distribution")).startswith("log") else "linear"


def _bins(values: Any) -> Any:
    """Return the edges of the bins of a histogram."""
    low, high = min(values), max(values)
    wide = 0.0 if high > low else 0.5 + abs(low)
    return np.linspace(low - wide, high + wide, 30)


def _target(axes: Any, data: xr.Dataset, place: int) -> None:
    chosen = data["chosen"].values
    distance = data["distance"].values
    rows = chosen if len(chosen) else np.argsort(distance)[:100]
    x = data["statistics"].values[rows, place]
    every = data["statistics"].values[:, place]
    low, high = float(data["low"][place]), float(data["high"][place])
    known = [*every[np.isfinite(every)], *(one for one in (low, high) if np.isfinite(one))]
    bins = _bins(known)
    ends = bins[0], bins[-1]
    begin, end = max(low, ends[0]), min(high, ends[1])
    axes.axvspan(begin, end, color=COLOURS[2], alpha=0.25, linewidth=0 if end > begin else 2)
    axes.hist(every[np.isfinite(every)], bins, density=True, color=GREY, alpha=0.25)
    axes.hist(x[np.isfinite(x)], bins, density=True, color=COLOURS[0], alpha=0.6)
    axes.axvline(every[int(np.argmin(distance))], color=GREY, linewidth=1)
    axes.set_title(words(str(data["statistic"].values[place]).replace("_", " "), 50))
    axes.set_xlabel(unit_label(str(data["unit_of"].values[place])))


def draw_recovery(found: Recovery) -> Any:
    """Draw the ranks of the truth among the draws, uniform if the calibration is right."""
    from scipy.stats import binom

    from societies.study.calibration.recover import BINS

    figure, panels = new_panels(len(found.names))
    points = len(found.truth)
    low, high = binom.ppf([0.025, 0.975], points, 1 / BINS)
    for i, (axes, name) in enumerate(zip(panels, found.names, strict=True)):
        axes.axhspan(low, high, color=COLOURS[2], alpha=0.25, linewidth=0)
        axes.hist(found.ranks[:, i], np.linspace(0, 1, BINS + 1), color=COLOURS[0], alpha=0.7)
        axes.set_title(words(name, 50))
        axes.set_xlabel(words(f"rank of the truth; coverage {found.covered(i)}", 80))
        axes.set_ylabel("points")
    note = f"{points} true points. Shaded: 95 % of the counts if ranks are uniform."
    return with_foot(figure, note)
