"""Reproduce the paper's first two scenarios (no trade; trade) and compare with the recorded runs.

    python experiments/economy/resource_scenarios/run.py [--device auto] [--out FOLDER]

Runs configs/economy/no_trade.yaml and trade.yaml with 20 societies each, compares every series
that the recorded runs have (tests/data/societies-baseline) on days 1 to 500, and writes
comparison.csv, comparison.md and scenarios.png. Takes about a minute on two CPU cores.
"""

import argparse
import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from baseline import ROOT, SCENARIOS, SEEDS, compare, read_baseline

import societies
from societies.analysis.compare import DAYS, acceptable, misses

HERE = Path(__file__).parent


def plot(datasets, baselines, path):
    """Draw our mean and range over the recorded mean and range."""
    panels = [
        ("units_extracted", "gathered", "units extracted\n(per agent and day)"),
        ("units_held", "held", "units held\n(per agent)"),
        ("units_traded", "traded_res", "units traded\n(per agent and day)"),
        ("utility", "mean_util", "utility\n(util per agent)"),
        ("gini", "gini_day", "Gini of utility"),
        ("hhi", "hhi_med", "HHI of extraction,\nmedian over resources"),
    ]
    colours = {"no_trade": "#0072B2", "trade": "#D55E00"}
    figure, axes = plt.subplots(2, 3, figsize=(12, 6.2), constrained_layout=True)
    for axis, (ours, recorded, label) in zip(axes.flat, panels, strict=True):
        for scenario, dataset in datasets.items():
            values = dataset[ours]
            if ours == "hhi":
                values = values.sel(quantile=0.5)
            table = baselines[scenario][recorded]
            days = np.array(sorted(table))
            low, high = (np.array([table[d][k] for d in days]) for k in ("min", "max"))
            mean = np.array([table[d]["mean"] for d in days])
            colour = colours[scenario]
            name = scenario.replace("_", " ")
            axis.fill_between(
                dataset.day, values.min("society"), values.max("society"), color=colour, alpha=0.25
            )
            axis.plot(dataset.day, values.mean("society"), color=colour, label=f"{name}, ours")
            axis.plot(
                days, mean, "k--", lw=1, label=f"{name}, recorded" if scenario == "trade" else None
            )
            axis.plot(days, low, "k:", lw=0.5)
            axis.plot(days, high, "k:", lw=0.5)
        axis.set_xlabel("day")
        axis.set_ylabel(label)
        axis.set_ylim(bottom=0)
        axis.set_xlim(0, 500)
    axes.flat[0].legend(frameon=False, fontsize=8)
    figure.suptitle(
        "48 agents x 48 resources, 20 societies: mean and range; dashed and dotted: recorded runs"
    )
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=HERE)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rows, datasets, baselines, summary = [], {}, {}, []
    for scenario, recorded in SCENARIOS.items():
        config = societies.load_config(
            ROOT / "configs" / "economy" / f"{scenario}.yaml", [f"replicates={SEEDS}"]
        )
        path = options.out / f"{scenario}.h5"
        report = societies.run(config, device=options.device, out=path, overwrite=True)
        with societies.open_results(path) as dataset:
            datasets[scenario] = dataset.load()
        baselines[scenario] = read_baseline(recorded)
        found = compare(datasets[scenario], baselines[scenario], DAYS)
        missed = misses(found)
        verdict = "agrees" if acceptable(found) else "DIFFERS"
        summary.append(
            f"{scenario}: {len(found) - len(missed)} of {len(found)} comparisons within three "
            f"standard errors: {verdict} ({report.device}, {report.wall_seconds:.1f} s)"
        )
        rows += [(scenario, c) for c in found]
    print("\n".join(summary))
    with open(options.out / "comparison.csv", "w", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(["scenario", "series", "day", "ours", "recorded", "allowed", "agrees"])
        for scenario, c in rows:
            writer.writerow(
                [
                    scenario,
                    c.series,
                    c.day,
                    f"{c.ours:.6g}",
                    f"{c.baseline:.6g}",
                    f"{c.allowed:.3g}",
                    int(c.agrees),
                ]
            )
    with open(options.out / "comparison.md", "w") as lines:
        lines.write("\n".join(f"- {line}" for line in summary) + "\n\n")
        lines.write("| scenario | series |" + "".join(f" day {d} |" for d in DAYS) + "\n")
        lines.write("|---|---|" + "---|" * len(DAYS) + "\n")
        for scenario in SCENARIOS:
            names = dict.fromkeys(c.series for s, c in rows if s == scenario)
            for name in names:
                cells = [
                    f"{c.ours:.4g} / {c.baseline:.4g}{'' if c.agrees else ' **!**'}"
                    for s, c in rows
                    if s == scenario and c.series == name
                ]
                lines.write(f"| {scenario} | {name} | " + " | ".join(cells) + " |\n")
        lines.write(
            "\nOurs / recorded, means over 20 societies each; **!**: apart by more than "
            "three standard errors.\n"
        )
    plot(datasets, baselines, options.out / "scenarios.png")


if __name__ == "__main__":
    main()
