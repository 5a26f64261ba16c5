"""Does the reference do to every recorded state of the peer what the peer did to it?

The vectors and their encodings: tests/data/societies-baseline/README.md. Integers must be equal,
reals to 1e-9 relative. All trades and all ends of day are replayed (of the latter what concerns
resources); of the days of extraction those without devices, which are counted here.
"""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from reference_py.economy.end_day import end_day
from reference_py.economy.extraction import extract
from reference_py.economy.shocks import remove_resource
from reference_py.economy.society import Society
from reference_py.economy.trading import meet
from societies.config import config_from_dict
from societies.economy.engine import _for_reference
from societies.economy.parameters import parameters

DATA = Path(__file__).parents[1] / "data" / "societies-baseline"

# agents, resources, exponent, price, menu size: the table in the README
FILES = {
    "9x12": (9, 12, 2.0, "geometric", 3),
    "48x48": (48, 48, 2.5, "unit", 6),
    "late-9x12": (9, 12, 2.0, "geometric", 3),
    "late-24x24": (24, 24, 2.5, "geometric", 6),
    "shock-24x24": (24, 24, 2.5, "geometric", 6),
}

# Days of extraction on which no device is in play, of all that are recorded.
WITHOUT_DEVICES = {
    "9x12": (11, 25),
    "48x48": (25, 25),
    "late-9x12": (0, 37),
    "late-24x24": (0, 32),
    "shock-24x24": (0, 12),
}


def load(name, kind):
    with gzip.open(DATA / f"vectors-{name}.jsonl.gz", "rt") as lines:
        return [v for v in map(json.loads, lines) if v["kind"] == kind]


def setting(name):
    agents, resources, exponent, price, menu_size = FILES[name]
    config = config_from_dict(
        {
            "workload": "economy",
            "agents": agents,
            "resources": resources,
            "utility": {"exponent": exponent},
            "trading": {"price": price, "menu_size": menu_size},
        }
    )
    return _for_reference(parameters(config))


def snapped(cache, curve):
    """Replace the C library's pow differences by the nearest entry of our table."""
    table = np.array([*curve.marginal, curve.floor])[::-1]
    places = np.clip(np.searchsorted(table, cache), 1, len(table) - 1)
    lower, upper = table[places - 1], table[places]
    nearest = np.where(np.abs(lower - cache) < np.abs(upper - cache), lower, upper)
    return np.where(np.array(cache) > 0, nearest, 0.0).tolist()


def society(p, agents, record=None):
    """Return a society in which the given recorded agents are as recorded."""
    blank = [[0] * p.resources for _ in range(p.agents)]
    s = Society(
        0,
        {
            "held": [list(row) for row in blank],
            "experience": [[0.0] * p.resources for _ in range(p.agents)],
            "value": [[0.0] * p.resources for _ in range(p.agents)],
            "extracted": [list(row) for row in blank],
            "alive": [1] * p.agents,
            "available": (record or {}).get("res_in_sim", [1] * p.resources),
            "gain_per_minute": [0.0] * p.agents,
            "minutes": [0.0] * p.agents,
            "units_sold": [0] * p.agents,
            "deals": [0] * p.agents,
        },
    )
    for agent in agents:
        a = agent["id"]
        s.held[a] = list(agent["held"])
        s.value[a] = snapped(agent["cache"], p.utility_curves[0])
        if "res_exp" in agent:
            s.experience[a] = list(agent["res_exp"])
            s.gain_per_minute[a] = agent["gpm"]
    return s


def without_devices(agent):
    """Whether no device and no time spent on devices can change what the agent does."""
    return agent["overtime"] == 0 and not any(any(m) for m in agent["dev_minutes"].values())


@pytest.mark.parametrize("name", FILES)
def test_resource_trades(name):
    p = setting(name)
    vectors = load(name, "resource_trade")
    assert vectors
    for v in vectors:
        a, b = v["before"]["A"]["id"], v["before"]["B"]["id"]
        s = society(p, [v["before"]["A"], v["before"]["B"]])
        meet(p, s, a, b)
        after = v["after"]
        for side, agent in (("A", a), ("B", b)):
            assert s.held[agent] == after[side]["held"]
            np.testing.assert_allclose(s.value[agent], after[side]["cache"], rtol=1e-9)
        assert s.units_sold[a] == after["sold_by_A"]
        assert s.units_sold[b] == after["sold_by_B"]
        assert s.deals[a] == after["n_trades"]


@pytest.mark.parametrize("name", FILES)
def test_extraction(name):
    p = setting(name)
    recorded = load(name, "extraction")
    vectors = [v for v in recorded if without_devices(v["before"])]
    assert (len(vectors), len(recorded)) == WITHOUT_DEVICES[name]
    for v in vectors:
        before, after = v["before"], v["after"]
        a = before["id"]
        s = society(p, [before], v)
        choices = iter(v["choices"])

        def replayed(best, choices=choices):
            choice = next(choices)
            assert choice in best
            return choice

        extract(p, s, a, replayed)
        assert next(choices, None) is None
        assert s.held[a] == after["held"]
        assert s.extracted[a] == after["gathered"]
        np.testing.assert_allclose(s.experience[a], after["res_exp"], rtol=1e-9)
        np.testing.assert_allclose(s.gain_per_minute[a], after["gpm"], rtol=1e-9)


@pytest.mark.parametrize("name", FILES)
def test_end_of_day(name):
    p = setting(name)
    vectors = load(name, "end_day")
    assert vectors
    for v in vectors:
        before, after = v["before"], v["after"]
        a = before["id"]
        s = society(p, [before], v)
        s.alive = [int(agent == a) for agent in range(p.agents)]
        end_day(p, s)
        assert s.held[a] == after["held"]
        np.testing.assert_allclose(s.value[a], after["cache"], rtol=1e-9)
        np.testing.assert_allclose(s.experience[a], after["res_exp"], rtol=1e-9)


def test_removal_of_a_resource():
    p = setting("shock-24x24")
    vectors = load("shock-24x24", "remove_resource")
    assert len(vectors) == 3
    for v in vectors:
        before, after = v["before"], v["after"]
        a = before["id"]
        s = society(p, [before])
        remove_resource(p, s, v["resource"], bool(v["wipe"]))
        assert s.available[v["resource"]] == 0
        assert s.held[a] == after["held"]
        np.testing.assert_allclose(s.value[a], after["cache"], rtol=1e-9)
        np.testing.assert_allclose(s.experience[a], after["res_exp"], rtol=1e-9)
