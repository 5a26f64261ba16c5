"""Which labels do values and points have, and into which cases is a study divided? By hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr

from societies.analysis.labels import LONGEST, different, distinct, shorts, unused
from societies.analysis.selecting import workload_of
from societies.analysis.study_cases import cases_of, point_labels, runs_done
from societies.errors import SocietiesError
from societies.workload.drawing.figure import configuration_of


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0.5, 2.0], ["0.5", "2"]),
        ([1.23444, 1.5], ["1.234", "1.5"]),
        ([1.23411, 1.23421], ["1.23411", "1.23421"]),  # of 4, 6, 9, 12 and 17 digits
        ([1.23441, 1.23442], ["1.23441", "1.23442"]),
        ([1.23441123, 1.23441223], ["1.23441123", "1.23441223"]),
        ([1.2344112, 1.2344118], ["1.2344112", "1.2344118"]),
        ([1.23441121, 1.23441122], ["1.23441121", "1.23441122"]),
        ([1.2344112112, 1.2344112118], ["1.2344112112", "1.2344112118"]),
        ([1.234411211234, 1.234411211334], ["1.23441121123", "1.23441121133"]),
        ([0.123456789012, 0.123456789013], ["0.123456789012", "0.123456789013"]),
        ([0.1, float(np.nextafter(0.1, 1))], ["0.10000000000000001", "0.10000000000000002"]),
        (iter([np.float64(1), np.float64(3)]), ["1", "3"]),
        ([1.0, "a"], ["1.0", "a"]),
        (["one", "two"], ["one", "two"]),
        (["a common beginning 1", "a common beginning 2"],) * 2,
        (["a" * LONGEST, "b" * LONGEST], ["a" * LONGEST, "b" * LONGEST]),
    ],
)
def test_values_have_labels_as_short_as_they_differ(values, labels):
    assert shorts(values) == labels


def test_long_texts_that_begin_alike_lose_their_beginning():
    begin = "the common beginning " * 4
    found = shorts([f"{begin}{end}" for end in ("middle", "first", "one")])
    assert found == ["...middle", "...first", "...one"]
    # What differs early is left: only what no label would show is cut.
    late = [f"123456{letter}{'x' * 60}{letter}" for letter in "ab"]
    assert shorts(late)[0].startswith("123456a")
    assert shorts(late)[0] != shorts(late)[1]


@pytest.mark.parametrize(("same", "cut"), [(7, False), (8, False), (9, True)])
def test_only_a_long_common_beginning_is_cut(same, cut):
    texts = [f"{'s' * same}{middle}{'x' * 60}{end}" for middle, end in ("aa", "bb", "bc")]
    found = shorts(texts)
    assert len({*found}) == 3
    assert all(label.startswith("...") for label in found) is cut
    assert [label.startswith("s" * same) for label in found] == [not cut] * 3
    assert found[2] == f"{found[1]} (2)"


def test_equal_beginnings_of_texts_one_of_which_is_the_other():
    text = "y" * 60
    assert shorts([text, f"{text}z"])[1] == f"{shorts([text])[0]} (2)"


def test_a_label_that_is_taken_gets_the_next_number():
    assert unused("a", []) == "a"
    assert unused("a", ["b", "a (2)"]) == "a"
    assert unused("a", ["a"]) == "a (2)"
    assert unused("a", ["a", "a (2)"]) == "a (3)"


def test_no_label_gets_the_number_of_another_one():
    """A second "x" was "x (2)", and what was called so became "x (2) (2)"."""
    assert distinct(["x", "x", "x (2)", "x"]) == ["x", "x (3)", "x (2)", "x (4)"]
    assert shorts(["x", "y", "x (2)"]) == ["x", "y", "x (2)"]


@pytest.mark.parametrize(
    ("values", "found", "of"),
    [
        ([3, 1, 2, 1], [1, 2, 3], [2, 0, 1, 0]),
        ([0.5, -1.0, 0.5], [-1.0, 0.5], [1, 0, 1]),
        (["b", "c", "a", "b"], ["b", "c", "a"], [0, 1, 2, 0]),
        ([[2, 1], [1, 2]], [1, 2], [1, 0, 0, 1]),
        ([["z", "y"], ["y", "x"]], ["z", "y", "x"], [0, 1, 1, 2]),
    ],
)
def test_numbers_ascend_and_texts_keep_their_order(values, found, of):
    values_found, index = different(np.array(values))
    assert values_found.tolist() == found and index.tolist() == of


# -- cases of a study

A_POINT = ("run",)


def study(points=(0, 0, 1, 1), status=None, attrs=None, **columns):
    coords = {"point": (A_POINT, np.array(points))}
    coords["replicate"] = A_POINT, np.arange(len(points)) % 2
    coords |= {name: (A_POINT, np.array(values)) for name, values in columns.items()}
    if status:
        coords["status"] = A_POINT, np.array(status)
    keys = json.dumps([name for name in columns if name != "label"])
    own = {"varied": keys, "points": len({*points}), **(attrs or {})}
    return xr.Dataset({"x": (A_POINT, np.arange(len(points)) * 1.0)}, coords, own)


def test_what_has_no_runs_is_one_case():
    data = xr.Dataset({"x": ("society", [1.0, 2.0])})
    assert cases_of("name", data, "series") == {"name": data}


def test_only_runs_that_are_done_are_counted():
    every = study()
    assert runs_done(every) is every
    done = runs_done(study(status=["done", "failed", "pending", "pending"]))
    assert done.x.values.tolist() == [0.0]
    assert "left out: 3 of 4 runs, not done, among them all of 1 point" in str(done.attrs)
    some = runs_done(study(status=["done", "failed", "done", "done"]))
    assert some.x.values.tolist() == [0.0, 2.0, 3.0]
    assert "left out: 1 of 4 runs, not done'" in str({**some.attrs})
    assert "left out" not in str(runs_done(study(status=["done"] * 4)).attrs)
    with pytest.raises(SocietiesError, match="has no run that is done"):
        runs_done(study(status=["failed"] * 4))


def test_points_are_in_the_order_of_their_keys_the_first_key_first():
    data = study([0, 1, 2, 3], a=[2, 1, 2, 1], b=[5.5, 5.5, 0.5, 0.5])
    assert point_labels(data) == {
        3: "a 1, b 0.5",
        1: "a 1, b 5.5",
        2: "a 2, b 0.5",
        0: "a 2, b 5.5",
    }
    assert list(point_labels(data)) == [3, 1, 2, 0]
    named = study([4, 2], a=[1, 2], label=["high", "low"])
    assert point_labels(named) == {4: "high", 2: "low"}
    said = study([0, 1], interventions=["[]", '[{"day": 5}]'])
    assert point_labels(said) == {0: "none", 1: "day 5"}


def test_a_study_has_a_case_for_each_point_with_the_runs_of_the_point():
    two = study(a=[1, 1, 7, 7])
    found = cases_of("", two, "series")
    assert {name: one.x.values.tolist() for name, one in found.items()} == {
        "a 1": [0.0, 1.0],
        "a 7": [2.0, 3.0],
    }
    assert list(cases_of("file", two, "series")) == ["file: a 1", "file: a 7"]
    for figure in ("effect", "irf", "sweep", "sensitivity", "trade_network"):
        (own,) = cases_of("file", two, figure).values()
        assert own.x.values.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert list(cases_of("file", study(), "series")) == ["file"]
    assert list(cases_of("file", two.drop_vars("point"), "series")) == ["file"]


@pytest.mark.parametrize("points", [8, 9])
def test_more_than_eight_points_are_one_case(points):
    many = study(range(points), a=list(range(points)))
    found = cases_of("file", many, "series")
    assert len(found) == (8 if points == 8 else 1)
    assert sum(one.sizes["run"] for one in found.values()) == points


def test_the_configuration_of_a_case_has_the_interventions_of_its_point():
    policies = ["[]", "[]", '[{"day": 5}]', '[{"day": 5}]']
    base = {"attrs": {"configuration": "workload: economy\nagents: 3\n"}}
    first, second = cases_of("", study(interventions=policies, **base), "series").values()
    assert configuration_of(first)["interventions"] == []
    assert configuration_of(second) == {
        "workload": "economy",
        "agents": 3,
        "interventions": [{"day": 5}],
    }
    assert [workload_of(one).name for one in (first, second)] == ["economy", "economy"]
    (plain, _) = cases_of("", study(a=[1, 1, 2, 2], **base), "series").values()
    assert plain.attrs["configuration"] == base["attrs"]["configuration"]
