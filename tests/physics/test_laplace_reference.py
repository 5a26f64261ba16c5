"""Does the reference give what others computed, and what is known of Laplace's equation?"""

import hashlib
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laplace_plates import random_plate, run, seed_plate

from reference_py.physics.laplace import advance, plate, sweep
from reference_py.physics.laplace.parameters import Conductor, Parameters, rectangle

DATA = Path(__file__).resolve().parents[1] / "data" / "physics"
ORACLE = json.loads((DATA / "laplace.json").read_text())
SEED = json.loads((DATA / "laplace-seed.json").read_text())


def sha256(array):
    return hashlib.sha256(array.astype(array.dtype.newbyteorder("<")).tobytes()).hexdigest()


def fields(case):
    """Return the numbers of a name such as "n=32 steps=500"."""
    return {key: float(value) for key, value in (w.split("=") for w in case.split() if "=" in w)}


# ---------------------------------------------------------------- what others computed


@pytest.mark.parametrize("case", [case for case in ORACLE if "tolerance" in case])
def test_ends_at_the_step_and_with_the_bits_of_the_oracle(case):
    given_, expected = fields(case), ORACLE[case]
    p = seed_plate(
        int(given_["n"]), tolerance=given_["tolerance"], check_every=int(given_["check_every"])
    )
    one = run(p, 10_000)
    assert (one.ended, sha256(one.phi)) == (expected["steps"], expected["phi"])
    assert float(one.change) == expected["change"]


def test_heat_has_the_bits_of_the_oracle():
    expected = ORACLE["heat n=16 ratio=0.125 steps=20"]
    one = run(seed_plate(16, method="heat", ratio=0.125), 20)
    assert sha256(one.phi) == expected["phi"]
    assert float(one.phi[8, 6]) == expected["center"]


@pytest.mark.parametrize("case", SEED["phi"])
def test_has_the_bits_of_the_seed(case):
    given_ = fields(case)
    one = run(seed_plate(int(given_["n"])), int(given_["steps"]))
    assert sha256(one.phi) == SEED["phi"][case]
    if case in SEED:
        assert float(one.phi[100, 98]) == pytest.approx(SEED[case]["phi[100, 98]"], abs=5e-10)
        assert one.sum == pytest.approx(SEED[case]["sum"], abs=5e-7)


def test_converges_to_the_exact_solution():
    p = seed_plate(32, precision="double", tolerance=1e-15, check_every=100)
    one, expected = run(p, 20_000), SEED["solution n=32"]
    assert one.ended != plate.RUNNING
    assert float(one.phi[16, 14]) == pytest.approx(expected["phi[16, 14]"], abs=5e-10)
    assert one.sum == pytest.approx(expected["sum"], abs=1e-9)
    assert one.residual < 1e-13


# ---------------------------------------------------------------- what is known


def bare(side, phi, **settings):
    """Return parameters without conductors, and a plate of given potentials."""
    p = Parameters(side, side, precision="double", **settings)
    one = plate.start(p)
    one.phi = phi.astype(p.num)
    return p, one


def test_the_discrete_solution_stays_and_is_found():
    """Border 0 except the last row, sin(pi j / m): phi = sin(pi j / m) sinh(a i) / sinh(a m).

    It solves the five-point equation where cosh(a) = 2 - cos(pi / m), m = n - 1.
    """
    n = 17
    m = n - 1
    a = math.acosh(2 - math.cos(math.pi / m))
    i, j = np.mgrid[:n, :n]
    exact = np.sin(np.pi * j / m) * np.sinh(a * i) / np.sinh(a * m)
    p, one = bare(n, exact)
    assert np.abs(run(p, 100, one).phi - exact).max() < 1e-14
    p, one = bare(n, np.where(i == m, exact, 0.0), tolerance=1e-17, check_every=50)
    found = run(p, 5000, one)
    assert np.abs(found.phi - exact).max() < 1e-13


@pytest.mark.parametrize("method", ["jacobi", "heat"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_plane_is_unchanged_bit_for_bit(method, precision):
    i, j = np.mgrid[:13, :9]
    p = Parameters(13, 9, method=method, precision=precision)
    one = plate.start(p)
    one.phi = ((3 * i + 5 * j) / 64).astype(p.num)
    expected = one.phi.tobytes()
    assert run(p, 30, one).phi.tobytes() == expected


def test_a_mode_of_heat_decays_at_its_rate():
    n, ratio, steps = 33, 0.125, 10
    wave = np.sin(np.pi * np.arange(n) / (n - 1))
    p, one = bare(n, np.outer(wave, wave), method="heat", ratio=ratio)
    expected = 0.976182817774951
    assert (1 - 8 * ratio * math.sin(math.pi / (2 * (n - 1))) ** 2) ** steps == pytest.approx(
        expected, abs=1e-15
    )
    decay = run(p, steps, one).phi[16, 16] / np.outer(wave, wave)[16, 16]
    assert decay == pytest.approx(expected, abs=1e-15)


def test_heat_of_a_quarter_differs_from_jacobi_in_bits_only():
    plates = (Parameters(17, 17), Parameters(17, 17, method="heat", ratio=0.25))
    mean, heat = (run(p, 20, random_plate(p, 1)).phi for p in plates)
    assert np.abs(mean - heat).max() < 1e-6
    assert mean.tobytes() != heat.tobytes()


@pytest.mark.parametrize("side", [6, 7, 17, 40])
def test_the_seeds_plate_is_symmetric_bounded_and_changes_at_one_cell_a_step(side):
    p, steps = seed_plate(side), 5
    one = run(p, steps)
    assert (one.phi >= 0).all() and (one.phi <= 1).all()
    if side % 2 == 0:  # E + W commutes; S is added before N
        assert one.phi.tobytes() == one.phi[:, ::-1].tobytes()
        assert np.abs(one.phi - one.phi[::-1]).max() < 1e-6
        assert np.abs(one.phi - one.phi.T).max() < 1e-6
    row, column = np.mgrid[:side, :side]
    low, high = side // 2 - 1, side // 2
    away = [np.maximum(np.maximum(low - x, x - high), 0) for x in (row, column)]
    assert (one.phi[away[0] + away[1] > steps] == 0).all()
    inside = (row > 0) & (row < side - 1) & (column > 0) & (column < side - 1)
    assert (one.phi[(away[0] + away[1] <= steps) & inside] > 0).all()


finite = st.floats(-100, 100, width=32)


@given(
    rows=st.integers(3, 9),
    columns=st.integers(3, 9),
    border=st.tuples(finite, finite, finite, finite),
    method=st.sampled_from(["jacobi", "heat"]),
    ratio=st.floats(0.01, 0.25, exclude_max=True),
    steps=st.integers(1, 12),
    seed=st.integers(0, 99),
)
@settings(max_examples=60)
def test_nothing_leaves_the_range_of_what_is_given(
    rows, columns, border, method, ratio, steps, seed
):
    """The maximum principle: no free cell exceeds the extremes of what surrounds it.

    Single precision may exceed them by the rounding of a step.
    """
    p = Parameters(rows, columns, border, method=method, ratio=ratio)
    one = random_plate(p, seed)
    one.phi[0], one.phi[-1] = border[0], border[1]
    low, high = one.phi.min(), one.phi.max()
    margin = 1e-5 * max(abs(low), abs(high)) if method == "heat" else 2e-6 * max(abs(low), high)
    held = one.phi[~one.free].tobytes()
    after = run(p, steps, one)
    assert after.phi.min() >= low - margin and after.phi.max() <= high + margin
    assert after.phi[~one.free].tobytes() == held


# ---------------------------------------------------------------- what is set up


def test_the_start_has_border_and_conductors_in_their_order():
    p = Parameters(
        6,
        7,
        border=(1.0, 2.0, 3.0, 4.0),
        conductors=(
            rectangle(6, 7, (1, 1), (3, 3), 5.0),
            Conductor(np.pad([[True]], ((3, 2), (3, 3))), 6.0),
        ),
    )
    one = plate.start(p)
    assert one.phi.dtype == np.float32
    expected = [
        [1, 1, 1, 1, 1, 1, 1],
        [3, 5, 5, 5, 0, 0, 4],
        [3, 5, 5, 5, 0, 0, 4],
        [3, 5, 5, 6, 0, 0, 4],
        [3, 0, 0, 0, 0, 0, 4],
        [2, 2, 2, 2, 2, 2, 2],
    ]
    assert one.phi.tolist() == expected
    assert one.free.tolist() == [
        [row in (1, 2, 3, 4) and column in range(1, 6) and expected[row][column] == 0
         for column in range(7)]
        for row in range(6)
    ]  # fmt: skip


def test_looks_at_the_change_of_one_step_only_when_asked():
    """With `check_every` 50 the run continues although a step before has met the tolerance."""
    often, seldom = (seed_plate(32, tolerance=1e-4, check_every=every) for every in (1, 50))
    first, later = run(often, 1000), run(seldom, 1000)
    assert (first.ended, later.ended) == (386, 400)
    one = plate.start(seldom)
    for step in range(1, 400):
        sweep.sweep(seldom, one, step)
        advance.advance(seldom, one, step)
    before = one.phi.copy()
    sweep.sweep(seldom, one, 400)
    assert np.abs(one.next - before).max() == later.change


def test_a_plate_without_free_cells_is_done_at_once():
    p = Parameters(3, 3, conductors=(rectangle(3, 3, (1, 1), (1, 1), 1.0),), tolerance=0.0)
    one = run(p, 100)
    assert (one.ended, float(one.change), one.sum, one.residual) == (50, 0.0, 1.0, 0.0)
