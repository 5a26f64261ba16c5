"""Kill a run at random moments, again and again: is every file that is left behind consistent?

After each kill the file is checked (`societies info --check`): nothing in it may be damaged, and
the days that count must be those of an undisturbed run (of a study: the runs that are done). It is
then resumed, and killed again, until a run comes through: that file must equal the undisturbed one,
but for its provenance (of a study: and for what its runs took).

    python tests/faults/kills.py --kills 1000 --seed 1 [--what economy]

By default the runs use no device and no model, so that many kills fall into the writing: a
recurrence in which every day depends on all of the day before, with events and a variable that is
not along the clock. With ``--what`` it is an economy, a plate that ends early (laplace), or two
boxes of atoms (molecular_dynamics), in plain Python and committed tick by tick, or a sweep of
small economies (study), written run by run. The same program is what is killed: ``python kills.py
--write FILE``.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from societies.output import Column, Coordinate, ResultFile, Table, Variable, inspect, open_results

DAYS, COPIES, AGENTS, EVERY = 120, 2, 500, 7
STATE = {"x": ((COPIES, AGENTS), np.uint64), "sums": ((COPIES,), np.float64)}
DECLARED = {
    "coordinates": [
        Coordinate("society", np.arange(COPIES)),
        Coordinate("day", np.arange(1, DAYS + 1), "day"),
        Coordinate("agent_day", np.arange(5, DAYS + 1, 5), "day"),
        Coordinate("agent", np.arange(AGENTS)),
    ],
    "variables": [
        Variable("sum", ("society", "day"), np.float64, "1", "sum of the state"),
        Variable("sum_before", ("society", "day"), np.float64, "1", "known a day later", lag=1),
        Variable("all", ("society", "agent_day", "agent"), np.uint64, "1", "the state"),
        Variable("newest", ("society", "agent"), np.int64, "1", "as of the checkpoint", -1),
    ],
    "tables": [
        Table(
            "odd",
            (Column("day", "int32", "day", "day"), Column("agent", "int32", "", "an odd one")),
            DAYS,
        )
    ],
    "state": STATE,
    "attributes": {"title": "a recurrence"},
}


MODELS: dict[str, dict[str, Any]] = {
    "economy": {
        "workload": "economy",
        "agents": 4,
        "resources": 6,
        "days": 30,
        "devices": "tools",
        "device": {"resources_in_tool": 3},
        "trading": {"menu_size": 6},
        "record": {
            "agent": 4,
            "agent_resource": 6,
            "checkpoint": 7,
            "trade_log": {"days": [3, 20]},
            "input_output": True,
        },
    },
    "laplace": {
        "workload": "laplace",
        "side": 40,
        "tolerance": 1e-4,
        "check_every": 5,
        "record": {"series": 2, "detail": 20, "checkpoint": 7},
    },
    "molecular_dynamics": {
        "workload": "molecular_dynamics",
        "cells": 2,
        "steps": 60,
        "replicates": 2,
        "thermostat": "rescale",
        "equilibrate": 20,
        "record": {"series": 2, "detail": 15, "checkpoint": 7},
    },
}
"""What ``--what`` may name besides the recurrence."""


def first() -> dict[str, np.ndarray]:
    """Return the state before day 1."""
    x = np.arange(COPIES * AGENTS, dtype=np.uint64).reshape(COPIES, AGENTS)
    return {"x": x, "sums": np.zeros(COPIES)}


def following(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the state of the next day."""
    x = state["x"] * np.uint64(6364136223846793005) + np.roll(state["x"], 1)
    return {"x": x, "sums": state["sums"] + x.mean(axis=1)}


def write(path: Path) -> None:
    """Make or continue the file and write it to the end."""
    if path.exists():
        file = ResultFile.resume(path)
        day, state = file.latest_checkpoint() or (0, first())
    else:
        file, day, state = ResultFile.create(path, **DECLARED), 0, first()
    with file:
        file.log_session(f"from day {day + 1}")
        file.rewind(day)
        while day < DAYS:
            before, day, state = state, day + 1, following(state)
            file.write("sum", state["sums"], day=day - 1)
            if day > 1:
                file.write("sum_before", before["sums"], day=day - 2)
            if day % 5 == 0:
                file.write("all", state["x"], agent_day=day // 5 - 1)
            odd = np.flatnonzero(state["x"][0] & np.uint64(1))[: day % 4].astype(np.int32)
            file.append("odd", {"day": np.full(len(odd), day, np.int32), "agent": odd})
            file.commit(day)
            if day % EVERY == 0 or day == DAYS:
                file.write("newest", (state["x"] >> np.uint64(1)).astype(np.int64))
                file.checkpoint(day, state, -(-day // EVERY))


def write_model(path: Path, what: str) -> None:
    """Run one of the models, or continue its run, a commit for every tick."""
    import societies

    if what == "study":
        from flips import STUDY

        from societies import sweep

        sweep.run(STUDY, out=path, device="reference", batch=1, resume=path.exists())
        return
    from societies.workload import blocks as core

    core._next_length = lambda ticks, seconds: 1
    core.RAREST_SECONDS = 0.0
    config = societies.config_from_dict(MODELS[what])
    societies.run(config, device="reference", out=path, resume=path.exists())


def everything(path: Path) -> dict[str, bytes]:
    """Return every dataset but those of the provenance, and of the time that runs took."""
    found = {}

    def keep(name: str, item: object) -> None:
        own = ("provenance", "wall_time", "study/checksum")
        if isinstance(item, h5py.Dataset) and not name.startswith(own):
            value = item[()]
            found[name] = repr(value).encode() if value.dtype == object else value.tobytes()

    with h5py.File(path) as file:
        file.visititems(keep)
    return found


def wrong_days(path: Path, whole: Path) -> str:
    """Return what differs from an undisturbed run up to the last day that counts; "" if nothing."""
    with open_results(path) as data, open_results(whole) as truth:
        if "run" in data.dims:
            done = data.status.values == "done"
            for name, values in data.data_vars.items():
                if values.values[done].tobytes() != truth[name].values[done].tobytes():
                    return f"'{name}' of runs that are done"
            return ""
        clock, last = str(data.attrs["clock"]), int(data.ticks_committed)
        for name, values in data.data_vars.items():
            along = [dim for dim in map(str, values.dims) if f"_{dim}".endswith(f"_{clock}")]
            if not along or "lag" in values.attrs:  # known a tick later
                continue
            expected = truth[name].sel({along[0]: slice(last)}).values
            if values.values.tobytes() != expected.tobytes():
                return f"'{name}' up to {clock} {last}"
    tables = [row[0][8:-1] for row in inspect(path).rows if row[0].startswith("events '")]
    for table in tables:
        with open_results(path, events=table) as here, open_results(whole, events=table) as truth:
            rows = truth[clock].values <= last
            for name, values in here.data_vars.items():
                if values.values.tobytes() != truth[name].values[rows].tobytes():
                    return f"'{name}' of the events '{table}' up to {clock} {last}"
    return ""


def kill(
    kills: int, seed: int, folder: Path, what: str = "recurrence"
) -> tuple[Counter[str], list[str]]:
    """Kill runs so many times; return what was seen, and what was wrong."""
    chance, whole, path = random.Random(seed), folder / "whole.h5", folder / "killed.h5"
    write_it = write if what == "recurrence" else partial(write_model, what=what)
    write_it(folder / "first.h5")  # what is slow only once is not timed
    began = time.perf_counter()
    write_it(whole)
    longest, expected = time.perf_counter() - began, everything(whole)
    seen: Counter[str] = Counter()
    wrong = []
    while seen["kills"] < kills or path.exists() or not seen["came through"]:
        root = str(Path(__file__).resolve().parents[2])  # for a checkout that is not installed
        child = subprocess.Popen(
            [sys.executable, __file__, "--what", what, "--write", path],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": root},
        )
        assert child.stdout is not None and child.stdout.readline() == b"ready\n"
        if seen["kills"] < kills:
            part = 20 if chance.random() < 0.25 else 1.5  # some while it makes or opens the file
            time.sleep(chance.uniform(0, longest / part))
            child.send_signal(signal.SIGKILL)
        child.stdout.close()
        code = child.wait()
        seen["kills"] += code == -signal.SIGKILL
        if code not in (0, -signal.SIGKILL):
            wrong.append(f"kill {seen['kills']}: the run ended with {code}")
            path.unlink(missing_ok=True)
            continue
        if not path.exists():
            seen["before there was a file"] += 1
            continue
        found = inspect(path, check=True)
        seen["half written, said so"] += any(row[0] == "half written" for row in found.rows)
        differs = wrong_days(path, whole)
        if found.damages or differs:
            wrong.append(f"kill {seen['kills']}: {[*map(str, found.damages), differs]}")
        if code == 0:
            seen["came through"] += 1
            if everything(path) != expected:
                names = [k for k, v in everything(path).items() if v != expected[k]]
                wrong.append(f"after kill {seen['kills']} the whole file differs in {names}")
            path.unlink()
    return seen, wrong


def main() -> int:
    """Kill, print the summary; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--what", choices=["recurrence", *MODELS, "study"], default="recurrence")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        if options.what == "recurrence":
            print("ready", flush=True)
            write(options.write)
        else:
            import societies.workload.run

            if options.what in MODELS:
                societies.config_from_dict(MODELS[options.what])
            else:
                import flips

                import societies.sweep

                societies.sweep.load_sweep(flips.STUDY)
            print("ready", flush=True)
            write_model(options.write, options.what)
        return 0
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        seen, wrong = kill(options.kills, options.seed, Path(folder), options.what)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{options.what}, seed {options.seed}: {dict(seen)}", end="; ")
    print(f"{len(wrong)} wrong; {time.perf_counter() - began:.0f} s")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
