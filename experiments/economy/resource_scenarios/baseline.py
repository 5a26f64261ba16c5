"""What did the recorded runs give, and which of our series is which of theirs?

Used by run.py beside this and by tests/statistics/test_baseline.py.
"""

import csv
from pathlib import Path

from societies.analysis.compare import compare_series

ROOT = Path(__file__).parents[3]
BASELINE = ROOT / "tests" / "data" / "societies-baseline"
SCENARIOS = {"no_trade": "canon-s1.csv", "trade": "canon-s2.csv"}
SEEDS = 20

# Our name -> the recorded name. hhi is recorded by quartile.
SERIES = {
    "units_extracted": "gathered",
    "units_held": "held",
    "units_traded": "traded_res",
    "deals": "n_trades",
    "utility": "mean_util",
    "utility_median": "median_util",
    "gini": "gini_day",
    "gini_cumulative": "gini_cum",
    "gini_extracted": "gini_gathered",
    "resources_extracted": "nspec",
    "units_held_max": "max_held",
}
HHI = ("hhi_min", "hhi_q1", "hhi_med", "hhi_q3", "hhi_max")


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


def compare(dataset, baseline, days):
    """Compare every recorded series of one scenario; a list of Comparison."""
    chosen = dataset.sel(day=list(days))
    result = []
    for ours, recorded in SERIES.items():
        result += compare_series(ours, chosen[ours], days, baseline[recorded], SEEDS)
    for i, recorded in enumerate(HHI):
        values = chosen["hhi"].isel(quantile=i)
        result += compare_series(f"hhi {recorded[4:]}", values, days, baseline[recorded], SEEDS)
    minutes = chosen["minutes"].sel(activity="hand")
    return result + compare_series("minutes by hand", minutes, days, baseline["min_hand"], SEEDS)
