"""Do rays go where optics says, and is light as strong as it must be?

Rays are asked of the reference; the device has its bits (test_forms.py).
"""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from raytracer_scenes import WHITE, WHITTED, frame, furnace, scene

from reference_py.physics.raytracer import whitted
from reference_py.physics.raytracer.nearest import NOTHING, first_hit, first_seen

SINGLE, DOUBLE = replace(WHITTED), replace(WHITTED, precision="double")
GLASS = (WHITE, 0.0, 1.0, 1.5)


def laid(p, what):
    """Return a scene as the reference's functions have it."""
    p = replace(p, scene=what)
    return SimpleNamespace(
        spheres=what.spheres.astype(p.num),
        planes=p.planes,
        materials=what.materials.astype(p.num),
        lights=what.lights.astype(p.num),
    )


def vector(p, *numbers):
    return [p.num(x) for x in numbers]


def hit(p, what, origin, towards):
    """Return distance and number of what a ray hits, by the rules of the shading."""
    of = laid(p, what)
    if p.shading == "whitted":
        with np.errstate(divide="ignore"):  # a ray along a plane
            t, number = first_hit(p, of, vector(p, *origin), vector(p, *towards))
        return float(t), number
    arrays = [np.array([x], p.num) for x in towards]
    t, number = first_seen(p, of, vector(p, *origin), arrays, np.array([NOTHING]))
    return float(t[0]), int(number[0])


BOTH = [SINGLE, DOUBLE, replace(SINGLE, shading="seed")]


@pytest.mark.parametrize("p", BOTH)
def test_distances_along_the_axis_are_exact(p):
    for far, radius in ((5, 1), (4.5, 0.25), (1000, 999.5), (3, 2.75)):
        assert hit(p, scene([((far, 0, 0, radius),)]), (0, 0, 0), (1, 0, 0)) == (far - radius, 0)
        plane = scene(planes=[((far, 7, 7, -1, 0, 0),)])
        assert hit(p, plane, (0, 0, 0), (1, 0, 0)) == (far, 0)
        assert hit(p, plane, (0, 0, 0), (-1, 0, 0))[1] == NOTHING
        assert hit(p, plane, (0, 0, 0), (0, 1, 0))[1] == NOTHING


@pytest.mark.parametrize("p", BOTH)
def test_a_tangent_ray_hits_and_one_farther_out_misses(p):
    assert hit(p, scene([((5, 1, 0, 1),)]), (0, 0, 0), (1, 0, 0)) == (5, 0)
    assert hit(p, scene([((5, 1.00001, 0, 1),)]), (0, 0, 0), (1, 0, 0))[1] == NOTHING


@pytest.mark.parametrize("p", BOTH)
def test_of_equally_near_objects_the_first_is_hit(p):
    two = scene([((5, 0, 0, 1),), ((5, 0, 0, 1),)], [((4, 0, 0, 1, 0, 0),)])
    assert hit(p, two, (0, 0, 0), (1, 0, 0)) == (4, 0)
    assert hit(p, two, (0, 0, 0), (1, 0, 0)) == hit(p, two, (0, 0, 0), (1, 0, 0))


def test_who_is_inside_a_sphere_sees_it_in_whitted_shading_alone():
    inside = scene([((0, 0, 0, 2),)])
    assert hit(SINGLE, inside, (0, 0, 0), (1, 0, 0)) == (2, 0)
    assert hit(BOTH[2], inside, (0, 0, 0), (1, 0, 0))[1] == NOTHING


@pytest.mark.parametrize("shading", ["seed", "whitted"])
def test_a_sphere_is_a_disc_of_the_right_size(device, shading):
    """Of radius W r / (w sqrt(D^2 - r^2)) pixels, where the view is w wide at distance 1."""
    for far, radius, width in ((5, 1, 1.0), (3, 1.4, 2.0), (20, 0.9, 0.25)):
        p = replace(
            WHITTED, scene=scene([((far, 0, 0, radius),)]), width=201, height=201,
            shading=shading, view_width=width, background=(0.0, 0.0, 0.0), fog=0.0,
        )  # fmt: skip
        seen = frame(p, device)["picture"].any(2)
        expected = 201 * radius / (width * math.sqrt(far**2 - radius**2))
        for line in (seen[100], seen[:, 100]):
            assert abs(line.sum() / 2 - expected) <= 0.5


# ---------------------------------------------------------------- glass


def directions(p, what, origin, towards, monkeypatch):
    """Return the directions of all rays that whitted shading follows, in their order."""
    followed = []

    def noted(p, frame, origin, towards):
        followed.append([float(x) for x in towards])
        return first_hit(p, frame, origin, towards)

    monkeypatch.setattr(whitted, "first_hit", noted)
    whitted.whitted_colour(p, laid(p, what), vector(p, *origin), vector(p, *towards))
    return followed


@pytest.mark.parametrize("degrees", [0, 10, 30, 60, 85])
def test_refraction_is_snells(degrees, monkeypatch):
    """Behind the surface of a sphere so large that it is a plane."""
    angle = math.radians(degrees)
    towards = (math.cos(angle), math.sin(angle), 0)
    ball = scene([((1e7, 0, 0, 1e7), *GLASS)])
    _, inside, *_ = directions(
        replace(DOUBLE, bounces=1), ball, (-0.01, 0, 0), towards, monkeypatch
    )
    assert math.asin(inside[1]) == pytest.approx(math.asin(towards[1] / 1.5), abs=1e-5)
    assert math.hypot(*inside) == pytest.approx(1)


@pytest.mark.parametrize(("degrees", "rays"), [(41.80, 3), (41.82, 2), (30, 3), (80, 2)])
def test_reflection_is_total_from_41_81_degrees_on(degrees, rays, monkeypatch):
    """Which leaves one ray instead of two after the first."""
    angle = math.radians(degrees)
    towards = (math.cos(angle), math.sin(angle), 0)
    surface = scene(planes=[((1, 0, 0, 1, 0, 0), *GLASS)])  # rays along its normal leave glass
    found = directions(replace(DOUBLE, bounces=1), surface, (0, 0, 0), towards, monkeypatch)
    assert len(found) == rays
    assert found[-1] == pytest.approx((-towards[0], towards[1], 0))


@pytest.mark.parametrize("p", [SINGLE, DOUBLE])
def test_glass_reflects_four_percent_of_what_comes_straight(p):
    """The plane behind is black, that behind the camera is seen in the glass."""
    p = replace(p, ambient=1.0, background=(0.0, 0.0, 0.0))
    room = scene(planes=[((1, 0, 0, -1, 0, 0), *GLASS), ((-1, 0, 0, 1, 0, 0), (100, 50, 0))])
    seen = whitted.whitted_colour(p, laid(p, room), vector(p, 0, 0, 0), vector(p, 1, 0, 0))
    assert seen == pytest.approx([4, 2, 0], rel=1e-5)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_glass_and_mirrors_vanish_in_a_furnace(device, precision):
    """As much light comes from everywhere, so nothing that keeps it all can be seen."""
    p = replace(furnace(), precision=precision)
    seen = frame(p, device)["mean"]
    assert np.abs(seen - p.background).max() < 1e-3
    assert (seen != p.background).any()  # by the rounding of shares: something is drawn


@pytest.mark.parametrize("form", ["brute", "tree"])
def test_without_lights_matt_objects_have_exactly_their_colour(device, form):
    what = scene(
        [((4, 0, 0, 1), (201, 7, 99)), ((3, 1, 0, 0.5), (1, 2, 3))],
        [((0, 0, -1, 0, 0, 1), (50, 60, 70))],
    )
    p = replace(WHITTED, scene=what, ambient=1.0, form=form)
    seen = frame(p, device)["mean"].reshape(-1, 3)
    colours = {(201, 7, 99), (1, 2, 3), (50, 60, 70), (90, 130, 180)}
    assert {tuple(one) for one in seen.tolist()} == colours


# ---------------------------------------------------------------- light and shadow


def lit_point(p, what, point=(0, 0, 0), normal=(0, 0, 1), colour=(100, 200, 50)):
    """Return the colour of a point under the lights of a scene."""
    seen = whitted.lit(p, laid(p, what), vector(p, *point), vector(p, *normal), vector(p, *colour))
    return np.array(seen, float)


def lamp(x, y, z, intensity=1.0):
    return scene(lights=[(x, y, z, intensity)])


@pytest.mark.parametrize("p", [SINGLE, DOUBLE])
def test_brightness_is_lamberts_and_falls_off(p):
    colour = np.array([100, 200, 50])
    for degrees in (0, 20, 60, 89):
        for far, intensity in ((1, 1), (2, 0.5), (8, 3)):
            angle = math.radians(degrees)
            light = lamp(far * math.sin(angle), 0, far * math.cos(angle), intensity)
            share = 0.2 + intensity * math.cos(angle) * far**-0.5
            assert lit_point(p, light) == pytest.approx(share * colour, rel=2e-5)
    assert lit_point(p, lamp(0, 0, -1)) == pytest.approx(0.2 * colour)
    near, far = (lit_point(replace(p, ambient=0.0, falloff=1.2), lamp(0, 0, z)) for z in (2, 4))
    assert far / near == pytest.approx(2**-1.2)


def test_seed_shading_divides_by_the_number_of_lights(device):
    """At a point straight ahead: ambient, fog, and each light's cos / (n distance^1.2)."""
    what = scene(
        planes=[((4, 0, 0, -1, 0, 0), (200, 100, 160))], lights=[(2, 0, 0, 1), (4, 3, 0, 1)]
    )
    p = replace(WHITTED, scene=what, shading="seed", width=1, height=1, side=1, ambient=0.5)
    p = replace(p, falloff=1.2, view_width=1e-6)
    share = 0.5 + 2**-1.2 / 2  # the second light shines along the plane: its cosine is 0
    fog = 128 * 0.03 * 4
    seen = frame(p, device)["mean"][0, 0]
    assert seen == pytest.approx(share * np.array([200, 100, 160]) - fog, abs=1e-3)


def test_shadows_end_where_they_must():
    """Of a sphere of radius r at distance d below a light: at H r / sqrt(d^2 - r^2), H below."""
    radius, below, height = 0.4, 1.5, 4.0
    what = scene([((0, 0, height - below, radius),)], lights=[(0, 0, height, 1)])
    edge = height * radius / math.sqrt(below**2 - radius**2)
    ambient = lit_point(DOUBLE, scene())
    for angle in np.linspace(0, 2 * math.pi, 7):
        for factor, dark in ((0, True), (0.5, True), (0.9999, True), (1.0001, False), (3, False)):
            rim = factor * edge
            at = lit_point(DOUBLE, what, (rim * math.cos(angle), rim * math.sin(angle), 0))
            assert (at == ambient).all() == dark


@pytest.mark.parametrize("form", ["brute", "tree"])
def test_what_is_behind_the_light_throws_no_shadow(device, form):
    def picture(*spheres):
        what = scene(spheres, [((0, 0, -1, 0, 0, 1), (200, 200, 200))], [(3, 0, 1, 1)])
        return frame(replace(WHITTED, scene=what, form=form), device)["picture"]

    assert (picture(((3, 0, 4, 0.5),)) == picture()).all()
    assert (picture(((3, 0, 0, 0.05),)) != picture()).any()


def test_a_mirror_shows_the_mirrored_picture(device):
    """A mirror at x = 2 shows what is at x as if it were at 4 - x."""
    mirror = ((2, 0, 0, -1, 0, 0), WHITE, 1.0)
    balls = [((-2, 0.4, 0.3, 0.8), (200, 60, 40)), ((-3, -0.8, -0.2, 0.9), (40, 90, 220))]
    turned = [((4 - x, y, z, r), colour) for (x, y, z, r), colour in balls]
    p = replace(WHITTED, width=64, height=64, precision="double", ambient=1.0)
    reflected = frame(replace(p, scene=scene(balls, [mirror])), device)["mean"]
    direct = frame(replace(p, scene=scene(turned)), device)["mean"]
    assert np.abs(reflected - direct).max() < 1e-9
    assert len({tuple(one) for one in direct.reshape(-1, 3).tolist()}) == 3


def test_the_camera_looks_where_the_key_says(device):
    """A sphere straight ahead is in the middle, from anywhere, whichever way is up."""
    for number in range(6):
        rng = np.random.default_rng(number)
        camera, target = rng.normal(0, 4, 3), rng.normal(0, 4, 3)
        what = scene([((*target, 0.2),)])
        p = replace(
            WHITTED, scene=what, width=41, height=31, camera=tuple(camera), look_at=tuple(target),
            up=tuple(rng.normal(0, 1, 3)), background=(0.0, 0.0, 0.0),
        )  # fmt: skip
        rows, columns = np.nonzero(frame(p, device)["picture"].any(2))
        assert rows.mean() == pytest.approx(15, abs=0.5)
        assert columns.mean() == pytest.approx(20, abs=0.5)
        view = p.view.astype(float)
        assert view[1:] @ view[1:].T == pytest.approx(np.eye(3), abs=1e-6)
        assert np.cross(view[1], view[2]) == pytest.approx(view[3], abs=1e-6)
