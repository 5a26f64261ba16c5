"""Does BAM have the statistics that others have? Means over many seeds against targets.json.

    python experiments/models/bam/targets.py [--seeds 200] [--processes N] [--out FOLDER]

writes targets.csv: for each scenario and statistic the mean and standard deviation over our seeds
and over those of an independent implementation of the same specification, and their difference in
its standard errors, z; the same for bam-engine (peer). It agrees if |z| <= 3. With as many seeds as
the targets have, most are the same numbers, up to the digits of the targets. The peer has other
draws and, in Growth+, one other rule: it divides real numbers, as labour_rounding: reals does, so
these rows are those to compare with it. comovements.csv has the correlations of cycles with
that of output at nine lags, and its persistence; signs.csv the share of seeds in which the curves
of Phillips, Okun and Beveridge fall. Exit code 1 if a statistic does not agree.
"""

import argparse
import csv
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
from economies import each, run
from statistics_of_bam import LAGS, SCENARIOS, STATES, autoregression, comovements

HERE = Path(__file__).parent
RUNS = (("baseline", {}), ("growth_plus", {}), ("growth_plus", {"labour_rounding": "reals"}),
        ("buffer_stock", {}), ("buffer_stock", {"labour_rounding": "reals"}))  # fmt: skip
COLUMNS = ("scenario", "labour_rounding", "statistic", "economies", "mean", "sd", "seeds",
           "target_mean", "target_sd", "z", "book", "peer_mean", "peer_sd", "peer_z")  # fmt: skip
CURVES = ("phillips_correlation", "okun_correlation", "beveridge_correlation")
PEER_SEEDS = 1000
AVERAGED = 20
"""Seeds whose cycles are averaged, as in the book."""


def statistics(name, keys, seed):
    """Return the statistics and co-movements of one seed."""
    series, states = run(name, keys, seed, STATES)
    late = {key: values[500:] for key, values in series.items()}
    return SCENARIOS[name](series, late, states), comovements(late)


def rows_of(name, keys, found, targets):
    """Yield the rows of a scenario in targets.csv."""
    which = "with_error_of_reals" if keys else "spec"
    for statistic in found[0]:
        target = targets["statistics"].get(statistic, {})
        if f"{which}_mean" not in target:
            continue
        values = [float(one[statistic]) for one in found]
        mean, sd = float(np.mean(values)), float(np.std(values))
        wanted, spread = target[f"{which}_mean"], target[f"{which}_sd"]
        seeds = targets[f"{which}_seeds"][1]
        count = len(values)
        z = distance((mean, sd, count), (wanted, spread, seeds))
        peer = target.get("peer_mean"), target.get("peer_sd")
        peer_z = None if peer[0] is None else distance((mean, sd, count), (*peer, PEER_SEEDS))
        yield [name, keys.get("labour_rounding", "up"), statistic, count, mean, sd, seeds,
               wanted, spread, z, target.get("book"), *peer, peer_z]  # fmt: skip


def distance(ours, theirs):
    """Return the difference of two means in its standard errors; each is (mean, sd, seeds)."""
    error = math.sqrt(sum(sd**2 / seeds for _, sd, seeds in (ours, theirs)))
    apart = ours[0] - theirs[0]
    return apart / error if error else 0.0 if abs(apart) < 1e-9 else math.inf


def movements(name, keys, found, targets):
    """Yield the rows of a scenario in comovements.csv: ours, the target's and the book's."""
    rounding = keys.get("labour_rounding", "up")
    for what in found[0]:
        if what != "cycle":
            ours = np.nanmean([one[what] for one in found], 0)
            theirs = targets["spec_comovements"][what] if not keys else [None] * len(LAGS)
            for lag, value, target in zip(LAGS, ours, theirs, strict=True):
                yield [name, rounding, what, lag, len(found), float(value), target]
    each_one = [autoregression(one["cycle"], 1)[0] for one in found]
    groups = [found[k : k + AVERAGED] for k in range(0, len(found) - AVERAGED + 1, AVERAGED)]
    means = [np.mean([one["cycle"] for one in group], 0) for group in groups]
    together = [autoregression(mean, 1)[0] for mean in means]
    known = targets["spec_ar"] if not keys else {}
    theirs = known.get("ar1_of_each"), known.get("ar1_of_mean_of_20", [None])[0]
    yield [name, rounding, "ar1 of each cycle", "", len(found), float(np.mean(each_one)), theirs[0]]
    if together:
        count = len(together) * AVERAGED
        mean = float(np.mean(together))
        yield [name, rounding, "ar1 of the mean of 20 cycles", "", count, mean, theirs[1]]


def write(path, columns, rows):
    """Write a table; numbers have six digits."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(
            ["" if x is None else f"{x:.6g}" if isinstance(x, float) else x for x in row]
            for row in rows
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--processes", type=int, default=0, help="default: one for each core")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the tables")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    targets = json.loads((HERE / "targets.json").read_text())["scenarios"]
    rows, moves, signs, began = [], [], [], time.monotonic()
    for name, keys in RUNS:
        jobs = [(name, keys, seed) for seed in range(1, options.seeds + 1)]
        done = list(each(statistics, jobs, options.processes))
        found, moving = (list(part) for part in zip(*done, strict=True))
        rows += rows_of(name, keys, found, targets[name])
        moves += movements(name, keys, moving, targets[name])
        for curve in CURVES:
            falling = float(np.mean([one[curve] < 0 for one in found]))
            signs.append([name, keys.get("labour_rounding", "up"), curve, len(found), falling])
        write(options.out / "targets.csv", COLUMNS, rows)
        write(options.out / "comovements.csv",
              ("scenario", "labour_rounding", "series", "lag", "economies", "mean", "target_mean"),
              moves)  # fmt: skip
        write(
            options.out / "signs.csv",
            ("scenario", "labour_rounding", "curve", "economies", "share_below_0"),
            signs,
        )
        print(f"{time.monotonic() - began:.0f} s: {len(jobs)} seeds of {name} {keys}", flush=True)
    far = [row for row in rows if abs(row[9]) > 3]
    print(f"{len(rows)} statistics, {len(far)} of them more than 3 standard errors away")
    for row in far:
        print(*row[:3], f"mean {row[4]:.6g}, target {row[7]:.6g}, z {row[9]:+.2f}")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
