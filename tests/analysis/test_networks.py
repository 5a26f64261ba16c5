"""Does a trade network add up to the swaps that were logged, and does its figure show it?"""

import numpy as np
import pytest
import xarray as xr

import societies
from societies.analysis import make_figure, trade_network
from societies.errors import ConfigError, OutputError

SIZE = {"workload": "economy", "agents": 8, "resources": 8, "days": 20}


def table(**columns):
    return xr.Dataset({name: ("row", np.array(column)) for name, column in columns.items()})


def test_volumes_are_sums_over_the_swaps_of_two_agents():
    swaps = table(
        society=[0, 0, 0, 0, 3, 0],
        day=[2.0, 2.0, 2.0, 5.0, 2.0, np.nan],  # a row that is not used has no day
        a=[1, 4, 1, 1, 1, 0],
        b=[4, 1, 2, 4, 4, 1],
        units_given=[2, 5, 1, 1, 1, 9],
        units_taken=[3, 7, 1, 1, 1, 9],
    )
    found = trade_network(swaps, day=2, society=0)
    rows = found.to_dataframe()[["giver", "taker", "units", "swaps"]].values.tolist()
    assert rows == [[1, 2, 1, 1], [1, 4, 2 + 7, 2], [2, 1, 1, 1], [4, 1, 3 + 5, 2]]
    assert found.units.attrs["units"] == "units"
    every = trade_network(swaps)
    assert every.sizes["link"] == 8 and every.units.sum() == 23
    assert trade_network(swaps, day=[2, 5], society=3).sizes["link"] == 2
    with pytest.raises(ConfigError, match=r"day.*3: no trades of it are logged; logged: 2, 5"):
        trade_network(swaps, day=3)


def test_the_figure_shows_the_volumes_of_the_file(tmp_path):
    log = {"trade_log": {"days": [15, 20], "societies": 2}}
    config = societies.config_from_dict({**SIZE, "replicates": 2, "record": log})
    path = tmp_path / "log.h5"
    societies.run(config, device="reference", out=path)
    links = trade_network(path)
    assert links.sizes["link"]
    with societies.open_results(path) as results:
        for society in (0, 1):
            for day in (15, 20):
                own = links.isel(
                    link=np.flatnonzero((links.society == society) & (links.day == day))
                )
                traded = results.units_traded.sel(society=society, day=day)
                assert own.units.sum() / 8 == pytest.approx(float(traded))

        day = trade_network(path, day=20, society=1)
        figure = make_figure(results, "trade_network", day=20, society=1)
    circle, volumes = figure.axes[:2]
    shown = np.nan_to_num(volumes.images[0].get_array().filled(0))
    expected = np.zeros((8, 8))
    expected[day.giver, day.taker] = day.units
    np.testing.assert_array_equal(shown, expected)
    pairs = {frozenset(pair) for pair in zip(day.giver.values, day.taker.values, strict=True)}
    assert len(circle.collections[0].get_segments()) == len(pairs)
    sizes = circle.collections[1].get_sizes()
    assert np.argmax(sizes) == np.argmax(expected.sum(1))
    with pytest.raises(ConfigError, match="logged: 15, 20"):
        make_figure(path, "trade_network", day=5)


def test_a_file_without_a_log_has_no_network(tmp_path):
    societies.run(
        societies.config_from_dict({**SIZE, "days": 1}), device="reference", out=tmp_path / "no.h5"
    )
    with pytest.raises(OutputError, match="has no 'resource_trades'"):
        make_figure(tmp_path / "no.h5", "trade_network")
