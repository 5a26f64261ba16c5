"""Which ranges, steps and keys does a sweep accept, up to their ends, and what is said else?"""

from __future__ import annotations

import contextlib
import json
import math
import re
from dataclasses import dataclass
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest

from societies.config.document import Document
from societies.errors import ConfigError
from societies.numbers import LARGEST as LARGEST_SEED
from societies.output import Coordinate, Variable
from societies.output.layout import nothing
from societies.sweep import batch as batches
from societies.sweep import layout
from societies.sweep.designs import MOST_STEPS, identity
from societies.sweep.document import load_sweep
from societies.sweep.layout import Runs, _methods, keep_of, values_of
from societies.sweep.points import checked_points, data_of, sweep_points
from societies.sweep.ranges import LARGEST, Range, Wrong, range_of

BASE = {"workload": "economy", "agents": 5, "resources": 4, "days": 6}
DAY, EXPONENT = "day_length", "utility.exponent"
NORMAL = {"distribution": "normal", "mean": 10, "sd": 2}
LOGNORMAL = {"distribution": "lognormal", "median": 10, "sigma": 0.5}


def loaded(vary):
    return load_sweep({"base": BASE, "vary": vary})


def points(vary):
    return sweep_points(loaded(vary))[0]


def written(tmp_path, text):
    """Return the lines of the message that a file of a sweep with this `vary` gets."""
    file = tmp_path / "sweep.yaml"
    file.write_text(f"workload: sweep\nbase: {json.dumps(BASE)}\nvary:\n{text}")
    with pytest.raises(ConfigError) as error:
        checked_points(found := load_sweep(file), *sweep_points(found))
    text = re.sub(r"(yaml:\d+):\d+", r"\1", str(error.value).replace(f"{tmp_path}/", ""))
    return text.split("\n")


# -- distributions


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize(
    ("said", "place"),
    [
        (NORMAL, lambda sds: 10 + 2 * sds),
        (LOGNORMAL, lambda sds: 10 * math.exp(0.5 * sds)),
        # exp(700) is the largest power that is taken: sigma 200 would reach exp(1200)
        (
            {"distribution": "lognormal", "median": 1, "sigma": 200},
            lambda sds: math.exp(math.copysign(700 + (abs(sds) - 6), sds)),
        ),
    ],
)
def test_a_distribution_may_be_cut_within_six_standard_deviations(said, place, side):
    word = "high" if side < 0 else "low"
    range_of({**said, word: place(5.5 * side)})
    for sds in (6, 6.5, 12.5):
        if place(sds * side) > 0 or said is NORMAL:
            with pytest.raises(Wrong, match="leave nothing within 6 standard deviations"):
                range_of({**said, word: place(sds * side)})


def test_a_distribution_of_whole_numbers_has_several():
    narrow = {**NORMAL, "sd": 0.01}
    range_of(narrow)
    with pytest.raises(Wrong, match="all values would be 10: the distribution is too narrow"):
        range_of({**narrow, "whole": True})
    free = range_of({**NORMAL, "whole": True}).values(np.array([0.5, 0.84134, 0.1587]))
    assert free == [10, 12, 8]
    ends = range_of({**NORMAL, "whole": True, "low": 9}).values(np.array([0.0]))
    assert ends == [9] and type(ends[0]) is int
    assert Range("uniform", {"low": 1, "high": 2}).values(np.array([0.25])) == [1.25]


@pytest.mark.parametrize(
    "said",
    [
        {"low": -LARGEST, "high": 0},
        {"low": 0, "high": LARGEST},
        {**NORMAL, "high": 0, "mean": 1},
        {**LOGNORMAL, "high": 0.5, "median": 0.5},
    ],
)
def test_ends_may_be_as_large_as_double_precision_or_zero(said):
    found = range_of(said)
    low, high = found.values(np.array([0.1, 1.0]))
    assert said.get("low", -math.inf) <= low <= high <= said["high"]


def test_a_range_without_ends_may_reach_too_far():
    wide = range_of({"distribution": "lognormal", "median": 1e300, "sigma": 100})
    with pytest.raises(ConfigError, match="values beyond 1e308"):
        wide.values(np.array([0.5, 0.999]))
    assert wide.values(np.array([0.5])) == pytest.approx([1e300])


@pytest.mark.parametrize("distribution", ["log_uniform", "normal", "lognormal", "triangular"])
def test_rounding_does_not_lead_out_of_a_range(distribution):
    random = np.random.default_rng(2)
    for low, wide in random.uniform(0.1, 9, (40, 2)):
        said = {"distribution": distribution, "low": low, "high": low + wide}
        more = {"normal": {"mean": low, "sd": 1}, "lognormal": {"median": low, "sigma": 1}}
        more["triangular"] = {"mode": low + wide / 3}
        said |= more.get(distribution, {})
        ends = range_of(said).values(np.array([0.0, 1.0]))
        assert low <= min(ends) and max(ends) <= low + wide
        if distribution in ("normal", "lognormal"):
            for word in ("low", "high"):
                one = range_of({key: value for key, value in said.items() if key != word})
                ends = one.values(np.array([1e-300, 1 - 1e-16]))
                assert max(ends) <= low + wide if word == "low" else min(ends) >= low


def test_a_lognormal_distribution_is_cut_below_one():
    """The tail below the cut is given to all values above it (Johnson, Kotz, Balakrishnan)."""
    cut = range_of({"distribution": "lognormal", "median": 1, "sigma": 1, "low": 0.5})
    phi = lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2)))  # noqa: E731
    below = phi(math.log(0.5))
    for unit, value in zip((0.1, 0.5), cut.values(np.array([0.1, 0.5])), strict=True):
        assert (phi(math.log(value)) - below) / (1 - below) == pytest.approx(unit)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"distribution": [1]}, r"unknown distribution a list"),
        ({"distribution": "norml"}, r"unknown distribution 'norml'; did you mean 'normal'"),
        ({"values": [1], "low": 0}, r"unknown key; choice has values$"),
        ({"low": 0, "high": 1, "hihg": 2}, r"unknown key; did you mean 'high'"),
        ({"low": 0, "high": 1, "qqqq": 2}, r"unknown key; uniform has low, high, whole$"),
        ({**NORMAL, "qqqq": 2}, r"unknown key; normal has mean, sd, low, high, whole$"),
    ],
)
def test_a_wrong_range_says_what_there_is(said, message):
    with pytest.raises(Wrong, match=message):
        range_of(said)


# -- steps and lists

TWICE = "the point 'day_length 5.0, agents 6' appears twice"
FEW = "resources: must be at least 2, got 0"
WHOLE_STEPS = "takes whole numbers: choose whole ends whose steps are whole, or list the values"
STEPS = "needs steps, a whole number from 2 to 1,000,000"


def test_a_scale_is_as_wide_as_double_precision():
    steps = {"low": 0, "high": MOST_STEPS - 1, "steps": MOST_STEPS}
    assert loaded({"grid": {DAY: steps}}).count == MOST_STEPS
    for scale, low in (("linear", -1e308), ("log", 1e-300)):
        said = {"low": low, "high": 1e308, "steps": 3, "scale": scale}
        with pytest.raises(ConfigError, match="is too wide for double precision"):
            loaded({"grid": {DAY: said}})
    said = {"low": 1e-100, "high": 1e-3, "steps": 2}  # high / low has no meaning for equal steps
    assert points({"grid": {DAY: {**said, "low": 5e-324}}})[1] == {DAY: 1e-3}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"low": 1, "high": 4, "steps": 3, "scale": "log"}, [1, 2, 4]),
        ({"low": 1, "high": 4, "steps": 3}, [1.0, 2.5, 4.0]),
        ({"low": 1, "high": 4.0, "steps": 4}, [1.0, 2.0, 3.0, 4.0]),
    ],
)
def test_steps_between_whole_numbers_are_whole_if_all_are(said, expected):
    found = [one[DAY] for one in points({"grid": {DAY: said}})]
    assert found == expected and [*map(type, found)] == [*map(type, expected)]


@pytest.mark.parametrize(
    ("vary", "lines"),
    [
        ("  grid: [1]\n", ["sweep.yaml:4  vary.grid: expected 'key: value' lines, got a list"]),
        (
            "  grid:\n    day_length:\n      low: 1\n      high: 2\n      steps: 1\n",
            [f"sweep.yaml:8  vary.grid.day_length.steps: {STEPS}"],
        ),
        (
            "  grid:\n    day_length:\n      high: 2\n",
            ["sweep.yaml:6  vary.grid.day_length: needs low, a number"],
        ),
        (
            "  grid:\n    day_length:\n      low: a\n",
            ["sweep.yaml:6  vary.grid.day_length.low: needs low, a number, got 'a'"],
        ),
        (
            "  sobol:\n    points: 0\n    keys: {day_length: {low: 1, high: 2}}\n",
            ["sweep.yaml:5  vary.sobol.points: needs points, a whole number of at least 1"],
        ),
        (
            "  sobol:\n    keys: {day_length: {low: 1, high: 2}}\n",
            ["sweep.yaml:5  vary.sobol: needs points, a whole number of at least 1"],
        ),
        ("  sobol: {points: 4}\n", ["sweep.yaml:4  vary.sobol: needs keys, each with a range"]),
        (
            "  sobol:\n    points: 4\n    keys: [day_length]\n",
            ["sweep.yaml:6  vary.sobol.keys: needs keys, each with a range"],
        ),
        (
            "  sobol:\n    points: 4\n    keys: {}\n",
            ["sweep.yaml:6  vary.sobol.keys: needs keys, each with a range"],
        ),
        (
            "  points:\n  - day_length: 5\n    agents: 6\n  - day_length: 5.0\n    agents: 6\n",
            [f"sweep.yaml:7  {TWICE}, first at sweep.yaml:5"],
        ),
        (
            "  grid:\n    day_length: [500]\n  zip:\n    agents: [5, 6]\n    resources: [4, 0]\n",
            [f"sweep.yaml:8  {FEW} (point 1: day_length 500, agents 6)"],
        ),
        (
            "  zip:\n    resources:\n    - 4\n    - 0\n",
            ["sweep.yaml:7  resources: must be at least 2, got 0 (point 1)"],
        ),
        (
            "  grid:\n    resources:\n    - 0\n",
            ["sweep.yaml:6  resources: must be at least 2, got 0"],
        ),
        (
            "  sobol:\n    points: 4\n    keys: {agents: {low: 6, high: 9}}\n",
            ["sweep.yaml:6  agents: takes whole numbers: add 'whole: true' to its range"],
        ),
        (
            "  grid:\n    agents: {low: 6, high: 9, steps: 3}\n",
            [f"sweep.yaml:5  agents: {WHOLE_STEPS}"],
        ),
        (
            "  zip:\n    agents: {low: 6, high: 9, steps: 3, scale: log}\n"
            "    day_length: [500, 600, 0]\n",
            [
                f"sweep.yaml:5  agents: {WHOLE_STEPS}",
                "sweep.yaml:6  day_length: must be more than 0, got 0 (point 2: agents 9.0)",
            ],
        ),
        (
            "  zip:\n    agents: [6.5, 7]\n",
            ["sweep.yaml:5  agents: expected a whole number, got 6.5 (point 0)"],
        ),
        (
            "  zip:\n    agents: {low: 0, high: 4, steps: 3}\n"
            "    day_length: {low: 0, high: 500, steps: 3, scale: linear}\n",
            [
                "sweep.yaml:5  agents: must be at least 1, got 0 (point 0: day_length 0)",
                "sweep.yaml:6  day_length: must be more than 0, got 0 (point 0: agents 0)",
            ],
        ),
        (
            "  points:\n  - agenst: 5\n  - agenst: 6\n",
            ["sweep.yaml:5  agenst: unknown key; did you mean 'agents'?"],
        ),
        (
            "  grid:\n    agents: [6.0, 7.5]\n",
            [
                "sweep.yaml:5  agents: expected a whole number, got 6.0 (point 0)",
                "sweep.yaml:5  agents: expected a whole number, got 7.5 (point 1)",
            ],
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, vary, lines):
    assert written(tmp_path, vary) == lines


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": LARGEST_SEED + 1}, f"of at least 0 and at most {LARGEST_SEED}$"),
        ({"seed": -1}, "needs seed, a whole number of at least 0$"),
        ({"seed": 0.5}, "needs seed, a whole number of at least 0$"),
        ({"points": True}, "needs points, a whole number of at least 1$"),
    ],
)
def test_options_of_a_sample_have_ends(options, message):
    said = {"points": 4, "seed": LARGEST_SEED, "keys": {DAY: {"low": 1, "high": 2}}}
    assert loaded({"latin_hypercube": said}).count == 4
    with pytest.raises(ConfigError, match=message):
        loaded({"latin_hypercube": {**said, **options}})


@pytest.mark.parametrize(("count", "more"), [(7, False), (8, False), (9, True), (10, True)])
def test_of_many_wrong_points_eight_are_named(count, more):
    wrong = loaded({"grid": {"resources": [4, *(-number for number in range(count))]}})
    with pytest.raises(ConfigError) as error:
        checked_points(wrong, sweep_points(wrong)[0])
    said = str(error.value).split("\n")
    assert len(said) == min(count, 8) + more
    assert (said[-1] == "and more problems like these") == more
    assert all("resources: must be at least 2" in line for line in said[:8])
    assert said[0].endswith("(point 1)")


def test_of_a_choice_the_wrong_value_is_named(tmp_path):
    keys = "keys: {agents: {distribution: choice, values: [6.5, 7]}}"
    for line in written(tmp_path, f"  sobol:\n    points: 4\n    {keys}\n"):
        assert line.startswith("sweep.yaml:6  agents: expected a whole number, got 6.5 (point ")


def test_a_distribution_that_is_flat_between_its_ends_is_uniform():
    said = {"distribution": "normal", "mean": 0, "sd": 1e9, "low": 10, "high": 12}
    assert range_of(said).values(np.array([0.0, 0.5, 1.0])) == pytest.approx([10, 11, 12])


def test_a_distribution_that_begins_at_its_mean_is_not_flat():
    said = {"distribution": "normal", "mean": 0, "sd": 1, "low": 0, "high": 3}
    normal = NormalDist()
    half = normal.inv_cdf((0.5 + normal.cdf(3)) / 2)
    assert range_of(said).values(np.array([0.0, 0.5, 1.0])) == pytest.approx([0, half, 3])


def test_equal_values_are_the_same_point():
    pairs = [
        (1, 1.0),
        (0, -0.0),
        ([1, {"a": 2}], [1.0, {"a": 2.0}]),
        ({"b": 1, "a": 2}, {"a": 2.0, "b": 1}),
        ((1, 2), [1, 2]),
    ]
    for one, other in pairs:
        assert identity(one) == identity(other)
    for one, other in ((1, 1.5), ("1", 1), ({"a": 1}, {"b": 1}), ([1, 2], [2, 1])):
        assert identity(one) != identity(other)


def test_a_launch_has_as_many_replicates_as_it_has_numbers():
    base = loaded({"grid": {DAY: [500]}}).base
    assert data_of(base, 7)["replicates"] == 7
    assert data_of(base, 7) | {"replicates": 1} == base.model_dump() | {"replicates": 1}
    bare = SimpleNamespace(model_dump=lambda: {"steps": 3})
    assert data_of(bare, 7) == {"steps": 3}


# -- what a study holds


@pytest.mark.parametrize(
    ("column", "kind", "values"),
    [
        ([math.nan, 1], "f", None),
        ([2**60 + 1, 0.5], "U", [str(2**60 + 1), "0.5"]),
        ([10**400, 1], "U", [str(10**400), "1"]),
        (["a", 1], "U", ["a", "1"]),
        (["a", "b c"], "U", ["a", "b c"]),
        ([[1, 2], {"a": None}], "U", ["[1, 2]", '{"a": null}']),
        ([True, False], "U", ["true", "false"]),
    ],
)
def test_values_of_a_key_are_numbers_or_texts(column, kind, values):
    found = values_of(column)
    assert found.dtype.kind == kind
    if values is None:
        np.testing.assert_array_equal(found, column)
    else:
        assert found.tolist() == values


def test_long_lists_of_a_design_are_replaced_by_their_length():
    many, few = [*range(101)], [*range(100)]
    vary = [{"grid": {"a": many, "b": few, "c": "text"}}, {"points": many}, {"n": "x" * 200}]
    assert json.loads(_methods({"vary": vary})) == [
        {"grid": {"a": "101 values", "b": few, "c": "text"}},
        {"points": "101 values"},
        {"n": "x" * 200},
    ]


def test_parts_of_runs_are_every_nth_point():
    runs = Runs.of(iter([0, 1, 2, 3, 4]), iter([7, 8]), first=10)
    assert runs.number.tolist() == list(range(10, 20))
    first, second = runs.part(1, 2), runs.part(2, 2)
    assert first.point.tolist() == [0, 0, 2, 2, 4, 4] and second.point.tolist() == [1, 1, 3, 3]
    assert first.joined(second).number.tolist() == [10, 11, 14, 15, 18, 19, 12, 13, 16, 17]
    assert second.replicate.tolist() == [7, 8, 7, 8]


@pytest.mark.parametrize("dims", [("day",), ("day_of", "day"), ("agent", "agent_day"), ("agent",)])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint64", "float32"])
@pytest.mark.parametrize("fill", [None, 0, 7])
@pytest.mark.parametrize("none", [None, -1])
def test_whole_numbers_that_readers_take_for_missing(dims, dtype, fill, none):
    """A code, a fill value other than the usual one, or a byte of a tick, which has none."""
    dtype = np.dtype(dtype)
    own = nothing(dtype) if fill is None else dtype.type(fill)
    one = SimpleNamespace(dtype=dtype, dims=dims, fill=own, none=none)
    coded = none is not None or own != nothing(dtype)
    byte = dtype.itemsize == 1 and {"day", "agent_day"} & {*dims}
    expected = dtype.kind != "f" and bool(coded or byte)
    assert bool(batches._has_missing(one, "day")) is expected


def test_a_worker_has_the_sources_of_the_process_that_made_the_batch(monkeypatch):
    """Sources of the same settings are compared once; a source that only one has is left out."""
    here, asked = {"a.cl": "1", "b.cl": "2", "c.cl": "3"}, []
    monkeypatch.setattr(batches, "sources_of", lambda setup: asked.append(setup) or here)
    monkeypatch.setattr(batches, "_SAME_SOURCES", set())

    def require(setup="s", name="n", **sources):
        own = SimpleNamespace(name=name, settings={"k": setup}, sources=sources)
        batches._require_sources(own, setup)

    require()
    assert asked == []
    same = {"a.cl": "1", "b.cl": "2", "z.cl": "9"}
    require(**same)
    require(**same)
    assert asked == ["s"]
    require(setup="t", **same)
    require(name="other", **same)
    assert asked == ["s", "t", "s"]
    for changed, said in (
        ({"b.cl": "5"}, r"source b\.cl than"),
        ({"a.cl": "5", "c.cl": "6"}, r"source a\.cl and 1 more than"),
        ({"a.cl": "5", "b.cl": "6", "c.cl": "7"}, r"source a\.cl and 2 more than"),
    ):
        for _ in range(2):  # what differs is compared again
            with pytest.raises(batches.WrongVersion, match=said):
                require(**{**same, **changed})


# -- what is recorded of runs of several shapes


class WithReplicates:
    model_fields = ("replicates",)


class Without:
    model_fields = ()


def selected(monkeypatch, copies, base=Without, ticks=None, days=()):
    """Return what a sweep records of setups with these numbers of copies."""
    tables = [SimpleNamespace(name=name, in_study=name == "b") for name in "abb"]
    own = SimpleNamespace(
        variables=lambda: [],
        coordinates=lambda: [Coordinate("day", np.array(days), "", "")] if days else [],
        tables=lambda: tables,
    )
    monkeypatch.setattr(layout, "contents_of", lambda setup: own)
    record = SimpleNamespace(variables=None, ticks=ticks, final=[])
    sweep = SimpleNamespace(
        config=SimpleNamespace(record=record),
        workload=SimpleNamespace(clock="day"),
        base=base(),
        document=Document(),
    )
    return keep_of(sweep, [SimpleNamespace(copies=count, fields={}) for count in copies])


@pytest.mark.parametrize(
    ("copies", "base", "expected"),
    [
        ([1, 3], Without, True),
        ([2], Without, True),
        ([1, 1], Without, False),
        ([3, 3], WithReplicates, False),
    ],
)
def test_copies_are_a_dimension_unless_they_are_runs(monkeypatch, copies, base, expected):
    found = selected(monkeypatch, copies, base)
    assert found.copies is expected and found.events == ("b",)


@pytest.mark.parametrize(("days", "said"), [([2, 4], "recorded are 2 to 4"), ([], "none is")])
def test_a_tick_that_no_run_records_is_refused(monkeypatch, days, said):
    with pytest.raises(ConfigError, match=f"day 5 is not recorded; {said}$"):
        selected(monkeypatch, [1], ticks=[5], days=days)
    assert selected(monkeypatch, [1], ticks=[3], days=[2, 3]).ticks == (3,)


@dataclass(frozen=True)
class RecordedTable:
    name: str
    columns: tuple
    rows: int


@pytest.mark.parametrize("turned", [False, True])
def test_a_table_has_room_for_the_longest_run(turned):
    first, second = SimpleNamespace(name="a"), SimpleNamespace(name="b")
    shapes = [
        SimpleNamespace(tables={"t": RecordedTable("t", (first,), 3)}),
        SimpleNamespace(tables={"t": RecordedTable("t", (first, second), 5)}),
    ]
    found = layout._joined_tables(shapes[::-1] if turned else shapes)
    assert found == {"t": RecordedTable("t", (first, second), 5)}


def test_a_type_that_all_shapes_share_has_its_fill_value(monkeypatch):
    one = Variable("x", ("day",), np.dtype("int32"), "1", "", fill=7)
    shapes = iter([batches.Shape({}, {"x": one})] * 2)
    monkeypatch.setattr(layout, "run_shape", lambda setup, keep: next(shapes))
    assert layout.joined_shape(None, [None, None], None).variables["x"] is one


def test_rules_are_loaded_once_all_points_are_valid(monkeypatch):
    seen = []
    for resources, expected in (([4, 5], 2), ([4, 0], 0)):
        found = loaded({"grid": {"resources": resources, DAY: [500, 600]}})
        monkeypatch.setattr(type(found.workload), "plugged", lambda _, config: seen.append(config))
        seen.clear()
        with contextlib.suppress(ConfigError):
            checked_points(found, sweep_points(found)[0])
        assert len(seen) == expected
