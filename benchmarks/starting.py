"""What does a user wait for at a start: help, a check, completion, the first day of a run?

    python benchmarks/starting.py OUT.csv [--python PYTHON ...] [--times 9] [--days]

Each PYTHON has Societies installed, of one commit each, which take turns; default: this one. Of
every command the processor time of the process and its children is written, user and system, and
the time by the clock, in milliseconds; on a busy machine only the first means something, and the
least of its rows most. Bytecode is cached, as pip does it. The rows `python` and `typer` are what
a start costs at least: a bare interpreter, and one that imports typer alone.

With `--days` also `economy/quickstart`, and a day of `economy/devices`, with empty caches, the same
again with what they left, and then all 500 days of `economy/devices`.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from societies.workload.checking.waits import CACHES, COMPLETION, timed

COMMAND = "from societies.__main__ import command; command()"
STARTS: dict[str, tuple[list[str], dict[str, str]]] = {
    "python": (["pass"], {}),
    "typer": (["import typer"], {}),
    "--help": ([COMMAND, "--help"], {}),
    "--version": ([COMMAND, "--version"], {}),
    "check": ([COMMAND, "check", "economy/quickstart"], {}),
    "completion of CONFIG": ([COMMAND], COMPLETION),
    "completion of --set": (
        [COMMAND],
        {
            **COMPLETION,
            "COMP_WORDS": "societies run economy/quickstart --set trad",
            "COMP_CWORD": "4",
        },
    ),
}
"""What Python is given after ``-c``, and variables of the environment."""

RUNS = {"economy/quickstart": ["100", "100"], "economy/devices": ["1", "1", "500"]}
"""Days of the runs of a configuration, of which the first one finds empty caches."""


def main() -> None:
    """Measure all commands alternately."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--python", action="append")
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--days", action="store_true")
    options = parser.parse_args()
    with options.out.open("w", newline="") as file, tempfile.TemporaryDirectory() as folder:
        rows = csv.writer(file)
        rows.writerow(["command", "python", "time", "processor_ms", "clock_ms"])
        for name, who, number, processor, clock in measured(options, Path(folder)):
            rows.writerow([name, who, number, f"{processor:.0f}", f"{clock:.0f}"])
            file.flush()


def measured(
    options: argparse.Namespace, folder: Path
) -> Iterator[tuple[str, str, int, float, float]]:
    """Yield the times of every command."""
    base = {key: one for key, one in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    whose = options.python or [sys.executable]
    for number in range(-1, options.times):  # the first writes the bytecode, and does not count
        for who in whose:
            cached = {**base, "PYTHONPYCACHEPREFIX": str(folder / f"bytecode{whose.index(who)}")}
            for name, (words, variables) in STARTS.items():
                cost = processor_and_clock([who, "-c", *words], {**cached, **variables}, folder)
                if number >= 0:
                    yield name, who, number, *cost
            for config in RUNS if options.days else ():
                yield from of_runs(who, config, cached, number)


def of_runs(
    who: str, config: str, environment: Mapping[str, str], number: int
) -> Iterator[tuple[str, str, int, float, float]]:
    """Yield the times of a run with empty caches, and of the runs after it."""
    with tempfile.TemporaryDirectory() as caches:
        own = dict.fromkeys(CACHES, caches)
        for place, days in enumerate(RUNS[config]):
            words = ["run", config, "--device", "cpu", "--days", days, "--out", str(place), "-q"]
            line = [who, "-c", COMMAND, *words]
            cost = processor_and_clock(line, {**environment, **own}, Path(caches))
            which = f"{'warm' if place else 'empty caches'}, days {days}"
            if number >= 0:
                yield f"{config}, {which}", who, number, *cost


def processor_and_clock(
    words: list[str], environment: Mapping[str, str], folder: Path
) -> tuple[float, float]:
    """Return the milliseconds of a command: of the processor, and by the clock."""
    clock, processor = timed(words, environment, folder)
    return processor * 1000, clock * 1000


if __name__ == "__main__":
    main()
