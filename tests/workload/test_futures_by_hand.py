"""Which copies does a fan have, in which turn are runs computed, and where did a rule go wrong?"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from societies import config_from_dict
from societies.errors import ConfigError, OutputError
from societies.sweep.order import in_turn
from societies.translate import RuleError
from societies.workload import Setup
from societies.workload.running.fans import futures_of, of_futures, repeated, with_fan
from societies.workload.running.faults import FAULT, require_no_fault
from societies.workload.running.points import with_table
from societies.workload.running.registry import workload

ECONOMY = {"workload": "economy", "agents": 3, "resources": 3, "days": 9}


def economy(**settings):
    return config_from_dict({**ECONOMY, **settings})


def fan(day=4, futures=3, **settings):
    return economy(fan={"day": day, "futures": futures}, **settings)


def of_branch(config, saved, tick=4):
    return futures_of(saved, Setup(workload("economy"), config), "parent.h5", tick)


def test_a_branch_has_as_many_futures_of_each_past_as_its_fan_says():
    parent = economy(replicates=2, first_society=5).model_dump(mode="json")
    assert of_branch(fan(replicates=6, first_society=15), parent) == 3
    assert of_branch(fan(replicates=3), {}) == 3  # of one, the first, where nothing is said
    assert of_branch(economy(replicates=2), parent) == 0
    assert of_branch(fan(futures=1, replicates=1), {}) == 1
    # A file of the same fan is continued, or is cut off: its copies have their futures already.
    assert of_branch(fan(replicates=3), fan(replicates=3).model_dump(mode="json")) == 0
    assert of_branch(fan(replicates=3), {"fan": None}) == 3


@pytest.mark.parametrize(
    ("config", "tick", "said"),
    [
        (
            fan(replicates=6, first_society=15),
            3,
            "of fan begin after day 4, the branch after day 3",
        ),
        (fan(replicates=9, first_society=15), 4, "has replicates 2, so .* 3 futures .* 6, not 9"),
        (fan(replicates=6, first_society=6), 4, "has first_society 5, so .* first_society 15, not"),
    ],
)
def test_a_branch_with_other_copies_or_from_another_day_is_refused(config, tick, said):
    parent = economy(replicates=2, first_society=5).model_dump(mode="json")
    with pytest.raises(OutputError, match=said):
        of_branch(config, parent, tick)


def test_the_futures_of_a_copy_stand_next_to_each_other():
    state = {"x": np.array([[1, 2], [3, 4]]), "y": np.array([5.0, 6.0])}
    found = repeated(state, 3)
    assert found["x"].tolist() == [[1, 2]] * 3 + [[3, 4]] * 3
    assert found["y"].tolist() == [5.0] * 3 + [6.0] * 3
    assert repeated(state, 2)["y"].tolist() == [5.0, 5.0, 6.0, 6.0]
    for few in (0, 1):
        assert repeated(state, few) is state


def test_what_happened_in_the_past_happened_in_every_future_of_it():
    events = {"society": np.array([5, 7], np.int32), "parts": np.array([[1, 2], [3, 4]])}
    found = of_futures(events, "society", 3)
    assert found["society"].tolist() == [15, 16, 17, 21, 22, 23]
    assert found["society"].dtype == np.int32
    assert found["parts"].tolist() == [[1, 2]] * 3 + [[3, 4]] * 3
    assert of_futures(events, "society", 2)["society"].tolist() == [10, 11, 14, 15]
    for copies, futures in (("society", 1), ("society", 0), ("run", 3)):
        assert of_futures(events, copies, futures) == events


def test_a_configuration_is_made_a_fan():
    found = with_fan(economy(replicates=2, first_society=5), 4, 3)
    assert (found.replicates, found.first_society) == (6, 15)
    assert (found.fan.day, found.fan.futures) == (4, 3)
    rest = {"replicates": 2, "first_society": 5, "fan": economy().model_dump()["fan"]}
    assert {**found.model_dump(), **rest} == economy(replicates=2, first_society=5).model_dump()


CHANGE = {"day": 2, "set": {"day_length": 60.0}}


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            config_from_dict({"workload": "laplace", "steps": 2}),
            "laplace has no key fan: its draws stay the sa",
        ),
        (fan(replicates=3), "the configuration is a fan already; take one that is not"),
        (
            with_table(economy(replicates=2), {"day_length": [60.0, 70.0]}),
            "the configuration has a table of parameters; take one that is not",
        ),
        (
            economy(replicates=2, interventions=[CHANGE, {**CHANGE, "societies": [1]}]),
            "an intervention is for some societies alone, whose numbers are others in a fan",
        ),
    ],
)
def test_what_cannot_be_a_fan_is_refused(config, said):
    with pytest.raises(ConfigError, match=said):
        with_fan(config, 4, 3)


def test_an_intervention_for_all_is_one_for_all_futures():
    assert len(with_fan(economy(interventions=[CHANGE]), 4, 2).interventions) == 1


# -- order of a study -----------------------------------------------------------------------------


def turns(queues, replicate=None, least=1):
    named = [(name, rows) for name, rows in queues.items()]
    return list(in_turn(named, replicate, least))


def test_runs_come_in_at_most_four_rounds():
    """Of nine and of two runs: rounds of three, the largest quarter of nine."""
    found = turns({"a": list(range(9)), "b": [20, 21]})
    assert found == [("a", [0, 1, 2]), ("b", [20, 21]), ("a", [3, 4, 5]), ("a", [6, 7, 8])]
    assert turns({"a": [1, 2, 3, 4]}) == [("a", [1]), ("a", [2]), ("a", [3]), ("a", [4])]
    assert turns({"a": [1, 2, 3, 4, 5]}) == [("a", [1, 2]), ("a", [3, 4]), ("a", [5])]
    assert turns({}) == [] and turns({"a": []}) == []


def test_a_turn_has_a_least_size():
    assert turns({"a": [1, 2, 3, 4, 5]}, least=4) == [("a", [1, 2, 3, 4]), ("a", [5])]
    assert turns({"a": list(range(20))}, least=2)[0] == ("a", [0, 1, 2, 3, 4])


def test_first_replicates_come_first_unless_runs_must_stay_together():
    replicate = np.array([0, 1, 0, 1])
    assert turns({"a": [0, 1, 2, 3]}, replicate, 2) == [("a", [0, 2]), ("a", [1, 3])]
    assert turns({"a": [3, 1, 2, 0]}, None, 2) == [("a", [3, 1]), ("a", [2, 0])]


# -- rules that went wrong ------------------------------------------------------------------------


def site(line, what):
    lines = {3: "  a / b", 8: "  c[d]"}
    file = SimpleNamespace(path="rules.py", line=lambda number: lines[number])
    return file, line, what


SITES = [site(3, "division by 0"), site(8, "no such entry")]


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        (
            [0, 0, 2, 0],
            "rules.py:8: no such entry\n    c[d]\n  on day 7, in the society with index 2",
        ),
        (
            [0, 1, 2, 1],
            "rules.py:3: division by 0\n    a / b\n  on day 7, in the society with index 1",
        ),
        (
            [0, 0, 0, 2, 1],
            "rules.py:8: no such entry\n    c[d]\n  on day 7, in the society with index 3",
        ),
    ],
)
def test_the_first_society_whose_rule_went_wrong_is_named(faults, said):
    arrays = {FAULT: SimpleNamespace(get=lambda: np.array(faults, np.int32))}
    with pytest.raises(RuleError) as caught:
        require_no_fault(SITES, "day", "society", arrays, 7)
    count = sum(one != 0 for one in faults)
    assert str(caught.value).startswith(said)
    assert str(caught.value).endswith(
        f" of the launch (one of {count})" if count > 1 else " of the launch"
    )


def test_without_a_fault_nothing_is_raised():
    arrays = {FAULT: SimpleNamespace(get=lambda: np.zeros(3, np.int32))}
    require_no_fault(SITES, "day", "society", arrays, 7)
