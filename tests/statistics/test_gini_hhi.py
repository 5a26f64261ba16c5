"""Are the statistics in the file what their textbook definitions give?

The definitions, written with NumPy and without the sums in a fixed order that devices need; the
numbers, from a file that `societies.run` wrote and xarray opened.
"""

import numpy as np
import pytest
import xarray as xr
from engines import ReferenceEngine

import societies
from reference_py.economy import statistics
from reference_py.primitives.reduce import reduce_sum
from societies import config_from_dict
from societies.economy.parameters import parameters
from societies.economy.schedule import day_schedule

AGENTS, RESOURCES, DAYS, SOCIETIES = 7, 6, 14, 2
REMOVED, REMOVED_ON = 2, 6
QUANTILES = [0, 0.25, 0.5, 0.75, 1]


def gini(values):
    """Mean absolute difference over twice the mean: the definition, in n * n differences."""
    values = np.asarray(values, dtype=float)
    if values.sum() == 0:
        return 0.0
    return np.abs(values[:, None] - values[None, :]).mean() / (2 * values.mean())


def hhi(extracted):
    """Sum of squared shares of each resource; (agent, resource) to (resource,)."""
    total = extracted.sum(axis=0)
    return ((extracted / np.maximum(total, 1)) ** 2).sum(axis=0)


# -- the definitions, on random data ---------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 10, 48, 101])
def test_gini_of_random_values(n):
    rng = np.random.default_rng(n)
    for values in (rng.random(n), rng.pareto(1.2, n), rng.integers(0, 4, n).astype(float)):
        found = statistics.gini(values.tolist(), reduce_sum(values.tolist()))
        assert found == pytest.approx(gini(values), rel=1e-9, abs=1e-12)


def test_gini_at_its_ends():
    assert statistics.gini([0.0, 0.0, 0.0], 0.0) == 0.0
    assert statistics.gini([5.0], 5.0) == 0.0
    for n in (2, 3, 7, 48):
        for share in (1.0, 0.1, 1e-300, 123456.789):
            equal = [share] * n
            assert 0.0 <= statistics.gini(equal, reduce_sum(equal)) < 1e-14
        one_has_all = [0.0] * (n - 1) + [3.0]
        assert statistics.gini(one_has_all, 3.0) == pytest.approx((n - 1) / n)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 48, 70])
def test_median_and_quartiles_of_random_values(n):
    values = np.random.default_rng(n).random(n)
    assert statistics.median(values.tolist()) == pytest.approx(np.median(values), rel=1e-15)
    expected = np.quantile(values, QUANTILES)
    np.testing.assert_allclose(statistics.quartiles(values.tolist()), expected, rtol=1e-14)


# -- the file --------------------------------------------------------------------------------------

SETTINGS = {
    "workload": "economy",
    "agents": AGENTS,
    "resources": RESOURCES,
    "days": DAYS,
    "seed": 21,
    "replicates": SOCIETIES,
    "utility": {"min_marginal": 20.0},
    "trading": {"menu_size": 2},
    "groups": [
        {"name": "able", "count": 3, "extraction": {"max_effort": [3.0, 3.0, 9.0, 9.0, 9.0, 9.0]}},
        {"name": "slow", "count": 4},
    ],
    "shocks": [
        {"day": REMOVED_ON, "remove": "agent", "index": REMOVED},
        {"day": 3, "remove": "resource", "index": 5, "holdings": "lose"},
    ],
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("statistics") / "run.h5"
    societies.run(config_from_dict(SETTINGS), device="reference", out=path)
    with xr.open_dataset(path) as dataset:
        return dataset.load()


@pytest.fixture(scope="module")
def evenings():
    """Return what statistics are taken of on every day: the state at the end of the day."""
    p = parameters(config_from_dict(SETTINGS))
    engine = ReferenceEngine(p)
    engine.start()
    result = []
    for day in range(1, DAYS + 1):
        for step in day_schedule(p, day):
            engine.step(step, day)
            if step.phase == "end_day":
                result.append(engine.state())
    return result


@pytest.fixture(scope="module")
def utilities(evenings):
    """Return the utility of every agent on every day, (day, society, agent), summed afresh."""
    marginal = 600.0 * np.diff(np.arange(0, 20_000) ** 0.4)
    worth = np.concatenate([[0.0], np.cumsum(np.maximum(marginal, 20.0))])
    return np.array([worth[state["held"]].sum(axis=-1) for state in evenings])


def living(day):
    """Agents alive on a day; removal is at the end of its day."""
    return [a for a in range(AGENTS) if a != REMOVED or day <= REMOVED_ON]


def each(file):
    for society in range(SOCIETIES):
        for day in range(1, DAYS + 1):
            yield society, day, file.isel(society=society).sel(day=day)


def test_means_and_medians_are_over_the_living(file, evenings, utilities):
    for society, day, row in each(file):
        alive = living(day)
        state = {
            name: array[society][alive]
            for name, array in evenings[day - 1].items()
            if name in ("held", "extracted", "units_sold", "deals", "minutes")
        }
        utility = utilities[day - 1, society, alive]
        assert row.agents_alive == len(alive)
        assert row.utility == pytest.approx(utility.mean(), rel=1e-9)
        assert row.utility_median == pytest.approx(np.median(utility), rel=1e-9)
        assert row.units_extracted == pytest.approx(state["extracted"].sum(axis=1).mean())
        assert row.units_held == pytest.approx(state["held"].sum(axis=1).mean())
        assert row.units_traded == pytest.approx(state["units_sold"].mean())
        assert row.deals == pytest.approx(state["deals"].mean())
        assert row.resources_extracted == pytest.approx((state["extracted"] > 0).sum(axis=1).mean())
        assert row.units_held_max == state["held"].max()
        assert row.minutes.sel(activity="hand") == pytest.approx(state["minutes"].mean())
    assert file.units_traded.sum() > 0


def test_gini_is_that_of_the_livings_utilities(file, evenings, utilities):
    for society, day, row in each(file):
        alive = living(day)
        assert row.gini == pytest.approx(gini(utilities[day - 1, society, alive]), abs=1e-9)
        so_far = utilities[:day, society][:, alive].sum(axis=0)
        assert row.gini_cumulative == pytest.approx(gini(so_far), abs=1e-9)
        units = evenings[day - 1]["extracted"][society][alive].sum(axis=1)
        assert row.gini_extracted == pytest.approx(gini(units), abs=1e-9)
    assert file.gini.max() > 0.01


def test_the_ginis_around_a_day_come_from_the_day_before_to_the_day_after(file, utilities):
    """Of the agents that are alive on the day after; missing on the first and the last day."""
    for society, day, row in each(file):
        if day in (1, DAYS):
            assert np.isnan(row.gini_3day)
            assert np.isnan(row.gini_paper)
            continue
        alive = living(day + 1)
        around = utilities[day - 2 : day + 1, society][:, alive].sum(axis=0)
        so_far = utilities[:day, society][:, alive].sum(axis=0)
        assert row.gini_3day == pytest.approx(gini(around), abs=1e-9)
        paper = gini(around) * around.mean() / so_far.mean()
        assert row.gini_paper == pytest.approx(paper, abs=1e-9)


def test_hhi_is_quantiles_over_resources_of_squared_shares(file, evenings):
    for society, day, row in each(file):
        expected = np.quantile(
            hhi(evenings[day - 1]["extracted"][society].astype(float)), QUANTILES
        )
        np.testing.assert_allclose(row.hhi, expected, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(row.hhi["quantile"], QUANTILES)
        assert row.hhi.max() <= 1 + 1e-12
    # No agent extracts the removed resource; the others have 1 / agents at least.
    assert np.all(file.hhi.sel(day=slice(4, None), quantile=0) == 0)
    assert np.all(file.hhi.sel(day=slice(1, 3), quantile=0) >= 1 / AGENTS - 1e-12)
