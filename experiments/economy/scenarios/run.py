"""Reproduce the paper's four scenarios, its long run and its shock, and compare with recorded runs.

    python experiments/economy/scenarios/run.py [--device auto] [--societies 20] [SCENARIO ...]

Runs the shipped configurations no_trade, trade, tools, devices, long_run and shock, compares every
series of the recorded runs (tests/data/societies-baseline), and writes comparison.csv,
comparison.md and three figures. The compared series of each
scenario are stored in --out as SCENARIO.nc, small enough to carry from machine to machine, and are
not made again unless another configuration or number of societies is wanted. README.md next to this
tells what to expect and how long it takes.
"""

import argparse
import csv
import time
from pathlib import Path

import figures
import xarray as xr
from agreement import acceptable, misses
from baseline import ROOT, SCENARIOS, compare, delay, ours, read_baseline

import societies
from societies.config.load import to_yaml
from societies.economy.workload import MODEL_VERSION

HERE = Path(__file__).parent


def ensemble(scenario, count, device, folder):
    """Return the series of a number of societies; run them if that was not done yet."""
    stored = folder / f"{scenario}.nc"
    config = societies.load_config(
        ROOT / "configs" / "economy" / f"{scenario}.yaml", [f"replicates={count}"]
    )
    wanted = {"configuration": to_yaml(config), "model_version": str(MODEL_VERSION)}
    if stored.exists():
        with xr.open_dataset(stored, engine="h5netcdf") as series:
            found = {name: str(series.attrs.get(name)) for name in wanted}
            have = series.sizes["society"]
        if found != wanted:
            print(f"{stored}: {have} societies of another configuration or version; made again")
            stored.unlink()
    if not stored.exists():
        path = folder / f"{scenario}.h5"
        began = time.perf_counter()
        societies.run(config, device=device, out=path, overwrite=True)
        print(f"{scenario}: {time.perf_counter() - began:.1f} s", flush=True)
        with societies.open_results(path) as dataset:
            series = ours(dataset).astype("float32")
            packing = {name: {"zlib": True} for name in series}
            series.to_netcdf(stored, engine="h5netcdf", encoding=packing)
    with xr.open_dataset(stored, engine="h5netcdf") as series:
        return series.load().astype("float64")


def write_tables(found, verdicts, folder):
    """Write every comparison as CSV, and one row for each series as Markdown."""
    with open(folder / "comparison.csv", "w", newline="") as lines:
        writer = csv.writer(lines)
        columns = ["scenario", "aligned", "series", "day", "ours", "recorded", "allowed", "agrees"]
        writer.writerow(columns)
        for (scenario, aligned), comparisons in found.items():
            for c in comparisons:
                numbers = [f"{c.ours:.6g}", f"{c.baseline:.6g}", f"{c.allowed:.3g}"]
                writer.writerow([scenario, aligned, c.series, c.day, *numbers, int(c.agrees)])
    with open(folder / "comparison.md", "w") as lines:
        lines.write("# Every series against the recorded runs\n\n")
        lines.write("\n".join(f"- {line}" for line in verdicts) + "\n")
        for (scenario, aligned), comparisons in found.items():
            days = list(dict.fromkeys(c.day for c in comparisons))
            title = f"{scenario}, aligned by {aligned:+d} days" if aligned else scenario
            lines.write(f"\n## {title}\n\n| series |" + "".join(f" day {d} |" for d in days))
            lines.write("\n|---|" + "---|" * len(days) + "\n")
            for name in dict.fromkeys(c.series for c in comparisons):
                cells = [
                    f"{c.ours:.4g} / {c.baseline:.4g}{'' if c.agrees else ' **!**'}"
                    for c in comparisons
                    if c.series == name
                ]
                lines.write(f"| {name} | " + " | ".join(cells) + " |\n")
        lines.write(
            "\nOurs / recorded, means over societies; **!**: apart by more than three standard "
            "errors.\nNames are those of tests/data/societies-baseline/README.md.\n"
        )


def compared(ensembles):
    """Compare all scenarios, those with devices also aligned in time; return rows and verdicts."""
    found, verdicts = {}, []
    for scenario, series in ensembles.items():
        late = delay(series, scenario)
        for shift in dict.fromkeys((0, late)):
            comparisons = compare(series, scenario, shift=shift)
            found[scenario, shift] = comparisons
            missed = misses(comparisons)
            name = f"{scenario}, aligned by {shift:+d} days" if shift else scenario
            verdict = "agrees" if acceptable(comparisons) else "DIFFERS"
            verdicts.append(
                f"{name}: {len(comparisons) - len(missed)} of {len(comparisons)} comparisons "
                f"within three standard errors: {verdict} "
                f"({series.sizes['society']} societies, {series.attrs['device']})"
            )
    return found, verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ", ".join(SCENARIOS)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"{names}; default: all")
    parser.add_argument("--device", default="auto", help="as for societies run; default: auto")
    parser.add_argument("--societies", type=int, default=20, help="of each; default: 20")
    parser.add_argument(
        "--out",
        type=Path,
        help="folder of what is written; default: the one of this script, for a choice of "
        "scenarios ./scenarios, so that the tables here remain complete",
    )
    parser.add_argument("--no-tables", action="store_true", help="make the result files only")
    options = parser.parse_args()
    for unknown in (name for name in options.scenarios if name not in SCENARIOS):
        parser.error(f"no scenario {unknown!r}; there are {names}")
    if options.societies < 2:
        parser.error("--societies: two at least, as means are compared with their errors")
    complete = set(options.scenarios or SCENARIOS) == set(SCENARIOS)
    options.out = options.out or (HERE if complete else Path("scenarios"))
    options.out.mkdir(parents=True, exist_ok=True)
    ensembles = {
        scenario: ensemble(scenario, options.societies, options.device, options.out)
        for scenario in options.scenarios or SCENARIOS
    }
    if options.no_tables:
        return
    found, verdicts = compared(ensembles)
    print("\n".join(verdicts))
    write_tables(found, verdicts, options.out)
    recorded = {name: read_baseline(SCENARIOS[name].recorded) for name in ensembles}
    tables = [options.out / name for name in ("comparison.csv", "comparison.md")]
    print(*tables, *figures.draw(ensembles, recorded, options.out), sep="\n")


if __name__ == "__main__":
    main()
