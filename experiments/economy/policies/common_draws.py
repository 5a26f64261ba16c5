"""For how long do twins draw and decide the same after a small intervention?

Every society has a twin in which one agent works one percent faster on one day. The script counts,
t days later, the streams of random numbers that are still at the same place in both (their next
draw is the same), by purpose, and the decisions of the other agents that are the same: whom they
met last, what they extracted, how many units they sold, and the size of the difference in what they
extracted. It does so with usual draws and with synchronized ones (``draws.synchronized``), whose
streams begin every day at the same place. It writes a row for each day:
``python experiments/economy/policies/common_draws.py OUT.csv``.

With ``--compare N`` it compares the results of N societies with usual draws and of N others with
synchronized ones instead: means, and Kolmogorov-Smirnov tests, which should find no difference.
"""

import argparse
import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import societies
from reference_py.economy.streams import PURPOSES

DAY = 60
PRINTED = (1, 2, 5, 10, 20, 40, 80)
USED = [name for name in PURPOSES if name != "shocks"]
DECISIONS = (
    "met the same agent",
    "met the same agent for devices",
    "extracted the same",
    "sold the same",
)
COMPARED = ("gini_extracted", "utility", "units_extracted", "units_traded", "utility_median")
DIFFERENCE = "difference in units extracted, to their mean"


def configuration(agents: int, days: int, replicates: int, synchronized: bool, faster: bool):
    """Return the configuration of societies in which agent 0 is faster on one day, or not."""
    change = {"group": "one", "day": DAY, "until": DAY + 1, "set": {"extraction.min_effort": 2.97}}
    return societies.config_from_dict(
        {
            "workload": "economy",
            "agents": agents,
            "resources": agents,
            "days": days,
            "replicates": replicates,
            "devices": "tools",
            "groups": [{"name": "one", "count": 1}, {"name": "others", "count": agents - 1}],
            "extraction": {"min_effort": 3.0},
            "interventions": [change] if faster else [],
            "draws": {"synchronized": synchronized},
        }
    )


def partner_of(order):
    """Return the partner of each agent in an order (society, agent): the first two are a pair."""
    last = order[:, : order.shape[-1] // 2 * 2].astype(int)
    partners = np.full(order.shape, -1)
    for ones, others in ((last[:, ::2], last[:, 1::2]), (last[:, 1::2], last[:, ::2])):
        np.put_along_axis(partners, ones, others, axis=1)
    return partners


def shares(one, two, synchronized):
    """Return the shares that two states have in common, by name.

    With synchronized draws the next draw of every stream is the same by construction.
    """
    streams = one["stream"] == two["stream"]
    agents, society = streams[:, :-1], streams[:, -1]
    found = {}
    for name in () if synchronized else USED:
        own = society if name.endswith("matching") or name == "invention_order" else agents[:, 1:]
        found[f"draws of {name}"] = own[..., PURPOSES[name]].mean()
    orders = [(state["partners"][:, -1], state["device_partners"]) for state in (one, two)]
    met = [[partner_of(order)[:, 1:] for order in state] for state in orders]
    same = (one["extracted"] == two["extracted"]).all(-1)[:, 1:]
    sold = (one["units_traded"] == two["units_traded"])[:, 1:]
    values = (*((a == b).mean() for a, b in zip(*met, strict=True)), same.mean(), sold.mean())
    units = [state["units_extracted"][:, 1:].astype(float) for state in (one, two)]
    found |= dict(zip(DECISIONS, values, strict=True))
    found[DIFFERENCE] = abs(units[0] - units[1]).mean() / units[0].mean()
    return {name + ", synchronized" * synchronized: value for name, value in found.items()}


def compare(chosen) -> None:
    """Write the distributions of results with both kinds of draws, side by side."""
    from scipy.stats import ks_2samp

    sizes, found = (chosen.agents, chosen.days, chosen.compare), []
    for synchronized in (False, True):
        config = configuration(*sizes, synchronized, faster=False)
        config = config.model_copy(update={"seed": 1 + synchronized})  # other societies
        with TemporaryDirectory() as folder:
            report = societies.run(config, out=Path(folder) / "run.h5", device=chosen.device)
            with societies.open_results(report.path) as data:
                found.append(data[list(COMPARED)].isel(day=-1).load())
    with chosen.out.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["variable", "mean", "mean synchronized", "standard error", "p"])
        for name in COMPARED:
            one, two = (data[name].values.reshape(chosen.compare, -1).mean(1) for data in found)
            error = float(np.hypot(one.std(ddof=1), two.std(ddof=1)) / chosen.compare**0.5)
            values = (one.mean(), two.mean(), error, ks_2samp(one, two).pvalue)
            table.writerow([name, *(f"{value:.4g}" for value in values)])
            print(name, *(f"{value:.4g}" for value in values))


def main() -> None:
    """Run the twins next to each other and write the shares."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, help="the table, CSV")
    parser.add_argument("--agents", type=int, default=24, help="agents, and resources")
    parser.add_argument("--days", type=int, default=80, help="days after the intervention")
    parser.add_argument("--replicates", type=int, default=20, help="societies")
    parser.add_argument("--device", default="auto", help="OpenCL device (societies devices)")
    parser.add_argument("--compare", type=int, metavar="N", help="compare N societies of each")
    chosen = parser.parse_args()
    if chosen.compare:
        return compare(chosen)
    sizes = (chosen.agents, DAY + chosen.days, chosen.replicates)
    rows = {}
    for synchronized in (False, True):
        twins = [
            societies.steps(configuration(*sizes, synchronized, faster), device=chosen.device)
            for faster in (False, True)
        ]
        for one, two in zip(*twins, strict=True):
            after = one.number - DAY
            if after < 1:
                continue
            row = rows.setdefault(after, {"days after": after})
            row |= shares(one.state, two.state, synchronized)
    with chosen.out.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[1]))
        table.writeheader()
        for after, row in rows.items():
            table.writerow({name: f"{value:.4g}" for name, value in row.items()})
            if after in PRINTED:
                print(", ".join(f"{name} {value:.3g}" for name, value in row.items()))


if __name__ == "__main__":
    main()
