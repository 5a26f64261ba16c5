"""Does a figure for print have its width, and fonts of 7 to 9 points, with nothing cut off?"""

import re
import struct

import numpy as np
import pytest
import xarray as xr
from matplotlib.text import Text

from societies import plot_overview
from societies.analysis import make_figure
from societies.analysis.print_size import inches_of
from societies.errors import ConfigError

pytestmark = pytest.mark.ci

CENTIMETRE = 1 / 2.54


def run(**attrs):
    """Return a run of three societies with what the figures below show."""
    random = np.random.default_rng(1)
    names = ("gini", "gini_income", "gini_wealth", "gini_extracted", "utility")
    return xr.Dataset(
        {name: (("society", "day"), random.random((3, 40))) for name in names}
        | {"extraction_share": (("society", "day", "source"), np.full((3, 40, 2), 0.5))},
        coords={"society": range(3), "day": np.arange(1, 41), "source": ["hand", "tool"]},
        attrs={"clock": "day", "copies": "society", "workload": "economy", **attrs},
    )


@pytest.mark.parametrize(
    "figure, width, inches",
    [
        ("gini", "8.5cm", 8.5 * CENTIMETRE),
        ("overview", "6.7 in", 6.7),
        ("sources", "85mm", 3.34646),
    ],
)
def test_files_have_the_width_and_fonts_of_7_to_9_points(tmp_path, figure, width, inches):
    png, svg = plot_overview(run(), tmp_path, figure=figure, width=width)
    pixels, _ = struct.unpack(">II", png.read_bytes()[16:24])
    assert pixels == pytest.approx(300 * inches, abs=1)
    text = svg.read_text()
    assert float(re.search(r'width="([0-9.]+)pt"', text)[1]) == pytest.approx(72 * inches)
    sizes = {float(size) for size in re.findall(r"font(?:-size)?: (?:\w+ )?([0-9.]+)px", text)}
    assert sizes and min(sizes) >= 7 and max(sizes) <= 9


@pytest.mark.parametrize(
    "figure, width", [("gini", "170mm"), ("sources", "8.5cm"), ("overview", "8.5cm")]
)
def test_no_text_is_cut_off_or_drawn_on_a_panel_above_it(figure, width):
    drawn = make_figure(run(), figure, width=width)
    drawn.draw_without_rendering()
    right, top = drawn.bbox.max
    for text in drawn.findobj(Text):
        if text.get_text().strip() and text.get_visible():
            box = text.get_window_extent()
            assert box.x0 >= -1 and box.x1 <= right + 1, text.get_text()
            assert box.y0 >= -1 and box.y1 <= top + 1, text.get_text()
    highest = max(axes.get_tightbbox().y1 for axes in drawn.axes)
    assert all(legend.get_window_extent().y0 >= highest - 1 for legend in drawn.legends)


def test_a_column_has_one_panel_in_a_row_and_a_page_several():
    def columns(width):
        return {axes.get_subplotspec().colspan.start for axes in make(width).axes}

    def make(width):
        return make_figure(run(), "gini", width=width)

    assert columns("8.5cm") == {0}
    assert columns("17cm") == {0, 1, 2}
    assert len(make("8.5cm").axes) == len(make(None).axes)


def test_a_legend_names_the_results_before_the_meaning_of_lines_and_bands():
    drawn = make_figure([run(label="a"), run(label="b")], "gini", width="8.5cm")
    said = [" ".join(text.get_text().split()) for text in drawn.legends[0].get_texts()]
    assert said == ["a", "b", "mean of 3 societies", "95 % interval of the mean (bootstrap)"]


def test_small_print_is_left_out_on_request(tmp_path):
    out = tmp_path / "drawn.svg"
    for figure in ("gini", "overview"):
        for footer in (True, False):
            plot_overview(run(seed=7), out, figure=figure, footer=footer)
            assert ("seed 7" in out.read_text()) == footer


@pytest.mark.parametrize(
    "width, inches", [("2.54cm", None), ("8.5cm", 8.5 / 2.54), ("85 MM", 8.5 / 2.54), ("4in", 4)]
)
def test_units_of_a_width(width, inches):
    if inches is None:
        with pytest.raises(ConfigError, match="from 4 to 60 cm wide"):
            inches_of(width)
    else:
        assert inches_of(width) == pytest.approx(inches)


@pytest.mark.parametrize("width", ["8.5", "8,5cm", "-8cm", "nancm", "wide", "", "8.5pt", 8.5])
def test_what_is_no_width_is_refused_and_nothing_written(tmp_path, width):
    with pytest.raises(ConfigError, match=r"is not a width.*cm, mm or in"):
        plot_overview(run(), tmp_path, width=width)
    assert not list(tmp_path.iterdir())
