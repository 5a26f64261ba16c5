"""Do the tests notice mistakes that are no single changed token? Planted by hand, one at a time.

    python tests/mutation/by_hand.py                  all of them: some 20 minutes of processor time
    python tests/mutation/by_hand.py gini --processes 4

Each is a mistake that once was in this program or survived in it, or a sibling of one: values that
an intervention takes back, statistics over removed agents, curves and numbers of another group,
copies of a second batch that draw as the first, rows of a table that are merged. Every one is
planted in a copy of the tree, whose tests are then run until one fails. Fails if a mistake
survives, or if its place is no longer in the code.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIED = ("societies", "reference_py", "kernels", "configs", "tests", "docs", "pyproject.toml")
QUICK = ("-q", "-n0", "-x", "-p", "no:randomly", "-p", "no:cacheprovider", "--tb=no")

OF_VALUES = (
    "tests/config/test_values_of_copies.py",
    "tests/config/test_interventions_by_hand.py",
    "tests/config/test_tables.py",
    "tests/parity/test_interventions_that_end.py",
)
OF_STATISTICS = (
    "tests/reference/test_measures_rules.py",
    "tests/reference/test_statistics_rules.py",
)
OF_WORTH = (
    "tests/reference/test_measures_rules.py",
    "tests/reference/test_valuing.py",
)
OF_GROUPS = (
    "tests/config/test_economy_by_hand.py",
    "tests/config/test_values_of_copies.py",
    "tests/config/test_series_and_copies_by_hand.py",
    "tests/parity/test_curve_tables.py",
    "tests/config/test_economy_records_by_hand.py",
)
OF_BATCHES = (
    "tests/workload/test_batches_by_hand.py",
    "tests/sweep/test_studies_by_hand.py",
    "tests/sweep/test_documents_by_hand.py",
)
OF_LIVES = ("tests/invariants/test_lives_by_hand.py",)

SPEED = '__import__("reference_py.economy.devices", fromlist=["making_speed"]).making_speed'

MISTAKES = (
    (
        "takes back earlier values",
        "societies/workload/running/ensembles.py",
        "setting |= {path: _at(",
        "setting = dict(settings[kind[0]]) | {path: _at(",
        OF_VALUES,
    ),
    (
        "earlier wins",
        "societies/workload/running/ensembles.py",
        "found.sort(key=lambda pair: tick(pair[0]))",
        "found.sort(key=lambda pair: -tick(pair[0]))",
        OF_VALUES,
    ),
    (
        "holds a tick longer",
        "societies/workload/running/ensembles.py",
        "tick(one) <= at < until_of(one) for one",
        "tick(one) <= at <= until_of(one) for one",
        OF_VALUES,
    ),
    (
        "first of a series only",
        "societies/workload/running/ensembles.py",
        "_at(value, at - tick(one))",
        "_at(value, 0)",
        OF_VALUES,
    ),
    (
        "of the first copy only",
        "societies/workload/running/ensembles.py",
        "np.isin(numbers, some(one)) if some(one)",
        "np.isin(numbers, some(one)[:1]) if some(one)",
        OF_VALUES,
    ),
    (
        "rows in single precision",
        "societies/workload/running/ensembles.py",
        "np.concatenate(parts, axis=1), axis=0, return_index",
        "np.concatenate(parts, axis=1).astype(np.float32), axis=0, return_index",
        OF_VALUES,
    ),
    (
        "rows to 9 digits",
        "societies/workload/running/ensembles.py",
        "np.concatenate(parts, axis=1), axis=0, return_index",
        "np.concatenate(parts, axis=1).round(9), axis=0, return_index",
        OF_VALUES,
    ),
    (
        "rows by the first column",
        "societies/workload/running/ensembles.py",
        "np.concatenate(parts, axis=1), axis=0, return_index",
        "np.concatenate(parts[:1], axis=1), axis=0, return_index",
        OF_VALUES,
    ),
    (
        "values in single precision",
        "societies/workload/running/ensembles.py",
        "< 2**53 else float(value)",
        "< 2**53 else float(np.float32(value))",
        OF_VALUES,
    ),
    (
        "gini of all",
        "reference_py/economy/statistics.py",
        "gini(of_living(s.utility), reduce",
        "gini(list(s.utility), reduce",
        OF_STATISTICS,
    ),
    (
        "cumulative gini of all",
        "reference_py/economy/statistics.py",
        "gini(of_living(s.utility_total)",
        "gini(list(s.utility_total)",
        OF_STATISTICS,
    ),
    (
        "gini of extraction of all",
        "reference_py/economy/statistics.py",
        "gini(of_living(units)",
        "gini(list(units)",
        OF_STATISTICS,
    ),
    (
        "three days gini of all",
        "reference_py/economy/statistics.py",
        "gini(of_living(three)",
        "gini(list(three)",
        OF_STATISTICS,
    ),
    (
        "median of all",
        "reference_py/economy/statistics.py",
        "median(of_living(s.utility))",
        "median(list(s.utility))",
        OF_STATISTICS,
    ),
    (
        "members of a group counted dead",
        "reference_py/economy/statistics.py",
        "count = sum(s.alive[agent] for agent in members)",
        "count = len(members)",
        OF_STATISTICS,
    ),
    (
        "medians of measures of all",
        "reference_py/economy/measures.py",
        "medians.append(median(of_living))",
        "medians.append(median(values))",
        OF_STATISTICS,
    ),
    (
        "ginis of measures of all",
        "reference_py/economy/measures.py",
        "ginis.append(gini(of_living, total))",
        "ginis.append(gini(values, total))",
        OF_STATISTICS,
    ),
    (
        "top shares of all",
        "reference_py/economy/measures.py",
        "top_share(of_living, total, top)",
        "top_share(values, total, top)",
        OF_STATISTICS,
    ),
    (
        "minute of all",
        "reference_py/economy/measures.py",
        "for agent in living])\n    for agent",
        "for agent in range(p.agents)])\n    for agent",
        OF_STATISTICS,
    ),
    (
        "group means over dead",
        "reference_py/economy/measures.py",
        "living = sum(s.alive[agent] for agent in range(p.agents) if own[agent])",
        "living = sum(own)",
        OF_STATISTICS,
    ),
    (
        "beginner 0",
        "reference_py/economy/measures.py",
        "effort(device_curve(p, agent, r), experience)",
        "effort(device_curve(p, agent, r), 0.0)",
        OF_WORTH,
    ),
    (
        "beginner 1",
        "reference_py/economy/measures.py",
        "effort(device_curve(p, agent, r), experience)",
        "effort(device_curve(p, agent, r), 1.0)",
        OF_WORTH,
    ),
    (
        "with the maker device",
        "reference_py/economy/measures.py",
        "effort(device_curve(p, agent, r), experience) *",
        f"effort(device_curve(p, agent, r), experience) / {SPEED}(p, s, agent, device_type, r) *",
        OF_WORTH,
    ),
    (
        "without factories",
        "reference_py/economy/measures.py",
        "for device_type in BOTTOM_UP:",
        "for device_type in [t for t in BOTTOM_UP if t != 2]:",
        OF_WORTH,
    ),
    (
        "without industries",
        "reference_py/economy/measures.py",
        "for device_type in BOTTOM_UP:",
        "for device_type in [t for t in BOTTOM_UP if t != 3]:",
        OF_WORTH,
    ),
    (
        "lifetime of tools",
        "reference_py/economy/measures.py",
        "/ p.device_lifetime[device_type] * cost",
        "/ p.device_lifetime[0] * cost",
        OF_WORTH,
    ),
    (
        "own minute",
        "reference_py/economy/measures.py",
        "* s.minute_value",
        "* s.gain_per_minute[agent]",
        OF_WORTH,
    ),
    (
        "components at no cost",
        "reference_py/economy/measures.py",
        "total += cost[COMPONENT[device_type]][k]",
        "total += 0.0",
        OF_WORTH,
    ),
    (
        "all curves of group 0",
        "societies/economy/parameters.py",
        "return list(distinct), index",
        "return list(distinct), (index[0],) * len(index)",
        OF_GROUPS,
    ),
    (
        "extraction of group 0",
        "societies/economy/parameters.py",
        'effort, effort_of = _effort_curves(curves, groups, "extraction")',
        'effort, effort_of = _effort_curves(curves, groups[:1] * len(groups), "extraction")',
        OF_GROUPS,
    ),
    (
        "making of group 0",
        "societies/economy/parameters.py",
        'effort, effort_of = _effort_curves(curves, groups, "device")',
        'effort, effort_of = _effort_curves(curves, groups[:1] * len(groups), "device")',
        OF_GROUPS,
    ),
    (
        "utility of group 0",
        "societies/economy/parameters.py",
        "for g in groups])\n    effort",
        "for g in groups[:1] * len(groups)])\n    effort",
        OF_GROUPS,
    ),
    (
        "lifetimes of group 0",
        "societies/economy/parameters.py",
        "for g in groups)\n    return tuple(tuple(map(consumption",
        "for g in groups[:1] * len(groups))\n    return tuple(tuple(map(consumption",
        OF_GROUPS,
    ),
    (
        "endowment of group 0",
        "societies/economy/parameters.py",
        "for g in groups)\n\n\ndef endowed",
        "for g in groups[:1] * len(groups))\n\n\ndef endowed",
        OF_GROUPS,
    ),
    (
        "numbers of group 0",
        "societies/economy/parameters.py",
        "for group in config.groups or (None,))\n\n\ndef groups_of",
        "for group in (config.groups[:1] or (None,)) * max(1, len(config.groups)))\n\n\n"
        "def groups_of",
        OF_GROUPS,
    ),
    (
        "agents of groups upside down",
        "societies/economy/parameters.py",
        "in enumerate(config.group_sizes()) for",
        "in enumerate(config.group_sizes()[::-1]) for",
        OF_GROUPS,
    ),
    (
        "second batch at the place",
        "societies/workload/running/batches.py",
        "self.inner.at(self._first + place)",
        "self.inner.at(place)",
        OF_BATCHES,
    ),
    (
        "second batch is the first",
        "societies/workload/running/batches.py",
        "self.inner.at(self._first + place)",
        "self.inner.at(self._first)",
        OF_BATCHES,
    ),
    (
        "events of the first batch",
        "societies/workload/running/batches.py",
        "own[:, 0] += number * self.inner.copies",
        "own[:, 0] += 0",
        OF_BATCHES,
    ),
    (
        "loaded at the first",
        "societies/workload/running/batches.py",
        "places = number * self.inner.copies + np.arange(self.inner.copies)",
        "places = np.arange(self.inner.copies)",
        OF_BATCHES,
    ),
    (
        "means of lives with the dead",
        "societies/economy/explain/life.py",
        'others = evening["alive"] > 0',
        'others = evening["alive"] >= 0',
        OF_LIVES,
    ),
    (
        "means of lives with oneself",
        "societies/economy/explain/life.py",
        "others[agent] = False",
        "pass",
        OF_LIVES,
    ),
    (
        "overtook by now alone",
        "societies/economy/explain/life.py",
        "if was[a] < was[agent] and ranks",
        "if ranks",
        OF_LIVES,
    ),
    (
        "overtaken by those that were behind",
        "societies/economy/explain/life.py",
        "if was[a] > was[agent] and",
        "if was[a] >= was[agent] and",
        OF_LIVES,
    ),
    (
        "ranks with the dead",
        "societies/economy/explain/life.py",
        'np.where(evening["alive"] > 0, evening["wealth"], -np.inf)',
        'evening["wealth"]',
        OF_LIVES,
    ),
)
"""What is wrong, file, text that occurs once or comes first, what takes its place, and tests."""


def tried(mistake):
    """Return what came of a mistake: the test that noticed it, or that none did."""
    name, file, before, after, tests = mistake
    text = (ROOT / file).read_text()
    if before not in text:
        return name, "its place no longer exists", False
    with tempfile.TemporaryDirectory() as folder:
        for one in COPIED:
            copy = shutil.copytree if (ROOT / one).is_dir() else shutil.copy
            copy(ROOT / one, Path(folder) / one)
        (Path(folder) / file).write_text(text.replace(before, after, 1))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *QUICK, "-m", "", *tests],
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode == 1 and failed:
        return name, failed[0].partition(" - ")[0].removeprefix("FAILED "), True
    return name, f"no test notices it (pytest ended with {done.returncode})", False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("words", nargs="*", help="only mistakes whose description has one of these")
    parser.add_argument("--processes", type=int, default=1, help="mistakes at a time")
    options = parser.parse_args()
    chosen = [
        one
        for one in MISTAKES
        if not options.words or any(word in one[0] for word in options.words)
    ]
    with ThreadPoolExecutor(options.processes) as pool:
        found = []
        for name, what, noticed in pool.map(tried, chosen):
            print(f"{'noticed' if noticed else 'ALIVE'}: {name}: {what}", flush=True)
            found.append(noticed)
    print(f"{sum(found)} of {len(found)} mistakes are noticed")
    return int(not all(found))


if __name__ == "__main__":
    sys.exit(main())
