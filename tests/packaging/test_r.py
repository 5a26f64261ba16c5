"""Do the blocks for R of the page about other programs run, and find what xarray finds?"""

import shutil
import subprocess

import numpy as np
import pytest
import xarray as xr
from pages import ROOT, ReaderFolder, blocks

import societies
from societies.analysis import export

PAGE = "docs/other-programs.md"
SHOW = """
options(digits = 17)
write(c({}), "found.txt", ncolumns = 1)
"""
"""Written after a block, so that what it found can be compared."""


def without_r():
    """Return why the blocks cannot run here; "" if they can."""
    if shutil.which("Rscript") is None:
        return "Rscript is not installed: apt-get install r-base-core r-cran-ncdf4"
    loaded = subprocess.run(["Rscript", "-e", "library(ncdf4)"], capture_output=True, check=False)
    return "" if loaded.returncode == 0 else "R lacks ncdf4: apt-get install r-cran-ncdf4"


WHY = without_r()


@pytest.mark.ci
@pytest.mark.skipif(bool(WHY), reason=WHY)
def test_blocks_for_r_find_what_xarray_finds(tmp_path):
    place, ran = ReaderFolder(tmp_path, ROOT), []
    expected = {
        "nc_open": ("gini", lambda run: run.gini.sel(day=slice(51, 100)).values.ravel()),
        "read.csv": ("run$gini, run$utility", lambda run: np.append(run.gini, run.utility)),
    }
    for block in blocks(PAGE):
        if block.language == "sh":
            place.said("bash", "-euc", block.text)
        elif block.language == "r":
            (function,) = (name for name in expected if f"{name}(" in block.text)
            names, values = expected[function]
            (tmp_path / "block.R").write_text(block.text + SHOW.format(names))
            place.said("Rscript", "--vanilla", "block.R")
            with xr.open_dataset(tmp_path / "quickstart.h5") as run:
                found = np.loadtxt(tmp_path / "found.txt")
                np.testing.assert_array_equal(found, values(run))
            ran.append(function)
    assert sorted(ran) == sorted(expected)
    assert (tmp_path / "Rplots.pdf").stat().st_size > 1000


USE = """
source("{}")
run <- societies_read("small.nc")
table <- societies_table(run, c("gini", "utility"))
options(digits = 17)
write(t(as.matrix(table)), "table.txt", ncolumns = 4)
write(names(table), "names.txt", ncolumns = 4)
write(dim(run$arrays$hhi), "dim.txt")
meaning <- societies_meaning(run)
write(paste(meaning$unit, meaning$dimensions)[meaning$variable == "utility"], "utility.txt")
refused <- try(societies_table(run, c("gini", "hhi")), silent = TRUE)
write(conditionMessage(attr(refused, "condition")), "refused.txt")
for (file in c("small.txt", "names.txt")) {{
  found <- try(societies_read(file), silent = TRUE)
  write(conditionMessage(attr(found, "condition")), "refused.txt", append = TRUE)
}}
"""


@pytest.mark.skipif(bool(WHY), reason=WHY)
def test_the_functions_for_r_open_a_run_as_xarray_does(tmp_path):
    small = {"workload": "economy", "agents": 4, "resources": 7, "days": 3, "replicates": 2}
    societies.run(societies.config_from_dict(small), device="reference", out=tmp_path / "small.h5")
    export(tmp_path / "small.h5", "netcdf", out=tmp_path / "small.nc")
    (tmp_path / "use.R").write_text(USE.format(ROOT / "docs" / "societies.R"))
    done = subprocess.run(
        ["Rscript", "--vanilla", "use.R"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "names.txt").read_text().split() == ["day", "society", "gini", "utility"]
    with xr.open_dataset(tmp_path / "small.h5") as run:
        expected = run[["gini", "utility"]].to_dataframe().reset_index()
        expected = expected[["day", "society", "gini", "utility"]].to_numpy(float)
        np.testing.assert_array_equal(np.loadtxt(tmp_path / "table.txt"), expected)
        shape = tuple(np.loadtxt(tmp_path / "dim.txt", int))
        assert shape == run.hhi.shape[::-1]
    assert (tmp_path / "utility.txt").read_text() == "util day x society\n"
    refused = (tmp_path / "refused.txt").read_text().splitlines()
    assert refused[0].startswith("hhi has other dimensions than gini:")
    assert refused[1] == f"small.txt: no such file in {tmp_path}"
    assert refused[2].startswith("names.txt: is not netCDF; societies export RESULT.h5 --to netcdf")
