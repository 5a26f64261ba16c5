"""Do device and plain Python agree in every bit, and does what must hold always hold?"""

import numpy as np
import pytest
import societies
import xarray as xr
from societies.workload.running.engines import DeviceEngine

from my_model import WORKLOAD


AGENTS = 51  # odd: one rests. The same everywhere, as each number is a program to build.


def config_of(**settings):
    return societies.config_from_dict({"workload": "my_model", **settings})


def simulated(tmp_path, **settings):
    """Run a configuration; return its results."""
    report = societies.run(config_of(**settings), out=tmp_path / "run.h5")
    with xr.open_dataset(report.path) as results:
        return results.load()


@pytest.mark.parametrize(
    "settings",
    [
        {"agents": 1},
        {"agents": 2, "amount": 100},
        {"agents": AGENTS, "replicates": 3},
    ],
    ids=str,
)
def test_device_and_reference_are_identical(settings):
    report = societies.verify(config_of(days=40, **settings), days=40)
    assert report.identical, str(report)


@pytest.fixture(scope="module")
def device():
    return societies.choose_device()


@pytest.mark.parametrize("lanes", [1, 31])
def test_the_workgroup_changes_nothing(device, lanes):
    def final(lanes):
        config = config_of(agents=AGENTS, replicates=2)
        engine = DeviceEngine(WORKLOAD, config, device, copies=2, work_items=lanes)
        engine.start()
        engine.run_ticks(1, 30)
        return engine.logs()["series"].tobytes(), engine.hash()

    assert final(lanes) == final(None)


def test_a_society_of_an_ensemble_is_itself_alone(tmp_path):
    settings = {"agents": AGENTS, "days": 30, "record": {"detail": 10}}
    together = simulated(tmp_path, replicates=5, **settings)
    assert len(np.unique(together.gini[:, -1])) == 5
    (tmp_path / "run.h5").unlink()
    alone = simulated(tmp_path, first_society=3, **settings)
    xr.testing.assert_identical(alone.drop_attrs(), together.sel(society=[3]).drop_attrs())


def test_no_money_is_made_or_lost(tmp_path):
    results = simulated(tmp_path, agents=AGENTS, money=25, days=60, record={"detail": 1})
    assert (results.total == AGENTS * 25).all()
    assert (results.money.sum("agent") == AGENTS * 25).all()
    assert (results.money >= 0).all()
    assert (results.richest.values == results.money.max("agent").values).all()


def test_the_distribution_becomes_exponential(tmp_path):
    """The Gini coefficient of an exponential distribution is 1/2.

    In steps of `amount` it is geometric, (m + 1) / (2 m + 1) with a mean of m steps; n agents show
    (n - 1) / n of it.
    """
    results = simulated(tmp_path, agents=AGENTS, money=50, days=1000, replicates=16)
    settled = float(results.gini.sel(day=slice(300, None)).mean())
    assert settled == pytest.approx(6 / 11 * (AGENTS - 1) / AGENTS, abs=0.02)
