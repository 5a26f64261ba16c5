"""Are impulse responses those that a few lines of xarray give?"""

import json

import numpy as np
import pytest
import yaml

import societies
from societies import analysis
from societies.analysis import make_figure
from societies.errors import ConfigError
from societies.sweep.shocks import study_of_shocks
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


@pytest.mark.parametrize("size", [0, np.nan, np.inf, -np.inf])
def test_a_response_is_per_a_finite_size_other_than_0(size):
    with pytest.raises(ConfigError, match="expected a finite number that is not 0"):
        analysis.irf(*decaying(), "x", after=AFTER, size=size)


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
    assert analysis.irf(base, other, "x", after=np.int64(AFTER)).sizes["horizon"] == DAYS - AFTER
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
    with pytest.raises(ConfigError, match="by='y': the file has no such variable"):
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
    said = " ".join(figure._supxlabel.get_text().split())
    assert "level response: mean of 3 twins, 95 % interval (bootstrap)" in said
    lower = make_figure(data, "irf", variables="utility", level=0.8)
    assert "80 % interval (bootstrap)" in " ".join(lower._supxlabel.get_text().split())
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
    code, out, _ = shell("irf", "s.h5", "--variables", "utility", "--level", "0.8")
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


def test_mistakes_of_shocks_are_named_as_they_were_given(tmp_path, shell):
    file, out = tmp_path / "tiny.yaml", tmp_path / "none.h5"
    file.write_text("workload: boltzmann\nagents: 16\ndays: 12\n")
    late, ends = "{day: 30, set: {amount: 4}}", "{day: 5, until: 3, set: {amount: 4}}"
    unknown = "{day: 5, set: {amuont: 4}}"
    asked = ("irf", str(file), "--replicates", "2", "--out", str(out))
    code, _, error = shell(*asked, "--shock", late)
    assert code == 2 and "--shock  day: must be before the last day, 12, got 30\n" in error
    code, _, error = shell(*asked, "--shock", ends, "--shock", unknown)
    assert code == 2 and "interventions" not in error and not out.exists()
    assert "--shock 1  until: must be after day 5, on which it begins, got 3\n" in error
    assert "--shock 2  set.amuont: unknown key; did you mean 'amount'?\n" in error


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


def with_agents():
    """Return two twins whose six agents respond the more the more they have on the day before."""
    base, other = decaying()
    own = np.arange(6.0) + np.random.default_rng(3).permutation(SOCIETIES)[:, None]
    level = np.broadcast_to(own[:, None], (SOCIETIES, DAYS, 6)).copy()
    later = level.copy()
    later[:, AFTER:] -= own[:, None] / 10
    dims = ("society", "day", "agent")
    return base.assign(owns=(dims, level)), other.assign(owns=(dims, later)), own


def test_agents_are_divided_by_their_state_within_each_society():
    base, other, own = with_agents()
    found = analysis.irf(base, other, after=AFTER, by="owns", states=3)
    assert found.state.values.tolist() == ["all", "owns 1/3, least", "owns 2/3", "owns 3/3, most"]
    assert found["variable"].values.tolist() == ["owns"] and (found.pairs == SOCIETIES).all()
    for place, part in enumerate((slice(0, 6), slice(0, 2), slice(2, 4), slice(4, 6))):
        np.testing.assert_allclose(found.level[place, 0], -own[:, part].mean() / 10)
    other["owns"][:, AFTER:, 0] = np.nan  # an agent that is removed counts in neither mean
    least = analysis.irf(base, other, after=AFTER, by="owns", states=3).level[1, 0]
    np.testing.assert_allclose(least, -own[:, 1].mean() / 10)
    with pytest.raises(ConfigError, match="variables='x': has no number for each agent, by which"):
        analysis.irf(base, other, "x", after=AFTER, by="owns")
    with pytest.raises(ConfigError, match=r"^by='own': the file has no such variable.*'owns'"):
        analysis.irf(base, other, after=AFTER, by="own")
    with pytest.raises(ConfigError, match="no one in it; take fewer states"):
        analysis.irf(base, other, after=AFTER, by="owns", states=40)


def test_each_society_may_have_a_shock_on_a_tick_of_its_own():
    base, other = decaying()
    response = (other.x - base.x).values[:, AFTER:]
    at = {number: 3 + number % 5 for number in base.society.values.tolist()}
    shifted = base.copy(deep=True)
    for number, tick in at.items():
        shifted["x"][number, tick : tick + 8] += response[number, :8]
    found = analysis.irf(base, shifted, "x", after=at, horizon=8).sel(state="all", variable="x")
    np.testing.assert_allclose(found.level, response[:, :8].mean(0))
    assert found.horizon.values.tolist() == list(range(1, 9))
    some = {number: at[number] for number in (1, 4)}
    assert analysis.irf(base, shifted, "x", after=some).pairs.values.tolist() == [2]
    with pytest.raises(ConfigError, match="differ from day 8 on, before the shock at the end"):
        analysis.irf(base, shifted, "x", after=at | {4: 15})
    with pytest.raises(ConfigError, match="no day that is as long after each shock"):
        analysis.irf(base, shifted, "x", after=at | {4: DAYS})
    with pytest.raises(ConfigError, match="no society has a shock"):
        analysis.irf(base, shifted, "x", after={99: 3})


def test_an_asymmetry_is_the_difference_of_responses_per_unit_within_societies():
    base, up = decaying()
    down = base.copy(deep=True)
    down["x"][:] = base.x - 2 * (up.x - base.x)  # twice as large, and otherwise the mirror image
    options = {"after": AFTER, "sizes": (1.0, -2.0)}
    none = analysis.asymmetry(base, up, down, "x", **options).sel(state="all", variable="x")
    for end in ("", "_low", "_high"):
        np.testing.assert_allclose(none[f"level{end}"], 0, atol=1e-12)
    down["x"][:, AFTER:] -= 0.5
    found = analysis.asymmetry(base, up, down, "x", **options).sel(state="all", variable="x")
    np.testing.assert_allclose(found.level, 0.25)
    np.testing.assert_allclose(found.level_high, 0.25)
    fewer = down.isel(society=slice(1, None))
    with pytest.warns(match="1 society without a partner"):
        assert analysis.asymmetry(base, up, fewer, "x", **options).pairs == SOCIETIES - 1


def test_shocks_on_ticks_of_their_own_and_their_sizes(tmp_path, shell):
    file, study = tmp_path / "tiny.yaml", str(tmp_path / "tiny.h5")
    file.write_text("workload: boltzmann\nagents: 16\ndays: 12\n")
    when = "day: {random: [2, 8], lasts: 1}"
    shocks = [f"{{{when}, label: s{n}, set: {{amount: {n}0}}}}" for n in (2, 4)]
    asked = ["irf", str(file), "--replicates", "6", "--out", study, "--device", "reference"]
    asked += [part for one in shocks for part in ("--shock", one)]
    figure = str(tmp_path / "irf.png")
    code, out, _ = shell(*asked, "--size", "1", "--size", "2", "--figure", figure, "--json")
    assert code == 0
    found = {one["shock"]: one for one in json.loads(out)}
    assert [*found] == ["s2", "s4", "s4 less s2"] and found["s2"]["pairs"] == 6
    config = {"workload": "boltzmann", "agents": 16, "days": 12}
    source = study_of_shocks(societies.config_from_dict(config), [yaml.safe_load(shocks[0])], 6)
    _, (*each,) = source["vary"]["grid"]["interventions"]
    days = {number: one["day"] for one in each for number in one["societies"]}
    assert sorted(days) == [*range(6)] and len(each) > 1 and {*days.values()} <= {*range(2, 9)}
    assert all(one["until"] == one["day"] + 1 for one in each)
    first = max(days.values())
    assert found["s2"]["horizon"] == [*range(1, 12 - first + 1)]
    by_hand = societies.open_results(study)
    runs = {int(p): by_hand.isel(run=by_hand.point.values == p) for p in (0, 1)}
    name = found["s2"]["variable"]
    a, b = (one[name].sortby("society").values for one in runs.values())
    steps = [b[k, days[k]] - a[k, days[k]] for k in range(6)]
    assert found["s2"]["level"][0] == pytest.approx(np.mean(steps))
    code, out, err = shell("irf", study, "--size", "1", "--size", "2", "--size", "3")
    assert code == 2 and "3 sizes for 2 shocks" in err


@pytest.mark.parametrize(
    ("shock", "said"),
    [
        ("{day: {random: [5]}, set: {amount: 2}}", r"expected \[FIRST, LAST\]"),
        ("{day: {random: [7, 5]}, set: {amount: 2}}", r"expected \[FIRST, LAST\]"),
        ("{day: {random: [5, 12]}, set: {amount: 2}}", "must be before the last day, 12"),
        ("{day: {given: []}, set: {amount: 2}}", r"day.given: expected whole numbers from 0 on"),
        ("{day: {given: [1.5]}, set: {amount: 2}}", "day.given: expected whole numbers"),
        ("{day: {given: [3], lasts: 0}, set: {amount: 2}}", "day.lasts: expected whole numbers"),
        ("{day: {given: [3]}, until: 5, set: {amount: 2}}", "lasts: N in day"),
        ("{day: {given: [3]}, societies: [1], set: {amount: 2}}", "societies: is not for"),
        ("{day: {given: [3]}, remove: agent, index: 1}", "a removal happens to all societies"),
        ("{day: {ranodm: [3, 4]}, set: {amount: 2}}", "day: expected a number, {random"),
        ("7", "expected an intervention, {day"),
    ],
)
def test_shocks_that_cannot_happen_are_named(shock, said):
    config = societies.config_from_dict({"workload": "boltzmann", "agents": 16, "days": 12})
    with pytest.raises(ConfigError, match=said):
        study_of_shocks(config, [yaml.safe_load(shock)])


def test_of_several_shocks_the_wrong_one_is_named_by_its_number():
    config = societies.config_from_dict({"workload": "boltzmann", "agents": 16, "days": 12})
    for wrong in ({"day": {"random": [5]}, "set": {"amount": 2}}, 7):
        with pytest.raises(ConfigError, match=r"shock 2\b"):
            study_of_shocks(config, [{"day": 3, "set": {"amount": 2}}, wrong])


@pytest.mark.parametrize("figure", ["effect", "irf"])
def test_the_legend_of_several_lines_covers_none(figure):
    policies = ["[]", *(f'[{{"label": "policy {k}", "day": 10}}]' for k in range(3))]
    data = study({"interventions": policies}, [10.0, 30.0, 20.0, 40.0], replicates=3)
    data = data.assign_coords(society=data.society.copy(data=[0, 1, 2] * 4))
    data["utility"][:, 0] = data["gini"][:, 0] = 1.0  # day 10 is that of the shock
    drawn = make_figure(data, figure, variables="utility")
    assert drawn.axes[0].get_legend() is None
    said = {text.get_text() for one in drawn.legends for text in one.get_texts()}
    lines = "mean of 3 pairs" if figure == "effect" else "mean of 3 twins"
    assert {lines, *(f"policy {k}" for k in range(3))} <= said
