"""What did the recorded runs give, and which of our series is which of theirs?

Used by run.py next to this and by tests/statistics/test_baseline.py.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr
from agreement import DAYS, compare_series

ROOT = Path(__file__).parents[3]
BASELINE = ROOT / "tests" / "data" / "societies-baseline"
LONG = (*DAYS, 750, 1000, 1500)
AROUND_THE_SHOCK = (*DAYS, 600, 601, 602, 606, 611, 631, 651, 750, 1000, 1300)


@dataclass(frozen=True)
class Scenario:
    """A shipped configuration, the recorded runs to compare it with, and the days to compare.

    Attributes
    ----------
    recorded : file of the baseline
    seeds : recorded societies
    half : tools that are half of all, for aligning in time; 0: nothing to align by
    """

    recorded: str
    seeds: int
    days: tuple[int, ...]
    half: int = 0


SCENARIOS = {
    "no_trade": Scenario("canon-s1.csv", 20, DAYS),
    "trade": Scenario("canon-s2.csv", 20, DAYS),
    "tools": Scenario("canon-s3.csv", 16, DAYS, half=24),
    "devices": Scenario("canon-s4.csv", 8, DAYS, half=24),
    "long_run": Scenario("canon-d24.csv", 8, LONG, half=12),
    "shock": Scenario("canon-shk24.csv", 6, AROUND_THE_SHOCK),
}

TYPES = {
    "tool": "tool",
    "machine": "machine",
    "factory": "factory",
    "industry": "industry",
    "device_machine": "devmachine",
    "device_factory": "devfactory",
}
"""Our name of a device type and the recorded one."""

PLAIN = {
    "gathered": "units_extracted",
    "held": "units_held",
    "traded_res": "units_traded",
    "n_trades": "deals",
    "mean_util": "utility",
    "median_util": "utility_median",
    "gini_day": "gini",
    "gini_cum": "gini_cumulative",
    "gini_gathered": "gini_extracted",
    "nspec": "resources_extracted",
    "max_held": "units_held_max",
}
DEVICE_PLAIN = {
    "traded_dev": "units_paid_for_devices",
    "overtime": "overtime",
    "complexity": "interdependence",
}
HHI = ("hhi_min", "hhi_q1", "hhi_med", "hhi_q3", "hhi_max")


def ours(dataset):
    """Return our series by the recorded name, each (society, day), as a dataset."""
    found = {
        name: values.drop_vars(set(values.coords) - {"society", "day"})
        for name, values in _series(dataset).items()
    }
    return xr.Dataset(found, attrs=dataset.attrs).transpose("society", "day")


def _series(dataset):
    found = {recorded: dataset[name] for recorded, name in PLAIN.items()}
    found |= {name: dataset.hhi.isel(quantile=i) for i, name in enumerate(HHI)}
    minutes = dataset.minutes
    found["min_hand"] = minutes.sel(activity="hand")
    if "device_type" not in dataset.dims:
        return found
    found |= {recorded: dataset[name] for recorded, name in DEVICE_PLAIN.items()}
    found["n_devtrades"] = dataset.devices_traded.sum("device_type")  # a device a deal
    found["min_make"] = sum(minutes.sel(activity=f"making_{name}") for name in TYPES)
    for made in ("tool", "machine"):
        share = dataset.device_maker_share.sel(made_type=f"{made}s")
        found[f"use_dev{'machine' if made == 'tool' else 'factory'}"] = share
    for source in ("hand", "tool", "machine", "factory", "industry"):
        found[f"pct_{source}"] = dataset.extraction_share.sel(source=source)
        found[f"min_{source}"] = minutes.sel(activity=source)
    for name, recorded in TYPES.items():
        found[f"made_{recorded}"] = dataset.devices_made.sel(device_type=name)
        found[f"known_{recorded}"] = dataset.devices_known.sel(device_type=name)
        found[f"inv_{recorded}"] = dataset.inventions.sel(device_type=name)
    return found


def read_baseline(name):
    """Return {series: {day: {mean, sd, min, max}}}."""
    table = {}
    with open(BASELINE / name, newline="") as lines:
        for row in csv.DictReader(lines):
            day = int(row.pop("day"))
            for column, value in row.items():
                series, statistic = column.rsplit("_", 1)
                table.setdefault(series, {}).setdefault(day, {})[statistic] = float(value)
    return table


def compare(series, scenario, baseline=None, shift=0):
    """Compare every recorded series of one scenario; a list of Comparison.

    Parameters
    ----------
    series : dataset, of `ours`
    scenario : str, whose recorded runs to compare with
    baseline : of `read_baseline`, optional
    shift : days by which ours are later; day d of theirs is compared with day d + shift of ours
    """
    known = SCENARIOS[scenario]
    baseline = baseline or read_baseline(known.recorded)
    last = int(series.day[-1])
    days = [day for day in known.days if 1 <= day + shift <= last]
    result = []
    for name, values in series.items():
        chosen = values.sel(day=[day + shift for day in days])
        result += compare_series(name, chosen, days, baseline[name], known.seeds)
    return result


def half_known(means, half):
    """Return the first day on which half of the tools are known, of a mean by day from day 1."""
    return 1 + int(np.argmax(np.asarray(means) >= half))


def delay(series, scenario):
    """Return how many days later than in the recorded runs half of the tools are known."""
    known = SCENARIOS[scenario]
    if not known.half:
        return 0
    recorded = read_baseline(known.recorded)["known_tool"]
    theirs = half_known([recorded[day]["mean"] for day in sorted(recorded)], known.half)
    return half_known(series.known_tool.mean("society"), known.half) - theirs
