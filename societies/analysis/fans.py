"""How much of the differences between societies arose before a day, and how much after it?

A fan has several futures of each past: societies with the same draws up to a day and draws of their
own afterwards. The variance of an outcome is the sum of the variance between pasts and the variance
between the futures of one past (one-way analysis of variance with random effects; Searle, Casella
and McCulloch, Variance Components, 1992, chapter 3).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.analysis.drawing import GREY, finished, label_panel, new_panels, title_of, unit_of
from societies.analysis.effect_table import digits
from societies.analysis.effects import bootstrap_weights, by_variable, open_source, records
from societies.analysis.intervals import require_level
from societies.analysis.selecting import RUN, in_order, names, unknown, with_ticks, workload_of
from societies.errors import ConfigError, option
from societies.terminal import table_of
from societies.words import counted, plural
from societies.workload.drawing.bands import RESAMPLES, Reals
from societies.workload.drawing.figure import (
    COLOURS,
    QUANTILES,
    clock_of,
    configuration_of,
    count_missing,
    handles_of,
    leave_out,
    series_of,
    thousands,
    words,
)
from societies.workload.drawing.lettering import legend_above

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.drawing import Cases
    from societies.analysis.effects import Source
    from societies.analysis.selecting import Ticks

MOST_PASTS = 4
"""Most pasts whose futures a figure draws."""
ENDS = (0.05, 0.25, 0.75, 0.95)
"""Quantiles of the futures at which the bands of a figure end."""


def fan(
    source: Source,
    variables: str | Sequence[str] | None = None,
    *,
    window: Ticks = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> xr.Dataset:
    """Return the variance of each variable between pasts and between futures of one past.

    Parameters
    ----------
    source : a result with at least two pasts and ``fan.futures`` for each
    variables : names of series; default: the headline variables of the workload
    window : ticks whose mean is decomposed, such as ``"301:400"``; default: each tick after the fan
    level, resamples, seed : of the intervals: bootstrap over pasts

    Returns
    -------
    Dataset along ``variable`` and, without a window, the clock: ``past``, the variance between
    pasts; ``future``, the variance between the futures of one past, which is due to chance after
    the day of the fan; ``share``, the past's share of the sum of both, with ``share_low`` and
    ``share_high``. A negative estimate of ``past`` is set to 0. The attributes are the numbers
    of pasts and futures, and the tick of the fan under the name of the clock.

    Raises
    ------
    ConfigError
        If the result is no fan, has one past or one future, or lacks a variable.
    """
    require_level(level)
    with open_source(source) as data:
        clock, day, futures = fan_of(data)
        chosen, values, ticks = _futures_of(data, variables, futures)
        later = ticks > day
        if not later.any():
            raise ConfigError(f"the result has no {clock} after {day}, that of the fan")
        values, ticks = values[..., later], ticks[later]
        units = [str(data[name].attrs.get("units", "1")) for name in chosen]
        if window is not None:
            rows = np.isin(ticks, with_ticks(data[[clock]], window)[clock].values)
            if not rows.any():
                raise ConfigError(f"no {clock} of the window is after {day}, that of the fan")
            values, ticks = values[..., rows].mean(-1), ticks[rows]
    pasts = values.shape[1]
    if pasts < 2 or futures < 2:
        raise ConfigError(
            "a variance between pasts and futures needs two of each at least; the result has "
            f"{counted(pasts, 'past')} with {counted(futures, 'future')}"
        )
    samples = bootstrap_weights(np.random.default_rng(seed), pasts, resamples)
    weights = np.vstack([np.ones(pasts), samples])  # first all pasts, each once
    with warnings.catch_warnings():
        # A variable that never varies, or is infinite somewhere, has no share.
        warnings.simplefilter("ignore", RuntimeWarning)
        past, future = np.moveaxis(np.array([_parts(one, weights) for one in values]), 1, 0)
        share = past / (past + future)
        low, high = np.nanquantile(share[:, 1:], [(1 - level) / 2, (1 + level) / 2], axis=1)
    found = {"past": past[:, 0], "future": future[:, 0], "share": share[:, 0]}
    found |= {"share_low": low, "share_high": high}
    about = {"clock": clock, clock: day, "pasts": pasts, "futures": futures, "level": level}
    return by_variable(found, chosen, units, about, ticks, windowed=window is not None)


def fan_of(data: xr.Dataset) -> tuple[str, int, int]:
    """Return clock, tick of the fan and number of futures of a result."""
    clock = clock_of(data)
    section = configuration_of(data).get("fan") or {}
    if RUN in data.dims or not section.get("futures"):
        raise ConfigError(
            f"the result is no fan; make one with {option('start')} and {option('fan')}, "
            "or by the key fan"
        )
    return clock, int(section[clock]), int(section["futures"])


def _futures_of(
    data: xr.Dataset, variables: str | Sequence[str] | None, futures: int
) -> tuple[list[str], Reals, NDArray[Any]]:
    """Return names, values (variable, past, future, tick) and ticks."""
    clock, copies = clock_of(data), str(data.attrs.get("copies", "society"))
    known = series_of(data, (copies, clock))
    chosen = names(variables) if variables is not None else []
    for name in chosen:
        if name not in known:
            raise unknown(name, known)
    if not chosen:
        usual = getattr(workload_of(data), "headlines", lambda: ())()
        chosen = [name for name in usual if name in known] or known
    data = in_order(data, clock).sortby(copies)
    numbers = data[copies].values
    pasts = len(numbers) // futures
    first = numbers[:1] % futures
    if len(numbers) % futures or first.any() or (np.diff(numbers) != 1).any():
        raise ConfigError(
            f"a fan needs all {futures} futures of each past, and each once: here some "
            f"{plural(copies)} are left out, or listed twice"
        )
    stacked = np.stack([data[name].transpose(copies, clock).values for name in chosen])
    shape = (len(chosen), pasts, futures, stacked.shape[-1])
    return chosen, stacked.astype(float).reshape(shape), data[clock].values


def _parts(values: Reals, weights: Reals) -> tuple[Reals, Reals]:
    """Return the variances between pasts and between futures, (sample, ...) each.

    Parameters
    ----------
    values : (past, future, ...)
    weights : (sample, past) how often each past is in a sample
    """
    futures, means = values.shape[1], values.mean(1)
    count = weights.sum(1).reshape(-1, *[1] * (means.ndim - 1))

    def average(of: Reals) -> Reals:
        found: Reals = np.tensordot(weights, of, 1) / count
        return found

    future = average(values.var(1, ddof=1))
    centre = means - means.mean(0)
    between = (average(centre**2) - average(centre) ** 2) * (count / (count - 1))
    return np.maximum(between - future / futures, 0.0), future


def fan_table(found: xr.Dataset) -> Any:
    """Return a table of rich with the variances and the share of the past for each variable."""
    about, clock = found.attrs, found.attrs["clock"]
    over = f", mean of {clock} {about['window']}" if "window" in about else ""
    title = (
        f"{counted(about['pasts'], 'past')} until {clock} {about[clock]}, "
        f"{counted(about['futures'], 'future')} of each{over}"
    )
    columns = ["variable", *([] if over else [clock]), "variance between pasts"]
    columns += ["between futures", "share of the past", f"{100 * about['level']:g} %"]
    rows = [
        [
            *(words(one["variable"]), *([] if over else [str(one[clock])])),
            *(digits(one[name]) for name in ("past", "future", "share")),
            f"{digits(one['share_low'])} to {digits(one['share_high'])}",
        ]
        for one in records(found)
    ]
    return table_of(columns, rows, left=["variable"], title=title)


def fan_of_file(
    file: str | PathLike[str], variables: str | None, ticks: str | None, level: float
) -> xr.Dataset:
    """Return the decomposition of a file, by default of the mean of all ticks after the fan."""
    return fan(file, variables, window=ticks or slice(None), level=level)


def draw_fan(cases: Cases, *, variables: Sequence[str] = ()) -> Any:
    """Draw each past, and the median, middle 50 % and middle 90 % of its futures.

    Parameters
    ----------
    variables : default: the headline variables of the workload
    """
    (data,) = cases.values()
    clock, day, futures = fan_of(data)
    chosen, values, ticks = _futures_of(data, list(variables), futures)
    values = np.where(np.isfinite(values), values, np.nan)
    figure, panels = new_panels(len(chosen))
    pasts = values.shape[1]
    for axes, name, own in zip(panels, chosen, values, strict=True):
        for colour, one in zip(COLOURS, own[:MOST_PASTS], strict=False):
            early, later = ticks <= day, ticks >= day
            axes.plot(ticks[early], one[0, early], color=colour)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # a tick may have no number at all
                low, lower, upper, high = np.nanquantile(one[:, later], ENDS, axis=0)
                middle = np.nanmedian(one[:, later], axis=0)
            axes.fill_between(ticks[later], low, high, color=colour, alpha=0.15, linewidth=0)
            axes.fill_between(ticks[later], lower, upper, color=colour, alpha=0.3, linewidth=0)
            axes.plot(ticks[later], middle, color=colour)
            count_missing(axes, one)
        axes.axvline(day, color=GREY, linewidth=0.8)
        label_panel(axes, data, title_of(data[name]), unit_of(data[name]))
        if np.nanmax(np.abs(own), initial=0) >= 10_000:
            axes.yaxis.set_major_formatter(thousands)
    said = f"after {clock} {day} median, middle half and middle 90 % of {futures} futures"
    leave_out(figure, said)
    line, half = handles_of(f"median of {futures} futures of a past", "middle half", QUANTILES)
    _, most = handles_of("", "middle 90 %", QUANTILES)
    most.set_alpha(0.2)
    legend_above(figure, [[line, half, most]])
    if pasts > MOST_PASTS:
        leave_out(figure, f"{MOST_PASTS} of {pasts} pasts")
    return finished(figure, cases, "", legend=False, marks=False)
