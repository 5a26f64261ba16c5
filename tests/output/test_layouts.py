"""Files of all layouts ever written can be read; those with seals (2 and 3) are written on."""

from pathlib import Path

import numpy as np
import pytest

import societies
from societies.errors import OutputError
from societies.output import ResultFile, inspect
from societies.output.study import StudyFile
from societies.workload.running.registry import load_config

FILES = Path(__file__).resolve().parents[1] / "data" / "files"
CONFIG = [
    *("days=12", "agents=3", "resources=8", "seed=3"),
    *("record.agent=5", "record.checkpoint=5"),
]
OLD, SECOND, PRESENT = (FILES / f"layout-{number}.h5" for number in (1, 2, 3))
SEALED = pytest.mark.parametrize("number", [pytest.param(2, marks=pytest.mark.ci), 3])
TABLES = FILES / "layout-2-tables.h5"

OTHER_COMMIT = pytest.mark.filterwarnings(
    "ignore:.*(does not say by which rules it was made|of the model changed since it was made)"
    ":societies.errors.OriginWarning"
)
"""Stored files are of other commits, and from the time before files held hashes of sources."""


@pytest.mark.ci
def test_layout_1_is_read_and_plotted(tmp_path):
    with societies.open_results(OLD) as data:
        assert data.sizes["day"] == 12 and data.attrs["societies_layout"] == 1
        assert data.agent_units_held.dtype == np.int32
        assert data.units_extracted.isel(day=-1).item() == pytest.approx(110.6667, abs=1e-4)
    with societies.open_results(OLD, events="inventions") as events:
        assert events.sizes["event"] == 1 and (events.day >= 1).all()
    from societies.analysis import plot_overview

    pictures = plot_overview(OLD, tmp_path)
    assert pictures and all(path.stat().st_size > 10_000 for path in pictures)


def test_layout_1_is_not_continued(tmp_path):
    config = load_config("economy/tools", CONFIG)
    path = tmp_path / "run.h5"
    path.write_bytes(OLD.read_bytes())
    for call in (
        lambda: societies.run(config, device="reference", out=path, resume=True),
        lambda: societies.verify(config, device="reference", start=path, days=1),
    ):
        with pytest.raises(OutputError, match="file layout 1, which can be read but not continued"):
            call()
    assert path.read_bytes() == OLD.read_bytes()


def test_the_present_layout_says_the_same(tmp_path):
    path = tmp_path / "run.h5"
    societies.run(load_config("economy/tools", CONFIG), device="reference", out=path)
    with societies.open_results(OLD) as old, societies.open_results(path) as new:
        assert new.attrs["societies_layout"] == 3
        names = set(old.data_vars) - {"days_committed"}
        assert names == set(new.data_vars) - {"ticks_committed"}
        for name in names:
            assert old[name].values.tobytes() == new[name].values.tobytes(), name


@SEALED
@OTHER_COMMIT
def test_a_stored_file_with_a_seal_stays_whole_and_is_continued(tmp_path, number):
    """Files written today must be good for ever: these do not change with the code."""
    path, stored = tmp_path / "run.h5", FILES / f"layout-{number}.h5"
    path.write_bytes(stored.read_bytes())
    found = inspect(path, check=True)
    assert found.complete and found.damages == []
    assert found.rows[0][1].endswith(f"layout {number}")
    config = load_config("economy/tools", CONFIG)
    report = societies.run(config, device="reference", out=path, resume=True)
    assert report.first_day > report.days  # nothing was left to do
    assert report.state_sha256.startswith("2dd2261417fcc280")
    assert path.read_bytes() == stored.read_bytes()


@SEALED
@OTHER_COMMIT
def test_a_stored_file_that_is_unfinished_continues_where_it_was(tmp_path, number):
    path = tmp_path / "run.h5"
    path.write_bytes((FILES / f"layout-{number}-unfinished.h5").read_bytes())
    assert not inspect(path, check=True).complete
    config = load_config("economy/tools", CONFIG)
    report = societies.run(config, device="reference", out=path, resume=True)
    assert (report.first_day, report.days) == (11, 12)
    assert report.state_sha256.startswith("2dd2261417fcc280")
    assert inspect(path, check=True).damages == []
    with societies.open_results(path) as found, societies.open_results(PRESENT) as whole:
        for name in whole.data_vars:
            assert found[name].values.tobytes() == whole[name].values.tobytes(), name


@pytest.mark.ci
@OTHER_COMMIT
def test_a_file_whose_partners_are_tables_is_read_and_not_continued(tmp_path):
    path = tmp_path / "run.h5"
    path.write_bytes(TABLES.read_bytes())
    assert inspect(path, check=True).complete
    with societies.open_results(path) as tables, societies.open_results(SECOND) as lists:
        assert set(tables.data_vars) == set(lists.data_vars)
        for name in tables.data_vars:
            assert tables[name].values.tobytes() == lists[name].values.tobytes(), name
    config, longer = (load_config("economy/tools", [*CONFIG, f"days={days}"]) for days in (12, 13))
    for call in (
        lambda: societies.run(config, device="reference", out=path, resume=True),
        lambda: societies.verify(longer, device="reference", start=path, days=1),
    ):
        missing = "'remembered_partner' is missing\nan older file can be read and plotted, not"
        with pytest.raises(OutputError, match=missing):
            call()
    assert path.read_bytes() == TABLES.read_bytes()


@pytest.mark.parametrize("number", [2, 3])
def test_a_stored_study_with_a_seal_is_read_and_grows(tmp_path, number):
    """It is made again when a table is full or points are added, then in the present layout."""
    path = tmp_path / "study.h5"
    path.write_bytes((FILES / f"study-layout-{number}.h5").read_bytes())
    assert inspect(path, check=True).damages == []
    with societies.open_results(path) as data:
        before = data.load()
    with StudyFile.resume(path) as file:
        assert not file.damaged and not file.mended
        assert file.status.tolist() == [1] * 6 + [0] * 2
        file.fail([6], "the device has lost its mind", 0.5)
    assert inspect(path, check=True).damages == []
    with StudyFile.resume(path) as file:
        file.grown(file.layout).close()
    found = inspect(path, check=True)
    assert found.damages == [] and found.rows[0][1].endswith("layout 3")
    with societies.open_results(path) as data:
        assert data.status.values.tolist() == ["done"] * 6 + ["failed", "pending"]
        for name in before.data_vars:
            assert data[name].values.tobytes() == before[name].values.tobytes(), name


def test_a_file_of_layout_2_that_is_made_again_stays_one(tmp_path):
    """Its checksums and checkpoints are copied, so they still do not depend on the position."""
    path = tmp_path / "run.h5"
    path.write_bytes((FILES / "layout-2-unfinished.h5").read_bytes())
    with ResultFile.resume(path) as file:
        table = next(iter(file._layout.tables.values()))
        count = table.rows + 1
        columns = {
            one.name: np.full((count, *table.shape(one, file._layout.lengths)[1:]), 11, one.dtype)
            for one in table.columns
        }
        file.append(table.name, columns)
    found = inspect(path, check=True)
    assert found.damages == [] and found.rows[0][1].endswith("layout 2")
