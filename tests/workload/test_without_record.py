"""Is a workload run that has no more than it must: one field, one phase, no section ``record``?"""

from importlib.metadata import EntryPoint
from typing import Literal

import xarray as xr

import societies
from societies.config.model import WorkloadConfig, key
from societies.workload import Field, Source, Step, Workload, phase
from societies.workload.running import registry


class DecayConfig(WorkloadConfig):
    workload: Literal["decay"]
    steps: int = key(10, "Steps", "step", ge=1)
    share: float = key(0.5, "The share that remains after a step", "1", gt=0, lt=1)


def decay(p, sample, step):
    sample.amount *= p.share


class Decay(Workload):
    name, summary, config = "decay", "something decays", DecayConfig
    clock, copies, work = "step", "sample", "step"

    def sizes(self, p):
        return {}

    def fields(self, p):
        return {"amount": Field((), "float64", "1", "what is left", initial=1.0, logged=True)}

    def phases(self, p, copies):
        return {"decay": phase("no_kernel.cl", copies)}

    def schedule(self, p, tick, seen):
        return [Step("decay")] if tick else []

    def source(self, p):
        return Source()

    def reference(self, p):
        return {"decay": decay}


WORKLOAD = Decay()


def test_is_run_and_resumed(monkeypatch, tmp_path):
    entry = EntryPoint("decay", f"{__name__}:WORKLOAD", registry.GROUP)
    monkeypatch.setattr(registry, "_installed", lambda places: {"decay": entry})
    config = societies.config_from_dict({"workload": "decay"})
    report = societies.run(config, device="reference", out=tmp_path / "run.h5")
    with xr.open_dataset(report.path) as results:
        assert results.amount.values.tolist() == [[0.5**step for step in range(1, 11)]]
    again = societies.run(config, device="reference", out=report.path, resume=True)
    assert (again.first_tick, again.final) == (11, report.final)
