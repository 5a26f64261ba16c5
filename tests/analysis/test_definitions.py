"""Are recovery, chosen ticks, indices, effects and emulators as they are defined?

Each is computed a second time here: by a loop over single numbers, by the formula of its source, or
by the library that is behind it, from numbers at random.
"""

import itertools
import math

import numpy as np
import pytest
import xarray as xr
from SALib.analyze import sobol as salib_sobol
from SALib.sample import morris as morris_sample
from SALib.sample import sobol as sobol_sample

from societies import analysis
from societies.analysis import selecting
from societies.errors import ConfigError
from societies.workload.running.registry import workload

NAMES = ["x1", "x2", "x3"]
BOX = {"num_vars": 3, "names": NAMES, "bounds": [[-1, 1], [0, 10], [2, 3]]}


# ---------------------------------------------------------------- recovery


def recovered(values, ticks, at, to, before, hold):
    """Return time, level, lowest and loss of one series, tick by tick."""
    known = [(t, v) for t, v in zip(ticks, values, strict=True) if not math.isnan(v)]
    earlier = [v for t, v in known if at - before < t <= at]
    later = [(t, v) for t, v in known if t > at]
    level = sum(earlier) / len(earlier) if earlier else math.nan
    lowest = min((v for _, v in later), default=math.nan)
    if not level > 0 or not later:
        return math.nan, level if level > 0 else math.nan, lowest, math.nan
    loss = (level - lowest) / level
    fallen = [i for i, (_, v) in enumerate(later) if v < to * level]
    if not fallen:
        enough = later[-1][0] >= at + hold
        return 0 if enough else math.nan, level, lowest, loss
    for i in range(fallen[0], len(later)):
        held = [(t, v) for t, v in later[i:]]
        good = list(itertools.takewhile(lambda one: one[1] >= to * level, held))
        if good and good[-1][0] - later[i][0] >= hold - 1:
            return later[i][0] - (at + 1), level, lowest, loss
    return math.nan, level, lowest, loss


def test_recovery_is_that_of_a_loop_over_the_ticks():
    random = np.random.default_rng(11)
    seen = []
    for case in range(40):
        every = int(random.choice([1, 1, 2, 5]))
        ticks = np.arange(every, 60 + 1, every)
        at, before, hold = int(random.integers(8, 40)), int(random.integers(6, 15)), 4
        values = random.integers(0, 4, (2, 3, len(ticks))) + 1.0
        values[:, :, (ticks > at) & (ticks < at + 9)] -= 1.0
        values[0][random.random((3, len(ticks))) < 0.1] = np.nan
        values[1, 2] = 0.0
        clock = ["day", "agent_day", "step"][case % 3]
        dims = ("society", "kind", clock)
        data = xr.DataArray(
            values, dims=dims, coords={clock: ticks}, name="gini", attrs={"units": "u"}
        )
        to = float(random.choice([0.5, 0.8, 1.0]))
        options = {"to": to, "before": before, "hold": hold}
        if clock == "step":
            options["clock"] = clock
        mixed = data.transpose(clock, ...).isel({clock: random.permutation(len(ticks))})
        found = analysis.recovery_time(mixed, at=at, **options)
        right = [[recovered(row, ticks, at, to, before, hold) for row in rows] for rows in values]
        for i, name in enumerate(("recovery_time", "level", "lowest", "loss")):
            expected = np.array(right)[..., i]
            np.testing.assert_allclose(
                found[name].transpose("society", "kind"), expected, err_msg=name
            )
        seen += np.array(right)[..., 0].ravel().tolist()
        assert found.attrs == {"of": "gini", "shock": at}
        assert found.recovery_time.attrs["units"] == clock and found.level.attrs["units"] == "u"
        assert found.loss.attrs["units"] == "1"
    assert {0.0} < set(seen) and sum(map(math.isnan, seen)) > 10 and len(set(seen)) > 12


def test_recovery_needs_ticks_on_both_sides_of_the_shock():
    data = xr.DataArray(np.ones(20), dims="day", coords={"day": np.arange(1, 21)}, name="gini")
    assert analysis.recovery_time(data, at=10).recovery_time == 0  # ten days after it
    for at in (0, 11, 20, 30):
        with pytest.raises(
            ConfigError, match=f"at={at}: needs a day before and 10 after; .* 1 to 20"
        ):
            analysis.recovery_time(data, at=at)
    with pytest.raises(ConfigError, match="the file has none"):
        analysis.recovery_time(data[:0], at=3)
    with pytest.raises(ConfigError, match="'gini' has no dimension 'round'"):
        analysis.recovery_time(data, at=10, clock="round")
    # A shorter run of a study ends in missing values: it is unknown whether it falls later.
    shorter = data.where(data.day < 20)
    assert np.isnan(analysis.recovery_time(shorter, at=10).recovery_time)
    unnamed = analysis.recovery_time(data.rename(None), at=10)
    assert unnamed.attrs == {"of": "", "shock": 10}


# ---------------------------------------------------------------- ticks


def test_ticks_of_a_range_are_those_of_a_list():
    random = np.random.default_rng(12)
    for _ in range(60):
        every = int(random.integers(1, 4))
        ticks = list(range(every, 21, every))
        data = xr.Dataset({"gini": ("day", ticks)}, {"day": ticks})
        first, last, step = (int(one) for one in random.integers((0, 5, 1), (12, 25, 5)))
        first = None if random.random() < 0.2 else first
        last = None if random.random() < 0.2 else last
        begin = ticks[0] if first is None else first
        end = ticks[-1] if last is None else last
        right = [t for t in ticks if begin <= t <= end and (t - begin) % step == 0]
        text = f"{'' if first is None else first}:{'' if last is None else last}:{step}"
        for asked in (text, slice(first, last, step)):
            if right:
                assert selecting.with_ticks(data, asked).day.values.tolist() == right
            else:
                said = text if isinstance(asked, str) else f"{first}:{last}:{step}"
                with pytest.raises(ConfigError, match=f"ticks='?{said}'?: none of the days"):
                    selecting.with_ticks(data, asked)


def test_ticks_that_are_none_of_a_file():
    data = xr.Dataset({"gini": ("day", [1, 2])}, {"day": [1, 2]})
    assert selecting.with_ticks(data, None) is data
    assert selecting.with_ticks(data, [2, 5]).day.values.tolist() == [2]
    for asked in ("1:2:0", "1:2:-1", "1:2:", "1:2:3:4", "", "x", "1,,2", "--1"):
        with pytest.raises(ConfigError, match="expected a range such as 1:300 or 1:300:10"):
            selecting.with_ticks(data, asked)
    for asked, said in ((slice(5, 9), "5:9"), (slice(5, 9, 2), "5:9:2"), (7, "7"), ([], r"\[\]")):
        with pytest.raises(ConfigError, match=f"ticks=.*{said}.*: none of the days .* are 1 to 2"):
            selecting.with_ticks(data, asked)
    with pytest.raises(ConfigError, match="which are none yet"):
        selecting.with_ticks(data.isel(day=slice(0)), "1:3")
    no_clock = xr.Dataset({"x": ("a_day", [1, 2])})  # a dimension without numbers of its ticks
    assert selecting.with_ticks(no_clock, "1").identical(no_clock)


@pytest.mark.parametrize(
    ("dims", "attrs", "copies"),
    [
        (["society", "day"], {}, "society"),
        (["run", "day"], {}, "run"),
        (["run", "society"], {}, "society"),
        (["plate"], {"copies": "plate"}, "plate"),
        (["run", "x"], {"copies": "plate"}, "run"),
        (["day"], {}, "society"),
    ],
)
def test_copies_are_those_of_the_file_or_the_runs_of_a_study(dims, attrs, copies):
    data = xr.Dataset({"x": (dims, np.zeros([2] * len(dims)))}, attrs=attrs)
    assert selecting.copies_of(data) == copies


def test_names_are_distinguished_and_a_workload_by_its_headlines():
    assert selecting.names(" a, b,,a ,c") == ["a", "b", "c"]
    assert selecting.names(["b", " ", "a", "b "]) == ["b", "a"]
    with pytest.raises(ConfigError, match=r"variables='gimi': .*; did you mean 'gini'"):
        raise selecting.unknown("gimi", ["utility", "gini"])
    economy = workload("economy")
    whole = xr.Dataset(dict.fromkeys(economy.headlines(), 1.0))
    assert selecting.workload_of(whole) is economy
    assert selecting.workload_of(whole.drop_vars("gini")) is None
    assert selecting.workload_of(whole.assign_attrs(configuration="workload: blur")).name == "blur"
    assert selecting.workload_of(xr.Dataset()) is None
    with pytest.raises(ConfigError, match="'the array' has no dimension 'day'; it has none"):
        selecting.require_dims(xr.DataArray(1.0), "day")


# ---------------------------------------------------------------- indices and effects


def study(x, y, names=NAMES, **more):
    coords = {name: ("run", column) for name, column in zip(names, x.T, strict=True)}
    return xr.DataArray(y, dims="run", name="gini", coords={**coords, **more})


def bent(x):
    return x[:, 0] * x[:, 1] + np.sin(3 * x[:, 2]) + x[:, 1] ** 2 / 9


def test_effects_are_the_differences_of_neighbours():
    """Over the step as a part of the parameter's range; all of Morris's measures by the formula."""
    x = morris_sample.sample(BOX, 15, num_levels=4, seed=3)
    y = bent(x)
    found = analysis.morris(study(x, y), resamples=100, level=0.9, seed=4)
    unit = (x - [-1, 0, 2]) / [2, 10, 1]
    effects = [[], [], []]
    for i in range(0, len(x), 4):
        for j in range(i, i + 3):
            (moved,) = np.flatnonzero(np.abs(unit[j + 1] - unit[j]) > 1e-9)
            effects[moved].append((y[j + 1] - y[j]) / (unit[j + 1] - unit[j])[moved])
    np.testing.assert_allclose(found.mu, np.mean(effects, 1))
    np.testing.assert_allclose(found.mu_star, np.mean(np.abs(effects), 1))
    np.testing.assert_allclose(found.sigma, np.std(effects, 1, ddof=1))
    np.testing.assert_allclose(found.mu_star_high + found.mu_star_low, 2 * found.mu_star)
    assert (found.mu_star_high > found.mu_star_low).all()
    assert found.attrs == {"of": "gini", "interval": "0.9 interval, 100 bootstrap samples"}
    assert found.mu.attrs == {
        "units": "1",
        "long_name": "mean elementary effect of the parameter's whole range",
    }
    assert found.mu_star_low.attrs["long_name"] == "mean size of the elementary effects: low end"
    assert found.mu_star_high.attrs["long_name"] == "mean size of the elementary effects: high end"
    utility = study(x, y).assign_attrs(units="util").rename(None)
    again = analysis.morris(utility, resamples=100)
    assert again.sigma.attrs["units"] == "util" and again.attrs["of"] == ""


def test_indices_are_those_of_the_estimators():
    """Saltelli's of the first order, Jansen's of the total; the intervals are SALib's."""
    x = sobol_sample.sample(BOX, 32, calc_second_order=True, seed=3)
    y = bent(x)
    found = analysis.sobol(study(x, y), second_order=True, resamples=50, level=0.9, seed=4)
    rows = y.reshape(-1, 8)
    a, b, ab = rows[:, 0], rows[:, -1], rows[:, 1:4]
    variance = np.var([a, b])
    scaled = (b - y.mean())[:, None]
    np.testing.assert_allclose(found.first, np.mean(scaled * (ab - a[:, None]), 0) / variance)
    np.testing.assert_allclose(found.total, 0.5 * np.mean((a[:, None] - ab) ** 2, 0) / variance)
    library = salib_sobol.analyze(
        BOX, y, calc_second_order=True, num_resamples=50, conf_level=0.9, seed=5
    )
    for name, key in (("first", "S1"), ("total", "ST"), ("second", "S2")):
        np.testing.assert_allclose(found[f"{name}_low"], library[key] - library[f"{key}_conf"])
        np.testing.assert_allclose(found[f"{name}_high"], library[key] + library[f"{key}_conf"])
    assert found.second.dims == ("parameter", "with_parameter")
    assert found.with_parameter.values.tolist() == NAMES
    assert found.first_low.attrs == {
        "units": "1",
        "long_name": "part of the variance explained by the parameter alone: low end",
    }


def test_texts_are_parameters_too():
    """They are numbered in the order of the alphabet, whatever their distances."""
    x = morris_sample.sample(BOX, 12, num_levels=2, seed=1)
    texts = np.where(x[:, 0] > 0, "zebra", "ant")
    data = study(x, 3.0 * (x[:, 0] > 0)).assign_coords(x1=("run", texts))
    np.testing.assert_allclose(analysis.morris(data, resamples=5).mu, [3, 0, 0], atol=1e-9)


def test_what_varies_and_in_which_order():
    data = xr.Dataset(
        {"gini": ("run", [1.0, 2.0, 3.0])},
        {
            "a": ("run", [1, 1, 2]),
            "b": ("run", [4, 4, 4]),
            "c": ("run", ["u", "v", "w"]),
            "vary.point": ("run", [1, 2, 3]),
            "seed": ("run", [1, 2, 3]),
            "n": ("run", [1, 2, 3], {"long_name": "number of the society"}),
            "other": ("kind", [1, 2]),
        },
    )
    assert analysis.varied(data) == ["a", "c", "vary.point"]
    assert analysis.varied(data.assign_attrs(vary="c, a")) == ["c", "a", "vary.point"]
    assert analysis.varied(data.gini) == ["a", "c", "vary.point"]


# ---------------------------------------------------------------- emulators


@pytest.fixture(scope="module")
def made():
    random = np.random.default_rng(5)
    x = random.uniform(-1, 1, (20, 3))
    y = 4 + 3 * x[:, 0] + x[:, 1] ** 2 + random.normal(0, 0.1, 20)
    outcome = study(x, y).assign_attrs(units="util")
    return x, y, analysis.emulator(outcome, restarts=0), analysis.emulator(outcome, restarts=0)


def test_a_prediction_is_that_of_its_process(made):
    """Mean and variance by the formulas of Gaussian processes, without the noise of a run."""
    x, y, emulator, again = made
    new = np.random.default_rng(6).uniform(-0.9, 0.9, (7, 3))
    found = emulator.predict(dict(zip(NAMES, new.T, strict=True)))
    unit, at = ((one - x.min(0)) / (x.max(0) - x.min(0)) for one in (x, new))
    kernel = emulator._process._kernel
    noise = np.linalg.inv(emulator._process._inverse) - kernel(unit)
    np.testing.assert_allclose(noise, np.diag(np.diag(noise)), atol=1e-6)
    across = kernel(at, unit)
    weights = np.linalg.solve(kernel(unit) + noise, (y - y.mean()) / y.std())
    np.testing.assert_allclose(found["mean"], y.mean() + y.std() * (across @ weights), rtol=1e-6)
    less = np.diag(across @ np.linalg.solve(kernel(unit) + noise, across.T))
    sd = y.std() * np.sqrt(kernel.diag(at) - less)
    np.testing.assert_allclose(found.sd, sd, rtol=1e-5)
    assert (found.sd > 0).all() and kernel.k2.nu == 2.5
    assert found["mean"].attrs == {"units": "util", "long_name": "expected gini"}
    assert found.x2.values.tolist() == new[:, 1].tolist()
    assert (emulator.outcome, emulator.units, emulator.names) == ("gini", "util", tuple(NAMES))
    np.testing.assert_array_equal([emulator.low, emulator.high], [x.min(0), x.max(0)])
    assert again.q2 == emulator.q2
    one = emulator.predict({"x1": 0.1, "x2": 0.2, "x3": 0.3})
    assert one.sizes == {"point": 1}


def test_points_that_are_none_are_refused(made):
    _, _, emulator, _ = made
    with pytest.raises(ConfigError, match="points: needs values of x1, x2, x3"):
        emulator.predict({"x1": 0.0, "x2": 0.0})
    with pytest.raises(ConfigError, match="different numbers of values"):
        emulator.predict({"x1": [0.0, 1.0], "x2": [0.0, 1.0], "x3": [0.0]})


def test_outcomes_that_are_none_are_refused():
    x = np.random.default_rng(7).uniform(0, 1, (8, 3))
    flat = analysis.emulator(study(x, np.full(8, 2.5)).rename(None), restarts=0)
    assert flat.q2 == 0.0 and flat.outcome == "outcome"
    np.testing.assert_allclose(flat.predict(dict.fromkeys(NAMES, 0.5))["mean"], 2.5)
    days = study(x, x[:, 0]).expand_dims(day=2)
    with pytest.raises(ConfigError, match="'gini' has the dimensions day, run; choose one number"):
        analysis.emulator(days)
    for bad in (["x1", "words"], ["x1", "x9"]):
        words = study(x, x[:, 0], words=("run", list("abcdefgh")))
        with pytest.raises(
            ConfigError, match=f"'{bad[1]}' is not a key of the study that has numbers"
        ):
            analysis.emulator(words, bad)
    for names, data in (([], study(x, x[:, 0])), (None, xr.DataArray([1.0], dims="run"))):
        with pytest.raises(ConfigError, match="needs parameters that have several values"):
            analysis.emulator(data, names)


# ---------------------------------------------------------------- values that are no measure


def test_of_an_infinite_sum_a_measure_is_missing():
    """Theil's index, top shares and the HHI were 0, which is equality, and Atkinson's index 1."""
    for values in ([math.inf, 1.0], [1e308, 1e308], []):
        data = xr.DataArray(np.array(values), dims="agent", name="wealth")
        for measure in ("gini", "theil", "atkinson", "top_share", "hhi", "lorenz"):
            assert np.isnan(getattr(analysis, measure)(data)).all(), measure


def test_options_without_a_meaning_are_refused():
    """They gave numbers, or an error of NumPy."""
    days = xr.DataArray(np.ones(30), dims="day", coords={"day": np.arange(1, 31)}, name="x")
    agents = xr.DataArray([1.0, 2.0, 3.0], dims="agent", name="x")
    societies = xr.DataArray([1.0, 2.0], dims="society", name="x")
    for message, call in {
        "hold=-5: must be at least 1": lambda: analysis.recovery_time(days, at=10, hold=-5),
        "before=0: must be at least 1": lambda: analysis.recovery_time(days, at=10, before=0),
        "to=-1: must be above 0": lambda: analysis.recovery_time(days, at=10, to=-1),
        "epsilon=inf: must be above 0, and": lambda: analysis.atkinson(agents, epsilon=math.inf),
        "bins=0: must be at least 1": lambda: analysis.kuznets(agents, agents, bins=0),
        "resamples=0: must": lambda: analysis.mean_interval(societies, resamples=0),
        "'society' is empty": lambda: analysis.mean_interval(societies[:0]),
        "the dimension 'society' is empty": lambda: analysis.quantile_interval(societies[:0]),
    }.items():
        with pytest.raises(ConfigError, match=message):
            call()
    assert analysis.quantile_interval(societies > 1)["median"] == 0.5
