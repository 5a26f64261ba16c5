"""Does Python take what a newcomer passes, and do its errors speak of arguments?"""

import ast
import re
from pathlib import Path

import pytest
import typer

import societies
from societies.cli import app
from societies.errors import ConfigError, OutputError, SocietiesError, option, shell_words, typed
from societies.paths import data_directory, shipped_configurations

SMALL = "workload: economy\nagents: 5\nresources: 4\ndays: 3\n"
PACKAGE = Path(societies.__file__).parent


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_load_config_takes_the_names_of_shipped_configurations():
    assert "economy/tools" in shipped_configurations()
    for name in shipped_configurations():
        file = data_directory("configs") / f"{name}.yaml"
        assert societies.load_config(name) == societies.load_config(file)
    assert societies.load_config("economy/tools", ["days=7"]).days == 7


def test_run_plan_and_verify_take_a_name_or_a_file(folder):
    (folder / "small.yaml").write_text(SMALL)
    report = societies.run("small.yaml", device="reference")
    assert report.path == Path("small.h5")
    assert report.path.is_file()
    same = societies.run(folder / "small.yaml", device="reference", out="other.h5")
    assert same.path == Path("other.h5")
    rows = dict(societies.plan("economy/quickstart", device="reference").rows)
    assert rows["output"] == str(folder / "quickstart.h5")
    assert rows["agents x resources"] == "12 x 12"
    assert societies.verify("small.yaml", device="reference", days=1).identical


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: societies.run({"workload": "economy"}), "run: .* got dict; config_from_dict"),
        (lambda: societies.plan(None), "plan: .* got NoneType"),
        (lambda: societies.verify(3), "verify: .* got int"),
        (lambda: societies.run("economy/tolls"), "economy/tolls: .*did you mean 'economy/tools'"),
        (lambda: societies.load_config("quickstart"), "did you mean 'economy/quickstart'"),
        (lambda: societies.load_config({"days": 3}), "got dict; config_from_dict"),
        (lambda: societies.load_config(None), "got NoneType"),
        (lambda: societies.load_config("economy/tools", "days=3"), 'list of texts: \\["days=3"'),
        (lambda: societies.load_config("economy/tools", {"days": 3}), "list of texts"),
        (lambda: societies.config_from_dict("economy/tools"), "got str; load_config"),
    ],
)
def test_says_what_it_wants(call, words):
    with pytest.raises(ConfigError, match=words):
        call()


def test_errors_of_a_run_speak_of_arguments_and_in_a_shell_of_options(folder, shell):
    (folder / "small.yaml").write_text(SMALL)
    with pytest.raises(OutputError, match=r"without resume=True, .* the argument out") as missing:
        societies.run("small.yaml", out="none.h5", resume=True)
    assert "--" not in str(missing.value)
    assert (
        "without --resume, or name another file with --out"
        in shell("run", "small.yaml", "--out", "none.h5", "--resume")[2]
    )
    Path("small.h5").write_text("mine")
    with pytest.raises(OutputError, match=r"resume=True, .* overwrite=True, .* the argument out"):
        societies.run("small.yaml")
    err = shell("run", "small.yaml")[2]
    assert "with --resume, replace it with --overwrite, or choose another place with --out" in err
    with pytest.raises(ConfigError, match="raise it with override days=9"):
        societies.verify("small.yaml", days=9, device="reference")
    assert "raise it with --set days=9" in shell("verify", "small.yaml", "--days", "9")[2]
    with pytest.raises(ConfigError, match=r"^override dayz=9  dayz: unknown key"):
        societies.load_config("small.yaml", ["dayz=9"])
    with pytest.raises(SocietiesError, match=r"^device='nothing-like-it'"):
        societies.choose_device("nothing-like-it")
    assert shell("run", "small.yaml", "--device", "nothing-like-it", "--overwrite")[2].startswith(
        "--device nothing-like-it"
    )


def test_what_contradicts_itself_is_refused(folder):
    (folder / "small.yaml").write_text(SMALL)
    for _ in range(2):  # whether there is a file already or not
        with pytest.raises(ConfigError, match=r"^run: resume=True continues .* choose one$"):
            societies.run("small.yaml", device="reference", resume=True, overwrite=True)
        societies.run("small.yaml", device="reference", overwrite=True)
    with pytest.raises(TypeError, match=r"^ticks and days say the same; give one of them$"):
        societies.verify("small.yaml", device="reference", ticks=2, days=1)


def test_a_report_is_shown_without_its_configuration(folder):
    (folder / "small.yaml").write_text(SMALL)
    shown = repr(societies.run("small.yaml", device="reference"))
    assert "small.h5" in shown and "last_tick=3" in shown
    assert "config" not in shown and "object at" not in shown


def test_options_have_the_names_that_the_command_line_gives_them():
    assert option("start") == "the argument start"
    assert option("tick", 3) == "tick=3"
    with shell_words():
        assert option("start") == "--from"
        assert option("form", "json") == "-o json"
        assert option("tick", 3) == "--tick 3"
        typed("tick", "day")
        assert option("tick", 3) == "--day 3"
    with shell_words():
        assert option("tick", 3) == "--tick 3"
        assert option("resume", True) == "--resume"
    assert option("resume", True) == "resume=True"


@pytest.mark.ci
def test_no_text_of_the_library_names_an_option():
    """Only `option` may: every other text would be wrong in Python."""
    group = typer.main.get_command(app)
    commands = [group.get_command(typer.Context(group), name) for name in group.commands]
    options = {word for command in commands for p in command.params for word in p.opts}
    assert {"--out", "--resume", "--from", "--set"} <= options
    listed = "|".join(word for word in options if word[:2] == "--")
    ours = re.compile(
        rf"(?<!driver\.py )(?<!societies info )(?<!societies export )({listed})(?![-\w])"
    )
    # the shell's own words
    own = {
        "cli.py",
        "command_options.py",
        "options.py",
        "__main__.py",
        "capture_driver.py",
        "errors.py",
        "waits.py",
    }
    found = []  # whole commands (societies info --check) are right everywhere
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name in own or "scaffold" in path.parts:
            continue
        if path.name in ("catalogue.py", "companions.py", "following.py"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documents = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        texts = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        found += [
            f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value[:60]}"
            for node in texts
            if id(node) not in documents
            and ours.search(node.value)
            and (path.name, node.value) != ("conduct.py", "--set ")  # of a whole command
        ]
    assert not found


@pytest.mark.ci
@pytest.mark.parametrize("name", ["x.csv", "deep.d/x.CSV", "x.xlsx", "x.json"])
def test_a_table_is_refused_with_the_way_to_get_one(name, shell, folder):
    (folder / "small.yaml").write_text(SMALL)
    (folder / "deep.d").mkdir()
    for more in ([], ["--dry-run"], ["--resume"]):
        code, out, err = shell("run", "small.yaml", "--out", name, *more)
        assert (code, out) == (2, "")
        assert err.splitlines()[0].endswith(
            f"a run writes an HDF5 file; give it a name like {Path(name).with_suffix('.h5')}"
        )
    assert not Path(name).exists()
    way = re.search(r"for tables, then: societies (export .*)$", err)[1]
    societies.run("small.yaml", device="reference", out=Path(name).with_suffix(".h5"))
    code, out, _ = shell(*way.split())
    table = Path(name).with_name("x_society_day.csv")
    assert code == 0 and str(table) in out.splitlines()
    lines = table.read_text().splitlines()
    assert lines[0].startswith("society,day,") and "gini" in lines[0].split(",")
    assert len(lines) == 1 + 3


def test_names_that_promise_something_else_are_refused_and_others_are_not(folder):
    (folder / "small.yaml").write_text(SMALL)
    with pytest.raises(ConfigError, match=r"small\.yaml: a run writes an HDF5 file"):
        societies.run("small.yaml", device="reference", out="small.yaml", overwrite=True)
    assert (folder / "small.yaml").read_text() == SMALL
    for name in ("a", "b.hdf5", "c.nc", "d.h5", "run.2"):
        assert societies.run("small.yaml", device="reference", out=name).path.is_file()
