"""Are problems of keys and contradictions between them reported together, of every workload?"""

import pytest

from societies.config.check import _inner_section
from societies.errors import ConfigError
from societies.workload.running.registry import config_from_dict, workloads

SPHERE, PLANE = {"centre": [5, 0, 0], "radius": 1}, {"point": [0, 0, -1], "normal": [0, 0, 1]}


def problems(scene, **more):
    with pytest.raises(ConfigError) as error:
        config_from_dict({"workload": "raytracer", "scene": scene, **more})
    return str(error.value).splitlines()


def test_a_wrong_radius_hides_no_normal():
    """The radius alone was reported, and the normal after it was mended."""
    first, second = problems(
        {"spheres": [{**SPHERE, "radius": -1}], "planes": [{**PLANE, "normal": [0, 0, 0]}]}
    )
    assert "scene.spheres.0.radius: must be at least 1e-09" in first
    assert "scene.planes.0.normal: a normal of length 0 has no direction" in second


def test_all_problems_of_a_scene():
    scene = {
        "spheres": [{**SPHERE, "centre": [1, 2]}, {"radius": 2}, {**SPHERE, "transmit": 2}],
        "planes": [{**PLANE, "reflect": 0.7, "transmit": 0.7}, {"point": [0, 0, 0], "normal": 3}],
        "lights": [{"position": [1, 2, 3, 4]}, {}],
    }
    found = "\n".join(problems(scene, look_at=[0, 0, 0], up=[0, 0, 0], fog=-1))
    for key in (
        *("spheres.0.centre", "spheres.1.centre", "spheres.2.transmit", "planes.0.transmit"),
        *("planes.1.normal", "lights.0.position", "lights.1.position"),
    ):
        assert f"scene.{key}" in found
    assert (
        "look_at: it is the position of the camera" in found and "fog: must be at least 0" in found
    )


def sections(model, seen):
    """Yield a model of keys, and those of its sections."""
    if model not in seen:
        seen.add(model)
        yield model
        for field in model.model_fields.values():
            if (inner := _inner_section(field.annotation)) is not None:
                yield from sections(inner, seen)


def test_every_key_that_must_be_given_has_an_example():
    """It stands in for a wrong value, so that all else is checked."""
    required = {
        f"{model.__name__}.{key}": field.examples
        for one in workloads().values()
        for model in sections(one.config, set())
        for key, field in model.model_fields.items()
        if field.is_required() and key != "workload"
    }
    assert [key for key, given in required.items() if not given or given[0] is None] == []
    assert len(required) > 5
