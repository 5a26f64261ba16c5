"""Are Sobol indices, elementary effects and emulators those of functions whose are known?"""

import json
import math
import sys
import warnings

import numpy as np
import pytest
import xarray as xr
from SALib.sample import morris as morris_sample
from SALib.sample import sobol as sobol_sample

from societies import analysis
from societies.errors import ConfigError, SocietiesError

A, B = 7.0, 0.1
NAMES = ["x1", "x2", "x3"]
BOX = {"num_vars": 3, "names": NAMES, "bounds": [[-math.pi, math.pi]] * 3}


def ishigami(x):
    """The test function of sensitivity analysis (Ishigami and Homma, 1990)."""
    return np.sin(x[:, 0]) + A * np.sin(x[:, 1]) ** 2 + B * x[:, 2] ** 4 * np.sin(x[:, 0])


V1 = 0.5 * (1 + B * math.pi**4 / 5) ** 2
V2 = A**2 / 8
V13 = B**2 * math.pi**8 * (1 / 18 - 1 / 50)
V = V1 + V2 + V13
FIRST, TOTAL = [V1 / V, V2 / V, 0], [(V1 + V13) / V, V2 / V, V13 / V]


def study(x, y, **more):
    coords = {name: ("run", column) for name, column in zip(NAMES, x.T, strict=True)}
    return xr.DataArray(y, dims="run", name="gini", coords={**coords, **more})


def test_sobol_indices_are_those_in_closed_form():
    x = sobol_sample.sample(BOX, 2048, calc_second_order=True, seed=1)
    found = analysis.sobol(study(x, ishigami(x)), second_order=True, resamples=200)
    assert found.parameter.values.tolist() == NAMES
    np.testing.assert_allclose(found.first, FIRST, atol=0.02)
    np.testing.assert_allclose(found.total, TOTAL, atol=0.02)
    assert float(found.second.sel(parameter="x1", with_parameter="x3")) == pytest.approx(
        V13 / V, abs=0.03
    )
    for name, expected in (("first", FIRST), ("total", TOTAL)):
        wide = found[f"{name}_high"] - found[f"{name}_low"]
        assert bool((wide >= 0).all())
        assert bool((abs(found[name] - expected) < wide + 0.005).all())
    assert found.attrs["of"] == "gini"


def test_the_order_of_the_parameters_is_that_of_the_design_not_of_the_file():
    x = sobol_sample.sample(BOX, 64, calc_second_order=False, seed=1)
    data = study(x, ishigami(x))
    expected = analysis.sobol(data, resamples=20)
    assert expected.parameter.values.tolist() == NAMES
    turned = analysis.sobol(data, NAMES[::-1], resamples=20)
    xr.testing.assert_identical(turned, expected)
    assert analysis.varied(data.to_dataset(name="y").assign_attrs(vary="x2, x1, x3")) == [
        *("x2", "x1", "x3")
    ]
    shuffled = data.isel(run=np.random.default_rng(1).permutation(data.sizes["run"]))
    with pytest.raises(ConfigError, match=r"no Saltelli design of 3 .*, or not in its order"):
        analysis.sobol(shuffled)


def test_other_dimensions_and_replicates_stay_apart():
    x = sobol_sample.sample(BOX, 64, calc_second_order=False, seed=1)
    y = ishigami(x)
    alone = analysis.sobol(study(x, y), resamples=20)
    # Three replicates of each point, and two days, on one of which nothing varies.
    noise = np.array([-1.0, 0.0, 1.0])
    runs = (y[:, None] + noise).ravel()
    data = xr.DataArray(
        np.stack([runs, np.ones_like(runs)]),
        dims=("day", "run"),
        name="gini",
        coords={
            "day": [5, 10],
            "replicate": ("run", np.tile([0, 1, 2], len(y))),
            "seed": ("run", np.arange(3 * len(y))),
            **{n: ("run", np.repeat(c, 3)) for n, c in zip(NAMES, x.T, strict=True)},
        },
    )
    found = analysis.sobol(data, resamples=20)
    assert found.first.dims == ("parameter", "day")
    np.testing.assert_allclose(found.first.sel(day=5), alone.first, rtol=1e-9)
    assert bool(found.first.sel(day=10).isnull().all())


def test_elementary_effects_of_a_linear_function_are_its_coefficients():
    """Over the whole range of each parameter, whatever its unit; where it is bent, they vary."""
    box = {"num_vars": 3, "names": NAMES, "bounds": [[0, 10], [1, 3], [-1, 1]]}
    x = morris_sample.sample(box, 40, num_levels=4, seed=2)
    linear = 2 * x[:, 0] - 5 * x[:, 1]
    found = analysis.morris(study(x, linear), resamples=50)
    np.testing.assert_allclose(found.mu, [20, -10, 0], atol=1e-9)
    np.testing.assert_allclose(found.mu_star, [20, 10, 0], atol=1e-9)
    np.testing.assert_allclose(found.sigma, 0, atol=1e-9)
    bent = analysis.morris(study(x, linear + x[:, 0] * x[:, 2]), resamples=50)
    assert bent.sigma.values[0] > 1
    assert bent.sigma.values[1] == pytest.approx(0, abs=1e-9)
    assert bent.sigma.values[2] > 1


@pytest.mark.ci
def test_an_emulator_predicts_points_that_were_not_run_and_says_how_well():
    random = np.random.default_rng(4)
    x = random.uniform(-math.pi, math.pi, (160, 3))
    made = analysis.emulator(study(x, ishigami(x)), restarts=0)
    assert made.q2 > 0.9
    new = random.uniform(-3, 3, (300, 3))
    found = made.predict(dict(zip(NAMES, new.T, strict=True)))
    error = found["mean"] - ishigami(new)
    assert float((error**2).mean() / ishigami(new).var()) < 0.05
    assert float((abs(error) < 2 * found.sd + 0.05).mean()) > 0.85
    # The indices are those that the function itself has at the points of the same design.
    indices = made.sobol(256, resamples=20, seed=3)
    box = {**BOX, "bounds": np.column_stack([made.low, made.high]).tolist()}
    design = sobol_sample.sample(box, 256, calc_second_order=False, seed=3)
    expected = analysis.sobol(study(design, ishigami(design)), resamples=20)
    np.testing.assert_allclose(indices.first, expected.first, atol=0.04)
    np.testing.assert_allclose(indices.total, expected.total, atol=0.04)


def test_the_leave_one_out_error_is_that_of_fits_without_the_point():
    """With the same covariance, by leaving each point out by hand."""
    random = np.random.default_rng(5)
    x = random.uniform(-1, 1, (25, 3))
    y = x[:, 0] + x[:, 1] ** 2 + random.normal(0, 0.2, 25)
    made = analysis.emulator(study(x, y), restarts=0)
    unit = (x - x.min(0)) / (x.max(0) - x.min(0))
    target = (y - y.mean()) / y.std()
    smooth = made._process
    noise = np.linalg.inv(smooth._inverse) - smooth._kernel(unit)
    errors = []
    for left_out in range(25):
        rest = np.arange(25) != left_out
        covariance = smooth._kernel(unit[rest]) + noise[np.ix_(rest, rest)]
        weights = np.linalg.solve(covariance, target[rest])
        errors.append(target[left_out] - smooth._kernel(unit[[left_out]], unit[rest])[0] @ weights)
    assert made.q2 == pytest.approx(1 - np.mean(np.square(errors)) / np.mean(target**2), rel=1e-6)
    assert made.q2 < 0.98  # noise cannot be predicted


# ------------------------------------------- runs in another order, and missing ones


def morris_design(levels=4, count=12, seed=2):
    box = {"num_vars": 3, "names": NAMES, "bounds": [[0, 10], [1, 3], [-1, 1]]}
    return morris_sample.sample(box, count, num_levels=levels, seed=seed)


def runs(x, of, replicates=2, design=None):
    """Return the runs of a study; each replicate has a level of its own."""
    count, random = len(x), np.random.default_rng(1)
    point = np.repeat(np.arange(count), replicates)
    replicate = np.tile(np.arange(replicates), count)
    y = of(x)[point] + 500.0 * replicate + random.normal(0, 1e-9, len(point))
    more = {"point": ("run", point), "replicate": ("run", replicate)}
    found = study(x[point], y, **more)
    if design is not None:
        found.point.attrs["design"] = json.dumps([design])
    return found


def linear(x):
    return 2 * x[:, 0] - 5 * x[:, 1]


@pytest.mark.parametrize("levels", [2, 4, 6, 8, 10])
def test_effects_are_those_of_any_number_of_levels(levels):
    x = morris_design(levels, count=40)
    found = analysis.morris(runs(x, linear), resamples=2)
    np.testing.assert_allclose(found.mu, [20, -10, 0], atol=1e-6)
    said = runs(x, linear, design={"morris": {"levels": levels, "trajectories": 40}})
    np.testing.assert_allclose(analysis.morris(said, resamples=2).mu, [20, -10, 0], atol=1e-6)
    if levels > 2:
        with pytest.raises(ConfigError, match=f"levels=2: 'x1' has {levels} values"):
            analysis.morris(said, levels=2)


def test_levels_that_cannot_be_seen_are_asked_for():
    few = runs(morris_design(8, count=2), linear)
    with pytest.raises(ConfigError, match="levels: the points do not show how many levels"):
        analysis.morris(few)
    np.testing.assert_allclose(
        analysis.morris(few, levels=8, resamples=2).mu, [20, -10, 0], atol=1e-6
    )
    with pytest.raises(ConfigError, match="levels=5: must be even"):
        analysis.morris(few, levels=5)


def test_the_order_of_runs_says_nothing():
    random = np.random.default_rng(3)
    x = sobol_sample.sample(BOX, 32, calc_second_order=True, seed=1)
    for data, measure in (
        (runs(morris_design(), linear), lambda d: analysis.morris(d, resamples=2)),
        (runs(x, ishigami), lambda d: analysis.sobol(d, second_order=True, resamples=2)),
    ):
        mixed = data.isel(run=random.permutation(data.sizes["run"]))
        xr.testing.assert_allclose(measure(mixed), measure(data))


def test_a_part_of_a_design_is_no_design():
    x = sobol_sample.sample(BOX, 16, calc_second_order=False, seed=1)
    for data, measure, what in (
        (runs(morris_design(8), linear), analysis.morris, "trajectories"),
        (runs(x, ishigami), analysis.sobol, "groups"),
    ):
        part = data.isel(run=(data.point % 2 == 0).values)
        with pytest.raises(ConfigError, match=f"make no whole {what} of x1, x2, x3: merge"):
            measure(part)


def test_groups_that_a_study_no_longer_has_are_counted():
    """Half of a design is whole groups: it was used as if it were all of it."""
    x = sobol_sample.sample(BOX, 16, calc_second_order=False, seed=1)
    for made, of, measure, said, design in (
        (morris_design(), linear, analysis.morris, "6 of 12 trajectories",
         {"morris": {"levels": 4, "trajectories": 12}}),
        (x, ishigami, analysis.sobol, "8 of 16 groups",
         {"saltelli": {"points": 16, "second_order": False}}),
    ):  # fmt: skip
        data = runs(made, of, design=design)
        half = data.isel(run=slice(data.sizes["run"] // 2))
        with pytest.warns(UserWarning, match=f"{said} are used; the others are missing"):
            measure(half, resamples=2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            measure(data, resamples=2)
            grid = xr.concat([data, data.assign_coords(point=data.point + len(made))], "run")
            measure(grid.isel(run=slice(data.sizes["run"], None)), resamples=2)


def test_groups_that_lack_points_are_left_out_and_this_is_said():
    x = sobol_sample.sample(BOX, 64, calc_second_order=False, seed=1)
    for whole, size, measure, said in (
        (morris_design(), 4, analysis.morris, "10 of 12 trajectories"),
        (x, 5, analysis.sobol, "62 of 64 groups"),
    ):
        of = linear if size == 4 else ishigami
        data = runs(whole, of)
        holes = data.isel(run=~np.isin(data.point, [size, size + 1, 4 * size]))
        left = np.delete(whole, [*range(size, 2 * size), *range(4 * size, 5 * size)], axis=0)
        with pytest.warns(UserWarning, match=f"'gini': {said} are used; the others lack points"):
            found = measure(holes, resamples=2)
        expected = measure(runs(left, of), resamples=2)
        name = "mu" if size == 4 else "total"
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-6, atol=1e-6)


def test_a_study_that_grew_has_its_whole_trajectories():
    """Existing points are not added: the trajectory that has them has a hole."""
    first, second = morris_design(count=8), morris_design(count=9, seed=5)
    known = (second[:, None] == first).all(-1).any(1)
    assert 0 < known.sum() < len(second)
    grown = np.concatenate([first, second[~known]])
    with pytest.warns(UserWarning, match="trajectories are used; the others lack points"):
        found = analysis.morris(runs(grown, linear), resamples=2)
    np.testing.assert_allclose(found.mu, [20, -10, 0], atol=1e-6)


def test_replicates_are_known_by_their_point():
    """One missing at each of two points: found in use, outcomes of other points were averaged."""
    x = np.random.default_rng(6).uniform(0, 1, (30, 3))
    data = runs(x, lambda x: 10 * x[:, 0])
    lost = ((data.point == 3) & (data.replicate == 0)) | ((data.point == 9) & (data.replicate == 1))
    with pytest.warns(UserWarning, match="2 of 30 points have fewer than 2 replicates"):
        found = analysis.over_replicates(data.isel(run=~lost.values))
    level = np.full(30, 250)
    level[[3, 9]] = 500, 0  # that of the replicate that is left
    expected = 10 * x[:, 0] + level
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.point.values.tolist() == list(range(30))
    np.testing.assert_array_equal(found.x2, x[:, 1])
    mixed = data.isel(run=np.random.default_rng(1).permutation(60))
    xr.testing.assert_allclose(analysis.over_replicates(mixed), analysis.over_replicates(data))
    bare = mixed.drop_vars("point")  # the replicates have their points in different orders
    with pytest.raises(ConfigError, match="runs of point 0 have different values of 'x1'"):
        analysis.over_replicates(bare)
    with pytest.raises(ConfigError, match="a replicate of a point appears twice"):
        analysis.over_replicates(xr.concat([data, data[:1]], "run"))
    other = data.assign_coords(x1=("run", data.x1.values + (data.replicate.values == 1)))
    with pytest.raises(ConfigError, match="runs of point 0 have different values of 'x1'"):
        analysis.over_replicates(other)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_an_outcome_that_is_no_number_is_refused(value):
    x = sobol_sample.sample(BOX, 8, calc_second_order=False, seed=1)
    y = ishigami(x)
    y[3] = value
    with pytest.raises(ConfigError, match=r"missing( \(infinite\))? at 1 of 40 points"):
        analysis.sobol(study(x, y))
    with pytest.raises(ConfigError, match="missing or infinite at some points"):
        analysis.emulator(study(x, y))


def test_what_is_no_design_says_why(monkeypatch):
    x = sobol_sample.sample(BOX, 8, calc_second_order=False, seed=1)
    data = study(x, ishigami(x))
    with pytest.raises(ConfigError, match=r"39 points are no Saltelli design of 3 parameters \(x1"):
        analysis.sobol(data[:-1])
    with pytest.raises(ConfigError, match="no trajectories of 3 parameters"):
        analysis.morris(data[:-1])
    with pytest.raises(ConfigError, match=r"missing at 1 of 40 points"):
        analysis.sobol(data.where(np.arange(40) != 3))
    with pytest.raises(ConfigError, match=r"'x4' is not a key of the study; it has x1, x2, x3"):
        analysis.sobol(data, ["x1", "x4"])
    with pytest.raises(ConfigError, match="several values"):
        analysis.emulator(data.assign_coords(x1=("run", np.ones(40))), NAMES)
    uneven = data.assign_coords(replicate=("run", [0] * 30 + [1] * 10))
    with pytest.raises(ConfigError, match="10 to 30 points"):
        analysis.sobol(uneven)
    monkeypatch.setitem(sys.modules, "SALib.analyze.sobol", None)
    with pytest.raises(SocietiesError, match=r"needs SALib.*societies\[study\]"):
        analysis.sobol(data)
    monkeypatch.setitem(sys.modules, "sklearn.gaussian_process", None)
    with pytest.raises(SocietiesError, match="scikit-learn"):
        analysis.emulator(data)
