"""Are the points of a sweep those that its text describes, and are its launches made of them?

Every expected value is worked out by hand, taken from SALib or `scipy.stats`, or a quantile in
closed form.
"""

from __future__ import annotations

import math
import sys
from itertools import product
from types import SimpleNamespace
from typing import Literal

import numpy as np
import pytest

from societies import config_from_dict, sweep
from societies.config.model import WorkloadConfig, key, value
from societies.errors import ConfigError
from societies.sweep.designs import described_factors
from societies.sweep.points import (
    checked_points,
    data_of,
    groups,
    launch_config,
    shared_keys,
    sweep_points,
)
from societies.sweep.ranges import Wrong, range_of
from societies.sweep.sampling import _unit_cube
from societies.workload.running.points import points_of as parameters_of

BASE = {"workload": "economy", "agents": 5, "resources": 4, "days": 6}
DAY, EXPONENT, SURPLUS = "day_length", "utility.exponent", "trading.min_surplus"


def loaded(vary, **more):
    return sweep.load_sweep({"base": BASE, "vary": vary, **more})


def points(vary):
    return sweep_points(loaded(vary))[0]


def column(vary, key):
    return [point[key] for point in points(vary)]


# -- listed values ---------------------------------------------------------------------------------


def test_a_grid_has_every_combination_and_the_last_key_changes_first():
    vary = {"grid": {DAY: [500, 600], EXPONENT: [2, 2.5, 3], SURPLUS: [0.5]}}
    expected = [
        {DAY: day, EXPONENT: exponent, SURPLUS: 0.5}
        for day, exponent in product([500, 600], [2, 2.5, 3])
    ]
    assert points(vary) == expected
    assert loaded(vary).count == 6


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"low": 2, "high": 8, "steps": 4}, [2, 4, 6, 8]),
        ({"low": 2, "high": 3, "steps": 2}, [2, 3]),
        ({"low": 2, "high": 3, "steps": 3}, [2.0, 2.5, 3.0]),
        ({"low": 2.0, "high": 8, "steps": 4}, [2.0, 4.0, 6.0, 8.0]),
        ({"low": 2, "high": 8.0, "steps": 4}, [2.0, 4.0, 6.0, 8.0]),
        ({"low": -1.5, "high": 0.5, "steps": 5}, [-1.5, -1.0, -0.5, 0.0, 0.5]),
        ({"low": 1, "high": 1000, "steps": 4, "scale": "log"}, [1, 10, 100, 1000]),
        ({"low": 0.5, "high": 8, "steps": 5, "scale": "log"}, [0.5, 1, 2, 4, 8]),
        ({"low": 0.1, "high": 10, "steps": 3, "scale": "linear"}, [0.1, 5.05, 10]),
    ],
)
def test_steps_are_equal_in_the_scale(said, expected):
    from societies.config.document import from_mapping
    from societies.sweep.designs import _values

    found = _values(from_mapping({}), ("vary",), said)
    assert found == pytest.approx(expected, rel=1e-12)
    assert found[0] == said["low"] and found[-1] == said["high"]
    whole = said.get("scale") != "log" and all(type(one) is int for one in expected)
    if said.get("scale") != "log":
        assert {type(one) for one in found} == ({int} if whole else {float})


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"low": 1, "high": 2, "steps": 1}, "needs steps, a whole number from 2 to 1,000,000"),
        ({"low": 1, "high": 2, "steps": True}, "needs steps"),
        ({"low": 1, "high": 2}, "needs steps"),
        ({"low": 2, "high": 2, "steps": 3}, "low must be less than high"),
        ({"low": 3, "high": 2, "steps": 3}, "low must be less than high"),
        ({"low": 1, "high": 2, "steps": 3, "scale": "cubic"}, "expected linear or log"),
        ({"low": 0, "high": 2, "steps": 3, "scale": "log"}, "low must be more than 0"),
        ({"low": True, "high": 2, "steps": 3}, "needs low, a number"),
        ({"low": "a", "high": 2, "steps": 3}, "needs low, a number"),
        ({"low": 1, "high": math.inf, "steps": 3}, "needs high, a number"),
        ({"high": 2, "steps": 3}, "needs low, a number"),
        ({"low": 1, "high": 2, "steps": 3, "step": 1}, "unknown key"),
        (3, "expected a list of values or a range"),
        ([], "is empty"),
    ],
)
def test_steps_that_are_none(said, message):
    with pytest.raises(ConfigError, match=message):
        points({"grid": {DAY: said}})


def test_what_is_zipped_varies_together():
    vary = {"zip": {DAY: [500, 600, 700], EXPONENT: {"low": 2, "high": 3, "steps": 3}}}
    assert points(vary) == [{DAY: 500 + 100 * i, EXPONENT: 2 + 0.5 * i} for i in range(3)]


def test_points_are_taken_as_they_are_written_whatever_the_order_of_their_keys(tmp_path):
    listed = [{DAY: 700, SURPLUS: 0.5}, {SURPLUS: 2.5, DAY: 600}]
    assert points({"points": listed}) == listed
    file = tmp_path / "points.csv"
    file.write_text(f"{SURPLUS}, {DAY}\n\n0.5,700\n2.5,600\n")
    assert points({"points": str(file)}) == listed
    two = {"grid": {EXPONENT: [2, 3]}, "points": listed}
    assert points(two) == [{EXPONENT: e, **point} for e in (2, 3) for point in listed]
    assert described_factors(loaded(two).factors) == f"{EXPONENT} 2 x {DAY}, {SURPLUS} 2"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"points": []}, "is empty"),
        ({"points": 5}, "expected a list of points or a CSV file"),
        ({"points": [{}]}, "expected 'key: value' lines"),
        ({"points": [3]}, "expected 'key: value' lines"),
        (
            {"points": [{DAY: 1}, {SURPLUS: 1}]},
            f"has the keys {SURPLUS}; the first point has {DAY}",
        ),
        ({"grid": {}}, "is empty"),
        ({"zip": []}, "is empty"),
        ({"zip": 3}, "expected 'key: value' lines, got"),
        ({"grid": {DAY: [500, 600, 500]}}, "appears twice"),
        ({"grid": {"workload": ["a", "b"]}}, "is the same at all points"),
        ({"grid": {"record.agent": [1, 2]}}, "is the same at all points"),
        ({"grid": {"replicates": [1, 2]}}, "a study has its own key 'replicates'"),
        ({"grid": {DAY: [500]}, "zip": {DAY: [600]}}, "varies twice"),
    ],
)
def test_what_makes_no_points(said, message):
    with pytest.raises(ConfigError, match=message):
        points(said)


# -- samples ---------------------------------------------------------------------------------------

KEYS = {DAY: {"low": 100, "high": 200}, EXPONENT: {"low": 2, "high": 4}}


def cube(method, **options):
    """Return the sample as places in the unit square."""
    found = points({method: {**options, "keys": KEYS}})
    return np.array([[(one[DAY] - 100) / 100, (one[EXPONENT] - 2) / 2] for one in found])


def test_samples_are_those_of_scipy():
    from scipy.stats import qmc

    for count, seed in ((1, 1), (5, 4), (1000, 2**31)):
        expected = qmc.LatinHypercube(2, rng=seed).random(count)
        of_ours = _unit_cube("latin_hypercube", {"points": count, "seed": seed}, 2)
        assert of_ours.tobytes() == expected.tobytes()
        found = cube("latin_hypercube", points=count, seed=seed)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    expected = qmc.Sobol(2, rng=7).random(8)
    np.testing.assert_allclose(cube("sobol", points=8, seed=7), expected, atol=1e-12)


def test_a_hypercube_of_plain_ranges_needs_no_scipy_and_other_samples_say_that_they_do(monkeypatch):
    for name in {*(one for one in sys.modules if one.startswith("scipy.")), "scipy", "scipy.stats"}:
        monkeypatch.setitem(sys.modules, name, None)
    assert len(points({"latin_hypercube": {"points": 3, "keys": KEYS}})) == 3
    normal = {EXPONENT: {"distribution": "normal", "mean": 2, "sd": 0.1}}
    for method, keys in (("latin_hypercube", normal), ("sobol", KEYS)):
        with pytest.raises(ConfigError, match=f"vary.{method}: needs the package scipy"):
            points({method: {"points": 4, "keys": keys}})


@pytest.mark.parametrize(("given", "levels"), [({}, 4), ({"levels": 2}, 2), ({"levels": 8}, 8)])
def test_trajectories_are_those_of_salib(given, levels):
    from SALib.sample import morris

    problem = {"num_vars": 2, "names": ["a", "b"], "bounds": [[0, 1]] * 2}
    expected = morris.sample(problem, 5, levels, seed=3)
    found = cube("morris", trajectories=5, seed=3, **given)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert len(found) == loaded({"morris": {"trajectories": 5, "keys": KEYS}}).count == 15


@pytest.mark.parametrize("second_order", [False, True])
def test_saltelli_is_that_of_salib(second_order):
    from SALib.sample import sobol

    problem = {"num_vars": 2, "names": ["a", "b"], "bounds": [[0, 1]] * 2}
    expected = sobol.sample(problem, 4, calc_second_order=second_order, seed=6)
    found = cube("saltelli", points=4, seed=6, second_order=second_order)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    said = {"points": 4, "second_order": second_order, "keys": KEYS}
    assert loaded({"saltelli": said}).count == len(expected) == 4 * (6 if second_order else 4)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("latin_hypercube", {}, "needs points, a whole number of at least 1"),
        ("latin_hypercube", {"points": 0}, "needs points"),
        ("latin_hypercube", {"points": True}, "needs points"),
        ("latin_hypercube", {"points": 2.5}, "needs points"),
        ("sobol", {"points": 4, "seed": -1}, "needs seed, a whole number of at least 0"),
        ("morris", {"trajectories": 2, "levels": 1}, "needs levels, a whole number of at least 2"),
        ("morris", {"trajectories": 2, "levels": 3}, "must be even, got 3"),
        ("saltelli", {"points": 4, "second_order": 1}, "needs second_order, true or false"),
        ("saltelli", {"points": 4, "levels": 4}, "unknown key"),
    ],
)
def test_samples_that_are_none(method, options, message):
    with pytest.raises(ConfigError, match=message):
        points({method: {**options, "keys": KEYS}})
    assert loaded({"sobol": {"points": 4, "seed": 0, "keys": KEYS}}).count == 4


# -- distributions ---------------------------------------------------------------------------------

UNIT = np.array([0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999])
NORMAL = np.array([-3.090232306167813, -1.2815515655446004, -0.6744897501960817, 0.0])
NORMAL = np.append(NORMAL, -NORMAL[2::-1])
"""Quantiles of the standard normal distribution, from a table."""


def values(said, unit=UNIT):
    return range_of(said).values(np.asarray(unit))


def test_quantiles_in_closed_form():
    assert values({"low": -1, "high": 3}) == pytest.approx(-1 + 4 * UNIT)
    said = {"distribution": "log_uniform", "low": 0.1, "high": 100}
    assert values(said) == pytest.approx(0.1 * 1000**UNIT)
    said = {"distribution": "triangular", "low": 2, "mode": 3, "high": 6}
    rising, falling = 2 + np.sqrt(UNIT * 4 * 1), 6 - np.sqrt((1 - UNIT) * 4 * 3)
    assert values(said) == pytest.approx(np.where(UNIT < 0.25, rising, falling))
    for mode, expected in ((2, 6 - np.sqrt((1 - UNIT) * 16)), (6, 2 + np.sqrt(UNIT * 16))):
        assert values({**said, "mode": mode}) == pytest.approx(expected)
    said = {"distribution": "normal", "mean": 5, "sd": 2}
    assert values(said) == pytest.approx(5 + 2 * NORMAL)
    said = {"distribution": "lognormal", "median": 5, "sigma": 0.5}
    assert values(said) == pytest.approx(5 * np.exp(0.5 * NORMAL))


def phi(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


@pytest.mark.parametrize(
    ("ends", "low", "high"),
    [
        ({"low": 4, "high": 6}, -0.5, 0.5),
        ({"low": 4}, -0.5, math.inf),
        ({"high": 8}, -math.inf, 1.5),
    ],
)
def test_a_normal_distribution_is_cut_and_not_piled_up_at_its_ends(ends, low, high):
    """The probability below a value is the place in the unit interval, between the ends."""
    below = 0.0 if low == -math.inf else phi(low)
    above = 1.0 if high == math.inf else phi(high)
    for said, back in (
        ({"distribution": "normal", "mean": 5, "sd": 2}, lambda x: (x - 5) / 2),
        (
            {"distribution": "lognormal", "median": math.exp(5), "sigma": 2},
            lambda x: (math.log(x) - 5) / 2,
        ),
    ):
        cut = ends
        if said["distribution"] == "lognormal":
            cut = {word: math.exp(end) for word, end in ends.items()}
        found = values({**said, **cut})
        places = [(phi(back(x)) - below) / (above - below) for x in found]
        assert places == pytest.approx(UNIT, abs=1e-9)
    free = {"distribution": "lognormal", "median": 5, "sigma": 0.5}
    assert values({**free, "low": 0}) == pytest.approx(values(free))


def test_whole_numbers_are_equally_likely():
    """Of 2 to 5 a quarter each; rounding leads no normal number out of its range."""
    said = {"low": 2, "high": 5, "whole": True}
    assert values(said, [0, 0.2499, 0.25, 0.4999, 0.5, 0.7499, 0.75, 1]) == [2, 2, 3, 3, 4, 4, 5, 5]
    said = {"distribution": "normal", "mean": 5, "sd": 2, "low": 4, "high": 7, "whole": True}
    found = values(said, np.linspace(0, 1, 101))
    assert {*found} == {4, 5, 6, 7} and all(type(one) is int for one in found)


def test_choices_are_equally_likely():
    said = {"values": ["a", 2, 3.5]}
    assert values(said, [0, 0.333, 0.334, 0.666, 0.667, 1]) == ["a", "a", 2, 2, 3.5, 3.5]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (3, "expected a range such as"),
        ({"distribution": "gamma"}, "unknown distribution"),
        ({"distribution": 3}, "unknown distribution"),
        ({"low": 1}, "needs high"),
        ({"low": 1, "high": 2, "sd": 1}, "unknown key"),
        ({"low": 2, "high": 2}, "low must be less than high"),
        ({"low": True, "high": 2}, "expected a number"),
        ({"low": 1, "high": math.nan}, "expected a number"),
        ({"low": 1, "high": "b"}, "expected a number"),
        ({"low": 1, "high": 2, "whole": 1}, "expected true or false"),
        ({"low": 1.5, "high": 2, "whole": True}, "low and high must be whole numbers"),
        ({"low": 1, "high": 2.5, "whole": True}, "low and high must be whole numbers"),
        ({"values": []}, "expected a list of values"),
        ({"values": 3}, "expected a list of values"),
        ({"values": [1, 2], "whole": True}, "unknown key"),
        ({"distribution": "normal", "mean": 1, "sd": 0}, "must be more than 0, got 0"),
        ({"distribution": "lognormal", "median": 0, "sigma": 1}, "must be more than 0, got 0"),
        ({"distribution": "lognormal", "median": 1, "sigma": -1}, "must be more than 0, got -1"),
        ({"distribution": "lognormal", "median": 1, "sigma": 1, "high": 0}, "must be more than 0"),
        ({"distribution": "log_uniform", "low": 0, "high": 1}, "must be more than 0, got 0"),
        (
            {"distribution": "triangular", "low": 0, "mode": 2, "high": 1},
            "must lie between low and high, got 2",
        ),
        (
            {"distribution": "triangular", "low": 0, "mode": -0.1, "high": 1},
            "must lie between low and high",
        ),
    ],
)
def test_ranges_that_are_none(said, message):
    with pytest.raises(Wrong, match=message):
        range_of(said)


def test_a_method_that_needs_ends_reports_it():
    normal = {"distribution": "normal", "mean": 1, "sd": 1}
    for said in (normal, {**normal, "low": 0}, {**normal, "high": 2}):
        with pytest.raises(Wrong, match="normal has no ends"):
            range_of(said, ends=True)
        assert range_of(said).distribution == "normal"
    assert range_of({**normal, "low": 0, "high": 2}, ends=True).given["high"] == 2


# -- launches --------------------------------------------------------------------------------------


class Single(WorkloadConfig):
    """A configuration without replicates, each run of which is a launch of its own."""

    workload: Literal["single"] = key("single", "What the file configures")
    pace: float = value(1.0, "A parameter of the model", "units")


def test_values_share_a_launch_and_shapes_words_and_mixed_lists_do_not():
    base = loaded({"grid": {DAY: [500]}}).base
    rows = [
        {DAY: 500, "agents": 5, "seed": 1, "utility.scale": [600, 500, 400, 300], SURPLUS: 0.5},
        {DAY: 600.5, "agents": 6, "seed": 2, "utility.scale": [600, 500, 400, 301], SURPLUS: 1},
    ]
    data = base.model_dump()
    assert shared_keys(base, data, rows) == {"agents", "seed"}
    for mixed in (600, [600, 500, 400], [600, 500, 400, "x"], [True, 1, 1, 1], "word"):
        other = [rows[0], {**rows[1], "utility.scale": mixed}]
        assert shared_keys(base, data, other) == {"agents", "seed", "utility.scale"}, mixed
    assert shared_keys(base, data, [{DAY: True}, {DAY: 1}]) == {DAY}
    single = Single(pace=2.0)
    assert shared_keys(single, single.model_dump(), [{"pace": 1.0}, {"pace": 2.0}]) == {"pace"}
    alone = config_from_dict({"workload": "matmul"})
    assert shared_keys(alone, alone.model_dump(), [{"side": 4}, {"side": 8}]) == {"side"}


def test_buckets_have_the_points_of_their_shape_in_order():
    found = loaded({"grid": {"agents": [5, 6], DAY: [500, 600]}})
    every, places = sweep_points(found)
    buckets = checked_points(found, every, places)
    assert [one.settings for one in buckets] == [{"agents": 5}, {"agents": 6}]
    assert [one.points for one in buckets] == [[0, 1], [2, 3]]
    assert [one.columns for one in buckets] == [(DAY,)] * 2
    assert [(one.config.agents, one.config.day_length) for one in buckets] == [(5, 500), (6, 500)]


@pytest.mark.parametrize(
    ("numbers", "first", "listed"),
    [([7, 8, 9], 7, None), ([7, 7, 7], 0, [7, 7, 7]), ([9, 8, 7], 0, [9, 8, 7]), ([0, 2, 1], 0, 1)],
)
def test_runs_of_a_launch_have_their_rows_and_their_numbers(numbers, first, listed):
    base = loaded({"grid": {DAY: [500]}}).base
    columns = {DAY: np.array([500.0, 650.5, 600.0]), SURPLUS: np.array([0.5, 0.5, 2.0])}
    config = launch_config(base, {"agents": 6}, columns, np.array(numbers))
    assert (config.agents, config.replicates) == (6, 3)
    assert config.first_society == first
    if listed is None:
        assert config.numbers is None
    else:
        assert config.numbers.tolist() == numbers
    found = parameters_of(config)
    every = [found.configs[i] for i in found.of[0]]
    assert [(one.day_length, one.trading.min_surplus) for one in every] == [
        (500.0, 0.5),
        (650.5, 0.5),
        (600.0, 2.0),
    ]


def test_keys_that_are_true_or_false_share_a_launch():
    said = loaded({"grid": {"draws.synchronized": [True, False]}})
    table, values = sweep_points(said)[0], {"draws.synchronized": [True, False]}
    assert shared_keys(said.base, data_of(said.base, 2), table) == set()
    (bucket,) = checked_points(said, *sweep_points(said), copies=2)
    columns, policies = bucket.values_of(table)
    assert policies is None and {key: one.tolist() for key, one in columns.items()} == values
    assert columns["draws.synchronized"].dtype == bool


def test_interventions_of_the_base_may_name_replicates_of_the_study():
    change = {"day": 2, "set": {DAY: 500}, "societies": [3]}
    found = sweep.load_sweep(
        {
            "base": {**BASE, "interventions": [change]},
            "replicates": 4,
            "vary": {"grid": {EXPONENT: [2, 3]}},
        }
    )
    assert found.base.interventions[0].societies == (3,)


def test_a_workload_without_replicates_gets_none():
    base = sweep.load_sweep(
        {"base": {"workload": "matmul"}, "vary": {"grid": {"repeats": [3]}}}
    ).base
    found = launch_config(base, {"repeats": 5}, {}, np.array([0]))
    assert found == base.model_copy(update={"repeats": 5})


def test_a_launch_without_columns_has_no_table():
    base = loaded({"grid": {DAY: [500]}}).base
    config = launch_config(base, {DAY: 550}, {}, np.array([4, 5]))
    assert config.table is None and config.day_length == 550
    assert (config.first_society, config.replicates, config.numbers) == (4, 2, None)


@pytest.mark.parametrize(
    ("numbered", "repeated", "expected"),
    [
        (False, True, [[0, 1], [3, 4], [5]]),
        (True, True, [[0, 1, 3, 4, 5]]),
        (True, False, [[0], [1], [3], [4], [5]]),
        (False, False, [[0], [1], [3], [4], [5]]),
    ],
)
def test_runs_of_a_launch_count_on_unless_kernels_get_numbers(numbered, repeated, expected):
    chosen = SimpleNamespace(numbered=numbered)
    numbers = np.array([3, 4, 99, 6, 7, 7])
    assert list(groups(chosen, [0, 1, 3, 4, 5], numbers, repeated)) == expected
    assert list(groups(chosen, [], numbers, repeated)) == []


def test_numbers_of_runs_are_common_to_a_replicate_or_different():
    from societies.sweep.layout import Runs

    runs = Runs.of([0, 1, 2], [0, 1])
    assert runs.point.tolist() == [0, 0, 1, 1, 2, 2]
    assert runs.replicate.tolist() == [0, 1] * 3
    assert runs.number.tolist() == [0, 1, 2, 3, 4, 5]
    base = {**BASE, "first_society": 20}
    for common, expected in ((True, [20, 21] * 3), (False, [20, 21, 22, 23, 24, 25])):
        study = sweep.load_sweep(
            {"base": base, "vary": {"grid": {DAY: [1, 2]}}, "common_random_numbers": common}
        )
        assert runs.copies(study).tolist() == expected
    parts = [runs.part(k, 2) for k in (1, 2)]
    assert [one.point.tolist() for one in parts] == [[0, 0, 2, 2], [1, 1]]
    assert [one.number.tolist() for one in parts] == [[0, 1, 4, 5], [2, 3]]
    joined = parts[0].joined(Runs.of([7], [1, 2], 6))
    assert joined.number.tolist() == [0, 1, 4, 5, 6, 7]
    assert joined.point.tolist() == [0, 0, 2, 2, 7, 7]
    assert joined.replicate.tolist() == [0, 1, 0, 1, 1, 2]


def test_labels_of_points_change_no_launch():
    vary = {"points": [{"label": "free", SURPLUS: 0.1}, {"label": "costly", SURPLUS: 5}]}
    found = loaded(vary)
    (bucket,) = checked_points(found, *sweep_points(found))
    assert (bucket.points, bucket.columns, bucket.settings) == ([0, 1], (SURPLUS,), {})
    with pytest.raises(ConfigError, match="label: names points, so a grid has none; give it in"):
        points({"grid": {"label": ["a", "b"], SURPLUS: [1]}})
    with pytest.raises(ConfigError, match=r"label: .*point 1"):
        found = loaded({"points": [{"label": "free", SURPLUS: 0.1}, {"label": 3, SURPLUS: 5}]})
        checked_points(found, *sweep_points(found))


@pytest.mark.parametrize("method", ["latin_hypercube", "sobol"])
def test_a_design_without_a_seed_has_the_seed_1(method):
    said = {"points": 4, "keys": {EXPONENT: {"low": 2, "high": 3}}}
    assert points({method: said}) == points({method: {**said, "seed": 1}})
