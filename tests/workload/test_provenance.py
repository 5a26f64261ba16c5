"""Does a file say truly which code made it, and where do its figures go?"""

import runpy
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

import societies
from societies.cli import main
from societies.workload.running.provenance import commit_of

ROOT = Path(__file__).resolve().parents[2]


def of_the_package(root):
    return commit_of(root)


def of_a_wheel(root):
    """The commit that hatch_build.py writes into a wheel."""
    hook = runpy.run_path(str(ROOT / "hatch_build.py"))["CommitHook"]
    return hook._commit(SimpleNamespace(root=str(root)))


@pytest.fixture
def checkout(tmp_path):
    if shutil.which("git") is None:
        pytest.skip("needs git")
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "model.py").write_text("rules = 1\n")
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", "-C", root, *words], check=True)
    return root


@pytest.mark.parametrize("commit_by", [of_the_package, of_a_wheel])
def test_only_tracked_files_make_a_commit_modified(checkout, commit_by):
    if commit_by is of_a_wheel:
        pytest.importorskip("hatchling")
    commit = commit_by(checkout)
    assert len(commit) == 40 and set(commit) <= set("0123456789abcdef")
    (checkout / "quickstart.h5").write_bytes(b"a result")
    (checkout / "notes").mkdir()
    (checkout / "notes/more.py").write_text("rules = 3\n")
    assert commit_by(checkout) == commit
    (checkout / "model.py").write_text("rules = 2\n")
    assert commit_by(checkout) == f"{commit}-modified"
    subprocess.run(["git", "-C", checkout, "add", "."], check=True)
    assert commit_by(checkout) == f"{commit}-modified"
    assert commit_by(checkout / "notes") == ""  # no checkout


@pytest.mark.ci
def test_figures_go_next_to_their_file(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    folder, elsewhere = tmp_path / "results", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    config = societies.config_from_dict(
        {"workload": "economy", "agents": 2, "resources": 2, "days": 2}
    )
    societies.run(config, device="reference", out=folder / "run.h5")
    monkeypatch.chdir(elsewhere)
    with pytest.raises(SystemExit) as end:
        main(["plot", "../results/run.h5"])
    assert end.value.code == 0
    assert capsys.readouterr().out.split() == [
        "../results/run_overview.png",
        "../results/run_overview.svg",
    ]
    assert sorted(path.name for path in folder.iterdir()) == [
        "run.h5",
        "run_overview.png",
        "run_overview.svg",
    ]
    assert not any(elsewhere.iterdir())
