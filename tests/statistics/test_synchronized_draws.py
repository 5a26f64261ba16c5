"""Do synchronized draws keep twins together, and leave the distribution of results as it is?"""

import numpy as np
import pytest
from scipy import stats

from reference_py.economy.consumption import consume
from reference_py.economy.device_matching import device_matching
from reference_py.economy.schedule import live
from reference_py.economy.society import new_society
from reference_py.economy.streams import synchronize_draws
from reference_py.primitives.rng import STREAM_GAP, Rng, stream_base
from societies import config_from_dict, steps
from societies.economy.parameters import parameters

KEYS = {
    "workload": "economy",
    "agents": 5,
    "resources": 5,
    "days": 9,
    "devices": "tools",
    "draws": {"synchronized": True},
}


def society(index=3, **keys):
    p = parameters(config_from_dict({**KEYS, **keys}))
    s = new_society(p, index)
    live(p, s, 0, 0)
    return p, s


def test_a_day_begins_at_its_own_place_whatever_was_drawn():
    p, one = society()
    _, other = society()
    live(p, one, 1, 3)
    synchronize_draws(p, one, 4)
    synchronize_draws(p, other, 4)
    assert one.stream == other.stream
    start = Rng.seed(stream_base(p.stream_base + 4), STREAM_GAP, (3 * 6 + 5) * 16 + 4)
    assert one.stream[5][4] == start.pack()
    synchronize_draws(p, other, 5)
    assert not {*map(tuple, one.stream)} & {*map(tuple, other.stream)}


def test_futures_have_the_draws_of_their_past_until_the_day_of_the_fan():
    fan = {"fan": {"day": 2, "futures": 2}, "replicates": 4}
    (p, one), (_, other) = society(2, **fan), society(3, **fan)
    for day, equal in ((1, True), (2, True), (3, False), (4, False)):
        for s in (one, other):
            synchronize_draws(p, s, day)
        assert (one.stream == other.stream) == equal, day


def test_what_is_held_of_one_resource_changes_no_draw_of_another():
    (p, one), (_, other) = society(), society()
    one.held[0], other.held[0] = [90, 5, 60, 7, 100], [20, 5, 60, 7, 100]
    before = one.stream[0][1]
    for s in (one, other):
        consume(p, s, 0)
    assert one.held[0][1:] == other.held[0][1:] and one.stream[0][1] == before
    assert one.held[0] != [90, 5, 60, 7, 100]


def test_a_round_of_device_trade_draws_what_it_draws_without_the_rounds_before():
    (p, one), (_, other) = society(), society()
    for s in (one, other):
        s.market_open = 1
    device_matching(p, one, 0, 0)
    first = list(one.device_partners)
    one.met = [[-1] * len(row) for row in one.met]
    for s in (one, other):
        device_matching(p, s, 0, 1)
    assert one.device_partners == other.device_partners != first


@pytest.mark.thorough
def test_results_have_the_same_distribution():
    """Two samples of 250 societies with different seeds, one of them with synchronized draws."""
    found = []
    for seed, synchronized in ((1, False), (2, True)):
        keys = {
            "days": 30,
            "trading": {"rounds": 3, "menu_size": 3},
            "replicates": 250,
            "seed": seed,
            "draws": {"synchronized": synchronized},
        }
        *_, last = steps(config_from_dict({**KEYS, "agents": 6, "resources": 6, **keys}))
        found.append(last.state)
    usual, synchronized = found
    for name in ("utility", "units_extracted", "units_traded", "units_held"):
        one, other = (state[name].astype(float) for state in found)
        assert one.any(), f"{name} is 0 in all societies"
        spread = np.hypot(*(x.mean(1).std(ddof=1) / len(x) ** 0.5 for x in (one, other)))
        assert abs(one.mean() - other.mean()) < 3.5 * spread, name
        assert stats.ks_2samp(one.mean(1), other.mean(1)).pvalue > 1e-3, name
        assert stats.ks_2samp(one.std(1), other.std(1)).pvalue > 1e-3, name
    known = [(state["recipe"][:, 0, :, 0] >= 0).sum(1) for state in (usual, synchronized)]
    assert stats.ks_2samp(*known).pvalue > 1e-3
