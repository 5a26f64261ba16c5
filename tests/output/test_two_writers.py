"""Two writers of one path: one is refused, or the file is whole and that of the last one.

Locks belong to open files, so two writers in this process are as two processes are.
"""

import os

import numpy as np
import pytest
from test_studies import compute, layout, make

from societies.errors import OutputError
from societies.output import Coordinate, ResultFile, Variable, files, inspect, lock, open_results
from societies.output.layout import declare
from societies.output.study import StudyFile

REFUSED = "another run is writing it|is open elsewhere|a sweep is writing it|exists already"


def create(path, value=1, *, overwrite=False):
    file = ResultFile.create(
        path,
        declare(
            coordinates=[Coordinate("day", np.arange(1, 5), "day")],
            variables=[Variable("x", ("day",), np.int64, "1", "x")],
            attributes={"label": str(value)},
            state={"y": ((3,), np.float64)},
        ),
        overwrite=overwrite,
    )
    file.write("x", np.full(4, value))
    return file


def values(path):
    with open_results(path) as data:
        return data.x.values.tolist()


OPENINGS = {
    "run": lambda path: create(path, 2),
    "run over it": lambda path: create(path, 2, overwrite=True),
    "resume": ResultFile.resume,
    "sweep": lambda path: StudyFile.create(path, layout()),
    "sweep over it": lambda path: StudyFile.create(path, layout(), overwrite=True),
    "resumed sweep": StudyFile.resume,
    "merge from it": StudyFile.read,
}


@pytest.mark.parametrize("second", OPENINGS)
@pytest.mark.parametrize("first", ["run", "resume", "sweep", "resumed sweep"])
def test_the_second_writer_is_refused_and_the_first_one_finishes(tmp_path, first, second):
    path = tmp_path / "out.h5"
    study = "sweep" in first
    if first.startswith("resume"):
        make(path, done=()) if study else create(path, 1).close()
    with OPENINGS[first](path) as file:
        with pytest.raises(OutputError, match=REFUSED):
            OPENINGS[second](path)
        if study:
            compute(file, [0, 1])
        else:
            file.write("x", np.full(4, 1))
            file.commit(4)
    assert inspect(path, check=True).damages == []
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out.h5"]


@pytest.mark.parametrize("second", ["run", "run over it", "sweep over it"])
def test_a_run_that_may_overwrite_and_finds_nothing_has_the_name_at_once(tmp_path, second):
    """Two runs with --overwrite and no file yet: the first one computed into a nameless file."""
    path = tmp_path / "out.h5"
    with create(path, 1, overwrite=True) as file:
        assert path.exists()
        with pytest.raises(OutputError, match=REFUSED):
            OPENINGS[second](path)
        file.commit(4)
    assert values(path) == [1] * 4


@pytest.mark.parametrize(
    "over", [create, lambda path, _, **how: StudyFile.create(path, layout(), **how)]
)
def test_a_file_that_was_replaced_before_it_was_locked_is_not_replaced_again(
    tmp_path, monkeypatch, over
):
    """Between opening and locking, another run may put its own file, which it is writing, there."""
    path, acquire, other = tmp_path / "out.h5", lock.acquire, []
    create(path, 1).close()

    def late(descriptor, **how):
        if (
            not other
            and os.fstat(descriptor).st_ino == path.stat().st_ino
            and how.get("exclusive", 1)
        ):
            other.append(None)
            path.unlink()
            other[0] = create(path, 3)
        return acquire(descriptor, **how)

    monkeypatch.setattr(lock, "acquire", late)
    with pytest.raises(OutputError, match=REFUSED):
        over(path, 2, overwrite=True)
    other[0].commit(4)
    other[0].close()
    assert values(path) == [3] * 4


def test_a_file_that_is_written_stays_whole_when_another_is_written_or_a_run_begins(tmp_path):
    """A run removed the unfinished file of an export of the same stem."""
    path = tmp_path / "out.csv"
    with files.written(path) as first:
        first.write_text("first " * 1000)
        with create(tmp_path / "out.h5") as run:
            run.commit(4)
        with files.written(path) as second:
            second.write_text("second")
        assert path.read_text() == "second"
    assert path.read_text() == "first " * 1000
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out.csv", "out.h5"]
