"""Does a box obey mechanics: second order, reversal, conservation, forces that are slopes?"""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from marks import thorough_but
from md_boxes import after, crystal, engine, placed, system

from reference_py.copies import Copy
from reference_py.physics.molecular_dynamics.pair import energy_and_force
from reference_py.physics.molecular_dynamics.start import normal_velocities


def largest_error(device, dt):
    """Return the largest change of an atom's total energy up to time 0.15."""
    p = replace(system("melt double"), dt=dt, variant="all_pairs")
    made = engine(p, device)
    energies = [float(made.state()["series"][0][2])]
    for first in range(1, round(0.15 / dt) + 1, 60):
        last = min(first + 59, round(0.15 / dt))
        made.run_ticks(first, last)
        energies += made.logs()["series"][0, :, 2].tolist()
    return max(abs(energy - energies[0]) for energy in energies)


def test_the_energy_error_falls_with_the_square_of_the_step(device):
    """Measured before by others: 1.1496e-3, 2.9005e-4, 7.2475e-5."""
    errors = [largest_error(device, dt) for dt in (0.005, 0.0025, 0.00125)]
    assert errors == pytest.approx([1.1496e-3, 2.9005e-4, 7.2475e-5], rel=1e-4)
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, abs=0.1)


@pytest.mark.parametrize(("precision", "most"), [("double", 1e-13), ("single", 1e-4)])
def test_backwards_in_time(device, precision, most):
    p = system(f"melt {precision}", variant="all_pairs")
    made = engine(p, device)
    before = made.state()["x"][0]
    made.run_ticks(1, 20)
    state = made.state()
    assert np.abs(state["x"][0] - before).max() > 0.05
    made.load({**state, "v": -state["v"]})
    made.run_ticks(1, 20)
    d = np.abs(made.state()["x"][0] - before)
    assert np.minimum(d, np.abs(d - p.length)).max() < most


@pytest.mark.parametrize(("precision", "most"), [("double", 1e-11), ("single", 2e-4)])
def test_momentum_is_conserved_and_forces_add_up_to_nothing(device, precision, most):
    p = system(f"melt {precision}", variant="all_pairs")
    made = engine(p, device)
    made.run_ticks(1, 60)
    assert made.logs()["series"][0, :, 5].max() < most
    assert (made.state()["F"].sum(axis=1) == 0).all()


def test_two_atoms_at_rest(device):
    """At 2^(1/6) they do not feel each other, whatever the side of the box between them."""
    r = 2.0 ** (1.0 / 6.0)
    for x in ([[4, 4, 4], [4 + r, 4, 4]], [[0.5, 4, 4], [8.5 - r, 4, 4]]):
        p = placed(x, 8.0, form="plain")
        for state in (after(p, 0), after(p, 0, device)):
            assert np.abs(state["F"]).max() * 2.0**-36 < 1e-6
            assert state["U"][0] == pytest.approx(-1.0, abs=1e-10)


@pytest.mark.parametrize("form", ["plain", "shifted", "shifted_force"])
def test_force_is_minus_the_slope_of_the_energy(form):
    p = placed([[0, 0, 0], [1, 0, 0]], 8.0, form=form)
    r = np.linspace(0.85, 2.49, 300)
    h = 1e-5
    up, down = (energy_and_force(p, (r + s) ** 2)[0] for s in (h, -h))
    force = energy_and_force(p, r**2)[1] * r
    np.testing.assert_allclose(force, (down - up) / (2 * h), rtol=2e-7, atol=1e-7)


@pytest.mark.parametrize(
    ("form", "at_cutoff"), [("plain", -0.016316891), ("shifted", 0.0), ("shifted_force", 0.0)]
)
def test_the_cutoff(form, at_cutoff):
    p = placed([[0, 0, 0], [1, 0, 0]], 8.0, form=form)
    u, w = energy_and_force(p, np.array([p.cutoff * p.cutoff]))
    assert u[0] == pytest.approx(at_cutoff, abs=1e-9)
    slope = 0.0 if form == "shifted_force" else 0.038999477
    assert -w[0] * p.cutoff == pytest.approx(slope, abs=1e-9)


@pytest.mark.parametrize(
    ("density", "form", "energy"),
    [
        (0.15, "shifted_force", -0.0784001),
        (0.8442, "plain", -6.7733681),
        (0.8442, "shifted", -6.3328120),
        (0.8442, "shifted_force", -5.6932783),
    ],
)
def test_energies_of_crystals(density, form, energy):
    p = crystal(5, density, form=form, precision="double", velocities="zero")
    state = after(p, 0)
    assert state["U"][0] / p.atoms == pytest.approx(energy, abs=1e-5)
    assert state["K"][0] == state["T"][0] == 0.0


def test_first_velocities_are_normal():
    """The first four moments, of 6000 numbers before they are scaled."""
    p = crystal(8, 0.8)
    v = normal_velocities(p, Copy(0, {})).ravel()
    n = v.size
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((v**power).mean() - moment) < 4 * sqrt(variance / n)


def test_first_velocities_have_the_temperature_and_no_momentum(device):
    p = crystal(4, 0.8, precision="double", temperature=1.7)
    state = after(p, 0, device)
    assert state["T"][0] == pytest.approx(1.7, rel=1e-12)
    assert np.abs(state["v"].sum(axis=1)).max() < 1e-12


def test_opposite_pairs():
    p = crystal(3, 0.15, precision="double", velocities="pairs")
    v = after(p, 0)["v"][0]
    assert (v[0::2] == -v[1::2]).all()
    assert 0 < np.abs(v).max() < 1e-6


@pytest.mark.parametrize("variant", thorough_but(["list"], ["all_pairs", "list"]))
def test_velocities_are_rescaled_to_the_temperature(device, variant):
    p = crystal(4, 0.4, temperature=0.9, rescaled=5, dt=0.005, variant=variant)
    made = engine(p, device)
    made.run_ticks(1, 5)
    made.finish()
    assert made.state()["T"][0] == pytest.approx(0.9, rel=1e-6)
    made.run_ticks(6, 12)
    made.finish()
    assert abs(made.state()["T"][0] / 0.9 - 1) > 1e-5


def test_boxes_of_an_ensemble_are_those_that_run_alone(device):
    p = crystal(3, 0.3, cutoff=2.0).fitting()
    together = after(p, 6, device, copies=3)
    for number in range(3):
        alone = after(p, 6, device, first=number)
        assert all((together[name][number] == alone[name][0]).all() for name in ("x", "v", "F"))
    assert (together["v"][0] != together["v"][1]).any()
