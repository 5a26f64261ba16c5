"""How long does a study take, compared with one launch by hand, Mesa's batch_run and joblib?

All run the same economy: every point of a Latin hypercube, some replicates each. ``hand`` is
``societies.run`` with a table of all runs, in this process and without a study. ``joblib`` and
``mesa`` call ``societies.run`` for every single run, as without studies, in as many
processes as there are cores and with a program that is built already; they get few runs, as
their rate does not depend on the number. They take turns, so a machine that slows down is seen in
all of them. ``--seconds`` ends each measurement; its rate is then that of what was done.
Processor seconds are those of this process and its children, all threads added up; ``load`` is the
mean number of programs that were ready to run in the last minute. Where other programs use the
machine only processor seconds can be compared.

    python benchmarks/studies.py --points 200 --replicates 5 --days 60 --agents 8
    python benchmarks/studies.py --points 200 --days 60 --who sweep hand joblib mesa --rounds 1
    python benchmarks/studies.py --points 10000 --replicates 10 --days 300 --agents 24 \
        --device gpu --who sweep --rounds 1 --seconds 240

A sweep has two rows: all of it, and the part within batches, which is what the devices did with
what was prepared for them and read back. The difference is what a study costs next to its launches.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import societies
from societies import config_from_dict, sweep
from societies.errors import Interrupted
from societies.sweep.points import sweep_points

RANGES = {
    "utility.exponent": {"low": 2.0, "high": 3.0},
    "trading.min_surplus": {"low": 0.05, "high": 1.0},
    "day_length": {"low": 400.0, "high": 700.0},
}
FIELDS = (
    "who",
    "points",
    "replicates",
    "agents",
    "days",
    "runs_done",
    "seconds",
    "processor_s",
    "runs_per_s",
    "runs_per_processor_s",
    "load",
)
Point = Mapping[str, float]
Measured = Iterator[tuple[str, float, float, float]]
"""Who, how many runs (the last may be done in part), seconds, processor seconds (or NaN)."""


class Watch:
    """Seconds and processor seconds since it was made."""

    def __init__(self) -> None:
        self._began, self._before = time.perf_counter(), processor_seconds()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def read(self) -> tuple[float, float]:
        return self.seconds, processor_seconds() - self._before


def processor_seconds() -> float:
    """Return what this process and its children that have ended used, all threads added up."""
    return sum(os.times()[:4])


def base(options: argparse.Namespace) -> dict[str, object]:
    size = {"agents": options.agents, "resources": options.agents, "days": options.days}
    return {"workload": "economy", **size}


def said(options: argparse.Namespace, points: int) -> dict[str, object]:
    """Return the sweep as its file would say it."""
    return {
        "base": base(options),
        "vary": {"latin_hypercube": {"points": points, "seed": 1, "keys": RANGES}},
        "replicates": options.replicates,
        "record": {"variables": options.variables},
    }


def hand(options: argparse.Namespace, points: list[Point], folder: Path) -> Measured:
    """One launch of all runs with a table."""
    table = {key: np.repeat([point[key] for point in points], options.replicates) for key in RANGES}
    days = 0

    def look(day: int, last: int) -> None:
        nonlocal days
        days = day
        if watch.seconds > options.seconds:
            raise KeyboardInterrupt

    config = config_from_dict({**base(options), "record": {"checkpoint": "never"}})
    watch = Watch()
    out = folder / "hand.h5"
    with suppress(Interrupted):
        societies.run(
            config, device=options.device, table=table, out=out, overwrite=True, progress=look
        )
    runs = len(points) * options.replicates
    yield "hand", runs * days / options.days, *watch.read()


def of_sweep(options: argparse.Namespace, points: list[Point], folder: Path) -> Measured:
    """A study of all runs; also the seconds of it that were within batches."""
    done = within = 0.0

    def look(progress: Any) -> None:
        nonlocal done
        done = progress.done
        print(f"  {progress.done} runs, {progress.seconds:.1f} s", file=sys.stderr, flush=True)
        if progress.seconds > options.seconds:
            raise KeyboardInterrupt

    watch = Watch()
    with suppress(Interrupted):
        report = sweep.run(
            said(options, len(points)),
            device=options.device,
            out=folder / "study.h5",
            overwrite=True,
            yes=True,
            batch=options.batch,
            progress=look,
        )
        assert not report.failures and not report.pending
        within = report.launch_seconds
    yield "sweep", done, *watch.read()
    if within:
        yield "sweep, within batches", done, within, math.nan


def one_run(settings: Mapping[str, Any], device: str, point: Point, replicate: int) -> list[float]:
    """Compute one run by ``societies.run`` and return a series of it."""
    data = {**settings, "first_society": replicate, "record": {"checkpoint": "never"}}
    for key, value in point.items():
        section, _, name = key.rpartition(".")
        inside = data.setdefault(section, {}) if section else data
        inside[name] = value
    with TemporaryDirectory() as name:
        out = Path(name) / "one.h5"
        societies.run(config_from_dict(data), device=device, out=out)
        with societies.open_results(out) as results:
            found: list[float] = results.gini.values.ravel().tolist()
    return found


def few(options: argparse.Namespace, points: list[Point]) -> list[Point]:
    return points[: max(1, options.few // options.replicates)]


def of_joblib(options: argparse.Namespace, points: list[Point], folder: Path) -> Measured:
    """``joblib.Parallel`` over single runs."""
    from joblib import Parallel, delayed
    from joblib.externals.loky import get_reusable_executor

    own, settings = few(options, points), base(options)
    watch = Watch()
    found = Parallel(n_jobs=os.cpu_count())(
        delayed(one_run)(settings, options.device, point, replicate)
        for point in own
        for replicate in range(options.replicates)
    )
    get_reusable_executor().shutdown(wait=True)  # only of processes that ended the time is known
    yield "joblib", len(found), *watch.read()


def of_mesa(options: argparse.Namespace, points: list[Point], folder: Path) -> Measured:
    """``mesa.batch_run`` over models that are single runs; a model's one step is its run."""
    from mesa import batch_run

    own = few(options, points)
    watch = Watch()
    found = batch_run(
        economy_of_mesa(),
        {
            "settings": [base(options)],
            "device": options.device,
            "points": [own],
            "run": range(len(own) * options.replicates),
            "replicates": options.replicates,
        },
        number_processes=os.cpu_count(),
        iterations=1,
        max_steps=1,
        display_progress=False,
    )
    yield "mesa", len({one["RunId"] for one in found}), *watch.read()


def economy_of_mesa() -> Any:
    """Return the class of Mesa's model, known by this module's name to other processes."""
    return globals().get("Economy") or _made_economy()


def _made_economy() -> Any:
    import mesa

    class Economy(mesa.Model):
        """An economy of which a step is all of its days."""

        def __init__(
            self,
            settings: dict[str, Any],
            device: str,
            points: list[Point],
            run: int,
            replicates: int,
            **more: Any,
        ) -> None:
            super().__init__(**more)
            self.what = settings, device, points[run // replicates], run % replicates
            self.gini = 0.0
            self.datacollector = mesa.DataCollector(model_reporters={"gini": "gini"})

        def step(self) -> None:
            self.gini = one_run(*self.what)[-1]
            self.datacollector.collect(self)
            self.running = False

    Economy.__qualname__ = "Economy"
    globals()["Economy"] = Economy
    return Economy


def __getattr__(name: str) -> Any:
    """Make Mesa's model where another process looks it up."""
    if name == "Economy":
        return _made_economy()
    raise AttributeError(name)


WHO: dict[str, Callable[[argparse.Namespace, list[Point], Path], Measured]] = {
    "hand": hand,
    "sweep": of_sweep,
    "joblib": of_joblib,
    "mesa": of_mesa,
}


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--replicates", type=int, default=5)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--variables", nargs="+", default=["gini", "utility", "units_traded"])
    parser.add_argument("--who", nargs="+", choices=list(WHO), default=["hand", "sweep"])
    parser.add_argument("--rounds", type=int, default=2, help="how often all are measured")
    parser.add_argument("--few", type=int, default=20, help="runs of joblib and mesa")
    parser.add_argument("--seconds", type=float, default=600.0, help="most of one measurement")
    parser.add_argument("--batch", type=int, help="runs of a study's batch; default: as it chooses")
    parser.add_argument("--append", type=Path, help="a CSV file")
    options = parser.parse_args()
    points = [dict(one) for one in sweep_points(sweep.load_sweep(said(options, options.points)))[0]]
    size = (options.points, options.replicates, options.agents, options.days)
    rows = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        if "hand" in options.who:
            for _ in hand(options, points[:2], folder):  # builds the program of tables
                pass
        if {"joblib", "mesa"} & {*options.who}:
            one_run(base(options), options.device, points[0], 0)  # builds that of a single run
        print(*FIELDS)
        for _ in range(options.rounds):
            for who in options.who:
                for label, runs, seconds, used in WHO[who](options, points, folder):
                    measured = (runs, seconds, used, runs / seconds, runs / used)
                    shown = ["" if math.isnan(one) else f"{one:.4g}" for one in measured]
                    rows.append((label, *size, *shown, f"{os.getloadavg()[0]:.1f}"))
                    print(*rows[-1], flush=True)
    if options.append:
        new = not options.append.exists()
        with options.append.open("a", newline="") as file:
            csv.writer(file).writerows([FIELDS, *rows] if new else rows)


if __name__ == "__main__":
    sys.exit(main())
