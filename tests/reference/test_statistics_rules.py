"""Do the day's numbers count what their names say, where agents and devices are unlike?

Source: docs/model.md, "Statistics". States are set by hand; whole runs: tests/statistics.
"""

import math

import pytest
from states import started

from reference_py.economy.statistics import (
    agent_statistics,
    concentration,
    gini,
    median,
    quartiles,
    society_statistics,
)

TYPES = ("tool", "machine", "factory", "industry", "device_machine", "device_factory")
GROUPS = [{"name": "few", "count": 2}, {"name": "many", "count": 3}]


def evening(agents=5, **settings):
    """Return a society in which every count of the day is another number."""
    p, s = started(agents=agents, **settings)
    for a in range(agents):
        s.held[a] = [a, 10 + a, 20, 30 * a, 5]
        s.extracted[a] = [a + 1, 0, 7, 0, 2 * a]
        s.minutes[a] = 600.0 + a
        s.units_sold[a], s.deals[a] = 3 * a + 1, a
        s.overtime[a] = 10.0 * a
        s.extracted_with[a] = [9 - a, a, 2 * a, 3, a * a]
        s.minutes_with[a] = [100.0 + a, 20.0, 30.0 * a, 40.0, 50.0 + a]
        s.making_minutes[a] = [1.0 + a, 2.0, 3.0, 4.0 * a, 5.0, 6.0]
        s.units_paid[a], s.devices_sold[a] = 5 + a, [a, 1, 0, 2, a + 1, 0]
        s.devices_made[a] = [[d + a, 0, 1, 0, 2] for d in range(6)]
        s.made_with_device[a] = [a, 1, 0, 0, 0, 0]
        s.device_minutes[a] = [[10.0 * d, a, 1.0, 0.0, 2.5] for d in range(6)]
        s.device_experience[a] = [[0.0, float(a == d), 0.5, 0.0, a] for d in range(6)]
    return p, s


def row(p, s, day=1):
    agent_statistics(p, s)
    society_statistics(p, s, day)
    return s.series


def remove(s, agent):
    """Take an agent out, as a shock does: nothing of it is left."""
    for name in vars(s):
        value = getattr(s, name)
        if name == "stream" or not isinstance(value, list) or len(value) != len(s.alive):
            continue
        value[agent] = _nothing(value[agent])
    s.alive[agent] = 0


def _nothing(value):
    return [_nothing(one) for one in value] if isinstance(value, list) else type(value)(0)


# -- a society -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dead", [None, 0, 4])
def test_means_are_over_the_living(dead):
    p, s = evening()
    living = [a for a in range(5) if a != dead]
    if dead is not None:
        remove(s, dead)
    n, found = len(living), row(p, s)
    assert found["agents_alive"] == n
    assert found["units_extracted"] == sum(3 * a + 8 for a in living) / n
    assert found["units_held"] == sum(35 + 32 * a for a in living) / n
    assert found["units_held_max"] == max(max(30 * a, 20) for a in living)
    assert found["units_traded"] == sum(3 * a + 1 for a in living) / n
    assert found["deals"] == sum(living) / n
    assert found["resources_extracted"] == sum(2 + (a > 0) for a in living) / n
    assert found["minutes_hand"] == pytest.approx(sum(100.0 + a for a in living) / n)
    assert found["overtime"] == pytest.approx(sum(10.0 * a for a in living) / n)
    assert found["units_paid_for_devices"] == sum(5 + a for a in living) / n
    assert found["minutes_machine"] == pytest.approx(sum(30.0 * a for a in living) / n)
    assert found["minutes_making_industry"] == pytest.approx(sum(4.0 * a for a in living) / n)
    worth = p.utility_curves[0].total
    for a in range(5):
        assert s.utility[a] == pytest.approx(sum(worth[h] for h in s.held[a]))
        assert s.units_traded[a] == s.units_sold[a]
    assert found["utility"] == pytest.approx(sum(s.utility) / n)
    assert found["utility_median"] == median([s.utility[a] for a in living])
    assert found["gini"] == pytest.approx(gini([s.utility[a] for a in living], sum(s.utility)))
    for d, name in enumerate(TYPES):
        held = sum(10.0 * d + a + 3.5 for a in living) / p.device_lifetime[d] / n
        assert found[f"devices_held_{name}"] == pytest.approx(held)
        assert found[f"devices_made_{name}"] == sum(d + a + 3 for a in living) / n
        sold = sum([a, 1, 0, 2, a + 1, 0][d] for a in living)
        assert found[f"devices_traded_{name}"] == sold / n
        knowing = 2 + (d in living)  # 2, 4, and 1 of the agent with the type's number
        assert found[f"devices_known_{name}"] == knowing
        assert s.agents_knowing[d] == [0, int(d in living), n, 0, len(set(living) - {0})]


def test_the_paces_of_making_with_devices_are_shares_of_what_was_made():
    p, s = evening()
    found = row(p, s)
    assert found["device_maker_share_tools"] == 10 / 25
    assert found["device_maker_share_machines"] == 5 / 30
    s.devices_made = [[[0] * 5 for _ in range(6)] for _ in range(5)]
    s.made_with_device = [[0] * 6 for _ in range(5)]
    found = row(p, s)
    assert found["device_maker_share_tools"] == found["device_maker_share_machines"] == 0.0
    s.devices_made[2][1][3] = s.made_with_device[2][1] = 1
    found = row(p, s)
    assert found["device_maker_share_tools"] == 0.0
    assert found["device_maker_share_machines"] == 1.0


def test_inventions_of_the_day_are_counted():
    p, s = evening()
    s.invented_on = [[0, 3, 4, 3, 0], [3, 2, 0, 0, 0], *[[0] * 5 for _ in range(4)]]
    assert [row(p, s, 3)[f"inventions_{name}"] for name in TYPES] == [2, 1, 0, 0, 0, 0]
    assert [row(p, s, 5)[f"inventions_{name}"] for name in TYPES] == [0] * 6


@pytest.mark.parametrize(("in_tool", "parts"), [(4, 2), (1, 5), (3, 3)])
def test_interdependence_counts_resources_however_many_a_tool_and_a_device_have(in_tool, parts):
    p, s = evening(device={"resources_in_tool": in_tool, "components": parts})
    found = row(p, s)
    units = [sum(9 - a for a in range(5)), 10, 20, 15, 30]
    shares = [unit / sum(units) for unit in units]
    names = ("hand", *TYPES[:4])
    assert [found[f"extraction_share_{name}"] for name in names] == pytest.approx(shares)
    contained = [0, in_tool, in_tool * parts, in_tool * parts**2, in_tool * parts**3]
    expected = sum(share * n for share, n in zip(shares, contained, strict=True))
    assert found["interdependence"] == pytest.approx(expected)
    s.extracted_with = [[0] * 5 for _ in range(5)]
    found = row(p, s)
    assert found["interdependence"] == found["extraction_share_hand"] == 0.0


# -- three days ------------------------------------------------------------------------------------


def test_utilities_of_three_days_are_stored():
    p, s = evening()
    utilities = []
    for day in range(1, 5):
        s.held = [[day + 3 * a, 10, a * a, 1, 2 * day] for a in range(5)]
        found = row(p, s, day)
        utilities.append(list(s.utility))
        assert s.utility_total == pytest.approx([sum(u) for u in zip(*utilities, strict=True)])
        total = s.utility_total
        assert found["gini_cumulative"] == pytest.approx(gini(total, sum(total)))
        if day < 3:
            assert math.isnan(found["gini_3day"])
            assert math.isnan(found["gini_paper"])
            continue
        assert s.utility_1 == utilities[-2]
        assert s.utility_2 == utilities[-3]
        around = [sum(u) for u in zip(*utilities[-3:], strict=True)]
        yesterday = sum(map(sum, utilities[:-1]))
        assert found["gini_3day"] == pytest.approx(gini(around, sum(around)))
        scaled = found["gini_3day"] * sum(around) / yesterday
        assert found["gini_paper"] == pytest.approx(scaled)


def test_without_any_utility_before_there_is_no_paper_gini():
    p, s = evening()
    assert row(p, s, 3)["gini_paper"] == 0.0
    assert row(p, s, 3)["gini_3day"] > 0.0


def test_the_gini_of_what_was_extracted():
    p, s = evening()
    found, units = row(p, s), [float(3 * a + 8) for a in range(5)]
    assert found["gini_extracted"] == pytest.approx(gini(units, sum(units)))


# -- groups ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dead", [None, 0, 4])
def test_a_groups_means_are_over_its_living_members(dead):
    p, s = evening(groups=GROUPS)
    s.units_sold_outside = [2, 3, 5, 7, 11]
    s.units_paid_outside = [1, 4, 9, 16, 25]
    if dead is not None:
        remove(s, dead)
    outside, paid_outside = list(s.units_sold_outside), list(s.units_paid_outside)
    found = row(p, s)
    for group, members in enumerate(([0, 1], [2, 3, 4])):
        living = [a for a in members if a != dead]
        n = len(living)
        assert found[f"group_agents_alive_{group}"] == n
        assert found[f"group_units_extracted_{group}"] == sum(3 * a + 8 for a in living) / n
        assert found[f"group_units_held_{group}"] == sum(35 + 32 * a for a in living) / n
        assert found[f"group_units_traded_{group}"] == sum(3 * a + 1 for a in living) / n
        assert found[f"group_units_traded_outside_{group}"] == sum(outside[a] for a in living) / n
        assert found[f"group_units_paid_for_devices_{group}"] == sum(5 + a for a in living) / n
        paid = sum(paid_outside[a] for a in living)
        assert found[f"group_units_paid_outside_{group}"] == paid / n
        utility = sum(s.utility[a] for a in living) / n
        assert found[f"group_utility_{group}"] == pytest.approx(utility)
        for d, name in enumerate(TYPES):
            made = sum(d + a + 3 for a in living) / n
            assert found[f"group_devices_made_{group}_{name}"] == made
    assert s.units_sold_outside == s.units_paid_outside == [0] * 5


def test_a_group_without_living_members_has_no_means():
    p, s = evening(groups=GROUPS)
    for agent in (0, 1):
        remove(s, agent)
    found = row(p, s)
    assert found["group_agents_alive_0"] == 0.0
    for name in ("units_extracted", "units_held", "utility", "units_paid_outside"):
        assert math.isnan(found[f"group_{name}_0"])
    assert math.isnan(found["group_devices_made_0_tool"])
    assert found["group_agents_alive_1"] == 3.0


def test_groups_are_counted_without_devices_too():
    p, s = started(agents=5, devices="none", groups=GROUPS)
    s.units_sold, s.units_sold_outside = [1, 2, 3, 4, 5], [1, 1, 0, 4, 2]
    found = row(p, s)
    assert found["group_units_traded_0"] == 1.5
    assert found["group_units_traded_outside_1"] == 2.0
    assert s.units_sold_outside == [0] * 5
    assert not any("devices" in name for name in found)


# -- definitions -----------------------------------------------------------------------------------


def test_ginis_by_hand():
    assert gini([1.0, 2.0, 3.0], 6.0) == pytest.approx(2 / 9)
    assert gini([3.0, 1.0, 2.0], 6.0) == pytest.approx(2 / 9)
    assert gini([0.0, 0.0, 9.0], 9.0) == pytest.approx(2 / 3)
    assert gini([4.0, 4.0], 8.0) == 0.0
    assert gini([0.7, 0.7], 1.4) == 0.0  # rounding would make it negative
    assert gini([0.0, 0.0], 0.0) == 0.0


def test_medians_and_quartiles_by_hand():
    assert median([5.0]) == 5.0
    assert median([9.0, 1.0]) == 5.0
    assert median([9.0, 1.0, 2.0]) == 2.0
    assert median([9.0, 1.0, 2.0, 4.0]) == 3.0
    assert quartiles([7.0]) == [7.0] * 5
    assert quartiles([4.0, 0.0]) == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert quartiles([30.0, 0.0, 10.0, 20.0]) == [0.0, 7.5, 15.0, 22.5, 30.0]
    assert quartiles([40.0, 0.0, 10.0, 20.0, 30.0]) == [0.0, 10.0, 20.0, 30.0, 40.0]


def test_concentration_by_hand():
    p, s = started(agents=3, resources=5)
    s.extracted = [[1, 0, 5, 0, 1], [1, 4, 0, 0, 2], [2, 0, 5, 0, 1]]
    assert concentration(p, s) == [6 / 16, 1.0, 0.5, 0.0, 6 / 16]
    s.extracted = [[0, 0, 0, 0, 1], [0] * 5, [0] * 5]
    assert concentration(p, s) == [0.0, 0.0, 0.0, 0.0, 1.0]


def gini_of_pairs(values):
    """Return half the mean difference of all pairs, over the mean."""
    n, mean = len(values), sum(values) / len(values)
    return sum(abs(a - b) for a in values for b in values) / (2 * n * n * mean)


@pytest.mark.parametrize("dead", [None, 0, 4])
def test_every_gini_coefficient_is_of_the_living(dead):
    """A removed agent is not one that has nothing, which would make all more unequal."""
    p, s = evening()
    for a in range(5):
        s.utility_1[a], s.utility_2[a] = 90.0 * a + 10.0, 7.0 * a * a + 5.0
        s.utility_total[a] = 1000.0 + 250.0 * a
    if dead is not None:
        remove(s, dead)
    living, before = [a for a in range(5) if a != dead], list(s.utility_total)
    found = row(p, s, 5)
    three = [s.utility_2[a] + s.utility_1[a] + s.utility[a] for a in living]
    extracted = [float(3 * a + 8) for a in living]
    total = [before[a] + s.utility[a] for a in living]
    for name, values in (
        *(("gini", [s.utility[a] for a in living]), ("gini_3day", three)),
        *(("gini_extracted", extracted), ("gini_cumulative", total)),
    ):
        assert found[name] == pytest.approx(gini_of_pairs(values), rel=1e-12), name
    share = sum(three) / sum(before)
    assert found["gini_paper"] == pytest.approx(gini_of_pairs(three) * share, rel=1e-12)
