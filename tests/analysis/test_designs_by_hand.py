"""Which points are complete groups of a design? Small designs, written down or from SALib."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
import xarray as xr
from SALib.sample import morris as morris_sample

from societies import analysis
from societies.analysis.designs import as_numbers, saltelli, trajectories
from societies.analysis.study_figures import scalars
from societies.errors import ConfigError

NAMES = ["a", "b"]


def outcome(x, points=None, design=None, **coords):
    """Return outcomes 0, 1, ... of points with parameters a, b."""
    coords = {
        name: ("run", column) for name, column in zip(NAMES, np.array(x).T, strict=True)
    } | coords
    if points is not None:
        attrs = {"design": design if isinstance(design, str) else json.dumps(design or [])}
        coords["point"] = "run", np.array(points), attrs
    return xr.DataArray(np.arange(len(x)) * 1.0, dims="run", name="gini", coords=coords)


def group(a, b, second=False):
    """Return a group of a Saltelli design (Saltelli et al., 2010): A, A with one of B, and B."""
    middle = [(b[0], a[1]), (a[0], b[1])]
    other = [(a[0], b[1]), (b[0], a[1])] if second else []
    return [a, *middle, *other, b]


FIRST, SECOND, THIRD = ((1, 2), (3, 4)), ((5, 6), (7, 8)), ((1, 9), (1, 0))
"""Parameters of A and B of three groups; in the last both agree in one."""


def used(found):
    return found[0].values.tolist()


@pytest.mark.parametrize("second", [False, True])
def test_groups_of_a_saltelli_design_are_taken_in_order(second):
    x = [row for ends in (FIRST, SECOND, THIRD) for row in group(*ends, second)]
    found = saltelli(outcome(x), NAMES, "run", second_order=second)
    assert used(found) == list(range(len(x))) and found[1] == NAMES
    assert saltelli(outcome(x), NAMES[::-1], "run", second_order=second)[1] == NAMES
    size = len(x) // 3
    with pytest.raises(ConfigError, match=f"{size + 1} points are no .* a multiple of {size}$"):
        saltelli(outcome(x[: size + 1]), NAMES, "run", second_order=second)


def wrong(place):
    """Return three groups with second order, of which the second has another value at a place."""
    x = [row for ends in (FIRST, SECOND, THIRD) for row in group(*ends, second=True)]
    row, column = place
    x[6 + row] = tuple(99 if i == column else value for i, value in enumerate(x[6 + row]))
    return x


@pytest.mark.parametrize("place", [(1, 0), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1)])
def test_a_group_with_another_value_is_left_out(place):
    x = wrong(place)
    with pytest.raises(ConfigError, match=r"the points are no Saltelli .*, or not in its order"):
        saltelli(outcome(x), NAMES, "run", second_order=True)
    with pytest.warns(UserWarning, match="'gini': 2 of 3 groups are used"):
        found = saltelli(outcome(x, range(18)), NAMES, "run", second_order=True)
    assert used(found) == [*range(6), *range(12, 18)] and found[1] == NAMES


@pytest.mark.parametrize(
    "rows", [[(1, 2), (1, 2), (1, 4), (1, 4)], [(1, 2), (3, 4), (1, 4), (3, 4)]]
)
def test_each_point_between_has_one_parameter_of_the_last(rows):
    with pytest.raises(ConfigError, match="or not in its order"):
        saltelli(outcome(rows), NAMES, "run", second_order=False)
    with pytest.raises(ConfigError, match="make no whole groups of a, b: merge"):
        saltelli(outcome(rows, range(4)), NAMES, "run", second_order=False)


def test_points_that_exist_are_groups_by_their_numbers():
    x = [row for ends in (FIRST, SECOND, THIRD) for row in group(*ends)]
    numbers = np.arange(12)
    for gone, said, left in (
        ([1], "2 of 3", range(4, 12)),
        ([4, 5, 6, 7, 8], "1 of 3", range(4)),
        ([0, 9], "1 of 3", range(4, 8)),
    ):
        remaining = np.delete(numbers, gone)
        with pytest.warns(UserWarning, match=f"'gini': {said} groups are used; the others lack"):
            found = saltelli(
                outcome([x[i] for i in remaining], remaining), NAMES, "run", second_order=False
            )
        assert found[0].point.values.tolist() == list(left)
    some = np.delete(numbers, [4, 5, 6, 7])  # whole groups, such as those of a value of a grid
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = saltelli(outcome([x[i] for i in some], some), NAMES, "run", second_order=False)
    assert found[0].point.values.tolist() == some.tolist()
    with pytest.raises(ConfigError, match="make no whole groups"):
        saltelli(outcome(x[:3], range(3)), NAMES, "run", second_order=False)


def test_outcomes_without_their_parameters_are_taken_in_order():
    bare = xr.DataArray(np.arange(4.0), dims="run", name="gini")
    for coords in ({}, {"a": ("run", [1, 2, 3, 4])}, {"a": ("run", [1, 2, 3, 4]), "b": 5}):
        own = bare.assign_coords(coords)
        found = saltelli(own, ["b", "a"], "run", second_order=False)
        assert found[0].identical(own) and found[1] == ["b", "a"]


def test_texts_are_numbered_in_alphabetical_order():
    assert as_numbers(np.array(["b", "c", "a", "b"])).tolist() == [1, 2, 0, 1]
    for values in ([1, 2], [0.5, 2.5], [True, False], np.array([1, 2], np.uint8)):
        found = as_numbers(np.array(values))
        assert found.dtype == float and found.tolist() == [float(one) for one in values]


# -- trajectories (Morris, 1991)


GRID = np.array([(0, 0), (2, 0), (2, 2), (1, 3), (3, 3), (3, 1)]) / 3
"""Two trajectories of two parameters with four levels and the usual step of 2/3."""


def of_morris(x, points=None, levels=None, **design):
    return trajectories(outcome(x, points, **design), NAMES, "run", levels)


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_levels_are_equally_spaced_values_of_each_parameter(scale):
    every = np.array([(0, 0), (2, 0), (2, 2), (1, 1), (3, 1), (3, 3)]) * scale
    found = of_morris(every)
    assert used(found) == list(range(6)) and found[1] == 4
    uneven = every.copy()
    uneven[[3, 5], 1] = 0.9 * scale, 3 * scale
    uneven[4, 1] = 0.9 * scale
    for column in ([0, 1], [1, 0]):
        with pytest.raises(ConfigError, match="levels: the points do not show how many"):
            of_morris(uneven[:, column])
        assert of_morris(uneven[:, column], levels=6)[1] == 6


def test_levels_that_the_points_do_not_show_are_named():
    some, odd = GRID[:3], np.array([(0, 0), (1, 0), (1, 1), (1, 1), (2, 1), (2, 2)])
    assert of_morris(some)[1] == 2
    alone = outcome(some)[:2].rename(b="other")
    assert trajectories(alone, ["a"], "run", None)[1] == 2
    two_and_four = np.array([(0, 0), (2, 0), (2, 2), (1, 0), (3, 0), (3, 2)])
    for x in (odd, two_and_four, two_and_four[:, ::-1], [(0, 0), (1, 0), (1, 0)]):
        with pytest.raises(ConfigError, match="levels: the points do not show how many"):
            of_morris(x)
    for x in (odd, two_and_four):
        assert of_morris(x, levels=4)[1] == 4
    with pytest.raises(ConfigError, match="levels=2: 'b' has 3 values at the points"):
        of_morris(np.array([(0, 0), (1, 0), (1, 1), (1, 1), (0, 1), (0, 2)]), levels=2)
    for levels in (-2, 0, 1, 3):
        with pytest.raises(ConfigError, match=f"levels={levels}: must be even, and at least 2"):
            of_morris(GRID, levels=levels)


def test_the_design_of_a_study_names_its_levels():
    named = [{"grid": {"c": [1]}}, {"morris": {"levels": 8}}]
    assert of_morris(GRID[:3], range(3), design=named)[1] == 8
    assert of_morris(GRID[:3], range(3), levels=6, design=named)[1] == 6
    for unknown in ([], [{"morris": {"levels": 8}}, {"morris": {"levels": 6}}], "[{", "{}", "3"):
        assert of_morris(GRID[:3], range(3), design=unknown)[1] == 2
    with pytest.raises(ConfigError, match="levels=2: 'a' has 4 values"):
        of_morris(GRID, range(6), design=[{"morris": {"levels": 2}}])


@pytest.mark.parametrize(
    "rows",
    [
        [(0, 0), (2, 2), (2, 2)],  # two parameters in one step
        [(0, 0), (2, 0), (0, 0)],  # a parameter twice
        [(0, 0), (2, 0), (3, 0)],
        [(0, 0), (2, 2), (0, 0)],
        [(0, 0), (0, 0), (0, 0)],  # nothing
    ],
)
def test_each_step_of_a_trajectory_changes_one_parameter_once(rows):
    for x in (rows, [*rows, *GRID * 3], [*GRID * 3, *rows]):
        with pytest.raises(
            ConfigError, match=r"the points are no trajectories .* not in its order"
        ):
            of_morris(x)
    with pytest.warns(UserWarning, match="2 of 3 trajectories are used"):
        found = of_morris([*rows, *GRID * 3], range(9))
    assert used(found) == list(range(3, 9))
    with pytest.raises(ConfigError, match="make no whole trajectories of a, b"):
        of_morris(rows, range(3))


def test_a_step_may_change_nothing_because_of_rounding():
    assert used(of_morris([(0, 0), (0, 0), (0, 2)], levels=4)) == [0, 1, 2]


def test_what_is_no_trajectory_says_why():
    with pytest.raises(ConfigError, match="'gini' needs the coordinates a, b"):
        trajectories(outcome(GRID).drop_vars("b"), NAMES, "run", None)
    with pytest.raises(ConfigError, match=r"5 points are no .*, which have 3 points each"):
        of_morris(GRID[:5])
    with pytest.warns(UserWarning, match="1 of 2 trajectories"):
        assert used(of_morris(GRID[:5], range(5), levels=4)) == [0, 1, 2]


def test_designs_of_salib_are_whole():
    problem = {"num_vars": 2, "names": NAMES, "bounds": [[0, 1]] * 2}
    x = morris_sample.sample(problem, 20, num_levels=6, seed=3)
    found = of_morris(x)
    assert used(found) == list(range(60)) and found[1] == 6


# -- outcomes of points


def effects(values, **options):
    return analysis.morris(outcome(GRID * 3).copy(data=values), resamples=5, **options)


def test_effects_are_in_proportion_to_the_outcome():
    values = np.array([0.0, 2, 5, 1, 2, 4])
    whole = effects(values)
    for scale in (1e-3, 1e-30, 1e6):
        np.testing.assert_allclose(effects(values * scale).mu, whole.mu * scale)
    assert effects(np.ones(6)).mu.isnull().all()


def test_points_without_an_outcome_are_counted():
    coords = outcome(GRID * 3).coords
    values = np.ones((2, 6)) * np.arange(6)
    for places, value, said in (
        ([(0, 1), (1, 2)], np.nan, "missing at 2 of 6 points"),
        ([(0, 1), (1, 1)], np.nan, "missing at 1 of 6 points"),
        ([(0, 1), (1, 4), (1, 5)], np.inf, r"missing \(infinite\) at 3 of 6 points"),
    ):
        own = values.copy()
        for place in places:
            own[place] = value
        data = xr.DataArray(own, dims=("day", "run"), coords=coords, name="gini")
        with pytest.raises(ConfigError, match=f"'gini' is {said}: choose ticks and variables"):
            analysis.morris(data)


def test_parameters_are_keys_that_vary():
    with pytest.raises(ConfigError, match="names: 'gini' has no keys that vary along 'run'"):
        analysis.morris(outcome(np.ones((6, 2))))
    with pytest.raises(ConfigError, match="names: 'c' is not a key of the study; it has none"):
        analysis.morris(outcome(np.ones((6, 2))), ["c"])
    with pytest.raises(ConfigError, match="names: 'c' is not a key of the study; it has a, b"):
        analysis.morris(outcome(GRID), ["a", "c"])
    for names in (None, NAMES):
        with pytest.raises(ConfigError, match="'gini' has no dimension 'c'"):
            analysis.morris(outcome(GRID), names, dim="c")


@pytest.mark.parametrize(
    ("points", "refused"),
    [([0, 0, 0], False), ([0, 1, 2], False), ([0, 0, 1], True), ([0, 0, 1, 1], True)],
)
def test_an_interval_is_of_replicates_of_one_point_or_of_points(points, refused):
    data = xr.DataArray(np.arange(len(points)) * 1.0, dims="run", name="x")
    one = data.assign_coords(point=("run", points))
    for interval in (analysis.mean_interval, analysis.quantile_interval):
        assert float(interval(data.assign_coords(point=3), "run").low) >= 0
        if refused:
            with pytest.raises(ConfigError, match=f"has {len({*points})} points with up to 2 rep"):
                interval(one, "run")
        else:
            xr.testing.assert_equal(interval(one, "run"), interval(data, "run"))
    assert float(analysis.mean_interval(data, "run", resamples=1)["mean"]) == data.mean()
    with pytest.raises(ConfigError, match="resamples=0: must be at least 1"):
        analysis.mean_interval(data, "run", resamples=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"to": 0}, "to=0: must be above 0"),
        ({"to": -0.5}, "to=-0.5: must be above 0"),
        ({"before": 0}, "before=0: must be at least 1"),
        ({"hold": 0}, "hold=0: must be at least 1"),
        ({"at": 5}, "needs a day before and 1 after; the file has 1 to 5"),
        ({"at": 0}, "needs a day before and 1 after; the file has 1 to 5"),
    ],
)
def test_options_of_a_recovery(options, message):
    """The level of the day before is 4; it falls to 1 and is reached again on the third day."""
    series = xr.DataArray([4.0, 1, 1, 4, 4], dims="day", coords={"day": range(1, 6)})
    usual = {"at": 1, "before": 1, "hold": 1, "to": 1.0, "clock": "day"}
    assert [*map(float, analysis.recovery_time(series, **usual).values())] == [2, 4, 1, 0.75]
    with pytest.raises(ConfigError, match=message):
        analysis.recovery_time(series, **{**usual, **options})


@pytest.mark.parametrize("workload", ["bam", "kirman_ants"])
def test_headline_variables_of_a_study_are_drawn_first(workload):
    """Those of the alphabet's beginning were, such as BAM's borrowers."""
    shapes = {"borrowers": (2,), "gdp": (2, 3), "price": (2, 5), "unemployment": (2, 3)}
    dims = {1: ("run",), 3: ("run", "quarter"), 5: ("run", "firm")}
    study = xr.Dataset(
        {name: (dims[(1, *shape[1:])[-1]], np.zeros(shape)) for name, shape in shapes.items()},
        attrs={"configuration": f"workload: {workload}", "clock": "quarter"},
    )
    usual = ["unemployment", "gdp", "borrowers"]
    assert scalars(study) == (usual if workload == "bam" else sorted(usual))
