"""Do economic measures count the living alone, and is a device worth what making it would cost?

Source: docs/model.md, "Economic measures". States are set by hand; measures of whole runs:
tests/invariants/test_economic_measures.py.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from states import recipe, started

from reference_py.economy import measures
from reference_py.economy.curves import utility_curve
from reference_py.economy.devices import (
    DEVICE_FACTORY,
    DEVICE_MACHINE,
    FACTORY,
    INDUSTRY,
    MACHINE,
    TOOL,
)
from reference_py.economy.tables import device_effort

RECORD = {"measures": True, "numeraire": "any"}
VALUES = {
    "income": [8.0, 0.5, 2.0, 16.0, 4.0],
    "utility_consumed": [1.0, 7.0, 3.0, 2.0, 9.0],
    "wealth": [30.0, 10.0, 50.0, 20.0, 40.0],
}


def gini(values):
    """Return half the mean difference of all pairs, relative to the mean."""
    x = np.array(values)
    return float(np.abs(x[:, None] - x).mean() / (2 * x.mean()))


def measured(dead, values=VALUES, **settings):
    """Return the society's measures by name, after agents were removed: their numbers are 0."""
    p, s = started(agents=5, record=RECORD, **settings)
    for name, numbers in values.items():
        setattr(s, name, [0.0 if a in dead else number for a, number in enumerate(numbers)])
    s.alive = [int(a not in dead) for a in range(5)]
    measures.society_measures(p, s)
    return dict(zip(measures.measure_names(p), s.measures, strict=True))


@pytest.mark.parametrize("dead", [(), (0,), (4,), (1, 3), (0, 1, 2, 4)])
@pytest.mark.parametrize("devices", ["all", "none"])
def test_the_removed_have_no_part_in_any_measure(dead, devices):
    found = measured(dead, devices=devices)
    for name, field in (
        ("income", "income"),
        ("consumption", "utility_consumed"),
        ("wealth", "wealth"),
    ):
        living = [x for a, x in enumerate(VALUES[field]) if a not in dead]
        assert found[name] == pytest.approx(np.mean(living))
        assert found[f"{name}_median"] == pytest.approx(np.median(living))
        assert found[f"gini_{name}"] == pytest.approx(gini(living))
        for place, top in enumerate((0.01, 0.1, 0.5)):
            richest, room = sorted(living, reverse=True), top * len(living)
            part = [min(1.0, max(0.0, room - i)) * x for i, x in enumerate(richest)]
            expected = sum(part) / sum(living)
            assert found[f"top_share_{name}_{place}"] == pytest.approx(expected)


def test_what_policies_give_and_take_is_measured_where_there_are_some():
    tax = {"policies": {"holdings_tax": {"rate": 0.5}}}
    values = {**VALUES, "redistributed": [-3.0, 1.0, 0.0, 5.0, 7.0]}
    assert measured((4,), values, **tax)["redistributed"] == 3.0 / 4
    assert "redistributed" not in measured((4,), values)


def test_measures_of_nothing_are_0_and_prices_of_no_swap_are_missing():
    found = measured((1,), {name: [0.0] * 5 for name in VALUES})
    prices = {"price_mean", "price_dispersion", "price_dispersion_within"}
    assert all(math.isnan(found[name]) == (name in prices) for name in found)
    assert {found[name] for name in found if name not in prices} == {0.0}


@pytest.mark.parametrize(
    ("dead", "value"), [((), 5.0), ((0,), 4.0), ((3,), 5.5), ((2, 4), 3.0), ((0, 1, 2, 4), 2.0)]
)
def test_a_minute_is_worth_what_it_brings_the_median_of_the_living(dead, value):
    p, s = started(agents=5, record=RECORD)
    s.gain_per_minute = [0.0 if a in dead else x for a, x in enumerate([9.0, 3.0, 5.0, 2.0, 6.0])]
    s.alive = [int(a not in dead) for a in range(5)]
    if dead == (0,):
        s.gain_per_minute[0] = 7.0  # whatever is left of an agent
    measures.agent_measures(p, s)
    assert s.minute_value == value


def test_what_an_agent_has_and_earns():
    """Units before and after consumption, utility consumed, income, and wealth without devices."""
    p, s = started(agents=2, record=RECORD)
    s.held, s.units_held, s.utility = [[1, 0, 2, 0, 0], [4, 0, 0, 0, 0]], [9, 4], [5e3, 2e3]
    s.income_extraction, s.income_swaps, s.income_sales = [10.0, 1.0], [3.0, 2.0], [0.5, 4.0]
    s.alive = [1, 0]
    measures.agent_measures(p, s)
    total = utility_curve(p, 0, 0).total
    stocks = total[1] + total[2]
    assert s.units_consumed == [6, 0]
    assert s.utility_consumed == [pytest.approx(5e3 - stocks), 0.0]
    assert s.income == [13.5, 0.0]
    assert s.wealth == s.wealth_stocks == [pytest.approx(stocks), 0.0]
    assert s.wealth_devices == [0.0, 0.0]


def test_extraction_is_worth_the_utility_that_it_added():
    p, s = started(agents=2, record=RECORD)
    s.held, s.extracted = [[3, 2, 0, 0, 0]] * 2, [[2, 0, 0, 0, 0]] * 2
    s.alive = [1, 0]
    measures.measure_extraction(p, s)
    total = utility_curve(p, 0, 0).total
    assert s.income_extraction == [pytest.approx(total[3] - total[1]), 0.0]


@pytest.mark.parametrize("devices", ["all", "none"])
def test_accounts_of_a_day_begin_at_nothing(devices):
    p, s = started(agents=3, record=RECORD, devices=devices)
    names = ("income_swaps", *(("income_sales", "spending_devices") * (devices == "all")))
    for name in names:
        setattr(s, name, [4.0, 5.0, 6.0])
    s.priced_units, s.priced_for, s.priced_squares = ([[1, 2, 3, 4, 5] for _ in range(3)],) * 3
    measures.begin_measures(p, s)
    assert all(getattr(s, name) == [0.0] * 3 for name in names)
    assert s.priced_units == s.priced_for == s.priced_squares == [[0] * 5] * 3


def test_without_devices_wealth_is_stocks_and_income_extraction_and_swaps():
    p, s = started(agents=2, record=RECORD, devices="none")
    s.held, s.utility = [[1, 0, 2, 0, 0], [0, 0, 0, 0, 1]], [5e3, 6e3]
    s.income_extraction, s.income_swaps = [10.0, 1.0], [3.0, 2.0]
    measures.agent_measures(p, s)
    total = utility_curve(p, 0, 0).total
    assert s.income == [13.0, 3.0]
    assert s.wealth == [pytest.approx(total[1] + total[2]), pytest.approx(total[1])]
    assert s.utility_consumed == [
        pytest.approx(5e3 - s.wealth[0]),
        pytest.approx(6e3 - s.wealth[1]),
    ]
    assert not hasattr(s, "minute_value") and not hasattr(s, "wealth_devices")


@pytest.mark.parametrize("unpriced", [0, 2, 4])
def test_prices_of_a_day_by_hand(unpriced):
    """Three resources with swaps: (units given, units got for them) of each agent; one without."""
    swaps = [[[(2, 3), (1, 5)], [], [(4, 2)]], [[(6, 6)], [(3, 1)], [(2, 4), (2, 2)]], [[], [], []]]
    swaps.insert(unpriced, [[], [], []])
    swaps = swaps[:5] + [[[(1, 7)], [], []]] * (5 - len(swaps))
    p, s = started(agents=3, record=RECORD)
    rates = [
        [taken / given for one in of for given, taken in one for _ in range(given)] for of in swaps
    ]
    for r, of in enumerate(swaps):
        for agent, own in enumerate(of):
            for given, taken in own:
                other = (r + 1) % 5
                measures.account_swap(p, s, agent, r, given, other, taken, 0.5)
    found = measures.prices(p, s)
    for r, of in enumerate(rates):
        assert s.resource_units_priced[r] == len(of)
        if of:
            assert s.resource_price[r] == pytest.approx(np.mean(of))
            spread = np.std(of) / np.mean(of)
            assert s.resource_price_dispersion[r] == pytest.approx(spread, abs=1e-7)
        else:
            assert math.isnan(s.resource_price[r]) and math.isnan(s.resource_price_dispersion[r])
    means = [np.mean(of) for of in rates if of]
    weighted = [np.std(of) / np.mean(of) * len(of) for of in rates if of]
    within = sum(weighted) / sum(map(len, rates))
    assert found == pytest.approx([np.mean(means), np.std(means) / np.mean(means), within])
    assert sum(s.income_swaps) == 0.5 * sum(len(own) for of in swaps for own in of)


def test_the_dispersion_of_prices_is_summed_up_from_squares_of_differences():
    """To the last bit, also of prices that are nearly the same."""
    p, s = started(agents=2, record=RECORD)
    measures.account_swap(p, s, 0, 0, 3, 1, 1_000_001, 0.0)
    measures.account_swap(p, s, 1, 3, 3, 1, 1_000_000, 0.0)
    one, other = 1_000_001 / 3.0, 1_000_000 / 3.0
    mean = (one + other) / 2.0
    squares = [(price - mean) * (price - mean) for price in (one, other)]
    expected = math.sqrt((squares[0] + squares[1]) / 2.0) / mean
    assert measures.prices(p, s)[:2] == [mean, expected]


# -- devices ---------------------------------------------------------------------------------------

SKILL = {TOOL: 20, MACHINE: 14, FACTORY: 23, INDUSTRY: 13, DEVICE_MACHINE: 26, DEVICE_FACTORY: 17}
"""Experience in making each type: where the curve of 27 to 9 minutes is steep."""
MINUTE = 2.0


def workshop(group=None):
    """Return a society in which agent 0 knows to make every device for resource 1.

    A tool is of resources 0 and 3, everything else for 1 of the devices below for 1 and 2.
    """
    groups = {} if group is None else {"groups": group}
    p, s = started(agents=2, record=RECORD, **groups)
    for device_type in range(6):
        parts = (0, 3) if device_type == TOOL else (1, 2)
        recipe(s, device_type, 1, *parts)
        recipe(s, device_type, 2, *((0, 4) if device_type == TOOL else (2, 3)))
        s.device_experience[0][device_type][1] = float(SKILL[device_type])
    recipe(s, TOOL, 3, 4)
    s.held[0], s.minute_value = [7, 1, 0, 2, 5], MINUTE
    return p, s


def costs(p, minutes):
    """Return what each type costs for resource 1, from ``minutes`` by experience, by hand."""
    last = [utility_curve(p, 0, 0).marginal[held - 1] if held else 0.0 for held in (7, 1, 0, 2, 5)]
    tool = {
        1: minutes[SKILL[TOOL]] * MINUTE + last[0] + last[3],
        2: minutes[0] * MINUTE + last[0] + last[4],
        3: minutes[0] * MINUTE + last[4],
    }
    cost = {TOOL: tool}
    for device_type, below in (
        (DEVICE_MACHINE, TOOL),
        (MACHINE, TOOL),
        (DEVICE_FACTORY, DEVICE_MACHINE),
        (FACTORY, MACHINE),
        (INDUSTRY, FACTORY),
    ):
        of = cost[below]
        cost[device_type] = {
            1: minutes[SKILL[device_type]] * MINUTE + of[1] + of[2],
            2: minutes[0] * MINUTE + of[2] + of.get(3, 0.0),  # none was invented for 3
        }
    return {device_type: of[1] for device_type, of in cost.items()}


def test_experience_makes_devices_cheaper_in_these_tests():
    minutes = device_effort(27.0, 9.0, 40.0).minutes
    assert min(-np.diff([minutes[skill] for skill in sorted([0, *SKILL.values()])])) > 0.5


@pytest.mark.parametrize("device_type", SKILL)
def test_a_device_is_worth_what_its_owner_would_make_it_for_by_hand(device_type):
    """Of the owner's experience, of components that it would make too, down to resources."""
    p, s = workshop()
    cost = costs(p, device_effort(27.0, 9.0, 40.0).minutes)[device_type]
    s.device_minutes[0][device_type][1] = 0.25 * p.device_lifetime[device_type]
    worth = measures.worth_of_devices(p, s, 0)
    assert worth == [0.0, pytest.approx(0.25 * cost), 0.0, 0.0, 0.0]
    measures.agent_measures(p, s)  # of two agents who gain nothing: a minute is worth nothing
    assert s.minute_value == 0.0
    assert 0.0 < s.wealth_devices[0] < 0.25 * cost
    assert s.wealth[0] == pytest.approx(s.wealth_stocks[0] + s.wealth_devices[0])
    assert s.wealth_devices[1] == 0.0


def test_devices_that_make_others_faster_change_no_worth():
    """With a device machine a tool is made nine times as fast, and is worth as much as by hand."""
    p, s = workshop()
    cost = costs(p, device_effort(27.0, 9.0, 40.0).minutes)
    for device_type in range(6):
        s.device_minutes[0][device_type][1] = p.device_lifetime[device_type]
    assert measures.worth_of_devices(p, s, 0)[1] == pytest.approx(sum(cost.values()))


def test_a_group_makes_devices_by_its_own_curve():
    slow = {"max_effort": 40.0, "min_effort": 20.0, "max_experience": 60.0}
    p, s = workshop([{"name": "slow", "count": 1, "device": slow}, {"name": "rest", "count": 1}])
    s.device_minutes[0][INDUSTRY][1] = p.device_lifetime[INDUSTRY]
    expected = costs(p, device_effort(40.0, 20.0, 60.0).minutes)[INDUSTRY]
    assert measures.worth_of_devices(p, s, 0)[1] == pytest.approx(expected)


@pytest.mark.parametrize("resource", [0, 4])
def test_devices_of_the_first_and_the_last_resource_have_their_worth(resource):
    p, s = workshop()
    recipe(s, TOOL, resource, 1)
    recipe(s, MACHINE, resource, resource)
    s.device_minutes[0][MACHINE][resource] = p.device_lifetime[MACHINE] / 2.0
    minutes = device_effort(27.0, 9.0, 40.0).minutes
    tool = minutes[0] * MINUTE + utility_curve(p, 0, 1).marginal[0]
    expected = [0.0] * 5
    expected[resource] = pytest.approx(0.5 * (minutes[0] * MINUTE + tool))
    assert measures.worth_of_devices(p, s, 0) == expected


def test_the_last_agent_is_measured_too():
    p, s = workshop()
    s.held[1], s.gain_per_minute = [0, 3, 0, 0, 0], [1.0, 3.0]
    s.device_minutes[1][TOOL][1] = p.device_lifetime[TOOL]
    measures.agent_measures(p, s)
    assert s.minute_value == 2.0
    stocks = utility_curve(p, 1, 1).total[3]
    tool = device_effort(27.0, 9.0, 40.0).minutes[0] * 2.0  # of resources that it has none of
    assert s.wealth_stocks[1] == pytest.approx(stocks)
    assert s.wealth_devices[1] == pytest.approx(tool)
    assert s.wealth[1] == pytest.approx(stocks + tool)


def test_the_mean_of_a_group_is_over_its_living_members():
    p = SimpleNamespace(agents=5, group_of_agent=(0, 0, 1, 1, 1))
    s = SimpleNamespace(alive=[1, 0, 1, 1, 0], income=[3.0, 0.0, 4.0, 8.0, 0.0])
    assert (measures.mean_of(p, s, "income", 0), measures.mean_of(p, s, "income", 1)) == (3.0, 6.0)
    s.alive = [0, 0, 1, 1, 0]
    assert math.isnan(measures.mean_of(p, s, "income", 0))
