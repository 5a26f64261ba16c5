"""Are workloads found in a plain checkout, and are broken ones of other packages reported?"""

import os
import shutil
import tomllib
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from societies.economy.config import EconomyConfig
from societies.errors import ConfigError
from societies.workload.running import registry as workloads


@pytest.fixture
def installed(monkeypatch):
    """Pretend that packages have registered these entry points."""

    def install(*pairs):
        entries = {name: EntryPoint(name, value, workloads.GROUP) for name, value in pairs}
        monkeypatch.setattr(workloads, "_installed", lambda places: entries)

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


def test_a_package_installed_meanwhile_is_found_and_one_removed_is_gone(monkeypatch, tmp_path):
    """Entry points are read again only where a folder of packages has changed."""
    monkeypatch.syspath_prepend(tmp_path)
    before = workloads.workload_names()
    package = tmp_path / "late-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(f"[{workloads.GROUP}]\nlate = late:WORKLOAD\n")
    os.utime(tmp_path)  # the clock of some file systems is coarse
    assert workloads.workload_names() == sorted([*before, "late"])
    shutil.rmtree(package)
    os.utime(tmp_path)
    assert workloads.workload_names() == before


@pytest.mark.parametrize("value", ["no_such_module_of_ours:WORKLOAD", "os:path", "os:nothing"])
def test_a_broken_one_breaks_only_itself(installed, value):
    installed(("broken", value))
    assert workloads.workload("economy").name == "economy"
    with pytest.raises(ConfigError, match=f"workload 'broken' \\({value}\\) cannot be loaded"):
        workloads.workload("broken")


def test_no_such_workload():
    with pytest.raises(ConfigError, match="unknown workload 'x'"):
        workloads.workload("x")
