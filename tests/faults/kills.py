"""Stop runs and sweeps at random moments: is what they leave behind whole, and is nothing lost?

After each kill the file is checked (`societies info --check`): nothing in it may be damaged, and
the days that count must be those of an undisturbed run. It is then resumed, and killed again, until
a run comes through: that file must equal the undisturbed one, but for its provenance.

    python tests/faults/kills.py --kills 1000 --seed 1 [--what economy]

By default the runs use no device and no model, so that many kills fall into the writing: a
recurrence in which every day depends on all of the day before, with events and a variable that is
not along the clock. With ``--what`` it is an economy, a plate that ends early (laplace), or two
boxes of atoms (molecular_dynamics), in plain Python and committed tick by tick. The same program is
what is killed: ``python kills.py --write FILE``.

With ``--signal`` whole commands are stopped, `societies run` and `societies sweep` in turn, in many
processes at once (``--jobs``):

    python tests/faults/kills.py --signal TERM --count 200 --jobs 16

After INT, TERM and HUP the command ends with exit code 130, 143 or 129, and every tick that counts
has a checkpoint, so nothing is computed twice. After each of them, and after KILL, the file is
checked, resumed and compared with the one of an undisturbed command. The script is long because it
is all that is needed for that on another machine, the repository aside.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from societies import signals
from societies.__main__ import command
from societies.output import (
    Column,
    Coordinate,
    EventTable,
    ResultFile,
    Variable,
    inspect,
    open_results,
)
from societies.workload.declare.measured import DIFFERS

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
        EventTable(
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
    from societies.workload.running import blocks as core

    core._next_length = lambda ticks, seconds: 1
    core.RAREST_SECONDS = 0.0
    config = societies.config_from_dict(MODELS[what])
    societies.run(config, device="reference", out=path, resume=path.exists())


def everything(path: Path) -> dict[str, bytes]:
    """Return every dataset but those of the provenance, and of what was measured."""
    found: dict[str, bytes] = {}
    differs = set()

    def keep(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and not name.startswith("provenance"):
            if str(item.attrs.get("long_name", "")).endswith(DIFFERS):
                differs.update((name, f"checksums/{name}"))
            value = item[()]
            found[name] = repr(value).encode() if value.dtype == object else value.tobytes()

    with h5py.File(path) as file:
        file.visititems(keep)
    return {name: value for name, value in found.items() if name not in differs}


def wrong_days(path: Path, whole: Path) -> str:
    """Return what differs from an undisturbed run up to the last day that counts; "" if nothing."""
    with open_results(path) as data, open_results(whole) as truth:
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
    """Kill runs ``count`` times; return what was seen, and what was wrong."""
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


RUNS: dict[str, list[str]] = {
    "economy": ["economy/quickstart", "agents=3", "resources=4", "days=40", "record.checkpoint=9"],
    "laplace": ["physics/laplace/quickstart", "side=16", "tolerance=1e-4"],
    "kalah_match": ["games/kalah/match", "games=40", "players.0.depth=1", "record.checkpoint=7"],
}
"""What `societies run` is stopped in, in plain Python: a configuration, and keys that are set."""

SWEEP = {
    "base": {"workload": "laplace", "side": 8, "steps": 30, "record": {"series": 10}},
    "vary": {"grid": {"side": [7, 8, 9], "steps": [20, 30], "check_every": [5, 10]}},
}
WHERE = (["--batch", "1"], ["--batch", "1"], ["--batch", "5"], ["--workers", "2", "--batch", "1"])
"""Options of the sweeps, in turn: by this process, and by workers of Dask."""


def command_of(number: int, path: Path) -> list[str]:
    """Return the words of a command that is stopped: a run or, of odd numbers, a sweep."""
    end = ["--quiet", "--device", "reference", "--out", str(path)]
    if number % 2:
        return ["sweep", str(path.with_name("sweep.yaml")), *WHERE[number // 2 % len(WHERE)], *end]
    config, *keys = RUNS[[*RUNS][number // 2 % len(RUNS)]]
    return ["run", config, *(word for key in keys for word in ("--set", key)), *end]


def started(words: list[str]) -> tuple[int, int]:
    """Begin a command in a copy of this process; return it, and what it says on stderr.

    A copy has everything imported, so what is stopped is the command and not Python's start.
    """
    reading, writing = os.pipe()
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            for number in signals.ENDING:
                signal.signal(number, signal.SIG_DFL)
            signals.handle()
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            os.dup2(writing, 2)
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")  # pytest has others
            sys.argv = ["societies", *words]
            os.write(told, b"x")
            command()
        except SystemExit as end:
            os._exit(end.code if isinstance(end.code, int) else 0 if end.code is None else 1)
        finally:
            os._exit(99)
    os.close(writing)
    os.read(ready, 1)
    for one in (ready, told):
        os.close(one)
    return child, reading


def ended(child: int, said: int) -> tuple[int, str]:
    """Wait for a command; return its exit code, negative if it died of a signal, and its stderr."""
    with os.fdopen(said, errors="replace") as stream:
        text = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


def whole_study(path: Path) -> dict[str, bytes]:
    """Return what a study holds of its runs, however long they took."""
    but = ("wall_time", "checksums/wall_time", "commits", "study/checksum")
    return {name: value for name, value in everything(path).items() if name not in but}


def stop_one(
    number: int,
    name: str,
    chance: random.Random,
    folder: Path,
    lasted: dict[int, tuple[float, float]],
) -> tuple[str, str]:
    """Stop a command by a signal and continue with it; return what came of it, and what is wrong.

    ``lasted`` has the seconds of each command that nothing disturbs: until its file is there, and
    from then on.
    """
    kind, which = number % 2, len(RUNS) if number % 2 else number // 2 % len(RUNS)
    whole, sent = folder / f"whole{which}.h5", getattr(signal, f"SIG{name}")
    content = whole_study if kind else everything
    if which not in lasted:
        child, said = started(command_of(number, whole))
        before = until_there(whole, said)
        began = time.perf_counter()
        code, text = ended(child, said)
        if code:
            return "failed", f"{command_of(number, whole)}: {code} {text}"
        lasted[which] = before, time.perf_counter() - began
    path, (before, after) = folder / "stopped.h5", lasted[which]
    child, said = started(command_of(number, path))
    if chance.random() < EARLY:
        time.sleep(chance.uniform(0, before))
    else:
        until_there(path, said)
        time.sleep(chance.uniform(0, 1.05 * after))
    os.kill(child, sent)
    code, text = ended(child, said)
    what = f"{name} {number}: {' '.join(command_of(number, path)[:4])}"
    if code not in (0, -sent if name == "KILL" else 128 + sent):
        return "failed", f"{what} ended with {code}: {text}"
    wrong = []
    if code and name != "KILL" and "interrupted" not in text:
        wrong.append(f"says {text!r}")
    where = "whole" if code == 0 else "stopped on the way" if path.exists() else "before its file"
    resumed = ["--resume"] if path.exists() else []
    if path.exists():
        found = inspect(path, check=True)
        wrong += [str(one) for one in found.damages]
        if name != "KILL" and not kind and (lost := ticks_lost(path)):
            wrong.append(lost)
    # Leftovers of a process that was killed are removed when it continues.
    code, text = ended(*started([*command_of(number, path), *resumed]))
    if code:
        wrong.append(f"continues with {code}: {text}")
    elif content(path) != (truth := content(whole)):
        here = content(path)
        wrong.append(f"differs in {[one for one in truth if here.get(one) != truth[one]]}")
    path.unlink(missing_ok=True)
    left = [one.name for one in folder.iterdir() if not one.name.startswith(("whole", "sweep"))]
    if left:
        wrong.append(f"leaves {left}")
    return where, f"{what}: {'; '.join(wrong)}" if wrong else ""


EARLY = 0.25
"""Share of the signals that are sent before there is a file, or while it is made."""


def until_there(path: Path, said: int) -> float:
    """Wait until a command has made its file, or has ended; return the seconds that it took."""
    began = time.perf_counter()
    while not path.exists() and not select.select([said], [], [], 0.002)[0]:
        pass
    return time.perf_counter() - began


def ticks_lost(path: Path) -> str:
    """Return which ticks count but have no checkpoint, so are computed again; "" if none."""
    with ResultFile.resume(path) as file:
        saved, count = file.latest_checkpoint(), file.ticks_committed
        if count != (saved[0] if saved else 0) and not file.ended:
            return f"{count} ticks count, {saved and saved[0]} are saved"
    return ""


def stop_some(name: str, numbers: Sequence[int], seed: int) -> tuple[Counter[str], list[str]]:
    """Stop commands one after the other; return what came of them, and what is wrong."""
    import societies.sweep
    import societies.workload.running.run  # noqa: F401

    seen, wrong, lasted = Counter[str](), [], {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sweep.yaml").write_text(json.dumps(SWEEP))
        for number in numbers:
            chance = random.Random(f"{seed} {name} {number}")
            where, what = stop_one(number, name, chance, Path(folder), lasted)
            seen[f"{'sweep' if number % 2 else 'run'} {where}"] += 1
            wrong += [what] * bool(what)
    return seen, wrong


def stop_many(name: str, count: int, jobs: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Stop ``count`` commands by a signal, in several processes."""
    parts = [range(2 * k, count, 2 * jobs) for k in range(jobs)]
    numbers = [[n + i for n in part for i in (0, 1) if n + i < count] for part in parts]
    seen, wrong = Counter[str](), []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for one, what in pool.map(stop_some, [name] * jobs, numbers, [seed] * jobs):
            seen += one
            wrong += what
    return seen, wrong


def main() -> int:
    """Kill, print the summary; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--what", choices=["recurrence", *MODELS], default="recurrence")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--signal", choices=["INT", "TERM", "HUP", "KILL"])
    parser.add_argument("--count", type=int, default=200, help="commands that are stopped")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.write:
        if options.what == "recurrence":
            print("ready", flush=True)
            write(options.write)
        else:
            import societies.workload.running.run

            societies.config_from_dict(MODELS[options.what])
            print("ready", flush=True)
            write_model(options.write, options.what)
        return 0
    began, what = time.perf_counter(), options.signal or options.what
    if options.signal:
        seen, wrong = stop_many(what, options.count, options.jobs, options.seed)
    else:
        with tempfile.TemporaryDirectory() as folder:
            seen, wrong = kill(options.kills, options.seed, Path(folder), what)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{what}, seed {options.seed}: {dict(sorted(seen.items()))}", end="; ")
    print(f"{len(wrong)} wrong; {time.perf_counter() - began:.0f} s")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
