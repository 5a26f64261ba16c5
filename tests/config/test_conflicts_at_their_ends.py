"""What do keys of an economy that contradict each other say, and is the last value before allowed?

Each case is what is just too much, with all lines that it is refused with, and what is just enough.
Bounds of numbers are computed by hand.
"""

import pytest

from reference_py.primitives.rng import STREAM_GAP
from societies import config_from_dict
from societies.economy.config import bounds, conflicts
from societies.errors import ConfigError

SMALL = {"workload": "economy", "agents": 4, "resources": 5, "days": 10, "replicates": 2}
RECORDED = {"measures": True}
LONG = {"days": 100, "day_length": 1e5}
AGENT = {"remove": "agent", "day": 3}
RESOURCE = {"remove": "resource", "day": 3}


def lines(**changes):
    """Return the lines with which a configuration is refused, none if it is valid."""
    try:
        config_from_dict({**SMALL, **changes})
    except ConfigError as error:
        return str(error).splitlines()
    return []


def shocks(*indices, **more):
    return {"shocks": [{**AGENT, "index": index, **more} for index in indices]}


def groups(*each):
    return {"groups": [{"name": f"g{i}", **one} for i, one in enumerate(each)]}


def of_group(**sections):
    return groups({"count": 1, **sections}, {"count": 3})


ENDS = [
    (
        {"trading": {"menu_size": 6}},
        {"trading": {"menu_size": 5}},
        ["trading.menu_size: 6 is more than the 5 resources"],
    ),
    (
        {"record": {**RECORDED, "numeraire": 5}},
        {"record": {**RECORDED, "numeraire": 4}},
        ["record.numeraire: there is no resource 5: they are 0 to 4"],
    ),
    (
        {"record": {"numeraire": 0}},
        {"record": {"numeraire": "any"}},
        ["record.numeraire: is used for prices, which are only recorded with measures: true"],
    ),
    (
        {"devices": "tools", "device": {"resources_in_tool": 5}},
        {"devices": "none", "device": {"resources_in_tool": 5}},
        ["device.resources_in_tool: must be less than the 5 resources, got 5"],
    ),
    (
        {"devices": "all", "device": {"components": 6}},
        {"devices": "all", "device": {"components": 5, "resources_in_tool": 4}},
        ["device.components: 6 is more than the 5 resources"],
    ),
    (
        {
            "devices": "tools",
            "extraction": {"min_effort": 0.5},
            "device": {"lifetime": {"tool": 2.6e8}, "factor": {"tool": 2.0}},
        },
        {
            "devices": "tools",
            "extraction": {"min_effort": 0.5},
            "device": {"lifetime": {"tool": 2.5e8}, "factor": {"tool": 2.0}},
        },
        [
            "device.lifetime.tool: one tool would yield 1.04e+09 units, more than the 1000000000 "
            "that can be counted"
        ],
    ),
    (  # of the group that works fastest, and of the resource that takes least
        {
            "devices": "tools",
            "device": {"lifetime": {"tool": 2.6e8}, "factor": {"tool": 2.0}},
            **of_group(extraction={"min_effort": [3.0, 0.5, 3.0, 3.0, 3.0]}),
        },
        {
            "devices": "tools",
            "device": {"lifetime": {"tool": 2.6e8}, "factor": {"tool": 2.0}},
            **of_group(extraction={"min_effort": [3.0, 0.6, 3.0, 3.0, 3.0]}),
        },
        [
            "device.lifetime.tool: one tool would yield 1.04e+09 units, more than the 1000000000 "
            "that can be counted"
        ],
    ),
    (
        {
            "devices": "all",
            "device": {
                "min_effort": 0.25,
                "lifetime": {"device_machine": 1.3e8},
                "factor": {"device_machine": 2.0},
            },
        },
        {
            "devices": "all",
            "device": {
                "min_effort": 0.25,
                "lifetime": {"device_machine": 1.25e8},
                "factor": {"device_machine": 2.0},
            },
        },
        [
            "device.lifetime.device_machine: one device machine would yield 1.04e+09 devices, more "
            "than the 1000000000 that can be counted"
        ],
    ),
    (
        {"utility": {"scale": 5.0, "min_marginal": 5.0}},
        {"utility": {"scale": 5.01, "min_marginal": 5.0}},
        ["utility.scale: must be more than utility.min_marginal (5), got 5"],
    ),
    (
        {"utility": {"scale": [6.0, 7.0, 4.0, 8.0, 9.0], "min_marginal": 5.0}},
        {"utility": {"scale": [6.0, 7.0, 5.1, 8.0, 9.0], "min_marginal": 5.0}},
        ["utility.scale.2: must be more than utility.min_marginal (5), got 4"],
    ),
    (
        of_group(utility={"scale": 1.0}),
        of_group(utility={"scale": 1.01}),
        ["groups.0.utility.scale: must be more than utility.min_marginal (1), got 1"],
    ),
    (
        {"utility": {"scale": [600.0, 600.0]}},
        {"utility": {"scale": [600.0] * 5}},
        ["utility.scale: has 2 numbers for 5 resources"],
    ),
    (
        {"consumption": {"resource_lifetime": [9.0]}},
        {"consumption": {"resource_lifetime": [9.0] * 5}},
        ["consumption.resource_lifetime: has 1 number for 5 resources"],
    ),
    (
        {"day_length": 1000.0, "extraction": {"min_effort": 0.0009}},
        {"day_length": 1000.0, "extraction": {"min_effort": 0.001}},
        [
            "extraction.min_effort: 0.0009 min/unit make more than 1000000 units in a day of 1000 "
            "minutes"
        ],
    ),
    (
        {"day_length": 1000.0, "extraction": {"min_effort": [3.0, 0.0009, 3.0, 3.0, 3.0]}},
        {"day_length": 1000.0, "extraction": {"min_effort": [3.0, 0.001, 3.0, 3.0, 3.0]}},
        [
            "extraction.min_effort.1: 0.0009 min/unit make more than 1000000 units in a day of "
            "1000 minutes"
        ],
    ),
    (
        {
            "day_length": 1000.0,
            "devices": "tools",
            "extraction": {"min_effort": 0.0019},
            "device": {"factor": {"tool": 2.0}, "min_effort": 0.002},
        },
        {
            "day_length": 1000.0,
            "devices": "tools",
            "extraction": {"min_effort": 0.002},
            "device": {"factor": {"tool": 2.0}, "min_effort": 0.001},
        },
        [
            "extraction.min_effort: 0.0019 min/unit 2 times as fast make more than 1000000 units "
            "in a day of 1000 minutes"
        ],
    ),
    (
        {"day_length": 1000.0, "devices": "tools", "device": {"min_effort": 0.0009}},
        {"day_length": 1000.0, "devices": "tools", "device": {"min_effort": 0.001}},
        [
            "device.min_effort: 0.0009 min/device make more than 1000000 devices in a day of 1000 "
            "minutes"
        ],
    ),
    # Least and largest effort: reported where the user wrote it.
    (
        {"extraction": {"max_effort": 2.0}},
        {"extraction": {"max_effort": 3.0}},
        ["extraction.max_effort: 2 is less than min_effort (3)"],
    ),
    (
        {"extraction": {"min_effort": 5.0, "max_effort": 4.0}},
        {"extraction": {"min_effort": 4.0, "max_effort": 4.0}},
        ["extraction.min_effort: 5 is more than max_effort (4)"],
    ),
    (
        {"extraction": {"min_effort": [1.0, 2.0, 3.0, 4.0, 9.5]}},
        {"extraction": {"min_effort": [1.0, 2.0, 3.0, 4.0, 9.0]}},
        ["extraction.min_effort.4: 9.5 is more than max_effort (9) of resource 4"],
    ),
    (
        {"extraction": {"max_effort": [9.0, 2.0, 9.0, 1.0, 9.0]}},
        {"extraction": {"max_effort": [9.0, 3.0, 9.0, 3.0, 9.0]}},
        [
            "extraction.max_effort.1: 2 is less than min_effort (3) of resource 1",
            "extraction.max_effort.3: 1 is less than min_effort (3) of resource 3",
        ],
    ),
    (
        of_group(extraction={"min_effort": 10.0}),
        of_group(extraction={"min_effort": 9.0}),
        ["groups.0.extraction.min_effort: 10 is more than max_effort (9)"],
    ),
    (
        of_group(extraction={"max_effort": 2.0}),
        of_group(extraction={"max_effort": 3.0}),
        ["groups.0.extraction.max_effort: 2 is less than min_effort (3)"],
    ),
    (
        of_group(extraction={"min_effort": 5.0, "max_effort": 4.0}),
        of_group(extraction={"max_experience": 40.0}),
        ["groups.0.extraction.min_effort: 5 is more than max_effort (4)"],
    ),
    (
        {"extraction": {"max_effort": 2.0}, **of_group(extraction={"max_experience": 40.0})},
        {"extraction": {"max_effort": 3.0}, **of_group(extraction={"max_experience": 40.0})},
        ["extraction.max_effort: 2 is less than min_effort (3)"],
    ),
    (
        {**LONG, **of_group(utility={"exponent": 1.1})},
        {**LONG, **of_group(utility={"exponent": 2.5})},
        [
            "groups.0.utility.exponent: 1.1 needs a table of more than 2000000 units down to "
            "utility.min_marginal (1); raise that"
        ],
    ),
    (  # with the largest scale, wherever it is
        {
            **LONG,
            "utility": {"exponent": 1.25, "scale": 10.0},
            **of_group(utility={"scale": 600.0}),
        },
        {**LONG, "utility": {"exponent": 1.25, "scale": 10.0}, **of_group(utility={"scale": 12.0})},
        [
            "utility.exponent: 1.25 needs a table of more than 2000000 units down to "
            "utility.min_marginal (1); raise that"
        ],
    ),
    (
        {"day_length": 1000.0, **of_group(extraction={"min_effort": 0.0009})},
        {"day_length": 1000.0, **of_group(extraction={"min_effort": 0.001})},
        [
            "groups.0.extraction.min_effort: 0.0009 min/unit make more than 1000000 units in a day "
            "of 1000 minutes"
        ],
    ),
    # Groups.
    (
        {"groups": [{"name": "x", "count": 2}, {"name": "x", "count": 2}]},
        {"groups": [{"name": "x", "count": 2}, {"name": "y", "count": 2}]},
        ["groups.1.name: 'x' is the name of groups.0 already"],
    ),
    (groups({}, {"count": 4}), groups({"count": 4}), ["groups.0: needs count or share"]),
    (
        groups({"count": 4, "share": 1.0}),
        groups({"share": 1.0}),
        ["groups.0: has both count and share; give one"],
    ),
    (
        groups({"count": 2}, {"share": 0.5}),
        groups({"count": 2}, {"count": 2}),
        ["groups.1.share: groups.0 has a count; give all groups the same kind of size"],
    ),
    (
        groups({"share": 0.5}, {"share": 0.49}),
        groups({"share": 0.5}, {"share": 0.5}),
        ["groups: the shares add up to 0.99, not to 1"],
    ),
    (
        groups({"count": 2}, {"count": 3}),
        groups({"count": 1}, {"count": 3}),
        ["groups: the counts add up to 5, not to the 4 agents"],
    ),
    (
        groups({"share": 0.9}, {"share": 0.1}),
        groups({"share": 0.8}, {"share": 0.2}),
        ["groups.1.share: 0.1 of 4 agents is no agent"],
    ),
    # Removals.
    (shocks(4), shocks(3), ["shocks.0.index: there is no agent 4; they are numbered 0 to 3"]),
    (
        {"shocks": [{**RESOURCE, "index": 5}]},
        {"shocks": [{**RESOURCE, "index": 4}]},
        ["shocks.0.index: there is no resource 5; they are numbered 0 to 4"],
    ),
    (shocks(1, 2, 1), shocks(1, 2), ["shocks.2.index: agent 1 is removed by shocks.0 already"]),
    (
        shocks(4, 4),
        shocks(3),
        [
            "shocks.0.index: there is no agent 4; they are numbered 0 to 3",
            "shocks.1.index: there is no agent 4; they are numbered 0 to 3",
        ],
    ),
    (
        shocks(1, 1, 1),
        shocks(1, 2, 3),
        [
            "shocks.1.index: agent 1 is removed by shocks.0 already",
            "shocks.2.index: agent 1 is removed by shocks.0 already",
        ],
    ),
    (
        shocks(0, "random", 2, 3),
        shocks(0, "random", 2),
        ["shocks.3: removes the last agent; at least one must be left"],
    ),
    (
        {"shocks": [{**RESOURCE, "index": "random"}] * 5},
        {"shocks": [{**RESOURCE, "index": "random"}] * 4 + shocks(1)["shocks"]},
        ["shocks.4: removes the last resource; at least one must be left"],
    ),
    (
        shocks(1, holdings="lose"),
        shocks(1),
        [
            "shocks.0.holdings: only a resource has this key; a removed agent always loses "
            "everything"
        ],
    ),
    (
        {"interventions": [{"day": 3, "holdings": "lose", "set": {"day_length": 9.0}}]},
        {"interventions": [{"day": 3, "set": {"day_length": 9.0}}]},
        ["interventions.0.holdings: has no effect without remove: resource or agent"],
    ),
    (
        {"interventions": [{**AGENT, "index": 4}]},
        {"interventions": [{**AGENT, "index": 3}]},
        ["interventions.0.index: there is no agent 4; they are numbered 0 to 3"],
    ),
    # Records.
    (
        {"record": {"society": 11}},
        {"record": {"society": 10}},
        ["record.society: 11 days are more than the run has (10); nothing would be recorded"],
    ),
    (
        {"record": {"trade_log": {"days": [2], "societies": 3}}},
        {"record": {"trade_log": {"days": [2], "societies": 2}}},
        ["record.trade_log.societies: 3 are more than the 2 that are run"],
    ),
    (
        {"record": {"trade_log": {"days": [2, 3, 2]}}},
        {"record": {"trade_log": {"days": [2, 3]}}},
        ["record.trade_log.days.2: day 2 is listed twice"],
    ),
]


@pytest.mark.parametrize(("too_much", "enough", "said"), ENDS)
def test_what_is_too_much_is_refused_and_what_is_enough_is_not(too_much, enough, said):
    assert lines(**enough) == []
    assert lines(**too_much) == said


@pytest.mark.parametrize(
    ("bound", "most", "said"),
    [
        (
            "largest_holding",
            2**31 - 1,
            "consumption.resource_lifetime: at 202 units a day",
        ),
        ("random_words", STREAM_GAP, "days: 10 days of consumption could use more than the"),
    ],
)
def test_counts_and_words_are_enough_up_to_the_last(monkeypatch, bound, most, said):
    monkeypatch.setattr(conflicts, bound, lambda config: most)
    assert lines() == []
    monkeypatch.setattr(conflicts, bound, lambda config: most + 1)
    (line,) = lines()
    assert line.startswith(said)


def test_what_depends_on_a_mistake_is_not_reported_too():
    for changes, said in (
        ({"agents": 0, **shocks(9)}, "agents: "),
        ({"shocks": [{**AGENT, "remove": "river", "index": 9}]}, "shocks.0.remove: "),
        ({"resources": 0, "trading": {"menu_size": 6}}, "resources: "),
        ({"record": {"measures": 3, "numeraire": 2}}, "record.measures: "),
        ({"days": 0, "record": {"society": 11}}, "days: "),
    ):
        (line,) = lines(**changes)
        assert line.startswith(said)


def test_a_mistake_hides_only_what_depends_on_it():
    """A kind of size depends on that of the first group, and an index on what is removed."""
    unlike = "groups.1.count: groups.0 has a share; give all groups the same kind of size"
    assert lines(**groups({"share": 0.5}, {"count": 2})) == [unlike]
    (line,) = lines(**groups({"share": "x"}, {"count": 2}))
    assert line.startswith("groups.0.share: ")
    (line,) = lines(**groups({"count": 2, "share": "x"}, {"share": 0.5}))
    assert line.startswith("groups.0.share: ")
    wrong, unlike = lines(**groups({"share": 0.5}, {"share": 0.5, "count": "x"}, {"count": 2}))
    assert wrong.startswith("groups.1.count: ")
    assert unlike.startswith("groups.2.count: groups.0 has a share")
    wrong, beyond = lines(**shocks("x", 4))
    assert wrong.startswith("shocks.0.index: ")
    assert beyond == "shocks.1.index: there is no agent 4; they are numbered 0 to 3"


def test_what_groups_do_not_say_is_not_said_to_be_wrong_in_each():
    effort = {"extraction": {"max_effort": 1.0, "min_effort": 2.0}}
    (line,) = lines(**groups({"count": 1}, {"count": 3}), **effort)
    assert line.startswith("extraction.")


def test_words_in_place_of_an_index_are_named():
    (line,) = lines(**shocks("rndom"))
    assert line == "shocks.0.index: expected a whole number or random, got 'rndom'"


def test_societies_in_turn_are_checked_as_one(monkeypatch):
    configs = [config_from_dict(SMALL), config_from_dict({**SMALL, "day_length": 700.0})]
    assert list(conflicts.too_large_in_turn(configs)) == []
    monkeypatch.setattr(conflicts, "largest_holding", lambda one: 2**31 * (one.day_length == 700))
    (found,) = conflicts.too_large_in_turn(configs)
    assert found.path == ("consumption", "resource_lifetime")


def warned(**changes):
    config = config_from_dict({**SMALL, **changes})
    return [
        (".".join(map(str, one.path)), one.message) for one in conflicts.economy_warnings(config)
    ]


def test_days_after_the_last_are_warned_of():
    log = {"trade_log": {"days": [4, 11]}}
    for devices in ("none", "tools"):
        late = warned(
            devices=devices,
            shocks=[{**AGENT, "index": 1, "day": 10}, {**AGENT, "index": 2, "day": 11}],
            record={"agent": 11, "agent_resource": 12, "device": 13, "keep": [10, 11], **log}
            | {"network": [12, 2]},
        )
        nothing = "are more than the run has (10): none of this is recorded"
        expected = [
            ("shocks.1.day", "11 is after the last day, 10: this shock is not reached"),
            ("record.agent", f"11 days {nothing}"),
            ("record.agent_resource", f"12 days {nothing}"),
            *([("record.device", f"13 days {nothing}")] if devices == "tools" else []),
            ("record.keep.1", "day 11 is after the last day, 10: its state is not stored"),
            ("record.network.0", "day 12 is after the last day, 10: its network is not recorded"),
            (
                "record.trade_log.days.1",
                "day 11 is after the last day, 10: its trades are not recorded",
            ),
        ]
        assert late == expected
    in_time = {"agent": 10, "agent_resource": 10, "device": 10, "keep": [10], "network": [10]}
    assert warned(devices="tools", record={**in_time, "trade_log": {"days": [10]}}) == []


# -- bounds


FACTORS = {"tool": 2.0, "machine": 3.0, "factory": 7.0, "industry": 5.0}
WORKING = {
    "agents": 3,
    "days": 20,
    "day_length": 100.5,
    "extraction": {"min_effort": [8.0, 2.0, 4.0, 9.0, 5.0]},
    "consumption": {"resource_lifetime": [3.0, 2.5, 4.2, 1.0, 2.0]},
    "device": {"factor": FACTORS, "resources_in_tool": 4, "components": 4},
}


@pytest.mark.parametrize(
    ("changes", "units"),
    [
        ({}, 50 + 2),  # 100.5 / 2
        ({"devices": "tools"}, 100 + 2),
        ({"devices": "all"}, 351 + 2),  # 100.5 x 7 / 2 = 351.75
        (of_group(extraction={"min_effort": 1.6}) | {"agents": 4}, 62 + 2),
    ],
)
def test_bounds_by_hand(changes, units):
    config = config_from_dict({**SMALL, **WORKING, **changes})
    assert bounds.units_a_day(config) == units
    held = units * 5  # 4.2 days, rounded up
    assert bounds.random_words(config) == 20 * (4 * held + 32 * 5)
    assert bounds.largest_holding(config) == max(16384, config.agents * 20 * units)
    long = config.model_copy(update={"days": 3, "day_length": 100.5 * 400})
    assert bounds._stock(long) == bounds.units_a_day(long) * 3
    many = config.model_copy(update={"days": 10_000})
    assert bounds.largest_holding(many) == max(16384, 64 * held)
    alone = config.model_copy(update={"agents": 1, "days": 700})
    assert bounds.largest_holding(alone) == max(16384, min(700 * units, 64 * held))


def test_a_configuration_around_several_has_the_largest_of_each():
    one = config_from_dict({**SMALL, **WORKING, "devices": "all"})
    other = config_from_dict(
        {
            **SMALL,
            **WORKING,
            "devices": "all",
            "day_length": 90.0,
            "extraction": {"min_effort": 1.5},
            "consumption": {"resource_lifetime": 9.0},
            "device": {
                **WORKING["device"],
                "factor": {**FACTORS, "tool": 9.0, "factory": 1.5},
                "lifetime": {"industry": 1e6},
                "min_effort": 0.5,
            },
            **of_group(consumption={"resource_lifetime": 11.0}),
            "agents": 4,
        }
    )
    for configs in ([one, other], [other, one]):
        around = bounds.envelope(configs)
        assert around.day_length == 100.5 and around.groups == ()
        assert around.extraction.min_effort == 1.5
        assert around.consumption.resource_lifetime == 11.0
        assert around.device.min_effort == 0.5
        assert around.device.factor.model_dump() == {
            **one.device.factor.model_dump(),
            "tool": 9.0,
            "machine": 3.0,
            "factory": 7.0,
            "industry": 5.0,
        }
        assert around.device.lifetime.industry == 1e6
        assert around.device.lifetime.tool == one.device.lifetime.tool
