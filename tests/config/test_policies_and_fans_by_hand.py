"""When does a configuration have policies, endowments and fans, and which series has it then?"""

from types import SimpleNamespace

import pytest

from societies import config_from_dict
from societies.config.model import LARGEST_REAL, Section
from societies.economy import parameters
from societies.economy.config.draws import synchronizes
from societies.economy.config.policies import PoliciesConfig, _from, changed_keys, in_use
from societies.economy.parameters import endowed
from societies.economy.series import (
    OF_POLICIES,
    POLICY_SERIES,
    WITHOUT_POLICIES,
    columns,
    series_table,
)
from societies.errors import ConfigError

BASE = {"workload": "economy", "agents": 6, "resources": 3, "days": 9}
GROUPS = [{"name": "a", "count": 2}, {"name": "b", "count": 4}]


def economy(**keys):
    return config_from_dict({**BASE, **keys})


def refused(**keys):
    with pytest.raises(ConfigError) as error:
        economy(**keys)
    return str(error.value)


def asked(*, policies=None, shares=(), table=None, changed=()):
    """Return what `in_use` looks at."""
    return SimpleNamespace(
        policies=PoliciesConfig(**(policies or {})),
        groups=[SimpleNamespace(transfer_share=share) for share in shares],
        table=table and SimpleNamespace(columns=table),
        interventions=[SimpleNamespace(set=one) for one in changed],
    )


@pytest.mark.parametrize(
    ("config", "used"),
    [
        (asked(), False),
        (asked(shares=[0.0, 0.0]), False),
        (asked(shares=[0.0, 0.25]), True),
        (asked(policies={"quota_of": 1}), True),
        (asked(policies={"income_tax": {"rate": 0.1}}), True),
        (asked(table=("utility.scale",)), False),
        (asked(table=("utility.scale", "policies.quota")), True),
        (asked(table=("groups.a.transfer_share",)), True),
        (asked(changed=[{"utility.scale": 3.0}]), False),
        (asked(changed=[{}, {"utility.scale": 3.0, "policies.income_tax.rate": 0.0}]), True),
        (asked(changed=[{"transfer_share": 0.0}]), True),
    ],
)
def test_policies_are_in_use_if_one_differs_or_may(config, used):
    assert in_use(config) is used


def test_draws_are_synchronized_if_they_are_at_any_time():
    on = {"draws": {"synchronized": True}}
    change = {"day": 2, "set": {"draws.synchronized": True}}
    other = {"day": 2, "set": {"day_length": 500}}
    for keys, expected in (
        ({}, False),
        (on, True),
        ({"interventions": [change]}, True),
        ({"interventions": [other]}, False),
        (on | {"interventions": [other]}, True),
    ):
        assert synchronizes(economy(**keys)) is expected


def test_keys_change_by_table_and_by_interventions():
    config = asked(table=("a", "b"), changed=[{"c": 1}, {"d": 2, "a": 3}])
    assert [*changed_keys(config)] == ["a", "b", "c", "d", "a"]
    assert [*changed_keys(asked(changed=[{"c": 1}]))] == ["c"]
    assert [*changed_keys(asked())] == []


def test_too_large_transfers_name_all_that_is_added_up():
    share = {"transfer": {"equal": 0.75, "poorest": 0.5}}
    said = refused(policies=share)
    assert "pays out 1.25 of the fund; equal, poorest, least_extracting, making add up" in said
    share = {"transfer": {"equal": 0.75}}
    said = refused(policies=share, groups=[{**GROUPS[0], "transfer_share": 0.5}, GROUPS[1]])
    assert "pays out 1.25 of the fund" in said
    assert "making and transfer_share of the groups add up to at most 1" in said


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, False),
        ({"endowment": {"units": 0}}, False),
        ({"endowment": {"units": [0, 0, 1]}}, True),
        ({"endowment": {"units": 2}}, True),
        ({"groups": GROUPS}, False),
        ({"groups": [GROUPS[0], {**GROUPS[1], "endowment": {"units": [0, 3, 0]}}]}, True),
    ],
)
def test_agents_are_endowed_if_anyone_begins_with_anything(keys, expected, monkeypatch):
    config = economy(**keys)
    assert endowed(config) is expected
    for names, found in ((["utility.scale"], expected), (["a", "endowment.units"], True)):
        monkeypatch.setattr(parameters, "changed_keys", lambda _, names=names: names)
        assert endowed(config) is found


@pytest.mark.parametrize("day", [1, 2, 8])
def test_futures_begin_after_any_day_but_the_last(day):
    fan = economy(fan={"day": day, "futures": 3}, replicates=6, first_society=9).fan
    assert (fan.day, fan.futures) == (day, 3)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"fan": {"day": 0, "futures": 3}}, "fan.day: the futures begin after a day from 1 to 8"),
        ({"fan": {"day": 9, "futures": 3}}, "fan.day: the futures begin after a day from 1 to 8"),
        ({"fan": {"day": 3}}, "fan.day: needs a number of futures: fan.futures"),
        (
            {"fan": {"day": 3, "futures": 3}, "replicates": 7},
            "replicates: 7 is no multiple of the 3 futures of each past",
        ),
        (
            {"fan": {"day": 3, "futures": 3}, "first_society": 2},
            "first_society: 2 is no multiple of the 3 futures of each past",
        ),
    ],
)
def test_societies_are_whole_fans(keys, said):
    assert said in refused(**{"replicates": 6, **keys})


def test_series_of_policies_are_recorded_only_with_policies():
    plain = series_table(True, 2, measures=True)
    taxed = series_table(True, 2, measures=True, policies=True)
    assert not {*plain} & {*POLICY_SERIES, *OF_POLICIES}
    assert {*taxed} - {*plain} == {*POLICY_SERIES, *OF_POLICIES}
    assert {*POLICY_SERIES} <= {*series_table(False, 1, policies=True)}
    assert not {*POLICY_SERIES} & {*series_table(False, 1)}
    assert not {*columns(True, 1)} & {*POLICY_SERIES}
    assert {*columns(False, 1, policies=True)} - {*columns(False, 1)} >= {"units_taxed"}


def test_without_policies_what_is_left_after_taxes_is_the_income():
    assert {*WITHOUT_POLICIES} == {*POLICY_SERIES, *OF_POLICIES}
    others = {"disposable_income": "income", "gini_disposable_income": "gini_income"}
    for name, other in {**others, "units_taxed": "", "units_in_fund": ""}.items():
        assert WITHOUT_POLICIES[name] == other


def test_a_name_of_a_group_is_a_printable_word():
    assert "name" in refused(groups=[{**GROUPS[0], "name": 7}, GROUPS[1]])
    for name in ("", " a", "a\n", "\x07"):
        assert "name" in refused(groups=[{**GROUPS[0], "name": name}, GROUPS[1]])


def test_a_bracket_that_is_not_said_begins_above_every_number_of_units():
    class Bracket(Section):
        begins: float = _from("middle")

    assert Bracket().begins == LARGEST_REAL
    said = Bracket.model_fields["begins"].description
    assert said.startswith("The middle bracket begins above this number of units")
