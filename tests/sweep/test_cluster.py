"""Do the workers of a real scheduler find the same data, though one of them is killed?"""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from studies import SWEEP, same

from societies import sweep
from societies.errors import SocietiesError
from societies.sweep import batch, executors

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("sweeps")]


@contextmanager
def process(*words, **more):
    """Start a program of Dask, whose logs go to its standard error; end it in the end."""
    running = subprocess.Popen(
        [sys.executable, "-m", *words], stderr=subprocess.PIPE, text=True, **more
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


@contextmanager
def scheduler():
    """Yield a running scheduler and its address."""
    words = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
    with process(*words, "--no-dashboard") as running:
        assert running.stderr is not None
        for line in running.stderr:
            if found := re.search(r"Scheduler at: +(tcp://\S+)", line):
                yield running, found[1]
                return


def worker(address):
    words = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
    return process("distributed.cli.dask_worker", address, *words)


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    path = tmp_path_factory.mktemp("straight") / "study.h5"
    sweep.run(SWEEP, out=path, device="reference")
    return path


def test_a_worker_that_dies_changes_no_data(tmp_path, straight):
    study, killed = tmp_path / "s.h5", []
    with scheduler() as (_, address), worker(address) as first, worker(address):
        wait_for_workers(address, 2)

        def kill(progress):
            if progress.done and not killed:
                killed.append(first.pid)
                os.kill(first.pid, signal.SIGKILL)

        report = sweep.run(
            SWEEP, out=study, device="reference", scheduler=address, batch=1, progress=kill
        )
    assert killed and report.done == 24 and not report.failures
    same(study, straight)


def test_a_scheduler_that_dies_loses_nothing(tmp_path, straight, monkeypatch):
    monkeypatch.setattr(executors, "SCHEDULER_SECONDS", 2.0)
    study = tmp_path / "s.h5"
    with scheduler() as (running, address), worker(address):
        wait_for_workers(address, 1)

        def kill(progress):
            if progress.done:
                running.kill()

        with pytest.raises(SocietiesError, match="of 24 runs are done in") as caught:
            sweep.run(
                SWEEP, out=study, device="reference", scheduler=address, batch=2, progress=kill
            )
    assert address in str(caught.value)
    report = sweep.run(SWEEP, out=study, device="reference", resume=True)
    assert 0 < report.computed < 24
    same(study, straight)


def test_workers_that_join_later_compute_too(monkeypatch):
    """As jobs do that waited in the queue of a cluster; only workers of the start did before."""
    monkeypatch.setattr(executors, "WORKERS_SECONDS", 0.0)
    with scheduler() as (_, address), worker(address):
        wait_for_workers(address, 1)
        cluster = executors.Dask(address, 0, "reference")
        try:
            assert cluster.slots == 2
            with worker(address):
                wait_for_workers(address, 2)
                assert cluster.slots == 4
        finally:
            cluster.close()


def test_a_local_cluster_finds_the_same(tmp_path, straight):
    report = sweep.run(SWEEP, out=tmp_path / "s.h5", device="reference", workers=2)
    assert report.computed == 24
    same(tmp_path / "s.h5", straight)


def test_workers_of_another_version_are_refused(tmp_path, monkeypatch):
    with scheduler() as (_, address), worker(address):
        wait_for_workers(address, 1)
        monkeypatch.setattr(executors, "package_version", lambda: "9.9")
        with pytest.raises(SocietiesError, match=r"has societies \S+, here is 9\.9"):
            sweep.run(SWEEP, out=tmp_path / "s.h5", scheduler=address)
    assert not (tmp_path / "s.h5").exists()
    monkeypatch.setattr(batch, "package_version", lambda: "9.9")
    with pytest.raises(batch.WrongVersion, match="a worker has societies"):
        batch.run_batch(batch.Batch("economy", {}, {}, {}, [], [], batch.Keep(), version="1"))


def wait_for_workers(address, count):
    import distributed

    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=60)
        time.sleep(0.1)
