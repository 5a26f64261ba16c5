"""Is a device that has no subnormal singles refused where numbers are single, and only there?"""

import pytest

import societies
from societies import config_from_dict
from societies.errors import DeviceError
from societies.opencl import choose_device

SMALL = {
    "laplace": {"side": 6, "steps": 1},
    "matmul": {"rows": 2, "inner": 2, "columns": 2, "repeats": 1},
    "molecular_dynamics": {"cells": 2, "steps": 1},
    "raytracer": {"width": 4, "height": 4},
}


@pytest.fixture
def flushing(monkeypatch):
    """Return a device that says that it makes subnormal singles 0."""
    device = choose_device("auto")
    assert device.subnormal_single  # all of ours keep them
    monkeypatch.setattr(device, "subnormal_single", False)
    return device


@pytest.mark.parametrize("name", SMALL)
def test_single_precision_is_refused_with_the_reason(tmp_path, flushing, name):
    config = config_from_dict({"workload": name, **SMALL[name], "precision": "single"})
    with pytest.raises(DeviceError) as error:
        societies.run(config, out=tmp_path / "run.h5", device=flushing)
    lines = str(error.value).splitlines()
    assert len(lines) == 2 and lines[0].startswith(flushing.name)
    assert "below 2^-126" in lines[0] and "precision: double" in lines[1]
    assert not (tmp_path / "run.h5").exists()


def test_double_precision_is_not(tmp_path, flushing):
    config = config_from_dict({"workload": "laplace", **SMALL["laplace"], "precision": "double"})
    societies.run(config, out=tmp_path / "run.h5", device=flushing)
