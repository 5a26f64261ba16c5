"""Do device and plain Python agree in every bit, and is money conserved?"""

import societies
import xarray as xr


def config_of(**settings):
    return societies.config_from_dict({"workload": "my_model", "agents": 51, **settings})


def test_device_and_python_are_identical():
    report = societies.verify(config_of(days=20, replicates=3), days=20)
    assert report.identical, str(report)


def test_no_money_is_made_or_lost(tmp_path):
    config = config_of(days=30, replicates=3, record={"detail": 1})
    report = societies.run(config, out=tmp_path / "run.h5")
    with xr.open_dataset(report.path) as results:
        assert (results.total == 51 * 100).all()
        assert (results.money.sum("agent") == 51 * 100).all()
        assert (results.money >= 0).all()
