"""Compute the golden hashes on a device, and compare them with the committed ones.

    python tests/golden/golden.py [--device auto|cpu|gpu|reference|...] [--update] [NAME ...]

A golden hash is the SHA-256 of the whole state at the end. All devices must give the same.
Exit code 1 if one differs. The devices on which this was run are listed in README.md next to this.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import societies
from societies.paths import shipped_configurations
from societies.workload.running.engines import LOG_TICKS, DeviceEngine, ReferenceEngine
from societies.workload.running.registry import workload

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
"""Small societies with few components, in which all types appear within weeks."""

CHANGES = [
    {"day": 10, "set": {"device.factor.tool": 4.0, "trading.min_surplus": 1.0}},
    {"day": 20, "set": {"utility.exponent": 2.2, "day_length": 650.0}, "societies": [0, 2]},
]

BARS = [
    {"rows": [2, 3], "columns": [4, 9]},
    {"rows": [3, 5], "columns": [5, 5], "value": -2.0},
]
ODD = [0, 13, 1, 0, 7, 2, 3, 1, 0, 9, 0, 5, 4, 3]


def _small(**settings):
    return {"workload": "economy", "days": 60, "seed": 7, **settings}


KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
"""A position with moves of all kinds, known by the name of the program that it tested."""


def _plate(**settings):
    return {"workload": "laplace", "rows": 21, "columns": 34, "conductor": BARS, **settings}


QUICKSTARTS = {
    " ".join(name.split("/")[-2:]).removeprefix("economy "): (f"configs/{name}.yaml", [])
    for name in shipped_configurations()
    if name.endswith("/quickstart")
}
"""A small run of each workload."""

CONFIGS = {
    **QUICKSTARTS,
    **{
        f"bam {name}": (f"configs/models/bam/{name}.yaml", [])
        for name in ("baseline", "growth_plus", "buffer_stock")
    },
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
    "interventions": (
        _small(agents=6, resources=9, days=30, devices="all", replicates=3, interventions=CHANGES)
        | INVENTIVE,
        [],
    ),
    "laplace of the seed's form": ("configs/physics/laplace/quickstart.yaml", ["variant=seed"]),
    "laplace in double": (_plate(steps=300, precision="double", border=[1, 0.5, -0.25, 0]), []),
    "havannah match": (
        {
            "workload": "havannah_match",
            "size": 4,
            "games": 4,
            "players": [{"kind": "flat", "playouts": 60}, {"kind": "random"}],
        },
        [],
    ),
    "havannah search": (
        {
            "workload": "havannah_search",
            "size": 4,
            "moves": "D4 C3",
            "batches": 3,
            "leaves": 40,
            "each": 2,
            "nodes": 64,
            "rave": 100.0,
        },
        [],
    ),
    "chess perft": (
        {"workload": "chess_perft", "depth": 3, "detail": True, "positions": [KIWIPETE, "start"]},
        [],
    ),
    "chess match": (
        {
            "workload": "chess_match",
            "games": 4,
            "opening": 2,
            "fen": "3qk3/4p3/8/8/8/8/4P3/R3K2R w KQ - 80 60",
            "players": [{"depth": 1}, {"kind": "random"}],
        },
        [],
    ),
    "connect6 match": (
        {
            "workload": "connect6_match",
            "games": 2,
            "opening": 2,
            "players": [{"depth": 1, "width": 8}, {"depth": 2, "width": 4}],
        },
        [],
    ),
    "kalah in layers": (
        {"workload": "kalah", "depth": 7, "form": "layers", "split": [1, 3, 4], "boards": 64}
        | {
            "positions": [{"board": [4, 4, 4, 4, 4, 4, 0] * 2}, {"board": ODD, "to_move": "bottom"}]
        },
        [],
    ),
    "raytracer 216 spheres of the tree": (
        "configs/physics/raytracer/spheres_216.yaml",
        ["width=96", "height=64", "form=tree"],
    ),
    "raytracer glass": (
        "configs/physics/raytracer/glass.yaml",
        ["width=48", "height=32", "samples=2"],
    ),
    "raytracer mirrors in double": (
        "configs/physics/raytracer/mirrors.yaml",
        ["width=32", "height=24", "precision=double", "samples=1"],
    ),
    "kalah solved": ({"workload": "kalah_solve", "stones": 2}, []),
    "kalah match": (
        {
            "workload": "kalah_match",
            "games": 6,
            "opening": 3,
            "replicates": 2,
            "players": [{"depth": 3}, {"kind": "random"}],
        },
        [],
    ),
    "laplace by over-relaxation": (
        "configs/physics/laplace/quickstart.yaml",
        ["method=sor", "tolerance=1e-5"],
    ),
    "matmul separate in double": (
        "configs/physics/matmul/quickstart.yaml",
        ["precision=double", "arithmetic=separate", "variant=tiled"],
    ),
    "blur gaussian": ("configs/physics/blur/quickstart.yaml", ["kind=gaussian", "sigma=1.5"]),
    "blur box": ("configs/physics/blur/quickstart.yaml", ["kind=box", "radius=3"]),
    "heat": (_plate(steps=300, method="heat", ratio=0.2, border=0.125), []),
}


def configuration(name):
    source, overrides = CONFIGS[name]
    if isinstance(source, str):
        return societies.load_config(ROOT / source, overrides)
    return societies.config_from_dict(source, overrides)


def final_hash(name, device):
    """Return the hash of a golden configuration's last state on a device."""
    return ran(name, device).hash()


def ran(name, device):
    """Run a golden configuration on a device and return the engine that did."""
    config = configuration(name)
    one = workload(config.workload)
    assert not one.not_repeatable(config)
    p, ticks = one.parameters(config), one.ticks(config)
    copies = {"first": one.first(config), "copies": one.count(config)}
    if device == "reference":
        engine = ReferenceEngine(one, p, **copies)
    else:
        engine = DeviceEngine(one, p, societies.choose_device(device), **copies)
    engine.start()
    for first in range(1, ticks + 1, LOG_TICKS):
        engine.run_ticks(first, min(ticks, first + LOG_TICKS - 1))
        if engine.ended() is not None:
            break
    return engine


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
