"""Which tests belong to the games, to models of one file or to physics, and when are they left out?

The folders `games`, `models` and `physics` of societies/, kernels/, reference_py/, configs/,
tests/ and experiments/ are rooms: what is in one of them depends on the core, and the core does not
depend on it. A test belongs to a room if its file is in the room, or if one of its parameters names
a workload or a file of the room. Such a test has the room's mark, `games`, `models` or `physics`.

`pytest` without `-m` leaves out a room of which no file differs from the merge base with the main
branch. Uncommitted changes count. Where git or the main branch is missing, all are left out. A
room whose files are named is not left out; neither are tests marked `ci` if a folder or file is
named.
"""

import re
import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("games", "models", "physics")
FOLDERS = ("societies", "kernels", "reference_py", "configs", "tests", "experiments")
MAIN = ("origin/HEAD", "origin/main", "main")
"""Names of the main branch, the first one that exists is taken."""

ALWAYS = {
    "boltzmann": "is one file of Python",
    "laplace": "ends by itself",
    "tictactoe": "is open-ended, and has phases on the host",
    "kalah_match": "plays its games on the host",
}
"""Workloads of the rooms that the tests of the core always try, by the trait that needs them.

The economy and the model of `societies new` are in no room."""

FURTHER_FORM = re.compile(r"\blaplace\b.*\bform ?[1-9]")
"""Forms of Laplace after the first (tests/small.py) belong to the physical workloads."""

TEMPLATES = "societies/scaffold/models/"
"""Folder of the models of `societies new`, which belong to the core."""

DEFAULT = "not (thorough or ci or games or models or physics)"
"""The expression of marks in pyproject.toml, for command lines without `-m`."""

excluded: list[str] = []
"""Rooms that this run of pytest leaves out: set by conftest.py before it reads any test."""


@cache
def room_of_words():
    """Return the room of each word that a parameter may consist of."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    modules = declared["project"]["entry-points"]["societies.workloads"]
    homes = {name: module.split(".")[1] for name, module in modules.items() if name not in ALWAYS}
    return {room: room for room in ROOMS} | {
        name: home for name, home in homes.items() if home in ROOMS
    }


def room_of(path, parameters=""):
    """Return the room of a test, or None.

    Parameters
    ----------
    path : str, of the test's file, relative to the repository
    parameters : str, the part of the test's name in brackets
    """
    parts = Path(path).parts
    if len(parts) > 2 and parts[1] in ROOMS:
        return parts[1]
    if FURTHER_FORM.search(parameters):
        return "physics"
    for word in re.findall(r"\w+", parameters.replace(TEMPLATES, "")):
        if word in room_of_words():
            return room_of_words()[word]
    return None


def is_excluded(parameters):
    """Return whether this run leaves out tests with these parameters, which need not be made."""
    return room_of("", parameters) in excluded


def marked_as_a_whole(text):
    """Return which of the marks `ci` and `thorough` a file of tests gives to all of them."""
    line = re.search(r"^pytestmark = (.*)", text, re.MULTILINE)
    return set(re.findall(r"\bmark\.(ci|thorough)\b", line[1])) if line else set()


def changed_rooms(root):
    """Return the rooms of which a file differs from the merge base with the main branch."""

    def git(*words):
        # The repository may be another user's.
        command = ["git", "-c", "safe.directory=*", "-C", str(root), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    if shutil.which("git") is None or git("rev-parse", "--show-prefix") != "\n":
        return set()  # not the top of a repository
    bases = (git("merge-base", "HEAD", name).strip() for name in MAIN)
    base = next(filter(None, bases), None)
    if base is None:
        return set()
    changed = git("diff", "--name-only", "-z", base)
    added = git("ls-files", "--others", "--exclude-standard", "-z")
    paths = (Path(name).parts for name in (changed + added).split("\0"))
    return {
        parts[1] for parts in paths if len(parts) > 2 and parts[0] in FOLDERS and parts[1] in ROOMS
    }


def asks_for_marks(words):
    """Return whether a command line has `-m`, which is then taken as it is."""
    return any(word.startswith("-m") for word in words)


def has_thorough(expression):
    """Return whether an expression of marks may select tests that are marked `thorough`."""
    return not re.search(r"\bnot (\((\w+ or )*)?thorough\b", expression)


def expression(root, folder, arguments):
    """Return the marks of the tests that `pytest` without ``-m`` runs.

    Parameters
    ----------
    root : Path, of the repository
    folder : Path, in which pytest was started
    arguments : sequence of str, folders, files and tests that it was given
    """
    tests = root / "tests"
    paths = [(folder / argument.partition("::")[0]).resolve() for argument in arguments]
    changed = changed_rooms(root)
    excluded = ["thorough"]
    if not any(tests in path.parents for path in paths):  # the whole suite
        excluded.append("ci")
    for room in ROOMS:
        if room not in changed and not any(path.is_relative_to(tests / room) for path in paths):
            excluded.append(room)
    return f"not ({' or '.join(excluded)})"


def left_out(expression):
    """Return the rooms that an expression made by `expression` leaves out; of others none."""
    if not re.fullmatch(r"not \(thorough( or \w+)*\)", expression):
        return []
    return [room for room in ROOMS if f" or {room}" in expression]
