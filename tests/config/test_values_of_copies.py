"""Which values has each copy at each time? Written out by hand, for tables and interventions.

Device and reference are handed the same values, so that comparing them tells nothing about these.
"""

from __future__ import annotations

import hashlib
from types import SimpleNamespace

import numpy as np
import pytest

from reference_py.economy.parameters import REMOVE_NOTHING
from reference_py.economy.tables import (
    consumption_threshold,
    device_effort,
    resource_effort,
    utility_curve,
)
from societies import config_from_dict
from societies.economy.ensemble import SHOCK_TABLE
from societies.economy.workload import WORKLOAD
from societies.errors import ConfigError
from societies.workload.running.ensembles import plain_data, plain_number
from societies.workload.running.points import points_of, with_rows, with_table
from societies.workload.running.tables import ValueTable, table_of
from societies.workload.running.varying import changed, coordinates, copied
from societies.workload.values.keys import table_row, table_rows
from societies.workload.values.keys import values as values_of

SIZES = {"workload": "economy", "agents": 6, "resources": 4, "days": 30}


def economy(**settings):
    return config_from_dict({**SIZES, **settings})


def at(config, tick):
    """Return the configuration of each copy in a tick."""
    points = points_of(config)
    return [points.configs[i] for i in points.of[points.stretch(tick)]]


# -- tables ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [0.5, 3.0, 1e-7])
def test_rows_that_differ_in_the_last_bit_are_different(base):
    """Also far below what single precision holds."""
    numbers = [base, float(np.nextafter(base, 9.0)), base + 1e-12, base, base * (1 + 1e-9)]
    config = with_table(economy(), {"trading.min_surplus": numbers})
    assert [one.trading.min_surplus for one in at(config, 1)] == numbers
    assert len(points_of(config).configs) == len(set(numbers))


def test_each_copy_has_its_row_whatever_the_order_and_the_repetitions():
    random = np.random.default_rng(5)
    surplus, exponent = random.choice([0.1, 0.7, 2.5], 40), random.choice([2.0, 3.5], 40)
    config = with_table(economy(), {"trading.min_surplus": surplus, "utility.exponent": exponent})
    found = at(config, 3)
    assert [one.trading.min_surplus for one in found] == surplus.tolist()
    assert [one.utility.exponent for one in found] == exponent.tolist()
    assert len(points_of(config).configs) == len({*zip(surplus, exponent, strict=True)}) == 6


# -- interventions ---------------------------------------------------------------------------------

CHANGES = [
    {"day": 4, "set": {"trading.min_surplus": 2.0, "utility.exponent": 2.2}},
    {"day": 9, "set": {"day_length": 500.0}, "societies": [11, 13]},
    {"day": 9, "set": {"utility.exponent": 3.0, "groups.1.trade_power": 4.0}, "societies": [13]},
    {"day": 20, "set": {"trading.min_surplus": 1.0}, "societies": [10]},
    {"day": 20, "set": {"trading.min_surplus": 0.25}},
    {"day": 20, "set": {"trading.min_surplus": 7.0}, "societies": [12]},
]
"""Of societies 10 to 13."""
GROUPS = [{"name": "one", "count": 2}, {"name": "other", "count": 4, "trade_power": 1.5}]


def values(one):
    powers = [group.trade_power for group in one.groups]
    return one.trading.min_surplus, one.utility.exponent, one.day_length, powers


EXPECTED = {
    # days: (surplus, exponent, day length, trade powers) of each of the four societies
    (1, 4): [(0.1, 2.5, 600.0, [1.0, 1.5])] * 4,
    (5, 9): [(2.0, 2.2, 600.0, [1.0, 1.5])] * 4,
    (10, 20): [
        (2.0, 2.2, 600.0, [1.0, 1.5]),
        (2.0, 2.2, 500.0, [1.0, 1.5]),
        (2.0, 2.2, 600.0, [1.0, 1.5]),
        (2.0, 3.0, 500.0, [1.0, 4.0]),
    ],
    (21, 30): [
        (0.25, 2.2, 600.0, [1.0, 1.5]),
        (0.25, 2.2, 500.0, [1.0, 1.5]),
        (7.0, 2.2, 600.0, [1.0, 1.5]),
        (0.25, 3.0, 500.0, [1.0, 4.0]),
    ],
}


@pytest.mark.parametrize("order", [CHANGES, [*CHANGES[3:], *CHANGES[:3]]], ids=["by day", "mixed"])
def test_every_key_has_the_newest_value_that_was_set(order):
    """An intervention changes the keys that it names and no other, from the next day on."""
    config = economy(
        groups=GROUPS,
        replicates=4,
        first_society=10,
        trading={"min_surplus": 0.1},
        utility={"exponent": 2.5, "min_marginal": 20.0},
        day_length=600.0,
        interventions=order,
    )
    assert points_of(config).after == (4, 9, 20)
    assert len(points_of(config).configs) == 1 + 1 + 2 + 4  # each is listed once
    p = WORKLOAD.parameters(config)
    for days, expected in EXPECTED.items():
        for day in days:
            assert [values(one) for one in at(config, day)] == expected
            for place, (surplus, exponent, length, powers) in enumerate(expected):
                own = p.of(place, day)
                assert (own.min_surplus, own.day_length) == (surplus, length)
                assert list(own.trade_power) == powers
                scale, floor = config.utility.scale, config.utility.min_marginal
                curve = utility_curve(scale, exponent, floor, own.largest_holding)
                assert own.utility_curves[own.utility_curve_of[1][3]].total == curve.total


def test_an_intervention_changes_one_key_of_a_row_and_leaves_the_others_of_the_table():
    table = {"trading.min_surplus": [0.5, 1.5, 2.5], "day_length": [500.0, 550.0, 650.0]}
    change = {"day": 2, "set": {"day_length": 700.0}, "societies": [1, 2]}
    config = with_table(economy(replicates=3, interventions=[change]), table)
    for day, lengths in ((2, [500.0, 550.0, 650.0]), (3, [500.0, 700.0, 700.0])):
        assert [one.day_length for one in at(config, day)] == lengths
        assert [one.trading.min_surplus for one in at(config, day)] == [0.5, 1.5, 2.5]


def test_interventions_concern_runs_by_their_numbers_where_these_are_given():
    """Copies of one number, as in a sweep with common random numbers, all have the change."""
    change = {"day": 2, "set": {"day_length": 700.0}, "societies": [1]}
    config = economy(replicates=2, interventions=[change])
    table = ValueTable({"trading.min_surplus": np.array([0.5, 0.5, 1.5, 1.5])})
    rows = with_rows(config, table, np.array([0, 1, 0, 1]))
    assert [one.day_length for one in at(rows, 3)] == [config.day_length, 700.0] * 2
    assert [one.trading.min_surplus for one in at(rows, 3)] == [0.5, 0.5, 1.5, 1.5]


# -- groups ----------------------------------------------------------------------------------------

MINDS = [
    {"name": "plain", "count": 1},
    {"name": "able", "count": 2, "extraction": {"max_effort": 7.0, "max_experience": 45.0}},
    {"name": "deft", "count": 2, "device": {"max_effort": 20.0}, "inventiveness": 3.0},
    {
        "name": "apt",
        "count": 1,
        "extraction": {"min_effort": [2.0, 2.5, 1.0, 0.5]},
        "device": {"min_effort": 5.0, "max_experience": 30.5},
        "utility": {"exponent": [2.0, 2.1, 2.2, 2.3], "scale": 500.0},
        "consumption": {"resource_lifetime": [1.0, 2.0, 5.0, 9.0]},
        "trade_power": 2.0,
        "device_trade_power": 5.0,
    },
]
BASE = {
    "devices": "all",
    "device": {"max_effort": 27.0, "min_effort": 9.0, "max_experience": 40.0},
    "extraction": {"max_effort": [9.0, 8.0, 7.5, 6.0], "min_effort": 3.0, "max_experience": 60.0},
    "utility": {"scale": 600.0, "exponent": 2.5, "min_marginal": 20.0},
    "consumption": {"resource_lifetime": 5.0},
}
SCALES = [[600.0] * 4] * 3 + [[500.0] * 4]
EXPONENTS = [[2.5] * 4] * 3 + [[2.0, 2.1, 2.2, 2.3]]
MOST = [[9.0, 8.0, 7.5, 6.0], [7.0] * 4, [9.0, 8.0, 7.5, 6.0], [9.0, 8.0, 7.5, 6.0]]
LEAST = [[3.0] * 4] * 3 + [[2.0, 2.5, 1.0, 0.5]]
EXPERIENCE = [60.0, 45.0, 60.0, 60.0]
MAKING = [(27.0, 9.0, 40.0), (27.0, 9.0, 40.0), (20.0, 9.0, 40.0), (27.0, 5.0, 30.5)]
LIFETIMES = [[5.0] * 4] * 3 + [[1.0, 2.0, 5.0, 9.0]]


def of_groups(p):
    """Check the parameters of a society whose four groups are `MINDS`."""
    assert p.group_of_agent == (0, 1, 1, 2, 2, 3)
    assert tuple(p.trade_power) == (1.0, 1.0, 1.0, 2.0)
    assert tuple(p.devices.trade_power) == (1.0, 1.0, 1.0, 5.0)
    assert tuple(p.devices.inventiveness) == (1.0, 1.0, 3.0, 1.0)
    for g in range(4):
        for r in range(4):
            found = p.utility_curves[p.utility_curve_of[g][r]]
            curve = utility_curve(SCALES[g][r], EXPONENTS[g][r], 20.0, p.largest_holding)
            assert (found.marginal, found.total, found.floor) == (curve.marginal, curve.total, 20.0)
            found = p.effort_curves[p.effort_curve_of[g][r]]
            curve = resource_effort(MOST[g][r], LEAST[g][r], EXPERIENCE[g])
            assert (found.minutes, found.total) == (curve.minutes, curve.total)
            assert found.max_experience == EXPERIENCE[g]
            found = p.devices.effort_curves[p.devices.effort_curve_of[g][r]]
            curve = device_effort(*MAKING[g])
            assert (found.minutes, found.total) == (curve.minutes, curve.total)
            assert found.max_experience == MAKING[g][2]
            threshold = consumption_threshold(LIFETIMES[g][r])
            assert p.consumption_threshold[g][r] == threshold


def test_every_group_has_its_own_curves():
    of_groups(WORKLOAD.parameters(economy(groups=MINDS, **BASE)))


def test_every_group_has_its_own_curves_in_every_society_of_a_table():
    """What kernels read, and what the reference is handed."""
    table = {"extraction.max_experience": [30.0, 60.0], "groups.2.device.max_effort": [25.0, 20.0]}
    p = WORKLOAD.parameters(with_table(economy(groups=MINDS, **BASE), table))
    of_groups(p.of(1, 1))
    tables, rows = p.curves(), p.rows(1)
    assert tables["group_of_agent_table"].tolist() == [0, 1, 1, 2, 2, 3]
    for society, experience, making in ((0, 30.0, 25.0), (1, 60.0, 20.0)):
        for g in range(4):
            for r in range(4):
                most = experience if EXPERIENCE[g] == 60.0 else EXPERIENCE[g]
                curve = resource_effort(MOST[g][r], LEAST[g][r], most)
                assert read(tables, rows, "effort", society, g, r) == curve.minutes
                curve = device_effort(*((making, *MAKING[g][1:]) if g == 2 else MAKING[g]))
                assert read(tables, rows, "making", society, g, r) == curve.minutes
                curve = utility_curve(SCALES[g][r], EXPONENTS[g][r], 20.0, p.largest_holding)
                assert read(tables, rows, "utility", society, g, r) == curve.marginal


def read(tables, rows, kind, society, group, resource):
    """Return the entries of a curve as kernels find them."""
    number = rows[f"{kind}_curve_table"][society, group, resource]
    start, length = (int(tables[f"{kind}_{of}_table"][number]) for of in ("start", "length"))
    name = {"utility": "marginal_table"}.get(kind, f"{kind}_table")
    return tuple(tables[name][start : start + length].tolist())


# -- what is made of values ------------------------------------------------------------------------


def test_a_society_alone_has_the_parameters_that_it_has_among_others():
    table = {"trading.min_surplus": [0.5, 1.5, 2.5]}
    change = {"day": 2, "set": {"day_length": 700.0}, "societies": [21, 22]}
    config = economy(replicates=3, first_society=20, interventions=[change])
    p = WORKLOAD.parameters(with_table(config, table))
    for number, surplus in ((20, 0.5), (21, 1.5), (22, 2.5)):
        alone = p.only(number)
        assert (alone.first_society, alone.societies) == (number, 1)
        assert alone.points.after == (2,) and alone.points.of.shape == (2, 1)
        for day, length in ((1, 600.0), (3, 600.0 if number == 20 else 700.0)):
            own = alone.of(0, day)
            assert (own.min_surplus, own.day_length) == (surplus, length)
            (row,) = alone.rows(day)["value_table"]
            assert row.tolist() == p.rows(day)["value_table"][number - 20].tolist()
    assert (p.first_society, p.societies) == (20, 3)


@pytest.mark.parametrize(("said", "index"), [("any", None), (0, 0), (3, 3)])
def test_prices_are_in_units_of_the_numeraire(said, index):
    record = {"measures": True, "numeraire": said}
    assert WORKLOAD.parameters(economy(record=record)).numeraire == index
    tabled = with_table(economy(record=record), {"day_length": [500.0]})
    assert WORKLOAD.parameters(tabled).numeraire == index
    assert WORKLOAD.parameters(tabled).of(0, 1).numeraire == index


@pytest.mark.parametrize("devices", ["none", "tools", "all"])
def test_all_copies_have_the_devices_of_the_configuration(devices):
    table = {"day_length": [500.0, 600.0]}
    p = WORKLOAD.parameters(with_table(economy(devices=devices), table))
    for one in (p, p.of(0, 1), WORKLOAD.parameters(economy(devices=devices))):
        assert (one.devices is None) == (devices == "none")
        assert one.devices is None or one.devices.tools_only == (devices == "tools")
    assert ("making_table" in p.curves()) == (devices != "none")
    assert ("inventiveness_table" in p.rows(1)) == (devices != "none")


def test_days_have_their_own_shocks_and_otherwise_the_same_steps():
    from societies.economy.schedule import cached_schedule

    shocks = [{"day": day, "remove": "agent", "index": day} for day in (1, 3, 5)]
    p = WORKLOAD.parameters(economy(shocks=shocks, devices="all"))
    names = {day: [step.phase for step in cached_schedule(p, day)] for day in range(7)}
    assert [day for day, steps in names.items() if "shocks" in steps] == [1, 3, 5]
    assert names[2] == names[4] == names[6] != names[0]
    assert [one for one in names[3] if one != "shocks"] == names[2]
    assert cached_schedule(p, 2) is cached_schedule(p, 4) is cached_schedule(p, 6)
    for step in cached_schedule(p, 2):
        market, kind = (step.arguments.get(name) for name in ("market_round", "device_type"))
        assert step.round == (0 if market is None else market)
        assert step.device_type == (-1 if kind is None else kind)
    said = {str(step) for step in cached_schedule(p, 2)}
    assert any("industry, round 1" in one for one in said)


@pytest.mark.parametrize("fan", [{}, {"fan": {"day": 4, "futures": 3}, "replicates": 6}])
def test_only_the_first_day_of_a_fan_has_other_steps_and_all_are_cached(fan):
    from societies.economy.schedule import cached_schedule, day_schedule

    p = WORKLOAD.parameters(economy(**fan))
    said = {day: [*map(str, cached_schedule(p, day))] for day in range(8)}
    assert said == {day: [*map(str, day_schedule(p, day))] for day in range(8)}
    own = {0, 5} if fan else {0}
    assert (said[5] == said[4]) == (not fan)
    for day in range(8):
        assert (cached_schedule(p, day) is cached_schedule(p, 7)) == (day not in own)


def test_a_table_says_which_societies_a_removal_concerns():
    change = {"day": 2, "set": {"day_length": 700.0}}
    shock = {"day": 1, "remove": "agent", "index": 0}
    gone = [{"day": day, "remove": "resource", "index": day} for day in (1, 3)]
    config = economy(replicates=2, shocks=[shock], interventions=[change, *gone])
    assert SHOCK_TABLE not in WORKLOAD.parameters(config).rows(1)
    config = config.model_copy()
    config._applies = np.array([[True, True], [True, False], [False, True]])
    p = WORKLOAD.parameters(config)
    concerned = [[1, 1, 0], [1, 0, 1]]  # the shock concerns both
    assert p.rows(1)[SHOCK_TABLE].tolist() == p.rows(5)[SHOCK_TABLE].tolist() == concerned
    for number in (0, 1):
        assert p.only(number).rows(1)[SHOCK_TABLE].tolist() == [concerned[number]]
        removed = [one.remove != REMOVE_NOTHING for one in p.of(number, 3).shocks]
        assert removed == [*map(bool, concerned[number])]


def test_tables_are_made_on_the_device_that_parameters_get_once(monkeypatch):
    from societies.economy.curves_of_rules import Curves

    device, seen = object(), []
    make = Curves.utility_tables
    monkeypatch.setattr(
        Curves, "utility_tables", lambda self, *of: seen.append(of[-1]) or make(self, *of[:-1])
    )
    p = WORKLOAD.parameters(with_table(economy(), {"day_length": [500.0, 600.0]}))
    WORKLOAD.computed_on(p, device)
    assert p.curves() and seen == [device] and p._device is None
    WORKLOAD.computed_on(WORKLOAD.parameters(economy()), device)  # of one society: nothing to do


def test_limits_by_hand():
    """At the least effort of 0.5 min and the day of 100 min, 40 times faster with industries."""
    from societies.economy.limits import limits

    extraction = {"min_effort": [3.0, 0.5, 2.0, 1.0], "max_experience": 30.0}
    settings = {"day_length": 100.0, "extraction": extraction}
    p = WORKLOAD.parameters(economy(**settings))
    found = limits(p, 10)
    assert found["most units"] == 6 * 10 * (200 + 2)
    assert found["last to be removed"].tolist() == [0]
    assert "most minutes" not in found
    factor = {"tool": 3, "machine": 9, "factory": 20, "industry": 40}
    shocks = [
        {"day": 2, "remove": "resource", "index": 0},
        {"day": 3, "remove": "agent", "index": "random"},
    ]
    device = {"factor": factor, "lifetime": {"industry": 1000.0}, "min_effort": 0.4}
    p = WORKLOAD.parameters(economy(devices="all", device=device, shocks=shocks, **settings))
    found = limits(p, 10)
    assert p.device_lifetime[3] == max(p.device_lifetime) == 1000.0
    assert found["most units"] == 6 * 10 * (8000 + 2)
    assert found["last to be removed"].tolist() == [3, 5]
    assert found["most minutes"] == 2.0**57 * 0.4 / 40
    tabled = with_table(economy(shocks=shocks, **settings), {"day_length": [50.0, 100.0]})
    assert limits(WORKLOAD.parameters(tabled), 10)["most units"] == 6 * 10 * 202
    assert limits(WORKLOAD.parameters(tabled), 10)["last to be removed"].tolist() == [3, 5]


def test_limits_at_their_ends():
    """Whole units of a day, 64 devices of the longest life, and no more units than int32 holds."""
    from societies.economy.limits import limits
    from societies.economy.state import MOST_UNITS

    curve = SimpleNamespace(minutes=(9.0, 3.0))
    p = SimpleNamespace(
        agents=2,
        resources=3,
        shocks=(),
        effort_curves=(curve,),
        devices=SimpleNamespace(effort_curves=(SimpleNamespace(minutes=(27.0, 6.0)),)),
        device_factor=(2.0, 10.0),
        device_lifetime=(5.0, 1e18, 7.0),
        day_length=100.0,
        endowment=((0, 5, 0), (7, 0, 1)),
    )
    found = limits(p, 4)
    assert found["most units"] == 2 * (4 * (333 + 2) + 7)
    assert found["most minutes"] == 64e18
    p.day_length = 1e300
    assert limits(p, 4)["most units"] == MOST_UNITS


def test_kernels_find_each_value_in_its_column():
    from societies.workload.values.keys import table_columns, table_lookups

    values = {"real": 2.5, "row": (1.0, 3.0, 4.0), "whole": 7, "last": 0.5}
    assert table_row(values) == [2.5, 1.0, 3.0, 4.0, 7.0, 0.5]
    assert table_columns(values) == {"real": 0, "row": 1, "whole": 4, "last": 5}
    assert table_lookups(values, "box") == [
        "#define P(name) P_##name",
        "#define P_real (value_table[(size_t)box * 6 + 0])",
        "#define row (&value_table[(size_t)box * 6 + 1])",
        "#define P_whole ((int)value_table[(size_t)box * 6 + 4])",
        "#define P_last (value_table[(size_t)box * 6 + 5])",
    ]


# -- what a table is -------------------------------------------------------------------------------


def test_a_hash_is_of_keys_shapes_and_numbers_whatever_the_order_of_columns():
    one = {"a": np.array([1.0, 2.0]), "b": np.array([[3.0, 4.0], [5.0, 6.0]])}
    hashed = ValueTable(one).sha256
    text = b"a (2,)\n" + one["a"].tobytes() + b"b (2, 2)\n" + one["b"].tobytes()
    assert hashed == hashlib.sha256(text).hexdigest()
    assert ValueTable({"b": one["b"], "a": one["a"]}, "other", [3, 4]).sha256 == hashed
    for other in (
        {**one, "a": np.array([1.0, np.nextafter(2.0, 3.0)])},
        {"c": one["a"], "b": one["b"]},
        {"a": one["a"]},
    ):
        assert ValueTable(other).sha256 != hashed


def test_keys_that_vary_are_coordinates_with_unit_and_meaning():
    table = {"day_length": [500.0, 600.0], "utility.scale": np.full((2, 4), 500.0)}
    config = with_table(economy(), table)
    day, scale = coordinates(config, "society", entries="resource")
    assert (day.name, day.along, day.units) == ("day_length", ("society",), "min")
    assert day.values.tolist() == [500.0, 600.0] and day.long_name
    assert (scale.name, scale.along) == ("utility.scale", ("society", "resource"))
    assert scale.units == "util" and scale.long_name and scale.long_name != day.long_name
    assert coordinates(economy(), "society") == []


def test_numbers_without_a_table_are_as_many_copies():
    config = with_rows(economy(replicates=5), None, np.array([4, 4, 6]))
    assert (config.replicates, config.table, config.numbers.tolist()) == (3, None, [4, 4, 6])
    assert with_rows(economy(replicates=5), None, None).replicates == 5
    table = ValueTable({"day_length": np.array([500.0, 600.0])})
    assert with_rows(economy(replicates=5), table, None).replicates == 2


def test_removals_alone_change_no_values():
    removal = {"day": 3, "remove": "agent", "index": 1}
    assert points_of(economy(interventions=[removal])) is None
    both = economy(interventions=[removal, {"day": 5, "set": {"day_length": 500.0}}])
    assert points_of(both).after == (5,)


@pytest.mark.parametrize(("wrong", "more"), [(7, 0), (8, 0), (9, 1), (12, 4)])
def test_eight_problems_of_a_table_are_reported_and_the_others_counted(wrong, more):
    lengths = -np.arange(1.0, wrong + 1)
    with pytest.raises(ConfigError) as caught:
        with_table(economy(), {"day_length": lengths})
    lines = str(caught.value).split("\n")
    assert len(lines) == min(wrong, 8) + (more > 0)
    assert lines[0].startswith("table, row 0: day_length: must be more than 0, got -1")
    assert (lines[-1] == f"and {more} more problems of this table") == (more > 0)


@pytest.mark.parametrize(
    ("number", "whole"), [(3.0, True), (2.0**53 - 1, True), (2.0**53, False), (3.5, False)]
)
def test_whole_numbers_of_a_table_stand_for_either_kind(number, whole):
    found = plain_number(np.float64(number))
    assert found == number and type(found) is (int if whole else float)
    row = plain_number(np.array([number, 0.5]))
    assert row == [number, 0.5] and type(row[0]) is (int if whole else float)


def test_a_file_may_end_with_empty_lines_and_have_them_between(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("day_length, trading.min_surplus\n500, 0.5\n\n600,1e-3\n\n\n")
    table = table_of(file)
    assert {key: column.tolist() for key, column in table.columns.items()} == {
        "day_length": [500.0, 600.0],
        "trading.min_surplus": [0.5, 1e-3],
    }
    assert list(table.lines) == [2, 4]
    assert table.place(1) == f"{file}:4" and ValueTable(table.columns).place(1) == "table, row 1"
    assert table_of(table) is table
    file.write_text("day_length\n500\n600\n\n")
    assert table_of(file).columns["day_length"].tolist() == [500.0, 600.0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "table: has no columns"),
        ({"a": []}, "expected an array of numbers|has no rows"),
        ({"a": np.zeros(0)}, "table: has no rows"),
        ({"a": 3.0}, "a: expected an array of numbers, one for each copy"),
        ({"a": np.zeros((2, 2, 2))}, "a: expected an array of numbers"),
        ({"a": ["x", "y"]}, "a: expected an array of numbers"),
        ({"a": [True, "x"]}, "a: expected an array of numbers"),
        (
            {"a": [1, 2**53 + 1]},
            "a: must be at most 9007199254740992 in size, got 9007199254740993",
        ),
        ({"a": np.array([3, 2**64 - 1], np.uint64)}, "a: must be at most 9007199254740992 in size"),
        ({"a": [1.0, np.inf]}, "table, row 1: a: must be a finite number"),
        ({"a": np.array([[1.0, np.nan], [1, 2]])}, "table, row 0: a: must be a finite number"),
        ({"a": [1, 2], "b": [1, 2, 3]}, "b has 3 rows, a has 2"),
    ],
)
def test_columns_that_are_none(columns, message):
    with pytest.raises(ConfigError, match=message):
        table_of(columns)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,a\n1,2,3\n", "a: appears twice"),
        ("b,a,a\n1,2,3\n", "a: appears twice"),
        ("", "needs a line with keys and a line of values"),
        ("\n\n", "needs a line with keys and a line of values"),
        ("a\n", "needs a line with keys and a line of values"),
        ("a\n\n", "needs a line with keys and a line of values"),
        ("a\n1\n\n2\n", "a: has no value in this row"),
        ("a,b\n1\n", "has 1 entry for 2 keys"),
        ("a,b\n1,x\n", "b: expected a number, got 'x'"),
    ],
)
def test_files_that_are_none(tmp_path, text, message):
    file = tmp_path / "t.csv"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        table_of(file)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([{"day": 3, "set": {}}], "interventions.0.set: names no key that it changes"),
        ([{"day": 30, "set": {"day_length": 5}}], "must be before the last day, 30, got 30"),
        ([{"day": 3, "set": {"day_length": 5}, "societies": [2]}], "there is no society 2"),
        ([{"day": 3, "set": {"day_length": 5}, "societies": [6]}], "they are numbered 3 to 5"),
    ],
)
def test_interventions_that_are_none(changes, message):
    with pytest.raises(ConfigError, match=message):
        economy(interventions=changes, replicates=3, first_society=3)
    last = {"day": 29, "set": {"day_length": 5.0}, "societies": [3, 5]}
    config = economy(interventions=[last], replicates=3, first_society=3)
    assert [one.day_length for one in at(config, 30)] == [5.0, config.day_length, 5.0]


# -- values that were checked before ---------------------------------------------------------------


def test_values_that_were_checked_are_set_with_the_type_of_their_key_and_nothing_is_lost():
    groups = [
        {"name": "a", "share": 0.5, "utility": {"exponent": 2.5}},
        {"name": "b", "share": 0.5},
    ]
    config = economy(groups=groups, extraction={"max_effort": [9, 8, 7, 6]})
    settings = {
        ("day_length",): 500,
        ("utility", "exponent"): 2,
        ("groups", 0, "utility", "exponent"): 3,
        ("extraction", "max_effort", 2): 10,
        ("device", "max_experience"): 30,
    }
    expected, found = changed(type(config), plain_data(config), settings), copied(config, settings)
    assert found == expected
    assert repr(found) == repr(expected)
    assert isinstance(found.day_length, float)
    assert isinstance(found.device.max_experience, type(expected.device.max_experience))
    assert config.day_length != 500


def test_rows_of_checked_points_are_not_checked_again(monkeypatch):
    table = ValueTable({"day_length": np.array([500.0, 600.0, 500.0])}, checked=True)
    config = with_rows(economy(), table, None)
    monkeypatch.setattr(type(config), "conflicts", None)  # must not be called
    found = points_of(config)
    assert [one.day_length for one in found.configs] == [500.0, 600.0]
    assert [one.table for one in found.configs] == [None, None]


def test_the_rows_of_many_configurations_are_those_of_each():
    configs = [economy(day_length=day, trading={"min_surplus": day / 1e3}) for day in (500, 600.5)]
    assert np.array_equal(table_rows(configs), [table_row(values_of(one)) for one in configs])
