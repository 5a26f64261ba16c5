"""What is in the file of a plate: changes every few steps, plates now and then, the end."""

import io

import numpy as np
import pytest
import xarray as xr

from societies.physics.laplace import WORKLOAD
from societies.physics.laplace.config import LaplaceConfig
from societies.physics.laplace.figure import figure
from societies.workload import Block, Setup
from societies.workload.running.contents import contents_of
from societies.workload.running.engines import ReferenceEngine


class Arrays:
    """A file in memory: what is declared, filled with NaN until it is written."""

    def __init__(self, contents):
        lengths = {one.name: len(one.values) for one in contents.coordinates()}
        self.of = {
            one.name: np.full([lengths[dim] for dim in one.dims], np.nan)
            for one in contents.variables()
        }
        self.dims = {one.name: one.dims for one in contents.variables()}

    def write(self, name, values, **index):
        place = tuple(index.get(dim, slice(None)) for dim in self.dims[name])
        assert self.of[name][place].shape == np.shape(values)
        self.of[name][place] = values

    def write_each(self, parts):
        for name, values, index in parts:
            self.write(name, values, **index)


@pytest.mark.parametrize("blocks", [[(1, 30)], [(1, 3), (4, 4), (5, 12), (13, 29), (30, 30)]])
def test_blocks_of_any_length_make_the_same_file(blocks):
    record = {"series": 4, "detail": 30}
    config = LaplaceConfig(workload="laplace", side=8, steps=30, check_every=50, record=record)
    contents = contents_of(Setup(WORKLOAD, config))
    file, engine = Arrays(contents), ReferenceEngine(WORKLOAD, WORKLOAD.parameters(config))
    engine.start()
    changes = []
    for first, last in blocks:
        engine.run_ticks(first, last)
        logs = engine.logs()
        changes += logs["change"][0].tolist()
        detail = {last: contents.detail(last, engine.state())} if last in contents.stops() else {}
        block = Block(first, last, logs, {}, engine.state, None, detail=detail)
        contents.write(file, block)
    assert contents.means(block) == {"change": changes[-1]}
    engine.finish()
    contents.finish(file, 30, engine.state)
    steps = next(one.values for one in contents.coordinates() if one.name == "step")
    assert steps.tolist() == [4, 8, 12, 16, 20, 24, 28]
    assert file.of["change"][0].tolist() == [changes[step - 1] for step in steps]
    assert (np.diff(file.of["change"][0]) < 0).all()
    last = engine.state()
    assert (file.of["phi"] == last["phi"]).all() and (file.of["free"] == last["free"]).all()
    assert (file.of["detail_phi"][:, 0] == last["phi"]).all()
    assert file.of["sum"].tolist() == last["sum"].tolist() != [0.0]
    assert file.of["residual"].tolist() == last["residual"].tolist()
    assert file.of["ended"].tolist() == [-1]


def test_the_figure_has_the_potentials_in_the_seeds_colours():
    phi = np.zeros((2, 5, 7))
    phi[1, 2, 3], phi[1, 1, 1] = 1.0, 0.5
    results = xr.Dataset(
        {
            "phi": (("plate", "row", "column"), phi, {"units": "V"}),
            "change": (("plate", "step"), [[1.0, 0.5, 0.0]] * 2, {"units": "V"}),
        },
        {"step": [1, 2, 3], "plate": [0, 1]},
        {"title": "a plate", "clock": "step", "copies": "plate"},
    )
    drawing = figure(results, plate=1)
    plate, changes, scale = drawing.axes
    (image,) = plate.images
    assert image.get_array().tolist() == phi[1].tolist()
    colours = image.to_rgba(phi[1])[[0, 1, 2], [0, 1, 3], :3]
    assert np.abs(colours - [[0, 0, 1], [0, 1, 0], [1, 0, 0]]).max() < 0.01
    assert (plate.get_title(), scale.get_ylabel()) == ("a plate", "potential [V]")
    assert changes.get_yscale() == "log"
    assert changes.get_ylabel() == "largest change of a cell [V]"
    drawing.savefig(io.BytesIO(), format="png")
    assert figure(results, palette="viridis").axes[0].images[0].get_cmap().name == "viridis"


@pytest.mark.parametrize(("looks", "marker"), [(1, "."), (100, "."), (101, "")])
def test_the_line_of_a_long_run_has_no_dots_that_hide_it(looks, marker):
    """A file has rows for more steps than a plate takes that meets its tolerance."""
    change = np.full((1, 200), np.nan)
    change[0, :looks] = 0.5
    results = xr.Dataset(
        {
            "phi": (("plate", "row", "column"), np.zeros((1, 3, 3))),
            "change": (("plate", "step"), change),
        },
        {"step": np.arange(1, 201), "plate": [0]},
        {"title": "a plate", "clock": "step", "copies": "plate"},
    )
    _, changes, _ = figure(results).axes
    (line,) = changes.lines
    assert line.get_marker() == marker
