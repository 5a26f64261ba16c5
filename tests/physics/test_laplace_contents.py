"""What is in the file of a plate: changes every so many steps, plates now and then, the end."""

import numpy as np
import pytest

from societies.physics.laplace import WORKLOAD
from societies.physics.laplace.config import LaplaceConfig
from societies.workload import Block
from societies.workload.contents import contents_of
from societies.workload.engines import ReferenceEngine


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


@pytest.mark.parametrize("blocks", [[(1, 30)], [(1, 3), (4, 4), (5, 12), (13, 29), (30, 30)]])
def test_blocks_of_any_length_make_the_same_file(blocks):
    record = {"series": 4, "detail": 30}
    config = LaplaceConfig(workload="laplace", side=8, steps=30, check_every=50, record=record)
    contents = contents_of(WORKLOAD, config)
    file, engine = Arrays(contents), ReferenceEngine(WORKLOAD, WORKLOAD.parameters(config))
    engine.start()
    changes = []
    for first, last in blocks:
        engine.run_ticks(first, last)
        logs = engine.logs()
        changes += logs["change"][0].tolist()
        block = Block(first, last, logs, {}, engine.state, None)
        contents.write(file, block)
    assert contents.means(block) == {"change": changes[-1]}
    engine.finish()
    contents.finish(file, 30, engine.state)
    steps = next(one.values for one in contents.coordinates() if one.name == "step")
    assert steps.tolist() == [4, 8, 12, 16, 20, 24, 28]
    assert file.of["change"][0].tolist() == [changes[step - 1] for step in steps]
    assert (np.diff(file.of["change"][0]) < 0).all()
    last = engine.state()
    assert (file.of["phi"][0, 0] == last["phi"][0]).all()
    assert file.of["sum"].tolist() == last["sum"].tolist() != [0.0]
    assert file.of["residual"].tolist() == last["residual"].tolist()
    assert file.of["ended"].tolist() == [-1]
