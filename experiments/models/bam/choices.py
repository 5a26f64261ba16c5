"""Which of BAM's open choices restores the book's inflation, and its hedge firms?

    python experiments/models/bam/choices.py [--economies 20] [--device auto] [--out FOLDER]

runs Growth+ with each open choice changed alone, every word in turn, as one sweep that can be
resumed (--resume), judges every point by the targets of `societies validate bam`, and writes
choices.csv: the score of each point, its mean inflation and its share of hedge firms.
"""

import argparse
import csv
from pathlib import Path
from typing import get_args

from societies import load_config
from societies.models.bam.config import BamConfig
from societies.study import load_targets
from societies.study.validation import score, validate
from societies.sweep import load_sweep, run

HERE = Path(__file__).parent
CHOICES = (
    *("price_floor", "mean_price", "search_pool", "hiring", "min_wage", "inflation"),
    *("raise_contracts", "credit_order", "layoff", "recovery", "dividend_to", "exit_rule"),
    *("entry_productivity", "loyalty", "shopping", "labour_rounding", "entry_money", "rnd_money"),
    "rnd_fragility",
)
SHOWN = ("inflation_rate_mean", "minsky_hedge_pct", "minsky_ponzi_pct", "unemployment_rate_mean")


def points():
    """Return the defaults, and each choice changed alone, as points with labels."""
    base = load_config("models/bam/growth_plus").model_dump()
    defaults = {key: base[key] for key in CHOICES}
    found = [{"label": "defaults", **defaults}]
    for key in CHOICES:
        for word in words(key):
            if word != defaults[key]:
                found.append({"label": f"{key} {word}", **defaults, key: word})
    return found


def words(key):
    """Return the words of a choice."""
    return get_args(BamConfig.model_fields[key].annotation)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--economies", type=int, default=20)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--quarters", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("choices"))
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    targets = load_targets("bam", "growth_plus")
    sweep = {
        "base": "models/bam/growth_plus",
        "set": {"quarters": options.quarters, "record.detail": options.quarters},
        "vary": {"points": points()},
        "replicates": options.economies,
        "record": {"variables": list(targets[0].variables)},
    }
    study = options.out / "choices.h5"
    report = run(
        load_sweep(sweep),
        out=study,
        device=options.device,
        resume=options.resume,
        progress=lambda progress: print(progress, flush=True),
    )
    print(*(f"{name}: {value}" for name, value in report.rows), sep="\n")
    found = validate(targets, study)
    with (options.out / "choices.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["choice", "score", *SHOWN])
        for row in rows(found):
            writer.writerow(row)
            print(*row)


def rows(found):
    """Return label, score and some means of every point, the best score first."""
    table = []
    for case in found.cases:
        own = [one for one in found.verdicts if one.case == case]
        means = {one.name: one.mean for one in own}
        table.append([case, round(score(own), 3), *(f"{means[name]:.5g}" for name in SHOWN)])
    return sorted(table, key=lambda row: -row[1])


if __name__ == "__main__":
    main()
