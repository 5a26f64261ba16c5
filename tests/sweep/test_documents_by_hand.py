"""What does a sweep's document mean, and which studies are the same? Worked out by hand.

With the workload whose numbers are sums (`tallies`), and with files of three lines.
"""

from __future__ import annotations

import hashlib
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import tallies

from societies import sweep
from societies.errors import ConfigError, OriginWarning, OutputError
from societies.sweep import prepare
from societies.sweep.document import INPUTS, SweepConfig, digest, files_in, load_sweep
from societies.sweep.factor import Unknown
from societies.sweep.layout import layout_of
from societies.sweep.merge import _require_parts
from societies.sweep.places import in_base, in_sweep
from societies.sweep.points import data_of, launch_config, shared_keys
from societies.sweep.prepare import _grown, _require_same, prepared, require_programs
from societies.workload.running.registry import MODELS
from societies.workload.running.sources import SOURCES, text_of

FIRST = 3
BASE = {"workload": "tallies", "days": 4, "first_society": FIRST}
VARY = {"grid": {"pace": [1.0, 2.0]}}
ECONOMY = {"workload": "economy", "agents": 5, "resources": 3, "days": 2}
RULES = "def price(most_a, least_b):\n    return most_a\n\n\n" + (
    "def other(most_a, least_b):\n    return least_b\n"
)


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    tallies.install(monkeypatch)


def said(base=BASE, **more):
    return {"base": base, "vary": VARY, **more}


def refusal(source, **more):
    """Return the message with which a sweep, a dictionary or a file, is refused."""
    with pytest.raises(ConfigError) as caught:
        prepared(load_sweep(source, **more))
    return str(caught.value)


def written(folder, text):
    path = folder / "s.yaml"
    path.write_text(text)
    return path


# -- documents ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({**BASE, "vary": VARY}, "is the configuration of a run; a sweep names it as"),
        (said(replicates=0), "replicates: "),
        (said({"workload": "matmul"}, vary={"grid": {"repeats": [1]}}, replicates=2), "replicates"),
        (said(5), "base: expected the name of a configuration, got 5"),
        (said([1]), "base: expected the name of a configuration, got a list"),
        (said([1], mistake=2), "mistake: unknown key; the keys here are workload, "),
        (said({"workload": ["x"]}, mistake=2), "mistake: unknown key; the keys here are workload"),
        (said(set={"goal": {"bonus": 4}, "goal.bonus": 5}), "goal.bonus: is set twice"),
        (said(set={"days.more": {"x": 1}}), "days"),
        (
            said(
                {**ECONOMY, "groups": [{"name": "x", "count": 5}]},
                set={"groups": {"last": {"name": "x"}}},
            ),
            "groups: has no entry 'last'; its entries are 0 to 0",
        ),
    ],
)
def test_what_is_no_sweep_is_named(source, message):
    found = refusal(source)
    assert found.startswith(message) and "None" not in found
    assert message != "replicates" or "has no random draws, so all runs of a point would" in found
    assert "twice" not in message or found == message


def test_a_file_that_holds_no_keys_is_refused(tmp_path):
    assert "s.yaml" in refusal(written(tmp_path, "- 1\n"))
    (tmp_path / "list.yaml").write_text("- 1\n")
    path = written(tmp_path, "base: list.yaml\nvary: {grid: {pace: [1.0]}}\n")
    assert "list.yaml" in refusal(path)


def test_a_mistake_in_the_base_has_the_place_of_the_base(tmp_path):
    """Positions of `set` are of keys that are set, not of all of their section."""
    groups = "groups: [{name: one, count: 2}, {name: two, count: 2}]"
    text = f"base:\n  workload: economy\n  agents: 5\n  {groups}\n"
    text += "set: {groups: {0: {name: able}}}\nvary: {grid: {seed: [1]}}\n"
    assert refusal(written(tmp_path, text)).partition("  ")[0].endswith("s.yaml:4:11")


def test_a_mistake_has_the_line_of_the_sweep(tmp_path):
    """The first of several lines that could have it, and of what an error would hide."""
    text = "base: {workload: matmul}\nreplicates: 2\nvary: {grid: {repeats: [1]}}\n"
    with pytest.raises(ConfigError, match=r"s.yaml:2:\d+  replicates: matmul has no random draws"):
        load_sweep(written(tmp_path, text))
    points = "vary:\n  points:\n    - pace: 2.0\n      pce: 1\n    - pce: 2\n      pace: 2.0\n"
    text = f"base: {{workload: tallies, days: 4}}\n{points}"
    assert "s.yaml:5:" in refusal(written(tmp_path, text)).partition("  ")[0]
    assert "'nothing'" in refusal(said({"workload": "nothing"}))
    assert "replicates: " in refusal(said({**BASE, "replicates": "many"}))


@pytest.mark.parametrize(("key", "whole"), [("pace", False), ("days", True)])
def test_a_range_is_advised_to_take_whole_numbers_only_for_a_key_that_does(key, whole):
    sampled = {"latin_hypercube": {"points": 3, "keys": {key: {"low": 0.25, "high": 2e6}}}}
    found = refusal(said(vary=sampled))
    assert ("takes whole numbers" in found) == whole and key in found


def test_what_is_not_recorded_is_named_with_what_is_near_or_available():
    for one, near in (
        ("totl", "; did you mean 'total'?"),
        ("zzz", "; it has carried, count, tally, total"),
    ):
        found = refusal(said(record={"variables": [one]}))
        assert found == f"record.variables.0: unknown variable '{one}'{near}"


def test_a_dictionary_may_name_rules_with_a_point(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_rules.py").write_text(RULES)
    rules = {"trading.price": "my_rules.py:price"}
    found = load_sweep(said(ECONOMY, set={"rules": rules}, vary=GRID))
    assert found.base.rules.trading.price == "my_rules.py:price"


GRID = {"grid": {"day_length": [100, 200]}}


def test_a_word_that_resembles_none_gets_a_list_of_the_known_ones():
    assert str(Unknown(("x", "zzz"), "thing", ["one", "two"], None)) == (
        "unknown thing; it has one, two"
    )
    assert "did you mean 'one'" in str(Unknown(("x", "ones"), "thing", ["one", "two"], None))


def test_only_a_key_that_a_sweep_has_too_belongs_to_it():
    assert in_sweep(SweepConfig)(("workload",)) == in_base(None)(("days",)) == ""
    assert in_sweep(SweepConfig)(("workload", "base")).endswith("next to 'base': base")
    assert in_sweep(SweepConfig)(("base", "workload")) == ""
    assert "'set: {days: ...}'" in in_base(MODELS["tallies"])(("days",))


def test_what_identifies_a_study_has_no_order():
    assert digest({"a": 1, "b": {"c": 2, "d": 3}}) == digest({"b": {"d": 3, "c": 2}, "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})


# -- rules that a study replaces ------------------------------------------------------------------


def test_rules_identify_a_study_by_their_text(tmp_path, monkeypatch):
    """Which functions: those of the base and of every point, each once; words are no functions."""
    monkeypatch.chdir(tmp_path)

    def hashes(text=RULES, base=None, **vary):
        (tmp_path / "my_rules.py").write_text(text)
        base = {**ECONOMY, "rules": base} if base else ECONOMY
        found = load_sweep(said(base, vary={"grid": {"day_length": [100, 200], **vary}}))
        assert all(found.plugged)
        return found.definition.get("rules")

    assert hashes() is None
    assert load_sweep(said(ECONOMY, vary=GRID)).plugged == []
    values = ["geometric", "my_rules.py:price", "my_rules.py:other"]
    varied = hashes(**{"rules.trading.price": values})
    assert [*varied] == ["trading.price=my_rules.py:other", "trading.price=my_rules.py:price"]
    of_base = hashes(base={"trading.price": "my_rules.py:price"})
    assert of_base.items() <= varied.items() and len(of_base) == 1
    assert len(set(varied.values())) == 2 and all(len(one) == 64 for one in varied.values())
    changed = hashes(RULES.replace("return most_a", "return most_a / 2.0"), {
        "trading.price": "my_rules.py:price"
    })  # fmt: skip
    assert changed.keys() == of_base.keys() and changed != of_base
    both = {"grid": {"rules.trading.price": ["my_rules.py:price"], "trading.rounds": [1, 2]}}
    found = load_sweep(said(ECONOMY, vary=both))
    assert len(found.rules()) == len(found.plugged) == 1
    assert len([line for line in found.python if "my_rules.py" in line]) == 1


# -- which copies there are -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "more", "batch"),
    [({"replicates": 3}, {}, 1), ({}, {"replicates": 3}, 2), ({}, {"replicates": 4}, None)],
)
def test_an_intervention_may_name_any_run_of_a_study(tmp_path, base, more, batch):
    """Society n adds its pace and n, and twice the pace and n; 5 alone has another pace later.

    Runs of a study of which each was a launch failed: no other knew that there is a society 5.
    """
    change = {"day": 1, "set": {"pace": 3.0}, "societies": [5]}
    source = said({**BASE, **base, "interventions": [change]}, **more)
    report = sweep.run(source, out=tmp_path / "s.h5", device="reference", batch=batch)
    assert not report.failures
    with sweep.open_study(tmp_path / "s.h5") as study:
        for row, (pace, number) in enumerate(
            zip(study.pace.values.tolist(), study.society.values.tolist(), strict=True)
        ):
            later = 3.0 if number == 5 else pace
            steps = [3 * pace + 2 * number] + [3 * later + 2 * number] * 3
            assert study.total[row].values.tolist() == np.cumsum(steps).tolist()


def test_an_intervention_names_no_run_that_does_not_exist():
    changes = [{"day": 1, "set": {"pace": 3.0}, "societies": [6]}]
    source = said({**BASE, "replicates": 9, "interventions": changes}, replicates=3)
    assert "there is no society 6; they are numbered 3 to 5" in refusal(source)
    base = MODELS["tallies"](**{**BASE, "interventions": changes, "replicates": 4})
    for numbers in ([6, 3], [3, 4], [3]):  # of the base as well as of the launch
        found = launch_config(base, {}, {"pace": np.ones(len(numbers))}, np.array(numbers))
        assert found.replicates == len(numbers)
    few = base.model_copy(update={"replicates": 1})
    assert launch_config(few, {}, {"pace": np.ones(2)}, np.array([3, 6])).replicates == 2
    with pytest.raises(ValueError, match="there is no society 6; they are numbered 3 to 5"):
        launch_config(few, {}, {"pace": np.ones(2)}, np.array([5, 3]))


def test_without_draws_every_run_is_a_launch_and_has_no_number():
    """The plate's source may vary within a launch, where the workload has copies."""
    found = load_sweep(said({"workload": "matmul"}, vary={"grid": {"repeats": [1, 2]}}))
    points = [{"repeats": 1}, {"repeats": 2}]
    assert shared_keys(found.base, data_of(found.base, 1), points) == {"repeats"}
    config = launch_config(found.base, {"repeats": 2}, {}, np.array([0]))
    assert config.repeats == 2 and "replicates" not in config.model_dump()
    ready = prepared(found)
    names = [
        one.name for one in layout_of(ready.sweep, ready.points, ready.runs, ready.shape).along
    ]
    assert "repeats" in names and {*names} <= {"point", "replicate", "seed", "repeats"}


# -- files that runs read -------------------------------------------------------------------------


def test_files_that_vary_are_known_by_their_contents(tmp_path, monkeypatch):
    """By name, in order; other keys may have any values."""
    monkeypatch.setattr(
        tallies.TalliesConfig, "inputs", lambda self: {"label": self.label} if self.label else {}
    )
    paths = [str(tmp_path / f"{name}.txt") for name in "fbdace"]
    for path in paths:
        (tmp_path / path).write_text(path)
    changed = [{"day": 2, "set": {"pace": 2.0}}]
    varied = {"zip": {"label": paths, "interventions": [[], changed] * 3}}
    found = load_sweep(said(vary=varied)).inputs()
    assert [*found.items()] == [
        (path, hashlib.sha256(path.encode()).hexdigest()) for path in sorted(paths)
    ]
    assert load_sweep(said()).inputs() == {}


def test_a_sweep_knows_its_files_by_their_name_and_contents():
    """The hash of Python in the base is in the version of the model."""
    base = {"model": None, "rules": {"trading": {"price": "d/own.py:price"}}}
    more = {"rules": {"trading.score=e/varied.py:score": "aa"}, INPUTS: {"in/a.txt": "ff"}}
    found = files_in({"base": base, **more})
    assert found["d/own.py:price"] == "|own.py:price"
    assert found["e/varied.py:score"] == "aa|varied.py:score"
    assert found["in/a.txt"] == "ff|a.txt" and None not in found


# -- parts ----------------------------------------------------------------------------------------


def part(**more):
    facts = {"path": "one.h5", "definition": OF_A_FILE, "points": [{"x": 1}], "variables": ["v"]}
    return SimpleNamespace(**{**facts, "events": {"e": 1}, "attributes": {}, **more})


OF_A_FILE = {"a": 1, INPUTS: {"f.txt": "1"}}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"definition": {**OF_A_FILE, "a": 2}}, "two: is of another sweep than one.h5"),
        (
            {"definition": {"a": 1, INPUTS: {"f.txt": "2"}}},
            "two: f.txt has other contents than for one.h5",
        ),
        ({"points": [{"x": 2}]}, "two: has other points than one.h5; parts of a sampled design"),
        ({"variables": ["v", "w"]}, "two: has other variables than one.h5"),
        ({"events": {}}, "two: has other variables than one.h5"),
        ({"events": {"e": 2}}, ""),
        ({}, ""),
    ],
)
def test_parts_are_of_one_study(other, message):
    known = {"attributes": {SOURCES: text_of({"a.py": "0" * 12})}}
    parts = [part(), part(path="three", **known), part(path="two", **known, **other)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OriginWarning)  # the first does not say of which rules
        if not message:
            _require_parts(parts)
            return
        with pytest.raises(OutputError, match=message):
            _require_parts(parts)


def test_what_is_merged_has_the_attributes_of_the_first_and_overwrites_nothing(tmp_path):
    paths = [tmp_path / "a.h5", tmp_path / "b.h5"]
    made = []
    for number, path in enumerate(paths, 1):
        sweep.run(said(), out=path, device="reference", part=(number, 2))
        with sweep.open_study(path) as study:
            made.append(study.attrs["created"])
    out = tmp_path / "whole.h5"
    report = sweep.merge(paths[:1], out)
    assert (report.runs, list(report.notes)) == (1, ["1 of 2 runs are in none of these parts"])
    with pytest.raises(OutputError, match=r"whole\.h5"):
        sweep.merge(paths, out)
    for order in (paths, paths[::-1]):
        sweep.merge(order, out, overwrite=True)
        with sweep.open_study(out) as study:
            assert study.attrs["created"] == made[paths.index(order[0])]
            assert study.pace.values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("first", [0, 1])
def test_what_is_merged_leads_to_the_files_of_the_first_part(tmp_path, monkeypatch, first):
    """Paths of a sweep are as seen from the folder in which it was begun."""
    monkeypatch.setattr(tallies.TalliesConfig, "files", lambda self: [("label",)])
    paths = []
    for number, name in enumerate(("a", "b"), 1):
        folder = tmp_path / name
        (folder / "out").mkdir(parents=True)
        monkeypatch.chdir(folder)
        paths.append(folder / "out" / "part.h5")
        sweep.run(said(), out=paths[-1], device="reference", part=(number, 2))
    (tmp_path / "whole").mkdir()
    out = tmp_path / "whole" / "study.h5"
    sweep.merge([paths[first], paths[1 - first]], out)
    with sweep.open_study(out) as study:
        assert study.attrs["folder"] == f"../{'ab'[first]}"
        assert study.attrs["files"] == "base.label"


def test_parts_that_share_a_run_are_named(tmp_path):
    paths = [tmp_path / f"{name}.h5" for name in ("first", "second", "both")]
    for path, part in zip(paths, ((1, 2), (2, 2), (2, 2)), strict=True):
        sweep.run(said(), out=path, device="reference", part=part)
    with pytest.raises(OutputError) as found:
        sweep.merge(paths, tmp_path / "whole.h5")
    both = f"{paths[1]} and in {paths[2]}"
    assert str(found.value) == f"run 1 is in {both}; merge parts that have no run in common"


def test_files_of_a_base_and_of_keys_that_vary_are_noted():
    keys = [("scene",), ("label",), ("players", 0, "path")]
    factors = [SimpleNamespace(keys=("scene", "pace")), SimpleNamespace(keys=("players",))]
    found = SimpleNamespace(base=SimpleNamespace(files=lambda: keys), factors=factors)
    assert prepare._data_files(found) == [
        *(("base", *key) for key in keys),
        ("vary", "grid", "scene"),
    ]


# -- studies that are continued --------------------------------------------------------------------


def test_a_study_continues_with_its_own_sweep_alone():
    here = {"base": {"a": 1}, "vary": [1], "model_version": 2}
    file = SimpleNamespace(path="s.h5", definition={**here, "vary": [2]}, attributes={})
    plan = SimpleNamespace(definition=here, base=SimpleNamespace(files=list))
    with pytest.raises(OutputError, match=r"(?s)vary is .2. in the file and .1. .*adds the points"):
        _require_same(plan, file, points=True)
    _require_same(plan, file, points=False)
    file.definition = {"base": {"a": 3}, "vary": [2], "model_version": 1}
    for points in (True, False):
        with pytest.raises(OutputError, match=r"sweep: base.a is 3 in the file and 1") as caught:
            _require_same(plan, file, points=points)
        assert "add_points" not in str(caught.value)
    file.definition = {**here, "base": 3}
    with pytest.raises(OutputError, match=r"base is 3 in the file and {'a': 1} in this sweep"):
        _require_same(plan, file, points=True)


def test_only_a_file_that_the_sweep_names_too_has_other_contents():
    here = {"base": {}, "vary": ["new.txt"], INPUTS: {"new.txt": "1"}}
    plan = SimpleNamespace(definition=here, base=SimpleNamespace(files=list))
    file = SimpleNamespace(path="s.h5", attributes={})
    for stored, message in (
        ({**here, INPUTS: {"new.txt": "2"}}, "s.h5: was made with other files: the contents of"),
        ({**here, "vary": ["o.txt"], INPUTS: {"o.txt": "2"}}, "s.h5: is a study of another sweep"),
    ):
        file.definition = stored
        with pytest.raises(OutputError, match=message):
            _require_same(plan, file, points=True)
    file.definition = {"base": {}, "vary": ["new.txt"]}  # an earlier study has no hashes
    _require_same(plan, file, points=True)


def grown(plan, stored, *, grow=False, sources=True, **more):
    """Continue a study that has the runs of the plan ``stored``; return its file and the new plan.

    The file returns the layout with which it would grow.
    """
    runs = stored.runs
    facts = {"path": "s.h5", "definition": stored.sweep.definition, "points": stored.points}
    facts |= {"runs": runs.number, "point": runs.point, "replicate": runs.replicate}
    facts |= {"variables": {**stored.shape.variables}, "grown": lambda layout: layout}
    facts["attributes"] = {SOURCES: text_of(stored.sources)} if sources else {}
    return _grown(plan, SimpleNamespace(**{**facts, **more}), grow=grow)


def test_only_points_that_are_asked_for_are_added():
    one, two = (prepared(load_sweep(said()), count) for count in (1, 2))
    file, plan = grown(one, one)
    assert plan.points == one.points and file.runs.tolist() == [0, 1]
    layout, plan = grown(two, one)
    assert layout.runs.tolist() == [0, 1, 2, 3] and plan.runs.point.tolist() == [0, 1, 0, 1]
    assert layout.attributes[SOURCES] == text_of(one.sources)
    # Another version of SciPy may sample other points for the same sweep: the file's are taken.
    other = [{"pace": 5.0}, {"pace": 2.0}]
    sampled = SimpleNamespace(**{**vars(one), "points": other, "sources": one.sources})
    _, plan = grown(sampled, one)
    assert [point["pace"] for point in plan.points] == [1.0, 2.0]
    layout, plan = grown(sampled, one, grow=True)
    assert [point["pace"] for point in plan.points] == [1.0, 2.0, 5.0]
    assert plan.runs.point.tolist() == [0, 1, 2] and layout.runs.tolist() == [0, 1, 2]


def test_a_study_that_grows_keeps_what_it_records():
    one, two = (prepared(load_sweep(said()), count) for count in (1, 2))
    with pytest.warns(OriginWarning, match=r"s\.h5: does not say by which rules it was made"):
        layout, _ = grown(two, one, sources=False)
    assert SOURCES not in layout.attributes
    with pytest.raises(OutputError, match=r"s\.h5: has variables that the sweep does not record"):
        grown(two, one, variables={**one.shape.variables, "more": None})


@pytest.mark.parametrize(("most", "many", "allowed"), [(4, 4, True), (4, 3, False), (3, 9, False)])
def test_a_study_has_at_most_as_many_runs_as_are_allowed(monkeypatch, most, many, allowed):
    monkeypatch.setattr(prepare, "MOST_RUNS", most)
    monkeypatch.setattr(prepare, "MANY", many)
    source = load_sweep(said(replicates=2))
    if allowed:
        assert len(prepared(source).runs.number) == 4
        return
    with pytest.raises(ConfigError, match="has 2 points, 4 runs"):
        prepared(source)


def test_programs_of_points_have_to_be_allowed():
    uci = [{"kind": "uci", "path": "sh -c false"}, {"kind": "random"}]
    match = {"workload": "chess_match", "games": 2, "players": uci}
    plan = prepared(load_sweep(said(match, vary={"grid": {"seed": [1, 2]}})))
    with pytest.raises(ConfigError, match="sh -c false"):
        require_programs(plan, False)
    require_programs(plan, True)
    require_programs(prepared(load_sweep(said())), False)
