"""Flip bytes of result files and studies at random: is every flip reported, none silently wrong?

A flip counts as *reported* if `societies info --check` calls the file damaged, a run refuses to
continue it or says what it found, and `open_results` refuses to read what is damaged; as *not
counted* if it is in what a killed run has left behind unfinished, and as *unused* if everything
that the file says is the same as before. Anything else is wrong: a value that changed unnoticed, an
error that is not meant for users, a crash.

Of a study a flip is reported if `open_results` and `--merge` refuse it as well, and if a sweep that
continues refuses it or computes the runs again that are damaged, and leaves all others as they
were. Half of the flips of a study are in any byte, the others in any byte of a dataset chosen
before.

    python tests/faults/flips.py --flips 1000 --seed 1
    python tests/faults/flips.py --flips 1000 --seed 1 --what studies
    python tests/faults/flips.py --flips 150 --seed 1 --what bam
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import h5py

import societies
from societies import config_from_dict, sweep
from societies.errors import OutputError, SocietiesError
from societies.output import ResultFile, inspect, open_results
from societies.output.opening import is_study
from societies.output.study import StudyFile

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


BAM = {
    "workload": "bam",
    "firms": 6,
    "households": 20,
    "banks": 3,
    "quarters": 12,
    "replicates": 2,
    "record": {"detail": 4, "checkpoint": 5},
}
"""Economies with money, their states at the end of each year."""

BAM_STUDY = {
    "base": {**BAM, "replicates": 1},
    "vary": {"grid": {"policy_rate": [0.02, 0.04], "seed": [1, 2]}},
    "replicates": 2,
    "record": {"final": ["cash"]},
}

STUDY = {
    "base": {
        "workload": "economy",
        "agents": 4,
        "resources": 4,
        "days": 3,
        "seed": 2**63 + 1,
        "utility": {"min_marginal": 2.5},
        "extraction": {"max_experience": 150.0},
        "trading": {"rounds": 2, "menu_size": 3},
        "record": {"network": [3]},
    },
    "vary": {"grid": {"utility.exponent": [2, 3]}, "zip": {"day_length": [200, 400]}},
    "replicates": 2,
    "record": {"variables": ["gini", "deals"], "final": ["held"]},
}
"""Eight runs with who traded with whom."""


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


def make_bam(folder: Path) -> list[Path]:
    """Run two economies with money to their end, two that stop on the way, and a study of eight."""
    whole, stopped, study = (folder / f"{name}.h5" for name in ("bam", "stopped", "study"))
    societies.run(config_from_dict(BAM), device="reference", out=whole)
    sweep.run(BAM_STUDY, out=study, device="reference", batch=4)

    def stop(quarter: int, quarters: int) -> None:
        if quarter >= 8:
            raise Stop

    try:
        societies.run(config_from_dict(BAM), device="reference", out=stopped, progress=stop)
    except Stop:
        return [whole, stopped, study]
    raise AssertionError("the run was to stop")


def make_studies(folder: Path) -> list[Path]:
    """Carry out a sweep, stop one in the middle in which a run has failed, and compute a part."""
    finished, unfinished, part = (folder / f"{name}.h5" for name in ("finished", "stopped", "part"))
    sweep.run(STUDY, out=finished, device="reference", batch=3)
    sweep.run(STUDY, out=part, device="reference", part=(1, 2))

    def stop(progress: sweep.report.Progress) -> None:
        if progress.done >= 4:
            raise Stop

    try:
        sweep.run(STUDY, out=unfinished, device="reference", batch=2, progress=stop)
    except Stop:
        with StudyFile.resume(unfinished) as file:
            assert (file.status == 1).sum() == 4
            file.fail([6], "the device has lost its mind", 0.5)
        return [finished, unfinished, part]
    raise AssertionError("the sweep was to stop")


def study_contents(path: Path) -> dict[str, object]:
    """Return everything that a study says, run by run where it is of the runs."""
    said: dict[str, object] = {}
    with open_results(path) as data:
        said["attributes"] = str(data.attrs)
        status = data.status.values.tolist()
        for name, variable in data.variables.items():
            values = variable.values
            said[str(name)] = (repr(values.tolist()), str(variable.attrs))
            if variable.dims[:1] == ("run",):
                for run in range(len(status)):
                    said[f"run {run}: {name}"] = repr(values[run])
    with StudyFile.read(path) as file:
        said["read"] = repr((file.points, file.definition, file.attributes, file.errors()))
        tables = [*file.events]
    for table in tables:
        with open_results(path, events=table) as rows:
            for name, column in rows.data_vars.items():
                said[f"{table} {name}"] = repr(column.values.tolist())
    return said


def study_outcome(path: Path, before: dict[str, object]) -> tuple[str, str]:
    """Return what a flip of a study led to, and what was said of it."""
    lines, half = "", ""
    try:
        found = inspect(path, check=True)
    except OutputError as error:
        lines = str(error)
        assert "damaged" in lines
    else:
        lines = "; ".join(map(str, found.damages))
        half = next((value for label, value in found.rows if label == "half written"), "")
    if not lines:
        if study_contents(path) != before:
            return "wrong", "other contents"
        with StudyFile.resume(path) as file:
            assert not file.damaged and not file.mended
        return ("not counted", half) if half else ("unused", "")
    for use in (study_contents, lambda path: sweep.merge([path], path.with_suffix(".merged"))):
        try:
            use(path)
        except OutputError as error:
            if "damaged" not in str(error) or len(str(error).splitlines()) > 2:
                return "wrong", f"info {lines}, then: {error}"
        else:
            return "wrong", f"info {lines}, but it was read"
    try:
        with StudyFile.resume(path) as file:
            again = [f"run {row}:" for row in file.damaged]
            if not file.damaged and not file.mended:
                return "wrong", f"info {lines}, not on resuming"
    except OutputError as error:
        if "damaged" not in str(error):
            return "wrong", f"info {lines}, on resuming: {error}"
        return "reported", lines
    after = study_contents(path)
    for name, value in before.items():
        of_run = name.startswith("run ") and not name.startswith(tuple(again))
        if (of_run or not again) and after[name] != value:
            return "wrong", f"info {lines}, after resuming another {name}"
    return "reported", lines


def contents(path: Path) -> dict[str, str]:
    """Return everything that a file says to those who read it."""
    said: dict[str, str] = {}
    found = inspect(path)
    for events in (None, *(row[0][8:-1] for row in found.rows if row[0].startswith("events '"))):
        with open_results(path, events=events) as data:
            said[f"attributes of {events}"] = str(data.attrs)
            for name, variable in data.variables.items():
                said[f"{events} {name}"] = repr((variable.values.tolist(), str(variable.attrs)))
    return said


def state(path: Path) -> str:
    """Return what a file says to a run that continues with it."""
    with ResultFile.resume(path) as file:
        checkpoint = file.latest_checkpoint()
        assert checkpoint is not None
        arrays = {name: one.tobytes() for name, one in checkpoint[1].items()}
        return repr((file.ticks_committed, file.sessions, checkpoint[0], arrays))


def everything(path: Path) -> dict[str, str]:
    """Return everything that a file says."""
    return {**contents(path), "state": state(path)}


def outcome(path: Path, before: dict[str, str]) -> tuple[str, str]:
    """Return what a flip led to, and what was said of it."""
    try:
        found = inspect(path, check=True)
    except OutputError as error:
        reported, lines = "damaged" in str(error), str(error)
    else:
        reported, lines = bool(found.damages), "; ".join(map(str, found.damages))
        half = [value for label, value in found.rows if label == "half written"]
        if half and not reported:
            same = contents(path).items() <= before.items()
            return ("not counted", half[0]) if same else ("wrong", f"{half[0]}, but it was read")
    try:
        with ResultFile.resume(path) as file:
            refused = bool(file.damages)
    except OutputError as error:
        refused = "damaged" in str(error) and len(str(error).splitlines()) <= 2
    if reported != refused:
        return "wrong", f"info {reported}, resume {refused}: {lines}"
    try:
        same = contents(path).items() <= before.items()
    except OutputError as error:
        same = reported and "damaged" in str(error)
    if not same or (not reported and state(path) != before["state"]):
        return "wrong", f"other contents were read: {lines}"
    return ("reported", lines) if reported else ("unused", "")


def flip_bytes(path: Path, flips: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Flip one byte at a time in copies of a file; return the outcomes, and what went wrong."""
    chance, whole, study = random.Random(seed), path.read_bytes(), is_study(path)
    says, judge = (study_contents, study_outcome) if study else (everything, outcome)
    pieces = datasets(path) if study else []
    copy = path.with_name(f"flipped-{path.name}")
    copy.write_bytes(whole)
    before: Any = says(copy)
    outcomes: Counter[str] = Counter()
    wrong = []
    for _ in range(flips):
        first, end = 0, len(whole)
        if pieces and chance.random() < 0.5:
            first, end = chance.choice(pieces)
        at, change = chance.randrange(first, end), chance.randrange(1, 256)
        flipped = bytearray(whole)
        flipped[at] ^= change
        copy.write_bytes(flipped)
        try:
            kind, said = judge(copy, before)
        except Exception as error:
            kind = "wrong"
            said = f"{type(error).__name__}: {error}"
            if isinstance(error, SocietiesError):
                said = f"reported only later: {error}"
        if kind == "wrong":
            wrong.append(f"{path.name}, byte {at} changed by {change:#04x}: {said}")
        outcomes[kind] += 1
    return outcomes, wrong


def datasets(path: Path) -> list[tuple[int, int]]:
    """Return where the values of each dataset of a file begin and end."""
    found: list[tuple[int, int]] = []

    def note(_: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and item.id.get_offset() is not None:
            offset = item.id.get_offset()
            found.append((offset, offset + item.id.get_storage_size()))

    with h5py.File(path) as file:
        file.visititems(note)
    return found


MAKERS = {"runs": make_files, "studies": make_studies, "bam": make_bam}


def main() -> int:
    """Make the files, flip, print the summary; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--what", choices=[*MAKERS], default="runs")
    parser.add_argument("files", nargs="*", type=Path, help="default: two economies and a plate")
    options = parser.parse_args()
    began, total, failures = time.perf_counter(), Counter[str](), []
    with tempfile.TemporaryDirectory() as folder:
        files = options.files or MAKERS[options.what](Path(folder))
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
