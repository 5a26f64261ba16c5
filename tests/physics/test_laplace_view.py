"""A plate on the page: what is shown is what a run of the same configuration computes."""

import numpy as np
import pytest
import yaml

import societies
from societies.config import to_yaml
from societies.physics.laplace.view import EDGES, coloured
from societies.workload import Change, Drag, Press, Slider
from societies.workload.running.registry import load_config, workload


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "plate.yaml"
    keys = {"workload": "laplace", "rows": 12, "columns": 20, "tolerance": 1e-3, "check_every": 5}
    file.write_text(yaml.dump({**keys, "steps": 5000, "record": {"series": 5}}))
    return load_config(file)


@pytest.fixture(params=["auto", "reference"])
def view(config, request):
    return workload("laplace").view(config, device=request.param)


def last(view, state):
    """Return the last picture of a state."""
    return [frame for frame in view.frames(state) if frame is not None][-1]


def test_the_last_picture_is_that_of_a_run(config, view, tmp_path):
    frame = last(view, view.initial)
    report = societies.run(config, out=tmp_path / "a.h5")
    with societies.open_results(tmp_path / "a.h5") as results:
        assert np.array_equal(frame.pixels, coloured(results.phi[0].values, 0.0, 1.0))
    assert frame.caption.startswith(f"step {report.last_tick}, largest change ")
    assert frame.caption.endswith("the tolerance is met")
    assert len(list(view.frames(view.initial))) == 1  # it has ended


def test_after_a_restart_it_is_that_of_a_run_of_the_copied_configuration(view, tmp_path):
    state, began = view.initial, view.initial
    next(view.frames(state))
    state = view.take(state, Change("top", 0.5))
    state = view.take(state, Change("steps", 7))
    state = view.take(state, Change("pen", -1.0))
    state = view.take(state, Drag(state, 3.5, 2.5, 0.0, 0.0))
    began = view.take(state, Press("clear"))
    state = view.take(state, Drag(began, 14.0, 8.0, -2.0, -99.0))
    state = view.take(state, Press("restart"))
    frame = last(view, state)
    copied = tmp_path / "copied.yaml"
    copied.write_text(to_yaml(view.configuration(state)))
    config = load_config(copied)
    assert config.border == (0.5, 0.0, 0.0, 0.0)
    assert [(one.rows, one.columns) for one in config.conductor] == [
        ((5, 6), (9, 10)),
        ((1, 8), (12, 14)),
    ]
    societies.run(config, out=tmp_path / "b.h5")
    with societies.open_results(tmp_path / "b.h5") as results:
        assert np.array_equal(frame.pixels, coloured(results.phi[0].values, -1.0, 1.0))


def test_the_plate_continues_from_where_it_is(view):
    before = last(view, view.initial)
    state = view.take(view.initial, Change("left", 1.0))
    first = next(view.frames(state))
    assert (first.pixels[1:-1, 0] == [255, 0, 0, 255]).all()  # the edge is drawn at once
    assert np.array_equal(first.pixels[:, 1:], before.pixels[:, 1:])
    after = last(view, state)
    assert not np.array_equal(after.pixels[:, 1:], before.pixels[:, 1:])
    assert "the tolerance is met" in after.caption


def test_a_conductor_that_is_removed_gives_its_cells_back(view):
    before = last(view, view.initial)
    state = view.take(view.initial, Drag(view.initial, 2.0, 2.0, 3.0, 3.0))
    drawn = last(view, state)
    assert (drawn.pixels[2:6, 2:6] == [255, 0, 0, 255]).all()
    state = view.take(state, Press("clear"))
    assert (last(view, state).pixels[3, 3] != [255, 0, 0, 255]).any()
    state = view.take(state, Press("reset"))
    assert np.array_equal(last(view, state).pixels, before.pixels)


def test_a_drag_stays_on_the_plate(view):
    began = view.initial
    for x, y, dx, dy in (
        (-50, -50, 1e6, 1e6),
        (1e6, 1e6, -2e6, -2e6),
        (0, 0, 0, 0),
        (19.9, 11, 9, 9),
    ):
        state = view.take(began, Drag(began, x, y, dx, dy))
        (one,) = state.drawn
        assert 1 <= one.rows[0] <= one.rows[1] <= 10
        assert 1 <= one.columns[0] <= one.columns[1] <= 18
        load_error = list(view.configuration(state).conflicts())
        assert load_error == []


def test_steps_do_not_touch_the_plate(view):
    frames = [frame for frame in view.frames(view.initial) if frame is not None]
    state = view.take(view.initial, Change("steps", 1))
    assert [frame.caption for frame in view.frames(state)] == [frames[-1].caption]
    sliders = {one.name: one for one in view.controls(state) if isinstance(one, Slider)}
    assert {*EDGES, "pen", "steps"} == set(sliders)
    assert sliders["steps"].value == 1


def test_colours_are_those_of_the_figure():
    shown = coloured(np.array([[-1.0, 0.0, 1.0, 5.0, -5.0]]), -1.0, 1.0)[0, :, :3].tolist()
    assert shown[0] == shown[4] == [0, 0, 255] and shown[2] == shown[3] == [255, 0, 0]
    assert shown[1][1] > 250
    assert (coloured(np.zeros((2, 2)), 0.0, 0.0) == [0, 0, 255, 255]).all()
