"""Do overrides change exactly one key and obey the rules of the file?"""

import pytest

from societies import config_from_dict, load_config
from societies.errors import ConfigError

BASE = {
    "workload": "economy",
    "agents": 4,
    "resources": 8,
    "groups": [{"name": "a", "count": 1}, {"name": "b", "count": 3}],
}


def lines(*overrides):
    with pytest.raises(ConfigError) as raised:
        config_from_dict(BASE, overrides)
    return str(raised.value).splitlines()


def test_values_are_yaml():
    config = config_from_dict(
        BASE, ["utility.min_marginal=1e-3", "trade=false", "trading={rounds: 3}", "seed=0x10"]
    )
    assert config.utility.min_marginal == 0.001
    assert config.trade is False
    assert config.trading.rounds == 3
    assert config.seed == 16


def test_later_ones_win_and_may_reach_into_earlier_ones():
    config = config_from_dict(BASE, ["trading={rounds: 3, attempts: 2}", "trading.rounds=5"])
    assert (config.trading.rounds, config.trading.attempts) == (5, 2)


def test_an_entry_of_a_list():
    config = config_from_dict(BASE, ["groups.0.count=2", "groups.1.count=2"])
    assert config.group_sizes() == [2, 2]
    assert BASE["groups"][0]["count"] == 1


def test_an_override_heals_what_is_wrong_in_the_file(tmp_path):
    file = tmp_path / "f.yaml"
    file.write_text("workload: econmy\nagents: none\ntrading: {menu_size: 60}\n")
    config = load_config(file, ["workload=economy", "agents=3", "trading.menu_size=2"])
    assert config.agents == 3


def test_problems_stand_at_the_override():
    assert lines("trading.menu_size=9", "days=0", "agnets=3", "trading={rounds: x}") == [
        "override days=0  days: must be at least 1, got 0",
        "override agnets=3  agnets: unknown key; did you mean 'agents'?",
        "override trading={rounds: x}  trading.rounds: expected a whole number, got 'x'",
    ]


def test_a_number_is_shown_as_it_was_typed():
    assert lines("agents=1e3") == ["override agents=1e3  agents: expected a whole number, got 1e3"]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("agents", "expected key=value, for example trading.rounds=4"),
        ("=3", "expected key=value, for example trading.rounds=4"),
        ("trading..rounds=3", "expected key=value, for example trading.rounds=4"),
        ("agents=", "agents: expected a whole number, got nothing"),
        ("agents=[3", "agents: value:1:3 is not valid YAML"),
        ("agents=*a", "agents: value:1:1 alias *a: a configuration has no tags"),
        ("agents.x=3", "agents: is 4 and has no key 'x' inside"),
        ("groups.2.count=3", "groups: has no entry '2'; its entries are 0 to 1"),
        ("groups.b.count=3", "groups: has no entry 'b'; its entries are 0 to 1"),
        ("shocks.0.day=3", "shocks: is not a list in the file, so no entry of it can be set"),
        ("trading={rounds: 1, rounds: 2}", "trading.rounds: is given twice, first on line 1"),
        ("a." * 20_000 + "b=3", "is nested more than 20 levels deep"),  # took 16 s and 3 GB
        ("seed=" + "9" * 401, "seed: a number of 401 digits is too long"),
    ],
)
def test_wrong_overrides(override, message):
    (line,) = lines(override)
    assert line.startswith("override ")
    assert message in line
    assert len(line) < 250
