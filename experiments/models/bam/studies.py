"""The statistics of every run of a sweep of BAM, and the figures of its experiments."""

import math

import numpy as np
from statistics_of_bam import SCENARIOS, autoregression, cycle, moments

import societies
from societies import sweep

VARIABLES = (
    "unemployment", "inflation", "price", "gdp", "productivity", "wage", "real_wage",
    "vacancy_rate", "failed_firms", "failed_banks", "rate", "rate_first", "borrowers", "worth",
    "wages", "budget", "price_cv", "price_cv_end", "worth_cv", "sales_cv", "hedge", "ponzi",
    "hedge_first", "ponzi_first", "hedge_flow", "soldout", "hhi", "gini_savings", "dividends",
)  # fmt: skip
QUARTERS = 1000
MEASURED = {"networth_growth_pct_tight", "networth_growth_pct_normal", "networth_growth_outliers",
            "networth_growth_tent_r2", "wealth_gini", "wealth_skewness", "mean_mpc"}  # fmt: skip
"""Statistics that need states which a sweep does not record."""


def study(path, name, points, replicates, final=("made",), device="auto"):
    """Return a study of points, each a mapping of keys; it is computed if there is no file.

    With the final output of firms it also has their output as detail, which `validate` reads.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {"variables": list(VARIABLES)}
        if final:
            record = {"variables": [*VARIABLES, *final], "final": list(final)}
        report = sweep.run(
            {
                "base": f"models/bam/{name}",
                "set": {"record.detail": QUARTERS if final else 0},
                "vary": {"points": same_keys(name, points)},
                "replicates": replicates,
                "record": record,
            },
            out=path,
            device=device,
            progress=lambda now: print(f"{path.name}: {now.done} of {now.runs} runs", flush=True),
        )
        if report.failures:
            raise SystemExit(f"{path}: {len(report.failures)} runs failed")
    return societies.open_results(path)


def same_keys(name, points):
    """Return the points with every key that one of them has: those of a sweep name the same."""
    base = societies.load_config(f"models/bam/{name}")
    keys = list(dict.fromkeys(key for point in points for key in point))
    return [{key: point.get(key, getattr(base, key)) for key in keys} for point in points]


def runs(results, name):
    """Yield (point, statistics) of every run; statistics are None if the economy ended early."""
    made = results.final_made.values if "final_made" in results else None
    values = {key: results[key].values for key in VARIABLES}
    for k, point in enumerate(results.point.values):
        series = {key: array[k] for key, array in values.items()}
        if not np.isfinite(series["gdp"]).all():
            yield int(point), None
            continue
        late = {key: array[QUARTERS // 2 :] for key, array in series.items()}
        yield int(point), of_run(name, series, late, None if made is None else made[k])


def of_run(name, series, late, made):
    """Return the statistics of one run, published ones and those of the experiments."""
    log = np.log(late["gdp"])
    own = {
        "growth of output, standard deviation": float(np.diff(log).std()),
        "growth of output, mean": float(np.diff(log).mean()),
        "persistence of the cycle, AR(1)": autoregression(cycle(log), 1)[0],
        "deepest fall below the trend": float(-cycle(log).min()),
        "wage over productivity": float((late["real_wage"] / late["productivity"]).mean()),
    }
    if made is None:
        return own | {key: float(late[key].mean()) for key in VARIABLES}
    states = {1000: {"made": made}, 998: {"worth": np.ones(2)}, 999: {"worth": np.ones(2)}}
    scenario = "growth_plus" if name != "baseline" else name
    found = SCENARIOS[scenario](series, late, states)
    published = {key: float(value) for key, value in found.items() if key not in MEASURED}
    return (
        own
        | {"kurtosis of output": moments(made / 2**20)[1]}
        | published
        | {key: float(late[key].mean()) for key in VARIABLES}
    )


def by_point(results, name, count):
    """Return for each point (share of economies that ended, statistics of the others by name)."""
    ended, found = [[] for _ in range(count)], [{} for _ in range(count)]
    for point, statistics in runs(results, name):
        ended[point].append(statistics is None)
        for key, value in (statistics or {}).items():
            found[point].setdefault(key, []).append(value)
    return [(float(np.mean(over)), one) for over, one in zip(ended, found, strict=True)]


def mean_and_error(values):
    """Return the mean and its standard error; NaN without values."""
    if not values:
        return math.nan, math.nan
    return float(np.mean(values)), float(np.std(values) / math.sqrt(len(values)))
