"""What follows from what a workload declares? Files, keys, names and figures, by hand."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest
import tallies

import reference_py.economy
from reference_py.primitives.rng import LAST_STATE
from societies.config.check import path_of
from societies.config.model import KEY, Section, key, shape, value
from societies.errors import SocietiesError
from societies.workload import Phase, Setup, Workload
from societies.workload.declare import config as daily
from societies.workload.declare import naming, optional, protocol
from societies.workload.declare.fields import Events, Field, Series
from societies.workload.drawing import bands
from societies.workload.running import twins, varying
from societies.workload.running.contents import SeriesAndDetail, SeriesInFile
from societies.workload.running.file import named_limits
from societies.workload.running.state import file_values, initial_values
from societies.workload.running.tables import table_of


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    tallies.install(monkeypatch)


# -- what a file has ------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 2, 3, 7])
def test_of_every_block_the_ticks_that_are_recorded_have_their_places(every):
    """By definition: tick t is recorded if `every` divides it, at place t / every - 1."""
    one = SimpleNamespace(every=every)
    for first in range(-2, 12):
        for last in range(first, 14):
            ticks = list(range(first, last + 1))
            due = [t for t in ticks if t >= 1 and t % every == 0]
            found = SeriesInFile.rows(one, first, last)
            if not due:
                assert found is None
                continue
            assert ticks[found[0]] == due
            places = list(range(100))[found[1]]
            assert places == [t // every - 1 for t in due]


class Store:
    """What is written to a file, by name."""

    def __init__(self):
        self.written = []

    def write(self, name, values, **where):
        self.written.append((name, np.asarray(values).tolist(), where))

    def append(self, table, columns):
        if len(columns["day"]):
            self.write(table, list(zip(*columns.values(), strict=True)))

    def write_each(self, parts):
        for name, values, where in parts:
            self.write(name, values, **where)


def contents(changes=(), timed=False, record=(), days=7, **own):
    """Return the contents of a run of `tallies` with some changed fields."""
    chosen = type("Timed", (tallies.Tallies,), {"timed": timed, **own})()
    fields = tallies.WORKLOAD.fields(tallies.config())
    fields |= {name: replace(fields[name], **more) for name, more in dict(changes).items()}
    chosen.fields = lambda p: fields
    config = tallies.config(days=days, replicates=2, first_society=4, record=dict(record))
    return SeriesAndDetail(Setup(chosen, config))


def test_a_file_has_the_coordinates_of_what_it_records():
    made = contents(record={"detail": 3})
    found = {one.name: one for one in made.coordinates()}
    assert [*found] == ["society", "day", "detail_day", "cell"]
    assert found["society"].values.tolist() == [4, 5]
    assert found["day"].values.tolist() == [1, 2, 3, 4, 5, 6, 7] and found["day"].units == "day"
    assert found["detail_day"].values.tolist() == [3, 6] and found["detail_day"].units == "day"
    assert found["cell"].values.tolist() == [0, 1]
    assert list(made.stops()) == [3, 6] and list(contents().stops()) == []
    assert list(contents(record={"detail": 7}).stops()) == [7]
    assert list(contents(record={"detail": 8}).stops()) == []
    without = contents({"tally": {"recorded": False, "final": False}})
    assert [one.name for one in without.coordinates()] == ["society", "day"]  # no cells
    other = contents(clock="step", copies="box", ticks_key="days")
    assert [one.name for one in other.coordinates()][:2] == ["box", "step"]
    assert other.coordinates()[1].units in ("", "1")  # a step is no unit
    named = contents()
    named.workload.entries = lambda p: {"cell": ("left", "right")}
    assert named.coordinates()[-1].values.tolist() == ["left", "right"]
    named.workload.entries = lambda p: {}  # so they have numbers
    assert named.coordinates()[-1].values.tolist() == [0, 1]


def test_a_file_has_the_variables_of_what_it_records():
    made = contents({"gone": {"recorded": True}}, record={"detail": 3})
    found = {one.name: one.dims for one in made.variables()}
    assert found == {
        "total": ("society", "day"),
        "carried": ("society", "day"),
        "count": ("society", "day"),
        "detail_tally": ("society", "detail_day", "cell"),
        "gone": ("society", "detail_day", "cell"),
        "tally": ("society", "cell"),
    }
    timed = [one.name for one in contents(timed=True).variables()]
    assert timed[:2] == ["total", "carried"] and timed[-2:] == ["count", "tally"]
    assert len(timed) > 4 and all(
        one.dims == ("day",) for one in contents(timed=True).variables() if one.name in timed[2:-2]
    )
    assert contents().attributes() == {"title": "tallies, 2 cells", "cells": 2}
    other = contents()  # with a size that no key says
    other.workload.sizes = lambda p: {"cell": 2, "hand": 3}
    expected = {"title": "tallies, 2 cells", "cells": 2, "hands": 3}
    assert other.attributes() == expected
    bare = contents()
    bare.workload.sizes = lambda p: {}
    assert bare.attributes() == {"title": "tallies"}


@pytest.mark.parametrize(("copies", "days", "rows"), [(1, 5000, 4096), (2, 3, 6), (5000, 7, 5000)])
def test_a_table_of_events_has_room_for_all_or_for_some_thousands_and_a_row_of_each(
    copies, days, rows
):
    config = tallies.config(days=days, replicates=copies)
    (found,) = SeriesAndDetail(Setup(tallies.WORKLOAD, config)).tables()
    assert found.rows == rows
    units = {"day": "day", "step": ""}  # a step is no unit
    for clock, unit in units.items():
        (found,) = contents(clock=clock, ticks_key="days").tables()
        assert [one.units for one in found.columns] == ["", unit, "units"]


def block(first, last, detail=(), measured=(), rows=()):
    ticks = np.arange(first, last + 1, dtype=float)
    logs = {
        "series": np.stack([np.stack([ticks + 10 * c, -ticks], 1) for c in range(2)]),
        "count": np.stack([ticks * 100, ticks * 1000]),
    }
    events = {"milestones": np.array(rows, np.int32).reshape(-1, 3)}
    rest = {"measured": dict(measured), "detail": dict(detail), "events": events}
    return SimpleNamespace(first=first, last=last, logs=logs, **rest)


def test_a_list_of_events_is_a_table_of_its_rows():
    made, file = contents(), Store()
    (table,) = made.tables()
    assert [(one.name, one.units) for one in table.columns] == [
        ("society", ""),
        ("day", "day"),
        ("tally", "units"),
    ]
    assert (table.name, table.rows, table.in_study) == ("milestones", 1 * 7 * 2, True)
    made.write(file, block(1, 3, rows=[(0, 1, 50), (1, 1, -60), (0, 3, 70)]))
    assert file.written[-1] == ("milestones", [[4, 1, 50], [5, 1, -60], [4, 3, 70]], {})
    unnamed = contents(events=lambda self, p: {"odd": Events(3, 10**6)}).tables()[0]
    assert [one.name for one in unnamed.columns[2:]] == ["column_1", "column_2"]
    assert unnamed.rows == 4096  # becomes longer where it has to
    bare = contents(events=lambda self, p: {"odd": Events(1, 1)}).tables()[0]
    assert bare.rows == 14 and len(bare.columns) == 2


def test_a_block_is_written_where_its_ticks_are_and_late_what_is_known_later():
    made, file = contents(record={"series": 2}), Store()
    seconds = np.array([3.0, 4.0, 5.0])
    made.write(file, block(3, 5, measured={"seconds": seconds}))
    assert file.written == [
        ("total", [[4.0], [14.0]], {"day": slice(1, 2)}),
        ("carried", [[-3.0, -5.0], [-3.0, -5.0]], {"day": slice(0, 2)}),  # of days 2 and 4
        ("count", [[400.0], [4000.0]], {"day": slice(1, 2)}),
        ("seconds", [4.0], {"day": slice(1, 2)}),
    ]
    file.written.clear()
    made.write(file, block(1, 1, measured={"seconds": seconds[:1]}))
    assert file.written == []  # no day of these is recorded
    detail = contents(record={"detail": 3, "series": 9})
    state = {"tally": np.array([[1.0, 2.0], [3.0, 4.0]]), "count": np.array([1, 2])}
    recorded = detail.detail(3, state)
    assert list(recorded) == ["tally"] and recorded["tally"] is state["tally"]
    detail.write(file, block(4, 6, {6: recorded}))
    detail.write(file, block(7, 7))
    detail.write(file, block(1, 7, {3: {"tally": -state["tally"]}, 6: recorded}))
    both = [[[-1.0, -2.0], [1.0, 2.0]], [[-3.0, -4.0], [3.0, 4.0]]]
    assert file.written == [
        ("detail_tally", [[[1.0, 2.0]], [[3.0, 4.0]]], {"detail_day": slice(1, 2)}),
        ("detail_tally", both, {"detail_day": slice(0, 2)}),
    ]
    assert list(detail.pauses()) == []
    file.written.clear()
    detail.finish(file, 7, lambda: state)
    assert file.written == [("tally", [[1.0, 2.0], [3.0, 4.0]], {})]
    none = contents({"tally": {"final": False}})
    none.finish(file, 7, lambda: pytest.fail("no state is needed"))


def test_means_leave_out_what_stands_for_no_value():
    assert contents().means(block(3, 5)) == {"total": 10.0, "count": 2750.0}
    one = contents({"count": {"none": -1}})
    for numbers, mean in (
        ([1, -1, 4], 2.5),
        ([-1, -1], np.nan),
        ([], np.nan),
        ([np.nan, 3.0, -1.0], 3.0),
    ):
        np.testing.assert_equal(one._mean("count", np.array(numbers)), mean)
    assert np.isnan(one._mean("total", np.array([np.nan, 1.0])))
    assert contents({"count": {"dims": ("cell",)}})._recorded.scalars() == ["total"]
    ended = contents({"count": {"final": True}}, days=1)
    ended.setup = SimpleNamespace(ticks=0, fields=ended.setup.fields)
    dataset = {name: SimpleNamespace(values=np.array([1.0, 4.0])) for name in ("count", "tally")}
    assert ended.recorded_means(dataset, 0) == {"count": 2.5}  # a tally has cells


@pytest.mark.parametrize(
    ("of", "none_of", "none", "expected"),
    [
        ("", None, None, [[1, -1], [3, 4]]),
        ("", None, -1, [[1, -1], [3, 4]]),  # a file declares the number instead
        ("alive", None, None, [[np.nan, np.nan], [3, 4]]),
        ("alive", 2, None, [[1, -1], [np.nan, np.nan]]),
        ("alive", 2, -1, [[1, np.nan], [np.nan, np.nan]]),
        ("alive", None, 4, [[np.nan, np.nan], [3, np.nan]]),
    ],
)
def test_entries_without_meaning_are_missing_in_files(of, none_of, none, expected):
    fields = {
        "alive": Field((), "int32", "", "", none=none_of),
        "held": Field(("x",), "int32", "", "", present=of, none=none),
    }
    state = {"alive": np.array([0, 2]), "held": np.array([[1, -1], [3, 4]], np.int32)}
    found = file_values(fields, "held", state)
    np.testing.assert_array_equal(found, expected)
    held = fields["held"]
    assert found.dtype == held.file_dtype == ("float64" if of else "int32")
    assert held.file_none == (None if of else none)


def test_limits_of_a_state_have_names():
    setup = Setup(tallies.WORKLOAD, tallies.config(cells=5))
    found = named_limits(setup, 3)
    assert (found["cells - 1"], found["last state"], found["most"]) == (4, LAST_STATE, 1e6)
    fields = {"a": Field((), "int32", "", "", initial=lambda p: np.array([5, 6, 7]))}
    assert initial_values(fields, None, 2)["a"].tolist() == [5, 6]
    assert initial_values(fields, None, 2, np.array([1, 2]))["a"].tolist() == [6, 7]


# -- what is not declared -------------------------------------------------------------------------


class Least(Workload):
    name, config, version = "least", tallies.TalliesConfig, "7"

    def fields(self, p):
        return {"series": Field((), "float64", "", "own")} if p == "own" else {}

    def phases(self, p, copies):
        return {"walk": Phase()}

    def sizes(self, p):
        return {}

    def series(self, p):
        return {"total": Series("", "")} if p else {}


def test_what_may_be_left_out_has_its_default():
    class Walk:
        phase = "walk"

        def __str__(self):
            return "walk (level 3)"

    one, step = Least(), Walk()
    assert one.part(step, 1) == "walk (level 3)"
    one.part_is_phase = True
    assert one.part(step, 1) == "walk"
    assert optional.InPython.replaceable(one) == {} and one.translated_phases(None) == ()
    assert one.timed_together(None) is False and one.device_rows(None, None) == []
    assert one.version_of(None) == "7" and one.python_of(None) == []
    assert one.translated_sha256(None) == ""
    model = SimpleNamespace(model="walk.py")
    assert one.python_of(model) == ["model least: walk.py, whose Python is carried out"]

    class Rules:
        def __init__(self, digest):
            self.sha256, self.translated = digest, SimpleNamespace(sha256=f"t{digest}")

        def __bool__(self):
            return True

        def described(self):
            return ["rule price"]

    one.plugged = lambda config: Rules("0123456789abc")
    assert one.version_of(None) == "7 rules 0123456789" and one.translated_sha256(None)[0] == "t"
    assert one.python_of(model)[1:] == ["rule price"] == one.python_of(None)
    assert (Least.numbered, Least.items) == (False, 0)
    assert one.arrays("own")["series"].meaning == "own"  # its own field of this name
    assert "series" in one.arrays("p") and "series" not in one.arrays("")


def test_the_table_of_values_is_that_of_the_declared_names():
    one = Least()
    assert one.values() == ("pace", "bonus")
    p = SimpleNamespace(pace=2.0, bonus=0.5)
    (rows,) = one.parameters_of_copies(p, 0).values()
    assert rows.tolist() == [[2.0, 0.5]]
    lines = one.lookups(p).split("\n")
    assert lines[-1] == "" and any("pace" in line for line in lines)
    one.derived = ("twice",)
    p.twice = (4.0, 1.0)
    (rows,) = one.parameters_of_copies(p, 0).values()
    assert rows.tolist() == [[2.0, 0.5, 4.0, 1.0]]

    class Plain(Least):
        config = Section
        derived = ()

    assert Plain().parameters_of_copies(p, 0) == {}


@pytest.mark.parametrize(
    ("items", "sizes", "kind", "most", "expected"),
    [
        (32, {"a": 5}, "gpu", 64, 32),
        (128, {"a": 5}, "gpu", 64, 64),
        (0, {"a": 5, "b": 70}, "gpu", 1024, protocol.workgroup_size),
        (0, {}, "gpu", 1024, protocol.workgroup_size),
    ],
)
def test_work_items_are_declared_or_enough_for_the_longest_dimension(
    items, sizes, kind, most, expected
):
    class Sized(Least):
        def sizes(self, p):
            return sizes

    Sized.items = items
    device = SimpleNamespace(max_workgroup=most, kind=kind, warp=32, simulator=False)
    found = Sized().work_items(None, 1, device)
    longest = max(sizes.values(), default=1)
    assert found == (expected if items else expected(device, longest))


def test_functions_of_the_reference_have_the_names_of_the_phases(tmp_path, monkeypatch):
    package = tmp_path / "walks_by_hand"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "walk.py").write_text("def walk(): pass\ndef turn(): pass\n")
    (package / "last.py").write_text("def turn(): pass\n")
    (package / "broken.py").write_text("import nothing_of_this_name\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    launch = SimpleNamespace
    two = SimpleNamespace(launches=(launch(file="a/walk.cl"), launch(file="b/last.cl")))
    phases = {"walk": SimpleNamespace(launches=()), "turn": two}
    found = twins.twins_of("walks_by_hand", phases)
    assert [one.__module__ for one in found.values()] == [
        "walks_by_hand.walk",
        "walks_by_hand.last",
    ]
    alone = twins.twins_of("walks_by_hand.walk", {"turn": two})
    assert alone["turn"].__module__ == "walks_by_hand.walk"
    for name, missing in (("rest", "walks_by_hand.rest"), ("fly", "walks_by_hand.last")):
        phase = SimpleNamespace(launches=()) if name == "rest" else two
        said = f"phase {name} has no twin: no function {name} in {missing}"
        with pytest.raises(NotImplementedError, match=said):
            twins.twins_of("walks_by_hand", {name: phase})
    with pytest.raises(NotImplementedError, match="no function walk in walks_of_nobody"):
        twins.twins_of("walks_of_nobody", phases)
    with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name"):
        twins.twins_of("walks_by_hand", {"broken": SimpleNamespace(launches=())})
    assert hasattr(reference_py.economy, "__path__")


def test_parameters_are_keys_and_properties_of_the_same_name():
    @dataclass
    class Parameters:
        pace: float
        stream_gap: int
        cells: int = 9
        other: int = 5
        made: int = field(init=False, default=3)

    config = tallies.config(cells=4)
    found = naming.parameters_of(Parameters, config, pace=7.0)
    assert (found.pace, found.cells, found.other, found.made) == (7.0, 4, 5, 3)
    assert found.stream_gap == config.stream_gap
    assert "streams" not in naming._properties(type(config))  # a method


# -- keys of days ---------------------------------------------------------------------------------


def test_keys_of_interventions_have_the_names_and_ranges_of_the_workload():
    class Change(daily.InterventionConfig):
        step: int = daily.changed_after("step")
        boxes: daily.Numbers = daily.changed_copies("boxes")

    fields = Change.model_fields
    assert fields["step"].is_required() and "at the end of this step" in fields["step"].description
    assert fields["step"].examples == [0] and fields["boxes"].get_default() == ()
    assert "Numbers of the boxes" in fields["boxes"].description
    assert Change(step=0).boxes == () and Change(step=0, boxes=[0, 3]).boxes == (0, 3)
    for wrong in ({"step": -1}, {"step": 1, "boxes": [-1]}, {"step": 1, "until": 0}, {}):
        with pytest.raises(ValueError, match=r"step|boxes|until"):
            Change(**wrong)
    assert Change(step=1, until=1).until == 1
    made = daily.checkpoints("step", "all of it", 7)
    assert made.default == 7 and "Save all of it" in made.description
    assert "every this many steps" in made.description


@pytest.mark.parametrize(
    ("keep", "checkpoint", "lines"),
    [
        ([2, 5], "auto", []),
        ([2, 5], 1, []),
        ([], 0, []),
        ([2], 0, ["needs checkpoints, which record.checkpoint switches off"]),
        ([2], "never", ["needs checkpoints, which record.checkpoint switches off"]),
        ([5, 2, 5, 2], 3, ["day 5 is listed twice", "day 2 is listed twice"]),
    ],
)
def test_permanent_checkpoints_need_checkpoints_and_different_days(keep, checkpoint, lines):
    config = SimpleNamespace(record=SimpleNamespace(keep=keep, checkpoint=checkpoint))
    found = list(daily.keep_conflicts(config))
    assert [one.message for one in found] == lines
    assert daily.retained_ticks(config) == sorted(keep)
    assert daily.recorded(object(), "keep", "none") == "none"


def test_more_random_streams_than_there_are_are_refused():
    config = SimpleNamespace(replicates=7, first_society=9)
    keys = ("replicates", "first_society")
    assert not list(daily.stream_conflicts(config, daily.RANDOM_STREAMS, keys))
    too_many = daily.RANDOM_STREAMS + 1
    for reckoned, how in (("", ""), ("2 each", " (2 each)")):
        (one,) = daily.stream_conflicts(config, too_many, keys, reckoned, (("agents",),))
        assert one.path == ("first_society",) and one.needs == (("agents",), *map(tuple, zip(keys)))
        assert one.message == (
            f"{too_many} random streams are needed{how}, more than the {daily.RANDOM_STREAMS} "
            "there are"
        )

    class Many(tallies.TalliesConfig):
        def streams(self):
            return each

    each = daily.RANDOM_STREAMS // 8
    for first, count in ((4, 4), (3, 4), (4, 5)):
        config = Many.model_construct(first_society=first, replicates=count)
        found = [one for one in config.conflicts() if "random streams" in one.message]
        assert len(found) == ((first + count) * each > daily.RANDOM_STREAMS)


# -- keys that vary -------------------------------------------------------------------------------


class Part(Section):
    rate: float = value(1.0, "Rate", "1/day", symbol="part_rate", le=10)


class Entry(Section):
    weight: float = value(1.0, "Weight", "kg")


class Whole(Section):
    size: int = shape(3, "Size", "1", nearly="an entry can be left out")
    seed: int = key(3, "Seed", "1")
    parts: Part = value(Part(), "Parts")
    maybe: Part | None = key(None, "Perhaps", "day")
    entries: tuple[Entry, ...] = key((), "Entries")


DATA = {"size": 3, "parts": {"rate": 1.0}, "maybe": None, "entries": ({"weight": 1.0}, {})}


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("parts.rate", ("parts", "rate")),
        ("maybe.rate", ("maybe", "rate")),
        ("entries.1.weight", ("entries", 1, "weight")),
    ],
)
def test_a_value_may_vary_wherever_it_is(key, path):
    assert (
        varying.varying(Whole, DATA, key) == varying.varying(Whole, DATA, key, later=True) == path
    )


@pytest.mark.parametrize(
    ("key", "later", "said"),
    [
        ("seed", False, varying.SHARED),
        ("size", False, "is a shape, which sizes arrays or chooses code: all copies of a launch "),
        ("size", True, "launch share it; an entry can be left out"),
        ("seed", True, varying.SHARED),
        ("parts", False, "is a section; name one of its keys: rate"),
        ("rate", False, "unknown key; did you mean 'parts.rate'?"),
        ("seedd", False, "unknown key; did you mean 'seed'?"),
        ("seed.rate", False, "unknown key; did you mean"),
        ("entries.2.weight", False, "entries has no entry '2'"),
        ("entries.x.weight", False, "entries has no entry 'x'"),
        ("entries.-1.weight", False, "entries has no entry '-1'"),
    ],
)
def test_what_may_not_vary_says_why(key, later, said):
    with pytest.raises(varying.NotVarying) as refused:
        varying.varying(Whole, DATA, key, later=later)
    assert said in str(refused.value)
    assert str(refused.value).startswith(said) or later


def test_keys_are_found_in_sections_and_plain_data():
    assert varying.field_of(Whole, "parts.rate") is float and varying.field_of(Whole, "seed") is int
    assert varying.field_of(Whole, "maybe.rate") is float
    assert varying.field_of(Whole, "entries.0.weight") is float
    assert list(varying.leaves(DATA)) == ["size", "parts.rate", "maybe", "entries"]
    assert list(varying.leaves({"a": {"b": {"c": 1}}}, "x.")) == ["x.a.b.c"]
    for name, found in (("size", 3), ("parts.rate", 1.0), ("maybe.rate", None), ("none", None)):
        assert varying.value_at(DATA, name) == found
    assert varying.value_at(DATA, "entries.0.weight") == 1.0
    for name, found in (
        ("parts.rate", ("1/day", "Rate")),
        ("entries.1.weight", ("kg", "Weight")),
        ("maybe.rate", ("1/day", "Rate")),
        ("maybe", ("day", "Perhaps")),
        ("nothing", ("", "")),
    ):
        assert varying.unit_and_meaning(Whole, name) == found
    assert varying.section_of(Part | None) is varying.section_of(list[Part]) is Part
    assert varying.section_of(int) is None and varying.section_of(list[int]) is None


def test_settings_are_put_into_copies():
    base = {"a": {"b": {"c": 1}}, "list": ({"d": 1}, {"d": 2}), "none": None}
    for path, value_, where in (
        (("a", "b", "c"), 5, lambda d: d["a"]["b"]["c"]),
        (("list", 1, "d"), 6, lambda d: d["list"][1]["d"]),
        (("none", "e"), 7, lambda d: d["none"]["e"]),
        (("new", "f"), 8, lambda d: d["new"]["f"]),
        (("g",), 9, lambda d: d["g"]),
    ):
        data = dict(base)
        varying._put(data, path, value_)
        assert where(data) == value_
    assert base == {"a": {"b": {"c": 1}}, "list": ({"d": 1}, {"d": 2}), "none": None}
    for location, inside, missing in (
        (("a", "Part", "b"), ("a", "b"), ("a", "b")),
        (("list", "tuple", 1, "Entry", "d"), ("list", 1, "d"), ("list", 1, "d")),
        (("a", 0), ("a",), ("a", 0)),
        (("list", "d"), ("list",), ("list", "d")),
        (("list", 1, "Entry", "e"), ("list", 1), ("list", 1, "e")),
    ):
        assert path_of({"loc": location, "type": "int_type"}, base) == inside
        assert path_of({"loc": location, "type": "missing"}, base) == missing
        named = {"loc": location, "type": "value_error", "ctx": {KEY: "k"}}
        assert path_of(named, base) == (*inside, "k")


def test_a_column_of_a_table_is_a_coordinate_of_the_file():
    table = SimpleNamespace(
        columns={"pace": np.array([1.0, 2.0]), "goal.bonus": np.array([[1.0, 2.0, 3.0]] * 2)}
    )
    config = tallies.config()
    config._table = table
    for entries, own in (("", "goal.bonus.entry"), ("cell", "cell")):
        found = varying.coordinates(config, "society", {"pace"}, entries)
        facts = [(one.name, one.along, one.units) for one in found]
        expected = [
            ("vary.pace", ("society",), "units"),
            ("goal.bonus", ("society", own), "units"),
        ]
        if not entries:
            expected.insert(1, (own, (), found[1].units))
            assert found[1].values.tolist() == [0, 1, 2]
            assert found[1].long_name == "number of the entry of goal.bonus"
        assert facts == expected
    assert varying.coordinates(config, "society")[0].name == "pace"
    assert varying.coordinates(tallies.config(), "society") == []


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([1.0, np.inf], "pace"),
        ([[1.0, 2.0], [np.nan, 1.0]], "pace"),
        ([], "pace|row"),
        (["a", "b"], "pace"),
    ],
)
def test_a_table_has_finite_numbers(column, said):
    with pytest.raises(SocietiesError, match=said):
        table_of({"pace": column})


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("9007199254740992", 2**53),
        ("9007199254740993", None),
        ("1e300", 1e300),
        ("true", 1.0),
        ("yes", None),
    ],
)
def test_a_file_has_whole_numbers_that_a_double_has(tmp_path, text, number):
    (tmp_path / "t.csv").write_text(f"pace\n{text}\n")
    if number is None:
        with pytest.raises(SocietiesError, match=r"t.csv:2  pace"):
            table_of(tmp_path / "t.csv")
    else:
        assert table_of(tmp_path / "t.csv").columns["pace"].tolist() == [number]


# -- means and intervals of figures ---------------------------------------------------------------


def test_a_bootstrap_interval_is_that_of_means_of_samples_with_replacement():
    """Percentiles of the means of the very samples that the generator draws, one by one."""
    values = np.array(
        [[1.0, 4.0, np.nan], [2.0, np.nan, 3.0], [4.0, 9.0, np.nan], [8.0, 1.0, np.nan]]
    )
    level, resamples, seed = 0.8, 50, 3
    drawn = np.random.default_rng(seed).integers(0, 4, (resamples, 4))
    expected = np.full((2, 3), np.nan)
    for column in (0, 1):
        samples = [values[row, column] for row in drawn]
        means = [
            sample[~np.isnan(sample)].mean() for sample in samples if not np.isnan(sample).all()
        ]
        expected[:, column] = np.quantile(means, [0.1, 0.9])
    found = bands.ends_of_mean(values, level, resamples, seed)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    whole = values[:, :1].reshape(4, 1, 1)
    np.testing.assert_allclose(
        bands.ends_of_mean(whole, level, resamples, seed).ravel(), expected[:, 0], rtol=1e-12
    )
    assert np.isnan(bands.ends_of_mean(values[:1], level)).all()
    two = bands.ends_of_mean(np.array([[0.0], [1.0]]), 0.9)
    assert (
        two.ravel().tolist()
        == [0.0, 1.0]
        == bands.ends_of_mean(np.array([[0], [1]]), 0.9).ravel().tolist()
    )


def test_many_columns_are_drawn_in_parts_with_the_same_samples(monkeypatch):
    values = np.random.default_rng(1).normal(size=(5, 7))
    whole = bands.ends_of_mean(values, 0.9, 20)
    for columns in (1, 2, 3, 7):
        monkeypatch.setattr(bands, "_BYTES_AT_ONCE", columns * 8 * 20)
        np.testing.assert_allclose(bands.ends_of_mean(values, 0.9, 20), whole, rtol=1e-12)


@pytest.mark.parametrize("count", [1, 4, 5, 6, 9, 10])
@pytest.mark.parametrize("most", [1, 3, 5])
def test_ticks_are_thinned_to_means_of_neighbours(count, most):
    ticks, values = np.arange(10, 10 + count), np.arange(count, dtype=float)[None] ** 2
    values[0, count // 2] = np.nan
    found, means, each = bands.thinned(ticks, values, most)
    assert each == max(1, int(np.ceil(count / most))) and len(found) <= most
    parts = [slice(i, i + each) for i in range(0, count, each)]
    assert found.tolist() == [ticks[part].mean() for part in parts]
    if each == 1:
        np.testing.assert_array_equal(means, values)
        return
    expected = [np.mean([v for v in values[0, part] if v == v] or [np.nan]) for part in parts]
    np.testing.assert_allclose(means[0], expected)


def test_no_ticks_have_no_means():
    ticks, means, each = bands.thinned(np.arange(0), np.zeros((2, 0)), 5)
    assert len(ticks) == 0 and means.shape == (2, 0) and each == 1
