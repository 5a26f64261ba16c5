"""Does each method of calibration ask for the points that its paper says?

Each has a twin here, in loops, with the formulas of the paper: both get the same answers, draw the
same random numbers, and must ask for the same points and end with the same result.
"""

import inspect
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

import societies.analysis.emulation
from societies.errors import ConfigError
from societies.study.calibration import methods
from societies.study.calibration.methods import Answer, Found
from societies.study.statistics import checked_options

SCALE = 0.1
NO_DRAWS = np.empty((0, 0))


def played(method, model):
    """Return the points that a method asked for, in batches, and what it ended with."""
    asked, unit = [], next(method)
    try:
        while True:
            asked.append(np.array(unit))
            assert ((unit > 0) & (unit < 1)).all()
            unit = method.send(model(np.array(unit), sum(map(len, asked[:-1]))))
    except StopIteration as end:
        return asked, end.value


def require_same(method, twin, model):
    """Fail if a method and its twin differ; return what the method asked for and found."""
    (asked, found), (of_twin, expected) = played(method, model), played(twin, model)
    assert [len(one) for one in asked] == [len(one) for one in of_twin]
    for one, other in zip(asked, of_twin, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
    for name in ("draws", "trace", "profile", "trials"):
        one, other = np.array(getattr(found, name)), np.array(getattr(expected, name))
        assert one.shape == other.shape and one.dtype.kind == other.dtype.kind, name
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9, err_msg=name)
    assert [one.partition(":")[0] for one in found.notes] == expected.notes
    return asked, found


def answered(residuals):
    square = (residuals**2).mean(1)
    distance = np.where(np.isnan(square), np.inf, np.sqrt(square))
    cells = np.floor(np.nan_to_num(residuals) / SCALE).astype(np.int64)
    return Answer(distance, residuals, residuals, cells)


def bowl(unit, _):
    """A smooth model: the second statistic bends."""
    away = unit[:, :2] - 0.4
    return answered(np.column_stack([2 * away[:, 0], away[:, 1] + away[:, 0] ** 2]))


def failing(unit, _):
    """A model that has no numbers in three quarters of its range."""
    found = bowl(unit, 0).residuals
    found[unit[:, 0] > 0.25, 1] = np.nan
    return answered(found)


def stepped(unit, _):
    """A model whose distances are few: many are exactly the tolerance."""
    return answered(np.round(bowl(unit, 0).residuals * 8) / 8)


def far(unit, _):
    return answered(bowl(unit, 0).residuals + 3)


def at_the_corner(unit, _):
    """A model that is nearest beyond the corner of the cube."""
    return answered(bowl(unit, 0).residuals * 0 + unit[:, :2] - [1.5, -0.5])


def constant(value):
    return lambda unit, _: answered(np.full((len(unit), 2), value))


def one_in_four(unit, first):
    """A model of which in each batch a quarter is near: as many as the method must accept."""
    near = (np.arange(len(unit)) % 4 == 0) | (first == 0)
    return answered(np.where(near, 0.5 + unit[:, 0] * (first == 0), 9.0)[:, None] + np.zeros(2))


def only(count):
    """Return a model that fails in the first batch, except for a number of trials."""

    def model(unit, first):
        found = bowl(unit, 0).residuals
        found[(np.arange(len(unit)) >= count) & (first == 0)] = np.nan
        return answered(found)

    return model


# ---------------------------------------------------------------------------------------- helpers


def test_points_beyond_the_cube_are_reflected_at_its_faces():
    given = [0.3, 1, 1.25, 2.25, 3.1, -0.25, -1.25, 0, 0.9999999999]
    expected = [0.3, 1 - 1e-9, 0.75, 0.25, 0.9, 0.25, 0.75, 1e-9, 1 - 1e-9]
    np.testing.assert_allclose(methods._reflected(np.array(given)), expected, rtol=0, atol=1e-15)


def test_faces_of_the_cube_are_outside():
    points = np.array([[0, 0.5], [0.5, 1], [np.nan, 0.5], [1e-300, 0.5], [0.5, 1 - 1e-16]])
    assert methods._inside(points).tolist() == [False, False, False, True, True]


def test_a_start_has_one_point_in_each_interval_of_each_parameter():
    x = methods._spread(np.random.default_rng(2), 7, 3)
    assert [sorted(np.floor(7 * column)) for column in x.T] == [list(range(7))] * 3


def test_ends_of_options():
    for name, refused, allowed in (
        ("population", (0, 10**6 + 1), (1, 10**6)),
        ("quantile", (-0.5, 0.0, 1.0, 1.5), (0.5,)),
        ("seed", (-1,), (0, 1)),
    ):
        for value in allowed:
            checked_options("abc_smc", {name: value}, methods.abc_smc)
        for value in refused:
            with pytest.raises(ConfigError, match=name):
                checked_options("abc_smc", {name: value}, methods.abc_smc)
    assert next(methods.abc_smc(2, population=1, seed=0)).shape == (2, 2)


def test_defaults():
    """Those of docs/calibrate.md."""
    common = {"batch": 100, "rounds": 20, "seed": 1}
    expected = {
        "abc_smc": {
            **{"population": 100, "generations": 6, "quantile": 0.5, "least_accepted": 0.03},
            **{"regression": True, "draws": 400, "seed": 1},
        },
        "surrogate": {"points": 50, "batch": 10, "rounds": 8, "seed": 1},
        "least_squares": {"starts": 8, "iterations": 10, "step": 0.02, "seed": 1},
        "profiles": {"bins": 10, **common},
        "pattern_space": common,
    }
    found = {
        name: {one.name: one.default for one in inspect.signature(of).parameters.values()}
        for name, of in methods.METHODS.items()
    }
    assert found == {name: {"dims": inspect.Parameter.empty, **of} for name, of in expected.items()}
    assert next(methods.pattern_space(2)).shape == (100, 2)


# -------------------------------------------------------------------------------------------- ABC


def abc_by_hand(
    dims, population, generations, quantile, least_accepted=0.03, regression=True, draws=400, seed=1
):
    random, notes = np.random.default_rng(seed), []
    asked = methods._spread(random, 2 * population, dims)
    answer = yield asked
    rank = sorted(range(2 * population), key=lambda i: answer.distance[i])[:population]
    if np.isfinite(answer.distance[rank[0]]):
        rank = [i for i in rank if np.isfinite(answer.distance[i])]
    people = [(asked[i], answer.distance[i], answer.residuals[i], i) for i in rank]
    weights = np.full(len(people), 1 / len(people))
    trace, count, hits = [max(one[1] for one in people)], 2 * population, 0.5
    for _ in range(1, generations):
        distances = sorted(one[1] for one in people)
        if distances[-1] == 0 or np.isinf(distances[-1]):
            break
        if len(people) < dims + 2:
            notes.append(f"only {len(people)} of the first {2 * population} trials did not fail")
            break
        tolerance = distances[math.floor(quantile * (len(people) - 1))]
        points = np.array([one[0] for one in people])
        away = points - weights @ points
        spread = 2 * (weights * away.T) @ away / (1 - (weights**2).sum()) + 1e-10 * np.eye(dims)
        new, tried = [], 0
        while len(new) < population and len(new) >= least_accepted * tried:
            size = int(min(max((population - len(new)) / hits, population / 2), 4 * population))
            asked, out = np.empty((size, dims)), [*range(size)]
            while out:
                parents = random.choice(len(points), len(out), p=weights)
                steps = random.normal(size=(len(out), dims))
                asked[out] = points[parents] + steps @ np.linalg.cholesky(spread).T
                out = [i for i in out if not all(0 < one < 1 for one in asked[i])]
            answer = yield asked
            near = [i for i in range(size) if answer.distance[i] <= tolerance]
            new += [(asked[i], answer.distance[i], answer.residuals[i], count + i) for i in near]
            count, tried = count + size, tried + size
            hits = max(len(new), 1) / tried
        if len(new) < population:
            said = f"{100 * least_accepted:g} % came nearer"
            notes.append(f"stopped at the tolerance {trace[-1]:.3g}: fewer trials than {said}")
            break
        people = new[:population]
        density = [
            weights @ multivariate_normal(one[0], spread).pdf(points).reshape(-1) for one in people
        ]
        weights = 1 / np.array(density) / (1 / np.array(density)).sum()
        trace.append(tolerance)
    chosen = random.choice(len(people), draws, p=weights)
    x, distance, residuals = (np.array([one[i] for one in people]) for i in range(3))
    if regression and 0 < max(distance) <= 1 and len(people) > 3 * dims:
        x = adjusted_by_hand(x, residuals, distance, weights)
    notes = [one.partition(":")[0] for one in notes]
    return Found(x[chosen], trace, NO_DRAWS, np.array([one[3] for one in people]), notes)


def adjusted_by_hand(x, residuals, distance, weights):
    """Beaumont and others 2002: weighted least squares with Epanechnikov's kernel."""
    kernel = weights * (1 - (distance / (1.001 * max(distance))) ** 2)
    design = np.column_stack([np.ones(len(x)), residuals])
    logit = np.log(x / (1 - x))
    root = np.sqrt(kernel)[:, None]
    slopes = (np.linalg.pinv(root * design, rcond=1e-8) @ (root * logit))[1:]
    return 1 / (1 + np.exp(residuals @ slopes - logit))


@pytest.mark.parametrize(
    "model", [bowl, failing, stepped, far, one_in_four], ids=lambda m: m.__name__
)
@pytest.mark.parametrize(
    "options",
    [
        {"population": 30, "generations": 3, "quantile": 0.4},
        {"population": 7, "generations": 3, "quantile": 0.5, "least_accepted": 0.25, "seed": 3},
        {"population": 8, "generations": 2, "quantile": 0.3, "regression": False, "draws": 4},
    ],
    ids=["large", "small", "without regression"],
)
def test_abc_smc(model, options):
    _, found = require_same(methods.abc_smc(2, **options), abc_by_hand(2, **options), model)
    assert np.isfinite(found.draws).all()


def test_abc_smc_of_one_parameter_that_accepts_little():
    """A batch has four populations at most, and half a population at least."""
    sizes = set()
    for seed in range(4):
        options = {
            "population": 9,
            "generations": 4,
            "quantile": (0.2, 0.5)[seed % 2],
            "seed": seed,
        }
        method = methods.abc_smc(1, **options, least_accepted=0.01)
        twin = abc_by_hand(1, **options, least_accepted=0.01)
        asked, _ = require_same(method, twin, lambda unit, _: answered(np.abs(unit - 0.3)))
        sizes |= {len(one) for one in asked}
    assert min(sizes) == 4 and max(sizes) == 36


@pytest.mark.parametrize(("count", "generations"), [(3, 1), (4, 3), (5, 3)])
def test_abc_smc_needs_two_points_more_than_parameters(count, generations):
    options = {"population": 12, "generations": 3, "quantile": 0.5, "seed": 2}
    method, twin = methods.abc_smc(2, **options), abc_by_hand(2, **options)
    _, found = require_same(method, twin, only(count))
    assert len(found.trace) == generations


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_abc_smc_stops_where_nothing_can_be_nearer(value):
    options = {"population": 9, "generations": 3, "quantile": 0.5}
    method, twin = methods.abc_smc(2, **options), abc_by_hand(2, **options)
    asked, _ = require_same(method, twin, constant(value))
    assert len(asked) == 1


@pytest.mark.parametrize("most", [1.0, 1.0001])
@pytest.mark.parametrize("population", [6, 7])
def test_abc_smc_adjusts_draws_within_one_scale_of_more_than_three_trials_a_parameter(
    most, population
):
    def model(unit, _):
        found = bowl(unit, 0).residuals[:, :1]
        return answered(most * found / np.sort(np.abs(found).ravel())[population - 1])

    options = {"population": population, "generations": 1, "quantile": 0.5}
    method, twin = methods.abc_smc(2, **options), abc_by_hand(2, **options)
    asked, found = require_same(method, twin, model)
    moved = not (found.draws[:, None] == asked[0]).all(-1).any(1).all()
    assert moved == (most == 1 and population == 7)


def test_a_cloud_without_width_is_moved_by_next_to_nothing():
    x = np.tile([0.5, 0.25], (5, 1))
    root = methods._root(x, np.full(5, 0.2))
    np.testing.assert_allclose(root, 1e-5 * np.eye(2), rtol=1e-9)


def test_regression_ignores_a_statistic_that_says_what_another_says():
    """Two columns that differ by less than rounding of a model: their slopes are not separated."""
    random = np.random.default_rng(4)
    x, weights = random.uniform(0.2, 0.8, (30, 2)), random.random(30)
    one = (x[:, :1] - 0.5) + 0.1 * random.normal(size=(30, 1))
    distance = np.abs(one[:, 0])
    twice = np.column_stack([one, one * (1 + 1e-11 * random.normal(size=one.shape))])
    expected = adjusted_by_hand(x, one, distance, weights)
    np.testing.assert_allclose(methods.adjusted(x, twice, distance, weights), expected, rtol=1e-6)


def test_regression_never_leaves_the_cube():
    x, away = np.array([[0.5], [0.7], [0.3], [0.5]]), np.array([0, 1e-3, -1e-3, 0])
    for last, expected in ((9, 1 / (1 + math.exp(30))), (-9, 1 / (1 + math.exp(-30)))):
        weights = np.array([1, 1, 1, 1e-20])  # the last has no part in the slope
        away[3] = last
        moved = methods.adjusted(x, away[:, None], np.abs(away), weights)
        assert moved[3, 0] == expected and 0 < expected < 1


# -------------------------------------------------------------------------------------- surrogate


def predicted(known, best, points):
    """Return what a made-up process says, (mean, sd): sd is 0 at some points."""
    mean = float(np.mean(known)) * (0.6 + np.sin(9 * points[:, 0]) * np.cos(5 * points[:, -1]) / 4)
    mean += np.abs(points - best).sum(1) / 4  # so that points near the best are chosen
    return mean, np.where(points[:, 0] > 0.95, 0, 0.02 + points[:, -1] / 20)


def surrogate_by_hand(dims, points, batch, rounds, seed):
    random = np.random.default_rng(seed)
    x = methods._spread(random, max(points, dims + 2), dims)
    y = [*(yield x).distance]
    trace = [min(y)]
    for _ in range(rounds):
        known = [math.log1p(one) for one in y if one < math.inf]
        if len(known) < dims + 2:
            new = random.random((batch, dims))
        else:
            near = x[y.index(min(y))] + 0.1 * random.normal(size=(500, dims))
            near = np.clip(1 - np.abs(1 - np.abs(near) % 2), 1e-9, 1 - 1e-9)
            some = np.concatenate([random.random((1500, dims)), near])
            mean, sd = predicted(known, x[y.index(min(y))], some)
            sd = np.maximum(sd, 1e-9)
            z = (min(known) - mean) / sd
            gain, new = sd * (z * norm.cdf(z) + norm.pdf(z)), []
            for _ in range(batch):
                new.append(some[np.argmax(gain)])
                away = np.array([math.dist(one, new[-1]) for one in some])
                gain = gain * (1 - np.exp(-0.5 * (away / 0.1) ** 2 / dims))
        y += [*(yield np.array(new)).distance]
        x = np.concatenate([x, new])
        trace.append(min(y))
    nearest = np.array(sorted(range(len(y)), key=lambda i: y[i])[:batch])
    return Found(NO_DRAWS, trace, NO_DRAWS, nearest, [])


@pytest.mark.parametrize("model", [bowl, stepped, only(3), only(4), only(5), constant(np.nan)])
def test_surrogate(model, monkeypatch):
    def emulator(known, keys, restarts):
        assert keys == ["p0", "p1"] and restarts == 1 and known.dims == ("run",)
        points = np.column_stack([known["p0"], known["p1"]])
        best, near = points[int(np.argmin(known.values))], bowl(points, 0).distance
        if model is bowl:
            np.testing.assert_allclose(known, np.log1p(near), rtol=1e-12)

        def predict(places):
            assert [*places] == keys and {len(one) for one in places.values()} == {2000}
            said = predicted(known.values, best, np.column_stack([*places.values()]))
            return {"mean": SimpleNamespace(values=said[0]), "sd": SimpleNamespace(values=said[1])}

        return SimpleNamespace(predict=predict)

    monkeypatch.setattr(societies.analysis.emulation, "emulator", emulator)
    for points in (2, 3, 12):
        options = {"points": points, "batch": 3, "rounds": 3, "seed": points}
        require_same(methods.surrogate(2, **options), surrogate_by_hand(2, **options), model)


# ---------------------------------------------------------------------------------- least squares


def least_squares_by_hand(dims, starts, iterations, step, seed):
    """Levenberg and Marquardt: (J'J + damping diag(J'J)) move = J'r."""
    random = np.random.default_rng(seed)
    x = methods._spread(random, starts, dims)
    answer = yield x
    r, best = np.where(np.isnan(answer.residuals), 1e3, answer.residuals), [*answer.distance]
    damping, trace = [0.01] * starts, [min(best)]
    for _ in range(iterations):
        steps = [[-step if place + step >= 1 else step for place in point] for point in x]
        moved = [x[k] + steps[k][i] * np.eye(dims)[i] for k in range(starts) for i in range(dims)]
        said = (yield np.array(moved)).residuals.reshape(starts, dims, -1)
        said = np.where(np.isnan(said), 1e3, said)
        tried = np.empty_like(x)
        for k in range(starts):
            jacobian = np.array([(said[k, i] - r[k]) / steps[k][i] for i in range(dims)]).T
            square = jacobian.T @ jacobian
            damped = square + damping[k] * np.diag(np.diag(square))
            tried[k] = np.clip(x[k] - np.linalg.pinv(damped) @ jacobian.T @ r[k], 1e-6, 1 - 1e-6)
        answer = yield tried
        for k in range(starts):
            if answer.distance[k] < best[k]:
                x[k], best[k], damping[k] = tried[k], answer.distance[k], damping[k] / 3
                r[k] = np.where(np.isnan(answer.residuals[k]), 1e3, answer.residuals[k])
            else:
                damping[k] *= 4
        trace.append(min(best))
    return Found(NO_DRAWS, trace, NO_DRAWS, np.empty(0, np.int64), [])


def failing_later(unit, first):
    """A model of which a statistic without weight in the distance has no number at times."""
    found = bowl(unit, 0)
    residuals = np.column_stack([found.residuals, np.where(unit[:, 0] > 0.5, np.nan, unit[:, 1])])
    return Answer(found.distance, residuals, residuals, found.cells)


@pytest.mark.parametrize(
    "model", [bowl, failing, failing_later, stepped, at_the_corner], ids=lambda m: m.__name__
)
@pytest.mark.parametrize("step", [0.02, 0.3, 1e-6])
def test_least_squares(model, step):
    options = {"starts": 4, "iterations": 6, "step": step, "seed": 2}
    require_same(methods.least_squares(2, **options), least_squares_by_hand(2, **options), model)


# ------------------------------------------------------------------------ profiles and patterns


def profiles_by_hand(dims, bins, batch, rounds, seed):
    random = np.random.default_rng(seed)
    nearest, trace, count = {}, [], 0  # (parameter, interval): distance, point, trial
    asked = methods._spread(random, max(batch, bins), dims)
    for turn in range(1, rounds + 1):
        answer = yield asked
        for point, distance in zip(asked, answer.distance, strict=True):
            for i in range(dims):
                place = i, min(int(point[i] * bins), bins - 1)
                if distance < nearest.get(place, (np.inf,))[0]:
                    nearest[place] = distance, point, count
            count += 1
        trace.append(sum(one[0] for one in nearest.values()) / (dims * bins))
        if turn == rounds:
            break
        if not nearest:
            asked = random.random((batch, dims))
            continue
        known = [nearest[place][1] for place in sorted(nearest)]
        pair = [random.integers(len(known), size=batch) for _ in range(2)]
        of_first = random.random((batch, dims)) < 0.7
        mixed = [
            [known[pair[0 if of_first[n, i] else 1][n]][i] for i in range(dims)]
            for n in range(batch)
        ]
        asked = methods._reflected(np.array(mixed) + 0.08 * random.normal(size=(batch, dims)))
        which, place = random.integers(dims, size=batch), random.integers(bins, size=batch)
        for n, within in enumerate(random.random(batch)):
            asked[n, which[n]] = (place[n] + within) / bins
    least = [[nearest.get((i, k), (np.inf,))[0] for k in range(bins)] for i in range(dims)]
    trials = np.array(sorted({one[2] for one in nearest.values()}), np.int64)
    return Found(NO_DRAWS, trace, np.array(least), trials, [])


@pytest.mark.parametrize("model", [bowl, failing, stepped, constant(np.nan), constant(0.5)])
@pytest.mark.parametrize("batch", [3, 12])
def test_profiles(model, batch):
    options = {"bins": 6, "batch": batch, "rounds": 4, "seed": 3}
    require_same(methods.profiles(2, **options), profiles_by_hand(2, **options), model)


def test_the_end_of_the_cube_is_in_the_last_interval(monkeypatch):
    """An interval is chosen and a place in it: both can round to the end of the cube."""
    method = methods.profiles(1, bins=3, batch=3, rounds=1)
    next(method)[:] = np.array([[1.0], [0.5], [1 / 3]])
    with pytest.raises(StopIteration) as end:
        method.send(answered(np.array([[1.0], [2.0], [1.5]])))
    assert end.value.value.profile.tolist() == [[np.inf, 1.5, 1.0]]


def pattern_space_by_hand(dims, batch, rounds, seed):
    random = np.random.default_rng(seed)
    found, count, trace = {}, 0, []  # pattern: hits, first point, its trial
    asked = methods._spread(random, batch, dims)
    for turn in range(1, rounds + 1):
        answer = yield asked
        for i, pattern in enumerate(map(tuple, answer.cells.tolist())):
            if all(math.isfinite(one) for one in answer.statistics[i]):
                hits, *first = found.get(pattern, (0, asked[i], count + i))
                found[pattern] = hits + 1, *first
        count += batch
        trace.append(float(len(found)))
        if turn == rounds:
            break
        if not found:
            asked = random.random((batch, dims))
            continue
        rare = np.array([1 / hits for hits, *_ in found.values()])
        chosen = random.choice(len(found), batch, p=rare / rare.sum())
        parents = np.array([[*found.values()][k][1] for k in chosen])
        asked = methods._reflected(parents + 0.15 * random.normal(size=(batch, dims)))
    trials = np.array(sorted(one[2] for one in found.values()), np.int64)
    return Found(NO_DRAWS, trace, NO_DRAWS, trials, [f"{len(found)} patterns were found"])


@pytest.mark.parametrize("model", [bowl, failing, stepped, constant(np.nan), constant(0.5)])
def test_pattern_space(model):
    options = {"batch": 20, "rounds": 4, "seed": 5}
    require_same(methods.pattern_space(2, **options), pattern_space_by_hand(2, **options), model)
