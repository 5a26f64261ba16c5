"""Are curves of a user's rule the numbers that it returns, and is what cannot be one refused?"""

import math
from types import SimpleNamespace

import pytest

from societies.economy import curves, curves_of_rules
from societies.economy.curves_of_rules import EFFORT, UTILITY, Curves
from societies.errors import ConfigError


class Rule:
    """A rule of a user that notes how it is called and which call is repeated."""

    def __init__(self, function):
        self.function, self.seen, self.pure = function, [], []

    def called(self):
        def call(**facts):
            self.seen.append(facts)
            return self.function(**facts)

        return call

    def refused(self, said, **facts):
        return ConfigError(f"{said} of {facts}")

    def require_pure(self, value, **facts):
        self.pure.append((value, facts))


def of(**rules):
    names = {"utility": UTILITY, **EFFORT}
    found = {names[name]: Rule(function) for name, function in rules.items()}
    return Curves(SimpleNamespace(functions=found)), found


def without_resource(unit, scale, exponent, **_):
    return scale - unit**exponent


def by_resource(unit, scale, exponent, resource):
    return scale - unit - resource


def test_a_rule_that_asks_for_the_resource_has_a_curve_of_each():
    keys = [(9.0, 2.0, 1.0), (8.0, 2.0, 1.0)]
    assert of(utility=by_resource)[0].of_resources(UTILITY, keys) == [(*keys[0], 0), (*keys[1], 1)]
    for made in (of(utility=without_resource)[0], of()[0]):
        assert made.of_resources(UTILITY, keys) == keys


@pytest.mark.parametrize("largest", [0, 1, 2, 50])
def test_utility_has_a_unit_more_than_can_be_held_or_ends_at_the_floor(largest):
    made, rules = of(utility=by_resource)
    values = [12.0 - unit - 3 for unit in range(1, 9)]  # 8, 7, ... 1: above 0.5
    values = values[: largest + 1]
    curve = made.utility_curve((12.0, 2.0, 0.5, 3), largest)
    assert [*curve.marginal] == values
    assert [*curve.total] == [sum(values[:n]) for n in range(len(values) + 1)]
    facts = {"scale": 12.0, "exponent": 2.0, "resource": 3}
    assert rules[UTILITY].seen[0] == {"unit": 1, **facts}
    assert rules[UTILITY].pure == [(8.0, {"unit": 1, **facts})]
    tables = made.utility_tables([(12.0, 2.0, 0.5, 3), (9.0, 2.0, 2.5, 1)], largest)
    assert [*tables.curve(0).marginal] == values and tables.curve(1).floor == 2.5
    assert [*tables.curve(1).marginal] == [7.0, 6.0, 5.0, 4.0, 3.0][: largest + 1]


def test_a_rule_without_the_resource_gets_the_first():
    made, rules = of(utility=without_resource)
    made.utility_curve((9.0, 1.0, 0.5), 3)
    assert {facts["resource"] for facts in rules[UTILITY].seen} == {0}


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda unit, **_: math.nan, "returns nan of {'unit': 1"),
        (lambda unit, **_: 5.0 if unit < 3 else math.inf, "returns inf of {'unit': 3"),
        (lambda unit, **_: float(unit), "returns 2.0, which is more than 1.0 of the unit before"),
        (lambda unit, **_: 0.5, r"returns 0.5, which is not above utility.min_marginal \(0.5\)"),
    ],
)
def test_utility_falls_from_above_the_floor(function, said):
    with pytest.raises(ConfigError, match=said):
        of(utility=function)[0].utility_curve((9.0, 1.0, 0.5), 5)


def test_a_table_of_utility_has_a_longest_length(monkeypatch):
    monkeypatch.setattr(curves_of_rules, "LONGEST_TABLE", 4)
    made, _ = of(utility=lambda unit, **_: 1.0)
    with pytest.raises(ConfigError, match="a table of more than 4 units"):
        made.utility_curve((9.0, 1.0, 0.5), 4)
    assert len(made.utility_curve((9.0, 1.0, 0.5), 2).marginal) == 3
    assert len(made.utility_curve((9.0, 1.0, 0.5, 1), 1).marginal) == 2


def effort(experience, max_effort, resource, **_):
    return max_effort - experience - resource / 4


@pytest.mark.parametrize("section", ["extraction", "device"])
@pytest.mark.parametrize(("most", "count"), [(3.0, 4), (2.5, 4), (0.0, 1)])
def test_efforts_are_those_of_whole_experience_up_to_the_largest(section, most, count):
    made, rules = of(**{section: effort})
    rule = rules[EFFORT[section]]
    for more, resource in (((2,), 2), ((), 0)):
        key = (9.0, 3.0, most, *more)
        minutes = [9.0 - x - resource / 4 for x in range(count)]
        curve = made.effort_curve(section, key)
        assert [*curve.minutes] == minutes
        assert [*curve.total] == [sum(minutes[:n]) for n in range(count)]
        facts = {"max_effort": 9.0, "min_effort": 3.0, "max_experience": most, "resource": resource}
        assert rule.seen[-count:] == [{"experience": x, **facts} for x in range(count)]
        assert rule.pure[-1] == (minutes[0], {"experience": 0, **facts})


@pytest.mark.parametrize("value", [math.inf, math.nan, 2.9, -1.0])
def test_no_effort_is_less_than_the_least_or_without_end(value):
    made, _ = of(device=lambda experience, **_: 3.0 if experience < 2 else value)
    with pytest.raises(ConfigError, match=r"device.min_effort is 3, .* of {'experience': 2"):
        made.effort_curve("device", (9.0, 3.0, 4.0))
    assert [*made.effort_curve("device", (9.0, 3.0, 1.0)).minutes] == [3.0, 3.0]


def test_without_rules_curves_are_the_built_in_ones():
    made, _ = of()
    key = (600.0, 2.5, 1.0)
    assert made.utility_curve(key, 40) == curves.utility_curve(*key, 40)
    key = (9.0, 3.0, 20.0)
    assert made.effort_curve("extraction", key) == curves.resource_effort(*key)
    assert made.effort_curve("device", key) == curves.device_effort(*key)
    assert made.effort_curve("device", key) != made.effort_curve("extraction", key)
