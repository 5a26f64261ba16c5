"""Do interventions end, follow series and act on a group as they say, on device and reference?"""

import numpy as np
import pytest
from small import GROUPS

import societies
from societies import SocietiesError, config_from_dict, verify
from societies.errors import ConfigError, OutputError
from societies.workload.running.points import overlaps, points_of
from tests.parity.test_interventions import ensemble, run

ENDING = [
    {"day": 2, "until": 9, "set": {"day_length": 500.0, "utility.exponent": 2.2}},
    {"day": 4, "until": 6, "set": {"day_length": 400.0}, "societies": [1]},
    {
        "day": 3,
        "until": 6,
        "group": "GROUP",
        "set": {"extraction.min_effort": {"values": [2.0, 2.5, 1.5]}},
    },
    {"day": 10, "set": {"trading.min_surplus": {"values": [2.0, 0.5, 1.0, 3.0]}}},
]


def ending():
    return [{**one, **({"group": GROUPS[0]["name"]} if "group" in one else {})} for one in ENDING]


def values(config, copy, read):
    """Return what a function reads of the configuration of each day, by hand from the stretches."""
    points = points_of(config)
    return [read(points.configs[points.of[points.stretch(day), copy]]) for day in range(1, 15)]


def test_values_of_every_day_are_those_that_the_interventions_say():
    config = ensemble(interventions=ending())
    usual = config.day_length
    lengths = [usual] * 2 + [500.0] * 7 + [usual] * 5
    assert values(config, 0, lambda one: one.day_length) == lengths
    lengths[4:6] = [400.0, 400.0]  # inside of the other one, whose value holds again on day 7
    assert values(config, 1, lambda one: one.day_length) == lengths
    exponents = values(config, 0, lambda one: one.utility.exponent)
    assert exponents[2:9] == [2.2] * 7 and exponents[9] == exponents[1] != 2.2
    before = config.groups[0].extraction.min_effort if config.groups[0].extraction else None
    efforts = values(
        config, 1, lambda one: one.groups[0].extraction and one.groups[0].extraction.min_effort
    )
    assert efforts[3:6] == [2.0, 2.5, 1.5] and efforts[6] == efforts[2] == before
    surplus = values(config, 0, lambda one: one.trading.min_surplus)
    assert surplus[10:] == [2.0, 0.5, 1.0, 3.0] and surplus[9] == config.trading.min_surplus


@pytest.mark.ci
def test_device_and_reference_agree():
    report = verify(ensemble(interventions=ending()), days=12)
    assert report.identical, str(report)


@pytest.mark.parametrize("device", ["reference", pytest.param("auto", marks=pytest.mark.thorough)])
def test_what_ends_is_a_run_whose_values_are_set_back(device):
    """The same bits as two interventions for good, the second of which sets the values before."""
    config = ensemble()
    length = config.day_length
    ends = [{"day": 2, "until": 4, "set": {"day_length": 400.0}}]
    back = [
        {"day": 2, "set": {"day_length": 400.0}},
        {"day": 4, "set": {"day_length": length}},
    ]
    series = [{"day": 2, "set": {"day_length": [400.0] * 2 + [length] * 30}}]
    ended, *others = (
        run(ensemble(interventions=one), device, 1, 6)[1] for one in (ends, back, series)
    )
    assert others == [ended] * 2
    assert run(config, device, 1, 6)[1] != ended


@pytest.mark.ci
def test_a_branch_and_a_resumed_run_have_the_bits_of_a_whole_one(tmp_path):
    config = ensemble(interventions=ending())
    straight = run(config, "auto", 1, 14)[1]
    without = ensemble(interventions=[ending()[0] | {"until": 12}])
    parent, branch = tmp_path / "parent.h5", tmp_path / "branch.h5"
    societies.run(without, out=parent)
    # Up to day 2 the two have the same past: where the intervention ends lies in the future.
    assert societies.run(config, out=branch, start=parent, day=2).state_sha256 == straight

    def stop(done, days):
        if done >= 5:
            raise KeyboardInterrupt

    out = tmp_path / "run.h5"
    with pytest.raises(SocietiesError):
        societies.run(config, out=out, progress=stop)
    assert societies.run(config, out=out, resume=True).state_sha256 == straight
    with pytest.raises(OutputError, match="other interventions before day 8"):
        societies.run(config, out=tmp_path / "late.h5", start=parent, day=8)


def test_a_column_of_a_file_becomes_part_of_the_configuration(tmp_path):
    file = tmp_path / "hours.csv"
    file.write_text("day,minutes\n3,400\n4,420.5\n5,480\n")
    one = {"day": 2, "until": 5, "set": {"day_length": {"file": str(file), "column": "minutes"}}}
    config = ensemble(interventions=[one])
    assert config.interventions[0].set == {"day_length": {"values": [400, 420.5, 480]}}
    assert values(config, 0, lambda one: one.day_length)[2:5] == [400, 420.5, 480]
    for column, text, message in (
        ("minute", "", "has no column minute; did you mean 'minutes'"),
        ("minutes", "6,.nan\n", r"hours.csv:5  minutes: expected a finite number"),
        ("minutes", "6\n", r"hours.csv:5  has 1 entry for 2 keys"),
    ):
        file.write_text(f"day,minutes\n3,400\n4,420.5\n5,480\n{text}")
        one["set"]["day_length"]["column"] = column
        with pytest.raises(ConfigError, match=message):
            ensemble(interventions=[one])
        one["set"]["day_length"] = {"file": str(file), "column": "minutes"}


@pytest.mark.parametrize(
    ("one", "message"),
    [
        ({"day": 5, "until": 5}, r"interventions.0.until: must be after day 5, on which it begins"),
        ({"set": {"day_length": [500, 400]}}, "has 2 values for the .* days 4 to"),
        ({"set": {"day_length": [500, 400]}}, "or let it end: until: 5"),
        ({"until": 5, "set": {"day_length": [500, "x"]}}, "value 1 of the series, that of day 5"),
        ({"until": 5, "set": {"day_length": [500, np.nan]}}, "expected a finite number"),
        ({"until": 5, "set": {"day_length": []}}, "the series has no values"),
        ({"until": 5, "set": {"day_length": [500, -1]}}, "day_length: must be more than 0, got -1"),
        ({"set": {"day_length": {"fil": "x"}}}, "a series is {file: FILE.csv, column: NAME}"),
        ({"set": {"day_length": {"file": "none.csv", "column": "x"}}}, "none.csv: cannot be read"),
        (
            {"set": {"utility.scale": [1e4, 2e4]}},
            r"a series of it is written \{values: \[\.\.\.\]\}",
        ),
        ({"group": GROUPS[0]["name"]}, "is the same for all agents; a group has count, share"),
        ({"group": "none"}, "there is no group 'none'"),
        ({"agents": [0], "group": GROUPS[0]["name"]}, "names agents as well as a group"),
        ({"agents": [0, 99]}, "there is no agent 99; they are numbered 0 to "),
        ({"agents": [1, 0, 1]}, "agents 0, 1: no groups consist of them, .* in order: 2, 1, 2"),
        ({"remove": "resource", "index": 1, "holdings": "lose", "set": {}, "until": 9}, "removal"),
    ],
)
def test_what_cannot_be_is_refused(one, message):
    with pytest.raises(ConfigError, match=message):
        ensemble(interventions=[{"day": 3, "set": {"day_length": 500.0}, **one}])


def test_agents_that_are_a_group_are_that_group():
    config = ensemble()
    size = config.group_sizes()[0]
    change = {"day": 3, "set": {"trade_power": 3.0}}
    by_agents = ensemble(interventions=[{**change, "agents": list(range(size))}])
    by_group = ensemble(interventions=[{**change, "group": GROUPS[0]["name"]}])
    powers = [values(one, 0, lambda c: c.groups[0].trade_power) for one in (by_agents, by_group)]
    assert powers[0] == powers[1] and powers[0][3] == 3.0


def test_overlaps_say_which_value_holds():
    changes = [
        {"day": 2, "until": 9, "set": {"day_length": 500.0}},
        {"day": 4, "until": 12, "set": {"day_length": 400.0}},
        {"day": 1, "set": {"trading.min_surplus": 1.0}},
        {"day": 3, "set": {"trading.min_surplus": 2.0}},
    ]
    (one,) = overlaps(ensemble(interventions=changes))
    assert one.path == ("interventions", 1, "set")
    assert one.message.startswith("day_length is also set by interventions.0 from day 5 to 9; this")
    changes[1]["societies"], changes[0]["societies"] = [0], [1]
    assert not list(overlaps(ensemble(interventions=changes)))


def test_other_workloads_have_them_too():
    config = config_from_dict(
        {
            "workload": "boltzmann",
            "days": 12,
            "interventions": [{"day": 3, "until": 5, "set": {"amount": [5, 6]}}],
        }
    )
    assert points_of(config).after == (3, 4, 5)
