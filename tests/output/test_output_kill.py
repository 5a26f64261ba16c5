"""SIGKILL at random moments: every committed day stays, and a resumed run ends with the same bytes.

This file is also the program that is killed: ``python test_output_kill.py FILE``.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from societies.output import Coordinate, ResultFile, Variable, open_results
from societies.output.layout import declare

SOCIETIES, AGENTS, DAYS, EVERY, KILLS = 3, 1000, 240, 3, 24
SEED = int(os.environ.get("SOCIETIES_TEST_SEED", "20240611"))

COORDINATES = [
    Coordinate("society", np.arange(SOCIETIES)),
    Coordinate("day", np.arange(1, DAYS + 1), "day"),
    Coordinate("agent", np.arange(AGENTS)),
]
VARIABLES = [
    Variable("mean", ("society", "day"), np.float64, "1", "mean of the state"),
    Variable("parity", ("society", "day"), np.int32, "1", "odd numbers in the state"),
    Variable("all", ("society", "day", "agent"), np.uint64, "1", "the state"),
]
DTYPES = {variable.name: variable.dtype for variable in VARIABLES}
STATE = {
    "x": ((SOCIETIES, AGENTS), np.uint64),
    "x_before": ((SOCIETIES, AGENTS), np.uint64),
    "sums": ((SOCIETIES,), np.float64),
}


def first_state():
    x = np.arange(SOCIETIES * AGENTS, dtype=np.uint64).reshape(SOCIETIES, AGENTS)
    return {"x": x, "x_before": x, "sums": np.zeros(SOCIETIES)}


def next_state(state):
    """Step a recurrence in which every day depends on the whole state of the day before."""
    x = state["x"] * np.uint64(6364136223846793005) + np.roll(state["x_before"], 1)
    return {"x": x, "x_before": state["x"], "sums": state["sums"] + x.mean(axis=1)}


def series(state):
    parity = (state["x"] & np.uint64(1)).sum(axis=1).astype(np.int32)
    return {"mean": state["sums"], "parity": parity, "all": state["x"]}


def write_all(path):
    """Make or resume the file and run to the last day, as fast as possible."""
    if path.exists():
        file = ResultFile.resume(path)
        day, state = file.latest_checkpoint() or (0, first_state())
    else:
        declared = {"coordinates": COORDINATES, "variables": VARIABLES, "state": STATE}
        file = ResultFile.create(path, declare(**declared, attributes={"recurrence": "lcg"}))
        day, state = 0, first_state()
    with file:
        file.log_session(f"from day {day}")
        while day < DAYS:
            day, state = day + 1, next_state(state)
            for name, values in series(state).items():
                file.write(name, values, day=day - 1)
            file.commit(day)
            if day % EVERY == 0:
                file.checkpoint(day, state)


def start(path):
    root = str(Path(__file__).resolve().parents[2])  # for a checkout that is not installed
    process = subprocess.Popen(
        [sys.executable, __file__, path],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert process.stdout.readline() == b"ready\n"
    return process


def whole_run():
    days, state = [first_state()], first_state()
    for _ in range(DAYS):
        state = next_state(state)
        days.append(state)
    return days


def assert_committed_days_and_checkpoint(path, days):
    """Return the days committed, after comparing everything that the file promises."""
    import xarray as xr  # here, so that the program that is killed starts soon

    with xr.open_dataset(path) as data:
        committed = int(data.ticks_committed)
        for name in DTYPES:
            expected = [series(days[day])[name] for day in range(1, committed + 1)]
            if expected:
                assert_array_equal(
                    data[name].isel(day=slice(committed)).values, np.stack(expected, axis=1)
                )
    with open_results(path) as data:
        assert data.sizes["day"] == committed
    with ResultFile.resume(path) as file:
        assert file.ticks_committed == committed
        found = file.latest_checkpoint()
    if found is None:
        assert committed <= EVERY
    else:
        day, state = found
        # The checkpoint of a day follows its commit: at most one interval is to be done again.
        assert committed - EVERY <= day <= committed
        assert state.keys() == STATE.keys()
        for name in STATE:
            assert_array_equal(state[name], days[day][name])
    return committed


def raw_series(path):
    with h5py.File(path) as file:
        return {name: file[name][()].tobytes() for name in (*DTYPES, "ticks_committed", "day")}


def wait_for_day(process, path, day):
    """Return when the day is committed or the process has ended: no matter how fast it is."""
    place = None
    while process.poll() is None:
        if place is None and path.exists():  # nothing in the file moves once it has its name
            with h5py.File(path, locking=False) as file:
                place = file["ticks_committed"].id.get_offset()
        if place is not None:
            with path.open("rb") as file:
                file.seek(place)
                if int.from_bytes(file.read(8), "little", signed=True) >= day:
                    return
        time.sleep(0.001)


@pytest.mark.thorough
def test_killed_at_random_moments_and_resumed(tmp_path):
    moment = random.Random(SEED)
    days = whole_run()
    uninterrupted = tmp_path / "uninterrupted.h5"
    write_all(uninterrupted)
    expected = raw_series(uninterrupted)

    path = tmp_path / "killed.h5"
    committed, kills, kills_with_days, finished = 0, 0, 0, 0
    while kills < KILLS or path.exists() or not finished:
        process = start(path)
        if kills < KILLS:
            if moment.random() < 0.75:  # the others at the start, where the file is made or opened
                wait_for_day(process, path, committed + moment.randint(1, DAYS // 4))
            time.sleep(moment.uniform(0, 0.01))
            process.send_signal(signal.SIGKILL)
        process.stdout.close()
        code = process.wait()
        assert code in (0, -signal.SIGKILL)
        if code:
            kills += 1
        if path.exists():
            committed = assert_committed_days_and_checkpoint(path, days)
            kills_with_days += bool(code and 0 < committed < DAYS)
            if code == 0:
                assert raw_series(path) == expected
                path.unlink()
                committed, finished = 0, finished + 1
    assert kills_with_days >= 5, kills_with_days
    # Killed while being made, a file has only its temporary name.
    assert {p.suffix for p in tmp_path.iterdir()} <= {".h5", ".partial"}


if __name__ == "__main__":
    print("ready", flush=True)
    write_all(Path(sys.argv[1]))
