"""Do the figures show the numbers? What is compared is the data in matplotlib's artists."""

import re

import numpy as np
import pytest
import scipy.stats
import xarray as xr
import yaml
from SALib.sample import morris as morris_sample
from SALib.sample import sobol as sobol_sample

from societies import analysis
from societies.analysis import make_figure, plot_overview
from societies.analysis.figures import FIGURES, density
from societies.analysis.plot import _require_ticks
from societies.errors import ConfigError, OutputError, SocietiesError
from societies.output import Coordinate, ResultFile, Variable
from societies.output.layout import declare

DAYS, COPIES = 60, 4
SHOCK = "workload: economy\nshocks: [{day: 30, remove: resource, index: 2}]\n"
SOURCES = ["hand", "tool", "machine"]


def run(seed=1, days=DAYS, **attrs):
    """Return a dataset with what the figures of runs show."""
    random = np.random.default_rng(seed)
    dims = ("society", "day")
    level = np.where(np.arange(1, days + 1) > 30, 0.5, 1.0)
    level[45:] = 1.0
    shares = random.dirichlet(np.ones(3), (COPIES, days))
    hhi = np.sort(random.random((COPIES, days, 5)), axis=-1)
    plain = {
        name: (dims, random.normal(mean, 0.01 * mean, (COPIES, days)), {"units": unit})
        for name, mean, unit in (("gini", 0.2, "1"), ("gini_income", 0.4, "1"), ("x", 7, "m"))
    }
    data = xr.Dataset(
        {
            **plain,
            "utility": (dims, level * random.normal(100, 0.1, (COPIES, days)), {"units": "util"}),
            "interdependence": (dims, random.random((COPIES, days))),
            "extraction_share": ((*dims, "source"), shares),
            "minutes": ((*dims, "source"), shares * 600),
            "hhi": ((*dims, "quantile"), hhi),
            "device_maker_share": ((*dims, "made_type"), random.random((COPIES, days, 2))),
            "agent_utility": (
                ("society", "agent_day", "agent"),
                random.lognormal(0, 1, (COPIES, 6, 30)),
                {"units": "util", "long_name": "utility of all holdings, before consumption"},
            ),
        },
        coords={
            "society": np.arange(COPIES),
            "day": np.arange(1, days + 1),
            "agent_day": np.arange(10, 61, 10),
            "source": SOURCES,
            "made_type": ["tools", "machines"],
            "quantile": np.linspace(0, 1, 5),
        },
        attrs={"clock": "day", "copies": "society", **attrs},
    )
    data["minutes"] = data.minutes.rename(source="activity")
    return data.assign_coords(activity=SOURCES)


def two():
    """Return two runs as files would be named."""
    first, second = run(1), run(2, days=50)
    first.encoding["source"], second.encoding["source"] = "a/trade.h5", "b/tools.h5"
    return [first, second]


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def above(figure):
    """Return what the legend above the panels names; entries of one row may be blank."""
    return {text.get_text() for text in figure.legends[0].get_texts()} - {" "}


BANDS = {
    "interval": "95 % interval of the mean (bootstrap)",
    "quantiles": "5 % to 95 % quantile of the societies",
    "none": None,
}


@pytest.mark.ci
@pytest.mark.parametrize("bands", BANDS)
@pytest.mark.parametrize("name", ["series", "gini", "devices", "interdependence", "shock"])
def test_every_figure_names_its_band_in_its_legend(name, bands):
    figure = make_figure(run(configuration=SHOCK), name, bands=bands)
    line = "median" if bands == "quantiles" else "mean"
    assert above(figure) == {f"{line} of 4 societies", BANDS[bands]} - {None}
    assert bool(figure.axes[0].collections) == (bands != "none")
    assert not make_figure(run().isel(society=[0]), "series", bands=bands).legends


def test_societies_of_several_results_are_counted_as_they_are():
    figure = make_figure([run(1), run(2).isel(society=slice(2))], "gini")
    assert "mean of 2 to 4 societies" in above(figure)


def upper(area):
    """Return the upper edge of a filled area along its points."""
    corners = area.get_paths()[0].vertices
    return {x: corners[corners[:, 0] == x, 1].max() for x in np.unique(corners[:, 0])}


def test_several_results_are_lines_of_one_panel_in_colours_of_their_own():
    sources = two()
    figure = make_figure(sources, "series", variables="x,gini")
    assert [axes.get_title("left") for axes in figure.axes] == ["X", "Gini"]
    for axes, name in zip(figure.axes, ("x", "gini"), strict=True):
        assert axes.get_xlim() == (0, 60)
        for line, band, data in zip(axes.lines, axes.collections, sources, strict=True):
            expected = analysis.mean_interval(data[name])
            np.testing.assert_array_equal(line.get_xdata(), data.day)
            np.testing.assert_allclose(line.get_ydata(), expected["mean"])
            assert max(upper(band).values()) == pytest.approx(float(expected.high.max()))
        assert len({line.get_color() for line in axes.lines}) == 2
    interval = "95 % interval of the mean (bootstrap)"
    assert above(figure) == {"trade", "tools", "mean of 4 societies", interval}
    small = figure._supxlabel.get_text()
    assert "trade.h5" in small and "tools.h5" in small


def test_marks_say_in_which_of_several_results_something_happened():
    other = SHOCK.replace("30", "20")
    with_, later, without = run(configuration=SHOCK), run(configuration=other), run()
    for data, name in ((with_, "a"), (later, "b"), (without, "c")):
        data.encoding["source"] = f"{name}.h5"

    def marked(*sources):
        figure = make_figure(list(sources), "gini")
        dashed = [line.get_xdata()[0] for line in figure.axes[0].lines[len(sources) :]]
        return dashed, figure._supxlabel.get_text().split("\n")[0]

    for name in ("sources", "hhi", "devices"):
        axes = make_figure([with_, without, later], name).axes
        dashes = [[one.get_xdata()[0] for one in own.lines if one.is_dashed()] for own in axes]
        assert dashes == [[30], [], [20]]  # in the panel of its own result, numbered over all
        assert [[text.get_text() for text in own.texts] for own in axes] == [["2"], [], ["1"]]
    assert marked(with_, with_) == ([30], "dashed: day 30 resource 2 removed")
    assert marked(without, with_) == ([30], "dashed: day 30 resource 2 removed (a)")
    assert marked(with_, without, later) == (
        [20, 30],
        "dashed: 1: day 20 resource 2 removed (b); 2: day 30 resource 2 removed (a)",
    )


@pytest.mark.parametrize(("count", "said"), [(2, "1, 2"), (5, "1-5")])
def test_marks_of_one_day_have_one_line_and_text(count, said):
    """The policies of a study usually begin on the same day."""
    cases = []
    for number in range(count):
        one = f"{{day: 30, label: policy {number}, set: {{day_length: 50{number}}}}}"
        cases.append(run(configuration=f"workload: economy\ninterventions: [{one}]\n"))
        cases[-1].encoding["source"] = f"policy {number}.h5"
    axes = make_figure(cases, "gini").axes[0]
    assert [one.get_xdata()[0] for one in axes.lines if one.is_dashed()] == [30]
    assert [text.get_text() for text in axes.texts] == [said]
    small = axes.figure._supxlabel.get_text().split("\n")[0]
    assert small.startswith("dashed: 1: day 30 policy 0; 2: day 30 policy 1")


def test_numbers_of_marks_stand_apart_and_are_all_explained():
    cases = []
    for number, until in enumerate([32, 33, None, None, None]):
        end = f"until: {until}, " if until else ""
        one = f"{{day: 30, {end}label: policy {number}, set: {{day_length: 50{number}}}}}"
        cases.append(run(configuration=f"workload: economy\ninterventions: [{one}]\n"))
        cases[-1].encoding["source"] = f"policy {number}.h5"
    figure = make_figure(cases, "gini")
    texts = figure.axes[0].texts
    assert [text.get_text() for text in texts] == ["1-5", "6", "7"]
    assert len({text.xyann for text in texts}) == 3  # each in a line of its own
    small = " ".join(figure._supxlabel.get_text().split())
    assert "5: day 30 policy 4; 6: day 32 end of policy 0; 7: day 33 end of policy 1" in small
    for footer in (True, False):  # numbers without the small print say nothing
        axes = make_figure(cases, "gini", footer=footer).axes[0]
        assert len(axes.texts) == (3 if footer else 0)


@pytest.mark.parametrize("name", ["sources", "gini"])
def test_a_figure_reads_each_configuration_once(monkeypatch, name):
    texts = [f"# of {name} alone\n{SHOCK.replace('30', day)}" for day in ("20", "30")]
    cases = [run(configuration=texts[place]) for place in (0, 1, 1)]
    for data, file in zip(cases, "abc", strict=True):
        data.encoding["source"] = f"{file}.h5"
    seen, load = [], yaml.safe_load
    monkeypatch.setattr(yaml, "safe_load", lambda text: seen.append(text) or load(text))
    make_figure(cases, name)
    assert sorted(text for text in seen if text) == texts


def test_gini_coefficients_say_of_which_quantity_they_are():
    data = run()
    data.gini.attrs["long_name"] = "Gini coefficient of money"
    data.gini_income.attrs["long_name"] = "Gini coefficient over living agents of income"
    figure = make_figure(data, "gini")
    assert [axes.get_title("left") for axes in figure.axes] == ["Gini of money", "Gini of income"]
    assert figure.axes[1].get_ylabel() == "Gini of income"
    np.testing.assert_allclose(
        figure.axes[1].lines[0].get_ydata(), data.gini_income.mean("society")
    )


def test_income_and_wealth_stand_above_their_gini_coefficients():
    data = run()
    with pytest.raises(SocietiesError, match=r"record\.measures=true"):
        make_figure(data, "income")
    data = data.assign(income=3 * data.x, wealth=9 * data.x, gini_wealth=2 * data.gini)
    figure = make_figure(data, "income")
    titles = ["Income", "Wealth", "Gini of income", "Gini of wealth"]
    assert [axes.get_title("left") for axes in figure.axes] == titles
    for axes, name in zip(
        figure.axes, ("income", "wealth", "gini_income", "gini_wealth"), strict=True
    ):
        np.testing.assert_allclose(axes.lines[0].get_ydata(), data[name].mean("society"))


def test_lorenz_curves_on_the_diagonal_are_drawn_as_their_distance_from_it():
    equal = [data.assign(agent_utility=100 + data.agent_utility) for data in two()]
    for old, new in zip(two(), equal, strict=True):
        new.agent_utility.attrs = old.agent_utility.attrs
        new.encoding["source"] = old.encoding["source"]
    axes = make_figure(equal, "distribution").axes[0]
    for line, data in zip(axes.lines, equal, strict=False):
        curve = analysis.lorenz(data.agent_utility.isel(agent_day=-1)).mean("society")
        np.testing.assert_allclose(line.get_ydata(), curve.poorest - curve, atol=1e-15)
        assert max(line.get_ydata()) > 0.4 * axes.get_ylim()[1]
    assert set(axes.lines[-1].get_ydata()) == {0}
    assert " ".join(axes.get_ylabel().split()) == (
        "share of the agents less their share of the total"
    )
    # One curve that is far from the diagonal: all are drawn as usual.
    mixed = make_figure([equal[0], two()[1]], "distribution").axes[0]
    assert mixed.get_ylabel() == "share of the total"
    assert mixed.lines[0].get_ydata()[-1] == pytest.approx(1)


def test_a_distribution_has_lorenz_curves_and_densities():
    sources = two()
    left, right, other = make_figure(sources, "distribution").axes
    assert other.get_title("left") == "Agents by day: tools"
    for line, data in zip(left.lines, sources, strict=False):
        curve = analysis.lorenz(data.agent_utility.isel(agent_day=-1)).mean("society")
        np.testing.assert_allclose(line.get_ydata(), curve)
    gini = float(analysis.gini(sources[0].agent_utility.isel(agent_day=-1)).mean())
    assert labels(left)[0] == f"trade: Gini {gini:.3f}"
    assert labels(left)[-1] == "all alike"
    assert left.get_legend().get_title().get_text() == "mean of 4 societies"
    assert right.get_title("left") == "Agents by day: trade"
    assert [text.get_text() for text in right.get_yticklabels()] == [
        "10",
        "20",
        "30",
        "40",
        "50",
        "60",
    ]
    for height, line in enumerate(right.lines):
        values = sources[0].agent_utility.isel(agent_day=height).values.ravel()
        expected = scipy.stats.gaussian_kde(values)(line.get_xdata())
        np.testing.assert_allclose(
            line.get_ydata() - height, 1.5 * expected / expected.max(), atol=1e-9
        )


def test_a_density_is_that_of_scipy_and_of_one_value_a_peak():
    values, places = np.random.default_rng(3).normal(0, 1, 50), np.linspace(-5, 5, 300)
    expected = scipy.stats.gaussian_kde(values)(places)
    np.testing.assert_allclose(density(values, places), expected, rtol=1e-9, atol=1e-15)
    peak = density(np.zeros(9), places)
    assert scipy.integrate.trapezoid(peak, places) == pytest.approx(1, rel=1e-3)
    assert not density(np.array([]), places).any()


@pytest.mark.parametrize(("figure", "name"), [("sources", "extraction_share"), ("time", "minutes")])
def test_shares_stand_one_above_the_other(figure, name):
    data = run()
    (axes,) = make_figure(data, figure).axes
    shares = data[name] / data[name].sum(data[name].dims[-1])
    sums = shares.mean("society").cumsum(shares.dims[-1]).values
    for place, area in enumerate(axes.collections):
        edge = upper(area)
        np.testing.assert_allclose([edge[day] for day in data.day.values], sums[:, place])
    (legend,) = axes.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == SOURCES[::-1]
    assert legend.get_title().get_text() == "mean\nof 4 societies"


def test_a_source_has_the_same_colour_in_all_panels_and_all_are_in_the_legend():
    first = run(1)
    first["extraction_share"][..., 1] = 0.0  # no tools
    figure = make_figure([first, run(2).isel(source=[0, 1])], "sources")
    colours = [
        {area.get_label(): tuple(area.get_facecolor()[0]) for area in axes.collections}
        for axes in figure.axes
    ]
    assert set(colours[0]) == {*SOURCES} and set(colours[1]) == {"hand", "tool"}
    assert colours[0] == colours[0] | colours[1]
    assert len({*colours[0].values()}) == 3
    (legend,) = figure.legends
    shown = {
        text.get_text(): tuple(patch.get_facecolor())
        for text, patch in zip(legend.get_texts(), legend.get_patches(), strict=True)
    }
    assert shown == colours[0]


def test_devices_that_cannot_exist_are_not_drawn():
    tools = run(configuration="workload: economy\ndevices: tools\n")
    with pytest.raises(SocietiesError, match=r"no devices that make devices.*devices: tools"):
        make_figure(tools, "devices")
    left, right = make_figure([tools, run(configuration="devices: all")], "devices").axes
    assert not left.lines and [text.get_text() for text in left.texts] == ["devices: tools"]
    assert len(right.lines) == 2


def test_lines_of_makers_and_of_interdependence_are_means():
    data = run()
    (axes,) = make_figure(data, "devices").axes
    for line, name in zip(axes.lines, ("tools", "machines"), strict=True):
        expected = data.device_maker_share.sel(made_type=name).mean("society")
        np.testing.assert_allclose(line.get_ydata(), expected)
    assert labels(axes) == ["tools", "machines"]
    (axes,) = make_figure(data, "interdependence").axes
    np.testing.assert_allclose(axes.lines[0].get_ydata(), data.interdependence.mean("society"))


def test_concentration_has_the_median_half_and_all_of_the_resources():
    data = run()
    (axes,) = make_figure(data, "hhi").axes
    means = data.hhi.mean("society")
    np.testing.assert_allclose(axes.lines[0].get_ydata(), means.isel(quantile=2))
    (legend,) = axes.figure.legends
    assert above(axes.figure) == {"median of the resources", "half of them", "all of them"}
    assert legend.get_title().get_text() == "mean of 4 societies"
    for area, place in zip(axes.collections, (4, 3), strict=True):
        assert list(upper(area).values()) == pytest.approx(list(means.isel(quantile=place).values))


def test_a_shock_is_marked_and_its_recovery_reported():
    data = run(configuration=SHOCK)
    (axes,) = make_figure(data, "shock").axes
    level = data.utility.sel(day=slice(1, 30)).mean("day")
    np.testing.assert_allclose(
        axes.lines[0].get_ydata(), (data.utility / level).mean("society"), rtol=1e-12
    )
    assert labels(axes) == ["50 % lost; back in 15 days"]
    assert [30, 30] in [list(line.get_xdata()) for line in axes.lines]
    assert "dashed: day 30 resource 2 removed" in axes.figure._supxlabel.get_text()
    grows = data.assign(utility=data.utility * 0 + data.day)
    (axes,) = make_figure(grows, "shock").axes
    assert labels(axes) == ["never below; back in 0 days"]
    with pytest.raises(SocietiesError, match="neither shock nor intervention"):
        make_figure(run(), "shock")


# ---------------------------------------------------------------- studies


def study(points, outcome, replicates=2, **attrs):
    """Return a study as `societies sweep` writes it: replicates of a point together."""
    rows = np.repeat(np.arange(len(outcome)), replicates)
    count = len(rows)
    along = {name: ("run", np.asarray(column)[rows]) for name, column in sorted(points.items())}
    number = {"long_name": "number of the replicate"}
    noise = np.tile(np.linspace(-1, 1, replicates), len(outcome))
    values = np.asarray(outcome)[rows] + noise
    return xr.Dataset(
        {
            "utility": (("run", "day"), np.stack([values - 5, values], 1), {"units": "util"}),
            "gini": (("run", "day"), np.stack([values, values / 100], 1)),
        },
        coords={
            "run": np.arange(count),
            "day": [10, 20],
            "replicate": ("run", np.tile(np.arange(replicates), len(outcome)), number),
            "point": ("run", rows, {"long_name": "number of the point"}),
            "society": ("run", np.arange(count), {"long_name": "number of the society"}),
            "status": ("run", ["done"] * count),
            **along,
        },
        attrs={"clock": "day", "copies": "society", "vary": ", ".join(points), **attrs},
    )


def test_a_study_of_one_key_is_a_line_with_a_band_over_it():
    data = study({"trading.rounds": [3, 6, 12]}, [10.0, 30.0, 20.0], replicates=5)
    data["utility"][:5, 1] = [10, 10, 10, 10, 60]  # whose mean is 20
    for bands, middle in (("interval", [20, 30, 20]), ("quantiles", [10, 30, 20])):
        axes = make_figure(data, bands=bands).axes[0]
        (line,) = axes.lines  # with a dot at each point: both are one statistic
        assert line.get_marker() == "o"
        assert line.get_xdata().tolist() == [3, 6, 12]
        np.testing.assert_allclose(line.get_ydata(), middle)
        said = "mean of 5 replicates" if bands == "interval" else "median of 5 replicates"
        (entry,) = (one for one in axes.figure.legends[0].get_lines() if one.get_label() == said)
        assert entry.get_marker() == "o"
        assert BANDS[bands].replace("societies", "replicates") in above(axes.figure)
    (band,) = make_figure(data).axes[0].collections
    assert upper(band)[6] == pytest.approx(
        float(analysis.mean_interval(data.utility[5:10, 1], "run").high)
    )
    assert (axes.get_xlabel(), axes.get_title("left")) == ("trading.rounds", "Utility, day 20")


def test_a_study_of_single_runs_and_many_values_is_drawn_point_by_point():
    values = np.linspace(1, 2, 400)
    figure = make_figure(study({"utility.exponent": values}, values, replicates=1))
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_xdata(), values)
    assert not figure.legends and not figure.axes[0].collections


def test_points_that_are_drawn_together_are_not_called_replicates():
    """They differ by their parameters: an interval of their mean says nothing."""
    data = study({"trading.rounds": np.arange(9)}, 10.0 * np.arange(9))
    figure = make_figure(data, "series", variables=["utility"])
    assert above(figure) == {
        "median of 9 points, each the mean of its runs (18 in all)",
        "5 % to 95 % quantile of the points",
    }
    (axes,) = figure.axes
    assert axes.lines[0].get_ydata()[1] == 40
    assert max(upper(axes.collections[0]).values()) == pytest.approx(np.quantile([0, 80], 0.95))
    shares = data.rename(utility="hhi").hhi.expand_dims(quantile=5, axis=-1)
    figure = make_figure(data.assign(hhi=shares), "hhi")
    assert figure.legends[0].get_title().get_text() == "mean of 18 runs of 9 points together"


@pytest.mark.parametrize(("seeds", "said"), [([7, 7], "seed 7  ·  days"), ([7, 8], "day")])
def test_a_study_says_its_seed_if_it_has_one(seeds, said):
    """Found in use: only results said it, whose seed is an attribute."""
    data = study({"seed": seeds, "trading.rounds": [3, 6]}, [10.0, 30.0])
    line = make_figure(data)._supxlabel.get_text().splitlines()[-1]
    assert line.startswith(said), line


def test_a_study_of_one_key_over_time_has_a_line_for_each_value():
    data = study({"trading.rounds": [3, 6, 12]}, [10.0, 30.0, 20.0])
    figure = make_figure(data, "series", variables=["utility"])
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == [
        f"trading.rounds {value}" for value in (3, 6, 12)
    ]
    np.testing.assert_allclose([line.get_ydata()[1] for line in axes.lines], [10, 30, 20])
    pending = data.assign_coords(status=("run", ["done"] * 4 + ["failed", "pending"]))
    assert len(make_figure(pending, "series", variables="utility").axes[0].lines) == 2


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([0.123401, 0.123402, 0.5], ["0.123401", "0.123402", "0.5"]),
        ([1e6 + 1, 1e6 + 2, 1e6 + 3], ["1000001", "1000002", "1000003"]),
        ([0.3, 0.1 + 0.2, 2], ["0.29999999999999999", "0.30000000000000004", "2"]),
        (["w" * 40 + x for x in "abc"], ["w" * 40 + x for x in "abc"]),
        (["w" * 60 + x for x in "abc"], ["...a", "...b", "...c"]),
        (
            ["w" * 60 + "-" * 60 + "x" * i for i in (1, 0, 2)],
            ["w" * 45 + "..." + x for x in ("", " (2)", " (3)")],
        ),
    ],
)
def test_every_point_of_a_study_has_a_line_of_its_own(values, said):
    """Found in use: of values with the same label only the last was drawn."""
    data = study({"key": values}, [10.0, 30.0, 20.0])
    (axes,) = make_figure(data, "series", variables="utility").axes
    assert [line.get_label() for line in axes.lines] == [f"key {one}" for one in said]
    np.testing.assert_allclose([line.get_ydata()[1] for line in axes.lines], [10, 30, 20])
    both = study({"key": values, "other": [1, 2, 3]}, np.arange(3.0))
    axes = make_figure(both, "sweep", variables="utility").axes[0]
    ticks = ["".join(text.get_text().split()) for text in axes.get_xticklabels()]
    assert ticks == [one.replace(" ", "") for one in said]


def test_several_studies_are_all_drawn():
    data = study({"key": [1, 2]}, [10.0, 30.0]), study({"key": [1, 2]}, [20.0, 40.0])
    for one, source in zip(data, ("a/one.h5", "b/one.h5"), strict=True):
        one.encoding["source"] = source
    (axes,) = make_figure(list(data), "series", variables="utility").axes
    drawn = {line.get_label(): line.get_ydata()[1] for line in axes.lines}
    expected = {"one: key 1": 10, "one: key 2": 30, "one (2): key 1": 20, "one (2): key 2": 40}
    assert drawn == pytest.approx(expected)


def test_runs_that_are_not_done_are_named_as_left_out():
    data = study({"key": [3, 6, 12]}, [10.0, 30.0, 20.0])
    status = ["done"] * 3 + ["failed", "pending", "pending"]
    figure = make_figure(data.assign_coords(status=("run", status)), "series", variables="utility")
    said = "left out: 3 of 6 runs, not done, among them all of 1 point"
    assert said in figure._supxlabel.get_text().split("\n")
    assert "left out" not in make_figure(data, "series", variables="utility")._supxlabel.get_text()


def test_a_study_of_two_keys_is_a_heat_map():
    points = {"b": [1, 1, 2, 2, 3, 3], "a.x": [0.1, 0.2] * 3}
    data = study(points, [1.0, 2, 3, 4, 5, 6])
    axes = make_figure(data, "sweep", variables="utility").axes[0]
    (image,) = axes.images
    np.testing.assert_allclose(image.get_array(), [[1, 3, 5], [2, 4, 6]])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("b", "a.x")
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "3"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["0.1", "0.2"]
    assert axes.figure.axes[1].get_ylabel() == "mean of 2 replicates [util]"
    many = study({"b": np.arange(40), "a": np.arange(40) % 2}, np.arange(40.0))
    axes = make_figure(many, "sweep", variables="utility").axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()][:3] == ["0", "4", "8"]
    words = study({"key": ["a_long_first_word", "b", "c", "d", "e"]}, np.arange(5.0))
    axes = make_figure(words, "sweep", variables="utility").axes[0]
    assert [one.get_text() for one in axes.get_yticklabels()] == [
        *("a_long_first_word", "b", "c", "d", "e")
    ]
    assert axes.lines[0].get_xdata().tolist() == [0, 1, 2, 3, 4]


def test_sensitivity_is_drawn_as_bars_with_intervals():
    names = ["z.late", "a.early"]
    box = {"num_vars": 2, "names": names, "bounds": [[0, 1]] * 2}
    x = sobol_sample.sample(box, 64, calc_second_order=False, seed=1)
    columns = dict(zip(names, x.T, strict=True))
    design = '[{"saltelli": {"points": 64, "second_order": false}}]'
    data = study(columns, 3 * x[:, 0] + x[:, 1], design=design)
    (axes,) = make_figure(data, "sensitivity", variables="utility").axes
    found = analysis.sobol(data.utility.isel(day=-1)).sortby("total")
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a.early", "z.late"]
    named = {"in all (total)", "alone (first order)", "95 % interval (bootstrap)"}
    assert above(axes.figure) == named
    bars = [bar.get_width() for bar in axes.patches]
    np.testing.assert_allclose(bars, [*found.total, *found.first])
    assert bars[1] == pytest.approx(0.9, abs=0.06)  # 9 of 10 parts of the variance
    x = morris_sample.sample(box, 6, num_levels=4, seed=1)
    columns = dict(zip(names, x.T, strict=True))
    data = study(columns, 3 * x[:, 0] + x[:, 1], design='[{"morris": {"levels": 4}}]')
    (axes,) = make_figure(data, "sensitivity", variables="utility").axes
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], [1, 3])
    with pytest.raises(SocietiesError, match="no design of saltelli or morris"):
        make_figure(data.assign_attrs(design='[{"grid": {}}]'), "sensitivity")


# ---------------------------------------------------------------- files and mistakes


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"figure": "ginni"}, ConfigError, "no such figure; did you mean 'gini'"),
        ({"figure": "series", "variables": "uility"}, ConfigError, "did you mean 'utility'"),
        ({"figure": "series", "variables": "hhi"}, ConfigError, "has the dimensions"),
        ({"figure": "hhi", "bands": "none"}, ConfigError, "leaves no choice of it"),
        ({"figure": "series", "variables": "number"}, ConfigError, "has the dimensions none"),
        ({"figure": "shock", "variables": "minutes"}, ConfigError, "has the dimensions"),
        ({"figure": "distribution", "variables": "by_agent"}, ConfigError, "has the dimensions"),
        ({"figure": "distribution", "variables": "x"}, ConfigError, "not a quantity of agents"),
        ({"figure": "sweep"}, SocietiesError, "is not a study"),
        ({"figure": "sensitivity"}, SocietiesError, "is not a study"),
    ],
)
def test_what_cannot_be_drawn_says_why(asked, error, message):
    with pytest.raises(error, match=message):
        data = run(configuration=SHOCK)
        by_agent = data.agent_utility.expand_dims(source=SOURCES).transpose()
        make_figure(data.assign(number=3, by_agent=by_agent), **asked)


def test_a_search_says_that_it_has_no_figure():
    data = xr.Dataset({"value": ("game", [1, 2])}, attrs={"clock": "superstep", "copies": "game"})
    said = "has no figure, as .* no number for each superstep; `societies export --to csv` writes"
    with pytest.raises(OutputError, match=said):
        make_figure(data)


def test_transposed_variables_are_drawn_as_others():
    twins = ("effect", "irf", "fan")  # which are of results of their own
    data = run(configuration=SHOCK)
    data["agent_utility"] = data.agent_utility.transpose("agent", "agent_day", "society")
    data = data.transpose("day", ...)
    for figure in sorted({*FIGURES} - {"trade_network", "sweep", "sensitivity", "income", *twins}):
        make_figure(data, figure)


def test_means_of_days_that_are_recorded_now_and_then_are_labelled_as_such():
    for every, said in ((1, "means of 8 days"), (10, "means of 8 recorded days")):
        data = run(days=2000)[["gini"]].assign_coords(day=np.arange(1, 2001) * every)
        assert said in make_figure(data, "series")._supxlabel.get_text()


def test_what_a_result_lacks_is_named():
    data = run().drop_vars(["extraction_share", "agent_utility", "hhi"])
    for figure in ("sources", "distribution", "hhi"):
        with pytest.raises(SocietiesError, match="has no variable"):
            make_figure(data, figure)
    with pytest.raises(SocietiesError, match="runs with devices have it; set devices=tools or all"):
        make_figure(data, "sources")


def test_no_settings_of_matplotlib_are_changed():
    import matplotlib

    before = dict(matplotlib.rcParams)
    make_figure(run(), "gini")
    assert dict(matplotlib.rcParams) == before


@pytest.mark.ci
def test_every_figure_is_an_option_of_the_command(tmp_path, shell):
    help_text = re.sub(r"[\s│]+", " ", shell("plot", "--help")[1])
    for name in ("overview", *FIGURES):
        assert name in help_text
    path = tmp_path / "run.h5"
    data = run()
    with ResultFile.create(
        path,
        declare(
            coordinates=[
                Coordinate("society", np.arange(COPIES)),
                Coordinate("day", data.day.values),
            ],
            variables=[
                Variable(name, ("society", "day"), "f8", "1", name) for name in ("gini", "x")
            ],
            attributes={"configuration": "workload: economy"},
            state={},
        ),
    ) as result:
        for name in ("gini", "x"):
            result.write(name, data[name].values, day=slice(0, DAYS))
        result.commit(DAYS)
    code, out, err = shell("plot", str(path), "--figure", "gini", "--bands", "quantiles")
    assert (code, err) == (0, "")
    assert out.split() == [str(tmp_path / f"run_gini.{kind}") for kind in ("png", "svg")]
    pdf = tmp_path / "two.pdf"
    code, out, _ = shell("plot", str(path), str(path), "--variables", "x", "--out", str(pdf))
    assert (code, out) == (0, f"{pdf}\n")
    assert pdf.read_bytes().startswith(b"%PDF")
    assert [path.name for path in plot_overview([path, path], tmp_path, figure="gini")] == [
        *("run_gini.png", "run_gini.svg")
    ]


def test_a_dataset_with_a_condition_is_drawn_as_well():
    """`where` gives the number of complete days the dimensions of its condition: a TypeError."""
    data = xr.Dataset({"ticks_committed": ((), 5)}, {"society": [0], "day": np.arange(1, 6)})
    for some in (data, data.where(data.day > 3), data.where(data.day > 9)):
        _require_ticks(some)
    with pytest.raises(SocietiesError, match="holds no complete day yet"):
        _require_ticks(data.assign(ticks_committed=0).where(data.day > 3))
