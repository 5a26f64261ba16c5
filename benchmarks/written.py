"""How long does a run of many societies take with its record written, and what of it is the record?

    python benchmarks/written.py [--device auto] [--societies 1000] [--days 500] [--scenarios ...]
                                 [--set KEY=VALUE] [--folder F] [--append FILE]

A run as `societies run` makes it: a file with the series of all days and the last checkpoints. Its
time is divided into building the engine (kernels, the context, arrays on the device), making the
file, and days with their record up to the closed file. ``seconds`` is all but the building, which
other runs of the same configuration find in a cache; a run of a few days before fills that cache.
"""

import argparse
import csv
import sys
import tempfile
import time
from pathlib import Path

from appending import append

import societies
from societies.workload.running import run as core

FIELDS = (
    *("device", "driver", "scenario", "societies", "days", "changes", "seconds"),
    *("building_s", "making_s", "days_s", "all_s", "file_bytes", "state_sha256"),
)


def timed(function, seconds, name):
    """Return the function, which adds the seconds that it takes."""

    def called(*given, **named):
        began = time.perf_counter()
        try:
            return function(*given, **named)
        finally:
            seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - began

    return called


def measured(config, device, path):
    """Run a configuration; return seconds by part, and the report."""
    seconds, plain = {}, (core.engine_of, core.create)
    core.engine_of = timed(core.engine_of, seconds, "building")
    core.create = timed(core.create, seconds, "making")
    try:
        began = time.perf_counter()
        report = societies.run(config, device=device, out=path, overwrite=True)
        seconds["all"] = time.perf_counter() - began
    finally:
        core.engine_of, core.create = plain
    return seconds, report


def row(scenario, options, folder):
    """Measure a scenario; the first run, of two days, leaves its kernels in the cache."""
    changes = [f"replicates={options.societies}", *options.set]
    device = societies.choose_device(options.device, profiling=False)
    for days in (2, options.days):
        path = Path(folder) / f"{scenario}.h5"
        config = societies.load_config(f"economy/{scenario}", [*changes, f"days={days}"])
        seconds, report = measured(config, device, path)
        nbytes = path.stat().st_size
        path.unlink()
    days_s = seconds["all"] - seconds["building"] - seconds["making"]
    return {
        "device": device.name,
        "driver": device.driver,
        "scenario": scenario,
        "societies": options.societies,
        "days": options.days,
        "changes": " ".join(options.set),
        "seconds": f"{seconds['all'] - seconds['building']:.3f}",
        "building_s": f"{seconds['building']:.3f}",
        "making_s": f"{seconds['making']:.3f}",
        "days_s": f"{days_s:.3f}",
        "all_s": f"{seconds['all']:.3f}",
        "file_bytes": nbytes,
        "state_sha256": report.state_sha256,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--societies", type=int, default=1000)
    parser.add_argument("--days", type=int, default=500)
    parser.add_argument("--scenarios", nargs="+", default=["no_trade", "trade", "tools", "devices"])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE")
    parser.add_argument("--folder", type=Path, help="for the files; default: a temporary one")
    parser.add_argument("--append", type=Path)
    options = parser.parse_args()
    shown = csv.DictWriter(sys.stdout, FIELDS)
    shown.writeheader()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for scenario in options.scenarios:
            for _ in range(options.repeat):
                found = row(scenario, options, folder)
                shown.writerow(found)
                sys.stdout.flush()
                if options.append:
                    append(options.append, FIELDS, [found])


if __name__ == "__main__":
    main()
