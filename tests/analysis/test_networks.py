"""Does a trade network add up to the swaps that were logged, and does its figure show it?"""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from small import WITH_DEVICES

import societies
from reference_py.economy.schedule import schedule
from reference_py.economy.state import links
from societies import sweep
from societies.analysis import export, make_figure, trade_network
from societies.economy.parameters import parameters
from societies.errors import ConfigError, Interrupted

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
    with pytest.raises(ConfigError, match=r"day=3: its trades are not recorded; recorded: 2, 5"):
        trade_network(swaps, day=3)


@pytest.mark.ci
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
    with pytest.raises(ConfigError, match="day=5: its trades are not recorded; recorded: 15, 20"):
        make_figure(path, "trade_network", day=5)


def test_a_file_without_a_log_has_no_network(tmp_path):
    societies.run(
        societies.config_from_dict({**SIZE, "days": 1}), device="reference", out=tmp_path / "no.h5"
    )
    with pytest.raises(ConfigError, match=r"'no' has no trades .*record\.network"):
        make_figure(tmp_path / "no.h5", "trade_network")


TRADERS = {
    **SIZE,
    **WITH_DEVICES,
    "days": 8,
    "replicates": 2,
    "first_society": 3,
}
"""A society in which resources are swapped and devices of several types are sold within days."""


def run(path, record, device="reference", **more):
    settings = {**TRADERS, **more, "record": {"checkpoint": 3, **record}}
    societies.run(societies.config_from_dict(settings), device=device, out=path)
    return path


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    log = {"trade_log": {"days": [5, 8], "societies": 2}}
    return trade_network(run(tmp_path_factory.mktemp("log") / "log.h5", log))


@pytest.mark.ci
@pytest.mark.parametrize("device", ["reference", pytest.param("auto", marks=pytest.mark.thorough)])
def test_a_recorded_network_is_that_of_the_trade_log(logged, tmp_path, device):
    path = run(tmp_path / "network.h5", {"network": [8, 5]}, device)
    found = trade_network(path)
    assert found.units.sum() > 0 and (found.devices.sum("link") > 0).sum() > 1
    xr.testing.assert_identical(found, logged)
    xr.testing.assert_identical(trade_network(path, day=5, society=4), trade_network_of(logged))
    rows = xr.open_dataset(path, group="events/trade_network")  # as other programs read it
    assert rows.units.sum() == logged.units.sum() and rows.day.isnull().any()


def trade_network_of(links):
    chosen = np.flatnonzero((links.day == 5) & (links.society == 4))
    return links.isel(link=chosen)


@pytest.mark.ci
def test_a_file_with_both_has_the_days_of_both(logged, tmp_path):
    log = {"trade_log": {"days": [8], "societies": 2}}
    path = run(tmp_path / "both.h5", {"network": [5], **log})
    for day in (5, 8):
        expected = logged.isel(link=np.flatnonzero(logged.day == day))
        xr.testing.assert_identical(trade_network(path, day=day), expected)
    make_figure(path, "trade_network", day=5)


@pytest.mark.parametrize("devices", ["none", "tools", "all"])
def test_there_is_room_for_everyone_whom_an_agent_can_meet(devices):
    config = societies.config_from_dict(
        {**TRADERS, "agents": 5000, "devices": devices, "record": {"network": [1]}}
    )
    p = parameters(config)
    steps = [step.function.__name__ for step in schedule(p, 1)]
    assert links(p) >= steps.count("trading") + steps.count("device_trading")


@pytest.mark.ci
def test_nothing_else_depends_on_the_network(tmp_path):
    plain = run(tmp_path / "plain.h5", {}, days=5)
    with_it = run(tmp_path / "with.h5", {"network": [5]}, days=5)
    with societies.open_results(plain) as one, societies.open_results(with_it) as other:
        xr.testing.assert_equal(one.load(), other.load())
        assert one.attrs["model_version"] == other.attrs["model_version"]


@pytest.mark.ci
def test_an_interrupted_run_has_the_network_of_a_straight_one(tmp_path):
    """The links of a day are not part of a checkpoint: they begin again every morning."""
    straight = run(tmp_path / "straight.h5", {"network": [2, 7]})
    config = societies.config_from_dict({**TRADERS, "record": {"checkpoint": 3, "network": [2, 7]}})

    def stop(day, last):
        if day >= 5:
            raise KeyboardInterrupt

    path = tmp_path / "stopped.h5"
    with pytest.raises((KeyboardInterrupt, Interrupted)):
        societies.run(config, device="reference", out=path, progress=stop)
    societies.run(config, device="reference", out=path, resume=True)
    xr.testing.assert_identical(trade_network(path), trade_network(straight))


IDLE = {**SIZE, "days": 3, "replicates": 2, "trading": {"min_surplus": 1e12}}
"""A society in which no swap is worth its while."""


@pytest.mark.ci
def test_a_day_on_which_no_agent_traded_is_a_day_without_links(tmp_path, shell):
    for name, record in (
        ("network", {"network": [3, 1]}),
        ("log", {"trade_log": {"days": [1, 3], "societies": 1}}),
    ):
        path = tmp_path / f"{name}.h5"
        settings = {**IDLE, "record": record}
        societies.run(societies.config_from_dict(settings), device="reference", out=path)
        assert trade_network(path).sizes["link"] == 0
        assert trade_network(path, day=3, society=0).sizes["link"] == 0
        with pytest.raises(ConfigError, match=r"^day=2: its trades are not .*; recorded: 1, 3"):
            trade_network(path, day=2)
        figure = make_figure(path, "trade_network", day=1)
        assert not np.any(figure.axes[1].images[0].get_array().filled(0))
        assert "no trade" in [text.get_text() for text in figure.axes[1].texts]
        assert figure.axes[0].get_title("left") == "Trade between agents, day 1"
    assert trade_network(tmp_path / "network.h5", society=1).sizes["link"] == 0
    with pytest.raises(ConfigError, match=r"^society=1: its trades are not recorded; recorded: 0$"):
        trade_network(tmp_path / "log.h5", society=1)
    with pytest.raises(ConfigError, match=r"^run=0: these trades have no run; choose by soc"):
        trade_network(tmp_path / "log.h5", run=0)
    with societies.open_results(tmp_path / "network.h5", events="trade_network") as table:
        assert trade_network(table, day=3).sizes["link"] == 0
    words = ("plot", str(tmp_path / "network.h5"), "--figure", "trade_network", "--day", "2")
    code, _, said = shell(*words)
    assert (code, said.strip()) == (2, "--day 2: its trades are not recorded; recorded: 1, 3")


@pytest.mark.ci
def test_a_day_that_an_unfinished_run_has_not_reached_is_not_recorded(tmp_path):
    def stop(day, last):
        if day >= 3:
            raise KeyboardInterrupt

    config = societies.config_from_dict({**TRADERS, "record": {"checkpoint": 3, "network": [2, 7]}})
    path = tmp_path / "stopped.h5"
    with pytest.raises((KeyboardInterrupt, Interrupted)):
        societies.run(config, device="reference", out=path, progress=stop)
    assert trade_network(path, day=2).sizes["link"]
    with pytest.raises(ConfigError, match="day=7: its trades are not recorded; recorded: 2"):
        trade_network(path, day=7)


@pytest.mark.ci
def test_a_study_has_the_networks_of_its_days(tmp_path):
    """Societies 3 and 4 are runs 0 and 1 of the study and those of one file; also without swaps."""
    base = {**TRADERS, "replicates": 1, "record": {"network": [5, 8]}}
    document = {
        "base": base,
        "vary": {"grid": {"trading.min_surplus": [0.1, 1e12]}},
        "replicates": 2,
        "record": {"variables": ["gini"], "ticks": [8]},
    }
    study = tmp_path / "study.h5"
    sweep.run(document, out=study, device="reference", batch=3)
    found = trade_network(study)
    surplus = {**TRADERS["trading"], "min_surplus": 0.1}
    expected = trade_network(run(tmp_path / "run.h5", {"network": [8, 5]}, trading=surplus))
    expected = expected.assign(run=expected.society - 3)
    same_links(trade_network(study, run=[0, 1]), expected)
    assert expected.units.sum() and expected.devices.sum()
    assert set(found.day.values) == {5, 8} and not found.units.values[found.run > 1].any()
    same_links(
        trade_network(study, day=5, run=1),
        expected.isel(link=np.flatnonzero((expected.run == 1) & (expected.day == 5))),
    )
    with pytest.raises(ConfigError, match=r"^day=7: its trades are not recorded; recorded: 5, 8$"):
        trade_network(study, day=7)
    with pytest.raises(ConfigError, match=r"^run=4: its trades are not .*: 0, 1, 2, 3$"):
        trade_network(study, run=4)
    with societies.open_results(study) as data:
        same_links(trade_network(data), found)
        day = trade_network(study, day=5, run=1)
        figure = make_figure(data, "trade_network", day=5, run=1)
    shown = np.nan_to_num(figure.axes[1].images[0].get_array().filled(0))
    assert shown.sum() == day.units.sum() + day.units_paid.sum()
    (csv,) = export(study, "csv", variables="trade_network", out=tmp_path / "links.csv")
    rows = pd.read_csv(csv)
    assert list(rows.columns[:2]) == ["run", "day"] and rows.units.sum() == found.units.sum()


def same_links(one, other):
    """Raise AssertionError unless two networks have the same links, named by runs."""
    for name in ("run", "day", "giver", "taker", "units", "swaps", "units_paid", "devices"):
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize(
    ("days", "message"),
    [([3, 3], r"record\.network\.1: day 3 is listed twice"), ([0], r"record\.network\.0")],
)
def test_wrong_days_are_refused(days, message):
    with pytest.raises(ConfigError, match=message):
        societies.config_from_dict({**TRADERS, "record": {"network": days}})
