"""Does a study hold, for every run, what its point and its number give? Worked out by hand.

The workload adds up numbers that depend on the point and on the number of the run alone
(`tallies`), so a run that has the values, the number or the place of another shows at once. No
device is used.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
import tallies
from datasets import datasets

import societies
from societies import config_from_dict, sweep
from societies.errors import ConfigError, OutputError, SocietiesError
from societies.output import Coordinate, Variable
from societies.output.study_layout import PENDING
from societies.sweep import batch as batches
from societies.sweep.batch import (
    Batch,
    Result,
    WrongVersion,
    drop_arrays,
    events_of_runs,
    of_runs,
    run_batch,
    run_shape,
)
from societies.sweep.document import load_sweep
from societies.sweep.in_memory import InMemory, Keep, wanted_variables
from societies.sweep.layout import different_shapes, joined_shape, layout_of
from societies.sweep.points import Bucket, Policies
from societies.sweep.prepare import _first_difference, prepared, require_sense, warnings_of
from societies.sweep.report import Failure, Progress, SweepReport
from societies.workload import Setup
from societies.workload.running.contents import contents_of
from societies.workload.running.registry import workload

FIRST, PACES, DAYS = 3, (1.0, 2.5), (6, 4)
POINTS = [(pace, days) for pace in PACES for days in DAYS]
BASE = {"workload": "tallies", "days": 4, "first_society": FIRST, "record": {"detail": 2}}
TAXED = {"workload": "economy", "agents": 4, "resources": 3, "days": 6, "seed": 9}
TAXED |= {"utility": {"min_marginal": 2.5}}
LATER = [{"day": 2, "set": {"pace": 2.0}}]


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    tallies.install(monkeypatch)


def said(*, base=BASE, **more):
    """Return a sweep of four points in two shapes, with two replicates of each."""
    vary = {"grid": {"pace": list(PACES), "days": list(DAYS)}}
    return {"base": base, "vary": vary, "replicates": 2, **more}


def run(out, source=None, **more):
    return sweep.run(source or said(), out=out, device="reference", **more)


def runs_of(replicates=2, common=True):
    """Yield point, pace, days, replicate and number of each run."""
    for i, (pace, days) in enumerate(POINTS):
        for k in range(replicates):
            number = FIRST + (k if common else i * replicates + k)
            yield i, pace, days, k, number


def tally(pace, number, days):
    """Return the cells after each day, (day, cell)."""
    return np.array([tallies.tally(number, day, pace) for day in range(1, days + 1)])


def check(path, replicates=2, common=True):
    """Raise AssertionError unless every number of a whole study is that of its run."""
    longest = max(DAYS)
    with sweep.open_study(path) as study, societies.open_results(path, events="milestones") as log:
        assert (study.status == "done").all()
        assert study.day.values.tolist() == list(range(1, longest + 1))
        assert study.detail_day.values.tolist() == list(range(2, longest + 1, 2))
        assert study.tally.dims == ("run", "cell")
        assert study.total.attrs["units"] == "units"
        row_of = {
            (int(p), int(r)): i
            for i, (p, r) in enumerate(zip(study.point, study.replicate, strict=True))
        }
        rows = zip(*(log[name].values.tolist() for name in ("run", "day", "tally")), strict=True)
        events, expected_events = list(rows), []
        assert "society" not in log
        assert len(row_of) == study.sizes["run"] == len(POINTS) * replicates
        found = {name: one.values for name, one in study.variables.items()}
        for point, pace, days, replicate, number in runs_of(replicates, common):
            one = {
                name: values[row_of[point, replicate]]
                for name, values in found.items()
                if study[name].dims[0] == "run"
            }
            own = (one["pace"], one["days"], one["society"], one["seed"])
            assert own == (pace, days, number, 1)
            cells, rest = tally(pace, number, days), longest - days
            total = cells.sum(axis=1)
            carried = [*total[:-1], np.nan]  # the next day alone tells
            due = np.arange(1, days + 1) % (number + 2) == 0
            for name, known in (("total", total), ("carried", carried), ("count", due.cumsum())):
                expected = [*known, *[np.nan] * rest]
                np.testing.assert_array_equal(one[name], expected, err_msg=name)
            detail = np.full((longest // 2, 2), np.nan)
            detail[: days // 2] = cells[1::2]
            np.testing.assert_array_equal(one["detail_tally"], detail)
            np.testing.assert_array_equal(one["tally"], cells[-1])
            for day in np.flatnonzero(due) + 1:
                expected_events.append((int(one["run"]), int(day), int(cells[day - 1, 0])))
        assert sorted(events) == sorted(expected_events) and events
        assert [event[0] for event in events] == sorted(event[0] for event in events)
        return study.attrs


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "study.h5"
    with tallies.installed():
        run(path)
    return path


@pytest.mark.sample
@pytest.mark.parametrize(
    ("common", "batch"), [(True, 1), (True, 3), (True, None), (False, 3), (False, None)]
)
def test_every_run_draws_by_its_own_number_in_whatever_batch_it_is(tmp_path, common, batch):
    path = tmp_path / "study.h5"
    report = run(path, said(common_random_numbers=common), batch=batch)
    assert (report.points, report.runs, report.done, report.computed) == (4, 8, 8, 8)
    assert (report.pending, list(report.failures), list(report.devices)) == (0, [], ["reference"])
    check(path, common=common)


def test_a_study_says_what_it_is_of(whole):
    attributes = check(whole)
    assert attributes["title"] == "sweep of tallies: pace 2 x days 2"
    assert attributes["workload"] == "tallies" and attributes["vary"] == "pace, days"
    assert attributes["design"] == json.dumps([{"pace": [1.0, 2.5]}, {"days": [6, 4]}])
    assert (attributes["points"], attributes["replicates"]) == (4, 2)
    assert (attributes["clock"], attributes["copies"]) == ("day", "society")
    assert attributes["sources"].startswith("tests/tallies.py ")


def test_parts_are_the_whole_in_whatever_order_they_are_merged(tmp_path, whole):
    paths = [tmp_path / f"{k}.h5" for k in (1, 2, 3)]
    for k, path in enumerate(paths, 1):
        report = run(path, part=(k, 3), batch=2)
        assert report.points == len(POINTS[k - 1 :: 3]) and report.runs == 2 * report.points
        with h5py.File(path) as file:
            assert file.attrs["part"] == f"{k}/3"
    merged = tmp_path / "merged.h5"
    for order in ((2, 0, 1), (1, 2, 0)):
        report = sweep.merge([paths[i] for i in order], merged, overwrite=True)
        assert (report.done, report.runs, list(report.notes)) == (8, 8, [])
        assert {**check(merged), "created": ""} == {**check(whole), "created": ""}
        mine, theirs = (of_results(path) for path in (merged, whole))
        assert [name for name in mine | theirs if mine.get(name) != theirs.get(name)] == []
    report = sweep.merge([paths[2], paths[0]], tmp_path / "some.h5")
    assert list(report.notes) == ["2 of 8 runs are in none of these parts"]
    with sweep.open_study(tmp_path / "some.h5") as study:
        assert study.point.values.tolist() == [0, 0, 2, 2, 3, 3]
        assert study.run.values.tolist() == [0, 1, 4, 5, 6, 7]


def of_results(path):
    """Return all datasets but measured times, seals, and events, which stay in order of parts."""
    apart = ("wall_time", "provenance", "events", "study/checksum", "study/events")
    return datasets(path, lambda name: name.startswith(apart))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "merge: name the files of the parts"),
        (["one", "one"], "one.h5 is named twice; name each part once"),
        (["one", "link"], "link.h5 is named twice, also as .*one.h5; name each part once"),
        (["one", "two", "whole"], r"run 0 is in .*one.h5 and in .*whole.h5; merge parts that have"),
        (["whole", "record"], "record.h5: is of another sweep than .*whole.h5"),
        (["missing"], "missing.h5"),
        (["one", "out"], "out.h5.: is one of the parts, which stay as they are; name another"),
    ],
)
def test_what_cannot_be_merged_is_named(tmp_path, whole, names, message):
    run(tmp_path / "one.h5", part=(1, 2))
    (tmp_path / "link.h5").symlink_to(tmp_path / "one.h5")
    (tmp_path / "whole.h5").write_bytes(whole.read_bytes())
    if "out" in names:
        (tmp_path / "out.h5").write_bytes(whole.read_bytes())
    if "two" in names:
        run(tmp_path / "two.h5", part=(2, 2))
    if "record" in names:
        run(tmp_path / "record.h5", said(record={"variables": ["total"]}), part=(2, 2))
    with pytest.raises(SocietiesError, match=message):
        sweep.merge([tmp_path / f"{name}.h5" for name in names], tmp_path / "out.h5")


# -- what is recorded -----------------------------------------------------------------------------


def test_only_what_is_asked_for_is_recorded(tmp_path):
    record = {"variables": ["total", "detail_tally"], "ticks": [2, 5], "final": ["gone", "tally"]}
    run(tmp_path / "some.h5", said(record=record), batch=3)
    with sweep.open_study(tmp_path / "some.h5") as study:
        assert {*study.data_vars} == {"total", "detail_tally", "final_gone", "final_tally"}
        assert study.day.values.tolist() == [2, 5]
        for row, (_, pace, days, _, number) in enumerate(runs_of()):
            cells = tally(pace, number, days)
            total = [cells[1].sum(), cells[4].sum() if days > 4 else np.nan]
            np.testing.assert_array_equal(study.total[row], total)
            np.testing.assert_array_equal(study.final_tally[row], cells[-1])
            assert study.final_gone[row].values.tolist() == [0, 0]
        assert study.final_tally.attrs["long_name"] == "units, after the last tick"
        assert study.final_gone.dims == ("run", "cell") and study.sizes["cell"] == 2
    nothing = said(base={**BASE, "record": {"milestones": False}}, record={"variables": []})
    run(tmp_path / "none.h5", nothing)
    with sweep.open_study(tmp_path / "none.h5") as study:
        assert not study.data_vars and study.sizes == {"run": 8}


def test_a_final_array_has_a_dimension_of_its_own_where_nothing_else_has_it(tmp_path):
    base = {**BASE, "cells": 3, "record": {"milestones": False}}
    record = {"variables": ["count"], "final": ["gone"]}
    run(tmp_path / "some.h5", said(base=base, record=record))
    with sweep.open_study(tmp_path / "some.h5") as study:
        assert study.cell.values.tolist() == [0, 1, 2]
        assert study.cell.attrs["long_name"] == "number of the cell"


def test_shorter_runs_are_padded_whichever_comes_first(tmp_path):
    """Of a numeric key the least and the largest value are examined for lengths."""
    vary = {"grid": {"cells": [2, 4, 1, 3]}}
    run(tmp_path / "cells.h5", said(vary=vary, replicates=1))
    with sweep.open_study(tmp_path / "cells.h5") as study:
        assert study.sizes["cell"] == 4
        for row, cells in enumerate((2, 4, 1, 3)):
            own = [*tallies.tally(FIRST, 4, 1.0, cells), *[np.nan] * (4 - cells)]
            np.testing.assert_array_equal(study.tally[row], own)


def bucket(**settings):
    return Bucket(settings, SimpleNamespace(**settings))


def examined(buckets):
    found = different_shapes(SimpleNamespace(workload=tallies.WORKLOAD), buckets)
    assert all(one.workload is tallies.WORKLOAD for one in found)
    return [one.config for one in found]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3, 1, 9, 2], [3, 1, 9]),  # the first, the least and the largest
        ([1.5, 2, 7], [1.5, 7]),
        (["a", "b", "c"], ["a", "b", "c"]),
        (["a", "b", "c", "d", "e", "f"], ["a", "d", "c", "b"]),
        ([True, False], [True, False]),
        ([[1, 2], [3]], [[1, 2], [3]]),
    ],
)
def test_shapes_are_examined_at_the_ends_of_each_key(values, expected):
    found = examined([bucket(key=value) for value in values])
    assert sorted(map(repr, (one.key for one in found))) == sorted(map(repr, expected))
    assert found[0].key == values[0]
    assert examined([]) == []
    both = [bucket(a=a, b=b) for a in (1, 2, 3) for b in (1, 2, 3)]
    found = [(one.a, one.b) for one in examined(both)]
    assert {a for a, _ in found} == {b for _, b in found} >= {1, 3}
    assert len({*found}) == len(found)


def test_shapes_that_cannot_be_joined_are_refused_and_types_widened(monkeypatch):
    found = load_sweep(said())
    shape = batches.Shape(
        {"day": Coordinate("day", np.arange(2), "", "")},
        {"x": Variable("x", ("day",), np.dtype("int32"), "1", "")},
    )
    shapes = iter([])
    monkeypatch.setattr("societies.sweep.layout.run_shape", lambda *given: next(shapes))
    one = SimpleNamespace()
    longer = Coordinate("day", np.arange(5), "", "")
    wider = Variable("x", ("day",), np.dtype("float64"), "1", "")
    shapes = iter([shape, batches.Shape({"day": longer}, {"x": wider}), shape])
    joined = joined_shape(found, [one] * 3, Keep())
    assert len(joined.coordinates["day"].values) == 5
    other = Coordinate("day", np.arange(5) + 7, "", "")
    shapes = iter([batches.Shape({"day": one}, {}) for one in (longer, other)])
    assert joined_shape(found, [one] * 2, Keep()).coordinates["day"] is longer
    assert joined.variables["x"].dtype == np.float64 and joined.variables["x"].units == "1"
    other = Variable("x", ("cell",), np.dtype("int32"), "1", "")
    shapes = iter([shape, batches.Shape({}, {"x": other})])
    with pytest.raises(ConfigError, match="the variable x has other dimensions at some points"):
        joined_shape(found, [one] * 2, Keep())


def test_long_designs_are_shortened_and_names_in_use_are_prefixed():
    many = [float(number) for number in range(1, 102)]
    ready = prepared(load_sweep(said(vary={"grid": {"pace": many}}, replicates=1)))
    made = layout_of(ready.sweep, ready.points, ready.runs, ready.shape, part="1/2")
    assert made.attributes["design"] == json.dumps([{"pace": "101 values"}])
    assert made.attributes["part"] == "1/2" and made.attributes["points"] == 101
    few = prepared(load_sweep(said(vary={"grid": {"pace": many[:100]}}, replicates=1)))
    made = layout_of(few.sweep, few.points, few.runs, few.shape)
    assert made.attributes["design"] == json.dumps([{"pace": many[:100]}])
    assert [one.name for one in made.along] == ["point", "replicate", "society", "seed", "pace"]
    assert [one.units for one in made.along][-1] == "units"
    assert {name: table.rows for name, table in made.tables.items()} == {"milestones": 300}
    changes = [[{"day": 1, "set": {"pace": pace + n}} for n in range(30)] for pace in many[:60]]
    ready = prepared(load_sweep(said(vary={"grid": {"interventions": changes}}, replicates=1)))
    design = layout_of(ready.sweep, ready.points, ready.runs, ready.shape).attributes["design"]
    assert len(design) == 60_003 and design.endswith("...")  # HDF5 stores up to 64 KiB
    shape = replace(few.shape, variables={**few.shape.variables, "pace": None})
    assert layout_of(few.sweep, few.points, few.runs, shape).along[-1].name == "vary.pace"
    seeds = prepared(load_sweep(said(vary={"grid": {"seed": [5, 6]}})))
    made = layout_of(seeds.sweep, seeds.points, seeds.runs, seeds.shape)
    assert [one.name for one in made.along] == ["point", "replicate", "society", "seed"]
    assert made.along[-1].values.tolist() == [5, 5, 6, 6]


# -- batches --------------------------------------------------------------------------------------


def test_events_are_those_of_their_run_in_order():
    blocks = [
        {"society": np.array([8, 7, 7]), "day": np.array([1, 1, 2]), "x": np.array([5, 6, 7])},
        {"society": np.array([7, 9]), "day": np.array([3, 3]), "x": np.array([8, 9])},
    ]
    found = events_of_runs(blocks, "society", 7, whole=False)
    assert {name: one.tolist() for name, one in found.items()} == {
        "run": [0, 0, 0, 1, 2],
        "day": [1, 2, 3, 1, 3],
        "x": [6, 7, 8, 5, 9],
    }
    found = events_of_runs(blocks, "society", 7, whole=True)
    assert found["run"].tolist() == [0] * 5 and found["society"].tolist() == [8, 7, 7, 7, 9]
    assert found["run"].dtype == np.int64


def test_copies_are_runs_or_all_of_them_are_one():
    values = np.arange(6).reshape(3, 2)
    assert of_runs(values, ("day", "copy"), "copy", 2, whole=False).tolist() == values.T.tolist()
    assert of_runs(values, ("copy", "day"), "copy", 3, whole=False).tolist() == values.tolist()
    assert of_runs(values, ("copy", "day"), "copy", 3, whole=True).tolist() == [values.tolist()]
    common = of_runs(values, ("day", "cell"), "copy", 2, whole=False)
    assert common.tolist() == [values.tolist()] * 2


def test_what_a_run_writes_into_memory_is_what_the_study_has(tmp_path):
    config = tallies.config(days=3)
    keep = Keep(variables=("total",), events=("milestones",))
    file = InMemory(contents_of(Setup(tallies.WORKLOAD, config)), lambda: str(tmp_path), keep)
    assert file.path == tmp_path / "run.h5" and file.writable
    file.write("total", [[1.0, 2.0], [3.0, 4.0]], day=slice(0, 2))
    file.write("count", [[1], [2]], day=slice(0, 1))
    np.testing.assert_array_equal(file.values["total"], [[1, 2, np.nan], [3, 4, np.nan]])
    assert {*file.values} == {"total"}
    file.append("milestones", {"day": np.array([1])})
    file.append("others", {"day": np.array([1])})
    assert {name: len(blocks) for name, blocks in file.events.items()} == {"milestones": 1}
    assert file.checkpoint_interval("auto") == file.checkpoint_interval(5) == 0
    assert [*wanted_variables({"a": 1, "b": 2}, Keep())] == ["a", "b"]
    assert [*wanted_variables({"a": 1, "b": 2}, Keep(variables=("b", "c")))] == ["b"]


def test_a_batch_is_computed_as_it_was_sent():
    batch = Batch(
        "tallies",
        tallies.config(replicates=1, days=5).model_dump(mode="json"),
        {"days": 4},
        {"pace": np.array([1.0, 2.5, 1.5])},
        np.array([9, 2, 9]),
        [10, 11, 12],
        Keep(variables=("total",), ticks=(1, 4), final=("tally",), events=("milestones",)),
        "reference",
        allow_programs=True,
    )
    began = time.perf_counter()
    found = run_batch(batch)
    assert 0 < found.computing <= found.seconds <= time.perf_counter() - began
    for row, (pace, number) in enumerate(((1.0, 9), (2.5, 2), (1.5, 9))):
        cells = tally(pace, number, 4)
        assert found.values["total"][row].tolist() == cells.sum(axis=1)[[0, 3]].tolist()
        assert found.values["final_tally"][row].tolist() == cells[-1].tolist()
    assert {*found.values} == {"total", "final_tally"}
    events = {name: one.tolist() for name, one in found.events["milestones"].items()}
    assert events == {"run": [1], "day": [4], "tally": [18]}
    assert found.device == "reference"
    some = batch.part(1, 3)
    assert (some.rows, some.numbers.tolist()) == ([11, 12], [2, 9])
    assert some.columns["pace"].tolist() == [2.5, 1.5]
    other = batch.on("gpu")
    assert (other.device, batch.device, len(other.rows)) == ("gpu", "reference", 3)
    for one in (some, other):
        assert one.allow_programs and one.keep == batch.keep and one.version == batch.version
        assert (one.name, one.base, one.settings) == (batch.name, batch.base, batch.settings)
    policies = Policies([[], LATER], np.array([0, 1, 1]))
    assert replace(batch, policies=policies).part(1, 3).policies.of.tolist() == [1, 1]
    assert not Batch("", {}, {}, {}, np.array([0]), [0], Keep()).allow_programs
    with pytest.raises(WrongVersion, match=r"a worker has societies .*, the study is run by 0"):
        run_batch(replace(batch, version="0"))


def test_a_table_of_events_that_the_runs_do_not_have_is_left_out():
    batch = sent(record={"milestones": False})
    assert run_batch(replace(batch, keep=Keep(events=("milestones",)))).events == {}


def test_runs_without_a_policy_have_none_of_its_variables(monkeypatch):
    """In a launch of their own, they would not have the variable at all."""
    monkeypatch.setattr(batches, "_RECORDED", {})
    monkeypatch.setattr(batches, "MOST_REMEMBERED", 2)
    base = config_from_dict(TAXED).model_dump(mode="json")
    tax = [{"day": 2, "set": {"policies.holdings_tax.rate": 0.2}}]
    policies = Policies([[], tax, [{"day": 3, "set": {"day_length": 500}}]], np.array([1, 0, 2, 1]))
    batch = Batch("economy", base, {}, {}, np.arange(4), range(4), Keep(), policies=policies)
    values = {name: np.broadcast_to(1.0, (4, 2)) for name in ("units_taxed", "units_extracted")}
    values["final_held"] = np.broadcast_to(1, (4, 2))
    found = batches._left_out(batch, policies, Result(values, {}, 0.0, ""))
    assert found.values["units_taxed"].tolist()[0] == found.values["units_taxed"].tolist()[3]
    assert np.isnan(found.values["units_taxed"]).tolist() == [[no] * 2 for no in (0, 1, 1, 0)]
    assert (found.values["units_extracted"] == 1).all() and (found.values["final_held"] == 1).all()
    assert len(batches._RECORDED) == 1  # the third policy found two of two remembered


def sent(**more):
    base = tallies.config(replicates=1, days=5).model_dump(mode="json") | more
    return Batch(
        "tallies", base, {}, {}, np.array([4]), [0], Keep(variables=("total",)), "reference"
    )


def test_a_batch_of_a_model_in_a_file_reads_it_first_and_drops_the_arrays_of_an_error(monkeypatch):
    """A worker is another process, which has not read the file."""
    seen = []

    def fail(*_):
        raise SocietiesError("failed")

    monkeypatch.setattr(batches, "workload_of_file", seen.append)
    monkeypatch.setattr(batches, "drop_arrays", lambda error: seen.append(str(error)))
    monkeypatch.setattr(batches, "computed", fail)
    monkeypatch.setattr(batches, "_require_sources", lambda *_: None)
    batch = sent()
    for base, expected in ((batch.base, ["failed"]), ({**batch.base, "model": "m.py"}, None)):
        monkeypatch.setattr(Batch, "config", tallies.config(replicates=1, days=5))
        with pytest.raises(SocietiesError, match="failed"):
            run_batch(replace(batch, base=base))
        assert seen == (expected or ["m.py", "failed"])
        seen.clear()


def test_the_engine_of_a_batch_is_returned_and_computes_every_tick_without_hashes(monkeypatch):
    class Seen(Exception):
        pass

    def simulation(setup, engine, file, contents, stop, *, hashed):
        def blocks(first, last):
            raise Seen(engine, hashed, first, last)

        return SimpleNamespace(blocks=blocks)

    taken = []
    monkeypatch.setattr(batches, "Simulation", simulation)
    monkeypatch.setattr(batches, "_engine", lambda *_: (SimpleNamespace(start=int), {}))
    setup = Setup(tallies.WORKLOAD, tallies.config(days=5))
    with pytest.raises(Seen) as caught:
        loan = SimpleNamespace(take=taken.append)
        batches.computed(setup, Keep(variables=("total",)), loan, str, 1, 0.0)
    engine, *rest = caught.value.args
    assert taken == [engine] and rest == [False, 0, 5]


def test_an_error_releases_what_its_traceback_refers_to():
    def fail(depth):
        held = object()
        if depth:
            try:
                fail(depth - 1)
            except (ValueError, KeyError) as error:
                raise KeyError(held) from (error if depth == 1 else None)
        raise ValueError(held)

    with pytest.raises(KeyError) as caught:
        fail(2)
    error = caught.value
    drop_arrays(error)
    chain = []
    while error is not None:
        chain.append(error)
        trace = error.__traceback__.tb_next
        while trace is not None:
            assert "held" not in trace.tb_frame.f_locals
            trace = trace.tb_next
        error = error.__cause__ or error.__context__
    assert len(chain) == 3
    with pytest.raises(ValueError) as inner:
        fail(0)
    outer = RuntimeError()
    outer.__cause__ = inner.value  # raised elsewhere, so that it is no context
    drop_arrays(outer)
    assert "held" not in inner.value.__traceback__.tb_next.tb_frame.f_locals
    drop_arrays(None)


# -- studies that are continued --------------------------------------------------------------------


@pytest.mark.ci
def test_a_study_grows_by_replicates_and_by_points(tmp_path):
    path = tmp_path / "study.h5"
    run(path, said(replicates=1))
    report = run(path, said(replicates=1), resume=True)
    assert (report.computed, report.runs) == (0, 4)
    report = run(path, resume=True, replicates=3)
    assert (report.computed, report.runs) == (8, 12)
    check(path, replicates=3)
    with sweep.open_study(path) as study:
        assert study.run.values.tolist() == list(range(12))
        assert study.point.values.tolist() == [0, 1, 2, 3, *[0, 0, 1, 1, 2, 2, 3, 3]]
        assert study.replicate.values.tolist() == [0] * 4 + [1, 2] * 4
    # 1 is the 1.0 of the study: its points are not added a second time
    more = said(replicates=1, vary={"grid": {"pace": [4.0, 1], "days": [6, 4]}})
    with pytest.raises(OutputError, match=r"(?s)is a study of another sweep: vary is .*add_points"):
        run(path, more, resume=True)
    report = run(path, more, add_points=True)
    assert (report.computed, report.runs, report.points) == (6, 18, 6)
    with sweep.open_study(path) as study:
        assert study.point.values.tolist()[12:] == [4] * 3 + [5] * 3
        assert study.replicate.values.tolist()[12:] == [0, 1, 2] * 2
        assert study.pace.values.tolist()[12:] == [4.0] * 6
        for row in range(12, 18):
            one = study.isel(run=row)
            cells = tally(4.0, FIRST + int(one.replicate), int(one.days))
            np.testing.assert_array_equal(one.tally, cells[-1])
    fewer = run(path, more, add_points=True)
    assert (fewer.computed, fewer.runs) == (0, 18)


def test_a_part_continues_as_the_part_that_it_is(tmp_path):
    path = tmp_path / "part.h5"
    run(path, part=(1, 2))
    assert run(path, part=(1, 2), resume=True).computed == 0
    for asked, message in (
        ({"part": (2, 2)}, "is part 1/2, not part 2/2; the argument part must be that of the file"),
        ({}, "is part 1/2, not the whole study; the argument part must"),
        ({"part": (1, 2), "replicates": 3}, "is a part, which cannot grow; merge the parts first"),
    ):
        with pytest.raises(OutputError, match=message):
            run(path, resume=True, **asked)
    run(tmp_path / "whole.h5")
    with pytest.raises(OutputError, match="is a whole study, not part 1/2"):
        run(tmp_path / "whole.h5", resume=True, part=(1, 2))
    with pytest.raises(ConfigError, match="part: there are 4 points for 9 parts"):
        run(tmp_path / "other.h5", part=(5, 9))
    with pytest.raises(
        OutputError, match=r"none.h5: does not exist, so there is nothing to continue"
    ):
        run(tmp_path / "none.h5", resume=True)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ({"base": {**BASE, "goal": {"bonus": 1.0}}}, "base.goal.bonus is 0.0 in the file and 1.0"),
        ({"common_random_numbers": False}, "common_random_numbers is True in the file and False"),
        ({"record": {"ticks": [1]}}, "record.ticks is None in the file and .1. in this sweep"),
    ],
)
def test_another_sweep_is_not_gone_on_with(whole, source, what):
    with pytest.raises(OutputError, match=f"is a study of another sweep: {what}"):
        run(whole, said(**source), resume=True)


def test_the_first_difference_is_the_innermost():
    assert _first_difference("a", {"x": 1, "b": {"c": 1}}, {"b": {"c": 2}, "x": 1}) == (
        "a.b.c is 1 in the file and 2 in this sweep"
    )
    found = _first_difference("a", {"b": 1}, {"c": 1})
    assert found == "a.b is 1 in the file and None in this sweep"
    assert _first_difference("a", "x" * 79, "y" * 80) == (
        f"a is {'x' * 79} in the file and {'y' * 77}... in this sweep"
    )
    assert _first_difference("a", {}, 1) == "a is {} in the file and 1 in this sweep"


def test_runs_that_fail_are_named_and_tried_again(tmp_path, monkeypatch):
    path, original = tmp_path / "study.h5", type(tallies.WORKLOAD).reference

    def reference(self, p):
        functions = original(self, p)

        def grow(p, s, day):
            if p.pace > 2 and s.index == FIRST + 1:
                raise SocietiesError("too fast\nfor us")
            functions["grow"](p, s, day)

        return {**functions, "grow": grow}

    with monkeypatch.context() as patch:
        patch.setattr(type(tallies.WORKLOAD), "reference", reference)
        report = run(path, batch=1)
    assert (report.done, report.pending, report.computed) == (6, 0, 6)
    failures = [
        Failure(5, {"pace": 2.5, "days": 6}, 1, "too fast for us"),
        Failure(7, {"pace": 2.5, "days": 4}, 1, "too fast for us"),
    ]
    assert list(report.failures) == failures
    assert run(path, resume=True).computed == 0
    report = run(path, retry_failed=True)
    assert (report.done, report.computed, list(report.failures)) == (8, 2, [])
    check(path)


# -- arguments and reports ------------------------------------------------------------------------

GOOD = {
    "resume": False,
    "overwrite": False,
    "retry_failed": False,
    "add_points": False,
    "part": None,
    "workers": 0,
    "scheduler": "",
    "batch": None,
}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, ""),
        ({"resume": True, "part": (1, 1), "workers": 1, "batch": 1}, ""),
        ({"add_points": True, "scheduler": "tcp://host:8786"}, ""),
        ({"overwrite": True, "part": (3, 3)}, ""),
        ({"resume": True, "overwrite": True}, "overwrite=True begins the study again"),
        ({"retry_failed": True, "overwrite": True}, "overwrite=True begins the study again"),
        ({"add_points": True, "overwrite": True}, "overwrite=True begins the study again"),
        ({"part": (0, 2)}, "K/N needs 1 <= K <= N, got 0/2"),
        ({"part": (3, 2)}, "K/N needs 1 <= K <= N, got 3/2"),
        ({"part": (1, 2), "add_points": True}, "a part cannot grow"),
        ({"workers": 1, "scheduler": "tcp://host:8786"}, "choose one"),
        ({"scheduler": "nowhere"}, "expected where a scheduler of Dask listens"),
        ({"workers": -1}, "workers=-1: at least 1 is needed"),
        ({"batch": 0}, "batch=0: at least 1 is needed"),
    ],
)
def test_arguments_that_contradict_each_other(asked, message):
    given = (GOOD | asked).values()
    if not message:
        require_sense(*given)
        return
    with pytest.raises(ConfigError, match=message):
        require_sense(*given)


def test_a_sweep_has_replicates_only_where_something_is_drawn():
    with pytest.raises(ConfigError, match="replicates=0: at least 1 is needed"):
        prepared(load_sweep(said()), 0)
    assert len(prepared(load_sweep(said()), 1).runs.number) == 4
    matmul = {"base": {"workload": "matmul"}, "vary": {"grid": {"repeats": [2]}}}
    assert len(prepared(load_sweep(matmul), 1).runs.number) == 1
    with pytest.raises(ConfigError, match="replicates=2: matmul has no random draws"):
        prepared(load_sweep(matmul), 2)


def test_too_many_runs_are_refused_and_very_many_have_to_be_meant():
    sobol = {"sobol": {"points": 1_000_001, "keys": {"pace": {"low": 1, "high": 2}}}}
    with pytest.raises(ConfigError, match=r"1,000,001 points, 2,000,002 runs; at 1,000 runs"):
        prepared(load_sweep(said(vary=sobol)))
    said_so = r"that is 0.6 hours, and each number recorded of a run takes 16 MB\n"
    with pytest.raises(ConfigError, match=said_so):
        prepared(load_sweep(said(vary=sobol)))
    with pytest.raises(ConfigError, match=r"100,000,100 runs; a study has at most 100,000,000"):
        prepared(load_sweep(said(vary=sobol)), 100, yes=True)


@pytest.mark.parametrize(("count", "warned"), [(1, False), (64, False), (65, True)])
def test_many_programs_are_reported(count, warned):
    buckets = [bucket(cells=number, days=1) for number in range(count)]
    for one in buckets:
        one.config.idle = dict
    found = warnings_of(SimpleNamespace(buckets=buckets, points=[{}]))
    assert len(found) == warned
    assert not found or found[0].startswith("cells, days: 65 values are up to 65 programs to comp")


def report_of(**more):
    facts = {"path": "s.h5", "points": 4, "runs": 8, "done": 5, "pending": 2, "computed": 6}
    facts |= {"failures": [], "devices": ["a", "b"], "seconds": 2.0, "launch_seconds": 1.5}
    return SweepReport(**{**facts, **more})


def test_a_report_counts_runs():
    failed = [Failure(3, {"pace": 1.0}, 0, "why")]
    assert report_of(failures=failed, notes=["so"]).rows == [
        ("points", "4"),
        ("runs", "8: 5 done, 1 failed, 2 pending"),
        ("computed now", "6 runs"),
        ("device", "a; b"),
        ("wall time", "2 s, 3 runs/s"),
        ("note", "so"),
        ("written to", "s.h5"),
    ]
    assert [name for name, _ in report_of(computed=0, seconds=0.0).rows] == [
        *("points", "runs", "computed now", "written to")
    ]
    assert report_of(seconds=0.0).rows[4] == ("wall time", "0 s, 6e+09 runs/s")


def test_failures_are_shown_once_for_each_point_and_reason():
    point = {"pace": 1.0, "days": 4}
    many = [Failure(run, point, 0, "first\n why") for run in range(10)]
    failures = [*many[:1], Failure(11, point, 0, "second"), *many[1:]]
    assert report_of(failures=failures).failed_rows == [
        ("runs 0, 1, 2, 3, 4, 5, 6, 7 and 2 more", "pace 1.0, days 4: first why"),
        ("run 11", "pace 1.0, days 4: second"),
    ]
    assert report_of(failures=many[:8]).failed_rows[0][0] == "runs 0, 1, 2, 3, 4, 5, 6, 7"
    other = [Failure(run, {"pace": run}, 0, "why") for run in range(22)]
    rows = report_of(failures=other).failed_rows
    assert len(rows) == 21 and rows[-1] == ("...", "2 more; see the variable 'error'")
    assert len(report_of(failures=other[:20]).failed_rows) == 20


@pytest.mark.parametrize(
    ("progress", "left", "text"),
    [
        (Progress(0, 0, 8, 3.0), None, "0 of 8 runs"),
        (Progress(2, 0, 8, 4.0), 12.0, "2 of 8 runs, 0.5 runs/s, less than a minute left"),
        (
            Progress(1, 1, 8, 4.0),
            12.0,
            "2 of 8 runs, 1 failed, 0.5 runs/s, less than a minute left",
        ),
        (Progress(8, 0, 8, 4.0), 0.0, "8 of 8 runs, 2 runs/s"),
        (Progress(0, 2, 2, 0.0), 0.0, "2 of 2 runs, 2 failed, 2e+09 runs/s"),
    ],
)
def test_progress_is_of_runs_that_ended(progress, left, text):
    assert (progress.left, str(progress)) == (left, text)


def test_statuses_are_counted(tmp_path, whole):
    from societies.output.study import StudyFile
    from societies.sweep.report import report_of as report

    with StudyFile.read(whole) as file:
        assert (file.status != PENDING).all()
        more = {"computed": 3, "devices": ["d"], "seconds": 1.5, "launch_seconds": 0.5}
        found = report(file, **more, notes=("n",))
    assert (found.path, found.points, found.runs, found.done, found.pending) == (whole, 4, 8, 8, 0)
    assert {name: getattr(found, name) for name in more} == more
    assert (found.notes, list(found.failures)) == (("n",), [])
    assert run_shape(Setup(tallies.WORKLOAD, tallies.config()), Keep()).tables == {}


def test_a_study_has_the_coordinates_and_codes_of_its_runs():
    record = {"record": {"network": [5]}}
    setup = Setup(workload("economy"), config_from_dict(TAXED | {"devices": "all"} | record))
    own = {one.name: one for one in contents_of(setup).coordinates()}
    assert own["resource"].values.tolist() == [0, 1, 2]
    shape = run_shape(setup, Keep(("inventor",), final=("held",), events=("trade_network",)))
    assert {*shape.coordinates} == {"device_type", "resource", "agent"}
    assert {*run_shape(setup, Keep((), events=("trade_network",))).coordinates} == {"device_type"}
    for name in ("device_type", "resource"):
        assert shape.coordinates[name].long_name == own[name].long_name
    assert shape.variables["inventor"].none == np.iinfo(np.int32).min
    both = run_shape(setup, Keep((), final=("held",), copies=True))
    assert both.variables["final_held"].dims == ("society", "agent", "resource")
    assert run_shape(setup, Keep((), final=("held",))).variables["final_held"].dims == (
        "agent",
        "resource",
    )
    keep = Keep(("total",), final=("tally",), copies=True)
    setup = Setup(tallies.WORKLOAD, tallies.config(first_society=FIRST, record={"detail": 2}))
    assert run_shape(setup, keep).coordinates["society"].values.tolist() == [FIRST, FIRST + 1]
    without_clock = Setup(workload("tictactoe"), config_from_dict({"workload": "tictactoe"}))
    assert "superstep" not in run_shape(without_clock, Keep(ticks=(1,))).coordinates


@pytest.mark.parametrize(("copies", "rows"), [(True, 3), (False, 1)])
def test_a_run_has_its_share_of_the_rows_of_events(copies, rows):
    """Three rows for the three societies of a launch: each is a run, or all of them are one."""
    setup = Setup(tallies.WORKLOAD, tallies.config(replicates=3))
    shape = run_shape(setup, Keep(variables=("total",), copies=copies, events=("milestones",)))
    assert shape.tables["milestones"].rows == rows
    names = ["run", *(["society"] if copies else []), "day", "tally"]
    assert [one.name for one in shape.tables["milestones"].columns] == names
    assert shape.variables["total"].dims == (("society", "day") if copies else ("day",))
