"""Which tests run by default: are rooms left out exactly while no file of theirs has changed?"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import rooms
import small

ROOT = Path(__file__).resolve().parents[2]
FILES = ("societies/games/a.py", "societies/physics/b.py", "societies/core/c.py", "docs/games/d.md")


def git(folder, *words):
    who = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path):
    """Return a repository with a file in each room, on a branch of its own."""
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "--initial-branch=main")
    for name in FILES:
        write(folder, name, "x = 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "Begin")
    git(folder, "switch", "-c", "branch")
    return folder


def write(folder, name, text):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def test_nothing_has_changed(clone):
    assert rooms.changed_rooms(clone) == set()


def test_a_change_counts_uncommitted_staged_and_committed(clone):
    steps = [(), ("add", "."), ("commit", "-m", "Change")]
    for name, expected in (
        ("societies/games/a.py", {"games"}),
        ("kernels/physics/new.cl", {"physics"}),
    ):
        write(clone, name, "x = 2\n")
        for step in steps:
            if step:
                git(clone, *step)
            assert rooms.changed_rooms(clone) == expected, (name, step)
        git(clone, "reset", "--hard", "main")


def test_only_folders_of_rooms_count(clone):
    for name in ("societies/core/c.py", "docs/games/d.md", "games/a.py", "tests/test_games.py"):
        write(clone, name, "x = 2\n")
    assert rooms.changed_rooms(clone) == set()
    for folder in rooms.FOLDERS:
        write(clone, f"{folder}/physics/new.txt", "")
        assert rooms.changed_rooms(clone) == {"physics"}, folder
        (clone / folder / "physics/new.txt").unlink()


def test_what_others_changed_on_the_main_branch_does_not_count(clone):
    git(clone, "switch", "main")
    write(clone, "societies/games/a.py", "x = 3\n")
    git(clone, "commit", "-a", "-m", "Change")
    assert rooms.changed_rooms(clone) == set()
    git(clone, "switch", "branch")
    assert rooms.changed_rooms(clone) == set()
    git(clone, "rm", "societies/physics/b.py")
    assert rooms.changed_rooms(clone) == {"physics"}


def test_commits_of_the_main_branch_that_are_not_published_count(clone, tmp_path):
    git(clone, "switch", "main")
    git(tmp_path, "clone", str(clone), "second")
    write(tmp_path / "second", "societies/games/a.py", "x = 4\n")
    git(tmp_path / "second", "commit", "-a", "-m", "Change")
    assert rooms.changed_rooms(tmp_path / "second") == {"games"}


def test_without_git_or_a_main_branch_no_room_has_changed(clone, monkeypatch):
    write(clone, "societies/games/a.py", "x = 2\n")
    assert rooms.changed_rooms(clone) == {"games"}
    assert rooms.changed_rooms(clone / "societies") == set()  # a folder in another repository
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")
        assert rooms.changed_rooms(clone) == set()
    git(clone, "branch", "-m", "main", "other")
    assert rooms.changed_rooms(clone) == set()
    shutil.rmtree(clone / ".git")  # a tarball
    assert rooms.changed_rooms(clone) == set()


def test_a_test_belongs_to_the_room_of_its_file_or_of_its_parameters():
    cases = [
        ("tests/games/chess/test_new.py", "", "games"),
        ("tests/physics/test_new.py", "economy]", "physics"),
        ("tests/parity/test_new.py", "", None),
        ("tests/parity/test_new.py", "economy-trading-5]", None),
        ("tests/parity/test_new.py", "connect6_match-play-form1-5]", "games"),
        ("tests/kernels/test_new.py", "kernels/physics/blur/rows.cl]", "physics"),
        ("tests/golden/test_new.py", "raytracer glass]", "physics"),
        ("tests/config/test_new.py", "games/kalah/quickstart]", "games"),
        *(("tests/parity/test_new.py", f"{name}-5]", None) for name in rooms.ALWAYS),
        ("tests/sweep/test_new.py", "laplace-blur]", "physics"),
        ("tests/cli/test_new.py", "blurred]", None),
        ("tests/parity/test_new.py", "laplace-sweep-form0-5]", None),
        ("tests/parity/test_new.py", "laplace-sweep-form2-5]", "physics"),
        ("tests/kernels/test_new.py", "laplace on a GPU, form 3]", "physics"),
        ("tests/parity/test_new.py", "tictactoe-form1-5]", None),
        ("tests/packaging/test_new.py", "docs/models.md]", "models"),
        ("tests/packaging/test_new.py", "societies/scaffold/models/market/README.md]", None),
    ]
    for path, parameters, expected in cases:
        assert rooms.room_of(path, parameters) == expected, (path, parameters)


def test_marks_that_a_command_asks_for_are_taken_as_they_are():
    """`.ci/versions --quick` ran the tests marked `ci`, too: its expression was the default's."""
    for words in (["-m", rooms.DEFAULT, "tests/api"], [f"-m{rooms.DEFAULT}"], ["-q", "-m="]):
        assert rooms.asks_for_marks(words)
    assert not rooms.asks_for_marks(["-q", "--maxfail=1", "tests/api"])


def test_more_examples_are_tried_only_with_the_thorough_tests():
    for few in (
        rooms.DEFAULT,
        "not (ci or thorough or games)",
        "(ci or oclgrind) and not thorough",
    ):
        assert not rooms.has_thorough(few)
    for many in ("", "thorough", "not ci", "ci or thorough"):
        assert rooms.has_thorough(many)


def test_a_room_that_is_named_or_has_changed_is_not_left_out(clone):
    def left_out(*arguments, folder=clone):
        return rooms.left_out(rooms.expression(clone, folder, arguments))

    whole = rooms.expression(clone, clone, ["tests"])
    assert whole == rooms.DEFAULT and rooms.left_out(whole) == ["games", "models", "physics"]
    assert rooms.expression(clone, clone, ["tests/api"]) == whole.replace(" or ci", "")
    assert left_out("tests/games/chess/test_a.py::test_a", "tests/parity") == ["models", "physics"]
    assert left_out("physics", folder=clone / "tests") == ["games", "models"]
    write(clone, "configs/games/new.yaml", "")
    assert left_out("tests/parity") == ["models", "physics"]


def test_every_workload_of_ours_is_in_a_room_or_always_tried():
    declared = re.findall(
        r'^(\w+) = "societies\.(\w+).*:WORKLOAD"',
        (ROOT / "pyproject.toml").read_text(),
        re.MULTILINE,
    )
    named = {name for name, home in declared if home in rooms.ROOMS}
    assert {*rooms.room_of_words(), *rooms.ALWAYS} == {*named, *rooms.ROOMS}
    assert len(named) > 15


def test_the_default_is_that_of_the_settings():
    assert f'"-m={rooms.DEFAULT}"' in (ROOT / "pyproject.toml").read_text()
    assert rooms.left_out(rooms.DEFAULT) == list(rooms.ROOMS)
    for other in ("", "thorough", "games", "not thorough"):
        assert rooms.left_out(other) == []


TESTS = {
    "tests/games/test_a_game.py": "def test_a(): pass",
    "tests/physics/test_a_field.py": "def test_b(): pass",
    "tests/core/test_core.py": """
import pytest
@pytest.mark.parametrize("name", ["economy", "laplace", "blur", "kalah"])
def test_c(name): pass
@pytest.mark.thorough
def test_d(): pass
@pytest.mark.ci
def test_e(): pass
""",
}


@pytest.mark.ci
def test_pytest_runs_a_room_if_it_has_changed(clone):
    for name in ("conftest.py", "environment.py", "rooms.py"):
        write(clone, f"tests/{name}", (ROOT / "tests" / name).read_text())
    for name, text in TESTS.items():
        write(clone, name, text)
    write(clone, "pyproject.toml", (ROOT / "pyproject.toml").read_text())
    git(clone, "add", ".")
    git(clone, "commit", "-m", "Test")
    git(clone, "branch", "-f", "main")

    def ran():
        command = [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", "-q"]
        done = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False)
        return {line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line}

    core = {"test_c[economy]", "test_c[laplace]"}
    assert ran() == core
    write(clone, "kernels/physics/new.cl", "")
    assert ran() == core | {"test_c[blur]", "test_b"}
    words = ["-n", "1", "tests/games", "-q"]  # a process of its own knows the marks, too
    done = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=clone, capture_output=True)
    assert b"1 passed" in done.stdout


def test_what_is_left_out_is_not_even_made(monkeypatch):
    monkeypatch.setattr(rooms, "excluded", ["games", "physics"])
    left_out = ["kalah", "blur", "laplace, form 1"]
    assert [name for name in (*left_out, *rooms.ALWAYS) if rooms.is_excluded(name)] == left_out
    assert set(rooms.ALWAYS) <= set(small.tried()) < set(small.names())
    monkeypatch.setattr(rooms, "excluded", [])
    assert small.tried() == small.names()


def test_marks_of_a_whole_file_are_read_from_its_text():
    cases = [
        ("pytestmark = pytest.mark.ci\n", {"ci"}),
        (
            "import a\npytestmark = [pytest.mark.chromium, pytest.mark.thorough]  # long\n",
            {"thorough"},
        ),
        ("pytestmark = pytest.mark.oclgrind\n@pytest.mark.ci\ndef test_a(): ...\n", set()),
        ("def test_a():\n    pytestmark = pytest.mark.ci\n", set()),
    ]
    for text, expected in cases:
        assert rooms.marked_as_a_whole(text) == expected, text
