"""Is the suite green on a bare machine? And does .ci/bare, which poses as one, hide the rest?"""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.ci
ROOT = Path(__file__).resolve().parents[2]
BARE = ROOT / ".ci/bare"
LOOK = """
import json, os, shutil, signal
from societies.opencl import race
print(json.dumps({
    "tools": {name: shutil.which(name) for name in ("oclgrind", "gcc", "clinfo", "git", "python3")},
    "simulator": str(race.runtime()),
    "listed": [sorted(os.listdir(folder)) for folder in os.environ["PATH"].split(":")],
    "variables": sorted(os.environ),
    "home": [name for _, *rest in os.walk(os.environ["HOME"]) for names in rest for name in names],
    "vendors": os.listdir(os.environ.get("OCL_ICD_VENDORS", ".")),
    "ignored": signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
}))
"""


@pytest.fixture
def rich(tmp_path):
    """The environment of a machine with optional tools, settings of ours and a full cache."""
    tools = tmp_path / "usr/bin"
    tools.mkdir(parents=True)
    for name in ("oclgrind", "gcc", "clinfo"):
        (tools / name).write_text("#!/bin/sh\n")
        (tools / name).chmod(0o755)
    library = tmp_path / "usr/lib/liboclgrind-rt-icd.so"
    library.parent.mkdir()
    library.touch()
    home = tmp_path / "home"
    (home / ".cache/societies").mkdir(parents=True)
    (home / ".cache/societies/build").touch()
    (home / ".config/pip").mkdir(parents=True)
    (home / ".config/pip/pip.conf").write_text("[global]\ntimeout = 77\n")
    (tmp_path / "tmp").mkdir()
    (tmp_path / "work").mkdir()
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "XDG_"))},
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "TMPDIR": str(tmp_path / "tmp"),
        "OCL_ICD_VENDORS": str(tools),
        "SOCIETIES_DEVICE": "reference",
        "POCL_CACHE_DIR": str(home),
        "PYTHONPATH": str(ROOT),
        "PIP_RETRIES": "3",
    }


def run(*words, environment, folder, **options):
    done = subprocess.run(
        words, env=environment, cwd=folder, capture_output=True, text=True, timeout=120, **options
    )
    return done.returncode, done.stdout, done.stderr


def test_optional_tools_settings_and_caches_are_hidden(rich, tmp_path):
    look = (sys.executable, "-c", LOOK)
    code, out, err = run(*look, environment=rich, folder=tmp_path / "work")
    assert code == 0, err
    seen = json.loads(out)  # what there is to hide
    assert all(seen["tools"].values())
    assert seen["simulator"].endswith("usr/lib/liboclgrind-rt-icd.so")
    assert {"SOCIETIES_DEVICE", "POCL_CACHE_DIR"} <= set(seen["variables"])
    assert "build" in seen["home"]

    code, out, err = run(BARE, *look, environment=rich, folder=tmp_path / "work")
    assert code == 0, err
    bare = json.loads(out)
    assert [name for name, path in bare["tools"].items() if path] == ["git", "python3"]
    assert bare["simulator"] == "None"
    (listed,) = bare["listed"]
    assert {"sh", "git", "ld", "python3"} <= set(listed) and len(listed) < 90
    assert not [v for v in bare["variables"] if v.startswith(("SOCIETIES", "POCL", "PYTHON"))]
    assert set(bare["home"]) <= {".config", "pip", "pip.conf"}
    assert bare["vendors"] == []
    assert bare["ignored"]
    assert os.listdir(tmp_path / "tmp") == [], "something stays behind"


def test_temporary_files_stay_where_that_is_asked_for(rich, tmp_path):
    (tmp_path / "retained").mkdir()
    retaining = rich | {"BARE_TMP": str(tmp_path / "retained")}
    make = ("sh", "-ec", "mktemp; env")
    code, out, err = run(BARE, *make, environment=retaining, folder=tmp_path / "work")
    assert code == 0, err
    (made,) = (tmp_path / "retained").iterdir()
    assert out.splitlines()[0] == str(made) and "BARE_TMP" not in out
    assert os.listdir(tmp_path / "tmp") == []


def test_pip_keeps_its_settings(rich, tmp_path):
    listing = (BARE, sys.executable, "-m", "pip", "config", "list")
    code, out, err = run(*listing, environment=rich, folder=tmp_path / "work")
    assert code == 0, err
    assert "global.timeout='77'" in out
    assert ":env:.retries='3'" in out
    own = tmp_path / "own.conf"
    own.write_text("[global]\ntimeout = 78\n")
    environment = {**rich, "PIP_CONFIG_FILE": str(own)}
    code, out, err = run(*listing, environment=environment, folder=tmp_path / "work")
    assert code == 0 and "global.timeout='78'" in out, err


@pytest.mark.thorough
def test_its_python_makes_environments(rich, tmp_path):
    make = (
        "python3 -m venv --without-pip made && made/bin/python -c 'import sys; print(sys.prefix)'"
    )
    code, out, err = run(BARE, "sh", "-ec", make, environment=rich, folder=tmp_path / "work")
    assert code == 0, err
    assert out.strip().endswith("/work/made")


def test_root_becomes_an_unprivileged_user_or_says_why_not(rich):
    """Not in pytest's folder: that one is closed to other users."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        code, out, err = run(BARE, "id", "-u", environment=rich | {"TMPDIR": folder}, folder=folder)
        assert code == 0, err
        assert err.startswith("bare machine: /")
        assert int(out) != 0 or "as root, because" in err
        assert os.listdir(folder) == []
        if int(out) != 0:
            return
        if os.getuid() == 0:
            assert "because" in err


def test_where_the_other_user_cannot_write_the_caller_stays_and_reports_it(rich, tmp_path):
    (tmp_path / "work").chmod(0o700)
    code, out, err = run(BARE, "id", "-u", environment=rich, folder=tmp_path / "work")
    assert (code, int(out)) == (0, os.getuid()), err
    assert ("because" in err) == (os.getuid() == 0)


def test_the_exit_code_is_the_commands(rich, tmp_path):
    code, _, _ = run(BARE, "sh", "-c", "exit 7", environment=rich, folder=tmp_path / "work")
    assert code == 7
    assert run(BARE, environment=rich, folder=tmp_path / "work")[0] == 2


def test_a_machine_without_python_gets_a_list_of_what_it_needs(rich, tmp_path):
    tools = tmp_path / "few"
    tools.mkdir()
    for name in ("bash", "env", "id", "mktemp", "mkdir", "ln", "realpath", "rm"):
        (tools / name).symlink_to(shutil.which(name))
    code, _, err = run(BARE, "true", environment=rich | {"PATH": str(tools)}, folder=tmp_path)
    assert code == 1
    assert "no Python 3.11 or newer" in err and "python3-venv" in err
    assert os.listdir(tmp_path / "tmp") == []


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_ends_the_command_although_it_ignores_it(number, expected, rich, tmp_path):
    waiting = subprocess.Popen(
        [BARE, "sh", "-c", "touch began; sleep 100; touch ended"],
        env=rich,
        cwd=tmp_path / "work",
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 60
        while not (tmp_path / "work/began").exists():
            assert time.monotonic() < end and waiting.poll() is None
            time.sleep(0.05)
        waiting.send_signal(number)
        assert waiting.wait(timeout=60) == expected
    finally:
        waiting.kill()
    assert os.listdir(tmp_path / "work") == ["began"]
    assert os.listdir(tmp_path / "tmp") == []


def test_the_scripts_can_be_executed():
    for script in (".ci/run", ".ci/nightly", ".ci/bare", ".ci/hostile"):
        assert (ROOT / script).stat().st_mode & stat.S_IXUSR


# -- the suite itself ----------------------------------------------------------------------------


def suite(*words, ignore_sigint=False, bare=False, must=False):
    """Run some tests in a process of their own; return its exit code and what it said."""
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "0", *words]
    if ignore_sigint:
        words = ["bash", "-c", 'trap "" INT; exec "$@"', "bash", *words]
    if must:
        words = ["env", "SOCIETIES_REQUIRE_OCLGRIND=1", *words]
    if bare:
        words = [str(BARE), *words]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.thorough
def test_tests_of_ctrl_c_hold_where_the_suite_was_started_with_sigint_ignored():
    """One that interrupts its own process, and one that interrupts a child."""
    code, said = suite(
        "tests/output/test_economy_resume.py::test_ctrl_c_in_the_library",
        "tests/cli/test_commands.py::test_ctrl_c_says_how_to_continue_and_ends_with_130",
        ignore_sigint=True,
    )
    assert code == 0, said
    assert "2 passed" in said


def test_without_oclgrind_its_tests_are_skipped_as_a_whole_with_the_reason():
    code, said = suite("tests/races/test_check.py", bare=True)
    assert code == 0, said
    assert "needs Oclgrind: apt install oclgrind" in said
    assert "passed" not in said.splitlines()[-1] and "error" not in said.splitlines()[-1]


def test_without_oclgrind_its_tests_fail_where_it_is_required():
    code, said = suite("tests/races/test_check.py", bare=True, must=True)
    assert code == 1, said
    assert "SOCIETIES_DEBUG=race needs Oclgrind" in said
    assert "passed" not in said.splitlines()[-1]
