"""Do the models of one file have the numbers that others have published or derived?

A mean over societies agrees with theory if it is at most four standard errors from it: by chance
a right model misses that once in some two hundred times (t, seven degrees of freedom), and seeds
are fixed. The standard error itself has a bound, so that a model whose numbers vary too much to
say anything fails.
"""

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


def require_mean(societies, theory, precision):
    """Require that the mean over societies is the theory's, known to this precision at least."""
    values = np.asarray(societies, float)
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert error <= precision, f"standard error {error:g}"
    assert abs(values.mean() - theory) <= 4 * error, f"{values.mean():g} +- {error:g}"


def test_money_becomes_geometric(run):
    """Payments of one size from anyone who can: money has the geometric distribution.

    Its mean here is m = 4 payments, of which a share 1 / (1 + m) = 1/5 has none. Its Gini
    coefficient is (1 + m) / (1 + 2 m) = 5/9, of n agents (n - 1) / n of that.
    """
    late = run(workload="boltzmann", agents=500, money=40, days=400, replicates=8)
    late = late.sel(day=slice(101, None))
    assert np.all(late.total == 500 * 40)
    require_mean(late.gini.mean("day"), 5 / 9 * 499 / 500, precision=0.005)
    require_mean(late.poor.mean("day") / 500, 1 / 5, precision=0.005)


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
    """Gode and Sunder (1993): at least 97 % in the mean of each of five markets.

    Traders who may make losses trade every unit, as every shout of the whole range comes in time.
    So their efficiency follows from the schedules alone: all values less all costs, over the
    largest possible gains.
    """
    table = {"market": [market for market in EQUILIBRIA for _ in range(20)]}
    shape = (len(EQUILIBRIA), 20)
    means, spread = {}, {}
    for constrained in (True, False):
        found = run(workload="zero_intelligence", days=6, constrained=constrained, table=table)
        means[constrained] = found.efficiency.mean("day").values.reshape(shape).mean(1)
        spread[constrained] = found.price_sd.mean("day").values.reshape(shape).mean(1)
    assert np.all(means[True] >= 0.97)
    expected = []
    for units, value, less, cost, more in zero_intelligence.MARKETS:
        gains = [value - cost - (less + more) * k for k in range(units)]
        expected.append(sum(gains) / sum(max(0, gain) for gain in gains))
    assert np.allclose(means[False], expected, rtol=1e-12)
    assert np.all(means[True] > means[False])
    assert np.all(spread[True] < spread[False])


def test_mild_wishes_segregate(run):
    """Who wants 30 % of its neighbours alike has some 70 % in the end.

    So the information of U. Wilensky's Segregation (NetLogo, 1997), in whole tens of percent. At
    first half of all neighbours are alike.
    """
    found = run(workload="schelling", days=30, replicates=8)
    first, last = found.isel(day=0), found.isel(day=-1)
    assert abs(last.alike.mean() - 0.7) <= 0.05
    assert np.all(last.happy == 1)
    assert np.all(first.alike < last.alike)


def test_ants_have_the_distribution_of_their_shares(run):
    """The share has the beta-binomial distribution, and forgets 2 own / ants of it in a meeting.

    Its variance is (1 + 2 a / n) / (4 (2 a + 1)) with a = own (n - 1) / convinced.
    """
    ants, own, convinced, meetings = 40, 0.02, 0.97, 200
    settings = {"ants": ants, "own": own, "convinced": convinced, "meetings": meetings}
    found = run(workload="kirman_ants", days=3000, replicates=16, **settings)
    a = own * (ants - 1) / convinced
    share = found.share.values[:, 100:] - 0.5
    variance = (1 + 2 * a / ants) / (4 * (2 * a + 1))
    require_mean(share.mean(1), 0.0, precision=0.01)
    require_mean((share**2).mean(1), variance, precision=0.01 * variance)
    memory = (1 - 2 * own / ants) ** (5 * meetings)
    later = (share[:, 5:] * share[:, :-5]).mean(1)
    require_mean(later - memory * (share**2).mean(1), 0.0, precision=0.01 * variance)


def test_prices_approach_1_and_trade_feeds_more(run):
    """Epstein and Axtell (1996, chapter IV): prices approach 1, ever less scattered.

    And more agents survive if they trade: with the same draws in nearly every society.
    """
    settings = {"workload": "sugarscape", "days": 300, "replicates": 8}
    traded, alone = run(**settings), run(**settings, trade=False)
    late = traded.log_price.sel(day=slice(201, None)).mean("day")
    require_mean(late, 0.0, precision=0.02)
    spread = traded.log_price_sd
    hundreds = [spread.sel(day=slice(first + 1, first + 100)).mean() for first in (0, 100, 200)]
    assert hundreds[0] > hundreds[1] > hundreds[2]
    more = traded.agents.isel(day=-1) - alone.agents.isel(day=-1)
    assert more.mean() > 4 * more.std(ddof=1) / np.sqrt(len(more))
