"""Does a run for a quick look continue, and say what it does not reach?"""

import warnings

import pytest
import xarray as xr

import societies
from societies import config_from_dict, load_config
from societies.errors import SocietiesWarning

SMALL = {"workload": "economy", "agents": 4, "resources": 3, "days": 5, "replicates": 2}
LATE = {
    **SMALL,
    "devices": "all",
    "shocks": [
        {"day": 6, "remove": "agent", "index": 0},
        {"day": 5, "remove": "agent", "index": 1},
    ],
    "record": {
        "agent": 6,
        "agent_resource": 50,
        "device": 9,
        "network": [1, 6],
        "trade_log": {"days": [2, 7]},
    },
}
SAID = [
    "shocks.0.day: 6 is after the last day, 5: this shock is not reached",
    "record.agent: 6 days are more than the run has (5): none of this is recorded",
    "record.agent_resource: 50 days are more than the run has (5): none of this is recorded",
    "record.device: 9 days are more than the run has (5): none of this is recorded",
    "record.network.1: day 6 is after the last day, 5: its network is not recorded",
    "record.trade_log.days.1: day 7 is after the last day, 5: its trades are not recorded",
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_shell_says_each_warning_once_on_stderr(shell, folder):
    lines = "".join(f"{key}: {value}\n" for key, value in LATE.items()).replace("'", "")
    (folder / "late.yaml").write_text(lines)
    said = [f"warning: {line}" for line in SAID]
    assert shell("check", "late.yaml")[::2] == (0, "\n".join([*said, ""]))
    code, out, err = shell("run", "late.yaml", "--device", "reference", "-q")
    assert (code, out, err.splitlines()) == (0, "late.h5\n", said)
    code, _, err = shell("run", "late.yaml", "--device", "reference", "--dry-run")
    assert (code, err.splitlines()) == (0, said)


def test_python_has_them_as_data_and_as_warnings(folder):
    config = config_from_dict(LATE)
    assert [f"{'.'.join(map(str, w.path))}: {w.message}" for w in config.warnings()] == SAID
    assert list(societies.plan(config, device="reference").warnings) == SAID
    with pytest.warns(SocietiesWarning) as found:
        report = societies.run(config, device="reference", out="late.h5")
    assert [str(one.message) for one in found] == SAID
    assert found[0].filename == __file__  # the line that called run
    with xr.open_dataset(report.path) as data:
        assert data.sizes["day"] == 5
        assert data.sizes["agent_day"] == data.sizes["resource_day"] == 0
        assert data.agent_utility.size == data.held.size == 0
    log = societies.open_results(report.path, events="resource_trades")
    assert set(log.day.values) <= {2}


@pytest.mark.ci
def test_a_quick_look_is_the_beginning_of_the_whole_run(folder):
    quick = load_config("economy/shock", ["days=3", "agents=4", "resources=6"])
    calm = load_config("economy/shock", ["days=3", "agents=4", "resources=6", "shocks=[]"])
    with pytest.warns(SocietiesWarning, match=r"shocks\.0\.day: 600"):
        short = societies.run(quick, device="reference", out="short.h5")
    societies.run(calm, device="reference", out="calm.h5")
    with xr.open_dataset(short.path) as one, xr.open_dataset("calm.h5") as other:
        assert one.utility.identical(other.utility)


@pytest.mark.parametrize("name", ["quickstart", "trade", "tools", "devices", "long_run", "shock"])
def test_shipped_configurations_warn_of_nothing(name, shell):
    assert shell("check", f"economy/{name}")[2] == ""
    assert not list(load_config(f"economy/{name}").warnings())


def test_what_a_run_reaches_warns_of_nothing(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reached = {**SMALL, "shocks": [{"day": 5, "remove": "agent", "index": 1}]}
        record = {"agent": 5, "agent_resource": 5, "trade_log": {"days": [5]}}
        config = config_from_dict({**reached, "record": record})
        societies.run(config, device="reference", out="reached.h5")
