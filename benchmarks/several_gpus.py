"""How much faster are studies and large runs on several GPUs of one host than on one?

    python benchmarks/several_gpus.py --out FOLDER [--gpus 1 2 4] [--seconds 530] [--only NAME ...]

Each measurement is a process of its own, with everything that a user waits for: starting, kernels
from the cache (two days before it build them), computing, and the complete file on the disk.

    small run    256 societies of economy/devices, `societies run`
    large run    --societies of economy/devices, --days, `societies run`; 8192 take ten minutes of
                 one H100 for 500 days, so that the curve is one of fewer
    small study  6000 runs, 24 agents, 24 resources, 100 days with trade
    large study  --runs runs, 24 agents, 24 resources, 300 days with trade
    whole study  100,000 of the same, on all GPUs alone
    whole run    8192 societies of economy/devices, 500 days, on all GPUs alone; only if named

A measurement on N GPUs sees only these (CUDA_VISIBLE_DEVICES) and has `--device gpu`, as most users
have, so that a study gives a GPU as many processes as it needs; with --devices it has that list.

None is begun that may not end within --seconds. Results must be the same on any number of devices:
each has the hash of the state, or of the results, and the script fails if they differ. Rows of
FOLDER/several-gpus.csv:

    share      speed-up, divided by the number of devices
    building   seconds to start processes and to build kernels or read them from the cache; of a
               study seconds outside of batches, in which devices have nothing to do (empty if
               several processes share a device)
    waiting    share of the other seconds in which the host had nothing to do but wait for devices;
               the rest is the host's: gathering, writing, checksums, the disk
    processor  processor seconds of all processes
    largest    GB of the process that took most of the host's memory

    python benchmarks/several_gpus.py --out FOLDER --draw TABLE [TABLE ...]

makes the figure of tables, several-gpus.png; the last one that measured something is drawn.

    python benchmarks/several_gpus.py --out FOLDER --devices 0:0 0:0,0:0 --societies 4 --days 20 \\
        --runs 40 --small 0.01

shows on a CPU that it works.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

FIELDS = (
    *("what", "copies", "days", "devices", "seconds", "speed_up", "share", "building", "waiting"),
    *("processor", "largest", "hash", "device", "cores"),
)
KEYS = {
    "utility.exponent": {"low": 2.0, "high": 3.0},
    "trading.min_surplus": {"low": 0.05, "high": 1.0},
    "day_length": {"low": 400.0, "high": 700.0},
}
REPLICATES = 5
GPUS = " GPUs"
WHOLE_STUDY, WHOLE_RUN = 100_000, 8192
GUESSED = {"small run": 60, "large run": 120, "small study": 30, "large study": 90}
"""Seconds that the first measurement of each may take, on one GPU; later ones follow from it."""


@dataclass(frozen=True)
class Job:
    """A measurement: its name, copies, days and devices, as the process that makes it gets them."""

    what: str
    copies: int
    days: int
    devices: str
    """A list of devices, or "2 GPUs"."""

    @property
    def count(self) -> int:
        gpus = self.devices.removesuffix(GPUS)
        return len(self.devices.split(",")) if gpus == self.devices else int(gpus)

    @property
    def device(self) -> str:
        """The option ``--device``."""
        return "gpu" if self.devices.endswith(GPUS) else self.devices

    @property
    def environment(self) -> dict[str, str]:
        """The environment of its process, with only its GPUs, and bytecode cached as by pip."""
        found = os.environ | {"PYTHONPYCACHEPREFIX": f"{gettempdir()}/several-gpus"}
        found.pop("PYTHONDONTWRITEBYTECODE", None)
        if self.device == "gpu":
            visible = found.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, range(self.count)))
            found["CUDA_VISIBLE_DEVICES"] = ",".join(visible.split(",")[: self.count])
        return found


def engine_seconds() -> list[float]:
    """Measure from now on how long the host waits for engines."""
    from societies.workload.running.batches import Batches
    from societies.workload.running.engines import DeviceEngine
    from societies.workload.running.several import Several

    total, depth = [0.0], [0]

    def timed(function: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            began, depth[0] = time.perf_counter(), depth[0] + 1
            try:
                return function(*given, **named)
            finally:
                depth[0] -= 1
                if not depth[0]:
                    total[0] += time.perf_counter() - began

        return call

    for one in (DeviceEngine, Batches, Several):
        for name in ("start", "run_ticks", "logs", "events", "arrays", "finish", "state"):
            setattr(one, name, timed(getattr(one, name)))
    return total


def run(job: Job, out: Path) -> dict[str, Any]:
    """Carry out `societies run`."""
    import societies

    waited = engine_seconds()
    overrides = [f"replicates={job.copies}", f"days={job.days}"]
    config = societies.load_config("economy/devices", overrides)
    report = societies.run(config, device=job.device, out=out)
    rest = report.wall_seconds - report.building_seconds
    return {
        "building": report.building_seconds,
        "waiting": min(1.0, waited[0] / rest),
        "hash": report.state_sha256[:16],
        "device": report.device,
    }


def study(job: Job, out: Path) -> dict[str, Any]:
    """Carry out `societies sweep`."""
    from societies import sweep

    keys = {"points": job.copies // REPLICATES, "seed": 1, "keys": KEYS}
    size = {"agents": 24, "resources": 24, "days": job.days}
    said = {
        "base": {"workload": "economy", **size},
        "vary": {"latin_hypercube": keys},
        "replicates": REPLICATES,
        "record": {"variables": ["gini", "utility", "units_traded"]},
    }
    report = sweep.run(said, device=job.device, out=out, yes=True)
    assert not report.failures and not report.pending, report
    within = report.launch_seconds / job.count
    shared = (
        within > report.seconds
    )  # several processes share a device, so that its waits are not known
    digest = hashlib.sha256()
    with sweep.open_study(out) as found:
        for name in said["record"]["variables"]:
            digest.update(found[name].values.tobytes())
    return {
        "building": "" if shared else report.seconds - within,
        "waiting": "" if shared else within / report.seconds,
        "hash": digest.hexdigest()[:16],
        "device": "; ".join(report.devices),
    }


def measured(job: Job) -> dict[str, Any]:
    """Carry out a measurement in a process of its own, and return a row."""
    with TemporaryDirectory() as folder:
        words = [job.what, str(job.copies), str(job.days), job.devices, f"{folder}/out.h5"]
        began = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, __file__, "--out", folder, "--one", *words],
            stdout=subprocess.PIPE,
            env=job.environment,
        ) as process:
            assert process.stdout is not None
            said = process.stdout.read()
            if process.wait():
                raise SystemExit(f"{job}: exit code {process.returncode}")
        seconds = time.perf_counter() - began
    return {"seconds": seconds, **json.loads(said.splitlines()[-1])}


def one(words: list[str]) -> None:
    """Carry out a measurement in this process, and print it."""
    job = Job(words[0], int(words[1]), int(words[2]), words[3])
    found = (study if job.what.endswith("study") else run)(job, Path(words[4]))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    found["processor"] = sum(one.ru_utime + one.ru_stime for one in used)
    found["largest"] = max(one.ru_maxrss for one in used) / 2**20
    print(json.dumps(found))


def jobs(options: argparse.Namespace) -> Iterator[list[Job]]:
    """Yield the measurements of each kind, with ever more devices."""
    devices, all_of_them = options.devices, options.devices[-1]
    small = options.small
    kinds = {
        "small run": (max(2, int(256 * small)), max(2, int(500 * small)), devices[:2]),
        "small study": (max(20, int(6000 * small)), max(2, int(100 * small)), devices),
        "large run": (options.societies, options.days, devices),
        "large study": (options.runs, max(2, int(300 * small)), devices),
        "whole study": (max(40, int(WHOLE_STUDY * small)), max(2, int(300 * small)), [all_of_them]),
        "whole run": (max(8, int(WHOLE_RUN * small)), max(2, int(500 * small)), [all_of_them]),
    }
    names = options.only or [name for name in kinds if name != "whole run"]
    for name in names:
        copies, days, places = kinds[name]
        yield [Job(name, copies, days, place) for place in places]


def rate_of(rows: list[dict[str, Any]], job: Job) -> float:
    """Return seconds a copy and day on one device, as measured before; 0 if not known."""
    like = [row for row in rows if row["what"].split()[-1] == job.what.split()[-1]]
    found = [row["seconds"] * row["devices"] / row["copies"] / row["days"] for row in like]
    return min(found, default=0.0)


def draw(tables: list[Path], out: Path) -> None:
    """Draw the speed-up by number of devices, of everything that was measured on one device too."""
    from matplotlib.figure import Figure

    last: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for table in tables:
        with table.open(newline="") as lines:
            measured = list(csv.DictReader(lines))
        for kind in {(row["what"], row["copies"], row["days"]) for row in measured}:
            own = [row for row in measured if (row["what"], row["copies"], row["days"]) == kind]
            if own[0]["devices"] == "1" and own[1:]:
                last[kind] = own
    figure = Figure((5.2, 3.6), layout="constrained")
    axes = figure.subplots()
    for kind, own in sorted(last.items()):
        model = re.search("NVIDIA ([A-Z]+[0-9]+)", own[0]["device"])
        label = f"{kind[0]}: {int(kind[1]):,} x {kind[2]} days{', ' + model[1] if model else ''}"
        at = [int(row["devices"]) for row in own]
        axes.plot(at, [float(row["speed_up"]) for row in own], "o-", label=label)
    most = max(int(row["devices"]) for own in last.values() for row in own)
    axes.plot([1, most], [1, most], color="0.6", linestyle="--", label="ideal")
    axes.set(xlabel="devices", ylabel="times as fast as one", xticks=range(1, most + 1))
    axes.legend(frameon=False)
    figure.savefig(out / "several-gpus.png", dpi=150)


def main() -> int:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--gpus", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--devices", nargs="+", help="lists of devices, in place of GPUs")
    parser.add_argument("--seconds", type=float, default=530.0)
    parser.add_argument("--societies", type=int, default=1024, help="of the large run")
    parser.add_argument("--days", type=int, default=500, help="of the large run")
    parser.add_argument("--runs", type=int, default=20_000, help="of the large study")
    parser.add_argument("--small", type=float, default=1.0, help="share of all other sizes")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--draw", type=Path, nargs="+", metavar="CSV", help="make the figure")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one)
        return 0
    if options.draw:
        draw(options.draw, options.out)
        return 0
    began = time.perf_counter()
    if options.devices is None:
        from societies.workload.running.devices import local_devices

        gpus = local_devices("gpu")
        print(f"{len(gpus)} GPUs: {', '.join(gpus)}", flush=True)
        options.devices = [f"{count}{GPUS}" for count in options.gpus if count <= len(gpus)]
    options.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    wrong = 0
    with (options.out / "several-gpus.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        for group in jobs(options):
            first_row: dict[str, Any] | None = None
            for job in group:
                guess = rate_of(rows, job) * job.copies * job.days / job.count + 10
                guess = guess if rows and guess > 10 else GUESSED.get(job.what, 100)
                left = options.seconds - (time.perf_counter() - began)
                if guess > left:
                    print(f"left out: {job}, about {guess:.0f} s of {left:.0f}", flush=True)
                    continue
                if job is group[0] or job.what.endswith("run"):
                    took = measured(replace(job, days=2))["seconds"]
                    print(f"kernels of {job.copies} on {job.count}: {took:.1f} s", flush=True)
                row = measured(job) | {"what": job.what, "copies": job.copies, "days": job.days}
                row |= {"devices": job.count, "cores": os.cpu_count()}
                first_row = first_row or row
                row["speed_up"] = first_row["seconds"] / row["seconds"]
                row["share"] = row["speed_up"] * first_row["devices"] / row["devices"]
                wrong += row["hash"] != first_row["hash"]
                rows.append(row)
                shown = {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()}
                table.writerow(shown)
                file.flush()
                with suppress(OSError):
                    os.fsync(file.fileno())
                print(*(f"{name}={shown[name]}" for name in FIELDS), flush=True)
    print(f"{time.perf_counter() - began:.0f} s; {wrong} results differ", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
