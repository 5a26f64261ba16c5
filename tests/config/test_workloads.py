"""Are workloads found in a plain checkout, and do broken ones of others say so?"""

import tomllib
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from societies.economy.config import EconomyConfig
from societies.errors import ConfigError
from societies.workload import registry as workloads


@pytest.fixture
def installed(monkeypatch):
    """Pretend that packages have registered these entry points."""

    def install(*pairs):
        entries = [EntryPoint(name, value, workloads.GROUP) for name, value in pairs]
        monkeypatch.setattr(workloads, "entry_points", lambda group: entries)

    return install


def test_an_uninstalled_checkout_reads_the_entry_points_of_pyproject(installed):
    installed()
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    declared = project["entry-points"][workloads.GROUP]
    assert workloads.workload_names() == sorted(declared)
    assert workloads.workloads()["economy"].config is EconomyConfig
    for name, one in workloads.workloads().items():
        module, _, attribute = declared[name].partition(":")
        assert one is getattr(import_module(module), attribute) and one.name == name


def test_those_of_others_are_found_but_do_not_replace_ours(installed):
    installed()
    ours = workloads.workload_names()
    installed(("mine", "societies.economy:WORKLOAD"), ("economy", "os:path"))
    assert workloads.workload_names() == sorted([*ours, "mine"])
    assert workloads.workload("economy").config is EconomyConfig
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
