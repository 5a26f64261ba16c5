"""Which interventions contradict each other or themselves? Day by day, from what each one says."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import tallies
from small import GROUPS, small

from societies import config_from_dict
from societies.economy.workload import WORKLOAD
from societies.errors import ConfigError
from societies.workload.running import ensembles as points
from societies.workload.running import points as running
from societies.workload.running.points import overlaps, with_table

LATE = 9
"""Beyond every day of the cases."""


def entry(day, until=None, societies=(), **changed):
    named = {"group": None, "agents": ()}
    return SimpleNamespace(day=day, until=until, societies=societies, set=changed, **named)


def said_of(*entries):
    config = SimpleNamespace(workload="economy", interventions=entries, groups=())
    return [(one.path, one.message) for one in overlaps(config)]


def days_of(one):
    """Return the days on which an intervention holds; it begins after its day."""
    return range(one.day + 1, (LATE if one.until is None else one.until) + 1)


ENDS = (None, 3, 4, 6)
CASES = list(product((1, 2, 3), ENDS, (2, 3, 4), ENDS))


@pytest.mark.parametrize(
    ("some", "others", "share"),
    [((), (), True), ((), (1,), True), ((0,), (1,), False), ((0, 1), (1, 2), True)],
)
def test_two_that_hold_on_the_same_days_are_said_unless_one_is_inside(some, others, share):
    for begin, end, later_begin, later_end in CASES:
        one = entry(begin, end, some, pace=1.0, only=2.0, also=0.0)
        other = entry(later_begin, later_end, others, pace=2.0, other=1.0, also=0.0)
        first, second, places = one, other, (0, 1)
        if later_begin < begin:
            first, second, places = other, one, (1, 0)
        both = sorted({*days_of(first)} & {*days_of(second)})
        last = [LATE if a.until is None else a.until for a in (first, second)]
        inside = first.day < second.day and last[1] <= last[0] and second.until is not None
        for_good = first.until is None and second.until is None
        expected = []
        if both and share and not inside and not for_good:
            path = ("interventions", places[1], "set")
            rest = "; this one holds then, since it begins later or comes later in the list"
            span = f"is also set by interventions.{places[0]} from day {both[0]} to {both[-1]}"
            expected = [(path, f"{key} {span}{rest}") for key in ("also", "pace")]
        assert said_of(one, other) == expected, (one, other)


def test_every_pair_is_compared_and_what_sets_nothing_is_not():
    many = [entry(1, 9, a=1.0), entry(2), entry(2, 12, a=1.0), entry(3, 2_000_000, a=2.0, b=1.0)]
    found = [(path[1], said.split("; ")[0]) for path, said in said_of(*many)]
    assert found == [
        (2, "a is also set by interventions.0 from day 3 to 9"),
        (3, "a is also set by interventions.0 from day 4 to 9"),
        (3, "a is also set by interventions.2 from day 4 to 12"),
    ]
    long = [entry(1, 1_234_567, a=1.0), entry(2, 2_345_678, a=1.0)]
    assert "from day 3 to 1234567;" in said_of(*long)[0][1]
    assert said_of() == [] and said_of(entry(1), entry(1)) == []


def test_the_same_key_of_two_groups_is_two_keys():
    group = {"day": 2, "until": 9}
    names = [one["name"] for one in GROUPS]
    for second, count in ((names[0], 1), (names[1], 0)):
        changes = [
            {**group, "group": names[0], "set": {"trade_power": 3.0}},
            {**group, "day": 4, "until": 11, "group": second, "set": {"trade_power": 2.0}},
        ]
        config = small("economy", groups=GROUPS, interventions=changes)
        assert len(list(overlaps(config))) == count


# -- what cannot be -------------------------------------------------------------------------------


def lines(**changes):
    try:
        small("economy", days=10, replicates=2, first_society=3, groups=GROUPS, **changes)
    except ConfigError as error:
        return str(error).splitlines()
    return []


LAST = "interventions.0"
SET = {"day_length": 500.0}


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ({"day": 10}, {"day": 9}, ["day: must be before the last day, 10, got 10"]),
        (
            {"societies": [3, 2, 5]},
            {"societies": [3, 4]},
            [
                "societies.1: there is no society 2; they are numbered 3 to 4",
                "societies.2: there is no society 5; they are numbered 3 to 4",
            ],
        ),
        ({"set": {}}, {"set": SET}, ["set: names no key that it changes"]),
        (
            {"day": 4, "until": 4},
            {"day": 4, "until": 5},
            ["until: must be after day 4, on which it begins, got 4"],
        ),
        (
            {"day": 4, "until": 3},
            {"day": 4, "until": None},
            ["until: must be after day 4, on which it begins, got 3"],
        ),
        (
            {"set": {"nothing": 1.0}},
            {"set": {"trading.min_surplus": 1.0}},
            ["set.nothing: unknown key"],
        ),
        (
            {"group": GROUPS[0]["name"], "set": {"day_length": 1.0}},
            {"group": GROUPS[0]["name"], "set": {"trade_power": 1.0}},
            ["set.day_length: is the same for all agents; a group has count, share, "],
        ),
        (
            {"group": GROUPS[0]["name"], "set": {"name": "x"}},
            {"group": GROUPS[1]["name"], "set": {"trade_power": 1.0}},
            ["set.name: "],
        ),
        (
            {"group": GROUPS[0]["name"], "set": {"count": 1}},
            {"group": GROUPS[0]["name"], "set": {"trade_power": 1.0}},
            ["set.count: is the same in all copies of a launch; only parameters of the model"],
        ),
        (
            {"group": "absent", "set": {"trade_power": 1.0}},
            {"group": GROUPS[0]["name"], "set": {"trade_power": 1.0}},
            ["set.trade_power: there is no group 'absent'"],
        ),
        (
            {"day": 3, "until": 5, "set": {"day_length": [500.0, "x"]}},
            {"day": 3, "until": 5, "set": {"day_length": [500.0, 1.0]}},
            ["set.day_length: value 1 of the series, that of day 5, is"],
        ),
        (
            {"day": 3, "set": {"day_length": [500.0] * 6}},
            {"day": 3, "set": {"day_length": [500.0] * 7}},
            [
                "set.day_length: the series has 6 values for the 7 days 4 to 10",
                "set.day_length: add the others, or let it end: until: 9",
            ],
        ),
        (
            {"day": 3, "until": 6, "set": {"day_length": [500.0] * 2}},
            {"day": 3, "until": 6, "set": {"day_length": [500.0] * 3}},
            [
                "set.day_length: the series has 2 values for the 3 days 4 to 6",
                "set.day_length: add the others, or let it end: until: 5",
            ],
        ),
        (
            {"day": 3, "until": 99, "set": {"day_length": [500.0] * 6}},
            {"day": 3, "until": 99, "set": {"day_length": [500.0] * 7}},
            [
                "set.day_length: the series has 6 values for the 7 days 4 to 10",
                "set.day_length: add the others, or let it end: until: 9",
            ],
        ),
        (
            {"set": {"day_length": -1.0}},
            {"set": {"day_length": 1.0}},
            ["day_length: must be more than 0, got -1"],
        ),
    ],
)
def test_one_that_cannot_be_says_why_and_the_nearest_that_can_is_valid(wrong, right, said):
    usual = {"day": 3, "set": SET}
    found = lines(interventions=[{**usual, **wrong}])
    assert len(found) == len(said)
    for line, begin in zip(found, said, strict=True):
        assert line.startswith(f"{LAST}.{begin}") or line.startswith(f"{LAST}: {begin}"), line
    assert lines(interventions=[{**usual, **right}]) == []


def test_the_one_with_which_values_cannot_be_is_named():
    """Of two that are possible alone: with both, an agent needs more for nothing than a day has."""
    fine = {"day": 1, "set": {"trading.min_surplus": 1.0}}
    bad = {"day": 4, "set": {"day_length": -1.0}}
    for place, changes in ((1, [fine, bad]), (0, [bad, fine])):
        (said,) = lines(interventions=changes)
        assert said.startswith(f"interventions.{place}: day_length: must be more than 0")
        assert "a series of it" not in said
    (said,) = lines(interventions=[{"day": 1, "set": {"utility.scale": [1e4, 2e4]}}])
    assert said.endswith("; a series of it is written {values: [...]}")
    assert said.count("a series of it") == 1


# -- what holds when ------------------------------------------------------------------------------


def series(*values):
    return points._Series(values)


@pytest.mark.parametrize(
    ("start", "until", "values", "last", "expected"),
    [
        (3, 7, {"a": 1.0}, 10, {3, 7}),
        (3, np.inf, {"a": 1.0}, 10, {3}),
        (3, np.inf, {}, None, {3}),
        (3, 10, {"a": 1.0}, 10, {3}),
        (3, 9, {"a": 1.0}, 10, {3, 9}),
        (3, np.inf, {"a": 1.0, "b": series(1, 2, 3)}, 10, {3, 4, 5}),
        (3, np.inf, {"a": series(1, 2, 3, 4), "b": series(1, 2)}, None, {3, 4, 5, 6}),
        (3, np.inf, {"a": series(*range(20))}, 6, {3, 4, 5}),
        (3, 5, {"a": series(*range(20))}, 10, {3, 4, 5}),
        (12, np.inf, {"a": series(1, 2)}, 10, {12}),
    ],
)
def test_values_change_where_it_begins_and_ends_and_with_every_value_of_a_series(
    start, until, values, last, expected
):
    assert points._changing(start, until, values, last) == expected


def test_a_series_keeps_its_last_value():
    assert [points._at(series(5, 6, 7), i) for i in range(5)] == [5, 6, 7, 7, 7]
    assert points._at((5, 6), 1) == (5, 6)
    assert points.until_of(entry(1)) == np.inf and points.until_of(entry(1, 4)) == 4
    assert points.until_of(object()) == np.inf


def test_every_copy_has_the_values_of_its_row_and_of_what_holds(monkeypatch):
    """Compared with the definition: per copy and day, later interventions over earlier ones."""
    tallies.install(monkeypatch)
    changes = [
        {"day": 5, "set": {"pace": 50.0}},
        {"day": 2, "set": {"pace": 20.0, "goal.bonus": 2.0}, "societies": [4, 6]},
        {"day": 2, "set": {"pace": 21.0}, "societies": [6]},
        {"day": 8, "set": {"goal.bonus": 8.0}, "societies": [5]},
    ]
    config = tallies.config(days=12, first_society=4, interventions=changes, replicates=3)
    rows = [1.5, 2.5, 1.5]
    config = with_table(config, {"pace": rows})
    found = tallies.points_of(config)
    assert found.after == (2, 5, 8)
    assert [found.stretch(day) for day in (1, 2, 3, 5, 6, 8, 9, 12)] == [0, 0, 1, 1, 2, 2, 3, 3]
    seen = set()
    for copy, day in product(range(3), range(1, 13)):
        one = found.configs[found.of[found.stretch(day), copy]]
        pace, bonus = rows[copy], 0.0
        for change in sorted(changes, key=lambda change: change["day"]):
            if change["day"] < day and 4 + copy in change.get("societies", [4, 5, 6]):
                pace = change["set"].get("pace", pace)
                bonus = change["set"].get("goal.bonus", bonus)
        assert (one.pace, one.goal.bonus) == (pace, bonus)
        seen.add((pace, bonus))
    assert len(found.configs) == len(seen)  # what is the same is one configuration
    assert tallies.points_of(config) is found  # and is made once
    assert tallies.points_of(tallies.config()) is None


def test_what_ends_holds_until_then_and_a_series_continues_from_day_to_day():
    changes = [
        {"day": 2, "until": 7, "set": {"day_length": [501.0, 502.0, 503.0, 504.0, 505.0]}},
        {"day": 4, "until": 5, "set": {"day_length": 400.0}},
        {"day": 8, "until": 99, "set": {"day_length": 300.0}},
    ]
    found = points.points_of(WORKLOAD, small("economy", days=10, interventions=changes))
    usual = small("economy").day_length
    expected = [usual] * 2 + [501.0, 502.0, 400.0, 504.0, 505.0] + [usual] + [300.0] * 2
    days = [found.configs[found.of[found.stretch(day), 0]] for day in range(1, 11)]
    assert [one.day_length for one in days] == expected


def test_values_that_cannot_be_in_turn_are_refused(monkeypatch):
    """Each configuration may be allowed and the sequence not."""
    tallies.install(monkeypatch)

    def in_turn(self, configs):
        seen.append([one.pace for one in configs])
        if configs[-1].pace == 3.0 and configs[0].pace == 1.0:
            yield SimpleNamespace(path=("pace",), message="grows too fast")

    seen = []
    monkeypatch.setattr(tallies.TalliesConfig, "conflicts_in_turn", in_turn)
    changes = [{"day": 2, "set": {"pace": 3.0}, "societies": [1]}]
    with pytest.raises(ConfigError, match="interventions: taken together, pace: grows too fast"):
        tallies.config(days=6, interventions=changes)
    plain = tallies.config(days=6, replicates=2)
    seen.clear()
    with pytest.raises(ConfigError) as refused:
        with_table(tallies.config(days=6, interventions=[{"day": 2, "set": {"pace": -1.0}}]), {})
    assert "pace" in str(refused.value)
    table = with_table(plain, {"pace": [1.0, 2.0]})
    assert seen == [] and len(tallies.points_of(table).configs) == 2  # without interventions
    config = tallies.config(days=6, replicates=2, interventions=[{"day": 2, "set": {"pace": 2.0}}])
    tallies.points_of(config)
    assert seen[-1] == [1.0, 2.0]
    # Each sequence once, in order, whichever copies have it.
    back = [
        {"day": day, "set": {"pace": pace}, "societies": [1, 2]} for day, pace in ((2, 2), (4, 1))
    ]
    config = tallies.config(days=6, replicates=3, interventions=back)
    seen.clear()
    points._points(tallies.WORKLOAD, config)
    assert sorted(seen) == [[1.0, 1.0, 1.0], [1.0, 2.0, 1.0]]
    more = [{"day": 2, "set": {"pace": 3.0}}]
    config = tallies.config(days=6, replicates=2, pace=2.0, interventions=more)
    with pytest.raises(ConfigError, match=r"^table, with interventions: taken together, pace: "):
        with_table(config, {"pace": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("table", "rows", "of"),
    [
        ({"a": [3.0, 1.0, 3.0, 2.0]}, [0, 1, 3], [0, 1, 0, 2]),
        ({"a": [1.0, 1.0, 1.0], "b": [2, 1, 2]}, [0, 1], [0, 1, 0]),
        ({"a": [[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]]}, [0, 1], [0, 1, 0]),
        ({"a": [1.0, np.nextafter(1.0, 2.0)]}, [0, 1], [0, 1]),
    ],
)
def test_rows_that_differ_anywhere_are_different(table, rows, of):
    columns = {name: np.array(column) for name, column in table.items()}
    table = SimpleNamespace(columns=columns, rows=len(of))
    first, found = points._different_rows(table, len(of))
    assert first == rows and found.tolist() == of
    assert points._different_rows(None, 3)[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float64(3.0), 3),
        (np.float64(2.5), 2.5),
        (np.int64(7), 7),
        (np.float64(2.0**53), 2.0**53),
        (np.float64(2.0**53 - 1), 2**53 - 1),
        (np.array([1.0, 2.5]), [1, 2.5]),
    ],
)
def test_numbers_of_a_table_are_written_as_in_a_file(value, plain):
    found = points.plain_number(value)
    assert found == plain and type(found) is type(plain)


@pytest.mark.parametrize(
    ("rows", "replicates", "said"),
    [
        (3, None, ""),
        (3, 3, ""),
        (3, 2, "has 3 rows for 2 societies (replicates); each society needs one"),
        (1, 2, "has 1 row for 2 societies (replicates); each society needs one"),
    ],
)
def test_a_table_has_a_row_for_each_copy(rows, replicates, said, monkeypatch):
    tallies.install(monkeypatch)
    asked = {} if replicates is None else {"replicates": replicates}
    config = config_from_dict({"workload": "tallies", **asked})
    table = {"pace": list(range(1, rows + 1))}
    if not said:
        assert with_table(config, table).replicates == rows
        return
    with pytest.raises(ConfigError) as refused:
        with_table(config, table)
    assert f"{said}\ngive both the same number, such as" in str(refused.value)
    assert f"replicates={rows}" in str(refused.value)


def test_a_day_before_the_first_has_the_values_of_the_configuration(monkeypatch):
    """A change of day 0 holds from day 1 on, and not yet in what is made before."""
    tallies.install(monkeypatch)
    config = tallies.config(days=6, interventions=[{"day": 0, "set": {"pace": 7.0}}])
    found = tallies.points_of(config)
    paces = [found.configs[found.of[found.stretch(day), 0]].pace for day in (0, 1, 6)]
    assert paces == [1.0, 7.0, 7.0]


def test_more_copies_than_there_may_be_are_refused_by_the_table(monkeypatch):
    tallies.install(monkeypatch)
    many = SimpleNamespace(rows=2**40, name="many.csv")
    monkeypatch.setattr(running, "table_of", lambda *_: many)
    config = config_from_dict({"workload": "tallies"})
    with pytest.raises(ConfigError, match=r"^many.csv: must be at most \d+, got 1099511627776$"):
        with_table(config, {})


def test_a_workload_without_copies_has_no_table():
    matmul = config_from_dict({"workload": "matmul"})
    with pytest.raises(ConfigError, match="matmul has no replicates that could differ"):
        with_table(matmul, {"size": [8, 9]})


def test_a_conflict_of_the_configuration_is_said_once_though_there_are_interventions():
    broken = {"extraction": {"min_effort": 9, "max_effort": 2}}
    said = []
    for interventions in ([], [{"day": 3, "set": {"day_length": 500}}]):
        with pytest.raises(ConfigError) as refused:
            config_from_dict({"workload": "economy", **broken, "interventions": interventions})
        said.append(str(refused.value))
    assert said[0] == said[1] and "9 is more than max_effort (2)" in said[0]
