"""Are bundles that are found by bisection those that are put together unit by unit?"""

from dataclasses import replace

import numpy as np
import pytest

from reference_py.economy import device_trading
from reference_py.economy.curves import gain, loss, marginal_utility, utility_curve
from reference_py.economy.device_trading import least_accepted, most_given, payment
from reference_py.economy.society import new_society
from societies import config_from_dict
from societies.economy.parameters import parameters

SETTINGS = {
    "workload": "economy",
    "agents": 2,
    "resources": 6,
    "devices": "all",
    "utility": {
        "min_marginal": 20.0,  # tables end soon, so that many units are worth the same
        "scale": [600, 600, 600, 500, 500, 700],
        "exponent": [2.5, 2.5, 2.5, 2.0, 3.0, 2.5],
    },
}


def seller_by_units(p, s, offered, cost):
    held, bundle, total = s.held[1], [0] * p.resources, 0.0
    while total < cost:
        left = [r for r in offered if bundle[r] < s.held[0][r]]
        if not left:
            break
        worth = {r: marginal_utility(utility_curve(p, 1, r), held[r] + bundle[r]) for r in left}
        bundle[max(left, key=lambda r: (worth[r], -r))] += 1
        total = sum(gain(utility_curve(p, 1, r), held[r], bundle[r]) for r in offered)
    return bundle


def buyer_by_units(p, s, offered, worth):
    held, bundle = s.held[0], [0] * p.resources
    while True:
        left = [r for r in offered if bundle[r] < held[r]]
        if not left:
            return bundle
        lost = {r: marginal_utility(utility_curve(p, 0, r), held[r] - bundle[r] - 1) for r in left}
        last = min(left, key=lambda r: (lost[r], r))
        bundle[last] += 1
        if sum(loss(utility_curve(p, 0, r), held[r], bundle[r]) for r in offered) >= worth:
            bundle[last] -= 1
            return bundle


@pytest.mark.parametrize("seed", range(5))
def test_bundles(seed):
    parameters_ = parameters(config_from_dict(SETTINGS))
    p, rng = parameters_, np.random.default_rng(seed)
    s = new_society(parameters_)
    reached = 0
    for _ in range(40):
        most = int(rng.integers(2, 150))
        s.held = rng.integers(0, most, (2, p.resources)).tolist()
        offered = [r for r in range(p.resources) if s.held[0][r] > 0 and rng.random() < 0.7]
        amount = float(rng.random() ** 3 * 30_000)
        assert least_accepted(p, s, 1, offered, s.held[0], amount) == seller_by_units(
            p, s, offered, amount
        )
        given = most_given(p, s, 0, offered, amount)
        assert given == buyer_by_units(p, s, offered, amount)
        reached += given != [s.held[0][r] if r in offered else 0 for r in range(p.resources)]
    assert 5 < reached < 40


@pytest.mark.parametrize("seed", range(3))
def test_no_deal_beyond_the_bound_of_the_kernels(seed):
    """`payment` of device_trading.cl does not search where it proves that no payment will do."""
    p, rng = parameters(config_from_dict(SETTINGS)), np.random.default_rng(seed)
    s = new_society(p)
    found = {True: 0, False: 0}
    for _ in range(150):
        s.held = (rng.random((2, p.resources)) ** 2 * rng.integers(2, 1000)).astype(int).tolist()
        offered = [r for r in range(p.resources) if s.held[0][r] > 0]
        if not offered:
            continue
        gained = max(
            marginal_utility(utility_curve(p, 1, r), s.held[1][r])
            / marginal_utility(utility_curve(p, 0, r), s.held[0][r] - 1)
            for r in offered
        )
        worth = float(rng.random() ** 2 * 30_000)
        for cost in (worth * gained * share for share in (0.1, 0.3, 0.6, 0.9, 0.99, 1.0, 1.01)):
            units = payment(p, s, 0, 1, offered, worth, cost)
            paid = sum(loss(utility_curve(p, 0, r), s.held[0][r], units[r]) for r in offered)
            got = sum(gain(utility_curve(p, 1, r), s.held[1][r], units[r]) for r in offered)
            agreed = device_trading.refusal(worth, cost, paid, got) is None
            found[agreed] += 1
            assert not (agreed and cost >= worth * gained * (1 + 1e-12))
    assert min(found.values()) > 30


def test_the_stronger_pays_less_and_receives_more():
    groups = [
        {"name": "weak", "count": 1},
        {"name": "strong", "count": 1, "device_trade_power": 3.0},
    ]
    p = parameters(config_from_dict({**SETTINGS, "groups": groups}))
    s = new_society(p)
    s.held = [[50] * p.resources, [5] * p.resources]
    offered = list(range(p.resources))
    least = least_accepted(p, s, 1, offered, s.held[0], 2000.0)
    most = most_given(p, s, 0, offered, 9000.0)
    units = payment(p, s, 0, 1, offered, 9000.0, 2000.0)
    assert units == [int((a * 1.0 + b * 3.0) / 4.0 + 0.5) for a, b in zip(least, most, strict=True)]
    alike = replace(p, devices=replace(p.devices, trade_power=(1.0, 1.0)))
    equal = payment(alike, s, 0, 1, offered, 9000.0, 2000.0)
    assert equal == [(a + b + 1) // 2 for a, b in zip(least, most, strict=True)]
    assert sum(units) > sum(equal)  # the strong one sold


def test_no_agent_pays_more_than_it_holds():
    p = parameters(config_from_dict(SETTINGS))
    s = new_society(p)
    s.held = [[3, 0, 1, 0, 0, 7], [0] * p.resources]
    assert payment(p, s, 0, 1, [0, 2, 5], 1e9, 1e9) == s.held[0]


def alone(held_by_buyer, held_by_seller):
    p = parameters(config_from_dict(SETTINGS))
    s = new_society(p)
    s.held = [held_by_buyer, held_by_seller]
    return p, s


def test_a_bundle_worth_exactly_enough_suffices():
    """Nothing is rounded here: the first unit of what is not held is worth 600."""
    p, s = alone([2, 2, 0, 0, 0, 0], [0] * 6)
    assert least_accepted(p, s, 1, [0, 1], s.held[0], 600.0) == [1, 0, 0, 0, 0, 0]
    assert least_accepted(p, s, 1, [0, 1], s.held[0], 1200.0) == [1, 1, 0, 0, 0, 0]
    assert least_accepted(p, s, 1, [0, 1], s.held[0], 600.1) == [1, 1, 0, 0, 0, 0]
    assert least_accepted(p, s, 1, [0, 1], s.held[0], 0.0) == [0] * 6
    s.held[0] = [1, 0, 0, 0, 0, 0]
    assert most_given(p, s, 0, [0], 600.0) == [0] * 6  # all it has is too much
    assert most_given(p, s, 0, [0], 600.1) == [1, 0, 0, 0, 0, 0]
    assert most_given(p, s, 0, [0], 0.0) == [0] * 6


def test_equal_powers_of_any_size_meet_in_the_middle(monkeypatch):
    """Halves are rounded up, however the powers would round."""
    p, s = alone([10**6] * 6, [0] * 6)
    least, most = [0, 1, 2, 3, 10, 999], [1, 2, 5, 8, 13, 1000]
    monkeypatch.setattr(device_trading, "least_accepted", lambda *_: least)
    monkeypatch.setattr(device_trading, "most_given", lambda *_: most)
    for hundredths in range(1, 400):
        powers = replace(p.devices, trade_power=(hundredths / 100.0, 1.0))
        units = payment(replace(p, devices=powers), s, 0, 1, range(6), 1.0, 1.0)
        assert units == [1, 2, 4, 6, 12, 1000]
