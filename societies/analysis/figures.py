"""Which figures can be drawn in addition to a run's overview? Each is a function of results.

A figure compares cases: its first argument has a dataset for each file, or for each value of the
key that a study varies. Colours are those of Okabe and Ito, which colour-blind people can
distinguish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.analysis import inequality, structure
from societies.analysis.drawing import (
    GREY,
    about,
    coloured,
    draw_line,
    finished,
    in_unit,
    label_panel,
    legend_inside,
    longest,
    mark_own,
    new_panels,
    of_quantity,
    pooled,
    require_along,
    title_of,
    unit_of,
    variable_of,
)
from societies.analysis.effect_figure import draw_effect
from societies.analysis.fans import draw_fan
from societies.analysis.fitting import MAKES_TOOLS, MEASURES
from societies.analysis.network_figure import draw_trade_network
from societies.analysis.response_table import draw_irf
from societies.analysis.selecting import copies_of, ticks_of, workload_of
from societies.analysis.study_figures import sensitivity, sweep
from societies.economy.figure import happenings, possible_types
from societies.errors import ConfigError, SocietiesError, option
from societies.words import counted
from societies.workload.drawing import bands as statistics
from societies.workload.drawing.figure import (
    COLOURS,
    INTERVAL,
    MOST_PANELS,
    MOST_POINTS,
    clock_of,
    count_missing,
    from_zero,
    leave_out,
    others,
    series_of,
    thousands,
    words,
)
from societies.workload.drawing.lettering import legend_above

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.drawing import Cases

NEAR = 0.1
"""Lorenz curves that are nowhere farther from the diagonal are drawn as their distance from it."""
TOTAL = "share of the total"
RIDGES = 8
"""Number of days whose distributions are drawn above each other."""


def series(cases: Cases, *, variables: Sequence[str] = (), bands: str = INTERVAL) -> Any:
    """Draw variables over time, one panel for each."""
    if variables:
        return _over_time(cases, variables, bands, unit_of)
    common = _series_of_all(cases)
    return _over_time(cases, common[:MOST_PANELS], bands, unit_of, common)


def headlines(cases: Cases, *, bands: str = INTERVAL) -> Any:
    """Draw the headline variables of the workload over time, an overview of several results."""
    workload = workload_of(next(iter(cases.values())))
    usual = workload.headlines() if workload is not None else ()
    common = _series_of_all(cases)
    chosen = [name for name in usual if name in common] or common[:MOST_PANELS]
    return _over_time(cases, chosen, bands, unit_of, common)


def _series_of_all(cases: Cases) -> list[str]:
    """Return the series that every result has."""
    each = [series_of(data, (clock_of(data), copies_of(data))) for data in cases.values()]
    return [name for name in each[0] if all(name in others for others in each)]


def _over_time(
    cases: Cases,
    chosen: Sequence[str],
    bands: str,
    axis: Callable[[xr.DataArray], str],
    common: Sequence[str] = (),
) -> Any:
    """Draw variables; ``axis`` returns an axis's label, and a note counts others of ``common``."""
    first = next(iter(cases.values()))
    clock, copies = clock_of(first), copies_of(first)
    figure, panels = new_panels(len(chosen) or 1)
    for axes, name in zip(panels, chosen, strict=False):
        for label, colour, data in coloured(cases):
            values = variable_of(data, name)
            require_along(values, copies, clock)
            draw_line(axes, data, values, colour, bands, label)
        label_panel(axes, longest(cases), title_of(first[name]), axis(first[name]))
        from_zero(axes)
    if unseen := others(chosen, common):
        leave_out(figure, unseen)
    every = {name for data in cases.values() for name in series_of(data, (clock, copies))}
    if common and len(every) > len(common):
        leave_out(figure, f"{len(every) - len(common)} more series, which not every result has")
    return finished(figure, cases, bands)


def income(cases: Cases, *, bands: str = INTERVAL) -> Any:
    """Draw income, consumption and wealth over time, and the Gini coefficient of each."""
    common = _series_of_all(cases)
    measures = [name for name in MEASURES if name in common]
    chosen = [*measures, *(f"gini_{name}" for name in measures)]
    return series(cases, variables=[name for name in chosen if name in common], bands=bands)


def gini(cases: Cases, *, variables: Sequence[str] = (), bands: str = INTERVAL) -> Any:
    """Compare the Gini coefficients of all recorded quantities over time: gini, gini_income, ..."""
    common = [name for name in _series_of_all(cases) if name.startswith("gini")]
    chosen = list(variables) or [name for name in common if name != "gini_paper"] or common
    return _over_time(cases, chosen, bands, _quantity)


def _quantity(coefficient: xr.DataArray) -> str:
    """Return a label that names the quantity of a Gini coefficient."""
    return of_quantity(str(coefficient.attrs.get("long_name", coefficient.name)))


def distribution(cases: Cases, *, variables: Sequence[str] = ()) -> Any:
    """Draw the distribution of a quantity over agents: Lorenz curves and densities of some days."""
    first = next(iter(cases.values()))
    likely = ("agent_wealth", "agent_income", "agent_utility")
    chosen = list(variables) or [n for n in likely if n in first][:1]
    figure, panels = new_panels((1 + len(cases)) * len(chosen))
    each = iter(panels)
    for name in chosen:
        _lorenz(next(each), cases, name)
        for label, data in cases.items():
            _ridges(next(each), label, data, name)
    return finished(figure, cases, "", marks=False, along=False)


def _lorenz(axes: Any, cases: Cases, name: str) -> None:
    """Draw Lorenz curves, or their distance from the diagonal if they would lie on it."""
    curves = []
    for label, colour, data in coloured(cases):
        values = _of_agents(data, name)
        count_missing(axes, values.values)
        curve = inequality.lorenz(values, "agent")
        middle = statistics.mean(curve.values)
        index = float(inequality.gini(values, "agent").mean())
        shown = f"{label}: Gini {index:.3f}" if label else f"Gini {index:.3f}"
        curves.append((curve.poorest.values, middle, {"color": colour, "label": shown}))
    far = max(float(np.max(poorest - middle, initial=0.0)) for poorest, middle, _ in curves)
    near = 0 < far < NEAR
    for poorest, middle, style in curves:
        axes.plot(poorest, poorest - middle if near else middle, **style)
    alike = {"color": GREY, "linewidth": 0.8, "linestyle": "--", "label": "all alike"}
    axes.plot([0, 1], [0, 0] if near else [0, 1], **alike)
    axes.set(xlim=(0, 1), xlabel="share of the agents, the poorest first")
    axes.set_ylim((-0.03 * far, 1.6 * far) if near else (0, 1))  # room for the legend
    first = next(iter(cases.values()))
    axes.set_ylabel("share of the agents less their share of the total" if near else TOTAL)
    shown = name.removeprefix("agent_").replace("_", " ").capitalize()
    distance = ", distance from equality" if near else ""
    axes.set_title(words(f"{shown}, {_last(first, ticks_of(first[name]))}{distance}"))
    axes.legend(
        loc="upper left",
        fontsize=8.5,
        title=pooled(cases) or None,
        title_fontsize=8.5,
        alignment="left",
    )


def _ridges(axes: Any, label: str, data: xr.Dataset, name: str) -> None:
    """Draw the densities of some days above each other."""
    clock = ticks_of(data[name])
    ticks = data[clock].values
    chosen = np.unique(np.linspace(0, len(ticks) - 1, RIDGES).round().astype(int))
    if len(chosen) < len(ticks):
        leave_out(axes.figure, f"agents on {len(chosen)} of {counted(len(ticks), 'recorded day')}")
    everything = data[name].values.astype(float)
    everything = everything[np.isfinite(everything)]
    if not len(everything):
        raise SocietiesError(f"has no values of '{name}'")
    least, most = float(everything.min()), float(everything.max())
    room = 0.08 * (most - least) or 1.0
    places = np.linspace(least - room, most + room, 241)
    for height, tick in enumerate(chosen):
        values = data[name].isel({clock: tick}).values.ravel().astype(float)
        shape = density(values[np.isfinite(values)], places)
        upper = height + 1.5 * shape / max(shape.max(), 1e-300)
        order = 2 * (len(chosen) - height)  # later days lie behind earlier ones
        axes.fill_between(places, height, upper, color=COLOURS[0], alpha=0.8, lw=0, zorder=order)
        axes.plot(places, upper, color="white", linewidth=0.9, zorder=order + 1)
    axes.set_yticks(range(len(chosen)), [str(tick) for tick in ticks[chosen]])
    title = f"Agents by day: {label}" if label else "Agents by day"
    axes.set(ylabel=clock.split("_")[-1], xlim=(places[0], places[-1]), title=words(title, 60))
    axes.set_xlabel(words(f"{about(data[name])} {in_unit(data[name])}".strip(), 60))
    axes.locator_params(axis="x", nbins=4)
    if most >= 1000:
        axes.xaxis.set_major_formatter(thousands)


def density(values: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a kernel density estimate at equally spaced places: Gaussian, Scott's bandwidth.

    The bandwidth is at least the distance of two places.
    """
    if not len(values):
        return np.zeros_like(places)
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    width = max(spread * len(values) ** -0.2, float(places[1] - places[0]))
    kernels = np.exp(-0.5 * ((places[:, None] - values) / width) ** 2)
    found: NDArray[np.float64] = kernels.sum(1) / (len(values) * width * np.sqrt(2 * np.pi))
    return found


def sources(cases: Cases) -> Any:
    """Draw the stacked shares of units extracted by hand and with each type of device."""
    return _stacked(cases, "extraction_share", "source", "Extracted with", "share of the units")


def time(cases: Cases) -> Any:
    """Draw the stacked shares of the working time by activity."""
    shares = {
        label: data.assign(time_budget=structure.time_budget(variable_of(data, "minutes")))
        for label, data in cases.items()
    }
    return _stacked(shares, "time_budget", "activity", "Time", "share of the time worked")


def _stacked(cases: Cases, name: str, dim: str, title: str, axis: str) -> Any:
    figure, panels = new_panels(len(cases), wide=len(cases) == 1)
    colours = ("#C8C8C8", "#56B4E9", "#0072B2", "#E69F00", "#D55E00", "#009E73", "#CC79A7")
    means = {label: _means(data, name, dim) for label, data in cases.items()}
    names = {label: [*map(str, one[dim].values)] for label, one in means.items()}
    known = dict.fromkeys(n for own in sorted(names.values(), key=len)[::-1] for n in own)
    used = {
        label: [n for n, area in zip(names[label], one.values, strict=True) if (area > 0).any()]
        for label, one in means.items()
    }
    order = [n for n in known if any(n in own for own in used.values())]
    entries = {}
    for axes, (label, data) in zip(panels, cases.items(), strict=True):
        own = [n for n in order if n in names[label]]
        values = means[label].values[[names[label].index(n) for n in own]]
        days, values, _ = statistics.thinned(data[clock_of(data)].values, values, MOST_POINTS)
        places = [order.index(n) for n in own]  # one colour and hatch in all panels
        shown = [colours[i % len(colours)] for i in places]
        areas = axes.stackplot(days, values, colors=shown, linewidth=0)
        for n, place, area in zip(own, places, areas, strict=True):
            area.set_hatch((None, "///", "...")[place // len(colours) % 3])
            area.set_label(words(n).replace("_", " "))
            entries[n] = area
        axes.set_ylim((0, 1))
        axes.grid(visible=False)
        label_panel(axes, data, f"{title}: {label}" if label else title, axis)
        mark_own(axes, cases, label)
    figure.legend(
        handles=[entries[n] for n in reversed(order)],  # in the order of the picture
        loc="outside right upper",
        fontsize=8.5,
        title=pooled(cases).replace(" of ", "\nof ", 1) or None,
        title_fontsize=8.5,
        alignment="left",
    )
    return finished(figure, cases, "")


def _means(data: xr.Dataset, name: str, dim: str) -> xr.DataArray:
    """Return the means of a variable over copies: (dim, tick)."""
    values = variable_of(data, name).transpose(copies_of(data), dim, clock_of(data))
    found: xr.DataArray = values.isel({copies_of(data): 0}, drop=True)
    return found.copy(data=statistics.mean(values.values))


def devices(cases: Cases, *, bands: str = INTERVAL) -> Any:
    """Draw the shares of tools and machines that are made with devices."""
    shares = {label: variable_of(data, "device_maker_share") for label, data in cases.items()}
    makers = {label: MAKES_TOOLS in possible_types(data) for label, data in cases.items()}
    figure, panels = new_panels(len(cases), wide=len(cases) == 1)
    for axes, (label, data) in zip(panels, cases.items(), strict=True):
        label_panel(axes, data, label or "Device maker share", "made with devices, share")
        axes.set_ylim((0, 1.02))
        if not makers[label]:
            axes.text(0.5, 0.5, "devices: tools", transform=axes.transAxes, ha="center")
            continue
        for place, one in enumerate(map(words, shares[label].made_type.values)):
            part = shares[label].isel(made_type=place)
            draw_line(axes, data, part, COLOURS[place], bands, one.replace("_", " "))
        legend_inside(axes)
    return finished(figure, cases, bands, legend=False, apart=True)


def hhi(cases: Cases) -> Any:
    """Draw the concentration of extraction: quantiles of the Herfindahl index over resources."""
    figure, panels = new_panels(len(cases), wide=len(cases) == 1)
    for axes, (label, data) in zip(panels, cases.items(), strict=True):
        clock, copies = clock_of(data), copies_of(data)
        values = variable_of(data, "hhi").transpose(copies, "quantile", clock)
        days, means, _ = statistics.thinned(
            data[clock].values, statistics.mean(values.values), MOST_POINTS
        )
        least, low, middle, high, most = means
        area = {"color": COLOURS[0], "linewidth": 0}
        axes.fill_between(days, least, most, alpha=0.15, label="all of them", **area)
        axes.fill_between(days, low, high, alpha=0.35, label="half of them", **area)
        axes.plot(days, middle, color=COLOURS[0], label="median of the resources")
        label_panel(axes, data, label or "Concentration of extraction", "HHI over resources")
        axes.set_ylim((0, 1.02))
        mark_own(axes, cases, label)
    entries = panels[0].get_legend_handles_labels()[0]
    legend_above(figure, [entries[::-1]], pooled(cases))
    return finished(figure, cases, "")


def interdependence(cases: Cases, *, bands: str = INTERVAL) -> Any:
    """Draw the number of resources contained in the devices that extract."""
    return series(cases, variables=["interdependence"], bands=bands)


def shock(cases: Cases, *, variables: Sequence[str] = (), bands: str = INTERVAL) -> Any:
    """Draw series relative to their level before the first shock, and mark their recovery."""
    chosen = list(variables) or ["utility"]
    figure, panels = new_panels(len(chosen), wide=len(chosen) == 1)
    for axes, name in zip(panels, chosen, strict=True):
        for label, colour, data in coloured(cases):
            marks = happenings(data)
            values = variable_of(data, name)
            require_along(values, copies_of(data), clock_of(data))
            found = structure.recovery_time(values, marks[0].tick, clock=clock_of(data))
            relative = values / found.level
            took = found.recovery_time.values
            back = np.isfinite(took)
            said = f"back in {np.median(took[back]):.0f} days" if back.all() else "not back"
            if back.any() and not back.all():
                said = f"{back.sum()} of {back.size} back, in {np.median(took[back]):.0f} days"
            part = 100 * float(found.loss.mean())
            lost = f"{part:.0f} % lost" if part > 0 else "never below"
            shown = "; ".join(part for part in (label, lost, said) if part)
            draw_line(axes, data, relative, colour, bands, shown)
        said = f"part of the level up to {clock_of(data)} {marks[0].tick}"
        label_panel(axes, longest(cases), title_of(values), said)
        axes.axhline(1, color=GREY, linewidth=0.8)
        from_zero(axes)
        legend_inside(axes)
    return finished(figure, cases, bands, legend=False)


def _of_agents(data: xr.Dataset, name: str) -> Any:
    """Return a quantity of agents on the last recorded day: (copy, agent)."""
    values = variable_of(data, name)
    if "agent" not in values.dims:
        raise ConfigError(f"{option('variables', name)}: is not a quantity of agents")
    clock = ticks_of(values)
    require_along(values, copies_of(data), clock, "agent")
    return values.isel({clock: -1}).transpose(copies_of(data), "agent")


def _last(data: xr.Dataset, clock: str) -> str:
    return f"{clock.split('_')[-1]} {data[clock].values[-1]}"


FIGURES: dict[str, Callable[..., Any]] = {
    "series": series,
    "income": income,
    "gini": gini,
    "distribution": distribution,
    "sources": sources,
    "time": time,
    "devices": devices,
    "hhi": hhi,
    "interdependence": interdependence,
    "shock": shock,
    "trade_network": draw_trade_network,
    "effect": draw_effect,
    "irf": draw_irf,
    "fan": draw_fan,
    "sweep": sweep,
    "sensitivity": sensitivity,
}
"""Figures for all results that have their variables, in addition to the workload's overview."""
