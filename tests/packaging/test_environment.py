"""Is the environment of the tests the same whatever the caller has set?"""

import os
import re
import subprocess
import sys
from pathlib import Path

import environment

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
