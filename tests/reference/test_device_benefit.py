"""Is the use of a device in stretches of constant effort its use unit by unit, without rounding?

The oracle is the model's loop in exact arithmetic (`fractions`), over random states.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from reference_py.economy import valuation
from reference_py.economy.curves import marginal_utility
from reference_py.economy.society import new_society
from societies import config_from_dict
from societies.economy.parameters import parameters


def setting(**more):
    settings = {"workload": "economy", "agents": 1, "resources": 7, "devices": "all", **more}
    return parameters(config_from_dict(settings))


def exact_use(curve, experience, time, end, factor, learning):
    """Use a device unit by unit, exactly."""
    last, units = len(curve.minutes) - 1, 0
    experience, time, end = Fraction(experience), Fraction(time), Fraction(end)
    step = Fraction(learning) / Fraction(factor)
    while time < end:
        time += Fraction(curve.minutes[min(int(experience), last)]) / Fraction(factor)
        experience += step
        units += 1
    return units, experience, time


@pytest.mark.sample
@pytest.mark.parametrize(
    ("factor", "learning"),
    [
        (3.0, 1.0),
        (9.0, 1.0),
        (27.0, 1.0),
        (9.0, 2.0),
        (8.0, 2.0),
        (2.5, 1.0),
        (1.1, 0.3),
        (9.0, 40),
    ],
)
def test_units_are_those_of_the_exact_loop(factor, learning):
    """Whole levels are passed at once with the first few, one by one with factors like 2.5."""
    rng = np.random.default_rng(int(100 * factor + learning))
    slow = {"max_effort": 40.0, "min_effort": 0.7, "max_experience": 33.5}
    curves = []
    for p in (setting(), setting(extraction=slow, device={"max_experience": 7.5})):
        curves += [p.effort_curves[0], p.devices.effort_curves[0]]
    for _ in range(60):
        curve = curves[rng.integers(len(curves))]
        begin = float(rng.random() * 1.1 * (len(curve.minutes) - 1))
        time = float(rng.random() * 5)
        end = time + float(rng.random() ** 2 * 300) - 5.0
        found = valuation.use(curve, begin, time, end, factor, float(learning))
        expected = exact_use(curve, begin, time, end, factor, learning)
        assert found[0] == expected[0]
        assert math.isclose(found[1], expected[1], rel_tol=1e-12)
        assert math.isclose(found[2], expected[2], rel_tol=1e-12)


@pytest.mark.parametrize(
    ("factor", "lifetime", "units"),
    [(3, 150, 150), (9, 300, 900), (27, 600, 5400), (81, 1200, 32400)],
)
def test_whole_numbers_of_units_are_whole(factor, lifetime, units):
    """At full experience, where the rounding of a running sum would decide about the last unit."""
    curve = setting().effort_curves[0]
    assert valuation.use(curve, 600.0, 0.0, float(lifetime), float(factor), 1.0)[0] == units


def test_a_use_takes_few_steps():
    """From no experience to full: levels are skipped by bisection, not walked through."""
    curve = setting().effort_curves[0]
    read = []

    class Counted(list):
        def __getitem__(self, i):
            read.append(i)
            return super().__getitem__(i)

    curve = replace(curve, minutes=Counted(curve.minutes), total=Counted(curve.total))
    units, experience, _ = valuation.use(curve, 0.25, 0.0, 5000.0, 81.0, 1.0)
    assert units > 50_000
    assert experience > 600
    assert len(read) < 40


def society(p, rng):
    """Return a lone agent in a random state: every combination of devices and experience."""
    s = new_society(p)
    shape = (6, p.resources)
    some = rng.random(shape) < 0.5
    s.device_minutes[0] = (some * rng.random(shape) * 500.0).tolist()
    s.device_experience[0] = (rng.random(shape) * 45.0).tolist()
    s.experience[0] = (rng.random(p.resources) * 650.0).tolist()
    s.held[0] = rng.integers(0, 300, p.resources).tolist()
    s.recently_made[0] = rng.integers(0, 8, (*shape, 5)).tolist()
    s.recipe = [[[0, 1, 2, 3, 4, 5]] * p.resources for _ in range(6)]
    s.gain_per_minute[0] = float(rng.random() * 50.0)
    return s


def exact_benefit(p, s, device, r):
    """Benefit of a device that extracts (5.4.3): exact times, utilities from the table."""
    if sum(s.device_minutes[0][q][r] for q in range(4)) > 1200.0:
        return 0.0
    curve, utility = p.effort_curves[0], p.utility_curves[0]
    owned = {q: Fraction(s.device_minutes[0][q][r]) for q in range(device, 4)}
    before, time, experience = sum(owned.values()), Fraction(0), Fraction(s.experience[0][r])
    units, obtained = 0, []
    while time < before + Fraction(p.device_lifetime[device]):
        if time > before:
            obtained.append(marginal_utility(utility, s.held[0][r] + units))
        better = [q for q in owned if time < sum(owned[k] for k in owned if k >= q)]
        factor = Fraction(p.device_factor[max(better, default=device)])
        time += Fraction(curve.minutes[min(int(experience), len(curve.minutes) - 1)]) / factor
        experience += 1 / factor
        units += 1
    return math.fsum(obtained)


@pytest.mark.thorough
@pytest.mark.parametrize("device", [0, 1, 2])
def test_benefit_is_that_of_the_exact_loop(device):
    p = setting()
    rng = np.random.default_rng(device)
    compared = 0
    for _ in range(4):
        s = society(p, rng)
        for r in range(p.resources):
            found = valuation.benefit(p, s, 0, device, r)
            expected = exact_benefit(p, s, device, r)
            assert math.isclose(found, expected, rel_tol=1e-10), (device, r)
            compared += expected > 0.0
    assert compared > 10


@pytest.mark.sample
@pytest.mark.parametrize(("device", "made"), [(4, 0), (5, 1)])
def test_time_saved_is_that_of_the_exact_loop(device, made):
    p = setting()
    curve = p.devices.effort_curves[0]
    rng = np.random.default_rng(device)
    compared = 0
    for _ in range(20):
        s = society(p, rng)
        for r in range(p.resources):
            owned = s.device_minutes[0][device][r]
            experience, learning = s.device_experience[0][made][r], (1.0, 2.0)[made]
            _, experience, _ = exact_use(curve, experience, 0.0, owned, 9.0, learning)
            count, _, with_device = exact_use(curve, experience, 0.0, 600.0, 9.0, 1.0)
            levels = [min(int(experience) + i, len(curve.minutes) - 1) for i in range(count)]
            saved = sum(Fraction(curve.minutes[level]) for level in levels) - with_device
            expected = float(saved) * s.gain_per_minute[0]
            if sum(s.recently_made[0][made][r]) <= 5:
                expected = 0.0
            found = valuation.benefit(p, s, 0, device, r)
            assert math.isclose(found, expected, rel_tol=1e-10), (device, r)
            compared += expected > 0.0
    assert compared > 30
