"""Is everything said in the workload's own words, also where a plural is not the word and an s?"""

from __future__ import annotations

import re
from typing import ClassVar

import pytest

from societies.config.model import WorkloadConfig, key
from societies.errors import ConfigError, OutputError
from societies.output import inspect
from societies.workload import Field, Phase, Series, Source, Step, Workload
from societies.workload.config import RecordConfig
from societies.workload.plan import plan
from societies.workload.run import run
from societies.workload.verify import verify


class Batches(WorkloadConfig):
    """How many batches there are."""

    workload: str = key("sampling", "What the file configures")
    batches: int = key(20, "Number of batches", "batch")
    replicates: int = key(1, "Number of boxes", "boxes")
    first_box: int = key(0, "Number of the first box", "index")
    record: RecordConfig = key(RecordConfig(checkpoint=4), "What is kept")


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
    rows = dict(plan(Sampling(), config, device="reference").rows)
    assert rows["batches"] == "20" and rows["boxes"].startswith("2 ")
    assert rows["checkpoints in the file"].endswith("every 4 batches")
    report = run(Sampling(), config, device="reference", out="run.h5")
    assert report.batches == 20 and report.first_batch == 1 and report.boxes == 2
    again = run(Sampling(), config, device="reference", out="run.h5", resume=True)
    reported += [*rows, *dict(report.rows), *dict(again.rows)]
    assert "batches run now" in dict(again.rows)
    state = dict(inspect("run.h5").rows)
    assert state["state"] == "complete: 20 batches"
    one = run(Sampling(), Batches(batches=1), device="reference", out="one.h5")
    assert dict(inspect(one.path).rows)["state"] == "complete: 1 batch"
    reported += state.values()
    assert "box-batches per second" in dict(report.rows)
    assert not re.search(r"\b(batchs|boxs)\b", "\n".join(reported))


def test_verify_speaks_of_batches():
    doing = []
    report = verify(
        Sampling(), Batches(), device="reference", progress=lambda n, of, what: doing.append(what)
    )
    assert report.identical and report.ticks == 8
    assert str(report).startswith("identical: 8 batches (1 to 2, ")
    assert str(report).endswith("\nthe only phase acted")
    assert any(re.fullmatch(r"batches \d+ to \d+, device alone", what) for what in doing)
    with pytest.raises(ConfigError, match=r"21 batches are asked for, .* override batches=21"):
        verify(Sampling(), Batches(), device="reference", ticks=21)


def test_a_file_of_fewer_batches_begins_a_longer_verification():
    run(Sampling(), Batches(batches=6), device="reference", out="six.h5")
    report = verify(Sampling(), Batches(), device="reference", start="six.h5", ticks=2)
    assert str(report).startswith("identical: 2 batches from batch 7 on")
    with pytest.raises(OutputError, match="batches is 6 in the file and 20 here"):
        run(Sampling(), Batches(), device="reference", out="six.h5", resume=True)
