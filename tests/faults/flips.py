"""Flip bytes of result files at random: is every flip reported, and nothing silently wrong?

A flip counts as *reported* if `societies info --check` calls the file damaged and a run refuses to
go on with it or says what it found, as *not counted* if it is in what a killed run has left behind
unfinished, and as *unused* if everything that the file says is the same as before. Anything else is
wrong: a value that changed unnoticed, an error that is not meant for users, a crash.

    python tests/faults/flips.py --flips 1000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import societies
from societies import config_from_dict
from societies.errors import OutputError, SocietiesError
from societies.output import ResultFile, inspect, open_results

CONFIG = {
    "workload": "economy",
    "agents": 4,
    "resources": 6,
    "days": 12,
    "devices": "tools",
    "device": {"resources_in_tool": 3},
    "trading": {"menu_size": 6},
    "groups": [{"name": "one", "share": 0.5}, {"name": "other", "share": 0.5}],
    "record": {
        "agent": 4,
        "agent_resource": 6,
        "checkpoint": 5,
        "trade_log": {"days": [3, 11]},
        "input_output": True,
    },
}


PLATE = {
    "workload": "laplace",
    "side": 8,
    "steps": 60,
    "tolerance": 5e-3,
    "check_every": 3,
    "record": {"series": 2, "detail": 8, "checkpoint": 5},
}


class Stop(Exception):
    """Ends a run in the middle."""


def make_files(folder: Path) -> list[Path]:
    """Run an economy to its end, one that stops between two checkpoints, and a plate.

    The plate ends when it meets its tolerance, so that the file has room that is not written.
    """
    config = config_from_dict(CONFIG)
    whole, stopped, ended = (folder / f"{name}.h5" for name in ("whole", "stopped", "ended"))
    societies.run(config, device="reference", out=whole)

    report = societies.run(config_from_dict(PLATE), device="reference", out=ended)
    assert report.ended and report.last_tick < 50

    def stop(day: int, days: int) -> None:
        if day >= 8:
            raise Stop

    try:
        societies.run(config, device="reference", out=stopped, progress=stop)
    except Stop:
        return [whole, stopped, ended]
    raise AssertionError("the run was to stop")


def contents(path: Path) -> dict[str, object]:
    """Return everything that a file says to those who use it."""
    said: dict[str, object] = {}
    found = inspect(path)
    for events in (None, *(row[0][8:-1] for row in found.rows if row[0].startswith("events '"))):
        with open_results(path, events=events) as data:
            said[f"attributes of {events}"] = str(data.attrs)
            for name, variable in data.variables.items():
                said[f"{events} {name}"] = (variable.values.tolist(), str(variable.attrs))
    with ResultFile.resume(path) as file:
        checkpoint = file.latest_checkpoint()
        said["committed"], said["sessions"] = file.ticks_committed, file.sessions
    assert checkpoint is not None
    said["checkpoint"] = (checkpoint[0], {k: v.tobytes() for k, v in checkpoint[1].items()})
    return said


def outcome(path: Path, before: str) -> tuple[str, str]:
    """Return what a flip led to, and what was said of it."""
    try:
        found = inspect(path, check=True)
    except OutputError as error:
        reported, lines = "damaged: " in str(error), str(error)
    else:
        reported, lines = bool(found.damages), "; ".join(map(str, found.damages))
        half = [value for label, value in found.rows if label == "half written"]
        if half and not reported:
            return "not counted", half[0]
    try:
        with ResultFile.resume(path) as file:
            refused = bool(file.damages)
    except OutputError as error:
        refused = "damaged: " in str(error) and len(str(error).splitlines()) <= 2
    if reported and refused:
        return "reported", lines
    if reported or refused:
        return "wrong", f"info {reported}, resume {refused}: {lines}"
    return ("unused", "") if repr(contents(path)) == before else ("wrong", "other contents")


def flip_bytes(path: Path, flips: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Flip one byte at a time in copies of a file; return the outcomes, and what went wrong."""
    chance, whole = random.Random(seed), path.read_bytes()
    copy = path.with_name(f"flipped-{path.name}")
    copy.write_bytes(whole)
    before = repr(contents(copy))
    outcomes: Counter[str] = Counter()
    wrong = []
    for _ in range(flips):
        at, change = chance.randrange(len(whole)), chance.randrange(1, 256)
        flipped = bytearray(whole)
        flipped[at] ^= change
        copy.write_bytes(flipped)
        try:
            kind, said = outcome(copy, before)
        except Exception as error:
            kind = "wrong"
            said = f"{type(error).__name__}: {error}"
            if isinstance(error, SocietiesError):
                said = f"reported only later: {error}"
        if kind == "wrong":
            wrong.append(f"{path.name}, byte {at} changed by {change:#04x}: {said}")
        outcomes[kind] += 1
    return outcomes, wrong


def main() -> int:
    """Make the files, flip, print the summary; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*", type=Path, help="default: two economies and a plate")
    options = parser.parse_args()
    began, total, failures = time.perf_counter(), Counter[str](), []
    with tempfile.TemporaryDirectory() as folder:
        files = options.files or make_files(Path(folder))
        for number, path in enumerate(files):
            count = options.flips // len(files) + (number < options.flips % len(files))
            copied = Path(folder) / f"{number}-{path.name}"
            copied.write_bytes(path.read_bytes())
            outcomes, wrong = flip_bytes(copied, count, options.seed + number)
            print(f"{path.name}: {copied.stat().st_size} bytes, {count} flips: {dict(outcomes)}")
            total, failures = total + outcomes, failures + wrong
    print(*failures, sep="\n", end="\n" if failures else "")
    print(f"{sum(total.values())} flips, seed {options.seed}: {dict(total)}", end="; ")
    print(f"{len(failures)} wrong; {time.perf_counter() - began:.0f} s")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
