"""Does a signal stop a run with everything saved, and are the handlers of others left alone?"""

import inspect
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from small import small

import societies
from societies import __main__ as start
from societies import cli, commands, signals, sweep
from societies.errors import Interrupted, interruption
from societies.games.chess import external
from societies.output import ResultFile
from societies.study.simulate import simulator
from societies.view.following import following
from societies.workload.running import interrupts as running
from societies.workload.running.interrupts import Interruption, interrupts

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
ALL = pytest.mark.parametrize("number", CODES)


@pytest.fixture(autouse=True)
def handlers(monkeypatch):
    """Put all handlers back, and begin without a signal."""
    monkeypatch.setattr(signals, "_newest", -float("inf"))
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    before = {number: signal.getsignal(number) for number in CODES}
    yield before
    for number, handler in before.items():
        signal.signal(number, handler)


def sends(*numbers, at=2):
    """Return a progress function that sends signals to this process after some calls."""
    calls = []

    def progress(*_):
        calls.append(1)
        if len(calls) == at:
            for number in numbers:
                os.kill(os.getpid(), number)

    return progress


def run(path, **more):
    return societies.run(small("laplace"), device="reference", out=path, **more)


def handled():
    """Set the handlers of the command."""
    for number in CODES:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signals.handle()


@ALL
def test_the_first_one_saves_and_has_its_exit_code(number, tmp_path):
    handled()
    with pytest.raises(Interrupted, match="all of it is in") as caught:
        run(tmp_path / "r.h5", progress=sends(number))
    assert caught.value.exit_code == CODES[number]
    assert {signal.getsignal(one) for one in CODES} == {signals.stop}
    with ResultFile.resume(tmp_path / "r.h5") as file:
        assert file.latest_checkpoint()[0] == file.ticks_committed > 0
    run(tmp_path / "r.h5", resume=True)


@ALL
def test_a_sweep_writes_what_is_complete(number, tmp_path):
    handled()
    swept = {
        "base": {"workload": "laplace", "side": 6, "steps": 2},
        "vary": {"grid": {"side": [6, 7, 8]}},
    }
    path = tmp_path / "s.h5"
    with pytest.raises(Interrupted, match="1 of 3 runs are done") as caught:
        sweep.run(swept, device="reference", out=path, batch=1, progress=sends(number))
    assert caught.value.exit_code == CODES[number]
    assert sweep.run(swept, device="reference", out=path, resume=True).computed == 2


@ALL
def test_what_is_ignored_stays_ignored(number, tmp_path):
    signal.signal(number, signal.SIG_IGN)
    signals.handle()
    assert run(tmp_path / "r.h5", progress=sends(number)).last_tick
    assert signal.getsignal(number) == signal.SIG_IGN


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_handler_of_the_caller_stays_in_place(number, tmp_path):
    heard = []

    def mine(number, frame):
        heard.append(number)

    signal.signal(number, mine)
    signals.handle()
    assert run(tmp_path / "r.h5", progress=sends(number)).last_tick
    assert heard == [number] and signal.getsignal(number) is mine


def test_another_thread_handles_nothing(tmp_path):
    during = []
    before = [signal.getsignal(number) for number in CODES]

    def look(*_):
        during.append([signal.getsignal(number) for number in CODES])

    thread = threading.Thread(target=run, args=(tmp_path / "r.h5",), kwargs={"progress": look})
    thread.start()
    thread.join()
    assert all(one == before for one in during) and during


@pytest.mark.ci
def test_without_a_handler_the_process_ends_as_it_would_have_but_saves(tmp_path):
    script = """
        import os, signal, sys, societies
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        config = {"workload": "laplace", "side": 6, "steps": 400, "record": {"checkpoint": 300}}
        def stop(tick, last):
            if tick:
                os.kill(os.getpid(), signal.SIGTERM)
        societies.run(societies.config_from_dict(config), device="reference", out=sys.argv[1],
                      progress=stop)
    """
    path = tmp_path / "r.h5"
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), path], check=False)
    assert done.returncode == -signal.SIGTERM
    with ResultFile.resume(path) as file:
        assert file.latest_checkpoint()[0] == file.ticks_committed > 0


def test_a_signal_that_comes_too_late_for_a_run_reaches_the_caller():
    heard = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    with interrupts():
        os.kill(os.getpid(), signal.SIGINT)
    assert heard == [signal.SIGINT]
    with interrupts() as outer:
        with interrupts():
            os.kill(os.getpid(), signal.SIGINT)
        assert outer.is_set()
        outer.number = 0


def test_the_second_one_ends_at_once_and_a_closed_terminal_is_one():
    flag = Interruption()
    with flag.at_once():
        flag.handle(signal.SIGTERM, None)
        assert flag.number == signal.SIGTERM
        flag.handle(signal.SIGHUP, None)  # systemd sends it right after
        with pytest.raises(signals.Stopped) as caught:
            flag.handle(signal.SIGINT, None)
    assert caught.value.number == signal.SIGTERM
    flag.handle(signal.SIGTERM, None)  # while it writes
    flag = Interruption()
    with pytest.raises(signals.Stopped), flag.at_first():
        flag.handle(signal.SIGTERM, None)


def test_a_second_one_while_a_run_writes_ends_it_if_the_device_does_not_answer(monkeypatch):
    monkeypatch.setattr(running, "GRACE", 0.05)
    with interrupts() as flag:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
        with flag.at_once():
            pass  # it answers
        time.sleep(0.1)
        with pytest.raises(signals.Stopped), flag.at_once():
            time.sleep(20)


def test_a_program_that_a_signal_may_have_ended_has_not_lost(monkeypatch):
    monkeypatch.setattr(external, "SIGNAL_SECONDS", 0.0)
    player = external.Player("uci", path="/no/such/program")
    program = external.ExternalProgram(player, "8/8/8/8/8/8/8/8 w - - 0 1")
    program._require_own_fault()
    signals.counts(signal.SIGTERM)
    with pytest.raises(signals.Stopped):
        program._require_own_fault()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "x"], "interrupted before the first tick; nothing was written"),
        (["run", "x", "--resume"], "interrupted before the first tick; the file is unchanged"),
        (["sweep", "x"], "interrupted before the first run of the sweep; nothing was written"),
        (["--debug", "run", "x"], "interrupted before the first tick; nothing was written"),
        (["verify", "x"], "interrupted; this command writes no file"),
        (["plot", "x"], "interrupted before it was done"),
        (["reproduce", "7"], "interrupted before it was done"),
        ([], "interrupted; this command writes no file"),
    ],
)
def test_a_command_that_had_not_begun_says_what_is_written(words, said):
    assert interruption(signals.Stopped(signal.SIGTERM), words) == said


@ALL
@pytest.mark.parametrize("step", ["_collect_later", "_open_standard_streams"])
def test_a_signal_while_a_command_starts_is_one(step, number, monkeypatch, capsys):
    """It came out as another exception, with the exit code of none: once in 800 commands."""
    handled()

    def interrupted():
        raise signals.Stopped(number)

    monkeypatch.setattr(start, step, interrupted)
    monkeypatch.setattr(sys, "argv", ["societies", "sweep", "s.yaml"])
    with pytest.raises(SystemExit) as end:
        start.command()
    assert end.value.code == 128 + number
    assert capsys.readouterr().err.startswith("interrupted before the first run of the sweep")


def test_no_command_with_a_file_says_that_it_writes_none():
    names = {"out", "figure"}
    for name, (function, _) in commands._FUNCTIONS.items():
        if names & {*inspect.signature(function).parameters}:
            assert "writes no file" not in interruption(signals.Stopped(signal.SIGINT), [name])


@ALL
def test_a_signal_that_a_library_turns_into_another_error_is_still_one(number, monkeypatch, capsys):
    """As the Rust code of pydantic does while it builds a schema."""
    handled()

    def built(**_):
        try:
            os.kill(os.getpid(), number)
            time.sleep(1)
        except signals.Stopped:
            pass
        raise ValueError("SchemaError: Error building `model` serializer: Stopped:")

    monkeypatch.setattr(cli, "app", built)
    with pytest.raises(SystemExit) as end:
        cli.main(["effect", "a.h5", "b.h5"])
    assert end.value.code == CODES[number]
    assert capsys.readouterr().err == "interrupted before it was done\n"


@ALL
def test_a_signal_that_comes_where_python_ignores_exceptions_comes_again(number):
    handled()

    class Closed:
        def __del__(self):
            os.kill(os.getpid(), number)

    with pytest.raises(signals.Stopped) as caught:
        Closed()
        time.sleep(2)
    assert caught.value.number == number


DURING_IMPORT = """
import os, signal, sys
number = int(sys.argv.pop())
# not ignored, as it would be under nohup
signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

def send(frame, event, arg):
    # nanobind makes its enums by a call of Python, which an exception may not leave
    made = event == "call" and frame.f_code.co_filename.endswith("enum.py") and frame.f_back
    if made and "importlib" in frame.f_back.f_code.co_filename and sys.modules.get("pyopencl"):
        sys.setprofile(None)
        os.kill(os.getpid(), number)

sys.setprofile(send)
from societies.__main__ import command
command()
"""


@ALL
def test_one_that_comes_while_pyopencl_is_imported_has_its_exit_code(number, tmp_path):
    words = [
        "run",
        "economy/quickstart",
        "--days",
        "3",
        "--out",
        tmp_path / "run.h5",
        str(int(number)),
    ]
    done = subprocess.run([sys.executable, "-c", DURING_IMPORT, *words], capture_output=True)
    assert (done.returncode, b"nanobind" in done.stderr) == (CODES[number], False)
    assert b"interrupted" in done.stderr


@ALL
def test_a_deferred_one_is_handled_after_the_block(number):
    handled()
    with pytest.raises(signals.Stopped) as caught, signals.deferred():
        os.kill(os.getpid(), number)
        inside = True
    assert inside and caught.value.number == number
    with signals.deferred():
        pass
    assert signal.getsignal(number) in (signals.stop, signal.SIG_DFL)


def test_a_signal_at_the_end_of_a_launch_ends_what_computes_several():
    """A launch that is complete keeps its results; the next one would begin without this."""
    launched = []

    def progress(*done):
        launched.append(done)
        signals.counts(signal.SIGTERM)

    base = {"workload": "economy", "agents": 2, "resources": 2, "days": 1}
    with (
        simulator(base, ["agents"], {"g": {"of": "gini"}}, device="reference") as model,
        pytest.raises(signals.Stopped),
    ):
        model.runs([[2], [3]], np.zeros((2, 1), np.int64), progress)
    assert launched == [(1, 2)]


@ALL
def test_a_signal_at_the_end_of_a_run_closes_the_page_of_its_file(number, tmp_path, monkeypatch):
    class Page(subprocess.Popen):
        def __init__(self, *_, **__):
            self.returncode = 0

        def terminate(self):
            closed.append("ended")

        def wait(self):
            closed.append("waited for")

    closed = []
    monkeypatch.setattr(sys.modules[following.__module__], "is_result", lambda path: True)
    monkeypatch.setattr(subprocess, "Popen", Page)
    expected = nullcontext() if number == signal.SIGINT else pytest.raises(signals.Stopped)
    with expected, following(tmp_path / "r.h5", replaced=False):
        signals.counts(number)
    assert closed in ([], ["ended", "waited for"])  # or there is no page yet


@pytest.mark.ci
def test_closed_streams_are_opened_again(tmp_path):
    """Else the file of a run would be the standard output, and what is printed would go into it."""
    words = f"{sys.executable} -m societies play games/havannah/match --device reference"
    done = subprocess.run(
        ["sh", "-c", f"{words} <&- >&-"], stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 4
    assert done.stderr == "the output cannot be printed: the standard output is closed\n"


def test_a_process_ends_at_once_while_a_thread_computes():
    """Python would end what drivers need first: a page that built kernels died by a segfault."""
    text = """
        import atexit, threading, time
        from societies import signals
        atexit.register(print, "Python ends")
        computing = threading.Thread(target=time.sleep, args=(60,), name=signals.COMPUTING)
        computing.daemon = True
        computing.start()
        print("last words")
        signals.leave(143)
        """
    words = [sys.executable, "-c", textwrap.dedent(text)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (143, "last words\n")


STUCK = """
    import hashlib, signal
    from societies import signals
    for number in signals.ENDING:  # nohup ignores one of them
        signal.signal(number, signal.SIG_DFL)
    signals.handle()
    signals.watch()
    with signals.writing({writes}):
        print("computes", flush=True)
        hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # no handler is called before its end
    """


@contextmanager
def stuck(writes=False):
    """Yield a process that handles no signal, since it computes outside of Python."""
    words = [sys.executable, "-c", textwrap.dedent(STUCK.format(writes=writes))]
    with subprocess.Popen(words, stdout=-1, stderr=-1, text=True) as process:
        try:
            assert process.stdout.readline() == "computes\n"
            time.sleep(0.5)  # now it is in the import
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, *(pytest.param(one, marks=pytest.mark.ci) for one in list(CODES)[1:])],
)
def test_a_second_one_ends_a_process_that_waits_for_a_device_that_hangs(number):
    with stuck() as process:
        process.send_signal(number)
        time.sleep(signals.ONE_HANGUP + 0.2 if number == signal.SIGHUP else 0.1)
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(timeout=30) == CODES[number]
        assert process.stderr.read().startswith("ended at once, as the device did not answer")


@pytest.mark.ci
@pytest.mark.parametrize("writes, numbers", [(True, [2, 2, 15]), (False, [15, 1])])
def test_what_writes_and_one_closed_terminal_end_no_process_that_waits(writes, numbers):
    with stuck(writes) as process:
        for number in numbers:
            process.send_signal(number)
            time.sleep(0.1)
        time.sleep(2 * signals.UNANSWERED)
        assert process.poll() is None
