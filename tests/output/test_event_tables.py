"""Are events complete and in order, however many there are and whenever the writer is stopped?"""

import errno
import threading

import h5py
import numpy as np
import pytest
import xarray as xr
from datasets import datasets

from societies.errors import OutputError
from societies.output import (
    Column,
    Coordinate,
    EventTable,
    ResultFile,
    Variable,
    inspect,
    making,
    open_results,
    resultfile,
)
from societies.output.layout import declare

COLUMNS = (
    Column("society", "int32", "", "number of the society"),
    Column("day", "int32", "day", "day of the event"),
    Column("kind", "int32", "", "what happened", meanings=("good", "bad")),
    Column("amount", "float64", "util", "how much"),
    Column("parts", "int32", "index", "of what", dim="part"),
)
PART = Coordinate("part", np.arange(3))
STATE = {"x": ((3,), "int32")}


def made(path, rows=2, *, overwrite=False, **more):
    usual = {
        "coordinates": [Coordinate("day", np.arange(1, 41)), PART],
        "variables": [Variable("height", ("day",), "float64", "m", "height")],
        "attributes": {"title": "a test"},
        "state": STATE,
        "tables": [EventTable("happenings", COLUMNS, rows)],
    }
    return ResultFile.create(path, declare(**usual | more), overwrite=overwrite)


def rows(first, last):
    """Return day % 4 events for every day."""
    days = np.repeat(np.arange(first, last + 1), np.arange(first, last + 1) % 4)
    return {
        "society": np.zeros(len(days), np.int32),
        "day": days.astype(np.int32),
        "kind": (days % 2).astype(np.int32),
        "amount": days / 7.0,
        "parts": np.stack([days, days + 1, days + 2], axis=1).astype(np.int32),
    }


def write(file, first, last):
    file.write("height", np.arange(first, last + 1) / 2.0, day=slice(first - 1, last))
    file.append("happenings", rows(first, last))
    file.commit(last)


def same(found, last):
    for name, values in rows(1, last).items():
        np.testing.assert_array_equal(found[name].values, values)


@pytest.mark.parametrize("room", [1, 2, 60, 100])
def test_events_are_complete_and_in_order(tmp_path, room):
    path = tmp_path / "events.h5"
    with made(path, room) as file:
        for first in range(1, 41, 5):
            write(file, first, first + 4)
            file.checkpoint(first + 4, {"x": np.full(3, first, np.int32)})
    with open_results(path, events="happenings") as found:
        same(found, 40)
        assert found.sizes == {"event": 60, "part": 3}
    with open_results(path) as series:  # nothing around a longer table is lost
        np.testing.assert_array_equal(series.height, np.arange(1, 41) / 2.0)
        assert series.attrs["title"] == "a test"
    with ResultFile.resume(path) as file:
        day, state = file.latest_checkpoint()
        assert (day, state["x"].tolist()) == (40, [36] * 3)
    assert [one.name for one in tmp_path.iterdir()] == ["events.h5"]


def test_plain_xarray_and_pandas_read_them(tmp_path):
    path = tmp_path / "events.h5"
    with made(path, 100) as file:
        write(file, 1, 7)
    with xr.open_dataset(path, group="events/happenings") as plain:
        same(plain.where(plain.day > 0, drop=True), 7)
        assert plain.kind.attrs["flag_meanings"] == "good bad"
        assert plain.amount.attrs["units"] == "util"
        frame = plain.drop_dims("part").to_dataframe().query("day > 0")
        assert frame.groupby("day").size().to_dict() == {1: 1, 2: 2, 3: 3, 5: 1, 6: 2, 7: 3}
    with h5py.File(path) as file:
        assert file["events/happenings/parts"][0].tolist() == [1, 2, 3]
    with xr.open_dataset(path) as series:
        assert set(series.data_vars) == {"ticks_committed", "height"}


def test_what_is_not_committed_does_not_show(tmp_path):
    path = tmp_path / "events.h5"
    with made(path) as file:
        write(file, 1, 6)
        file.append("happenings", rows(7, 11))
        with open_results(path, events="happenings") as found:
            same(found, 6)


def test_a_resumed_writer_writes_later_events_again(tmp_path):
    path, whole = tmp_path / "events.h5", tmp_path / "whole.h5"
    with made(path) as file:
        write(file, 1, 10)
        file.append("happenings", rows(11, 19))  # and is killed
    with ResultFile.resume(path) as file:
        file.rewind(6)  # the day of its checkpoint
        write(file, 7, 23)
    with made(whole) as file:
        write(file, 1, 23)
    with h5py.File(path) as one, h5py.File(whole) as other:
        for name, column in other["events/happenings"].items():
            np.testing.assert_array_equal(one["events/happenings"][name], column)


def test_a_disk_without_room_for_more_keeps_the_file(tmp_path, monkeypatch):
    path = tmp_path / "events.h5"

    def full(*_):
        raise OSError(28, "No space left on device")

    with made(path) as file:
        write(file, 1, 2)
        monkeypatch.setattr("societies.output.making.claim", full)
        with pytest.raises(OutputError, match="disk is full"):
            file.append("happenings", rows(3, 11))
    with open_results(path, events="happenings") as found:
        same(found.isel(event=slice(0, 3)), 2)
    assert [one.name for one in tmp_path.iterdir()] == ["events.h5"]


@pytest.mark.parametrize("value", [0, -1, 7])
def test_an_unused_row_has_the_fill_value_of_its_columns(tmp_path, value):
    """In a column of several numbers -1 and 0 were taken for the fill value of any."""
    path = tmp_path / "events.h5"
    columns = (*COLUMNS, Column("made", "int32", "", "how many", dim="part", none=-1))
    with made(path, tables=[EventTable("happenings", columns, 4)]) as file:
        file.commit(40)
    assert not inspect(path, check=True).damages
    with h5py.File(path, "r+") as file:
        for name in ("parts", "made"):
            file[f"events/happenings/{name}"][2] = value
    assert [one.which for one in inspect(path, check=True).damages] == ["row 2"]


def test_a_link_to_a_file_stays_one(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    made(folder / "real.h5").close()
    link = tmp_path / "events.h5"
    link.symlink_to(folder / "real.h5")
    with ResultFile.resume(link) as file:
        write(file, 1, 20)
    assert link.is_symlink()
    with open_results(folder / "real.h5", events="happenings") as found:
        same(found, 20)
    with made(link, overwrite=True) as file:  # it replaced the link, even /dev/stdout
        write(file, 1, 10)
    assert link.is_symlink() and sorted(one.name for one in folder.iterdir()) == ["real.h5"]
    with open_results(folder / "real.h5", events="happenings") as found:
        same(found, 10)


def test_mistakes_are_named(tmp_path):
    path = tmp_path / "events.h5"
    with made(path) as file:
        with pytest.raises(ValueError, match="columns"):
            file.append("happenings", {"day": np.zeros(1)})
        with pytest.raises(ValueError, match="rows"):
            file.append("happenings", {**rows(1, 3), "day": np.zeros(1)})
        with pytest.raises(KeyError):
            file.append("nothing", {})
    with pytest.raises(OutputError, match=r"no 'trades'; it has tables of events: happenings"):
        open_results(path, events="trades")
    with pytest.raises(ValueError, match="needs a column 'day'"):
        made(tmp_path / "other.h5", tables=[EventTable("timeless", COLUMNS[:1], 4)])


@pytest.mark.parametrize("room", [1, 100], ids=["made longer", "with room"])
def test_tables_in_any_order_are_continued_as_they_were_begun(tmp_path, room):
    """HDF5 lists tables by name; the record of a commit counts their rows in the order declared."""
    tables = [EventTable(name, COLUMNS, room) for name in ("wares", "deals")]

    def write_days(file, days):
        for day in days:
            file.append("wares", rows(day, day))
            if day % 4 == 1:
                file.append("deals", rows(day, day))
            file.commit(day)

    with made(tmp_path / "straight.h5", tables=tables) as file:
        write_days(file, range(1, 41))
    with made(tmp_path / "resumed.h5", tables=tables) as file:
        write_days(file, range(1, 14))
    for days in (range(14, 20), range(20, 41)):
        with ResultFile.resume(tmp_path / "resumed.h5") as file:
            assert not file.damages
            write_days(file, days)
        found = inspect(tmp_path / "resumed.h5", check=True)
        assert found.damages == []
    counts = {name: dict(found.rows)[f"events '{name}'"] for name in ("wares", "deals")}
    assert counts == {"wares": "60", "deals": "10"}
    with h5py.File(tmp_path / "straight.h5") as one, h5py.File(tmp_path / "resumed.h5") as other:
        if room == 100:
            assert (one["checksums/commits"][()] == other["checksums/commits"][()]).all()


def ended(path, last=7, coordinates=(), **more):
    """Write a run that ended early, whose days are rows of a table alone; return the open file."""
    given = {"coordinates": [PART, *coordinates], "variables": [], "ticks": 10**9}
    file = made(path, 1024, **given | more)
    file.append("happenings", rows(1, last))
    file.commit(last - 1)
    file.checkpoint(last - 1, {"x": np.full(3, 8, np.int32)})
    file.end(last, "nothing is left")
    file.checkpoint(last, {"x": np.full(3, 9, np.int32)})
    return file


@pytest.mark.parametrize("last", [7, 40])
def test_a_run_that_ended_early_leaves_no_rows_unused(tmp_path, last):
    path = tmp_path / "events.h5"
    with ended(path, last) as file:
        file.shorten()
        before = path.read_bytes()
        file.shorten()
    assert path.read_bytes() == before
    with xr.open_dataset(path, group="events/happenings") as plain:
        assert plain.sizes["event"] == len(rows(1, last)["day"])
        same(plain, last)
    with xr.open_dataset(path) as plain:
        assert (plain.attrs["ticks"], int(plain.ticks_committed)) == (last, last)
    found = inspect(path, check=True)
    assert found.complete and found.damages == []
    assert dict(found.rows)["state"] == f"complete: ended at day {last}: nothing is left"
    with ResultFile.resume(path) as file:
        day, state = file.latest_checkpoint()
        assert (day, state["x"].tolist(), file.ended) == (last, [9] * 3, "nothing is left")
    assert [one.name for one in tmp_path.iterdir()] == ["events.h5"]


def test_a_file_is_not_closed_while_another_thread_shortens_it(tmp_path, monkeypatch):
    path, closing = tmp_path / "events.h5", []
    with ended(path) as file:

        def slow(*given):
            other = threading.Thread(target=file.close)
            other.start()
            other.join(0.2)
            closing.append(other.is_alive())
            return making.made(*given)

        with monkeypatch.context() as patch:
            patch.setattr(resultfile, "made", slow)
            file.shorten()
    assert closing == [True]
    assert inspect(path, check=True).damages == []
    with ResultFile.resume(path) as again:
        assert again.latest_checkpoint()[0] == 7


def test_a_table_without_rows_is_shortened_to_none(tmp_path):
    path = tmp_path / "events.h5"
    with made(
        path, 5, coordinates=[Coordinate("part", np.arange(3))], variables=[], ticks=9
    ) as one:
        one.end(0, "nothing to do")
        one.shorten()
    with open_results(path, events="happenings") as found:
        assert found.sizes["event"] == 0
    assert inspect(path, check=True).damages == []


def test_a_shortened_table_grows_when_its_run_is_written_again(tmp_path):
    """A run without checkpoints begins with its first day again."""
    path = tmp_path / "events.h5"
    with ended(path) as file:
        file.shorten()
    before = datasets(path)
    with ResultFile.resume(path) as file:
        file.rewind(0)
        for day in range(1, 8):
            file.append("happenings", rows(day, day))
            file.commit(day)
        file.shorten()
    assert datasets(path) == before


def test_what_ends_is_not_shortened_where_days_are_a_dimension_or_continue(tmp_path):
    days = Coordinate("day", np.arange(1, 41), "day")
    with ended(tmp_path / "days.h5", coordinates=[days], ticks=40) as file:
        file.shorten()
    path = tmp_path / "on.h5"
    with made(path, 100, coordinates=[PART], variables=[], ticks=99) as file:
        file.append("happenings", rows(1, 7))
        file.commit(7)
        file.shorten()
    for name, room in {"days": 1024, "on": 100}.items():
        with xr.open_dataset(tmp_path / f"{name}.h5", group="events/happenings") as plain:
            assert plain.sizes["event"] == room


def test_without_room_for_a_second_file_it_stays_as_long_as_it_is(tmp_path, monkeypatch):
    path = tmp_path / "events.h5"
    with ended(path) as file:
        before = path.read_bytes()

        def full(descriptor, nbytes):
            raise OSError(errno.ENOSPC, "no space")

        monkeypatch.setattr(making, "claim", full)
        file.shorten()
        assert path.read_bytes() == before
        monkeypatch.undo()
        file.shorten()
    with open_results(path, events="happenings") as found:
        same(found, 7)
    assert path.stat().st_size < len(before)
    assert [one.name for one in tmp_path.iterdir()] == ["events.h5"]
