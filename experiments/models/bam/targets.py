"""Does BAM have the statistics that others have? Means over many economies against targets.json.

    python experiments/models/bam/targets.py [--economies 200] [--keep FOLDER]

writes results/targets.csv: for each scenario and statistic the mean and standard deviation over our
economies and over the seeds of an independent implementation of the same specification, and their
difference in its standard errors, z. It agrees if |z| <= 3. Exit code 1 if one does not.
"""

import argparse
import csv
import json
import math
import sys
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr
from statistics_of_bam import SCENARIOS

import societies

HERE = Path(__file__).parent
RUNS = (("baseline", {}), ("growth_plus", {}), ("growth_plus", {"labour_rounding": "reals"}),
        ("buffer_stock", {}))  # fmt: skip
COLUMNS = ("scenario", "labour_rounding", "statistic", "economies", "mean", "sd", "seeds",
           "target_mean", "target_sd", "z", "book", "peer_mean")  # fmt: skip


def results(name, keys, economies, folder):
    """Return the file of a scenario, which is run if the folder does not have it."""
    label = "-".join([name, *keys.values(), str(economies)])
    path = folder / f"{label}.h5"
    if not path.exists():
        changes = {"replicates": economies, "record.detail": 1000, **keys}
        settings = [f"{key}={value}" for key, value in changes.items()]
        societies.run(societies.load_config(f"models/bam/{name}", settings), out=path)
    return xr.open_dataset(path)


def statistics(name, run):
    """Return the statistics of every economy: lists by name."""
    found = {}
    for k in range(run.sizes["economy"]):
        one = run.isel(economy=k)
        series = {
            key: values.values
            for key, values in one.data_vars.items()
            if values.dims == ("quarter",)
        }
        late = {key: values[500:] for key, values in series.items()}
        output = one.made.sel(detail_quarter=1000).values / 2**20
        for key, value in SCENARIOS[name](series, late, output).items():
            found.setdefault(key, []).append(float(value))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--economies", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="folder for the files of the runs")
    options = parser.parse_args()
    targets, rows = json.loads((HERE / "targets.json").read_text())["scenarios"], []
    with tempfile.TemporaryDirectory() as temporary:
        for name, keys in RUNS:
            run = results(name, keys, options.economies, options.keep or Path(temporary))
            which = "with_error_of_reals" if keys else "spec"
            for statistic, values in statistics(name, run).items():
                target = targets[name]["statistics"].get(statistic, {})
                if f"{which}_mean" not in target:
                    continue
                mean, sd = float(np.mean(values)), float(np.std(values))
                wanted, spread = target[f"{which}_mean"], target[f"{which}_sd"]
                seeds = targets[name][f"{which}_seeds"][1]
                error = math.sqrt(sd**2 / len(values) + spread**2 / seeds)
                z = (mean - wanted) / error if error else 0.0
                rows.append([name, keys.get("labour_rounding", "up"), statistic, len(values), mean,
                             sd, seeds, wanted, spread, z, target.get("book"),
                             target.get("peer_mean")])  # fmt: skip
    with (HERE / "results/targets.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(
            ["" if x is None else f"{x:.6g}" if isinstance(x, float) else x for x in row]
            for row in rows
        )
    far = [row for row in rows if abs(row[9]) > 3]
    print(f"{len(rows)} statistics, {len(far)} of them more than 3 standard errors away")
    for row in far:
        print(*row[:3], f"mean {row[4]:.6g}, target {row[7]:.6g}, z {row[9]:+.2f}")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
