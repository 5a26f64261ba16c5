"""How long does a late day of the economy take, kernel by kernel, without the days before it?

    python benchmarks/late_day.py STATES [--make] [--device gpu] [--societies 1 1000]
                                  [--scenario devices] [--day 490] [--days 2]
                                  [--kernels main] [--append CSV]

With --make, 32 societies are computed on a CPU until the evening of --day and written to STATES (an
.npz file), with their hash after --days more. Otherwise these states are copied to as many
societies as asked, and the next days are timed: twice by the clock, then the launches of a day, one
step after the other, by events of the device. The hash must be that of the CPU. To compare two
programs, run this file in both checkouts with the same STATES; --kernels names the rows of each.
"""

import argparse
import csv
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from appending import append
from economy import device_engine, run

import societies
from societies.economy.parameters import parameters
from societies.economy.schedule import day_schedule
from societies.workload.running.state import state_hash

FIELDS = (
    *("device", "kernels", "societies", "kernel", "launches"),
    *("ms_a_day", "mean_us", "least_us", "median_us", "most_us"),
)
STORED = 32
"""Societies whose states are made."""


def engine_of(options, count, profiling=False):
    """Return an engine for this many societies, and the parameters."""
    config = societies.load_config(
        f"economy/{options.scenario}", [f"replicates={count}", f"days={options.day + options.days}"]
    )
    p = parameters(config)
    device = societies.choose_device("cpu" if options.make else options.device, profiling=profiling)
    return device_engine(device, p), p


def hash_of(engine, count):
    """Return the hash of the first societies."""
    return state_hash(engine.fields, {name: one[:count] for name, one in engine.state().items()})


def make(options):
    """Write states and, for one society and for all, the hash some days later."""
    engine, _ = engine_of(options, STORED)
    engine.start()
    run(engine, 1, options.day)
    states = dict(engine.state())
    engine.run_ticks(options.day + 1, options.day + options.days)
    hashes = {f"hash_of_{n}": np.array(hash_of(engine, n)) for n in (1, STORED)}
    np.savez_compressed(options.states, **states, **hashes)


def time_days(options, count, stored, expected):
    """Return the rows of this many societies."""
    states = {name: one[np.arange(count) % STORED] for name, one in stored.items()}
    engine, p = engine_of(options, count)
    head = {"device": engine.device.name, "kernels": options.kernels, "societies": count}
    rows = []
    for _ in range(2):
        engine.load(states)
        engine.wait()
        began = time.perf_counter()
        engine.run_ticks(options.day + 1, options.day + options.days)
        engine.wait()
        day = (time.perf_counter() - began) / options.days
        rows.append({**head, "kernel": "wall", "ms_a_day": f"{day * 1e3:.2f}"})
    compared = STORED if count >= STORED else 1
    if hash_of(engine, compared) != expected[compared]:
        raise SystemExit(f"{count} societies: the hash differs from the CPU's")
    engine, _ = engine_of(options, count, profiling=True)
    engine.load(states)
    for turn in (1, 2):  # the first one warms up
        engine.device.launched = []
        for step in day_schedule(p, options.day + turn):
            engine.step(step, options.day + turn)
        engine.wait()
        launched, engine.device.launched = engine.device.launched, None
    took = defaultdict(list)
    for bound, launch in launched:
        event = launch._event.profile
        took[bound.kernel.name].append((event.end - event.start) * 1e-3)
    for name, times in sorted(took.items()):
        mean, least, median, most = np.mean(times), min(times), np.median(times), max(times)
        rows.append({
            **head,
            "kernel": name,
            "launches": len(times),
            "ms_a_day": f"{sum(times) / 1e3:.3f}",
            "mean_us": f"{mean:.1f}",
            "least_us": f"{least:.1f}",
            "median_us": f"{median:.1f}",
            "most_us": f"{most:.1f}",
        })  # fmt: skip
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("states", type=Path)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--societies", type=int, nargs="+", default=[1, 1000])
    parser.add_argument("--scenario", default="devices")
    parser.add_argument("--day", type=int, default=490)
    parser.add_argument("--days", type=int, default=2)
    parser.add_argument("--kernels", default="main")
    parser.add_argument("--append", type=Path)
    options = parser.parse_args()
    if options.make:
        make(options)
        return
    stored = dict(np.load(options.states))
    expected = {n: str(stored.pop(f"hash_of_{n}")) for n in (1, STORED)}
    rows = [
        row for count in options.societies for row in time_days(options, count, stored, expected)
    ]
    writer = csv.DictWriter(sys.stdout, FIELDS)
    writer.writeheader()
    writer.writerows(rows)
    if options.append:
        append(options.append, FIELDS, rows)


if __name__ == "__main__":
    main()
