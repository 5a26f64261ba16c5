"""The overview: drawn from a file or a dataset, the same bytes each time, and never cut off."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import societies
from societies import analysis
from societies.analysis import plot, plot_overview
from societies.analysis.selecting import workload_of
from societies.economy import figure as economy_figure
from societies.economy.figure import PANELS
from societies.errors import OutputError, SocietiesError
from societies.output import Coordinate, ResultFile, Variable
from societies.output.layout import declare
from societies.workload.drawing.figure import STYLE, series_figure

pytestmark = pytest.mark.ci

SERIES = [*(variable for variable, *_ in PANELS), "gini"]


def dataset(societies=5, days=60, **attributes):
    random = np.random.default_rng(7)
    growth = 1 / (1 + np.exp(-(np.arange(days) - days / 2) / max(1, days / 10)))
    scale = dict(zip(SERIES, (190, 950, 220, 92_000, 0.015), strict=True))
    return xr.Dataset(
        {
            name: (
                ("society", "day"),
                scale[name] * growth * random.normal(1, 0.05, (societies, days)),
            )
            for name in SERIES
        },
        coords={"society": np.arange(societies), "day": np.arange(1, days + 1)},
        attrs={"agents": 48, "resources": 48, "scenario": "trade"} | attributes,
    )


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "run.h5"
    data = dataset(days=20)
    with ResultFile.create(
        path,
        declare(
            coordinates=[Coordinate("society", np.arange(5)), Coordinate("day", np.arange(1, 31))],
            variables=[Variable(name, ("society", "day"), "f8", "", name) for name in SERIES],
            attributes=data.attrs,
            state={},
        ),
    ) as result:
        for name in SERIES:
            result.write(name, data[name].values, day=slice(0, 20))
        result.commit(20)
    return path


def with_devices(societies=4, days=60):
    """The same with shares of sources and counts of known devices that rise one after another."""
    data = dataset(societies, days, scenario="trade, all devices")
    random = np.random.default_rng(8)
    sources = ["hand", "tool", "machine", "factory", "industry"]
    types = [*sources[1:], "device_machine", "device_factory"]
    shares = random.uniform(0.1, 1.0, (societies, days, 5))
    known = np.minimum(np.arange(days)[:, None] // np.arange(1, 7), 48)
    data["interdependence"] = data.gini * 1000
    data["extraction_share"] = ("society", "day", "source"), shares / shares.sum(-1, keepdims=True)
    data["devices_known"] = (
        ("society", "day", "device_type"),
        np.broadcast_to(known, (societies, days, 6)).astype(float),
    )
    return data.assign_coords(source=sources, device_type=types)


def test_devices_have_panels_of_their_own():
    data = with_devices()
    panels = {axes.get_title("left"): axes for axes in figure_of(data).axes}
    assert len(panels) == 8
    sources = panels["Extracted with"]
    labels = [text.get_text() for text in sources.get_legend().get_texts()]
    assert labels == list(data.source.values)
    heights = [area.get_paths()[0].vertices[:, 1].max() for area in sources.collections]
    shares = data.extraction_share.mean("society").cumsum("source").max("day")
    assert heights == pytest.approx(list(shares.values))
    lines = panels["Devices known"].get_lines()
    for line, name in zip(lines, data.device_type.values, strict=True):
        expected = data.devices_known.sel(device_type=name).mean("society")
        assert np.array_equal(line.get_ydata(), expected)


@pytest.mark.parametrize(
    ("devices", "sources", "types"),
    [("tools", ["hand", "tool"], ["tool"]), ("all", slice(None), slice(None))],
)
def test_only_devices_that_can_exist_are_shown(devices, sources, types):
    data = with_devices().assign_attrs(configuration=f"workload: economy\ndevices: {devices}\n")
    panels = {axes.get_title("left"): axes for axes in figure_of(data).axes}
    for title, names in (
        ("Extracted with", data.source.sel(source=sources)),
        ("Devices known", data.device_type.sel(device_type=types)),
    ):
        legend = panels[title].get_legend()
        expected = [str(name).replace("_", " ") for name in names.values]
        assert [text.get_text() for text in legend.get_texts()] == expected
        drawn = panels[title].collections if title == "Extracted with" else panels[title].lines
        assert len(drawn) == len(expected)


def test_a_figure_asks_once_a_panel_which_devices_can_exist(monkeypatch):
    asked, ask = [], economy_figure.possible_types
    monkeypatch.setattr(
        economy_figure, "possible_types", lambda data: asked.append(data) or ask(data)
    )
    figure_of(with_devices())
    assert len(asked) == 2  # with what was extracted, which are known


def test_lines_of_every_panel_are_what_the_legend_says():
    data = with_devices()
    data["devices_known"] = data.devices_known * xr.DataArray([1, 1, 1, 5], dims="society")
    utilities = np.random.default_rng(1).lognormal(0, 2, (4, 60, 2))
    data["group_utility"] = ("society", "day", "group"), utilities
    data = data.assign_coords(group=["able", "others"])
    for bands, middle in (("interval", "mean"), ("quantiles", "median")):
        panels = {axes.get_title("left"): axes for axes in figure_of(data, bands=bands).axes}
        for title, name in (
            ("Devices known", "devices_known"),
            ("Utility by group", "group_utility"),
        ):
            expected = getattr(data[name], middle)("society").transpose(..., "day")
            lines = [line.get_ydata() for line in panels[title].lines]
            np.testing.assert_allclose(lines, expected)
        mean = "" if bands == "interval" else "mean "  # shares of medians are no shares
        assert panels["Extracted with"].get_ylabel() == f"{mean}share of the units"


def test_devices_are_drawn_into_files(tmp_path):
    plain = plot_overview(dataset(), tmp_path / "plain")
    drawn = plot_overview(with_devices(), tmp_path / "devices")
    assert [path.suffix for path in drawn] == [".png", ".svg"]
    for path, other in zip(drawn, plain, strict=True):
        assert path.stat().st_size > other.stat().st_size


def figure_of(data, **options):
    """Return the figure of a dataset, drawn with the settings of every figure."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        own = getattr(workload_of(data), "figure", series_figure)
        return own(data, **options)


@pytest.mark.thorough
@pytest.mark.parametrize(("societies", "days"), [(1, 1), (1, 500), (3, 2), (20, 100)])
def test_any_number_of_societies_and_days(tmp_path, societies, days):
    paths = plot_overview(dataset(societies, days), tmp_path / "new" / "folder")
    assert [path.suffix for path in paths] == [".png", ".svg"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert b"</svg>" in paths[1].read_bytes()


def test_a_file_is_drawn_next_to_itself_and_released(file):
    paths = plot_overview(file)
    assert paths == [file.with_name("run_overview.png"), file.with_name("run_overview.svg")]
    ResultFile.resume(file).close()


def test_the_same_data_give_the_same_bytes(tmp_path):
    first = [path.read_bytes() for path in plot_overview(dataset(), tmp_path / "a")]
    second = [path.read_bytes() for path in plot_overview(dataset(), tmp_path / "b")]
    assert first == second
    assert b"<dc:date>" not in first[1]


def test_the_users_settings_neither_change_the_figure_nor_are_changed(tmp_path):
    import matplotlib

    expected = [path.read_bytes() for path in plot_overview(dataset(), tmp_path / "a")]
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9}):
        assert expected == [path.read_bytes() for path in plot_overview(dataset(), tmp_path / "b")]
        assert matplotlib.rcParams["font.size"] == 30


@pytest.mark.parametrize("bands", ["interval", "quantiles", "none"])
def test_line_and_band_are_what_the_legend_says(bands):
    data = dataset(societies=6)
    figure = figure_of(data, bands=bands)
    for axes, (name, _, label, _) in zip(figure.axes[:-1], PANELS, strict=True):
        (line,) = axes.lines
        expected = (
            analysis.quantile_interval(data[name]).rename(median="mean")
            if bands == "quantiles"
            else analysis.mean_interval(data[name])
        )
        np.testing.assert_array_equal(line.get_xdata(), data.day)
        np.testing.assert_allclose(line.get_ydata(), expected["mean"])
        if bands == "none":
            assert not axes.collections
        else:
            (band,) = axes.collections
            low, high = ends_of(band, data.sizes["day"])
            np.testing.assert_allclose(low, expected.low)
            np.testing.assert_allclose(high, expected.high)
        assert axes.get_xlabel() == "day" and unwrapped(axes.get_ylabel()) == label
        low, high = axes.get_ylim()
        assert low == 0 and high >= expected.high.max()
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert (
        words
        == {
            "interval": ["mean of 6 societies", "95 % interval of the mean (bootstrap)"],
            "quantiles": ["median of 6 societies", "5 % to 95 % quantile of the societies"],
            "none": ["mean of 6 societies"],
        }[bands]
    )


def unwrapped(text):
    return text.replace("\n", " ")


def ends_of(band, count):
    """Return the lower and the upper end of a filled area at each of its points."""
    corners = band.get_paths()[0].vertices[:, 1]
    return corners[1 : count + 1], corners[count + 2 : 2 * count + 2][::-1]


def test_a_band_that_does_not_exist_is_refused(file, shell):
    code, out, err = shell("plot", str(file), "--figure", "series", "--bands", "range")
    assert (code, out) == (2, "")
    assert err == "--bands range: choose one of interval, quantiles, none\n"


def test_a_workload_without_a_figure_has_the_bands_of_its_series(tmp_path, shell):
    path = tmp_path / "run.h5"
    with ResultFile.create(
        path,
        declare(
            coordinates=[Coordinate("society", np.arange(2)), Coordinate("day", np.arange(1, 4))],
            variables=[Variable("energy", ("society", "day"), "f8", "", "energy")],
            attributes={"configuration": "workload: tictactoe"},
            state={},
        ),
    ) as result:
        result.write("energy", np.arange(6.0).reshape(2, 3), day=slice(0, 3))
        result.commit(3)
    code, _, err = shell("plot", str(path), "--bands", "range")
    assert (code, err) == (2, "--bands range: choose one of interval, quantiles, none\n")
    out = str(tmp_path / "fig.svg")
    assert shell("plot", str(path), "--bands", "quantiles", "--out", out) == (0, f"{out}\n", "")
    assert "quantile of the societies" in Path(out).read_text()


def test_of_a_long_run_points_are_means_of_several_days():
    data = dataset(societies=3, days=603)
    axes = figure_of(data).axes[0]
    (line,) = axes.lines
    name = PANELS[0].variable
    means = data[name].mean("society").values
    expected = [means[i : i + 3].mean() for i in range(0, 603, 3)]
    np.testing.assert_allclose(line.get_ydata(), expected)
    np.testing.assert_allclose(line.get_xdata(), np.arange(2, 603, 3))
    assert "means of 3 days" in figure_of(data)._supxlabel.get_text()


@pytest.mark.parametrize(
    ("concerned", "where"),
    [([], ""), ([1, 3], " in society 1, 3"), ([*range(9)], " in 9 societies")],
)
def test_an_intervention_names_the_societies_that_it_concerns(concerned, where):
    said = (
        "workload: economy\n"
        f"interventions: [{{day: 20, set: {{day_length: 50}}, societies: {concerned}}}]\n"
    )
    shown = figure_of(dataset(configuration=said))._supxlabel.get_text()
    assert f"dashed: day 20 day_length 50{where}\n" in f"{shown}\n"


def test_shocks_interventions_and_groups_are_shown():
    said = (
        "workload: economy\n"
        "shocks: [{day: 40, remove: resource, index: 5}]\n"
        "interventions:\n"
        "- {day: 20, set: {trading.min_surplus: 50}, remove: null}\n"
        "- {day: 30, set: {}, remove: agent, index: random}\n"
    )
    data = dataset(configuration=said, seed="3", ticks=80, societies_version="0.1")
    utilities = np.random.default_rng(1).random((5, 60, 2))
    data["group_utility"] = ("society", "day", "group"), utilities
    figure = figure_of(data.assign_coords(group=["able", "others"]))
    for axes in figure.axes[:-1]:
        mean, *marked = axes.lines
        assert len(mean.get_xdata()) == 60
        assert [line.get_xdata()[0] for line in marked] == [20, 30, 40]
        assert [text.get_text() for text in axes.texts] == ["1", "2", "3"]
    assert figure._supxlabel.get_text() == (
        "dashed: 1: day 20 trading.min_surplus 50; 2: day 30 agent random removed; "
        "3: day 40 resource 5 removed\n"
        "seed 3  ·  days up to 60 of 80  ·  societies 0.1"
    )
    groups = figure.axes[-1]
    assert [text.get_text() for text in groups.get_legend().get_texts()] == ["able", "others"]
    for place, line in enumerate(groups.lines[:2]):
        np.testing.assert_allclose(line.get_ydata(), utilities[..., place].mean(0))


def test_panels_stand_in_columns_and_have_the_same_ticks():
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = figure_of(with_devices())
    FigureCanvasAgg(figure).draw()
    places = [axes.get_position() for axes in figure.axes]
    for column in range(3):
        assert len({round(place.x0, 6) for place in places[column::3]}) == 1
        assert len({round(place.x1, 6) for place in places[column::3]}) == 1
    for row in range(0, len(places), 3):
        assert len({round(place.y0, 6) for place in places[row : row + 3]}) == 1
    assert len({tuple(axes.get_xticks()) for axes in figure.axes}) == 1


def test_inequality_is_shown_of_what_differs_most_first():
    data = dataset()
    data = data.assign(gini_wealth=3 * data.gini, gini_extracted=9 * data.gini)
    figure = analysis.make_figure(data)
    (axes,) = (axes for axes in figure.axes if axes.get_title("left") == "Inequality")
    for line, name in zip(axes.lines, ("gini_extracted", "gini_wealth", "gini"), strict=True):
        np.testing.assert_allclose(line.get_ydata(), data[name].mean("society"))
    said = [text.get_text() for text in axes.get_legend().get_texts()]
    assert said == ["units extracted", "wealth", "utility"]


def test_text_in_an_svg_is_text(tmp_path):
    _, svg = plot_overview(dataset(), tmp_path)
    text = svg.read_text()
    assert re.search(r"<text[^>]*>Inequality</text>", text)
    assert re.search(r"<text[^>]*>mean of 5 societies</text>", text)


def test_one_society_has_no_band_and_nothing_traded_still_shows():
    data = dataset(societies=1)
    data["units_traded"][:] = 0
    for axes in figure_of(data).axes:
        assert len(axes.lines) == 1 and not axes.collections
        assert not axes.lines[0].get_clip_on()
        assert axes.get_ylim()[1] > 0


def test_no_text_is_cut_off_or_covers_another():
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = figure_of(dataset(societies=1000, scenario="trade, no devices"))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    page = figure.bbox
    boxes = [legend.get_window_extent(renderer) for legend in figure.legends]
    boxes.append(figure._supxlabel.get_window_extent(renderer))
    title = figure._suptitle.get_window_extent(renderer)
    assert title.x1 <= page.x1 and title.y1 <= page.y1
    for axes in figure.axes:
        boxes += [axes.get_tightbbox(renderer)]
    for number, box in enumerate(boxes):
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
        assert not any(box.overlaps(other) for other in boxes[number + 1 :])


def title(data):
    return figure_of(data)._suptitle.get_text().strip()


def test_the_title_says_what_is_known():
    assert title(dataset()).startswith("48 agents × 48 resources  ·  trade  ·  5 societies")
    assert title(dataset(societies=1)).endswith("1 society")
    bare = dataset(societies=1).drop_attrs()
    assert title(bare) == "1 society"


@pytest.mark.thorough
@pytest.mark.parametrize("count", range(1, 9))
def test_another_model_shows_its_own_series(count):
    """The first six numbers per society and day, with their units, also below zero."""
    names = [f"series_{i}" for i in range(count)]
    values = np.linspace(-1, 3, 20).reshape(2, 10)
    data = xr.Dataset({name: (("society", "day"), values, {"units": "m"}) for name in names})
    data = data.assign(detail=(("society", "day", "agent"), np.zeros((2, 10, 3))))
    data = data.assign_coords(society=[0, 1], day=np.arange(1, 11))
    shown = figure_of(data).axes
    assert [axes.get_title(loc="left") or axes.get_title() for axes in shown] == [
        name.replace("_", " ").capitalize() for name in names[:6]
    ]
    assert {axes.get_ylabel() for axes in shown} == {"m"}
    assert all(axes.get_ylim()[0] < -1 and axes.get_ylim()[1] > 3 for axes in shown)


def test_what_cannot_be_drawn_says_why(tmp_path, file):
    with pytest.raises(SocietiesError, match="nothing to draw"):
        plot_overview(dataset().drop_vars(SERIES), tmp_path)
    with pytest.raises(SocietiesError, match="no complete day"):
        plot_overview(dataset().isel(day=slice(0)), tmp_path)
    with pytest.raises(OutputError, match="does not exist"):
        plot_overview(tmp_path / "missing.h5")
    with pytest.raises(OutputError, match="cannot be written"):
        plot_overview(dataset(), file)


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    checkout = Path(societies.__file__).parents[1]
    with pytest.raises(SocietiesError, match=re.escape(f"pip install -e '{checkout}[plot]'")):
        plot_overview(dataset(), tmp_path)
    elsewhere = tmp_path / "site-packages" / "societies" / "analysis" / "plot.py"
    monkeypatch.setattr(plot, "__file__", str(elsewhere))
    with pytest.raises(SocietiesError, match=r"which is missing: pip install matplotlib$"):
        plot_overview(dataset(), tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("fig.pdf", b"%PDF"),
        ("new/fig.svg", b"<?xml"),
        ("FIG.PNG", b"\x89PNG"),
        ("fig.eps", b"%!PS"),
    ],
)
def test_one_figure_in_the_format_of_its_name(file, shell, tmp_path, monkeypatch, name, begins):
    """Found in use: ``--out fig.pdf`` made a folder of that name."""
    monkeypatch.chdir(tmp_path)
    assert shell("plot", str(file), "--out", name) == (0, f"{name}\n", "")
    first = Path(name).read_bytes()
    assert first.startswith(begins)
    if name != "fig.eps":  # which holds the time of its making
        assert plot_overview(file, name) == [Path(name)]
        assert Path(name).read_bytes() == first


def test_a_folder_may_look_like_a_figure_and_a_figure_must_have_a_format(file, tmp_path, shell):
    (tmp_path / "old.pdf").mkdir()
    for folder in (tmp_path / "old.pdf", tmp_path / "results.2024", tmp_path / "a"):
        names = [path.relative_to(folder).name for path in plot_overview(file, folder)]
        assert names == ["run_overview.png", "run_overview.svg"]
    with pytest.raises(OutputError, match=r"fig\.docx: figures are not written as \.docx.*pdf"):
        plot_overview(file, tmp_path / "fig.docx")
    assert shell("plot", str(file), "--out", str(tmp_path / "fig.csv"))[0] == 4
    assert not list(tmp_path.glob("fig*"))


def test_matplotlib_is_imported_only_to_draw():
    program = "import sys, societies.analysis; print('matplotlib' in sys.modules)"
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout == "False\n"
