"""Do device and plain Python agree in every bit, and does the fashion only grow?"""

import societies
import xarray as xr


def config_of(**settings):
    return societies.config_from_dict({"workload": "my_model", "agents": 60, **settings})


def test_device_and_python_are_identical():
    report = societies.verify(config_of(days=8, replicates=3), days=8)
    assert report.identical, str(report)


def test_a_fashion_only_grows(tmp_path):
    report = societies.run(config_of(days=30, replicates=4), out=tmp_path / "run.h5")
    with xr.open_dataset(report.path) as results:
        share = results.share
        assert (share.diff("day") >= 0).all()
        assert (share.isel(day=-1) > share.isel(day=0)).any()
