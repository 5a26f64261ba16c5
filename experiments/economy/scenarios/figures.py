"""The figures: four scenarios side by side, the long run, and the collapse after a shock."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

COLOURS = {"no_trade": "#555555", "trade": "#0072B2", "tools": "#009E73", "devices": "#D55E00"}
LABELS = {
    "no_trade": "no trade",
    "trade": "trade",
    "tools": "trade and tools",
    "devices": "trade and all devices",
}
PANELS = (
    ("gathered", "units extracted\n(per agent and day)", "log"),
    ("mean_util", "utility\n(util per agent)", "log"),
    ("gini_day", "Gini coefficient of utility", "linear"),
    ("hhi_med", "HHI of extraction,\nmedian over resources", "linear"),
    ("traded_res", "units traded for resources\n(per agent and day)", "symlog"),
    ("complexity", "resource interdependence", "symlog"),
)
SOURCES = ("hand", "tool", "machine", "factory", "industry")
SHADES = ("#BBBBBB", "#56B4E9", "#0072B2", "#E69F00", "#D55E00")


def draw(ensembles, recorded, folder):
    """Draw what there are ensembles for; return the files."""
    drawn = {}
    four = {name: ensembles[name] for name in COLOURS if name in ensembles}
    if four:
        drawn["scenarios.png"] = scenarios(four, recorded)
    if "long_run" in ensembles:
        drawn["long_run.png"] = long_run(ensembles["long_run"], recorded["long_run"])
    if "shock" in ensembles:
        drawn["shock.png"] = shock(ensembles["shock"], recorded["shock"])
    for name, figure in drawn.items():
        figure.savefig(folder / name, dpi=110)
        plt.close(figure)
    return [folder / name for name in drawn]


def band(axis, values, colour, label=None):
    """Draw the mean over societies and their range."""
    low, high = values.min("society"), values.max("society")
    axis.fill_between(values.day, low, high, color=colour, alpha=0.2, lw=0)
    axis.plot(values.day, values.mean("society"), color=colour, label=label)


def dashed(axis, table, label=None):
    """Draw the mean of the recorded runs."""
    days = sorted(table)
    axis.plot(days, [table[d]["mean"] for d in days], "k--", lw=0.8, label=label)


def finish(axis, label, last):
    axis.set_xlabel("day")
    axis.set_ylabel(label)
    axis.set_xlim(0, last)


def scenarios(ensembles, recorded):
    """The paper's Figures 7 and 8 and what goes with them."""
    figure, axes = plt.subplots(2, 3, figsize=(13, 7), constrained_layout=True)
    last = list(ensembles)[-1]
    for axis, (name, label, scale) in zip(axes.flat, PANELS, strict=True):
        for scenario, series in ensembles.items():
            if name in series:
                band(axis, series[name], COLOURS[scenario], LABELS[scenario])
                one = "recorded runs" if scenario == last else None
                dashed(axis, recorded[scenario][name], one)
        axis.set_yscale(scale, **({"linthresh": 1.0} if scale == "symlog" else {}))
        finish(axis, label, 500)
        if scale != "log":
            axis.set_ylim(bottom=0)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    count = next(iter(ensembles.values())).sizes["society"]
    figure.suptitle(f"48 agents x 48 resources, {count} societies: mean and range")
    return figure


def long_run(series, recorded):
    """Figures 9 to 12: what extracts, who makes devices, concentration, interdependence."""
    last = int(series.day[-1])
    figure, axes = plt.subplots(2, 2, figsize=(11, 7.5), constrained_layout=True)
    shares = [series[f"pct_{name}"].mean("society") for name in SOURCES]
    axes[0, 0].stackplot(series.day, shares, colors=SHADES, labels=SOURCES, lw=0)
    total = np.zeros(last)
    for name in SOURCES[:-1]:
        table = recorded[f"pct_{name}"]
        total = total + [table[d]["mean"] for d in range(1, last + 1)]
        axes[0, 0].plot(series.day, total, "k--", lw=0.8)
    axes[0, 0].set_ylim(0, 1)
    axes[0, 0].legend(loc="lower right", fontsize=8)
    finish(axes[0, 0], "share of the units extracted", last)
    for name, label, colour in (
        ("use_devmachine", "tools made with machines", SHADES[2]),
        ("use_devfactory", "machines made with factories", SHADES[4]),
    ):
        band(axes[0, 1], series[name], colour, label)
        dashed(axes[0, 1], recorded[name])
    axes[0, 1].legend(frameon=False, fontsize=8)
    finish(axes[0, 1], "share made with device-making devices", last)
    for name in ("hhi_min", "hhi_q1", "hhi_med", "hhi_q3", "hhi_max"):
        colour = SHADES[4] if name == "hhi_med" else SHADES[2]
        axes[1, 0].plot(series.day, series[name].mean("society"), color=colour)
        dashed(axes[1, 0], recorded[name])
    finish(axes[1, 0], "HHI of extraction: quartiles over resources", last)
    band(axes[1, 1], series["complexity"], SHADES[4])
    dashed(axes[1, 1], recorded["complexity"], "recorded runs")
    for contained in (5, 30, 180, 1080):
        axes[1, 1].axhline(contained, color="0.8", lw=0.6, zorder=0)
    axes[1, 1].set_yscale("symlog", linthresh=1.0)
    axes[1, 1].set_ylim(bottom=0)
    axes[1, 1].legend(frameon=False, fontsize=8)
    finish(axes[1, 1], "resource interdependence", last)
    count = series.sizes["society"]
    figure.suptitle(f"24 agents x 24 resources, all devices, {count} societies; dashed: recorded")
    return figure


def shock(series, recorded):
    """Figure 13: extraction and utility before and after a resource is removed."""
    last = int(series.day[-1])
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), constrained_layout=True)
    labels = {"gathered": "units extracted (per agent and day)", "mean_util": "utility (util)"}
    for axis, (name, label) in zip(axes, labels.items(), strict=True):
        band(axis, series[name], SHADES[4], "ours")
        dashed(axis, recorded[name], "recorded runs")
        axis.axvline(600, color="0.6", lw=0.8)
        axis.set_yscale("log")
        finish(axis, label, last)
    axes[0].legend(frameon=False, fontsize=8)
    count = series.sizes["society"]
    figure.suptitle(f"24 x 24, {count} societies: resource 5 is gone after day 600")
    return figure
