"""Which societies of a launch have which interventions, if there are several policies? By hand.

The workload counts: every day a society adds its pace. Policies are lists of interventions.
"""

import json

import numpy as np
import pytest
import tallies

from societies import config_from_dict
from societies.errors import ConfigError
from societies.sweep.document import load_sweep
from societies.sweep.points import (
    Bucket,
    Policies,
    _removals,
    checked_points,
    launch_config,
    sweep_points,
    together,
)
from societies.sweep.shocks import study_of_shocks, sweep_of_shocks
from societies.workload import Setup
from societies.workload.running.ensembles import bare, removing
from societies.workload.running.pasts import pasts_of
from societies.workload.running.points import points_of as parameters_of
from societies.workload.running.points import unused_values
from societies.workload.running.registry import workload

LATER = [{"day": 5, "set": {"pace": 3.0}}]
ECONOMY = {"workload": "economy", "agents": 4, "resources": 4, "days": 9, "seed": 9}
MONEY = {"workload": "boltzmann", "agents": 16, "days": 12, "seed": 5, "replicates": 5}


@pytest.fixture(autouse=True)
def _installed(monkeypatch):
    tallies.install(monkeypatch)


def listed(*policies):
    """Return the checked interventions of each policy."""
    return [tallies.config(replicates=4, interventions=one).interventions for one in policies]


# -- one list for all ------------------------------------------------------------------------------


def test_what_several_policies_remove_is_listed_once_in_the_order_of_each():
    a, b, c = ({"day": day, "remove": "cell"} for day in (2, 4, 3))
    policies = listed([a, b], [LATER[0], b], [c, b], [b, a], [a, a])
    found = _removals(policies, np.array([0, 1, 2, 3, 4, 0]))
    assert [(one.day, np.flatnonzero(of).tolist()) for one, of in found] == [
        (3, [2]),
        (2, [0, 4, 5]),
        (4, [0, 1, 2, 3, 5]),
        (2, [3, 4]),
    ]
    found = _removals(listed([a], [b, a], [b, c]), np.arange(3))
    assert [(one.day, np.flatnonzero(of).tolist()) for one, of in found] == [
        (4, [1, 2]),
        (3, [2]),
        (2, [0, 1]),
    ]


def test_together_each_copy_has_the_interventions_of_its_policy():
    gone = {"day": 2, "remove": "cell"}
    policies = listed([gone], [], LATER, [*LATER, gone])
    config = together(tallies.config(replicates=4), policies, np.array([2, 1, 0, 3]))
    assert [(one.day, one.remove) for one in config.interventions] == [
        (2, "cell"),
        (5, None),
        (5, None),
    ]
    assert config.applies.tolist() == [
        [False, False, True, True],
        [True, False, False, False],
        [False, False, False, True],
    ]
    assert [of.tolist() for _, of in removing(config)] == [[False, False, True, True]]
    (alone,) = removing(tallies.config(interventions=[gone, *LATER]))
    assert (alone[0].day, alone[1]) == (2, None)
    empty = together(tallies.config(replicates=2), listed([], []), np.array([0, 1]))
    assert empty.interventions == () and empty.applies.shape == (0, 2)


def test_the_parameters_of_a_copy_are_those_of_its_policy_and_of_the_societies_it_names():
    some = [{"day": 3, "set": {"pace": 2.0}}, {"day": 6, "societies": [2], "set": {"pace": 4.0}}]
    absent = [{"day": 7, "societies": [3], "set": {"pace": 9.0}}]
    config = tallies.config(replicates=4)
    found = parameters_of(together(config, listed([], some, absent), np.array([0, 1, 1, 2])))
    # Society 3 has a policy of its own; society 1 has the second, but is not named on day 6.
    assert found.after == (3, 6, 7)
    paces = [[found.configs[i].pace for i in row] for row in found.of]
    assert paces == [[1, 1, 1, 1], [1, 2, 2, 1], [1, 2, 4, 1], [1, 2, 4, 9]]
    # What concerns no copy of the launch makes no stretch of time.
    few = parameters_of(together(config, listed(some, absent), np.array([1, 0, 1, 0])))
    assert few.after == (3,)
    assert parameters_of(together(config, listed([], []), np.array([0, 1, 0, 1]))).after == ()


def test_a_configuration_alone_has_neither_table_nor_numbers_nor_interventions():
    config = tallies.config(interventions=LATER)
    config._numbers = np.array([4, 5])
    found = bare(config)
    assert found.interventions == () and found.numbers is None and found.table is None
    assert config.interventions and config.numbers is not None
    other = bare(config_from_dict({"workload": "matmul"}))
    assert "interventions" not in vars(other)


# -- buckets and launches --------------------------------------------------------------------------


def study(policies, **vary):
    base = {"workload": "tallies", "days": 8}
    return load_sweep(
        {"base": base, "vary": {"grid": {"interventions": policies, **vary}}, "replicates": 2}
    )


def test_a_bucket_gives_each_run_its_column_and_its_policy():
    texts = {json.dumps(one): i for i, one in enumerate([[], LATER])}
    bucket = Bucket({}, tallies.config(), columns=("pace",), policies=texts)
    runs = [{"pace": p, "interventions": one} for p, one in ((1.5, LATER), (2, []), (3, LATER))]
    columns, policies = bucket.values_of(runs)
    assert columns["pace"].tolist() == [1.5, 2.0, 3.0]
    assert policies.lists == [[], LATER] and policies.of.tolist() == [1, 0, 1]
    part = policies.part(1, 3)
    assert part.of.tolist() == [0, 1] and part.lists is policies.lists
    assert Bucket({}, tallies.config(), columns=("pace",)).values_of(runs)[1] is None


def test_policies_share_a_launch_where_copies_have_numbers_and_are_not_timed(monkeypatch):
    def parts():
        found = study([[], LATER, [{"day": 2, "set": {"pace": 2.0}}]])
        return [
            (one.points, one.settings, len(one.policies))
            for one in checked_points(found, sweep_points(found)[0], copies=2)
        ]

    assert parts() == [([0, 1, 2], {}, 3)]
    points = sweep_points(study([[], LATER], pace=[1.0, 2.0]))[0]
    (one,) = checked_points(study([[], LATER], pace=[1.0, 2.0]), points, copies=2)
    assert one.columns == ("pace",) and one.config.interventions[0].day == 5
    for name, value in (("numbered", False), ("timed", True)):
        with monkeypatch.context() as patch:
            patch.setattr(tallies.Tallies, name, value)
            found = parts()
        assert [one[0] for one in found] == [[0], [1], [2]]
        assert found[1][1:] == ({"interventions": LATER}, 0)


def test_societies_with_other_taxes_share_a_launch():
    policies = [[], [{"day": 4, "set": {"policies.holdings_tax.rate": 0.2}}]]
    vary = {"grid": {"interventions": policies, "day_length": [500, 600]}}
    found = load_sweep({"base": ECONOMY, "vary": vary, "replicates": 2})
    (one,) = checked_points(found, sweep_points(found)[0], copies=2)
    assert (one.points, one.columns, len(one.policies)) == ([0, 1, 2, 3], ("day_length",), 2)


def test_what_else_differs_divides_points_with_policies():
    vary = {"interventions": [[], LATER], "cells": [2, 3]}
    found = load_sweep({"base": {"workload": "tallies"}, "vary": {"grid": vary}, "replicates": 2})
    parts = checked_points(found, sweep_points(found)[0], copies=2)
    assert [(one.points, one.settings) for one in parts] == [
        ([0, 2], {"cells": 2}),
        ([1, 3], {"cells": 3}),
    ]
    assert [len(one.config.interventions) for one in parts] == [1, 1]


def test_interventions_of_a_launch_may_name_its_copies_and_those_of_the_base():
    def launched(number, numbers, **more):
        late = [{"day": 5, "societies": [number], "set": {"pace": 3.0}}]
        base = tallies.config(first_society=10, **more)
        return launch_config(base, {"interventions": late}, {}, np.array(numbers)).replicates

    assert launched(12, [10, 12], replicates=1) == 2
    assert launched(12, [10], replicates=3) == 1
    for numbers, count in (([10, 12], 1), ([10], 3)):
        with pytest.raises(ValueError, match="there is no society 13; they are numbered 10 to 12"):
            launched(13, numbers, replicates=count)


def test_policies_replace_the_interventions_of_the_base():
    """So those need not fit the settings of a point, such as a shorter run."""
    base, policies = tallies.config(interventions=LATER), Policies([[]], np.array([0]))
    config = launch_config(base, {"days": 4}, {}, np.array([0]), policies)
    assert (config.days, config.interventions, config.applies.shape) == (4, (), (0, 1))
    with pytest.raises(ValueError, match="must be before the last day"):
        launch_config(base, {"days": 4}, {}, np.array([0]))


def test_a_launch_has_the_columns_numbers_and_policies_of_its_runs():
    base = tallies.config()
    policies = Policies([[], LATER], np.array([1, 0, 1]))
    paces = {"pace": np.array([1.0, 2.0, 4.0])}
    config = launch_config(base, {}, paces, np.array([0, 0, 1]), policies)
    assert config.applies.tolist() == [[True, False, True]]
    assert config.numbers.tolist() == [0, 0, 1] and config.replicates == 3
    found = parameters_of(config)
    assert [[found.configs[i].pace for i in row] for row in found.of] == [[1, 2, 4], [3, 2, 3]]
    without = launch_config(base, {"interventions": LATER}, paces, np.array([0, 0, 1]))
    assert without.applies is None and len(without.interventions) == 1
    assert config.table.checked and without.table.checked


# -- pasts -----------------------------------------------------------------------------------------


def pasts(base, policies, of, numbers):
    chosen = Policies(policies, np.array(of))
    config = launch_config(base, {}, {}, np.array(numbers), chosen)
    return [
        (past.until, past.chosen.tolist(), past.of.tolist())
        for past in pasts_of(Setup(workload(base.workload), config))
    ]


def gone(day):
    return [{"day": day, "remove": "cell"}]


def test_copies_that_lose_something_are_the_same_until_the_day_before():
    base, of, numbers = tallies.config(days=8), [0, 1, 0, 1], [0, 0, 1, 1]
    apart = (8, [0, 1, 2, 3], [0, 1, 2, 3])
    assert pasts(base, [[], gone(4)], of, numbers) == [(3, [0, 2], [0, 0, 1, 1]), apart]
    assert pasts(base, [[], gone(2)], of, numbers) == [(1, [0, 2], [0, 0, 1, 1]), apart]
    for day in (0, 1):
        assert pasts(base, [[], gone(day)], of, numbers) == []
    # With a change on an earlier day they part then, with a later one at the removal.
    earlier = [{"day": 2, "set": {"pace": 2.0}}]
    assert pasts(base, [[], earlier + gone(6)], of, numbers)[0][0] == 2
    assert pasts(base, [gone(4), LATER], of, numbers)[0][0] == 3
    assert pasts(base, [gone(4), gone(4) + LATER], of, numbers)[0][0] == 5
    assert pasts(base, [earlier, earlier + gone(4)], of, numbers)[0][0] == 3
    third = [*earlier, {"day": 3, "set": {"pace": 4.0}}]
    found = pasts(base, [earlier, third, earlier + gone(6)], [0, 1, 2], [0, 0, 0])
    equals = [(until, [chosen[i] for i in of]) for until, chosen, of in found]
    assert equals == [(3, [0, 0, 0]), (5, [0, 1, 0]), (8, [0, 1, 2])]
    ends = pasts(tallies.config(days=12), [gone(9), gone(2), []], [0, 1, 2], [0, 0, 0])
    assert [end for end, _, _ in ends] == [1, 8, 12]


def test_from_the_first_removal_that_is_drawn_on_all_removals_of_a_copy_count():
    one = {"day": 6, "remove": "resource", "index": 1}
    drawn = {"day": 3, "remove": "resource", "index": "random"}
    of, numbers = [0, 1], [0, 0]

    def until(policies, **more):
        base = config_from_dict(ECONOMY | more)
        return [past[0] for past in pasts(base, policies, of, numbers)]

    assert until([[], [one]]) == [5, 9]
    assert until([[], [one]], shocks=[drawn]) == [2, 9]
    assert until([[], [one]], shocks=[drawn | {"index": 2}]) == [5, 9]
    assert until([[], [one, drawn]]) == [2, 9]
    assert until([[], [one, drawn | {"day": 8}]]) == [5, 9]


def test_a_removal_from_all_copies_parts_none():
    both = [*LATER, *gone(4)]
    columns = {"pace": np.array([1.0, 1.0, 2.0, 2.0])}
    config = launch_config(tallies.config(interventions=both), {}, columns, np.array([0, 0, 1, 1]))
    (past,) = pasts_of(Setup(tallies.WORKLOAD, config))
    assert (past.until, past.chosen.tolist(), past.of.tolist()) == (8, [0, 2], [0, 0, 1, 1])


def test_copies_that_begin_otherwise_differ_from_the_beginning():
    """Here they only have other values on day 0, and one loses something later."""
    alike = [{"day": 0, "set": {"pace": 3.0}}]
    policies = Policies([alike, [*alike, *gone(6)]], np.array([0, 1]))
    columns = {"pace": np.array([1.0, 2.0])}
    config = launch_config(tallies.config(), {}, columns, np.array([0, 0]), policies)
    assert pasts_of(Setup(tallies.WORKLOAD, config)) == []


def test_copies_without_numbers_of_their_own_or_that_are_timed_share_no_past(monkeypatch):
    base, policies, of = tallies.config(days=8), [[], LATER], [0, 1, 0, 1]
    assert pasts(base, policies, of, [0, 0, 1, 1]) != []
    for name, value in (("numbered", False), ("timed", True)):
        with monkeypatch.context() as patch:
            patch.setattr(tallies.Tallies, name, value)
            assert pasts(base, policies, of, [0, 0, 1, 1]) == []
    config = tallies.config(days=8)
    config._numbers = np.array([0, 0])
    assert pasts_of(Setup(tallies.WORKLOAD, config)) == []  # no parameters of their own


# -- shocks ----------------------------------------------------------------------------------------


def shocked(shock, **more):
    """Return day, end, societies and label of each intervention of a shock."""
    config = config_from_dict(MONEY | more)
    source = study_of_shocks(config, [shock])
    before, after = source["vary"]["grid"]["interventions"]
    assert before == [] and source["base"]["replicates"] == 5
    return [(one["day"], one.get("until"), one["societies"], one["label"]) for one in after]


def test_given_days_are_those_of_the_societies_in_turn():
    shock = {"day": {"given": [3, 5, 4]}, "set": {"amount": 2}, "label": "more"}
    days = [(3, None, [0, 3], "more"), (4, None, [2], "more"), (5, None, [1, 4], "more")]
    assert shocked(shock) == days
    later = [(day, until, [n + 10 for n in of], name) for day, until, of, name in days]
    assert shocked(shock, first_society=10) == later
    lasting = {**shock, "day": {"given": [3, 5, 4], "lasts": 2}}
    assert shocked(lasting) == [(day, day + 2, of, name) for day, _, of, name in days]
    assert shocked({**shock, "day": {"random": [4, 4]}}) == [(4, None, [0, 1, 2, 3, 4], "more")]
    (one, *_) = shocked({"day": {"given": [3]}, "set": {"amount": 2}})
    assert one[3] == "amount 2, given [3]"


@pytest.mark.parametrize("ends", [(2, 8), (4, 4), (2, 3)])
def test_random_days_are_drawn_by_seed_and_number(ends):
    shock = {"day": {"random": [*ends]}, "set": {"amount": 2}}
    found = {n: day for day, _, of, _ in shocked(shock) for n in of}
    expected = {
        n: int(np.random.default_rng([5, n]).integers(ends[0], ends[1], endpoint=True))
        for n in range(5)
    }
    assert found == expected


def test_the_number_of_replicates_is_the_one_given_or_that_of_the_base():
    config = config_from_dict(MONEY)
    shock = {"day": 3, "set": {"amount": 2}}
    assert study_of_shocks(config, [shock], 7)["base"]["replicates"] == 7
    assert study_of_shocks(config, [shock])["base"]["replicates"] == 5
    with pytest.raises(ConfigError, match="matmul has no interventions"):
        study_of_shocks(config_from_dict({"workload": "matmul"}), [shock], 7)


@pytest.mark.parametrize(
    ("shock", "said"),
    [
        ({"day": {"given": [3, "x"]}}, "day.given: expected whole numbers from 0 on, got"),
        ({"day": {"given": [3, -1]}}, "day.given: expected whole numbers from 0 on, got"),
        ({"day": {"given": 3}}, "day.given: expected whole numbers from 0 on, got 3"),
        ({"day": {"given": [3], "lasts": [1]}}, "day.lasts: expected whole numbers from 1 on"),
        ({"day": {"given": [3]}, "societies": [1]}, "societies: .* of different days$"),
        ({"day": {"given": [3]}, "until": 5}, "until: .*; say how long with lasts: N in day$"),
    ],
)
def test_days_of_shocks_are_lists_of_whole_numbers(shock, said):
    with pytest.raises(ConfigError, match=said):
        study_of_shocks(config_from_dict(MONEY), [{"set": {"amount": 2}, **shock}])


def test_a_wrong_shock_is_named_without_the_list_it_is_in():
    config = config_from_dict(MONEY)
    late, ends = {"day": 30, "set": {"amount": 4}}, {"day": 5, "until": 3, "set": {"amount": 4}}

    def message(*shocks):
        found = sweep_of_shocks(config, shocks)
        with pytest.raises(ConfigError) as caught:
            checked_points(found, *sweep_points(found), copies=5)
        return str(caught.value)

    assert message(late) == "the argument shock  day: must be before the last day, 12, got 30"
    assert message({"day": 5, "set": {"amuont": 4}}) == (
        "the argument shock  set.amuont: unknown key; did you mean 'amount'?"
    )
    assert message({"set": {"amount": 4}}) == "the argument shock  day: is missing"
    assert message(ends, late).split("\n") == [
        "the argument shock 1  until: must be after day 5, on which it begins, got 3",
        "the argument shock 2  day: must be before the last day, 12, got 30",
    ]
    config, tax = config_from_dict({**ECONOMY, "replicates": 2}), "policies.income_tax"
    assert message({"day": 2, "set": {f"{tax}.top_from": 0.5, f"{tax}.middle_from": 2}}) == (
        f"the argument shock  {tax}.top_from: 0.5 is below middle_from (2); brackets ascend"
    )


# -- values that are not used ----------------------------------------------------------------------


def unused(**one):
    base = ECONOMY | {"days": 10, "interventions": [{"day": 3, **one}]}
    return [str(conflict.message) for conflict in unused_values(config_from_dict(base))]


def test_values_of_days_that_the_run_does_not_have_are_named():
    def values(count):
        return {"day_length": {"values": [500.0] * count}}

    assert unused(set=values(7)) == []  # of days 4 to 10
    assert unused(set=values(8)) == ["the series has 8 values; the first 7 are used, until day 10"]
    assert unused(until=6, set=values(3)) == []
    assert unused(until=6, set=values(4)) == [
        "the series has 4 values; the first 3 are used, until day 6"
    ]
    assert unused(until=10, set={"day_length": 500}) == []
    assert unused(until=12, set=values(8)) == [
        "12 is after the last day, 10: it holds to the end of the run",
        "the series has 8 values; the first 7 are used, until day 10",
    ]
    assert list(unused_values(config_from_dict(ECONOMY))) == []
