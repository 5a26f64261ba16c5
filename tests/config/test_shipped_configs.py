"""Do the configurations that we ship run as they are, and say what they claim to say?"""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from marks import offenders

from societies import json_schema, load_config
from societies.config.document import read_text
from societies.economy.config import EconomyConfig
from societies.paths import shipped_configuration, shipped_configurations
from societies.workload.running.registry import workload, workload_names

CONFIGS = Path(__file__).parents[2] / "configs"
FOLDER = CONFIGS / "economy"


SCENARIOS = {
    "no_trade": {"trade": False, "devices": "none"},
    "trade": {"trade": True, "devices": "none"},
    "tools": {"trade": True, "devices": "tools"},
    "devices": {"trade": True, "devices": "all"},
}
"""The four scenarios of the paper."""


def test_all_that_the_documentation_names_exist():
    pages = ("README.md", *(f"docs/{one}.md" for one in ("bam", "games", "models", "physics")))
    text = "\n".join((CONFIGS.parent / page).read_text() for page in pages)
    row = r"^\| \[`(\S+)`\]\((?:\.\./)?configs/(\S+)\.yaml\) \|"
    table = re.findall(row, text, re.MULTILINE)
    assert all(name == file for name, file in table)
    assert sorted(name for name, _ in table) == shipped_configurations()


def mistakes(name):
    """Return what an editor that knows the schema finds wrong with a shipped file."""
    file = shipped_configuration(name)
    config = load_config(file)
    assert isinstance(config, workload(config.workload).config)
    read = read_text(file.read_text(), name).data  # YAML 1.2, as editors read it
    checked = jsonschema.Draft202012Validator(json_schema(config.workload))
    return [one.message for one in checked.iter_errors(read)]


def test_every_file_is_valid_also_for_an_editor():
    assert offenders(mistakes, shipped_configurations()) == {}


@cache
def shipped():
    """Return the name of every shipped configuration with that of its workload."""
    return [(one, load_config(one).workload) for one in shipped_configurations()]


@pytest.mark.parametrize("name", workload_names())
def test_every_workload_has_a_quickstart(name):
    """A second workload of a folder has the folder's name in front: kalah_match, kalah/match."""
    ends = (f"/{name}/quickstart", f"/{name}".replace("_", "/"))
    ours = [one for one, of in shipped() if of == name]
    assert len([one for one in ours if f"/{one}".endswith(ends)]) == 1


@pytest.mark.ci
def test_reading_a_configuration_touches_no_device():
    """In one process: what a workload imports stays loaded until its end."""
    code = (
        "import sys; from societies import load_config; "
        "print(*sorted({load_config(one).workload for one in sys.argv[1:]})); "
        "print(*{'pyopencl', 'h5py', 'xarray', 'matplotlib'} & set(sys.modules))"
    )
    words = [sys.executable, "-c", code, *shipped_configurations()]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == f"{' '.join(workload_names())}\n\n"


def test_the_quickstart_of_the_economy_is_small():
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
