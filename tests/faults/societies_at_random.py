"""Run small societies at random on a device and on the reference: is every bit the same?

Agents and resources from 1 (2) to 20, 10 to 60 days, with and without trade, devices, groups,
shocks; tastes and talents differ so that people trade, inventions come early so that devices are
sold. Compared are the hash of the last state and every variable and event of the two files.

    python tests/faults/societies_at_random.py --societies 300 --seed 1 [--jobs 2] [--device D]

With ``--work-items 8 16 32 64`` the kernels are compiled as for a GPU, on a CPU too, and the
societies take turns with these sizes of a workgroup.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

REMOVED = ("resource", "agent")


def settings(seed: int) -> dict[str, Any]:
    """Return the configuration of one society."""
    chance = random.Random(seed)
    agents = round(20 ** (0.1 + 0.9 * chance.random()))
    resources = max(2, round(20 ** (0.25 + 0.75 * chance.random())))
    days = chance.randint(10, 60 if agents * resources < 100 else 30)
    devices = chance.choice(["none", "tools", "tools", "all", "all"])
    found: dict[str, Any] = {
        "workload": "economy",
        "agents": agents,
        "resources": resources,
        "days": days,
        "seed": chance.randrange(2**64),
        "first_society": chance.choice([0, 0, chance.randrange(1000)]),
        "replicates": chance.choice([1, 1, 2]),
        "trade": chance.random() < 0.95,
        "devices": devices,
        "utility": {"scale": [chance.uniform(200.0, 1200.0) for _ in range(resources)]},
        "trading": {
            "rounds": chance.randint(2, 12),
            "attempts": chance.randint(1, 8),
            "price": chance.choice(["geometric", "geometric", "inverse_geometric", "unit"]),
            "fresh_values": chance.random() < 0.5,
        },
        "record": {"agent": days // 2, "agent_resource": days // 2},
    }
    if devices != "none":
        found["device"] = {
            "resources_in_tool": chance.randint(1, max(1, min(5, resources - 1))),
            "components": chance.randint(2, max(2, min(6, resources))),
        }
        found["invention"] = {
            "tool_probability": 10 ** chance.uniform(-3.5, -1.5),
            "device_probability": 10 ** chance.uniform(-2.5, -1.0),
        }
    if agents > 1 and chance.random() < 0.9:
        found["groups"] = groups(chance, agents, resources, devices != "none")
    if chance.random() < 0.4:
        found["shocks"] = [
            shock(chance, agents, resources, days) for _ in range(chance.randint(1, 3))
        ]
    return found


def groups(
    chance: random.Random, agents: int, resources: int, devices: bool
) -> list[dict[str, Any]]:
    """Return groups that are good at different things, so that it pays to trade."""
    cuts = sorted(chance.sample(range(1, agents), chance.randint(1, min(3, agents - 1))))
    sizes = [end - begin for begin, end in zip([0, *cuts], [*cuts, agents], strict=True)]
    result = []
    for number, size in enumerate(sizes):
        able = [chance.choice([3.0, 6.0, 60.0]) for _ in range(resources)]
        group: dict[str, Any] = {
            "name": f"group {number}",
            "count": size,
            "extraction": {"max_effort": able, "min_effort": [effort / 3 for effort in able]},
            "trade_power": chance.choice([1.0, chance.uniform(0.2, 5.0)]),
        }
        if devices:
            group["inventiveness"] = chance.uniform(0.2, 5.0)
        result.append(group)
    return result


def shock(chance: random.Random, agents: int, resources: int, days: int) -> dict[str, Any]:
    """Return something that is removed on a day."""
    what = chance.choice(REMOVED)
    count = agents if what == "agent" else resources
    found: dict[str, Any] = {
        "day": chance.randrange(days + 1),
        "remove": what,
        "index": chance.choice(["random", chance.randrange(count)]),
    }
    if what == "resource":
        found["holdings"] = chance.choice(["keep", "lose"])
    return found


@contextmanager
def gpu_form(work_items: int) -> Iterator[None]:
    """Compile the economy's kernels as for a GPU, for workgroups of this size; not if it is 0.

    Without the loop that PoCL compiles wrongly (bargaining.cl).
    """
    from societies.economy import source
    from societies.economy.workload import Economy

    macros, sizes = source.macros, Economy.work_items
    if work_items:
        source.macros = lambda p: {**macros(p), "DEVICE_IS_CPU": 0, "LADDERS_TOGETHER": 0}
        Economy.work_items = lambda *_: work_items  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        source.macros, Economy.work_items = macros, sizes  # type: ignore[method-assign]


def compare(seed: int, device: str, work_items: int = 0) -> dict[str, Any]:
    """Run one society on both; return what happened in it, and what differs (empty if nothing)."""
    import xarray as xr

    import societies

    try:
        config = societies.config_from_dict(settings(seed))
    except societies.SocietiesError as error:  # shocks that leave no agent, for example
        return {"seed": seed, "refused": str(error), "difference": ""}
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "device.h5", Path(folder) / "reference.h5"]
        with gpu_form(work_items):
            reports = [
                societies.run(config, device=where, out=path)
                for where, path in zip((device, "reference"), paths, strict=True)
            ]
        difference = []
        if reports[0].state_sha256 != reports[1].state_sha256:
            difference.append("state")
        with xr.open_dataset(paths[0]) as one, xr.open_dataset(paths[1]) as other:
            difference += [
                name
                for name in other.variables
                if one[name].values.tobytes() != other[name].values.tobytes()
            ]
            swaps = float(one["deals"].sum()) if "deals" in one else 0.0
            sales = float(one["devices_traded"].sum()) if "devices_traded" in one else 0.0
    facts = {name: getattr(config, name) for name in ("agents", "resources", "days", "devices")}
    return {
        "seed": seed,
        **({"work_items": work_items} if work_items else {}),
        **facts,
        "groups": len(config.groups),
        "shocks": len(config.shocks),
        "trades": swaps > 0,
        "sales": sales > 0,
        "difference": ", ".join(difference),
    }


def run(
    first: int,
    count: int,
    device: str,
    jobs: int,
    out: Path | None = None,
    sizes: Sequence[int] = (0,),
) -> list[dict[str, Any]]:
    """Compare ``count`` societies that are not refused, in several processes.

    Each is written to ``out`` as soon as it is known, one a line.
    """
    found: list[dict[str, Any]] = []
    with ExitStack() as stack:
        pool = stack.enter_context(ProcessPoolExecutor(jobs, mp_context=get_context("spawn")))
        file = stack.enter_context(out.open("w")) if out else None
        seed = first
        while (missing := count - sum("refused" not in one for one in found)) > 0:
            seeds = range(seed, seed + missing)
            groups = [sizes[number % len(sizes)] for number in seeds]
            for one in pool.map(compare, seeds, [device] * missing, groups):
                found.append(one)
                if file:
                    print(json.dumps(one), file=file, flush=True)
            seed += missing
    return found


def summary(found: list[dict[str, Any]]) -> dict[str, int]:
    """Return how many societies of each kind were compared, and how many differ."""
    compared = [one for one in found if "refused" not in one]
    return {
        "compared": len(compared),
        "refused": len(found) - len(compared),
        "different": sum(bool(one["difference"]) for one in compared),
        "with trades": sum(one["trades"] for one in compared),
        "with device sales": sum(one["sales"] for one in compared),
        "with devices": sum(one["devices"] != "none" for one in compared),
        "with groups": sum(one["groups"] > 0 for one in compared),
        "with shocks": sum(one["shocks"] > 0 for one in compared),
        "of one agent": sum(one["agents"] == 1 for one in compared),
    }


def main() -> int:
    """Compare, print a summary; 1 if anything differs or too few trade."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--societies", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, help="a JSON line for each society")
    parser.add_argument("--work-items", type=int, nargs="+", default=[0], help="in the GPU form")
    options = parser.parse_args()
    began = time.perf_counter()
    first, device, sizes = 1000 * options.seed, options.device, options.work_items
    found = run(first, options.societies, device, options.jobs, options.out, sizes)
    reported = summary(found)
    for one in found:
        if one["difference"]:
            print(f"different: seed {one['seed']}: {one['difference']}")
    print(", ".join(f"{name} {number}" for name, number in reported.items()), end="; ")
    print(f"seed {options.seed}, {time.perf_counter() - began:.0f} s")
    few = 2 * reported["with trades"] < reported["compared"]
    few |= 4 * reported["with device sales"] < reported["compared"]
    return 1 if reported["different"] or few else 0


if __name__ == "__main__":
    sys.exit(main())
