"""Is every mistake in a sweep found before anything runs, with its file and line?"""

import json
import re

import numpy as np
import pytest

from societies import sweep
from societies.errors import ConfigError, DeviceError
from societies.paths import shipped_sweeps
from societies.sweep import prepare
from societies.sweep.points import sweep_points
from societies.sweep.prepare import prepared

HEAD = "base: {workload: economy, agents: 5, resources: 4, days: 6}\n"


def problems(tmp_path, text, **more):
    path = tmp_path / "s.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        prepared(sweep.load_sweep(path), **more)
    return str(caught.value).replace(f"{tmp_path}/", "").split("\n")


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        (
            "sobol: {points: 4, keys: {seed: {distribution: normal, mean: 9, sd: 1, low: 99}}}",
            "s.yaml:2:40  vary.sobol.keys.seed: all values would be 99: low and high leave",
        ),
        (
            "sobol: {points: 4, keys: {day_length: {distribution: normal, mean: 9e9, sd: 1e-9}}}",
            "s.yaml:2:46  vary.sobol.keys.day_length: all values would be 9e+09: the distribution",
        ),
        (
            "grid: {trading.round: [1]}",
            "s.yaml:2:15  trading.round: unknown key; did you mean 'rou",
        ),
        ("grid: {days: []}", "s.yaml:2:21  vary.grid.days: is empty"),
        ("grid: {days: {low: 6, high: 3, steps: 2}}", "s.yaml:2:21  vary.grid.days: low must be l"),
        ("grid: {days: {low: 1, high: 3}}", "s.yaml:2:21  vary.grid.days: needs steps"),
        ("grid: {days: {low: 1, hi: 3}}", "s.yaml:2:30  vary.grid.days.hi: unknown key; did you"),
        ("grid: {days: [3, 0]}", "s.yaml:2:25  days: must be at least 1, got 0 (point 1)"),
        (
            "grid: {days: [3, 3]}",
            "s.yaml:2:25  the point 'days 3' appears twice, first at s.yaml:2:",
        ),
        (
            "grid: {day_length: [3, 3.0]}",
            "s.yaml:2:31  the point 'day_length 3.0' appears twice, first at s.yaml:2:28",
        ),
        (
            "grid: {trading.min_surplus: [0.0, 1, -0.0]}",
            "s.yaml:2:45  the point 'trading.min_surplus -0.0' appears twice, first at s.yaml:2:37",
        ),
        ("grid: {first_society: [0, 5]}", "s.yaml:2:15  first_society: is not varied: every run"),
        ("grid: {replicates: [3]}", "s.yaml:2:15  replicates: is not varied: a study has its own"),
        ("grid: {record.agent: [3]}", "s.yaml:2:15  record.agent: is the same at all points"),
        (
            "grid: {trading: [3]}",
            "s.yaml:2:15  trading: is a section; name one of its keys: rounds",
        ),
        ("zip: {days: [3, 4], seed: [1]}", "s.yaml:2:34  vary.zip.seed: has 1 values, days has 2"),
        ("zipp: {days: [3]}", "s.yaml:2:8  vary.zipp: unknown method; did you mean 'zip'?"),
        (
            "points: [{days: 3}, {seed: 3}]",
            "s.yaml:2:28  vary.points.1: has the keys seed; the fir",
        ),
        ("points: none.csv", "none.csv: cannot be read (No such file or directory)"),
        (
            "sobol: {points: 4, keys: {day_length: {distribution: normal, mean: 5, sd: -1}}}",
            "s.yaml:2:78  vary.sobol.keys.day_length.sd: must be more than 0, got -1",
        ),
        (
            "sobol: {points: 4, keys: {day_length: {low: 5, high: 4}}}",
            "s.yaml:2:46  vary.sobol.keys.day_length: low must be less than high, got 5 and 4",
        ),
        (
            "sobol: {points: 4, keys: {day_length: {distribution: gauss}}}",
            "s.yaml:2:47  vary.sobol.keys.day_length.distribution: unknown distribution 'gauss'",
        ),
        (
            "morris: {trajectories: 4, keys: {day_length: {distribution: normal, mean: 5, sd: 1}}}",
            "s.yaml:2:53  vary.morris.keys.day_length: normal has no ends, which this method needs",
        ),
        ("sobol: {point: 4}", "s.yaml:2:16  vary.sobol.point: unknown key; did you mean 'points'?"),
        (
            "sobol: {points: 2, keys: {trading.rounds: {low: 1, high: 9}}}",
            "s.yaml:2:50  trading.rounds: takes whole numbers: add 'whole: true' to its range",
        ),
        ("{}", "s.yaml:2:7  vary: is empty; name a method: grid, zip, points, latin_hypercube"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path, monkeypatch, vary, said):
    monkeypatch.chdir(tmp_path)
    found = problems(tmp_path, f"{HEAD}vary: {vary if vary == '{}' else '{' + vary + '}'}\n")
    assert any(line.startswith(said) for line in found), found


def test_a_missing_base_is_named_with_its_place(tmp_path, monkeypatch):
    """Found in use: the base was named, not the file and line that ask for it."""
    monkeypatch.chdir(tmp_path)
    assert problems(tmp_path, "base: economy/quikstart\nvary: {}\n") == [
        "s.yaml:1:7  base: economy/quikstart: no such file, nor a shipped configuration; "
        "did you mean 'economy/quickstart'?",
        "`societies list` names those that are shipped",
    ]


def test_a_missing_device_is_reported_before_workers_begin(tmp_path):
    """Found in use: every worker failed at every batch, with a traceback each."""
    with pytest.raises(DeviceError, match="titan"):
        sweep.run(
            {"base": "economy/quickstart", "vary": {"grid": {"day_length": [500, 600]}}},
            out=tmp_path / "s.h5",
            device="titan",
            workers=2,
        )
    assert not list(tmp_path.iterdir())


def test_without_a_file_no_place_is_named():
    """It said "first at" and "also at", and nothing behind it."""
    base = {"workload": "economy", "agents": 5, "resources": 4, "days": 6}
    for vary, said in (
        ({"grid": {"days": [3, 3]}}, "the point 'days 3' appears twice"),
        ({"grid": {"days": [3]}, "zip": {"days": [4]}}, "days: varies twice"),
    ):
        with pytest.raises(ConfigError) as caught:
            prepared(sweep.load_sweep({"base": base, "vary": vary}))
        assert str(caught.value) == said


def test_a_table_names_its_own_lines(tmp_path):
    text = f"{HEAD}vary: {{points: t.csv}}\n"
    for table, said in (
        ("agents,dayz\n4,1\n", "t.csv:1  dayz: unknown key; did you mean 'days'?"),
        ("agents,days\n4,1\n5,x\n", "t.csv:3  days: expected a whole number, got 'x'"),
        ("agents,days\n4,1\n5\n", "t.csv:3  has 1 entry for 2 keys"),
        ("days,days\n4,1\n", "t.csv:1  days: appears twice"),
        # As spreadsheets of many countries write it.
        ("agents;days\n4;1,5\n", "t.csv:2  days: expected a number, got '1,5'; write a point"),
    ):
        (tmp_path / "t.csv").write_text(table)
        assert problems(tmp_path, text)[0].startswith(said)


def test_all_mistakes_are_reported_at_once(tmp_path):
    text = "base: economy/quickstart\nset: {dayz: 3}\nvary: {grid: {days: [1]}}\n"
    assert problems(tmp_path, text) == ["s.yaml:2:13  dayz: unknown key; did you mean 'days'?"]
    text = f"{HEAD}vary: {{grid: {{days: [], seed: {{low: 2, high: 1}}}}, sobal: 1}}\n"
    assert len(problems(tmp_path, text)) == 3
    record = "record: {variables: [ginni], ticks: [9], final: [hold]}\n"
    record = f"{HEAD}vary: {{grid: {{days: [3]}}}}\n{record}"
    assert problems(tmp_path, record) == [
        "s.yaml:3:22  record.variables.0: unknown variable 'ginni'; did you mean 'gini'?",
        "s.yaml:3:38  record.ticks.0: day 9 is not recorded; recorded are 1 to 3",
        "s.yaml:3:50  record.final.0: unknown array of the state 'hold'; did you mean 'held'?",
    ]
    twice = f"{HEAD}vary: {{grid: {{days: [3]}}, zip: {{days: [4]}}}}\n"
    assert problems(tmp_path, twice) == ["s.yaml:2:33  days: varies twice, also at s.yaml:2:15"]


BASE = (
    "base: {workload: economy, agents: 5, resources: 4, days: 6, "
    "trading: {rounds: 3, menu_size: 2}, groups: [{name: one, count: 2}, {name: two, count: 3}]}\n"
)
VARY = "vary: {grid: {seed: [1]}}\n"


@pytest.mark.parametrize(
    "said",
    [
        "{trading: {rounds: 5, attempts: 7}, groups: {1: {name: able}}, record: {measures: true}}",
        "{trading: {rounds: 5}, trading.attempts: 7, groups.1.name: able, record.measures: true}",
        "{trading.attempts: 7, trading: {rounds: 5}, groups.1: {name: able}, "
        "record: {measures: true}}",
    ],
)
def test_a_section_that_is_set_is_merged_with_that_of_the_base(tmp_path, said):
    path = tmp_path / "s.yaml"
    path.write_text(f"{BASE}set: {said}\n{VARY}")
    base = sweep.load_sweep(path).base
    trading = base.trading
    assert (trading.rounds, trading.attempts, trading.menu_size) == (5, 7, 2)
    assert [(one.name, one.count) for one in base.groups] == [("one", 2), ("able", 3)]
    assert base.record.measures


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("{trading: {}}", "2:16  trading: is empty, so it sets nothing; name keys of it and their"),
        ("{record: {}}", "2:15  record: is empty, so it sets nothing; name keys of it and their"),
        (
            "{trading: {rounds: 4}, trading.rounds: 5}",
            "2:45  trading.rounds: is set twice, also at s.yaml:2:25",
        ),
        (
            "{record: {agent: 2}, record.agent: 3}",
            "2:41  record.agent: is set twice, also at s.yaml:2:23",
        ),
        ("{trading: {round: 4}}", "2:24  trading.round: unknown key; did you mean 'rounds'?"),
        ("{groups: {2: {count: 4}}}", "2:19  groups: has no entry '2'; its entries are 0 to 1"),
        ("{trading: 3}", "2:16  trading: expected"),
    ],
)
def test_what_cannot_be_merged_is_refused(tmp_path, said, problem):
    found = problems(tmp_path, f"{BASE}set: {said}\n{VARY}")
    assert any(line.startswith(f"s.yaml:{problem}") for line in found), found


IN_BASE = "base: {workload: economy, days: 6, KEY: 1}\nvary: {grid: {seed: [1]}}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{HEAD}vary: {{grid: {{seed: [1]}}}}\nrecord: {{network: [2]}}\n",
            "s.yaml:3:10  record.network: unknown key; it belongs to the base: "
            "'set: {record.network: ...}'",
        ),
        (
            "base: economy/quickstart\nvary: {grid: {seed: [1]}}\nmax_experience: 3\n",
            "s.yaml:3:1  max_experience: unknown key; it belongs to the base: "
            "'set: {extraction.max_experience: ...}' or 'set: {device.max_experience: ...}'",
        ),
        (
            f"{HEAD}vary: {{grid: {{seed: [1]}}}}\ntrading: {{rounds: 3}}\n",
            "s.yaml:3:1  trading: unknown key; it belongs to the base: 'set: {trading.KEY: ...}'",
        ),
        (
            "base: {workload: laplace}\nvary: {grid: {side: [8]}}\ntrading: {rounds: 3}\n",
            "s.yaml:3:1  trading: unknown key; the keys here are workload, model, label, base, ",
        ),
        (
            "base: none.yaml\nvary: {grid: {side: [8]}}\ntrading: {rounds: 3}\n",
            "s.yaml:3:1  trading: unknown key; the keys here are workload, model, label, base, ",
        ),
        (
            IN_BASE.replace("KEY", "common_random_numbers"),
            "s.yaml:1:36  common_random_numbers: unknown key; it belongs to the sweep, next to "
            "'base': common_random_numbers",
        ),
        (
            IN_BASE.replace("KEY: 1", "record: {ticks: [2]}"),
            "s.yaml:1:45  record.ticks: unknown key; it belongs to the sweep, next to 'base': "
            "record.ticks",
        ),
        (
            f"{HEAD}set: {{record.final: [held]}}\nvary: {{grid: {{seed: [1]}}}}\n",
            "s.yaml:2:21  record.final: unknown key; it belongs to the sweep, next to 'base': ",
        ),
        (
            f"{HEAD}vary: {{trading.rounds: [1, 2]}}\n",
            "s.yaml:2:8  vary.'trading.rounds': unknown method; a key of the base belongs below a "
            "method: grid",
        ),
        (
            f"{HEAD}vary: {{replicates: 4, grid: {{seed: [1]}}}}\n",
            "s.yaml:2:8  vary.replicates: unknown method; it belongs to the sweep, next to "
            "'base': ",
        ),
        (
            f"{HEAD}vary: {{sobol: {{points: 4, day_length: {{low: 1, high: 2}}}}}}\n",
            "s.yaml:2:27  vary.sobol.day_length: unknown key; a key of the base belongs below keys",
        ),
        (
            f"{HEAD}vary: {{grid: {{rounds: [1, 2]}}}}\n",
            "s.yaml:2:15  rounds: unknown key; did you mean 'trading.rounds'?",
        ),
        (
            f"{HEAD}vary: {{grid: {{common_random_numbers: [true, false]}}}}\n",
            "s.yaml:2:15  common_random_numbers: unknown key; it belongs to the sweep, next to "
            "'base': common_random_numbers, and the same at all points",
        ),
    ],
)
def test_a_key_at_a_wrong_place_gets_its_own_as_advice(tmp_path, text, said):
    found = problems(tmp_path, text)
    assert len(found) == 1 and found[0].startswith(said), found


def test_ten_million_points_are_meant_or_refused_at_once(tmp_path):
    text = f"{HEAD}vary: {{sobol: {{points: 10000000, keys: {{agents: {{low: 1, high: 2}}}}}}}}\n"
    found = problems(tmp_path, text)
    assert re.search("10,000,000 points, 10,000,000 runs; at 1,000 runs a second.*hours", found[0])
    assert found[1] == "to run all of them: yes=True"


def test_very_many_runs_that_are_meant_continue(tmp_path, monkeypatch):
    monkeypatch.setattr(prepare, "MANY", 3)
    grid = f"{HEAD}vary: {{grid: {{day_length: [100, 200, 300, 400]}}}}\n"
    assert problems(tmp_path, grid)[0].startswith("s.yaml: has 4 points, 4 runs; at 1,000 runs")
    (tmp_path / "s.yaml").write_text(grid)
    assert len(prepared(sweep.load_sweep(tmp_path / "s.yaml"), yes=True).points) == 4


def test_a_shape_with_many_values_is_reported_to_be_many_programs(tmp_path):
    grid = {"seed": list(range(100))}
    planned = sweep.plan(
        {
            "base": {"workload": "economy", "agents": 4, "resources": 3, "days": 2},
            "vary": {"grid": grid},
        },
        device="reference",
        time_it=False,
    )
    assert planned.warnings[0].startswith("seed: 100 values are up to 100 programs to compile")
    assert ("compilations", "at most 100 (seed)") in planned.rows


def test_a_run_tells_of_many_programs_before_it_begins(tmp_path, shell, monkeypatch):
    """Earlier only --dry-run reported it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(prepare, "MANY_PROGRAMS", 1)
    (tmp_path / "s.yaml").write_text(f"{HEAD}vary: {{grid: {{seed: [1, 2]}}}}\n")
    code, _, said = shell("sweep", "s.yaml", "--device", "reference")
    assert code == 0
    assert said.startswith("warning: seed: 2 values are up to 2 programs to compile, of some sec")


def test_designs_are_those_of_the_libraries():
    keys = {"day_length": {"low": 100, "high": 200}, "utility.exponent": {"low": 2, "high": 3}}
    counts = {
        "latin_hypercube": ({"points": 8}, 8),
        "sobol": ({"points": 8}, 8),
        "morris": ({"trajectories": 3}, 9),
        "saltelli": ({"points": 8}, 32),
    }
    for method, (options, count) in counts.items():
        vary = {method: {**options, "seed": 4, "keys": keys}}
        found = sweep.load_sweep({"base": "economy/quickstart", "vary": vary})
        points, _ = sweep_points(found)
        assert len(points) == found.count == count
        loaded = sweep.load_sweep({"base": "economy/quickstart", "vary": vary})
        assert points == sweep_points(loaded)[0]
        lengths = np.array([point["day_length"] for point in points])
        assert lengths.min() >= 100 and lengths.max() <= 200
        if method == "latin_hypercube":  # one in each of eight equal parts
            assert sorted(((lengths - 100) // 12.5).astype(int)) == list(range(8))
        json.dumps(found.definition)


@pytest.mark.parametrize("name", shipped_sweeps())
def test_shipped_sweeps_are_valid(name):
    ready = prepared(sweep.load_sweep(name))
    assert len(ready.points) > 1
