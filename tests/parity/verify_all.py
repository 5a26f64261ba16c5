"""Verify the whole economy at full length on a device: every array after every phase of every day.

    python tests/parity/verify_all.py [--device auto] [--jobs 2] [--only TEXT] [--days N]
                                      [--csv FILE]
    python tests/parity/verify_all.py --by-day [--device auto] [--update]

What the test suite has no time for: the paper's four scenarios in full size, from the start and
from day 150, when machines are about; small and middling societies over 120 days with shocks,
groups and all price rules; ensembles; parameters that differ between societies (a table) and change
(interventions). Each case is a process of its own; a line for each tells what
was compared. Ends with 1 if anything differs. The reference is plain Python, and everything is
compared after every phase: on two cores this takes more than an hour.

With --by-day the state at the end of every day is hashed and the chain of these hashes compared
with that of the reference, which by_day.json has for some of the cases. That takes minutes.
"""

import argparse
import csv
import hashlib
import json
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BY_DAY = Path(__file__).with_name("by_day.json")
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "golden")]

from golden import INVENTIVE  # noqa: E402

import societies  # noqa: E402
from societies.workload.running.points import with_table  # noqa: E402

SCENARIOS = ("no_trade", "trade", "tools", "devices")
GROUPS = [
    {"name": "able", "share": 0.4, "extraction": {"max_effort": 7.0, "min_effort": 2.5}},
    {
        "name": "strong",
        "share": 0.3,
        "trade_power": 2.5,
        "device_trade_power": 2.0,
        "utility": {"exponent": 2.2},
        "consumption": {"resource_lifetime": 4.0},
    },
    {
        "name": "inventive",
        "share": 0.3,
        "inventiveness": 3.0,
        "device": {"max_effort": 20.0, "max_experience": 12.5},
    },
]
SHOCKS = [
    {"day": 30, "remove": "resource", "index": 2, "holdings": "lose"},
    {"day": 60, "remove": "resource", "index": "random", "holdings": "keep"},
    {"day": 75, "remove": "agent", "index": "random"},
]
POLICY = [
    {
        "day": 20,
        "set": {
            "trading.min_surplus": 2.0,
            "utility.exponent": 2.2,
            "device.factor.tool": 4.0,
            "groups.0.trade_power": 3.0,
        },
    },
    {"day": 40, "set": {"day_length": 650.0, "utility.scale": 700.0}, "societies": [1, 3]},
    {"day": 50, "remove": "resource", "index": "random"},
]
TABLE = {
    "trading.min_surplus": [0.1, 0.5, 1.5, 5.0],
    "device.daily_decay": [2.0, 5.0, 2.0, 3.5],
    "consumption.resource_lifetime": [4.0, 8.0, 6.0, 4.0],
}
"""A column for each key, a number for each of four societies."""


EVERY_POLICY = {
    "replicates": 4,
    "groups": [
        {"name": "helped", "share": 0.5, "transfer_share": 0.1, "endowment": {"units": 20}},
        {"name": "others", "share": 0.5},
    ],
    "policies": {
        "holdings_tax": {"rate": 0.02, "middle_from": 20, "middle_rate": 0.05},
        "income_tax": {"rate": 0.1},
        "sales_tax": {"rate": 0.1},
        "transfer": {"equal": 0.2, "poorest": 0.3, "least_extracting": 0.1, "making": 0.2},
        "quota_of": 2,
        "quota": 3,
        "price_of": 3,
        "price_floor": 0.8,
        "price_cap": 1.5,
    },
    "interventions": [
        {"day": 15, "until": 25, "set": {"policies.quota": 0, "policies.price_cap": 1.1}},
        {"day": 20, "set": {"draws.synchronized": True, "policies.transfer.making": 0.3}},
        {"day": 22, "until": 30, "group": "helped", "set": {"extraction.min_effort": 2.5}},
    ],
    "fan": {"day": 12, "futures": 2},
    "record": {"measures": True, "agent": 1, "network": [30]},
}
"""Taxes, transfers, limits of trade, endowments, a fan, synchronized draws, measures of groups."""

WITHOUT_DEVICES = {
    "devices": "none",
    "policies": {
        **EVERY_POLICY["policies"],
        "transfer": {"equal": 0.2, "poorest": 0.3, "least_extracting": 0.1},
    },
    "interventions": [
        *EVERY_POLICY["interventions"][::2],
        {"day": 20, "set": {"draws.synchronized": True}},
    ],
}
"""The same without a subsidy of making, of which there is none."""

BY_BRACKETS = {
    "policies": {
        tax: {
            "rate": 0.05,
            "middle_from": 10,
            "middle_rate": 0.1,
            "top_from": 40,
            "top_rate": 0.3,
        }
        for tax in ("holdings_tax", "income_tax", "sales_tax")
    },
    "interventions": [
        {"day": 5, "until": 15, "set": {"policies.transfer.equal": [k / 40 for k in range(10)]}},
        {
            "day": 8,
            "until": 30,
            "set": {"policies.transfer.least_extracting": 0.2},
            "societies": [1, 2],
        },
        {"day": 10, "until": 20, "agents": [0, 1, 2], "set": {"extraction.min_effort": 2.5}},
        {"day": 18, "remove": "resource", "index": 2, "holdings": "lose"},
        {"day": 24, "remove": "agent", "index": "random"},
    ],
    "fan": {},
}
"""Brackets, a series of values, agents by number and removals, in the societies of a table."""

RATES = {
    "policies.holdings_tax.top_rate": [0.0, 0.3, 1.0, 0.5],
    "policies.sales_tax.rate": [0.0, 0.1, 0.02, 0.1],
    "policies.transfer.making": [0.0, 0.05, 0.02, 0.0],
    "policies.price_cap": [1e12, 1.5, 1.0, 1.2],
}
"""A table's column for each key, a number for each of four societies."""

EARLY = {
    "interventions": [
        {"day": 1, "until": 3, "set": {"policies.quota": 0, "policies.price_cap": 1.1}},
        {"day": 2, "set": {"draws.synchronized": True, "policies.transfer.making": 0.3}},
        {"day": 3, "until": 5, "group": "helped", "set": {"extraction.min_effort": 2.5}},
    ],
    "fan": {"day": 2, "futures": 2},
    "record": {"measures": True, "agent": 1, "network": [4]},
    "replicates": 2,
}
"""Every policy within the few days that plain Python has time for in a society of full size."""


def society(agents, resources, **more):
    return {
        "workload": "economy",
        "agents": agents,
        "resources": resources,
        "days": 120,
        "seed": 5,
        "devices": "all",
        **(INVENTIVE if agents < 20 else {}),
        **more,
    }


def cases():
    """Return name: (configuration, days before the comparison, days compared)."""
    found = {}
    for name in SCENARIOS:
        found[f"{name} 48x48"] = (name, 0, 3)
        found[f"{name} 48x48 from day 150"] = (name, 150, 3)
    variants = {
        "": {},
        ", shocks": {"shocks": SHOCKS},
        ", groups": {"groups": GROUPS},
        ", inverse_geometric": {"trading": {"price": "inverse_geometric"}},
        ", unit price": {"trading": {"price": "unit"}},
    }
    for agents, resources in ((6, 9), (13, 7)):
        for variant, more in variants.items():
            for replicates in (1, 5):
                label = f"{agents}x{resources}{variant}, {replicates} replicates"
                settings = society(agents, resources, replicates=replicates, **more)
                found[label] = (settings, 0, 120)
    for variant in ("", ", shocks", ", groups"):
        found[f"24x24{variant}"] = (society(24, 24, **variants[variant]), 0, 120)
    found["24x24, 5 replicates"] = (society(24, 24, replicates=5), 0, 120)
    for agents, resources in ((6, 9), (13, 7)):
        settings = society(agents, resources, replicates=4, groups=GROUPS, interventions=POLICY)
        found[f"{agents}x{resources}, table and interventions"] = (settings, 0, 70)
    for agents, resources in ((6, 9), (13, 7)):
        for label, own in (("", {}), (" without devices", WITHOUT_DEVICES)):
            settings = society(agents, resources, **EVERY_POLICY, days=40)
            found[f"{agents}x{resources}, every policy{label}"] = ({**settings, **own}, 0, 40)
    settings = society(6, 9, **{**EVERY_POLICY, **BY_BRACKETS, "days": 32})
    settings["groups"] = [
        {"name": "helped", "count": 3, "transfer_share": 0.1, "endowment": {"units": 20}},
        {"name": "others", "count": 3},
    ]
    found["6x9, every policy by brackets, table"] = (settings, 0, 32)
    for sides, days in ((24, 8), (48, 6)):
        settings = society(sides, sides, **{**EVERY_POLICY, **EARLY, "days": days})
        found[f"{sides}x{sides}, every policy"] = ({**settings, **INVENTIVE}, 0, days)
    for number in range(1, 5):  # society 0 is the first above
        found[f"24x24, society {number} of 5"] = (society(24, 24, first_society=number), 0, 120)
    return found


def verified(name, device, most=None):
    """Verify one case; return the report's line, the device, whether all was equal, seconds."""
    settings, before, days = cases()[name]
    days = days if most is None else min(days, most)
    began = time.perf_counter()
    if isinstance(settings, str):
        config = societies.load_config(ROOT / "configs" / "economy" / f"{settings}.yaml")
    else:
        config = societies.config_from_dict(settings)
    if "table" in name:
        config = with_table(config, RATES if "brackets" in name else TABLE)
    with tempfile.TemporaryDirectory() as folder:
        start = None
        if before:
            start = Path(folder) / "before.h5"
            shortened = config.model_copy(update={"days": before})
            societies.run(shortened, device=device, out=start)
        report = societies.verify(config, device=device, days=days, start=start)
    said = str(report).replace("\n", "; ")
    return said, report.device, report.identical, time.perf_counter() - began


def hashed(name, device):
    """Return a hash that depends on the whole state at the end of every day of a case, in order."""
    from engines import DeviceEngine, ReferenceEngine

    from societies.economy.parameters import parameters

    settings, _, days = cases()[name]
    p, chain = parameters(societies.config_from_dict(settings)), ""
    engine = (
        ReferenceEngine(p)
        if device == "reference"
        else DeviceEngine(societies.choose_device(device), p)
    )
    engine.start()
    for day in range(1, days + 1):
        engine.run_days(day, day)
        chain = hashlib.sha256((chain + engine.hash()).encode()).hexdigest()
    return chain


def compare_by_day(options):
    """Hash all cases, and compare them with the committed hashes or write those; return misses."""
    known = json.loads(BY_DAY.read_text()) if BY_DAY.exists() else {}
    names = [n for n, (what, _, _) in cases().items() if isinstance(what, dict)]
    names = [name for name in names if options.only in name and " of 5" not in name]
    names = [name for name in names if "table" not in name]  # parameters of one society only
    names = [name for name in names if options.update or name in known]
    names.sort(key=lambda name: "24x24" not in name)
    wrong = 0
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(hashed, name, options.device): name for name in names}
        for done in as_completed(waiting):
            name, found = waiting[done], done.result()
            if options.update:
                known[name] = found
                BY_DAY.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n")
            wrong += known.get(name) != found
            said = "same" if known.get(name) == found else "DIFFERENT"
            print(f"{said}  {found}  {name}", flush=True)
    print(f"{len(names) - wrong} same, {wrong} different ({options.device})")
    return wrong


def ensemble(device):
    """Compare five societies in one launch with each of them alone, which `verified` verifies."""
    from engines import DeviceEngine

    from societies.economy.parameters import parameters
    from societies.workload.running.engines import LOG_TICKS

    def states(**settings):
        config = societies.config_from_dict(society(24, 24, **settings))
        engine = DeviceEngine(societies.choose_device(device), parameters(config))
        engine.start()
        for first in range(1, config.days + 1, LOG_TICKS):
            engine.run_days(first, min(config.days, first + LOG_TICKS - 1))
        return engine.checkpointed_state()

    began, together = time.perf_counter(), states(replicates=5)
    for number in range(5):
        alone = states(first_society=number)
        for name, array in alone.items():
            if array[0].tobytes() != together[name][number].tobytes():
                said = f"different: society {number} of 5, array {name}"
                return said, device, False, time.perf_counter() - began
    said = f"identical: 5 societies, 120 days, {len(together)} arrays"
    return said, device, True, time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--days", type=int, help="most days compared of a case")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--by-day", action="store_true", help="compare with by_day.json")
    parser.add_argument("--update", action="store_true", help="write by_day.json")
    options = parser.parse_args()
    if options.by_day:
        return 1 if compare_by_day(options) else 0
    names = [name for name in cases() if options.only in name]
    names = [name for name in names if name != "24x24, 5 replicates"]  # society by society
    names.sort(key=lambda name: "24x24" not in name)  # the longest first
    rows = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        waiting = {
            pool.submit(verified, name, options.device, options.days): name for name in names
        }
        if options.only in "24x24, five in one launch":
            waiting[pool.submit(ensemble, options.device)] = "24x24, five in one launch"
        for done in as_completed(waiting):
            said, device, same, seconds = done.result()
            rows.append((waiting[done], said, device, f"{seconds:.1f}", int(same)))
            print(f"{waiting[done]}: {said} ({seconds:.0f} s)", flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as lines:
            writer = csv.writer(lines)
            writer.writerow(["case", "report", "device", "seconds", "identical"])
            writer.writerows(sorted(rows))
    wrong = sum(1 for row in rows if not row[-1])
    print(f"{len(rows) - wrong} identical, {wrong} different; {rows[0][2] if rows else ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
