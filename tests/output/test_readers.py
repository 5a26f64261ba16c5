"""May a program resume a file of which it has a dataset open?"""

import numpy as np
import pytest
import xarray as xr

import societies
from societies.errors import Interrupted
from societies.workload.running.registry import config_from_dict

CONFIG = config_from_dict(
    {"workload": "economy", "agents": 4, "resources": 3, "days": 12, "devices": "tools"}
)


def begun(path):
    """Run half of the days, as if Ctrl-C had been pressed."""

    def stop(day, days):
        if day >= 4:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        societies.run(CONFIG, device="reference", out=path, progress=stop)
    return path


@pytest.mark.ci
@pytest.mark.sample
@pytest.mark.parametrize(
    "look",
    [
        lambda path: xr.open_dataset(path),
        lambda path: xr.open_dataset(path, engine="h5netcdf"),
        societies.open_results,
        lambda path: societies.open_results(path, events="inventions"),
    ],
    ids=["xarray", "h5netcdf", "open_results", "events"],
)
def test_an_open_dataset_does_not_keep_its_own_program_from_resuming(tmp_path, look, monkeypatch):
    """Found in use: "is open elsewhere", in the notebook that had it open."""
    path = begun(tmp_path / "run.h5")
    monkeypatch.chdir(tmp_path)
    seen = look("run.h5")
    sizes = dict(seen.sizes)
    other = xr.open_dataset(path)
    other.gini.load()
    assert societies.run(CONFIG, device="reference", out="run.h5", resume=True).days == 12
    straight = societies.run(CONFIG, device="reference", out="straight.h5")
    with societies.open_results(straight.path) as whole:
        assert dict(seen.sizes) == sizes
        if "utility" in seen:  # read only now, through the file that is opened again
            np.testing.assert_array_equal(
                seen.utility.sel(day=slice(4)), whole.utility.sel(day=slice(4))
            )
        np.testing.assert_array_equal(other.utility, whole.utility)
    seen.close()
    other.close()
