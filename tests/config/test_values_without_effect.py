"""Is a value that is changed without effect reported, and one with effect not?"""

import pytest

from societies import config_from_dict
from societies.economy.config.idle import SET_BY_GROUPS
from societies.sweep import load_sweep, plan
from societies.workload.running.points import with_table

SMALL = {"workload": "economy", "agents": 6, "resources": 4, "days": 9}
OWN = [
    {"name": "able", "share": 0.5, "extraction": {"min_effort": 2.0, "max_effort": 5.0}},
    {"name": "others", "share": 0.5, "extraction": {"min_effort": 3.0}},
]
BAM = {"workload": "bam", "firms": 4, "households": 20, "banks": 2, "quarters": 10}
EFFORT = "extraction.min_effort"
KINDS = ("none", "tools", "all")


def said(config):
    return [f"{'.'.join(map(str, one.path))}: {one.message}" for one in config.warnings()]


def changed(key, value, base=SMALL, **keys):
    """Return what is said of an intervention that sets a key."""
    clock = "quarter" if base is BAM else "day"
    one = {clock: 3, "set": {key: value}, **keys.pop("one", {})}
    return said(config_from_dict(base | keys | {"interventions": [one]}))


@pytest.mark.parametrize(
    ("key", "value", "keys", "why"),
    [
        (EFFORT, 1.0, {"groups": OWN}, SET_BY_GROUPS),
        (EFFORT, 1.0, {"groups": [OWN[0] | {"share": 1.0}]}, SET_BY_GROUPS),
        ("trading.min_surplus", 1.0, {"trade": False}, "with trade: false"),
        ("policies.quota_of", 1, {"trade": False}, "with trade: false"),
        ("trading.min_surplus", 1.0, {"trading": {"rounds": 0}}, "with trading.rounds: 0"),
        ("device.max_effort", 20.0, {}, "with devices: none"),
        ("device.factor.machine", 5.0, {"devices": "tools"}, "with devices: tools"),
        ("invention.banned_of", 1, {}, "with devices: none"),
        ("trade_power", 2.0, {"groups": OWN, "trade": False, "one": {"group": "able"}},
         "with trade: false"),
        ("device.max_effort", 20.0, {"groups": OWN, "one": {"group": "able"}},
         "with devices: none"),
        ("beta", 2.0, {"base": BAM, "buffer": True}, "with buffer: true"),
        ("sigma_max", 0.2, {"base": BAM}, "without growth: true"),
    ],
)  # fmt: skip
def test_an_intervention_without_effect_is_reported(key, value, keys, why):
    assert f"interventions.0.set.{key}: has no effect {why}" in changed(key, value, **keys)


@pytest.mark.parametrize(
    ("key", "value", "keys"),
    [
        (EFFORT, 1.0, {}),
        (EFFORT, 1.0, {"groups": [OWN[0], {"name": "others", "share": 0.5}]}),
        (EFFORT, 1.0, {"groups": OWN, "one": {"group": "able"}}),
        ("extraction.max_effort", 10.0, {"groups": OWN}),
        ("trading.min_surplus", 1.0, {}),
        ("device.factor.tool", 5.0, {"devices": "tools"}),
        ("device.max_effort", 30.0, {"devices": "all"}),
        ("beta", 2.0, {"base": BAM}),
    ],
)
def test_one_with_effect_is_not(key, value, keys):
    assert not [one for one in changed(key, value, **keys) if "no effect" in one]


def test_a_table_and_a_value_of_all_agents_are_reported_where_every_group_has_its_own():
    config = config_from_dict(SMALL | {"groups": OWN, "replicates": 2})
    (one,) = said(with_table(config, {EFFORT: [1.0, 2.0]}))
    assert one == f"{EFFORT}: differs between copies, but has no effect {SET_BY_GROUPS}"
    (one,) = said(config_from_dict(SMALL | {"groups": OWN, "extraction": {"min_effort": 1.0}}))
    assert one == f"{EFFORT}: has no effect {SET_BY_GROUPS}"


def test_a_column_of_a_file_of_agents_is_every_groups_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(f"agent,{EFFORT}.0\n0,2\n1,2.5\n2,3\n")
    keys = {"agents": "people.csv", "extraction": {"min_effort": 1.5}}
    assert said(config_from_dict(SMALL | keys)) == []  # resources 1 to 3 have it
    assert f"interventions.0.set.{EFFORT}: has no effect {SET_BY_GROUPS}" in changed(
        EFFORT, 1.0, agents="people.csv"
    )


@pytest.mark.parametrize(
    ("grid", "warned"),
    [
        ({"device.factor.tool": [2, 3]}, ["device.factor.tool"]),
        ({"device.factor.tool": [2, 3], "devices": ["none", "tools"]}, []),
        ({"interventions": [[], [{"day": 2, "set": {"invention.min_held": 2}}]]},
         ["invention.min_held"]),
        ({"day_length": [500, 600]}, []),
    ],
)  # fmt: skip
def test_a_sweep_says_which_keys_vary_without_effect_in_any_run(grid, warned):
    sweep = {"base": SMALL, "vary": {"grid": grid}, "record": {"variables": ["utility"]}}
    found = plan(load_sweep(sweep), device="reference").warnings
    assert [*found] == [f"{key}: has no effect with devices: none" for key in warned]


def test_the_configuration_of_a_result_of_bam_is_no_list_of_warnings():
    """It has all keys, also those at their defaults of rules that were not chosen."""
    config = config_from_dict(BAM)
    assert said(config_from_dict(config.model_dump(mode="json"))) == []


ALWAYS = {
    *(f"policies.{tax}.{key}" for tax in ("income_tax", "sales_tax", "holdings_tax")
      for key in ("middle_from", "middle_rate", "top_from", "top_rate")),
    *(f"policies.transfer.{key}" for key in ("equal", "poorest", "least_extracting", "making")),
    *(f"policies.transfer.{key}_part" for key in ("poorest", "least_extracting")),
    *("policies.quota", "policies.price_of"),
}  # fmt: skip
"""What has no effect in an economy without policies as long as other keys stay as they are."""


def asleep(**policies):
    keys = dict(config_from_dict(SMALL | {"policies": policies}).asleep())
    assert all(why.startswith("while ") for why in keys.values())
    return {*keys}


def test_keys_are_without_effect_as_long_as_others_have_their_values():
    """Of brackets the rate needs a beginning, and the beginning another rate than that below."""
    assert asleep() == ALWAYS
    transfer = {key for key in ALWAYS if key.startswith("policies.transfer") and "part" not in key}
    tax = "policies.income_tax"
    for rates, woken in (
        ({"rate": 0.1}, {f"{tax}.middle_from", *transfer}),
        ({"middle_rate": 0.1}, {f"{tax}.middle_from", f"{tax}.top_from", *transfer}),
        ({"rate": 0.1, "middle_rate": 0.1}, {f"{tax}.top_from", *transfer}),
        ({"middle_from": 5.0}, {f"{tax}.middle_rate"}),
        ({"middle_from": 5.0, "top_from": 9.0}, {f"{tax}.middle_rate", f"{tax}.top_rate"}),
        (
            {"rate": 0.1, "middle_rate": 0.2, "top_rate": 0.3, "middle_from": 5.0, "top_from": 9.0},
            {f"{tax}.{key}" for key in ("middle_from", "middle_rate", "top_from", "top_rate")}
            | transfer,
        ),
    ):
        assert asleep(income_tax=rates) == ALWAYS - woken, rates
    parts = asleep(transfer={"poorest": 0.5})
    assert parts == ALWAYS - {"policies.transfer.poorest_part"}
    assert asleep(quota_of=0) == asleep(quota_of=1) == ALWAYS - {"policies.quota"}
    for limit in ({"price_floor": 0.5}, {"price_cap": 2.0}, {"price_floor": 0.5, "price_cap": 2.0}):
        assert asleep(**limit) == ALWAYS - {"policies.price_of"}


def test_devices_that_no_agent_can_have_need_no_numbers():
    found = {kind: {*dict(config_from_dict(SMALL | {"devices": kind}).idle())} for kind in KINDS}
    assert found["all"] == set()
    of_others = {
        f"device.{of}.{name}"
        for of in ("factor", "lifetime", "experience_for_making")
        for name in ("machine", "factory", "industry", "device_machine", "device_factory")
    }
    inventions = {"invention.device_probability", "invention.min_made_for_device_maker"}
    assert found["tools"] == of_others | inventions
    sections = {"device", "devices_market", "invention", "policies.transfer.making"}
    assert found["none"] == sections
    groups = [{"name": name, "share": 0.5} for name in ("a", "b")]
    own = {*dict(config_from_dict(SMALL | {"groups": groups}).idle())}
    keys = ("device", "device_trade_power", "inventiveness")
    assert own == sections | {f"groups.{g}.{key}" for g in (0, 1) for key in keys}


def test_a_list_of_any_group_may_have_parts_of_the_value_of_all():
    listed = [OWN[0] | {"extraction": {"min_effort": [2.0] * 4}}, OWN[1]]
    more = {"extraction": {"min_effort": 4.0}}
    assert said(config_from_dict(SMALL | more | {"groups": listed})) == []
    (line,) = said(config_from_dict(SMALL | more | {"groups": OWN}))
    assert line == f"{EFFORT}: has no effect {SET_BY_GROUPS}"
