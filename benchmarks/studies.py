"""How long does a study take, beside one launch by hand?

Both run the same economy: every point of a Latin hypercube, some replicates each. By hand is
``societies.run`` with a table of all runs, in this process and without a study. The two take turns,
so that a machine that slows down is seen in both.

    python benchmarks/studies.py --points 200 --replicates 5 --days 60 --agents 8
    python benchmarks/studies.py --points 10000 --replicates 10 --days 300 --agents 24 --device gpu
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import societies
from societies import config_from_dict, sweep
from societies.sweep.points import points_of

RANGES = {
    "utility.exponent": {"low": 2.0, "high": 3.0},
    "trading.min_surplus": {"low": 0.05, "high": 1.0},
    "day_length": {"low": 400.0, "high": 700.0},
}
FIELDS = ("who", "points", "replicates", "agents", "days", "seconds", "runs_per_s")


def base(options: argparse.Namespace) -> dict[str, object]:
    size = {"agents": options.agents, "resources": options.agents, "days": options.days}
    return {"workload": "economy", **size}


def said(options: argparse.Namespace, points: int) -> dict[str, object]:
    """Return the sweep as its file would say it."""
    return {
        "base": base(options),
        "vary": {"latin_hypercube": {"points": points, "seed": 1, "keys": RANGES}},
        "replicates": options.replicates,
        "record": {"variables": options.variables},
    }


def by_hand(options: argparse.Namespace, points: list[dict[str, float]], folder: Path) -> float:
    """Return the seconds of one launch of all runs with a table."""
    table = {key: np.repeat([point[key] for point in points], options.replicates) for key in RANGES}
    began = time.perf_counter()
    config = config_from_dict({**base(options), "record": {"checkpoint": "never"}})
    societies.run(
        config, device=options.device, table=table, out=folder / "hand.h5", overwrite=True
    )
    return time.perf_counter() - began


def by_sweep(options: argparse.Namespace, folder: Path) -> tuple[float, float]:
    """Return the seconds of a study, and of them those within batches."""
    report = sweep.run(
        said(options, options.points),
        device=options.device,
        out=folder / "study.h5",
        overwrite=True,
        yes=True,
    )
    assert not report.failures and not report.pending
    return report.seconds, report.launch_seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--replicates", type=int, default=5)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--variables", nargs="+", default=["gini", "utility", "units_traded"])
    parser.add_argument("--append", type=Path, help="a CSV file")
    options = parser.parse_args()
    points = [dict(one) for one in points_of(sweep.load_sweep(said(options, options.points)))[0]]
    rows = []

    def row(who: str, seconds: float) -> None:
        rate = options.points * options.replicates / seconds
        size = (options.points, options.replicates, options.agents, options.days)
        rows.append((who, *size, f"{seconds:.4g}", f"{rate:.4g}"))
        print(*rows[-1], flush=True)

    with TemporaryDirectory() as name:
        folder = Path(name)
        by_hand(options, points[:2], folder)  # builds the program of tables
        print(*FIELDS)
        for _ in range(2):
            row("by hand", by_hand(options, points, folder))
            seconds, within = by_sweep(options, folder)
            row("sweep", seconds)
            row("sweep, within batches", within)
    if options.append:
        new = not options.append.exists()
        with options.append.open("a", newline="") as file:
            csv.writer(file).writerows([FIELDS, *rows] if new else rows)


if __name__ == "__main__":
    sys.exit(main())
