"""Experiments of the book (section 3.10): what do contracts, searches, taxes and sizes change?

    python experiments/models/bam/experiments.py NAME ... [--replicates 20] [--device D] [--out OUT]

NAME is contract, markets, loyalty, tax or size; default: all. Each runs a sweep of Growth+ (1000
quarters, the second half is measured), writes NAME.csv and draws NAME.png: means over economies
with 95 % intervals; economies that ended early are counted and left out of the means.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from studies import by_point, mean_and_error, same_keys, study

HERE = Path(__file__).parent
BLUE, ORANGE, GREEN = COLOURS = ("#0072B2", "#D55E00", "#009E73")
PANELS = (
    "unemployment", "growth of output, mean", "growth of output, standard deviation",
    "failed_firms", "wage over productivity", "inflation", "kurtosis of output",
    "persistence of the cycle, AR(1)", "share that ended early",
)  # fmt: skip


def varied(key, values, **more):
    """Return a line of a figure: its label, and a point for each value of a key."""
    return key, [(str(value), {key: value, **more}) for value in values]


def sized(label, sizes):
    """Return a line of economies with other numbers of firms, households and banks."""
    return label, [
        (name, {"firms": f, "households": h, "banks": b}) for name, (f, h, b) in sizes.items()
    ]


EXPERIMENTS = {
    "contract": [varied("contract", (1, 4, 6, 8, 10, 12, 14))],
    "markets": [
        varied("max_m", (2, 3, 4, 5, 6)),
        varied("max_z", (2, 3, 4, 5, 6)),
        varied("max_h", (1, 2, 3, 4, 6)),
    ],
    "loyalty": [
        ("loyalty: largest", varied("max_z", (2, 3, 4, 5, 6), loyalty="largest")[1]),
        ("loyalty: none", varied("max_z", (2, 3, 4, 5, 6), loyalty="none")[1]),
    ],
    "tax": [varied("tax", (0.0, 0.3, 0.5, 0.7, 0.9))],
    "size": [
        sized("all sizes", {"x1": (100, 500, 10), "x2": (200, 1000, 20), "x5": (500, 2500, 50)}),
        sized("one size", {"banks x2": (100, 500, 20), "households x2": (100, 1000, 10),
                           "firms x2": (200, 500, 10)}),
    ],
}  # fmt: skip

ACROSS = {
    "contract": "quarters of a contract",
    "markets": "firms applied to, shops visited, banks asked",
    "loyalty": "shops visited",
    "tax": "share of profit taken away",
}
"""What differs along the horizontal axis."""


def measured(name, replicates, out, device):
    """Return the rows of an experiment: line, value, economies, and statistics by name."""
    lines = EXPERIMENTS[name]
    every = same_keys("growth_plus", [point for _, line in lines for _, point in line])
    points = [point for k, point in enumerate(every) if point not in every[:k]]
    final = () if name == "size" else ("made",)
    with study(out / f"{name}.h5", "growth_plus", points, replicates, final, device) as results:
        by = by_point(results, "growth_plus", len(points))
    found = iter([by[points.index(point)] for point in every])
    rows = []
    for label, line in lines:
        for value, _ in line:
            ended, statistics = next(found)
            row = {"line": label, "value": value, "economies": replicates}
            for panel in PANELS[:-1]:
                row[panel], row[f"{panel}, error"] = mean_and_error(statistics.get(panel, []))
            rows.append(row | {PANELS[-1]: ended})
    return rows


def draw(name, rows, path):
    """Draw a panel for each statistic: means over economies with 95 % intervals."""
    panels = [panel for panel in PANELS if np.isfinite([row[panel] for row in rows]).any()]
    figure = Figure(figsize=(12.5, 8.6), layout="constrained")
    for axes, panel in zip(figure.subplots(3, 3).flat, panels, strict=False):
        labels = list(dict.fromkeys(row["line"] for row in rows))
        ticks = list(dict.fromkeys(row["value"] for row in rows))
        numbers = all(tick.replace(".", "", 1).isdigit() for tick in ticks)
        for label, colour in zip(labels, COLOURS, strict=False):
            own = [row for row in rows if row["line"] == label]
            x = [float(row["value"]) if numbers else ticks.index(row["value"]) for row in own]
            error = [1.96 * row.get(f"{panel}, error", 0.0) for row in own]
            axes.errorbar(x, [row[panel] for row in own], error, color=colour, marker="o",
                          markersize=4, capsize=2, label=label,
                          linestyle="-" if numbers else "none")  # fmt: skip
        if not numbers:
            axes.set_xticks(range(len(ticks)), ticks, rotation=35, ha="right")
        axes.set_xlabel(ACROSS.get(name, ""), fontsize=9)
        axes.set_title(panel.replace("_", " "), loc="left", fontsize=10)
        axes.grid(alpha=0.3)
        if panel == panels[0]:
            axes.legend(frameon=False, fontsize=9)
    for axes in figure.axes[len(panels) :]:
        axes.remove()
    count = rows[0]["economies"]
    figure.suptitle(f"Growth+, {name}: means of {count} economies a point, quarters 501 to 1000")
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(EXPERIMENTS))
    parser.add_argument("--replicates", type=int, default=20)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    if wrong := [name for name in options.names if name not in EXPERIMENTS]:
        parser.error(f"{wrong[0]}: choose {', '.join(EXPERIMENTS)}")
    for name in options.names or EXPERIMENTS:
        began, busy = time.monotonic(), time.process_time()
        rows = measured(name, options.replicates, options.out, options.device)
        with (options.out / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(
                {key: f"{x:.6g}" if isinstance(x, float) else x for key, x in row.items()}
                for row in rows
            )
        draw(name, rows, options.out / f"{name}.png")
        took, used = time.monotonic() - began, time.process_time() - busy
        print(f"{name}: {took:.0f} s, {used:.0f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
