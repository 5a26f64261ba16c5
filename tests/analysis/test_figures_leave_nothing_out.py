"""Does every figure of every kind of file show all data, or say what it leaves out?

What is compared is the data in matplotlib's artists: each number of the file that a figure is of is
found in it, or the small print counts it.
"""

import json

import numpy as np
import pytest

import societies
from societies.analysis import make_figure
from societies.analysis.labels import shorts
from societies.words import worded
from tests.analysis.test_figures import COPIES, DAYS, above, labels, run, study

POLICIES = [
    [],
    [{"day": 10, "set": {"trading.min_surplus": 50}}],
    [{"day": 10, "set": {"trading.min_surplus": 500}}],
    [{"day": 10, "set": {"day_length": 500}, "label": "shorter days"}],
    [{"day": 10, "set": {"day_length": 400}}],
]
NAMES = [
    "none",
    "day 10, trading.min_surplus 50",
    "day 10, trading.min_surplus 500",
    "shorter days",
    "day 10, day_length 400",
]


def small_print(figure):
    return " ".join(figure._supxlabel.get_text().split())


def dots(axes):
    """Return all points that a panel shows, of lines and of maps, as sorted pairs."""
    lines = [line for line in axes.lines if not line.is_dashed() and len(line.get_xdata()) > 0]
    found = {(float(x), float(y)) for one in lines for x, y in zip(*one.get_data(), strict=True)}
    for one in axes.collections:
        found |= {tuple(map(float, pair)) for pair in np.asarray(one.get_offsets()) if pair.any()}
    return sorted(found)


@pytest.fixture
def policies():
    points = {"interventions": [json.dumps(one) for one in POLICIES]}
    return study(points, [10.0, 20, 30, 40, 50], configuration="workload: economy")


def test_policies_are_named_in_words_in_the_order_of_the_design(policies):
    (axes,) = make_figure(policies, variables="utility").axes
    assert [text.get_text().replace("\n", " ") for text in axes.get_yticklabels()] == NAMES
    assert axes.lines[0].get_xdata().tolist() == [10, 20, 30, 40, 50]
    assert axes.lines[0].get_ydata().tolist() == [0, 1, 2, 3, 4]
    assert len(axes.collections[0].get_segments()) == 5
    (axes,) = make_figure(policies, "series", variables="utility").axes
    found = {line.get_label(): line.get_ydata()[1] for line in axes.lines if not line.is_dashed()}
    assert found == dict(zip(NAMES, [10, 20, 30, 40, 50], strict=True))
    assert "day 10 day_length 400 (day 10, day_length 400)" in small_print(axes.figure)


def test_labels_of_points_name_them(policies):
    named = policies.assign_coords(label=("run", np.repeat([*"abcde"], 2)))
    (axes,) = make_figure(named, "series", variables="utility").axes
    assert [line.get_label() for line in axes.lines if not line.is_dashed()] == [*"abcde"]
    (axes,) = make_figure(named, variables="utility").axes
    assert [text.get_text() for text in axes.get_yticklabels()] == [*"abcde"]
    one = run(label="free trade")
    assert "free trade" in above(make_figure([one, run()], "gini"))


def test_every_key_of_a_sample_has_a_panel_with_every_point():
    random = np.random.default_rng(3)
    points = {key: random.random(20) for key in ("a", "b", "c")}
    data = study(points, 10 * points["a"])
    figure = make_figure(data, variables="utility")
    assert [axes.get_xlabel() for axes in figure.axes] == ["a", "b", "c"]
    for axes, key in zip(figure.axes, "abc", strict=True):
        expected = sorted(zip(points[key], 10 * points["a"], strict=True))
        np.testing.assert_allclose(dots(axes), expected)
    two = study({key: points[key] for key in "ab"}, 10 * points["a"])
    axes = make_figure(two, variables="utility").axes[0]
    assert sorted(map(tuple, axes.collections[0].get_offsets())) == pytest.approx(
        sorted(zip(points["a"], points["b"], strict=True))
    )
    assert sorted(axes.collections[0].get_array()) == pytest.approx(sorted(10 * points["a"]))
    (axes,) = make_figure(two, "series", variables="utility").axes
    assert axes.lines[0].get_ydata()[1] == pytest.approx(np.median(10 * points["a"]))


@pytest.mark.parametrize("method", ["saltelli", "morris"])
def test_a_design_for_sensitivity_is_drawn_as_such_for_every_variable(method):
    from SALib.sample import morris, sobol

    box = {"num_vars": 3, "names": [*"abc"], "bounds": [[0, 1]] * 3}
    x = sobol.sample(box, 8, calc_second_order=False, seed=1)
    x = morris.sample(box, 4, num_levels=4, seed=1) if method == "morris" else x
    design = json.dumps([{method: {"levels": 4, "second_order": False}}])
    data = study(dict(zip("abc", x.T, strict=True)), x @ [3, 2, 1], design=design)
    assert [axes.get_title("left") for axes in make_figure(data).axes] == [
        "Gini, day 20: what it depends on"
    ]
    figure = make_figure(data, variables="utility,gini")
    first, second = ([bar.get_width() for bar in axes.patches] for axes in figure.axes)
    assert len(first) == len(second) == (6 if method == "saltelli" else 3)
    ratio = 1 if method == "saltelli" else 100  # this study's gini is a hundredth of its utility
    np.testing.assert_allclose(first, np.multiply(ratio, second), rtol=1e-6)
    few = data.isel(run=slice(0, -2))
    if method == "morris":
        figure = make_figure(few, variables="utility")
        assert "3 of 4 trajectories are used" in small_print(figure)


def test_every_variable_and_result_has_its_distribution():
    first, second = run(1), run(2)
    for data, name in ((first, "a"), (second, "b")):
        data.encoding["source"] = f"{name}.h5"
        data["agent_income"] = 2 * data.agent_utility
    figure = make_figure([first, second], "distribution", variables="agent_income,agent_utility")
    assert [axes.get_title("left").split(",")[0] for axes in figure.axes] == [
        *("Income", "Agents by day: a", "Agents by day: b"),
        *("Utility", "Agents by day: a", "Agents by day: b"),
    ]
    many = first.isel(agent_day=[0] * 20).assign_coords(agent_day=np.arange(3, 63, 3))
    assert "agents on 8 of 20 recorded days" in small_print(make_figure(many, "distribution"))


def test_series_that_are_too_many_and_missing_values_are_counted():
    data = run(configuration="workload: economy\n")
    data = data.drop_vars([name for name in data if data[name].dims != ("society", "day")])
    data = data.assign({f"y{i}": data.x for i in range(4)})
    data["gini"][0, :7] = np.nan
    data["gini"][1, 3] = np.inf
    figure = make_figure(data, "series")
    assert len(figure.axes) == 6
    total = len(data.data_vars)
    said = small_print(figure)
    assert f"6 of {total} series; others by name: variables='y" in said, said
    every = COPIES * DAYS
    assert f"missing or infinite values left out: Gini 8 of {every}" in said
    assert f"6 of {total} series" in small_print(make_figure(data))
    one = study({"key": [1, 2, 3]}, [10.0, 20, 30]).isel(run=[0, 1, 2, 4, 5])  # uneven replicates
    assert "missing" not in small_print(make_figure(one))
    one["utility"][1, -1] = np.nan
    assert "left out: Utility, day 20 1 of 5" in small_print(make_figure(one))


def test_a_recovery_names_the_day_to_whose_level_it_relates():
    two = "workload: economy\nshocks: [{day: 30, remove: agent}, {day: 40, remove: agent}]\n"
    (axes,) = make_figure(run(configuration=two), "shock").axes
    assert axes.get_ylabel().replace("\n", " ") == "part of the level up to day 30"
    assert labels(axes)


def test_a_figure_of_one_of_several_copies_says_which(tmp_path):
    config = {"workload": "laplace", "rows": 6, "columns": 6, "steps": 3}
    for replicates in (1, 3):
        file = tmp_path / f"{replicates}.h5"
        societies.run(
            societies.config_from_dict(config | {"replicates": replicates}),
            out=file,
            device="reference",
        )
        figure = make_figure(file, **({"plate": 2} if replicates > 1 else {}))
        said = "" if figure._supxlabel is None else small_print(figure)
        assert said.startswith("plate 2, one of 3") == (replicates == 3), said


def test_values_are_worded():
    assert worded('[{"day": 3, "set": {"a.b": 1, "c": 2}, "societies": []}]') == "day 3, a.b 1, c 2"
    assert worded("[1, 2]") == "[1, 2]" and worded("[broken") == "[broken"
    assert shorts(["same"]) == ["same"]
