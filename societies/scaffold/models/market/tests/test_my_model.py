"""Do device and plain Python agree in every bit, and does the constraint make markets efficient?"""

import societies
import xarray as xr


def config_of(**settings):
    return societies.config_from_dict({"workload": "my_model", "agents": 40, **settings})


def test_device_and_python_are_identical():
    report = societies.verify(config_of(days=3, replicates=3, shouts=300), days=3)
    assert report.identical, str(report)


def efficiency(path, **settings):
    report = societies.run(config_of(days=10, replicates=8, **settings), out=path)
    with xr.open_dataset(report.path) as results:
        return float(results.efficiency.mean())


def test_the_constraint_makes_markets_efficient(tmp_path):
    free = efficiency(tmp_path / "free.h5", constrained=False)
    assert efficiency(tmp_path / "constrained.h5") > max(0.8, free)
