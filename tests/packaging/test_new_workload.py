"""Does `societies new` write a package that installs, runs, verifies and passes its own tests?

The blocks of docs/write-a-workload.md are carried out in order of the page (pages.py).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import xarray as xr
from pages import ReaderFolder, carry_out

from societies.scaffold import TEMPLATES, template_files

pytestmark = pytest.mark.xdist_group("new workload")  # its runs are shared

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/write-a-workload.md"
FILES = ROOT / "tests" / "data" / "files"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return ReaderFolder(tmp_path_factory.mktemp("new"), ROOT)


@pytest.fixture(scope="module")
def outputs(environment):
    """Carry out the page; return what each of its commands printed."""
    return {block.text.strip(): out for block, out, _ in carry_out(PAGE, environment) if out}


@pytest.mark.thorough
def test_the_page_is_true(outputs):
    first, *others = outputs.values()
    page = (ROOT / PAGE).read_text()
    shown = re.findall(r"^```text\n(last day.*?)^```$", page, re.M | re.S)
    assert shown[0] in first
    (verified,) = re.findall(r"^```text\n(identical: .*?)^```$", page, re.M | re.S)
    assert verified in others
    assert any(re.search(r"\d+ passed", text) for text in others)
    (viewed,) = re.findall(r"^```text\n(day \d+ .*?)^```$", page, re.M | re.S)
    assert viewed in others
    assert "wealth.lines\n" in others
    (printed,) = re.findall(r"^It prints `(.*?)`", page, re.M)
    assert any(text.startswith(printed) for text in others)


@pytest.mark.thorough
def test_the_readme_of_a_new_package_is_true(tmp_path):
    place = ReaderFolder(tmp_path, ROOT)
    place.run("societies", "new", "trial", "--template", "kernel")
    place.folder /= "trial"
    printed = [out for block, out, _ in carry_out(str(place.folder / "README.md"), place)]
    assert re.search(r"identical: 50 days", printed[0])
    assert re.search(r"\d+ passed", printed[0])


@pytest.mark.thorough
def test_files_of_older_templates_are_read_and_continue(tmp_path):
    place = ReaderFolder(tmp_path, ROOT)
    place.run("societies", "new", "my_model", "--template", "kernel")
    place.run("pip", "install", "./my_model")
    for name in ("scaffold-layout-1.h5", "scaffold-layout-2-unfinished.h5"):
        (tmp_path / name).write_bytes((FILES / name).read_bytes())
    assert "complete: 12 days" in place.run("societies", "info", "scaffold-layout-1.h5")
    place.run("societies", "plot", "scaffold-layout-1.h5", "--out", "old.png")
    assert (tmp_path / "old.png").stat().st_size > 10_000
    keys = ("agents=20", "days=12", "record={checkpoint: 5, detail: 4}", "seed=3")
    changes = [word for key in keys for word in ("--set", key)]
    again = ["--resume", "--out", "scaffold-layout-2-unfinished.h5", "--device", "reference"]
    said = place.run("societies", "run", "my_model/my_model.yaml", *changes, *again)
    assert re.search(r"days run now +6 to 12\n", said)
    assert re.search(r"state sha256 +45b7b63a77ccf9ab", said)


@pytest.mark.thorough
def test_a_phase_is_captured(outputs):
    (said,) = (text for command, text in outputs.items() if command.startswith("societies capture"))
    folder, *_, last = said.splitlines()
    assert folder == "capture-exchange-day-3"
    assert last.startswith("identical: ")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "folder"),
    [
        (["--phase", "seed_streams"], "capture-seed_streams-day-0"),
        (["--phase", "statistics", "--day", "2", "--set", "agents=13"], "capture-statistics-day-2"),
        (["--phase", "exchange", "--out", "captured"], "captured"),
        (["--phase", "exchange", "--out", "captured", "--overwrite"], "captured"),
    ],
)
def test_every_phase_can_be_captured(words, folder, outputs, environment):
    said = environment.run("societies", "capture", "wealth/wealth.yaml", *words)
    assert said == f"{folder}\n"
    driven = environment.run("python", "-W", "error", f"{folder}/driver.py")
    assert driven.splitlines()[-1].startswith("identical: ")


@pytest.mark.thorough
def test_plain_xarray_opens_the_result(outputs, environment):
    with xr.open_dataset(environment.folder / "reserve.h5") as results:
        assert results.gini.dims == ("society", "day")
        assert results.money.dims == ("society", "detail_day", "agent")
        assert results.attrs["workload"] == "wealth"
        assert "reserve: 50" in results.attrs["configuration"]
        assert bool((results.money >= 50).all())
        assert float(results.gini[:, -1].mean()) == pytest.approx(6 / 22, abs=0.015)


@pytest.mark.thorough
def test_the_figure_is_drawn(outputs, environment):
    environment.run("societies", "plot", "reserve.h5")
    assert (environment.folder / "reserve_overview.png").stat().st_size > 10_000
    assert (environment.folder / "wealth.png").stat().st_size > 10_000


@pytest.mark.thorough
def test_its_configuration_is_checked_and_has_a_schema(outputs, environment):
    assert "valid, workload wealth" in environment.run("societies", "check", "wealth/wealth.yaml")
    keys = json.loads(environment.run("societies", "schema", "wealth"))["properties"]
    assert {"agents", "money", "amount", "reserve", "days", "seed", "replicates"} <= keys.keys()
    assert all("description" in key for name, key in keys.items() if name != "workload")


@pytest.mark.thorough
def test_a_run_is_resumed_and_the_same_on_the_reference(outputs, environment):
    """What the template gets from the core: checkpoints, another device, the same bits."""
    code = """
import sys, societies
config = societies.load_config("wealth/wealth.yaml", sys.argv[1:])
whole = societies.run(config, out="whole.h5")
def stop(day, days):
    if day >= 10:
        import signal
        signal.raise_signal(signal.SIGINT)
try:
    societies.run(config, out="parts.h5", progress=stop)
except societies.SocietiesError as error:
    print(error)
rest = societies.run(config, out="parts.h5", resume=True, device="reference")
assert 10 < rest.first_day < 60, rest
assert rest.state_sha256 == whole.state_sha256
assert rest.final == whole.final
again = societies.run(config, out="parts.h5", resume=True)
assert (again.first_day, again.state_sha256) == (61, whole.state_sha256)
"""
    overrides = ["agents=9", "days=60", "record={checkpoint: 7, detail: 20}", "seed=5"]
    said = environment.run("python", "-W", "error", "-c", code, *overrides)
    assert re.match(r"interrupted after day \d+ of 60; all of it is in parts.h5", said)
    with (
        xr.open_dataset(environment.folder / "whole.h5") as whole,
        xr.open_dataset(environment.folder / "parts.h5") as parts,
    ):
        xr.testing.assert_identical(whole.drop_attrs().load(), parts.drop_attrs().load())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("my-model", "letters, digits and underscores"),
        ("2nd", "begins with a letter"),
        ("_model", "begins with a letter"),
        ("model_", "letters, digits and underscores"),
        ("modèle", "letters, digits and underscores"),
        ("../up", "letters, digits and underscores"),
        ("", "letters, digits and underscores"),
        ("m" * 61, "more than 60 characters"),
        ("class", "word of Python"),
        ("null", "word of YAML"),
        ("economy", "a workload of this name"),
        ("random", "module of Python"),
        ("numpy", "module of this name"),
        ("societies", "module of this name"),
        ("reference_py", "module of this name"),
    ],
)
def test_names_that_cannot_be_used(name, reason, shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = shell("new", name)
    assert (code, out) == (2, "")
    assert err.startswith(f"'{name[:50]}")  # a long one is shortened
    assert "' cannot be the name of a workload: " in err
    assert reason in err
    assert len(err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_an_existing_folder_is_not_touched(shell, tmp_path):
    code, _, err = shell("new", "mine", "--out", str(tmp_path / "made"))
    assert (code, err) == (0, "")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    code, out, err = shell("new", "mine", "--out", str(tmp_path / "made"))
    assert (code, out) == (2, "")
    assert "exists already" in err
    assert len(err.splitlines()) == 1
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_name_is_changed(template, shell, tmp_path):
    name = "wealthOf_nations2"
    code, out, _ = shell("new", name, "--out", str(tmp_path), "--template", template)
    assert code == 0
    folder = tmp_path / name
    assert f"pip install -e {folder}" in out
    assert TEMPLATES[template] in out
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert written == {
        path.as_posix().replace("my_model", name) for path in template_files(template)
    }
    for path in written:
        assert not re.search("my_?model", (folder / path).read_text(), re.I), path
    file = f"{name}/config.py" if template == "kernel" else f"{name}.py"
    assert "class WealthOfNations2Config(DailyConfig)" in (folder / file).read_text()


def test_a_template_that_does_not_exist(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = shell("new", "mine", "--template", "markt")
    assert code == 2
    assert err.startswith("no template 'markt'; did you mean 'market'? (known: exchange, ")
    assert not list(tmp_path.iterdir())


@pytest.mark.thorough
@pytest.mark.parametrize("template", [name for name in TEMPLATES if name != "kernel"])
def test_a_new_model_in_python_runs_and_passes_its_tests(template, tmp_path):
    place = ReaderFolder(tmp_path, ROOT)
    place.run("societies", "new", "trial", "--template", template)
    place.folder /= "trial"
    printed = [out for block, out, _ in carry_out(str(place.folder / "README.md"), place)]
    assert re.search(r"identical: 20 days", printed[0])
    assert re.search(r"\d+ passed", printed[0])
