"""Do the models of one file have the numbers that others have published or derived?"""

import numpy as np
import pytest
import xarray as xr

import societies
from societies.models import zero_intelligence


@pytest.fixture
def run(tmp_path):
    """Run settings, whose columns are values of each society, and return the results."""

    def results(table=None, **settings):
        path = tmp_path / "run.h5"
        config = societies.config_from_dict(settings)
        societies.run(config, out=path, overwrite=True, table=table)
        with xr.open_dataset(path) as found:
            return found.load()

    return results


def test_money_becomes_geometric(run):
    """With money for four payments each the Gini coefficient is 5/9, less 1/n for n agents."""
    late = run(workload="boltzmann", agents=500, money=40, days=400, replicates=8)
    late = late.sel(day=slice(101, None))
    assert np.all(late.total == 500 * 40)
    assert abs(late.gini.mean() - 5 / 9 * 499 / 500) < 0.003
    assert abs(late.poor.mean() / 500 - 1 / 5) < 0.003


EQUILIBRIA = {1: (69, 24), 2: (69, 15), 3: (106, 6), 4: (170, 15), 5: (131, 24)}
"""Price and quantity of the published markets."""


@pytest.mark.parametrize("market", EQUILIBRIA)
def test_demand_and_supply_cross_where_they_were_published_to_cross(market):
    price, quantity = EQUILIBRIA[market]
    units, value, less, cost, more = zero_intelligence.MARKETS[market - 1]
    values = [value - less * k for k in range(units)]
    costs = [cost + more * k for k in range(units)]
    assert sum(v >= c for v, c in zip(values, costs, strict=True)) == quantity
    lowest = max(costs[quantity - 1], values[quantity])
    highest = min(values[quantity - 1], costs[quantity])
    assert lowest - 1 <= price <= highest + 1


def test_traders_without_intelligence_are_efficient_if_they_make_no_loss(run):
    """Gode and Sunder (1993): 97 % and more in each of five markets; otherwise less."""
    table = {"market": [market for market in EQUILIBRIA for _ in range(20)]}
    means = {}
    for constrained in (True, False):
        found = run(workload="zero_intelligence", days=6, constrained=constrained, table=table)
        days = found.mean("day")
        shape = (len(EQUILIBRIA), 20)
        means[constrained] = {
            name: days[name].values.reshape(shape).mean(1) for name in ("efficiency", "price_sd")
        }
    assert np.all(means[True]["efficiency"] > 0.97)
    assert np.all(means[False]["efficiency"] < means[True]["efficiency"] - 0.05)
    assert np.all(means[False]["price_sd"] > 2 * means[True]["price_sd"])


def test_mild_wishes_segregate(run):
    """Who wants 30 % of its neighbours alike has some 70 % in the end."""
    found = run(workload="schelling", days=30, replicates=4)
    first, last = found.isel(day=0), found.isel(day=-1)
    assert np.all(abs(first.alike - 0.5) < 0.03)
    assert np.all(abs(last.alike - 0.72) < 0.05)
    assert np.all(last.happy == 1)


def test_ants_have_the_distribution_of_their_shares(run):
    """The variance of a beta-binomial share, and a memory of (1 - 2 own / ants) each meeting."""
    ants, own, convinced, meetings = 40, 0.02, 0.97, 200
    settings = {"ants": ants, "own": own, "convinced": convinced, "meetings": meetings}
    found = run(workload="kirman_ants", days=3000, replicates=16, **settings)
    a = own * (ants - 1) / convinced
    share = found.share.values[:, 100:] - 0.5
    variance = np.mean(share**2)
    assert abs(np.mean(share)) < 0.02
    assert abs(variance / ((1 + 2 * a / ants) / (4 * (2 * a + 1))) - 1) < 0.03
    memory = np.mean(share[:, 5:] * share[:, :-5]) / variance
    assert abs(memory - (1 - 2 * own / ants) ** (5 * meetings)) < 0.03


def test_prices_approach_1_and_trade_feeds_more(run):
    settings = {"workload": "sugarscape", "days": 300, "replicates": 8}
    traded, alone = run(**settings), run(**settings, trade=False)
    days = traded.mean("society")
    assert abs(days.log_price.sel(day=slice(201, None)).mean()) < 0.05
    spread = [days.log_price_sd.sel(day=slice(*span)).mean() for span in ((1, 20), (201, 300))]
    assert spread[1] < spread[0] / 3
    agents = [one.agents.isel(day=-1).mean() for one in (traded, alone)]
    assert agents[0] > agents[1] * 1.05
