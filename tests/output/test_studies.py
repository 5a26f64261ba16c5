"""Is a study covered by checksums in all its parts, and does it survive a kill between any writes?

The studies here are written by hand: no run is computed.
"""

import os
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
import yaml

from societies import analysis, cli, sweep
from societies.errors import ConfigError, OutputError
from societies.output import Column, Coordinate, EventTable, Variable, inspect, open_results
from societies.output import disk as disk_module
from societies.output.disk import Disk, Extent
from societies.output.study import StudyFile
from societies.output.study_layout import DONE, PENDING, StudyLayout

OLD = Path(__file__).parents[1] / "data/files/study-layout-1.h5"
RUNS, DAYS = 6, 3
LINKS = EventTable(
    "links",
    (Column("run", "int64", "", "number of the run"), Column("units", "int32", "units", "units")),
    20,
)
SEEDS = np.array([2**63 + 1, 2**63 + 2, 7], np.uint64)
POINTS = [{"seed": int(one), "name": f"n{i}"} for i, one in enumerate(SEEDS)]


def layout(runs=range(RUNS), **attributes):
    """Return three points with two replicates, or some of these runs."""
    runs = np.array(runs)
    point, run = runs // 2 % len(POINTS), ("run",)
    names = np.array([one["name"] for one in POINTS])
    along = [
        Coordinate("point", point, "", "number of the point", run),
        Coordinate("replicate", runs % 2, "", "number of the replicate", run),
        Coordinate("seed", SEEDS[point], "", "seed of all random draws", run),
        Coordinate("name", names[point], "", "name", run),
    ]
    return StudyLayout(
        runs,
        along,
        {"day": Coordinate("day", np.arange(1, DAYS + 1), "day")},
        {
            "gini": Variable("gini", ("day",), np.float64, "1", "Gini coefficient"),
            "deals": Variable("deals", (), np.int64, "deals", "deals"),
            "picture": Variable("picture", ("day",), np.uint8, "1", "picture"),
        },
        POINTS,
        {"base": {"workload": "none"}, "vary": [{"points": POINTS}], "record": {}},
        {"title": "a study", "clock": "day", "copies": "copy", "replicates": 2, "sources": ""}
        | attributes,
        {"links": LINKS},
    )


def results(rows):
    """Return what the runs of some rows find, and their events."""
    rows = np.asarray(rows)
    values = {
        "gini": rows[:, None] + np.arange(DAYS) / 10,
        "deals": rows * 10,
        "picture": np.full((len(rows), DAYS), 200 + rows[:, None], np.uint8),
    }
    run = np.repeat(np.arange(len(rows)), 2)
    return values, {"links": {"run": run, "units": (rows[run] + 1).astype(np.int32)}}


def compute(file, rows):
    """Write some rows, as a sweep does."""
    values, events = results(rows)
    file.write(rows, values, 0.5, events)


def make(path, done=range(RUNS), failed=(), runs=range(RUNS), **attributes):
    with StudyFile.create(path, layout(runs, **attributes)) as file:
        if len(done):
            compute(file, list(done))
        if failed:
            file.fail(list(failed), "the device has lost its mind", 0.25)
    return path


def said(path):
    """Return all that readers see of a study."""
    found = {}
    with open_results(path) as data:
        found |= {str(name): repr(one.values.tolist()) for name, one in data.variables.items()}
        found["attributes"] = str(data.attrs)
    with open_results(path, events="links") as links:
        found |= {f"links {name}": repr(one.values.tolist()) for name, one in links.items()}
    return found


def places(path):
    """Return where the values of each dataset are: name, offset, bytes."""
    found = []

    def note(name, item):
        if isinstance(item, h5py.Dataset) and item.id.get_storage_size():
            found.append((name, item.id.get_offset(), item.id.get_storage_size()))

    with h5py.File(path) as file:
        file.visititems(note)
    return found


def flip(path, at, change=0x10):
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ change]))


def reported(path):
    """Raise AssertionError unless every reader says that a study is damaged."""
    try:
        assert inspect(path, check=True).damages
    except OutputError as error:
        assert "damaged: " in str(error)
    for use in (
        open_results,
        lambda path: open_results(path, events="links"),
        lambda path: analysis.export(path, "csv", path.parent / "tables", overwrite=True),
        lambda path: sweep.merge([path], path.with_name("merged.h5"), overwrite=True),
    ):
        with pytest.raises(OutputError, match="damaged: "):
            use(path)


def test_a_changed_byte_in_any_dataset_and_in_the_structure_is_reported(tmp_path):
    """Coordinates, points, status, error, places of events and attributes had no checksum."""
    whole = make(tmp_path / "whole.h5", done=[0, 1, 2, 3], failed=[4, 5])
    found = places(whole)
    names = {name for name, _, _ in found}
    assert {"study/points", "point", "replicate", "seed", "status", "error", "gini"} <= names
    path = tmp_path / "flipped.h5"
    for name, offset, nbytes in found:
        if name == "events/links/event":
            continue
        shutil.copy(whole, path)
        # Of the rows of the table and of their places the first is used.
        flip(path, offset if "links" in name or nbytes < 64 else offset + nbytes // 3)
        reported(path)
    for at in (0, 9, 100, 500, whole.stat().st_size - 1):
        shutil.copy(whole, path)
        flip(path, at)
        reported(path)
    content = whole.read_bytes()
    shutil.copy(whole, path)
    flip(path, content.index(b"a study"), 1)  # an attribute
    reported(path)
    shutil.copy(whole, path)
    with path.open("r+b") as file:
        file.truncate(len(content) - 7)
    reported(path)


@pytest.mark.sample
@pytest.mark.parametrize("status", [0, 4, -1])
def test_a_damaged_status_is_known_by_the_checksum(tmp_path, status):
    """0 -> 4 meant that a run was never computed, 1 -> 0 that it was computed again."""
    path = make(tmp_path / "s.h5")
    before = said(path)
    with h5py.File(path, "r+") as file:
        file["status"][3] = status
    if status == PENDING:  # as a kill between checksum and status leaves it
        assert said(path) == before and not inspect(path, check=True).damages
    else:
        reported(path)
    with StudyFile.resume(path) as file:
        assert file.status.tolist() == [DONE] * RUNS and not file.damaged
        assert file.mended == (status != PENDING)
    assert said(path) == before


def test_a_pending_run_that_is_called_done_is_not_read(tmp_path):
    path = make(tmp_path / "s.h5", done=[0, 1])
    with h5py.File(path, "r+") as file:
        file["status"][4] = DONE
    reported(path)
    with StudyFile.resume(path) as file:
        assert file.status.tolist() == [DONE, DONE, *[PENDING] * 4]


def test_a_resumed_study_computes_the_points_that_it_says(tmp_path):
    """One bit of an exponent in the list of points was computed under the old coordinate."""
    path = make(tmp_path / "s.h5", done=[0])
    at = path.read_bytes().index(b'"seed": 9223372036854775809') + len(b'"seed": 922')
    flip(path, at, 1)
    with pytest.raises(OutputError, match=r"damaged: list of the points, bytes \d+ to \d+"):
        StudyFile.resume(path)


class Killed(BaseException):
    pass


def raw(path):
    """Return the bytes of all datasets but those that say how long it took, and the seals."""
    found = {}

    def note(name, item):
        if isinstance(item, h5py.Dataset) and not name.startswith(("wall_time", "provenance")):
            found[name] = repr(item[()]) if item.dtype == object else item[()].tobytes()

    with h5py.File(path) as file:
        file.visititems(note)
    return {name: one for name, one in found.items() if name != "study/checksum"}


@pytest.mark.ci
def test_a_kill_before_any_write_leaves_a_study_that_continues(tmp_path, monkeypatch):
    """Also of a run that is computed again after it failed."""
    begun = make(tmp_path / "begun.h5", done=[0, 3], failed=[1])
    with StudyFile.create(tmp_path / "straight.h5", layout(), overwrite=True) as file:
        compute(file, [0, 3])
        compute(file, [1, 2])
    straight, original, path = raw(file.path), Disk.write, tmp_path / "killed.h5"
    for last in range(100):
        shutil.copy(begun, path)
        writes = iter(range(last))

        def write(disk, *given, writes=writes):
            if next(writes, None) is None:
                raise Killed
            original(disk, *given)

        with StudyFile.resume(path) as file:
            monkeypatch.setattr(Disk, "write", write)
            try:
                compute(file, [1, 2])
                came_through = True
            except Killed:
                came_through = False
            monkeypatch.setattr(Disk, "write", original)
        assert not inspect(path, check=True).damages, last
        with open_results(path) as data:
            pending, gini = data.status.values == "pending", data.gini.values
            assert np.isnan(gini[pending]).all() and np.isnan(data.wall_time[pending]).all()
            assert not data.error.values[pending].any()
            done = np.flatnonzero(data.status.values == "done")
            assert {0, 3} <= {*done} and (gini[done, 0] == done).all()
        with StudyFile.resume(path) as file:
            assert not file.damaged and not file.mended
            rows = [row for row in (1, 2) if file.status[row] != DONE]
            if rows:
                compute(file, rows)
        assert raw(path) == straight, last
        if came_through:
            break
    assert 10 <= last < 99


def test_a_run_that_is_half_written_is_missing_for_readers(tmp_path):
    path = make(tmp_path / "s.h5", done=[0, 1], failed=[2])
    with h5py.File(path, "r+") as file:
        file["gini"][4] = 9.0
        file["deals"][4] = 9
        file["picture"][4] = 9
        file["events/links/run"][15] = 0
        file["events/links/units"][15] = 99
    found = inspect(path, check=True)
    assert not found.damages
    half = dict(found.rows)["half written"]
    assert half == "run 4; events 'links', row 15: not counted, written again on resuming"
    with open_results(path) as data:
        assert np.isnan(data.gini.values[2:]).all()
        assert np.isnan(data.gini.isel(run=4, day=1)) and np.isnan(data.deals[4])
        assert data.picture.values[4].tolist() == [255] * DAYS
        assert data.gini.values[1, 0] == 1
    with open_results(path, events="links") as links:
        assert links.units.values.tolist() == [1, 1, 2, 2]
    StudyFile.resume(path).close()
    assert "half written" not in dict(inspect(path, check=True).rows)
    with xr.open_dataset(path) as plain:
        assert np.isnan(plain.gini.values[4]).all()
    with h5py.File(path) as file:
        assert (file["events/links/units"][...] > 0).sum() == 4


def test_a_study_is_read_while_a_sweep_writes_it(tmp_path):
    path = tmp_path / "s.h5"
    with StudyFile.create(path, layout()) as file:
        compute(file, [0, 1])
        with open_results(path) as data:
            assert data.status.values.tolist() == ["done"] * 2 + ["pending"] * 4
            compute(file, [2])  # the status was read before, so the results are not shown
            assert np.isnan(data.gini.values[2:]).all() and data.gini.values[1, 0] == 1
            assert np.isnan(data.gini.isel(run=2)).all() and np.isnan(data.wall_time[2])
        with pytest.raises(OutputError, match="a sweep is writing it"):
            sweep.merge([path], tmp_path / "m.h5")
        with pytest.raises(OutputError, match="open elsewhere in a run that writes it"):
            StudyFile.resume(path)
        assert dict(inspect(path, check=True).rows)["runs"] == "6: 3 pending, 3 done, 0 failed"


def test_a_part_with_a_damaged_run_is_not_merged_and_stays_as_it_is(tmp_path):
    parts = [
        make(tmp_path / f"{k}.h5", runs=[k, k + 2, k + 4], done=range(3), part=f"{k + 1}/2")
        for k in (0, 1)
    ]
    report = sweep.merge(parts, tmp_path / "whole.h5")
    assert (report.done, report.notes) == (6, ())
    merged = said(tmp_path / "whole.h5")
    assert merged["seed"] == repr(np.repeat(SEEDS, 2).tolist())
    with h5py.File(parts[1], "r+") as file:
        file["gini"][1, 1] += 1
    content = parts[1].read_bytes()
    with pytest.raises(OutputError, match=r"1\.h5: damaged: run 3, its results\.\n.*2 of 3 runs"):
        sweep.merge(parts, tmp_path / "other.h5")
    assert parts[1].read_bytes() == content and not (tmp_path / "other.h5").exists()


def test_of_many_damaged_runs_the_first_are_named(tmp_path, shell, monkeypatch):
    """Each run of a study had a line, of any number."""
    monkeypatch.setattr(cli, "MOST_DAMAGES", 2)
    path = make(tmp_path / "s.h5")
    with h5py.File(path, "r+") as file:
        file["gini"][...] += 1
    code, _, err = shell("info", str(path), "--check")
    first, second, more, good = err.splitlines()
    assert code == 4 and first.endswith("run 0, its results.") and "run 1" in second
    assert more == f"{path}: damaged: {RUNS - 2} more places." and good.startswith("Still good")


def test_a_part_that_is_named_twice_is_refused(tmp_path):
    """It said that the file was open elsewhere."""
    path = make(tmp_path / "p.h5")
    (tmp_path / "link.h5").symlink_to(path)
    for other in (path, tmp_path / "link.h5"):
        with pytest.raises(ConfigError, match="is named twice"):
            sweep.merge([path, other], tmp_path / "m.h5")
    content = path.read_bytes()
    with pytest.raises(ConfigError, match="is one of the parts"):
        sweep.merge([path], tmp_path / "link.h5", overwrite=True)
    assert path.read_bytes() == content


def test_a_study_that_grows_takes_over_no_damage(tmp_path):
    path = make(tmp_path / "s.h5", runs=range(4), done=[0, 1])
    with StudyFile.resume(path) as file:
        with h5py.File(path, "r+", locking=False) as other:
            other["gini"][1, 1] += 1
        with pytest.raises(OutputError, match="damaged: run 1"):
            file.grown(layout())


def test_a_study_of_layout_1_is_read_and_not_continued():
    found = inspect(OLD, check=True)
    rows = dict(found.rows)
    assert not found.damages and rows["runs"] == "8: 2 pending, 6 done, 0 failed"
    assert "the rest has no checksums" in rows["checksums"]
    with open_results(OLD) as data:
        assert (data.status == "done").sum() == 6
        assert np.isnan(data.gini.values[6:]).all() and np.isfinite(data.gini.values[:6]).all()
    with open_results(OLD, events="trade_network") as links:
        assert links.run.values.tolist() == [1, 1, 5, 5]
    for use in (StudyFile.resume, StudyFile.read):
        with pytest.raises(OutputError, match="layout 1, which can be read but not continued"):
            use(OLD)


def test_of_layout_1_what_has_a_checksum_is_compared(tmp_path):
    path = tmp_path / "old.h5"
    shutil.copy(OLD, path)
    with h5py.File(path, "r+") as file:
        file["gini"][5, 0] += 1
    assert [one.what for one in inspect(path, check=True).damages] == ["run 5"]
    with pytest.raises(OutputError, match="damaged: run 5"):
        open_results(path)


def shared(newer, older):
    """Return the keys of ``newer`` that ``older`` has, in all sections."""
    if not isinstance(older, dict):
        return newer
    return {key: shared(newer[key], value) for key, value in older.items()}


def test_info_names_varied_values_and_commit_and_the_sweep_makes_the_study_again(shell):
    code, out, _ = shell("info", str(OLD))
    assert code == 0
    for line in ("git commit         f22695d5", "varied             utility.exponent: 2, 3\n"):
        assert line in out
    code, out, _ = shell("info", str(OLD), "--config")
    assert code == 0
    again = sweep.load_sweep(yaml.safe_load(out))
    with h5py.File(OLD) as file:
        definition = yaml.safe_load(bytes(file["study/definition"][...]))
    base = again.definition["base"]  # keys that are newer than the file have their defaults
    assert shared(base, definition["base"]) == definition["base"]
    assert {**again.definition, "base": None} == {**definition, "base": None}
    assert again.config.replicates == 2


def test_info_names_the_label_of_the_base(shell, tmp_path):
    text = {
        "base": {"workload": "economy", "agents": 2, "resources": 2, "days": 1, "label": "my base"},
        "vary": {"grid": {"day_length": [500, 600]}},
    }
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(text))
    out = str(tmp_path / "s.h5")
    swept = shell("sweep", str(tmp_path / "s.yaml"), "--device", "reference", "--yes", "--out", out)
    assert swept[0] == 0, swept
    assert "\nlabel              my base\n" in shell("info", out)[1]


def test_lists_of_many_values_are_named_by_their_range(tmp_path):
    from societies.output.study_inspection import _values

    assert _values([1.5, 1, 2, 3, 4, 5, 6, 9]) == "1 to 9, 8 values"
    assert _values([2**64 - 1, 2**64 - 2]) == "18446744073709551615, 18446744073709551614"
    assert _values([f"x{i}" for i in range(9)]) == "x0, x1 and 7 more"


# -- many runs in few calls ------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [[0, 3, 6], [1, 2, 9, 10], [5], [0, 4000], [7, 2], []])
@pytest.mark.parametrize("each", [(), (3,), (5000,)])
def test_rows_apart_are_written_and_those_between_stay(tmp_path, rows, each):
    path, shape = tmp_path / "raw", (4001, *each)
    before = np.arange(np.prod(shape), dtype=np.int16).reshape(shape)
    path.write_bytes(before.tobytes())
    descriptor = os.open(path, os.O_RDWR)
    disk = Disk(descriptor, {"one": Extent(0, before.dtype, shape)})
    values = np.full((len(rows), *(length - 1 for length in each)), -9, np.int16)
    disk.write_rows("one", np.array(rows, np.intp), values)
    expected = before.copy()
    expected[(rows, *(slice(0, length - 1) for length in each))] = values
    assert np.array_equal(np.frombuffer(path.read_bytes(), np.int16).reshape(shape), expected)
    if rows:
        assert np.array_equal(disk.read_rows("one", np.array(rows)), expected[rows])
    os.close(descriptor)


def test_a_batch_of_runs_that_lie_apart_takes_few_calls(tmp_path, monkeypatch):
    """Replicate 0 of all points comes first, so the runs of a batch are never neighbours."""
    calls = []
    monkeypatch.setattr(disk_module, "_pwrite", counting(disk_module._pwrite, calls))
    monkeypatch.setattr(disk_module, "_pread", counting(disk_module._pread, calls))
    path, runs = tmp_path / "many.h5", range(600)
    with StudyFile.create(path, layout(runs)) as file:
        calls.clear()
        compute(file, list(runs)[::2])
        assert len(calls) < 120  # ten for each of 300 runs before
    with StudyFile.resume(path) as file:
        assert np.flatnonzero(file.status == DONE).tolist() == list(runs)[::2]
        assert not file.damaged


def counting(function, calls):
    def call(*given):
        calls.append(given)
        return function(*given)

    return call
