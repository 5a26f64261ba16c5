"""Do the words of figures have room: titles, labels, legends?"""

import itertools

import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from societies.analysis import make_figure
from societies.workload.drawing.lettering import columns_of, legend_above, wrapped


@pytest.mark.parametrize(
    ("text", "most", "lines"),
    [
        ("Gini of utility summed since day 1", 32, ["Gini of utility", "summed since day 1"]),
        ("Gini of utility", 32, ["Gini of utility"]),
        ("one two three four", 9, ["one two", "three", "four"]),
        ("extraction.daily_experience_penalty", 20, ["extraction.daily_", "experience_penalty"]),
        ("a" * 25, 10, ["a" * 10, "a" * 10, "a" * 5]),
        ("already in\ntwo lines", 30, ["already in two lines"]),
        ("day 10000 and day 2", 9, ["day 10000", "and day 2"]),
        ("", 10, [""]),
    ],
)
def test_lines_end_between_words_and_are_about_equally_long(text, most, lines):
    assert wrapped(text, most).split("\n") == lines


def test_a_legend_has_as_many_columns_as_have_room():
    assert columns_of(["hand", "tool", "machine"], 5.0) == 3
    assert columns_of(["a long name of a group"] * 3, 5.0) == 2
    assert columns_of(["a long name of a group"] * 3, 1.0) == 1


def test_rows_of_a_legend_begin_on_lines_of_their_own():
    figure = Figure(figsize=(8, 3), layout="constrained")
    figure.add_subplot()

    def row(*names):
        return [Line2D([], [], label=name) for name in names]

    legend_above(figure, [row("one", "two", "three"), [], row("mean", "interval")])
    columns = [text.get_text() for text in figure.legends[0].get_texts()]
    assert columns == ["one", "mean", "two", "interval", "three", " "]
    legend_above(figure, [[]])
    assert len(figure.legends) == 1


LONG = "Gini coefficient over living agents of the value of all that was consumed since day 1"


def result(name):
    """Return a run whose names are long, as a file of a long name."""
    random = np.random.default_rng(1)
    dims = ("society", "day")
    names = ("gini", "gini_value_of_everything_consumed", "gini_wealth", "gini_of_something_else")
    data = xr.Dataset(
        {one: (dims, random.random((3, 40)), {"long_name": LONG}) for one in names},
        coords={"society": np.arange(3), "day": np.arange(1, 41)},
        attrs={"clock": "day", "copies": "society"},
    )
    shares = random.dirichlet(np.ones(3), (3, 40))
    data["extraction_share"] = (*dims, "source"), shares
    data["hhi"] = (*dims, "quantile"), np.sort(random.random((3, 40, 5)), axis=-1)
    data.encoding["source"] = f"{name}.h5"
    return data


@pytest.mark.sample
@pytest.mark.parametrize("figure", ["gini", "sources", "hhi"])
@pytest.mark.parametrize("count", [1, 4])
def test_no_words_of_a_figure_cover_others_or_leave_it(figure, count):
    names = [f"a_result_with_quite_a_long_name_{i}" for i in range(count)]
    drawn = make_figure([result(name) for name in names], figure)
    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    renderer = canvas.get_renderer()
    texts = [drawn._supxlabel]
    for axes in drawn.axes:
        texts += [axes._left_title, axes.xaxis.label, axes.yaxis.label]
        for axis in (axes.xaxis, axes.yaxis):
            texts += [tick.label1 for tick in axis._update_ticks()]
    boxes = [text.get_window_extent(renderer) for text in texts if text.get_text()]
    boxes += [legend.get_window_extent(renderer) for legend in drawn.legends]
    page = drawn.bbox
    for box in boxes:
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
    assert not [pair for pair in itertools.combinations(boxes, 2) if pair[0].overlaps(pair[1])]
