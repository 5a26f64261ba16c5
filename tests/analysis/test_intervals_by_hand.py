"""Intervals over replicates, rank correlations and lists of days, by values computed by hand."""

import itertools

import numpy as np
import pytest
import xarray as xr

from societies.analysis import mean_interval, mobility, networks, quantile_interval
from societies.errors import ConfigError


def runs(values, points=None, dim="run"):
    data = xr.DataArray(
        values, dims=(dim,), name="x", attrs={"units": "util", "long_name": "utility"}
    )
    return data if points is None else data.assign_coords(point=(dim, points))


def test_one_sample_is_enough_and_none_is_refused():
    found = mean_interval(runs([1.0, 5.0, 9.0]), "run", resamples=1)
    assert float(found["mean"]) == 5.0
    assert found["low"] == found["high"]  # both ends are the mean of the only sample
    means = {sum(three) / 3 for three in itertools.product([1, 5, 9], repeat=3)}
    assert float(found["low"]) in means
    with pytest.raises(ConfigError, match="resamples=0: must be at least 1"):
        mean_interval(runs([1.0, 5.0]), "run", resamples=0)


@pytest.mark.parametrize("of", [mean_interval, quantile_interval])
@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([0, 0, 1], "has 2 points with up to 2 replicates"),  # one point has one run alone
        ([0, 0, 1, 1], "has 2 points with up to 2 replicates"),
        ([0, 1, 2, 2], "has 3 points with up to 2 replicates"),
        ([4, 4, 4], ""),
        ([0, 1, 2], ""),
        ([7], ""),
    ],
)
def test_runs_of_several_points_are_no_replicates(of, points, said):
    data = runs(np.arange(float(len(points))), points)
    if said:
        with pytest.raises(ConfigError, match=said):
            of(data, "run")
    else:
        of(data, "run")


def test_points_along_another_dimension_are_no_matter():
    data = xr.DataArray(
        [[1.0, 2.0], [3.0, 6.0]], dims=("run", "replicate"), name="x",
        coords={"point": ("run", [5, 5])},
    )  # fmt: skip
    assert mean_interval(data, "replicate")["mean"].values.tolist() == [1.5, 4.5]
    several = xr.concat([data, data.assign_coords(point=("run", [6, 7]))], "run")
    assert mean_interval(several, "replicate")["mean"].values.tolist() == [1.5, 4.5] * 2


def test_quantiles_and_what_they_are_called():
    found = quantile_interval(runs([4.0, 0.0, 1.0, 3.0, 2.0]), "run", level=0.5)
    assert [float(found[name]) for name in ("low", "median", "high")] == [1.0, 2.0, 3.0]
    assert found["median"].attrs == {"units": "util", "long_name": "median of utility"}
    assert found["low"].attrs["units"] == found["high"].attrs["units"] == "util"
    assert found["low"].attrs["long_name"] == "lower end: quantile over run, 0.5 in the middle"
    yes = quantile_interval(runs([True, False, True, True]), "run", level=0.5)
    assert [float(yes[name]) for name in ("low", "median", "high")] == [0.75, 1.0, 1.0]


def test_rank_correlation_with_ties_and_missing_agents():
    """Spearman's rho by hand: ranks 1, 2.5, 2.5, 4 against 4, 1, 2, 3."""
    days = [[1.0, 7.0, 7.0, 9.0, 5.0], [8.0, 2.0, 3.0, 4.0, np.nan], [3.0, 3.0, 3.0, 3.0, 3.0]]
    data = xr.DataArray(
        [days, days[::-1]], dims=("society", "day", "agent"), coords={"day": [10, 20, 30]}, name="x"
    )
    found = mobility(data, clock="day")
    a, b = np.array([1.0, 2.5, 2.5, 4.0]) - 2.5, np.array([4.0, 1.0, 2.0, 3.0]) - 2.5
    rho = (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())
    assert found.dims == ("society", "day")
    np.testing.assert_allclose(found.sel(society=0), [1.0, rho, np.nan], rtol=1e-14)
    # all are equal on the first day of the other society, so there is no correlation with it
    assert np.isnan(found.sel(society=1)).all()
    last = mobility(data, since=30, clock="day").sel(society=1)
    np.testing.assert_allclose(last, [np.nan, rho, 1.0], rtol=1e-14)
    assert "rank correlation of x with tick 30" in last.attrs["long_name"]


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([], "none"),
        ([7], "7"),
        ([1, 2, 4], "1, 2, 4"),
        (list(range(1, 13)), "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12"),
        (list(range(1, 14)), "1 to 13"),
        (list(range(5, 30)), "5 to 29"),
        ([*range(1, 13), 14], "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ... (13 in all)"),
        ([*range(1, 13), 99], "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ... (13 in all)"),
        ([0, *range(2, 14)], "0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ... (13 in all)"),
        ([0, *range(11, 25)], "0, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, ... (15 in all)"),
    ],
)
def test_days_are_listed_up_to_twelve_or_as_a_range(numbers, said):
    assert networks._listed(numbers) == said
