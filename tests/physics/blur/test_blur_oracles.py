"""Are images blurred as another program did from the same rules, on devices and in each form?"""

import json
from pathlib import Path

import numpy as np
import pytest
from images import IMAGE, ORACLES, blurred, of_oracle, random_image, same, sha256
from marks import in_turn, thorough_but

from reference_py.physics.blur.parameters import BORDERS, Parameters, pattern
from reference_py.physics.blur.weights import weights

WINDOWS = [name for name in ORACLES if not name.startswith("weights")]
QUICK = [
    name
    for name in WINDOWS
    if ("mirror" in name and "radius=1" not in name) or "radius=3 border=available" in name
]
SEED = json.loads((Path(__file__).parents[2] / "data" / "physics" / "blur-seed.json").read_text())


def test_the_weights():
    assert weights(1.5, 6).tolist() == ORACLES["weights sigma=1.5"]


@pytest.mark.parametrize("name", WINDOWS)
def test_the_reference(name):
    p, array = of_oracle(name)
    assert sha256(blurred(p)[array][0]) == ORACLES[name]


FORMS = [(name, "fused") for name in WINDOWS]
FORMS += [(name, "separate") for name in WINDOWS if "gaussian" in name]


@pytest.mark.parametrize("form", thorough_but([one for one in FORMS if one[0] in QUICK], FORMS))
def test_the_device(device, form):
    name, variant = form
    p, array = of_oracle(name, variant)
    assert sha256(blurred(p, device)[array][0]) == ORACLES[name]


@pytest.mark.parametrize("arithmetic", ["seed", "float"])
def test_neighbours(device, arithmetic):
    for size, passes in (((64, 48), (1, 10, 100)), ((521, 428), (10, 100))):
        for count in passes:
            expected = SEED[f"{arithmetic} {size[0]}x{size[1]}"].get(str(count))
            if expected:
                p = Parameters(pattern(*size), passes=count, arithmetic=arithmetic)
                found = sha256(blurred(p, device)["planes"][0])
                assert found.startswith(expected), (size, count)
                if size == (64, 48):
                    assert sha256(blurred(p)["planes"][0]) == found


def test_a_few_pixels():
    expected = [[10, 11, 18, 25, 31], [15, 20, 27, 34, 38], [28, 33, 40, 47, 51]]
    p = Parameters(pattern(5, 4), arithmetic="seed")
    found = blurred(p)["planes"][0, 0]
    assert found.tolist() == [*expected, [36, 41, 48, 55, 57]]


CASES = [
    {"kind": "neighbours", "radius": 1},
    {"kind": "neighbours", "radius": 1, "arithmetic": "seed"},
    {"kind": "box", "radius": 2, "arithmetic": "bytes"},
    {"kind": "box", "radius": 2, "variant": "fused"},
    {"kind": "box", "radius": 2, "variant": "separate"},
    {"kind": "gaussian", "radius": 3, "variant": "fused"},
    {"kind": "gaussian", "radius": 3, "variant": "separate"},
]
SIZES = [(1, 1), (1, 7), (9, 1), (2, 3), (67, 5), (150, 11)]


def pairs():
    """Return each kind with each border that it has."""
    for case in CASES:
        for border in BORDERS:
            if border != "available" or case["kind"] != "gaussian":
                yield case, border


SOME = [
    (CASES[0], "available"),
    (CASES[2], "mirror"),
    (CASES[3], "available"),
    (CASES[4], "reflect"),
    (CASES[5], "wrap"),
    (CASES[6], "constant"),
]


def some_borders():
    """Return each kind with a few borders in turn; test_blur_launches.py has all pairs."""
    every = [*SOME, *in_turn(CASES, BORDERS, 2)]
    return [
        pair for place, pair in enumerate(every) if pair in pairs() and pair not in every[:place]
    ]


def shown(case):
    return " ".join(map(str, (*case[0].values(), case[1])))


@pytest.mark.parametrize("case", thorough_but(SOME[1::2], some_borders()), ids=shown)
def test_every_size_and_border(device, case):
    """Also windows that are wider than the image."""
    settings, border = case
    for width, height in SIZES:
        p = Parameters(random_image(width, height, 3), passes=2, border=border, **settings)
        same(blurred(p, device, copies=2), blurred(p, copies=2))


@pytest.mark.parametrize("items", thorough_but([64], [1, 3, 64, 256]))
def test_every_workgroup(device, items):
    """On a CPU most kernels have one work-item a group, whatever is requested."""
    for settings in (CASES[0], CASES[2], CASES[6]):
        p = Parameters(random_image(70, 9), border="replicate", **settings)
        same(blurred(p, device, work_items=items), blurred(p))


def test_wide_images_have_several_strips_and_tiles(device):
    for settings in (CASES[2], CASES[5]):
        p = Parameters(random_image(1100, 70), border="mirror", **settings)
        same(blurred(p, device), blurred(p))


def test_no_pass_changes_nothing(device):
    p = Parameters(IMAGE, passes=0)
    for on in (device, None):
        assert (blurred(p, on)["picture"] == IMAGE).all()


# ---------------------------------------------------------------- what mathematics says


def gaussian(image, sigma, **settings):
    radius = settings.pop("radius", int(4 * sigma + 0.5))
    settings = {"border": "mirror", **settings}
    return Parameters(np.asarray(image), "gaussian", 1, radius, sigma, **settings)


def test_a_constant_image_stays():
    image = np.full((1, 1, 9, 13), 77, np.uint8)
    assert abs(blurred(gaussian(image, 2.0))["planes"] - 77).max() < 1e-4
    for border in ("replicate", "reflect", "mirror", "wrap", "available"):
        p = Parameters(image, "box", 3, 4, border=border, arithmetic="bytes")
        assert (blurred(p)["planes"] == 77).all()


def test_an_impulse_becomes_the_product_of_the_weights():
    image = np.zeros((1, 1, 21, 21), np.uint8)
    image[0, 0, 10, 10] = 1
    one = weights(1.5, 6)
    found = blurred(gaussian(image, 1.5))["planes"][0, 0]
    assert (found[4:17, 4:17] == one[:, None] * one[None]).all()
    assert found.sum() == pytest.approx(1, abs=1e-6)


def test_wrap_keeps_the_mean():
    image = random_image(31, 23)
    found = blurred(gaussian(image, 2.0, border="wrap"))["planes"].astype(np.float64)
    assert found.mean() == pytest.approx(image.mean(), rel=1e-5)


def test_a_ramp_stays_inside():
    image = np.broadcast_to(np.arange(64, dtype=np.uint8), (1, 1, 40, 64))
    found = blurred(gaussian(image, 2.0))["planes"][0, 0, 8:-8, 8:-8]
    assert abs(found - image[0, 0, 8:-8, 8:-8]).max() < 1e-4


def test_two_passes_are_one_of_a_larger_sigma():
    image = np.zeros((1, 1, 61, 61), np.uint8)
    image[0, 0, 30, 30] = 255
    twice = Parameters(image, "gaussian", 2, 12, 2.0, "mirror")
    once = Parameters(image, "gaussian", 1, 17, 2 * np.sqrt(2), "mirror")
    a, b = (blurred(p)["planes"] for p in (twice, once))
    assert abs(a - b).max() < 0.01 * b.max()


def test_a_chessboard_never_fades():
    """The pixel itself has no part in the mean of its neighbours: it flips with every pass."""
    board = (np.indices((8, 8)).sum(0) % 2 * 255).astype(np.uint8)[None, None]
    p = Parameters(board, passes=11)
    assert (blurred(p)["planes"] == 255 - board).all()


def test_the_arithmetic_of_the_original_darkens():
    image = random_image(40, 30)
    dark = blurred(Parameters(image, passes=10, arithmetic="seed"))["planes"].mean()
    unchanged = blurred(Parameters(image, passes=10))["planes"].mean()
    assert 2 < image.mean() - dark < 5 and abs(image.mean() - unchanged) < 0.5
