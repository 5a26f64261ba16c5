"""Is a device that has no subnormal singles refused where numbers are single, and only there?"""

import pytest

import societies
from societies import config_from_dict
from societies.errors import DeviceError
from societies.opencl import choose_device

SMALL = {
    "blur": {"kind": "gaussian", "width": 9, "height": 5},
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
    single = {} if name == "blur" else {"precision": "single"}
    config = config_from_dict({"workload": name, **SMALL[name], **single})
    with pytest.raises(DeviceError) as error:
        societies.run(config, out=tmp_path / "run.h5", device=flushing)
    lines = str(error.value).splitlines()
    assert len(lines) == 2 and lines[0].startswith(flushing.name)
    assert "below 2^-126" in lines[0] and "precision: double" in lines[1]
    assert not (tmp_path / "run.h5").exists()


@pytest.mark.parametrize(
    "settings",
    [
        {"workload": "laplace", **SMALL["laplace"], "precision": "double"},
        {"workload": "blur", "kind": "box", "radius": 1, "width": 9, "height": 5},
    ],
    ids=["double", "bytes"],
)
def test_other_numbers_are_not(tmp_path, flushing, settings):
    out = {"out": str(tmp_path / "a.png")} if settings["workload"] == "blur" else {}
    societies.run(config_from_dict({**settings, **out}), out=tmp_path / "run.h5", device=flushing)
