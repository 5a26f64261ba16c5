"""Are workloads found in a plain checkout, and do broken ones of others say so?"""

from importlib.metadata import EntryPoint

import pytest

from societies import workloads
from societies.economy.config import EconomyConfig
from societies.errors import ConfigError


@pytest.fixture
def installed(monkeypatch):
    """Pretend that packages have registered these entry points."""

    def install(*pairs):
        entries = [EntryPoint(name, value, workloads.GROUP) for name, value in pairs]
        monkeypatch.setattr(workloads, "entry_points", lambda group: entries)

    return install


def test_the_economy_needs_no_installation(installed):
    installed()
    assert "economy" in workloads.workload_names()
    assert workloads.workloads()["economy"].config_model is EconomyConfig


def test_those_of_others_are_found_but_do_not_replace_ours(installed):
    installed()
    ours = workloads.workload_names()
    installed(("mine", "societies.economy:WORKLOAD"), ("economy", "os:path"))
    assert workloads.workload_names() == sorted([*ours, "mine"])
    assert workloads.workload("economy").config_model is EconomyConfig
    assert workloads.workload("mine") is workloads.workload("economy")


@pytest.mark.parametrize("value", ["no_such_module_of_ours:WORKLOAD", "os:path", "os:nothing"])
def test_a_broken_one_breaks_only_itself(installed, value):
    installed(("broken", value))
    assert workloads.workload("economy").name == "economy"
    with pytest.raises(ConfigError, match=f"workload 'broken' \\({value}\\) cannot be loaded"):
        workloads.workload("broken")


def test_no_such_workload():
    with pytest.raises(ConfigError, match="unknown workload 'x'"):
        workloads.workload("x")
