"""Which values has a series of an intervention, and which parameters have copies? By hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from societies.economy.config import EconomyConfig
from societies.economy.config.keys import EconomyIntervention
from societies.workload.running import series_files as series
from societies.workload.values import copies
from societies.workload.values.copies import Copies
from societies.workload.values.keys import table_row

KEY = "trading.min_surplus"
LIST_KEY = "utility.exponent"  # takes a number for each resource as well

# -- series


@pytest.mark.parametrize("value", [3, "word", [1.0, 2.0], {"values": [1, 2]}])
def test_what_needs_no_file_is_left_as_it_is(value):
    assert series.read(KEY, value, "day", 1) is value


def test_a_column_of_a_file_is_replaced_by_its_numbers(tmp_path):
    path = tmp_path / "policy.csv"
    path.write_text("low,high\n1,2.5\n3,4.5\n5,6.5\n")
    for column, numbers in (("low", [1, 3, 5]), ("high", [2.5, 4.5, 6.5])):
        found = series.read(KEY, {"file": path, "column": column}, "day", 1)
        assert found == {"values": numbers}


def test_rows_of_a_series_may_be_numbered_by_their_ticks(tmp_path):
    path = tmp_path / "policy.csv"
    path.write_text("day,minutes\n3,480\n4,490\n")
    of = {"file": str(path), "column": "minutes"}
    assert EconomyIntervention(day=2, set={KEY: of}).set == {KEY: {"values": [480, 490]}}
    with pytest.raises(ValidationError, match="day: expected 2, got 3; the first value is that of"):
        EconomyIntervention(day=1, set={KEY: of})


LONG = "9" * 309  # as long as the largest double, and larger


@pytest.mark.parametrize(
    ("value", "text", "message"),
    [
        ({"file": "f.csv"}, "", "a series is {file: FILE.csv, column: NAME}"),
        ({"values": [1], "more": 2}, "", "a series is {file: FILE.csv, column: NAME}"),
        ({"file": "f.csv", "column": "hihg"}, "high\n1\n", "no column hihg; did you mean 'high'"),
        ({"file": "f.csv", "column": "a"}, "a,b\n1,2\nword,2\n", "f.csv:3"),
        ({"file": "f.csv", "column": "a"}, "a\ntrue\n", "expected a finite number"),
        ({"file": "f.csv", "column": "a"}, f"a\n{LONG}\n", "expected a finite number"),
        ({"file": "none.csv", "column": "a"}, "", "none.csv"),
        ({"file": "f.csv", "column": "a"}, "day,a\n1,5\n2,6\n", "f.csv:2  day: expected 3, got 1"),
        ({"file": "f.csv", "column": "a"}, "a,day\n1,3\n2,5\n", "f.csv:3  day: expected 4, got 5"),
        ({"file": "f.csv", "column": "a"}, "day,a\n4,1\n3,2\n", "f.csv:2  day: expected 3, got 4"),
    ],
)
def test_a_series_that_cannot_be_read_says_why(value, text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(PydanticCustomError) as refused:
        series.read(KEY, value, "day", 3)
    assert message in refused.value.message() and refused.value.message().startswith(f"{KEY}: ")


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        (KEY, 2.0, None),
        (KEY, [1.0, 2.0], [1.0, 2.0]),
        (KEY, (1.0, 2.0), (1.0, 2.0)),
        (KEY, {"values": [1.0]}, [1.0]),
        (KEY, {"values": 1.0}, ()),
        (KEY, {"other": [1.0]}, None),
        (LIST_KEY, [2.0, 3.0], None),
        (LIST_KEY, 2.0, None),
        (LIST_KEY, {"values": [[2.0, 3.0]]}, [[2.0, 3.0]]),
    ],
)
def test_a_list_is_a_series_unless_the_key_takes_lists(key, value, found):
    assert series.series_of(EconomyConfig, key, value) == found


@pytest.mark.parametrize(
    ("values", "last", "begin"),
    [
        ([], 5, "the series has no values"),
        ((), None, "the series has no values"),
        ([1, 2.0], None, ""),
        ([1, 2.0, 3], 7, ""),
        ([1, 2.0, 3, 4], 7, ""),
        ([[1, 2], (3.0, 4)], 6, ""),
        ([1, 2], 7, "the series has 2 values for the 3 days 5 to 7\n"),
        ([1], 6, "the series has 1 value for the 2 days 5 to 6\n"),
        ([1, "x"], None, "value 1 of the series, that of day 6, is"),
        ([math.inf, 1], 6, "value 0 of the series, that of day 5, is"),
        ([math.nan], 5, "value 0 of the series, that of day 5, is"),
        ([True], 5, "value 0 of the series, that of day 5, is"),
        ([[]], 5, "value 0 of the series, that of day 5, is"),
        ([[1.0, "x"]], 5, "value 0 of the series, that of day 5, is"),
        ([[1.0, math.inf]], 5, "value 0 of the series, that of day 5, is"),
    ],
)
def test_a_series_has_a_finite_number_for_every_tick(values, last, begin):
    found = series.problem_of(values, "day", 5, last)
    assert found.startswith(begin) if begin else found == ""
    if begin.startswith("the series has") and values:
        assert found.endswith(f"until: {4 + len(values)}")


# -- parameters of copies


@dataclass
class Inner:
    a: int
    b: float


class Made:
    """Parameters of one copy."""

    def __init__(self, number: float, row: tuple[float, ...], table: Any) -> None:
        self.number, self.row, self.table = number, row, table
        self.size, self.inner = 3, Inner(1, 2.0)

    def twice(self) -> Any:
        return 2 * self.size, self

    @property
    def half(self) -> Any:
        return self.size / 2, self

    @cached_property
    def third(self) -> Any:
        return self.size / 3, self


ROWS = [(1.0, (1.0, 2.0), np.array([5, 6])), (4.0, (1.0, 3.0), np.array([5, 6]))]


def several(*made):
    """Return three copies; from tick 11 on the first has what the second has, and so on."""
    of = np.array([[0, 1, 0], [1, 0, 1]])
    points = SimpleNamespace(configs=made, of=of, after=[10], stretch=lambda tick: int(tick > 10))
    return Copies(points, lambda one: one)


def test_only_what_all_copies_share_can_be_read_of_them_all():
    p = several(*(Made(*row) for row in ROWS))
    assert p.size == 3 and p.inner == Inner(1, 2.0) and p.table.tolist() == [5, 6]
    for name in ("number", "row"):
        with pytest.raises(AttributeError, match=f"{name} may differ between copies"):
            getattr(p, name)
    with pytest.raises(AttributeError):
        p.__array__  # noqa: B018  what libraries ask any object for
    with pytest.raises(AttributeError):
        p.nothing  # noqa: B018
    for found, who in (p.twice(), p.half, p.third):
        assert who is p and found in (6, 1.5, 1.0)
    assert p.half is p.half  # computed once
    found = [copies.parameters_of_copy(p, *at).number for at in ((0, 10), (0, 11), (1, 10))]
    assert found == [1.0, 4.0, 4.0]
    assert list(copies.OfCopies().changes(p)) == [10]
    one = Made(*ROWS[0])
    assert (
        copies.parameters_of_copy(one, 5, 99) is one and list(copies.OfCopies().changes(one)) == []
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (np.array([1, 2]), np.array([1, 2]), True),
        (np.array([1, 2]), np.array([1, 3]), False),
        (np.array([1.0]), None, False),
        (None, np.array([1.0]), False),
        (1, 1.0, False),
        (True, 1, False),
        ((1, 2), (1, 2), True),
        ((1, 2), (1, 3), False),
        ((1, 2), (3, 2), False),
        ((1, 2), (1, 2, 3), False),
        ((np.array([1, 2]),), (np.array([1, 2]),), True),
        ((1, 1.0), (1, 1), False),
        (Inner(1, 2.0), Inner(1, 2.0), True),
        (Inner(1, 2.0), Inner(1, 2), False),
        (Inner(1, 2.0), Inner(2, 2.0), False),
        (Inner(np.array([1, 2]), 0.0), Inner(np.array([1, 2]), 0.0), True),
        ("a", "a", True),
        ("a", "b", False),
    ],
)
def test_values_are_the_same_if_their_kind_and_content_are(one, other, same):
    made = [Made(0.0, (), value) for value in (one, other)]
    assert ("table" not in several(*made)._differ) is same
    # Of three copies it does not matter which one is another.
    three = several(made[0], made[0], made[1])
    assert ("table" not in three._differ) is same


def test_objects_with_other_fields_are_others():
    made = [Made(0.0, (), Inner(1, 2.0)) for _ in range(2)]
    made[1].table.further = 3
    assert several(*made)._differ == {"table"}
    assert several(*reversed(made))._differ == {"table"}


def test_the_table_of_values_has_a_row_for_each_copy():
    p = several(*(Made(*row) for row in ROWS))
    names = ["number", "row"]
    first, second = [1.0, 1.0, 2.0], [4.0, 1.0, 3.0]

    def row(one):
        return table_row(copies.values_of(one, names))

    assert copies.rows_of(p, row, 10).tolist() == [first, second, first]
    assert copies.rows_of(p, row, 11).tolist() == [second, first, second]
    assert copies.rows_of(Made(*ROWS[1]), row, 1).tolist() == [second]
    found = copies.values_of(Made(*ROWS[1]), names)
    assert found == {"number": 4.0, "row": (1.0, 3.0)}
    assert copies.values_of(SimpleNamespace(row=np.array([1, 2])), ["row"]) == {"row": (1.0, 2.0)}


def test_initial_arrays_are_shared_unless_they_differ():
    made = [Made(*row) for row in ROWS]
    assert copies.initial_of(made[0], lambda one: one.row, 0) == (1.0, 2.0)
    alike = copies.initial_of(several(*made), lambda one: one.table, 0)
    assert alike.tolist() == [5, 6]
    found = copies.initial_of(several(*made), lambda one: one.row, 0)
    assert found.tolist() == [[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]]
    found = copies.initial_of(several(*made), lambda one: one.number, dims=2)
    assert found.tolist() == [[[1.0]], [[4.0]], [[1.0]]]  # a number of each copy, for a grid
    third = Made(7.0, (9.0, 9.0), None)
    for place in range(3):  # whichever is another
        of = [made[0], made[0], made[0]]
        of[place] = third
        own = several(*of)
        own._points.of[0] = [2, 1, 0]
        rows = [list(of[i].row) for i in (2, 1, 0)]
        assert copies.initial_of(own, lambda one: one.row, 0).tolist() == rows


def test_symbols_are_those_of_keys_that_are_values():
    from societies.config.model import Section, shape, value

    class Part(Section):
        rate: float = value(1.0, "rate", "1", symbol="r")
        kind: int = shape(3, "number", "1")

    class Whole(Section):
        size: int = shape(3, "number", "1")
        pace: float = value(1.0, "pace", "1")
        part: Part = Part()
        listed: list[int] | None = None

    assert list(copies.value_names(Whole)) == ["pace", "r"]
