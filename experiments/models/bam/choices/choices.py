"""Which open choices restore the book's inflation of 5 % and its two thirds of hedge firms?

    python experiments/models/bam/choices/choices.py [--replicates 10] [--device D] [--out FOLDER]
        [--only baseline|growth_plus]

sweeps combinations of choices for the baseline and Growth+, and scores each point as
`societies validate bam STUDY --case NAME` does: 1 for each statistic of configs/validation/bam.yaml
that passes, 1/2 for a warning, over their number. An economy that ended early fails. Writes
choices.csv, a row for each combination with both scenarios, and draws choices.png. Studies whose
files are in the folder are not computed again; --only computes one, so that two processes share the
work.
"""

import argparse
import csv
import itertools
import sys
import time
from pathlib import Path

from matplotlib.figure import Figure

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from studies import by_point, mean_and_error, study  # noqa: E402

from societies.analysis.study_cases import point_labels  # noqa: E402
from societies.study import validation  # noqa: E402
from societies.study.targets import load_targets  # noqa: E402

ONE_BY_ONE = {
    "price_floor": ("cost_capped", "none"),
    "mean_price": ("plain", "sales"),
    "search_pool": ("vacancies",),
    "hiring": ("one_by_one",),
    "min_wage": ("up", "fixed"),
    "inflation": ("quarter",),
    "raise_contracts": ("no",),
    "credit_order": ("worth", "drawn"),
    "recovery": ("none", "cash"),
    "dividend_to": ("income",),
    "loyalty": ("none",),
    "entry_money": ("households",),
    "entry_productivity": ("mean",),
    "rnd_money": ("households",),
    "bank_dividends": (1.0,),
    "dividends": (0.3, 0.5, 0.9),
    "policy_rate": (0.07,),
    "loan_cap": (0.0,),
    "leverage_cap": (100.0,),
    "net_worth_ratio": (1.0,),
    "min_wage_ratio": (1.0,),
    "entry_wage": (1.0,),
    "entry_size": (0.25, 1.0),
    "entry_markup": (1.0, 1.26),
}
"""One choice changed at a time."""

COMBINED = {
    "price_floor": ("cost", "none"),
    "min_wage": ("both", "up"),
    "search_pool": ("all", "vacancies"),
    "dividends": (0.1, 0.5, 0.9),
    "entry_wage": (0.5, 1.0),
    "min_wage_ratio": (0.5, 1.0),
    "entry_size": (0.5, 1.0),
}
"""All combinations: what raises inflation, and what makes firms poorer."""

DEFAULTS = {"dividends": 0.1, "entry_wage": 0.5, "min_wage_ratio": 0.5, "entry_size": 0.5,
            "price_floor": "cost", "min_wage": "both", "search_pool": "all"}  # fmt: skip
SCENARIOS = ("baseline", "growth_plus")
SHOWN = ("inflation_rate_mean", "hedge_all_rounds", "hedge_by_flow", "ponzi_all_rounds",
         "unemployment_rate_mean", "bankruptcies_mean", "borrowers", "wage over productivity",
         "phillips_correlation", "okun_correlation", "beveridge_correlation")  # fmt: skip


def points():
    """Return all points: the default, one choice changed, and combinations."""
    found = [{}]
    found += [{key: value} for key, values in ONE_BY_ONE.items() for value in values]
    for values in itertools.product(*COMBINED.values()):
        point = dict(zip(COMBINED, values, strict=True))
        changed = {key: value for key, value in point.items() if DEFAULTS[key] != value}
        if changed not in found:
            found.append(changed)
    return found


def out_of(folder, name):
    """Return the file of the study of a scenario."""
    return folder / f"choices-{name}.h5"


def measured(replicates, out, device):
    """Return a row for each point: its choices, and for each scenario statistics and score."""
    every = points()
    rows = [{"choices": ", ".join(f"{k}: {v}" for k, v in p.items()) or "default"} for p in every]
    for name in SCENARIOS:
        began = time.monotonic()
        path = out_of(out, name)
        with study(path, name, every, replicates, device=device) as results:
            found = by_point(results, name, len(every))
            labels = point_labels(results)
            # In memory: from the file, every statistic of every point would be read again.
            verdicts = validation.validate("bam", results.load(), case=name).verdicts
        for point, (row, (ended, statistics)) in enumerate(zip(rows, found, strict=True)):
            judged = [one for one in verdicts if one.case == labels[point]]
            row[f"{name}: ended early"] = ended
            row[f"{name}: score"] = validation.score(judged)
            row[f"{name}: failed"] = " ".join(one.name for one in judged if one.verdict == "FAIL")
            for key in SHOWN:
                row[f"{name}: {key}"] = mean_and_error(statistics.get(key, []))[0]
        print(f"{name}: {len(every)} points, {time.monotonic() - began:.0f} s", flush=True)
    return rows


def draw(rows, replicates, path):
    """Draw inflation against hedge firms by cash, coloured by the score, for both scenarios."""
    figure = Figure(figsize=(13, 8.5), layout="constrained")
    axes = figure.subplots(2, 2)
    targets = {one.name: one.statistics["inflation_rate_mean"] for one in load_targets("bam")}
    for line, hedge in zip(axes, ("hedge_all_rounds", "hedge_by_flow"), strict=True):
        for one, name in zip(line, SCENARIOS, strict=True):
            x = [row[f"{name}: inflation_rate_mean"] for row in rows]
            y = [row[f"{name}: {hedge}"] for row in rows]
            one.axvspan(*targets[name].band, color="0.93", zorder=0)
            one.axhspan(0.5, 0.8, color="0.93", zorder=0)
            seen = one.scatter(x, y, c=[row[f"{name}: score"] for row in rows], s=22, vmin=0,
                               vmax=1, cmap="viridis")  # fmt: skip
            one.scatter(x[:1], y[:1], s=90, facecolors="none", edgecolors="#D55E00")
            one.set(xlabel="inflation a year", ylabel=hedge.replace("_", " "), title=name)
            one.grid(alpha=0.3)
            one.set_xlim(-0.05, 0.15)
        figure.colorbar(seen, ax=line[-1], label="score of validation")
    figure.suptitle(
        f"{len(rows)} combinations of open choices, {replicates} economies each; grey: the book; "
        "ring: defaults"
    )
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--replicates", type=int, default=10)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--only", choices=SCENARIOS)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.only:
        study(out_of(options.out, options.only), options.only, points(), options.replicates,
              device=options.device)  # fmt: skip
        return
    rows = measured(options.replicates, options.out, options.device)
    with (options.out / "choices.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: f"{x:.5g}" if isinstance(x, float) else x for key, x in row.items()}
            for row in rows
        )
    draw(rows, options.replicates, options.out / "choices.png")
    both = sorted(rows, key=lambda row: -sum(row[f"{name}: score"] for name in SCENARIOS))
    for row in both[:12]:
        parts = []
        for name in SCENARIOS:
            score, inflation, hedge, flow = (row[f"{name}: {key}"] for key in ("score", *SHOWN[:3]))
            parts.append(
                f"{name} {score:.2f}: inflation {inflation:.3f}, hedge firms {hedge:.3f} by cash, "
                f"{flow:.3f} by flow"
            )
        print(row["choices"], *parts, sep="\n  ")


if __name__ == "__main__":
    main()
