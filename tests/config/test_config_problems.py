"""Is every problem reported, all at once, at its place, in plain words?"""

import copy
import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from societies import config_from_dict, load_config
from societies.economy.config import EconomyConfig
from societies.errors import ConfigError
from societies.workload.running.registry import workload_names


def problems(tmp_path, text, overrides=()):
    """Return the lines of the error, without the folder."""
    file = tmp_path / "f.yaml"
    file.write_text("workload: economy\n" + text)
    with pytest.raises(ConfigError) as raised:
        load_config(file, overrides)
    return str(raised.value).replace(str(file), "f.yaml").splitlines()


ONE_PROBLEM = [
    ("agnets: 3", "2:1  agnets: unknown key; did you mean 'agents'?"),
    ("trading: {menu_sise: 3}", "2:11  trading.menu_sise: unknown key; did you mean 'menu_size'?"),
    ("agent: 3", "2:1  agent: unknown key; did you mean 'agents' or 'record.agent'?"),
    ("menu_size: 3", "2:1  menu_size: unknown key; did you mean 'trading.menu_size'?"),
    ("record: {trade_log: {zzz: 1}}", "2:22  record.trade_log.zzz: unknown key; the keys here are "
     "days, societies"),
    ("record: {numeraire: gold}", "2:21  record.numeraire: expected a whole number or any, "
     "got 'gold'"),
    ("1: 2", "2:1  1: unknown key"),
    ("agents: 3\nagents: 4", "3:1  agents: is given twice, first on line 2; keep one of the two"),
    ("agents: 2.5", "2:9  agents: expected a whole number, got 2.5"),
    ("agents: 1e3", "2:9  agents: expected a whole number, got 1e3"),
    ("agents: 010", "2:9  agents: 010: programs differ on numbers that begin with 0 (octal?); "
     "write 10"),
    ("agents: true", "2:9  agents: expected a whole number, got true"),
    ("agents: '5'", "2:9  agents: expected a whole number, got '5' (text; remove the quotes)"),
    ("agents: 1_000", "2:9  agents: expected a whole number, got '1_000' (write digits only)"),
    ("agents:", "2:8  agents: expected a whole number, got nothing"),
    ("agents: [3]", "2:9  agents: expected a whole number, got a list"),
    ("agents: 0", "2:9  agents: must be at least 1, got 0"),
    ("agents: -3", "2:9  agents: must be at least 1, got -3"),
    ("resources: 1", "2:12  resources: must be at least 2, got 1"),
    ("resources: 2000", "2:12  resources: must be at most 1024, got 2000"),
    ("days: 0", "2:7  days: must be at least 1, got 0"),
    ("seed: 18446744073709551616", "2:7  seed: must be at most 18446744073709551615, got "
     "18446744073709551616"),
    ("seed: -1", "2:7  seed: must be at least 0, got -1"),
    ("seed: " + "9" * 5000, "2:7  seed: a number of 5000 digits is too long"),
    ("day_length: 0", "2:13  day_length: must be more than 0, got 0"),
    ("day_length: .nan", "2:13  day_length: must be a finite number, got .nan"),
    ("day_length: -.inf", "2:13  day_length: must be a finite number, got -.inf"),
    ("day_length: 1e999", "2:13  day_length: must be a finite number, got 1e999"),
    ("day_length: nan", "2:13  day_length: expected a number, got 'nan'"),
    ("trade: on", "2:8  trade: expected true or false, got 'on' (write true or false)"),
    ("trade: 1", "2:8  trade: expected true or false, got 1"),
    ("devices: nnoe", "2:10  devices: expected one of none, tools, all, got 'nnoe'; did you mean "
     "'none'?"),
    ("devices: all\nresources: 6\ndevice: {components: 7}", "4:22  device.components: 7 is more "
     "than the 6 resources"),
    ("devices: tools\nresources: 6\ndevice: {resources_in_tool: 6}", "4:29  "
     "device.resources_in_tool: must be less than the 6 resources, got 6"),
    ("devices: all\ndevice: {lifetime: {industry: 1e9}}", "3:31  device.lifetime.industry: one "
     "industry would yield 2.7e+10 units, more than the 1000000000 that can be counted"),
    ("device: {lifetime: {tool: 0}}", "2:27  device.lifetime.tool: must be at least 1e-12, got 0"),
    ("device: {factor: {machine: -9}}", "2:28  device.factor.machine: must be more than 1, got -9"),
    ("device: {max_effort: 8}", "2:22  device.max_effort: 8 is less than min_effort (9)"),
    ("device: {components: 1}", "2:22  device.components: must be at least 2, got 1"),
    ("devices_market: {memory: 1}", "2:26  devices_market.memory: must be at least 2, got 1"),
    ("invention: {tool_probability: -1}", "2:31  invention.tool_probability: must be at least 0, "
     "got -1"),
    ("devices: all\nextraction: {min_effort: 0.01}", "3:26  extraction.min_effort: 0.01 min/unit "
     "81 times as fast make more than 1000000 units in a day of 600 minutes"),
    ("trading: {price: geometrical}", "2:18  trading.price: expected one of geometric, "
     "inverse_geometric, unit, got 'geometrical'; did you mean 'geometric'?"),
    ("trading: {menu_size: 60}", "2:22  trading.menu_size: 60 is more than the 48 resources"),
    ("trading:", "2:9  trading: expected a section of 'key: value' lines, got nothing; indent its "
     "keys below it, or leave it out"),
    ("agents: 5\n  resources: 4", "3:3  resources: is indented deeper than agents, which is not a "
     "section: begin it in the same column, 1"),
    ("trading:\n  rounds: 4\n    menu_size: 4", "4:5  menu_size: is indented deeper than rounds, "
     "which is not a section: begin it in the same column, 3"),
    ("trading:\n  rounds: 4\n menu_size: 4", "4:2  menu_size: begins in column 2, but the keys "
     "above in 1 and 3"),
    ("groups:\n  - name: a\n   count: 48", "4:4  count: begins in column 4, but the keys above in "
     "1 and 5"),
    ("trading:\n  rounds: 4\n  agents: 4", "4:3  trading.agents: unknown key; indent it less if it "
     "does not belong to trading"),
    ("agents 4\ndays: 3", "2:1  'agents 4': expected 'key: value', with a colon and a space"),
    ("days: 3\nagents:4\nseed: 3", "3:1  'agents:4': expected 'key: value', with a colon and a "
     "space"),
    ("devices: a: b", "2:10  devices: a text with ': ' in it must be in quotes"),
    ("utility: {exponent: 1}", "2:21  utility.exponent: must be more than 1, got 1"),
    ("utility: {scale: 1}", "2:18  utility.scale: must be more than utility.min_marginal (1), "
     "got 1"),
    ("resources: 3\nutility: {scale: [4, 5]}", "3:18  utility.scale: has 2 numbers for 3 "
     "resources"),
    ("resources: 2\nutility: {scale: [4, x]}", "3:22  utility.scale.1: expected a number, got 'x'"),
    ("extraction: {min_effort: 10}", "2:26  extraction.min_effort: 10 is more than max_effort (9)"),
    ("extraction: {max_effort: 2}", "2:26  extraction.max_effort: 2 is less than min_effort (3)"),
    ("resources: 2\nextraction: {min_effort: [9, 10]}", "3:30  extraction.min_effort.1: 10 is more "
     "than max_effort (9) of resource 1"),
    ("extraction: {min_effort: 1e-9}", "2:26  extraction.min_effort: 1e-09 min/unit make more than "
     "1000000 units in a day of 600 minutes"),
    ("consumption: {resource_lifetime: .5}", "2:34  consumption.resource_lifetime: must be at "
     "least 1, got .5"),
    ("days: 9\nrecord: {society: 10}", "3:19  record.society: 10 days are more than the run "
     "has (9); nothing would be recorded"),
    ("record: {society: 0}", "2:19  record.society: must be at least 1, got 0"),
    ("replicates: 3000000", "2:13  replicates: 2352000000 random streams are needed "
     "((first_society + replicates) x (agents + 1) x 16), more than the 2147441677 there are"),
    ("groups: {name: a}", "2:9  groups: expected a list, got a section"),
    ("record: {trade_log: true}", "2:21  record.trade_log: expected a section of 'key: value' "
     "lines, got true; its keys are days, societies"),
    ("groups: [3]", "2:10  groups.0: expected a section of 'key: value' lines, got 3"),
    ("groups: [{count: 48}]", "2:10  groups.0.name: is missing"),
    ("groups: [{name: a}]", "2:10  groups.0: needs count or share"),
    ("groups: [{name: a, count: 4, share: 1}]", "2:10  groups.0: has both count and share; give "
     "one"),
    ("groups: [{name: a, count: 47}]", "2:9  groups: the counts add up to 47, not to the 48 "
     "agents"),
    ("groups: [{name: a, share: .5}]", "2:9  groups: the shares add up to 0.5, not to 1"),
    ("groups: [{name: a, count: 24}, {name: a, count: 24}]", "2:39  groups.1.name: 'a' is the name "
     "of groups.0 already"),
    ("groups: [{name: a, count: 24}, {name: b, share: .5}]", "2:49  groups.1.share: groups.0 has a "
     "count; give all groups the same kind of size"),
    ("groups: [{name: a, share: .999}, {name: b, share: .001}]", "2:51  groups.1.share: 0.001 of "
     "48 agents is no agent"),
    ("groups: [{name: a, count: 48, extraction: {max_effort: 1}}]", "2:56  "
     "groups.0.extraction.max_effort: 1 is less than min_effort (3)"),
    ("groups: [{name: a, count: 48, utility: {min_marginal: 1}}]", "2:41  "
     "groups.0.utility.min_marginal: unknown key; did you mean 'utility.min_marginal'?"),
    ('groups: [{name: "a\\nb", count: 48}]', "2:17  groups.0.name: expected a name of printable "
     "characters"),
    ("shocks: [{day: 1, remove: agent, index: 48}]", "2:41  shocks.0.index: there is no agent 48; "
     "they are numbered 0 to 47"),
    ("shocks: [{day: 1, remove: agent, index: rnd}]", "2:41  shocks.0.index: expected a whole "
     "number or random, got 'rnd'"),
    ("shocks: [{day: 1, remove: agent, index: 3, holdings: keep}]", "2:54  shocks.0.holdings: only "
     "a resource has this key; a removed agent always loses everything"),
    ("shocks: [{day: 1, remove: agent, index: 3}, {day: 2, remove: agent, index: 3}]", "2:76  "
     "shocks.1.index: agent 3 is removed by shocks.0 already"),
    ("agents: 1\nshocks: [{day: 1, remove: agent, index: random}]", "3:10  shocks.0: removes the "
     "last agent; at least one must be left"),
    ("resources: 2\nshocks: [{day: 1, remove: resource, index: 1}, {day: 2, remove: resource, "
     "index: random}]", "3:48  shocks.1: removes the last resource; at least one must be left"),
    ("? [a, b]\n: 3", "2:3  a key must be a plain word"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line"), ONE_PROBLEM, ids=[t[:40] for t, _ in ONE_PROBLEM])
def test_one_problem_gives_one_line_at_its_place(tmp_path, text, line):
    assert problems(tmp_path, text) == [f"f.yaml:{line}"]


def test_a_section_that_lost_its_keys_and_the_keys_are_both_reported(tmp_path):
    """``rounds`` is a key of two sections; the empty one is meant."""
    assert problems(tmp_path, "devices_market:\nrounds: 4\nmenu_size: 3") == [
        "f.yaml:2:16  devices_market: expected a section of 'key: value' lines, got nothing; "
        "indent its keys below it, or leave it out",
        "f.yaml:3:1  rounds: unknown key; indent it if it belongs to devices_market",
        "f.yaml:4:1  menu_size: unknown key; did you mean 'trading.menu_size'?",
    ]


def test_a_first_line_that_is_indented_is_said_at_the_second(tmp_path):
    file = tmp_path / "f.yaml"
    file.write_text("  workload: economy\nagents: 3\n")
    with pytest.raises(ConfigError, match=r":2:1  agents: begins in column 1, but .* above in 3$"):
        load_config(file)


def test_a_misspelt_workload_hides_nothing_else(tmp_path):
    file = tmp_path / "f.yaml"
    file.write_text("workload: econmy\nagents: x\ntrading: {menu_sise: 3}\n")
    with pytest.raises(ConfigError) as raised:
        load_config(file)
    assert str(raised.value).replace(str(file), "f.yaml").splitlines() == [
        "f.yaml:1:11  workload: unknown workload 'econmy'; did you mean 'economy'? "
        f"(known: {', '.join(workload_names())})",
        "f.yaml:2:9  agents: expected a whole number, got 'x'",
        "f.yaml:3:11  trading.menu_sise: unknown key; did you mean 'menu_size'?",
    ]


RIGHT = {
    "workload": "economy", "agents": 10, "resources": 6, "days": 20, "replicates": 2,
    "groups": [{"name": "a", "share": 0.5}, {"name": "b", "share": 0.5}],
    "shocks": [{"day": 3, "remove": "agent", "index": 1}, {"day": 4, "remove": "resource",
                                                           "index": 2}],
    "devices": "all", "device": {"resources_in_tool": 3, "components": 3},
    "extraction": {"min_effort": 3, "max_effort": 9}, "utility": {"scale": [600] * 6},
    "record": {"agent": 5, "society": 1, "trade_log": {"days": [1, 2], "societies": 1}},
    "trading": {"menu_size": 4},
}  # fmt: skip
MISTAKES = {
    "agents": "x", "resources": "x", "days": -1, "agnets": 3, "replicates": 0, "devices": "al",
    "groups.0.share": 0.4, "groups.1.share": "half", "groups.1.name": "a", "groups.1.zzz": 3,
    "groups.0.count": 3, "groups.0.extraction": {"max_effort": 1},
    "shocks.0.day": "x", "shocks.0.index": 44, "shocks.1.index": 44, "shocks.1.remove": "resorce",
    "shocks.0.holdings": "keep", "shocks.1.dya": 3, "consumption": 3,
    "device.resources_in_tool": 6, "device.components": 9, "device.factor": {"tool": 0},
    "extraction.min_effort": 10, "utility.scale": [600] * 5, "utility.min_marginal": -1,
    "record.society": 50, "record.trade_log.societies": 9, "record.trade_log.days": [1, 1],
    "trading.menu_size": 60, "trading.rounds": "x", "trading.price": "geo",
}  # fmt: skip
DEPENDENT = {
    "agents": {"shocks.0.index"},
    "resources": {"shocks.1.index", "device.resources_in_tool", "device.components",
                  "utility.scale", "trading.menu_size"},
    "days": {"record.society"},
    "devices": {"device.resources_in_tool", "device.components"},
    "replicates": {"record.trade_log.societies"},
    "groups.1.share": {"groups.0.share"},
    "shocks.1.remove": {"shocks.1.index"},
    "extraction.min_effort": {"groups.0.extraction"},
}  # fmt: skip
"""What cannot be judged while the key before it is wrong: its value is unknown."""


def with_mistakes(*keys):
    data = copy.deepcopy(RIGHT)
    for key in keys:
        *parts, last = (int(part) if part.isdigit() else part for part in key.split("."))
        inner = data
        for part in parts:
            inner = inner.setdefault(part, {}) if isinstance(inner, dict) else inner[part]
        inner[last] = MISTAKES[key]
    try:
        config_from_dict(data)
    except ConfigError as error:
        return set(str(error).splitlines())
    return set()


@pytest.mark.thorough
def test_no_mistake_hides_another():
    """Found in use: shares and shocks were looked at only when all types were right."""
    assert with_mistakes() == set()
    alone = {key: with_mistakes(key) for key in MISTAKES}
    assert all(len(lines) == 1 for lines in alone.values())
    for one, other in itertools.combinations(MISTAKES, 2):
        hidden = (alone[one] | alone[other]) - with_mistakes(one, other)
        if other in DEPENDENT.get(one, ()) or one in DEPENDENT.get(other, ()):
            assert hidden in (alone[one], alone[other])
        else:
            assert not hidden, (one, other)


GOOD = [
    "devices: all\nresources: 2\nagents: 1",
    "devices: tools\nresources: 6\ndevice: {resources_in_tool: 5, components: 6}",
    "device: {resources_in_tool: 48, components: 49}",  # without devices it is not used
    "utility: {min_marginal: 1e-3}",
    "agents: 1\nresources: 2",
    "trading: {rounds: 0}",
    "resources: 4\ntrading: {menu_size: 4}",
    "extraction: {min_effort: 9}",
    "seed: 18446744073709551615",
    "groups: [{name: a, share: .333}, {name: b, share: .333}, {name: c, share: .334}]",
    "shocks: [{day: 0, remove: resource, index: 3}, {day: 500, remove: agent, index: 3}]",
    "shocks: [{day: 1, remove: agent, index: random}, {day: 1, remove: agent, index: random}]",
]


@pytest.mark.parametrize("text", GOOD)
def test_what_is_just_allowed(tmp_path, text):
    file = tmp_path / "f.yaml"
    file.write_text("workload: economy\n" + text)
    assert isinstance(load_config(file), EconomyConfig)


def test_everything_at_once_in_the_order_of_the_file(tmp_path):
    text = """\
trade: yes
trading: {menu_size: 9, rounds: -1}
resources: 8
groups:
  - {name: a, count: 40, utility: {scale: x}}
  - {name: a, count: 9}
  - {count: nine}
shocks:
  - {day: 600, remove: resource, index: 8}
  - {day: 1, remove: resource}
extraction: {mx_effort: 3}
resources: 9
"""
    assert problems(tmp_path, text, ["days=5e2", "record.society=0"]) == [
        "f.yaml:2:8  trade: expected true or false, got 'yes' (write true or false)",
        "f.yaml:3:22  trading.menu_size: 9 is more than the 8 resources",
        "f.yaml:3:33  trading.rounds: must be at least 0, got -1",
        "f.yaml:6:43  groups.0.utility.scale: expected a number, got 'x'",
        "f.yaml:7:12  groups.1.name: 'a' is the name of groups.0 already",
        "f.yaml:8:5  groups.2.name: is missing",
        "f.yaml:8:13  groups.2.count: expected a whole number, got 'nine'",
        "f.yaml:10:41  shocks.0.index: there is no resource 8; they are numbered 0 to 7",
        "f.yaml:11:5  shocks.1.index: is missing",
        "f.yaml:12:14  extraction.mx_effort: unknown key; did you mean 'max_effort'?",
        "f.yaml:13:1  resources: is given twice, first on line 4; keep one of the two",
        "override days=5e2  days: expected a whole number, got 5e2",
        "override record.society=0  record.society: must be at least 1, got 0",
    ]


def test_contradictions_with_a_wrong_value_are_not_invented(tmp_path):
    text = "resources: many\ntrading: {menu_size: 60}\nutility: {scale: [1, 2]}"
    assert problems(tmp_path, text) == [
        "f.yaml:2:12  resources: expected a whole number, got 'many'",
        "f.yaml:4:19  utility.scale.0: must be more than utility.min_marginal (1), got 1",
    ]


@pytest.mark.parametrize(
    ("first_line", "message"),
    [
        ("agents: 3", ":1:1  workload: is missing"),
        ("workload: econmy", ":1:11  workload: unknown workload 'econmy'; did you mean 'economy'?"),
        ("workload: [economy]", ":1:11  workload: expected one of "),
        ("workload:", ":1:10  workload: expected one of "),
    ],
)
def test_workload(tmp_path, first_line, message):
    file = tmp_path / "f.yaml"
    file.write_text(first_line + "\n")
    with pytest.raises(ConfigError) as raised:
        load_config(file)
    assert message in str(raised.value)


def test_a_dictionary_has_no_lines_but_the_same_checks():
    with pytest.raises(ConfigError) as raised:
        config_from_dict({"workload": "economy", "trading": {"menu_size": 60}, "agents": 0, "x": 1})
    assert str(raised.value).splitlines() == [
        "trading.menu_size: 60 is more than the 48 resources",
        "agents: must be at least 1, got 0",
        "x: unknown key",
    ]


def test_a_dictionary_inside_itself():
    data = {"workload": "economy"}
    data["groups"] = [data]
    with pytest.raises(ConfigError, match="nested more than 20 levels"):
        config_from_dict(data)


words = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1)
SECTIONS = [(), ("utility",), ("extraction",), ("consumption",), ("trading",), ("record",)]


@given(word=words, section=st.sampled_from(SECTIONS), line=st.integers(0, 3))
@example(word="workload ", section=(), line=0)
@example(word="\u0085", section=(), line=0)
@example(word="a.b", section=("trading",), line=2)
def test_any_unknown_key_is_reported_at_its_line(tmp_path_factory, word, section, line):
    model = EconomyConfig
    for part in section:
        model = model.model_fields[part].annotation
    if word in model.model_fields:
        return
    key = '"' + "".join(f"\\U{ord(c):08x}" for c in word) + '"'
    indent = "  " if section else ""
    lines = [f"{part}:" for part in section] + [f"{indent}# comment"] * line + [f"{indent}{key}: 1"]
    file = tmp_path_factory.getbasetemp() / "unknown.yaml"
    file.write_text("\n".join(["workload: economy", *lines]), encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        load_config(file)
    (text,) = str(raised.value).splitlines()
    assert text.startswith(f"{file}:{len(lines) + 1}:{len(indent) + 1}  ")
    assert ": unknown key" in text


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
KEYS = st.sampled_from(
    [*EconomyConfig.model_fields, "name", "count", "share", "day", "remove", "index", "scale"]
)


SECTION = st.dictionaries(KEYS, ANYTHING, max_size=4)


@given(st.dictionaries(KEYS, st.lists(SECTION, max_size=3) | SECTION | ANYTHING, max_size=6))
def test_whatever_is_given_the_answer_is_a_configuration_or_one_line_per_problem(data):
    data["workload"] = "economy"
    try:
        config = config_from_dict(data)
    except ConfigError as error:
        lines = str(error).splitlines()
        assert lines
        assert all(": " in line for line in lines)
    else:
        assert isinstance(config, EconomyConfig)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (
            {"workload": "kalah", "board": [4, 4, 4, 4, 4, 4, 0] * 1 + [4, -4]},
            "board.8: must be at",
        ),
        ({"workload": "kalah", "board": 4}, "board: expected a list, got 4"),
        ({"workload": "kalah", "board": "strat"}, "board: expected 'start', got 'strat'; did you"),
        ({"workload": "raytracer", "tile": 0}, "tile: must be at least 8, got 0"),
        ({"workload": "raytracer", "tile": 12}, "tile: must be a multiple of 8, got 12"),
        ({"workload": "raytracer", "tile": "atuo"}, "tile: expected 'auto', got 'atuo'; did you"),
    ],
    ids=str,
)
def test_of_alternatives_the_one_that_was_meant_is_reported(mapping, message):
    with pytest.raises(ConfigError) as caught:
        config_from_dict(mapping)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"extraction": {"min_effort": []}}, "extraction.min_effort: has 0 numbers"),
        (
            {"consumption": {"resource_lifetime": []}},
            "consumption.resource_lifetime: has 0 numbers",
        ),
        ({"utility": {"scale": [], "exponent": 2.5}}, "utility.scale: has 0 numbers"),
        ({"utility": {"exponent": []}}, "utility.exponent: has 0 numbers"),
        ({"workload": "laplace", "steps": 9, "conductor": [[1.0, 2.0]]}, "conductor.0: expected"),
        (
            {"workload": "laplace", "steps": 9, "conductor": [[[1]], {"rows": {"a": 1}}]},
            "conductor",
        ),
    ],
    ids=str,
)
def test_lists_without_numbers_and_of_lists_are_reported(mapping, message):
    """Found by breaking 10,000 configurations at random: these ended with a traceback."""
    with pytest.raises(ConfigError) as caught:
        config_from_dict({"workload": "economy", **mapping})
    assert message in str(caught.value)
