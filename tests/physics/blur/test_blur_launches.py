"""Do the kernels' forms for CPUs and GPUs give every hash, at every border and odd size?

On a CPU a workgroup of these kernels is one work-item. What a GPU runs, with local memory and
barriers, is compiled here for the device of the tests, with workgroups of 1 to 256 work-items.
"""

import pytest
from images import ORACLES, blurred, of_oracle, random_image, same, sha256
from marks import in_turn, thorough_but
from test_blur_oracles import CASES, FORMS, QUICK, SEED, pairs

from reference_py.physics.blur.parameters import Parameters, pattern

ITEMS = (1, 3, 5, 64, 256)
LAUNCHES = [{}, *({"gpu": True, "work_items": items} for items in ITEMS)]
"""As on the device of the tests, and as on a GPU; test_blur_oracles.py has more of the former."""

ODD = [(1, 1), (1, 7), (9, 1), (3, 2), (67, 5), (131, 103), (1037, 67)]
"""Smaller and larger than windows, tiles, strips and bands, and multiples of none."""


def shown(value):
    words = value.items() if isinstance(value, dict) else enumerate(value)
    return " ".join("GPU" if name == "gpu" else str(word) for name, word in words) or "as here"


def launched(quick, values, each):
    """Return each value with as many launches as on a GPU, the quick ones with one more."""
    some = [(value, LAUNCHES[3]) for value in quick]
    pairs = in_turn(values, LAUNCHES[1:], each)
    return thorough_but(some, [*some, *(pair for pair in pairs if pair not in some)])


def named(pair):
    return " ".join(map(shown, pair))


@pytest.mark.parametrize(
    "pair", launched([one for one in FORMS if one[0] in QUICK], FORMS, 1), ids=named
)
def test_every_hash_of_a_window(device, pair):
    (name, variant), launch = pair
    p, array = of_oracle(name, variant)
    assert sha256(blurred(p, device, **launch)[array][0]) == ORACLES[name]


@pytest.mark.parametrize("launch", thorough_but(LAUNCHES[3:4], LAUNCHES), ids=shown)
@pytest.mark.parametrize("arithmetic", ["seed", "float"])
def test_every_hash_of_neighbours(device, arithmetic, launch):
    for passes, expected in SEED[f"{arithmetic} 64x48"].items():
        p = Parameters(pattern(64, 48), passes=int(passes), arithmetic=arithmetic)
        assert sha256(blurred(p, device, **launch)["planes"][0]).startswith(expected), passes


@pytest.mark.parametrize(
    "pair", launched([(case, "wrap") for case in CASES[1::2]], list(pairs()), 1), ids=str
)
def test_every_border_and_odd_size(device, pair):
    """Two pictures at once, two passes; windows reach beyond small pictures on both sides."""
    (settings, border), launch = pair
    sizes = ODD if border != "wrap" or launch.get("work_items") != 5 else ODD[4:6]
    for width, height in sizes:
        p = Parameters(random_image(width, height, 3), passes=2, border=border, **settings)
        same(blurred(p, device, copies=2, **launch), blurred(p, copies=2))


@pytest.mark.thorough
@pytest.mark.parametrize("radius", [0, 1, 7, 8, 16, 40])
def test_every_width_of_a_window(device, radius):
    """Sums of bytes change their type at radius 8; passes are fused up to radius 16."""
    image = random_image(83, 29)
    forms = [
        ("box", "bytes", "fused"),
        ("box", "float", "separate"),
        ("gaussian", "float", "separate"),
    ]
    if radius <= 16:
        forms += [("box", "float", "fused"), ("gaussian", "float", "fused")]
    for place, (kind, arithmetic, variant) in enumerate(forms):
        p = Parameters(image, kind, 1, radius, 2.5, "reflect", arithmetic, variant)
        launch = (LAUNCHES[0], LAUNCHES[3])[(place + radius) % 2]  # each is compiled
        same(blurred(p, device, **launch), blurred(p))
