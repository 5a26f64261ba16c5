"""Is a run of any workload that was stopped and resumed the run that was not stopped?"""

from functools import cache
from itertools import product

import h5py
import pytest
import rooms
from datasets import datasets
from marks import in_turn, thorough_but
from small import names, small

import societies
from societies.errors import DeviceError, DeviceFailed, Interrupted
from societies.output import inspect
from societies.words import plural
from societies.workload.declare.config import recorded
from societies.workload.running import blocks as core
from societies.workload.running.engines import ReferenceEngine
from societies.workload.running.measured import DIFFERS
from societies.workload.running.registry import workload

FEW = {"economy", "bam", "havannah_search", "molecular_dynamics", *rooms.ALWAYS}
"""Workloads with every trait of the core, for what no declaration of a workload decides."""

NEVER = 50
"""Checkpoints of a small workload that leaves no choice: more ticks apart than it has."""


class Stop(Exception):
    """Ends a run in the middle, without a checkpoint of that tick."""


def run(path, name, *, until=None, keep=False, device="reference", **more):
    """Run a small configuration, or resume it; killed or, with ``keep``, interrupted on the way."""

    def progress(tick, _):
        if until is not None and tick >= until:
            raise KeyboardInterrupt if keep else Stop

    return societies.run(
        small(name, **more), device=device, out=path, resume=path.exists(), progress=progress
    )


def everything(path):
    """Return the bytes of every dataset but the seal, the sessions, and what the file says differs.

    Of a table in which something does, the checksums of its rows do too.
    """
    may_differ = []

    def note(name, one):
        if one.attrs.get("long_name", "").endswith(DIFFERS):
            may_differ.extend((name, f"checksums/{name}", f"checksums/{name.rpartition('/')[0]}"))

    with h5py.File(path) as file:
        file.visititems(note)

    def left_out(name):
        return name in may_differ or name.startswith("provenance/s")

    found = datasets(path, left_out)
    assert len(found) > 5
    return found


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """Return report and content of the run of a workload that was not stopped, by name."""
    folder = tmp_path_factory.mktemp("straight")

    @cache
    def made(name):
        report = run(folder / f"{name}.h5", name)
        return report, everything(report.path)

    return made


@pytest.fixture
def one_at_a_time(straight, name, monkeypatch):
    """Let a block be a single tick, so that runs stop where they are asked to; but the straight."""
    straight(name)
    monkeypatch.setattr(core, "_next_length", lambda ticks, seconds: 1)
    monkeypatch.setattr(core, "RAREST_SECONDS", 0.0)


KILLS = [(until, device) for until in (1, "last but one") for device in ("auto", "reference")]
"""Tick after which a run is killed and device on which it continues; all only if thorough."""


@pytest.mark.usefixtures("one_at_a_time")
@pytest.mark.parametrize(
    ("name", "until", "device"),
    thorough_but(
        [(name, *kill) for name, kill in in_turn(names(), KILLS, 1)],
        [(name, *kill) for name in names() for kill in KILLS],
        3,
    ),
)
def test_killed_and_resumed(name, until, device, straight, tmp_path):
    path, (expected, content) = tmp_path / "run.h5", straight(name)
    until = expected.last_tick - 1 if until == "last but one" else until
    with pytest.raises(Stop):
        run(path, name, until=until)
    report = run(path, name, device=device)
    every = recorded(small(name), "checkpoint", NEVER)
    assert report.first_tick == until // every * every + 1
    reported = (report.last_tick, report.ended, report.state_sha256, report.final)
    assert reported == (expected.last_tick, expected.ended, expected.state_sha256, expected.final)
    assert everything(path) == content
    assert inspect(path, check=True).damages == []


def of(name):
    """Return what follows a tick: of how many, where that is not only a bound."""
    chosen = workload(name)
    return "" if chosen.clock == "superstep" else f" of {chosen.ticks(small(name))}"


@pytest.mark.usefixtures("one_at_a_time")
@pytest.mark.parametrize("name", names())
def test_interrupted_and_resumed(name, straight, tmp_path):
    path, (expected, content) = tmp_path / "run.h5", straight(name)
    clock = workload(name).clock
    until = min(6, expected.last_tick - 1)
    with pytest.raises(
        Interrupted, match=f"interrupted after {clock} {until}{of(name)}; all of it is"
    ):
        run(path, name, until=until, keep=True)
    assert run(path, name).state_sha256 == expected.state_sha256
    assert everything(path) == content


@pytest.mark.sample
@pytest.mark.parametrize("name", thorough_but(FEW, names()))
def test_what_is_complete_is_left_as_it_is(name, straight, tmp_path):
    path, (expected, _) = tmp_path / "run.h5", straight(name)
    before = expected.path.read_bytes()
    path.write_bytes(before)
    report = run(path, name)
    assert report.first_tick == report.last_tick + 1 == expected.last_tick + 1
    assert (report.ended, report.final) == (expected.ended, expected.final)
    assert report.state_sha256 == expected.state_sha256
    assert "none, the file was complete" in dict(report.rows).values()
    assert path.read_bytes() == before
    assert inspect(path, check=True).complete


def few(pairs):
    """Return parameters, of which only those of few workloads are not marked thorough."""
    return thorough_but([pair for pair in pairs if pair[0] in FEW], pairs, 2)


def with_record():
    """Return the names of the workloads that leave the checkpoints to the configuration."""
    return [name for name in names() if "record" in workload(name).config.model_fields]


@pytest.mark.sample
@pytest.mark.parametrize(("name", "never"), few(in_turn(with_record(), [0, "never"], 1)))
def test_without_checkpoints_a_run_begins_again(name, never, straight, tmp_path):
    path, (expected, content) = tmp_path / "run.h5", straight(name)
    record = {"record": {**small(name).record.model_dump(), "checkpoint": never}}
    clock = workload(name).clock
    with pytest.raises(Interrupted, match=f"resuming it begins with {clock} 1 again"):
        run(path, name, until=6, keep=True, **record)
    report = run(path, name, **record)
    assert (report.first_tick, report.state_sha256) == (1, expected.state_sha256)
    found = everything(path)
    assert not any("checkpoint" in one for one in found)
    # The checksums begin with the configuration, which is another one.
    sealed = ("checksums/", "provenance/ended")
    data = {one: what for one, what in found.items() if not one.startswith(sealed)}
    assert data == {one: what for one, what in content.items() if one in data}
    assert found.keys() == {one for one in content if "checkpoint" not in one}


@pytest.mark.sample
@pytest.mark.usefixtures("one_at_a_time")
@pytest.mark.parametrize(("name", "checkpoint"), few(in_turn(with_record(), [4, "never"], 1)))
def test_a_device_that_fails(name, checkpoint, straight, tmp_path, monkeypatch):
    path, (expected, _) = tmp_path / "run.h5", straight(name)
    record = {"record": {**small(name).record.model_dump(), "checkpoint": checkpoint}}
    clock, clocks = workload(name).clock, plural(workload(name).clock)
    original = ReferenceEngine.run_ticks

    def failing(engine, first, last):
        if last == 7:
            raise DeviceError("the device is gone")
        original(engine, first, last)

    with monkeypatch.context() as patch:
        patch.setattr(ReferenceEngine, "run_ticks", failing)
        with pytest.raises(DeviceFailed) as caught:
            run(path, name, **record)
    start = "" if checkpoint == 4 else f" from {clock} 1 on, as it has no checkpoints"
    assert str(caught.value).splitlines() == [
        "the device is gone",
        f"{path} holds all {clocks} up to 6{of(name)} and can be resumed{start}",
    ]
    report = run(path, name, **record)
    assert report.first_tick == (5 if checkpoint == 4 else 1)
    assert report.state_sha256 == expected.state_sha256


def test_some_runs_end_before_their_last_tick(straight):
    """Otherwise nothing above says anything of those."""
    assert not straight("economy")[0].ended
    report, _ = straight("laplace")
    assert report.ended
    assert 8 < report.last_tick < small("laplace").steps
    reported = dict(inspect(report.path).rows)["state"]
    assert reported == f"complete: ended at step {report.last_tick} of 60: {report.ended}"


MOMENTS = [*product(("commit", "end", "checkpoint"), (False, True))]
"""What is written last, and whether the kill comes after it."""

KILLED = dict.fromkeys([*in_turn(names(), MOMENTS, 2), *product(("blur", "laplace"), MOMENTS)])
ONCE = [*in_turn(names(), MOMENTS, 1), *product(("laplace",), MOMENTS)]
"""Workloads take turns; one that has all its ticks and one that ends before are killed in each.

Every run of the tests kills each workload once, and the one that ends before in each moment.
"""


@pytest.mark.sample
@pytest.mark.parametrize(("name", "moment"), thorough_but(ONCE, dict.fromkeys([*ONCE, *KILLED]), 2))
def test_a_kill_while_the_end_is_written(name, moment, straight, tmp_path, monkeypatch):
    """Whatever of the end was not written yet is made again: file, counter, last checkpoint."""
    from societies.output import ResultFile

    path, (expected, content), (method, after) = tmp_path / "run.h5", straight(name), moment
    original = getattr(ResultFile, method)

    def dying(file, tick, *rest, **given):
        if tick == expected.last_tick:
            if after:
                original(file, tick, *rest, **given)
            raise Stop
        original(file, tick, *rest, **given)

    with monkeypatch.context() as patch:
        patch.setattr(ResultFile, method, dying)
        try:
            run(path, name)
        except Stop:
            assert method != ("commit" if expected.ended else "end")
    report = run(path, name)
    assert (report.state_sha256, report.final) == (expected.state_sha256, expected.final)
    assert everything(path) == content
