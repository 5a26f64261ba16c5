"""How did the society fare? One figure: the means of the day, and who worked with what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from societies.workload.bands import thinned
from societies.workload.figure import (
    MOST_POINTS,
    Mark,
    Panel,
    from_zero,
    label,
    marks_of,
    numbers,
    panels_figure,
    panels_of,
    values_set,
    words,
)

if TYPE_CHECKING:
    import xarray as xr

# Units above, welfare below. Colours of Okabe and Ito, distinguished by every kind of eye.
PANELS = (
    Panel("units_extracted", "Extracted", "units per agent and day", "#0072B2"),
    Panel("units_held", "Held", "units per agent", "#0072B2"),
    Panel("units_traded", "Traded", "units per agent and day", "#0072B2"),
    Panel("utility", "Utility", "util per agent", "#009E73"),
    Panel("gini", "Inequality", "Gini of the day's utility", "#D55E00"),
)
INTERDEPENDENCE = Panel(
    "interdependence", "Interdependence", "resources in the devices used", "#CC79A7"
)
_SOURCE_COLOURS = ("#C8C8C8", "#56B4E9", "#0072B2", "#E69F00", "#D55E00")
_TYPE_COLOURS = (*_SOURCE_COLOURS[1:], "#009E73", "#CC79A7")


def figure(results: xr.Dataset, *, bands: str = "interval") -> Any:
    """Return the overview of a run.

    A run with devices has three panels more: how many resources are in the devices used, with
    what the units were extracted, and how many devices of each type are known; one with several
    groups has their utilities. Those are means over societies.

    Parameters
    ----------
    results : xarray.Dataset
        Used are the variables ``units_extracted``, ``units_held``, ``units_traded``, ``utility``
        and ``gini`` (with devices also ``interdependence``, ``extraction_share`` and
        ``devices_known``) or, where these are not all there, the first six series; and for the
        title, where present, the attributes ``agents``, ``resources`` and ``scenario``.
    bands : str
        What a band is: "interval" of the mean, "quantiles" of the societies, "none".

    Returns
    -------
    matplotlib.figure.Figure
    """
    shown: dict[str, Any] = {"shown": bands, "marks": happenings(results)}
    if not all(panel.variable in results for panel in PANELS):
        return panels_figure(results, panels_of(results), who=who(results), **shown)
    groups = (_draw_groups,) if "group_utility" in results else ()
    with_devices = (INTERDEPENDENCE.variable, "extraction_share", "devices_known")
    if not all(name in results for name in with_devices):
        return panels_figure(results, PANELS, groups, who(results), **shown)
    panels = (*PANELS, INTERDEPENDENCE)
    more = (_draw_sources, _draw_known, *groups)
    return panels_figure(results, panels, more, who(results), **shown)


def happenings(results: xr.Dataset) -> list[Mark]:
    """Return the interventions and shocks of a result's configuration, in the order of days."""

    def worded(one: Mapping[str, Any]) -> str:
        removed = one.get("remove")
        what = f"{removed} {one.get('index', '')} removed".replace("  ", " ") if removed else ""
        return ", ".join(part for part in (values_set(one), what) if part)

    return marks_of(results, ("interventions", "shocks"), worded)


def who(results: xr.Dataset) -> str:
    """Say who was simulated, as far as the attributes tell."""
    attrs = results.attrs
    parts = []
    if "agents" in attrs and "resources" in attrs:
        parts.append(f"{words(attrs['agents'])} agents × {words(attrs['resources'])} resources")
    elif "title" in attrs:
        parts.append(words(attrs["title"]))
    if "scenario" in attrs:
        parts.append(words(attrs["scenario"]))
    return "  ·  ".join(parts)


def _draw_sources(axes: Any, results: xr.Dataset) -> None:
    """Draw the shares of the units extracted by hand and with each type, one above the other."""
    shares = numbers(results, "extraction_share", "source", "day", "society").mean("society")
    names = [words(name).replace("_", " ") for name in results["source"].values]
    days, shown, _ = thinned(results["day"].values, shares.values, MOST_POINTS)
    axes.stackplot(days, shown, colors=_SOURCE_COLOURS, labels=names, linewidth=0)
    axes.set_ylim((0, 1))
    axes.grid(visible=False)
    _finish(axes, results, "Extracted with", "share of the units")


def _draw_groups(axes: Any, results: xr.Dataset) -> None:
    """Draw the utility of the members of each group."""
    means = numbers(results, "group_utility", "group", "day", "society").mean("society")
    days, values, _ = thinned(results["day"].values, means.values, MOST_POINTS)
    for number, (name, line) in enumerate(zip(results["group"].values, values, strict=True)):
        axes.plot(
            days,
            line,
            color=_TYPE_COLOURS[number % len(_TYPE_COLOURS)],
            linestyle=("-", "--", ":")[number // len(_TYPE_COLOURS) % 3],
            label=words(name).replace("_", " "),
        )
    from_zero(axes)
    _finish(axes, results, "Utility by group", "util per member")


def _draw_known(axes: Any, results: xr.Dataset) -> None:
    """Draw how many devices of each type somebody knows how to make."""
    known = numbers(results, "devices_known", "device_type", "day", "society").mean("society")
    days, shown, _ = thinned(results["day"].values, known.values, MOST_POINTS)
    for name, line, colour in zip(
        results["device_type"].values, shown, _TYPE_COLOURS, strict=False
    ):
        axes.plot(days, line, color=colour, label=words(name).replace("_", " "))
    axes.set_ylim((0, max(1.0, float(known.max().fillna(0)) * 1.08)))
    _finish(axes, results, "Devices known", "devices of each type")


def _finish(axes: Any, results: xr.Dataset, title: str, axis: str) -> None:
    """Label a panel of several lines or areas, and explain them below it."""
    label(axes, results, title, axis)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.22),
        ncols=3,
        frameon=False,
        fontsize=8.5,
        handlelength=1.2,
        columnspacing=1.2,
    )
