"""Every workload in a small configuration, in which each of its phases has something to do."""

from societies import config_from_dict
from societies.workload.registry import workload_names

SMALL = {
    "economy": {
        "agents": 5,
        "resources": 7,
        "days": 14,
        "seed": 7,
        "devices": "all",
        "device": {"resources_in_tool": 3, "components": 3},
        "trading": {"rounds": 2, "menu_size": 3, "fresh_values": True},
        "devices_market": {"rounds": 3},
        "invention": {
            "tool_probability": 0.01,
            "device_probability": 0.05,
            "min_made_for_device_maker": 1,
        },
        "shocks": [
            {"day": 0, "remove": "resource", "index": 1},
            {"day": 9, "remove": "resource", "index": "random", "holdings": "lose"},
            {"day": 12, "remove": "agent", "index": "random"},
        ],
        "record": {"agent": 2, "agent_resource": 5, "checkpoint": 4},
    },
    "kalah": {
        "pits": 3,
        "stones": 3,
        "depth": 9,
        "plies": 2,
        "boards": 1024,
        "positions": [
            {"board": [3, 3, 3, 0, 3, 3, 3, 0]},
            {"board": [0, 8, 1, 2, 1, 0, 1, 5], "to_move": "bottom"},
            {"board": [0, 0, 0, 9, 1, 0, 1, 5], "to_move": "bottom"},
        ],
        "record": {"checkpoint": 5},
    },
    "laplace": {
        "side": 12,
        "steps": 60,
        "tolerance": 5e-3,
        "check_every": 3,
        "record": {"series": 2, "detail": 8, "checkpoint": 5},
    },
}


def small(name, **more):
    """Return the small configuration of a workload, changed as asked."""
    return config_from_dict({"workload": name, **SMALL[name], **more})


def names():
    """Return the names of all workloads; each has to have a small configuration."""
    missing = set(workload_names()) - SMALL.keys()
    assert not missing, f"tests/small.py: give {', '.join(sorted(missing))} a small configuration"
    return sorted(SMALL)
