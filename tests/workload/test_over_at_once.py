"""Is a run complete whose copies have all ended before the first tick?

A search for a factor of a number, one candidate a step: numbers below 4 need no step.
"""

from pathlib import Path

import h5py
import pytest
import xarray as xr

from societies.config.model import WorkloadConfig, key
from societies.errors import ConfigError, SocietiesError
from societies.output import inspect, open_results
from societies.workload import Field, Setup, Source, Step, Workload, phase
from societies.workload.checking.bench import bench
from societies.workload.checking.capture import capture
from societies.workload.checking.verify import verify
from societies.workload.declare.config import RecordConfig
from societies.workload.running.run import run, steps

KERNELS = str(Path(__file__).with_name("over_at_once.cl"))


class SearchConfig(WorkloadConfig):
    workload: str = key("search", "What the file configures")
    number: int = key(3, "A number", "1")
    steps: int = key(40, "Most steps", "step")
    replicates: int = key(2, "How many search", "1")
    first_search: int = key(0, "Number of the first", "index")
    record: RecordConfig = key(RecordConfig(checkpoint=4), "What is recorded")


class Search(Workload):
    name, summary, config = "search", "searches a factor", SearchConfig
    clock, copies, work = "step", "search", "candidate"

    def sizes(self, p):
        return {}

    def fields(self, p):
        return {
            "number": Field((), "int32", "1", "to be divided", initial=p.number),
            "factor": Field((), "int32", "1", "found, or 0", logged=True),
            "ended": Field((), "int64", "step", "step that found it", initial=-1, final=True),
        }

    def phases(self, p, copies):
        return {name: phase(KERNELS, copies, kernel=name) for name in ("look", "divide")}

    def schedule(self, p, tick, seen):
        return [Step("divide" if tick else "look")]

    def source(self, p):
        return Source()

    def reference(self, p):
        def look(p, s, step):
            if s.number < 4:
                s.ended = 0

        def divide(p, s, step):
            if s.number % (step + 1) == 0:
                s.factor, s.ended = step + 1, step

        return {"look": look, "divide": divide}

    def why_ended(self, config, state):
        return "nothing to search" if not state["ended"].any() else "found"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def datasets(path):
    """Return the bytes of every dataset but those of the provenance."""
    found = {}

    def note(name, item):
        if isinstance(item, h5py.Dataset) and not name.startswith("provenance/s"):
            found[name] = item[()].tobytes()

    with h5py.File(path) as file:
        file.visititems(note)
    return found


@pytest.mark.parametrize("device", ["reference", "auto"])
def test_its_file_is_complete_without_a_step_and_says_why(device):
    report = run(Setup(Search(), SearchConfig()), device=device, out="run.h5")
    assert (report.first_tick, report.last_tick, report.ended) == (1, 0, "nothing to search")
    rows = dict(report.rows)
    assert rows["last step"].startswith("0") and rows["ended because"] == "nothing to search"
    assert "steps run now" not in rows
    found = inspect("run.h5", check=True)
    assert found.complete and not found.damages
    reported = dict(found.rows)
    assert reported["state"] == "complete: ended at step 0 of 40: nothing to search"
    assert reported["checkpoints"] == "of step 0"
    with open_results("run.h5") as data:
        assert data.sizes["step"] == 0
        assert data.ended.values.tolist() == [0, 0]
    with xr.open_dataset("run.h5") as data:
        assert data.ticks_committed == 0 and data.factor.isnull().all()


@pytest.mark.parametrize("device", ["reference", "auto"])
def test_resuming_it_changes_nothing(device):
    first = run(Setup(Search(), SearchConfig()), device="reference", out="run.h5")
    before = Path("run.h5").read_bytes()
    again = run(Setup(Search(), SearchConfig()), device=device, out="run.h5", resume=True)
    assert Path("run.h5").read_bytes() == before
    reported = (again.last_tick, again.ended, again.state_sha256, again.final)
    assert reported == (0, "nothing to search", first.state_sha256, first.final)


def test_without_checkpoints_too():
    config = SearchConfig(record=RecordConfig(checkpoint=0))
    first = run(Setup(Search(), config), device="reference", out="run.h5")
    before = datasets("run.h5")
    again = run(Setup(Search(), config), device="reference", out="run.h5", resume=True)
    assert (again.ended, again.state_sha256) == (first.ended, first.state_sha256)
    assert datasets("run.h5") == before


class Killed(BaseException):
    """What no handler of errors sees, like the end of a process."""


@pytest.mark.parametrize("method", ["end", "checkpoint"])
def test_a_kill_while_it_is_written(method, monkeypatch):
    from societies.output import ResultFile

    run(Setup(Search(), SearchConfig()), device="reference", out="whole.h5")
    for after in (False, True):
        path, original = Path(f"{after}.h5"), getattr(ResultFile, method)

        def dying(*arguments, original=original, after=after, **given):
            if after:
                original(*arguments, **given)
            raise Killed

        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(ResultFile, method, dying)
            run(Setup(Search(), SearchConfig()), device="reference", out=path)
        run(Setup(Search(), SearchConfig()), device="reference", out=path, resume=True)
        assert datasets(path) == datasets("whole.h5")


def test_it_replaces_a_file():
    run(Setup(Search(), SearchConfig(number=35)), device="reference", out="run.h5")
    assert dict(inspect("run.h5").rows)["state"] == "complete: ended at step 4 of 40: found"
    run(Setup(Search(), SearchConfig()), device="reference", out="run.h5", overwrite=True)
    assert "ended at step 0" in dict(inspect("run.h5").rows)["state"]
    assert {one.name for one in Path().iterdir()} == {"run.h5"}


def test_device_and_reference_are_compared_in_what_comes_before():
    report = verify(Setup(Search(), SearchConfig()))
    assert report.identical and report.ticks == 0
    assert str(report).startswith("identical: 0 steps, 3 arrays")

    class Wrong(Search):
        def reference(self, p):
            return {**super().reference(p), "look": lambda p, s, step: setattr(s, "number", 7)}

    assert str(verify(Setup(Wrong(), SearchConfig()))).startswith("different: step 0, phase look")
    run(Setup(Search(), SearchConfig()), device="reference", out="run.h5")
    with pytest.raises(ConfigError, match="ended at step 0"):
        verify(Setup(Search(), SearchConfig()), start="run.h5")


def test_there_is_no_step_to_look_at_to_capture_or_to_measure():
    config = SearchConfig()
    assert list(steps(Setup(Search(), config), device="reference")) == []
    nine = steps(Setup(Search(), SearchConfig(number=9)), device="reference")
    assert [int(tick) for tick in nine] == [1, 2]
    for tick in (1, 3):
        with pytest.raises(ConfigError, match="the run ends in step 0"):
            capture(Setup(Search(), config), phase="divide", tick=tick)
    assert capture(Setup(Search(), config), phase="look", tick=0).is_dir()
    timings = list(bench(Setup(Search(), config), copies=[1], ticks=3))
    assert timings and all(timing.ticks == timing.work_per_second == 0 for timing in timings)


@pytest.mark.ci
def test_a_figure_of_it_says_that_there_is_no_step():
    pytest.importorskip("matplotlib")
    from societies.workload.drawing.figure import panels_figure, panels_of

    run(Setup(Search(), SearchConfig()), device="reference", out="run.h5")
    with open_results("run.h5") as data, pytest.raises(SocietiesError, match="no complete step"):
        panels_figure(data, panels_of(data))
