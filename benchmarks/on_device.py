"""Are the results on this GPU the known ones, and how fast is each workload on it?

    python benchmarks/on_device.py [PART ...] [--device gpu] [--seconds 540] [--out FOLDER] [--list]

`golden`, `checks`, `verified` and `policies` say whether the bits are right, and run side by side;
`models`, `economy`, `written`, `profiles`, `physics`, `raytracer`, `trees`, `games`, `studies`,
`several` (all GPUs of the host) and `starts` (what users wait for, on its CPU) are timed, one
command after another, when nothing else runs. Machines with a GPU are paid by the minute, so each
command has a limit, and none is begun after `--seconds`. Last lines are printed, the whole is in
FOLDER/log.txt; rows of the benchmarks are appended to FOLDER/*.csv. Exit code 1 if a command
failed or was left out.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAST_LINES, LAST_CHARACTERS = 8, 900

SCENARIOS = ("no_trade", "trade", "tools", "devices")
LONG = ("trade", "5x70", "3x300", "2x1024", "tools", "all devices", "devices, groups, shocks")
"""Golden hashes that take long, each for a process of its own."""

TREE = "benchmarks/ngtsg.py --device {device} --set pool=16000000 --append {out}/ngtsg.csv"
CHESS = f"{TREE} --config games/chess/search --set record.checkpoint=never --serial 222446"
CONNECT6 = f"{TREE} --set depth=5 --core depth=4 --serial 340622 --whole 0"
CHESS6 = f"{CHESS.replace(' 222446', ' 3270984')} --set depth=6 --core depth=5"
WHOLE = f"{TREE} --set depth=5 --set full_width=true --serial 340622 --whole 1048576"
SEARCH = "-m societies run games/{game}/search --device {device} --set pool=16000000 --profile"


@dataclass(frozen=True)
class Job:
    """A command for Python, as it stands after the word; `seconds` is the most that it may take."""

    name: str
    seconds: int
    command: str


def golden(parts: int = 6) -> Iterator[Job]:
    names = list(json.loads((ROOT / "tests/golden/hashes.json").read_text()))
    order = [n for n in LONG if n in names] + [n for n in names if n not in LONG]
    for part in range(parts):
        chosen = " ".join(shlex.quote(name) for name in order[part::parts])
        yield Job(
            f"golden hashes {part + 1} of {parts}",
            500,
            f"tests/golden/golden.py --device {{device}} {chosen}",
        )


def checks() -> Iterator[Job]:
    yield Job("tables", 200, "tests/parity/verify_all.py --device {device} --jobs 2 --only table")
    for name in ("quickstart", "melt"):
        yield Job(
            f"molecular dynamics, {name}",
            120,
            f"-m societies verify physics/molecular_dynamics/{name} --ticks 4 --device {{device}}",
        )
    yield Job(
        "laplace, ray tracer, studies",
        300,
        "-m pytest -q -p no:cacheprovider -p no:benchmark -m 'not (thorough or ci)' "
        "tests/physics/test_laplace_forms.py "
        "tests/physics/test_laplace_launches.py tests/physics/raytracer/test_fading.py "
        "tests/sweep/test_program_cache.py",
    )


def verified() -> Iterator[Job]:
    """Models of one file, compared with their own rules in plain Python."""
    for path in sorted((ROOT / "configs/models").glob("*/*.yaml")):
        name = path.relative_to(ROOT / "configs").with_suffix("").as_posix()
        ticks = 4 if name.endswith("baseline") else 6
        yield Job(name, 400, f"-m societies verify {name} --ticks {ticks} --device {{device}}")


def policies() -> Iterator[Job]:
    """Every policy, limits of trade, fans and measures of groups, compared with plain Python."""
    yield Job(
        "every policy",
        500,
        "tests/parity/verify_all.py --device {device} --jobs 8 --only 'every policy'",
    )


def models() -> Iterator[Job]:
    yield Job(
        "models of one file",
        200,
        "benchmarks/models.py --device {device} --who device --societies 1000 10000 --rounds 2 "
        "--out {out}/models.csv",
    )


def economy() -> Iterator[Job]:
    for scenario, seconds in zip(SCENARIOS, (40, 60, 120, 330), strict=True):
        yield Job(
            f"economy, {scenario}",
            seconds,
            "benchmarks/economy.py --device {device} --societies 1 16 256 1000 "
            f"--scenarios {scenario} --append {{out}}/economy.csv",
        )


def written() -> Iterator[Job]:
    yield Job(
        "1000 societies with their record written",
        200,
        "benchmarks/written.py --device {device} --scenarios devices --append {out}/written.csv",
    )


def profiles() -> Iterator[Job]:
    searches = {
        "chess": "--set batch.leaves=65536 --set batch.branches=16384",
        "connect6": "--set depth=5 --set batch.leaves=65536 --set batch.branches=16384",
    }
    for game, keys in searches.items():
        yield Job(
            f"phases of {game}",
            60,
            f"{SEARCH.replace('{game}', game)} {keys} --overwrite --out {{out}}/profile.h5",
        )


def physics() -> Iterator[Job]:
    yield Job(
        "plates",
        150,
        "benchmarks/plates.py --device {device} --sides 200 6000 --append {out}/plates.csv",
    )
    yield Job(
        "melt of 256,000 atoms",
        90,
        "benchmarks/molecular_dynamics.py --device {device} --cells 40 --steps 60 "
        "--append {out}/molecular_dynamics.csv",
    )
    yield Job(
        "gas of 340,736 atoms",
        60,
        "benchmarks/molecular_dynamics.py --device {device} --system seed --cells 44 --steps 1000 "
        "--append {out}/molecular_dynamics.csv",
    )
    yield Job(
        "limits, products and blurs",
        150,
        "benchmarks/physics.py limits matmul blur --device {device} --append {out}/physics.csv",
    )


def raytracer() -> Iterator[Job]:
    yield Job(
        "ray tracer",
        90,
        "benchmarks/raytracer.py --device {device} --size 700 --times 5 "
        "--append {out}/raytracer.csv",
    )
    yield Job(
        "glass and mirrors, 256 rays a pixel",
        60,
        "-m societies run physics/raytracer/glass --device {device} --set samples=16 --profile "
        "--overwrite --out {out}/glass.h5",
    )


def trees() -> Iterator[Job]:
    batches = "--batches 7680 16384 65536 262144"
    yield Job("chess, whole tree and alpha-beta", 120, f"{CHESS} --whole 262144 {batches}")
    keys = '--pruned "rounds=[1]" --pruned deepening=2'
    yield Job("chess, fewer nodes", 90, f"{CHESS} --whole 0 {keys} {batches}")
    few = '--pruned "rounds=[1]" --pruned "rounds_at=[1,2,4]" --pruned deepening=4'
    yield Job("chess, fewer supersteps", 90, f"{CHESS} --whole 10750 {few} --batches 65536 262144")
    few = '--pruned "rounds=[1]" --pruned "rounds_at=[1,2,3,4,5]" --pruned deepening=2'
    yield Job("six plies", 90, f"{CHESS6} --whole 0 {few} --batches 65536 262144")
    yield Job(
        "Connect6, fewer nodes",
        90,
        f'{CONNECT6} --pruned "rounds=[1,8]" --batches 7680 16384 65536',
    )
    few = '--pruned "rounds=[5]" --pruned deepening=2 --pruned aspiration=60'
    yield Job("Connect6, fewer supersteps", 90, f"{CONNECT6} {few} --batches 65536 262144")
    yield Job("Connect6, all 260 M nodes", 60, f"{WHOLE} --rate 650000 --batches")


def games() -> Iterator[Job]:
    yield Job(
        "moves of chess",
        60,
        "benchmarks/perft.py --device {device} --depths 7 --positions start "
        "--append {out}/perft.csv",
    )
    yield Job(
        "Kalah",
        90,
        "benchmarks/kalah.py --device {device} --depths 12 13 --repeats 1 --append {out}/kalah.csv",
    )
    yield Job(
        "Havannah",
        90,
        "benchmarks/havannah.py --device {device} --sizes 6 10 --seconds 2 --uct 100000 "
        "--limit 60 --append {out}/havannah.csv",
    )


def studies() -> Iterator[Job]:
    yield Job(
        "10,000 points of 10 replicates",
        300,
        "benchmarks/studies.py --points 10000 --replicates 10 --days 300 --agents 24 "
        "--device {device} --who sweep --rounds 1 --seconds 270 --append {out}/studies.csv",
    )


def several() -> Iterator[Job]:
    yield Job(
        "one, two and four GPUs",
        300,
        "benchmarks/several_gpus.py --only 'small run' 'small study' --seconds 280 "
        "--out {out}/several",
    )


def starts() -> Iterator[Job]:
    yield Job(
        "help, check, completion, first days, one society of 500 days",
        150,
        "benchmarks/starting.py {out}/starts.csv --times 3 --days",
    )


CHECKED = {"golden": golden, "checks": checks, "verified": verified, "policies": policies}
TIMED = {
    "models": models,
    "economy": economy,
    "written": written,
    "profiles": profiles,
    "physics": physics,
    "raytracer": raytracer,
    "trees": trees,
    "games": games,
    "studies": studies,
    "several": several,
    "starts": starts,
}


class Run:
    """Jobs carried out before an end, and what became of each."""

    def __init__(self, device: str, out: Path, seconds: float) -> None:
        self.device, self.out = device, out
        self.end = time.monotonic() + seconds
        self.log = out / "log.txt"
        self.failed: list[str] = []
        self._one = threading.Lock()
        self.environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([".", *filter(None, [os.environ.get("PYTHONPATH")])]),
            "PYTHONUNBUFFERED": "1",
            "SOCIETIES_TEST_DEVICE": device,
        }

    def carry_out(self, job: Job) -> None:
        """Run a job within its time; print how it ended and its last lines."""
        begun = time.monotonic()
        seconds = min(job.seconds, self.end - begun)
        text = ""
        if seconds < 3:
            became = "left out: no time"
        else:
            command = job.command.format(device=self.device, out=shlex.quote(str(self.out)))
            try:
                done = subprocess.run(
                    [sys.executable, *shlex.split(command)],
                    cwd=ROOT,
                    env=self.environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    timeout=seconds,
                )
                code, said = done.returncode, done.stdout
            except subprocess.TimeoutExpired as e:
                code, said = None, e.stdout or b""
            text = said.decode(errors="replace")
            ended = "stopped" if code is None else f"exit code {code}"
            became = f"{ended} after {time.monotonic() - begun:.0f} s"
        with self._one:
            if not became.startswith("exit code 0"):
                self.failed.append(job.name)
            with self.log.open("a") as log:
                log.write(f"## {job.name}: {became}\n{text}\n")
            last = "\n".join(text.splitlines()[-LAST_LINES:])[-LAST_CHARACTERS:]
            print(f"## {job.name}: {became}\n{last}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = CHECKED | TIMED
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts)}; default: all")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--seconds", type=float, default=540.0)
    parser.add_argument("--out", type=Path, default=Path("on_device"))
    parser.add_argument("--list", action="store_true", help="print the commands, run none")
    args = parser.parse_args()
    unknown = sorted(set(args.parts) - set(parts))
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; parts are {', '.join(parts)}")
    chosen = args.parts or list(parts)
    if args.list:
        for part in chosen:
            for job in parts[part]():
                print(f"{part}: {job.name}, {job.seconds} s: python {job.command}")
        return 0
    out = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    run = Run(args.device, out, args.seconds)
    for _, jobs in (item for item in TIMED.items() if item[0] in chosen):
        for job in jobs():
            run.carry_out(job)
    together = [job for part in chosen if part in CHECKED for job in CHECKED[part]()]
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2)) as pool:
        list(pool.map(run.carry_out, together))
    if run.failed:
        print(f"not done: {', '.join(run.failed)}", file=sys.stderr)
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
