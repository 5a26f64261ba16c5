"""The peer's recorded states: reading them, putting a society into one, comparing it with one.

The vectors and their encodings: tests/data/societies-baseline/README.md.
"""

import functools
import gzip
import json
from pathlib import Path

import numpy as np
from marks import thorough_but
from partners import memory_table, remember

from reference_py.economy.society import new_society
from societies import config_from_dict
from societies.economy.parameters import parameters

DATA = Path(__file__).parents[1] / "data" / "societies-baseline"

# agents, resources, exponent, price, menu size, resources in tool, components: the README's table
FILES = {
    "9x12": (9, 12, 2.0, "geometric", 3, 4, 5),
    "48x48": (48, 48, 2.5, "unit", 6, 5, 6),
    "late-9x12": (9, 12, 2.0, "geometric", 3, 4, 5),
    "late-24x24": (24, 24, 2.5, "geometric", 6, 5, 6),
    "shock-24x24": (24, 24, 2.5, "geometric", 6, 5, 6),
}

QUICK = ("9x12", "late-9x12", "shock-24x24")
"""Files that every run of the tests replays; the others are left to the thorough tests."""

RECORDED = thorough_but(QUICK, FILES)
"""All files, as parameters of a test."""

TYPES = ("tool", "machine", "factory", "industry", "devmachine", "devfactory")

# Field of the state and key of the recorded agent, by shape.
BY_RESOURCE = {"held": "held", "experience": "res_exp", "set_aside": "res_set_aside"}
BY_DEVICE = {
    "device_minutes": "dev_minutes",
    "device_experience": "dev_exp",
    "to_make": "to_make",
    "devices_set_aside": "dev_set_aside",
    "prices": "prices",
    "recently_made": "recently_made",
}
OF_AGENT = {
    "gain_per_minute": "gpm",
    "reserved_minutes": "set_aside_time",
    "overtime": "overtime",
    "device_gain": "dev_gain_today",
}
RELATIVE = 1e-9


def load(name, kind):
    """Return the vectors of one kind in a file, none if it has none."""
    return _by_kind(name).get(kind, [])


@functools.cache
def _by_kind(name):
    result = {}
    with gzip.open(DATA / f"vectors-{name}.jsonl.gz", "rt") as lines:
        for vector in map(json.loads, lines):
            result.setdefault(vector["kind"], []).append(vector)
    return result


@functools.cache
def setting(name):
    """Return the parameters with which a file was recorded."""
    agents, resources, exponent, price, menu_size, in_tool, components = FILES[name]
    config = config_from_dict(
        {
            "workload": "economy",
            "agents": agents,
            "resources": resources,
            "devices": "all",
            "utility": {"exponent": exponent},
            "trading": {"price": price, "menu_size": menu_size},
            "device": {"resources_in_tool": in_tool, "components": components},
        }
    )
    return parameters(config)


def snapped(cache, curve):
    """Replace the C library's pow differences by the nearest entry of our table."""
    table = np.array([*curve.marginal, curve.floor])[::-1]
    places = np.clip(np.searchsorted(table, cache), 1, len(table) - 1)
    lower, upper = table[places - 1], table[places]
    nearest = np.where(np.abs(lower - cache) < np.abs(upper - cache), lower, upper)
    return np.where(np.array(cache) > 0, nearest, 0.0).tolist()


def society(name, agents, record):
    """Return a society in which agents, resources and recipes are as recorded."""
    s = new_society(setting(name))
    curve = setting(name).utility_curves[0]
    s.available = list(record.get("res_in_sim", s.available))
    s.recipe = recipes(name, record["recipes"]) if "recipes" in record else s.recipe
    s.market_open = 1
    for agent in agents:
        a = agent["id"]
        s.value[a] = snapped(agent["cache"], curve)
        s.held[a] = list(agent["held"])
        if "dev_exp" not in agent:
            continue
        for field, key in BY_RESOURCE.items():
            getattr(s, field)[a] = list(agent[key])
        for field, key in BY_DEVICE.items():
            getattr(s, field)[a] = json.loads(json.dumps([agent[key][t] for t in TYPES]))
        for field, key in OF_AGENT.items():
            getattr(s, field)[a] = agent[key]
        for device_type, name in enumerate(TYPES):
            table = agent["partner_memory"][name]
            remember(s, a, device_type, {b: row for b, row in enumerate(table) if any(row)})
        s.extracted[a] = list(agent["gathered"])
        s.practised[a] = [[1 - idle for idle in agent["dev_idle"][t]] for t in TYPES]
        s.bought[a] = [int(r in agent["bought_this_round"]) for r in range(len(s.available))]
    return s


def recipes(name, recorded):
    """Return recorded recipes as the state has them."""
    slots = setting(name).component_slots
    return [
        [[*(parts or []), *[-1] * (slots - len(parts or []))] for parts in recorded[t]]
        for t in TYPES
    ]


def check(s, agent, *, but=()):
    """Compare an agent of the society with a recorded one: integers exactly, reals to 1e-9."""
    a = agent["id"]
    expected = {field: agent[key] for field, key in (BY_RESOURCE | OF_AGENT).items()}
    expected |= {field: [agent[key][t] for t in TYPES] for field, key in BY_DEVICE.items()}
    expected["extracted"] = agent["gathered"]
    expected["partner_memory"] = [agent["partner_memory"][t] for t in TYPES]
    expected["practised"] = [[1 - idle for idle in agent["dev_idle"][t]] for t in TYPES]
    expected["value"] = agent["cache"]
    bought = set(agent["bought_this_round"])
    expected["bought"] = [int(r in bought) for r in range(len(s.available))]
    table = memory_table(s.remembered_partner, np.array(s.partner_memory))
    for field, value in expected.items():
        if field not in but:
            found = table if field == "partner_memory" else getattr(s, field)
            same(found[a], value, field)


def same(found, expected, field=""):
    """Compare nested lists: whole numbers exactly, others to 1e-9 relative."""
    found, expected = np.array(found), np.array(expected)
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=RELATIVE, atol=1e-9, err_msg=field)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=field)
