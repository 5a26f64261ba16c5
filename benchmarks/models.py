"""How long does a day of the models of one file take, in plain Python, NumPy and Mesa as well?

Each row is the processor time, all threads added up, of some days of some societies: with the
kernels that are translated (``device``), by the same rules in plain Python (``python``), by NumPy
over all societies at once, written here for two models (``numpy``), and by Mesa, one society at a
time (``mesa``, models_on_mesa.py). All take turns; building and the first days are not counted.
Schelling and Sugarscape begin at day 1 in each, as their days become shorter. On a GPU the clock
counts: ``--who device --device gpu --societies 1000 10000``.

    python benchmarks/models.py --mesa PYTHON_WITH_MESA --out models.csv

BAM is its baseline after 100 quarters and has two peers: bam-engine, a package for Python and NumPy
(``bamengine``, models_on_bamengine.py), and the model on Mesa of that package's repository, whose
clone is handed over. On one core:

    POCL_MAX_PTHREAD_COUNT=1 taskset -c 0 python benchmarks/models.py bam --societies 1 16 \\
        --mesa PYTHON --bamengine PYTHON --clone bam-engine --out bam.csv

    ... models.py bam --societies 1 --times 200 --who device bamengine --bamengine PYTHON

is an economy of 200 times the agents, 122,000.

The table gives the best of all rounds. Where other programs use the machine, only processor time
can be compared.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import societies
from societies.models.zero_intelligence import MARKETS
from societies.paths import data_directory
from societies.workload.running.engines import LOG_TICKS, DeviceEngine, ReferenceEngine
from societies.workload.running.registry import load_config, workload

DAYS = {  # of our kernels, of plain Python, of NumPy, of Mesa
    "boltzmann": (100, 10, 100, 100),
    "zero_intelligence": (50, 4, 2, 50),
    "kirman_ants": (4000, 40, 0, 1000),
    "schelling": (20, 5, 0, 20),
    "sugarscape": (100, 5, 0, 100),
    "bam": (500, 4, 0, 100),
}
CONFIGURATIONS = {"bam": "baseline"}
"""Configurations other than the quickstart."""

UNTIMED = {"bam": 100}
"""First days that are not counted, if more than two."""

FROM_THE_START = ("schelling", "sugarscape")
WHO = ("device", "python", "numpy", "mesa", "bamengine")
FIELDS = (
    "model",
    "who",
    "round",
    "societies",
    "times",
    "days",
    "processor_s",
    "ms_per_society_day",
    "clock_ms_per_society_day",
    "load",
    "device",
)


def engine_time(name, days, copies, device, times=1):
    """Return the processor and the clock's seconds of days of a model on a device.

    Without a device, by plain Python; of BAM with ``times`` its number of agents.
    """
    file = f"{CONFIGURATIONS.get(name, 'quickstart')}.yaml"
    config = load_config(data_directory("configs") / "models" / name / file)
    if times > 1:
        sizes = {one: times * getattr(config, one) for one in ("firms", "households", "banks")}
        config = config.model_copy(update=sizes)
    one = workload(name)
    p = one.parameters(config)
    if device is None:
        engine = ReferenceEngine(one, p, copies=copies)
    else:
        engine = DeviceEngine(one, p, device, copies=copies)
    engine.start()
    first = 1
    if name not in FROM_THE_START and device is not None:
        untimed = UNTIMED.get(name, 2)
        for start in range(1, untimed + 1, LOG_TICKS):
            engine.run_ticks(start, min(start + LOG_TICKS - 1, untimed))
        first = untimed + 1
    engine.state()
    began, clock = time.process_time(), time.perf_counter()
    for start in range(first, first + days, LOG_TICKS):
        engine.run_ticks(start, min(start + LOG_TICKS, first + days) - 1)
        engine.logs()
    engine.state()
    return time.process_time() - began, time.perf_counter() - clock


def boltzmann_numpy(days, copies, agents=500, money=100, amount=10):
    """Return the processor seconds of Boltzmann's days, all societies at once."""
    rng = np.random.default_rng(1)
    held = np.full((copies, agents), money)
    rows, weights = np.arange(copies)[:, None], 2 * np.arange(agents) + 1 - agents
    began = time.process_time()
    for _ in range(days):
        order = rng.random((copies, agents), dtype=np.float32).argsort(1)
        payer, payee = order[:, ::2], order[:, 1::2]
        paid = amount * (held[rows, payer] >= amount)
        held[rows, payer] -= paid
        held[rows, payee] += paid
        ascending = np.sort(held, 1)
        gini = (ascending * weights).sum(1) / (agents * ascending.sum(1))
    assert np.all(gini < 1)
    return time.process_time() - began


def zero_intelligence_numpy(days, copies, shouts=5000, top=200, market=2):
    """Return the processor seconds of auctions: one shout of every society at once."""
    rng = np.random.default_rng(1)
    units, value, less, cost, more = MARKETS[market - 1]
    every = np.arange(copies)
    began = time.process_time()
    for _ in range(days):
        traded = np.zeros((copies, 12), dtype=np.int64)
        bid, ask = np.zeros(copies, dtype=np.int64), np.full(copies, top + 1)
        bidder, asker = np.zeros(copies, dtype=np.int64), np.zeros(copies, dtype=np.int64)
        trades, paid = np.zeros(copies, dtype=np.int64), np.zeros(copies, dtype=np.int64)
        for _ in range(shouts):
            agent, chance = rng.integers(0, 12, copies), rng.random(copies)
            unit = 6 * traded[every, agent] + agent % 6
            buys, active = agent < 6, unit < units
            least = np.where(buys, 1, cost + more * unit)
            most = np.where(buys, value - less * unit, top)
            shout = least + (chance * (most - least + 1)).astype(np.int64)
            better = active & buys & (shout > bid)
            bid, bidder = np.where(better, shout, bid), np.where(better, agent, bidder)
            better = active & ~buys & (shout < ask)
            ask, asker = np.where(better, shout, ask), np.where(better, agent, asker)
            cross = np.flatnonzero(bid >= ask)
            if len(cross):
                paid[cross] += np.where(buys[cross], ask[cross], bid[cross])
                trades[cross] += 1
                traded[cross, bidder[cross]] += 1
                traded[cross, asker[cross]] += 1
                bid[cross], ask[cross] = 0, top + 1
    assert np.all(trades > 10)
    return time.process_time() - began


def peer_time(python, who, name, days, clone, times):
    """Return the processor seconds of days on a peer, in a process of another interpreter."""
    script = Path(__file__).with_name(f"models_on_{who}.py")
    paths = os.pathsep.join(filter(None, [clone, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [python, str(script), name, str(days), str(UNTIMED.get(name, 0)), str(times)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    return float(done.stdout.split()[0])


NUMPY = {"boltzmann": boltzmann_numpy, "zero_intelligence": zero_intelligence_numpy}


def rows_of(name, options, device, turn):
    """Yield a row for each way to compute a model."""
    ours, plain, arrays, peer = DAYS[name]
    ways = [("device", copies, ours) for copies in options.societies] + [("python", 2, plain)]
    if name in NUMPY:
        ways += [("numpy", copies, arrays) for copies in options.societies]
    if options.mesa and (name != "bam" or options.clone):
        ways.append(("mesa", 1, peer))
    if options.bamengine and name == "bam":
        ways.append(("bamengine", 1, peer))
    for who, copies, days in ways:
        clock = float("nan")  # of other programs, only the processor's is taken
        if who not in options.who:
            continue
        if who in ("mesa", "bamengine"):
            python = getattr(options, who)
            seconds = peer_time(python, who, name, days, options.clone, options.times)
        elif who == "numpy":
            seconds = NUMPY[name](days, copies)
        else:
            on_device = device if who == "device" else None
            seconds, clock = engine_time(name, days, copies, on_device, options.times)
        each, lasting = (1000 * time / (days * copies) for time in (seconds, clock))
        load, on = os.getloadavg()[0], f"{device.name}, {device.platform_version}"
        numbers = (
            copies,
            options.times,
            days,
            f"{seconds:.4f}",
            f"{each:.6f}",
            f"{lasting:.6f}",
            f"{load:.1f}",
            on,
        )
        yield dict(zip(FIELDS, (name, who, turn, *numbers), strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(DAYS))
    parser.add_argument("--mesa", help="a Python that has Mesa")
    parser.add_argument("--bamengine", help="a Python that has bamengine")
    parser.add_argument("--clone", help="folder of a clone of bam-engine's repository")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--societies", type=int, nargs="+", default=[64])
    parser.add_argument("--times", type=int, default=1, help="of BAM, how many times the agents")
    parser.add_argument("--who", nargs="+", default=WHO)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    device = societies.choose_device(options.device)
    print(f"{device}; {device.version}; Python {sys.version.split()[0]}")
    rows = []
    for turn in range(options.rounds):
        for name in options.names or DAYS:
            for row in rows_of(name, options, device, turn):
                rows.append(row)
                print(*row.values(), sep=", ", flush=True)
    if options.out:
        with options.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(rows)
    for name in options.names or DAYS:
        best = {}
        for row in rows:
            if row["model"] == name:
                who, each = f"{row['who']} {row['societies']}", float(row["ms_per_society_day"])
                best[who] = min(each, best.get(who, each))
        ours = best[f"device {options.societies[0]}"]
        times = [f"{who}: {each:.4g} ms ({each / ours:.3g} x)" for who, each in best.items()]
        print(f"{name}: {', '.join(times)}")


if __name__ == "__main__":
    main()
