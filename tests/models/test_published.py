"""Do the models of one file have the numbers that others have published or derived?"""

import numpy as np

import societies


def series(settings, tmp_path):
    """Run a configuration and return the series of all days."""
    import xarray as xr

    path = tmp_path / "run.h5"
    societies.run(societies.config_from_dict(settings), out=path)
    with xr.open_dataset(path) as results:
        return results.load()


def test_money_becomes_geometric(tmp_path):
    """With money for four payments each the Gini coefficient is 5/9, less 1/n for n agents."""
    settings = {"workload": "boltzmann", "agents": 500, "money": 40, "days": 400, "replicates": 8}
    late = series(settings, tmp_path).sel(day=slice(101, None))
    means = late.mean("day")
    assert np.all(late.total == 500 * 40)
    assert abs(means.gini.mean() - 5 / 9 * 499 / 500) < 0.003
    assert abs(means.poor.mean() / 500 - 1 / 5) < 0.003
