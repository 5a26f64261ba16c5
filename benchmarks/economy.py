"""How many agent-days per second does the economy make, and what limits it?

    python benchmarks/economy.py [--device auto] [--societies 1 16] [--agents 48] [--days 500]
                                 [--append FILE]

The four scenarios of the paper (48 agents x 48 resources if not said otherwise), timed without the
building of kernels and without output: the whole of `DeviceEngine.run_ticks`, ended by reading the
series. Each row also gives the processor time over all threads (what counts on a shared machine),
the bytes that the run takes on the device, the time by phase of the day after the last (each phase
waited for), and what the launches alone would cost. Rows go to standard output and, with --append,
to a CSV file.
"""

import argparse
import csv
import platform
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
from appending import append

import societies
from societies.economy.parameters import parameters
from societies.economy.phases import phases as table
from societies.economy.schedule import day_schedule
from societies.economy.workload import WORKLOAD
from societies.workload import Setup
from societies.workload.running.batches import Room
from societies.workload.running.engines import LOG_TICKS, DeviceEngine, ReferenceEngine
from societies.workload.running.launches import launches_of

ROOT = Path(__file__).parents[1]
FIELDS = (
    "device",
    "driver",
    "runtime",
    "host",
    "scenario",
    "agents",
    "resources",
    "societies",
    "days",
    "seconds",
    "cpu_seconds",
    "agent_days_per_second",
    "device_bytes",
    "launches_per_day",
    "seconds_of_launches",
    "phase_seconds_per_day",
)


def run(engine, first, last):
    for day in range(first, last + 1, LOG_TICKS):
        engine.run_ticks(day, min(last, day + LOG_TICKS - 1))
        engine.logs()


def device_engine(device, p):
    """Return an engine for all societies of the parameters."""
    return DeviceEngine(WORKLOAD, p, device, first=p.first_society, copies=p.societies)


def empty_launch_seconds(device):
    """Cost of a launch that does nothing, pipelined."""
    program = societies.Program(device, [str(ROOT / "benchmarks" / "empty.cl")])
    bound = program.kernel("empty").bind(
        global_size=(64,), local_size=(64,), unused=device.zeros(1, np.int32)
    )
    for count in (100, 2000):
        device.finish()
        began = time.perf_counter()
        for _ in range(count):
            bound()
        device.finish()
    return (time.perf_counter() - began) / 2000


def phases(engine, day):
    """Seconds of one day by phase, each phase ended before the next begins."""
    seconds = {}
    for step in day_schedule(engine.parameters, day):
        engine.device.finish()
        began = time.perf_counter()
        engine.step(step, day)
        engine.device.finish()
        seconds[step.phase] = seconds.get(step.phase, 0.0) + time.perf_counter() - began
    return seconds


def measure(scenario, agents, count, days, device):
    config = societies.load_config(
        ROOT / "configs" / "economy" / f"{scenario}.yaml",
        [f"agents={agents}", f"replicates={count}", f"days={days}"],
    )
    p = parameters(config)
    if device == "reference":
        engine = ReferenceEngine(WORKLOAD, p, first=p.first_society, copies=p.societies)
        chosen, name, launch = None, "reference (Python)", 0.0
    else:
        chosen = societies.choose_device(device, profiling=False)
        engine, name, launch = device_engine(chosen, p), chosen.name, empty_launch_seconds(chosen)
        engine.start()
        run(engine, 1, 2)  # build and warm up
    engine.start()
    began, busy = time.perf_counter(), time.process_time()
    run(engine, 1, days)
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    launches = launches_of(table(p, count), day_schedule(p, 1), 1, chosen)
    detail = {} if device == "reference" else phases(engine, days)
    return {
        "device": name,
        "driver": chosen.driver if chosen else "",
        "runtime": chosen.version if chosen else f"CPython {platform.python_version()}",
        "host": f"{platform.machine()} {platform.system()}",
        "scenario": scenario,
        "agents": p.agents,
        "resources": p.resources,
        "societies": count,
        "days": days,
        "seconds": f"{seconds:.3f}",
        "cpu_seconds": f"{busy:.3f}",
        "agent_days_per_second": f"{p.agents * count * days / seconds:.0f}",
        "device_bytes": Room(Setup(WORKLOAD, config), chosen).nbytes(count) if chosen else "",
        "launches_per_day": launches,
        "seconds_of_launches": f"{launch * launches * days:.3f}",
        "phase_seconds_per_day": " ".join(f"{k}={v:.2e}" for k, v in detail.items()),
    }


def same_columns(file):
    """Whether rows can be appended to a table: it does not exist yet, or has these columns."""
    if not file.exists():
        return True
    with open(file, newline="") as lines:
        return next(csv.reader(lines), None) == list(FIELDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--societies", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--agents", type=int, nargs="+", default=[48])
    parser.add_argument("--days", type=int, default=500)
    parser.add_argument("--scenarios", nargs="+", default=["no_trade", "trade", "tools", "devices"])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--append", type=Path)
    options = parser.parse_args()
    if options.append and not same_columns(options.append):
        parser.error(f"{options.append} has other columns: append to another file")
    writer = csv.DictWriter(sys.stdout, FIELDS)
    writer.writeheader()
    rows = []
    for scenario in options.scenarios:
        for agents, count in product(options.agents, options.societies):
            for _ in range(options.repeat):
                rows.append(measure(scenario, agents, count, options.days, options.device))
                writer.writerow(rows[-1])
                sys.stdout.flush()
    if options.append:
        append(options.append, FIELDS, rows)
    best = max(rows, key=lambda row: float(row["agent_days_per_second"]))
    print(
        f"best: {np.format_float_scientific(float(best['agent_days_per_second']), 2)} "
        f"agent-days/s, {best['scenario']}, {best['societies']} societies",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
