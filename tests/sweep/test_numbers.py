"""Are the values of keys in a study those of its points, whatever their size? How many replicates?

No run is computed here.
"""

import numpy as np
import pytest
import yaml
from studies import BASE

from societies import analysis, sweep
from societies.output import Coordinate, open_results
from societies.output.study import StudyFile
from societies.sweep.layout import layout_of, values_of
from societies.sweep.prepare import prepared
from societies.sweep.ranges import range_of

SEEDS = [2**63, 1, 2**64 - 1, 2**53 + 1]


def plan(part=None, **more):
    found = sweep.load_sweep({"base": BASE, "vary": {"grid": {"seed": SEEDS}}, **more})
    return prepared(found, part=part)


def layout(ready):
    return layout_of(ready.sweep, ready.points, ready.runs, ready.shape)


def seeds_of(made):
    return next(one.values for one in made.along if one.name == "seed")


@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        ([1, -(2**63)], np.int64),
        ([1, 2**63 - 1], np.int64),
        ([1, 2**63], np.uint64),
        ([2**64 - 1, 2**53 + 1], np.uint64),
        ([1, 2.5], np.float64),
        ([10**20, 1], np.float64),
        ([2**70 + 1, 1], np.str_),
        ([-1, 2**63 + 1], np.str_),
        ([2**53 + 1, 0.5], np.str_),
        ([10**400, 0.5], np.str_),
    ],
)
def test_values_of_a_key_are_exact(column, dtype):
    found = values_of(column)
    assert np.issubdtype(found.dtype, dtype)
    back = [
        int(one) if isinstance(a, int) else type(a)(one)
        for a, one in zip(column, found, strict=True)
    ]
    assert back == column
    assert Coordinate("k", found, along=("run",)).values.dtype.kind == found.dtype.kind


@pytest.mark.ci
def test_seeds_are_exact_in_a_study_its_parts_and_its_exports(tmp_path):
    """From 2^63 on they were float64; a part with small ones alone had another type."""
    made = layout(plan())
    assert seeds_of(made).dtype == np.uint64 and seeds_of(made).tolist() == SEEDS
    for part, own in ((1, SEEDS[::2]), (2, SEEDS[1::2])):
        found = seeds_of(layout(plan(part=(part, 2))))
        assert found.dtype == np.uint64 and found.tolist() == own
    own = layout(
        prepared(
            sweep.load_sweep({"base": {**BASE, "seed": 2**64 - 2}, "vary": {"grid": {"days": [3]}}})
        )
    )
    assert seeds_of(own).tolist() == [2**64 - 2]
    path = tmp_path / "s.h5"
    StudyFile.create(path, made).close()
    with StudyFile.read(path) as file:
        assert [one["seed"] for one in file.points] == SEEDS
        assert seeds_of(file.layout).tolist() == SEEDS
    with open_results(path) as study:
        assert study.seed.dtype == np.uint64 and study.seed.values.tolist() == SEEDS
    (table,) = analysis.export(path, "csv", variables="deals", out=tmp_path / "s.csv")
    header, *rows = table.read_text().splitlines()
    at = header.split(",").index("seed")
    assert list(dict.fromkeys(int(row.split(",")[at]) for row in rows)) == SEEDS
    (copy,) = analysis.export(path, "netcdf", variables="deals", out=tmp_path / "s.nc")
    import xarray as xr

    with xr.open_dataset(copy) as study:
        assert study.seed.values.tolist() == SEEDS


def test_steps_between_large_whole_numbers_are_exact():
    """2^53 + 1, 2^53 + 2, 2^53 + 3 were two numbers, of which one came twice."""
    first = 2**53 + 1
    grid = {"grid": {"seed": {"low": first, "high": first + 2, "steps": 3}}}
    found = sweep.load_sweep({"base": BASE, "vary": grid})
    assert [row[0] for row in found.factors[0].rows()] == [first, first + 1, first + 2]


@pytest.mark.parametrize(
    ("of_base", "more", "runs"),
    [
        (8, {}, 8),
        (8, {"replicates": 3}, 3),
        (8, {"replicates": 1}, 1),
        (8, {"set": {"replicates": 2}}, 2),
        (1, {"replicates": 4}, 4),
        (1, {}, 1),
    ],
)
def test_replicates_of_the_base_are_the_study_s_unless_it_says_its_own(
    tmp_path, of_base, more, runs
):
    """What `societies new` writes has eight, and was refused."""
    (tmp_path / "base.yaml").write_text(yaml.safe_dump({**BASE, "replicates": of_base}))
    said = {"base": "base.yaml", "vary": {"grid": {"seed": [1, 2]}}, **more}
    (tmp_path / "sweep.yaml").write_text(yaml.safe_dump(said))
    ready = prepared(sweep.load_sweep(tmp_path / "sweep.yaml"))
    assert ready.runs.replicate.tolist() == [*range(runs)] * 2
    assert ready.sweep.definition["base"]["replicates"] == 1
    assert prepared(ready.sweep, replicates=5).runs.replicate.max() == 4


@pytest.mark.parametrize(
    ("others", "names"),
    [
        ([("a", "c")], ["a", "group 1"]),
        ([("c", "b"), ("d", "b")], ["group 0", "b"]),
        ([("a", "c", "d")], ["a", "group 1", "d"]),
    ],
)
def test_a_group_has_the_name_that_it_has_in_all_runs_or_its_number(others, names):
    """It had the name of the first point in the runs of all others."""
    table = [[{"name": one, "count": 2} for one in row] for row in [("a", "b"), *others]]
    vary = {"points": [{"groups": row, "agents": 2 * len(row)} for row in table]}
    found = sweep.load_sweep({"base": {**BASE, "agents": 4, "groups": table[0]}, "vary": vary})
    assert prepared(found).shape.coordinates["group"].values.tolist() == names


@pytest.mark.parametrize("sd", [10**40, 2**64, 1e9, 1e8])
def test_whole_numbers_of_any_size_are_parameters_of_a_range(sd):
    said = {"distribution": "normal", "mean": 0, "sd": sd, "low": 0, "high": 1}
    unit = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(range_of(said).values(unit), unit)  # flat between its ends
