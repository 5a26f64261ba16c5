"""Compute the golden hashes on a device, and compare them with the committed ones.

    python tests/golden/golden.py [--device auto|cpu|gpu|reference|...] [--update] [NAME ...]

A golden hash is the SHA-256 of the whole state after the last day. All devices must give the same.
Exit code 1 if one differs. The devices on which this was run are listed in README.md beside this.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import societies
from societies.economy.engine import DeviceEngine, ReferenceEngine, state_hash
from societies.economy.parameters import parameters
from societies.economy.phases import LOG_DAYS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
HASHES = HERE / "hashes.json"

GROUPS = [
    {"name": "able", "share": 0.5, "extraction": {"max_effort": 7.0, "min_effort": 2.5}},
    {"name": "strong", "share": 0.3, "trade_power": 2.5, "utility": {"exponent": 2.2}},
    {"name": "thirsty", "share": 0.2, "consumption": {"resource_lifetime": 4.0}},
]
SHOCKS = [
    {"day": 5, "remove": "resource", "index": 2, "holdings": "lose"},
    {"day": 9, "remove": "resource", "index": "random", "holdings": "keep"},
    {"day": 20, "remove": "agent", "index": "random"},
]

MAKERS = [
    {"name": "able", "share": 0.5, "device": {"max_effort": 20.0, "max_experience": 12.5}},
    {"name": "strong", "share": 0.5, "device_trade_power": 2.5, "inventiveness": 3.0},
]
INVENTIVE = {
    "device": {"resources_in_tool": 4, "components": 3},
    "invention": {"tool_probability": 0.0005, "device_probability": 0.01},
}


def _small(**settings):
    return {"workload": "economy", "days": 60, "seed": 7, **settings}


CONFIGS = {
    "quickstart": ("configs/economy/quickstart.yaml", []),
    "no_trade": ("configs/economy/no_trade.yaml", []),
    "trade": ("configs/economy/trade.yaml", []),
    "6x9": (_small(agents=6, resources=9), []),
    "13x7 in five societies": (_small(agents=13, resources=7, replicates=5), []),
    "5x70": (_small(agents=5, resources=70), []),
    "1x2": (_small(agents=1, resources=2), []),
    "groups": (_small(agents=10, resources=9, groups=GROUPS, replicates=3), []),
    "shocks": (_small(agents=8, resources=11, shocks=SHOCKS, replicates=3), []),
    "inverse_geometric": (
        _small(agents=8, resources=9, trading={"price": "inverse_geometric"}),
        [],
    ),
    "unit price": (_small(agents=8, resources=9, trading={"price": "unit"}), []),
    "3x300": (_small(agents=3, resources=300, days=10), []),
    "2x1024": (_small(agents=2, resources=1024, days=5), []),
    "tools": (_small(agents=13, resources=7, days=30, devices="tools", **INVENTIVE), []),
    "all devices": (_small(agents=6, resources=9, days=40, devices="all", **INVENTIVE), []),
    "devices, groups, shocks": (
        _small(agents=8, resources=11, days=25, devices="all", groups=MAKERS, shocks=SHOCKS)
        | INVENTIVE,
        [],
    ),
    "devices without trade": (
        _small(agents=4, resources=8, days=30, devices="all", trade=False, **INVENTIVE),
        [],
    ),
}


def configuration(name):
    source, overrides = CONFIGS[name]
    if isinstance(source, str):
        return societies.load_config(ROOT / source, overrides)
    return societies.config_from_dict(source, overrides)


def final_hash(name, device):
    """Run a golden configuration on a device and return the hash of its last state."""
    config = configuration(name)
    p = parameters(config)
    if device == "reference":
        engine = ReferenceEngine(p)
    else:
        engine = DeviceEngine(societies.choose_device(device), p)
    engine.start()
    for first in range(1, config.days + 1, LOG_DAYS):
        engine.run_days(first, min(config.days, first + LOG_DAYS - 1))
    return state_hash(engine.state())


def committed():
    return json.loads(HASHES.read_text()) if HASHES.exists() else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    known, wrong = committed(), 0
    if options.device != "reference":
        device = societies.choose_device(options.device)
        print(f"{device}; driver {device.driver}; {device.version}")
    names = options.names or list(CONFIGS)
    for name in names:
        began = time.perf_counter()
        found = final_hash(name, options.device)
        if options.update:
            known[name] = found
        same = known.get(name) == found
        wrong += not same
        seconds = time.perf_counter() - began
        print(f"{'same' if same else 'DIFFERENT'}  {found}  {name}  {seconds:.1f} s", flush=True)
    if options.update:
        HASHES.write_text(json.dumps(known, indent=2) + "\n")
    print(f"{len(names) - wrong} same, {wrong} different")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
