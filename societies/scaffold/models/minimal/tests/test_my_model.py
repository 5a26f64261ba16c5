"""Do device and plain Python agree in every bit, and how far does a walk go?"""

import societies
import xarray as xr


def config_of(**settings):
    return societies.config_from_dict({"workload": "my_model", **settings})


def test_device_and_python_are_identical():
    report = societies.verify(config_of(days=20, replicates=3), days=20)
    assert report.identical, str(report)


def test_a_walk_goes_a_step_a_day(tmp_path):
    report = societies.run(config_of(days=25, replicates=200), out=tmp_path / "run.h5")
    with xr.open_dataset(report.path) as results:
        assert (abs(results.place.diff("day")) == 1).all()
        assert 10 < float((results.place[:, -1] ** 2).mean()) < 50  # 25 in the mean
