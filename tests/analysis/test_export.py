"""`societies export`: the same numbers in every format, the right tables, nothing overwritten."""

import csv
import json

import h5py
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from pyarrow import parquet

import societies
from societies.analysis import exporting
from societies.analysis.exporting import export
from societies.errors import ConfigError, OutputError
from societies.output import Column, Coordinate, EventTable, ResultFile, Variable
from societies.output.layout import declare

pytestmark = pytest.mark.ci


@pytest.fixture
def file(tmp_path):
    """A file of 3 societies and 8 days, of which 6 are complete, with details every 2 days."""
    random = np.random.default_rng(3)
    path = tmp_path / "run.h5"
    with ResultFile.create(
        path,
        declare(
            coordinates=[
                Coordinate("society", np.arange(3)),
                Coordinate("day", np.arange(1, 9)),
                Coordinate("agent_day", np.arange(2, 9, 2)),
                Coordinate("agent", np.arange(4)),
                Coordinate("source", np.array(["hand", "a tool"])),
            ],
            variables=[
                Variable("gini", ("society", "day"), "f8", "1", "Gini coefficient"),
                Variable("utility", ("society", "day"), "f8", "util", "mean, of utilities"),
                Variable("share", ("society", "day", "source"), "f8", "1", "share"),
                Variable("agent_units", ("society", "agent_day", "agent"), "i4", "units", "units"),
            ],
            tables=[
                EventTable(
                    "inventions",
                    (
                        Column("inventor", "i4", "agent", "who"),
                        Column("day", "i4", "day", "when"),
                        Column("society", "i4", "society", "where"),
                        Column("kind", "i4", "1", "what", meanings=("tool", "machine")),
                        Column("recipe", "i4", "index", "of what", dim="source"),
                    ),
                    10,
                )
            ],
            attributes={"title": "für Müller", "configuration": "workload: economy"},
            state={},
        ),
    ) as result:
        days = slice(0, 6)
        gini = random.random((3, 6))
        gini[1, 2] = np.nan
        result.write("gini", gini, day=days)
        result.write("utility", random.random((3, 6)) * 1e5, day=days)
        result.write("share", random.random((3, 6, 2)), day=days)
        result.write("agent_units", random.integers(0, 99, (3, 3, 4)), agent_day=slice(0, 3))
        columns = {
            "inventor": [1, 2, 3],
            "day": [1, 3, 6],
            "society": [0, 2, 1],
            "kind": [0, 1, 0],
            "recipe": [[1, 2], [3, 4], [5, 6]],
        }
        result.append("inventions", {name: np.array(v, "i4") for name, v in columns.items()})
        result.commit(6)
    return path


def lines(path):
    with open(path, newline="", encoding="utf-8") as text:
        return list(csv.reader(text))


def test_a_table_has_a_row_for_each_combination_and_every_digit(file):
    (path,) = export(file, "csv", variables="gini,utility")
    assert path == file.with_name("run.csv")
    header, *rows = lines(path)
    assert header == ["society", "day", "gini", "utility"]
    results = societies.open_results(file)
    expected = [
        (
            s,
            d,
            results.gini.sel(society=s, day=d).item(),
            results.utility.sel(society=s, day=d).item(),
        )
        for s in range(3)
        for d in range(1, 7)
    ]
    found = [(int(s), int(d), float(g or "nan"), float(u)) for s, d, g, u in rows]
    np.testing.assert_array_equal(np.array(found), np.array(expected))
    assert rows[8][2] == ""  # missing


def test_variables_of_other_dimensions_have_tables_of_their_own(file, tmp_path):
    paths = export(file, "csv", tmp_path / "tables")
    assert sorted(path.name for path in paths) == [
        "run_events_inventions.csv",
        "run_society_agent_day_agent.csv",
        "run_society_day.csv",
        "run_society_day_source.csv",
        "run_variables.csv",
    ]
    header, *rows = lines(tmp_path / "tables/run_society_day_source.csv")
    assert header == ["society", "day", "source", "share"]
    assert len(rows) == 3 * 6 * 2
    assert rows[1][:3] == ["0", "1", "a tool"]
    assert lines(tmp_path / "tables/run_events_inventions.csv") == [
        ["society", "day", "inventor", "kind", "recipe_0", "recipe_1"],
        ["0", "1", "1", "tool", "1", "2"],
        ["2", "3", "2", "machine", "3", "4"],
        ["1", "6", "3", "tool", "5", "6"],
    ]
    about = lines(tmp_path / "tables/run_variables.csv")
    assert about[0] == ["variable", "table", "units", "meaning"]
    assert ["utility", "society_day", "util", "mean, of utilities"] in about
    assert ["inventor", "events_inventions", "agent", "who"] in about


def test_a_long_table_is_written_in_parts(file, monkeypatch):
    whole = export(file, "csv", variables=["share"])[0].read_bytes()
    monkeypatch.setattr("societies.analysis.exporting.ROWS_AT_ONCE", 5)
    assert export(file, "csv", variables=["share"], overwrite=True)[0].read_bytes() == whole
    (path,) = export(file, "parquet", variables=["share"])
    assert parquet.ParquetFile(path).num_row_groups == 3
    table = pd.read_csv(file.with_name("run.csv"), converters={"share": float})  # to the last bit
    assert pd.read_parquet(path).equals(table)


def test_netcdf_has_what_the_file_has(file):
    (path,) = export(file, "netcdf", ticks="2:5")
    with xr.open_dataset(path) as found, societies.open_results(file) as results:
        expected = results.sel(day=slice(2, 5), agent_day=slice(2, 5))
        xr.testing.assert_identical(
            found.drop_attrs(deep=False).load(), expected.drop_attrs(deep=False).load()
        )
        assert {**found.attrs} == {**results.attrs}
    with h5py.File(path) as plain:  # of fixed length: Octave reads no others
        for one in (plain["gini"], plain["events/inventions/day"]):
            assert isinstance(one.attrs["units"], np.bytes_)
    events = xr.open_dataset(path, group="events/inventions")
    assert events.day.values.tolist() == [3]
    assert events.recipe.values.tolist() == [[3, 4]]


@pytest.mark.parametrize(
    ("ticks", "days", "agent_days"),
    [
        ("2:5", [2, 3, 4, 5], [2, 4]),
        ("1:6:2", [1, 3, 5], []),
        (":3", [1, 2, 3], [2]),
        ("6,2", [2, 6], [2, 6]),
        (slice(4, None), [4, 5, 6], [4, 6]),
        ([5], [5], []),
        (3, [3], []),
    ],
)
def test_ticks_are_chosen_along_every_dimension_that_counts_them(file, ticks, days, agent_days):
    (path,) = export(file, "netcdf", ticks=ticks)
    with xr.open_dataset(path) as found:
        assert found.day.values.tolist() == days
        assert found.agent_day.values.tolist() == agent_days


def test_a_study_keeps_the_keys_that_it_varies(tmp_path):
    study = xr.Dataset(
        {"gini": (("run", "day"), np.arange(6.0).reshape(2, 3))},
        coords={"day": [1, 2, 3], "trading.rounds": ("run", [6, 12]), "version": "1"},
    )
    (path,) = export(study, "csv", tmp_path)
    assert lines(path)[0] == ["run", "day", "trading.rounds", "gini"]
    assert lines(path)[4] == ["1", "1", "12", "3.0"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"to": "cvs"}, r"to='cvs': not a format .* did you mean 'csv'"),
        ({"to": "csv", "variables": ["ginni"]}, r"no such variable; did you mean 'gini'"),
        ({"to": "csv", "ticks": "9:12"}, r"none of the days of the file, which are 1 to 6"),
        ({"to": "csv", "ticks": "1:2:0"}, r"expected a range such as"),
        ({"to": "csv", "ticks": "soon"}, r"expected a range such as"),
        ({"to": "csv", "out": "all.csv"}, r"these variables are 4 tables"),
        ({"to": "csv", "variables": []}, r"nothing to write"),
        ({"to": "csv", "frames": 3}, r"csv has no such option"),
    ],
)
def test_what_does_not_exist_is_refused(file, tmp_path, arguments, message):
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ConfigError, match=message):
        export(file, **arguments)
    assert sorted(tmp_path.rglob("*")) == before


def test_nothing_is_overwritten_unasked(file, tmp_path):
    (path,) = export(file, "csv", variables=["gini"])
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists already and was not touched"):
        export(file, "csv", variables=["gini"])
    assert path.read_text() == "mine"
    with pytest.raises(OutputError, match="is the result itself"):
        export(file, "netcdf", file, overwrite=True)
    assert societies.open_results(file).gini.shape == (3, 6)
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize(
    ("to", "out", "expected"),
    [
        ("csv", None, "run.csv"),
        ("csv", "new/a.CSV", "new/a.CSV"),
        ("csv", "new/a.txt", "new/a.txt/run.csv"),
        ("csv", "folder.csv", "folder.csv/run.csv"),  # a folder of this name
        ("netcdf", None, "run.nc"),
        ("netcdf", "folder", "folder/run.nc"),
        ("netcdf", "new/a.cdf", "new/a.cdf"),
        ("netcdf", "folder.csv", "folder.csv/run.nc"),
    ],
)
def test_a_file_is_where_it_is_said_to_be(file, tmp_path, to, out, expected):
    (tmp_path / "folder.csv").mkdir()
    where = None if out is None else tmp_path / out
    assert export(file, to, where, variables="gini") == [tmp_path / expected]
    assert (tmp_path / expected).is_file()
    with pytest.raises(OutputError, match="exists already"):
        export(file, to, where, variables="gini")
    if out is None:
        (tmp_path / expected).unlink()
        (tmp_path / expected).mkdir()
        with pytest.raises(OutputError, match=f"{expected}: is a folder"):
            export(file, to, where, variables="gini", overwrite=True)


def test_a_dataset_without_a_file_goes_to_the_current_folder(file, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with societies.open_results(file) as results:
        assert [path.name for path in export(results, "csv", variables="gini")] == ["run.csv"]
        (path,) = export(results.load().drop_encoding(), "csv", variables="gini")
        assert (path.name, path.is_file()) == ("results.csv", True)
        with pytest.raises(ConfigError, match="variables='inventions': the file has no such"):
            export(results, "csv", variables="inventions")


def test_a_list_of_events_can_be_written_alone(file, tmp_path):
    (path,) = export(file, "netcdf", tmp_path / "events.nc", variables="inventions")
    with xr.open_dataset(path) as found:
        assert not found.data_vars
    assert xr.open_dataset(path, group="events/inventions").day.values.tolist() == [1, 3, 6]
    (path,) = export(file, "netcdf", tmp_path / "share.nc", variables="share")
    with h5py.File(path) as plain:  # texts as characters, which every program reads
        assert plain["source"].dtype == "S1" and plain["day"].dtype.kind == "i"
        assert plain["share"].dtype == "f8" and "gini" not in plain
    (path,) = export(file, "csv", tmp_path, variables="inventions", ticks="3:6")
    assert [row[1] for row in lines(path)] == ["day", "3", "6"]
    (path,) = export(file, "csv", tmp_path / "a.csv", variables=["gini", "gini"], ticks=[2])
    assert [row[:2] for row in lines(path)] == [["society", "day"], *([s, "2"] for s in "012")]


def test_what_cannot_be_written_whole_leaves_nothing(file, tmp_path, monkeypatch):
    monkeypatch.setattr(pd.DataFrame, "to_csv", lambda *_, **__: 1 / 0)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ZeroDivisionError):
        export(file, "csv", variables="gini")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("at_once", [1, 4, 5, 6, 7, 1000])
def test_parts_of_a_table_are_the_whole(monkeypatch, at_once):
    """Of three copies of six rows each, at least one at a time; a table may have no rows."""
    monkeypatch.setattr(exporting, "ROWS_AT_ONCE", at_once)
    dims = ("society", "day", "kind")
    data = xr.Dataset(
        {"x": (dims, np.arange(18.0).reshape(3, 2, 3)), "y": (dims, np.ones((3, 2, 3)))},
        {"society": [4, 5, 6], "day": [1, 2], "key": ("society", ["u", "v", "w"]), "one": 1},
    )
    parts = list(exporting.export_rows(data, dims))
    assert [len(part) for part in parts] == {7: [6] * 3, 1000: [18]}.get(at_once, [6] * 3)
    whole = pd.concat(parts)
    assert list(whole) == ["society", "day", "kind", "key", "x", "y"]
    assert whole.x.tolist() == list(range(18)) and whole.key.tolist() == list("uuuuuuvvvvvvwwwwww")
    (nothing,) = exporting.export_rows(data.isel(society=slice(0)), dims)
    assert len(nothing) == 0 and list(nothing) == list(whole)
    assert len(list(exporting.export_rows(data.isel(day=slice(0)), dims))) >= 1


def test_a_format_of_a_workload_is_an_option_of_the_command(file, shell, monkeypatch, tmp_path):
    def write(results, path, *, digits: int = 2, units: bool = False):
        """Write the last day.

        Parameters
        ----------
        digits : int
            Digits of a number.
        units : bool
            Write the unit as well.
        """
        last = results.utility.isel(day=-1).values.round(digits).tolist()
        path.write_text(json.dumps([results.day.values.tolist(), last, units]))

    from societies.economy import WORKLOAD

    results = societies.open_results(file)
    monkeypatch.setattr(type(WORKLOAD), "export", {"text": write})
    assert export(results, "text", tmp_path / "direct") == [tmp_path / "direct"]
    asked = ("export", str(file), "--to", "text", "--days", "2:3", "--digits", "1", "--units")
    code, out, err = shell(*asked)
    assert (code, out, err) == (0, f"{file.with_name('run.text')}\n", "")
    days, last, units = json.loads(file.with_name("run.text").read_text())
    assert (days, units) == ([2, 3], True)
    assert last == results.utility.sel(day=3).values.round(1).tolist()
    assert "Digits of a number." in shell("export", str(file), "--to", "text", "--help")[1]
    code, _, err = shell("export", str(file), "--to", "text", "--variables", "gini")
    assert (code, err) == (2, "--variables: a file of text has variables of its own\n")
    assert shell("export", str(file), "--to", "csv", "--digits", "1")[0] == 2


def test_the_command_says_what_it_wrote(file, shell):
    code, out, _ = shell("export", str(file), "--to", "csv", "--variables", "share", "--days", "1")
    assert (code, out) == (0, f"{file.with_name('run.csv')}\n")
    assert len(lines(file.with_name("run.csv"))) == 1 + 3 * 2
    code, _, err = shell("export", str(file), "--to", "csv", "--variables", "share")
    assert code == 4
    assert "--overwrite" in err
