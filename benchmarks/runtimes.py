"""Which OpenCL runtime is the fastest for what, on one CPU?

    python benchmarks/runtimes.py --devices 'PoCL 3.0' 'PoCL 3.1' 'Intel(R) OpenCL' --append FILE

Each device is measured in a process of its own, all devices in turn, round after round, so that
whatever else the machine does hits all alike. A row is one number: what was measured, seconds by
the clock, and processor seconds over all threads (which say more on a shared machine). Compare the
smallest of each. Measured are: the start (Python, loading OpenCL, opening the device), the first
build and launch of the economy with empty caches and the next one, both shipped scenarios
(48 agents x 48 resources x 500 days) without building and without output, and the kernels of
runtimes.cl.
"""

import argparse
import csv
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from appending import append

ROOT = Path(__file__).parents[1]
KERNELS = {  # rounds that take about a tenth of a second
    "sum_of_256": 300,
    "scan_of_256": 300,
    "draws": 200_000,
    "soft_exponentials": 20_000,
    "built_in_fma": 200_000,
    "multiply_and_add": 200_000,
}
GROUPS, WORKGROUP = 16, 64
FIELDS = ("runtime", "device", "driver", "cpu", "measured", "seconds", "cpu_seconds")


class Clock:
    """Seconds by the clock and of all threads since the last reading."""

    def __init__(self):
        self.read()

    def read(self):
        now = time.perf_counter(), time.process_time()
        passed = [b - a for a, b in zip(getattr(self, "_last", now), now, strict=True)]
        self._last = now
        return passed


def measurements(asked, days):
    """Yield what was measured, its seconds and its processor seconds, for one device."""
    clock = Clock()
    import numpy as np

    import societies
    from societies.economy.parameters import parameters

    device = societies.choose_device(asked, profiling=False)
    _ = device.queue
    yield device, "start", clock.read()

    sys.path.insert(0, str(ROOT / "benchmarks"))
    import economy

    for scenario in ("no_trade", "trade"):
        for count in (1, 16):
            config = societies.load_config(
                ROOT / "configs" / "economy" / f"{scenario}.yaml",
                [f"replicates={count}", f"days={days}"],
            )
            clock.read()
            engine = economy.device_engine(device, parameters(config))
            engine.start()
            economy.run(engine, 1, 2)
            device.finish()
            if count == 1:
                yield device, f"{scenario}: build and first days", clock.read()
            engine.start()
            device.finish()
            clock.read()
            economy.run(engine, 1, days)
            device.finish()
            yield device, f"{scenario}, {count} x {days} days", clock.read()

    program = societies.Program(device, [str(ROOT / "benchmarks" / "runtimes.cl")])
    out = device.zeros(GROUPS * WORKGROUP, np.float64)
    for name, rounds in KERNELS.items():
        launch = program.kernel(name).bind(
            global_size=(GROUPS * WORKGROUP,), local_size=(WORKGROUP,), out=out, rounds=rounds
        )
        launch(rounds=1)
        device.finish()
        clock.read()
        launch(rounds=rounds)
        device.finish()
        yield device, f"kernel {name}", clock.read()


def one(asked, days, with_caches):
    """Write the rows of one device to standard output."""
    writer = csv.DictWriter(sys.stdout, FIELDS)
    for device, measured, (seconds, busy) in measurements(asked, days):
        if "build" in measured:
            measured += ", cached" if with_caches else ", empty caches"
        writer.writerow(
            {
                "runtime": asked,
                "device": device.name,
                "driver": device.driver,
                "cpu": f"{platform.machine()}, {os.cpu_count()} cores",
                "measured": measured,
                "seconds": f"{seconds:.4f}",
                "cpu_seconds": f"{busy:.4f}",
            }
        )
        sys.stdout.flush()


def in_a_process(asked, days, caches, warm):
    command = [sys.executable, __file__, "--one", asked, "--days", str(days)]
    environment = os.environ | {
        "SOCIETIES_CACHE_DIR": f"{caches}/builds",
        "POCL_CACHE_DIR": f"{caches}/pocl",
        "XDG_CACHE_HOME": f"{caches}/other",
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run(
        command + ["--warm"] * warm, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return list(csv.DictReader(done.stdout.splitlines(), FIELDS))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", nargs="+", default=["auto"], help="as of --device")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--days", type=int, default=500)
    parser.add_argument("--append", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--warm", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one, options.days, options.warm)
        return
    best: dict[str, dict[str, float]] = {}
    for _ in range(options.rounds):
        for asked in options.devices:
            with tempfile.TemporaryDirectory() as caches:
                for warm in (False, True):
                    rows = in_a_process(asked, options.days, caches, warm)
                    for row in rows:
                        seconds = best.setdefault(row["measured"], {})
                        spent = float(row["cpu_seconds"])
                        seconds[asked] = min(spent, seconds.get(asked, spent))
                    if options.append:
                        append(options.append, FIELDS, rows)
    print("least processor seconds", *options.devices, sep="\t")
    for measured, seconds in best.items():
        print(measured, *(f"{seconds[asked]:.3f}" for asked in options.devices), sep="\t")


if __name__ == "__main__":
    main()
