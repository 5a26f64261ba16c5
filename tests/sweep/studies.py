"""What the tests of sweeps share: a small sweep, and a comparison of studies."""

import numpy as np

from societies import sweep

BASE = {"workload": "economy", "agents": 5, "resources": 4, "days": 6}
SWEEP = {
    "base": BASE,
    "vary": {
        "grid": {"utility.exponent": [2, 2.5, 3], "days": [4, 6]},
        "latin_hypercube": {"points": 2, "keys": {"day_length": {"low": 200, "high": 600}}},
    },
    "replicates": 2,
    "record": {"final": ["held"]},
}
"""Twelve points in two buckets, 24 runs."""


def same(path, other, *, but=("wall_time",)):
    """Raise AssertionError unless two studies have the same runs with the same data."""
    with sweep.open_study(path) as one, sweep.open_study(other) as two:
        assert set(one.variables) == set(two.variables)
        assert (one.status == "done").all()
        order = [
            np.lexsort((of.replicate.values, *key_columns(of)))  # a study that grew has another
            for of in (one, two)
        ]
        for name in set(one.variables) - set(but):
            values = [
                of[name].values[rows] if of[name].dims[:1] == ("run",) else of[name].values
                for of, rows in zip((one, two), order, strict=True)
            ]
            np.testing.assert_array_equal(*values, err_msg=name)


def key_columns(study):
    """Return the values of all keys that vary."""
    return [study[key].values for key in study.attrs["vary"].split(", ")]


GROWN = ("wall_time", "run", "point")
"""What differs in a study that grew: its runs are in another order."""
