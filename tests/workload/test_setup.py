"""Is what follows from a configuration made once, and made again where a device changes it?"""

import pytest
from small import small

import societies
from societies.workload import Setup
from societies.workload.running.registry import workload


@pytest.mark.sample
@pytest.mark.parametrize("name", ["economy", "laplace"])
def test_a_run_makes_its_parameters_once(name, tmp_path, monkeypatch):
    chosen, made = type(workload(name)), []
    original = chosen.parameters

    def parameters(self, config):
        made.append(config)
        return original(self, config)

    monkeypatch.setattr(chosen, "parameters", parameters)
    societies.run(small(name), device="reference", out=tmp_path / "run.h5")
    assert len(made) == 1


def test_a_setup_shares_what_a_device_does_not_change():
    given = Setup(workload("economy"), small("economy"))
    p = given.p
    assert given.on(None).p is p
    asked = Setup(workload("kalah"), small("kalah", alone="auto"))
    assert asked.config.alone == "auto"
    assert asked.on(None).config.alone == asked.on(None).p.alone == 0
