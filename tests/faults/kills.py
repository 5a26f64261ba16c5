"""Stop commands at random moments: is what they leave behind whole, and is nothing lost?

After each kill the file is checked (`societies info --check`): nothing in it may be damaged, and
the days that count must be those of an undisturbed run. It is then resumed, and killed again, until
a run comes through: that file must equal the undisturbed one, but for its provenance.

    python tests/faults/kills.py --kills 1000 --seed 1 [--what economy]

By default the runs use no device and no model, so that many kills fall into the writing: a
recurrence in which every day depends on all of the day before, with events and a variable that is
not along the clock. With ``--what`` it is an economy, a plate that ends early (laplace), or two
boxes of atoms (molecular_dynamics), in plain Python and committed tick by tick. The same program is
what is killed: ``python kills.py --write FILE``.

With ``--signal`` whole commands are stopped, those of `COMMANDS` in turn or, with ``--only``, some
of them, in many processes at once (``--jobs``):

    python tests/faults/kills.py --signal TERM --count 200 --jobs 16
    python tests/faults/kills.py --signal INT --count 20 --only fan --only irf

After INT, TERM and HUP the command ends with exit code 130, 143 or 129, and every tick of a run
that counts has a checkpoint, so nothing is computed twice. After each of them, and after KILL, no
process of the command is left, and a file that is written at once is whole or does not exist; one
that can be continued is checked, continued with the command that is printed, if there is one, and
what is printed and written is compared with that of an undisturbed command.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

import societies
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
from societies.output.layout import declare
from societies.workload.running.measured import DIFFERS

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
        file, day, state = ResultFile.create(path, declare(**DECLARED)), 0, first()
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


def setting(*keys: str) -> list[str]:
    """Return the options that set keys."""
    return [word for key in keys for word in ("--set", key)]


HERE = ["--device", "reference"]
LAPLACE = ["run", "physics/laplace/quickstart", *setting("side=16", "tolerance=1e-4"), *HERE]
SWEEP = ["sweep", "../sweep.yaml", "-q", *HERE, "--out", "s.h5"]
ECONOMY = setting("agents=3", "resources=4", "days=40", "record.checkpoint=9")
GAMES = setting("games=40", "players.0.depth=1", "record.checkpoint=7")
SHOCK = "{day: 8, until: 9, set: {extraction.max_effort: 4}}"
FUTURES = ["--tick", "9", "--pasts", "2", "--futures", "2"]
SMALL = {"workload": "economy", "agents": 3, "resources": 3, "days": 20}
STATISTIC = {"of": "gini", "target": 0.1, "scale": 0.1}
FILES: dict[str, Any] = {
    "society.yaml": SMALL | {"replicates": 2, "record": {"checkpoint": 4}},
    "fan.yaml": SMALL | {"replicates": 2, "record": {"checkpoint": 4}},
    "sweep.yaml": {
        "base": {"workload": "laplace", "side": 8, "steps": 30, "record": {"series": 10}},
        "vary": {"grid": {"side": [7, 8, 9], "steps": [20, 30], "check_every": [5, 10]}},
    },
    "targets.yaml": {"base": SMALL, "replicates": 2, "statistics": {"gini": STATISTIC}},
    "calibration.yaml": {
        "base": SMALL,
        "parameters": {"utility.exponent": {"low": 2, "high": 3}},
        "targets": {"gini": STATISTIC},
        "method": {"abc_smc": {"population": 4, "generations": 2}},
    },
}
"""What the commands read, next to the results `past.h5` and `other.h5`."""


class Stopped(NamedTuple):
    """A command that is stopped.

    Attributes
    ----------
    words : its words; what it reads is in the folder above the one in which it works
    file : what it writes little by little and can continue; "" if there is no such file
    again : options with which it continues, or is carried out again
    wrote : another file that it writes; it exists as a whole or not at all
    ends : whether it ends by itself
    """

    words: Sequence[str]
    file: str = ""
    again: Sequence[str] = ("--resume",)
    wrote: str = ""
    ends: bool = True


COMMANDS: dict[str, Stopped] = {
    "run": Stopped(["run", "economy/quickstart", *ECONOMY, "-q", *HERE, "--out", "r.h5"], "r.h5"),
    "sweep": Stopped([*SWEEP, "--batch", "1"], "s.h5"),
    "run of steps": Stopped([*LAPLACE, "-q", "--out", "r.h5"], "r.h5"),
    "sweep in batches": Stopped([*SWEEP, "--batch", "5"], "s.h5"),
    "run of games": Stopped(
        ["run", "games/kalah/match", *GAMES, "-q", *HERE, "--out", "r.h5"], "r.h5"
    ),
    "sweep by workers": Stopped([*SWEEP, "--workers", "2", "--batch", "1"], "s.h5"),
    "run on two devices": Stopped(
        ["run", "../society.yaml", "-q", "--device", "1:0,1:0", "--out", "r.h5"], "r.h5"
    ),
    "run of a fan": Stopped(
        ["run", "../fan.yaml", "--from", "../past.h5", "--tick", "9", "--fan", "2", "-q", *HERE],
        "fan.h5",
    ),
    "run with a page": Stopped([*LAPLACE, "-q", "--view", "--out", "r.h5"], "r.h5", ends=False),
    "view": Stopped(["view", LAPLACE[1], "--no-browser", "--port", "0", *HERE], ends=False),
    "irf": Stopped(["irf", "../society.yaml", "--shock", SHOCK, *HERE, "--out", "i.h5"], "i.h5"),
    "fan": Stopped(["fan", "../society.yaml", *FUTURES, *HERE, "--out", "f.h5"], "f.h5"),
    "calibrate": Stopped(["calibrate", "../calibration.yaml", *HERE, "--out", "c.nc"], "c.nc"),
    "validate": Stopped(
        ["validate", "../targets.yaml", *HERE, "--figure", "v.png"], "", (), "v.png"
    ),
    "effect": Stopped(
        ["effect", "../past.h5", "../other.h5", "--figure", "e.png"], "", (), "e.png"
    ),
    "keys": Stopped(
        ["keys", "../society.yaml", "--matter", "--only", "utility.exponent", *HERE], "", ()
    ),
    "verify": Stopped(["verify", "../society.yaml", "--days", "2", *HERE], "", ()),
    "plot": Stopped(["plot", "../past.h5", "--out", "p.pdf"], "", (), "p.pdf"),
    "export": Stopped(["export", "../past.h5", "--to", "csv", "--out", "."], "", ["--overwrite"]),
    "reproduce": Stopped(["reproduce", "7", "--small", "-q", *HERE, "--out", "."], "", ()),
}
"""What ``--signal`` stops, one after the other."""

SECONDS_OF_A_PAGE = 4.0
"""Time within which a command is stopped that does not end by itself."""

SECONDS_OF_ORPHANS = 15.0
"""Time within which other processes of a command have to end after it."""

SECONDS_TO_END = 120.0
"""Time within which a command has to end after a signal, on a slow machine."""

LONGEST = 1800.0
"""Time within which a command has to end that nothing disturbs, on a machine with other work."""


def started(words: Sequence[str], folder: Path) -> tuple[int, int]:
    """Begin a command in a copy of this process; return it, and what it says on stderr.

    A copy has everything imported, so what is stopped is the command and not Python's start. What
    it prints goes into the file ``printed`` next to its folder.
    """
    reading, writing = os.pipe()
    ready, release = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            os.chdir(folder)
            for number in signals.ENDING:
                signal.signal(number, signal.SIG_DFL)
            signals.handle()
            printed = os.open("../printed", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(printed, 1)
            os.dup2(writing, 2)
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")  # pytest has others
            sys.argv = ["societies", *words]
            os.write(release, b"x")
            command()
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(end.code if isinstance(end.code, int) else 0 if end.code is None else 1)
        finally:
            os._exit(99)
    os.close(writing)
    os.read(ready, 1)
    for one in (ready, release):
        os.close(one)
    return child, reading


def ended(child: int, said: int, seconds: float = LONGEST) -> tuple[int, str]:
    """Wait for a command; return its exit code, negative if it died of a signal, and its stderr.

    After ``seconds`` it is killed.
    """
    until = time.monotonic() + seconds
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.005)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    until = time.monotonic() + SECONDS_OF_ORPHANS
    while (left := processes_of(child)) and time.monotonic() < until:
        time.sleep(0.02)
    for one in left:
        os.kill(one, signal.SIGKILL)
    with os.fdopen(said, errors="replace") as stream:
        text = stream.read()
    return code, text + "".join(f"\norphan: {what}" for what in left.values())


def processes_of(session: int) -> dict[int, str]:
    """Return the processes of a session that have not ended, and their command lines."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, _, _, of = (path / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(of) == session and state != "Z":
                words = (path / "cmdline").read_bytes().split(b"\0")
                found[int(path.name)] = b" ".join(words).decode(errors="replace")
    return found


def results_of(folder: Path) -> dict[str, bytes]:
    """Return what a command has printed and written, but for times and provenance."""
    found = {"printed": (folder.parent / "printed").read_bytes()}
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        name = str(path.relative_to(folder))
        if path.suffix not in (".h5", ".nc"):
            found[name] = path.read_bytes()
            continue
        for key, value in everything(path).items():
            if key not in ("wall_time", "checksums/wall_time", "commits", "study/checksum"):
                found[f"{name}: {key}"] = value
    return found


def make_inputs(folder: Path) -> None:
    """Write the files that the commands read."""
    for name, content in FILES.items():
        (folder / name).write_text(json.dumps(content))
    for name, exponent in (("past", 2.5), ("other", 2.6)):
        config = societies.config_from_dict(
            {**FILES["society.yaml"], "utility": {"exponent": exponent}}
        )
        societies.run(config, device="reference", out=folder / f"{name}.h5")


class Undisturbed(NamedTuple):
    """A command that nothing has disturbed.

    Attributes
    ----------
    before, after : seconds until its file existed, and from then on
    results : what it has printed and written
    """

    before: float
    after: float
    results: dict[str, bytes]


def undisturbed(name: str, folder: Path) -> Undisturbed:
    """Carry out a command that ends by itself."""
    one, own = COMMANDS[name], folder / "whole"
    own.mkdir()
    words = [word for word in one.words if word != "--view"]
    child, said = started(words, own)
    before = until_written(own / one.file, said) if one.file else 0.0
    began = time.perf_counter()
    code, text = ended(child, said)
    if code:
        raise RuntimeError(f"{' '.join(words)}: {code} {text}")
    results = results_of(own)
    shutil.rmtree(own)
    return Undisturbed(before, time.perf_counter() - began, results)


def stop_one(
    number: int, name: str, chance: random.Random, folder: Path, known: dict[str, Undisturbed]
) -> tuple[str, str]:
    """Stop a command by a signal and continue with it; return what came of it, and what is wrong.

    ``known`` has what commands do that nothing disturbs.
    """
    kind = [*COMMANDS][number % len(COMMANDS)]
    one, sent, own = COMMANDS[kind], getattr(signal, f"SIG{name}"), folder / "own"
    if kind not in known and (one.ends or one.file):
        known[kind] = undisturbed(kind, folder)
    before, after, truth = known.get(kind, Undisturbed(0.0, SECONDS_OF_A_PAGE, {}))
    if not one.ends:
        after = SECONDS_OF_A_PAGE
    own.mkdir()
    child, said = started(one.words, own)
    if one.file and chance.random() >= EARLY:
        until_written(own / one.file, said)
        time.sleep(chance.uniform(0, 1.05 * after))
    else:
        time.sleep(chance.uniform(0, before if one.file else 1.05 * after))
    os.kill(child, sent)
    code, text = ended(child, said, SECONDS_TO_END)
    codes = {-sent} if name == "KILL" else {128 + sent}
    # Ctrl-C is how a page is closed, so it is no interruption once the page is open.
    codes |= {0} if one.ends or name == "INT" else set()
    wrong = []
    if code not in codes:
        wrong.append(f"ended with {code}: {text}")
    if code > 0 and "interrupted" not in text:
        wrong.append(f"says {text!r}")
    if "Traceback" in text or "orphan" in text:
        wrong.append(text)
    path = own / one.file if one.file else own / "none"
    where = "whole" if code == 0 else "stopped on the way" if path.exists() else "before its file"
    if path.exists():
        wrong += [str(damage) for damage in inspect(path, check=True).damages]
        if name != "KILL" and kind.startswith("run") and (lost := ticks_lost(path)):
            wrong.append(lost)
    if (own / one.wrote).is_file() and (own / one.wrote).read_bytes() != truth[one.wrote]:
        wrong.append(f"{one.wrote} was written in part")
    if one.file or one.ends:
        words = [word for word in one.words if word != "--view"]
        words += one.again if path.exists() or not one.file else ()
        if "continue with: " in text and one.ends:
            words = shlex.split(text.rpartition("continue with: ")[2].splitlines()[0])[1:]
        # Leftovers of a process that was killed are removed when it continues.
        code, text = ended(*started(words, own))
        if code:
            wrong.append(f"continues with {code}: {text}")
        elif (here := results_of(own)) != truth:
            differs = [key for key in {**truth, **here} if here.get(key) != truth.get(key)]
            wrong.append(f"differs in {differs}")
    shutil.rmtree(own)
    said_of_it = f"{name} {number}: {' '.join(one.words[:4])}: {'; '.join(wrong)}"
    return f"{kind} {where}", said_of_it if wrong else ""


EARLY = 0.25
"""Share of the signals that are sent before there is a file, or while it is made."""


def until_written(path: Path, said: int) -> float:
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
    import societies.study
    import societies.sweep
    import societies.workload.running.run  # noqa: F401

    seen, wrong, known = Counter[str](), [], {}
    with tempfile.TemporaryDirectory() as folder:
        make_inputs(Path(folder))
        for number in numbers:
            chance = random.Random(f"{seed} {name} {number}")
            where, what = stop_one(number, name, chance, Path(folder), known)
            seen[where] += 1
            wrong += [what] * bool(what)
    return seen, wrong


def stop_many(
    name: str, count: int, jobs: int, seed: int, only: Sequence[str]
) -> tuple[Counter[str], list[str]]:
    """Stop ``count`` commands by a signal, in several processes."""
    chosen = [number for number, kind in enumerate(COMMANDS) if kind in (only or COMMANDS)]
    rounds = range(-(-count // len(chosen)))
    numbers = [k * len(COMMANDS) + number for k in rounds for number in chosen][:count]
    parts = [[*numbers[job::jobs]] for job in range(jobs)]
    seen, wrong = Counter[str](), []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for one, what in pool.map(stop_some, [name] * jobs, parts, [seed] * jobs):
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
    parser.add_argument("--only", action="append", choices=[*COMMANDS], help="stop only these")
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
        seen, wrong = stop_many(what, options.count, options.jobs, options.seed, options.only or ())
    else:
        with tempfile.TemporaryDirectory() as folder:
            seen, wrong = kill(options.kills, options.seed, Path(folder), what)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{what}, seed {options.seed}: {dict(sorted(seen.items()))}", end="; ")
    print(f"{len(wrong)} wrong; {time.perf_counter() - began:.0f} s")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
