"""Is everything said in the workload's own words, also where a plural is not the word and an s?"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np
import pytest
import xarray as xr

from societies.config.model import ListOf, Section, WorkloadConfig, key, value
from societies.errors import ConfigError, OutputError
from societies.output import inspect
from societies.workload import Field, Phase, Series, Setup, Source, Step, Workload
from societies.workload.checking.verify import verify
from societies.workload.declare.config import RecordConfig
from societies.workload.drawing.figure import Mark, marks_of
from societies.workload.running import points
from societies.workload.running.plan import plan
from societies.workload.running.run import run, steps


class Batches(WorkloadConfig):
    """How many batches there are."""

    workload: str = key("sampling", "What the file configures")
    batches: int = key(20, "Number of batches", "batch")
    replicates: int = key(1, "Number of boxes", "boxes")
    first_box: int = key(0, "Number of the first box", "index")
    record: RecordConfig = key(RecordConfig(checkpoint=4), "What is recorded")


class Sampling(Workload):
    """Adds one in every batch."""

    name, summary, config = "sampling", "adds one", Batches
    clock, copies, work = "batch", "box", "box-batch"
    SERIES: ClassVar = {"taken": Series("1", "samples taken")}

    def sizes(self, p):
        return {}

    def fields(self, p):
        return {"total": Field((), "int32", "1", "all samples")}

    def series(self, p):
        return self.SERIES

    def phases(self, p, copies):
        return {"sample": Phase()}

    def schedule(self, p, tick, seen):
        return [Step("sample")] if tick else []

    def source(self, p):
        return Source()

    def reference(self, p):
        def sample(p, s, batch):
            s.total = s.total + 1
            s.series = {"taken": 1.0}

        return {"sample": sample}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_reports_plans_and_files_speak_of_batches_and_boxes():
    config, reported = Batches(replicates=2), []
    rows = dict(plan(Setup(Sampling(), config), device="reference").rows)
    assert rows["batches"] == "20" and rows["boxes"].startswith("2 ")
    assert rows["checkpoints in the file"].endswith("every 4 batches")
    report = run(Setup(Sampling(), config), device="reference", out="run.h5")
    assert report.batches == 20 and report.first_batch == 1 and report.boxes == 2
    again = run(Setup(Sampling(), config), device="reference", out="run.h5", resume=True)
    reported += [*rows, *dict(report.rows), *dict(again.rows)]
    assert "batches run now" in dict(again.rows)
    state = dict(inspect("run.h5").rows)
    assert state["state"] == "complete: 20 batches"
    one = run(Setup(Sampling(), Batches(batches=1)), device="reference", out="one.h5")
    assert dict(inspect(one.path).rows)["state"] == "complete: 1 batch"
    reported += state.values()
    assert "box-batches per second" in dict(report.rows)
    assert not re.search(r"\b(batchs|boxs)\b", "\n".join(reported))


class Sorting(Sampling):
    """Samples of two kinds, and what was known of them a batch before."""

    SERIES: ClassVar = {
        "taken": Series("1", "samples taken", dims=("kind",)),
        "before": Series("1", "samples of the batch before", lag=1),
    }

    def entries(self, p):
        return {"kind": ("good", "bad")}

    def reference(self, p):
        def sample(p, s, batch):
            s.total += 1
            s.series = {"taken_good": batch, "taken_bad": 10.0 * batch, "before": batch - 1.0}

        return {"sample": sample}


def test_series_have_dimensions_and_a_lag():
    report = run(Setup(Sorting(), Batches(batches=3)), device="reference")
    assert report.final == {}
    with xr.open_dataset(report.path) as data:
        assert data.taken.dims == ("box", "batch", "kind")
        assert data.taken.sel(kind="bad").values.tolist() == [[10, 20, 30]]
        np.testing.assert_array_equal(data.before.values, [[1, 2, np.nan]])
    assert dict(Sorting().columns(None)) == {
        "taken": ["taken_good", "taken_bad"],
        "before": ["before"],
    }
    for tick in steps(Setup(Sorting(), Batches(batches=1)), device="reference"):
        assert tick.dataset["quantity"].values.tolist() == ["taken_good", "taken_bad"]


def test_verify_speaks_of_batches():
    doing = []
    report = verify(
        Setup(Sampling(), Batches()),
        device="reference",
        progress=lambda n, of, what: doing.append(what),
    )
    assert report.identical and report.ticks == 8
    assert str(report).startswith("identical: 8 batches (1 to 2, ")
    assert str(report).endswith("\nthe only phase acted")
    assert any(re.fullmatch(r"batches \d+ to \d+, device alone", what) for what in doing)
    with pytest.raises(ConfigError, match=r"21 batches are requested, .* override batches=21"):
        verify(Setup(Sampling(), Batches()), device="reference", ticks=21)


def test_a_file_of_fewer_batches_begins_a_longer_verification():
    run(Setup(Sampling(), Batches(batches=6)), device="reference", out="six.h5")
    report = verify(Setup(Sampling(), Batches()), device="reference", start="six.h5", ticks=2)
    assert str(report).startswith("identical: 2 batches from batch 7 on")
    with pytest.raises(OutputError, match="batches is 6 in the file and 20 here"):
        run(Setup(Sampling(), Batches()), device="reference", out="six.h5", resume=True)


class ChangeConfig(Section):
    """Values that are changed after a batch."""

    batch: int = key(..., "After this batch", "batch", ge=0, examples=[0])
    boxes: ListOf[int] = key((), "Numbers of the boxes in which they change; empty: all", "index")
    set: dict[str, Any] = key({}, "New values by key", examples=[{"dose": 2.0}])


class Doses(Batches):
    """Batches with a dose that may be changed."""

    dose: float = value(1.0, "What a batch adds", "1", ge=0, le=10)
    interventions: ListOf[ChangeConfig] = key((), "Changes")

    def conflicts(self):
        yield from points.intervention_conflicts(self)


@pytest.fixture
def dosing(monkeypatch):
    class Dosing(Sampling):
        config = Doses

    monkeypatch.setattr(points, "workload", lambda name: Dosing())


@pytest.mark.usefixtures("dosing")
def test_interventions_happen_after_batches_in_boxes():
    changes = [
        {"batch": 7, "set": {"dose": 3.0}},
        {"batch": 4, "boxes": [6], "set": {"dose": 2.0}},
    ]
    found = points.points_of(Doses(replicates=2, first_box=5, interventions=changes))
    assert found.after == (4, 7)
    doses = [[found.configs[i].dose for i in stretch] for stretch in found.of]
    assert doses == [[1.0, 1.0], [1.0, 2.0], [3.0, 3.0]]


@pytest.mark.usefixtures("dosing")
def test_interventions_are_refused_in_words_of_batches_and_boxes():
    with pytest.raises(ValueError, match=r"0\.batch: must be before the last batch, 20, got 20"):
        Doses(interventions=[{"batch": 20, "set": {"dose": 2.0}}])
    with pytest.raises(ValueError, match=r"boxes\.0: there is no box 7; they are numbered 5 to 6"):
        change = {"batch": 2, "boxes": [7], "set": {"dose": 2.0}}
        Doses(replicates=2, first_box=5, interventions=[change])


@pytest.mark.usefixtures("dosing")
def test_tables_are_refused_in_words_of_boxes():
    config = Doses(replicates=3)
    with pytest.raises(ConfigError, match=r"has 2 rows for 3 boxes .*each box needs one"):
        points.with_table(config, {"dose": [1.0, 2.0]})
    with pytest.raises(ConfigError, match=r"\(box 6\): dose: "):
        points.with_table(Doses(replicates=2, first_box=5), {"dose": [1.0, 20.0]})


def test_figures_mark_the_batches_at_which_values_change():
    said = "workload: sampling\ninterventions: [{batch: 4, set: {dose: 2.0}}, {batch: 0, set: {}}]"
    results = xr.Dataset(attrs={"clock": "batch", "configuration": said})
    assert marks_of(results) == [Mark(4, "batch 4 dose 2")]
