"""Is a file of other rules than today's noticed, and only such a file?"""

import shutil
import sys
import warnings
from importlib import import_module

import h5py
import pytest
from small import small

import societies
from societies import paths, sweep
from societies.errors import OriginWarning
from societies.kerneltext import source
from societies.workload import Setup
from societies.workload.running import sources
from societies.workload.running.registry import workload
from societies.workload.running.sources import SOURCES, compare, sources_of, text_of

KERNEL, REFERENCE = "kernels/physics/laplace/rule.cl", "reference_py/physics/laplace/rule.py"
SWEEP = {"base": {"workload": "laplace", "side": 6, "steps": 2}, "vary": {"grid": {"side": [6, 7]}}}


def of(name):
    return sources_of(Setup(workload(name), small(name)))


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """A copy of the kernels, from which they are read."""
    copy = tmp_path / "kernels"
    shutil.copytree(paths.data_directory("kernels"), copy)
    for module in (sources, source):
        monkeypatch.setattr(module, "data_directory", lambda name: copy)
    sources._with_includes.cache_clear()
    yield copy
    sources._with_includes.cache_clear()


def test_kernels_with_includes_and_twins_are_covered():
    found = of("laplace")
    assert {KERNEL, REFERENCE, "kernels/primitives/real.cl"} <= found.keys()
    match = of("chess_match")  # played on the host, by searches on the device
    assert {"reference_py/games/chess/match.py", "kernels/games/chess/rules.cl"} <= match.keys()
    economy = of("economy")
    assert "reference_py/economy/schedule.py" in economy
    assert "kernels/economy/device_trading.cl" in economy  # the twin of a function of a phase
    assert "kernels/economy/society_at_once.cl" in economy  # of a phase alone
    assert "reference_py/primitives/scan.py" in economy  # the twin of an included kernel
    own = {name.removeprefix("societies/economy/") for name in economy if "societies/" in name}
    assert {"curves.py", "exact_sums.py", "ensemble.py", "schedule.py", "config/keys.py"} <= own
    assert "societies/physics/laplace/config.py" in found  # has what follows from its keys
    assert not own & {"workload.py", "explain/report.py", "figure.py"}
    assert "kernels/translate/lists.cl" in of("boltzmann")
    assert "reference_py/physics/matmul/parameters.py" in of("matmul")  # imported by the workload


def test_the_place_and_comments_do_not_count_and_rules_do(request):
    before = of("laplace")
    kernels = request.getfixturevalue("kernels")
    path = kernels / "physics" / "laplace" / "rule.cl"
    text = path.read_text()
    path.write_text(f"// a remark\n\n{text}")
    assert of("laplace") == before
    path.write_text(text.replace("+", "-", 1))
    assert {name for name, one in of("laplace").items() if before[name] != one} == {KERNEL}


@pytest.fixture
def made(tmp_path):
    """A complete file and one that was interrupted, of the rules as they are."""

    def stop(tick, last):
        if tick >= 6:
            raise KeyboardInterrupt

    whole, part = tmp_path / "whole.h5", tmp_path / "part.h5"
    societies.run(small("laplace"), device="reference", out=whole)
    with pytest.raises(societies.errors.Interrupted):
        societies.run(small("laplace"), device="reference", out=part, progress=stop)
    return whole, part


@pytest.fixture
def changed(monkeypatch):
    """Let a file of the model have changed."""
    original = sources._digest
    other = {KERNEL: "0" * 12}
    monkeypatch.setattr(sources, "_digest", lambda p: other.get(sources._name(p), original(p)))


def test_same_rules_are_no_warning(made, tmp_path):
    whole, part = made
    config = small("laplace")
    societies.run(config, device="reference", out=tmp_path / "b.h5", start=whole, tick=2)
    societies.run(config, device="reference", out=part, resume=True)
    with h5py.File(whole) as file:
        assert file.attrs[SOURCES] == text_of(of("laplace"))


def test_other_rules_are_a_warning(made, changed, tmp_path, shell):
    whole, part = made
    config = small("laplace")
    says = rf"1 source file of the model changed since it was made, {KERNEL} \(it is of commit "
    with pytest.warns(OriginWarning, match=says):
        societies.run(config, device="reference", out=tmp_path / "b.h5", start=whole, tick=2)
    with pytest.warns(OriginWarning, match=says):
        societies.verify(config, device="reference", start=part)
    with pytest.warns(OriginWarning, match=f"{says}.*mixes both"):
        societies.run(config, device="reference", out=part, resume=True)


def test_a_study_of_other_rules_is_a_warning(tmp_path, monkeypatch):
    for k in (1, 2):
        sweep.run(SWEEP, device="reference", out=tmp_path / f"{k}.h5", part=(k, 2))
    sweep.merge([tmp_path / "1.h5", tmp_path / "2.h5"], tmp_path / "m.h5")
    original = sources._digest
    other = {KERNEL: "0" * 12}
    monkeypatch.setattr(sources, "_digest", lambda p: other.get(sources._name(p), original(p)))
    with pytest.warns(OriginWarning, match=KERNEL):
        sweep.run(SWEEP, device="reference", out=tmp_path / "1.h5", part=(1, 2), resume=True)
    with pytest.warns(OriginWarning, match=KERNEL):
        path = tmp_path / "2.h5"
        sweep.run(SWEEP, device="reference", out=path, part=(2, 2), overwrite=True)
        sweep.merge([tmp_path / "1.h5", path], tmp_path / "n.h5")


@pytest.mark.parametrize(
    ("made", "here", "warned"),
    [("abc", "abc", False), ("abc", "def", True), ("a-modified", "a-modified", True)],
)
def test_without_hashes_only_the_same_commit_is_enough(made, here, warned, tmp_path):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        compare(tmp_path / "r.h5", {"git_commit": made}, {KERNEL: "1"}, here, "this branch")
    assert [one.category for one in found] == [OriginWarning] * warned
    assert not warned or "does not say by which rules it was made" in str(found[0].message)


def test_modules_that_a_package_imports_from_itself_are_covered(tmp_path, monkeypatch):
    """Of `from . import prices`, of the second name of a list and after a backslash none was."""
    texts = {
        "__init__": "from .model import Model\n",
        "model": "import math, market_of_test.trade as trade\nfrom . import prices\nModel = 1\n",
        "prices": "from .more import \\\n    rule\n",
        "more": "from market_of_test.deep import (  # a remark\n    one,\n)\nrule = 1\n",
        "deep/__init__": "from ..last import last as one\n",
        "trade": "",
        "last": "last = 1\n",
        "other": "",
    }
    for name, text in texts.items():
        path = tmp_path / "market_of_test" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    import_module("market_of_test.other")
    found: set[str] = set()
    sources._reach("market_of_test.model", found)
    for name in [one for one in sys.modules if one.partition(".")[0] == "market_of_test"]:
        monkeypatch.delitem(sys.modules, name)
    reached = {one.partition(".")[2] for one in found}
    assert reached == {"", "model", "trade", "prices", "more", "deep", "last"}
