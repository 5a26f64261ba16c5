"""Are pictures those that another program computed from the same rules?"""

import hashlib
import re
from ast import literal_eval
from dataclasses import replace

import numpy as np
import pytest
from marks import thorough_but
from raytracer_scenes import ORACLES, frame, furnace, picture_of_a, seed_picture

LARGE = [name for name in ORACLES if "700x700" in name]


def picture(name):
    """Return the parameters of the picture that an oracle has."""
    if name.startswith("seed"):
        pattern = r"seed K=(\d+) camera=(\(.*?\)) light=(\(.*?\)) (\d+)x(\d+)"
        return seed_picture(*map(literal_eval, re.fullmatch(pattern, name).groups()))
    if name.startswith("scene A"):
        pattern = r"scene A (\d+)x(\d+) samples=(\d+) bounces=(\d+)"
        return picture_of_a(*map(int, re.fullmatch(pattern, name).groups()))
    assert name == "furnace 32x32 bounces=8"
    return furnace()


def sha256(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def is_the_oracle(state, expected):
    if "sha256_rgb" in expected:
        assert sha256(state["picture"]) == expected["sha256_rgb"]
        assert state["picture"].mean((0, 1)) == pytest.approx(expected["mean"], rel=1e-12)
    if "sha256_float32" in expected:
        assert sha256(state["mean"]) == expected["sha256_float32"]
    for name, colour in expected.items():
        if name.startswith("pixel "):
            column, row = map(int, name.removeprefix("pixel ").split(","))
            assert state["picture"][row, column].tolist() == colour


@pytest.mark.parametrize("name", [name for name in ORACLES if name not in LARGE])
def test_the_reference(name):
    is_the_oracle(frame(picture(name)), ORACLES[name])


@pytest.mark.parametrize("form", ["brute", "tree"])
@pytest.mark.parametrize("name", ORACLES)
def test_the_device(device, name, form):
    is_the_oracle(frame(replace(picture(name), form=form), device), ORACLES[name])


WHOLE = {
    (2, (-3, 0.5, 0.5), (-1.099, 0, 0)): (
        (49.883, 43.010, 40.822),
        0.48429,
        {(100, 520): (98, 82, 78), (350, 600): (130, 111, 106), (350, 699): (191, 166, 159)},
    ),
    (2, (0, 0, 0), (0, 0, 0)): (
        (64.463, 56.003, 54.152),
        0.54395,
        {(350, 350): (195, 177, 177), (430, 520): (110, 95, 90), (10, 690): (139, 120, 115)},
    ),
    (4, (-2, 1.5, 2), (-0.5, 1.5, 2.5)): (
        (51.639, 48.077, 46.447),
        0.60725,
        {(100, 200): (145, 125, 119), (430, 190): (72, 72, 80), (350, 600): (92, 76, 72)},
    ),
    (10, (-12, 4.45, 4.31), (-3.2, 4.56, 2.57)): (
        (18.324, 18.801, 17.689),
        0.5508,
        {(100, 200): (1, 31, 41), (430, 190): (10, 49, 27), (350, 600): (68, 52, 48)},
    ),
}
"""Of pictures of 700 x 700 by an older program in double: means, share of pixels that are not
black, pixels (column, row)."""


@pytest.mark.parametrize("case", thorough_but(list(WHOLE)[2:], WHOLE))
@pytest.mark.parametrize("precision", ["single", "double"])
def test_whole_pictures(device, case, precision):
    """In single precision the means differ by less than 0.01, and few pixels by more than 1."""
    means, share, pixels = WHOLE[case]
    p = replace(seed_picture(*case, 700, 700), precision=precision, form="tree")
    shown = frame(p, device)["picture"]
    assert shown.mean((0, 1)) == pytest.approx(means, abs=0.01)
    assert shown.any(2).mean() == pytest.approx(share, abs=6e-5)
    for (column, row), colour in pixels.items():
        assert shown[row, column] == pytest.approx(colour, abs=1)
