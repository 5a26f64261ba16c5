"""Do the configurations that we ship run as they are, and say what they claim to say?"""

from pathlib import Path

import jsonschema
import pytest
import yaml

from societies.config import json_schema, load_config
from societies.economy.config import EconomyConfig

FOLDER = Path(__file__).parents[2] / "configs" / "economy"
FILES = sorted(FOLDER.glob("*.yaml"))


def test_there_are_the_three_of_the_readme():
    assert {"quickstart", "no_trade", "trade"} <= {file.stem for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_file_is_valid_also_for_an_editor(file):
    assert isinstance(load_config(file), EconomyConfig)
    jsonschema.Draft202012Validator(json_schema()).validate(yaml.safe_load(file.read_text()))


def test_quickstart_is_small():
    config = load_config(FOLDER / "quickstart.yaml")
    assert config == EconomyConfig(agents=12, resources=12, days=100, trade=True)


def test_the_two_scenarios_are_the_defaults_and_differ_in_one_key():
    no_trade, trade = (load_config(FOLDER / f"{name}.yaml") for name in ("no_trade", "trade"))
    assert trade == EconomyConfig(agents=48, resources=48, days=500, trade=True, devices="none")
    assert no_trade == trade.model_copy(update={"trade": False})
