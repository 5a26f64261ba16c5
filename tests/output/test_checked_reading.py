"""Is what an analysis, an export or a figure reads compared with its checksums at that moment?"""

import copy
import os
import pickle
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from societies import analysis, plot_overview
from societies.errors import ConfigError, OutputError
from societies.output import (
    Column,
    Coordinate,
    EventTable,
    ResultFile,
    Variable,
    checksums,
    open_results,
)
from societies.output.layout import declare
from societies.output.stored_seal import find
from societies.physics.matmul.matrices import _dataset

FILES = Path(__file__).parents[1] / "data/files"
DAMAGED = r"run\.h5: damaged: 'gini', day 3, bytes \d+ to \d+\.\nStill good: 40 of 41 variables"


@pytest.fixture
def damaged(tmp_path):
    """Return a result in which one bit of the Gini coefficient of day 3 is another."""
    path = tmp_path / "run.h5"
    shutil.copy(FILES / "layout-2.h5", path)
    with h5py.File(path) as file:
        at = file["gini"].id.get_offset() + 2 * 8 + 6
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
    return path


def test_a_changed_bit_of_a_variable_is_found_when_it_is_read(damaged):
    """It was read, exported and drawn without a word."""
    with open_results(damaged) as results:
        assert np.isfinite(results.utility.values).all()  # another one is not
        with pytest.raises(OutputError, match=DAMAGED):
            results.gini.load()
        with pytest.raises(OutputError, match=DAMAGED):
            results.gini.isel(day=2).mean()
    with pytest.raises(OutputError, match=DAMAGED):
        results.gini.values  # noqa: B018  # also after the dataset is closed


@pytest.mark.ci
@pytest.mark.sample
@pytest.mark.parametrize("to", ["csv", "netcdf"])
def test_a_damaged_variable_is_not_exported(damaged, to):
    with pytest.raises(OutputError, match="damaged: 'gini'"):
        analysis.export(damaged, to, damaged.parent / f"out.{to}", variables="gini")
    assert sorted(one.name for one in damaged.parent.iterdir()) == ["run.h5"]
    assert analysis.export(damaged, to, damaged.parent / f"out.{to}", variables="utility")


def test_the_command_line_says_what_is_damaged(damaged, shell):
    code, _, said = shell("export", str(damaged), "--to", "csv", "--variables", "gini")
    assert code == 4 and "run.h5: damaged: 'gini', day 3" in said


@pytest.mark.ci
def test_a_damaged_variable_is_not_drawn(damaged):
    with pytest.raises(OutputError, match=DAMAGED):
        plot_overview(damaged, variables="gini")
    assert plot_overview(damaged, damaged.with_name("u.svg"), variables="utility")


def test_a_damaged_variable_is_no_matrix(damaged):
    with _dataset(f"{damaged}:utility") as found:
        assert found.shape == (1, 12)
    with pytest.raises(ConfigError, match="damaged: 'gini', day 3"), _dataset(f"{damaged}:gini"):
        pass


DECLARED = {
    "coordinates": [
        Coordinate("society", np.arange(2)),
        Coordinate("day", np.arange(1, 6), "day"),
    ],
    "variables": [
        Variable("sum", ("society", "day"), np.float64, "1", "sum"),
        Variable("count", ("day", "society"), np.int64, "1", "count"),
        Variable("late", ("society", "day"), np.float64, "1", "known a day later", lag=1),
        Variable("newest", ("society",), np.int64, "1", "as of the latest checkpoint", -1),
    ],
    "tables": [
        EventTable("odd", (Column("day", "int32", "day", "day"), Column("x", "int32", "", "x")), 9)
    ],
    "state": {"x": ((2,), np.int64)},
    "attributes": {"title": "numbers"},
}


@pytest.fixture
def stopped(tmp_path):
    """Return a result whose run was killed after day 3, when it had written some of day 4."""
    path = tmp_path / "stopped.h5"
    with ResultFile.create(path, declare(**DECLARED)) as file:
        file.write("sum", np.ones((2, 3)), day=slice(0, 3))
        file.write("count", np.ones((3, 2), int), day=slice(0, 3))
        file.write("late", np.ones((2, 2)), day=slice(0, 2))
        file.write("newest", np.array([5, 6]))
        file.append("odd", {"day": np.array([1, 3], np.int32), "x": np.array([1, 3], np.int32)})
        file.commit(3)
        file.write("sum", np.full((2, 1), 4.0), day=slice(3, 4))
        file.write("late", np.full((2, 1), 4.0), day=slice(2, 3))
        file.append("odd", {"day": np.array([4], np.int32), "x": np.array([4], np.int32)})
    return path


def test_values_that_are_not_committed_are_missing(stopped):
    with open_results(stopped) as results:
        assert results.sizes["day"] == 3 and int(results.ticks_committed) == 3
        assert results.late.isel(society=0).values.tolist()[:2] == [1, 1]
        assert np.isnan(results.late.isel(day=2)).all() and np.isnan(results.late[1, 2])
        assert np.isnan(results.late.isel(day=[2, 0])[:, 0]).all()
        assert results.newest.values.tolist() == [5, 6]
        assert results["count"].dtype == np.int64 and (results["count"] == 1).all()


def test_a_variable_whose_writing_was_broken_off_is_missing(stopped):
    descriptor = os.open(stopped, os.O_RDONLY)
    mark = checksums.withdrawn(find(descriptor).disk(descriptor), "newest")
    os.close(descriptor)
    with h5py.File(stopped, "r+") as file:
        file["checksums/newest"][...] = mark
        file["newest"][0] = 77
    with open_results(stopped) as results:
        assert np.isnan(results.newest.values).all()


@pytest.mark.parametrize(
    ("name", "place", "value", "what"),
    [
        ("ticks_committed", (), 2, "counter of complete days"),
        ("ticks_committed", (), 4, "counter of complete days"),
        ("events/odd/x", 1, 7, "events 'odd'"),
        ("events/odd/day", 5, 2, "events 'odd'"),
        ("sum", (1, 0), 7, "'sum'"),
        ("count", (2, 0), 7, "'count'"),
        ("newest", 1, 7, "'newest'"),
        ("checksums/sum", 0, 7, "'sum'"),
    ],
)
def test_whatever_is_read_is_compared(stopped, name, place, value, what):
    with h5py.File(stopped, "r+") as file:
        file[name][place] = value
    with pytest.raises(OutputError, match=f"damaged: {what}"):
        if "events" in name:
            open_results(stopped, events="odd")
        else:
            open_results(stopped).load()


def test_an_open_dataset_can_be_copied_and_handed_to_another_process(stopped):
    with open_results(stopped) as results:
        for one in (
            pickle.loads(pickle.dumps(results)),
            copy.deepcopy(results),
            results.copy(True),
        ):
            assert (one["sum"] == 1).all() and one.sizes["day"] == 3
            one.close()
