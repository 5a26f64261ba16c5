"""Is what stands for no value missing for every reader: no move, no component, not ended?"""

import h5py
import numpy as np
import pandas as pd
import pytest
import small
import xarray as xr

import societies
from societies import analysis
from societies.output import (
    Column,
    Coordinate,
    EventTable,
    ResultFile,
    Variable,
    open_results,
)
from societies.output.layout import declare
from societies.output.reading import event_tables
from societies.workload.declare.protocol import Setup
from societies.workload.running.contents import contents_of

CODED = {
    "chess_perft": {"root_moves"},
    "connect6_match": {"moves"},
    "economy": {
        *("recipe", "inventor", "invented_on", "inventions/recipe"),
        *("device_trades/paid_resource", "device_trades/paid_units"),
    },
    "havannah": {"moves"},
    "havannah_match": {"moves"},
    "kalah": {"pit"},
    "kalah_match": {"moves"},
    "kalah_solve": {"margin"},
    "laplace": {"ended"},
    "tictactoe": {"ended"},
}
"""Variables, and columns of tables, in which a number stands for no value."""
TWO_OF_THREE = {"resources_in_tool": 2, "components": 3}
"""A tool has two components, and its recipe three places."""
MORE = {
    "economy": {"days": 10, "record": {"trade_log": {"days": [10]}}, "shocks": []},
    "kalah_solve": {"stones": 5, "pits": [2]},
}


DEFAULT = ("connect6_match", "economy", "kalah")
"""Which of them the tests compute by default."""


@pytest.fixture(
    scope="module",
    params=[
        one if one in DEFAULT else pytest.param(one, marks=pytest.mark.ci) for one in sorted(CODED)
    ],
)
def recorded(request, tmp_path_factory):
    """Return the file of a small run and the name of its workload."""
    path = tmp_path_factory.mktemp("missing") / "run.h5"
    config = small.small(request.param, **MORE.get(request.param, {}))
    societies.run(config, out=path, device="reference")
    return path, request.param


def parts(path):
    """Yield the name of each part of a file with what plain xarray and we read of it."""
    for table in (None, *event_tables(path)):
        group = f"events/{table}" if table else None
        with xr.open_dataset(path, group=group) as plain, open_results(path, table) as ours:
            yield f"{table}/" if table else "", group or "/", plain, ours


def test_codes_are_declared_and_missing_for_plain_xarray_and_for_us(recorded):
    path, workload = recorded
    found, some = set(), 0
    with h5py.File(path) as file:
        for prefix, group, plain, ours in parts(path):
            for name in ours.data_vars:
                dataset = file[group][name]
                none = dataset.attrs.get("missing_value")
                if none is None:
                    continue
                found.add(f"{prefix}{name}")
                assert dataset.attrs["_FillValue"] == none == dataset.fillvalue
                raw = dataset[tuple(slice(0, n) for n in ours[name].shape)]
                here = plain[name].isel({dim: slice(0, n) for dim, n in ours.sizes.items()
                                         if dim in plain[name].dims})  # fmt: skip
                expected = np.where(raw == none, np.nan, raw)
                np.testing.assert_array_equal(ours[name], expected)
                np.testing.assert_array_equal(here, expected)
                some += int((raw == none).sum())
    assert found == CODED[workload]
    # The others of these small runs have an end, a best move and a margin.
    assert some or workload in ("kalah", "kalah_solve", "laplace", "tictactoe")


@pytest.mark.ci
def test_no_other_variable_says_that_a_number_means_nothing():
    """Every meaning that mentions such a number belongs to a variable that declares it."""
    seen = 0
    for name in small.names():
        for form in small.forms(name):
            config = small.small(name, **form)
            contents = contents_of(Setup(small.workload(name), config))
            columns = [one for table in contents.tables() for one in table.columns]
            for one in [*contents.variables(), *columns]:
                words = one.long_name
                if any(
                    said in words
                    for said in ("-1", "none", "no more", ": not ", "behind", ", or 0")
                ):
                    seen += 1
                    floating = np.dtype(one.dtype).kind == "f"
                    assert floating or one.none is not None or "1, or 0" in words, (name, one.name)
    assert seen > 20


def test_the_rows_behind_the_last_move_count_in_no_mean(tmp_path):
    path = tmp_path / "perft.h5"
    societies.run(small.small("chess_perft"), out=path, device="reference")
    with xr.open_dataset(path) as run:
        assert run.divided.notnull().sum() == run.root_moves.notnull().sum() < run.divided.size
        assert (run.divided.sum("move") == run.nodes[:, -1]).all()
        mean = run.divided.mean("move").values
        assert mean[0] == run.nodes[0, -1] and np.isnan(mean[1])  # one move, and a stalemate


@pytest.mark.ci
def test_exports_have_whole_numbers_and_empty_cells(tmp_path):
    path = tmp_path / "match.h5"
    societies.run(small.small("connect6_match"), out=path, device="reference")
    (table,) = analysis.export(path, "csv", tmp_path, variables="moves")
    text = pd.read_csv(table, dtype=str, keep_default_na=False).moves
    with open_results(path) as run:
        made = int(run.moves_made.sum())
    assert 0 < made < len(text) and (text != "").sum() == made
    assert text[text != ""].str.isdecimal().all()


def test_what_a_run_has_not_written_yet_is_missing(tmp_path):
    """Also whole numbers that are written once, at the end; afterwards they are whole."""
    path, every = tmp_path / "run.h5", np.arange(1, 5)
    values = [
        Variable("nodes", ("kind",), "int64", "", "nodes"),
        Variable("moves", ("step", "kind"), "int16", "", "moves, -1: none", none=-1),
    ]
    table = EventTable(
        "steps",
        (
            Column("step", "int32", "", "step"),
            Column("parts", "int32", "index", "parts; -1: none", "kind", none=-1),
        ),
        8,
    )
    along = [Coordinate("step", every), Coordinate("kind", np.arange(3))]
    with ResultFile.create(
        path,
        declare(
            coordinates=along,
            variables=values,
            attributes={},
            state={},
            tables=[table],
            clock="step",
        ),
    ) as file:
        file.write("moves", np.array([[5, -1, -1]], np.int16), step=slice(0, 1))
        file.append("steps", {"step": np.array([1]), "parts": np.array([[4, 0, -1]])})
        file.commit(1)
        with open_results(path) as half, open_results(path, "steps") as rows:
            assert half.nodes.isnull().all()
            np.testing.assert_array_equal(half.moves, [[5, np.nan, np.nan]])
            np.testing.assert_array_equal(rows.parts, [[4, 0, np.nan]])
        file.write("moves", np.ones((3, 3), np.int16), step=slice(1, 4))
        file.write("nodes", np.array([7, 8, 9]))
        file.commit(4)
    with open_results(path) as whole:
        assert whole.nodes.dtype == np.int64 and whole.nodes.values.tolist() == [7, 8, 9]


@pytest.mark.ci
def test_codes_of_earlier_files_are_missing(tmp_path, monkeypatch):
    """They declared the value of rows that are not written, and the code in words alone."""
    monkeypatch.setattr(
        "societies.output.building.describe_missing",
        lambda dataset, fill, none: dataset.attrs.update(
            {"_FillValue": np.array(np.iinfo(dataset.dtype).min, dataset.dtype)}
            if dataset.dtype.kind == "i"
            else {}
        ),
    )
    path = tmp_path / "run.h5"
    societies.run(
        small.small("economy", days=3, shocks=[], device=TWO_OF_THREE, record={}),
        out=path,
        device="reference",
    )
    with open_results(path, "inventions") as rows:
        assert rows.recipe.isnull().any() and rows.recipe.min() >= 0
        assert rows.resource.dtype.kind == "i"
