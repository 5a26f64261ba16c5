"""Which twins does `matter` run, and how far does it say that they have moved?"""

import io

import numpy as np
import pytest
import xarray as xr
from rich.console import Console

from societies.errors import ConfigError
from societies.study import matter as module
from societies.study.matter import (
    Matter,
    _changes,
    _compared,
    _words,
    keys_to_change,
    matter,
    matter_table,
)
from societies.study.simulate import sweep_of

SMALL = {"agents": 2, "resources": 2, "days": 3}
UP = {"trading.price": {"inverse_geometric": 2.0, "unit": 5.0}}


class Twins:
    """Takes the place of a simulator: from its second tick on, a series grows with the values."""

    made: list
    lost: frozenset

    def __init__(self, sweep, names, targets, replicates, device):
        self.names, self.variables, self.count = names, targets.variables, replicates
        self.made.append((names, replicates, device, []))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @staticmethod
    def number(name, value):
        return value if type(value) in (int, float) else UP.get(name, {}).get(value, 1.0)

    def computed(self, rows, numbers, progress):
        assert numbers.tolist() == [[*range(self.count)]] * len(rows)
        self.made[-1][-1].extend(rows)
        for number, row in enumerate(rows):
            for r in range(self.count):
                if (row[0], r) in self.lost:
                    continue
                far = sum(map(self.number, self.names, row))
                values = np.array([[1.0, 1.0 + far, (1.0 + r) * far]])
                ticks = {"day": [1, 2, 3], "run": [r]}
                one = xr.DataArray(values, ticks, ("run", "day"))
                data = xr.Dataset(dict.fromkeys(self.variables, one))
                yield [number * self.count + r], data


@pytest.fixture
def twins(monkeypatch):
    Twins.made, Twins.lost = [], frozenset()
    monkeypatch.setattr(module, "Simulator", Twins)
    return Twins


def test_numbers_share_a_launch_with_the_base_and_every_word_has_its_own(twins):
    keys = ["extraction.max_effort", "trading.price", "utility.exponent=3.0"]
    clock, found, left = matter(
        "economy/quickstart", set=SMALL, keys=keys, variables=["gini"], replicates=2, device="none"
    )
    names = ("extraction.max_effort", "utility.exponent")
    assert twins.made == [
        (names, 2, "none", [[9.0, 2.5], [pytest.approx(9.45), 2.5], [9.0, 3.0]]),
        (("trading.price",), 2, "none", [["inverse_geometric"]]),
        (("trading.price",), 2, "none", [["unit"]]),
    ]
    assert (clock, left) == ("day", [])
    first = "min/unit", 9.0, 9.0 + 9.0 * 0.05, 2
    words = [("", "geometric", word, 2) for word in UP["trading.price"]]
    assert [(one.key, one.unit, one.before, one.after, one.first) for one in found] == [
        (keys[0], *first),
        *((keys[1], *word) for word in words),
        (names[1], "1", 2.5, 3.0, 2),
    ]
    moved = [one.moved["gini"] for one in found]
    assert moved == pytest.approx([0.45 / 11.5, -9.5 / 11.5, -6.5 / 11.5, 0.5 / 11.5])


def test_twins_of_which_one_failed_are_not_compared(twins):
    """Only pairs count: of the base without its first run, and a twin without its second."""
    twins.lost = {(9.0, 0), ("unit", 1)}
    keys = ["extraction.max_effort", "trading.price"]
    _, found, left = matter(
        "economy/quickstart", set=SMALL, keys=keys, variables=["gini"], replicates=2
    )
    assert [one.after for one in found] == [pytest.approx(9.45), "inverse_geometric"]
    assert found[0].moved["gini"] == pytest.approx(0.05)
    assert left == ["trading.price: its runs failed"]
    twins.lost = {("unit", 1)}
    _, found, left = matter(
        "economy/quickstart", set=SMALL, keys=keys, variables=["gini"], replicates=2
    )
    assert left == [] and [one.after for one in found[1:]] == [*UP["trading.price"]]


def test_what_cannot_be_changed_is_left_out_and_what_cannot_grow_shrinks(twins):
    """A rate of 1 has no larger one; the exponent that is named is too small."""
    keys = ["policies.transfer.poorest_part", "utility.exponent=0.5", "seeed", "utility"]
    _, found, left = matter(
        "economy/quickstart",
        set={**SMALL, "policies.transfer.poorest_part": 1.0},
        keys=keys,
        variables=["gini"],
    )
    assert [(one.key, one.before, one.after) for one in found] == [(keys[0], 1.0, 0.95)]
    assert [one.partition(":")[0] for one in left] == ["utility.exponent", "seeed", "utility"]
    assert left[0] == "utility.exponent: must be more than 1, got 0.5"
    with pytest.raises(ConfigError, match=r"^no key can be changed: seeed: .*; utility: is a"):
        matter("economy/quickstart", set=SMALL, keys=keys[2:])


def test_by_default_all_keys_are_changed_and_headlines_compared(twins):
    _, found, left = matter("economy/quickstart")
    names = [key for key, _ in keys_to_change("economy/quickstart", {})]
    assert {one.key for one in found} | {one.partition(":")[0] for one in left} == {*names}
    assert "has no value near it" not in "".join(left)
    usual = ["units_extracted", "units_held", "units_traded", "utility", "gini"]
    assert [*found[0].moved] == usual
    assert not [name for name in names if name.startswith(("workload", "record."))]
    assert {"devices", "trade", "trading.price", "endowment.units"} <= {*names}
    assert not {"label", "seed", "agents", "interventions"} & {*names}


def test_without_headlines_the_series_of_a_copy_are_compared(twins):
    small = {"workload": "boltzmann", "days": 3, "agents": 4}
    _, found, _ = matter(small, keys=["amount"])
    assert [*found[0].moved] == ["gini", "top_tenth", "richest", "poor", "total"]


def test_headlines_that_are_not_recorded_are_not_compared(twins, monkeypatch):
    from societies.workload.running.registry import workload

    monkeypatch.setattr(workload("economy"), "headlines", lambda: ("nothing", "gini"))
    _, found, _ = matter("economy/quickstart", set=SMALL, keys=["utility.scale"])
    assert [*found[0].moved] == ["gini"]
    monkeypatch.setattr(workload("economy"), "headlines", lambda: ())
    _, found, _ = matter("economy/quickstart", set=SMALL, keys=["utility.scale"])
    assert {"gini", "deals"} <= {*found[0].moved} and "hhi" not in found[0].moved  # by quantile


@pytest.mark.parametrize("change", [0, -0.1, 1e6 + 0.5, float("nan")])
def test_a_change_is_above_0_and_bounded(change):
    with pytest.raises(ConfigError, match="must be above 0, and at most 1e"):
        matter("economy/quickstart", set=SMALL, change=change)


def test_the_largest_change_is_a_million_times_the_value(twins):
    _, (found,), _ = matter("economy/quickstart", set=SMALL, keys=["utility.scale"], change=1e6)
    assert found.after == pytest.approx(found.before * (1 + 1e6))


def run(ticks=(10, 20, 30), **series):
    series = {name: (("day", "agent")[: np.ndim(x)], x) for name, x in series.items()}
    return xr.Dataset({**series, "day": [*ticks]})


def test_the_first_difference_of_any_series_counts_and_the_mean_of_the_last():
    a = run(x=[1.0, 2, -4], y=[[1.0, 2], [np.nan, 2], [3, 3]])
    b = run(x=[1.0, 2, -3], y=[[1.0, 2], [np.nan, 2], [3, 5]])
    c = run(x=[1.0, 2, 2], y=[[1.0, 2], [1, 2], [3, 4]])
    assert _compared([(a, a)], ["x", "y"], "day") == (-1, {"x": 0.0, "y": 0.0})
    assert _compared([(a, b)], ["x", "y"], "day") == (30, {"x": 0.25, "y": 1 / 3})
    for twins in ([(a, c)], [(c, a)]):  # a number and none
        assert _compared(twins, ["x", "y"], "day")[0] == 20
    assert _compared([(a, b), (c, a)], ["x"], "day") == (30, {"x": -5 / 6})
    assert _compared([(a, a), (a, c)], ["y", "x"], "day")[0] == 20
    each = [np.zeros((2, 3, 2, 2)) for _ in range(2)]
    each[1][:, 1, 1, 0] = 1.0
    pairs = [
        [xr.Dataset({"x": (("day", "agent", "good"), y)}, {"day": [1, 2, 3]}) for y in x]
        for x in zip(*each, strict=True)
    ]
    assert _compared(pairs, ["x"], "day")[0] == 2
    late = run(ticks=(10, 20), x=[1.0, 3])
    assert _compared([(a, late)], ["x"], "day") == (20, {"x": 0.5})


def test_words_between_which_a_key_chooses():
    from typing import Literal

    assert _words(bool) == [False, True]
    assert _words(Literal["a", "b"]) == ["a", "b"]
    assert _words(list[int]) == _words(int) == []


@pytest.mark.parametrize(
    ("key", "before", "expected"),
    [
        ("trading.price", "unit", [["geometric", "inverse_geometric"]]),
        ("trading.fresh_values", True, [[False]]),
        ("trade", False, [[True]]),
        ("label", "some", []),
        ("label", None, []),
        ("agents", 100, [[105], [95]]),
        ("agents", -100, [[-95], [-105]]),
        ("agents", 50, [[52], [48]]),
        ("agents", 3, [[4], [2]]),
        ("agents", 0, [[1], [-1]]),
        ("utility.scale", 9.0, [[9.0 + 9.0 * 0.05], [9.0 - 9.0 * 0.05]]),
        ("utility.scale", -2.0, [[-1.9], [-2.1]]),
        ("utility.scale", 0.0, [[0.05], [-0.05]]),
    ],
)
def test_values_near_another_one(key, before, expected):
    """A number a twentieth up or down, a whole one by 1 at least; all other words of a choice."""
    base = sweep_of("economy/quickstart", SMALL).base
    assert _changes(base, key, before, 0.05) == expected


FOUND = [
    Matter("a[b]", "1", 2.0, 2.1000000001, -1, {"x": 0.0, "y": 0.0}),
    Matter("c", "", "old", "new", 7, {"x": 0.125, "y": float("nan")}),
    Matter("d", "", 3, 4, 0, {"x": -0.5, "y": float("inf")}),
]


def test_the_table_has_keys_without_effect_last():
    page = io.StringIO()
    Console(file=page, width=200).print(matter_table("day", FOUND))
    lines = [line.split("  ") for line in page.getvalue().splitlines()]
    rows = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    rows = [row for row in rows if row and "─" not in row[0]]
    assert rows[0] == ["key", "from", "to", "first day", "x", "y"]
    assert [row[:5] for row in rows[1:]] == [
        ["c", "old", "new", "7", "12.5 %"],
        ["d", "3", "4", "0", "-50 %"],
        ["a[b]", "2", "2.1", "never", "0 %"],
    ]
    columns = matter_table("day", FOUND).columns
    assert [one.justify for one in columns] == ["left", *["right"] * 5]


def test_plain_data_have_nothing_for_never_and_for_no_number():
    assert FOUND[0].as_dict() == {
        **{"key": "a[b]", "unit": "1", "before": 2.0, "after": 2.1000000001},
        **{"first": None, "moved": {"x": 0.0, "y": 0.0}},
    }
    assert FOUND[1].as_dict()["first"] == 7
    assert FOUND[1].as_dict()["moved"] == {"x": 0.125, "y": None}
