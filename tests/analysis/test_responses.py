"""Are impulse responses those that a few lines of xarray give?"""

import json

import numpy as np
import pytest

from societies import analysis
from societies.analysis import make_figure
from societies.errors import ConfigError
from tests.analysis.test_effects import DAYS, SOCIETIES, result
from tests.analysis.test_figures import study

AFTER = 10


def decaying(half=3.9, scale=1.0):
    """Return a run and its twin, whose response halves every ``half`` days after its peak."""
    base, other = result(), result(change=1e-9)
    horizon = np.arange(1, DAYS - AFTER + 1)
    shape = np.where(horizon < 3, horizon / 3.0, 0.5 ** ((horizon - 3) / half))
    random = np.random.default_rng(2).normal(1, 0.2, (SOCIETIES, 1))
    other["x"][:] = base.x.values
    other["x"][:, AFTER:] += scale * random * shape
    return base, other


def test_responses_are_those_of_xarray_by_hand():
    base, other = decaying()
    found = analysis.irf(base, other, "x", after=AFTER, size=0.5).sel(state="all", variable="x")
    difference = (other.x - base.x).sel(day=slice(AFTER + 1, None))
    level = difference.mean("society") / 0.5
    np.testing.assert_allclose(found.level, level)
    before = base.x.sel(day=slice(AFTER + 1, None)).mean("society")
    np.testing.assert_allclose(found.relative, difference.mean("society") / before)
    np.testing.assert_allclose(found["cumulative"], level.cumsum("day"))
    assert found.horizon.values.tolist() == list(range(1, DAYS - AFTER + 1))
    peak = int(abs(level).argmax("day"))
    assert float(found.peak) == pytest.approx(float(level[peak]))
    assert int(found.peak_at) == peak + 1 == 3
    assert float(found.half_life) == 4
    # The band of a mean is that of its bootstrap, which Student's interval comes close to.
    ends = analysis.mean_interval(difference / 0.5)
    for word in ("low", "high"):
        near = abs(found[f"level_{word}"].values - ends[word].values)
        assert (near < 0.2 * (ends.high - ends.low).values + 1e-12).all()
    short = analysis.irf(base, other, "x", after=AFTER, horizon=5)
    assert short.sizes["horizon"] == 5 and np.isnan(short.half_life.values).all()


def test_societies_are_divided_by_their_state_on_the_day_of_the_shock():
    base, other = decaying()
    found = analysis.irf(base, other, "x", after=AFTER, by="same", states=3)
    at = base.same.sel(day=AFTER).values
    order = np.quantile(at, [1 / 3, 2 / 3])
    rows = [at <= order[0], (at > order[0]) & (at <= order[1]), at > order[1]]
    assert found.pairs.values.tolist() == [SOCIETIES, *(int(one.sum()) for one in rows)]
    assert found.state.values[0] == "all" and found.state.values[1].startswith("same up to")
    for place, own in enumerate(rows, 1):
        expected = (other.x - base.x)[own].sel(day=slice(AFTER + 1, None)).mean("society")
        np.testing.assert_allclose(found.level[place, 0], expected)


def test_what_is_no_response_is_refused():
    base, other = decaying()
    with pytest.raises(ConfigError, match="differ from day 11 on, before the shock"):
        analysis.irf(base, other, "x", after=15)
    with pytest.raises(ConfigError, match="no day after 30"):
        analysis.irf(base, other, "x", after=DAYS)
    with pytest.raises(ConfigError, match="'y': the file has no such variable"):
        analysis.irf(base, other, "x", after=AFTER, by="y")
    with pytest.raises(ConfigError, match="take more replicates, or fewer states"):
        analysis.irf(base, other, "x", after=AFTER, by="same", states=12)
    with pytest.warns(match="no pairs"), pytest.raises(ConfigError, match="needs twins"):
        analysis.irf(base, other.assign_attrs(seed=2), "x", after=AFTER)


def test_a_study_of_shocks_has_a_table_and_a_figure(shell, monkeypatch):
    points = {"interventions": ["[]", '[{"label": "loss", "day": 10}]']}
    data = study(points, [10.0, 30.0], replicates=3)
    data = data.assign_coords(society=data.society.copy(data=[0, 1, 2] * 2))
    data["utility"][:, 0] = data.utility[0:1, 0].values  # day 10 is that of the shock
    data["gini"][:, 0] = 1.0
    figure = make_figure(data, "irf", variables="utility", horizon=10)
    (axes,) = figure.axes
    assert axes.lines[0].get_xdata().tolist() == [10] and axes.lines[0].get_ydata()[0] == 20
    assert "level response: mean of 3 twins" in figure._supxlabel.get_text()
    relative = make_figure(data, "irf", variables="utility", response="relative")
    assert relative.axes[0].lines[0].get_ydata()[0] == pytest.approx(2)
    with pytest.raises(ConfigError, match="choose one of 'level'"):
        make_figure(data, "irf", response="log")
    from societies.analysis import effects

    monkeypatch.setattr(effects, "open_results", lambda path: data)
    code, out, err = shell("irf", "s.h5", "--variables", "utility", "--json")
    (said,) = json.loads(out)
    assert (code, err) == (0, "")
    assert (said["shock"], said["peak"], said["peak_at"], said["pairs"]) == ("loss", 20, 10, 3)
    code, out, _ = shell("irf", "s.h5", "--variables", "utility")
    assert code == 0 and "half-life" in out and "loss" in out


def test_a_configuration_and_its_shocks_become_one_study(tmp_path, shell):
    file = tmp_path / "tiny.yaml"
    file.write_text("workload: boltzmann\nagents: 16\ndays: 12\n")
    shock = "{day: 5, until: 6, label: large, set: {amount: 40}}"
    study = tmp_path / "tiny-irf.h5"
    asked = ("irf", str(file), "--shock", shock, "--replicates", "4", "--out", str(study))
    code, out, _ = shell(*asked, "--device", "reference", "--json")
    assert code == 0
    found = json.loads(out)
    assert {one["shock"] for one in found} == {"large"} and found[0]["pairs"] == 4
    assert found[0]["horizon"] == [1, 2, 3, 4, 5, 6, 7]
    assert any(value for one in found for value in one["level"])
    assert shell("irf", str(file), str(file), "--shock", shock)[0] == 2


def test_a_missing_response_is_no_response_of_0():
    base, other = decaying()
    other["x"][:, AFTER + 3] = np.nan  # the first day after the peak
    found = analysis.irf(base, other, "x", after=AFTER, size=0.5).sel(state="all", variable="x")
    assert (int(found.peak_at), float(found.half_life)) == (3, 4) and np.isnan(found.level[3])
    other["x"][:, AFTER:] = np.nan
    found = analysis.irf(base, other, "x", after=AFTER).sel(state="all", variable="x")
    for name in ("peak", "peak_at", "half_life"):
        assert np.isnan(float(found[name])), name


@pytest.mark.parametrize("both", [True, False])
def test_an_infinite_value_is_not_left_out_of_a_response(both):
    base, other = decaying()
    other["x"][2, AFTER + 1] = np.inf
    if both:
        base["x"][2, AFTER + 1] = np.inf
    found = analysis.irf(base, other, "x", after=AFTER).sel(state="all", variable="x")
    assert np.isfinite(found.level[0]) and np.isnan(found.level[1])
    assert np.isnan(found["cumulative"][1:]).all() and np.isnan(float(found.peak))
