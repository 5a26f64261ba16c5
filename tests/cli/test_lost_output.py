"""Does a command fail with an error if its output is lost?"""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from societies import cli

COMMANDS = [
    "--version",
    *(
        pytest.param(one, marks=pytest.mark.ci)
        for one in ("list", "schema economy", "check economy/quickstart", "check nothing")
    ),
]
"""One that ends before a command, short ones, a long one, and one with an error of its own."""


def ended(command, redirected):
    words = f"{sys.executable} -m societies {command} {redirected}"
    done = subprocess.run(words, shell=True, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("redirected", "why"),
    [(">&-", "the standard output is closed"), (">/dev/full", "the disk is full")],
)
def test_lost_output_is_an_error_that_says_why(command, redirected, why):
    if redirected == ">/dev/full" and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    code, said = ended(command, redirected)
    if command == "check nothing":  # which prints nothing but its error
        assert code == 2 and "nothing" in said
    else:
        assert (code, said) == (4, f"the output cannot be printed: {why}\n")


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (errno.EFBIG, "it is larger than the largest file allowed here (ulimit -f)"),
        (errno.EDQUOT, "the disk's quota is used up"),
        (errno.EIO, "the terminal or disk that it goes to has failed"),
    ],
)
def test_output_that_the_system_does_not_take_is_an_error_that_says_why(
    number, why, monkeypatch, capsys
):
    def refuse():
        raise OSError(number, "as the system says it")

    monkeypatch.setattr(cli, "_flush", refuse)
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 4
    assert capsys.readouterr().err == f"the output cannot be printed: {why}\n"


@pytest.mark.ci
@pytest.mark.parametrize("redirected", ["<&-", "2>&-", "2>/dev/full", "<&- 2>&-"])
def test_other_streams_may_be_closed_or_full(redirected):
    code, said = ended("list", redirected)
    assert code == 0 and "economy" in said and "Traceback" not in said


@pytest.mark.ci
def test_no_one_needs_to_read_all_of_it():
    code, said = ended("schema economy", "| head -1")
    assert (code, said) == (0, "{\n")


def test_a_word_of_any_length_makes_no_long_error(tmp_path, shell):
    """A workload of four million letters was repeated in the error."""
    path = tmp_path / "long.yaml"
    path.write_text(f"workload: {'a' * 100_000}\n")
    code, _, err = shell("check", str(path))
    assert code == 2 and "unknown workload 'aaa" in err and len(err) <= cli.LONGEST_LINE + 1
