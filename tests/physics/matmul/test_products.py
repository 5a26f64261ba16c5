"""Are products those that another program computed, in every form, and what algebra says?"""

import numpy as np
import pytest
from marks import thorough_but
from products import FORMS, ORACLES, engine_of, given, of_form, product, same, sha256, sized

from societies.physics import matmul

KINDS = [("fused", "single"), ("separate", "single"), ("separate", "double")]
QUICK = [("fused", "single", "blocked"), ("fused", "single", "vector")]
QUICK += [
    ("fused", "single", "wide"),
    ("separate", "double", "tiled"),
    ("separate", "single", "naive"),
]


@pytest.mark.parametrize(("arithmetic", "precision"), KINDS)
@pytest.mark.parametrize("name", ORACLES)
def test_the_reference(name, arithmetic, precision):
    expected = ORACLES[name]
    engine = engine_of(sized(name, arithmetic=arithmetic, precision=precision))
    state = {key: array[0] for key, array in engine.state().items()}
    assert sha256(state["C"]) == expected[f"{arithmetic}_{precision}"]
    assert state["C"][0, 0] == expected.get(f"C00_{arithmetic}_{precision}", state["C"][0, 0])
    for matrix in "AB":
        assert sha256(state[matrix].astype(np.float32)) == expected[f"{matrix}_float32"]


@pytest.mark.parametrize(
    "case",
    thorough_but(QUICK, [(*kind, form) for kind in KINDS for form in FORMS]),
)
def test_the_device(device, case):
    arithmetic, precision, form = case
    for name, expected in ORACLES.items():
        p = of_form(sized(name, arithmetic=arithmetic, precision=precision), form)
        engine = engine_of(p, device)
        assert sha256(engine.state()["C"]) == expected[f"{arithmetic}_{precision}"], name
        if precision == "single":
            assert sha256(engine.state()["A"]) == expected["A_float32"]


SHAPES = [(1, 1, 1), (1, 33, 17), (33, 1, 9), (16, 8, 16), (40, 19, 70), (5, 300, 3)]


@pytest.mark.parametrize("form", thorough_but(["vector"], FORMS))
def test_double_products_that_are_fused(device, form):
    for shape in SHAPES[:4]:
        p = sized("x".join(map(str, shape)), precision="double", seed=3)
        same(product(of_form(p, form), device), product(p))


@pytest.mark.parametrize("form", thorough_but(["blocked", "vector"], FORMS))
def test_odd_sizes_and_several_products(device, form):
    """Also more steps than a panel keeps in the cache, and sides that are multiples of nothing."""
    for shape in SHAPES:
        p = sized("x".join(map(str, shape)), seed=7)
        own, reference = (
            engine_of(one, on, copies=2) for one, on in ((of_form(p, form), device), (p, None))
        )
        for name in ("A", "B", "C"):
            same(own.state()[name], reference.state()[name])


@pytest.mark.parametrize("groups", [1, matmul.GROUPS])
@pytest.mark.parametrize("form", ["vector", "wide"])
def test_several_bands_stripes_and_chunks(device, form, groups, monkeypatch):
    """Sums continue from what C holds, and the last band, stripe and chunk are shorter."""
    monkeypatch.setattr(matmul, "GROUPS", groups)
    p = sized("261x517x1090")
    same(product(of_form(p, form), device), product(of_form(p, "naive"), device))


LARGE = [(1, 1, 1), (3, 0, 5), (40, 19, 70), (130, 36, 260), (129, 33, 257)]


@pytest.mark.parametrize("precision", thorough_but(["single"], ["single", "double"]))
@pytest.mark.parametrize("enough", [0, matmul.ENOUGH])
def test_blocks_of_both_sizes(device, enough, precision, monkeypatch):
    """Also several blocks down and across, slices that are not full, and rows of no whole fours."""
    assert matmul.warps(sized("2048x1x2048")) is matmul.LARGE
    assert matmul.warps(sized("1024x1x1024")) is matmul.SMALL_BLOCKS["single"]
    monkeypatch.setattr(matmul, "ENOUGH", enough)
    for shape in LARGE:
        p = sized("x".join(map(str, shape)), seed=9, precision=precision)
        blocked, naive = (
            engine_of(of_form(p, form), device, copies=2) for form in ("blocked", "naive")
        )
        same(blocked.state()["C"], naive.state()["C"])


@pytest.mark.parametrize(
    "case",
    thorough_but(
        [("tiled", {"tile": 5})],
        [
            *(("tiled", {"tile": tile}) for tile in (1, 2, 5, 8, 16)),
            *(("naive", {"work_items": items}) for items in (1, 3, 64, 256)),
        ],
    ),
)
def test_every_workgroup(device, case):
    form, settings = case
    p = sized("37x21x43", seed=5)
    items = {key: value for key, value in settings.items() if key == "work_items"}
    shape = {key: value for key, value in settings.items() if key != "work_items"}
    same(product(of_form(p, form, **shape), device, **items), product(p))


def everywhere(p, device, forms=("vector",)):
    """Return the product, the same in the reference and in some forms of the kernels."""
    expected = product(p)
    for form in forms:
        same(product(of_form(p, form), device), expected)
    return expected


@pytest.mark.parametrize("form", thorough_but(["vector"], FORMS))
def test_examples(device, form):
    def found(a, b):
        return everywhere(given(np.float32(a), np.float32(b)), device, (form,))

    assert found([[1, 2, 3]], [[7], [9], [11]]).tolist() == [[58]]
    numbers = np.arange(20).reshape(4, 5) - 7.5
    same(found(numbers, np.eye(5)), numbers.astype(np.float32))
    order = [3, 0, 4, 2, 1]
    same(found(numbers, np.eye(5)[:, order]), numbers.astype(np.float32)[:, order])
    assert (found(np.ones((3, 37)), np.ones((37, 19))) == 37).all()


@pytest.mark.parametrize("form", thorough_but(["vector", "blocked"], FORMS))
def test_a_product_without_steps_is_zero(device, form):
    p = sized("3x0x5")
    same(product(of_form(p, form), device), np.zeros((3, 5), np.float32))
    same(product(p), np.zeros((3, 5), np.float32))


@pytest.mark.parametrize("form", thorough_but(["vector", "blocked"], FORMS))
def test_no_step_is_padded(device, form):
    """A further product of zeros would make +0 of -0; infinities and NaN go through."""
    a, b = np.full((3, 5), 1.0, np.float32), np.full((5, 7), -0.0, np.float32)
    a[1, 2], a[2, 3] = np.inf, np.nan
    b[:, 3] = 1e-45
    found = everywhere(given(a, b), device, (form,))
    assert np.isnan(found[2]).all() and np.isinf(found[1, 3]) and np.isnan(found[1, 0])
    small = np.float32([[1e-30, -1e-30]])
    tiny = everywhere(given(small, np.float32([[1e-30], [0.0]])), device, (form,))
    assert tiny[0, 0] == 0
    subnormal = everywhere(given(small, np.float32([[1e-10], [-3e-9]])), device, (form,))
    assert 0 < subnormal[0, 0] < np.finfo(np.float32).tiny


def test_the_sign_of_zero_is_that_of_the_last_step(device):
    """fma(-1, 0, +0) is +0, so a sum is -0 in no case; a product of -1e-38 rounds to -0."""
    a, b = np.float32([[1e-30, -1e-30]]), np.float32([[-1e-30], [1e-30]])
    found = everywhere(given(a, b), device, ("vector", "naive", "blocked"))
    assert found[0, 0] == 0 and np.signbit(found[0, 0])


@pytest.mark.parametrize("arithmetic", ["fused", "separate"])
def test_numpy_is_as_near_as_rounding_allows(device, arithmetic):
    """Against the product in double: n 2^-24 of the product of the absolute values at most."""
    p = of_form(sized("128x200x96", arithmetic=arithmetic), "vector")
    state = {name: array[0] for name, array in engine_of(p, device).state().items()}
    a, b = state["A"].astype(np.float64), state["B"].astype(np.float64)
    bound = 200 * 2.0**-24 * (abs(a) @ abs(b))
    assert (abs(state["C"] - a @ b) <= bound).all()
    assert (abs(state["A"] @ state["B"] - state["C"]) <= 2 * bound).all()
    assert (state["C"] != a @ b).mean() > 0.5
