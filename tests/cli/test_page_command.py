"""`societies view`: the page from a shell, until Ctrl-C, and everything that it refuses."""

import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from marks import thorough_but

VIEW = [sys.executable, "-m", "societies", "view", "physics/laplace/quickstart", "--no-browser"]


@pytest.mark.ci
def test_a_page_is_served_until_ctrl_c():
    process = subprocess.Popen(
        [*VIEW, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        title, _, address = process.stdout.readline().strip().partition(": ")
        assert title == "the potential of a plate of 32 x 32 cells"
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, "", "")
    finally:
        process.kill()
        process.communicate()


def test_a_port_in_use_is_said_before_anything_is_built(shell):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = shell("view", "physics/laplace/quickstart", "--port", str(port))
    assert (code, out) == (2, "")
    assert err == f"--port {port}: the port is in use; choose another, or 0 for any that is free\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--host", "no.such.invalid"], "--host no.such.invalid: there is no such address"),
        (["--host", "192.0.2.1"], "--host 192.0.2.1: this machine has no such address"),
        (["--port", "65536"], "--port 65536: ports are 0 to 65535"),
        (["--frames", "gif"], "--frames gif: one of auto, raw, webp"),
        (["--set", "side=2"], "--set side=2  side: must be at least 3, got 2"),
    ],
)
def test_what_cannot_be_is_one_line(shell, words, line):
    code, out, err = shell("view", "physics/laplace/quickstart", "--no-browser", *words)
    assert (code, out) == (2, "")
    assert err == f"{line}\n"


def test_a_workload_without_view_and_series_reports_it(shell):
    code, out, err = shell("view", "physics/matmul/product", "--no-browser")
    assert (code, out) == (2, "")
    assert err == (
        "workload matmul cannot be viewed: it defines neither a view nor a series with a value "
        "for each tick\n"
    )


@pytest.mark.parametrize("package", ["starlette", "uvicorn", "websockets"])
def test_without_the_extra_one_line_says_what_to_install(shell, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    code, out, err = shell("view", "physics/laplace/quickstart", "--no-browser")
    assert (code, out) == (2, "")
    assert err == f"the page needs the package {package}: pip install 'societies[view]'\n"


@pytest.mark.ci
@pytest.mark.parametrize("ending", thorough_but({signal.SIGINT}, [signal.SIGINT, signal.SIGTERM]))
def test_a_run_with_a_page_shows_its_file_until_it_is_ended(tmp_path, ending):
    words = ["run", "models/boltzmann/quickstart", "--device", "reference", "--view", "-q"]
    words += ["--days", "3", "--set", "record.detail=0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "societies", *words, "--out", str(tmp_path / "run.h5")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        lines = [process.stderr.readline() for _ in range(2)]
        address = next(one for one in lines if "http" in one).rpartition(": ")[2].strip()
        assert "the run has ended; Ctrl-C closes the page\n" in lines
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert answer.status == 200
        process.send_signal(ending)
        out, _ = process.communicate(timeout=20)
        assert process.returncode == (0 if ending == signal.SIGINT else 143)
        assert out.strip() == str(tmp_path / "run.h5")
        with pytest.raises(OSError, match="refused"):
            urllib.request.urlopen(address, timeout=20)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.ci
def test_a_page_ends_with_a_run_that_is_killed(tmp_path):
    words = ["run", "models/boltzmann/quickstart", "--device", "reference", "--view", "-q"]
    with subprocess.Popen(
        [sys.executable, "-m", "societies", *words, "--out", str(tmp_path / "run.h5")],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        while "http" not in process.stderr.readline():
            pass
        process.kill()
        assert "http" not in process.stderr.read()  # which ends when all that can write have ended


def test_a_page_of_a_run_that_only_plans_is_refused(shell):
    code, out, err = shell("run", "economy/quickstart", "--view", "--dry-run")
    assert (code, out) == (2, "")
    assert err == "--view shows a run and --dry-run runs nothing: choose one\n"
