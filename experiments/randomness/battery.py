"""Is what the kernels draw random? dieharder on words, chi-square on integers and binomials.

    python experiments/randomness/battery.py [--quick] [--device auto] [--only NAME ...] [--list]

Draws on the device, compares places of every sequence with the twin, and writes
results/dieharder.csv and results/counts.csv (with --only: the rows of those sequences). `--quick`
reads little, takes less than a minute, and writes nothing unless --out is given. Needs dieharder
(Debian: apt-get install dieharder). Ends with 1 if a sequence failed or a control did not.
README.md next to this file tells what was found.
"""

import argparse
import csv
import datetime
import shutil
import sys
import time
from pathlib import Path

import counts
import draws
from counts import REPEAT
from dieharder import Pipe, tests

from societies.opencl import choose_device

HERE = Path(__file__).parent
ALL = tests(*range(18), *range(100, 103), *range(200, 210), of_203=(0, 1, 2, 3, 4, 8, 16, 32))
SOME = tests(
    *(0, 1, 2, 3, 4, 8, 9, 13, 15, 16, 100, 101, 102, 200, 203, 205, 207, 209),
    of_200=range(1, 5),
    of_203=range(2),
)  # fmt: skip
FEW = tests(0, 1, 3, 4, 8, 15, 16, 100, 101, 200, 203, of_200=range(1, 4), of_203=range(1))
CONTROL = tests(0, 1, 4, 8, 15, 101, 102, 205)
QUICK = tests(0, 15, 100)
QUICK_CONTROL = tests(100, 205)
FIELDS = (
    *("sequence", "test", "ntuple", "tsamples", "psamples", "p_value", "assessment"),
    *("repeat", "bytes", "seconds", "device", "date"),
)


class RowsBySequence:
    """Rows of a CSV file, stored as they come in place of earlier ones of the same sequences."""

    def __init__(self, path, again):
        self.path, self.rows = path, []
        if path is not None and path.exists():
            with path.open(newline="") as file:
                self.rows = [row for row in csv.DictReader(file) if row["sequence"] not in again]

    def add(self, rows):
        """Keep rows and write the file."""
        self.rows += rows
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        with new.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)
        new.replace(self.path)


def with_dieharder(name, sequence, chosen, table, about):
    """Give a sequence to dieharder, test by test; print a line for each and keep the rows."""
    pipe = Pipe(sequence.blocks())
    for test in chosen:
        found = _run(pipe, test, None, 0, name, table, about)
        weak = [row for row in found if row["assessment"] == "WEAK"]
        if weak and not name.startswith("control"):
            _run(pipe, test, REPEAT * int(weak[0]["psamples"]), 1, name, table, about)
    print(f"{name}: {sequence.compared} words compared with the twin, all equal", flush=True)


def _run(pipe, test, psamples, repeat, name, table, about):
    found = pipe.run(test, psamples)
    rows = [{"sequence": name, "repeat": repeat, **row, **about} for row in found]
    for row in rows[1:]:  # of one process, counted once
        row["bytes"], row["seconds"] = "", ""
    table.add(rows)
    values = " ".join(f"{row['p_value']} {row['assessment']}" for row in rows[:4])
    more = f" and {len(rows) - 4} more" if len(rows) > 4 else ""
    size = f"{found[0]['bytes'] / 1e9:.2f} GB, {found[0]['seconds']} s"
    again = ", again" if repeat else ""
    title = f"{name}: {found[0]['test']} {found[0]['ntuple']}{again}"
    print(f"{title}: {values}{more} ({size})", flush=True)
    return rows


def counted(name, draw, table, about):
    """Count draws, again where the first p-values are weak; print and keep the rows."""
    for repeat in (0, 1):
        rows = [{"sequence": name, **row, "repeat": repeat, **about} for row in draw(repeat)]
        table.add(rows)
        for row in rows:
            again = ", again" if repeat else ""
            print(f"{name}: {row['test']}{again}: {row['p_value']} {row['assessment']}", flush=True)
        if name.startswith("control") or all(row["assessment"] != "WEAK" for row in rows):
            return


def surprises(rows, names):
    """Return what is wrong: kernels' draws that failed, controls that did not."""
    failed = {row["sequence"] for row in rows if row["assessment"] == "FAILED"}
    return [
        f"{name} {'did not fail' if name.startswith('control') else 'failed'}"
        for name in names
        if (name in failed) != name.startswith("control")
    ]


def chosen_tests(name, quick):
    """Return dieharder's tests for a sequence."""
    if name.startswith("control"):
        return QUICK_CONTROL if quick else CONTROL
    if quick:
        return QUICK
    return {"single": ALL, "agents": SOME, "nights": SOME}.get(name, FEW)


def summary(folder):
    """Print a line of Markdown for each sequence, from the files of results."""
    for kind in ("dieharder", "counts"):
        with (folder / f"{kind}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        groups = {}
        for row in rows:
            name = row["sequence"]
            name = "binomials" if name.startswith("binomial") else name
            groups.setdefault(name, []).append(row)
        for name, found in groups.items():
            if kind == "dieharder":
                size = f"{sum(float(row['bytes'] or 0) for row in found) / 1e9:.1f} GB"
            else:
                size = f"{sum(int(row['tsamples']) for row in found if _whole(row)):.2g} draws"
            first = [row for row in found if row["repeat"] == "0"]
            weak = {_kind(row) for row in first if row["assessment"] == "WEAK"}
            again = [row for row in found if row["repeat"] != "0" and _kind(row) in weak]
            words = ("PASSED", "WEAK", "FAILED")
            number = [sum(row["assessment"] == word for row in first) for word in words]
            p_values = [float(row["p_value"]) for row in first]
            extremes = f"{min(p_values):.2g}", f"{max(p_values):.5f}"
            cells = [name, size, len(first), *number, *extremes]
            for row in again:
                p_value = f"{float(row['p_value']):.2g} {row['assessment']}"
                cells.append(f"{row['test']} {row['ntuple']}: {p_value}")
            print("| " + " | ".join(map(str, cells[:8])) + " | " + "; ".join(cells[8:]) + " |")


def _kind(row):
    return row["sequence"], row["test"], row["ntuple"]


def _whole(row):
    """Whether a row of counts stands for all draws, and not for the same ones in pairs."""
    return row["test"] in ("values", "outcomes")


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="little data, under a minute")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these sequences or counts")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--summary", action="store_true", help="print the results as Markdown")
    parser.add_argument("--out", type=Path, help="folder of the results (default: results)")
    return parser.parse_args(words)


def main(words=None):
    options = parse(words)
    if options.summary:
        summary(options.out or HERE / "results")
        return 0
    device = choose_device(options.device)
    program = draws.load_program(device)
    sequences = draws.sequences(program, options.quick) | draws.controls(program)
    countings = counts.countings(program, options.quick)
    names = [*sequences, *countings]
    if options.list:
        print("\n".join(names))
        return 0
    if shutil.which("dieharder") is None:
        sys.exit("dieharder is not installed; on Debian: apt-get install dieharder")
    wanted = options.only or names
    unknown = [name for name in wanted if name not in names]
    if unknown:
        sys.exit(f"no sequence {', '.join(unknown)}; there is: {', '.join(names)}")

    folder = options.out or (None if options.quick else HERE / "results")
    about = {"device": device.name, "date": datetime.date.today().isoformat()}
    began, wrong = time.perf_counter(), []
    for kind, makers in (("dieharder", sequences), ("counts", countings)):
        again = [name for name in makers if name in wanted]
        table = RowsBySequence(folder and folder / f"{kind}.csv", again)
        for name in again:
            if kind == "dieharder":
                with_dieharder(
                    name, makers[name](), chosen_tests(name, options.quick), table, about
                )
            else:
                counted(name, makers[name], table, about)
        wrong += surprises(table.rows, again)
    print(f"{time.perf_counter() - began:.0f} s")
    if wrong:
        print("not as it should be: " + "; ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
