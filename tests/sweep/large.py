"""A study of 1000 runs: is it the same if it is killed, divided among workers, or among GPUs?

A script, because it takes minutes: 200 points with 5 replicates of 8 agents, 8 resources and 60
days. The study is compared with one that was not disturbed: all variables of all runs, bit by bit.

    python tests/sweep/large.py killed            # killed twice by SIGKILL, resumed twice
    python tests/sweep/large.py dask              # two workers of Dask, one of them killed
    python tests/sweep/large.py gpus --points 2000 --agents 24 --days 100 --seconds 240

The last one computes with all GPUs of the type that ``--device gpu`` takes, one process for each,
and with the first of them alone; ``--seconds`` ends it, with exit code 1, if it takes longer.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import h5py
import yaml
from studies import same
from test_cluster import scheduler, wait_for_workers, worker

from societies import sweep
from societies.workload.running.devices import local_devices


def definition(options):
    """Return the sweep: all its points share a program."""
    size = {"agents": options.agents, "resources": options.agents, "days": options.days}
    keys = {
        "utility.exponent": {"low": 2, "high": 3},
        "trading.min_surplus": {"low": 0.05, "high": 1},
        "day_length": {"low": 400, "high": 700},
    }
    return {
        "base": {"workload": "economy", **size},
        "vary": {"latin_hypercube": {"points": options.points, "seed": 1, "keys": keys}},
        "replicates": 5,
        "record": {"final": ["held"]},
    }


def computed(options, path, **more):
    """Compute a study, print what it took, and return the report."""

    def look(progress):
        if time.perf_counter() - options.began > options.seconds:
            sys.exit(f"stopped: it takes longer than {options.seconds:g} seconds")
        then(progress)

    then = more.pop("progress", lambda progress: None)
    report = sweep.run(definition(options), out=path, progress=look, **more)
    assert not report.failures and not report.pending
    runs = f"{report.computed} of {report.runs} runs computed in {report.seconds:.1f} s"
    print(f"{path.stem}: {runs} on {'; '.join(report.devices)}", flush=True)
    return report


def done(path):
    """Return how many runs are done, while another process writes them."""
    with h5py.File(path, locking=False) as file:
        return int((file["status"][...] == 1).sum())


def killed(options, folder):
    """Kill the command line twice, and resume twice."""
    text, path = folder / "study.yaml", folder / "killed.h5"
    text.write_text(yaml.safe_dump(definition(options), sort_keys=False))
    words = [sys.executable, "-m", "societies", "sweep", str(text), "--out", str(path)]
    words += ["--device", options.device, "--batch", "50"]
    total = 5 * options.points
    for before, more in ((0, []), (total // 3, ["--resume"])):
        process = subprocess.Popen([*words, *more], stderr=subprocess.DEVNULL)
        while process.poll() is None and not (path.exists() and done(path) > before):
            time.sleep(0.02)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        print(f"killed with {done(path)} of {total} runs done", flush=True)
    computed(options, path, device=options.device, resume=True)
    return path


def dask(options, folder):
    """Compute by two workers of a scheduler, one of which is killed."""
    dead = []
    with ExitStack() as stack:
        _, address = stack.enter_context(scheduler())
        first, _ = (stack.enter_context(worker(address)) for _ in range(2))
        wait_for_workers(address, 2)

        def kill(progress):
            if progress.done >= options.points and not dead:
                dead.append(first.pid)
                os.kill(first.pid, signal.SIGKILL)
                print(f"killed a worker with {progress.done} runs done", flush=True)

        computed(
            options,
            folder / "dask.h5",
            device=options.device,
            scheduler=address,
            batch=25,
            progress=kill,
        )
    assert dead
    return folder / "dask.h5"


def gpus(options, folder):
    """Compute by all GPUs."""
    report = computed(options, folder / "gpus.h5", device="gpu")
    places = local_devices("gpu")
    print(f"{len(places)} GPUs: {', '.join(places)}")
    assert len(places) > 1, "there is only one GPU"
    assert report.devices
    return folder / "gpus.h5"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("how", choices=["killed", "dask", "gpus"])
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=3600)
    options = parser.parse_args()
    options.began = time.perf_counter()
    alone = local_devices("gpu")[0] if options.how == "gpus" else options.device
    with TemporaryDirectory() as name:
        folder = Path(name)
        other = {"killed": killed, "dask": dask, "gpus": gpus}[options.how](options, folder)
        computed(options, folder / "straight.h5", device=alone)
        same(other, folder / "straight.h5")
        with sweep.open_study(other) as study:
            print(f"equal in all {len(study.variables) - 1} variables but wall_time")


if __name__ == "__main__":
    main()
