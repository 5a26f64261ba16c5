"""A pipe, a device or an endless file of the system is refused; waiting would never end."""

import os
import threading

import pytest

import societies
from societies.cli import main
from societies.errors import OutputError
from societies.output.trust import require_file
from societies.paths import kind_unless_file

SMALL = "workload: economy\nagents: 4\nresources: 4\ndays: 3\n"
COMMANDS = (
    "run PIPE",
    "run /dev/zero",
    "run small.yaml --out PIPE",
    "run small.yaml --out PIPE --overwrite",
    "run small.yaml --out PIPE --resume",
    "run small.yaml --out /dev/null --overwrite",
    "check PIPE",
    "verify PIPE",
    "verify small.yaml --from PIPE",
    "trace small.yaml --day 2 --agent 0 --from PIPE",
    "view PIPE --no-browser",
    "fan PIPE --tick 2",
    "irf PIPE",
    "validate PIPE",
    "validate economy PIPE --case trade",
    "calibrate PIPE",
    "cite PIPE",
    "keys PIPE",
    "plot PIPE",
    "plot run.h5",
    "plot run.h5 --out PIPE",
    "localmem PIPE",
    "localmem --config PIPE",
    "capture small.yaml --phase extraction --out PIPE",
    "capture small.yaml --phase extraction --out PIPE --overwrite",
    "info /proc/kmsg",
    "run small.yaml --out /proc/kmsg --resume",
    "plot /proc/kmsg",
    "irf /proc/kmsg",
    "calibrate /proc/kmsg",
    "run physics/blur/photo --set image=/proc/kmsg",
    "run physics/matmul/quickstart --set a=/proc/kmsg:x",
)


@pytest.fixture
def pipe(tmp_path, monkeypatch):
    """A pipe that ends, instead of waiting for ever, for a command that opens it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(SMALL)
    for name in ("PIPE", "run_overview.svg"):
        os.mkfifo(name)

    def end():
        for name in ("PIPE", "run_overview.svg"):
            os.close(os.open(tmp_path / name, os.O_RDWR | os.O_NONBLOCK))

    timers = [threading.Timer(seconds, end) for seconds in (30, 31, 32)]
    for timer in timers:
        timer.start()
    yield
    assert all(timer.is_alive() for timer in timers), "a process waited for the pipe"
    for timer in timers:
        timer.cancel()


@pytest.mark.sample
@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_is_refused_at_once(pipe, command, capsys):
    if command.startswith("plot run.h5"):
        pytest.importorskip("matplotlib")
        societies.run(societies.load_config("small.yaml"), device="reference", out="run.h5")
    with pytest.raises(SystemExit) as end:
        main([*command.split(), *(["--device", "reference"] if "small" in command else [])])
    reported = capsys.readouterr().err
    assert end.value.code in (2, 3, 4) and len(reported.splitlines()) <= 2
    places = ("PIPE", "/dev/null", "/dev/zero", "/proc/kmsg")
    place = next((word for word in places if word in command), ".svg")
    assert place in reported and "internal error" not in reported


@pytest.mark.skipif(not os.path.exists("/proc/kmsg"), reason="Linux has this file")
def test_a_file_of_the_system_that_waits_for_data_is_no_file():
    """It says that it is a regular file; HDF5 and Pillow waited for its data for ever."""
    assert kind_unless_file("/proc/kmsg") == "a stream of the system"
    with pytest.raises(OutputError, match="/proc/kmsg: is a stream of the system, not a result"):
        require_file("/proc/kmsg")


def test_an_empty_file_is_a_file(tmp_path):
    (tmp_path / "empty").touch()
    assert kind_unless_file(tmp_path / "empty") is None


def test_a_large_file_of_another_program_is_refused_without_reading_all_of_it(tmp_path, capsys):
    """Looking for our mark in a terabyte took hours, and Ctrl-C did not end it."""
    with open(tmp_path / "large", "wb") as file:
        file.truncate(2**40)
    with pytest.raises(SystemExit) as end:
        main(["info", str(tmp_path / "large")])
    assert end.value.code == 4 and "large: " in capsys.readouterr().err


def test_a_pipe_that_is_named_by_a_link_is_one(pipe, capsys):
    os.symlink("PIPE", "linked.h5")
    with pytest.raises(SystemExit):
        main(["plot", "linked.h5"])
    assert "linked.h5: is a pipe" in capsys.readouterr().err
