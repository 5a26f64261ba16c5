"""Does a file with a row for each agent become groups, with mistakes found in their place?"""

import time

import numpy as np
import pytest
import yaml

import societies
from societies import config_from_dict, load_config
from societies.economy.config import people as people_of
from societies.economy.parameters import parameters
from societies.errors import ConfigError

BASE = {"workload": "economy", "resources": 3, "days": 3, "extraction": {"min_effort": 2.5}}
PEOPLE = """group,extraction.min_effort.1,utility.exponent,trade_power,inventiveness
farmers,2,2.5,1,1
farmers,2,2.5,1,1
smiths,3,2,4,0.5
farmers,2,2.5,1,1
"""


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def test_rows_are_agents_and_equal_neighbours_a_group(people):
    config = config_from_dict({**BASE, "agents": "people.csv"})
    assert config.agents == 4
    assert [(one.name, one.count) for one in config.groups] == [
        ("farmers 0", 2),
        ("smiths", 1),
        ("farmers 3", 1),
    ]
    assert config.groups[0].extraction.min_effort == (2.5, 2.0, 2.5)
    people.write_text(PEOPLE + "farmers,2,2.5,1,1\n")
    config = config_from_dict({**BASE, "agents": "people.csv"})
    assert [one.count for one in config.groups] == [2, 1, 2]
    people.write_text(PEOPLE)
    config = config_from_dict({**BASE, "agents": "people.csv"})
    p = parameters(config)
    assert p.group_of_agent == (0, 0, 1, 2) and p.trade_power == (1.0, 4.0, 1.0)
    numbers = ["agent", *range(4)]
    lines = zip(numbers, PEOPLE.split(), strict=True)
    people.write_text("\n".join(f"{number},{line}" for number, line in lines))
    assert config_from_dict({**BASE, "agents": "people.csv"}) == config
    same = config.model_dump(mode="json")
    people.unlink()
    assert config_from_dict(same) == config  # a result needs no file


def test_agents_have_endowments_of_all_or_of_single_resources(people):
    people.write_text("endowment.units,endowment.units.2\n5,9\n5,9\n0,1\n")
    config = config_from_dict({**BASE, "agents": "people.csv"})
    assert [(one.count, one.endowment.units) for one in config.groups] == [
        (2, (5, 5, 9)),
        (1, (0, 0, 1)),
    ]
    people.write_text("endowment.units.2\n9\n")
    config = config_from_dict({**BASE, "agents": "people.csv"})
    assert config.groups[0].endowment.units == (0, 0, 9)
    few = {**BASE, "extraction": {"min_effort": [2.5, 2]}, "agents": "people.csv"}
    people.write_text("extraction.min_effort.2\n9\n")
    with pytest.raises(ConfigError, match="2 numbers for 3 resources"):
        config_from_dict(few)
    people.write_text("endowment.units.1\n4\n")
    config = config_from_dict({**BASE, "agents": "people.csv", "endowment": {"units": 2}})
    assert parameters(config).endowment == ((2, 4, 2),)


def test_a_run_has_the_columns_in_its_file(people, tmp_path):
    (tmp_path / "run.yaml").write_text(yaml.safe_dump({**BASE, "agents": "people.csv"}))
    config = load_config(tmp_path / "run.yaml")
    societies.run(config, out=tmp_path / "run.h5", device="reference")
    people.unlink()
    with societies.open_results(tmp_path / "run.h5") as run:
        said = yaml.safe_load(run.attrs["configuration"])
        assert [one["trade_power"] for one in said["groups"]] == [1.0, 4.0, 1.0]
        assert run["group"].values.tolist() == ["farmers 0", "smiths", "farmers 3"]
        assert np.isfinite(run.group_utility.values).all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PEOPLE.replace("smiths,3", "smiths,three"), r"people.csv:4:2  .*expected a number, got"),
        (PEOPLE.replace("smiths,3", "smiths,nan"), r"people.csv:4:2  .*a finite number"),
        (PEOPLE.replace("trade_power", "trade_pover"), r"people.csv:1:4  .*mean 'trade_power'"),
        (PEOPLE.replace("effort.1", "effort.3"), r"people.csv:1:2  .*no resource 3: they"),
        (PEOPLE.replace("effort.1", "effort.x"), r"people.csv:1:2  .*no resource x: they"),
        (PEOPLE.replace("min_effort", "effort"), r"people.csv:1:2  .*no key of extraction"),
        (PEOPLE.replace("utility.", "utilities."), r"people.csv:1:3  .*no section of a group"),
        (PEOPLE.replace("smiths,3,2,4,0.5", "smiths,3"), r"people.csv:4  has 2 columns"),
        (PEOPLE.replace("smiths,3,2,4,0.5", ",,,,"), r"people.csv:4  is empty"),
        (PEOPLE.split("\n")[0], "has no agents"),
        ("endowment.units\n3\n2.5\n", r"people.csv:3:1  endowment.units: 2.5 is not a value"),
        ("endowment.units.0\n-3\n", r"people.csv:2:1  endowment.units.0: -3 is not a value"),
        ("endowment\n3\n", r"people.csv:1:1  'endowment': is a section .* endowment.units"),
        (PEOPLE.replace("inventiveness", "trade_power"), r"people.csv:1:5  .*two such columns"),
        (PEOPLE.replace("farmers,2,2.5,1,1", "farmers,2,2.5,-1,1"), "2:4  trade_power: -1 is not"),
        ("agent,trade_power\n0,1\n1,1\n3,1\n", r"people.csv:4:1  agent: expected 2, got '3'"),
        ("agent,trade_power\n0,1\n1,1\n1,1\n", r"people.csv:4:1  agent: expected 2, got '1'"),
        ("number,trade_power\n0,1\n", r"people.csv:1:1  'number': no key.*group, agent and keys"),
    ],
)  # fmt: skip
def test_mistakes_have_their_line_and_column(people, text, said):
    people.write_text(text)
    with pytest.raises(ConfigError, match=said):
        config_from_dict({**BASE, "agents": "people.csv"})


def test_a_mistake_is_also_found_by_the_line_that_names_the_file(people, tmp_path):
    people.write_text(PEOPLE.replace("smiths,3", "smiths,three"))
    file = tmp_path / "run.yaml"
    file.write_text("workload: economy\nresources: 3\nagents: people.csv\n")
    with pytest.raises(ConfigError, match=r"run\.yaml:3:9  agents: people\.csv:4:2  "):
        load_config(file)
    file.write_text("workload: economy\nresources: 3\n")
    with pytest.raises(ConfigError, match=r"agents=people\.csv  agents: people\.csv:4:2  "):
        load_config(file, ["agents=people.csv"])


def test_a_file_that_is_missing_or_contradicts_groups_is_named(people):
    with pytest.raises(ConfigError, match=r"missing\.csv: No such file"):
        config_from_dict({**BASE, "agents": "missing.csv"})
    with pytest.raises(ConfigError, match="exclude each other"):
        config_from_dict({**BASE, "agents": "people.csv", "groups": [{"name": "a", "count": 4}]})


def test_a_table_is_read_as_all_tables_are(people):
    people.write_text("\ufeff" + PEOPLE.replace(",", " ; "), encoding="utf-8")
    config = config_from_dict({**BASE, "agents": "people.csv"})
    assert config.groups[1].trade_power == 4.0
    people.write_text("\n,,\n" + PEOPLE.replace("\n", ",,\n"))
    assert config_from_dict({**BASE, "agents": "people.csv"}) == config
    people.write_text(PEOPLE.replace("smiths", "smi\0ths"))
    with pytest.raises(ConfigError, match=r"people.csv:4  is not text"):
        config_from_dict({**BASE, "agents": "people.csv"})
    people.write_bytes(PEOPLE.encode("utf-16"))
    with pytest.raises(ConfigError, match="save the file as UTF-8"):
        config_from_dict({**BASE, "agents": "people.csv"})
    people.write_text(PEOPLE)
    with pytest.raises(ConfigError, match="resources: expected a whole number, got 'many'"):
        config_from_dict({**BASE, "agents": "people.csv", "resources": "many"})


def test_lines_without_cells_below_the_last_agent_are_no_agents(people):
    people.write_text(PEOPLE + ",,,,\n\n")
    assert config_from_dict({**BASE, "agents": "people.csv"}).agents == 4


@pytest.mark.parametrize("text", ["1_000", "\u0661", "nan", "inf", "0x10", "1e999"])
def test_a_number_is_what_other_programs_read_as_one(people, text):
    people.write_text(f"trade_power\n{text}\n")
    with pytest.raises(ConfigError, match=r"people.csv:2:1  trade_power: expected a (finite )?num"):
        config_from_dict({**BASE, "agents": "people.csv"})


def test_the_time_grows_with_the_agents_and_not_with_their_square():
    rows = [{people_of.NAME: f"group {i}", "trade_power": i} for i in range(40_000)]
    begun = time.process_time()
    groups = people_of._groups(rows)
    assert time.process_time() - begun < 5
    assert len({one["name"] for one in groups}) == 40_000
