"""Are data found that were moved, copied or lost together with their checksums?

A checksum that says nothing of its position is as right elsewhere. The files are stored ones; each
test changes one as a misdirected or lost write of a disk would.
"""

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from societies.errors import OutputError
from societies.output import (
    Column,
    Coordinate,
    EventTable,
    ResultFile,
    Variable,
    inspect,
    open_results,
)
from societies.output.layout import declare
from societies.output.study import StudyFile

FILES = Path(__file__).parents[1] / "data/files"
OF_A_RUN = ("status", "error", "wall_time", "study/checksum", "study/events/trade_network")


@pytest.fixture
def run(tmp_path):
    return Path(shutil.copy(FILES / "layout-3.h5", tmp_path / "run.h5"))


@pytest.fixture
def study(tmp_path):
    return Path(shutil.copy(FILES / "study-layout-3.h5", tmp_path / "study.h5"))


def said(path):
    found = inspect(path, check=True)
    return [", ".join(word for word in (one.what, one.which) if word) for one in found.damages]


def swap(one, other):
    """Let two arrays in memory, views of something, change their contents."""
    one[...], other[...] = other.copy(), one.copy()


def edit(path, change):
    """Change datasets of a file, which are arrays in ``change``."""
    with h5py.File(path, "r+") as file:
        names = []
        file.visititems(lambda name, one: names.append(name) if hasattr(one, "shape") else None)
        arrays = {name: file[name][...] for name in names if file[name].dtype.kind != "O"}
        change(arrays)
        for name, values in arrays.items():
            if values.tobytes() != file[name][...].tobytes():
                file[name][...] = values


def test_two_days_that_are_swapped_are_found(run):
    def change(file):
        for name, sums in [("gini", "checksums/gini")]:
            values = file[name]
            swap(values[:, 2], values[:, 6])
            swap(file[sums][2:3], file[sums][6:7])

    edit(run, change)
    assert said(run) == ["'gini', days 3, 7"]
    with open_results(run) as data, pytest.raises(OutputError, match="damaged: 'gini', days 3"):
        data.gini.load()
    with pytest.raises(OutputError, match="damaged: 'gini'"):
        ResultFile.resume(run)


def test_a_day_that_is_copied_over_another_is_found(run):
    def change(file):
        file["gini"][:, 6] = file["gini"][:, 2]
        file["checksums/gini"][6] = file["checksums/gini"][2]

    edit(run, change)
    assert said(run) == ["'gini', day 7"]


def test_two_variables_that_are_swapped_are_found(run):
    def change(file):
        swap(file["gini"], file["utility"])
        swap(file["checksums/gini"], file["checksums/utility"])

    edit(run, change)
    assert {one.split(",")[0] for one in said(run)} == {"'gini'", "'utility'"}


def test_a_day_whose_values_and_checksum_are_lost_is_found(run):
    """It read as missing."""

    def change(file):
        file["gini"][:, 4] = np.nan
        file["checksums/gini"][4] = 0

    edit(run, change)
    assert said(run) == ["'gini', day 5"]


@pytest.fixture
def small(tmp_path):
    """Return the file of a run of four days with two variables off the clock, and a table."""
    path = tmp_path / "small.h5"
    columns = [Column("day", "int64", "day", "day"), Column("x", "int64", "1", "x")]
    with ResultFile.create(
        path,
        declare(
            coordinates=[Coordinate("day", np.arange(1, 5), "day"), Coordinate("at", np.arange(3))],
            variables=[Variable(name, ("at",), np.int64, "1", name) for name in ("one", "two")],
            attributes={},
            state={},
            tables=[EventTable("odd", tuple(columns), 5)],
            slots=0,
        ),
    ) as file:
        for number, name in enumerate(("one", "two")):
            file.write(name, np.arange(3) + number)
        file.append("odd", {"day": np.array([1, 3, 3]), "x": np.array([7, 8, 9])})
        file.commit(4)
    return path


def test_a_variable_off_the_clock_is_found_to_be_another_or_lost(small):
    assert said(small) == []

    def change(file):
        swap(file["one"], file["two"])
        swap(file["checksums/one"], file["checksums/two"])

    edit(small, change)
    assert said(small) == ["'one'", "'two'"]
    edit(small, change)
    assert said(small) == []

    def lose(file):
        file["one"][...] = np.iinfo(np.int64).min
        file["checksums/one"][...] = 0

    edit(small, lose)
    assert said(small) == ["'one'"]


@pytest.mark.parametrize("how", ["swapped", "copied", "lost"])
def test_rows_of_a_table_that_are_moved_are_found(small, how):
    lowest = np.iinfo(np.int64).min
    names = {"events/odd/day": lowest, "events/odd/x": lowest, "checksums/events/odd": 0}

    def change(file):
        for name, fill in names.items():
            values = file[name]
            if how == "swapped":
                swap(values[:1], values[1:2])
            else:
                values[1] = values[0] if how == "copied" else fill

    edit(small, change)
    wrong = {"swapped": "rows 0 to 1", "copied": "row 1", "lost": "row 1"}[how]
    assert said(small) == [f"events 'odd', {wrong}"]
    with pytest.raises(OutputError, match="damaged: events 'odd', row"):
        open_results(small, events="odd")


def test_a_checkpoint_in_another_slot_is_found(run):
    def change(file):
        for name in [one for one in file if one.startswith("checkpoint/0/")]:
            other = name.replace("/0/", "/1/")
            values = file[name].copy()
            file[name], file[other] = file[other], values

    edit(run, change)
    assert [one.split(",")[0] for one in said(run)] == ["checkpoint 0", "checkpoint 1"]


def test_records_that_are_moved_or_lost_are_found(run):
    def commits(file):
        file["checksums/commits"][...] = 0

    edit(run, commits)
    with pytest.raises(OutputError, match="damaged: both records of commits"):
        ResultFile.resume(run)
    shutil.copy(FILES / "layout-3.h5", run)

    def sessions(file):
        swap(file["provenance/sessions"][:1], file["provenance/sessions"][1:2])

    edit(run, sessions)
    assert said(run) == ["records 0 to 1 of provenance/sessions"]


def move_runs(file, one, other, how):
    """Move what a run is, values and checksum; in the seal are the fill values."""
    names = [*OF_A_RUN, *(name for name in file if name in ("gini", "deals", "final_held"))]
    assert len(names) == 8
    for name in names:
        values = file[name]
        if how == "swapped":
            swap(values[one : one + 1], values[other : other + 1])
        else:
            values[other] = values[one]


def test_two_runs_that_are_swapped_are_found_and_computed_again(study):
    """They had each other's results, under right coordinates, and the check was content."""
    edit(study, lambda file: move_runs(file, 1, 4, "swapped"))
    assert said(study) == ["run 1", "run 4"]
    with pytest.raises(OutputError, match="damaged: run 1"):
        open_results(study)
    with StudyFile.resume(study) as file:
        assert file.damaged == [1, 4]


def test_a_run_that_is_copied_over_another_is_found(study):
    edit(study, lambda file: move_runs(file, 1, 4, "copied"))
    assert said(study) == ["run 4"]


def test_a_run_that_is_lost_with_its_checksum_is_found(study):
    """It read as pending; runs 6 and 7 are."""

    def lose(file):
        move_runs(file, 7, 4, "copied")
        file["study/checksum"][4] = 0

    edit(study, lose)
    assert said(study) == ["run 4"]
    shutil.copy(FILES / "study-layout-3.h5", study)
    edit(study, lambda file: move_runs(file, 7, 4, "copied"))  # with the checksum of run 7
    assert said(study) == ["run 4"]


def test_what_comes_from_another_run_is_found(run, tmp_path):
    """A checkpoint of another seed would be continued; its coordinates are the same."""
    paths = [tmp_path / f"{name}.h5" for name in "ab"]
    for number, path in enumerate(paths):
        with ResultFile.create(
            path,
            declare(
                coordinates=[Coordinate("day", np.arange(1, 5), "day")],
                variables=[Variable("x", ("day",), np.int64, "1", "x")],
                attributes={"configuration": f"seed: {number}"},
                state={"y": ((3,), np.float64)},
            ),
        ) as file:
            file.write("x", np.arange(4) + number)
            file.commit(4)
            file.checkpoint(4, {"y": np.full(3, float(number))}, 1)
    with h5py.File(paths[0], "r+") as to, h5py.File(paths[1]) as of:
        for name in ("checkpoint/1/state/y", "checkpoint/1/checksum", "x", "checksums/x"):
            to[name][...] = of[name][...]
    assert said(paths[0]) == ["'x', days 1 to 4", "checkpoint 1, of day 4"]


def test_rows_that_a_run_never_writes_have_checksums_once_they_are_committed(tmp_path):
    path = tmp_path / "run.h5"
    with ResultFile.create(
        path,
        declare(
            coordinates=[Coordinate("day", np.arange(1, 5), "day")],
            variables=[Variable(name, ("day",), np.int64, "1", name) for name in ("x", "none")],
            attributes={},
            state={},
            slots=0,
        ),
    ) as file:
        file.write("x", [7], day=slice(1, 2))  # of day 2 alone
        file.commit(3)
    assert said(path) == []
    with h5py.File(path) as file:
        assert (file["checksums/none"][...] != 0).tolist() == [True, True, True, False]
        assert (file["checksums/x"][...] != 0).tolist() == [True, True, True, False]
    with ResultFile.resume(path) as file:
        file.write("x", [5], day=slice(3, 4))
        file.commit(4)
    assert said(path) == []
