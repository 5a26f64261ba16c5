"""How long does a user wait for a command, from its start to its end?"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from societies.errors import SocietiesError
from societies.words import counted
from societies.workload.checking.bench import with_copies
from societies.workload.declare.protocol import Setup
from societies.workload.running.devices import chosen_device
from societies.workload.running.several import devices_of, shown

CACHES = ("POCL_CACHE_DIR", "SOCIETIES_CACHE_DIR", "XDG_CACHE_HOME", "CUDA_CACHE_PATH")
"""Variables that say where kernels are cached."""

COMPLETION = {
    "_SOCIETIES_COMPLETE": "complete_bash",
    "COMP_CWORD": "2",
    "COMP_WORDS": "societies run eco",
}
"""Variables with which a shell asks for the end of a word."""


@dataclass(frozen=True)
class Wait:
    """How long a command took, in a process of its own.

    Attributes
    ----------
    device : name of the device or devices, empty for a command that computes nothing
    copies : number of copies that the command computes
    seconds : float, by the clock
    processor_seconds : float, all threads and processes of the command added up
    """

    wait: str
    device: str
    copies: int
    seconds: float
    processor_seconds: float


def waits(
    setup: Setup[Any, Any],
    words: Sequence[str],
    of_runs: Sequence[str],
    *,
    device: str,
    copies: Sequence[int] | None,
    repeats: int,
) -> Iterator[Wait]:
    """Yield what a user of a configuration waits for, each wait `repeats` times.

    These are help, a check, completion, a first run of one tick with empty caches of kernels, the
    next one, and the run of all ticks with its file. Where a run uses several devices, it is made
    on the first one too.

    Parameters
    ----------
    setup : the configuration that the words stand for
    words : CONFIG and its options, as both ``societies check`` and ``societies run`` take them
    of_runs : options that only ``societies run`` takes
    copies : numbers of copies of the runs; default: that of the configuration

    Raises
    ------
    SocietiesError
        If a command fails, with its message and its exit code.
    """
    for what, command, variables in (
        ("help", ["--help"], {}),
        ("check", ["check", *words], {}),
        ("completion of CONFIG", [], COMPLETION),
    ):
        for _ in range(repeats):
            yield Wait(what, "", 0, *_seconds(command, variables))
    for count in copies or (None,):
        more = [] if count is None else [f"--replicates={count}"]
        of_count = with_copies(setup, count)
        devices = devices_of(of_count, device)
        names = [chosen_device(one)[2]["device"] for one in devices]
        places = {devices[0]: names[0]}
        if len(devices) > 1:
            places[",".join(devices)] = shown(devices, names)
        for place, name in places.items():
            options = [*words, *of_runs, *more, "--device", place]
            for _ in range(repeats):
                for what, seconds in _runs(setup, options):
                    yield Wait(what, name, of_count.copies, *seconds)


def _runs(setup: Setup[Any, Any], options: list[str]) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield the seconds of a first run, of the next one, and of a run of all ticks."""
    clock, ticks = setup.workload.clock, setup.ticks
    with TemporaryDirectory() as folder:
        out = ["--out", str(Path(folder) / "run.h5"), "--overwrite", "--quiet"]
        for what, last in (
            (f"first {clock}, empty caches", 1),
            (f"first {clock}", 1),
            (f"{counted(ticks, clock)}, written", ticks),
        ):
            command = ["run", *options, *out, "--ticks", str(last)]
            yield what, _seconds(command, dict.fromkeys(CACHES, folder))


def _seconds(words: Sequence[str], variables: Mapping[str, str]) -> tuple[float, float]:
    """Return the seconds of a command of Societies, by the clock and of the processor."""
    command = [sys.executable, "-m", "societies", *words]
    return timed(command, os.environ | variables)


def timed(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
) -> tuple[float, float]:
    """Return the seconds of a program in a folder, by the clock and of the processor.

    Raises SocietiesError with its message and its exit code if the program fails.
    """
    import resource  # which Windows lacks

    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    clock, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        error = SocietiesError(done.stderr.strip() or f"exit code {done.returncode}")
        error.exit_code = done.returncode
        raise error
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
