"""What do taxes and transfers write down, and whom does a rule of a user choose as partner?

Sources: docs/model.md, "Taxes and transfers", "Limits of trade" and "Device trade".
"""

from dataclasses import replace

import pytest
from partners import remember
from states import started

from reference_py.economy.device_matching import liking, most_gained, partner
from reference_py.economy.limits import limited, tradable
from reference_py.economy.policies import collect_taxes, minutes_of_making, pay_transfers
from reference_py.economy.statistics import utility_of_holdings

TOOL = 0


def worth(p, s):
    return [utility_of_holdings(p, s, agent) for agent in range(p.agents)]


def test_taxes_and_transfers_account_for_every_living_agent():
    """Agent 3 is removed: it neither pays nor gets, and its fields stay."""
    policies = {"holdings_tax": {"rate": 0.25}, "transfer": {"equal": 0.5, "poorest": 0.5}}
    p, s = started(agents=4, resources=3, policies=policies)
    s.held = [[8, 0, 4], [40, 20, 8], [0, 0, 0], [16, 16, 16]]
    s.alive[3] = 0
    s.extracted = [[1, 2, 3], [0, 0, 1], [5, 0, 0], [9, 9, 9]]
    before = worth(p, s)
    collect_taxes(p, s)
    assert [s.tax_paid[agent] for agent in range(3)] == [[2, 0, 1], [10, 5, 2], [0, 0, 0]]
    assert s.units_taxed[:3] == [3, 17, 0] and s.units_extracted[:3] == [6, 1, 5]
    assert s.held[3] == [16, 16, 16] and s.units_taxed[3] == s.units_extracted[3] == 0
    assert s.fund == [12.0, 5.0, 3.0]
    taxed = worth(p, s)
    assert s.taxed_utility[:3] == taxed[:3]
    lost = [after - was for after, was in zip(taxed, before, strict=True)]
    assert s.redistributed[:3] == lost[:3] and lost[1] < lost[0] < lost[2] == 0
    pay_transfers(p, s)
    # Half of the fund in three parts, half for the poorest: 2, 0, 0 and 6, 2, 1.
    assert s.transfer_received[:3] == [[2, 0, 0], [2, 0, 0], [8, 2, 1]]
    assert s.units_transferred == [2, 2, 11, 0] and s.held[3] == [16, 16, 16]
    assert s.fund == [0.0, 3.0, 2.0]
    gained = [after - was for after, was in zip(worth(p, s), taxed, strict=True)]
    expected = [a + b for a, b in zip(lost, gained, strict=True)]
    assert s.redistributed[:3] == pytest.approx(expected[:3]) and s.redistributed[2] > 0


def test_income_is_what_was_extracted_and_received_less_what_was_given():
    p, s = started(agents=2, resources=3, policies={"income_tax": {"rate": 0.5}})
    s.held = [[20, 20, 20], [9, 9, 9]]
    s.extracted = [[6, 4, 0], [0, 0, 0]]
    s.units_received = [[2, 0, 4], [0, 0, 0]]
    s.units_given = [[0, 8, 0], [0, 0, 2]]
    collect_taxes(p, s)
    assert s.tax_paid == [[4, 0, 2], [0, 0, 0]] and s.tax_owed == [[0.0] * 3] * 2
    assert s.units_received == s.units_given == [[0] * 3] * 2


def test_a_middle_rate_begins_where_its_bracket_does():
    tax = {"rate": 0.0, "middle_from": 10, "middle_rate": 0.5, "top_from": 20}
    p, s = started(agents=3, resources=3, policies={"holdings_tax": tax})
    s.held = [[9, 0, 0], [10, 0, 0], [10, 6, 0]]
    collect_taxes(p, s)
    assert s.tax_paid == [[0] * 3, [0] * 3, [1, 1, 0]]  # 3 of 16: 1.875 and 1.125
    assert s.tax_owed == [[0.0] * 3, [0.0] * 3, [0.875, 0.125, 0.0]]


def test_minutes_of_making_are_those_of_all_devices_and_of_living_agents():
    p, s = started(agents=3)
    types = len(s.making_minutes[0])
    s.making_minutes = [[1.0 + k for k in range(types)], [0.0] * types, [5.0] * types]
    s.alive[2] = 0
    assert minutes_of_making(p, s) == [types * (types + 1) / 2, 0.0, 0.0]
    p, s = started(agents=3, devices="none")
    assert minutes_of_making(p, s) == [0.0] * 3


@pytest.mark.parametrize(
    ("resource", "given", "expected"), [(0, 9, 30), (1, 0, 7), (1, 5, 2), (1, 7, 0), (1, 9, 0)]
)
def test_a_quota_bounds_what_is_given_of_one_resource(resource, given, expected):
    p, s = started(policies={"quota_of": 1, "quota": 7})
    s.held[0][:2] = [30, 30]
    s.units_given[0][resource] = given
    assert tradable(p, s, 0, resource) == expected
    s.held[0][1] = 1
    assert tradable(p, s, 0, 1) == min(1, expected if resource else 1)


def test_a_price_is_limited_of_the_resource_that_is_given_or_taken():
    p, _ = started(policies={"price_of": 1, "price_floor": 0.5, "price_cap": 4.0})
    for give, take, rate, expected in (
        *((1, 0, 0.1, 0.5), (1, 0, 9.0, 4.0), (1, 0, 2.0, 2.0), (0, 1, 9.0, 2.0)),
        *((0, 1, 0.1, 0.25), (0, 1, 1.0, 1.0), (0, 2, 9.0, 9.0), (2, 0, 0.01, 0.01)),
    ):
        assert limited(p, give, take, rate) == expected
    p, s = started()
    assert limited(p, 1, 0, 1e13) == 1e13 and not p.policies
    s.held[0][0] = 30
    assert tradable(p, s, 0, 0) == 30  # without policies there is no quota


def by(rule):
    """Return parameters whose agents choose partners by a rule, and a society of four."""
    p, s = started(groups=[{"name": "a", "count": 2}, {"name": "b", "count": 2}])
    return replace(p, rules={"devices_market.partner": rule}), s


def test_a_rule_chooses_the_partner_that_it_likes_most():
    asked = []

    def rule(**facts):
        asked.append(facts)
        return {1: 0.5, 2: 2.0, 3: 0.75}[facts["partner"]]

    p, s = by(rule)
    remember(s, 0, TOOL, {2: [1.0, 0.0, 0.0, 0.0, 2.0]})
    assert partner(p, s, TOOL, 0, [1, 2, 3]) == 2
    groups = {"agent": 0, "group": 0}
    assert asked == [
        {**groups, "gained": 0.0, "partner": 1, "partner_group": 0},
        {**groups, "gained": 3.0, "partner": 2, "partner_group": 1},
        {**groups, "gained": 0.0, "partner": 3, "partner_group": 1},
    ]
    s.met[0][0] = 2
    assert partner(p, s, TOOL, 0, [1, 2, 3]) == 3
    assert partner(p, s, TOOL, 0, [2]) is None


@pytest.mark.parametrize("value", [-1.0, -0.5, 0.0, float("nan")])
def test_of_partners_that_are_liked_equally_the_lowest_number_is_chosen(value):
    """Nothing is liked less than not at all."""
    p, s = by(lambda partner, **_: value if partner < 3 else 0.0)
    assert partner(p, s, TOOL, 0, [1, 2, 3]) == 1
    assert liking(p, s, TOOL, 0, 1) == 0.0
    p, s = by(lambda partner, **_: value if partner == 1 else 0.25)
    assert partner(p, s, TOOL, 0, [1, 2, 3]) == 2


def test_the_rule_that_is_shipped_prefers_what_was_gained():
    p, s = by(most_gained)
    remember(s, 0, TOOL, {3: [1.0, 0.0, 0.0, 0.0, 0.0], 2: [0.0, 0.5, 0.0, 0.0, 0.0]})
    assert partner(p, s, TOOL, 0, [1, 2, 3]) == 3
