"""Is the environment of the tests the same whatever the caller has set?"""

import gc
import os
import re
import subprocess
import sys
from pathlib import Path

import environment
import pytest
from hypothesis.core import threadlocal

ROOT = Path(__file__).resolve().parents[2]
ASKED = {
    "SOCIETIES_TEST_DEVICE": "x",
    "SOCIETIES_REQUIRE_OCLGRIND": "1",
    "PATH": "/usr/bin",
}


def hostile():
    """Return the variables that .ci/hostile sets, with the values that need no folder."""
    text = (ROOT / ".ci/hostile").read_text()
    (listed,) = re.findall(r"^variables=\(\n(.*?)^\)$", text, re.M | re.S)
    found = dict(re.findall(r'(?<![\w"])"?([A-Za-z_]+)=([^\s"]*)', listed))
    assert len(found) > 45 and found["FORCE_COLOR"] == "1"
    return found


def test_no_hostile_variable_is_taken_over():
    plain = environment.cleaned(ASKED)
    assert environment.cleaned(hostile() | ASKED) == plain
    assert plain.items() >= ASKED.items()
    assert set(plain) - set(ASKED) <= {
        *("HOME", "SOCIETIES_CACHE_DIR", "POCL_CACHE_DIR", "TZ", "PYTHONUSERBASE")
    }


def test_the_tests_and_their_processes_run_in_it():
    ours = {"HOME", "SOCIETIES_CACHE_DIR", "POCL_CACHE_DIR", "TZ"}
    program = "import json, os; print(*os.environ)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    for names in (set(os.environ), set(done.stdout.split())):
        assert names & (hostile().keys() - ours) == set()
    assert os.access(os.environ["HOME"], os.W_OK)


def test_what_hypothesis_asks_the_collector_for_is_older_than_what_is_frozen():
    made = threadlocal._hypothesis_global_random
    assert made is not None
    assert not any(made is one for one in gc.get_objects())  # frozen objects are not among them


def test_an_image_gets_every_file_that_git_tracks():
    """A tracked file that is left out counts as removed: the image's commit would be "modified"."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs a clone")
    patterns = []
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        included, pattern = line.startswith("!"), line.removeprefix("!")
        anchored = pattern if pattern.startswith("**") else f"/{pattern}"  # as Docker reads them
        patterns += ["-x", f"{'!' * included}{anchored}"]
    asked = ["git", "-C", str(ROOT), "ls-files", "--cached", "--ignored", *patterns]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == ""
