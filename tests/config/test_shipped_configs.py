"""Do the configurations that we ship run as they are, and say what they claim to say?"""

from pathlib import Path

import jsonschema
import pytest
import yaml

from societies.config import json_schema, load_config
from societies.economy.config import EconomyConfig

FOLDER = Path(__file__).parents[2] / "configs" / "economy"
FILES = sorted(FOLDER.glob("*.yaml"))


SCENARIOS = {
    "no_trade": {"trade": False, "devices": "none"},
    "trade": {"trade": True, "devices": "none"},
    "tools": {"trade": True, "devices": "tools"},
    "devices": {"trade": True, "devices": "all"},
}
"""The four scenarios of the paper."""


def test_all_that_the_documentation_names_are_there():
    named = {"quickstart", *SCENARIOS, "long_run", "shock", "heterogeneous"}
    assert {file.stem for file in FILES} == named


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_file_is_valid_also_for_an_editor(file):
    assert isinstance(load_config(file), EconomyConfig)
    jsonschema.Draft202012Validator(json_schema()).validate(yaml.safe_load(file.read_text()))


def test_quickstart_is_small():
    config = load_config(FOLDER / "quickstart.yaml")
    assert config == EconomyConfig(agents=12, resources=12, days=100, trade=True)


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios_are_the_defaults_and_differ_in_what_there_is(name):
    defaults = EconomyConfig(agents=48, resources=48, days=500)
    assert load_config(FOLDER / f"{name}.yaml") == defaults.model_copy(update=SCENARIOS[name])


def test_the_long_runs_are_the_last_scenario_for_24_agents():
    whole = load_config(FOLDER / "devices.yaml")
    small = whole.model_copy(update={"agents": 24, "resources": 24, "days": 1500})
    assert load_config(FOLDER / "long_run.yaml") == small
    shock = load_config(FOLDER / "shock.yaml")
    assert shock.model_copy(update={"days": 1500, "shocks": ()}) == small
    assert [(s.day, s.remove, s.index, s.holdings) for s in shock.shocks] == [
        (600, "resource", 5, "lose")
    ]


def test_groups_differ_in_talent_taste_power_and_inventiveness():
    config = load_config(FOLDER / "heterogeneous.yaml")
    assert config.model_copy(update={"groups": ()}) == load_config(FOLDER / "devices.yaml")
    differing = {name for g in config.groups for name in g.model_fields_set} - {"name", "count"}
    assert differing == {
        *("extraction", "trade_power", "device_trade_power", "inventiveness", "device"),
        *("utility", "consumption"),
    }
