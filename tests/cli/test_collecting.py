"""Python looks for unreachable objects as usual, but not while a command starts."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

import societies
from societies.__main__ import _collect_later


def test_a_short_command_is_not_searched_for_unreachable_objects():
    code = (
        "import gc, sys\n"
        "from societies.__main__ import _command\n"
        "before = sum(one['collections'] for one in gc.get_stats())\n"
        "try: _command()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print(sum(one['collections'] for one in gc.get_stats()) - before, gc.isenabled())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(societies.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code, "check", "economy/quickstart"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "0 True", (done.stdout, done.stderr)


@pytest.fixture
def collecting():
    usual, enabled, callbacks = gc.get_threshold(), gc.isenabled(), list(gc.callbacks)
    gc.enable()
    gc.set_threshold(700, 10, 10)
    yield
    gc.callbacks[:] = callbacks
    gc.set_threshold(*usual)
    if not enabled:
        gc.disable()


def test_collecting_is_as_usual_after_the_first_time(collecting):
    before = list(gc.callbacks)
    _collect_later(5000)
    assert gc.get_threshold() == (5000, 10, 10)
    alive = [[] for _ in range(10_000)]
    assert gc.get_threshold() == (700, 10, 10) and alive
    assert gc.callbacks == before


@pytest.mark.parametrize("threshold", [0, 1_000_000])
def test_a_user_who_chose_less_collecting_keeps_it(collecting, threshold):
    gc.set_threshold(threshold, 10, 10)
    _collect_later()
    assert gc.get_threshold() == (threshold, 10, 10)


def test_a_user_who_switched_collecting_off_keeps_that(collecting):
    gc.disable()
    before = list(gc.callbacks)
    _collect_later()
    assert not gc.isenabled() and gc.callbacks == before
