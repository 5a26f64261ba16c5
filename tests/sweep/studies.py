"""What the tests of sweeps share: a small sweep, full tables, and a comparison of studies."""

from dataclasses import replace

import numpy as np
import yaml

import societies
from societies import sweep
from societies.sweep import batch, layout

BASE = {
    "workload": "economy",
    "agents": 5,
    "resources": 4,
    "days": 6,
    "seed": 4,
    "utility": {"min_marginal": 2.5},
    "extraction": {"max_experience": 150.0},
    "trading": {"rounds": 2, "menu_size": 3},
    "record": {"network": [4, 6]},
}
"""A society in which trade begins within days."""
SWEEP = {
    "base": BASE,
    "vary": {
        "grid": {"utility.exponent": [2, 2.5, 3], "days": [4, 6]},
        "latin_hypercube": {"points": 2, "keys": {"day_length": {"low": 200, "high": 600}}},
    },
    "replicates": 2,
    "record": {"final": ["held"]},
}
"""Twelve points in two buckets, 24 runs; half of them have a second day with a network."""


def without_room_for_events(monkeypatch):
    """Let the tables of events begin with no rows, so that the first event makes them longer."""
    original = batch.run_shape

    def empty(*given):
        shape = original(*given)
        tables = {name: replace(one, rows=0) for name, one in shape.tables.items()}
        return replace(shape, tables=tables)

    monkeypatch.setattr(layout, "run_shape", empty)


def same(path, other, *, but=("wall_time",)):
    """Raise AssertionError unless two studies have the same runs with the same data."""
    with sweep.open_study(path) as one, sweep.open_study(other) as two:
        assert set(one.variables) == set(two.variables)
        assert (one.status == "done").all()
        order = [order_of(of) for of in (one, two)]
        for name in set(one.variables) - set(but):
            values = [
                of[name].values[rows] if of[name].dims[:1] == ("run",) else of[name].values
                for of, rows in zip((one, two), order, strict=True)
            ]
            np.testing.assert_array_equal(*values, err_msg=name)
        runs = [of.run.values[rows] for of, rows in zip((one, two), order, strict=True)]
        networks = [
            bool(yaml.safe_load(of.configuration)["record"]["network"]) for of in (one, two)
        ]
    assert len({*networks}) == 1
    if not networks[0]:
        return
    links = [links_of(of, numbers) for of, numbers in zip((path, other), runs, strict=True)]
    for name in set(links[0]) | set(links[1]):
        np.testing.assert_array_equal(links[0][name], links[1][name], err_msg=name)


def order_of(study):
    """Return the rows of a study in the order of its points and replicates: one that grew has
    another.
    """
    return np.lexsort((study.replicate.values, *key_columns(study)))


def links_of(path, runs):
    """Return the columns of a study's networks, of which the runs are counted in this order."""
    with societies.open_results(path, events="trade_network") as table:
        columns = {name: one.values for name, one in table.data_vars.items()}
    assert len(columns["run"]) and set(columns["day"]) == {4, 6}
    columns["run"] = np.argsort(runs)[np.searchsorted(np.sort(runs), columns["run"])]
    order = np.argsort(columns["run"], kind="stable")
    return {name: values[order] for name, values in columns.items()}


def key_columns(study):
    """Return the values of all keys that vary."""
    return [study[key].values for key in study.attrs["vary"].split(", ")]


GROWN = ("wall_time", "run", "point")
"""What differs in a study that grew: its runs are in another order."""
