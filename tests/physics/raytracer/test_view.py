"""A scene on the page: what is shown is what a run of the same configuration computes."""

from itertools import pairwise

import numpy as np
import pytest
from marks import thorough_but

import societies
from societies import config_from_dict
from societies.config import to_yaml
from societies.physics.raytracer.view import ENGINES, PREVIEWS
from societies.workload import Button, Change, Choice, Drag, Mouse, Press, Slider
from societies.workload.declare.view import Wheel
from societies.workload.running.registry import load_config, workload

TWO_LIGHTS = {
    "scene": {
        "spheres": [{"centre": [4, 0, 0], "radius": 1, "reflect": 0.5}],
        "planes": [{"point": [0, 0, -1], "normal": [0, 0, 1]}],
        "lights": [{"position": [0, 3, 4]}, {"position": [40.5, -4, 3], "intensity": 0.8}],
    },
    "shading": "whitted",
    "background": [1, 2, 3],
}


def view_of(device="auto", **settings):
    keys = {"workload": "raytracer", "width": 40, "height": 30, **settings}
    return workload("raytracer").view(config_from_dict(keys), device=device)


def pictures(view, state):
    return [frame for frame in view.frames(state) if frame is not None]


def is_what_a_run_computes(view, state, tmp_path):
    (tmp_path / "copied.yaml").write_text(to_yaml(view.configuration(state)))
    societies.run(load_config(tmp_path / "copied.yaml"), out=tmp_path / "run.h5", overwrite=True)
    with societies.open_results(tmp_path / "run.h5") as results:
        shown = pictures(view, state)[-1].pixels
        assert np.array_equal(shown[:, :, :3], results.picture[0].values)
        assert (shown[:, :, 3] == 255).all()


@pytest.mark.parametrize("device", thorough_but(["auto"], ["auto", "reference"]))
def test_the_last_picture_is_that_of_a_run_of_the_copied_configuration(device, tmp_path):
    view = view_of(device, scene={"grid": 2}, camera=[-3, 0.5, 0.5])
    is_what_a_run_computes(view, view.initial, tmp_path)
    state = view.take(view.initial, Wheel(2.0))
    state = view.take(state, Drag(state, 10, 10, 20, -10))
    assert state.camera == (-2.4, 0.7, 0.4)
    turned = view.take(state, Wheel(-1.0))  # while the mouse drags on
    assert view.take(turned, Drag(state, 10, 10, 5, 0)).camera == (-2.7, 0.75, 0.4)
    for name, value in (("x", -1.5), ("z", 2.25), ("grid", 4), ("samples", 2)):
        state = view.take(state, Change(name, value))
    assert state.lights == ((-1.5, 0.0, 2.25),)
    is_what_a_run_computes(view, state, tmp_path)
    is_what_a_run_computes(view, view.take(state, Change("shading", "whitted")), tmp_path)
    is_what_a_run_computes(view, state, tmp_path)  # by an engine that was reused
    assert view.take(state, Press("reset")) == view.initial
    is_what_a_run_computes(view, view.initial, tmp_path)


def test_a_drag_counts_from_where_it_began():
    view = view_of()
    began = view.initial
    state = view.take(began, Drag(began, 0, 0, 5, 5))
    assert view.take(state, Drag(began, 0, 0, 100, 0)).camera == (0.0, 1.0, 0.0)
    assert view.take(state, Drag(began, 0, 0, 0, 0)) == began


def test_one_of_several_lights_is_moved(tmp_path):
    view = view_of(**TWO_LIGHTS)
    state = view.take(view.initial, Change("light", "2"))
    sliders = {one.name: one for one in view.controls(state) if isinstance(one, Slider)}
    assert "grid" not in sliders
    assert (sliders["x"].value, sliders["x"].least, sliders["x"].most) == (40.5, -40.5, 40.5)
    assert (sliders["y"].least, sliders["y"].most, sliders["y"].step) == (-30, 30, 0.001)
    state = view.take(state, Change("y", 5.0))
    assert state.lights == ((0.0, 3.0, 4.0), (40.5, 5.0, 3.0))
    is_what_a_run_computes(view, state, tmp_path)
    assert view.configuration(state).scene.lights[1].intensity == 0.8
    seed = view.take(state, Change("shading", "seed"))
    assert view.configuration(seed).background is None
    is_what_a_run_computes(view, seed, tmp_path)
    assert view.configuration(state).background == (1, 2, 3)


def test_controls_have_the_values_of_the_state():
    view = view_of(scene={"grid": 3}, samples=2)
    controls = view.controls(view.initial)
    kinds = [type(one) for one in controls]
    assert kinds == [Mouse, *[Slider] * 5, Choice, Button]
    values = {one.name: one.value for one in controls if isinstance(one, Slider)}
    assert values == {"x": 0.0, "y": 0.0, "z": 0.0, "grid": 3, "samples": 2}
    assert len({one.name for one in controls if not isinstance(one, Mouse)}) == 7


def test_the_camera_does_not_go_where_it_looks_at():
    view = view_of(camera=[0, 0, 0], look_at=[0.3, 0, 0])
    assert view.take(view.initial, Wheel(1.0)) == view.initial
    assert view.take(view.initial, Wheel(2.0)).camera == (0.6, 0, 0)
    view = view_of(camera=[0, 0, 0], look_at=[0.3, 0, 3])
    assert view.take(view.initial, Wheel(1.0)) == view.initial  # up is along the view there


def test_samples_follow_each_other_and_may_be_given_up_between_launches():
    view = view_of(samples=3)
    shown = pictures(view, view.initial)
    assert [one.caption.partition(", sample ")[2] for one in shown] == [
        f"{number} of 9" for number in range(1, 10)
    ]
    assert any((a.pixels != b.pixels).any() for a, b in pairwise(shown))
    again = view.frames(view.initial)
    assert next(again) is None
    again.close()
    assert (pictures(view, view.initial)[-1].pixels == shown[-1].pixels).all()


def preview_of(view, state, share):
    *launches, frame = view.preview(state, share)
    assert launches and all(one is None for one in launches)
    return frame


@pytest.mark.parametrize("shading", ["seed", "whitted"])
def test_a_preview_is_the_picture_with_fewer_pixels(shading):
    keys = {"scene": {"grid": 4}, "camera": [-5, 1.5, 1.7], "shading": shading}
    view = view_of(width=48, height=32, **keys)
    (whole,) = pictures(view, view.initial)
    for share, (rows, columns) in {1 / 2: (23, 34), 1 / 4: (16, 24), 1 / 64: (4, 6)}.items():
        frame = preview_of(view, view.initial, share)
        assert frame.pixels.shape == (rows, columns, 4) and frame.size == (32, 48)
        assert f"preview of {columns} x {rows} pixels" in frame.caption
        smaller = view_of(width=columns, height=rows, **keys)
        assert (pictures(smaller, smaller.initial)[0].pixels == frame.pixels).all()
    if shading == "seed":  # its rays go through the corners of pixels, which these share
        quarter = preview_of(view, view.initial, 1 / 4)
        assert (quarter.pixels == whole.pixels[::2, ::2]).all()
    assert (pictures(view, view.initial)[0].pixels == whole.pixels).all()


def test_a_preview_shows_the_state_and_builds_nothing():
    view = view_of(width=64, height=48, scene={"grid": 2}, camera=[-3, 0.5, 0.5])
    state = view.take(view.initial, Wheel(2.0))
    state = view.take(state, Change("x", -1.5))
    (whole,) = pictures(view, state)
    assert (preview_of(view, state, 1 / 4).pixels == whole.pixels[::2, ::2]).all()
    preview_of(view, view.take(state, Change("grid", 3)), 1 / 8)
    pictures(view, view.take(state, Change("grid", 3)))
    engines = [*view._engines.values(), *view._small.values()]
    assert len(engines) == 4 and len({id(one.program) for one in engines}) == 1


def test_a_preview_by_the_reference_is_that_of_the_device():
    keys = {"scene": {"grid": 2}, "camera": [-3, 0.5, 0.5]}
    shown = [view_of(device, **keys) for device in ("auto", "reference")]
    one, other = (preview_of(view, view.initial, 1 / 4) for view in shown)
    assert (one.pixels == other.pixels).all()


def test_engines_do_not_become_more_and_more():
    view = view_of(width=16, height=8, scene={"grid": 1})
    for grid in range(1, 8):
        state = view.take(view.initial, Change("grid", grid))
        pictures(view, state)
        preview_of(view, state, 1 / 2)
    assert (len(view._engines), len(view._small)) == (ENGINES, PREVIEWS)
