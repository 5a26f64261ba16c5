"""Do taxes take, transfers give and limits of trade allow what they say? Is no unit lost?

On the reference alone; `tests/parity` compares it with devices (`tests/small.py` has all policies).
"""

import math

import numpy as np
import pytest
from engines import ReferenceEngine
from hypothesis import given, settings
from hypothesis import strategies as st
from small import small

import societies
from reference_py.economy.limits import limited
from reference_py.economy.policies import (
    average_rate,
    collect_taxes,
    first_part,
    pay_transfers,
    subsidy,
)
from reference_py.economy.society import new_society
from reference_py.economy.trading import refusal
from societies import config_from_dict
from societies.economy.parameters import parameters
from societies.economy.workload import WORKLOAD
from societies.errors import ConfigError
from societies.workload import Setup

AGENTS, RESOURCES = 5, 3
FLAT = {"rate": 0.1}
BRACKETS = {"rate": 0.1, "middle_from": 10, "middle_rate": 0.2, "top_from": 20, "top_rate": 0.5}


def settled(**keys):
    """Return the parameters of a small society with these policies."""
    sizes = {"agents": AGENTS, "resources": RESOURCES, "days": 6, "trading": {"menu_size": 2}}
    return parameters(config_from_dict({"workload": "economy", **sizes, **keys}))


def society(p, held):
    s = new_society(p)
    s.held = [list(row) for row in held]
    return s


@pytest.mark.parametrize(
    ("units", "due"), [(0, 0.0), (10, 1.0), (15, 2.0), (20, 3.0), (30, 8.0), (100, 43.0)]
)
def test_each_bracket_has_its_own_rate(units, due):
    row = tuple(float(one) for one in BRACKETS.values())
    assert average_rate(row, units) * max(1, units) == pytest.approx(due, abs=1e-12)


def test_parts_of_a_unit_are_due_on_later_evenings():
    """Of 4 units 10 percent are paid as one unit every third or second evening."""
    p = settled(policies={"holdings_tax": FLAT})
    s, paid = society(p, [[4, 0, 10]] * AGENTS), []
    for _ in range(5):
        s.held = [[4, 0, 10] for _ in range(AGENTS)]
        collect_taxes(p, s)
        paid.append(tuple(s.tax_paid[0]))
    assert paid == [(0, 0, 1), (0, 0, 1), (1, 0, 1), (0, 0, 1), (1, 0, 1)]
    assert s.fund == [2.0 * AGENTS, 0.0, 5.0 * AGENTS]


def test_income_and_sales_are_what_came_in():
    p = settled(policies={"income_tax": {"rate": 0.5}, "sales_tax": {"rate": 0.25}})
    s = society(p, [[10, 10, 10]] * AGENTS)
    s.extracted[0] = [4, 2, 0]
    s.units_received[0], s.units_given[0] = [0, 0, 4], [2, 6, 0]
    collect_taxes(p, s)
    # Income: 2 of r0, none of r1, of which more went than came, and 4 of r2; sales: 4 of r2.
    assert s.tax_paid[0] == [1, 0, 3] and s.held[0] == [9, 10, 7]
    assert s.units_received[0] == s.units_given[0] == [0, 0, 0]
    assert s.tax_paid[1] == [0, 0, 0]


def test_an_agent_pays_at_most_what_it_holds():
    p = settled(policies={"holdings_tax": {"rate": 1.0}, "sales_tax": {"rate": 1.0}})
    s = society(p, [[3, 0, 1]] * AGENTS)
    s.units_received[0] = [5, 5, 5]
    collect_taxes(p, s)
    assert s.held[0] == [0, 0, 0] and s.tax_paid[0] == [3, 0, 1]


def test_shares_of_the_fund_go_to_those_who_get_them():
    shares = {"equal": 0.25, "poorest": 0.25, "poorest_part": 0.4, "least_extracting": 0.2}
    groups = [
        {"name": "a", "count": 2, "transfer_share": 0.3},
        {"name": "b", "count": 3},
    ]
    p = settled(policies={"transfer": shares}, groups=groups)
    s = society(p, [[units, 0, 0] for units in (5, 1, 9, 2, 1)])
    s.alive[4] = 0
    s.taxed_utility = [5.0, 1.0, 9.0, 2.0, 0.0]
    s.units_extracted = [3, 3, 2, 7, 0]
    s.fund = [40.0, 7.0, 0.0]
    pay_transfers(p, s)
    # Of 40: 10 to the four who live, 2 each; 10 to the two poorest, 5 each; 8 to the one that
    # extracted least; 12 to the two of group a, 6 each. Of 7: 1, 1, 1, 2.
    assert [got[0] for got in s.transfer_received] == [8, 13, 10, 7, 0]
    assert [got[1] for got in s.transfer_received] == [1, 1, 1, 0, 0]
    assert s.fund == [2.0, 4.0, 0.0]
    assert [row[0] for row in s.held] == [13, 14, 19, 9, 1]


def test_of_equals_the_lowest_number_comes_first_and_a_part_has_one_agent_at_least():
    assert first_part([0, 1, 3, 4], [2.0, 1.0, 0.0, 1.0, 1.0], 0.5) == [1, 3]
    assert first_part([0, 1, 2], [1, 1, 1], 0.01) == [0]


rates = st.floats(0, 1)
taxes = st.tuples(rates, rates, rates, st.floats(0, 40), st.floats(0, 40)).map(
    lambda t: {
        "rate": t[0],
        "middle_rate": t[1],
        "top_rate": t[2],
        "middle_from": min(t[3:]),
        "top_from": max(t[3:]),
    }
)
shares = st.tuples(rates, rates, rates).map(
    lambda t: [one / max(1.0, 1.000001 * sum(t)) for one in t]
)


@settings(max_examples=25, deadline=None)
@given(st.lists(taxes, min_size=3, max_size=3), shares, rates, st.integers(0, 2**31 - 1))
def test_units_collected_are_paid_out_or_in_the_fund(kinds, parts, part, seed):
    names = ("holdings_tax", "income_tax", "sales_tax")
    transfer = dict(zip(("equal", "poorest", "least_extracting"), parts, strict=True))
    policies = dict(zip(names, kinds, strict=True)) | {
        "transfer": {**transfer, "poorest_part": max(part, 0.01)}
    }
    p = settled(policies=policies)
    rng = np.random.default_rng(seed)
    s, collected, paid_out = society(p, rng.integers(0, 60, (AGENTS, RESOURCES)).tolist()), 0, 0
    for _ in range(4):
        s.extracted = rng.integers(0, 30, (AGENTS, RESOURCES)).tolist()
        s.units_received = rng.integers(0, 30, (AGENTS, RESOURCES)).tolist()
        s.units_given = rng.integers(0, 30, (AGENTS, RESOURCES)).tolist()
        before, fund = np.array(s.held), np.array(s.fund)
        collect_taxes(p, s)
        paid = np.array(s.tax_paid)
        assert (paid >= 0).all() and (np.array(s.held) == before - paid).all()
        assert (np.array(s.held) >= 0).all() and (np.array(s.fund) == fund + paid.sum(0)).all()
        owed = np.array(s.tax_owed)
        assert ((owed >= 0) & (owed < 1)).all()
        before, fund = np.array(s.held), np.array(s.fund)
        pay_transfers(p, s)
        got = np.array(s.transfer_received)
        assert (got >= 0).all() and (np.array(s.held) == before + got).all()
        assert (np.array(s.fund) == fund - got.sum(0)).all() and min(s.fund) >= 0
        collected, paid_out = collected + paid.sum(), paid_out + got.sum()
    assert collected == paid_out + sum(s.fund)


TAXED = {
    "workload": "economy",
    "agents": AGENTS,
    "resources": RESOURCES,
    "days": 5,
    "replicates": 2,
}


def test_a_trace_tells_taxes_and_transfers():
    policies = {"income_tax": {"rate": 0.5}, "transfer": {"poorest": 1.0}}
    config = config_from_dict({**TAXED, "policies": policies})
    said = "".join(
        WORKLOAD.trace(config, agent=agent, day=3, device="reference") for agent in range(AGENTS)
    )
    assert said.count("Evening: taxes and transfers") == AGENTS
    assert said.count("tax on income: 50 % of ") == AGENTS and "tax on sales" not in said
    assert said.count(" from the fund (is one of the poorest)") == 1


@pytest.mark.ci
def test_a_branch_may_tax_where_its_parent_does_not(tmp_path):
    parent, branch = tmp_path / "parent.h5", tmp_path / "branch.h5"
    tax = {"policies.holdings_tax.rate": 0.1, "policies.transfer.equal": 0.5}
    config = config_from_dict({**TAXED, "record": {"keep": [2]}})
    societies.run(config, out=parent, device="reference")
    branched = societies.run(
        config, out=branch, start=parent, day=2, values=tax, device="reference"
    )
    whole = config_from_dict(
        {**TAXED, "record": {"keep": [2]}, "interventions": [{"day": 2, "set": tax}]}
    )
    straight = societies.run(whole, out=tmp_path / "straight.h5", device="reference")
    assert branched.state_sha256 == straight.state_sha256


def test_a_quota_is_not_exceeded_and_a_ban_stops_all_trade_of_a_resource():
    """Day after day, of a society in which the resource is traded without the policy."""
    sizes = {"agents": 4, "resources": 6, "trading": {"menu_size": 2, "rounds": 6}, "days": 5}
    effort, most = [4.0] * 3 + [9.0] * 3, {}
    kinds = [("a", effort), ("b", effort[::-1])]
    sizes["groups"] = [
        {"name": name, "count": 2, "extraction": {"max_effort": efforts}} for name, efforts in kinds
    ]
    for quota in (0, 3, 10**6):
        policies = {"quota_of": 4, "quota": quota}
        p = parameters(config_from_dict({"workload": "economy", **sizes, "policies": policies}))
        engine, given = ReferenceEngine(p), []
        engine.start()
        for day in range(1, 6):
            for step in engine.steps(day):
                engine.step(step, day)
                if step.phase == "trading":
                    given.append(engine.arrays("units_given")["units_given"][0])
        most[quota] = np.max(given, axis=0)[:, 4].max()
        others = np.max(given, axis=0)[:, [0, 1, 2, 3, 5]]
        assert others.max() > 3  # they have no quota
    assert most[0] == 0 and most[3] == 3 < most[10**6]


@pytest.mark.parametrize(
    ("policies", "give", "rate", "allowed"),
    [
        ({}, 0, 50.0, 50.0),
        ({"price_cap": 2.0}, 0, 5.0, 2.0),
        ({"price_cap": 2.0}, 0, 0.1, 0.5),  # of the other resource 10 are above the cap
        ({"price_cap": 2.0}, 0, math.nan, math.nan),
        ({"price_cap": 3.0, "price_floor": 2.0, "price_of": 0}, 0, 1.0, 2.0),
        ({"price_cap": 3.0, "price_floor": 2.0, "price_of": 0}, 0, 4.0, 3.0),
        ({"price_cap": 4.0, "price_floor": 2.0, "price_of": 1}, 0, 1.0, 0.5),
        ({"price_cap": 4.0, "price_floor": 2.0, "price_of": 1}, 0, 0.1, 0.25),
        ({"price_cap": 4.0, "price_floor": 2.0, "price_of": 2}, 0, 9.0, 9.0),
    ],
)
def test_prices_stay_within_their_limits(policies, give, rate, allowed):
    p = settled(policies={"quota_of": 0, **policies})
    assert limited(p, give, 1, rate) == pytest.approx(allowed, rel=1e-15, nan_ok=True)


def test_a_refusal_says_whether_the_units_or_the_quota_are_too_few():
    lacking = refusal((8, 3), (2, 9), (5, 1), (1.0, 1.0), 0.1, owned=(4, 9))
    limited_ = refusal((8, 3), (2, 9), (4, 1), (1.0, 1.0), 0.1, owned=(4, 9))
    assert lacking == ("does not have the units", (8,))
    assert limited_ == ("may not give that many units today", (8,))


def test_an_intervention_taxes_from_its_day_on():
    change = {"day": 2, "until": 4, "set": {"policies.income_tax.rate": 0.5}}
    config = config_from_dict(
        {
            "workload": "economy",
            "agents": AGENTS,
            "resources": RESOURCES,
            "days": 6,
            "interventions": [change],
        }
    )
    p = WORKLOAD.parameters(config)
    engine = ReferenceEngine(p)
    engine.start()
    series = engine.run_days(1, 6)[0]
    names = [*WORKLOAD.series(p)]
    taxed = series[:, -3]
    assert names[-3:] == ["units_taxed", "units_transferred", "units_in_fund"]
    assert (taxed[:2] == 0).all() and (taxed[2:4] > 0).all() and (taxed[4:] == 0).all()
    assert series[-1, -1] == pytest.approx(AGENTS * taxed.sum())


def test_a_society_without_policies_has_nothing_of_them():
    p = parameters(small("economy"))
    assert not p.policies and not {"fund", "tax_owed"} & {*WORKLOAD.fields(p)}
    assert not {"collect_taxes", "pay_transfers"} & {*WORKLOAD.phases(p, 1)}
    assert "units_taxed" not in WORKLOAD.series(p)


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ({"income_tax": {"rate": 1.5}}, r"policies.income_tax.rate: must be at most 1, got 1.5"),
        ({"sales_tax": {"top_rate": -0.1}}, r"policies.sales_tax.top_rate: must be at least 0"),
        (
            {"holdings_tax": {"middle_from": 30, "top_from": 20}},
            r"policies.holdings_tax.top_from: 20 is below middle_from \(30\); brackets ascend",
        ),
        (
            {"transfer": {"equal": 0.7, "poorest": 0.4}},
            r"policies.transfer: pays out 1.1 of the fund; .* add up to at most 1",
        ),
        ({"transfer": {"poorest_part": 0}}, r"policies.transfer.poorest_part: must be more than 0"),
        ({"quota_of": 48}, r"policies.quota_of: there is no resource 48: they are 0 to 47"),
        ({"quota": -1}, r"policies.quota: must be at least 0, got -1"),
        (
            {"price_of": 3, "price_floor": 2.0, "price_cap": 1.5},
            r"policies.price_cap: 1.5 is below price_floor \(2\)",
        ),
        (
            {"price_cap": 0.5},
            r"policies.price_cap: no swap has prices of 1e-12 to 0.5 for both of its resources",
        ),
        ({"incom_tax": {"rate": 0.1}}, r"unknown key; did you mean 'income_tax'"),
    ],
)
def test_policies_that_cannot_be_are_refused(policies, message):
    with pytest.raises(ConfigError, match=message):
        config_from_dict({"workload": "economy", "policies": policies})


def test_what_an_intervention_would_pay_out_too_much_is_refused():
    change = {"day": 2, "set": {"policies.transfer.equal": 0.6}}
    policies = {"transfer": {"poorest": 0.6}}
    with pytest.raises(ConfigError, match=r"pays out 1\.2 of the fund"):
        Setup(
            WORKLOAD,
            config_from_dict(
                {"workload": "economy", "policies": policies, "interventions": [change]}
            ),
        )


def test_a_subsidy_pays_for_minutes_of_making_and_never_more_than_its_share():
    devices = {"devices": "tools", "device": {"resources_in_tool": 2, "components": 2}}
    p = settled(policies={"transfer": {"making": 0.5}}, **devices)
    s = society(p, [[1, 0, 0]] * AGENTS)
    s.alive[3] = 0
    s.making_minutes = [[minutes, *[0.0] * 5] for minutes in (30.0, 10.0, 0.0, 99.0, 5.5)]
    s.making_minutes[4][2] = 4.5
    s.fund = [41.0, 3.0, 0.0]
    pay_transfers(p, s)
    # Of 41: 20 for 50 minutes, of which 30, 10 and 10; of 3: 1, which none gets whole.
    assert [got[0] for got in s.transfer_received] == [12, 4, 0, 0, 4]
    assert [got[1] for got in s.transfer_received] == [0] * AGENTS
    assert s.fund == [21.0, 3.0, 0.0] and s.held[0][0] == 13
    with pytest.raises(ConfigError, match="of which there are none"):
        settled(policies={"transfer": {"making": 0.5}})


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 600), min_size=5, max_size=5), st.integers(0, 10**9), rates)
def test_parts_of_a_subsidy_are_at_most_its_share(making, fund, share):
    paid = [subsidy(float(fund), share, making, agent) for agent in range(5)]
    assert sum(paid) <= fund * share and min(paid) >= 0
