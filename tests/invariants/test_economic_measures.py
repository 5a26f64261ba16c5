"""Are prices, income, consumption and wealth what docs/model.md says, counted in another way?

That device and reference agree is tested with all phases (tests/parity/test_every_phase.py); here
both are held against accounting identities, the trades themselves, and figures by hand.
"""

import functools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from engines import DeviceEngine

from reference_py.economy import measures
from reference_py.economy.curves import utility_curve
from reference_py.economy.measures import measure_names
from reference_py.economy.schedule import schedule
from reference_py.economy.society import new_society
from societies import config_from_dict, open_results, run
from societies.economy.parameters import parameters
from societies.economy.workload import WORKLOAD
from societies.errors import ConfigError
from societies.opencl import choose_device
from societies.workload.running.points import with_table

PLAIN = {
    "workload": "economy",
    "agents": 6,
    "resources": 6,
    "days": 12,
    "seed": 4,
    "day_length": 150.0,
    "utility": {"min_marginal": 2.5},
    "extraction": {"max_experience": 150.0},
    "trading": {"rounds": 3, "menu_size": 3},
    "record": {"measures": True, "agent": 1},
}
DEVICES = {
    "devices": "all",
    "device": {"resources_in_tool": 3, "components": 3},
    "devices_market": {"rounds": 4},
    "invention": {
        "tool_probability": 0.02,
        "device_probability": 0.1,
        "min_made_for_device_maker": 1,
    },
}


@functools.cache
def lived(devices=False, numeraire="any"):
    """Return the parameters, the society after every day and what was reported on it."""
    record = {**PLAIN["record"], "numeraire": numeraire}
    more = DEVICES if devices else {"days": 40}
    p = parameters(config_from_dict({**PLAIN, **more, "record": record}))
    society, events, days = new_society(p), [], []
    society.listener = lambda event, facts: events.append((event, dict(facts)))
    for day in range({**PLAIN, **more}["days"] + 1):
        events.clear()
        for step in schedule(p, day):
            step.run(p, society, day)
            if step.function.__name__ == "consumption":
                left = [sum(held) for held in society.held]
        if day:
            state = {name: np.array(value) for name, value in vars(society).items() if value}
            named = dict(zip(measure_names(p), society.measures, strict=True))
            days.append(SimpleNamespace(**state, named=named, events=list(events), left=left))
    return p, days


def swaps(day):
    """Yield giver, resource and units given, resource and units received, for both sides."""
    bargain = offer = None
    for event, facts in day.events:
        if event == "bargain":
            bargain = facts
        elif event == "proposal":
            offer = facts
        elif event == "swap":
            a, b, give, take = (bargain[name] for name in ("a", "b", "give", "take"))
            given, taken = offer["given"], offer["taken"]
            yield a, give, given, take, taken, offer["surplus_a"]
            yield b, take, taken, give, given, offer["surplus_b"]


def test_wealth_is_that_of_yesterday_and_income_less_consumption():
    _, days = lived()
    before = np.zeros(6)
    for day in days:
        after = before + day.income - day.utility_consumed
        np.testing.assert_allclose(day.wealth, after, rtol=1e-9)
        before = day.wealth
    assert sum(day.named["income_swaps"] for day in days) > 100.0


def test_income_is_the_value_of_what_was_extracted_and_gained():
    _, days = lived(devices=True)
    sold = 0.0
    for day in days:
        extracted, swapped, sales, paid = (np.zeros(6) for _ in range(4))
        offer = None
        for event, facts in day.events:
            if event == "unit":
                extracted[facts["agent"]] += facts["value"]
            elif event == "device_offer":
                offer = facts
            elif event == "device_price" and facts["refused"] is None:
                sales[offer["seller"]] += facts["received"]
                paid[offer["buyer"]] += facts["paid"]
        for agent, *_, gained in swaps(day):
            swapped[agent] += gained
        np.testing.assert_allclose(day.income_extraction, extracted, rtol=1e-9)
        np.testing.assert_allclose(day.income_swaps, swapped, rtol=1e-9)
        np.testing.assert_allclose(day.income_sales, sales, rtol=1e-9)
        np.testing.assert_allclose(day.spending_devices, paid, rtol=1e-9)
        np.testing.assert_allclose(day.income, extracted + swapped + sales, rtol=1e-9)
        np.testing.assert_array_equal(day.units_consumed, day.units_held - day.left)
        sold += sales.sum()
    assert sold > 0.0


@pytest.mark.parametrize("numeraire", ["any", 2])
def test_prices_are_those_of_the_swaps(numeraire):
    p, days = lived(numeraire=numeraire)
    seen = 0
    for day in days:
        rates = [[] for _ in range(p.resources)]
        for _, give, given, take, taken, _ in swaps(day):
            if numeraire in ("any", take):
                rates[give] += [taken / given] * given  # one for each unit given away
        for r, of in enumerate(rates):
            assert day.resource_units_priced[r] == len(of)
            expected = (np.mean(of), np.std(of) / np.mean(of)) if of else (math.nan, math.nan)
            found = day.resource_price[r], day.resource_price_dispersion[r]
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
        means = [np.mean(of) for of in rates if of]
        if means:
            seen += len(means)
            spread = [np.std(of) / np.mean(of) * len(of) for of in rates if of]
            expected = [np.mean(means), np.std(means) / np.mean(means)]
            expected.append(sum(spread) / sum(map(len, rates)))
            found = [day.named[name] for name in measures.PRICES]
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
        else:
            assert all(math.isnan(day.named[name]) for name in measures.PRICES)
    assert seen > 20


def test_gini_and_top_shares_are_those_of_the_agents():
    _, days = lived(devices=True)
    day = days[-1]
    for name, field in (("income", "income"), ("consumption", "utility_consumed")):
        x = np.sort(getattr(day, field))
        gini = np.abs(x[:, None] - x).sum() / (2 * len(x) ** 2 * x.mean())
        assert day.named[f"gini_{name}"] == pytest.approx(gini)
        assert day.named[f"{name}_median"] == pytest.approx(np.median(x))
        shares = [day.named[f"top_share_{name}_{top}"] for top in range(3)]
        expected = [0.06 * x[-1], 0.6 * x[-1], x[-3:].sum()]
        assert shares == pytest.approx(np.array(expected) / x.sum())


def test_top_share_by_hand():
    assert measures.top_share([3.0, 1.0, 2.0, 4.0], 10.0, 0.5) == 0.7
    assert measures.top_share([3.0, 1.0, 2.0, 4.0], 10.0, 0.375) == 0.55
    assert measures.top_share([0.0, 0.0], 0.0, 0.5) == 0.0


def test_devices_are_worth_what_making_new_ones_would_cost():
    """By hand: half a tool, and a quarter of a machine that is made of two tools."""
    p, days = lived(devices=True)
    society, agent, r = new_society(p), 0, 3
    assert measures.worth_of_devices(p, society, agent) == [0.0] * 6
    society.recipe[0][r], society.recipe[0][4] = [0, 1, 2], [0, 1, 5]
    society.recipe[1][r] = [r, 4, -1]
    society.held[agent][:] = [4, 2, 1, 1, 1, 0]
    society.device_minutes[agent][0][r] = p.device_lifetime[0] / 2.0
    society.device_minutes[agent][1][r] = p.device_lifetime[1] / 4.0
    society.device_experience[agent][0][r] = 3.0
    society.minute_value = 2.0
    minutes = p.devices.effort_curves[0].minutes
    last = utility_curve(p, agent, r).marginal
    tool = minutes[3] * 2.0 + last[3] + last[1] + last[0]
    other = minutes[0] * 2.0 + last[3] + last[1]
    expected = 0.5 * tool + 0.25 * (minutes[0] * 2.0 + tool + other)
    worth = measures.worth_of_devices(p, society, agent)
    assert worth == [0.0, 0.0, 0.0, pytest.approx(expected), 0.0, 0.0]
    living = days[-1].alive > 0
    assert days[-1].minute_value == np.median(days[-1].gain_per_minute[living])
    assert days[-1].named["wealth_devices"] > 0.0


@pytest.mark.ci
def test_nothing_else_depends_on_measures(tmp_path):
    """The state and every other variable are the same bits; detail is that of the agents."""
    found = {}
    for on in (False, True):
        config = config_from_dict({**PLAIN, "record": {"measures": on, "agent": 1}})
        out = tmp_path / f"{on}.h5"
        report = run(config, out=out, device="reference")
        with open_results(out) as results:
            found[on] = report.state_sha256, results.load()
    assert found[False][0] == found[True][0]
    plain, measured = found[False][1], found[True][1]
    for name in plain.variables:
        assert measured[name].identical(plain[name]), name
    new = measured.isel(society=0).sel(day=5)
    assert {"gini_income", "resource_price", "agent_wealth"} <= set(measured) - set(plain)
    assert float(new.wealth) == pytest.approx(float(new.agent_wealth.mean()))
    assert new.top_share_wealth.sel(top=0.5) >= 0.5
    _, days = lived()
    assert new.agent_income.values.tolist() == days[4].income.tolist()


@pytest.mark.thorough
def test_measures_of_societies_with_parameters_of_their_own():
    """With a table of parameters, and after interventions, each society has its own measures."""
    _, days = lived()
    config = with_table(config_from_dict({**PLAIN, "replicates": 2}), {"day_length": [150.0, 90.0]})
    engine = DeviceEngine(choose_device("auto"), WORKLOAD.parameters(config))
    engine.start()
    engine.run_days(1, 3)
    found = engine.arrays("measures", "income")
    assert found["measures"][0].tobytes() == np.array(days[2].measures).tobytes()
    assert found["income"][1].mean() < found["income"][0].mean()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"measures": True, "numeraire": 6}, "record.numeraire: there is no resource 6"),
        ({"numeraire": 1}, "record.numeraire: is used for prices"),
    ],
)
def test_numeraire_that_is_none(record, message):
    with pytest.raises(ConfigError, match=message):
        config_from_dict({**PLAIN, "record": record})
