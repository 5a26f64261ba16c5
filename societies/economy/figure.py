"""Which figure gives an overview of a run: the daily means and the use of devices?"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from reference_py.economy.devices import DEVICE_TYPES, TOOL
from societies.workload.drawing.bands import thinned
from societies.workload.drawing.figure import (
    INTERVAL,
    MOST_POINTS,
    QUANTILES,
    Mark,
    Panel,
    configuration_of,
    drawable,
    from_zero,
    label,
    line_with_band,
    marks_of,
    panels_figure,
    panels_of,
    pasts_of,
    values_set,
    words,
)
from societies.workload.drawing.lettering import columns_of

if TYPE_CHECKING:
    import xarray as xr

# Units above, welfare below. Colours of Okabe and Ito, distinguished by every kind of eye.
PANELS = (
    Panel("units_extracted", "Extracted", "units per agent and day", "#0072B2"),
    Panel("units_held", "Held", "units per agent", "#0072B2"),
    Panel("units_traded", "Traded", "units per agent and day", "#0072B2"),
    Panel("utility", "Utility", "util per agent", "#009E73"),
)
INEQUALITY = {
    "gini_extracted": ("units extracted", "#0072B2"),
    "gini_income": ("income", "#E69F00"),
    "gini_wealth": ("wealth", "#CC79A7"),
    "gini": ("utility", "#D55E00"),
}
"""Gini coefficients of the overview, with quantity and colour: what differs most comes first."""
INTERDEPENDENCE = Panel(
    "interdependence", "Interdependence", "resources in the devices used", "#CC79A7"
)
_SOURCE_COLOURS = ("#C8C8C8", "#56B4E9", "#0072B2", "#E69F00", "#D55E00")
_TYPE_COLOURS = (*_SOURCE_COLOURS[1:], "#009E73", "#CC79A7")


def figure(results: xr.Dataset, *, bands: str = INTERVAL) -> Any:
    """Return the overview of a run.

    A run with devices has three more panels: the number of resources contained in the devices used,
    the shares of units extracted by hand and with each type of device, and the number of known
    devices of each type that the configuration allows. A run with several groups has a panel with
    their utilities. The legend explains the lines; stacked shares are means over societies.

    Parameters
    ----------
    results : xarray.Dataset
        The figure shows the variables ``units_extracted``, ``units_held``, ``units_traded``,
        ``utility`` and the Gini coefficients of `INEQUALITY` that are recorded (with devices also
        ``interdependence``, ``extraction_share`` and ``devices_known``) or, if one of them or
        ``gini`` is missing, the first six series. The title uses the attributes ``agents``,
        ``resources`` and ``scenario`` if present.
    bands : str
        Meaning of the bands: "interval" of the mean, "quantiles" of the societies, or "none".

    Returns
    -------
    matplotlib.figure.Figure
    """
    shown: dict[str, Any] = {"shown": bands, "marks": happenings(results)}
    unequal = partial(_draw_inequality, shown=bands)
    if not all(name in results for name in (*(panel.variable for panel in PANELS), "gini")):
        return panels_figure(results, panels_of(results), who=who(results), **shown)
    groups = (partial(_draw_groups, shown=bands),) if "group_utility" in results else ()
    with_devices = (INTERDEPENDENCE.variable, "extraction_share", "devices_known")
    if not all(name in results for name in with_devices):
        return panels_figure(results, PANELS, (unequal, *groups), who(results), **shown)
    panels = (*PANELS, INTERDEPENDENCE)
    more = (
        unequal,
        partial(_draw_sources, shown=bands),
        partial(_draw_known, shown=bands),
        *groups,
    )
    return panels_figure(results, panels, more, who(results), **shown)


SHOWN_NUMBERS = 4
"""Most societies of an intervention that are listed in the small print; else their number is."""


def happenings(results: xr.Dataset) -> list[Mark]:
    """Return the interventions and shocks of a result's configuration, in the order of days."""

    def worded(one: Mapping[str, Any]) -> str:
        removed = one.get("remove")
        what = f"{removed} {one.get('index', '')} removed".replace("  ", " ") if removed else ""
        said = ", ".join(part for part in (values_set(one), what) if part)
        concerned = one.get("societies") or ()
        if len(concerned) > SHOWN_NUMBERS:
            return f"{said} in {len(concerned)} societies"
        return f"{said} in society {', '.join(map(str, concerned))}" if concerned else said

    return marks_of(results, ("interventions", "shocks"), worded)


def who(results: xr.Dataset) -> str:
    """Return a line with the agents, resources and scenario, as far as the attributes have them."""
    attrs = results.attrs
    parts = []
    if "agents" in attrs and "resources" in attrs:
        parts.append(f"{words(attrs['agents'])} agents × {words(attrs['resources'])} resources")
    elif "title" in attrs:
        parts.append(words(attrs["title"]))
    if "scenario" in attrs:
        parts.append(words(attrs["scenario"]))
    return "  ·  ".join(parts)


def possible_types(results: xr.Dataset) -> tuple[str, ...]:
    """Return the types of devices that can exist with the configuration of a result.

    For a study that varies ``devices``, return the types that can exist in any of its runs.
    """
    said = {configuration_of(results).get("devices")}
    if "devices" in results.coords:
        said = {str(one) for one in results["devices"].values.ravel()}
    return (DEVICE_TYPES[TOOL],) if said == {"tools"} else DEVICE_TYPES


def _draw_sources(axes: Any, results: xr.Dataset, shown: str) -> None:
    """Draw the stacked shares of the units extracted by hand and with each type of device."""
    shares = drawable(results, "extraction_share", "source", "day", "society").mean("society")
    possible = _possible(results, "source")
    names = [words(results["source"].values[i]).replace("_", " ") for i in possible]
    days, areas, _ = thinned(results["day"].values, shares.values[possible], MOST_POINTS)
    colours = [_SOURCE_COLOURS[i % len(_SOURCE_COLOURS)] for i in possible]
    axes.stackplot(days, areas, colors=colours, labels=names, linewidth=0)
    axes.set_ylim((0, 1))
    axes.grid(visible=False)
    what = "mean share of the units" if shown == QUANTILES else "share of the units"
    _finish(axes, results, "Extracted with", what)


def _possible(results: xr.Dataset, dim: str) -> list[int]:
    """Return the indices along a dimension, without devices that cannot exist."""
    shown = {*possible_types(results)}
    names = [str(one) for one in results[dim].values]
    return [i for i, one in enumerate(names) if one in shown or one not in DEVICE_TYPES]


def _draw_groups(axes: Any, results: xr.Dataset, shown: str) -> None:
    """Draw the utility of the members of each group."""
    values = drawable(results, "group_utility", "group", "society", "day").values
    for number, (name, own) in enumerate(zip(results["group"].values, values, strict=True)):
        colour = _TYPE_COLOURS[number % len(_TYPE_COLOURS)]
        style = ("-", "--", ":")[number // len(_TYPE_COLOURS) % 3]
        _line(axes, results, own, colour, shown, name, linestyle=style)
    from_zero(axes)
    _finish(axes, results, "Utility by group", "util per member")


def _draw_inequality(axes: Any, results: xr.Dataset, shown: str) -> None:
    """Draw the Gini coefficients of units extracted, income and wealth, and of utility."""
    recorded = {name: style for name, style in INEQUALITY.items() if name in results}
    for name, (quantity, colour) in recorded.items():
        values = drawable(results, name, "society", "day").values
        days, pasts = results["day"].values, pasts_of(results)
        line_with_band(axes, days, values, colour, shown, quantity, pasts=pasts)
    from_zero(axes)
    _finish(axes, results, "Inequality", "Gini coefficient of")


def _draw_known(axes: Any, results: xr.Dataset, shown: str) -> None:
    """Draw the number of devices of each type that at least one agent knows how to make."""
    known = drawable(results, "devices_known", "device_type", "society", "day").values
    types = results["device_type"].values
    for i in _possible(results, "device_type"):
        _line(axes, results, known[i], _TYPE_COLOURS[i % len(_TYPE_COLOURS)], shown, types[i])
    from_zero(axes)
    axes.set_ylim((0, max(1.0, axes.get_ylim()[1])))
    _finish(axes, results, "Devices known", "devices of each type")


def _line(
    axes: Any, results: xr.Dataset, values: Any, colour: str, shown: str, name: Any, **style: Any
) -> None:
    """Draw one of several lines of a panel, without its band: the bands would cover each other."""
    said = words(name).replace("_", " ")
    line_with_band(axes, results["day"].values, values, colour, shown, said, band=False, **style)


def _finish(axes: Any, results: xr.Dataset, title: str, axis: str) -> None:
    """Label a panel of several lines or areas, and explain them below it."""
    label(axes, results, title, axis)
    labels = axes.get_legend_handles_labels()[1]
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.22),
        ncols=min(columns_of(labels, 3.2, 8.5), 3),
        frameon=False,
        fontsize=8.5,
        handlelength=1.2,
        columnspacing=1.2,
    )
