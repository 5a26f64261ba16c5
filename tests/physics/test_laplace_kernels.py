"""Are the kernels of Laplace's equation their twins, bit by bit, at every size and workgroup?"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laplace_plates import FORMS, Plates, random_plate, run, seed_plate, with_values
from marks import thorough_but

from reference_py.physics.laplace import advance, change, plate, sweep, totals
from reference_py.physics.laplace.parameters import BLOCK, Parameters

EVERYTHING = ("phi", "change", "ended", "sum", "residual")


def equal(found, expected):
    return found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


def compare(plates, twins, steps):
    """Run both side by side and compare the arrays after every phase."""
    p = plates.p
    for step in range(1, steps + 1):
        plates.sweep()
        for one in twins:
            if one.ended == plate.RUNNING:
                sweep.sweep(p, one, step)
            else:
                one.next = one.phi.copy()
        assert equal(plates["next"], np.stack([one.next for one in twins])), step
        plates.change(step)
        for one in twins:
            if one.ended == plate.RUNNING:
                change.change(p, one, step)
        assert equal(plates["change"], np.array([one.change for one in twins], p.num)), step
        assert plates["ended"].tolist() == [one.ended for one in twins], step
        plates.advance()
        for one in twins:
            advance.advance(p, one, step)
        assert equal(plates["phi"], np.stack([one.phi for one in twins])), step
    plates.totals()
    for one in twins:
        totals.totals(p, one, steps)
    for name in ("sum", "residual"):
        assert equal(plates[name], np.array([getattr(one, name) for one in twins])), name


@pytest.mark.parametrize("count", thorough_but([5], [1, 5]), ids=["alone", "five"])
@pytest.mark.parametrize(
    ("method", "precision"),
    thorough_but(
        [("jacobi", "single"), ("heat", "double")],
        [*product(("jacobi", "heat"), ("single", "double"))],
        2,
    ),
)
@pytest.mark.parametrize("form", FORMS)
def test_every_phase_is_its_twin(device, form, method, precision, count):
    p = Parameters(53, 47, method=method, ratio=0.2, precision=precision, check_every=3)
    assert p.blocks == 2 and p.rows * p.columns % BLOCK
    twins = [random_plate(p, number) for number in range(count)]
    compare(Plates(device, p, twins, form), twins, 5)


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
@given(
    shape=st.sampled_from([(3, 3), (17, 8)]),
    items=st.sampled_from([1, 5, 40]),
    parts=st.integers(1, 40),
    count=st.integers(1, 3),
    seed=st.integers(0, 9),
)
@settings(max_examples=12)
def test_the_launch_changes_nothing(device, form, shape, items, parts, count, seed):
    """Also with more work-items than cells of a row, and more groups than rows of a plate."""
    p = Parameters(*shape, tolerance=0.3, check_every=2)
    twins = [random_plate(p, seed + number) for number in range(count)]
    compare(Plates(device, p, twins, form, items, parts), twins, 4)


@pytest.mark.parametrize("items", [1, 256])
@pytest.mark.parametrize("form", FORMS)
def test_whole_runs_have_the_bits_of_the_reference(device, form, items):
    p = seed_plate(32, tolerance=4e-3, check_every=5)
    expected = run(p, 1000)
    plates = Plates(device, p, [plate.start(p)], form, items)
    for step in range(1, expected.ended + 1):
        plates.step(step)
    plates.totals()
    for name in EVERYTHING:
        assert plates[name][0].tolist() == np.asarray(getattr(expected, name)).tolist(), name


@pytest.mark.parametrize("form", FORMS)
def test_a_plate_that_has_ended_stays_as_it_was_next_to_others(device, form):
    """A plate of five is what it is alone, however far the others continue."""
    p = seed_plate(12, tolerance=4e-3, check_every=1)
    start = [plate.start(p) for _ in range(5)]
    for number, one in enumerate(start):
        one.phi[1:-1, 1:-1] *= p.num(1 + number)
    alone = [run(p, 1000, plate_like(one)) for one in start]
    assert len({one.ended for one in alone}) == 5
    plates = Plates(device, p, start, form)
    last = max(one.ended for one in alone)
    for step in range(1, last + 4):
        plates.step(step)
    for name in ("phi", "change", "ended"):
        expected = np.stack([np.asarray(getattr(one, name)) for one in alone])
        assert plates[name].tolist() == expected.tolist(), name


def plate_like(one):
    """Return a plate of its own with the same potentials and free cells."""
    copy = type(one)(**vars(one))
    copy.phi, copy.free = one.phi.copy(), one.free.copy()
    return copy


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("side", [6, 7, 17, 200, 333])
def test_all_forms_and_sizes_agree(device, form, side):
    p = seed_plate(side)
    plates = Plates(device, p, [plate.start(p)], form, items=64, parts=5)
    for step in range(1, 21):
        plates.step(step)
    assert equal(plates["phi"][0], run(p, 20).phi)


@pytest.mark.parametrize("form", FORMS)
def test_symmetric_plates_stay_symmetric(device, form):
    p = with_values(seed_plate(16), border=(1.0, -0.5, 0.25, 0.25))
    plates = Plates(device, p, [plate.start(p)], form)
    for step in range(1, 101):
        plates.step(step)
    phi = plates["phi"][0]
    assert np.unique(phi).size > 40
    assert equal(phi, phi[:, ::-1].copy())
