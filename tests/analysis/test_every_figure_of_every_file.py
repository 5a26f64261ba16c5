"""Does each figure of each kind of file show the data, or say in one line why it cannot be drawn?

All figures of the registry are tried on every kind of file. What is drawn is compared with what
xarray reads in the file: lines, bars, maps and areas; and the small print with what is left out.
"""

import json

import numpy as np
import pytest
import xarray as xr
import yaml

import societies
from societies import analysis, config_from_dict, load_config, sweep
from societies.analysis import make_figure
from societies.analysis.drawing import title_of
from societies.analysis.figures import FIGURES
from societies.errors import ConfigError
from tests.analysis.test_figures import upper
from tests.analysis.test_figures_leave_nothing_out import small_print

DAYS, DAY = 15, 4
SMALL = {
    "workload": "economy",
    "agents": 4,
    "resources": 4,
    "days": DAYS,
    "seed": 4,
    "replicates": 3,
    "utility": {"min_marginal": 2.5},
    "trading": {"rounds": 1, "menu_size": 2},
    "day_length": 60.0,
    "record": {"measures": True, "agent": 5, "network": [6], "keep": [DAY]},
}
DEVICES = {
    "devices": "all",
    "devices_market": {"rounds": 1},
    "device": {"resources_in_tool": 2, "components": 2},
    "invention": {"tool_probability": 0.2, "device_probability": 0.2},
}
REMOVALS = [
    {"day": 3, "remove": "agent", "index": 1},
    {"day": 5, "remove": "resource", "index": 2, "holdings": "lose"},
]
LONGER = {"day": DAY, "label": "longer day", "set": {"day_length": 70}}
LOST = {"day": DAY, "until": DAY + 1, "label": "a lost day", "set": {"day_length": 10}}
KEYS = {
    "day_length": {"low": 50, "high": 60},
    "utility.exponent": {"low": 2, "high": 2.2},
    "extraction.max_effort": {"low": 8, "high": 10},
}


def run(path, name="run", **more):
    out = path / f"{name}.h5"
    societies.run(config_from_dict({**SMALL, **more}), out=out, device="reference")
    return [out]


def branch(path):
    (parent,) = run(path)
    out, config = path / "branch.h5", config_from_dict(SMALL)
    values = {"day_length": 70.0}
    societies.run(config, out=out, start=parent, day=DAY, values=values, device="reference")
    return [out]


def shipped(path, name, *overrides):
    societies.run(load_config(name, overrides), out=path / "a.h5", device="reference")
    return [path / "a.h5"]


def study(path, vary, replicates=1, name="study"):
    base = {key: one for key, one in SMALL.items() if key not in ("record", "replicates")}
    said = {"base": base, "vary": vary, "replicates": replicates}
    said["record"] = {"variables": ["utility", "gini", "units_extracted"]}
    (path / f"{name}.yaml").write_text(yaml.safe_dump(said))
    sweep.run(path / f"{name}.yaml", out=path / f"{name}.h5", device="reference")
    return [path / f"{name}.h5"]


def policies(path):
    return study(path, {"grid": {"interventions": [[], [LONGER], [LOST]]}}, 4, "policies")


PAIR = {"day_length": [50, 60]}
KINDS = {
    "a plate": (
        lambda path: shipped(path, "physics/laplace/quickstart", "rows=6", "columns=6", "steps=8"),
        "",
    ),
    "policies": (policies, "sweep series gini effect irf"),
    "run": (run, "series income gini distribution time hhi trade_network"),
    "run with devices": (
        lambda path: run(path, **DEVICES),
        "series income gini distribution sources time devices hhi interdependence trade_network",
    ),
    "branch": (branch, "series income gini distribution time hhi shock trade_network"),
    "fan": (
        lambda path: run(path, replicates=6, fan={"day": DAY, "futures": 3}),
        "series income gini distribution time hhi trade_network fan",
    ),
    "removals": (
        lambda path: run(path, shocks=REMOVALS),
        "series income gini distribution time hhi shock trade_network",
    ),
    "groups": (
        lambda path: run(path, groups=[{"name": one, "count": 2} for one in "ab"]),
        "series income gini distribution time hhi trade_network",
    ),
    "two runs": (
        lambda path: run(path) + run(path, "other", **DEVICES),
        "series income gini distribution time hhi effect",
    ),
    "twins": (
        lambda path: run(path) + run(path, "other", interventions=[LONGER]),
        "series income gini distribution time hhi effect irf",
    ),
    "run and study": (lambda path: run(path) + policies(path), "effect"),
    "two studies": (
        lambda path: policies(path) + study(path, {"grid": PAIR}, 2),
        "series gini effect",
    ),
    "grid of a key": (lambda path: study(path, {"grid": PAIR}, 2), "series gini effect sweep"),
    "grid of two keys": (
        lambda path: study(path, {"grid": {**PAIR, "utility.exponent": [2, 2.1]}}, 2),
        "series gini effect sweep",
    ),
    "sample": (
        lambda path: study(path, {"latin_hypercube": {"points": 10, "seed": 1, "keys": KEYS}}),
        "series gini sweep",
    ),
    "saltelli": (
        lambda path: study(
            path, {"saltelli": {"points": 4, "second_order": False, "seed": 1, "keys": KEYS}}
        ),
        "series gini sweep sensitivity",
    ),
    "morris": (
        lambda path: study(
            path, {"morris": {"trajectories": 3, "levels": 4, "seed": 1, "keys": KEYS}}
        ),
        "series gini sweep sensitivity",
    ),
    "bam": (
        lambda path: shipped(
            path, "models/bam/quickstart", "quarters=8", "replicates=2", "record.detail=8"
        ),
        "series gini",
    ),
    "a translated model": (
        lambda path: shipped(
            path,
            "models/boltzmann/quickstart",
            *("replicates=2", "agents=9", "days=20", "record.detail=20"),
        ),
        "series gini",
    ),
}
"""For each kind of file how it is made, and the figures that fit it."""


DEAR = ("run", "two runs", "twins", "run with devices", "removals", "groups")
DEAR += ("run and study", "two studies")
"""Kinds of the economy with the most to draw; a branch, a fan and policies have their figures."""


@pytest.mark.sample
@pytest.mark.parametrize(
    "kind", [pytest.param(one, marks=pytest.mark.thorough) if one in DEAR else one for one in KINDS]
)
def test_every_figure_shows_the_file_or_names_the_figures_that_fit(kind, tmp_path):
    make, fit = KINDS[kind]
    files = make(tmp_path)
    cases = [xr.open_dataset(file) for file in files]
    for name in FIGURES:
        if name not in fit.split():
            with pytest.raises(ConfigError) as refused:
                make_figure(files, name)
            said = str(refused.value)
            assert "\n" not in said and said.startswith(f"figure='{name}': "), said
            assert said.endswith(
                f"; figures that fit: {', '.join(sorted_as_known(fit)) or 'none'}"
            ), said
            continue
        figure = make_figure(files, name)
        foot = small_print(figure)
        named = cases[1:] or cases if name == "effect" else cases  # its base is named by its label
        assert all(case.encoding["source"].rsplit("/", 1)[1] in foot for case in named), foot
        CHECKS[name](figure, split(cases, name), foot)
    if kind != "run and study":  # which have no overview in common
        assert make_figure(files).axes


def sorted_as_known(names):
    return sorted(names.split(), key=list(FIGURES).index)


def copies(data):
    return "run" if "run" in data.dims else str(data.attrs["copies"])


def clock(data):
    return str(data.attrs["clock"])


def split(cases, figure):
    """Return the cases that a figure compares: files, or the points of studies of few points."""
    found = []
    for data in cases:
        points = np.unique(data.point) if "point" in data.coords else []
        whole = figure in ("sweep", "sensitivity") or not 0 < len(points) <= 8
        order = [] if whole else in_order(data, points, figure)
        found += [data] if whole else [data.isel(run=data.point.values == one) for one in order]
    return found


def in_order(data, points, figure):
    """Return the points in the order of figures: numbers ascend, effects have that of the study."""
    keys = [key for key in ("day_length", "utility.exponent") if key in data.coords]
    if not keys or figure in ("effect", "irf"):
        return points
    rows = [data.isel(run=data.point.values == one).isel(run=0) for one in points]
    return [int(one.point) for one in sorted(rows, key=lambda row: [float(row[k]) for k in keys])]


def panels(figure, data):
    """Return each panel over time with its variable, which its title names."""
    known = {title_of(data[name]): str(name) for name in data}
    found = [(axes, known[axes.get_title("left").split(",")[0]]) for axes in figure.axes]
    assert len({name for _, name in found}) == len(found) > 0
    return found


def curves(axes):
    """Return the lines that show data, not events or the zero."""
    return [line for line in axes.lines if not line.is_dashed() and len(line.get_xdata()) > 2]


def over_copies(data, name):
    """Return the mean over the copies of a case; of more than eight points their median."""
    values = data[name].where(abs(data[name]) < np.inf)
    points = np.unique(data.point) if "point" in data.coords else []
    if len(points) > 1:
        return values.groupby("point").mean().median("point")
    return values.mean(copies(data))


def lines(figure, cases, foot):
    names = [
        name
        for name, one in cases[0].data_vars.items()
        if all(name in data and {*data[name].dims} == {clock(data), copies(data)} for data in cases)
        and one.dtype.kind in "iuf"
    ]
    drawn, lost = panels(figure, cases[0]), 0
    for axes, name in drawn:
        assert len(curves(axes)) == len(cases), name
        for line, data in zip(curves(axes), cases, strict=True):
            np.testing.assert_array_equal(line.get_xdata(), data[clock(data)], name)
            np.testing.assert_allclose(line.get_ydata(), over_copies(data, name), 1e-12, 1e-15)
            lost += int((~np.isfinite(data[name])).sum())
    assert ("missing or infinite values left out" in foot) == (lost > 0), (lost, foot)
    return names, [name for _, name in drawn]


def series(figure, cases, foot):
    names, drawn = lines(figure, cases, foot)
    assert drawn == names[:6]
    assert (f"{len(drawn)} of {len(names)} series; others by name" in foot) == (len(names) > 6)
    every = {n for data in cases for n in data if {*data[n].dims} == {clock(data), copies(data)}}
    only = len(every) - len(names)
    assert (f"{only} more series, which not every result has" in foot) == (only > 0), foot


def gini(figure, cases, foot):
    names, drawn = lines(figure, cases, foot)
    assert drawn == [name for name in names if name.startswith("gini") and name != "gini_paper"]


def income(figure, cases, foot):
    names = ("income", "consumption", "wealth")
    assert lines(figure, cases, foot)[1] == [*names, *(f"gini_{name}" for name in names)]


def interdependence(figure, cases, foot):
    assert lines(figure, cases, foot)[1] == ["interdependence"]


def distribution(figure, cases, foot):
    lorenz, *ridges = figure.axes
    *shown, _ = lorenz.lines
    for line, data in zip(shown, cases, strict=True):
        curve = analysis.lorenz(data.agent_wealth.isel(agent_day=-1)).mean("society")
        distance = np.allclose(line.get_ydata()[-1], 0)
        expected = curve.poorest - curve if distance else curve
        np.testing.assert_allclose(line.get_ydata(), expected, atol=1e-12)
    for axes, data in zip(ridges, cases, strict=True):
        assert len(axes.lines) == data.sizes["agent_day"]
        assert [text.get_text() for text in axes.get_yticklabels()] == [
            str(day) for day in data.agent_day.values
        ]


def stacked(variable):
    def check(figure, cases, foot):
        for axes, data in zip(figure.axes, cases, strict=True):
            dim = next(d for d in data[variable].dims if d not in ("society", "day"))
            total = data[variable].sum(dim)
            shares = (data[variable] / total.where(total > 0)).mean("society").fillna(0)
            used = shares.isel({dim: (shares > 0).any("day").values})
            assert len(axes.collections) >= used.sizes[dim]
            known = {area.get_label().replace(" ", "_"): area for area in axes.collections}
            below = np.zeros(data.sizes["day"])
            for name, area in known.items():
                own = [str(one).replace(" ", "_") for one in shares[dim].values].index(name)
                below = below + shares.isel({dim: own}).values
                edge = upper(area)
                np.testing.assert_allclose([edge[day] for day in data.day.values], below, 1e-9)

    return check


def devices(figure, cases, foot):
    for axes, data in zip(figure.axes, cases, strict=True):
        expected = data.device_maker_share.mean("society")
        for line, place in zip(axes.lines, range(expected.sizes["made_type"]), strict=True):
            np.testing.assert_allclose(line.get_ydata(), expected.isel(made_type=place))


def hhi(figure, cases, foot):
    for axes, data in zip(figure.axes, cases, strict=True):
        middle = data.hhi.sel({"quantile": 0.5}).mean("society")
        np.testing.assert_allclose(curves(axes)[0].get_ydata(), middle)


def shock(figure, cases, foot):
    (axes,), (data,) = figure.axes, cases
    first = min(int(line.get_xdata()[0]) for line in axes.lines if line.is_dashed())
    level = data.utility.sel(day=slice(1, first)).mean("day")
    np.testing.assert_allclose(curves(axes)[0].get_ydata(), (data.utility / level).mean("society"))


def trade_network(figure, cases, foot):
    (data,) = cases
    links = analysis.trade_network(data.encoding["source"], day=6, society=0)
    (image,) = figure.axes[1].images or [None]
    total = float(links.units.sum() + (links.units_paid.sum() if "units_paid" in links else 0))
    assert np.nansum(image.get_array().filled(0)) == total


def effect(figure, cases, foot):
    base, *others = cases
    for axes, name in panels(figure, base):
        assert len(curves(axes)) == len(others)
        for line, data in zip(curves(axes), others, strict=True):
            both = min(base.sizes[copies(base)], data.sizes[copies(data)])
            values = data[name].values[:both] - base[name].values[:both]
            np.testing.assert_allclose(line.get_ydata(), values.mean(0), atol=1e-9)
    assert "difference to" in foot
    sizes = [data.sizes[copies(data)] for data in cases]
    pairs = " to ".join(map(str, sorted({min(sizes[0], one) for one in sizes[1:]})))
    assert f"mean of {pairs} pairs" in {text.get_text() for text in figure.legends[0].get_texts()}


def irf(figure, cases, foot):
    base, *others = cases
    for axes, name in panels(figure, base):
        for line, data in zip(curves(axes), others, strict=True):
            values = (data[name].values - base[name].values)[:, DAY:]
            np.testing.assert_allclose(line.get_ydata(), values.mean(0), atol=1e-9)
            assert line.get_xdata().tolist() == [*range(1, DAYS - DAY + 1)]
    assert f"mean of {base.sizes[copies(base)]} twins" in foot


def fan(figure, cases, foot):
    (data,) = cases
    for axes, name in panels(figure, data):
        for past in range(2):
            futures = data[name].values[3 * past : 3 * past + 3]
            early, middle = axes.lines[2 * past : 2 * past + 2]
            np.testing.assert_array_equal(early.get_ydata(), futures[0, :DAY])
            np.testing.assert_allclose(middle.get_ydata(), np.median(futures, 0)[DAY - 1 :])


def of_sweep(figure, cases, foot):
    (data,) = cases
    keys = [key for key in ("interventions", *KEYS) if key in data.coords]
    shown = [axes for axes in figure.axes if axes.get_title("left")]
    for place, axes in enumerate(shown):
        name = ("utility", "gini")[place // (1 if len(keys) < 3 else len(keys))]
        title = " ".join(axes.get_title("left").split())
        assert title == f"{title_of(data[name])}, day {DAYS}"
        means = data[name].isel(day=-1).groupby("point").mean().values
        if axes.images:
            assert sorted(axes.images[0].get_array().ravel()) == pytest.approx(sorted(means))
            continue
        x, y = axes.lines[0].get_data()
        found = x if keys == ["interventions"] else y
        assert sorted(found) == pytest.approx(sorted(means))
    if keys == ["interventions"]:
        labels = [text.get_text() for text in shown[0].get_yticklabels()]
        assert labels == ["none", "longer day", "a lost day"]


def sensitivity(figure, cases, foot):
    (axes,), (data,) = figure.axes, cases
    last, method = data.gini.isel(day=-1), json.loads(data.attrs["design"])[0]
    if "morris" in method:
        expected = [analysis.morris(last, [*KEYS], levels=4).mu_star.values]
    else:
        found = analysis.sobol(last, [*KEYS], second_order=False)
        expected = [found.total.values, found["first"].values]
    bars = [bar.get_width() for bar in axes.patches]
    assert sorted(bars) == pytest.approx(sorted(np.concatenate(expected)))


CHECKS = {
    **{name: globals()[name] for name in FIGURES if name not in ("sources", "time", "sweep")},
    "sources": stacked("extraction_share"),
    "time": stacked("minutes"),
    "sweep": of_sweep,
}


def test_the_command_draws_a_study_without_options_as_the_figure_that_fits(tmp_path, shell):
    """The options of the overview of a single run have defaults that this figure does not take."""
    made, _ = KINDS["saltelli"]
    file, out = str(made(tmp_path)[0]), str(tmp_path / "drawn.svg")
    assert shell("plot", file, "--out", out)[0] == 0
    code, _, err = shell("plot", file, "--out", out, "--bands", "quantiles")
    assert code == 2 and "--bands: the figure 'sensitivity' leaves no choice of it" in err
