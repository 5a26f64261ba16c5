"""Does a program that a configuration names run only if the user allows it?"""

import shlex
import sys

import pytest

import societies
from societies import sweep
from societies.errors import ConfigError
from societies.workload.declare.optional import NamedProgram
from societies.workload.running.programs import why_not
from societies.workload.running.registry import workload

RANDOM = {"kind": "random"}


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """Let the user's list have these lines."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))

    def write(*lines):
        path = tmp_path / "settings" / "societies" / "programs.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


@pytest.fixture
def engine(tmp_path):
    """A program that leaves a trace of having run, and then loses every game; and the trace."""
    trace, script = tmp_path / "trace", tmp_path / "engine.py"
    script.write_text(f"open({str(trace)!r}, 'w').close()\n")
    return f"{sys.executable} {script}", trace


def match(command, **player):
    players = [{"kind": "uci", "path": command, "depth": 1, **player}, RANDOM]
    return {"workload": "chess_match", "games": 2, "players": players}


def ways(config, tmp_path):
    """Return what carries out a match, by name."""
    settings = societies.config_from_dict(config)
    swept = {"base": config, "vary": {"grid": {"opening": [0, 1]}}}
    on = {"device": "reference"}
    return {
        "run": lambda: societies.run(settings, out=tmp_path / "r.h5", **on),
        "steps": lambda: list(societies.steps(settings, **on)),
        "bench": lambda: list(societies.bench(settings, copies=[1], repeats=1, **on)),
        "sweep": lambda: sweep.run(swept, out=tmp_path / "s.h5", **on),
    }


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("way", ["run", "steps", "bench", "sweep"])
def test_nothing_runs_unless_allowed(way, engine, tmp_path):
    command, trace = engine
    with pytest.raises(
        ConfigError, match=r"(?s)players\.0\.path: .*engine\.py.*allow_programs=True"
    ):
        ways(match(command), tmp_path)[way]()
    assert not trace.exists() and not [*tmp_path.glob("*.h5")]


def test_a_point_of_a_sweep_names_no_program_either(listed, engine, tmp_path):
    command, trace = engine
    swept = {
        "base": {"workload": "chess_match", "games": 2, "players": [RANDOM, RANDOM]},
        "vary": {"grid": {"players": [[{"kind": "uci", "path": command}, RANDOM]]}},
    }
    with pytest.raises(ConfigError):
        sweep.run(swept, out=tmp_path / "s.h5", device="reference")
    assert not trace.exists()


@pytest.mark.usefixtures("listed")
def test_an_argument_allows_it(engine, tmp_path):
    command, trace = engine
    settings = societies.config_from_dict(match(command))
    societies.run(settings, out=tmp_path / "r.h5", device="reference", allow_programs=True)
    assert trace.exists()
    with pytest.raises(ConfigError):  # only for that call
        next(societies.steps(settings, device="reference"))
    next(societies.steps(settings, device="reference", allow_programs=True))


def test_the_list_allows_these_words_and_harmless_options(listed, engine, tmp_path):
    command, trace = engine
    listed("# engines", f"{command}  # mine")
    societies.run(
        societies.config_from_dict(match(command)), out=tmp_path / "r.h5", device="reference"
    )
    assert trace.exists()
    assert "not in your list" in why_not(NamedProgram("p", f"{command} --more"))
    assert "not in your list" in why_not(NamedProgram("p", sys.executable))
    assert not why_not(NamedProgram("p", command, (("Hash", "16"), ("Ponder", "false"))))
    assert "its option Log" in why_not(NamedProgram("p", command, (("Log", "/home/x/.bashrc"),)))
    path = listed("engine.py")
    with pytest.raises(ConfigError, match=rf"{path}:1: engine.py: write the program's absolute"):
        why_not(NamedProgram("p", command))


@pytest.mark.parametrize(
    "option",
    [
        {"name": "Hash\nquit", "value": "1"},
        {"name": "Hash", "value": "1\nsetoption name Log value /tmp/x"},
        {"name": "Log value /tmp/x", "value": "1"},
    ],
)
def test_an_option_is_one_line_with_one_value(option):
    with pytest.raises(ConfigError, match=r"players\.0\.options\.0"):
        societies.config_from_dict(match(sys.executable, options=[option]))


def test_check_names_the_programs_and_the_command_line_allows_them(listed, engine, tmp_path, shell):
    command, trace = engine
    path = tmp_path / "m.yaml"
    options = "[{name: Hash, value: '1'}]"
    path.write_text(
        "workload: chess_match\ngames: 2\nplayers:\n"
        f"- {{kind: uci, path: {command!r}, options: {options}}}\n- {{kind: random}}\n"
    )
    code, out, _ = shell("check", str(path))
    said = f"program players.0.path: {command} (Hash 1): runs only with --allow-programs, it is not"
    assert code == 0 and said in out
    for words in (["run"], ["capture", "--phase", "play"], ["bench"]):
        code, _, err = shell(words[0], str(path), *words[1:], "--device", "reference")
        assert code == 2 and not trace.exists(), (words, err)
    listed(shlex.join(shlex.split(command)))
    assert "(Hash 1): in your list" in shell("check", str(path))[1]


def test_only_matches_name_programs():
    for name in ("economy", "laplace"):
        assert not workload(name).programs(None)
