"""Is the picture of a run where it is said to be, and is nonsense refused with its place?"""

import re
from itertools import pairwise

import numpy as np
import pytest
from marks import thorough_but
from PIL import Image

import societies
from societies import config_from_dict
from societies.errors import ConfigError, DeviceError, OutputError
from societies.physics.raytracer import WORKLOAD, rows_of_launch
from societies.workload.running.registry import load_config

SMALL = {"workload": "raytracer", "width": 16, "height": 9}


def config_of(**settings):
    return config_from_dict({**SMALL, **settings})


def test_the_picture_lies_next_to_the_results(tmp_path):
    report = societies.run(config_of(record={"float_image": True}), out=tmp_path / "a.h5")
    pixels = np.asarray(Image.open(tmp_path / "a.png"))
    with societies.open_results(report.path) as run:
        assert (run.picture[0].values == pixels).all() and pixels.shape == (9, 16, 3)
        assert run.picture.dims == ("frame", "row", "column", "channel")
        assert (run["mean"][0].clip(0, 255).values.astype(np.uint8) == pixels).all()
        assert run.spheres.shape == (1, 9, 4) and run.planes.shape == (1, 1, 6)
        assert run.materials.shape == (1, 10, 6) and run.lights.shape == (1, 1, 4)
        assert run.view[0].values.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        assert run.attrs["title"] == "raytracer, 16 x 9 pixels, 10 objects, 1 light"
        assert run.seconds.dims == ("sample",) and float(run.seconds[0]) > 0
    assert dict(report.rows)["picture"] == str(tmp_path / "a.png")
    assert report.samples == 1


def test_the_picture_may_have_a_name_of_its_own(tmp_path):
    for light in ((0, 0, 0), (1, 1, 1)):
        scene = {"grid": 2, "lights": [{"position": light}]}
        config = config_of(out=str(tmp_path / "one.png"), scene=scene)
        societies.run(config, out=tmp_path / "a.h5", overwrite=True)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.h5", "one.png"]


def test_a_picture_of_someone_else_is_not_replaced(tmp_path):
    Image.new("RGB", (3, 3), "red").save(tmp_path / "a.png")
    before = (tmp_path / "a.png").read_bytes()
    with pytest.raises(
        OutputError, match=r"a\.png exists, and it is not known that Societies wrote it"
    ) as caught:
        societies.run(config_of(), out=tmp_path / "a.h5")
    assert len(str(caught.value).splitlines()) == 2
    assert (tmp_path / "a.png").read_bytes() == before
    (tmp_path / "a.png").write_text("no picture")
    with pytest.raises(OutputError, match="it is not known that Societies wrote it"):
        societies.run(config_of(), out=tmp_path / "a.h5", overwrite=True)
    assert [one.name for one in tmp_path.iterdir()] == ["a.png"]
    (warning,) = societies.plan(config_of(), out=tmp_path / "a.h5").warnings
    assert "it is not known that Societies wrote it" in warning


def test_a_resumed_run_writes_the_picture_of_a_straight_one(tmp_path):
    config = config_of(samples=3, record={"checkpoint": 2})

    def stop(sample, samples):
        if sample >= 5:
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        societies.run(config, out=tmp_path / "a.h5", progress=stop, device="reference")
    assert not (tmp_path / "a.png").exists()
    report = societies.run(config, out=tmp_path / "a.h5", resume=True)
    assert report.first_sample > 1
    societies.run(config, out=tmp_path / "b.h5", device="reference")
    a, b = (np.asarray(Image.open(tmp_path / f"{name}.png")) for name in "ab")
    assert (a == b).all()


def test_a_repeated_picture_is_the_same(tmp_path):
    one, three = (
        societies.run(config_of(samples=2, repeats=n), out=tmp_path / f"{n}.h5") for n in (1, 3)
    )
    assert (one.last_tick, three.last_tick) == (4, 12)
    assert one.state_sha256 == three.state_sha256
    with societies.open_results(three.path) as run:
        assert run.sizes["sample"] == 12


def test_samples_of_several_launches_are_those_of_one():
    large = config_of(width=700, height=700, scene={"grid": 16}, form="brute").parameters()
    small = config_of().parameters()
    assert rows_of_launch(large) < 700
    assert rows_of_launch(small) == 9
    steps = list(WORKLOAD.schedule(large, 1, {}))
    rows = [(one.arguments["row"], one.arguments["until"]) for one in steps[:-1]]
    assert rows[0][0] == 0 and rows[-1][1] == 700
    assert all(a[1] == b[0] for a, b in pairwise(rows))
    assert steps[-1].phase == "show"


def test_auto_is_the_tree_from_64_objects_on():
    forms = {n: config_of(scene={"grid": n}).parameters().form for n in (2, 3, 4)}
    assert forms == {2: "brute", 3: "brute", 4: "tree"}
    balls = [{"centre": [i, 0, 0], "radius": 0.3} for i in range(64)]
    assert config_of(scene={"spheres": balls[:63]}).parameters().form == "brute"
    assert config_of(scene={"spheres": balls}).parameters().form == "tree"


def test_defaults_are_those_of_the_shading():
    seed, whitted = (config_of(shading=one).parameters() for one in ("seed", "whitted"))
    assert (seed.ambient, seed.falloff, seed.fog) == (0.5, 1.2, 0.03)
    assert (whitted.ambient, whitted.falloff, whitted.background) == (0.2, 0.5, (90, 130, 180))
    assert config_of(shading="whitted", ambient=0, falloff=0).parameters().ambient == 0
    assert seed.view_height == 1 and whitted.view_height == pytest.approx(9 / 16)


@pytest.mark.parametrize("shading", thorough_but(["whitted"], ["seed", "whitted"]))
def test_a_scene_may_be_empty_and_dark(tmp_path, shading):
    for scene in ({}, {"lights": []}, {"planes": [{"point": [0, 0, -1], "normal": [0, 0, 2]}]}):
        for form in ("brute", "tree"):
            config = config_of(shading=shading, scene=scene, form=form)
            out = tmp_path / "a.h5"
            found = {
                societies.run(config, out=out, device=device, overwrite=True).state_sha256
                for device in ("auto", "reference")
            }
            assert len(found) == 1
            pixels = np.asarray(Image.open(tmp_path / "a.png"))
            background = (90, 130, 180) if shading == "whitted" else (0, 0, 0)
            assert (pixels[0] == background).all()


# ---------------------------------------------------------------- bad input

SPHERE = "{centre: [4, 0, 0], radius: 1}"
BAD = {
    "scene: {spheres: [{centre: [4, 0, 0], radius: 0}]}": "scene.spheres.0.radius: ",
    "scene: {spheres: [{centre: [4, 0, 0], radius: -1}]}": "scene.spheres.0.radius: ",
    "scene: {spheres: [{centre: [4, 0], radius: 1}]}": "three numbers are needed; these are 2",
    "scene: {spheres: [{centre: [4, 0, .nan], radius: 1}]}": "scene.spheres.0.centre.2: ",
    "scene: {spheres: [{centre: [4, 0, .inf], radius: 1}]}": "scene.spheres.0.centre.2: ",
    "scene: {spheres: [{centre: [4, 0, 1e10], radius: 1}]}": "scene.spheres.0.centre.2: ",
    "scene: {spheres: [{radius: 1}]}": "scene.spheres.0.centre: ",
    "scene: {spheres: [{centre: [4, 0, 0], radius: 1, colour: [0, 256, 0]}]}": "colour.1: ",
    "scene: {spheres: [{centre: [4, 0, 0], radius: 1, colour: [-1, 0, 0]}]}": "colour.0: ",
    "scene: {spheres: [{centre: [4, 0, 0], radius: 1, index: 0.9}]}": "index: ",
    "scene: {spheres: [{centre: [4, 0, 0], radius: 1, reflect: 0.7, transmit: 0.4}]}": (
        "scene.spheres.0.transmit: 0.7 reflected and 0.4 transmitted are more than all light"
    ),
    "scene: {planes: [{point: [0, 0, 0], normal: [0, 0, 0]}]}": (
        "scene.planes.0.normal: a normal of length 0 has no direction"
    ),
    "scene: {planes: [{point: [0, 0, 0], normal: [0, 0, 1e-12]}]}": "has no direction",
    f"scene: {{grid: 2, spheres: [{SPHERE}]}}": "a grid has its own objects",
    "scene: {grid: 2, lights: []}": "a grid has one light; these are 0",
    "scene: {grid: 102}": "scene.grid: ",
    "scene: {lights: [{position: [0, 0, 0], intensity: -1}]}": "intensity: ",
    "camera: [1, 2, 3]\nlook_at: [1, 2, 3]": "look_at: it is the position of the camera",
    "camera: [0, 1, 2, 3]": "camera: three numbers are needed; these are 4",
    "camera: [0, x, 2]": "camera.1: expected a number, got 'x'",
    "camera: 5": "camera: expected a list, got 5",
    "look_at: [0, 0, 5]": "up: the camera looks along it",
    "look_at: [1, 0, 0]\nup: [0, 0, 0]": "up: a vector of length 0 has no direction",
    "camera: [0, .nan, 0]": "camera.1: ",
    "width: 0": "width: ",
    "height: 16385": "height: ",
    "samples: 33": "samples: ",
    "bounces: 17": "bounces: ",
    "tile: 12": "tile: ",
    "falloff: -1": "falloff: ",
    "view_width: 0": "view_width: ",
    "background: [1, 2, 3]": "background: seed shading has no background",
    "shading: whitted\nfog: 0.1": "fog: whitted shading has no fog",
    "shading: phong": "shading: ",
    "out: /nowhere/at/all.png": "out: there is no folder /nowhere/at",
    "out: picture.jpeg": "out: picture.jpeg does not end in .png",
    "scene: {sphere: []}": "spheres",
}


@pytest.mark.parametrize("text", BAD)
def test_nonsense_is_refused_with_its_place(text, tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text(f"workload: raytracer\n{text}\n")
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    (line,) = str(caught.value).splitlines()
    assert re.match(rf"{file}:[123]:\d+  ", line)
    assert BAD[text] in line


def test_a_folder_without_rights_is_refused(tmp_path):
    (tmp_path / "is.png").mkdir()
    with pytest.raises(ConfigError, match="is a folder"):
        config_of(out=str(tmp_path / "is.png"))


def test_a_picture_that_the_device_cannot_hold_is_refused(monkeypatch, tmp_path):
    device = societies.choose_device("auto")
    monkeypatch.setattr(device, "max_alloc", 1000)
    with pytest.raises(DeviceError, match="takes at most 1000 B in one") as caught:
        societies.run(config_of(width=100, height=100), out=tmp_path / "a.h5", device=device)
    assert len(str(caught.value).splitlines()) == 2
    assert not list(tmp_path.iterdir())
