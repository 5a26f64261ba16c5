"""Atoms on the page: what is shown is what a run of the same configuration computes."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

import societies
from societies.config import to_yaml
from societies.physics.molecular_dynamics.picture import EDGE, PAPER, SIDE, picture
from societies.physics.molecular_dynamics.view import TURN
from societies.workload import Change, Drag, Mouse, Press, Slider
from societies.workload.running.registry import load_config, workload


@pytest.fixture
def configured(tmp_path):
    """Return a function that makes the configuration of 32 atoms."""

    def made(**keys):
        file = tmp_path / "box.yaml"
        keys = {"workload": "molecular_dynamics", "cells": 2, "steps": 12} | keys
        file.write_text(yaml.dump(keys))
        return load_config(file)

    return made


def view_of(config, device="reference"):
    return workload("molecular_dynamics").view(config, device=device)


def shown(view, state):
    """Return all pictures of a state."""
    return [frame for frame in view.frames(state) if frame is not None]


def of_run(config, path, state):
    """Return the picture at the end of a run."""
    societies.run(config, out=path, device="reference")
    with societies.open_results(path) as results:
        x, v = (results[name].values[0].astype(np.float64) for name in "xv")
        speeds = np.sqrt((v**2).sum(axis=1))
        length = float(results.attrs["box_length"])
        return picture(x, speeds, length, state.around, state.over)


@pytest.mark.parametrize("device", ["reference", "auto"])
def test_the_last_picture_is_that_of_a_run(configured, tmp_path, device):
    config = configured()
    view = view_of(config, device)
    frames = shown(view, view.initial)
    captions = [frame.caption.partition(",")[0] for frame in frames]
    assert captions == ["step 0", "step 5", "step 10", "step 12"]
    assert np.array_equal(frames[-1].pixels, of_run(config, tmp_path / "a.h5", view.initial))
    assert not np.array_equal(frames[-1].pixels, frames[0].pixels)
    assert len(shown(view, view.initial)) == 1  # it has come to its last step


def test_a_box_is_seen_from_another_side_and_continues(configured, tmp_path):
    config = configured()
    view = view_of(config)
    running = view.frames(view.initial)
    assert next(running).caption.startswith("step 0, temperature 1.4")
    while (frame := next(running)) is None:
        pass
    running.close()
    state = view.take(view.initial, Drag(view.initial, 9.0, 9.0, 50.0, -20.0))
    assert (state.around, state.over) == pytest.approx(
        (view.initial.around + 50 * TURN, view.initial.over - 20 * TURN)
    )
    turned = shown(view, state)
    assert turned[0].caption == frame.caption
    assert not np.array_equal(turned[0].pixels, frame.pixels)
    assert np.array_equal(turned[-1].pixels, of_run(config, tmp_path / "a.h5", state))


def test_another_temperature_or_density_is_the_run_of_the_copied_configuration(
    configured, tmp_path
):
    view = view_of(configured())
    before = shown(view, view.initial)
    state = view.take(view.initial, Change("temperature", 3.0))
    state = view.take(state, Change("density", 0.05))
    state = view.take(state, Change("steps", 7))
    frames = shown(view, state)
    assert frames[0].caption == "step 0, temperature 3"
    assert frames[1].caption.startswith("step 7,")
    copied = tmp_path / "copied.yaml"
    copied.write_text(to_yaml(view.configuration(state)))
    config = load_config(copied)
    assert (config.temperature, config.density) == (3.0, 0.05)
    assert np.array_equal(frames[-1].pixels, of_run(config, tmp_path / "b.h5", state))
    state = view.take(state, Press("reset"))
    back = shown(view, state)
    assert [one.caption for one in back] == [one.caption for one in before]
    assert np.array_equal(back[-1].pixels, before[-1].pixels)
    state = view.take(state, Press("restart"))
    assert shown(view, state)[0].caption == before[0].caption


def test_controls_are_those_that_have_an_effect(configured, tmp_path):
    def names(config):
        controls = view_of(config).controls(view_of(config).initial)
        return [one.name for one in controls if not isinstance(one, Mouse)]

    rest = ["steps", "restart", "reset"]
    assert names(configured()) == ["temperature", "density", *rest]
    assert names(configured(velocities="pairs")) == ["density", *rest]
    atoms = tmp_path / "atoms.xyz"
    atoms.write_text('2\nLattice="8 0 0 0 8 0 0 0 8"\nAr 1 1 1\nAr 3 3 3\n')
    assert names(configured(atoms=str(atoms), velocities="zero")) == rest


@pytest.mark.parametrize("variant", ["auto", "cell", "list"])
def test_no_box_that_a_slider_allows_is_too_small(configured, variant):
    view = view_of(configured(cells=3, density=0.1, variant=variant))
    sliders = {one.name: one for one in view.controls(view.initial) if isinstance(one, Slider)}
    for value, good in ((sliders["density"].most, True), (sliders["density"].most + 0.01, False)):
        state = view.take(view.initial, Change("density", value))
        assert (list(view.configuration(state).conflicts()) == []) == good
    state = view.take(view.initial, Change("temperature", sliders["temperature"].least))
    assert list(view.configuration(state).conflicts()) == []


def test_atoms_that_are_too_close_end_it(configured, tmp_path):
    atoms = tmp_path / "atoms.xyz"
    atoms.write_text('2\nLattice="8 0 0 0 8 0 0 0 8"\nAr 1 1 1\nAr 1 1 1.25\n')
    view = view_of(configured(atoms=str(atoms), velocities="zero"))
    (frame,) = shown(view, view.initial)
    assert frame.caption == "step 0, temperature 0: atom 0 is too close to another one"


def test_the_nearer_ball_covers_the_farther_one():
    x = np.array([[5.0, 5.0, 1.0], [5.0, 5.0, 9.0], [np.nan, 0.0, 0.0]])
    for order in (x, x[::-1]):
        speeds = order[:, 2].copy()
        drawn = picture(order, speeds, 10.0, 0.0, 0.0)
        assert drawn.shape == (SIDE, SIDE, 4) and (drawn[..., 3] == 255).all()
        red, _, blue, _ = drawn[SIDE // 2, SIDE // 2].astype(int)
        assert red > blue  # the fast one, at z = 9, is in front
    assert (drawn[0, 0] == PAPER).all() and (drawn[..., 0] == EDGE).any()
    empty = picture(x[2:], x[2:, 2], 10.0, 0.0, 0.0)
    assert set(np.unique(empty[..., :3])) == {PAPER, EDGE}
    many = np.random.default_rng(1).uniform(0, 50, (70_000, 3))
    small = picture(many, np.zeros(len(many)), 50.0, 0.4, 0.3)
    assert (small[SIDE // 2, SIDE // 2] != PAPER).any()


def test_turning_does_not_begin_again(configured):
    view = view_of(configured())
    last = shown(view, view.initial)[-1]
    state = replace(view.initial, around=1.0)
    (frame,) = shown(view, state)
    assert frame.caption == last.caption
