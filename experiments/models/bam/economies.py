"""The series of many seeds of BAM, and states at the end of some quarters, on all cores of a CPU.

Every seed is a run of one economy, number 0, as in the independent implementation whose numbers
targets.json has; so each seed is comparable by itself.
"""

import functools
import multiprocessing
import os
import signal

import numpy as np

import societies
from societies.opencl import choose_device
from societies.workload.running.engines import LOG_TICKS, DeviceEngine
from societies.workload.running.registry import workload

ONE_THREAD = (
    "POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"
)  # fmt: skip
"""Variables that keep a process to one thread."""

BUILT = {}
"""The program of each configuration but for its seed, in a process."""


def run(name, keys, seed, states=()):
    """Return the series and states of one economy.

    Parameters
    ----------
    name : configuration of models/bam
    keys : keys that differ from it
    states : quarters at whose end the state is returned

    Returns
    -------
    (series, found) : series by name (quarter,), missing after the end of the economy; and
        arrays of the state by name, for each quarter
    """
    config = societies.load_config(
        f"models/bam/{name}", [f"{key}={value}" for key, value in {**keys, "seed": seed}.items()]
    )
    bam = workload("bam")
    p = bam.parameters(config)
    like = (name, tuple(sorted(keys.items())))
    engine = DeviceEngine(bam, p, choose_device("cpu"), copies=1, like=BUILT.get(like))
    BUILT[like] = engine.built
    engine.start()
    columns = [column for names in bam.columns(p).values() for column in names]
    rows = np.full((config.quarters, len(columns)), np.nan)
    found, begin, ended = {}, 1, None
    for quarter in sorted(
        {*range(LOG_TICKS, config.quarters, LOG_TICKS), config.quarters, *states}
    ):
        while begin <= quarter and ended is None:
            last = min(quarter, begin + LOG_TICKS - 1)
            engine.run_ticks(begin, last)
            rows[begin - 1 : last] = engine.logs()["series"][0]
            begin, ended = last + 1, engine.ended()
        if quarter in states:
            found[quarter] = {key: array[0].copy() for key, array in engine.state().items()}
    if ended is not None:
        rows[ended:] = np.nan
    return dict(zip(columns, rows.T, strict=True)), found


def each(function, jobs, processes=0):
    """Yield ``function(*job)`` for all jobs in order, from processes of one thread each."""
    for name in ONE_THREAD:
        os.environ[name] = "1"
    count = min(processes or len(os.sched_getaffinity(0)), len(jobs))
    with multiprocessing.get_context("spawn").Pool(count, _ignore_interrupts) as pool:
        yield from pool.imap(functools.partial(_call, function), jobs)


def _ignore_interrupts():
    """Leave Ctrl-C to the first process, which ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _call(function, job):
    return function(*job)
