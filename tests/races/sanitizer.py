"""What does NVIDIA's compute-sanitizer say of an economy on a GPU, if it sees OpenCL at all?

    python tests/races/sanitizer.py [--days 2] [--limit 120] [--device gpu]

The tool is made for CUDA, and what it does with OpenCL is not documented. So it is first given two
kernels with a mistake, a write beyond an array and a race in local memory. Where it misses these,
its silence says nothing: that is printed, and the script ends with 3. Otherwise a small economy
with all devices runs under each of its checks, and the script ends with 1 if anything is found.
Each run is stopped after the limit, in seconds.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MISTAKE = """
import sys
from pathlib import Path
import numpy as np
from societies.opencl import Program, choose_device
device = choose_device(sys.argv[1])
file = Path(sys.argv[2])
file.write_text('''
kernel void beyond(global int *x) { x[get_global_id(0) + 100000000] = 1; }
kernel void race(global int *x) {
    local int shared[64];
    shared[get_local_id(0)] = get_local_id(0);
    x[get_local_id(0)] = shared[(get_local_id(0) + 33) % 64];
}
''')
program, x = Program(device, file), device.zeros(64, np.int32)
getattr(program, sys.argv[3])(global_size=64, local_size=64, x=x)
print(x.get().sum())
"""
SMALL = """workload: economy
agents: 13
resources: 7
days: {days}
seed: 5
replicates: 3
devices: all
device: {{resources_in_tool: 4, components: 3}}
invention: {{tool_probability: 0.005, device_probability: 0.05}}
"""
MISTAKES = {"memcheck": "beyond", "racecheck": "race"}
NOTHING_SEEN = "terminated before first instrumented API call"
CHECKS = ("memcheck", "racecheck", "synccheck", "initcheck")
SUMMARY = re.compile(r"(?:ERROR SUMMARY: |RACECHECK SUMMARY: )(\d+)")


def under(check: str, command: list[str], limit: float, folder: Path) -> tuple[int | None, str]:
    """Return the errors that a check counts while a command runs, None if it does not say."""
    tool = ["compute-sanitizer", "--tool", check, "--target-processes", "all"]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": path, "SOCIETIES_CACHE_DIR": str(folder)}
    with subprocess.Popen(
        [*tool, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        cwd=folder,
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the tool and what it runs
            return None, f"stopped after {limit:.0f} s"
    found = SUMMARY.findall(said)
    lines = [row for row in said.splitlines() if row.startswith("=========")]
    return (int(found[-1]) if found else None), "\n".join(lines[-6:]) or said[-300:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--days", type=int, default=2)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds of each run")
    parser.add_argument("--device", default="gpu")
    options = parser.parse_args()
    if shutil.which("compute-sanitizer") is None:
        print("compute-sanitizer is not on the PATH: it comes with the CUDA toolkit")
        return 3
    wrong, blind = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "small.yaml").write_text(SMALL.format(days=options.days))
        for check in CHECKS:
            if check in MISTAKES:
                planted = [options.device, str(folder / "mistake.cl"), MISTAKES[check]]
                command = [sys.executable, "-c", MISTAKE, *planted]
                errors, said = under(check, command, options.limit, folder)
                if not errors:
                    print(f"{check}: misses a planted mistake, so it does not see OpenCL\n{said}")
                    blind += 1
                    continue
            command = [sys.executable, "-m", "societies", "run", "small.yaml"]
            command += ["--device", options.device, "--out", f"{check}.h5"]
            errors, said = under(check, command, options.limit, folder)
            blind += NOTHING_SEEN in said
            wrong += errors != 0 and NOTHING_SEEN not in said
            print(f"{check}: {'no count' if errors is None else errors} of errors\n{said}")
    return 1 if wrong else 3 if blind else 0


if __name__ == "__main__":
    sys.exit(main())
