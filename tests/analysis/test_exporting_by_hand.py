"""Which files does an export write, and which rows do they have? Datasets of a few numbers."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from societies.analysis import exporting
from societies.analysis.exporting import (
    _as_netcdf,
    _encoding,
    codebook,
    event_rows,
    export,
    export_rows,
    with_event_ticks,
)
from societies.errors import ConfigError, OutputError


def result(days=3, agents=2):
    values = np.arange(days * agents, dtype=float).reshape(days, agents)
    return xr.Dataset(
        {
            "x": (("day", "agent"), values, {"units": "units", "long_name": "what is held"}),
            "y": ("day", np.arange(days)),
            "one": 5.0,
            "word": ("agent", np.array(["a", "é"][:agents], object)),
        },
        {"day": np.arange(1, days + 1), "agent": np.arange(agents)},
        {"clock": "day", "copies": "society"},
    )


def test_a_format_of_a_workload_writes_its_own_file(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    seen = []

    def write(data, path, **options):
        seen.append((sorted(data.data_vars), data.day.values.tolist(), options))
        path.write_text("own")

    monkeypatch.setattr(exporting, "formats_of", lambda workload: {"own": write})
    folder = tmp_path / "folder"
    folder.mkdir()
    for out, path in ((None, Path("results.own")), ("a.txt", Path("a.txt")), (folder, None)):
        (found,) = export(result(), "own", out, ticks="2:3", scale=2)
        assert found == (path or folder / "results.own") and found.read_text() == "own"
    assert seen == [(["one", "word", "x", "y"], [2, 3], {"scale": 2})] * 3
    with pytest.raises(ConfigError, match="variables: a file of own has variables of its own"):
        export(result(), "own", "b.txt", variables="x")
    with pytest.raises(ConfigError, match="scale: csv has no such option"):
        export(result(), "csv", "b.csv", variables="x", scale=2)
    with pytest.raises(ConfigError, match="choose one of csv, parquet, netcdf, own"):
        export(result(), "xls")
    with pytest.raises(OutputError, match="exists already and was not touched"):
        export(result(), "own", "a.txt")
    export(result(), "own", "a.txt", overwrite=True)
    os.mkfifo(folder / "results.csv")
    with pytest.raises(OutputError, match=r"results\.csv: is .*, not a file\. Choose another"):
        export(result(), "csv", folder, variables="y")


def test_rows_are_written_a_part_at_a_time(monkeypatch):
    monkeypatch.setattr(exporting, "ROWS_AT_ONCE", 4)
    data = result(days=6)
    parts = [*export_rows(data[["x"]], ("day", "agent"))]
    assert [len(one) for one in parts] == [4, 4, 4]
    assert [len(one) for one in export_rows(data[["y"]], ("day",))] == [4, 2]
    whole = pd.concat(parts)
    assert whole.x.tolist() == list(range(12)) and whole.agent.tolist() == [0, 1] * 6
    empty = result(days=2, agents=0)[["x"]]
    assert [len(one) for one in export_rows(empty, ("day", "agent"))] == [0]
    wide = xr.Dataset({"x": (("day", "agent"), np.zeros((2, 9)))})
    assert [len(one) for one in export_rows(wide, ("day", "agent"))] == [9, 9]


def test_whole_numbers_with_missing_ones_stay_whole():
    data = result()
    data.y.encoding["dtype"] = np.dtype("int16")  # read as it was written: nothing is missing
    data["z"] = "day", [1.0, np.nan, 3.0]
    data["f"] = "day", [1.0, np.nan, 3.0]
    data.z.encoding["dtype"] = np.dtype("int32")
    (frame,) = export_rows(data[["y", "z", "f"]], ("day",))
    assert [str(one) for one in frame.dtypes] == ["int64", "int64", "Int64", "float64"]
    assert frame.z.tolist()[::2] == [1, 3] and frame.z.isna().tolist() == [False, True, False]


def test_nothing_is_written_if_one_of_the_files_exists(tmp_path):
    existing, seen = tmp_path / "b", []
    existing.write_text("of another")
    writers = {path: lambda target: seen.append(target) for path in (tmp_path / "a", existing)}
    with pytest.raises(OutputError, match="exists"):
        exporting._written(writers, None, overwrite=False)
    assert seen == [] and existing.read_text() == "of another"


def test_events_are_rows_with_run_copy_and_tick_first():
    events = xr.Dataset(
        {
            "kind": ("event", [1, 0, 1], {"flag_meanings": "tool factory"}),
            "day": ("event", [1, 1, 2]),
            "recipe": (("part", "event"), [[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]]),
            "share": (("event", "part"), [[0.5, 1.0]] * 3),
            "society": ("event", [7, 8, 9]),
        }
    )
    events.recipe.encoding["dtype"] = np.dtype("int8")
    frame = event_rows(events, ("run", "society", "day"))
    assert frame.columns.tolist() == [
        *("society", "day", "kind", "recipe_0", "recipe_1", "share_0", "share_1"),
    ]
    assert frame.kind.tolist() == ["factory", "tool", "factory"]
    assert [str(frame[one].dtype) for one in ("recipe_1", "share_0")] == ["Int64", "float64"]
    assert frame.recipe_1.tolist() == [4, 5, 6] and frame.recipe_0.isna().tolist()[1]
    assert with_event_ticks(events, result(), None) is events
    assert with_event_ticks(events, result().sel(day=[2, 3]), "2:3").society.values.tolist() == [9]


def test_a_codebook_has_every_variable_of_a_table():
    events = xr.Dataset({"kind": ("event", [1], {"units": "1", "long_name": "what"})})
    found = codebook(result(), {"sales": events})
    assert found.values.tolist() == [
        ["x", "day_agent", "units", "what is held"],
        ["y", "day", "", ""],
        ["word", "agent", "", ""],
        ["kind", "events_sales", "1", "what"],
    ]
    assert found.columns.tolist() == ["variable", "table", "units", "meaning"]


def test_parquet_has_all_parts_and_no_index(monkeypatch, tmp_path):
    monkeypatch.setattr(exporting, "ROWS_AT_ONCE", 2)
    (path,) = export(result(), "parquet", tmp_path / "x.parquet", variables="x")
    frame = pd.read_parquet(path)
    assert frame.columns.tolist() == ["day", "agent", "x"]
    assert frame.x.tolist() == list(range(6)) and frame.day.tolist() == [1, 1, 2, 2, 3, 3]


def test_a_netcdf_file_is_one_file_that_other_programs_read(tmp_path):
    data = result()
    data.x.encoding = {"zlib": True, "dtype": np.dtype("float32")}
    assert _as_netcdf(data[[]], {}, "n", tmp_path, False) == {}
    dotted = tmp_path / "results.d"  # a folder that does not exist yet
    assert [*_as_netcdf(data, {}, "n", dotted, False)] == [dotted / "n.nc"]
    assert [*_as_netcdf(data, {}, "n", dotted, True)] == [dotted]
    assert [*_as_netcdf(data, {}, "n", tmp_path / "plain", True)] == [tmp_path / "plain" / "n.nc"]
    assert _encoding(data) == {"word": {"dtype": "S1"}}
    (path,) = export(data, "netcdf", tmp_path / "all.nc")
    with xr.open_dataset(path, engine="h5netcdf") as found:
        assert found.x.dtype == np.float64 and found.word.values.tolist() == ["a", "é"]
        assert found.y.values.tolist() == [0, 1, 2] and float(found.one) == 5
    with pytest.raises(ConfigError, match="names nothing, so there is nothing to write"):
        export(data, "netcdf", tmp_path / "none.nc", variables=[])
