"""Reproduce the paper's four scenarios, its long run and its shock, and compare with recorded runs.

    python experiments/economy/scenarios/run.py [--device auto] [--societies 20] [SCENARIO ...]

Runs the shipped configurations no_trade, trade, tools, devices, long_run and shock, compares every
series of the recorded runs (tests/data/societies-baseline), checks what the paper claims, and
writes comparison.csv, comparison.md, claims.md and three figures. Result files that are in --out
already are read, not made again. README.md beside this tells what to expect and how long it takes.
"""

import argparse
import csv
import time
from pathlib import Path

import claims
import figures
from baseline import ROOT, SCENARIOS, compare, delay, read_baseline

import societies
from societies.analysis.compare import acceptable, misses

HERE = Path(__file__).parent


def ensemble(scenario, societies_, device, folder):
    """Return the dataset of a scenario and how it was made; run it if that was not done yet."""
    path = folder / f"{scenario}.h5"
    if not path.exists():
        config = societies.load_config(
            ROOT / "configs" / "economy" / f"{scenario}.yaml",
            [f"replicates={societies_}", "record.checkpoint=500"],
        )
        began = time.perf_counter()
        societies.run(config, device=device, out=path)
        print(f"{scenario}: {time.perf_counter() - began:.1f} s", flush=True)
    with societies.open_results(path) as dataset:
        return dataset.load()


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
            "errors. Names are those of tests/data/societies-baseline/README.md.\n"
        )


def compared(datasets):
    """Compare all scenarios, those with devices also aligned in time; return rows and verdicts."""
    found, verdicts = {}, []
    for scenario, dataset in datasets.items():
        late = delay(dataset, scenario)
        for shift in dict.fromkeys((0, late)):
            comparisons = compare(dataset, scenario, shift=shift)
            found[scenario, shift] = comparisons
            missed = misses(comparisons)
            name = f"{scenario}, aligned by {shift:+d} days" if shift else scenario
            verdict = "agrees" if acceptable(comparisons) else "DIFFERS"
            verdicts.append(
                f"{name}: {len(comparisons) - len(missed)} of {len(comparisons)} comparisons "
                f"within three standard errors: {verdict} "
                f"({dataset.sizes['society']} societies, {dataset.attrs['device']})"
            )
    return found, verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*", choices=[[], *SCENARIOS], metavar="SCENARIO")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--societies", type=int, default=20)
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--no-tables", action="store_true", help="make the result files only")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    datasets = {
        scenario: ensemble(scenario, options.societies, options.device, options.out)
        for scenario in options.scenarios or SCENARIOS
    }
    if options.no_tables:
        return
    found, verdicts = compared(datasets)
    print("\n".join(verdicts))
    write_tables(found, verdicts, options.out)
    recorded = {name: read_baseline(SCENARIOS[name].recorded) for name in datasets}
    (options.out / "claims.md").write_text(claims.table(datasets, recorded))
    figures.draw(datasets, recorded, options.out)


if __name__ == "__main__":
    main()
