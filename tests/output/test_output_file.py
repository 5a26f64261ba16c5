"""The file: what is written is what xarray reads, and only raw data change after creation."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Event, current_thread

import h5py
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from societies import background
from societies.background import for_each
from societies.output import Coordinate, ResultFile, Variable, open_results
from societies.output.layout import declare

SOCIETIES, DAYS = 3, 20
COORDINATES = [
    Coordinate("society", np.arange(SOCIETIES), long_name="society"),
    Coordinate("day", np.arange(1, DAYS + 1), "day", "day"),
    Coordinate("agent_day", np.arange(5, DAYS + 1, 5), "day", "day of agent detail"),
    Coordinate("agent", np.arange(4)),
    Coordinate("quantile", np.array([0, 0.25, 0.5, 0.75, 1])),
    Coordinate("activity", np.array(["extraction", "overtime", "größe"])),
]
VARIABLES = [
    Variable("gini", ("society", "day"), np.float64, "", "Gini of the day's utility"),
    Variable("hhi", ("society", "day", "quantile"), np.float64, "", "concentration"),
    Variable("minutes", ("society", "day", "activity"), np.float32, "min", "time use"),
    Variable("deals", ("society", "day"), np.int32, "deals", "deals of the day"),
    Variable("held", ("society", "agent_day", "agent"), np.int64, "units", "units held", -7),
    Variable("made", ("society", "day"), np.uint16, "units", "devices made"),
]
ATTRIBUTES = {"config": "agents: 4\n" * 20_000, "seed": 2**64 - 1, "agents": 4, "scale": 0.1}
STATE = {
    "held": ((SOCIETIES, 4), np.int32),
    "experience": ((SOCIETIES, 4), np.float64),
    "alive": ((SOCIETIES, 4), bool),
    "counter": ((), np.uint64),
    "nothing": ((0, 4), np.float64),
}


def create(path, **changes):
    declared = {"coordinates": COORDINATES, "variables": VARIABLES, "state": STATE}
    return ResultFile.create(path, declare(**declared | {"attributes": ATTRIBUTES} | changes))


def state_of(day):
    random = np.random.default_rng(day)
    return {
        name: np.asarray(random.integers(0, 2, shape)).astype(dtype)
        for name, (shape, dtype) in STATE.items()
    }


def raw_data_removed(path):
    """Return all bytes of the file outside the raw data of series, state, counters, records."""
    content = bytearray(path.read_bytes())
    with h5py.File(path, "r") as file:

        def blank(name, item):
            if isinstance(item, h5py.Dataset) and item.size and not item.is_scale:
                start = item.id.get_offset()
                assert start is not None, f"{name} has no place in the file yet"
                content[start : start + item.nbytes] = bytes(item.nbytes)

        file.visititems(blank)
    return bytes(content)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.h5"


def test_plain_xarray_shows_dimensions_coordinates_units_and_attributes(path):
    create(path).close()
    with xr.open_dataset(path, mask_and_scale=False) as data:
        assert dict(data.sizes) == {c.name: len(c.values) for c in COORDINATES}
        assert set(data.data_vars) == {v.name for v in VARIABLES} | {"ticks_committed"}
        for variable in VARIABLES:
            assert data[variable.name].dims == variable.dims
            assert data[variable.name].dtype == variable.dtype
            missing = np.dtype(variable.dtype).kind in "iu"
            assert data[variable.name].attrs == {
                "units": variable.units or "1",
                "long_name": variable.long_name,
                **({"_FillValue": variable.fill} if missing else {}),
            }
        for coordinate in COORDINATES:
            assert_array_equal(data[coordinate.name].values, coordinate.values)
            assert data[coordinate.name].attrs["long_name"] == (
                coordinate.long_name or coordinate.name
            )
        assert data.attrs.items() >= ATTRIBUTES.items()
        assert (data.attrs["clock"], data.attrs["copies"], data.attrs["ticks"]) == (
            *("day", "society"),
            DAYS,
        )
        assert data.sel(activity="größe", day=3).minutes.shape == (SOCIETIES,)


def test_what_is_not_written_yet_is_missing_in_xarray(path):
    with create(path) as file:
        file.write("deals", np.full(SOCIETIES, 7, np.int32), day=0)
        file.commit(1)
    with xr.open_dataset(path) as data:
        for name in ("gini", "minutes", "deals", "held", "made"):
            assert np.isnan(data[name].isel({data[name].dims[1]: slice(1, None)})).all(), name
        assert data.deals.mean() == 7 and data.ticks_committed == 1
    with open_results(path) as data:
        assert data.deals.dtype == np.int32 and (data.deals == 7).all()
        assert "_FillValue" not in data.deals.attrs


def test_structures_never_change_after_creation(path):
    file = create(path)
    before, size = raw_data_removed(path), path.stat().st_size
    for day in range(1, DAYS + 1):
        for variable in VARIABLES:
            if "day" in variable.dims:
                shape = [len(file.coordinates[d].values) for d in variable.dims if d != "day"]
                file.write(variable.name, np.full(shape, day, variable.dtype), day=day - 1)
        file.commit(day)
        if day % 3 == 0:
            file.checkpoint(day, state_of(day))
            file.log_session(f"session {day}")
        if day % 7 == 0:
            file.close()
            file = ResultFile.resume(path)
            assert raw_data_removed(path) == before
    assert raw_data_removed(path) == before
    file.close()
    assert raw_data_removed(path) == before
    assert path.stat().st_size == size


def test_old_superblock_and_aligned_counters(path):
    with create(path):
        pass
    with h5py.File(path, "r") as file:
        assert file.id.get_create_plist().get_version()[0] == 0
        for name in ("ticks_committed", "checkpoint/0/tick", "checkpoint/1/tick"):
            assert file[name].id.get_offset() % 8 == 0


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_blocks_written_are_blocks_read(data):
    names = ["society", "day", "agent", "resource"][: data.draw(st.integers(1, 4))]
    shape = [data.draw(st.integers(1, 6)) for _ in names]
    dtype = data.draw(st.sampled_from(["f8", "f4", "i8", "i4", "i2", "u4"]))
    variable = Variable("series", tuple(names), dtype, "units", "a series")
    expected = np.full(shape, variable.fill, dtype)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.h5")
        coordinates = [Coordinate(n, np.arange(s)) for n, s in zip(names, shape, strict=True)]
        with create(path, coordinates=coordinates, variables=[variable]) as file:
            for block in range(data.draw(st.integers(0, 5))):
                index = {}
                for name, size in zip(names, shape, strict=True):
                    low = data.draw(st.integers(0, size - 1))
                    high = data.draw(st.integers(low, size))
                    choice = data.draw(st.sampled_from(["all", "one", "some"]))
                    if choice != "all":
                        index[name] = low if choice == "one" else slice(low, high)
                place = tuple(index.get(name, slice(None)) for name in names)
                values = np.random.default_rng(block).integers(0, 100, expected[place].shape)
                expected[place] = values.astype(dtype)
                file.write("series", values.astype(dtype), **index)
        with xr.open_dataset(path, mask_and_scale=False) as read:
            assert_array_equal(read.series.values, expected)
            assert read.series.dtype == np.dtype(dtype)


def test_values_that_do_not_fit_are_refused_and_change_nothing(path):
    with create(path) as file:
        before = path.read_bytes()
        day = np.zeros(SOCIETIES)
        for error, name, values, index in [
            (KeyError, "ginni", day, {"day": 0}),
            (KeyError, "gini", day, {"agent": 0}),
            (ValueError, "gini", day, {"day": DAYS}),
            (ValueError, "gini", day, {"day": -1}),
            (ValueError, "gini", day, {"day": slice(0, 2)}),
            (ValueError, "gini", np.zeros((3, 4)), {"day": slice(0, 8, 2)}),
            (ValueError, "gini", 0.0, {"day": 0}),
            (TypeError, "deals", day, {"day": 0}),
        ]:
            with pytest.raises(error):
                file.write(name, values, **index)
        with pytest.raises(ValueError, match="not committed"):
            file.checkpoint(1, state_of(1))
        with pytest.raises(ValueError, match="declared was"):
            file.checkpoint(0, {"held": np.zeros((SOCIETIES, 4))})
        assert path.read_bytes() == before


def test_the_counter_never_moves_back(path):
    with create(path) as file:
        file.commit(9)
        file.commit(4)
        assert file.ticks_committed == 9
    with ResultFile.resume(path) as file:
        assert file.ticks_committed == 9


def test_resume_gives_back_what_was_declared(path):
    create(path).close()
    with ResultFile.resume(path) as file:
        assert file.attributes == ATTRIBUTES
        assert file.variables["held"] == VARIABLES[4]
        assert file.variables["deals"] == VARIABLES[3]
        for coordinate in COORDINATES:
            assert_array_equal(file.coordinates[coordinate.name].values, coordinate.values)


def test_open_results_shows_committed_days_only(path):
    with create(path) as file:
        file.write("gini", np.ones((SOCIETIES, 13)), day=slice(0, 13))
        file.commit(12)
    with open_results(path) as data:
        assert data.sizes["day"] == 12 and data.day[-1] == 12
        assert_array_equal(data.agent_day, [5, 10])
        assert data.held.shape == (SOCIETIES, 2, 4)
        assert (data.gini == 1).all()


def test_open_results_in_the_process_that_writes(path):
    with create(path) as file:
        for day in (1, 2):
            file.write("gini", np.full(SOCIETIES, float(day)), day=day - 1)
            file.commit(day)
            with open_results(path) as data:
                assert_array_equal(data.gini[0], np.arange(1.0, day + 1))


def test_sessions_stay_in_order_and_never_outgrow_their_table(path):
    with create(path) as file:
        assert file.sessions == []
        file.log_session(json.dumps({"device": "größe"}))
        file.log_session("é" * 1024)
    with ResultFile.resume(path) as file:
        first, second = file.sessions
        assert json.loads(first) == {"device": "größe"}
        assert second.endswith("é…") and len(second.encode()) <= 1024
        for number in range(70):
            file.log_session(str(number))
        assert len(file.sessions) == 64
        assert file.sessions[:3] == [first, second, "0"] and file.sessions[-1] == "69"


@pytest.mark.ci
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_the_space_claimed_at_the_start_is_enough(data):
    """HDF5 must find room for all of its structures in what the system has set aside."""
    number = st.integers(0, 40)
    length = data.draw(st.integers(1, 300))
    names = st.text("abé", min_size=1, max_size=30)
    coordinates = [
        Coordinate("day", np.arange(length)),
        Coordinate("activity", np.array([f"{k}é" * (k % 9 + 1) for k in range(length)])),
    ]
    variables = [
        Variable(f"series_{k}", ("day", "activity")[: k % 3], "f4", "", "long name " * (k % 20))
        for k in range(data.draw(number))
    ]
    held = st.characters(codec="utf-8", exclude_characters="\0")  # a configuration refuses \0
    texts = st.text(held, max_size=5000)
    attributes = data.draw(st.dictionaries(names, texts | st.floats(), max_size=9))
    state = {f"array_{k}": ((k % 5, k), "i2") for k in range(data.draw(number))}
    declared = {"coordinates": coordinates, "variables": variables, "state": state}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.h5")
        create(path, **declared, attributes=attributes).close()
        layout = declare(coordinates, variables, attributes, state)
        assert path.stat().st_size <= layout.nbytes_on_disk <= 4 * path.stat().st_size + 100_000


def test_several_threads_write_large_blocks_to_the_same_file(tmp_path, monkeypatch):
    """Their values and checksums are those that one thread writes."""
    content = []
    values = {
        "gini": np.linspace(0, 1, SOCIETIES * 3).reshape(SOCIETIES, 3),
        "deals": np.arange(SOCIETIES * 3, dtype=np.int32).reshape(SOCIETIES, 3),
    }
    for number, least in enumerate((1 << 60, 0)):
        monkeypatch.setattr(background, "THREADED_BYTES", least)
        monkeypatch.setattr(background, "cores", lambda: 8)
        threads, put = set(), ResultFile._put

        def noted(self, piece, threads=threads, put=put):
            threads.add(current_thread().name)
            put(self, piece)

        with monkeypatch.context() as patch:
            patch.setattr(ResultFile, "_put", noted)
            with create(tmp_path / f"{number}.h5") as file:
                for name in values:
                    file.write(name, values[name], day=slice(0, 3))
                file.commit(3)
                parts = [(name, values[name], {"day": slice(3, 6)}) for name in values]
                file.write_each(parts * 50)
                file.commit(6)
        assert (len(threads) > 1) == bool(number)
        content.append((tmp_path / f"{number}.h5").read_bytes())
    assert content[0] == content[1]


def test_what_one_of_several_threads_raises_is_raised_when_all_have_ended():
    began, done = Event(), []

    def work(item):
        if item == 1:
            assert began.wait(60)
            raise OSError("no space")
        began.set()
        done.append(item)

    with pytest.raises(OSError, match="no space"):
        for_each(work, range(100), threads=3)
    assert sorted(done) == [0, *range(2, 100)]


def test_units_that_xarray_would_decode_as_time_are_refused():
    with pytest.raises(ValueError, match="'min'"):
        Variable("minutes", ("day",), "f8", "minutes", "time use")
    with pytest.raises(ValueError, match="dates"):
        Coordinate("day", np.arange(3), "days since 2000-01-01")


def test_declarations_that_contradict_each_other_are_refused(path):
    for changes in (
        {"variables": [Variable("a", ("nowhere",), "f8", "", "")]},
        {"variables": [Variable("day", ("day",), "f8", "", "")]},
        {"variables": [Variable("checkpoint", ("day",), "f8", "", "")]},
        {"state": {"name": ((3,), "U5")}},
    ):
        with pytest.raises(ValueError):
            create(path, **changes)
    assert list(path.parent.iterdir()) == []


def test_a_large_file_takes_little_memory_to_make(tmp_path):
    program = """
import resource, sys, numpy as np
from societies.output import Coordinate, ResultFile, Variable
from societies.output.layout import declare
def make(days):
    coordinates = [Coordinate("day", np.arange(days)), Coordinate("x", np.arange(1000))]
    variables = [Variable("a", ("day", "x"), "f8", "", "")]
    layout = declare(coordinates, variables, attributes={}, state={})
    file = ResultFile.create(sys.argv[1], layout, overwrite=True)
    file.commit(1)
    file.close()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(make(10), make(8000))
"""
    path = tmp_path / "large.h5"
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=True
    )
    before, after = map(int, done.stdout.split())
    assert path.stat().st_size >= 64_000_000
    assert (after - before) * 1024 < 16_000_000
