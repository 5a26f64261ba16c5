"""How many simulations a second does a calibration get from one launch of many points?

The samplers of black-it propose points and learn what came of them, in the same loop for each of

    batched   all points of a batch in one launch: `societies.study.simulator`
    single    one call of it for each point, with a program that is built already
    mesa      the same model on Mesa (models_on_mesa.py), in as many processes as there are cores

Ants are measured with all three, the economy, which Mesa does not have, with the first two. The
last two get few points, as their rate does not depend on the number. A row is one calibration, the
time of the samplers included; each also has the seconds of these alone. Programs are built before,
and the rows take turns over the rounds, so a machine that slows down is seen in all of them. Where
other programs use the machine only processor seconds can be compared.

    python benchmarks/calibrators.py --device gpu --points 2000 --rounds 3 --out calibrators.csv

Needs black-it and Mesa 3; of black-it no dependencies besides NumPy and SciPy are used.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from societies.study import simulator

BATCHES = 4
PRECISION = 1e-6
FIELDS = (
    "model", "who", "round", "simulations", "days", "seconds", "processor_s", "samplers_s",
    "per_second", "per_processor_second", "load", "device",
)  # fmt: skip
Simulate = Callable[[Any], Any]


@dataclass(frozen=True)
class Calibrated:
    """A model, its parameters with their ranges, and its statistics with the values to find."""

    base: str
    settings: dict[str, Any]
    ranges: dict[str, tuple[float, float]]
    statistics: dict[str, Any]
    observed: tuple[float, ...]
    on_mesa: bool = False


MODELS = {
    "kirman_ants": Calibrated(
        "models/kirman_ants/quickstart",
        {"days": 500},
        {"own": (0.001, 0.02), "convinced": (0.5, 0.98)},
        {
            "spread": {"of": "share", "statistic": "sd", "ticks": "101:500"},
            "lasting": {"of": "share", "statistic": "autocorrelation", "ticks": "101:500"},
        },
        (0.2, 0.9),
        on_mesa=True,
    ),
    "economy": Calibrated(
        "economy/quickstart",
        {"agents": 24, "resources": 24, "days": 100},
        {"extraction.max_effort": (6.0, 12.0), "utility.exponent": (2.0, 3.0)},
        {
            "units": {"of": "units_extracted / 100", "ticks": "91:100"},
            "hhi": {"of": "hhi", "at": {"quantile": 0.5}, "ticks": "91:100"},
        },
        (1.0, 0.1),
    ),
}


def ants_on_mesa(point: Sequence[float], days: int) -> list[float]:
    """Return the statistics of one run on Mesa."""
    from models_on_mesa import KirmanAnts

    model = KirmanAnts(seed=None, own=point[0], convinced=point[1])
    for _ in range(days):
        model.step()
    share = model.collector.get_model_vars_dataframe()["share"].to_numpy()[100:]
    far = share - share.mean()
    return [share.std(), (far[1:] * far[:-1]).sum() / max((far**2).sum(), 1e-12)]


def on_mesa(days: int) -> Simulate:
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=os.cpu_count())
    return lambda points: np.array(parallel(delayed(ants_on_mesa)(one, days) for one in points))


def calibrate(of: Calibrated, simulate: Simulate, size: int, seed: int) -> tuple[int, float]:
    """Let black-it look for the observed values; return points and seconds of the samplers."""
    from black_it.samplers.best_batch import BestBatchSampler
    from black_it.samplers.halton import HaltonSampler
    from black_it.search_space import SearchSpace

    ends = np.array(list(of.ranges.values())).T
    space = SearchSpace(ends, [PRECISION] * ends.shape[1], False)
    samplers = [HaltonSampler(size, random_state=seed)]
    samplers += [BestBatchSampler(size, random_state=seed + k) for k in range(1, BATCHES)]
    points, losses, within = np.empty((0, ends.shape[1])), np.empty(0), 0.0
    for sampler in samplers:
        began = time.perf_counter()
        new = sampler.sample(space, points, losses)
        within += time.perf_counter() - began
        far = (simulate(new) / of.observed - 1) ** 2
        points = np.concatenate([points, new])
        losses = np.concatenate([losses, np.nan_to_num(far.sum(1), nan=1e9)])
    return len(points), within


def processor_seconds() -> float:
    """Return what this process and its children that have ended used, all threads added up."""
    return sum(os.times()[:4])


def measured(options: argparse.Namespace, name: str, who: str, turn: int) -> dict[str, Any]:
    of = MODELS[name]
    size = max(4, (options.points if who == "batched" else options.few) // BATCHES)
    own = {"set": of.settings, "device": options.device}
    with simulator(of.base, list(of.ranges), of.statistics, **own) as many:
        middle = [[sum(ends) / 2 for ends in of.ranges.values()]]
        simulate: Simulate = many
        if who == "single":
            many(middle)
            simulate = lambda points: np.concatenate([many([one]) for one in points])  # noqa: E731
        elif who == "batched":
            many(middle * size)
        else:
            simulate = on_mesa(of.settings["days"])
            simulate(middle * 2 * (os.cpu_count() or 1))
        began, before = time.perf_counter(), processor_seconds()
        done, within = calibrate(of, simulate, size, 100 * turn)
        seconds = time.perf_counter() - began
        if who == "mesa":
            from joblib.externals.loky import get_reusable_executor

            get_reusable_executor().shutdown(wait=True)  # its processor time is known afterwards
        used = processor_seconds() - before
    numbers = (seconds, used, within, done / seconds, done / used, os.getloadavg()[0])
    texts = [f"{number:.6g}" for number in numbers]
    row = (name, who, turn, done, of.settings["days"], *texts, device(options))
    return dict(zip(FIELDS, row, strict=True))


def device(options: argparse.Namespace) -> str:
    from societies.opencl import choose_device

    return str(choose_device(options.device).name)


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="auto")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--who", nargs="+", default=["batched", "single", "mesa"])
    parser.add_argument("--points", type=int, default=2000, help="of a calibration by batches")
    parser.add_argument("--few", type=int, default=64, help="of the other calibrations")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--out", type=Path, help="CSV file")
    options = parser.parse_args()
    rows = []
    for turn in range(options.rounds):
        for name in options.models:
            for who in options.who:
                if who == "mesa" and not MODELS[name].on_mesa:
                    continue
                rows.append(measured(options, name, who, turn))
                print(*(f"{key}={value}" for key, value in rows[-1].items()), flush=True)
    for name in options.models:
        best = {
            who: max(float(one["per_second"]) for one in rows if (one["model"], one["who"]) == key)
            for who in options.who
            if (key := (name, who)) in {(one["model"], one["who"]) for one in rows}
        }
        for who, rate in best.items():
            times = f", {best['batched'] / rate:.1f} times" if "batched" in best else ""
            print(f"{name}, {who}: {rate:.4g} simulations a second{times}")
    if options.out:
        with options.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(rows)
    print("command:", *sys.argv)


if __name__ == "__main__":
    main()
